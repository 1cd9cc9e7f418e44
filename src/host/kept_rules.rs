//! `KeptRules`: what people said at gates for more than one call, kept in the user's state folder for one workspace. It counts from the
//! moment it is written, and no longer once it is revoked. It can't allow what the configuration denies.

use super::{
    client::Problem,
    inventory::RuleScope,
    permission_log::{NamedPermission, PermissionLog},
};
use crate::engine::{GateId, RunId, Time};
use crate::files::{self, beside};
use crate::plan::{NodeId, PYTHON_TOOL, SHELL_TOOL, Verdict};
use crate::store::{LastingPermission, PermissionTurn};
use crate::tools::{CallArguments, CallRule, Judgement, NEW_AGENT};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt::Display,
    fs::OpenOptions,
    io::{ErrorKind, Read, Seek, Write},
    path::{Path, PathBuf},
};

/// The rules of one workspace.
#[derive(Clone, Debug)]
pub struct KeptRules {
    folder: PathBuf,
    workspace: PathBuf,
}

/// A yes or no that a person gave for more than one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptRule {
    pub id: u32,
    #[serde(flatten)]
    pub rule: CallRule,
    /// The arguments, where it is about the same call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<Value>,
    /// The run that it counts in; absent: all of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    pub by: String,
    pub made: Time,
    /// The gate whose reply made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RuleOrigin>,
    /// How many calls it decided.
    #[serde(default)]
    pub hits: u64,
}

/// The gate whose reply made a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOrigin {
    pub run: RunId,
    pub gate: GateId,
}

/// A call that rules may decide.
#[derive(Clone, Copy)]
pub struct RuledCall<'a> {
    pub run: &'a RunId,
    pub node: &'a NodeId,
    pub tool: &'a str,
    pub args: &'a Value,
    pub workspace: &'a Path,
}

impl KeptRules {
    pub(super) fn new(folder: PathBuf, workspace: PathBuf) -> Self {
        Self { folder, workspace }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.join("rules.json")
    }

    /// The rules, oldest first.
    ///
    /// # Errors
    /// When their file can't be read.
    pub fn list(&self) -> Result<Vec<KeptRule>, Problem> {
        let problem = |cause: &dyn Display| {
            Problem::new(format!("the rules that replies made can't be read: `{}`: {cause}", self.file().display()))
                .hint("fix the file; or remove it, and all of them end")
        };
        match files::read_text(&self.file(), files::DOCUMENT) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| problem(&error)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Vec::new()),
            Err(error) => Err(problem(&error)),
        }
    }

    /// Keeps a rule once that is on record, and gives it as it is kept.
    ///
    /// # Errors
    /// When its patterns can't be used, or the record or the file can't be written.
    pub fn add(&self, rule: KeptRule, log: &PermissionLog<'_>) -> Result<KeptRule, Problem> {
        let mut on_record = None;
        let added = self.put(rule, |rule| {
            log.write(&self.workspace, PermissionTurn::Given, rule.named_with_origin())?;
            on_record = Some(rule.clone());
            Ok(())
        });
        if let (Err(_), Some(rule)) = (&added, on_record) {
            // It doesn't count after all.
            log.write(&self.workspace, PermissionTurn::Ended, rule.named())?;
        }
        added
    }

    fn put(&self, rule: KeptRule, before: impl FnOnce(&KeptRule) -> Result<(), Problem>) -> Result<KeptRule, Problem> {
        rule.rule.check().map_err(|error| Problem::new(error.to_string()))?;
        let mut added = rule;
        self.change(|rules, number| {
            added.id = number;
            before(&added)?;
            rules.push(added.clone());
            Ok(())
        })?;
        Ok(added)
    }

    /// Ends a rule, and puts that on record.
    ///
    /// # Errors
    /// When there is none of this number, or the file or the record can't be written.
    pub fn revoke(&self, id: u32, log: &PermissionLog<'_>) -> Result<(), Problem> {
        let ended = self.end(id)?;
        Ok(log.write(&self.workspace, PermissionTurn::Ended, ended.named())?)
    }

    fn end(&self, id: u32) -> Result<KeptRule, Problem> {
        let mut ended = None;
        self.change(|rules, _| {
            let at = rules.iter().position(|rule| rule.id == id);
            ended = at.map(|at| rules.remove(at));
            Ok(())
        })?;
        ended.ok_or_else(|| Problem::new(format!("there is no rule {id}")).hint("`dagdeck permissions` lists them"))
    }

    /// What is done with a call that was judged by the configuration, and the rule that says so: a kept no beats all, a kept yes counts where
    /// the call would ask.
    pub(super) fn judged(&self, judgement: Judgement, call: RuledCall<'_>) -> (Judgement, Option<u32>) {
        let decides = |rule: &&KeptRule| match rule.rule.verdict {
            Verdict::Deny => judgement.verdict != Verdict::Deny,
            Verdict::Allow => judgement.verdict == Verdict::Ask,
            Verdict::Ask => false,
        };
        let rules = match self.list() {
            Ok(rules) => rules,
            // One of them may deny this call.
            Err(problem) if judgement.verdict == Verdict::Allow => {
                return (Judgement { verdict: Verdict::Ask, why: format!("{}; {}", problem.message, judgement.why), ..judgement }, None);
            }
            Err(_) => return (judgement, None),
        };
        let found = rules.iter().filter(decides).filter(|rule| rule.covers(call)).max_by_key(|rule| rule.rule.verdict);
        let Some(rule) = found else { return (judgement, None) };
        let why = format!("rule {}: {}; {}", rule.id, rule.label(), judgement.why);
        (Judgement { verdict: rule.rule.verdict, why, ..judgement }, Some(rule.id))
    }

    /// Counts a call that a rule decided. One that can't be counted is decided all the same.
    pub(super) fn hit(&self, id: u32) {
        let _ = self.change(|rules, _| {
            rules.iter_mut().filter(|rule| rule.id == id).for_each(|rule| rule.hits += 1);
            Ok(())
        });
    }

    /// Changes the rules as they are now, alone. The number is for a new one: the lock's file holds the highest that was given, so that
    /// the audit never means two rules by one number.
    fn change(&self, change: impl FnOnce(&mut Vec<KeptRule>, u32) -> Result<(), Problem>) -> Result<(), Problem> {
        let write = || {
            files::private_folder(&self.folder)?;
            let mut lock = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(self.folder.join("rules.lock"))?;
            lock.lock()?;
            let mut rules = match self.list() {
                Ok(rules) => rules,
                Err(problem) => return Ok(Err(problem)),
            };
            let mut given = String::new();
            lock.read_to_string(&mut given)?;
            let highest = rules.iter().map(|rule| rule.id).chain(given.trim().parse()).max().unwrap_or_default();
            if let Err(problem) = change(&mut rules, highest + 1) {
                return Ok(Err(problem));
            }
            let now = rules.iter().map(|rule| rule.id).max().unwrap_or_default();
            if now > highest {
                lock.rewind()?;
                lock.write_all(now.to_string().as_bytes())?;
            }
            beside::write_private(&self.file(), serde_json::to_string_pretty(&rules)?.as_bytes()).map(Ok)
        };
        write().unwrap_or_else(|error: std::io::Error| Err(Problem::new(format!("`{}` can't be written: {error}", self.file().display()))))
    }
}

impl KeptRule {
    /// As the audit names it.
    fn named(&self) -> NamedPermission<'_> {
        let permission = LastingPermission::Rule { number: self.id, tool: self.rule.tool.clone(), scope: self.scope().word().to_owned() };
        NamedPermission { permission, what: self.what(), run: self.run.as_ref(), gate: None }
    }

    /// The same, with the reply that made it.
    fn named_with_origin(&self) -> NamedPermission<'_> {
        match &self.origin {
            Some(RuleOrigin { run, gate }) => NamedPermission { run: Some(run), gate: Some(*gate), ..self.named() },
            None => self.named(),
        }
    }

    /// How far it reaches.
    fn scope(&self) -> RuleScope {
        match (&self.run, &self.node, &self.exact) {
            (None, ..) => RuleScope::Project,
            (_, Some(_), _) => RuleScope::Node,
            (_, None, Some(_)) => RuleScope::Same,
            (_, None, None) => RuleScope::Run,
        }
    }

    /// The rule that a reply to a gate about this call makes.
    ///
    /// # Errors
    /// When no rule can cover the call.
    pub fn of(
        call: RuledCall<'_>,
        verdict: Verdict,
        scope: RuleScope,
        args: BTreeMap<String, String>,
        by: (String, Time),
    ) -> Result<Self, Problem> {
        if call.tool == NEW_AGENT && verdict == Verdict::Allow {
            return Err(Problem::new("no rule can be made here: each agent that a model wrote is shown before it works"));
        }
        let is_shell = scope == RuleScope::Project && call.tool == SHELL_TOOL && args.is_empty();
        let is_program = scope == RuleScope::Project && call.tool == PYTHON_TOOL && args.is_empty();
        let is_exact = scope == RuleScope::Same || is_program || is_shell && verdict == Verdict::Deny;
        let command = call.args["command"].as_str().filter(|_| is_shell && verdict == Verdict::Allow);
        let args = args.into_iter().chain(command.map(|command| ("command".to_owned(), command.to_owned()))).collect();
        let rule = Self {
            id: 0,
            rule: CallRule { tool: call.tool.to_owned(), verdict, args },
            exact: is_exact.then(|| call.args.clone()),
            run: (scope != RuleScope::Project).then(|| call.run.clone()),
            node: (scope == RuleScope::Node).then(|| call.node.clone()),
            by: by.0,
            made: by.1,
            origin: None,
            hits: 0,
        };
        rule.rule.check().map_err(|error| Problem::new(format!("no rule can be made of this call: {error}")))?;
        if !rule.covers(call) {
            return Err(Problem::new("the rule would not cover this very call").hint("look at the arguments that the gate shows"));
        }
        Ok(rule)
    }

    pub(super) fn covers(&self, call: RuledCall<'_>) -> bool {
        self.run.as_ref().is_none_or(|run| run == call.run)
            && self.node.as_ref().is_none_or(|node| node == call.node)
            && self.exact.as_ref().is_none_or(|args| args == call.args)
            && self.rule.covers(call.tool, CallArguments { values: call.args, workspace: call.workspace })
    }

    /// What it does and who said so, in words.
    pub fn label(&self) -> String {
        format!("{}, by {}", self.what(), self.by)
    }

    /// What it does, in words.
    pub fn what(&self) -> String {
        let verdict: &str = self.rule.verdict.into();
        let what = if self.exact.is_some() { " with the same arguments" } else { "" };
        let place = match (&self.run, &self.node) {
            (Some(run), Some(node)) => format!("on {node} in run {}", crate::engine::short_name(&run.0)),
            (Some(run), None) => format!("in run {}", crate::engine::short_name(&run.0)),
            (None, _) => "in this workspace".to_owned(),
        };
        format!("{verdict} {}{what} {place}", self.rule.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Risk;
    use proptest::prelude::*;
    use serde_json::json;

    fn kept_in(folder: &Path) -> KeptRules {
        KeptRules::new(folder.to_owned(), folder.to_owned())
    }

    fn judge(rules: &KeptRules, base: Verdict, call: RuledCall<'_>) -> Verdict {
        rules.judged(Judgement { verdict: base, risk: Risk::Execute, why: String::new(), leaves: None }, call).0.verdict
    }

    proptest! {
        /// What each scope means, said literally.
        #[test]
        fn a_rule_reaches_as_far_as_its_scope(
            made in proptest::collection::vec((0..4_usize, any::<bool>(), 0..3_usize, 0..2_usize, 0..2_usize, 0..7_usize), 0..5),
            (tool, run, node, what) in (0..3_usize, 0..2_usize, 0..2_usize, 0..7_usize),
            base in prop::sample::select(vec![Verdict::Allow, Verdict::Ask, Verdict::Deny]),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let rules = kept_in(folder.path());
            let tools = ["write_file", "s:write", SHELL_TOOL];
            let runs = ["r0", "r1"].map(|name| RunId(name.to_owned()));
            let nodes = ["a", "b"].map(NodeId::new);
            let commands = ["git log", "git log -n 3", "git log --output=a", "git log | sh", "git log\nid", "A=1 git log", "git log *"];
            let is_plain = |what: usize| what < 3;
            let args = commands.map(|command| json!({ "command": command, "path": command }));
            let scopes = [RuleScope::Same, RuleScope::Node, RuleScope::Run, RuleScope::Project];
            let mut literal = base;
            for (scope, allows, of_tool, of_run, of_node, of_what) in made {
                let verdict = if allows { Verdict::Allow } else { Verdict::Deny };
                let call = RuledCall { run: &runs[of_run], node: &nodes[of_node], tool: tools[of_tool], args: &args[of_what], workspace: folder.path() };
                let is_command = of_tool == 2 && scope == 3;
                let rule = KeptRule::of(call, verdict, scopes[scope], BTreeMap::new(), ("tester".into(), Time(1)));
                prop_assert_eq!(rule.is_ok(), !(is_command && allows && !is_plain(of_what)));
                let Ok(rule) = rule else { continue };
                rules.put(rule, |_| Ok(())).unwrap();
                let fits = of_tool == tool && match scope {
                    0 => of_run == run && of_what == what,
                    1 => of_run == run && of_node == node,
                    2 => of_run == run,
                    // A command for the workspace is the whole command.
                    _ => of_tool != 2 || of_what == what,
                };
                if fits && !allows {
                    literal = Verdict::Deny;
                } else if fits && literal == Verdict::Ask {
                    literal = Verdict::Allow;
                }
            }
            let call = RuledCall { run: &runs[run], node: &nodes[node], tool: tools[tool], args: &args[what], workspace: folder.path() };
            prop_assert_eq!(judge(&rules, base, call), literal);
        }
    }

    #[test]
    fn a_rule_for_the_workspace_is_about_the_whole_command_and_is_counted_and_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let rules = kept_in(&folder.path().join("made/when/needed"));
        let (run, node, args) = (RunId("r".into()), NodeId::new("a"), json!({"command": "git log -n 3"}));
        let call = RuledCall { run: &run, node: &node, tool: SHELL_TOOL, args: &args, workspace: folder.path() };
        let by = || ("tester".to_owned(), Time(1));
        let rule = KeptRule::of(call, Verdict::Allow, RuleScope::Project, BTreeMap::new(), by()).unwrap();
        let kept = rules.put(rule, |_| Ok(())).unwrap();
        assert_eq!(kept.label(), "allow run_command command=git log -n 3 in this workspace, by tester");
        let (longer, other) = (json!({"command": "git log -n 3 --output=a"}), RunId("other".into()));
        assert_eq!(judge(&rules, Verdict::Ask, RuledCall { args: &longer, ..call }), Verdict::Ask);
        assert_eq!(judge(&rules, Verdict::Ask, RuledCall { run: &other, ..call }), Verdict::Allow);
        rules.hit(kept.id);
        assert_eq!(rules.list().unwrap()[0].hits, 1);
        let piped = json!({"command": "git log | sh"});
        let refused = KeptRule::of(RuledCall { args: &piped, ..call }, Verdict::Allow, RuleScope::Project, BTreeMap::new(), by());
        assert!(refused.unwrap_err().message.contains("not one plain command"));
        rules.end(kept.id).unwrap();
        assert_eq!(judge(&rules, Verdict::Ask, call), Verdict::Ask);
        assert!(rules.end(kept.id).is_err());
    }

    #[test]
    fn a_rule_for_the_workspace_is_about_the_whole_program_and_none_is_about_written_agents() {
        let (run, node, workspace) = (RunId("r".into()), NodeId::new("a"), Path::new("/w"));
        let (args, other) = (json!({"code": "print(1)"}), json!({"code": "print(2)"}));
        let call = RuledCall { run: &run, node: &node, tool: PYTHON_TOOL, args: &args, workspace };
        let of = |call| KeptRule::of(call, Verdict::Allow, RuleScope::Project, BTreeMap::new(), ("tester".to_owned(), Time(1)));
        let rule = of(call).unwrap();
        assert!(rule.covers(call) && !rule.covers(RuledCall { args: &other, ..call }));
        assert_eq!(rule.what(), "allow run_python with the same arguments in this workspace");
        assert!(of(RuledCall { tool: NEW_AGENT, ..call }).unwrap_err().message.contains("is shown before it works"));
    }

    #[test]
    fn rules_that_cant_be_read_let_nothing_run_unasked_and_are_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let rules = kept_in(folder.path());
        let (run, node, args) = (RunId("r".into()), NodeId::new("a"), json!({"command": "ls"}));
        let call = RuledCall { run: &run, node: &node, tool: SHELL_TOOL, args: &args, workspace: folder.path() };
        std::fs::write(rules.file(), "[{").unwrap();
        assert!(rules.list().unwrap_err().message.contains("rules.json"));
        let verdicts = [Verdict::Allow, Verdict::Ask, Verdict::Deny].map(|verdict| judge(&rules, verdict, call));
        assert_eq!(verdicts, [Verdict::Ask, Verdict::Ask, Verdict::Deny]);
        let rule = KeptRule::of(call, Verdict::Deny, RuleScope::Run, BTreeMap::new(), ("tester".into(), Time(1))).unwrap();
        assert!(rules.put(rule, |_| Ok(())).is_err());
        assert_eq!(std::fs::read_to_string(rules.file()).unwrap(), "[{");
    }
}

//! What the configuration allows, asks about or denies. Rules come before the tool's risk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assessment, Globs,
    call_rule::{CallArguments, CallRule, Precision, ReadyRule, RuleError},
};
use crate::plan::{Risk, Verdict};

/// What tools may do. Lists and rules come before the kind of call. `deny` beats everything; between `ask` and `allow` the more exact one counts (a rule with arguments, the name of a tool, a pattern), and if both are as exact, it asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionConfig {
    /// Calls that only read files of the workspace.
    pub read: Verdict,
    /// Calls that reach public addresses.
    pub network: Verdict,
    /// Calls that change files.
    pub write: Verdict,
    /// Calls that run programs or reach private addresses, and calls with unknown effects.
    pub execute: Verdict,
    /// Tools that run without asking. `*` matches any text.
    pub allow: Vec<String>,
    /// Tools that ask before each call.
    pub ask: Vec<String>,
    /// Tools that never run.
    pub deny: Vec<String>,
    /// Rules for calls by their arguments, as in `[[permissions.rules]]` with `tool = "run_command"`, `verdict = "allow"` and `args = { command = "git log *" }`.
    pub rules: Vec<CallRule>,
}

impl Default for PermissionConfig {
    fn default() -> Self {
        Self {
            read: Verdict::Allow,
            network: Verdict::Allow,
            write: Verdict::Ask,
            execute: Verdict::Ask,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// A list of the configuration that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`permissions.{list}`: {error}")]
pub struct PermissionError {
    /// `allow`, `ask`, `deny` or `rules`.
    pub list: &'static str,
    pub error: RuleError,
}

/// The configuration, ready to judge calls.
#[derive(Clone, Debug)]
pub struct Permission {
    config: PermissionConfig,
    lists: [PermissionList; 3],
    rules: Vec<ReadyRule>,
}

#[derive(Clone, Debug)]
struct PermissionList {
    verdict: Verdict,
    /// The setting's name.
    name: &'static str,
    /// Each pattern by itself, as it is written.
    globs: Vec<(String, Globs)>,
}

/// What is judged: a tool with its other names, and the arguments of one call, where there is one.
#[derive(Clone, Copy)]
pub struct JudgedTool<'a> {
    pub name: &'a str,
    pub aliases: &'a [&'a str],
    pub args: Option<CallArguments<'a>>,
}

impl Permission {
    /// Compiles the lists.
    ///
    /// # Errors
    /// A text that is not a valid pattern.
    pub fn new(config: &PermissionConfig) -> Result<Self, PermissionError> {
        let list = |verdict, name, globs: &[String]| {
            let ready = |glob: &String| Ok((glob.clone(), Globs::new(std::slice::from_ref(glob))?));
            let globs = globs.iter().map(ready).collect::<Result<_, RuleError>>();
            Ok(PermissionList { verdict, name, globs: globs.map_err(|error| PermissionError { list: name, error })? })
        };
        let rules = config.rules.iter().map(ReadyRule::new).collect::<Result<_, RuleError>>();
        Ok(Self {
            lists: [
                list(Verdict::Deny, "deny", &config.deny)?,
                list(Verdict::Ask, "ask", &config.ask)?,
                list(Verdict::Allow, "allow", &config.allow)?,
            ],
            rules: rules.map_err(|error| PermissionError { list: "rules", error })?,
            config: config.clone(),
        })
    }

    /// What is done with a call, and why. Deny beats all. Between ask and allow the more exact rule counts: one with arguments, one for the
    /// tool, a pattern; of two that are as exact it asks. A rule that asks or denies means the tool by each of its other names, too.
    pub fn verdict(&self, call: &JudgedTool<'_>, assessment: &Assessment) -> (Verdict, String) {
        let JudgedTool { name, aliases, args } = *call;
        let names = |verdict| [name].into_iter().chain(aliases.iter().copied().filter(move |_| verdict != Verdict::Allow));
        let by_list = self.lists.iter().filter_map(|list| {
            let globs = names(list.verdict).filter_map(|name| list.globs.iter().find(|(_, set)| set.find(name).is_some()));
            let (glob, _) = globs.max_by_key(|(glob, _)| Precision::of_name(glob))?;
            Some((list.verdict, Precision::of_name(glob), format!("`permissions.{}` has `{glob}`", list.name)))
        });
        let by_rule = self.rules.iter().filter(|rule| rule.covers(names(rule.rule.verdict), args));
        let by_rule = by_rule.map(|rule| (rule.rule.verdict, rule.precision(), format!("`permissions.rules` has `{}`", rule.rule.label())));
        let strictest = |(verdict, precision, _): &(Verdict, Precision, String)| (*verdict == Verdict::Deny, *precision, *verdict);
        match by_list.chain(by_rule).max_by_key(strictest) {
            Some((verdict, _, rule)) => (verdict, format!("{rule}; {}", assessment.why)),
            None => (self.by_risk(assessment.risk), assessment.why.clone()),
        }
    }

    fn by_risk(&self, risk: Risk) -> Verdict {
        match risk {
            Risk::Read => self.config.read,
            Risk::Network => self.config.network,
            Risk::Write => self.config.write,
            Risk::Execute => self.config.execute,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(config: PermissionConfig, tool: &str, risk: Risk) -> Verdict {
        let assessment = Assessment::local(risk, "it does things");
        Permission::new(&config).unwrap().verdict(&JudgedTool { name: tool, aliases: &[], args: None }, &assessment).0
    }

    #[test]
    fn without_configuration_reading_runs_and_changing_asks() {
        let by_risk = |risk| verdict(PermissionConfig::default(), "any", risk);
        assert_eq!(
            [Risk::Read, Risk::Network, Risk::Write, Risk::Execute].map(by_risk),
            [Verdict::Allow, Verdict::Allow, Verdict::Ask, Verdict::Ask]
        );
    }

    #[test]
    fn deny_beats_all_and_a_more_exact_rule_beats_a_wider_one_and_the_risk() {
        let config = PermissionConfig {
            allow: vec!["*".into()],
            ask: vec!["github:*".into(), "run_command".into()],
            deny: vec!["github:delete_*".into()],
            ..PermissionConfig::default()
        };
        assert_eq!(verdict(config.clone(), "write_file", Risk::Execute), Verdict::Allow);
        assert_eq!(verdict(config.clone(), "run_command", Risk::Execute), Verdict::Ask);
        assert_eq!(verdict(config.clone(), "github:create_issue", Risk::Write), Verdict::Ask, "of two patterns the one that asks");
        let exact = PermissionConfig { allow: vec!["github:create_issue".into()], ..config.clone() };
        assert_eq!(verdict(exact.clone(), "github:create_issue", Risk::Write), Verdict::Allow);
        assert_eq!(verdict(PermissionConfig { deny: vec!["*".into()], ..exact }, "github:create_issue", Risk::Read), Verdict::Deny);
        assert_eq!(verdict(config, "github:delete_repo", Risk::Read), Verdict::Deny);
    }

    #[test]
    fn the_reason_names_the_glob_that_decided() {
        let config = PermissionConfig { deny: vec!["write_*".into()], ..PermissionConfig::default() };
        let assessment = Assessment::local(Risk::Write, "writes `a.txt`");
        let (_, why) = Permission::new(&config).unwrap().verdict(&JudgedTool { name: "write_file", aliases: &[], args: None }, &assessment);
        assert_eq!(why, "`permissions.deny` has `write_*`; writes `a.txt`");
    }

    #[test]
    fn a_bad_glob_is_named_with_its_list() {
        let config = PermissionConfig { ask: vec!["a[".into()], ..PermissionConfig::default() };
        let error = Permission::new(&config).unwrap_err();
        assert!(error.to_string().starts_with("`permissions.ask`: `a[` is not a valid pattern"), "{error}");
    }

    mod properties {
        use super::*;
        use crate::plan::SHELL_TOOL;
        use proptest::prelude::*;
        use serde_json::{Value, json};
        use std::path::Path;

        /// The rules one by one, as the documentation says them; slow and literal.
        fn literal(config: &PermissionConfig, tool: &str, args: &Value, risk: Risk) -> Verdict {
            let names = |glob: &str| glob == tool || glob == "*" || glob.strip_suffix('*').is_some_and(|start| tool.starts_with(start));
            let lists = [(&config.deny, Verdict::Deny), (&config.ask, Verdict::Ask), (&config.allow, Verdict::Allow)];
            let mut found: Vec<(u8, Verdict)> = Vec::new();
            for (list, verdict) in lists {
                for glob in list.iter().filter(|glob| names(glob)) {
                    found.push((if glob.contains('*') { 1 } else { 2 }, verdict));
                }
            }
            for rule in config.rules.iter().filter(|rule| names(&rule.tool)) {
                let level = if !rule.args.is_empty() {
                    3
                } else if rule.tool.contains('*') {
                    1
                } else {
                    2
                };
                let fits = rule.args.iter().all(|(name, pattern)| match args[name].as_str() {
                    None => false,
                    Some(text) if name == "command" => {
                        let plain = text.split(' ').all(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
                        let same = text == pattern;
                        let begins =
                            pattern.strip_suffix(" *").is_some_and(|start| text == start || text.starts_with(&format!("{start} ")));
                        plain && (same || begins) && !(begins && text.contains("--output"))
                    }
                    // What is written is in `src`, and it leads to `b`.
                    Some("src/../b") => rule.verdict != Verdict::Allow && ["b", "src/**"].contains(&pattern.as_str()),
                    Some(text) => {
                        pattern == text || pattern.strip_suffix("/**").is_some_and(|start| text.starts_with(&format!("{start}/")))
                    }
                });
                if fits {
                    found.push((level, rule.verdict));
                }
            }
            if found.iter().any(|(_, verdict)| *verdict == Verdict::Deny) {
                return Verdict::Deny;
            }
            let Some(best) = found.iter().map(|(level, _)| *level).max() else {
                return match risk {
                    Risk::Read => config.read,
                    Risk::Network => config.network,
                    Risk::Write => config.write,
                    Risk::Execute => config.execute,
                };
            };
            if found.contains(&(best, Verdict::Ask)) { Verdict::Ask } else { Verdict::Allow }
        }

        fn verdicts() -> impl Strategy<Value = Verdict> {
            prop::sample::select(vec![Verdict::Allow, Verdict::Ask, Verdict::Deny])
        }

        fn rules() -> impl Strategy<Value = CallRule> {
            let tool = prop::sample::select(vec![SHELL_TOOL, "write_file", "s:write", "s:*", "*", "write*"]);
            let command = prop::sample::select(vec!["git log", "git log *", "git *", "ls"]);
            let path = prop::sample::select(vec!["src/**", "src/a", "b"]);
            (tool, verdicts(), prop::option::of(command), prop::option::of(path)).prop_map(|(tool, verdict, command, path)| {
                let command = command.filter(|_| tool == SHELL_TOOL).map(|command| ("command".to_owned(), command.to_owned()));
                let path = path.filter(|_| tool != SHELL_TOOL).map(|path| ("path".to_owned(), path.to_owned()));
                let verdict = if command.is_some() { Verdict::Allow } else { verdict };
                CallRule { tool: tool.to_owned(), verdict, args: command.into_iter().chain(path).collect() }
            })
        }

        fn configs() -> impl Strategy<Value = PermissionConfig> {
            let globs = || {
                let glob = prop::sample::select(vec![SHELL_TOOL, "write_file", "s:write", "s:*", "*", "write*"]);
                prop::collection::vec(glob.prop_map(str::to_owned), 0..2)
            };
            ((verdicts(), verdicts()), globs(), globs(), globs(), prop::collection::vec(rules(), 0..4)).prop_map(
                |((write, execute), allow, ask, deny, rules)| PermissionConfig {
                    write,
                    execute,
                    allow,
                    ask,
                    deny,
                    rules,
                    ..PermissionConfig::default()
                },
            )
        }

        proptest! {
            #[test]
            fn a_slow_and_literal_reading_of_the_rules_gives_the_same_verdict(
                config in configs(),
                tool in prop::sample::select(vec![SHELL_TOOL, "write_file", "s:write", "s:read", "other"]),
                command in prop::sample::select(vec!["git log", "git log -n", "git log --output", "git log; ls", "git logs", "ls"]),
                path in prop::sample::select(vec!["src/a", "src/b/c", "src/../b", "b", "srcs/a"]),
                risk in prop::sample::select(vec![Risk::Read, Risk::Write, Risk::Execute]),
            ) {
                let args = json!({"command": command, "path": path});
                let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/themes"));
                let call = JudgedTool { name: tool, aliases: &[], args: Some(CallArguments { values: &args, workspace }) };
                let judged = Permission::new(&config).unwrap().verdict(&call, &Assessment::local(risk, "")).0;
                prop_assert_eq!(judged, literal(&config, tool, &args, risk));
            }
        }
    }
}

//! Where the plan of a subcommand comes from: a file, stdin, or a request to plan.

use super::{CliError, Exit, Io};
use crate::{
    engine::{ModelCall, calls_label},
    host::{
        Linked, LocalHost,
        client::{Client, MadePlan, Notice, PlanWish, PlanningId, Request},
        link,
    },
    plan::{
        Catalog, Dialect, NodeKind, Plan,
        dialect::{self, ReadError, Syntax},
        validate::Finding,
    },
    planner::builtin::OpenRequest,
    text::Plain,
};
use std::path::Path;

/// Whether an argument names a document and is no request: a file that is there; of one word also what looks like one.
pub(super) fn is_path(argument: &str) -> bool {
    let ending = [".json", ".yaml", ".yml", ".toml"].iter().any(|ending| argument.ends_with(ending));
    let is_word = !argument.contains(char::is_whitespace);
    argument == "-" || Path::new(argument).metadata().is_ok_and(|found| !found.is_dir()) || is_word && (ending || argument.contains('/'))
}

/// Whether a text is meant as a plan and not as a request, however wrong the plan may be.
fn is_plan(text: &str) -> bool {
    const FIELDS: [&str; 6] = ["dagdeck:", "nodes:", "dag:", "tasks:", "stages:", "connections:"];
    text.trim_start().starts_with(['{', '[']) || text.lines().any(|line| FIELDS.iter().any(|field| line.starts_with(field)))
}

/// The plan that an argument names, or that is made of it as a request, beside what else is wished; stdin may hold either.
pub(super) async fn plan_or_request(what: &str, wish: PlanWish, host: &LocalHost, io: &mut Io<'_>) -> Result<PlanDocument, CliError> {
    let text = if is_path(what) { Some(io.read(what)?) } else { None };
    let request = match text {
        Some(_) if wish.after.is_some() && what != "-" => {
            return Err(CliError::usage("`--after` is for a request, and this is a file").hint("write the request in quotes"));
        }
        Some(text) if what != "-" || text.trim().is_empty() || is_plan(&text) => {
            return PlanDocument::parse(what, text).map_err(|error| unreadable(&error));
        }
        Some(text) => text,
        None => what.to_owned(),
    };
    let made = ask(host, PlanWish { text: request, ..wish }, io).await?;
    describe(&made, io);
    Ok(PlanDocument::made(made))
}

/// A plan with the text that it was read from, so that findings can point into that text.
pub(super) struct PlanDocument {
    pub plan: Plan,
    pub shape: Dialect,
    pub text: String,
    pub origin: String,
    /// The files that it names.
    linked: Vec<Linked>,
    /// What planning took, if it was made of a request.
    pub planning: Vec<ModelCall>,
}

pub(super) struct LocatedFinding {
    pub finding: Finding,
    /// File, line and column, where they are known.
    pub at: Option<(String, usize, usize)>,
}

impl PlanDocument {
    /// Reads the text of a plan; `name` is its file, or `-` for stdin.
    ///
    /// # Errors
    /// When it is no plan.
    pub fn parse(name: &str, text: String) -> Result<Self, ReadError> {
        let origin = if name == "-" { "stdin" } else { name };
        let (mut plan, shape) = dialect::read(&text, origin)?;
        let linked = link(&mut plan, origin, folder_of(name).unwrap_or(Path::new(".")));
        Ok(Self { plan, shape, text, origin: origin.to_owned(), linked, planning: Vec::new() })
    }

    /// Reads a plan from a file, or from stdin for `-`.
    pub fn open(name: &str, io: &mut Io<'_>) -> Result<Self, CliError> {
        Self::parse(name, io.read(name)?).map_err(|error| unreadable(&error))
    }

    pub fn unwritten(plan: Plan) -> Self {
        Self { plan, shape: Dialect::Native, text: String::new(), origin: String::new(), linked: Vec::new(), planning: Vec::new() }
    }

    /// A plan that was made of a request.
    pub fn made(made: MadePlan) -> Self {
        Self { planning: made.calls, ..Self::unwritten(made.plan) }
    }

    /// How the document is written.
    pub fn syntax(&self) -> Syntax {
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(self.text.trim_start_matches('\u{feff}')).is_ok();
        if is_json { Syntax::Json } else { Syntax::of(&self.text, &self.origin) }
    }

    /// A path and a message about it in the terms of the document instead of those of the native format.
    pub fn in_own_terms(&self, path: &str, message: &str) -> (String, String) {
        (dialect::source_path(&self.plan, self.shape, path), dialect::source_message(&self.plan, self.shape, path, message))
    }

    /// Findings in the terms of the document, each with its place in the file that it is about: the plan's own, or one that it names.
    pub fn place(&self, findings: Vec<Finding>) -> Vec<LocatedFinding> {
        let mut wanted: Vec<Vec<String>> = vec![Vec::new(); self.linked.len() + 1];
        let owner: Vec<(usize, usize)> = findings
            .iter()
            .map(|finding| {
                let (file, path) = self.file_of(finding);
                wanted[file].push(path);
                (file, wanted[file].len() - 1)
            })
            .collect();
        let found: Vec<(String, Vec<_>)> = wanted
            .iter()
            .enumerate()
            .map(|(file, paths)| match file.checked_sub(1).and_then(|at| self.linked.get(at)) {
                Some(inner) => {
                    let origin = folder_of(&self.origin).unwrap_or(Path::new("")).join(&inner.file).display().to_string();
                    let places = dialect::locate(&inner.text, &origin, paths);
                    (origin, places)
                }
                None => (self.origin.clone(), dialect::locate(&self.text, &self.origin, paths)),
            })
            .collect();
        let placed = findings.into_iter().zip(owner).map(|(finding, (file, at))| {
            let (path, message) = if finding.code.names_as_written() {
                (dialect::written_path(&self.plan, self.shape, &finding.path), finding.message.clone())
            } else {
                self.in_own_terms(&finding.path, &finding.message)
            };
            let (origin, places) = &found[file];
            let at = places.get(at).copied().flatten().map(|(line, column)| (origin.clone(), line, column));
            LocatedFinding { finding: Finding { path, message, ..finding }, at }
        });
        placed.collect()
    }

    /// The file that a finding points into (0 is the plan's own), and its path in the terms of that file.
    fn file_of(&self, finding: &Finding) -> (usize, String) {
        let path = finding.path.as_str();
        let source_path = if finding.code.names_as_written() { dialect::written_path } else { dialect::source_path };
        let within = |linked: &Linked| path.strip_prefix(linked.place.as_str())?.strip_prefix(".plan").map(str::len);
        let innermost = self.linked.iter().enumerate().filter_map(|(at, linked)| Some((within(linked)?, at))).min();
        let inner = innermost.and_then(|(left, at)| {
            let plan = plan_at(&self.plan, &self.linked[at].place)?;
            let rest = path[path.len() - left..].trim_start_matches('.');
            Some((at + 1, source_path(plan, self.linked[at].shape, rest)))
        });
        inner.unwrap_or_else(|| (0, source_path(&self.plan, self.shape, path)))
    }
}

/// The plan inside the node at a native place such as `nodes[2].body.nodes[0]`.
fn plan_at<'p>(plan: &'p Plan, place: &str) -> Option<&'p Plan> {
    let mut here = plan;
    for step in place.split("nodes[").skip(1) {
        here = here.nodes.get(step.split(']').next()?.parse::<usize>().ok()?)?.kind.body()?;
    }
    Some(here)
}

/// The folder of a file, unless that is the one that we are in.
fn folder_of(name: &str) -> Option<&Path> {
    Path::new(name).parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// Reads a plan from a file, or from stdin for `-`.
pub(super) fn read(name: &str, io: &mut Io<'_>) -> Result<Plan, CliError> {
    PlanDocument::open(name, io).map(|document| document.plan)
}

/// The hint names the native format, so it is left out for the others.
pub(super) fn unreadable(error: &ReadError) -> CliError {
    let failure = CliError::invalid(error.to_string());
    match error.shape {
        None | Some(Dialect::Native) => failure.hint("`dagdeck schema plan` prints the format of a plan"),
        Some(_) => failure,
    }
}

/// Refuses to run what a request left open; with `partial` only what was understood stays, with `reading` the reading of that number is
/// picked, from 1. Gives what stays undone.
pub(super) fn settle(plan: &mut Plan, partial: bool, reading: Option<usize>) -> Result<Vec<String>, CliError> {
    let open = OpenRequest::of(plan);
    if let Some(number) = reading {
        return match (open.readings.len(), open.pick(plan, number)) {
            (_, true) => Ok(Vec::new()),
            (0, false) if !open.is_empty() => Err(CliError::invalid(format!("nothing was run: {}", open.messages().join("\n")))
                .hint("say it in other words; `--reading` only chooses between readings")),
            (0, false) => Err(CliError::usage("the request can't be read in several ways").hint("run it without --reading")),
            (count, false) => Err(CliError::usage(format!("there is no reading {number}: the request has {count}"))),
        };
    }
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let hint = match (partial, open.readings.is_empty()) {
        (false, true) if plan.nodes.len() > 1 => "say it in other words, or run what was understood with `--partial`",
        (true, true) if open.problems.is_empty() => {
            "`--partial` can't take what was understood out of this request: ask for its parts one by one, or say it in other words"
        }
        (_, true) if !open.problems.is_empty() => "check the names; `--workspace DIR` works in another folder",
        (_, true) => "say it in other words, or set up a model: `dagdeck doctor` shows how",
        (_, false) => "`--reading NUMBER` picks one",
    };
    let asks: Vec<_> = plan.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Approval(_))).map(|node| node.id.clone()).collect();
    let mut open_nodes = asks;
    for node in &plan.nodes {
        if node.depends_on.iter().any(|source| open_nodes.contains(source)) {
            open_nodes.push(node.id.clone());
        }
    }
    if partial && open.readings.is_empty() && open_nodes.len() < plan.nodes.len() {
        let mut left_out = open.messages();
        let after = plan.nodes.iter().filter(|node| open_nodes.contains(&node.id) && !matches!(node.kind, NodeKind::Approval(_)));
        left_out.extend(after.map(|node| format!("`{}`, as it may depend on that", node.id)));
        plan.nodes.retain(|node| !open_nodes.contains(&node.id));
        plan.edges.retain(|edge| !open_nodes.contains(&edge.from) && !open_nodes.contains(&edge.to));
        plan.metadata.remove("open");
        return Ok(left_out);
    }
    Err(CliError::invalid(format!("nothing was run: {}", open.messages().join("\n"))).hint(hint))
}

/// Says who made a plan, what that took, and what the planner remarks.
pub(super) fn describe(made: &MadePlan, io: &mut Io<'_>) {
    let took = if made.calls.is_empty() { String::new() } else { format!(": {}", calls_label(&made.calls)) };
    io.say(&format!("planned by {}{took}", Plain::line(&made.origin)));
    made.remarks.iter().for_each(|remark| io.say(Plain::line(remark).as_str()));
}

pub(super) async fn ask(host: &LocalHost, wish: PlanWish, io: &mut Io<'_>) -> Result<MadePlan, CliError> {
    if wish.text.trim().is_empty() {
        return Err(CliError::usage("the request is empty").hint("describe what you want done, in quotes"));
    }
    let mut connection = host.connect();
    let id = PlanningId(1);
    // A closed connection shows below, as the end of its notices.
    let _ = connection.requests.send(Request::Plan { id, wish });
    while let Some(notice) = connection.notices.recv().await {
        match notice {
            Notice::PlanProgress { text, .. } => io.say(Plain::line(&text).as_str()),
            Notice::PlanReady { made, .. } => return Ok(*made),
            Notice::PlanFailed { problem, .. } | Notice::Problem(problem) => return Err(problem.into()),
            _ => {}
        }
    }
    Err(CliError::new("the planner ended without a plan"))
}

pub(super) fn findings(plan: &Plan, catalog: &Catalog) -> Vec<Finding> {
    crate::plan::validate::validate(plan, catalog)
}

/// Invalid if a finding is an error.
pub(super) fn verdict(findings: &[Finding]) -> Exit {
    if findings.iter().any(|finding| finding.is_error()) { Exit::Invalid } else { Exit::Success }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(outer: &str, files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("plan.json").display().to_string();
        for (file, text) in files {
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let document = PlanDocument::parse(&name, outer.to_owned()).unwrap();
        let findings = findings(&document.plan, &Catalog::default());
        let placed = document.place(findings).into_iter().filter(|placed| placed.finding.is_error()).map(|placed| {
            let (file, line, column) = placed.at.unwrap();
            let file = Path::new(&file).strip_prefix(folder.path()).unwrap().display().to_string();
            format!("{file}:{line}:{column} {}", placed.finding.path)
        });
        placed.collect()
    }

    #[test]
    fn a_finding_inside_of_a_plans_file_points_into_that_file() {
        let outer = r#"{"nodes": [{"id": "a", "tool": "none"}, {"id": "b", "plan": "sub/in.json"}]}"#;
        let inner = "{\"dag\": [\n  {\"id\": \"c\", \"tool\": \"nothing\", \"query\": \"q\", \"dependencies\": []}]}";
        let deeper = "nodes:\n- id: d\n  plan: far.json\n";
        let found = placed(outer, &[("sub/in.json", inner)]);
        assert_eq!(found, ["plan.json:1:32 nodes[0].tool", "sub/in.json:2:23 nodes[1].plan.dag[0].tool"]);
        let outer = r#"{"nodes": [{"id": "b", "over": "[1]", "body": {"nodes": [{"id": "x", "plan": "sub/mid.yaml"}]}}]}"#;
        let found = placed(outer, &[("sub/mid.yaml", deeper), ("sub/far.json", inner)]);
        assert_eq!(found, ["sub/far.json:2:23 nodes[0].body.nodes[0].plan.nodes[0].plan.dag[0].tool"]);
    }

    #[test]
    fn words_with_white_space_are_a_request_though_they_name_files() {
        for path in ["plan.json", "./plan", "-", "dir/plan.yaml"] {
            assert!(is_path(path), "{path}");
        }
        for request in ["turn data.csv into data.json", "delete data/config.old.json", "my plan.json", "list src/ and tests/", "hello"] {
            assert!(!is_path(request), "{request}");
        }
    }

    #[test]
    fn stdin_holds_a_plan_where_it_looks_like_one() {
        for plan in ["{\"nodes\": [", " [1]", "goal: x\nnodes: }", "stages: {}"] {
            assert!(is_plan(plan), "{plan}");
        }
        for request in ["list the files", "todo: read a.txt\nthen: sum up", "delete data/config.old.json"] {
            assert!(!is_plan(request), "{request}");
        }
    }
}

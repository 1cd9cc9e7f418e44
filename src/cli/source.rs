//! Where a verb's plan comes from: a file, stdin, a run in the journal, or a request to plan.

use super::{Exit, Failure, Io};
use crate::{
    host::{
        LocalHost,
        client::{Client, Notice, PlanningId, Request},
        link,
    },
    plan::{
        Catalog, Plan, dialect,
        validate::{Finding, Severity},
    },
};

/// Whether an argument means a file rather than words: a path-like argument must exist and is never taken for a request. A sentence
/// may end in a file's name (`turn data.csv into data.json`) and hold slashes.
pub(super) fn is_path(argument: &str) -> bool {
    let words = argument.split_whitespace().count();
    let ending = [".json", ".yaml", ".yml", ".toml"].iter().any(|ending| argument.ends_with(ending));
    argument == "-" || (ending && words < 3) || (argument.contains('/') && words == 1)
}

/// Reads a plan from a file, or from stdin for `-`.
pub(super) fn read(name: &str, io: &mut Io<'_>) -> Result<Plan, Failure> {
    let text = io.read(name)?;
    let origin = if name == "-" { "stdin" } else { name };
    let folder = std::path::Path::new(name).parent().filter(|folder| !folder.as_os_str().is_empty());
    let read = dialect::read(&text, origin).and_then(|(mut plan, _)| {
        link(&mut plan, folder.unwrap_or(std::path::Path::new(".")))?;
        Ok(plan)
    });
    read.map_err(|error| Failure::invalid(error.to_string()).hint("`dagdeck schema plan` prints the format of a plan"))
}

/// A plan that a planner made.
pub(super) struct Answer {
    pub plan: Plan,
    pub origin: String,
    pub remarks: Vec<String>,
}

/// Has a request planned.
pub(super) async fn ask(host: &LocalHost, request: &str, io: &mut Io<'_>) -> Result<Answer, Failure> {
    if request.trim().is_empty() {
        return Err(Failure::usage("the request is empty").hint("say what you want in words"));
    }
    let mut connection = host.connect();
    let id = PlanningId(1);
    // A connection that is gone shows below, as the end of its notices.
    let _ = connection.requests.send(Request::Plan { id, text: request.to_string() });
    while let Some(notice) = connection.notices.recv().await {
        match notice {
            Notice::PlanProgress { text, .. } => io.say(&crate::text::Plain::line(&text).into_string()),
            Notice::PlanReady { plan, origin, remarks, .. } => return Ok(Answer { plan: *plan, origin, remarks }),
            Notice::PlanFailed { problem, .. } | Notice::Problem(problem) => return Err(problem.into()),
            _ => {}
        }
    }
    Err(Failure::new("the planner ended without a plan"))
}

/// All findings of a plan against what there is.
pub(super) fn findings(plan: &Plan, catalog: &Catalog) -> Vec<Finding> {
    crate::plan::validate::validate(plan, catalog)
}

/// Whether the findings stop a run.
pub(super) fn verdict(findings: &[Finding]) -> Exit {
    if findings.iter().any(|finding| finding.severity == Severity::Error) { Exit::Invalid } else { Exit::Success }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_no_paths_though_they_name_files() {
        for path in ["plan.json", "my plan.json", "./plan", "-", "dir/plan.yaml"] {
            assert!(is_path(path), "{path}");
        }
        for request in ["turn data.csv into data.json", "list src/ and tests/", "hello"] {
            assert!(!is_path(request), "{request}");
        }
    }
}

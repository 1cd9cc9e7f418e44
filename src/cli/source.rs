//! Where a verb's plan comes from: a file, stdin, a run in the journal, or a request to plan.

use super::{Exit, Failure, Io};
use crate::{
    host::{
        LocalHost,
        client::{Client, Notice, PlanningId, Request},
        link,
    },
    plan::{
        Catalog, Dialect, Plan,
        dialect::{self, ReadError},
        validate::{Finding, Severity},
    },
};
use std::path::Path;

/// Whether an argument means a file rather than words: a path-like argument must exist and is never taken for a request. A sentence
/// may end in a file's name (`turn data.csv into data.json`) and hold slashes.
pub(super) fn is_path(argument: &str) -> bool {
    let words = argument.split_whitespace().count();
    let ending = [".json", ".yaml", ".yml", ".toml"].iter().any(|ending| argument.ends_with(ending));
    argument == "-" || (ending && words < 3) || (argument.contains('/') && words == 1)
}

/// A plan with the text that it was read from.
pub(super) struct Document {
    pub plan: Plan,
    shape: Dialect,
    text: String,
    origin: String,
}

/// A finding, and where in the document it is.
pub(super) struct Placed {
    pub finding: Finding,
    /// File, line and column, where they are known.
    pub at: Option<(String, usize, usize)>,
}

impl Document {
    /// Reads the text of a plan; `name` is its file, or `-` for stdin.
    ///
    /// # Errors
    /// When it is no plan, or one that it names by file is none.
    pub fn parse(name: &str, text: String) -> Result<Self, ReadError> {
        let origin = if name == "-" { "stdin" } else { name };
        let folder = Path::new(name).parent().filter(|folder| !folder.as_os_str().is_empty());
        let (mut plan, shape) = dialect::read(&text, origin)?;
        link(&mut plan, origin, folder.unwrap_or(Path::new("."))).map_err(|error| {
            let path = dialect::source_path(&plan, shape, &error.path);
            let at = dialect::locate(&text, origin, std::slice::from_ref(&path)).into_iter().flatten().next();
            ReadError { at, path, shape: Some(shape), ..error }
        })?;
        Ok(Self { plan, shape, text, origin: origin.to_owned() })
    }

    /// Reads a plan from a file, or from stdin for `-`.
    pub fn open(name: &str, io: &mut Io<'_>) -> Result<Self, Failure> {
        Self::parse(name, io.read(name)?).map_err(|error| unreadable(&error))
    }

    /// A plan that no text was read for.
    pub fn unwritten(plan: Plan) -> Self {
        Self { plan, shape: Dialect::Native, text: String::new(), origin: String::new() }
    }

    /// Findings in the terms of the document rather than those of the native form.
    pub fn place(&self, findings: Vec<Finding>) -> Vec<Placed> {
        let paths: Vec<String> = findings.iter().map(|finding| dialect::source_path(&self.plan, self.shape, &finding.path)).collect();
        let places = dialect::locate(&self.text, &self.origin, &paths);
        let placed = findings.into_iter().zip(paths).zip(places).map(|((finding, path), at)| Placed {
            finding: Finding { path, ..finding },
            at: at.map(|(line, column)| (self.origin.clone(), line, column)),
        });
        placed.collect()
    }
}

/// Reads a plan from a file, or from stdin for `-`.
pub(super) fn read(name: &str, io: &mut Io<'_>) -> Result<Plan, Failure> {
    Document::open(name, io).map(|document| document.plan)
}

/// A text that is no plan. The format is that of native plans only.
pub(super) fn unreadable(error: &ReadError) -> Failure {
    let failure = Failure::invalid(error.to_string());
    match error.shape {
        None | Some(Dialect::Native) => failure.hint("`dagdeck schema plan` prints the format of a plan"),
        Some(_) => failure,
    }
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

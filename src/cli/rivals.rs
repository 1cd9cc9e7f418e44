//! Several plans for one request: asked for at once, told side by side, one of them taken.

use super::{CliError, Exit, Io, source};
use crate::{
    engine::calls_label,
    host::{
        LocalHost,
        client::{Client, MadePlan, ModelStatus, Notice, PlanWish, PlanningId, Request},
    },
    plan::{
        Budget,
        dialect::{self, Format},
        in_brief, kinds_in_brief, titles,
        validate::{Finding, Severity},
    },
    text::{Plain, counted},
};
use clap::Args;
use std::{fs::File, io::Write as _, path::Path};

/// Columns of what a plan's nodes do.
const TITLES: usize = 100;
/// Most names that are tried for a file.
const NAMES: usize = 1000;

#[derive(Clone, Copy, Debug, Default, Args)]
pub struct RivalArgs {
    /// Make this many plans for the request, compare them and use the best; needs a model. With `plan`, each is also written to a
    /// file `plan-N.json` in the current folder, unless `--pick` or `--json` is given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=5))]
    pub rivals: Option<u32>,
    /// Take the plan of this number [default: the one with the fewest findings, then the fewest nodes]
    #[arg(long, value_name = "NUMBER", requires = "rivals")]
    pub pick: Option<usize>,
}

/// One of several plans.
pub(super) struct Rival {
    pub made: MadePlan,
    pub findings: Vec<Finding>,
}

impl Rival {
    fn of(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// `4 nodes (2 agent, 2 tool), longest chain 3, no findings; planning took …`, and below what the nodes do.
    fn lines(&self, number: usize) -> [String; 2] {
        let found = match (self.of(Severity::Error), self.of(Severity::Warning)) {
            (0, 0) => "no findings".to_owned(),
            (0, warnings) => counted(warnings, "warning"),
            (errors, 0) => counted(errors, "error"),
            (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
        };
        let took = if self.made.calls.is_empty() { String::new() } else { format!("; planning took {}", calls_label(&self.made.calls)) };
        let plan = &self.made.plan;
        let brief = format!("{} ({})", in_brief(plan), kinds_in_brief(plan));
        let head = format!("plan {number} by {}: {brief}, {found}{took}", Plain::line(&self.made.origin));
        [head, format!("  {}", Plain::summary(&titles(&self.made.plan)).truncate(TITLES))]
    }
}

/// Asks for so many plans at once. Those that fail are reported; one is enough.
pub(super) async fn ask(host: &LocalHost, (text, budget): (&str, Budget), count: u32, io: &mut Io<'_>) -> Result<Vec<Rival>, CliError> {
    if text.trim().is_empty() {
        return Err(CliError::usage("the request is empty").hint("describe what you want done, in quotes"));
    }
    let mut count = count;
    if !matches!(host.model(), ModelStatus::Connected { .. }) {
        io.say("without a model there is one plan for a request: `--rivals` needs a model");
        count = 1;
    }
    let mut connection = host.connect();
    for rival in 0..count {
        let wish = PlanWish { rival, budget: budget.part_of(count), ..PlanWish::new(text) };
        // A closed connection shows below, as the end of its notices.
        let _ = connection.requests.send(Request::Plan { id: PlanningId(u64::from(rival) + 1), wish });
    }
    let mut made: Vec<(u64, MadePlan)> = Vec::new();
    let mut failed = None;
    let mut open = count;
    while open > 0 {
        let Some(notice) = connection.notices.recv().await else { break };
        match notice {
            Notice::PlanProgress { id, text } => io.say(&format!("plan {}: {}", id.0, Plain::line(&text))),
            Notice::PlanReady { id, made: plan } => {
                made.push((id.0, *plan));
                open -= 1;
            }
            Notice::PlanFailed { id, problem } => {
                io.say(&format!("plan {} failed: {}", id.0, Plain::line(&problem.message)));
                failed = Some(problem);
                open -= 1;
            }
            Notice::Problem(problem) => return Err(problem.into()),
            _ => {}
        }
    }
    if made.is_empty() {
        return Err(failed.map_or_else(|| CliError::new("the planner ended without a plan"), CliError::from));
    }
    made.sort_by_key(|(id, _)| *id);
    let catalog = host.catalog();
    Ok(made.into_iter().map(|(_, made)| Rival { findings: source::findings(&made.plan, &catalog), made }).collect())
}

/// The plan that is taken, and its number.
pub(super) fn pick(mut rivals: Vec<Rival>, number: Option<usize>, io: &mut Io<'_>) -> Result<MadePlan, CliError> {
    for line in lines(&rivals) {
        io.say(&line);
    }
    let number = match number {
        Some(number) => number,
        None => best(&rivals),
    };
    if !(1..=rivals.len()).contains(&number) {
        return Err(CliError::usage(format!("there is no plan {number}: only {} came", counted(rivals.len(), "plan"))));
    }
    io.say(&format!("using plan {number}"));
    // The others took something too, and were asked for on behalf of this one.
    let mut taken = rivals.swap_remove(number - 1).made;
    taken.calls.extend(rivals.into_iter().flat_map(|rival| rival.made.calls));
    Ok(taken)
}

fn best(rivals: &[Rival]) -> usize {
    let rank = |rival: &Rival| (rival.of(Severity::Error), rival.of(Severity::Warning), rival.made.plan.nodes.len());
    rivals.iter().enumerate().min_by_key(|(_, rival)| rank(rival)).map_or(1, |(at, _)| at + 1)
}

fn lines(rivals: &[Rival]) -> Vec<String> {
    rivals.iter().enumerate().flat_map(|(at, rival)| rival.lines(at + 1)).collect()
}

/// Prints the comparison and writes each plan into a file of its own, beside those that are there.
pub(super) fn write(rivals: &[Rival], folder: &Path, format: Format, host: &LocalHost, io: &mut Io<'_>) -> Result<Exit, CliError> {
    for (at, rival) in rivals.iter().enumerate() {
        let written = dialect::write_as(&rival.made.plan, format, dialect::Syntax::Json, &host.catalog());
        let (name, mut file) = new_file(folder)?;
        file.write_all(written.text.as_bytes())?;
        rival.lines(at + 1).iter().try_for_each(|line| io.line(line))?;
        io.line(&format!("  written to {name}"))?;
    }
    let exits = rivals.iter().map(|rival| source::verdict(&rival.findings));
    Ok(if exits.into_iter().any(|exit| exit == Exit::Success) { Exit::Success } else { Exit::Invalid })
}

/// A file that was not there: `plan-1.json`, or the next free number.
fn new_file(folder: &Path) -> Result<(String, File), CliError> {
    for number in 1..=NAMES {
        let name = format!("plan-{number}.json");
        match File::create_new(folder.join(&name)) {
            Ok(file) => return Ok((name, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(CliError::new(format!("`{name}` can't be written: {error}"))),
        }
    }
    Err(CliError::new(format!("plan-1.json to plan-{NAMES}.json exist already")).hint("remove those that you don't need"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Catalog;

    fn rival(text: &str) -> Rival {
        let plan = dialect::read(text, "x").unwrap().0;
        Rival { findings: source::findings(&plan, &Catalog::default()), made: MadePlan { plan, ..MadePlan::default() } }
    }

    #[test]
    fn the_plan_with_the_fewest_findings_then_the_fewest_nodes_is_best() {
        let long = rival(r#"{"goal": "g", "nodes": [{"id": "a", "value": 1}, {"id": "b", "value": "{{a}}", "depends_on": ["a"]}]}"#);
        let short = rival(r#"{"goal": "g", "nodes": [{"id": "a", "value": 1}]}"#);
        let wrong = rival(r#"{"goal": "g", "nodes": [{"id": "a", "value": 1, "depends_on": ["ghost"]}]}"#);
        assert_eq!(best(&[wrong, long, short]), 3);
    }

    #[test]
    fn files_that_are_there_stay() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan-1.json"), "mine").unwrap();
        assert_eq!(new_file(folder.path()).unwrap().0, "plan-2.json");
        assert_eq!(std::fs::read_to_string(folder.path().join("plan-1.json")).unwrap(), "mine");
    }
}

//! `dagdeck estimate`: what a plan will take, before it runs and with nothing done.

use super::{CliContext, CliError, EstimateArgs, Exit, Io, ls::GOAL_COLUMNS, run, source};
use crate::{
    engine::{Calibration, Estimate, Measure, NodeEstimate},
    host::client::EstimateReport,
    plan::{Node, NodeId, Plan, PlanNames, Root, nest, reference::filled},
    text::{Plain, counted, some_of},
};
use serde_json::{Value, json};

/// The newest runs that the record counts.
const RECORD: usize = 50;
/// Characters of an input that are put into a prompt here.
const LONGEST_INPUT: usize = 2_000;
/// Nodes that a list names.
const NAMED: usize = 12;

/// Prints what a plan file will take.
///
/// # Errors
/// When the file is not a plan, or the history can't be read.
pub fn estimate(args: &EstimateArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let mut plan = source::read(&args.file, io)?;
    plan.inputs.extend(run::inputs(&args.set, io)?);
    let survey = place.survey()?;
    let report = survey.estimate(&plan, &place.store()?)?;
    if args.json {
        io.json(&as_json(&plan, &report, args.prompts))?;
        return Ok(Exit::Success);
    }
    let EstimateReport { estimate, record } = &report;
    whole(estimate, io)?;
    io.line(&format!("{:>12}  {:>16}  {:>18}  node, and what its figures are from", "time", "tokens", "cost"))?;
    for node in &estimate.nodes {
        row(node, io)?;
    }
    shape(estimate, io)?;
    if args.prompts {
        for (node, text) in prompts(&plan) {
            io.line("")?;
            io.line(Plain::summary(&format!("{node} gets:")).as_str())?;
            Plain::block(&text).iter().try_for_each(|line| io.line(&format!("  {line}")))?;
        }
    }
    say_more(estimate, record, io);
    let errors = survey.findings(&plan).iter().filter(|finding| finding.is_error()).count();
    if errors > 0 {
        io.say(&format!("warning: the plan has {}, so it can't run as it is; `dagdeck validate` lists them", counted(errors, "error")));
    }
    Ok(Exit::Success)
}

/// The figures of the run.
fn whole(estimate: &Estimate, io: &mut Io<'_>) -> Result<(), CliError> {
    io.line(&format!("{:<11}  {:>9}  {:>9}  {:>9}", "", "low", "expected", "high"))?;
    for measure in Measure::ALL {
        let band = estimate.whole.get(measure);
        let low = (band.low > 0.0 || !band.is_unknown()).then_some(band.low);
        let [low, expected, worst] = [low, band.expected, band.worst].map(|figure| measure.figure_or_unknown(figure));
        io.line(&format!("{:<11}  {:>9}  {:>9}  {:>9}", measure.label(), low.as_str(), expected.as_str(), worst.as_str()))?;
    }
    io.line("")
}

/// One node: its figures, what they are from, its name.
fn row(node: &NodeEstimate, io: &mut Io<'_>) -> Result<(), CliError> {
    let figure = |measure: Measure| node.takes.get(measure).label(measure);
    let cells = [figure(Measure::Ms), figure(Measure::Tokens), figure(Measure::Usd)];
    let [time, tokens, money] = cells.each_ref().map(Plain::as_str);
    let head = format!("{time:>12}  {tokens:>16}  {money:>18}  ");
    let what = Plain::summary(&node.node).then(&Plain::line(&format!("  {}", node.basis_label())));
    io.row(&Plain::line(&head), &what, GOAL_COLUMNS)
}

fn shape(estimate: &Estimate, io: &mut Io<'_>) -> Result<(), CliError> {
    io.line("")?;
    let names = |nodes: &[NodeId]| some_of(nodes, NAMED);
    io.line(Plain::summary(&format!("critical path: {}", names(&estimate.critical_path))).as_str())?;
    io.line(&format!("at most {} at once", counted(estimate.widest, "node")))?;
    let gates = counted(estimate.gates.len(), "gate");
    let which = if estimate.gates.is_empty() { String::new() } else { format!(": {}", names(&estimate.gates)) };
    io.line(Plain::summary(&format!("{gates} will open{which}")).as_str())
}

fn say_more(estimate: &Estimate, record: &Calibration, io: &mut Io<'_>) {
    io.say(estimate.legend());
    let more = estimate.caveat().into_iter().chain(record.label());
    more.for_each(|line| io.say(&line));
    for broken in &estimate.broken_caps {
        io.say(&format!("warning: {}", broken.message()));
    }
}

/// What agents will be told: their own texts, with the inputs of the plan in their places. Results that they name are not there yet.
fn prompts(plan: &Plan) -> Vec<(NodeId, String)> {
    let flat = nest::outline(plan);
    let text = |node: &Node| {
        let agent = node.kind.agent()?;
        let names = PlanNames::new(plan.nodes.iter().map(|node| node.id.as_str()), &plan.inputs);
        let is_input = |root: &Root| matches!(root, Root::Input(_) | Root::Inputs);
        let resolved = |text: &String| {
            filled(text, &names, LONGEST_INPUT, |found| !found.paths.is_empty() && found.paths.iter().all(|path| is_input(&path.root)))
        };
        let texts: Vec<String> = [&agent.role, &agent.goal, &agent.objective].into_iter().flatten().map(resolved).collect();
        Some((node.id.clone(), texts.join("\n")))
    };
    flat.nodes.iter().filter_map(text).collect()
}

fn as_json(plan: &Plan, report: &EstimateReport, with_prompts: bool) -> Value {
    let EstimateReport { estimate, record } = report;
    let mut json = json!(estimate);
    json["record"] = record_json(record);
    if with_prompts {
        json["prompts"] = prompts(plan).into_iter().map(|(node, text)| (node.to_string(), Value::from(text))).collect();
    }
    json
}

/// Of the newest runs that were estimated, how many were inside, by what was estimated.
pub(super) fn record_json(record: &Calibration) -> Value {
    let inside = |measure: Measure| {
        let (inside, of) = record.inside(measure, RECORD);
        (<&str>::from(measure).to_owned(), json!({"inside": inside, "of": of}))
    };
    Measure::ALL.into_iter().map(inside).collect()
}

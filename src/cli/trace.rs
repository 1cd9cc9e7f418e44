//! `dagdeck trace`: where a node's result came from, down to files, sources and approvals.

use super::{AboutArgs, CliContext, CliError, Exit, Io, named, show};
use crate::{
    engine::{NodeState, Run, Totals, Trace, TraceRow, TraceStep, Transcript},
    plan::NodeId,
    text::{Plain, timestamp},
};
use serde_json::{Value, json};

/// Columns of a result's beginning.
const RESULT_COLUMNS: usize = 70;

/// Tells where a result came from; of a run, those of its final nodes.
///
/// # Errors
/// When there is no such run or node, or the journal can't be read.
pub fn trace(args: &AboutArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (name, node) = named::run_and_node(&args.of, place)?;
    let (id, records) = show::records(&name, place)?;
    let run = Run::replay(&records);
    let nodes = match node {
        Some(name) => vec![named::node(name, &id, &run, &records)?],
        None => run.nodes_in_order().into_iter().map(|(id, _)| id).filter(|id| run.is_final(id)).cloned().collect(),
    };
    let mut transcript = Transcript::default();
    records.iter().for_each(|record| transcript.fold(record));
    let traces: Vec<(NodeId, Trace)> =
        nodes.into_iter().map(|node| (node.clone(), run.trace(&node, &transcript).unwrap_or_default())).collect();
    if args.json {
        let json = |(node, trace): &(NodeId, Trace)| json!({ "run": id, "node": node, "steps": trace.steps, "rows": trace.rows });
        let mut all: Vec<Value> = traces.iter().map(json).collect();
        io.json(&if node.is_some() { all.swap_remove(0) } else { Value::Array(all) })?;
        return Ok(Exit::Success);
    }
    traces
        .iter()
        .flat_map(|(_, trace)| trace.rows.iter().map(move |row| (trace, row)))
        .try_for_each(|(trace, row)| print(trace, row, io))?;
    Ok(Exit::Success)
}

fn print(trace: &Trace, row: &TraceRow, io: &mut Io<'_>) -> Result<(), CliError> {
    let Some(step) = trace.step(row) else { return Ok(()) };
    let indent = "  ".repeat(row.depth);
    let came = row.came.as_ref().map(|came| {
        let through = came.through.as_ref().map(|node| format!(" through `{node}`")).unwrap_or_default();
        format!("  ({}{through})", came.how.label())
    });
    let came = came.unwrap_or_default();
    let line = if row.again {
        format!("{indent}{}{came}  shown above", step.node)
    } else {
        format!("{indent}{}{came}  {}", step.node, made(step))
    };
    io.line(Plain::line(&line).as_str())?;
    let details = if row.again { Vec::new() } else { details(step) };
    details.into_iter().try_for_each(|words| io.line(&format!("{indent}    {}", Plain::summary(&words))))
}

/// Who made it, how, and at what price.
fn made(step: &TraceStep) -> String {
    let made = &step.made;
    let mut words = vec![made.by.clone(), step.state.to_owned()];
    words.extend(step.cached.as_ref().map(|_| "cached".to_owned()));
    words.extend(step.mark.as_ref().map(|mark| mark.as_str().to_owned()));
    words.extend((!made.models.is_empty()).then(|| made.models.join(", ")));
    words.extend((made.attempts > 1).then(|| format!("{} attempts", made.attempts)));
    words.extend((made.generation > 1).then(|| format!("generation {}", made.generation)));
    words.extend(made.stale.as_ref().map(|why| format!("stale: {why}")));
    let took = Totals { work_ms: made.took_ms, ..made.took() }.label();
    words.extend(Some(took.into_string()).filter(|took| !took.is_empty()));
    words.join(", ")
}

fn details(step: &TraceStep) -> Vec<String> {
    let mut lines: Vec<String> = step.cached.iter().map(|source| format!("cached {}", source.message())).collect();
    let brief = |text: &str| Plain::summary(text).truncate(RESULT_COLUMNS).into_string();
    let has_failed = [NodeState::Failed, NodeState::FailedSafe].iter().any(|state| state.word() == step.state);
    let gave = if has_failed { "error:" } else { "gave" };
    lines.extend(step.result.as_deref().map(|result| format!("{gave} {}", brief(result))));
    if !step.inputs.is_empty() {
        lines.push(format!("inputs of the plan: {}", step.inputs.join(", ")));
    }
    for call in &step.calls {
        let gave = match (call.ok, call.result.as_deref()) {
            (Some(true), Some(result)) => format!(" gave {}", brief(result)),
            (Some(false), Some(result)) => format!(" failed: {}", brief(result)),
            (_, _) => String::new(),
        };
        lines.push(format!("called {} {}{gave}", call.tool, brief(&call.args.to_string())));
    }
    lines.extend(step.files.iter().map(|file| format!("file {}: {}", file.operation, file.path)));
    lines.extend(step.sources.iter().map(|source| {
        let query = source.query.as_ref().map(|query| format!(" ({query})")).unwrap_or_default();
        format!("{} {}{query}", source.kind, source.identifier)
    }));
    for approval in &step.approvals {
        let asked = format!("gate {} ({})", approval.gate.0, approval.about);
        let how = approval.by.as_ref().zip(approval.at).map(|(_, at)| format!(" at {}", timestamp(at.0)));
        lines.push(format!("{asked}: {}{}", approval.label(), how.unwrap_or_default()));
    }
    lines
}

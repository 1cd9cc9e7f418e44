//! `dagdeck show`: one run as it stands in the journal: its nodes, its gates, what came out.

use super::headless::{ShownKeys, output, print_results};
use super::{CliContext, CliError, Exit, Io, ShowArgs, ls::short, named, timeline};
use crate::{
    engine::{
        Cause, Decided, Gate, GateId, GateKind, GateQuestion, NodeRun, Preview, Record, ReplanPiece, Run, RunId, RunStatus, Time, Totals,
        Transcript, TranscriptEntry, calls_label, elapsed_of, listed, result_line, work,
    },
    host::{Clock, GateLook, SystemClock},
    plan::{Field, NodeId, nest, value_text},
    store::RunFilter,
    text::{Block, Plain, clock, counted, duration, timestamp},
};
use serde_json::{Value, json};
use similar::TextDiff;

/// Columns of the names of nodes in the table: longer ones reach into the next cells.
const NAME_COLUMNS: usize = 32;

/// Columns of a result's first line in the table, where no terminal says how many there are.
const RESULT_COLUMNS: usize = 60;

/// Shows a run, or one node of it.
///
/// # Errors
/// When there is no such run or node, or the journal can't be read.
pub async fn show(args: &ShowArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (name, node) = named::run_and_node(&args.of, place)?;
    let (id, records) = records(&name, place)?;
    let run = Run::replay(&records);
    let last = records.last().map_or(Time::default(), |record| record.at);
    let status = status(&run, &id, place)?;
    let until = status.moment(last, SystemClock.now());
    if args.timeline {
        timeline::timeline(&id, &records, until, args.json, io)?;
        return Ok(Exit::Success);
    }
    let mut shown = json_of(&run, &id, status);
    let Some(node) = node else {
        match (args.json, args.result) {
            (true, _) => {
                put_previews(&mut shown, &looks(&run, &id, |_| true, place).await);
                io.json(&shown)?
            }
            (false, true) => only(&id, &output(&run), || format!("run `{}` has no result", short(&id)), io)?,
            (false, false) => {
                let looks = looks(&run, &id, |_| true, place).await;
                print(&run, (&id, status), until, &looks, io)?;
                let results = output(&run);
                if run.outcome().is_some() && !results.is_empty() {
                    io.line("")?;
                    print_results(&id, &results, ShownKeys::None, io)?;
                }
            }
        }
        return Ok(Exit::Success);
    };
    let node = named::node(node, &id, &run, &records)?;
    if args.result {
        let result = run.node(&node).filter(|found| found.result.is_some());
        let result: Vec<_> = result.map(|found| (&node, found)).into_iter().collect();
        only(&id, &result, || format!("`{node}` has no result"), io)?;
        return Ok(Exit::Success);
    }
    let known = shown["nodes"].as_array().and_then(|nodes| nodes.iter().find(|shown| shown["id"] == node.as_str()));
    let mut transcript = Transcript::default();
    records.iter().for_each(|record| transcript.fold(record));
    let entries = transcript.entries(&node);
    if args.json {
        let mut known = known.cloned().unwrap_or_default();
        (known["log"], known["messages"]) = (log_json(entries), messages_json(entries));
        io.json(&known)?
    } else {
        let looks = looks(&run, &id, |gate| gate.node == node, place).await;
        print_node(&run, (&id, status), &node, (entries, &looks), io)?
    }
    Ok(Exit::Success)
}

/// What the calls of open gates would do now, as far as this process can say.
async fn looks(run: &Run, id: &str, wanted: impl Fn(&Gate) -> bool, place: &CliContext) -> Vec<GateLook> {
    let gates: Vec<GateId> = run.open_gates().filter(|gate| wanted(gate)).map(|gate| gate.id).collect();
    if gates.is_empty() {
        return Vec::new();
    }
    match place.host_to_look() {
        Ok(host) => host.look_at(&RunId(id.to_owned()), run, gates).await,
        Err(_) => Vec::new(),
    }
}

/// Puts what the call of an open gate would do beside its payload, where this process can say it.
fn put_previews(shown: &mut Value, looks: &[GateLook]) {
    for gate in shown["gates"].as_array_mut().into_iter().flatten() {
        let look = looks.iter().find(|look| gate["gate_id"] == json!(look.gate));
        let Some(preview) = look.and_then(|look| look.preview.as_ref()) else { continue };
        let lines: Vec<String> = preview_lines(preview).into_iter().map(Plain::into_string).collect();
        gate["preview"] = json!(lines.join("\n"));
    }
}

/// Prints results and nothing else; where there is none, that is an error, since a file may be made of it.
fn only(run: &str, results: &[(&NodeId, &NodeRun)], none: impl FnOnce() -> String, io: &mut Io<'_>) -> Result<(), CliError> {
    if results.is_empty() {
        return Err(CliError::new(none()).hint("`dagdeck show` says how the run is"));
    }
    let keys = if io.columns.is_some() { ShownKeys::None } else { ShownKeys::All };
    print_results(run, results, keys, io)
}

/// The events of the run that goes by this name, and its whole name.
pub(super) fn records(name: &str, place: &CliContext) -> Result<(String, Vec<Record>), CliError> {
    let store = place.store()?;
    let id = store.resolve(name, RunFilter::Workspace(&place.places.workspace))?;
    let records = store.records(&id)?;
    Ok((id.0, records))
}

/// How a run is, by who drives it.
pub(super) fn status(run: &Run, id: &str, place: &CliContext) -> Result<RunStatus, CliError> {
    let (store, id) = (place.store()?, RunId(id.to_owned()));
    Ok(match store.driver(&id) {
        Some(_) => run.status(),
        // It goes on nowhere.
        None if run.outcome().is_none() && store.is_imported(&id)? => RunStatus::NotUnderWay,
        None => run.status_without_driver(),
    })
}

/// A run as one JSON document.
pub(super) fn json_of(run: &Run, id: &str, status: RunStatus) -> Value {
    let nodes = run.nodes_in_order().into_iter();
    let nodes: Vec<Value> = nodes.map(|(id, node)| node_json(run, id, node, node.state.is_interrupted(status))).collect();
    let gates: Vec<Value> = run.gates().map(|(gate, decided)| gate_json(run, gate, decided)).collect();
    json!({
        "run": id, "status": status, "interrupted_by": run.interrupted_by(),
        "reason": run.outcome().map(|(_, reason)| reason), "goal": run.plan().map(|plan| plan.goal.as_str()),
        "counts": run.counts(status), "planning": run.settings().map(|settings| &settings.planning), "nodes": nodes, "edges": edges_json(run), "gates": gates,
    })
}

/// The edges of all plans inside each other, with what became of them.
fn edges_json(run: &Run) -> Vec<Value> {
    let ways = run.nodes_in_order().into_iter().flat_map(|(id, _)| run.ways_out(id).into_iter().map(move |way| (id, way)));
    ways.map(|(from, way)| json!({"from": from, "to": way.to, "when": way.when, "state": way.state.word()})).collect()
}

fn node_json(run: &Run, id: &NodeId, node: &NodeRun, interrupted: bool) -> Value {
    let (lineage, spent) = (&node.lineage, node.spent());
    let prefix = nest::prefix(id);
    let sources = run.node_doc(id).map(|node| node.depends_on.as_slice()).unwrap_or_default();
    let depends: Vec<String> = sources.iter().map(|source| format!("{prefix}{source}")).collect();
    let took = node.work_ms();
    let tools: Vec<Value> = lineage
        .tools
        .iter()
        .map(|(call, report)| {
            let summary = report.as_ref().map(|report| Plain::summary(&value_text(&report.value)).truncate(200).into_string());
            json!({"tool_name": call.tool, "arguments": call.args, "ok": report.as_ref().map(|report| report.ok), "result_summary": summary})
        })
        .collect();
    json!({
        "id": id, "state": node.state.word(), "final": run.is_final(id), "interrupted": interrupted, "reason": run.reason(id), "result": node.result, "mark": node.mark, "notes": lineage.notes, "model": lineage.model, "private": lineage.private, "cached": lineage.cached,
        "error": node.error, "generation": node.generation, "stale": node.stale.as_ref().map(Cause::message), "attempts": node.attempt,
        "started_at": node.span.started, "finished_at": node.span.finished, "tokens": spent.tokens.total(), "estimated": spent.estimated, "cost_usd": spent.known_cost(),
        "metadata": {
            "sources": lineage.sources, "files_accessed": lineage.files, "dependencies_used": depends, "tools_called": tools,
            "tokens": {"prompt": lineage.spent.tokens.prompt, "completion": lineage.spent.tokens.completion, "total": lineage.spent.tokens.total()},
            "duration_ms": took, "started_at": node.span.started, "completed_at": node.span.finished,
        },
    })
}

/// The lines of a node's log.
fn log_json(entries: &[TranscriptEntry]) -> Value {
    let line = |entry: &TranscriptEntry| match entry {
        TranscriptEntry::Log { at, text } => Some(json!({"at": at, "text": text})),
        _ => None,
    };
    entries.iter().filter_map(line).collect()
}

/// The conversation of a node's agent.
fn messages_json(entries: &[TranscriptEntry]) -> Value {
    let message = |entry: &TranscriptEntry| match entry {
        TranscriptEntry::Message { at, role, content } => Some(json!({"at": at, "role": role, "content": content})),
        _ => None,
    };
    entries.iter().filter_map(message).collect()
}

fn gate_json(run: &Run, gate: &Gate, decided: Option<&Decided>) -> Value {
    json!({
        "gate_id": gate.id, "node_id": gate.node, "kind": gate.kind, "tool": run.tool_of_gate(gate), "why": gate.why, "payload": gate.payload, "hash": gate.hash,
        "opened_at": gate.opened, "decision": decided.map(|decided| &decided.decision),
        "by": decided.map(|decided| &decided.by), "decided_at": decided.map(|decided| decided.at), "void": run.voided(gate.id).map(Cause::message),
    })
}

/// Elapsed time counts to `now` where the run is open.
pub(super) fn print(run: &Run, (id, status): (&str, RunStatus), now: Time, looks: &[GateLook], io: &mut Io<'_>) -> Result<(), CliError> {
    let goal = run.plan().map_or("", |plan| plan.goal.as_str());
    let counts = run.counts(status).label();
    let goal = if goal.trim().is_empty() { Plain::default() } else { Plain::line(": ").then(&Plain::summary(goal)) };
    let (label, elapsed) = (status.label(run.interrupted_by()), elapsed_of(status, run.interrupted_by(), run.elapsed_ms(now)));
    let spent = Totals::from(run.spent()).label();
    let took = listed([elapsed, work(run.work_ms()), spent].into_iter().filter(|part| !part.is_empty()));
    io.line(&format!("{} {label}, {counts}, {took}{goal}", short(id)))?;
    if let Some((_, reason)) = run.outcome().filter(|(_, reason)| **reason != Cause::None) {
        io.line(&format!("  {}", Plain::line(&reason.message())))?;
    }
    if let Some(planning) = run.settings().map(|settings| &settings.planning).filter(|calls| !calls.is_empty()) {
        io.line(&format!("  planning took {}", calls_label(planning)))?;
    }
    let widths = run.nodes().map(|(id, _)| Plain::line(id).width());
    let width = widths.filter(|width| *width <= NAME_COLUMNS).max().unwrap_or(0);
    for (id, node) in run.nodes_in_order() {
        let (head, last) = node_row(run, id, node, width, status);
        io.row(&head, &last, RESULT_COLUMNS)?;
    }
    for (gate, decided) in run.gates() {
        io.line(&gate_line(run, gate, decided))?;
        if decided.is_none() && run.voided(gate.id).is_none() {
            asked_lines(gate, looks).iter().try_for_each(|line| io.line(&format!("    {line}")))?;
        }
    }
    Ok(())
}

/// What a gate asks about, and what a yes would change.
fn asked_lines(gate: &Gate, looks: &[GateLook]) -> Vec<Plain> {
    let look = looks.iter().filter(|look| look.gate == gate.id);
    payload_lines(gate).into_iter().chain(look.filter_map(|look| look.preview.as_ref()).flat_map(preview_lines)).collect()
}

/// What a gate asks about, whole: a question with what can be answered, or the exact payload.
pub(super) fn payload_lines(gate: &Gate) -> Vec<Plain> {
    let field = |(name, value): (&String, &Value)| match value.as_str().filter(|text| text.contains('\n')) {
        Some(text) => {
            let lines = Plain::block(text).into_iter().map(|line| Plain::line("  ").then(&line));
            [Plain::line(&format!("{name}:"))].into_iter().chain(lines).collect()
        }
        None => Plain::block(&format!("{name}: {}", value_text(value))),
    };
    if let (GateKind::Replan { .. }, Some(pieces)) = (&gate.kind, ReplanPiece::read(&gate.payload)) {
        return piece_lines(&pieces);
    }
    let payload: Vec<Plain> = match &gate.payload {
        Value::Object(map) => map.iter().flat_map(field).collect(),
        payload => Plain::block(&value_text(payload)),
    };
    if let GateKind::Permission { leaves: Some(outgoing), .. } = &gate.kind {
        let parts = outgoing.parts().into_iter().flat_map(|(name, text)| Plain::block(&format!("{name}: {text}")));
        let reach = Plain::line(&format!("a yes lets every node of this run send private data to {}", outgoing.host));
        return parts.chain([reach].into_iter().filter(|_| outgoing.host != "*")).chain(payload).collect();
    }
    let Some(GateQuestion { text, options, fields }) = gate.kind.question() else { return payload };
    let names = |names: Vec<&str>, label: &str| (!names.is_empty()).then(|| Plain::line(&format!("{label}: {}", names.join(", "))));
    let options = names(options.iter().map(String::as_str).collect(), "options");
    let fields: Vec<Plain> = fields.iter().map(field_line).collect();
    let question = if text == gate.why { Vec::new() } else { Plain::block(text) };
    let known = if gate.payload.is_null() { Vec::new() } else { payload };
    question.into_iter().chain(known).chain(options).chain(fields).collect()
}

/// The pieces of a new plan, by the numbers with which they are taken.
fn piece_lines(pieces: &[ReplanPiece]) -> Vec<Plain> {
    let piece = |(at, piece): (usize, &ReplanPiece)| {
        let lines = piece.lines.iter().flat_map(|line| Plain::block(line)).map(|line| Plain::blank(7).then(&line));
        [Plain::line(&format!("{:>3}. {}", at + 1, piece.piece))].into_iter().chain(lines).collect::<Vec<_>>()
    };
    pieces.iter().enumerate().flat_map(piece).collect()
}

/// A field of a form by its key, with what it takes.
fn field_line(field: &Field) -> Plain {
    let label = field.label.as_deref().filter(|label| *label != field.name);
    // A label that begins with the key says it once.
    let label = label.map(|label| label.strip_prefix(&format!("{}: ", field.name)).unwrap_or(label));
    let label = label.map(|label| format!("{label}; ")).unwrap_or_default();
    let preset = field.default.as_ref().map(|value| format!(", preset {}", value_text(value))).unwrap_or_default();
    Plain::summary(&format!("field {}: {label}{}{preset}", field.name, field.takes()))
}

/// What a call would do: how a file would change, or what the tool says. A command and the text of a new file are in the payload.
pub(super) fn preview_lines(preview: &Preview) -> Vec<Plain> {
    let text = match preview {
        Preview::Diff { path, before: None, .. } => format!("new file {path}"),
        Preview::Diff { path, before: Some(before), after } => {
            TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(path, path).to_string()
        }
        Preview::Text(text) if text.starts_with("$ ") => text.lines().last().unwrap_or_default().to_owned(),
        Preview::Text(text) => text.clone(),
    };
    Plain::block(text.trim_end())
}

fn node_row(run: &Run, id: &NodeId, node: &NodeRun, width: usize, status: RunStatus) -> (Plain, Plain) {
    let took = node.work_ms().map_or_else(String::new, |ms| duration(ms).into_string());
    let last = match (&node.error, &node.result) {
        (Some(error), _) => error.message.clone(),
        (None, Some(result)) => result_line(result, node.reporter(result)),
        (None, None) => run.reason(id),
    };
    let stale = node.stale.as_ref().map(|why| format!("  (stale: {why})")).unwrap_or_default();
    let labels = node.mark_label().into_iter().chain(node.lineage.notes.iter().map(|note| note.label.clone())).collect::<Vec<_>>();
    let mark = if labels.is_empty() { String::new() } else { format!("{}: ", labels.join(", ")) };
    let last = Plain::line(&mark).then(&Plain::summary(&last)).then(&Plain::line(&stale));
    let name = Plain::line(id);
    let gap = Plain::blank(width.saturating_sub(name.width()));
    (Plain::line(&format!("  {name}{gap}  {:<11}  {took:>7}  ", node.state.label(status))), last)
}

fn gate_line(run: &Run, gate: &Gate, decided: Option<&Decided>) -> String {
    let node = Plain::line(&gate.node);
    let opened = timestamp(gate.opened.0);
    if let Some(reason) = run.voided(gate.id) {
        return format!("  gate {} at {node}: closed, {}", gate.id.0, Plain::summary(&reason.message()));
    }
    let Some(decided) = decided else {
        return format!("  gate {} at {node}, open since {opened}: {}", gate.id.0, Plain::summary(&gate.why));
    };
    let word = decided.decision.label();
    format!("  gate {} at {node}: {word} by {} at {}", gate.id.0, decided.by.label(), timestamp(decided.at.0))
}

fn print_node(
    run: &Run,
    (name, status): (&str, RunStatus),
    id: &NodeId,
    (entries, looks): (&[TranscriptEntry], &[GateLook]),
    io: &mut Io<'_>,
) -> Result<(), CliError> {
    let Some(node) = run.node(id) else { return Ok(()) };
    let mark = node.mark_label().map(|mark| format!(", {mark}")).unwrap_or_default();
    io.line(&format!("{} {}{}", Plain::line(id), node.state.label(status), Plain::line(&mark)))?;
    let reason = run.reason(id);
    if !reason.is_empty() {
        io.line(&format!("  {}", Plain::line(&reason)))?;
    }
    if let Some(source) = &node.lineage.cached {
        io.line(&format!("  cached {}", Plain::line(&source.message())))?;
    }
    for note in &node.lineage.notes {
        io.line(&format!("  note: {}", Plain::line(&note.text)))?;
    }
    if let Some(why) = &node.stale {
        io.line(&format!("  stale: {}", Plain::line(&why.message())))?;
        io.line(&format!("  hint: `dagdeck rerun {} {}` runs it again with all after it", short(name), Plain::line(id)))?;
    }
    for gate in run.open_gates().filter(|gate| gate.node == *id) {
        asked_lines(gate, looks).iter().try_for_each(|line| io.line(&format!("    {line}")))?;
    }
    if let Some(error) = &node.error {
        io.line(&format!("  error: {}", Plain::line(&error.message)))?;
        if let Some(hint) = &error.hint {
            io.line(&format!("  hint: {}", Plain::line(hint)))?;
        }
    }
    let by = node.lineage.model.as_ref().map(|model| Plain::line(&format!("by {model}"))).unwrap_or_default();
    let took = [node.work_ms().map(work).unwrap_or_default(), node.spent().label(), by];
    let took = listed(took.into_iter().filter(|part| !part.is_empty()));
    if !took.is_empty() {
        io.line(&format!("  {took}"))?;
    }
    let messages = entries.iter().filter(|entry| matches!(entry, TranscriptEntry::Message { .. })).count();
    if messages > 0 {
        io.line(&format!("  {}; --json has them", counted(messages, "message")))?;
    }
    for entry in entries {
        if let TranscriptEntry::Log { at, text } = entry {
            let (time, mut lines) = (clock(at.0), Plain::block(text).into_iter());
            io.line(&format!("  log {time}  {}", lines.next().unwrap_or_default()))?;
            lines.try_for_each(|line| io.line(&format!("  {}  {line}", Plain::blank(time.width() + 4))))?;
        }
    }
    if let Some(text) = node.result_text() {
        for line in Block::new(&text).lines() {
            io.line(line.as_str())?;
        }
    }
    Ok(())
}

//! `dagdeck replay`: a run as it stood at any of its events. Folds the journal; nothing is called, nothing is needed.

use super::{CliContext, CliError, Exit, Io, ReplayArgs, named, show};
use crate::{
    engine::{Event, EventTrait, NodeFact, Record, Run, Time},
    plan::NodeId,
    store::RunFilter,
    text::{Plain, counted, thousands, timestamp},
};
use serde_json::json;
use std::collections::BTreeMap;

/// Shows a run at an event, or its events.
///
/// # Errors
/// When there is no such run, event or node, or the journal can't be read.
pub fn replay(args: &ReplayArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let store = place.store()?;
    let id = store.resolve(&args.of.run, RunFilter::Workspace(&place.places.workspace))?;
    let records = named::records(&store, &id, args.at)?;
    let seq = named::event(args.at, args.until.as_deref(), &id.0, &records)?;
    let kept: Vec<&Record> = records.iter().take_while(|record| record.seq <= seq).collect();
    if args.events {
        return events(&kept, args.json, io);
    }
    let run = Run::replay(kept.iter().copied());
    if args.json {
        let mut shown = show::json_of(&run, &id.0, run.status());
        shown["event"] = json!({"seq": seq, "of": records.len(), "at": kept.last().map(|record| record.at)});
        io.json(&shown)?;
        return Ok(Exit::Success);
    }
    let last = kept.last().map_or(Time::default(), |record| record.at);
    io.line(&format!("event {seq} of {}, {}", records.len(), timestamp(last.0)))?;
    show::print(&run, (&id.0, run.status()), last, &[], io)?;
    Ok(Exit::Success)
}

/// The events themselves: as JSON lines, or in words, as far as they tell a person something.
fn events(records: &[&Record], as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if as_json {
        records.iter().try_for_each(|record| io.json_line(record))?;
        return Ok(Exit::Success);
    }
    let run = Run::replay(records.iter().copied());
    let shown = joined(records);
    let hidden = records.len() - shown.len();
    for (record, streamed) in shown {
        let line = record.event.describe(&run);
        let what = match streamed {
            Some(text) => Plain::line(&said(&record.event, &text)),
            None if line.who.is_empty() => line.label(&line.what()),
            None => line.who.clone().then(&Plain::line(": ")).then(&line.label(&line.what())),
        };
        io.line(&format!("{:>6}  {}  {what}", record.seq, timestamp(record.at.0)))?;
    }
    if hidden > 0 {
        io.say(&format!("{} not listed; `--json` lists all", counted(hidden, "detail event")));
    }
    Ok(Exit::Success)
}

/// Events that tell a person something, each with what was streamed from there on: what a node streams piece by piece is one.
fn joined<'a>(records: &[&'a Record]) -> Vec<(&'a Record, Option<String>)> {
    let mut joined: Vec<(&Record, Option<String>)> = Vec::new();
    let mut growing: BTreeMap<&NodeId, usize> = BTreeMap::new();
    for record in records {
        if record.event.has(EventTrait::Unlisted) {
            continue;
        }
        if let Event::Node { node_id, fact: NodeFact::Output { text }, .. } = &record.event {
            if let Some(before) = growing.get(node_id).and_then(|at| joined[*at].1.as_mut()) {
                before.push_str(text);
            } else {
                growing.insert(node_id, joined.len());
                joined.push((record, Some(text.clone())));
            }
            continue;
        }
        if let Some(node) = record.event.node() {
            growing.remove(node);
        }
        joined.push((record, None));
    }
    joined
}

/// Characters of streamed text that a line tells.
const ON_A_LINE: usize = 100;

fn said(event: &Event, text: &str) -> String {
    let node = event.node().map(|node| Plain::line(node).into_string()).unwrap_or_default();
    let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let much = thousands(text.chars().count() as u64);
    format!("{node}: says {much} characters, at last: {}", Plain::summary(line.trim()).truncate_start(ON_A_LINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nodes_stream_at_the_same_time_is_one_line_each_until_they_do_something_else() {
        let says =
            |node: &str, text: &str| Event::Node { node_id: node.into(), generation: 1, fact: NodeFact::Output { text: text.into() } };
        let log = Event::LogLine { node_id: "a".into(), text: "x".into() };
        let events = [says("a", "one "), says("b", "un "), Event::Carried, says("a", "two"), says("b", "deux"), log, says("a", "three")];
        let records: Vec<Record> = (1..).zip(events).map(|(seq, event)| Record { seq, at: Time(seq), more: false, event }).collect();
        let kept: Vec<&Record> = records.iter().collect();
        let told: Vec<(u64, Option<String>)> = joined(&kept).into_iter().map(|(record, text)| (record.seq, text)).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(told, [(1, text("one two")), (2, text("un deux")), (6, None), (7, text("three"))]);
        assert_eq!(said(&records[0].event, "one\ntwo \n"), "a: says 9 characters, at last: two");
    }
}

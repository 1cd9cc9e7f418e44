//! `dagdeck replay`: a run as it stood at any of its events. Folds the journal; nothing is called, nothing is needed.

use super::{Exit, Failure, Io, Place, ReplayArgs, headless::words, ls::short, named, show};
use crate::{
    engine::{Actor, Event, Record, Run},
    store::Scope,
    text::{Plain, timestamp},
};
use serde_json::json;

/// Whoever drove the run at that event.
const AS_IT_WAS: Option<&str> = Some("");

/// Shows a run at an event, or its events.
///
/// # Errors
/// When there is no such run, event or node, or the journal can't be read.
pub fn replay(args: &ReplayArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let store = place.store()?;
    let id = store.resolve(&args.run, Scope::Workspace(&place.places.workspace))?;
    let records = store.records(&id)?;
    let seq = named::event(args.at, args.until.as_deref(), &id.0, &records)?;
    let kept: Vec<&Record> = records.iter().take_while(|record| record.seq <= seq).collect();
    if args.events {
        return events(&kept, args.json, io);
    }
    let run = Run::replay(kept.iter().copied());
    if args.json {
        let mut shown = show::json_of(&run, &id.0, AS_IT_WAS);
        shown["event"] = json!({"seq": seq, "of": records.len(), "at": kept.last().map(|record| record.at)});
        io.json(&shown)?;
        return Ok(Exit::Success);
    }
    let at = kept.last().map(|record| timestamp(record.at.0).into_string()).unwrap_or_default();
    io.line(&format!("event {seq} of {}, {at}", records.len()))?;
    show::print(&run, &id.0, AS_IT_WAS, io)?;
    Ok(Exit::Success)
}

/// The events themselves: as JSON lines, or those that a person follows, in words.
fn events(records: &[&Record], as_json: bool, io: &mut Io<'_>) -> Result<Exit, Failure> {
    for record in records {
        if as_json {
            io.json_line(record)?;
        } else {
            let kind = serde_json::to_value(&record.event).ok().and_then(|event| event["type"].as_str().map(str::to_owned));
            let words = words(&record.event).or_else(|| by_people(&record.event)).unwrap_or_else(|| {
                let node = record.event.node().map(|node| format!("{}: ", Plain::line(node))).unwrap_or_default();
                format!("{node}{}", kind.unwrap_or_default())
            });
            io.line(&format!("{:>6}  {}  {}", record.seq, timestamp(record.at.0), Plain::summary(&words)))?;
        }
    }
    Ok(Exit::Success)
}

/// What people did to a run, and how it stands by that, in words.
fn by_people(event: &Event) -> Option<String> {
    let who = |by: &Actor| format!("{} ({})", by.who, by.via);
    Some(match event {
        Event::Acted { verb, by, why, .. } if why.is_empty() => format!("{}: {}", who(by), verb.words()),
        Event::Acted { verb, by, why, .. } => format!("{}: {}, because: {why}", who(by), verb.words()),
        Event::Undone { verb, by } => format!("{}: took back event {verb}", who(by)),
        Event::GateDecided { gate, decision, by } => format!("{}: gate {} {}", who(by), gate.0, decision.words()),
        Event::GateVoided { gate, reason } => format!("gate {} is void: {reason}", gate.0),
        Event::RunCancelled { by } => format!("{}: the run is cancelled", who(by)),
        Event::RunRecovered { by } => format!("{}: the run goes on after an interruption", who(by)),
        Event::Branched { from, from_seq, by } => format!("{}: branched off {} after event {from_seq}", who(by), short(&from.0)),
        Event::RunSettled { reason, .. } => format!("the run is over: {reason}"),
        _ => return None,
    })
}

//! Published events keep their names and fields, whatever shape they have in the code.

use super::kit::*;
use crate::engine::event::{EventDiscriminants, NodeFactDiscriminants};
use crate::engine::*;
use crate::plan::Retry;
use serde_json::Value;
use strum::IntoEnumIterator;

/// One line for each event and each set of its fields, written before node events had a type of their own.
const PUBLISHED: &str = include_str!("../../../tests/fixtures/events/published.jsonl");

#[test]
fn published_events_read_and_write_the_same_bytes() {
    for line in PUBLISHED.lines() {
        let record: Record = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(serde_json::to_string(&record).unwrap(), line);
    }
}

#[test]
fn every_kind_of_event_is_published_and_has_its_cause_where_it_has_a_reason() {
    let records: Vec<Record> = PUBLISHED.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<EventDiscriminants> = records.iter().map(|record| (&record.event).into()).collect();
    let facts = records.iter().filter_map(|record| match &record.event {
        Event::Node { fact, .. } => Some(NodeFactDiscriminants::from(fact)),
        _ => None,
    });
    let facts: Vec<NodeFactDiscriminants> = facts.collect();
    for kind in EventDiscriminants::iter() {
        assert!(kinds.contains(&kind), "add a line with {kind:?} to tests/fixtures/events/published.jsonl");
    }
    for kind in NodeFactDiscriminants::iter() {
        assert!(facts.contains(&kind), "add a line with {kind:?} to tests/fixtures/events/published.jsonl");
    }
    for (record, line) in records.iter().zip(PUBLISHED.lines()) {
        let fields: Value = serde_json::from_str(line).unwrap();
        let has_reason = fields.get("reason").is_some_and(|reason| !reason.is_null());
        assert!(!has_reason || record.event.cause().is_some(), "add the event to `caused`: {line}");
    }
}

#[test]
fn events_read_the_same_in_any_order_of_fields() {
    for line in PUBLISHED.lines() {
        let record: Record = serde_json::from_str(line).unwrap();
        let Value::Object(fields) = serde_json::from_str(line).unwrap() else { panic!("a record is an object") };
        let turned = Value::Object(fields.into_iter().rev().collect());
        assert_eq!(serde_json::from_str::<Record>(&turned.to_string()).unwrap(), record);
        assert_eq!(serde_json::from_value::<Record>(turned).unwrap(), record);
    }
}

#[test]
fn unknown_fields_are_left_out_and_unknown_events_refused() {
    let more = r#"{"seq":1,"at":0,"type":"node_ready","node_id":"a","generation":1,"colour":[1,{"a":2}]}"#;
    let record: Record = serde_json::from_str(more).unwrap();
    assert_eq!(serde_json::to_string(&record).unwrap(), more.replace(r#","colour":[1,{"a":2}]"#, ""));
    let error = |text: &str| serde_json::from_str::<Record>(text).unwrap_err().to_string();
    assert!(error(r#"{"seq":1,"at":0,"type":"node_slept","node_id":"a"}"#).contains("node_slept"));
    assert!(error(r#"{"seq":1,"at":0,"type":"node_ready","node_id":"a"}"#).contains("generation"));
    assert!(error(r#"{"seq":1,"at":0,"node_id":"a"}"#).contains("type"));
}

#[test]
fn a_reason_is_its_data_where_that_is_known_and_else_the_sentence_as_it_was_stored() {
    let read = |cause: &str| {
        let line = format!(r#"{{"seq":1,"at":0,"type":"node_cancelled","node_id":"a","generation":1,"reason":"for a whim"{cause}}}"#);
        let record: Record = serde_json::from_str(&line).unwrap();
        let Event::Node { fact: NodeFact::Cancelled { reason }, .. } = record.event else { panic!("{record:?}") };
        reason
    };
    assert_eq!(read(r#","cause":{"kind":"cancelled","by":"anna"}"#), Cause::Cancelled { by: "anna".into(), why: String::new() });
    for unknown in ["", r#","cause":{"kind":"of_another_version","by":1}"#, r#","cause":null"#] {
        assert_eq!(read(unknown), Cause::Text { text: "for a whim".into() });
    }
}

#[test]
fn marks_keep_their_names_and_unknown_ones_are_kept() {
    for name in ["answered", "budget_exhausted", "cut", "overridden", "partial", "rehearsal", "stopped", "of_another_version"] {
        let mark: Mark = serde_json::from_value(name.into()).unwrap();
        assert_eq!((mark.as_str(), serde_json::to_value(&mark).unwrap()), (name, name.into()));
        assert_eq!(matches!(mark, Mark::Other(_)), name == "of_another_version");
    }
}

/// `a` is at work and waits for a model, `r` for its next attempt; the newest action can be undone.
fn busy_world() -> World {
    let mut busy = agent("a", &[]);
    (busy.policy.retry, busy.policy.timeout_s) = (Some(Retry { attempts: 3, ..Retry::default() }), Some(60.0));
    let mut resting = agent("r", &[]);
    resting.policy.retry = Some(Retry { attempts: 3, ..Retry::default() });
    let mut world = World::new(plan(vec![busy, resting, agent("c", &["a"])]));
    world.fail("r", ErrorKind::Transient);
    world.fact("a", WorkerFact::ModelAsked { call: "m1".into(), model: "small".into(), need: None });
    world.fact("a", WorkerFact::ModelSent { call: "m1".into(), unheard: None });
    let failed = FailedTry { message: "500".into(), verdict: TryVerdict::Again, refused: false, otherwise: None, usage: None };
    world.fact("a", WorkerFact::ModelTryFailed { call: "m1".into(), failed });
    world.act(Action::Hold { target: ActionTarget::Node("c".into()) });
    world
}

#[test]
fn every_event_that_says_that_it_has_effects_has_some() {
    let world = busy_world();
    let published = PUBLISHED.lines().map(|line| serde_json::from_str::<Record>(line).unwrap().event);
    let own: Vec<Event> = world.records.iter().map(|record| record.event.clone()).collect();
    let held = world.records.iter().rfind(|record| matches!(record.event, Event::Acted { .. })).unwrap().seq;
    let timed_out = NodeError { kind: ErrorKind::Timeout, ..NodeError::permanent("too late") };
    let (mut named, mut with_effects) = (Vec::new(), Vec::new());
    for mut event in published.chain(own) {
        match &mut event {
            Event::Undone { action, .. } => *action = held,
            Event::Acted { action, nodes, .. } => {
                (**action, *nodes) = (Action::Override { node: "a".into(), value: Value::Null }, Vec::new());
            }
            Event::Node { node_id, fact, .. } => {
                *node_id = "a".into();
                match fact {
                    NodeFact::Failed { error, .. } => *error = timed_out.clone(),
                    NodeFact::BreakHit { kept, .. } | NodeFact::EndKept { kept, .. } => {
                        **kept = HeldAt::Failure { error: timed_out.clone(), result: None }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        let kind = match &event {
            Event::Node { fact, .. } => format!("{:?}", NodeFactDiscriminants::from(fact)),
            event => format!("{:?}", EventDiscriminants::from(event)),
        };
        let says_so = event.has(EventTrait::HasEffects);
        let effects = world.run.effects(&Record { seq: held + 100, at: Time(9_000), more: false, event });
        assert!(says_so || effects.is_empty(), "{kind} has effects: say so in its traits");
        if !effects.is_empty() {
            with_effects.push(kind.clone());
        }
        if says_so {
            named.push(kind);
        }
    }
    assert!(named.len() > 20, "{named:?}");
    for kind in named {
        assert!(with_effects.contains(&kind), "{kind} says that it has effects: add its branch to `effects.rs`");
    }
}

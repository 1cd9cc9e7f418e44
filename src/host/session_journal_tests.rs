//! A run whose journal is full, slow, or only looked at.

use super::session_tests::{Act, SessionStage, records_of, step};
use super::{client::Notice, session::Order};
use crate::engine::{Command, Event, GateId, GateReply, NodeFact, NodeState, Outcome, Run};
use crate::plan::NodeId;
use serde_json::json;
use std::{sync::atomic::Ordering, time::Duration};
use tokio::sync::mpsc;

#[tokio::test(start_paused = true)]
async fn a_journal_that_is_full_freezes_the_run_and_a_command_goes_on_once_there_is_room() {
    let mut stage = SessionStage::open(&[("a", Act::Sleep(10))], json!([step("a", &[]), step("b", &["a"])])).await;
    stage.journal.full.store(true, Ordering::SeqCst);
    let problem = stage
        .until(|notice| match notice {
            Notice::Frozen { problem, .. } => Some(problem.clone()),
            _ => None,
        })
        .await;
    let saved = stage.rescues.path().read_dir().unwrap().next().unwrap().unwrap().path();
    assert!(problem.message.contains("full") && problem.hint.unwrap().contains(saved.to_str().unwrap()));
    let read = crate::store::read_run(&std::fs::read_to_string(&saved).unwrap(), "run").unwrap();
    assert_eq!(Run::replay(&read.records).node(&NodeId::new("a")).unwrap().state, NodeState::Succeeded, "what is in memory only is kept");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let node = |id: &str| Run::replay(&stage.records()).node(&NodeId::new(id)).unwrap().state;
    assert_eq!((node("a"), node("b")), (NodeState::Running, NodeState::Pending), "nothing went on unrecorded");
    assert_eq!(stage.begun.load(Ordering::SeqCst), 1, "nothing was begun that isn't on record");
    stage.journal.full.store(false, Ordering::SeqCst);
    stage.order(Command::Start);
    let run = stage.end().await;
    assert_eq!(run.outcome().unwrap().0, Outcome::Succeeded);
    assert!(stage.records().iter().map(|record| record.seq).eq(1..=run.last_seq()));
    assert!(!saved.exists(), "the journal has it all again");
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_on_the_disk_before_anything_follows_from_it() {
    let mut gated = step("a", &[]);
    gated["approve"] = json!("before");
    let mut stage = SessionStage::open(&[], json!([gated])).await;
    let gate = stage
        .until(|notice| {
            records_of(notice).iter().find_map(|record| match &record.event {
                Event::ApprovalRequired { gate } => Some(gate.clone()),
                _ => None,
            })
        })
        .await;
    stage.order(Command::decide(gate.id, GateReply::Approve, gate.hash));
    stage.end().await;
    let synced = stage.journal.synced.lock().unwrap();
    let at = |wanted: fn(&Event) -> bool| synced.iter().position(|record| wanted(&record.event));
    let decided = at(|event| matches!(event, Event::GateDecided { .. }));
    assert!(decided.is_some() && decided < at(|event| matches!(event, Event::Node { fact: NodeFact::Started { .. }, .. })));
    assert_eq!(
        at(|event| matches!(event, Event::Node { fact: NodeFact::Completed { .. }, .. })),
        None,
        "what no effect follows isn't waited for"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_only_looks_at_a_frozen_run_is_answered_and_sees_what_is_committed() {
    let mut stage = SessionStage::open(&[("a", Act::Sleep(10))], json!([step("a", &[])])).await;
    stage.journal.full.store(true, Ordering::SeqCst);
    stage.until(|notice| matches!(notice, Notice::Frozen { .. }).then_some(())).await;
    let (reply, gate) = tokio::sync::oneshot::channel();
    stage.session.order(Order::Gate { gate: GateId(1), reply });
    assert_eq!(gate.await, Ok(None), "a client that looks before it decides doesn't hang");
    let (listener, mut notices) = mpsc::unbounded_channel();
    stage.session.order(Order::Attach(listener));
    let opened = notices.recv().await.unwrap();
    assert_eq!(records_of(&opened), stage.records());
    assert!(matches!(notices.recv().await, Some(Notice::Frozen { .. })));
    stage.journal.full.store(false, Ordering::SeqCst);
    stage.order(Command::Start);
    stage.end().await;
    let mut seen = records_of(&opened).to_vec();
    while let Some(notice) = notices.recv().await {
        seen.extend_from_slice(records_of(&notice));
    }
    assert_eq!(seen, stage.records());
}

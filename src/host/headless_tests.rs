//! Runs without a console: what flags decide, and what a signal does.

use super::host_tests::{Bed, copy_plan, flags, nobody, plan, settled, state};
use super::{client::Driver, *};
use crate::engine::{Actor, Event, NodeState, Outcome};
use crate::plan::NodeId;
use serde_json::json;

#[tokio::test]
async fn real_tools_run_and_an_approved_write_happens() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let end = bed.headless(copy_plan(), flags(&["write"], &[], Yes::Absent)).await;
    assert_eq!(settled(&end), Some(Outcome::Succeeded));
    assert_eq!(bed.read("out.txt").as_deref(), Some("copied"));
    let decided = bed.journal(&end.run).into_iter().find_map(|record| match record.event {
        Event::GateDecided { by, .. } => Some(by),
        _ => None,
    });
    let Some(Actor { who, via }) = decided else { panic!("no decision on record") };
    assert!(who.ends_with("(--approve write)") && via == "rule", "{who} {via}");
}

#[tokio::test]
async fn without_a_flag_the_run_is_parked_open_and_names_the_flag() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let end = bed.headless(copy_plan(), Flags::default()).await;
    let HeadlessEnd::Parked(gates) = &end.end else { panic!("{:?}", end.end) };
    assert_eq!(gates.len(), 1);
    assert_eq!((gates[0].node.as_str(), gates[0].tool.as_deref()), ("write", Some("write_file")));
    assert_eq!(gates[0].flag.as_deref(), Some("--approve write"));
    assert_eq!(bed.read("out.txt"), None);
    let runs = bed.host.shared().runs().unwrap();
    assert_eq!((runs[0].outcome, &runs[0].driver, runs[0].waiting.as_slice()), (None, &Driver::Nobody, &[NodeId::new("write")][..]));
}

#[tokio::test]
async fn deny_beats_approve_and_yes_and_a_rejected_call_never_runs() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let end = bed.headless(copy_plan(), flags(&["write"], &["write_*"], Yes::Given)).await;
    assert_eq!(bed.read("out.txt"), None);
    assert_eq!(state(&end.state, "read"), NodeState::Succeeded);
    assert_eq!(state(&end.state, "write"), NodeState::Cancelled);
    assert!(settled(&end).is_some_and(|outcome| outcome != Outcome::Succeeded));
}

#[tokio::test]
async fn a_flag_means_a_tool_by_any_of_its_names() {
    for denied in ["grep", "search_files", "search_*"] {
        let bed = Bed::new(&[("in.txt", "hello")]);
        let asked = plan(json!([{ "id": "find", "tool": "grep", "query": "hello", "approve": "before" }]));
        let end = bed.headless(asked, flags(&[], &[denied], Yes::Given)).await;
        assert_eq!(state(&end.state, "find"), NodeState::Cancelled, "{denied}");
    }
}

#[tokio::test]
async fn a_question_that_wants_words_is_never_answered_by_a_flag() {
    let bed = Bed::new(&[]);
    let end = bed
        .headless(plan(json!([{ "id": "sure", "ask": { "text": "Which?", "options": ["a", "b"] } }])), flags(&["*"], &[], Yes::Given))
        .await;
    let HeadlessEnd::Parked(gates) = &end.end else { panic!("{:?}", end.end) };
    assert_eq!((gates[0].node.as_str(), gates[0].flag.as_deref()), ("sure", None));
}

#[tokio::test]
async fn a_flag_that_is_no_glob_is_refused_before_anything_starts() {
    let bed = Bed::new(&[]);
    let flags = flags(&["a[", "b"], &[], Yes::Absent);
    let problem =
        bed.host.run_headless(NewRun { plan: copy_plan(), ..NewRun::default() }, &flags, &mut nobody(), &mut |_| {}).await.unwrap_err();
    assert!(problem.message.starts_with("--approve: `a[` is not a valid pattern"), "{}", problem.message);
    assert!(bed.host.shared().runs().unwrap().is_empty());
}

#[tokio::test]
async fn a_signal_stops_a_headless_run_where_it_is() {
    let bed = Bed::new(&[]);
    let (tell, mut stop) = tokio::sync::mpsc::unbounded_channel();
    tell.send(crate::engine::StopSignal::Terminate).unwrap();
    let asks = plan(json!([{ "id": "sure", "ask": { "text": "Sure?" } }]));
    let end = bed.host.run_headless(NewRun { plan: asks, ..NewRun::default() }, &Flags::default(), &mut stop, &mut |_| {}).await.unwrap();
    assert!(matches!(end.end, HeadlessEnd::Stopped(crate::engine::StopSignal::Terminate) | HeadlessEnd::Parked(_)), "{:?}", end.end);
    assert_eq!(end.state.outcome(), None);
}

//! What a person relies on, one sentence a test.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::json;

#[test]
fn a_chain_runs_in_order_and_settles() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), transform("c", json!({"said": "{{b.word}}"}), &["b"])]));
    assert_eq!(world.states(), "a running, b pending, c pending");
    world.done("a", json!("one"));
    assert_eq!(world.states(), "a succeeded, b running, c pending");
    world.done("b", json!({"word": "two"}));
    assert_eq!(world.states(), "a succeeded, b succeeded, c succeeded");
    assert_eq!(world.node("c").result.as_deref(), Some(&json!({"said": "two"})));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    assert!(matches!(world.records.last().unwrap().event, Event::RunEnded { .. }));
}

#[test]
fn independent_nodes_start_together_up_to_the_slots() {
    let nodes = (0..20).map(|i| agent(&format!("n{i:02}"), &[])).collect();
    let mut world = World::new(plan(nodes));
    assert_eq!(world.started().len(), 16);
    world.done("n03", json!(1));
    assert_eq!(world.started().len(), 17);
    assert_eq!(world.state("n16"), "running");
    assert_eq!(world.state("n17"), "ready");
}

#[test]
fn a_gate_before_a_tool_holds_it_and_approval_starts_it() {
    let mut world = World::new(plan(vec![tool("w", "write", json!({"path": "x"}), &[])]));
    assert_eq!(world.states(), "w waiting");
    assert!(world.started().is_empty());
    assert!(world.run.is_parked());
    world.decide(1, GateReply::Approve);
    assert_eq!(world.states(), "w running");
    let Some(Effect::Start { job, approved: true, .. }) = world.effects.first() else { panic!("{:?}", world.effects) };
    assert_eq!(**job, Job::Tool { tool: "write".into(), args: json!({"path": "x"}) });
    world.ask("w", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.answers(), [("1".to_string(), Answer::Run { args: json!({"path": "x"}) })]);
    world.tool_done("w", "1", json!("written"));
    world.done("w", json!("written"));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

fn gated(id: &str, deps: &[&str]) -> Node {
    let mut node = agent(id, deps);
    node.policy.approve = Some(Approve::Before);
    node
}

/// Case 2.
#[test]
fn rejecting_the_first_of_three_gates_leaves_the_other_two_undecided() {
    let mut world = World::new(plan(vec![gated("a", &[]), gated("b", &[]), gated("c", &[])]));
    world.decide(1, reject("no"));
    assert_eq!(world.states(), "a cancelled, b waiting, c waiting");
    assert_eq!(world.reason("a"), "rejected by anna: no");
    assert_eq!(world.open(), [2, 3]);
}

/// Case 3.
#[test]
fn a_rejected_call_never_runs_by_any_route() {
    let mut world = World::new(plan(vec![agent("a", &[]), tool("w", "write", json!({"path": "x"}), &[])]));
    world.decide(1, reject("not that file"));
    world.ask("a", "1", "write", json!({"path": "x"}), Verdict::Ask);
    let gate = world.open()[0];
    world.decide(gate, reject("not that file"));
    world.ask("a", "2", "write", json!({"path": "x"}), Verdict::Allow);
    assert_eq!(world.open().len(), 1, "a call that was rejected asks even where the rules would let it go");
    world.fail("a", ErrorKind::NothingBegan);
    assert_eq!(world.state("a"), "retrying");
    world.due("a", TimerKind::Retry);
    world.ask("a", "1", "write", json!({"path": "x"}), Verdict::Allow);
    assert!(!world.answers().iter().any(|(_, answer)| matches!(answer, Answer::Run { .. })));
    assert!(!world.started().contains(&"w".to_string()));
}

/// Case 4.
#[test]
fn an_approved_call_runs_and_its_real_result_is_on_record() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.ask("a", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.states(), "a waiting");
    world.decide(1, GateReply::Approve);
    assert_eq!(world.states(), "a running");
    assert_eq!(world.answers(), [("1".to_string(), Answer::Run { args: json!({"path": "x"}) })]);
    world.tool_done("a", "1", json!("42 bytes"));
    let (call, report) = &world.node("a").lineage.tools[0];
    assert_eq!((call.tool.as_str(), &report.as_ref().unwrap().value), ("write", &json!("42 bytes")));
}

/// Case 5.
#[test]
fn gates_in_parallel_branches_are_answered_in_either_order_and_nothing_else_stops() {
    let nodes = vec![gated("a", &[]), gated("b", &[]), agent("c", &[]), agent("a2", &["a"]), agent("b2", &["b"]), agent("c2", &["c"])];
    for order in [[1, 2], [2, 1]] {
        let mut world = World::new(plan(nodes.clone()));
        world.done("c", json!(1));
        assert_eq!(world.state("c2"), "running");
        for gate in order {
            world.decide(gate, GateReply::Approve);
            let id = if gate == 1 { "a" } else { "b" };
            world.done(id, json!(1));
            assert_eq!(world.state(&format!("{id}2")), "running");
        }
    }
}

/// Case 6.
#[test]
fn rejecting_one_call_of_a_batch_leaves_its_approved_siblings() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    for (call, path) in [("1", "x"), ("2", "y"), ("3", "z")] {
        world.ask("a", call, "write", json!({"path": path}), Verdict::Ask);
    }
    world.decide(2, reject("not y"));
    world.decide(3, GateReply::Approve);
    world.decide(1, GateReply::Approve);
    let ran: Vec<_> =
        world.answers().into_iter().filter(|(_, answer)| matches!(answer, Answer::Run { .. })).map(|(call, _)| call).collect();
    assert_eq!(ran, ["3", "1"]);
    assert!(world.answers().contains(&("2".to_string(), Answer::Refused { message: "rejected: not y".into() })));
    assert_eq!(world.states(), "a running");
}

/// Case 7.
#[test]
fn a_call_proposed_again_after_its_rejection_is_refused_without_asking_from_the_third_time() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    for call in ["1", "2"] {
        world.ask("a", call, "write", json!({"path": "x", "mode": 1}), Verdict::Ask);
        let gate = world.open()[0];
        world.decide(gate, reject("no"));
    }
    world.ask("a", "3", "write", json!({"mode": 1, "path": "x"}), Verdict::Ask);
    assert!(world.open().is_empty());
    assert!(matches!(&world.answers()[2], (call, Answer::Refused { message }) if call == "3" && message.contains("2 times")));
    world.ask("a", "4", "write", json!({"path": "y"}), Verdict::Ask);
    assert_eq!(world.open().len(), 1, "another call asks");
}

/// Case 18.
#[test]
fn the_oldest_gate_comes_first_and_cancelling_one_keeps_the_others() {
    let mut world = World::new(plan(vec![gated("a", &[]), gated("b", &[]), gated("c", &[])]));
    world.command(Command::act(Action::Cancel { target: ActionTarget::Node("a".into()) }));
    assert_eq!(world.open(), [2, 3]);
    assert_eq!(world.states(), "a cancelled, b waiting, c waiting");
    assert_eq!(world.voided(1).as_deref(), Some("cancelled by anna"));
}

/// Case 24.
#[test]
fn arguments_can_be_edited_then_approved_and_are_checked_again() {
    let mut world = World::new(plan(vec![tool("w", "write", json!({"path": "x"}), &[])]));
    let events = world.decide(1, GateReply::Modify { payload: json!({"path": 7}) });
    let [Event::Refused { why, .. }] = events.as_slice() else { panic!("{events:?}") };
    assert!(why.contains("don't fit `write`"), "{why}");
    assert_eq!(world.states(), "w waiting");
    world.decide(1, GateReply::Modify { payload: json!({"path": "y"}) });
    let Some(Effect::Start { job, .. }) = world.effects.first() else { panic!("{:?}", world.effects) };
    assert_eq!(**job, Job::Tool { tool: "write".into(), args: json!({"path": "y"}) });
    world.ask("w", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.open(), [2], "the call as it was first proposed is not what was approved");
}

/// Case 31.
#[test]
fn one_running_agent_can_be_cancelled_and_its_late_result_changes_nothing() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[]), agent("c", &["a"])]));
    world.command(Command::act(Action::Cancel { target: ActionTarget::Node("a".into()) }));
    assert_eq!(world.states(), "a cancelled, b running, c skipped");
    assert!(world.effects.iter().any(|effect| matches!(effect, Effect::Abort { node, .. } if &**node == "a")));
    world.done("a", json!("late"));
    assert_eq!(world.node("a").result, None);
    world.done("b", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Partial));
}

/// Case 32.
#[test]
fn a_gate_in_one_chain_does_not_stop_the_other_and_its_node_starts_once() {
    let nodes = vec![agent("a", &[]), gated("b", &["a"]), agent("c", &[]), agent("d", &["c"]), agent("e", &["d"])];
    let mut world = World::new(plan(nodes));
    for id in ["a", "c", "d", "e"] {
        world.done(id, json!(1));
    }
    assert_eq!(world.states(), "a succeeded, b waiting, c succeeded, d succeeded, e succeeded");
    world.decide(1, GateReply::Approve);
    world.done("b", json!(1));
    assert_eq!(world.started().iter().filter(|id| *id == "b").count(), 1);
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn the_first_answer_wins_and_the_later_one_names_who_decided() {
    let mut world = World::new(plan(vec![gated("a", &[])]));
    world.decide(1, GateReply::Approve);
    let events = world.decide(1, reject("no"));
    let [Event::Refused { why, .. }] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(why, "gate 1 was already approved by anna");
}

#[test]
fn an_answer_to_something_else_than_what_is_asked_is_refused() {
    let mut world = World::new(plan(vec![gated("a", &[])]));
    let command = Command::decide(GateId(1), GateReply::Approve, "other");
    assert!(matches!(world.command(command).as_slice(), [Event::Refused { .. }]));
    assert_eq!(world.states(), "a waiting");
}

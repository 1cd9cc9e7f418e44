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
    assert!(matches!(world.records.last().unwrap().event, Event::RunSettled { .. }));
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
    world.decide(1, Decision::Approve);
    assert_eq!(world.states(), "w running");
    let Some(Effect::Start { job, approved: true, .. }) = world.effects.first() else { panic!("{:?}", world.effects) };
    assert_eq!(**job, Job::Tool { tool: "write".into(), args: json!({"path": "x"}) });
    world.ask("w", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.answers(), [("1".to_string(), Answer::Run { args: json!({"path": "x"}) })]);
    world.tool_done("w", "1", json!("written"));
    world.done("w", json!("written"));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

//! How a run ends by its exits: what people skip, what the plan routes away, and what a person gives as done.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

fn skip(id: &str) -> Action {
    Action::Skip { node: id.into() }
}

fn words(world: &World) -> (Option<Outcome>, &str) {
    (world.outcome(), world.run.outcome().map_or("", |(_, reason)| reason))
}

const FORGONE: &str = "a person skipped what was due, and no end of the plan was reached";

#[test]
fn a_run_whose_only_end_a_person_skipped_has_failed_and_the_impact_says_so() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.done("a", json!(1));
    assert_eq!(world.run.impact(&skip("b"), Time(world.now)).ends, Some(Outcome::Failed));
    world.act(skip("b"));
    assert_eq!(words(&world), (Some(Outcome::Failed), FORGONE));
}

#[test]
fn an_end_that_is_out_of_reach_because_of_what_a_person_skipped_was_not_routed_away() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["b"])]));
    assert_eq!(world.run.impact(&skip("a"), Time(world.now)).ends, Some(Outcome::Failed));
    world.act(skip("a"));
    assert_eq!((world.states().as_str(), words(&world)), ("a skipped, b skipped, c skipped", (Some(Outcome::Failed), FORGONE)));
}

#[test]
fn a_run_that_reached_another_end_has_succeeded_whatever_was_skipped() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    world.act(skip("b"));
    world.done("a", json!(1));
    world.done("c", json!(2));
    assert_eq!((world.states().as_str(), world.outcome()), ("a succeeded, b skipped, c succeeded", Some(Outcome::Succeeded)));
}

#[test]
fn an_end_that_was_marked_done_or_given_a_result_has_succeeded() {
    for value in [Value::Null, json!("by hand")] {
        let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
        world.act(skip("a"));
        assert_eq!(world.outcome(), Some(Outcome::Failed));
        world.act(Action::Override { node: "b".into(), value });
        assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    }
}

#[test]
fn a_skip_at_a_gate_is_a_persons_and_one_by_a_guard_is_the_plans() {
    let mut asks = agent("b", &["a"]);
    asks.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![agent("a", &[]), asks]));
    world.done("a", json!(1));
    world.decide(1, GateReply::Skip);
    assert_eq!(words(&world), (Some(Outcome::Failed), FORGONE));
    let mut guarded = agent("b", &["a"]);
    guarded.policy.when = Some("a > 1".into());
    let mut world = World::new(plan(vec![agent("a", &[]), guarded]));
    world.done("a", json!(1));
    assert_eq!((world.state("b"), world.outcome()), ("skipped", Some(Outcome::Succeeded)));
}

#[test]
fn a_way_that_the_plan_closed_by_itself_was_routed_away_whatever_a_person_skipped_on_it() {
    let outcome = |join: Join| {
        let mut last = agent("last", &["by_hand"]);
        last.policy.join = Some(join);
        let mut doc = plan(vec![agent("a", &[]), agent("by_hand", &[]), last]);
        doc.edges = vec![edge("a", "last", "a > 1")];
        let mut world = World::new(doc);
        world.done("a", json!(1));
        world.act(skip("by_hand"));
        assert_eq!(world.state("last"), "skipped");
        world.outcome()
    };
    assert_eq!(outcome(Join::All), Some(Outcome::Succeeded), "it needed both, and one led elsewhere");
    assert_eq!(outcome(Join::Any), Some(Outcome::Failed), "what was skipped could have led there");
}

#[test]
fn a_walk_whose_next_step_a_person_skips_ends_without_an_end_in_every_dialect() {
    let nodes = json!([
        {"id": "a", "agent": "worker", "objective": "o", "entry": true},
        {"id": "b", "agent": "worker", "objective": "o", "exit": true},
        {"id": "c", "agent": "worker", "objective": "o", "exit": true}
    ]);
    for dialect in ["native", "orchestration", "tools", "hybrid", "workflow", "stages"] {
        let edges = json!([{"from": "a", "to": "b", "when": "a > 0"}, {"from": "a", "to": "c", "when": "a > 1"}]);
        let mut world = World::new(read(json!({"dialect": dialect, "nodes": nodes, "edges": edges})));
        world.done("a", json!(1));
        assert_eq!(world.states(), "a succeeded, b running, c skipped", "{dialect}");
        world.act(skip("b"));
        assert_eq!(words(&world), (Some(Outcome::Failed), FORGONE), "{dialect}");
        world.act(Action::Override { node: "b".into(), value: Value::Null });
        assert_eq!(world.outcome(), Some(Outcome::Succeeded), "{dialect}: {}", world.states());
    }
}

#[test]
fn a_plan_inside_a_node_goes_by_the_same_rule() {
    let mut world = World::new(read(json!({"nodes": [
        {"id": "outer", "plan": {"nodes": [{"id": "x", "agent": "worker", "objective": "o"}]}},
        {"id": "z", "value": 1, "depends_on": ["outer"]}
    ]})));
    world.act(skip("outer/x"));
    assert_eq!((world.state("outer"), world.outcome()), ("failed", Some(Outcome::Failed)));
}

#[test]
fn journals_of_before_the_rule_say_nothing_of_who_skipped() {
    let old = json!({"type": "node_skipped", "node_id": "b", "generation": 1, "reason": "skipped by anna"});
    let event: Event = serde_json::from_value(old.clone()).unwrap();
    assert!(matches!(event, Event::Node { fact: NodeFact::Skipped { by: SkippedBy::Plan, .. }, .. }));
    assert_eq!(serde_json::to_value(&event).unwrap(), old);
}

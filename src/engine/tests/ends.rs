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

fn ended(world: &World) -> (Option<Outcome>, String) {
    (world.outcome(), world.ended_by().unwrap_or_default())
}

const FORGONE: &str = "a person skipped what had to run, so the run has no output";

#[test]
fn a_run_whose_only_end_a_person_skipped_has_failed_and_the_impact_says_so() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.done("a", json!(1));
    assert_eq!(world.run.impact(&skip("b"), Time(world.now)).ends, Some(Outcome::Failed));
    world.act(skip("b"));
    assert_eq!(ended(&world), (Some(Outcome::Failed), FORGONE.into()));
}

#[test]
fn an_end_that_is_out_of_reach_because_of_what_a_person_skipped_was_not_routed_away() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["b"])]));
    assert_eq!(world.run.impact(&skip("a"), Time(world.now)).ends, Some(Outcome::Failed));
    world.act(skip("a"));
    assert_eq!((world.states().as_str(), ended(&world)), ("a skipped, b skipped, c skipped", (Some(Outcome::Failed), FORGONE.into())));
}

#[test]
fn a_run_that_reached_another_end_while_a_person_skipped_one_is_partial() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    world.act(skip("b"));
    world.done("a", json!(1));
    world.done("c", json!(2));
    assert_eq!((world.states().as_str(), world.outcome()), ("a succeeded, b skipped, c succeeded", Some(Outcome::Partial)));
}

#[test]
fn a_run_that_went_on_without_what_a_person_skipped_is_partial() {
    for join in ["any", "settled", "always"] {
        let mut world = World::new(read(json!({"goal": "g", "nodes": [
            {"id": "a", "agent": "worker", "objective": "o"}, {"id": "b", "agent": "worker", "objective": "o"},
            {"id": "c", "join": join, "depends_on": ["a", "b"], "agent": "worker", "objective": "o"}
        ]})));
        world.act(skip("b"));
        world.done("a", json!(1));
        world.done("c", json!(2));
        assert_eq!(ended(&world), (Some(Outcome::Partial), "a person skipped what had to run".into()), "{join}");
    }
}

#[test]
fn a_map_that_was_stopped_before_all_entries_were_done_makes_its_run_partial() {
    let body = json!({"nodes": [{"id": "w", "agent": "worker", "objective": "o"}]});
    for (begun, outcome) in [(2, Outcome::Partial), (3, Outcome::Succeeded)] {
        let node = json!({"id": "each", "over": "[1, 2, 3]", "max_parallel": begun, "body": body});
        let mut world = World::new(read(json!({"goal": "g", "nodes": [node]})));
        world.act(Action::Stop { target: ActionTarget::Node("each".into()) });
        (0..begun).for_each(|at| drop(world.done(&format!("each[{at}]/w"), json!(1))));
        assert_eq!(world.outcome(), Some(outcome), "{}", world.states());
    }
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
    assert_eq!(ended(&world), (Some(Outcome::Failed), FORGONE.into()));
    let mut guarded = agent("b", &["a"]);
    guarded.policy.when = Some("a > 1".into());
    let mut world = World::new(plan(vec![agent("a", &[]), guarded]));
    world.done("a", json!(1));
    assert_eq!((world.state("b"), world.outcome()), ("skipped", Some(Outcome::Succeeded)));
}

#[test]
fn a_skipped_node_passes_on_the_worst_cause_broken_before_unmet_before_routed() {
    for join in [Join::All, Join::Any] {
        let mut last = agent("last", &["by_hand"]);
        last.policy.join = Some(join);
        let mut doc = plan(vec![agent("a", &[]), agent("by_hand", &[]), last]);
        doc.edges = vec![edge("a", "last", "a > 1")];
        let mut world = World::new(doc);
        world.done("a", json!(1));
        world.act(skip("by_hand"));
        assert_eq!(world.state("last"), "skipped");
        assert_eq!(world.outcome(), Some(Outcome::Failed), "{join:?}: one way led elsewhere, the other was broken");
    }
}

/// `s` leads to `x` when n > 3 and to `y` when n <= 3; both lead to `j`.
fn diamond(join: Option<Join>, after: &[&str]) -> Plan {
    let mut last = transform("j", json!("{{x}}{{y}}"), &["x", "y"]);
    last.policy.join = join;
    let behind = after.iter().map(|id| transform(id, json!(1), &["j"]));
    let nodes = [agent("s", &[]), agent("x", &[]), agent("y", &[]), last].into_iter().chain(behind).collect();
    Plan { edges: vec![edge("s", "x", "s.n > 3"), edge("s", "y", "s.n <= 3")], ..plan(nodes) }
}

fn run_diamond(doc: Plan) -> World {
    let mut world = World::new(doc);
    world.done("s", json!({"n": 5}));
    world.done("x", json!("x"));
    world
}

#[test]
fn a_conditional_diamond_that_meets_under_all_did_not_succeed() {
    let unmet = "`j` needs a branch that was not taken, so the run has no output";
    for join in [None, Some(Join::All)] {
        let world = run_diamond(diamond(join, &[]));
        assert_eq!(world.states(), "s succeeded, x succeeded, y skipped, j skipped");
        assert_eq!(ended(&world), (Some(Outcome::Failed), unmet.into()));
        let world = run_diamond(diamond(join, &["k"]));
        assert_eq!((world.state("k"), ended(&world)), ("skipped", (Some(Outcome::Failed), unmet.into())), "unmet passes on");
        let mut doc = diamond(join, &[]);
        doc.nodes.push(transform("z", json!(1), &["x"]));
        let partial = Some(Outcome::Partial);
        assert_eq!(ended(&run_diamond(doc)), (partial, "`j` needs a branch that was not taken".into()), "another end was reached");
    }
    let world = run_diamond(diamond(Some(Join::Settled), &[]));
    assert_eq!((world.node("j").result.as_deref(), world.outcome()), (Some(&json!("x")), Some(Outcome::Succeeded)));
}

#[test]
fn a_false_condition_straight_into_an_explicit_all_is_routed() {
    let mut last = agent("j", &["x"]);
    last.policy.join = Some(Join::All);
    let mut world = World::new(Plan { edges: vec![edge("s", "j", "s > 1")], ..plan(vec![agent("s", &[]), agent("x", &[]), last]) });
    world.done("s", json!(1));
    world.done("x", json!(1));
    assert_eq!((world.state("j"), ended(&world)), ("skipped", (Some(Outcome::Succeeded), "no node had to run".into())));
}

#[test]
fn a_run_whose_final_nodes_were_all_routed_away_says_that_nothing_was_due() {
    let mut world = World::new(Plan { edges: vec![edge("a", "b", "a > 1")], ..plan(vec![agent("a", &[]), agent("b", &[])]) });
    world.done("a", json!(1));
    assert_eq!(ended(&world), (Some(Outcome::Succeeded), "no node had to run".into()));
}

#[test]
fn a_node_that_failed_safe_counts_only_if_it_is_final() {
    let safe = |id: &str| Node { policy: Policy { on_failure: Some(OnFailure::Safe), ..Policy::default() }, ..agent(id, &[]) };
    let mut world = World::new(plan(vec![safe("a"), agent("b", &["a"])]));
    world.fail("a", ErrorKind::Permanent);
    world.done("b", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    let mut world = World::new(plan(vec![safe("a"), agent("b", &[])]));
    world.fail("a", ErrorKind::Permanent);
    world.done("b", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Partial));
}

#[test]
fn a_body_where_nothing_was_due_gives_null_and_one_with_an_unmet_end_fails_its_owner() {
    let routed = json!({"nodes": [{"id": "x", "value": 1}, {"id": "y", "value": 2}, {"id": "z", "value": 3}],
        "edges": [{"from": "x", "to": "y", "when": "x > 1"}, {"from": "x", "to": "z", "when": "x > 1"}]});
    let unmet = json!({"nodes": [{"id": "x", "value": 1}, {"id": "y", "value": 2}, {"id": "z", "value": 3},
        {"id": "j", "value": 4, "join": "all", "depends_on": ["y", "z"]}],
        "edges": [{"from": "x", "to": "y", "when": "x > 0"}, {"from": "x", "to": "z", "when": "x > 1"}]});
    let kinds = |body: &Value| {
        [json!({"plan": body}), json!({"body": body, "until": "true", "max_iterations": 1}), json!({"over": "[1]", "body": body})]
    };
    for (at, mut owner) in kinds(&routed).into_iter().enumerate() {
        owner["id"] = json!("o");
        let world = World::new(read(json!({"nodes": [owner]})));
        let null = if at == 2 { json!([null]) } else { Value::Null };
        assert_eq!((world.node("o").result.as_deref(), world.outcome()), (Some(&null), Some(Outcome::Succeeded)));
    }
    for mut owner in kinds(&unmet) {
        owner["id"] = json!("o");
        let world = World::new(read(json!({"nodes": [owner]})));
        assert_eq!((world.state("o"), world.outcome()), ("failed", Some(Outcome::Failed)));
    }
}

#[test]
fn a_stages_walk_that_stops_at_a_stage_that_is_not_terminal_failed() {
    let nodes = json!([{"id": "a", "value": 1, "entry": true}, {"id": "b", "value": 2, "exit": true}]);
    let world = World::new(read(json!({"dialect": "stages", "nodes": nodes, "edges": [{"from": "a", "to": "b", "when": "a > 1"}]})));
    let why = "the run stopped at `a`, which is not a terminal stage, so the run has no output";
    assert_eq!(ended(&world), (Some(Outcome::Failed), why.into()));
    let world = World::new(read(json!({"dialect": "workflow", "nodes": nodes, "edges": [{"from": "a", "to": "b", "when": "a > 1"}]})));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded), "a workflow ends where no connection holds");
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
        assert_eq!(ended(&world), (Some(Outcome::Failed), FORGONE.into()), "{dialect}");
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

#[test]
fn a_run_names_what_kept_it_from_ending_well_as_it_is() {
    let body = plan(vec![agent("x", &[])]);
    let map = node("m", NodeKind::Map(MapNode { over: "[1, 2]".into(), body: Box::new(body), max_parallel: None }), &[]);
    let mut asks = agent("r", &[]);
    asks.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![map, asks, agent("f", &[]), agent("c", &[])]));
    world.fail("m[0]/x", ErrorKind::Permanent);
    world.done("m[1]/x", json!(1));
    world.decide(1, reject("too risky"));
    world.fail("f", ErrorKind::Permanent);
    world.command(Command::Act { action: Box::new(Action::Cancel { target: ActionTarget::Node("c".into()) }), why: "too slow".into() });
    assert_eq!((world.reason("r").as_str(), world.reason("c").as_str()), ("rejected by anna: too risky", "cancelled by anna: too slow"));
    let why = "`m` succeeded only in part; `r` was rejected by anna; `f` failed; `c` was cancelled";
    assert_eq!(world.ended_by().as_deref(), Some(why));
}

#[test]
fn a_run_whose_loop_was_stopped_says_so() {
    let body = plan(vec![agent("x", &[])]);
    let mut turns = node("l", NodeKind::Loop(LoopNode { until: "x > 9".into(), body: Box::new(body) }), &[]);
    turns.policy.max_iterations = Some(5);
    let mut world = World::new(plan(vec![turns]));
    world.done("l[1]/x", json!(1));
    world.act(Action::Stop { target: ActionTarget::Node("l".into()) });
    world.done("l[2]/x", json!(2));
    assert_eq!((world.outcome(), world.state("l")), (Some(Outcome::Succeeded), "succeeded"));
    assert_eq!(world.ended_by().as_deref(), Some("`l` was stopped early; its result is what it had by then"));
}

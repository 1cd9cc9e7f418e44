//! Plans that one token walks: workflow (seed 003) and stages (seed 004).

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

/// The workflow of seed 003, natively.
fn greeter() -> Plan {
    let agent = |id: &str| json!({"id": id, "agent": "worker", "objective": "o"});
    let mut nodes: Vec<Value> = ["greeter", "meal", "glucose", "feedback"].iter().map(|id| agent(id)).collect();
    nodes[0]["entry"] = json!(true);
    nodes[0]["skip_if"] = json!("flags.skip_all");
    nodes[1]["skip_if"] = json!("flags.skip_meal");
    nodes[2]["skip_if"] = json!("flags.skip_glucose");
    nodes[3]["exit"] = json!(true);
    read(json!({"dialect": "workflow", "inputs": {"flags": {"skip_all": true}}, "nodes": nodes, "edges": [
        {"from": "greeter", "to": "feedback", "when": "hurry"},
        {"from": "greeter", "to": "meal", "context": ["user_name", "user_state"]},
        {"from": "meal", "to": "glucose"},
        {"from": "glucose", "to": "feedback"}
    ]}))
}

#[test]
fn a_workflow_takes_the_first_connection_that_holds_and_passes_skipped_nodes_through() {
    let mut world = World::new(greeter());
    assert_eq!(world.started(), ["greeter"], "the entry's own skip condition isn't asked");
    world.done("greeter", json!({"user_name": "Ann", "user_state": "calm", "mood": "good", "flags": {"skip_meal": true}}));
    assert_eq!(world.started(), ["greeter", "glucose"]);
    let deps = world.effects.iter().rev().find_map(|effect| match effect {
        Effect::Start { deps, .. } => Some(deps.clone()),
        _ => None,
    });
    assert_eq!(*deps.unwrap()[0].result, json!({"user_name": "Ann", "user_state": "calm"}), "only what the connection passes");
    world.done("glucose", json!("5.4"));
    world.done("feedback", json!("bye"));
    assert_eq!(world.states(), "greeter succeeded, meal passed, glucose succeeded, feedback succeeded");
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    assert_eq!(world.run.why_this_way(&"greeter".into()), "none of its conditions holds, so the way without one is taken");
}

#[test]
fn a_condition_of_a_workflow_reads_the_result_that_was_just_given() {
    let mut world = World::new(greeter());
    world.done("greeter", json!({"hurry": 1}));
    assert_eq!(world.started(), ["greeter", "feedback"]);
    assert_eq!(world.run.why_this_way(&"greeter".into()), "`hurry` holds");
    world.done("feedback", json!("bye"));
    assert_eq!(world.states(), "greeter succeeded, meal skipped, glucose skipped, feedback succeeded");
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn a_walk_that_finds_no_connection_ends_there() {
    let mut plan = greeter();
    plan.edges.truncate(1);
    let mut world = World::new(plan);
    world.done("greeter", json!({}));
    assert_eq!(world.states(), "greeter succeeded, meal skipped, glucose skipped, feedback skipped");
    assert_eq!(world.reason("meal"), "this plan starts at `greeter` only");
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

fn stages() -> Plan {
    read(json!({"dialect": "stages", "nodes": [
        {"id": "start", "value": {"route": "no"}, "entry": true},
        {"id": "which", "decide": "start.result"},
        {"id": "left", "value": "l"},
        {"id": "right", "value": "r", "exit": true},
        {"id": "join", "merge": true, "exit": true},
        {"id": "after", "value": 1}
    ], "edges": [
        {"from": "start", "to": "which"},
        {"from": "which", "to": "left", "when": "yes"}, {"from": "which", "to": "right", "when": "no"},
        {"from": "left", "to": "join"}, {"from": "right", "to": "join"}, {"from": "join", "to": "after"}
    ]}))
}

#[test]
fn a_stages_plan_stops_at_a_terminal_stage_and_tells_of_each_stage() {
    let world = World::new(stages());
    assert_eq!(world.states(), "start succeeded, which succeeded, left skipped, right succeeded, join skipped, after skipped");
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    let text = world.records.iter().filter_map(|record| match &record.event {
        Event::StageStarted { node_id } => Some(format!("start {node_id}")),
        Event::Checkpoint { node_id } => Some(format!("checkpoint {node_id}")),
        Event::StageFinished { node_id } => Some(format!("finish {node_id}")),
        _ => None,
    });
    let text: Vec<String> = text.collect();
    let expected = ["start", "which", "right"].map(|id| [format!("start {id}"), format!("checkpoint {id}"), format!("finish {id}")]);
    assert_eq!(text, expected.concat());
}

#[test]
fn a_decision_of_a_stages_plan_that_names_no_edge_takes_the_first_and_says_so() {
    let mut plan = stages();
    plan.nodes[0].kind = NodeKind::Transform(TransformNode { value: json!({"next": "elsewhere"}) });
    let world = World::new(plan);
    assert_eq!(world.states(), "start succeeded, which succeeded, left succeeded, right skipped, join succeeded, after skipped");
    let log = world.records.iter().find_map(|record| match &record.event {
        Event::LogLine { text, .. } => Some(text.clone()),
        _ => None,
    });
    let expected = "the answer names `elsewhere`, which is none of its edges (`yes`, `no`), so the first is taken";
    assert_eq!(log.as_deref(), Some(expected));
}

#[test]
fn an_agent_that_decides_gets_its_routes() {
    let plan = read(json!({"nodes": [
        {"id": "which", "decide": {"agent": "worker", "objective": "left or right?"}},
        {"id": "a", "value": 1}, {"id": "b", "value": 2}
    ], "edges": [{"from": "which", "to": "a", "when": "left"}, {"from": "which", "to": "b"}]}));
    let mut world = World::new(plan);
    let routes = world.effects.iter().find_map(|effect| match effect {
        Effect::Start { job, .. } => match &**job {
            Job::Agent(job) => Some(job.routes.clone()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(routes.unwrap(), ["left", "b"]);
    world.done("which", json!("b"));
    assert_eq!(world.states(), "which succeeded, a skipped, b succeeded");
}

//! Plans inside of plans: sub-plans, loops, maps; their ids, gates, results, failures and cancels.

use super::kit::*;
use crate::engine::Mark;
use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

fn world(nodes: Value) -> World {
    World::new(read(json!({"goal": "g", "inputs": {"city": "Oslo"}, "nodes": nodes})))
}

#[test]
fn a_sub_plan_runs_as_a_node_and_gives_the_result_of_its_exit() {
    let mut world = world(json!([
        {"id": "a", "value": {"n": 3}},
        {"id": "outer", "depends_on": ["a"], "inputs": {"n": "{{a.n}}"}, "plan": {"inputs": {"unit": "km"}, "nodes": [
            {"id": "a", "agent": "worker", "objective": "{{inputs.city}} {{n}} {{unit}}"},
            {"id": "b", "value": "{{a}}!", "depends_on": ["a"]}
        ]}},
        {"id": "z", "value": "{{outer}}", "depends_on": ["outer"]}
    ]));
    assert_eq!(world.started(), ["outer/a"]);
    let job = world.effects.iter().find_map(|effect| match effect {
        Effect::Start { job, .. } => Some(job.clone()),
        _ => None,
    });
    assert!(matches!(*job.unwrap(), Job::Agent(job) if job.objective.as_deref() == Some("Oslo 3 km")));
    assert_eq!(world.node("outer").inside, Inside { nodes: 2, over: 0, waiting: 0, bad: 0 });
    world.done("outer/a", json!("far"));
    assert_eq!(world.node("z").result.as_deref(), Some(&json!("far!")));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    assert_eq!(world.states(), "a succeeded, outer succeeded, z succeeded, outer/a succeeded, outer/b succeeded");
}

#[test]
fn a_map_runs_its_body_once_for_each_entry_and_no_more_at_once_than_allowed() {
    let mut world = world(json!([
        {"id": "each", "over": "['x', 'y', 'z']", "max_parallel": 2, "body": {"nodes": [
            {"id": "work", "agent": "worker", "objective": "{{item}} {{index}}"}
        ]}}
    ]));
    assert_eq!(world.started(), ["each[0]/work", "each[1]/work"]);
    world.done("each[1]/work", json!(2));
    assert_eq!(world.started(), ["each[0]/work", "each[1]/work", "each[2]/work"]);
    world.done("each[2]/work", json!(3));
    world.fail("each[0]/work", ErrorKind::Permanent);
    assert_eq!(world.node("each").result.as_deref(), Some(&json!([null, 2, 3])));
    assert_eq!(world.node("each").mark.as_ref().map(Mark::as_str), Some("partial"));
    assert_eq!(world.outcome(), Some(Outcome::Partial));
}

#[test]
fn a_map_over_nothing_gives_an_empty_list_and_over_no_list_fails() {
    let body = json!({"nodes": [{"id": "work", "value": 1}]});
    let empty = world(json!([{"id": "each", "over": "[]", "body": body}]));
    assert_eq!(empty.node("each").result.as_deref(), Some(&json!([])));
    let number = world(json!([{"id": "each", "over": "3", "body": body}]));
    assert_eq!(number.reason("each"), "`3` is a number, but a map needs a list");
    let all = world(json!([{"id": "each", "over": "[1, 2]", "body": {"nodes": [{"id": "w", "value": "{{inputs.nope}}"}]}}]));
    assert_eq!((all.state("each"), all.outcome()), ("failed", Some(Outcome::Failed)));
}

#[test]
fn a_loop_repeats_until_its_condition_holds_and_sees_what_it_gave_before() {
    let world = world(json!([
        {"id": "grow", "until": "text.result == 'xxx'", "max_iterations": 5, "body": {"nodes": [
            {"id": "text", "value": "{{ (previous or '') ~ 'x' }}"}
        ]}}
    ]));
    assert_eq!(world.node("grow").result.as_deref(), Some(&json!("xxx")));
    assert_eq!(world.states(), "grow succeeded, grow[1]/text succeeded, grow[2]/text succeeded, grow[3]/text succeeded");
}

#[test]
fn a_loop_that_comes_to_its_limit_fails_and_keeps_what_it_has() {
    let world = world(json!([
        {"id": "again", "until": "turn.result > 9", "max_iterations": 2, "body": {"nodes": [{"id": "turn", "value": "{{inputs.iteration}}"}]}}
    ]));
    assert_eq!(world.reason("again"), "after 2 iterations `turn.result > 9` is not true");
    assert_eq!(world.node("again").result.as_deref(), Some(&json!(2)));
    assert_eq!(world.outcome(), Some(Outcome::Failed));
}

#[test]
fn a_gate_inside_a_sub_plan_shows_at_the_top_and_in_the_sub_plan_and_says_who_asks() {
    let mut world = world(json!([
        {"id": "outer", "plan": {"nodes": [{"id": "inner", "plan": {"nodes": [
            {"id": "save", "tool": "write", "args": {"path": "x"}}
        ]}}]}},
        {"id": "other", "agent": "worker", "objective": "o"}
    ]));
    let gate = world.run.open_gates().next().unwrap().clone();
    assert_eq!(&*gate.node, "outer/inner/save");
    assert_eq!((world.node("outer").inside.waiting, world.node("outer/inner").inside.waiting), (1, 1));
    assert_eq!(
        world.why("outer"),
        [
            "`outer` is running: 0/2 inside ended",
            "  `outer/inner` is running: 0/1 inside ended",
            "    `outer/inner/save` waits for a reply to gate 1: `write` asks before it runs"
        ]
    );
    world.done("other", json!(1));
    world.decide(1, GateReply::Approve);
    assert_eq!(world.node("outer").inside.waiting, 0);
    world.done("outer/inner/save", json!("saved"));
    assert_eq!(world.node("outer").result.as_deref(), Some(&json!("saved")));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn cancelling_a_composite_node_ends_everything_inside_it_and_nothing_else() {
    let mut world = world(json!([
        {"id": "each", "over": "[1, 2]", "body": {"nodes": [
            {"id": "p", "plan": {"nodes": [{"id": "w", "agent": "worker", "objective": "o"}, {"id": "v", "value": 1, "depends_on": ["w"]}]}}
        ]}},
        {"id": "other", "agent": "worker", "objective": "o"}
    ]));
    world.command(Command::act(Action::Cancel { target: ActionTarget::Node("each".into()) }));
    let states = world.states();
    assert_eq!(states.matches("cancelled").count(), 7, "{states}");
    assert_eq!(world.state("other"), "running");
    world.done("other", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Partial));
    let aborted = world.effects.iter().filter(|effect| matches!(effect, Effect::Abort { .. })).count();
    assert_eq!(aborted, 2);
}

#[test]
fn cancelling_one_entry_leaves_the_others() {
    let mut world = world(json!([
        {"id": "each", "over": "[1, 2]", "body": {"nodes": [{"id": "w", "agent": "worker", "objective": "o"}]}}
    ]));
    world.command(Command::act(Action::Cancel { target: ActionTarget::Node("each[0]/w".into()) }));
    world.done("each[1]/w", json!("two"));
    assert_eq!(world.node("each").result.as_deref(), Some(&json!([null, "two"])));
}

#[test]
fn composite_nodes_hold_no_slot_and_what_is_inside_shares_the_runs_slots() {
    let plan = read(json!({"goal": "g", "nodes": [
        {"id": "p", "plan": {"nodes": [
            {"id": "q", "over": "[1, 2, 3]", "body": {"nodes": [{"id": "w", "agent": "worker", "objective": "o"}]}}
        ]}}
    ]}));
    let mut world = World::with(plan, RunSettings { slots: 1, ..settings() });
    assert_eq!(world.started(), ["p/q[0]/w"]);
    world.done("p/q[0]/w", json!(1));
    assert_eq!(world.started(), ["p/q[0]/w", "p/q[1]/w"]);
}

#[test]
fn gates_around_a_composite_node_show_what_goes_in_and_what_comes_out() {
    let mut world = world(json!([
        {"id": "each", "over": "[1, 2]", "approve": "both", "inputs": {"k": 1}, "body": {"nodes": [{"id": "w", "value": "{{item}}-{{k}}"}]}}
    ]));
    let gate = world.run.open_gates().next().unwrap().clone();
    assert_eq!(gate.payload, json!({"inputs": {"k": 1}, "items": [1, 2]}));
    world.decide(1, GateReply::Modify { payload: json!({"inputs": {"k": 2}, "items": [7]}) });
    let gate = world.run.open_gates().next().unwrap().clone();
    assert_eq!(gate.payload, json!(["7-2"]));
    world.decide(2, GateReply::Approve);
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn what_can_not_run_inside_is_refused_before_anything_starts() {
    let reason = |nodes: Value| {
        let world = World::created(read(json!({"nodes": nodes})), settings());
        world.run.outcome().map(|(_, reason)| reason.message())
    };
    let cycle = json!({"nodes": [{"id": "b", "value": 1, "depends_on": ["b"]}]});
    assert_eq!(reason(json!([{"id": "a", "plan": cycle}])).as_deref(), Some("inside `a`: the plan has a cycle at `b`"));
    let unread = Some("`a` is a plan of its own in `other.json`, which was not read");
    assert_eq!(reason(json!([{"id": "a", "plan": "other.json"}])).as_deref(), unread);
    let lock = json!({"nodes": [{"id": "b", "value": 1, "locks": ["x"]}]});
    let held = Some("inside `a`: `b` names the lock `x`, which the node around it holds");
    assert_eq!(reason(json!([{"id": "a", "plan": lock, "locks": ["x"]}])).as_deref(), held);
}

#[test]
fn views_see_all_nodes_flat_those_of_bodies_by_the_ids_that_they_run_by() {
    let ids = |run: &Run| run.outline().nodes.iter().map(|node| node.id.to_string()).collect::<Vec<_>>();
    let doc = read(json!({"nodes": [
        {"id": "a", "agent": "worker", "objective": "o"},
        {"id": "each", "depends_on": ["a"], "over": "[1, 2]", "body": {"nodes": [{"id": "w", "value": 1}]}}
    ]}));
    let mut world = World::new(doc);
    assert_eq!(ids(&world.run), ["a", "each", "each/w"]);
    world.done("a", json!(1));
    assert_eq!(ids(&world.run), ["a", "each", "each[0]/w", "each[1]/w"]);
}

#[test]
fn work_without_workers_is_done_in_steps_so_that_people_are_heard_in_between() {
    let items: Vec<u32> = (0..3_000).collect();
    let plan = read(json!({"goal": "g", "inputs": {"items": items}, "nodes": [
        {"id": "each", "over": "items", "body": {"nodes": [{"id": "w", "value": 1}]}}
    ]}));
    let mut run = Run::default();
    let create = Input::Create { run: RunId("run".into()), plan: Box::new(plan), settings: Box::new(settings()), by: me() };
    run.step(&create, Time(1));
    let batch = run.step(&Input::Command { command: Command::Start, by: me() }, Time(2));
    assert!(batch.more && batch.records.len() < 3_000, "{}", batch.records.len());
    run.step(&Input::Command { command: Command::act(Action::Cancel { target: ActionTarget::Run }), by: me() }, Time(3));
    while run.step(&Input::Proceed, Time(4)).more {}
    assert_eq!(run.outcome().map(|(outcome, _)| outcome), Some(Outcome::Cancelled));
}

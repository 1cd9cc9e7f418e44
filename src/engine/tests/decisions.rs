//! What people's answers and cancels do: exactly what was shown, and nothing beside it.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

fn job(world: &World) -> Job {
    let start = world.effects.iter().rev().find_map(|effect| match effect {
        Effect::Start { job, .. } => Some((**job).clone()),
        Effect::Abort { .. } | Effect::Answer { .. } | Effect::SetTimer { .. } | Effect::UseModel { .. } | Effect::Replan { .. } => None,
    });
    start.expect("something started")
}

fn why(events: &[Event]) -> &str {
    let [Event::Refused { why, .. }] = events else { panic!("not refused: {events:?}") };
    why
}

fn timers(world: &World) -> Vec<u64> {
    let timers = world.effects.iter().filter_map(|effect| match effect {
        Effect::SetTimer { at, .. } => Some(at.0),
        Effect::Start { .. } | Effect::Abort { .. } | Effect::Answer { .. } | Effect::UseModel { .. } | Effect::Replan { .. } => None,
    });
    timers.collect()
}

#[test]
fn rejecting_the_one_call_of_a_tool_node_ends_it_as_rejected_even_where_failures_are_safe() {
    let mut node = tool("r", "read", json!({"path": "x"}), &[]);
    node.policy.on_failure = Some(OnFailure::Safe);
    let slots = RunSettings { slots: 1, ..settings() };
    let mut world = World::with(plan(vec![node, agent("b", &["r"]), agent("busy", &[])]), slots);
    world.ask("r", "1", "read", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.states(), "r waiting, b pending, busy running");
    world.decide(1, reject("not that one"));
    assert_eq!(world.states(), "r cancelled, b skipped, busy running", "a no needs no slot");
    assert_eq!(world.reason("r"), "rejected by anna: not that one");
    assert!(matches!(world.effects.last(), Some(Effect::Abort { node, .. }) if &**node == "r"));
    assert!(world.answers().is_empty());
}

#[test]
fn cancelling_the_branch_at_one_gate_voids_the_others_of_its_node_and_leaves_other_branches() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &[])]));
    world.ask("a", "1", "write", json!({"path": "x"}), Verdict::Ask);
    world.ask("a", "2", "write", json!({"path": "y"}), Verdict::Ask);
    world.ask("c", "1", "write", json!({"path": "z"}), Verdict::Ask);
    world.decide(1, GateReply::CancelBranch);
    assert_eq!(world.states(), "a cancelled, b cancelled, c waiting");
    assert_eq!(world.reason("b"), "cancelled with the branch at `a`");
    assert_eq!((world.open(), world.voided(2).as_deref()), (vec![3], Some("cancelled by anna")));
    assert_eq!(why(&world.decide(2, GateReply::Approve)), "the gate is closed: cancelled by anna");
    assert!(world.answers().is_empty());
}

#[test]
fn cancelling_a_node_in_the_middle_of_a_call_stops_its_worker_and_the_late_end_of_the_call_is_only_noted() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[])]));
    world.ask("a", "1", "save", json!({"path": "x"}), Verdict::Allow);
    world.command(Command::act(Action::Cancel { target: ActionTarget::Node("a".into()) }));
    assert!(matches!(world.effects.last(), Some(Effect::Abort { node, .. }) if &**node == "a"));
    let events = world.tool_done("a", "1", json!("saved"));
    assert!(matches!(events.as_slice(), [Event::LogLine { .. }]), "{events:?}");
    assert_eq!(world.states(), "a cancelled, b running");
    assert_eq!(world.node("a").lineage.tools[0].1, None);
}

#[test]
fn skipping_at_a_gate_skips_the_node_with_who_did_it() {
    let mut world = World::new(plan(vec![tool("w", "write", json!({"path": "x"}), &[]), agent("b", &["w"])]));
    world.decide(1, GateReply::Skip);
    assert_eq!(world.states(), "w skipped, b skipped");
    assert_eq!(world.reason("w"), "skipped by anna");
    assert!(world.started().is_empty());
}

#[test]
fn a_result_that_a_person_gives_is_held_to_the_schema_of_the_node() {
    let mut checked = agent("a", &[]);
    checked.policy.approve = Some(Approve::Both);
    checked.policy.output_schema = Some(json!({"type": "object", "required": ["n"]}));
    let mut world = World::new(plan(vec![checked]));
    assert!(why(&world.decide(1, GateReply::Answer { value: json!("draft") })).contains("doesn't fit its schema"));
    world.decide(1, GateReply::Approve);
    world.done("a", json!({"n": 1}));
    assert!(why(&world.decide(2, GateReply::Modify { payload: json!({"m": 1}) })).contains("doesn't fit its schema"));
    assert_eq!(world.states(), "a waiting");
    world.decide(2, GateReply::Modify { payload: json!({"n": 2}) });
    assert_eq!(world.node("a").result.as_deref(), Some(&json!({"n": 2})));
}

fn briefed() -> Node {
    let work =
        AgentNode { agent: Some("worker".into()), role: Some("clerk".into()), objective: Some("do it".into()), ..AgentNode::default() };
    let mut node = node("a", NodeKind::Agent(work), &[]);
    node.policy.inputs = Some([("year".to_string(), json!(2020))].into_iter().collect());
    node.policy.approve = Some(Approve::Before);
    node
}

#[test]
fn an_edited_agent_gets_all_that_was_edited_and_nothing_is_ignored() {
    let mut world = World::new(plan(vec![briefed()]));
    let shown = world.run.gate(GateId(1)).unwrap().0.payload.clone();
    assert_eq!(shown, json!({"agent": "worker", "role": "clerk", "objective": "do it", "inputs": {"year": 2020}}));
    for (payload, words) in [
        (json!({"agent": "writer", "objective": "do it"}), "`agent` can't be changed"),
        (json!({"objective": "do it", "model": "best"}), "`model` can't be changed"),
        (json!({"objective": "do it", "inputs": 2021}), "`inputs` must be an object"),
        (json!({"objective": "do it", "role": 7}), "`role` must be text"),
        (json!({"role": "clerk"}), "needs an `objective`"),
    ] {
        let events = world.decide(1, GateReply::Modify { payload });
        assert!(why(&events).contains(words), "{events:?}");
    }
    world.decide(1, GateReply::Modify { payload: json!({"agent": "worker", "objective": "do less", "inputs": {"year": 2021}}) });
    let Job::Agent(job) = job(&world) else { panic!("an agent") };
    assert_eq!((job.agent.as_deref(), job.role, job.objective.as_deref()), (Some("worker"), None, Some("do less")));
    assert_eq!(serde_json::Value::Object(job.inputs), json!({"year": 2021}));
}

#[test]
fn what_was_approved_runs_though_other_inputs_arrived_meanwhile() {
    for code in [false, true] {
        let mut first = if code {
            node("c", NodeKind::Code(CodeNode { code: "return 1".into(), sandbox: SandboxLimits::default() }), &["a", "b"])
        } else {
            agent("c", &["a", "b"])
        };
        first.policy.join = Some(Join::Any);
        first.policy.approve = Some(Approve::Before);
        first.policy.inputs = Some([("other".to_string(), json!("{{b}}"))].into_iter().collect());
        let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[]), first]));
        world.done("a", json!(1));
        assert_eq!(world.run.gate(GateId(1)).unwrap().0.payload["inputs"], json!({"other": null}));
        world.done("b", json!("late"));
        world.decide(1, GateReply::Approve);
        let inputs = match job(&world) {
            Job::Agent(job) => job.inputs,
            Job::Code { inputs, .. } => inputs,
            other => panic!("{other:?}"),
        };
        assert_eq!(inputs.get("other"), Some(&json!(null)));
    }
}

#[test]
fn status_and_error_of_a_source_are_the_same_in_code_templates_and_conditions() {
    let always = |mut node: Node| {
        node.policy.join = Some(Join::Always);
        node
    };
    let ids = ["good", "bad", "safe", "skipped", "passed", "cancelled"];
    let (mut safe, mut skipped, mut passed) = (agent("safe", &[]), agent("skipped", &[]), agent("passed", &[]));
    safe.policy.on_failure = Some(OnFailure::Safe);
    skipped.policy.when = Some("false".into());
    passed.policy.skip_if = Some("true".into());
    let told = |form: &dyn Fn(&str) -> String| ids.iter().map(|id| form(id)).collect::<Vec<_>>();
    let template = told(&|id| format!("{{{{deps.{id}.status}}}} {{{{nodes.{id}.error}}}}")).join(", ");
    let condition = format!("[{}]", told(&|id| format!("[deps.{id}.status, nodes.{id}.error]")).join(", "));
    let code = NodeKind::Code(CodeNode { code: "return 1".into(), sandbox: SandboxLimits::default() });
    let mut world = World::new(plan(vec![
        agent("good", &[]),
        agent("bad", &[]),
        safe,
        skipped,
        passed,
        agent("cancelled", &[]),
        always(transform("template", json!(template), &ids)),
        always(node("condition", NodeKind::Decision(DecisionNode::Expression(condition)), &ids)),
        always(node("code", code, &ids)),
        always(agent("agent", &ids)),
    ]));
    world.done("good", json!(1));
    world.fail("bad", ErrorKind::Permanent);
    world.fail("safe", ErrorKind::Permanent);
    world.act(Action::Cancel { target: ActionTarget::Node("cancelled".into()) });
    let expected = [
        ("good", "succeeded", None),
        ("bad", "failed", Some("it broke")),
        ("safe", "failed_safe", Some("it broke")),
        ("skipped", "skipped", None),
        ("passed", "passed", None),
        ("cancelled", "cancelled", None),
    ];
    let in_text = expected.map(|(_, status, error)| format!("{status} {}", error.unwrap_or_default())).join(", ");
    let in_condition: Vec<Value> = expected.iter().map(|(_, status, error)| json!([status, error])).collect();
    assert_eq!(world.node("template").result.as_deref(), Some(&json!(in_text)));
    assert_eq!(world.node("condition").result.as_deref(), Some(&json!(in_condition)));
    let mut expected = expected.map(|(id, status, error)| (id.to_string(), status.to_string(), error.map(str::to_string)));
    expected.sort();
    for reader in ["code", "agent"] {
        let deps = world.effects.iter().find_map(|effect| match effect {
            Effect::Start { node, deps, .. } if **node == *reader => Some(deps.clone()),
            _ => None,
        });
        let mut told: Vec<_> =
            deps.unwrap().into_iter().map(|dep| (dep.node.to_string(), dep.state.word().to_string(), dep.error)).collect();
        told.sort();
        assert_eq!(told, expected, "{reader}");
    }
}

#[test]
fn a_plan_that_says_that_nothing_is_left_behind_is_believed() {
    let mut node = tool("s", "save", json!({"path": "x"}), &[]);
    node.policy.side_effects = Some(false);
    let mut world = World::new(plan(vec![node]));
    world.ask("s", "1", "save", json!({"path": "x"}), Verdict::Allow);
    world.fail("s", ErrorKind::Transient);
    assert_eq!(world.state("s"), "retrying");
}

#[test]
fn the_tighter_limit_of_time_holds_and_no_number_frees_an_agent_of_one() {
    let limited = |timeout_s: Option<f64>, seconds: Option<f64>| {
        let mut node = agent("a", &[]);
        node.policy.timeout_s = timeout_s;
        node.policy.budget = Some(Budget { seconds, ..Budget::default() });
        timers(&World::new(plan(vec![node])))
    };
    assert_eq!(limited(Some(10.0), Some(4.0)), [5_000]);
    assert_eq!(limited(Some(3.0), Some(4.0)), [4_000]);
    assert_eq!(limited(None, Some(4.0)), [5_000]);
    assert_eq!(limited(None, None), [61_000]);
    assert_eq!(limited(Some(1e300), None), [u64::MAX]);
}

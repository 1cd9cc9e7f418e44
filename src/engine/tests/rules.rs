//! Joins, routes, guards, retry, time, slots and locks, one sentence a test.

use super::kit::*;
use crate::engine::Mark;
use crate::engine::*;
use crate::plan::*;
use serde_json::json;

fn decision(id: &str, expression: &str, deps: &[&str]) -> Node {
    node(id, NodeKind::Decision(DecisionNode::Expression(expression.into())), deps)
}

#[test]
fn a_decision_takes_the_edge_that_its_answer_names_and_the_branches_join_again() {
    let mut doc = plan(vec![
        agent("look", &[]),
        decision("which", "'warm' if look.degrees > 20 else 'cold'", &["look"]),
        agent("swim", &[]),
        agent("read", &[]),
        node("both", NodeKind::Merge(MergeNode::default()), &["swim", "read"]),
    ]);
    doc.edges = vec![edge("which", "swim", "warm"), edge("which", "read", "cold")];
    let mut world = World::new(doc);
    world.done("look", json!({"degrees": 25}));
    assert_eq!(world.states(), "look succeeded, which succeeded, swim running, read skipped, both pending");
    world.done("swim", json!("wet"));
    assert_eq!(world.node("both").result.as_deref(), Some(&json!({"swim": "wet"})));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded), "a branch routed away doesn't count");
}

#[test]
fn an_answer_that_names_no_edge_fails_the_decision_and_keeps_its_result() {
    let mut doc = plan(vec![decision("which", "'up'", &[]), agent("left", &[]), agent("right", &[])]);
    doc.edges = vec![edge("which", "left", "l"), edge("which", "right", "r")];
    let world = World::new(doc.clone());
    assert_eq!(world.states(), "which failed, left skipped, right skipped");
    assert_eq!(world.node("which").result.as_deref(), Some(&json!("up")));
    doc.edges[1].default = true;
    assert_eq!(World::new(doc).states(), "which succeeded, left skipped, right running");
}

#[test]
fn a_failure_does_not_stop_branches_that_do_not_need_the_node() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &[]), agent("d", &["c"])]));
    world.fail("a", ErrorKind::Permanent);
    world.done("c", json!(1));
    world.done("d", json!(1));
    assert_eq!(world.states(), "a failed, b skipped, c succeeded, d succeeded");
    assert_eq!(world.reason("b"), "`a` failed");
    assert_eq!(world.outcome(), Some(Outcome::Partial));
}

#[test]
fn a_node_that_fails_safe_hands_its_error_on() {
    let mut risky = agent("a", &[]);
    risky.policy.on_failure = Some(OnFailure::Safe);
    let mut world = World::new(plan(vec![risky, transform("b", json!("{{a.error}}"), &["a"])]));
    world.fail("a", ErrorKind::Permanent);
    assert_eq!(world.states(), "a failed_safe, b succeeded");
    assert_eq!(world.node("b").result.as_deref(), Some(&json!("it broke")));
}

#[test]
fn a_passed_node_forwards_the_context_that_it_received() {
    let mut pass = agent("b", &["a"]);
    pass.policy.skip_if = Some("a.skip".into());
    let mut doc = plan(vec![agent("a", &[]), pass, agent("c", &[])]);
    doc.edges = vec![Edge { context: Some(vec!["x".into()]), ..Edge::new("b", "c") }];
    let mut world = World::new(doc);
    world.done("a", json!({"skip": true, "x": 1}));
    assert_eq!(world.states(), "a succeeded, b passed, c running");
    let Some(Effect::Start { deps, .. }) = world.effects.iter().rev().find(|effect| matches!(effect, Effect::Start { .. })) else {
        panic!()
    };
    assert_eq!(
        deps.iter().map(|dep| (&*dep.node, (*dep.result).clone())).collect::<Vec<_>>(),
        [("a", json!({"x": 1})), ("b", json!(null))]
    );
}

#[test]
fn a_missing_field_fails_the_node_before_it_runs() {
    let mut asks = agent("b", &["a"]);
    asks.kind = NodeKind::Agent(AgentNode { objective: Some("use {{a.result.nope}}".into()), ..AgentNode::default() });
    let mut world = World::new(plan(vec![agent("a", &[]), asks]));
    world.done("a", json!({"x": 1}));
    assert_eq!(world.state("b"), "failed");
    let error = world.node("b").error.clone().unwrap();
    assert!(error.kind == ErrorKind::Plan && error.message.contains("nope"), "{error:?}");
    assert_eq!(world.started(), ["a"]);
}

#[test]
fn a_transient_failure_is_tried_again_after_a_pause_that_honours_what_the_server_asked_for() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    let error = NodeError { kind: ErrorKind::Transient, message: "429".into(), hint: None, retry_after_ms: Some(7_000) };
    world.fact("a", WorkerFact::Failed(error));
    assert_eq!(world.node("a").state, NodeState::Retrying { until: Time(8_000) });
    world.now = 8_000;
    world.due("a", TimerKind::Retry);
    assert_eq!((world.state("a"), world.node("a").attempt), ("running", 2));
    world.fail("a", ErrorKind::Transient);
    let NodeState::Retrying { until } = world.node("a").state else { panic!("{}", world.states()) };
    assert!((500..=1_000).contains(&(until.0 - 8_000)), "{until:?}");
    world.due("a", TimerKind::Retry);
    world.fail("a", ErrorKind::Transient);
    assert_eq!(world.outcome(), Some(Outcome::Failed), "three attempts in all");
}

#[test]
fn an_effect_that_may_have_happened_is_never_tried_again_unasked() {
    let mut world = World::new(plan(vec![tool("s", "save", json!({"path": "x"}), &[])]));
    world.fail("s", ErrorKind::NothingBegan);
    assert_eq!(world.state("s"), "retrying", "nothing began, so nothing can happen twice");
    world.due("s", TimerKind::Retry);
    world.fail("s", ErrorKind::Transient);
    assert_eq!(world.state("s"), "unknown");
    assert!(world.run.is_parked());
    world.decide(1, GateReply::Answer { value: json!("run again") });
    assert_eq!((world.state("s"), world.node("s").attempt), ("running", 3));
    world.done("s", json!("saved"));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn an_agent_is_unknown_only_when_one_of_its_calls_may_have_left_something() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.ask("a", "1", "read", json!({"path": "x"}), Verdict::Allow);
    world.tool_done("a", "1", json!("text"));
    world.fail("a", ErrorKind::Transient);
    assert_eq!(world.state("a"), "retrying");
    world.due("a", TimerKind::Retry);
    world.ask("a", "1", "save", json!({"path": "x"}), Verdict::Allow);
    world.fail("a", ErrorKind::Transient);
    assert_eq!(world.state("a"), "unknown");
}

#[test]
fn time_is_counted_while_a_node_works_and_not_while_it_waits_for_people() {
    let mut timed = agent("a", &[]);
    timed.policy.timeout_s = Some(10.0);
    let mut world = World::new(plan(vec![timed]));
    world.now = 5_000;
    world.ask("a", "1", "write", json!({"path": "x"}), Verdict::Ask);
    world.now = 50_000;
    world.due("a", TimerKind::Timeout);
    assert_eq!(world.state("a"), "waiting");
    world.decide(1, GateReply::Approve);
    let timers: Vec<u64> = world
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::SetTimer { at, .. } => Some(at.0),
            _ => None,
        })
        .collect();
    assert_eq!(timers, [11_000, 56_000], "4 s were worked before the gate, 6 s are left after it");
    world.now = 56_000;
    world.due("a", TimerKind::Timeout);
    assert_eq!(world.state("a"), "failed");
    assert!(matches!(world.effects.last(), Some(Effect::Abort { .. })));
}

#[test]
fn the_node_on_the_longest_remaining_path_goes_first() {
    let nodes = vec![agent("busy", &[]), agent("short", &[]), agent("long", &[]), agent("l2", &["long"])];
    let mut world = World::with(plan(nodes), RunSettings { slots: 1, ..settings() });
    assert_eq!(world.started(), ["long"]);
    world.done("long", json!(1));
    assert_eq!(world.started(), ["long", "busy"]);
}

#[test]
fn a_node_at_a_gate_gives_its_slot_back_and_resumes_ahead_of_new_starts() {
    let nodes = vec![agent("a", &[]), agent("b", &[]), agent("c", &[])];
    let mut world = World::with(plan(nodes), RunSettings { slots: 1, ..settings() });
    world.ask("a", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.states(), "a waiting, b running, c ready");
    world.decide(1, GateReply::Approve);
    assert_eq!(world.states(), "a held, b running, c ready");
    assert!(world.answers().is_empty());
    world.done("b", json!(1));
    assert_eq!(world.states(), "a running, b succeeded, c ready");
    assert_eq!(world.answers().len(), 1);
}

#[test]
fn nodes_that_share_a_lock_never_run_together_and_the_waiting_one_says_why() {
    let locked = |id: &str| {
        let mut node = agent(id, &[]);
        node.policy.locks = Some(vec!["db".into()]);
        node
    };
    let mut world = World::new(plan(vec![locked("a"), locked("b"), agent("c", &[])]));
    assert_eq!(world.states(), "a running, b held, c running");
    assert_eq!(world.reason("b"), "waits for lock `db`, which `a` holds");
    assert_eq!(world.why("b"), ["`b` is held: waits for lock `db`, which `a` holds", "  `a` is running"]);
    world.ask("a", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.state("b"), "held", "a gate in the middle keeps the lock");
    world.decide(1, GateReply::Approve);
    world.done("a", json!(1));
    assert_eq!(world.state("b"), "running");
}

#[test]
fn an_approval_node_gives_the_answer_as_its_result() {
    let ask = ApprovalNode { text: "colour for {{goal_of}}?".into(), options: vec!["red".into(), "blue".into()], fields: Vec::new() };
    let mut doc = plan(vec![node("ask", NodeKind::Approval(ask), &[]), transform("t", json!("{{ask.answer}}"), &["ask"])]);
    doc.inputs.insert("goal_of".into(), json!("the door"));
    let mut world = World::new(doc);
    assert_eq!(world.reason("ask"), "colour for the door?");
    assert!(matches!(world.decide(1, GateReply::Answer { value: json!("green") }).as_slice(), [Event::Refused { .. }]));
    world.decide(1, GateReply::Answer { value: json!("blue") });
    assert_eq!(world.node("t").result.as_deref(), Some(&json!("blue")));
}

#[test]
fn a_result_waits_at_its_gate_and_the_edited_one_is_used() {
    let mut checked = agent("a", &[]);
    checked.policy.approve = Some(Approve::After);
    let mut world = World::new(plan(vec![checked, transform("b", json!("{{a}}"), &["a"])]));
    world.done("a", json!("draft"));
    assert_eq!(world.states(), "a waiting, b pending");
    assert!(world.run.is_parked(), "the worker is gone");
    world.decide(1, GateReply::Modify { payload: json!("final") });
    assert_eq!(world.node("b").result.as_deref(), Some(&json!("final")));
    assert_eq!(world.node("a").mark.as_ref().map(Mark::as_str), Some("overridden"));
}

#[test]
fn an_approval_holds_across_the_retries_of_its_generation() {
    let mut careful = agent("a", &[]);
    careful.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![careful]));
    world.decide(1, GateReply::Modify { payload: json!({"objective": "do less"}) });
    world.fail("a", ErrorKind::Transient);
    world.due("a", TimerKind::Retry);
    assert_eq!(world.state("a"), "running");
    for effect in world.effects.iter().filter(|effect| matches!(effect, Effect::Start { .. })) {
        let Effect::Start { job, .. } = effect else { continue };
        assert!(matches!(&**job, Job::Agent(job) if job.objective.as_deref() == Some("do less")));
    }
}

#[test]
fn cancelling_a_branch_ends_what_only_it_feeds_and_shared_nodes_follow_their_join() {
    let mut shared = agent("s", &["b", "x"]);
    shared.policy.join = Some(Join::Settled);
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("x", &[]), shared]));
    assert_eq!(world.run.branch(&"a".into()), (vec!["a".into(), "b".into()], vec!["s".into()]));
    world.command(Command::act(Action::Cancel { target: ActionTarget::Branch("a".into()) }));
    assert_eq!(world.states(), "a cancelled, b cancelled, x running, s pending");
    world.done("x", json!(1));
    assert_eq!(world.state("s"), "running");
}

#[test]
fn cancelling_the_run_ends_everything_and_stops_its_workers() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), tool("w", "write", json!({"path": "x"}), &[])]));
    world.command(Command::act(Action::Cancel { target: ActionTarget::Run }));
    assert_eq!(world.states(), "a cancelled, b cancelled, w cancelled");
    assert_eq!(world.outcome(), Some(Outcome::Cancelled));
    assert!(world.open().is_empty());
    assert!(world.command(Command::Start).is_empty(), "a settled run takes no more input");
    assert_eq!(world.run.refusal(&Command::act(Action::Cancel { target: ActionTarget::Run })).as_deref(), Some("the run has ended"));
}

#[test]
fn another_name_of_a_tool_changes_nothing_about_what_is_asked_and_denied() {
    let mut world = World::new(plan(vec![tool("w", "put", json!({"path": "x"}), &[]), tool("d", "rm", json!({"path": "x"}), &[])]));
    assert_eq!(world.states(), "w waiting, d failed");
    let events = world.decide(1, GateReply::Modify { payload: json!({"path": 7}) });
    assert!(matches!(events.as_slice(), [Event::Refused { .. }]), "{events:?}");
    world.decide(1, GateReply::Approve);
    world.ask("w", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.open(), [0; 0], "what was approved isn't asked about again under the tool's own name");

    let mut world = World::new(plan(vec![agent("a", &[])]));
    for (call, name) in [("1", "put"), ("2", "write")] {
        world.ask("a", call, name, json!({"path": "x"}), Verdict::Ask);
        let gate = world.open()[0];
        world.decide(gate, reject("no"));
    }
    world.ask("a", "3", "put", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.open(), [0; 0], "a call that was rejected twice is refused, whatever the tool is called by");
}

#[test]
fn a_denied_tool_fails_its_node_and_no_policy_lets_it_go() {
    let mut free = tool("d", "delete", json!({"path": "x"}), &[]);
    free.policy.approve = Some(Approve::Never);
    let world = World::new(plan(vec![free]));
    assert_eq!(world.state("d"), "failed");
    assert_eq!(world.node("d").error.as_ref().unwrap().kind, ErrorKind::Rejected);
}

#[test]
fn no_plan_silences_what_the_configuration_asks_about() {
    let mut free = tool("w", "write", json!({"path": "x"}), &[]);
    free.policy.approve = Some(Approve::Never);
    let mut plan = plan(vec![free, tool("p", "put", json!({"path": "x"}), &[])]);
    plan.defaults.approve = Some(Approve::Never);
    let mut world = World::new(plan);
    assert_eq!(world.states(), "w waiting, p waiting");
    assert_eq!(world.started(), [""; 0]);
    world.decide(1, GateReply::Approve);
    let events = world.ask("w", "1", "write", json!({"path": "elsewhere"}), Verdict::Ask);
    assert!(
        events.iter().any(|event| matches!(event, Event::ApprovalRequired { .. })),
        "another call than the approved one asks: {events:?}"
    );
}

#[test]
fn the_first_join_starts_once_and_later_tokens_change_nothing() {
    let mut first = agent("c", &["a", "b"]);
    first.policy.join = Some(Join::Any);
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[]), first]));
    world.done("b", json!(1));
    assert_eq!(world.state("c"), "running");
    world.done("a", json!(1));
    assert_eq!(world.started(), ["a", "b", "c"]);
}

#[test]
fn a_plan_with_a_cycle_settles_at_once_with_the_reason() {
    let world = World::created(plan(vec![agent("a", &["b"]), agent("b", &["a"])]), settings());
    assert_eq!((world.outcome(), world.ended_by().as_deref()), (Some(Outcome::Failed), Some("the plan has a cycle at `a`")));
}

#[test]
fn a_node_that_fails_at_a_limit_keeps_what_it_returned_and_is_not_tried_again() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    let error = NodeError { kind: ErrorKind::Limit, ..NodeError::permanent("at work after 5 turns") };
    world.fact("a", WorkerFact::HandedBack { error, result: json!({"half": true}) });
    assert_eq!(world.states(), "a failed, b skipped");
    assert_eq!(world.node("a").result.as_deref(), Some(&json!({"half": true})));
    assert_eq!(world.outcome(), Some(Outcome::Failed));
}

#[test]
fn a_dependencys_result_comes_with_how_it_came_about() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.ask("a", "1", "read", json!({"path": "x"}), Verdict::Allow);
    let source = DataSource { kind: "file".into(), identifier: "x".into(), query: None };
    let report = ToolReport { ok: true, sources: vec![source.clone()], ..ToolReport::default() };
    world.fact("a", WorkerFact::ToolDone { call: "1".into(), report });
    let call = ModelCall {
        model: "small-1".into(),
        provider: "server".into(),
        usage: TokenUsage::of(3, 4),
        estimated: false,
        cost_usd: None,
        duration_ms: 1,
        finish: "stop".into(),
        id: String::new(),
    };
    world.fact("a", WorkerFact::ModelCalled(call));
    world.done("a", json!("found"));
    let Some(Effect::Start { deps, .. }) = world.effects.iter().rev().find(|effect| matches!(effect, Effect::Start { .. })) else {
        panic!("b starts")
    };
    let made = &deps[0].provenance;
    assert_eq!((made.model.as_deref(), made.tokens, made.sources.as_slice()), (Some("small-1"), 7, [source].as_slice()));
    assert!(made.agent.is_some());
}

#[test]
fn results_that_double_from_node_to_node_fail_before_they_fill_the_memory() {
    let transform = |value| NodeKind::Transform(TransformNode { value });
    let mut nodes = vec![node("n0", transform(json!("x".repeat(1_000))), &[])];
    for at in 1..20 {
        let (id, of) = (format!("n{at}"), format!("n{}", at - 1));
        let four = vec![format!("{{{{{of}}}}}"); 4];
        nodes.push(node(&id, transform(json!(four)), &[&of]));
    }
    let world = World::new(plan(nodes));
    assert_eq!((world.state("n7"), world.state("n8"), world.state("n9")), ("succeeded", "failed", "skipped"));
}

#[test]
fn a_long_result_is_named_in_the_texts_of_an_agent_and_comes_with_what_it_depends_on() {
    let text = |id: &str, objective: &str, deps: &[&str]| {
        let ask = AgentNode { agent: Some("worker".into()), objective: Some(objective.into()), ..AgentNode::default() };
        node(id, NodeKind::Agent(ask), deps)
    };
    let mut world = World::new(plan(vec![
        agent("a", &[]),
        text("b", "Read {{a.result}} and {{a.note}}: {{a.body.0}}", &["a"]),
        text("c", "Say {{b}} of {{a}}", &["b"]),
    ]));
    let start = |world: &World| {
        let found = world.effects.iter().rev().find_map(|effect| match effect {
            Effect::Start { job, deps, .. } => match &**job {
                Job::Agent(job) => Some((job.objective.clone().unwrap(), deps.clone())),
                _ => None,
            },
            _ => None,
        });
        found.unwrap()
    };
    let long = "word ".repeat(41);
    world.done("a", json!({"note": "a note", "body": [long]}));
    let (objective, deps) = start(&world);
    assert_eq!(objective, "Read the result of `a`, below and a note: `body.0` of the result of `a`, below");
    assert_eq!(deps.iter().map(|dep| dep.node.as_str()).collect::<Vec<_>>(), ["a"]);
    world.done("b", json!("short"));
    let (objective, deps) = start(&world);
    assert_eq!(objective, "Say short of the result of `a`, below");
    assert_eq!(deps.iter().map(|dep| (dep.node.as_str(), dep.result.is_object())).collect::<Vec<_>>(), [("b", false), ("a", true)]);
}

//! Rerun, retry, rewind and override of what is over: new generations, what stays, what goes, and what it would take.

use super::kit::*;
use crate::engine::Mark;
use crate::engine::RerunReach;
use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

fn rerun(node: &str, scope: RerunReach) -> Action {
    Action::Rerun { node: node.into(), scope }
}

fn rewind(node: &str, to: &str) -> Action {
    Action::Rewind { node: node.into(), to: to.into(), feedback: "shorter, please".into() }
}

fn refusal(world: &World, action: Action) -> String {
    world.run.refusal(&Command::act(action)).unwrap_or_default()
}

/// a → b, c → d.
fn diamond() -> World {
    World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"]), agent("d", &["b", "c"])]))
}

fn call(tokens: u64) -> WorkerFact {
    WorkerFact::ModelCalled(ModelCall {
        model: "m".into(),
        provider: "p".into(),
        usage: TokenUsage::of(tokens, 0),
        estimated: false,
        cost_usd: Some(0.5),
        duration_ms: 1,
        finish: "stop".into(),
        id: String::new(),
    })
}

fn all_done(world: &mut World, ids: &[&str]) {
    ids.iter().for_each(|id| drop(world.done(id, json!({ "from": id }))));
}

#[test]
fn a_rerun_downstream_resets_what_depends_on_it_and_nothing_else() {
    let mut world = diamond();
    world.fact("a", call(10));
    all_done(&mut world, &["a", "b", "c"]);
    world.fact("d", call(5));
    let blast = world.run.impact(&rerun("b", RerunReach::Downstream), Time(world.now + 7));
    assert_eq!(
        (&blast.nodes(NodeImpact::Stops).to_vec(), &blast.nodes(NodeImpact::Reruns).to_vec()),
        (&vec!["d".into()], &vec!["b".into(), "d".into()])
    );
    assert_eq!((blast.lost.tokens, blast.lost.cost_usd, blast.lost.work_ms), (5, 0.5, Some(7)));
    world.act(rerun("b", RerunReach::Downstream));
    assert_eq!(world.states(), "a succeeded, b running, c succeeded, d pending");
    assert_eq!((world.node("b").generation, world.node("d").generation, world.node("c").generation), (2, 2, 1));
    assert_eq!(
        world.node("d").earlier,
        Spent { tokens: TokenUsage::of(5, 0), cost_usd: 0.5, model_calls: 1, attempts: 1, ..Spent::default() }
    );
    let stopped = |effect: &Effect| matches!(effect, Effect::Abort { node, generation: 1, .. } if *node == "d".into());
    assert!(world.effects.iter().any(stopped), "{:?}", world.effects);
    let late = Input::Work { node: "d".into(), generation: 1, attempt: 1, fact: WorkerFact::Done(Done { result: json!(0), mark: None }) };
    assert!(matches!(&world.step(late)[..], [Event::LogLine { .. }]), "an answer of the old generation changes nothing");
    all_done(&mut world, &["b", "d"]);
    assert_eq!((world.outcome(), world.node("d").spent().attempts), (Some(Outcome::Succeeded), 2));
    assert_eq!(world.started(), ["a", "b", "c", "d", "b", "d"]);
}

#[test]
fn a_settled_run_goes_on_when_a_node_runs_again_and_settles_anew() {
    let mut world = diamond();
    all_done(&mut world, &["a", "b", "c", "d"]);
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    assert!(refusal(&world, Action::Pause) == "the run has ended");
    let events = world.act(rerun("c", RerunReach::Downstream));
    assert!(matches!(&events[..2], [Event::RunReopened { by }, Event::Acted { nodes, .. }] if *by == me() && nodes.len() == 2));
    assert_eq!((world.outcome(), world.state("d")), (None, "pending"));
    world.fail("c", ErrorKind::Permanent);
    assert_eq!((world.outcome(), world.state("d")), (Some(Outcome::Failed), "skipped"));
}

#[test]
fn a_rerun_alone_keeps_its_edges_and_marks_its_consumers_stale() {
    let mut world = diamond();
    all_done(&mut world, &["a", "b"]);
    assert_eq!(world.states(), "a succeeded, b succeeded, c running, d pending");
    let blast = world.run.impact(&rerun("a", RerunReach::Alone), Time(world.now));
    assert_eq!(
        (blast.nodes(NodeImpact::Stale).to_vec(), blast.nodes(NodeImpact::Reruns).to_vec()),
        (vec!["b".into(), "c".into()], vec!["a".into()])
    );
    world.act(rerun("a", RerunReach::Alone));
    assert_eq!(world.states(), "a running, b succeeded, c running, d pending");
    assert_eq!(world.node("b").stale.as_ref().map(Cause::message).as_deref(), Some("made of an earlier result of `a`"));
    world.done("c", json!(1));
    assert_eq!((world.state("d"), world.node("d").stale.is_some()), ("running", false), "`d` reads nothing of `a`");
    world.done("a", json!("new"));
    world.done("d", json!(1));
    assert_eq!((world.outcome(), world.node("c").stale.is_some()), (Some(Outcome::Succeeded), true));
    world.act(rerun("c", RerunReach::Alone));
    assert_eq!((world.node("c").stale.is_some(), world.node("d").stale.is_some()), (false, true));
}

#[test]
fn who_has_not_begun_waits_for_the_new_result_of_a_node_that_runs_again_alone() {
    let mut gated = agent("b", &["a"]);
    gated.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![agent("a", &[]), gated, agent("c", &["b", "a"])]));
    world.done("a", json!("old"));
    assert_eq!(world.open(), [1]);
    world.act(rerun("a", RerunReach::Alone));
    assert_eq!((world.open().len(), world.state("b")), (0, "pending"));
    assert_eq!(world.voided(1).as_deref(), Some("the node runs again (rerun `a` alone)"));
    world.done("a", json!("new"));
    assert_eq!(world.open(), [2], "it asks again");
    world.decide(2, GateReply::Approve);
    let deps = world.effects.iter().rev().find_map(|effect| match effect {
        Effect::Start { deps, .. } => Some(deps[0].result.clone()),
        _ => None,
    });
    assert_eq!(deps.as_deref(), Some(&json!("new")));
}

#[test]
fn case_10_retrying_one_node_of_a_fan_out_keeps_its_siblings_results() {
    let mut world = World::new(plan(vec![
        agent("a", &[]),
        agent("b", &["a"]),
        agent("c", &["a"]),
        agent("d", &["a"]),
        node("m", NodeKind::Merge(MergeNode::default()), &["b", "c", "d"]),
    ]));
    all_done(&mut world, &["a", "b", "d"]);
    world.fail("c", ErrorKind::Permanent);
    assert_eq!(world.outcome(), Some(Outcome::Partial));
    assert!(refusal(&world, Action::Retry { node: "b".into() }).contains("rerun it instead"));
    world.act(Action::Retry { node: "c".into() });
    assert_eq!(world.states(), "a succeeded, b succeeded, c running, d succeeded, m pending");
    world.done("c", json!("at last"));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    assert_eq!(world.node("m").result.as_deref().and_then(|all| all.get("c")), Some(&json!("at last")));
    assert_eq!(world.started(), ["a", "b", "c", "d", "c"]);
}

#[test]
fn a_node_that_waits_for_its_next_attempt_goes_at_once_when_retried() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.fail("a", ErrorKind::Transient);
    assert_eq!(world.state("a"), "retrying");
    world.act(Action::Retry { node: "a".into() });
    assert_eq!((world.state("a"), world.node("a").generation, world.node("a").attempt), ("running", 1, 2));
    world.due("a", TimerKind::Retry);
    assert_eq!(world.node("a").attempt, 2);
}

#[test]
fn a_node_that_would_only_be_skipped_again_names_what_to_run_instead() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.fail("a", ErrorKind::Permanent);
    assert_eq!(refusal(&world, Action::Retry { node: "b".into() }), "`b` would be skipped again: `a` failed: rerun `a` first");
    world.act(Action::Retry { node: "a".into() });
    world.done("a", json!(1));
    assert_eq!(world.state("b"), "running");
}

#[test]
fn case_15_running_again_a_node_that_asked_for_input_asks_again() {
    let mut world = World::new(plan(vec![
        node("a", NodeKind::Approval(ApprovalNode { text: "go on?".into(), ..ApprovalNode::default() }), &[]),
        agent("b", &["a"]),
    ]));
    world.decide(1, GateReply::Approve);
    assert_eq!(world.states(), "a succeeded, b running");
    world.act(rerun("a", RerunReach::Downstream));
    assert_eq!((world.open(), world.states()), (vec![2], "a waiting, b pending".to_string()));
    world.decide(2, GateReply::Approve);
    world.done("b", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn case_25_a_rejection_with_feedback_upstream_runs_that_and_its_dependents_again_and_others_keep_their_results() {
    let mut reviewed = agent("review", &["draft"]);
    reviewed.policy.approve = Some(Approve::After);
    let mut world = World::new(plan(vec![agent("draft", &[]), agent("facts", &[]), reviewed, agent("print", &["review", "facts"])]));
    all_done(&mut world, &["draft", "facts", "review"]);
    assert_eq!(world.open(), [1]);
    assert!(refusal(&world, rewind("review", "facts")).contains("doesn't depend on `facts`"));
    assert!(refusal(&world, rewind("print", "draft")).contains("no result"));
    assert_eq!(world.run.feedback_targets(&"review".into()), ["draft".into(), "review".into()].into());
    let blast = world.run.impact(&rewind("review", "draft"), Time(world.now));
    assert_eq!(
        (blast.nodes(NodeImpact::Reruns).to_vec(), blast.nodes(NodeImpact::Void).to_vec()),
        (vec!["draft".into(), "review".into()], vec!["review".into()])
    );
    world.act(rewind("review", "draft"));
    assert_eq!(world.states(), "draft running, facts succeeded, review pending, print pending");
    let guided = |effect: &Effect| match effect {
        Effect::Start { job, generation: 2, .. } => {
            matches!(&**job, Job::Agent(job) if job.guidance == ["the result of `review` was rejected: shorter, please"])
        }
        _ => false,
    };
    assert!(world.effects.iter().any(guided));
    for round in 2..=3 {
        all_done(&mut world, &["draft", "review"]);
        assert_eq!(world.open(), [round]);
        world.act(rewind("review", "draft"));
    }
    all_done(&mut world, &["draft", "review"]);
    assert!(refusal(&world, rewind("review", "draft")).contains("3 times already"));
    world.decide(4, GateReply::Approve);
    world.done("print", json!(1));
    assert_eq!((world.outcome(), world.node("facts").attempt), (Some(Outcome::Succeeded), 1));
}

#[test]
fn overriding_a_result_that_was_used_runs_its_consumers_again_with_the_new_one() {
    let mut world = diamond();
    all_done(&mut world, &["a", "b", "c", "d"]);
    let over = Action::Override { node: "b".into(), value: json!("better") };
    let blast = world.run.impact(&over, Time(world.now));
    assert_eq!(blast.nodes(NodeImpact::Reruns).to_vec(), vec!["d".into()]);
    world.act(over);
    let b = world.node("b");
    assert_eq!((world.state("b"), b.mark.as_ref().map(Mark::as_str), b.generation), ("succeeded", Some("overridden"), 2));
    assert_eq!((world.state("d"), world.state("c"), world.node("c").generation), ("running", "succeeded", 1));
    world.done("d", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn what_was_inside_of_a_node_that_runs_again_is_gone_and_comes_anew_in_a_later_generation() {
    let inner = json!({"nodes": [{"id": "x", "agent": "worker", "objective": "do"}, {"id": "y", "value": 1, "depends_on": ["x"]}]});
    let mut world = World::new(read(json!({"goal": "g", "nodes": [
        {"id": "each", "over": "[1, 2]", "body": inner},
        {"id": "z", "agent": "worker", "objective": "do", "depends_on": ["each"]}
    ]})));
    world.fact("each[0]/x", call(9));
    world.done("each[0]/x", json!(1));
    let blast = world.run.impact(&rerun("each", RerunReach::Downstream), Time(world.now));
    assert_eq!(
        (blast.nodes(NodeImpact::Stops).to_vec(), blast.nodes(NodeImpact::Reruns).to_vec(), blast.lost.tokens),
        (vec!["each".into(), "each[1]/x".into()], vec!["each".into()], 9)
    );
    world.act(rerun("each", RerunReach::Downstream));
    assert_eq!((world.node("each[1]/x").generation, world.node("each[1]/x").attempt), (2, 1));
    assert_eq!(world.node("each").inside, Inside { nodes: 4, over: 0, waiting: 0, bad: 0 });
    assert_eq!((world.node("each").earlier.tokens.total(), world.run.nodes().count()), (9, 6));
    let aborted = world.effects.iter().filter(|effect| matches!(effect, Effect::Abort { .. })).count();
    assert_eq!(aborted, 1);
    all_done(&mut world, &["each[0]/x", "each[1]/x", "z"]);
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    assert!(refusal(&world, rerun("each[0]/x", RerunReach::Downstream)).ends_with("rerun `each`"));
}

#[test]
fn a_node_inside_a_body_runs_again_while_the_whole_is_at_work() {
    let inner = json!({"nodes": [{"id": "x", "agent": "worker", "objective": "do"}]});
    let mut world = World::new(read(json!({"goal": "g", "nodes": [{"id": "each", "over": "[1, 2]", "body": inner}]})));
    world.done("each[0]/x", json!("old"));
    world.act(rerun("each[0]/x", RerunReach::Downstream));
    assert_eq!(world.node("each").inside, Inside { nodes: 2, over: 0, waiting: 0, bad: 0 });
    world.done("each[1]/x", json!("b"));
    assert_eq!(world.state("each"), "running", "the first one is at work again");
    world.done("each[0]/x", json!("new"));
    assert_eq!(world.node("each").result.as_deref(), Some(&json!(["new", "b"])));
    let turns = json!({"id": "again", "body": inner, "until": "iteration > 1", "max_iterations": 3});
    let mut world = World::new(read(json!({"goal": "g", "nodes": [turns]})));
    world.done("again[1]/x", json!(1));
    assert!(
        refusal(&world, rerun("again[1]/x", RerunReach::Alone)).contains("the iteration of `again` that `again[1]/x` belongs to has ended")
    );
}

#[test]
fn the_context_of_a_workflow_loses_what_nodes_that_run_again_put_in() {
    let mut plan = read(json!({"goal": "g", "nodes": [
        {"id": "a", "agent": "worker", "objective": "do", "entry": true},
        {"id": "b", "agent": "worker", "objective": "{{word}}", "depends_on": ["a"]},
        {"id": "c", "agent": "worker", "objective": "{{word}}", "depends_on": ["b"]}
    ]}));
    plan.dialect = Dialect::Workflow;
    plan.inputs.insert("word".into(), json!("first"));
    let mut world = World::new(plan);
    world.done("a", json!({"word": "second"}));
    world.done("b", json!({"word": "third"}));
    let objective = |world: &World| match world.effects.iter().rev().find(|effect| matches!(effect, Effect::Start { .. })) {
        Some(Effect::Start { job, .. }) => match &**job {
            Job::Agent(job) => job.objective.clone().unwrap_or_default(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(objective(&world), "third");
    world.act(rerun("b", RerunReach::Downstream));
    assert_eq!(objective(&world), "second");
    world.done("b", json!({}));
    assert_eq!(objective(&world), "second");
    world.act(rerun("a", RerunReach::Alone));
    world.done("a", json!({"word": "mended"}));
    world.done("c", json!(1));
    world.act(rerun("c", RerunReach::Downstream));
    assert_eq!(objective(&world), "mended");
}

#[test]
fn case_28_hold_release_rerun_alone_rerun_with_dependents_and_mark_done_on_one_node() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["b"])]));
    world.act(Action::Hold { target: ActionTarget::Node("b".into()) });
    world.done("a", json!(1));
    assert_eq!(world.state("b"), "held");
    world.act(Action::Release { target: ActionTarget::Node("b".into()) });
    world.done("b", json!("first"));
    world.act(rerun("b", RerunReach::Alone));
    assert_eq!((world.state("b"), world.node("c").stale.is_some()), ("running", true));
    world.done("b", json!("second"));
    world.act(rerun("b", RerunReach::Downstream));
    assert_eq!((world.state("b"), world.state("c"), world.node("b").generation), ("running", "pending", 3));
    world.act(Action::Override { node: "b".into(), value: Value::Null });
    assert_eq!(
        (world.state("b"), world.node("b").mark.as_ref().map(Mark::as_str), world.state("c")),
        ("succeeded", Some("overridden"), "running")
    );
    world.done("c", json!(1));
    assert_eq!((world.outcome(), world.node("a").attempt), (Some(Outcome::Succeeded), 1));
}

#[test]
fn a_node_that_is_held_stays_held_when_it_runs_again() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.act(Action::Hold { target: ActionTarget::Node("b".into()) });
    world.done("a", json!(1));
    world.act(rerun("a", RerunReach::Downstream));
    assert_eq!((world.state("b"), world.reason("b").as_str()), ("pending", "held by anna"));
    world.done("a", json!(1));
    assert_eq!(world.state("b"), "held");
}

#[test]
fn running_again_is_undone_until_something_starts_because_of_it() {
    let mut world = diamond();
    all_done(&mut world, &["a", "b"]);
    world.act(Action::Pause);
    let before = same(&world.run);
    for action in [
        rerun("b", RerunReach::Downstream),
        rerun("a", RerunReach::Alone),
        rewind("b", "b"),
        Action::Override { node: "b".into(), value: json!(1) },
    ] {
        world.act(action.clone());
        assert!(world.run.undoable().is_some(), "{}", action.label());
        world.command(Command::Undo);
        assert_eq!(same(&world.run), before, "{}", action.label());
    }
    world.act(rerun("b", RerunReach::Downstream));
    world.act(Action::Resume);
    assert!(world.run.undoable().is_none(), "`b` is at work again");
}

#[test]
fn a_consumer_that_runs_again_waits_for_a_source_that_runs_again_alone() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    all_done(&mut world, &["a", "b"]);
    world.act(rerun("a", RerunReach::Alone));
    world.act(rerun("b", RerunReach::Downstream));
    assert_eq!(world.states(), "a running, b pending");
    world.done("a", json!("new"));
    assert_eq!(world.state("b"), "running");
    world.done("b", json!(1));
    world.act(rerun("a", RerunReach::Alone));
    world.fail("a", ErrorKind::Permanent);
    assert_eq!((world.state("b"), world.outcome()), ("succeeded", Some(Outcome::Partial)));
    world.act(rerun("b", RerunReach::Downstream));
    assert_eq!((world.state("b"), world.reason("b").as_str()), ("skipped", "`a` failed"));
}

//! Edits of a running plan: what stays, what goes, what runs again, and what is refused with a hint.

use super::kit::*;
use crate::engine::*;
use crate::plan::{
    edit::{Edit, KindData},
    *,
};
use serde_json::json;

fn edit(edits: impl IntoIterator<Item = Edit>) -> Action {
    Action::Edit { edits: edits.into_iter().collect() }
}

fn refusal(world: &World, edits: impl IntoIterator<Item = Edit>) -> String {
    world.run.refusal(&Command::act(edit(edits))).unwrap_or_default()
}

fn objective(id: &str, text: &str) -> Edit {
    let agent = AgentNode { agent: Some("worker".into()), objective: Some(text.into()), ..AgentNode::default() };
    Edit::SetKind { id: id.into(), kind: KindData(NodeKind::Agent(agent)) }
}

fn add(node: Node) -> Edit {
    Edit::AddNode { node: Box::new(node), at: None }
}

fn depend(node: &str, on: &str) -> Edit {
    Edit::AddDependency { node: node.into(), on: on.into() }
}

fn policy(id: &str, policy: Policy) -> Edit {
    Edit::SetPolicy { id: id.into(), policy: Box::new(policy) }
}

fn chain() -> World {
    World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["b"])]))
}

/// What the last worker of a node received.
fn received(world: &World, id: &str) -> String {
    let job = world.effects.iter().rev().find_map(|effect| match effect {
        Effect::Start { node, job, .. } if **node == *id => Some(job),
        _ => None,
    });
    match job.map(|job| &**job) {
        Some(Job::Agent(job)) => job.objective.clone().unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_has_not_begun_is_edited_added_and_removed_while_the_rest_runs() {
    let mut world = chain();
    let before = world.run.plan().cloned();
    world.act(edit([objective("c", "do it well"), add(agent("d", &["b"])), depend("c", "d")]));
    assert_eq!(world.states(), "a running, b pending, c pending, d pending");
    world.command(Command::Undo);
    assert_eq!(world.run.plan(), before.as_ref());
    world.act(edit([objective("c", "do it well"), add(agent("d", &["b"])), depend("c", "d")]));
    world.done("a", json!(1));
    world.done("b", json!(1));
    assert_eq!((world.state("c"), world.state("d")), ("pending", "running"));
    world.act(edit([Edit::RemoveDependency { node: "c".into(), on: "d".into() }]));
    assert_eq!((world.state("c"), received(&world, "c").as_str()), ("running", "do it well"));
    world.done("c", json!(1));
    world.done("d", json!(1));
    assert_eq!((world.outcome(), world.started().len()), (Some(Outcome::Succeeded), 4));
}

#[test]
fn a_removed_node_leaves_with_its_question_and_its_name_is_free() {
    let mut gated = agent("b", &["a"]);
    gated.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![agent("a", &[]), gated, agent("c", &["b"])]));
    world.done("a", json!(1));
    assert_eq!(world.open(), [1]);
    world.act(edit([Edit::RemoveNode { id: "b".into() }]));
    assert_eq!((world.open().len(), world.states()), (0, "a succeeded, c running".to_string()));
    world.act(edit([add(agent("b", &["a"]))]));
    assert_eq!((world.state("b"), world.node("b").generation), ("running", 2));
    world.done("b", json!(1));
    world.done("c", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn new_ways_out_of_finished_nodes_get_their_tokens_from_the_recorded_results() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("z", &[])]));
    world.done("a", json!({"n": 3}));
    let way = |to: &str, when: &str| Edit::AddEdge { edge: Box::new(edge("a", to, when)), at: None };
    let events = world.act(edit([add(agent("big", &[])), add(agent("small", &[])), way("big", "a.n > 2"), way("small", "a.n < 2")]));
    assert!(
        matches!(&events[1], Event::Node { fact: NodeFact::Routed { taken, dead, .. }, .. } if taken.len() == 1 && dead.len() == 1),
        "{events:?}"
    );
    assert_eq!((world.state("big"), world.state("small")), ("running", "skipped"));
    let refused = refusal(&world, [add(agent("odd", &[])), way("odd", "a.n + ")]);
    assert!(refused.contains("a.n + "), "{refused}");
    world.done("big", json!(1));
    world.done("z", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn changed_content_of_a_finished_node_runs_it_and_what_depends_on_it_again() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &[])]));
    for id in ["a", "b", "c"] {
        world.done(id, json!(id));
    }
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    let action = edit([objective("a", "do better")]);
    let blast = world.run.impact(&action, Time(world.now));
    assert_eq!(blast.nodes(NodeImpact::Reruns).to_vec(), ["a".into(), "b".into()]);
    world.act(action);
    assert_eq!((world.states(), received(&world, "a")), ("a running, b pending, c succeeded".to_string(), "do better".to_string()));
    world.done("a", json!(1));
    world.done("b", json!(1));
    assert_eq!((world.outcome(), world.node("a").generation, world.node("c").generation), (Some(Outcome::Succeeded), 2, 1));
    let notes = Policy { notes: Some("fine".into()), retry: Some(Retry { attempts: 5, ..Retry::default() }), ..Policy::default() };
    let blast = world.run.impact(&edit([policy("a", notes)]), Time(world.now));
    assert!(blast.is_harmless(), "{blast:?}");
}

#[test]
fn a_changed_node_at_a_gate_asks_again() {
    let mut gated = agent("a", &[]);
    gated.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![gated]));
    world.act(edit([objective("a", "something else")]));
    assert_eq!((world.open(), world.voided(1).as_deref()), (vec![2], Some("the plan was edited, so it asks again")));
    world.decide(2, GateReply::Approve);
    assert_eq!(received(&world, "a"), "something else");
}

#[test]
fn names_change_and_nothing_runs_again_for_it() {
    let mut reads = agent("b", &["a"]);
    reads.kind = NodeKind::Agent(AgentNode { agent: Some("worker".into()), objective: Some("use {{a}}".into()), ..AgentNode::default() });
    let mut last = reads.clone();
    last.id = "c".into();
    last.depends_on = vec!["a".into(), "b".into()];
    let mut world = World::new(plan(vec![agent("a", &[]), reads, last]));
    world.done("a", json!("apples"));
    let rename = |from: &str, to: &str| Edit::RenameNode { from: from.into(), to: to.into() };
    assert!(refusal(&world, [rename("b", "bees")]).contains("`b` is running, so it keeps its name"));
    world.done("b", json!(1));
    let action = edit([rename("a", "fruit"), rename("b", "a")]);
    assert!(world.run.impact(&action, Time(world.now)).is_harmless());
    world.act(action);
    assert_eq!((world.states(), received(&world, "c")), ("fruit succeeded, a succeeded, c running".to_string(), "use apples".to_string()));
    assert_eq!((world.node("fruit").generation, world.node("fruit").attempt), (1, 1));
    world.done("c", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn what_can_not_be_edited_any_more_is_refused_with_a_way_out() {
    let mut world = chain();
    world.done("a", json!(1));
    for (edits, words) in [
        (vec![Edit::RemoveNode { id: "a".into() }], "`a` is succeeded and can't be removed any more: it stays on record"),
        (vec![Edit::RemoveNode { id: "b".into() }], "`b` is running and can't be removed any more: cancel or skip it instead"),
        (
            vec![add(agent("x", &[])), depend("b", "x")],
            "`b` has started, so what it waits for stays as it is: rerun it while it is held, and edit it then",
        ),
        (
            vec![Edit::SetKind { id: "b".into(), kind: KindData(NodeKind::Merge(MergeNode::default())) }],
            "`b` is at work, so what kind of work it does can't change: cancel it or wait until it has ended",
        ),
        (vec![depend("a", "c")], "this would create a cycle: a → b → c → a"),
        (vec![Edit::RemoveNode { id: "nobody".into() }], "there is no node `nobody`"),
        (vec![objective("c", "use {{nowhere.x}}")], "nowhere"),
        (
            vec![Edit::SetInputs { inputs: [("x".to_string(), json!(1))].into_iter().collect() }],
            "the inputs and the format of a run's plan stay",
        ),
        (vec![Edit::SetGoal { goal: "a goal".into() }], "that changes nothing"),
    ] {
        let refused = refusal(&world, edits);
        assert!(refused.contains(words), "{refused}");
    }
    world.act(Action::Hold { target: on("c") });
    world.act(Action::Rerun { node: "a".into(), scope: crate::engine::RerunReach::Downstream });
    assert_eq!(refusal(&world, [add(agent("x", &[])), depend("b", "x")]), "", "what was taken back can be edited");
}

#[test]
fn a_running_node_takes_a_change_with_its_next_attempt() {
    let mut tried = agent("a", &[]);
    tried.policy.retry = Some(Retry { attempts: 2, ..Retry::default() });
    let mut world = World::new(plan(vec![tried]));
    world.act(edit([objective("a", "do it differently")]));
    assert_eq!((world.state("a"), received(&world, "a").as_str()), ("running", "do it"));
    world.fail("a", ErrorKind::NothingBegan);
    world.due("a", TimerKind::Retry);
    assert_eq!((received(&world, "a").as_str(), world.node("a").generation), ("do it differently", 1));
}

#[test]
fn the_plan_inside_a_node_is_edited_before_it_begins_and_not_while_it_runs() {
    let inner = plan(vec![agent("x", &[])]);
    let sub = |id: &str, deps: &[&str]| node(id, NodeKind::Subplan(SubplanNode::Inline(Box::new(inner.clone()))), deps);
    let mut world = World::new(plan(vec![sub("s", &[]), sub("t", &["s"])]));
    let within = |id: &str| Edit::within(Some(id), objective("x", "inside"));
    assert!(refusal(&world, [within("s")]).contains("what runs inside it can't change"));
    world.act(edit([within("t")]));
    world.done("s/x", json!(1));
    assert_eq!(received(&world, "t/x"), "inside");
    world.done("t/x", json!(1));
    world.act(edit([within("s")]));
    assert_eq!((world.state("s"), world.state("t"), received(&world, "s/x").as_str()), ("running", "pending", "inside"));
    assert_eq!(world.node("s/x").generation, 2);
}

#[test]
fn a_node_that_was_skipped_is_judged_anew_when_its_ways_change() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["b"])]));
    world.fail("a", ErrorKind::Permanent);
    assert_eq!(world.states(), "a failed, b skipped, c skipped");
    world.act(edit([Edit::RemoveDependency { node: "b".into(), on: "a".into() }]));
    assert_eq!(world.states(), "a failed, b running, c pending");
    world.done("b", json!(1));
    world.done("c", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Partial));
}

#[test]
fn locks_that_change_under_a_node_that_waits_for_one_are_given_back() {
    let locked = |id: &str, lock: &str| {
        let mut node = agent(id, &[]);
        node.policy.locks = Some(vec![lock.to_string()]);
        node
    };
    let mut world = World::new(plan(vec![locked("a", "one"), locked("b", "one"), locked("c", "two")]));
    assert_eq!(world.states(), "a running, b held, c running");
    let free = Policy { locks: Some(vec!["three".into()]), ..Policy::default() };
    assert!(refusal(&world, [policy("a", free.clone())]).contains("its locks can't change"));
    world.act(edit([policy("b", free)]));
    assert_eq!(world.states(), "a running, b running, c running");
    for id in ["a", "b", "c"] {
        world.done(id, json!(1));
    }
    assert!(world.run.queue.locks.iter().all(|lock| lock.holder.is_none() && lock.waiters.is_empty()));
}

fn noted(id: &str) -> Edit {
    policy(id, Policy { notes: Some("seen".into()), ..Policy::default() })
}

#[test]
fn a_run_that_was_cancelled_or_stopped_ends_as_that_unless_something_more_runs() {
    let two = || World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    let mut world = two();
    world.act(Action::Cancel { target: ActionTarget::Run });
    world.act(edit([noted("a")]));
    assert_eq!((world.outcome(), world.ended_by().as_deref()), (Some(Outcome::Cancelled), Some("cancelled by anna")));
    world.act(edit([add(agent("late", &["b"]))]));
    assert_eq!((world.state("late"), world.outcome()), ("skipped", Some(Outcome::Cancelled)), "it never runs");
    world.act(edit([add(agent("c", &[]))]));
    world.done("c", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Partial), "it went on");

    let mut world = World::created(plan(vec![agent("a", &[])]), settings());
    world.act(Action::Cancel { target: ActionTarget::Run });
    world.act(edit([noted("a")]));
    assert_eq!(world.outcome(), Some(Outcome::Cancelled), "one that never started settles again");

    for (added, outcome) in [(false, Outcome::Cancelled), (true, Outcome::Partial)] {
        let mut world = two();
        world.act(Action::Stop { target: ActionTarget::Run });
        world.act(edit([noted("b")]));
        if added {
            world.act(edit([add(agent("c", &["a"]))]));
        }
        world.done("a", json!(1));
        if added {
            world.done("c", json!(1));
        }
        assert_eq!(world.outcome(), Some(outcome));
    }
}

#[test]
fn a_result_given_to_a_node_at_work_does_not_take_back_that_the_run_is_to_stop() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.act(Action::Stop { target: ActionTarget::Run });
    world.act(Action::Override { node: "a".into(), value: json!(1) });
    assert_eq!(world.outcome(), Some(Outcome::Cancelled));
    world.act(Action::Override { node: "b".into(), value: json!(1) });
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

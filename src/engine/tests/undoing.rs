//! Actions that are undone after other things have happened, or that were said together with others, one sentence a test.

use super::kit::*;
use crate::engine::*;
use crate::plan::{edit::Edit, *};
use serde_json::json;

fn command(command: Command) -> Input {
    Input::Command { command, by: me() }
}

fn act(action: Action) -> Input {
    command(Command::act(action))
}

fn gated(id: &str, approve: Approve) -> Node {
    let mut node = agent(id, &[]);
    node.policy.approve = Some(approve);
    node
}

#[test]
fn that_a_run_was_started_paused_is_nothing_to_undo() {
    let mut world = World::created(plan(vec![agent("a", &[])]), settings());
    world.steps(&[act(Action::Pause), command(Command::Start)]);
    assert_eq!((world.run.undoable(), world.state("a")), (None, "ready"));
    world.command(Command::Undo);
    assert_eq!((world.run.pace(), world.state("a")), (Pace::Paused, "ready"));
}

#[test]
fn actions_that_came_together_are_undone_one_by_one_and_nothing_else_is() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["b"]), gated("d", Approve::Before)]));
    world.steps(&[act(Action::Pause), act(Action::Skip { node: "c".into() })]);
    world.done("a", json!(1));
    world.decide(1, GateReply::Approve);
    assert_eq!(world.states(), "a succeeded, b ready, c skipped, d ready");
    world.command(Command::Undo);
    assert_eq!((world.state("c"), world.run.pace()), ("pending", Pace::Paused));
    world.command(Command::Undo);
    assert_eq!(world.states(), "a succeeded, b running, c pending, d running");
    assert_eq!(world.open(), Vec::<u32>::new(), "the answer stands");
}

#[test]
fn the_next_attempt_of_a_node_comes_also_when_an_action_about_it_is_undone_late() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[])]));
    world.fail("a", ErrorKind::NothingBegan);
    assert_eq!(world.state("a"), "retrying");
    world.act(Action::Skip { node: "a".into() });
    world.now += 120_000;
    world.due("a", TimerKind::Retry);
    world.effects.clear();
    world.command(Command::Undo);
    let timers = world.effects.iter().filter(|effect| matches!(effect, Effect::SetTimer { timer, .. } if *timer.node == *"a")).count();
    assert_eq!((world.state("a"), timers), ("retrying", 1));
    world.due("a", TimerKind::Retry);
    assert_eq!(world.state("a"), "running");
}

#[test]
fn a_lock_that_an_action_freed_and_somebody_took_is_not_freed_again() {
    let locked = |mut node: Node| {
        node.policy.locks = Some(vec!["file".into()]);
        node
    };
    let nodes = vec![locked(gated("m", Approve::After)), locked(agent("n", &[])), agent("x", &[])];
    let mut world = World::with(plan(nodes), RunSettings { slots: 1, ..settings() });
    world.done("m", json!(1));
    assert_eq!(world.states(), "m waiting, n held, x running");
    world.act(Action::Skip { node: "m".into() });
    world.done("x", json!(1));
    assert_eq!((world.state("n"), world.run.undoable()), ("running", None));
}

#[test]
fn what_is_refused_is_judged_behind_the_actions_that_come_before_it() {
    let world = World::new(plan(vec![agent("a", &[])]));
    let add = Edit::AddNode { node: Box::new(agent("d", &[])), at: None };
    let (add, hold) = (Command::act(Action::Edit { edits: vec![add] }), Command::act(Action::Hold { target: on("d") }));
    assert_eq!(world.run.refusal_of(&[add.clone(), hold.clone()], Time(0)), None);
    assert!(world.run.refusal_of(&[hold, add], Time(0)).unwrap().contains("there is no node `d`"));
    let (pause, undo) = (Command::act(Action::Pause), Command::Undo);
    assert_eq!(world.run.refusal_of(&[pause.clone(), undo.clone(), pause.clone()], Time(0)), None);
    assert!(world.run.refusal_of(&[pause.clone(), pause], Time(0)).unwrap().contains("paused already"));
}

#[test]
fn a_branch_keeps_whole_steps() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.done("a", json!(7));
    let routed = world.records.iter().find(|record| matches!(record.event, Event::Node { fact: NodeFact::Routed { .. }, .. })).unwrap().seq;
    let whole = Record::whole(&world.records, routed);
    assert_eq!(whole, world.records.len() as u64, "the result and what follows from it come with the way");
    assert_eq!(Record::whole(&world.records, whole), whole);
    assert!(Record::whole(&world.records, 2) < routed, "earlier steps end before");
}

/// The journal is opened again, and the newest action undone.
fn reopen_and_undo(world: &mut World) -> Vec<Event> {
    world.run = Run::replay(&world.records);
    world.effects.clear();
    world.command(Command::Undo)
}

#[test]
fn an_action_that_leaves_nothing_to_do_is_undone_although_the_run_is_over_by_it() {
    let node = || NodeId::new("b");
    let actions = [
        Action::Cancel { target: ActionTarget::Run },
        Action::Cancel { target: on("b") },
        Action::Cancel { target: ActionTarget::Branch(node()) },
        Action::Stop { target: ActionTarget::Run },
        Action::Skip { node: node() },
        Action::Override { node: node(), value: json!("by hand") },
        Action::Edit { edits: vec![Edit::RemoveNode { id: "c".into() }, Edit::RemoveNode { id: "b".into() }] },
    ];
    for action in actions {
        let mut world = World::new(plan(vec![agent("a", &[]), gated("b", Approve::Before), agent("c", &["b"])]));
        world.done("a", json!(1));
        if matches!(action, Action::Override { .. }) {
            world.act(Action::Skip { node: "c".into() });
        }
        let before = plain(&world.run);
        world.act(action.clone());
        assert!(world.outcome().is_some(), "{action:?} leaves nothing to do");
        let events = reopen_and_undo(&mut world);
        assert!(matches!(events[..], [Event::RunReopened { .. }, Event::Undone { .. }]), "{action:?}: {events:?}");
        assert!(plain(&world.run) == before, "{action:?}: {}", world.states());
        world.decide(1, GateReply::Approve);
        assert_eq!(world.state("b"), "running", "{action:?}");
    }
}

#[test]
fn a_cancel_that_stopped_work_is_not_taken_back_and_what_only_steered_means_nothing_once_the_run_is_over() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.act(Action::Pause);
    world.act(Action::Cancel { target: ActionTarget::Run });
    assert_eq!((world.outcome(), world.run.undoable()), (Some(Outcome::Cancelled), None), "its worker was stopped");
    assert!(world.command(Command::Undo).is_empty());
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.act(Action::Guide { node: "a".into(), text: "be brief".into() });
    world.act(Action::Break { point: Breakpoint { at: Moment::Before, node: None, when: None, disabled: false } });
    world.done("a", json!(1));
    assert_eq!((world.outcome(), world.run.undoable()), (Some(Outcome::Succeeded), None));
}

#[test]
fn what_was_skipped_before_the_run_went_to_its_end_can_still_be_had() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    world.act(Action::Skip { node: "b".into() });
    world.act(Action::Break { point: Breakpoint { at: Moment::Failure, node: None, when: None, disabled: false } });
    world.done("a", json!(1));
    world.done("c", json!(2));
    assert_eq!(world.outcome(), Some(Outcome::Partial));
    assert_eq!(world.run.undoable().map(|(_, words)| words), Some("skip `b`"), "and not the breakpoint");
    reopen_and_undo(&mut world);
    assert_eq!((world.states().as_str(), world.outcome()), ("a succeeded, b running, c succeeded", None));
}

#[test]
fn a_result_that_was_overridden_is_had_again_and_the_run_is_over_as_before() {
    let mut world = World::new(plan(vec![gated("a", Approve::Before)]));
    world.decide(1, GateReply::Approve);
    world.done("a", json!("made"));
    let before = plain(&world.run);
    world.act(Action::Override { node: "a".into(), value: json!("by hand") });
    assert_eq!(world.node("a").result.as_deref(), Some(&json!("by hand")));
    reopen_and_undo(&mut world);
    assert!(plain(&world.run) == before, "{}", world.states());
}

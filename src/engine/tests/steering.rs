//! Pause, step, run to, hold, release, skip, override and undo, each as a person would meet it.

use super::kit::*;
use crate::engine::Mark;
use crate::engine::*;
use crate::plan::*;
use serde_json::json;

fn act(world: &mut World, action: Action) -> Vec<Event> {
    world.command(Command::act(action))
}

fn on(id: &str) -> ActionTarget {
    ActionTarget::Node(NodeId::new(id))
}

#[test]
fn a_paused_run_lets_what_runs_finish_and_starts_nothing() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    act(&mut world, Action::Pause);
    assert_eq!(world.run.pace(), Pace::Pausing);
    world.done("a", json!(1));
    assert_eq!((world.run.pace(), world.state("b")), (Pace::Paused, "ready"));
    assert!(world.run.is_parked() && world.outcome().is_none(), "a paused run is not a failed run");
    act(&mut world, Action::Resume);
    assert_eq!((world.run.pace(), world.state("b")), (Pace::Going, "running"));
}

#[test]
fn a_step_lets_exactly_one_node_go() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"]), agent("d", &["a"])]));
    act(&mut world, Action::Pause);
    world.done("a", json!(1));
    act(&mut world, Action::Step { node: Some("c".into()) });
    assert_eq!(world.started(), ["a", "c"]);
    act(&mut world, Action::Step { node: None });
    assert_eq!(world.started(), ["a", "c", "b"]);
    world.done("b", json!(1));
    world.done("c", json!(1));
    assert_eq!(world.started().len(), 3, "nothing else goes: {}", world.states());
    let refused = act(&mut world, Action::Step { node: Some("a".into()) });
    assert!(matches!(&refused[..], [Event::Refused { why, .. }] if why == "`a` is succeeded, not ready"), "{refused:?}");
}

#[test]
fn running_to_a_node_runs_what_it_needs_and_stops_before_it() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("other", &["a"]), agent("c", &["b"])]));
    act(&mut world, Action::Pause);
    world.done("a", json!(1));
    act(&mut world, Action::RunTo { node: "c".into() });
    assert_eq!((world.state("b"), world.state("other")), ("running", "ready"));
    world.done("b", json!(1));
    assert_eq!((world.state("c"), world.state("other"), world.run.pace()), ("ready", "ready", Pace::Paused));
}

#[test]
fn a_held_node_waits_behind_its_inputs_and_goes_on_when_released() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    act(&mut world, Action::Hold { target: on("b") });
    assert_eq!((world.state("b"), world.reason("b").as_str()), ("pending", "held by anna"));
    world.done("a", json!(1));
    assert_eq!((world.state("b"), world.state("c")), ("held", "running"));
    world.done("c", json!(1));
    assert!(world.run.is_parked());
    act(&mut world, Action::Release { target: on("b") });
    assert_eq!(world.state("b"), "running");
    let refused = act(&mut world, Action::Hold { target: on("b") });
    assert!(matches!(&refused[..], [Event::Refused { .. }]));
}

#[test]
fn an_approved_node_that_is_held_starts_only_when_released_and_does_not_ask_again() {
    let mut gated = agent("a", &[]);
    gated.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![gated]));
    act(&mut world, Action::Hold { target: ActionTarget::Run });
    world.decide(1, GateReply::Approve);
    assert_eq!(world.state("a"), "held");
    act(&mut world, Action::Release { target: ActionTarget::Run });
    assert_eq!((world.state("a"), world.open().len()), ("running", 0));
}

#[test]
fn marking_done_lets_consumers_go_on_and_is_visibly_marked() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    act(&mut world, Action::Hold { target: on("b") });
    act(&mut world, Action::Override { node: "a".into(), value: json!({"n": 1}) });
    assert_eq!(
        (world.state("a"), world.node("a").mark.as_ref().map(Mark::as_str), world.state("b")),
        ("succeeded", Some("overridden"), "held")
    );
    assert!(
        matches!(world.effects.last(), Some(Effect::Abort { node, .. }) if *node == "a".into()),
        "its worker stops: {:?}",
        world.effects
    );
}

#[test]
fn an_action_is_undone_until_something_happens_because_of_it() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[]), agent("c", &["b"]), agent("d", &["c"])]));
    let before = same(&world.run);
    act(&mut world, Action::Skip { node: "c".into() });
    assert_eq!((world.state("c"), world.state("d")), ("skipped", "skipped"));
    assert_eq!(world.run.undoable().map(|(_, words)| words.to_string()).as_deref(), Some("skip `c`"));
    world.done("a", json!(1));
    assert!(world.run.undoable().is_some(), "`a` has nothing to do with it");
    world.command(Command::Undo);
    assert_eq!((world.state("c"), world.state("d"), world.state("a")), ("pending", "pending", "succeeded"));
    let mut plain = World::new(plan(vec![agent("a", &[]), agent("b", &[]), agent("c", &["b"]), agent("d", &["c"])]));
    assert_eq!(same(&plain.run), before);
    plain.done("a", json!(1));
    assert_eq!(same(&world.run), same(&plain.run));
    act(&mut world, Action::Skip { node: "c".into() });
    world.done("b", json!(1));
    assert!(world.outcome().is_some(), "nothing is left to do, and nothing has come of it");
    world.command(Command::Undo);
    assert_eq!((world.state("c"), world.outcome()), ("running", None), "`b` would have let it start");
}

#[test]
fn actions_are_undone_in_turn_and_one_with_an_effect_leaves_those_before_it() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    let before = same(&world.run);
    act(&mut world, Action::Hold { target: on("b") });
    act(&mut world, Action::Hold { target: on("c") });
    world.command(Command::Undo);
    assert!(!world.run.is_held(&"c".into()) && world.run.is_held(&"b".into()));
    world.command(Command::Undo);
    assert_eq!(same(&world.run), before);
    act(&mut world, Action::Hold { target: on("b") });
    act(&mut world, Action::Cancel { target: on("a") });
    assert_eq!(world.state("b"), "skipped");
    assert_eq!(world.run.undoable(), None, "the hold of `b` means nothing any more");
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &[])]));
    act(&mut world, Action::Hold { target: on("b") });
    act(&mut world, Action::Cancel { target: on("c") });
    assert_eq!(world.run.undoable().map(|(_, words)| words.to_string()).as_deref(), Some("hold `b`"));
    world.command(Command::Undo);
    assert_eq!((world.state("b"), world.state("c"), world.run.is_held(&"b".into())), ("pending", "cancelled", false));
}

#[test]
fn a_gate_that_an_action_took_away_is_there_again_and_its_number_is_never_used_twice() {
    let mut gated = agent("a", &[]);
    gated.policy.approve = Some(Approve::Before);
    let mut other = gated.clone();
    other.id = "b".into();
    other.depends_on = vec!["c".into()];
    let mut world = World::new(plan(vec![gated, agent("c", &[]), other]));
    let blast = world.run.impact(&Action::Skip { node: "a".into() }, Time(world.now));
    assert_eq!(
        (blast.nodes(NodeImpact::Skips).to_vec(), blast.nodes(NodeImpact::Void).to_vec(), blast.ends),
        (vec![NodeId::new("a")], vec![NodeId::new("a")], None)
    );
    act(&mut world, Action::Skip { node: "a".into() });
    assert_eq!(world.open(), Vec::<u32>::new());
    world.command(Command::Undo);
    assert_eq!(world.open(), [1]);
    world.done("c", json!(1));
    assert_eq!(world.open(), [1, 2]);
}

#[test]
fn a_run_to_a_node_that_is_at_its_start_pauses_there_at_once() {
    let asks = |id: &str, approve| {
        let mut node = agent(id, &[]);
        node.policy.approve = Some(approve);
        node
    };
    let locked = |id: &str| {
        let mut node = agent(id, &[]);
        node.policy.locks = Some(vec!["db".into()]);
        node
    };
    let to = |world: &mut World, id: &str| {
        act(world, Action::RunTo { node: id.into() });
        assert_eq!(world.run.pace(), Pace::Paused, "`{id}` is {}", world.state(id));
        assert!(world.run.is_parked());
    };

    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    act(&mut world, Action::Pause);
    world.done("a", json!(1));
    to(&mut world, "b");

    let mut world = World::new(plan(vec![asks("a", Approve::Before), agent("b", &["a"])]));
    to(&mut world, "a");
    world.decide(1, GateReply::Approve);
    assert_eq!((world.state("a"), world.started().len()), ("ready", 0), "it pauses before it, approved as it is");

    let mut world = World::created(plan(vec![agent("a", &[])]), settings());
    act(&mut world, Action::Hold { target: on("a") });
    world.command(Command::Start);
    to(&mut world, "a");

    let mut world = World::new(plan(vec![locked("a"), locked("b")]));
    act(&mut world, Action::RunTo { node: "b".into() });
    assert_eq!((world.state("b"), world.run.pace()), ("held", Pace::Pausing));
    world.done("a", json!(1));
    assert_eq!((world.started().len(), world.run.pace()), (1, Pace::Paused));

    let mut world = World::new(plan(vec![asks("a", Approve::After)]));
    world.done("a", json!(1));
    let refused = act(&mut world, Action::RunTo { node: "a".into() });
    assert!(matches!(&refused[..], [Event::Refused { why, .. }] if why == "`a` has started already"), "{refused:?}");
}

fn map_of_two() -> World {
    let body = plan(vec![agent("x", &[]), agent("y", &["x"])]);
    let map = MapNode { over: "[1, 2]".into(), body: Box::new(body), max_parallel: Some(1) };
    World::new(plan(vec![node("m", NodeKind::Map(map), &[]), agent("c", &["m"])]))
}

#[test]
fn nothing_more_starts_inside_of_what_is_held_at_work_and_what_comes_later_is_held_too() {
    for target in [ActionTarget::Run, on("m"), ActionTarget::Branch("m".into())] {
        let mut world = map_of_two();
        let blast = world.run.impact(&Action::Hold { target: target.clone() }, Time(world.now));
        let holds = blast.nodes(NodeImpact::Holds).iter().map(|id| id.as_str()).filter(|&id| id != "c").collect::<Vec<_>>();
        assert_eq!((holds, blast.nodes(NodeImpact::Starts).to_vec()), (vec!["m", "m[0]/y"], vec![]), "{target:?}");
        act(&mut world, Action::Hold { target: target.clone() });
        world.done("m[0]/x", json!(1));
        assert_eq!((world.state("m[0]/y"), world.run.is_parked()), ("held", true));
        act(&mut world, Action::Release { target: on("m[0]/y") });
        world.done("m[0]/y", json!(1));
        assert_eq!((world.state("m[1]/x"), world.reason("m[1]/x").as_str()), ("held", "held by anna"), "{target:?}");
        assert_eq!((world.reason("m").as_str(), world.run.is_held(&"m[1]/y".into())), ("held by anna: nothing more inside starts", true));
        act(&mut world, Action::Release { target });
        assert_eq!((world.state("m[1]/x"), world.reason("m").as_str()), ("running", ""));
        world.done("m[1]/x", json!(1));
        world.done("m[1]/y", json!(1));
        world.done("c", json!(1));
        assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    }
    let mut world = map_of_two();
    act(&mut world, Action::Hold { target: on("m") });
    act(&mut world, Action::Cancel { target: on("m") });
    assert!(!world.run.is_held(&"m".into()), "its end is the end of that");
}

#[test]
fn a_release_of_the_run_goes_on_from_breakpoints_inside_of_nodes() {
    for target in [ActionTarget::Run, on("m"), ActionTarget::Branch("m".into())] {
        let mut world = map_of_two();
        act(
            &mut world,
            Action::Break { point: Breakpoint { at: Moment::Before, node: Some("m[*]/y".into()), when: None, disabled: false } },
        );
        world.done("m[0]/x", json!(1));
        assert_eq!(world.state("m[0]/y"), "held");
        let action = Action::Release { target };
        assert_eq!(world.run.impact(&action, Time(world.now)).nodes(NodeImpact::Starts).to_vec(), [NodeId::new("m[0]/y")]);
        act(&mut world, action);
        assert_eq!(world.state("m[0]/y"), "running");
    }
}

#[test]
fn a_composite_node_in_which_all_has_started_is_past_holding() {
    let body = plan(vec![agent("x", &[])]);
    let mut world = World::new(plan(vec![node("p", NodeKind::Subplan(SubplanNode::Inline(Box::new(body))), &[])]));
    let refused = act(&mut world, Action::Hold { target: on("p") });
    assert!(matches!(&refused[..], [Event::Refused { why, .. }] if why == "`p` has started, so it can't be held"), "{refused:?}");
}

fn refused(events: &[Event]) -> &str {
    match events {
        [Event::Refused { why, .. }] => why,
        other => panic!("not refused: {other:?}"),
    }
}

fn step() -> Action {
    Action::Step { node: None }
}

#[test]
fn steps_are_never_kept_for_later() {
    let mut ask = agent("a", &[]);
    ask.policy.approve = Some(Approve::Before);
    let mut world = World::created(plan(vec![ask, agent("b", &["a"]), agent("c", &["a"]), agent("d", &["a"])]), settings());
    act(&mut world, Action::Pause);
    world.command(Command::Start);
    for _ in 0..3 {
        let before = world.run.clone();
        let events = act(&mut world, step());
        let why = "nothing can start now: `a` waits for a reply to gate 1: the plan asks before this node starts";
        assert_eq!(refused(&events), why);
        assert_eq!(plain(&world.run), plain(&before), "it changes nothing");
    }
    world.decide(1, GateReply::Approve);
    assert_eq!((world.states().as_str(), world.run.pace()), ("a ready, b pending, c pending, d pending", Pace::Paused));
    let events = act(&mut world, step());
    assert!(matches!(&events[..], [Event::Acted { nodes, .. }, ..] if *nodes == ["a".into()]), "it says what it let go: {events:?}");
    world.done("a", json!(1));
    assert_eq!(world.states(), "a succeeded, b ready, c ready, d ready");
}

#[test]
fn a_step_of_a_run_in_which_nothing_is_ready_says_so_and_does_not_pause_it() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    assert_eq!(refused(&act(&mut world, step())), "nothing can start now: `a` is running");
    world.done("a", json!(1));
    assert_eq!(world.state("b"), "running");
}

#[test]
fn a_step_that_goes_from_a_breakpoint_to_a_gate_does_not_start_the_node_once_that_is_answered() {
    let mut gated = agent("a", &[]);
    gated.policy.approve = Some(Approve::Before);
    gated.policy.breakpoint = Some(json!(true));
    let mut world = World::new(plan(vec![gated]));
    act(&mut world, step());
    assert_eq!((world.state("a"), world.run.pace()), ("waiting", Pace::Paused));
    world.decide(1, GateReply::Approve);
    assert_eq!(world.state("a"), "ready");
    act(&mut world, step());
    assert_eq!(world.state("a"), "running");
}

#[test]
fn a_step_of_a_node_whose_slot_or_lock_is_taken_says_who_has_it_and_is_not_kept() {
    let locked = |id: &str| {
        let mut node = agent(id, &[]);
        node.policy.locks = Some(vec!["db".into()]);
        node
    };
    let mut world = World::with(plan(vec![locked("a"), locked("b"), agent("c", &[])]), RunSettings { slots: 2, ..settings() });
    assert_eq!(world.states(), "a running, b held, c running");
    act(&mut world, Action::Pause);
    let of = |id: &str| Action::Step { node: Some(id.into()) };
    assert_eq!(refused(&act(&mut world, of("b"))), "`b` waits for lock `db`, which `a` holds");
    world.done("c", json!(1));
    assert_eq!(
        refused(&act(&mut world, step())),
        "nothing can start now: `b` is held: the run is paused, and it waits for lock `db`, which `a` holds"
    );
    world.done("a", json!(1));
    assert_eq!(world.state("b"), "held", "no step was kept");
    act(&mut world, of("b"));
    assert_eq!(world.state("b"), "running");
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), RunSettings { slots: 1, ..settings() });
    act(&mut world, Action::Pause);
    assert_eq!(refused(&act(&mut world, of("b"))), "`b` is ready and waits for a free slot (1 of 1 in use: `a`)");
    world.done("a", json!(1));
    assert_eq!(world.state("b"), "ready");
}

#[test]
fn as_many_steps_at_once_start_as_many_nodes_and_each_says_which() {
    let mut world = World::created(plan(vec![agent("a", &[]), agent("b", &[]), agent("c", &[])]), settings());
    act(&mut world, Action::Pause);
    world.command(Command::Start);
    let input = || Input::Command { command: Command::act(step()), by: me() };
    let events = world.steps(&[input(), input()]);
    let said = |event: &Event| if let Event::Acted { nodes, .. } = event { nodes.clone() } else { Vec::new() };
    assert_eq!(events.iter().flat_map(said).collect::<Vec<_>>(), ["a".into(), "b".into()]);
    assert_eq!(world.started(), ["a", "b"]);
}

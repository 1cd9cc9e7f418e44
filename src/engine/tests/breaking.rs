//! Breakpoints as a person would meet them.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::json;

pub(super) fn point(at: Moment, node: Option<&str>, when: Option<&str>) -> Action {
    Action::Break { point: Breakpoint { at, node: node.map(str::to_string), when: when.map(str::to_string), disabled: false } }
}

fn hits(events: &[Event]) -> Vec<(String, Moment)> {
    let hit = |event: &Event| match event {
        Event::Node { node_id, fact: NodeFact::BreakHit { moment, .. }, .. } => Some((node_id.to_string(), *moment)),
        _ => None,
    };
    events.iter().filter_map(hit).collect()
}

fn all_hits(world: &World) -> Vec<(String, Moment)> {
    hits(&world.records.iter().map(|record| record.event.clone()).collect::<Vec<_>>())
}

#[test]
fn resuming_from_a_breakpoint_does_not_stop_at_it_again() {
    for go_on in [Action::Resume, Action::Release { target: on("a") }, Action::Step { node: Some("a".into()) }, Action::Step { node: None }]
    {
        let mut retried = agent("a", &[]);
        retried.policy.retry = Some(Retry { attempts: 2, ..Retry::default() });
        let mut world = World::created(plan(vec![retried, agent("b", &["a"])]), settings());
        world.act(point(Moment::Before, Some("a"), None));
        world.command(Command::Start);
        assert_eq!((world.state("a"), world.reason("a").as_str()), ("held", "breakpoint 1 before `a`"));
        assert_eq!(world.run.kept(&"a".into()), Some(&HeldAt::Start));
        assert!(world.run.is_parked());
        world.act(go_on);
        assert_eq!(world.state("a"), "running");
        world.fail("a", ErrorKind::Transient);
        world.due("a", TimerKind::Retry);
        world.act(Action::Resume);
        assert_eq!((world.state("a"), world.node("a").attempt), ("running", 2));
        assert_eq!(all_hits(&world).len(), 1, "a retry doesn't meet it again");
    }
}

#[test]
fn a_breakpoint_comes_before_the_gate_and_both_are_passed_once() {
    let mut gated = agent("a", &[]);
    gated.policy.approve = Some(Approve::Both);
    gated.policy.breakpoint = Some(json!(true));
    let mut world = World::created(plan(vec![gated, agent("b", &["a"])]), settings());
    world.act(point(Moment::After, None, None));
    world.command(Command::Start);
    assert_eq!((world.open(), world.reason("a").as_str()), (vec![], "the plan's breakpoint before `a`"));
    world.act(Action::Resume);
    assert_eq!(world.open(), [1]);
    world.decide(1, GateReply::Approve);
    assert_eq!(world.state("a"), "running");
    world.done("a", json!({"n": 1}));
    assert_eq!((world.state("a"), world.open()), ("held", vec![]));
    assert_eq!(world.run.kept(&"a".into()), Some(&HeldAt::Result { result: json!({"n": 1}), mark: None }));
    world.act(Action::Release { target: on("a") });
    assert_eq!(world.open(), [2], "the gate after the node opens behind the breakpoint");
    world.decide(2, GateReply::Approve);
    assert_eq!((world.state("a"), world.state("b")), ("succeeded", "running"));
}

#[test]
fn a_failure_is_kept_until_somebody_has_seen_it_and_may_still_be_mended() {
    let mut world = World::created(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &[])]), settings());
    world.act(point(Moment::Failure, None, Some("error | contains('broke')")));
    world.command(Command::Start);
    world.fail("a", ErrorKind::Timeout);
    assert_eq!((world.state("a"), world.state("b"), world.state("c")), ("held", "pending", "running"));
    assert!(matches!(world.effects.last(), Some(Effect::Abort { .. })), "a worker whose time is over is stopped all the same");
    world.act(Action::Override { node: "a".into(), value: json!("mended") });
    assert_eq!((world.state("a"), world.state("b")), ("succeeded", "running"));
    world.fail("b", ErrorKind::Permanent);
    world.act(Action::Release { target: on("b") });
    assert_eq!(world.state("b"), "failed");
}

#[test]
fn a_breakpoint_set_while_a_node_waits_in_line_is_met_before_it_starts_and_a_step_goes_over_it() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    world.act(Action::Pause);
    world.done("a", json!(1));
    world.act(point(Moment::Before, Some("*"), None));
    world.act(Action::Step { node: Some("c".into()) });
    assert_eq!((world.state("b"), world.state("c")), ("ready", "running"));
    world.act(Action::Resume);
    assert_eq!(world.state("b"), "held");
    world.act(Action::Unbreak { point: BreakId(1) });
    assert_eq!(world.state("b"), "held", "what is kept stays so until somebody lets it go");
    world.act(Action::Resume);
    assert_eq!(world.state("b"), "running");
}

#[test]
fn conditions_read_facts_and_one_without_a_value_stops_and_says_why() {
    let mut world = World::created(plan(vec![tool("r", "read", json!({"path": "a"}), &[]), agent("b", &[])]), settings());
    world.act(point(Moment::Before, None, Some("tool == 'read' and args.path == 'a' and first_use and attempt == 1")));
    world.act(point(Moment::After, Some("b"), Some("output.n > 3")));
    world.act(point(Moment::After, Some("r"), Some("tokens > 0 or cost_usd > 0")));
    world.command(Command::Start);
    assert_eq!((world.state("r"), world.state("b")), ("held", "running"));
    world.act(Action::Resume);
    world.ask("r", "c", "read", json!({"path": "a"}), Verdict::Allow);
    world.tool_done("r", "c", json!(1));
    world.done("r", json!(1));
    assert_eq!(world.state("r"), "succeeded");
    world.done("b", json!({"n": "many"}));
    assert_eq!(world.state("b"), "held");
    assert!(world.reason("b").contains("its condition has no value here: "), "{}", world.reason("b"));
}

#[test]
fn what_can_not_be_a_breakpoint_is_refused_in_the_words_of_who_reads_it() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    for (action, words) in [
        (point(Moment::Before, None, Some("tokens >")), "`tokens >`: "),
        (point(Moment::Before, None, Some("token > 3")), "there is no `token` here; a breakpoint can read node, tool,"),
        (point(Moment::Before, Some("b"), None), "there is no node `b`"),
    ] {
        let refused = world.act(action);
        assert!(matches!(&refused[..], [Event::Refused { why, .. }] if why.contains(words)), "{refused:?}");
    }
    assert_eq!(world.run.breakpoints().count(), 0);
}

#[test]
fn a_breakpoint_is_undone_until_it_is_met() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    world.act(point(Moment::Before, Some("b"), None));
    world.done("a", json!(1));
    assert_eq!((world.state("b"), world.run.undoable()), ("held", None));
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    world.act(point(Moment::Before, Some("b"), None));
    world.fact("a", WorkerFact::Output("words".into()));
    world.command(Command::Undo);
    world.done("a", json!(1));
    assert_eq!(world.state("b"), "running");
}

#[test]
fn a_changed_breakpoint_keeps_its_number_and_one_undo_brings_it_back_as_it_was() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    world.act(point(Moment::Before, Some("b"), None));
    world.act(point(Moment::Before, Some("a"), None));
    let Action::Break { point: with } = point(Moment::Before, Some("c"), None) else { unreachable!() };
    let change = |number| Action::Rebreak { point: BreakId(number), with: with.clone() };
    let nodes = |world: &World| world.run.breakpoints().map(|(id, point)| (id.0, point.node.clone().unwrap())).collect::<Vec<_>>();
    world.act(change(1));
    assert_eq!(nodes(&world), [(1, "c".to_string()), (2, "a".to_string())]);
    world.command(Command::Undo);
    assert_eq!(nodes(&world), [(1, "b".to_string()), (2, "a".to_string())]);
    world.act(change(1));
    world.done("a", json!(1));
    assert_eq!((world.state("b"), world.state("c")), ("running", "held"));
    let refused = world.act(change(7));
    assert!(matches!(&refused[..], [Event::Refused { why, .. }] if why == "there is no breakpoint 7"), "{refused:?}");
}

#[test]
fn breakpoints_are_met_by_nodes_inside_of_others_and_a_step_without_a_node_goes_on_there() {
    let body = plan(vec![agent("x", &[])]);
    let map = NodeKind::Map(MapNode { over: "[1, 2]".into(), body: Box::new(body), max_parallel: None });
    let mut world = World::created(plan(vec![node("m", map, &[])]), settings());
    world.act(point(Moment::Before, Some("m[*]/x"), None));
    world.command(Command::Start);
    assert_eq!((world.state("m[0]/x"), world.state("m[1]/x")), ("held", "held"));
    world.act(Action::Step { node: None });
    assert_eq!((world.state("m[0]/x"), world.state("m[1]/x")), ("running", "held"));
    world.act(Action::Resume);
    assert_eq!(world.state("m[1]/x"), "running");
}

#[test]
fn a_breakpoint_before_a_later_attempt_is_met_once_whenever_it_was_set() {
    let flaky = || {
        let mut node = agent("a", &[]);
        node.policy.retry = Some(Retry { attempts: 3, ..Retry::default() });
        node
    };
    let mut world = World::created(plan(vec![flaky()]), settings());
    world.act(point(Moment::Before, Some("a"), Some("attempt == 2")));
    world.command(Command::Start);
    world.fail("a", ErrorKind::NothingBegan);
    world.due("a", TimerKind::Retry);
    assert_eq!((world.state("a"), world.node("a").attempt), ("held", 1));
    world.act(Action::Resume);
    assert_eq!((world.state("a"), world.node("a").attempt), ("running", 2));

    let mut world = World::new(plan(vec![flaky()]));
    world.fail("a", ErrorKind::NothingBegan);
    world.act(point(Moment::Before, Some("a"), None));
    world.due("a", TimerKind::Retry);
    assert_eq!(world.state("a"), "held", "set while it rested");
    world.act(Action::Release { target: on("a") });
    world.fail("a", ErrorKind::NothingBegan);
    world.due("a", TimerKind::Retry);
    assert_eq!((world.state("a"), world.node("a").attempt), ("running", 3), "a generation meets it once");

    let mut world = World::new(plan(vec![flaky()]));
    world.act(point(Moment::Before, Some("a"), None));
    world.crash();
    assert_eq!(world.state("a"), "held", "set before a crash interrupted it");
}

#[test]
fn a_disabled_breakpoint_halts_nothing_until_it_is_enabled() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["b"])]));
    let Action::Break { point: enabled } = point(Moment::After, None, None) else { unreachable!() };
    let disabled = Breakpoint { disabled: true, ..enabled.clone() };
    let change = |with: &Breakpoint| Action::Rebreak { point: BreakId(1), with: with.clone() };
    world.act(Action::Break { point: enabled.clone() });
    world.act(change(&disabled));
    assert!(world.run.breakpoints().all(|(_, point)| point.disabled), "it stays in the list");
    world.done("a", json!(1));
    assert_eq!(world.states(), "a succeeded, b running, c pending");
    world.act(change(&enabled));
    world.done("b", json!(2));
    assert_eq!((world.state("b"), world.state("c")), ("held", "pending"));
}

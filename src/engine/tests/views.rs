//! The folds for views: bars against time, and where results came from.

use super::explaining::trace;
use super::kit::*;
use crate::engine::{RerunReach, *};
use crate::plan::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

pub(super) fn at(world: &mut World, now: u64) -> &mut World {
    world.now = now;
    world
}

/// Bars as text: `a inputs 0-5, working 5-9`, from the start of the run.
fn bars(world: &World) -> Vec<String> {
    let (timeline, run) = Timeline::replay(&world.records);
    let chart = timeline.chart(&run, Time(world.now));
    let start = chart.start.unwrap();
    let show = |stretch: &Stretch| {
        let end = stretch.to.map_or_else(|| "…".into(), |to| to.since(start).to_string());
        format!("{:?} {}-{end}", stretch.doing, stretch.from.since(start)).to_lowercase()
    };
    let bar = |bar: &Bar| format!("{} {}", bar.node, bar.stretches.iter().map(show).collect::<Vec<_>>().join(", "));
    chart.bars.iter().map(bar).collect()
}

fn chart(world: &World) -> TimelineChart {
    let (timeline, run) = Timeline::replay(&world.records);
    timeline.chart(&run, Time(world.now))
}

/// What nodes really started after, as text.
fn afters(chart: &TimelineChart) -> Vec<String> {
    chart.bars.iter().filter_map(|bar| Some(format!("{} after {}", bar.node, bar.after.as_ref()?.label()))).collect()
}

/// What holds of every run at any moment: bars without gaps of their own, work that fits into the time, traces that name each node once,
/// and an answer to why for every node.
pub(super) fn check_views(world: &World) {
    let (timeline, run) = Timeline::replay(&world.records);
    let chart = timeline.chart(&run, Time(world.now));
    assert!(chart.bound_ms <= chart.makespan_ms, "{} of {}", chart.bound_ms, chart.makespan_ms);
    let marked: BTreeSet<&NodeId> = chart.bars.iter().filter(|bar| bar.critical).map(|bar| &bar.node).collect();
    assert!(
        marked.len() == chart.critical.len() && chart.critical.iter().all(|node| marked.contains(node)),
        "each once: {:?}",
        chart.critical
    );
    check_bars(&run, &chart);
    for (id, node) in run.nodes() {
        check_why(&run, id, node);
        let trace = trace(world, id);
        let named: BTreeSet<&NodeId> = trace.steps.iter().map(|step| &step.node).collect();
        assert_eq!(named.len(), trace.steps.len(), "each node once");
        assert_eq!(trace.rows.iter().filter(|row| !row.again).count(), trace.steps.len());
    }
    assert_eq!(Comparison::new(&run, &run).changed().count(), 0);
}

/// Bars have no overlaps, and say what their nodes do now, whatever people did to the run.
pub(super) fn check_bars(run: &Run, chart: &TimelineChart) {
    for bar in &chart.bars {
        let node = run.node(&bar.node).unwrap();
        for pair in bar.stretches.windows(2) {
            assert!(pair[0].to.is_some_and(|to| to <= pair[1].from), "{bar:?}");
        }
        let last = bar.stretches.last();
        assert_eq!(last.is_some_and(|last| last.to.is_none()), chart.start.is_some() && !node.state.has_ended(), "{bar:?} {node:?}");
        let doing = last.filter(|last| last.to.is_none()).map(|last| last.doing);
        assert_eq!(doing, chart.start.and_then(|_| Doing::of(node, run)), "{bar:?} {node:?}");
        // A slot is given back before a question, a lock before the next attempt.
        let ends = |by: &StartCause| matches!(by, StartCause::Source | StartCause::Turn);
        let over = |after: &After| run.node(&after.node).is_some_and(|node| node.state.has_ended() || !ends(&after.by));
        assert!(bar.after.as_ref().is_none_or(over), "{bar:?}");
    }
}

/// The chain is a tree that begins with the node itself, tells each node once, and ends where something other than nodes is in the way.
fn check_why(run: &Run, id: &NodeId, node: &NodeRun) {
    let why = run.why(id);
    assert_eq!(why.first().map(|link| (&link.node, link.depth)), Some((id, 0)));
    for pair in why.windows(2) {
        assert!((1..=pair[0].depth + 1).contains(&pair[1].depth), "{why:?}");
    }
    let named: BTreeSet<&NodeId> = why.iter().map(|link| &link.node).collect();
    assert_eq!(named.len(), why.len(), "each node once: {why:?}");
    let ends = why.iter().any(|link| !matches!(link.obstacle, Obstacle::Nodes));
    let idle = node.state.has_ended() || run.outcome().is_some();
    assert!(idle || ends, "{why:?}");
}

#[test]
fn a_bar_tells_waiting_from_work_and_the_critical_path_is_what_really_held_up() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[]), agent("c", &["a", "b"]), agent("d", &["a"])]));
    at(&mut world, 1_010).done("a", json!(1));
    at(&mut world, 1_020).fail("d", ErrorKind::NothingBegan);
    at(&mut world, 1_030).done("b", json!(1));
    at(&mut world, 1_050).due("d", TimerKind::Retry);
    at(&mut world, 1_055).done("d", json!(1));
    assert_eq!(bars(&world)[2], "c inputs 0-30, working 30-…");
    at(&mut world, 1_070).done("c", json!(1));
    let expected =
        ["a working 0-10", "b working 0-30", "c inputs 0-30, working 30-70", "d inputs 0-10, working 10-20, resting 20-50, working 50-55"];
    assert_eq!(bars(&world), expected);
    let chart = chart(&world);
    assert_eq!(chart.critical, ["b".into(), "c".into()]);
    assert_eq!((chart.makespan_ms, chart.bound_ms), (70, 70));
    assert_eq!(afters(&chart), ["c after b", "d after a"]);
}

#[test]
fn work_that_broke_off_ends_with_the_last_event_and_is_no_part_of_the_work_that_follows() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[])]));
    at(&mut world, 1_010).fact("a", WorkerFact::Output("so far".into()));
    let mut branch = World { run: world.run.clone(), records: world.records.clone(), ..World::new(plan(vec![])) };
    at(&mut branch, 60_000).step(Input::Branch { from: RunId("run".into()), from_seq: world.run.last_seq(), by: me() });
    at(&mut world, 60_000).step(Input::Recover { by: me() });
    for world in [&mut world, &mut branch] {
        assert_eq!(bars(world)[0], "a working 0-10, held 10-59000, working 59000-…");
        at(world, 60_500).done("a", json!(1));
        assert_eq!(world.node("a").work_ms(), Some(500));
        world.act(Action::Override { node: "b".into(), value: json!(2) });
        assert_eq!((world.state("b"), world.node("b").work_ms()), ("succeeded", None), "nobody worked at what a person gave");
        assert_eq!(Comparison::new(&world.run, &world.run).left.work_ms, Some(500));
    }
}

#[test]
fn waiting_for_people_and_slots_is_no_part_of_the_lower_bound() {
    let one_slot = RunSettings { slots: 1, ..settings() };
    let mut asks = agent("asks", &[]);
    asks.policy.approve = Some(Approve::Before);
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[]), asks]), one_slot);
    at(&mut world, 1_010).done("a", json!(1));
    at(&mut world, 1_015).done("b", json!(1));
    at(&mut world, 1_100).decide(1, GateReply::Approve);
    at(&mut world, 1_120).done("asks", json!(1));
    assert_eq!(bars(&world), ["a working 0-10", "b slot 0-10, working 10-15", "asks gate 0-100, working 100-120"]);
    let chart = chart(&world);
    assert_eq!((chart.makespan_ms, chart.bound_ms, chart.critical), (120, 20, vec!["asks".into()]));
    assert_eq!(chart.bars[2].spent(Doing::Gate, chart.end), 100);
}

pub(super) fn locked(id: &str, locks: &[&str], deps: &[&str]) -> Node {
    let mut node = agent(id, deps);
    node.policy.locks = Some(locks.iter().map(|lock| (*lock).to_owned()).collect());
    node
}

#[test]
fn the_critical_path_goes_over_who_gave_back_the_slot_or_the_lock() {
    let one_slot = || RunSettings { slots: 1, ..settings() };
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), one_slot());
    at(&mut world, 1_010).done("a", json!(1));
    at(&mut world, 1_025).done("b", json!(1));
    let slots = chart(&world);
    assert_eq!((slots.critical.as_slice(), slots.makespan_ms, slots.bound_ms), (["a", "b"].map(NodeId::from).as_slice(), 25, 15));
    assert_eq!(afters(&slots), ["b after a, which freed a slot"]);
    assert_eq!(serde_json::to_value(&slots.bars[1].after).unwrap(), json!({"node": "a", "by": "slot"}));

    let mut world = World::new(plan(vec![locked("p", &["db"], &[]), locked("q", &["db"], &["s"]), agent("s", &[]), agent("t", &["q"])]));
    at(&mut world, 1_005).done("s", json!(1));
    at(&mut world, 1_010).done("p", json!(1));
    at(&mut world, 1_030).done("q", json!(1));
    at(&mut world, 1_035).done("t", json!(1));
    let locks = chart(&world);
    assert_eq!(locks.critical, ["p", "q", "t"].map(NodeId::from));
    assert_eq!(afters(&locks), ["q after p, which freed lock `db`", "t after q"]);
    assert_eq!((locks.makespan_ms, locks.bound_ms), (35, 30));

    // A source that ended at the moment when the lock came free is what it waited for.
    let mut world = World::new(plan(vec![locked("p", &["db"], &[]), locked("q", &["db"], &["s"]), agent("s", &[])]));
    at(&mut world, 1_005).done("p", json!(1));
    at(&mut world, 1_010).done("s", json!(1));
    at(&mut world, 1_020).done("q", json!(1));
    assert_eq!((afters(&chart(&world)), chart(&world).critical), (vec!["q after s".to_owned()], ["s", "q"].map(NodeId::from).to_vec()));
}

#[test]
fn a_slot_that_is_given_back_in_the_middle_of_work_lets_others_in() {
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), RunSettings { slots: 1, ..settings() });
    at(&mut world, 1_010).ask("a", "1", "write", json!({"path": "x"}), Verdict::Ask);
    at(&mut world, 1_030).decide(1, GateReply::Approve);
    at(&mut world, 1_040).done("b", json!(1));
    assert_eq!(afters(&chart(&world)), ["b after a, which freed a slot"]);
    assert_eq!(chart(&world).critical, ["a".into()], "it is still at work");
    at(&mut world, 1_050).done("a", json!(1));
    assert_eq!(chart(&world).critical, ["a".into()]);
}

#[test]
fn the_critical_path_leads_out_of_plans_inside_and_into_them_and_ends_where_somebody_began_anew() {
    let document = json!({"nodes": [
        {"id": "each", "over": "[1, 2]", "body": {"nodes": [{"id": "w", "agent": "worker", "objective": "{{item}}"}]}},
        {"id": "z", "agent": "worker", "objective": "z"},
        {"id": "y", "agent": "worker", "objective": "y", "depends_on": ["z"]}
    ]});
    let mut world = World::with(read(document), RunSettings { slots: 1, ..settings() });
    for now in [1_010, 1_020, 1_030, 1_040] {
        let works =
            world.run.nodes().find(|(id, node)| node.state == NodeState::Running && node.inside.nodes == 0 && id.as_str() != "each");
        let id = works.unwrap().0.clone();
        at(&mut world, now).done(&id, json!(1));
    }
    let whole = chart(&world);
    assert_eq!(whole.critical.len(), 5, "all took turns: {:?}", whole.critical);
    assert_eq!((whole.makespan_ms, whole.bound_ms), (40, 20));
    let place = |id: &str| whole.critical.iter().position(|node| node.as_str() == id).unwrap();
    assert!(place("each") < place("each[0]/w") && place("each") < place("each[1]/w"));
    // The one that let others in works again, after all of them.
    at(&mut world, 1_050).act(Action::Rerun { node: "z".into(), scope: RerunReach::Alone });
    at(&mut world, 1_060).done("z", json!(2));
    check_views(&world);
    assert_eq!(chart(&world).critical.last(), Some(&"z".into()));
}

#[test]
fn a_node_keeps_bar_and_text_and_answers_under_its_new_name_and_a_replay_shows_the_old_one() {
    let gated = |id: &str, deps: &[&str]| {
        let mut node = agent(id, deps);
        node.policy.approve = Some(Approve::Before);
        node
    };
    let mut world = World::with(
        plan(vec![agent("one", &[]), gated("two", &["one"]), agent("c", &[]), gated("open", &[])]),
        RunSettings { slots: 1, ..settings() },
    );
    world.fact("one", WorkerFact::Log("picked".into()));
    at(&mut world, 1_010).done("one", json!("apples"));
    world.decide(2, GateReply::Approve);
    at(&mut world, 1_020).done("c", json!(1));
    at(&mut world, 1_030).done("two", json!("pie"));
    let known = |world: &World, ids: [&str; 3]| {
        let mut transcript = Transcript::default();
        world.records.iter().for_each(|record| transcript.fold(record));
        let traced = |id: &str| world.run.trace(&id.into(), &transcript).unwrap().steps[0].approvals.len();
        (bars(world), afters(&chart(world)), chart(world).critical, ids.map(|id| (transcript.entries(&id.into()).to_vec(), traced(id))))
    };
    let before = known(&world, ["one", "two", "c"]);
    let old = world.records.clone();
    let swap = |from: &str, to: &str| edit::Edit::RenameNode { from: from.into(), to: to.into() };
    world.act(Action::Edit { edits: vec![swap("one", "aside"), swap("two", "one"), swap("aside", "two")] });
    let after = known(&world, ["two", "one", "c"]);
    let swapped = |text: &str| {
        let word = |word: &str| match word.trim_end_matches(',') {
            "one" => word.replace("one", "two"),
            "two" => word.replace("two", "one"),
            _ => word.to_owned(),
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(after.0, before.0.iter().map(|bar| swapped(bar)).collect::<Vec<_>>());
    assert_eq!(after.1, before.1.iter().map(|words| swapped(words)).collect::<Vec<_>>());
    assert_eq!(after.2, before.2.iter().map(|node| NodeId::new(swapped(node))).collect::<Vec<_>>());
    assert_eq!(after.3, before.3, "what it said, and who was asked about it");
    assert!(!before.3[0].0.is_empty() && before.3[1].1 == 1);
    let (timeline, run) = Timeline::replay(&old);
    let names: Vec<NodeId> = timeline.chart(&run, Time(world.now)).bars.into_iter().map(|bar| bar.node).collect();
    assert_eq!(names, ["one", "two", "c", "open"].map(NodeId::from), "as it was called then");
    world.command(Command::Undo);
    assert_eq!(known(&world, ["one", "two", "c"]), before, "taken back, all of it");
}

#[test]
fn what_runs_inside_of_nodes_has_bars_of_its_own_and_is_on_the_critical_path() {
    let mut world = World::new(read(json!({"nodes": [
        {"id": "grow", "until": "w.result == 2", "max_iterations": 5, "body": {"nodes": [
            {"id": "w", "agent": "worker", "objective": "{{previous}}"}, {"id": "x", "agent": "worker", "objective": "x"}
        ]}},
        {"id": "z", "agent": "worker", "objective": "{{grow}}", "depends_on": ["grow"]}
    ]})));
    at(&mut world, 1_005).done("grow[1]/x", json!(1));
    at(&mut world, 1_010).done("grow[1]/w", json!(1));
    at(&mut world, 1_015).done("grow[2]/w", json!(2));
    at(&mut world, 1_017).done("grow[2]/x", json!(1));
    at(&mut world, 1_030).done("z", json!(1));
    let chart = chart(&world);
    assert_eq!(chart.critical, ["grow", "grow[1]/w", "grow[2]/x", "z"].map(NodeId::from));
    assert_eq!((chart.makespan_ms, chart.bound_ms), (30, 30));
    assert_eq!(bars(&world)[0..2], ["grow working 0-17", "grow[1]/w working 0-10"]);
}

#[test]
fn work_of_a_node_that_was_skipped_when_it_ran_again_is_no_part_of_the_lower_bound() {
    let mut guarded = agent("b", &["a"]);
    guarded.policy.when = Some("a > 0".into());
    let mut world = World::new(plan(vec![agent("a", &[]), guarded]));
    for (now, id, result) in [(1_100, "a", 1), (1_600, "b", 2)] {
        at(&mut world, now).done(id, json!(result));
    }
    assert_eq!(chart(&world).bound_ms, 600);
    world.act(Action::Rerun { node: "a".into(), scope: RerunReach::Downstream });
    at(&mut world, 1_900).done("a", json!(0));
    assert_eq!((world.state("b"), chart(&world).bound_ms), ("skipped", 300));
}

#[test]
fn a_bar_shows_at_once_a_pause_however_it_came_and_an_action_looks_at_no_more_nodes_than_it_names() {
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[]), agent("c", &[])]), RunSettings { slots: 1, ..settings() });
    let doing = |world: &World, id: &str| {
        let (timeline, _) = Timeline::replay(&world.records);
        timeline.stretches(&id.into()).last().map(|last| last.doing)
    };
    world.now += 1;
    world.act(Action::RunTo { node: "b".into() });
    assert_eq!((world.run.pace(), doing(&world, "c")), (Pace::Pausing, Some(Doing::Held)), "`b` stands at its start");
    world.now += 1;
    world.act(Action::Resume);
    assert_eq!((doing(&world, "b"), doing(&world, "c")), (Some(Doing::Slot), Some(Doing::Slot)));
    world.now += 1;
    world.act(Action::Hold { target: on("b") });
    assert_eq!((doing(&world, "b"), doing(&world, "c")), (Some(Doing::Held), Some(Doing::Slot)));
    world.now += 1;
    world.command(Command::Undo);
    assert_eq!(doing(&world, "b"), Some(Doing::Slot));
    check_views(&world);
}

#[test]
fn a_pause_and_a_hold_show_in_the_bars_of_those_that_could_start() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
    at(&mut world, 1_010).act(Action::Pause);
    at(&mut world, 1_020).done("a", json!(1));
    at(&mut world, 1_030).act(Action::Hold { target: ActionTarget::Node("c".into()) });
    at(&mut world, 1_040).act(Action::Resume);
    assert_eq!(bars(&world), ["a working 0-20", "b inputs 0-20, held 20-40, working 40-…", "c inputs 0-20, held 20-…"]);
    at(&mut world, 1_050).act(Action::Release { target: ActionTarget::Node("c".into()) });
    assert_eq!(bars(&world)[2], "c inputs 0-20, held 20-50, working 50-…");
}

#[test]
fn two_runs_are_compared_by_what_became_of_each_node() {
    let run = |last: &str, result: Value, nodes: Vec<Node>| {
        let mut world = World::new(plan(nodes));
        at(&mut world, 1_010).done("a", json!("same"));
        at(&mut world, 1_030).done("b", result);
        world.fail(last, ErrorKind::Permanent);
        world.run
    };
    let nodes = || vec![agent("a", &[]), agent("b", &["a"])];
    let left = run("c", json!(1), [nodes(), vec![agent("c", &[]), agent("old", &["c"])]].concat());
    let right = run("d", json!(2), [nodes(), vec![agent("d", &[]), agent("c", &[])]].concat());
    let compared = Comparison::new(&left, &right);
    let changes: Vec<(&str, ResultChange)> = compared.nodes.iter().map(|versus| (&*versus.node, versus.change)).collect();
    let expected = [
        ("a", ResultChange::Same),
        ("b", ResultChange::Result),
        ("c", ResultChange::State),
        ("old", ResultChange::Removed),
        ("d", ResultChange::Added),
    ];
    assert_eq!(changes, expected);
    let b = &compared.nodes[1];
    assert_eq!(b.left.as_ref().and_then(|side| side.took.work_ms), Some(20));
    assert_eq!(b.right.as_ref().and_then(|side| side.result.as_deref().cloned()), Some(json!(2)));
    assert_eq!((compared.left.elapsed_ms, compared.right.elapsed_ms), (Some(30), None), "the second run goes on");
    assert_eq!((compared.left.work_ms, compared.right.work_ms), (Some(60), None), "nodes at work side by side count twice");
    assert_eq!(Comparison::new(&left, &left).changed().count(), 0);
}

#[test]
fn a_node_that_runs_again_waits_and_works_again_in_its_bar() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    at(&mut world, 1_010).done("a", json!(1));
    at(&mut world, 1_020).done("b", json!(1));
    at(&mut world, 1_100).act(Action::Rerun { node: "a".into(), scope: RerunReach::Downstream });
    at(&mut world, 1_130).done("a", json!(2));
    at(&mut world, 1_135).done("b", json!(2));
    let again = ["a working 0-10, working 100-130", "b inputs 0-10, working 10-20, inputs 100-130, working 130-135"];
    assert_eq!(bars(&world), again);
    let chart = chart(&world);
    assert_eq!(chart.bars[1].stretches.iter().map(|stretch| stretch.generation).collect::<Vec<_>>(), [1, 1, 2, 2]);
    assert_eq!((chart.makespan_ms, chart.bound_ms, chart.critical), (135, 35, vec!["a".into(), "b".into()]));
    let trace = trace(&world, "b");
    assert_eq!((trace.steps[0].made.generation, trace.steps[1].result.as_deref()), (2, Some("2")));
}

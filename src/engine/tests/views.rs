//! The folds for views: bars against time, and where results came from.

use super::kit::*;
use crate::engine::{RerunReach, *};
use crate::plan::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

fn at(world: &mut World, now: u64) -> &mut World {
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

fn locked(id: &str, locks: &[&str], deps: &[&str]) -> Node {
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

fn came(trace: &Trace) -> Vec<String> {
    let row = |row: &TraceRow| {
        let step = trace.step(row).unwrap();
        let how = row.came.as_ref().map_or("", |came| came.how.label());
        let again = if row.again { " again" } else { "" };
        format!("{}{} {how}{again}", "  ".repeat(row.depth), step.node).trim_end().to_owned()
    };
    trace.rows.iter().map(row).collect()
}

fn trace(world: &World, id: &str) -> Trace {
    let mut transcript = Transcript::default();
    world.records.iter().for_each(|record| transcript.fold(record));
    world.run.trace(&id.into(), &transcript).unwrap()
}

#[test]
fn a_result_is_traced_to_its_roots_with_each_node_once() {
    let mut world = World::new(read(json!({"inputs": {"city": "Oslo"}, "nodes": [
        {"id": "a", "value": "{{inputs.city}}"},
        {"id": "b", "agent": "worker", "objective": "x", "depends_on": ["a"]},
        {"id": "gone", "agent": "worker", "objective": "x", "depends_on": ["b"], "skip_if": "true"},
        {"id": "c", "merge": {}, "depends_on": ["a", "gone"]},
        {"id": "d", "tool": "write", "args": {"path": "{{a}}"}, "depends_on": ["c"]},
        {"id": "beside", "value": 1}
    ]})));
    let report = ToolReport {
        ok: true,
        value: json!("found"),
        sources: vec![DataSource { kind: "web".into(), identifier: "https://example.org".into(), query: None }],
        ..ToolReport::default()
    };
    world.ask("b", "1", "read", json!({"path": "p"}), Verdict::Allow);
    world.fact("b", WorkerFact::ToolDone { call: "1".into(), report });
    let call = |model: &str| ModelCall {
        model: model.into(),
        provider: "p".into(),
        usage: TokenUsage::of(3, 2),
        estimated: false,
        cost_usd: Some(0.5),
        duration_ms: 1,
        finish: "stop".into(),
    };
    world.fact("b", WorkerFact::ModelCalled(call("m1")));
    world.fact("b", WorkerFact::ModelCalled(call("m2")));
    world.done("b", json!("fine"));
    world.decide(1, GateReply::Approve);
    world.done("d", json!("written"));
    let trace = trace(&world, "d");
    assert_eq!(
        came(&trace),
        [
            "d",
            "  c as a dependency",
            "    a as a dependency",
            "    b as a dependency",
            "      a as a dependency again",
            "  a named in its text again"
        ]
    );
    let step = |id: &str| trace.steps.iter().find(|step| *step.node == *id).unwrap();
    assert_eq!(step("c").came[1].through.as_deref(), Some("gone"));
    assert_eq!(step("a").inputs, ["city"]);
    let b = step("b");
    assert_eq!((b.made.by.as_str(), b.made.models.join(" "), b.made.tokens.total(), b.made.cost_usd), ("worker", "m1 m2".into(), 10, 1.0));
    assert_eq!((b.calls[0].tool.as_str(), b.calls[0].result.as_deref(), b.calls[0].ok), ("read", Some("found"), Some(true)));
    assert_eq!(b.sources[0].identifier, "https://example.org");
    let approval = &step("d").approvals[0];
    assert_eq!((approval.about.as_str(), approval.decision, approval.by.as_ref()), ("before", Some("approved"), Some(&me())));
    assert_eq!(step("d").result.as_deref(), Some("written"));
}

#[test]
fn a_trace_says_of_a_void_question_by_what_it_was_void() {
    let gated = |id: &str, deps: &[&str]| {
        let mut node = agent(id, deps);
        node.policy.approve = Some(Approve::Before);
        node
    };
    let mut world = World::new(plan(vec![agent("a", &[]), gated("b", &["a"]), gated("c", &["a"]), gated("d", &["a"])]));
    world.done("a", json!(1));
    let asked = |world: &World, id: &str| trace(world, id).steps[0].approvals.iter().map(Approval::label).collect::<Vec<_>>();
    assert_eq!(asked(&world, "b"), ["not answered yet"]);
    world.act(Action::Cancel { target: ActionTarget::Node("c".into()) });
    world.act(Action::Skip { node: "d".into() });
    assert_eq!(
        (asked(&world, "c"), asked(&world, "d")),
        (vec!["closed: cancelled by anna".into()], vec!["closed: skipped by anna".into()])
    );
    world.act(Action::Rerun { node: "a".into(), scope: RerunReach::Downstream });
    world.done("a", json!(2));
    world.decide(4, GateReply::Approve);
    let again = "closed: somebody asked to rerun `a` with what depends on it, so the node runs again";
    assert_eq!(asked(&world, "b"), [again, "approved by anna"]);
    let shown = serde_json::to_value(&trace(&world, "b").steps[0].approvals).unwrap();
    assert_eq!((shown[0]["voided"].as_str().map(str::len), shown[1].get("voided")), (Some(again.len() - "closed: ".len()), None));
}

#[test]
fn a_trace_goes_into_plans_inside_and_out_of_them_by_what_they_were_given() {
    let world = World::new(read(json!({"nodes": [
        {"id": "list", "value": [1]},
        {"id": "style", "value": "s"},
        {"id": "each", "over": "list", "depends_on": ["list", "style"], "inputs": {"style": "{{style}}"}, "body": {"nodes": [
            {"id": "w", "value": "{{item}} {{style}}"}
        ]}},
        {"id": "grow", "depends_on": ["each"], "until": "t.result == 'xx'", "max_iterations": 5, "body": {"nodes": [
            {"id": "t", "value": "{{ (previous or '') ~ 'x' }}"}
        ]}}
    ]})));
    let expected = [
        "grow",
        "  each as a dependency",
        "    list as a dependency",
        "    style as a dependency",
        "    each[0]/w from inside",
        "      list as an input again",
        "      style as an input again",
        "  grow[2]/t from inside",
        "    grow[1]/t from the turn before",
    ];
    assert_eq!(came(&trace(&world, "grow")), expected);
}

#[test]
fn why_tells_the_whole_chain_with_every_branch_of_it_and_what_people_can_do_first() {
    let locked = |id: &str| {
        let mut node = agent(id, &[]);
        node.policy.locks = Some(vec!["db".into()]);
        node
    };
    let mut asks = agent("asks", &[]);
    asks.policy.approve = Some(Approve::Before);
    let nodes = vec![locked("holds"), locked("waits"), asks, agent("flaky", &[]), agent("mid", &["holds", "waits", "asks"])];
    let mut world = World::new(plan([nodes, vec![agent("end", &["flaky", "mid", "asks"])]].concat()));
    world.fail("flaky", ErrorKind::NothingBegan);
    let NodeState::Retrying { until } = world.node("flaky").state else { panic!("it retries") };
    let expected = [
        "`end` waits for `flaky`, `mid`, `asks`".to_string(),
        "  `asks` waits for a reply to gate 1: the plan asks before this node starts".into(),
        format!("  `flaky` will be retried at {}: it broke", crate::text::clock(until.0)),
        "  `mid` waits for `holds`, `waits`, `asks`".into(),
        "    `waits` is held: waits for lock `db`, which `holds` holds".into(),
        "      `holds` is running".into(),
    ];
    assert_eq!(world.why("end"), expected, "{}", world.reason("asks"));
    let links = world.run.why(&"end".into());
    let obstacles: Vec<Obstacle> = links.iter().map(|link| link.obstacle).collect();
    let expected =
        [Obstacle::Nodes, Obstacle::Gate { gate: GateId(1) }, Obstacle::Retry { until }, Obstacle::Nodes, Obstacle::Lock, Obstacle::Work];
    assert_eq!(obstacles, expected);
    assert_eq!(serde_json::to_value(&links[1]).unwrap()["waits_for"], "gate");
    assert_eq!(world.run.why(&"nobody".into()), []);
}

#[test]
fn why_names_who_has_the_slots_and_the_locks() {
    let settings = RunSettings { slots: 7, ..settings() };
    let ids: Vec<String> = (1..=9).map(|n| format!("n{n}")).collect();
    let mut world = World::with(plan(ids.iter().map(|id| agent(id, &[])).collect()), settings);
    let names = "`n1`, `n2`, `n3`, `n4`, `n5` and 2 more";
    let shown = world.why("n8");
    assert_eq!(shown[0], format!("`n8` is ready and waits for a free slot (7 of 7 in use: {names})"));
    assert_eq!(shown[1..], ["n1", "n2", "n3", "n4", "n5"].map(|id| format!("  `{id}` is running")), "a bounded list");
    at(&mut world, 1_010).done("n1", json!(1));
    at(&mut world, 1_020).ask("n2", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.state("n9"), "running");
    world.decide(1, GateReply::Approve);
    let shown = world.why("n2");
    let names = "`n3`, `n4`, `n5`, `n6`, `n7` and 2 more";
    assert_eq!(shown[0], format!("`n2` has its answers and waits for a free slot (7 of 7 in use: {names})"), "oldest work first");
    assert_eq!(world.run.why(&"n2".into())[0].obstacle, Obstacle::Slot);

    let mut world =
        World::new(plan(vec![locked("a", &["x"], &[]), locked("b", &["y"], &[]), locked("c", &["x", "y"], &[]), locked("d", &["x"], &[])]));
    let both = "`c` is held: waits for lock `x`, which `a` holds, and for lock `y`, which `b` holds";
    assert_eq!(world.why("c"), [both, "  `a` is running", "  `b` is running"]);
    world.done("b", json!(1));
    assert_eq!(world.why("c"), ["`c` is held: waits for lock `x`, which `a` holds", "  `a` is running"]);
    world.done("a", json!(1));
    assert_eq!(world.why("d"), ["`d` is held: waits for lock `x`, which `c` holds", "  `c` is running"], "who has it now");
}

#[test]
fn why_tells_pauses_holds_breakpoints_and_what_has_not_begun() {
    let mut world = World::new(read(json!({"nodes": [
        {"id": "a", "agent": "worker", "objective": "o"},
        {"id": "b", "agent": "worker", "objective": "o", "depends_on": ["a"]},
        {"id": "outer", "depends_on": ["b"], "plan": {"nodes": [{"id": "in", "value": 1}]}}
    ]})));
    world.act(Action::Hold { target: ActionTarget::Node("b".into()) });
    assert_eq!(world.why("b"), ["`b` waits for `a`, then held by anna", "  `a` is running"]);
    world.act(Action::Break { point: Breakpoint { at: Moment::Before, node: Some("outer".into()), when: None, disabled: false } });
    world.done("a", json!(1));
    assert_eq!(world.why("b"), ["`b` is held: held by anna"]);
    let chain =
        ["`outer/in` runs inside `outer`, which has not reached it yet", "  `outer` waits for `b`", "    `b` is held: held by anna"];
    assert_eq!(world.why("outer/in"), chain);
    world.act(Action::Pause);
    world.act(Action::Release { target: ActionTarget::Node("b".into()) });
    assert_eq!(world.why("b"), ["`b` is ready, and the run is paused"]);
    let link = |world: &World, id: &str| world.run.why(&id.into()).first().map(|link| link.obstacle);
    assert_eq!(link(&world, "b"), Some(Obstacle::Pause));
    world.act(Action::Resume);
    world.done("b", json!(1));
    assert_eq!(link(&world, "outer"), Some(Obstacle::Breakpoint), "{:?}", world.why("outer"));
}

#[test]
fn who_was_answered_and_waits_for_a_slot_waits_for_no_person() {
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), RunSettings { slots: 1, ..settings() });
    world.ask("a", "t", "write", json!({"path": "x"}), Verdict::Ask);
    world.decide(1, GateReply::Approve);
    let links = world.run.why(&"a".into());
    assert_eq!(
        (links[0].sentence.as_str(), links[0].obstacle),
        ("`a` has its answers and waits for a free slot (1 of 1 in use: `b`)", Obstacle::Slot)
    );
}

#[test]
fn who_waited_for_a_lock_that_came_free_in_a_paused_run_waits_for_its_end() {
    let locked = |id: &str| {
        let mut node = agent(id, &[]);
        node.policy.locks = Some(vec!["db".into()]);
        node
    };
    let mut world = World::new(plan(vec![locked("a"), locked("b")]));
    assert_eq!(world.why("b"), ["`b` is held: waits for lock `db`, which `a` holds", "  `a` is running"]);
    world.act(Action::Pause);
    let both = "the run is paused, and it waits for lock `db`, which `a` holds";
    assert_eq!(world.why("b"), [format!("`b` is held: {both}"), "  `a` is running".into()]);
    assert_eq!(world.run.reason(&"b".into()), both);
    assert_eq!(world.run.why(&"b".into())[0].obstacle, Obstacle::Pause);
    world.done("a", json!(1));
    assert_eq!(world.run.reason(&"b".into()), "the run is paused");
    assert_eq!(world.why("b"), ["`b` is ready, and the run is paused"]);
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

//! Where a result comes from, and why a node is not running: trace and why.

use super::kit::*;
use super::views::{at, locked, read};
use crate::engine::{RerunReach, *};
use crate::plan::*;
use serde_json::json;

fn came(trace: &Trace) -> Vec<String> {
    let row = |row: &TraceRow| {
        let step = trace.step(row).unwrap();
        let how = row.came.as_ref().map_or("", |came| came.how.label());
        let again = if row.again { " again" } else { "" };
        format!("{}{} {how}{again}", "  ".repeat(row.depth), step.node).trim_end().to_owned()
    };
    trace.rows.iter().map(row).collect()
}

pub(super) fn trace(world: &World, id: &str) -> Trace {
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
        id: String::new(),
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
    let again = "closed: the node runs again (rerun `a` with what depends on it)";
    assert_eq!(asked(&world, "b"), [again, "approved by anna"]);
    let shown = serde_json::to_value(&trace(&world, "b").steps[0].approvals).unwrap();
    assert_eq!((shown[0]["voided"].as_str().map(str::len), shown[1].get("voided")), (Some(again.len() - "closed: ".len()), None));
    world.act(Action::Rerun { node: "b".into(), scope: RerunReach::Downstream });
    assert_eq!(asked(&world, "b"), [again, "approved by anna, for an earlier generation", "not answered yet"]);
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
    assert_eq!(world.why("b"), ["`b` waits for `a`; then it stays held by anna", "  `a` is running"]);
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
fn why_names_every_failed_source_that_has_a_node_skipped() {
    let agents = ["a", "b", "c"].map(|id| agent(id, &[]));
    let mut world = World::new(plan(agents.into_iter().chain([transform("d", json!("{{a}}"), &["a", "b", "c"])]).collect()));
    for id in ["a", "b", "c"] {
        world.fail(id, ErrorKind::Permanent);
    }
    let all = "`a` failed, `b` failed, `c` failed";
    assert_eq!((world.why("d")[0].as_str(), world.run.reason(&"d".into())), (format!("`d` was skipped: {all}").as_str(), all.to_owned()));
    assert_eq!(world.why("d")[1..], ["a", "b", "c"].map(|id| format!("  `{id}` failed: it broke")));
    assert_eq!(trace(&world, "d").steps[0].came, [], "what never began used nothing");
}

#[test]
fn what_a_run_did_is_counted_in_each_try_of_each_generation() {
    let mut world = World::new(plan(vec![agent("b", &[])]));
    for (ok, path) in [(false, "a.txt"), (true, "b.txt")] {
        world.ask("b", "1", "run_command", json!({"command": "x"}), Verdict::Allow);
        let files = vec![FileAccess { path: path.into(), operation: "write".into(), content_preview: None }];
        world.fact("b", WorkerFact::ToolDone { call: "1".into(), report: ToolReport { ok, files, ..ToolReport::default() } });
        world.fail("b", ErrorKind::Permanent);
        world.act(Action::Rerun { node: "b".into(), scope: RerunReach::Downstream });
    }
    let lines = world.run.changes().lines();
    assert_eq!(lines[..2], [("wrote", "a.txt, b.txt".to_owned()), ("ran", "2 commands, which may have changed more".to_owned())]);
}

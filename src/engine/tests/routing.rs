//! Tokens, joins, routes, guards and outcomes, as tables.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::json;

/// The state of a node with these incoming edges: `P` for a plain one, `A` for an alternative; `+` taken, `-` dead, `?` undecided.
fn joined(join: Option<Join>, edges: &str) -> &'static str {
    let mut target = agent("t", &[]);
    target.policy.join = join;
    let mut doc = plan(Vec::new());
    for (at, edge_as) in edges.split(' ').enumerate() {
        let id = format!("s{at}");
        doc.nodes.push(agent(&id, &[]));
        match edge_as.as_bytes()[0] {
            b'P' => target.depends_on.push(id.as_str().into()),
            _ => doc.edges.push(edge(&id, "t", &format!("{id}.ok"))),
        }
    }
    doc.nodes.push(target);
    let mut world = World::new(doc);
    for (at, edge_as) in edges.split(' ').enumerate() {
        let id = format!("s{at}");
        match edge_as {
            "P-" => drop(world.fail(&id, ErrorKind::Permanent)),
            "A-" => drop(world.done(&id, json!({"ok": false}))),
            "P+" | "A+" => drop(world.done(&id, json!({"ok": true}))),
            _ => {}
        }
    }
    world.state("t")
}

#[test]
fn each_join_starts_skips_and_waits_as_its_table_says() {
    for (join, edges, wanted) in [
        (None, "P+ P+", "running"),
        (None, "P+ P-", "skipped"),
        (None, "P+ P?", "pending"),
        (None, "P- P?", "skipped"),
        (None, "A+ A-", "running"),
        (None, "A- A-", "skipped"),
        (None, "A+ A?", "pending"),
        (None, "P+ A-", "running"),
        (None, "P+ A+", "running"),
        (None, "P- A+", "skipped"),
        (None, "P+ A?", "pending"),
        (Some(Join::All), "A+ A+", "running"),
        (Some(Join::All), "A+ A-", "skipped"),
        (Some(Join::All), "P+ A-", "skipped"),
        (Some(Join::All), "P+ P?", "pending"),
        (Some(Join::All), "P- P?", "skipped"),
        (Some(Join::Settled), "P+ P-", "running"),
        (Some(Join::Settled), "P- P-", "skipped"),
        (Some(Join::Settled), "P+ P?", "pending"),
        (Some(Join::Settled), "P- P?", "pending"),
        (Some(Join::Any), "P+ P?", "running"),
        (Some(Join::Any), "P- P?", "pending"),
        (Some(Join::Any), "P- A+", "running"),
        (Some(Join::Any), "P- P-", "skipped"),
        (Some(Join::Always), "P- P-", "running"),
        (Some(Join::Always), "A- P+", "running"),
        (Some(Join::Always), "P- P?", "pending"),
    ] {
        assert_eq!(joined(join, edges), wanted, "{join:?} over {edges}");
    }
}

#[test]
fn a_route_takes_every_edge_that_holds_or_the_first_and_its_default_when_none_does() {
    let states = |route: Route, n: i32| {
        let mut source = agent("a", &[]);
        source.policy.route = Some(route);
        let mut doc = plan(vec![source, agent("b", &[]), agent("c", &[]), agent("d", &[])]);
        doc.edges = vec![edge("a", "b", "a.n > 1"), edge("a", "c", "a.n > 0"), Edge { default: true, ..Edge::new("a", "d") }];
        let mut world = World::new(doc);
        world.done("a", json!({"n": n}));
        world.states()
    };
    assert_eq!(states(Route::All, 2), "a succeeded, b running, c running, d skipped");
    assert_eq!(states(Route::All, 1), "a succeeded, b skipped, c running, d skipped");
    assert_eq!(states(Route::All, 0), "a succeeded, b skipped, c skipped, d running");
    assert_eq!(states(Route::First, 2), "a succeeded, b running, c skipped, d skipped");
    assert_eq!(states(Route::First, 1), "a succeeded, b skipped, c running, d skipped");
    assert_eq!(states(Route::First, 0), "a succeeded, b skipped, c skipped, d running");
}

#[test]
fn a_condition_that_can_not_be_compared_fails_the_source_and_keeps_its_result() {
    let mut doc = plan(vec![agent("a", &[]), agent("b", &[])]);
    doc.edges = vec![edge("a", "b", "a.n > 1")];
    let mut world = World::new(doc);
    world.done("a", json!({"n": "many"}));
    assert_eq!(world.states(), "a failed, b skipped");
    assert_eq!(world.node("a").error.as_ref().unwrap().kind, ErrorKind::Plan);
    assert_eq!(world.node("a").result.as_deref(), Some(&json!({"n": "many"})));
}

#[test]
fn guards_are_asked_in_order_and_before_any_gate() {
    let guarded = |when: &str, skip_if: &str| {
        let mut node = agent("b", &["a"]);
        (node.policy.when, node.policy.skip_if) = (Some(when.into()), Some(skip_if.into()));
        node.policy.approve = Some(Approve::Before);
        let mut world = World::new(plan(vec![agent("a", &[]), node, agent("c", &["b"])]));
        world.done("a", json!({"go": true}));
        let reason = world.reason("b");
        (world.states(), reason, world.open().len())
    };
    let states = |b: &str, c: &str| format!("a succeeded, b {b}, c {c}");
    assert_eq!(guarded("a.no", "a.go"), (states("skipped", "skipped"), "its condition doesn't hold: a.no".to_string(), 0));
    assert_eq!(guarded("a.go", "a.go"), (states("passed", "running"), "passed through: a.go".to_string(), 0));
    assert_eq!(guarded("a.go", "a.no"), (states("waiting", "pending"), "the plan asks before this node starts".to_string(), 1));
}

#[test]
fn the_reason_of_a_skipped_node_names_the_source_that_closed_its_way() {
    let mut doc = plan(vec![agent("other", &[]), agent("need", &[]), agent("t", &["need"])]);
    doc.edges = vec![edge("other", "t", "other.ok")];
    let mut world = World::new(doc);
    world.done("other", json!({"ok": false}));
    world.fail("need", ErrorKind::Permanent);
    assert_eq!(world.reason("t"), "`need` failed");
    assert_eq!(world.why("t"), ["`t` was skipped: `need` failed", "  `need` failed: it broke"]);
}

#[test]
fn conditions_behind_a_node_read_how_it_ended() {
    let mut doc = plan(vec![agent("a", &[]), agent("well", &[]), agent("badly", &[]), agent("errors", &[]), agent("passed", &[])]);
    doc.nodes[0].policy.on_failure = Some(OnFailure::Safe);
    doc.nodes[0].policy.skip_if = Some("skip".into());
    doc.edges = vec![
        edge("a", "well", "deps.a.status == 'succeeded'"),
        edge("a", "badly", "deps.a.status == 'failed_safe' and a.failed_safe"),
        edge("a", "errors", "'broke' in deps.a.error"),
        edge("a", "passed", "deps.a.status == 'passed'"),
    ];
    let taken = |world: &World| -> Vec<String> { world.started().into_iter().filter(|id| id != "a").collect() };
    let mut world = World::new(doc.clone());
    world.fail("a", ErrorKind::Permanent);
    assert_eq!(taken(&world), ["badly", "errors"]);

    let mut world = World::new(doc.clone());
    world.fail("a", ErrorKind::Transient);
    world.due("a", TimerKind::Retry);
    world.done("a", json!(1));
    assert_eq!(taken(&world), ["well"], "what an earlier attempt met is no error of a node that succeeded");
    assert_eq!(world.node("a").error, None);

    doc.inputs.insert("skip".into(), json!(true));
    assert_eq!(taken(&World::new(doc)), ["passed"]);
}

#[test]
fn a_run_ends_as_its_exits_and_its_failures_say() {
    let safe = |id: &str, deps: &[&str]| {
        let mut node = agent(id, deps);
        node.policy.on_failure = Some(OnFailure::Safe);
        node
    };
    let unless = |id: &str| {
        let mut node = agent(id, &[]);
        node.policy.when = Some("false".into());
        node
    };
    let ended = |nodes: Vec<Node>, failing: &[&str]| {
        let mut world = World::new(plan(nodes));
        while world.outcome().is_none() {
            let running = world.run.nodes().find(|(_, node)| node.state == NodeState::Running).map(|(id, _)| id.to_string());
            let id = running.expect("something runs");
            if failing.contains(&id.as_str()) {
                world.fail(&id, ErrorKind::Permanent);
            } else {
                world.done(&id, json!(1));
            }
        }
        world.outcome().unwrap()
    };
    assert_eq!(ended(vec![agent("a", &[]), agent("b", &["a"])], &["a"]), Outcome::Failed, "no exit succeeded");
    assert_eq!(ended(vec![agent("a", &[]), agent("b", &[])], &["a"]), Outcome::Partial, "one exit of two");
    assert_eq!(ended(vec![safe("a", &[]), agent("b", &["a"])], &["a"]), Outcome::Succeeded, "its consumer got the error and went on");
    assert_eq!(ended(vec![safe("a", &[])], &["a"]), Outcome::Failed, "nobody was left to get the error");
    assert_eq!(ended(vec![agent("a", &[]), unless("b")], &[]), Outcome::Succeeded, "what is routed away doesn't count");
}

#[test]
fn a_skipped_node_says_what_its_source_chose_and_what_it_needs() {
    let mut doc = plan(vec![agent("a", &[]), agent("b", &[]), agent("c", &[])]);
    doc.edges = vec![edge("a", "b", "a.n > 3"), edge("a", "c", "a.n <= 3")];
    let mut world = World::new(doc);
    world.done("a", json!({"n": 5}));
    assert_eq!(world.reason("c"), "`a` chose `a.n > 3`; this node needs `a.n <= 3`");
}

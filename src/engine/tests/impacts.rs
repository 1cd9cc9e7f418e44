//! What an action is said to change is what it then does in that step: single cases, and random plans, states and actions read from the
//! journal of the action.

use super::again_properties::action;
use super::kit::*;
use super::properties::*;
use crate::engine::{RerunReach, *};
use crate::plan::*;
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

type Changes = BTreeMap<NodeImpact, BTreeSet<NodeId>>;

fn announced(impact: &Impact) -> Changes {
    let changes = NodeImpact::all().map(|kind| (kind, impact.nodes(kind).iter().cloned().collect::<BTreeSet<_>>()));
    changes.filter(|(_, nodes)| !nodes.is_empty()).collect()
}

/// How a node's newest generation ended in these events, and whether it started there.
fn ended<'a>(events: &'a [Event], id: &NodeId) -> (bool, Option<&'a NodeFact>) {
    let facts = events.iter().filter_map(|event| match event {
        Event::Node { node_id, generation, fact } if node_id == id => Some((*generation, fact)),
        _ => None,
    });
    let facts: Vec<_> = facts.collect();
    let newest = facts.iter().map(|(generation, _)| *generation).max().unwrap_or_default();
    let own = || facts.iter().filter(|(generation, _)| *generation == newest).map(|(_, fact)| *fact);
    let is_end = |fact: &&NodeFact| {
        matches!(
            fact,
            NodeFact::Completed { .. }
                | NodeFact::Failed { .. }
                | NodeFact::Skipped { .. }
                | NodeFact::Passed { .. }
                | NodeFact::Cancelled { .. }
        )
    };
    (own().any(|fact| matches!(fact, NodeFact::Started { .. })), own().rfind(is_end))
}

/// Whether a node ended in these events before it could start.
fn is_over(events: &[Event], id: &NodeId) -> bool {
    let (started, end) = ended(events, id);
    !started && end.is_some_and(|end| !matches!(end, NodeFact::Completed { .. }))
}

/// Whether the present generation of a node may have changed something outside, by the calls in the journal.
fn acted(before: &Run, records: &[Record], id: &NodeId) -> bool {
    let (node, doc) = (before.node(id).unwrap(), before.node_doc(id).unwrap());
    let home = before.graph.nodes[before.graph.find(id).unwrap()].home;
    let is_hybrid = before.inner(home).unwrap().plan.dialect == Dialect::Hybrid;
    records.iter().any(|record| match &record.event {
        Event::Node { node_id, generation, fact: NodeFact::ToolStarted { call, .. } }
            if node_id == id && *generation == node.generation =>
        {
            let own = doc.kind.tool().map(|tool| tool.tool.as_str());
            own.unwrap_or(&call.tool) != "read" || is_hybrid && own.is_some()
        }
        _ => false,
    })
}

/// What an action did to the nodes of before, from its events: ends, starts, stops and new generations.
fn done(before: &Run, after: &Run, action: &Action, (records, events): (&[Record], &[Event])) -> Changes {
    let mut changes = Changes::new();
    let mut add = |kind, id: &NodeId| changes.entry(kind).or_default().extend([id.clone()]);
    let taken: BTreeSet<&NodeId> = events
        .iter()
        .find_map(|event| match event {
            Event::Acted { nodes, .. } if action.reopens() => Some(nodes.iter().collect()),
            _ => None,
        })
        .unwrap_or_default();
    for (id, node) in before.nodes() {
        let ix = before.graph.find(id).unwrap();
        let at_work = before.is_at_work(ix);
        let began = node.state.has_ended() || node.attempt > 0 || node.result.is_some();
        let (started, end) = ended(events, id);
        let inside_taken = before.owners(ix).any(|owner| taken.contains(&before.id_of(owner)));
        if taken.contains(id) || inside_taken {
            if at_work {
                add(NodeImpact::Stops, id);
            }
            let is_given = |id: &NodeId| matches!(action, Action::Override { node, .. } if node == id);
            let outer = before.owners(ix).map(|owner| before.id_of(owner)).filter(|owner| taken.contains(owner)).last();
            if outer.is_some_and(|outer| !is_given(&outer) && !is_over(events, &outer)) && acted(before, records, id) {
                add(NodeImpact::ActsAgain, id);
            }
            if inside_taken || is_given(id) {
                continue;
            }
            match end {
                Some(NodeFact::Skipped { .. }) if !started => (node.state != NodeState::Skipped).then(|| add(NodeImpact::Skips, id)),
                Some(NodeFact::Passed { .. }) => (node.state != NodeState::Passed).then(|| add(NodeImpact::Passes, id)),
                Some(NodeFact::Failed { safe, .. }) if !started => {
                    let state = if *safe { NodeState::FailedSafe } else { NodeState::Failed };
                    (node.state != state).then(|| add(NodeImpact::Fails, id))
                }
                _ if began => {
                    add(NodeImpact::Reruns, id);
                    acted(before, records, id).then(|| add(NodeImpact::ActsAgain, id))
                }
                _ => (started && after.node(id).unwrap().state == NodeState::Running).then(|| add(NodeImpact::Starts, id)),
            };
            continue;
        }
        match end {
            Some(NodeFact::Skipped { .. } | NodeFact::Cancelled { .. }) if at_work => add(NodeImpact::Stops, id),
            Some(NodeFact::Skipped { .. }) => add(NodeImpact::Skips, id),
            Some(NodeFact::Cancelled { .. }) => add(NodeImpact::Cancels, id),
            Some(NodeFact::Completed { mark: Some(Mark::Overridden), .. }) if at_work => add(NodeImpact::Stops, id),
            Some(NodeFact::Completed { mark: Some(Mark::Overridden), .. }) => {}
            Some(NodeFact::Completed { .. }) => add(NodeImpact::Succeeds, id),
            Some(NodeFact::Passed { .. }) => add(NodeImpact::Passes, id),
            Some(NodeFact::Failed { .. }) => add(NodeImpact::Fails, id),
            _ if started && node.state != NodeState::Running && after.node(id).unwrap().state == NodeState::Running => {
                add(NodeImpact::Starts, id);
            }
            _ => {}
        }
    }
    for event in events {
        if let Event::GateVoided { gate, .. } = event
            && let Some((gate, _)) = before.gate(*gate)
        {
            add(NodeImpact::Void, &gate.node);
        }
    }
    changes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_impact_of_an_action_is_what_it_then_does_in_that_step(
        nodes in prop::collection::vec(drawn(), 1..9),
        slots in 1_u32..4,
        draws in prop::collection::vec((any::<Draw>(), any::<Draw>()), 0..40),
        dialect in 0..10_usize,
    ) {
        let mut player = Player::new(build(&nodes, Dialect::ALL.get(dialect).copied().unwrap_or_default()), slots);
        for (draw, act) in draws {
            if player.world.outcome().is_none() {
                player.play(draw);
            }
            let action = action(&player.world.run, act);
            // What an edit does is compared in the tests of edits: it gives nodes other names.
            if matches!(action, Action::Edit { .. }) || player.world.run.refusal(&Command::act(action.clone())).is_some() {
                continue;
            }
            let before = player.world.run.clone();
            let impact = before.impact(&action, Time(player.world.now));
            let records = player.world.records.clone();
            let events = player.world.act(action.clone());
            player.take_effects();
            let run = &player.world.run;
            let told = |changes: &Changes| {
                // Holds, wraps and marks of age leave no event of their own.
                let by_state = [NodeImpact::Holds, NodeImpact::Finishes, NodeImpact::Wraps, NodeImpact::Stale];
                let is_told = |kind: &NodeImpact| !by_state.contains(kind) && kind.of().is_none() || *kind == NodeImpact::ActsAgain;
                let changes = changes.iter().filter(|(kind, _)| is_told(kind));
                changes.map(|(kind, nodes)| (*kind, nodes.clone())).collect::<Changes>()
            };
            prop_assert_eq!(told(&announced(&impact)), told(&done(&before, run, &action, (&records, &events))), "{:?}", action);
            let settled = events.iter().rev().find_map(|event| match event {
                Event::RunEnded { outcome, .. } => Some(*outcome),
                _ => None,
            });
            prop_assert_eq!(impact.ends, settled.filter(|outcome| before.outcome().is_none_or(|(was, _)| was != *outcome)));
        }
    }
}

fn lines(world: &World, action: &Action) -> Vec<String> {
    world.run.impact(action, Time(world.now)).lines().into_iter().map(|(_, line)| line.into_string()).collect()
}

fn kinds(world: &World, action: &Action) -> Vec<(NodeImpact, Vec<String>)> {
    let impact = world.run.impact(action, Time(world.now));
    let kinds = NodeImpact::all().filter(|&kind| !impact.nodes(kind).is_empty());
    kinds.map(|kind| (kind, impact.nodes(kind).iter().map(ToString::to_string).collect())).collect()
}

fn list(kind: NodeImpact, ids: &[&str]) -> (NodeImpact, Vec<String>) {
    (kind, ids.iter().map(ToString::to_string).collect())
}

#[test]
fn a_map_that_ends_inside_the_step_is_announced_as_succeeded_and_never_as_stopped() {
    let mut inner = transform("x", json!("{{item}}"), &[]);
    inner.policy.breakpoint = Some(json!(true));
    let map = NodeKind::Map(MapNode { over: "[1, 2]".into(), body: Box::new(plan(vec![inner])), max_parallel: None });
    let mut world = World::new(plan(vec![node("m", map, &[])]));
    assert_eq!((world.state("m"), world.state("m[0]/x")), ("running", "held"));
    assert_eq!(kinds(&world, &Action::Resume), [list(NodeImpact::Succeeds, &["m", "m[0]/x", "m[1]/x"])]);
    assert_eq!(world.run.impact(&Action::Resume, Time(world.now)).ends, Some(Outcome::Succeeded));
    world.act(Action::Resume);
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn a_node_that_would_be_skipped_at_once_is_announced_as_skipped_and_not_as_run_again() {
    let mut doc = plan(vec![agent("a", &[]), transform("t", json!("{{a.n}}"), &["a"]), agent("b", &["t"]), agent("c", &[])]);
    doc.edges = vec![edge("t", "c", "t > 3")];
    let mut world = World::new(doc);
    world.done("a", json!({"n": 5}));
    world.done("b", json!(1));
    world.done("c", json!(1));
    let lower = Action::Override { node: "a".into(), value: json!({"n": 1}) };
    assert_eq!(kinds(&world, &lower), [list(NodeImpact::Skips, &["c"]), list(NodeImpact::Reruns, &["t", "b"])]);
    world.act(lower);
    assert_eq!((world.state("t"), world.state("b"), world.state("c")), ("succeeded", "running", "skipped"));
}

#[test]
fn the_impact_says_which_nodes_with_effects_act_again() {
    let mut world = World::new(plan(vec![agent("a", &[]), tool("s", "save", json!({"path": "x"}), &["a"]), agent("b", &["s"])]));
    world.done("a", json!(1));
    world.ask("s", "1", "save", json!({"path": "x"}), Verdict::Allow);
    world.tool_done("s", "1", json!("saved"));
    world.done("s", json!("saved"));
    world.ask("b", "2", "save", json!({"path": "y"}), Verdict::Allow);
    world.tool_done("b", "2", json!("saved"));
    world.done("b", json!(1));
    let again = Action::Rerun { node: "a".into(), scope: RerunReach::Downstream };
    assert_eq!(kinds(&world, &again), [list(NodeImpact::Reruns, &["a", "s", "b"]), list(NodeImpact::ActsAgain, &["s", "b"])]);
    let lines = lines(&world, &again);
    assert!(lines.contains(&"may change things a second time, if the plan still leads there: s, b".to_string()), "{lines:?}");
}

#[test]
fn the_impact_says_that_a_call_which_asks_by_the_rules_asks_again() {
    let mut world = World::new(plan(vec![agent("a", &[]), tool("w", "write", json!({}), &["a"])]));
    world.done("a", json!(1));
    world.decide(1, GateReply::Approve);
    world.ask("w", "1", "write", json!({}), Verdict::Allow);
    world.tool_done("w", "1", json!(1));
    world.done("w", json!(1));
    let again = Action::Rerun { node: "a".into(), scope: RerunReach::Downstream };
    let lines = lines(&world, &again);
    let told = ["may change things a second time, if the plan still leads there: w", "asks again if the plan still leads there: w"];
    assert_eq!(lines[..2], told);
}

#[test]
fn a_cancelled_run_cancels_what_runs_while_it_runs_and_the_rest_before_it_starts() {
    let world = World::new(plan(vec![agent("build", &[]), agent("paint", &["build"])]));
    let cancel = Action::Cancel { target: ActionTarget::Run };
    let expected = ["cancels in its work: build", "cancels before it runs: paint", "ends the run: cancelled"];
    assert_eq!(lines(&world, &cancel), expected);
}

#[test]
fn a_stop_names_what_runs_to_its_end_because_it_has_nothing_to_hand_back() {
    let world = World::new(plan(vec![tool("build", "save", json!({}), &[]), agent("paint", &["build"])]));
    let stop = Action::Stop { target: ActionTarget::Run };
    assert_eq!(lines(&world, &stop), ["cancels before it runs: paint", "finishes: build"]);
}

#[test]
fn a_retry_says_that_what_never_ran_runs_and_does_not_run_again() {
    let mut world = World::new(plan(vec![agent("bad", &[]), agent("after", &["bad"])]));
    world.fail("bad", ErrorKind::Permanent);
    let retry = Action::Retry { node: "bad".into() };
    assert_eq!(lines(&world, &retry)[..2], ["runs if the plan leads there: after", "runs again: bad"]);
}

#[test]
fn a_hold_of_the_run_names_the_node_that_waits_at_a_gate_and_says_when_it_is_held() {
    let mut asks = agent("build", &[]);
    asks.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![asks, agent("paint", &["build"])]));
    let hold = Action::Hold { target: ActionTarget::Run };
    assert_eq!(lines(&world, &hold), ["holds after its gate: build", "holds: paint"]);
    world.act(hold);
    assert!(world.run.reason(&"build".into()).ends_with("; then it stays held by anna"), "{}", world.run.reason(&"build".into()));
}

#[test]
fn an_action_says_that_the_open_gate_after_it_closes_and_asks_again() {
    let mut asks = agent("b", &["a"]);
    asks.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![agent("a", &[]), asks]));
    world.done("a", json!(1));
    let given = Action::Override { node: "a".into(), value: json!(2) };
    assert_eq!(lines(&world, &given)[..2], ["asks again: b", "closes gates of: b"]);
    let again = Action::Rerun { node: "a".into(), scope: RerunReach::Downstream };
    assert_eq!(lines(&world, &again)[..3], ["asks again if the plan still leads there: b", "runs again: a", "closes gates of: b"]);
    world.act(given);
    assert_eq!((world.state("b"), world.open()), ("waiting", vec![2]));
    assert_eq!(world.voided(1).as_deref(), Some("the node runs again (override the result of `a`)"));
}

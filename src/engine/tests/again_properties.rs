//! Random actions in random plans and orders: what was counted is what is there, nothing runs before its inputs, no generation ends twice,
//! answers of old generations change nothing, an action that is undone was never said, and the run settles all the same.

use super::kit::*;
use super::properties::*;
use super::views::check_bars;
use crate::engine::RerunReach;
use crate::engine::{flow::Phase, graph::NodeIx, inner_run::*, *};
use crate::plan::{
    edit::{Edit, KindData},
    *,
};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

/// An action about nodes that there are, as drawn.
pub(super) fn action(run: &Run, (kind, pick, how): Draw) -> Action {
    let ids: Vec<NodeId> = run.nodes().map(|(id, _)| id.clone()).collect();
    let at = |pick: u8| ids[usize::from(pick) % ids.len()].clone();
    let node = at(pick);
    let target = if how.is_multiple_of(2) { ActionTarget::Node(node.clone()) } else { ActionTarget::Branch(node.clone()) };
    let some = how.is_multiple_of(2).then(|| node.clone());
    match kind % 24 {
        0 | 1 => Action::Rerun { node, scope: RerunReach::Downstream },
        2 | 3 => Action::Rerun { node, scope: RerunReach::Alone },
        4 => Action::Retry { node },
        5 => Action::Override { node, value: json!({"ok": how.is_multiple_of(2), "route": "left"}) },
        6 => {
            let upstream: Vec<NodeIx> = run.graph.find(&node).map(|ix| run.upstream(ix).into_iter().collect()).unwrap_or_default();
            let to = upstream.get(usize::from(how) % (upstream.len() + 1)).map_or_else(|| node.clone(), |&ix| run.id_of(ix));
            Action::Rewind { node, to, feedback: "better".into() }
        }
        7 => Action::Skip { node },
        8 => Action::Hold { target },
        9 if how.is_multiple_of(3) => Action::Release { target: ActionTarget::Run },
        9 => Action::Release { target },
        10 if how.is_multiple_of(2) => Action::Pause,
        10 => Action::Resume,
        11 => Action::Stop { target: if how > 240 { ActionTarget::Run } else { target } },
        12 => Action::Guide { node, text: "be brief".into() },
        13 | 14 => Action::StepInto { node },
        15 | 16 => {
            let at = Moment::ALL[usize::from(how) % Moment::ALL.len()];
            let point = Breakpoint { at, node: some.map(|node| node.to_string()), when: None, disabled: false };
            if how.is_multiple_of(3) {
                Action::Rebreak { point: BreakId(u32::from(pick) % 4 + 1), with: point }
            } else {
                Action::Break { point }
            }
        }
        17 => Action::Unbreak { point: BreakId(u32::from(how) % 4 + 1) },
        18 => Action::Step { node: some },
        19 => Action::RunTo { node },
        20 => Action::Cancel { target: if how > 200 { ActionTarget::Run } else { target } },
        _ => Action::Edit { edits: edits(&node, &at(how), how) },
    }
}

fn edits(one: &NodeId, two: &NodeId, how: u8) -> Vec<Edit> {
    let work =
        |text: &str| NodeKind::Agent(AgentNode { agent: Some("worker".into()), objective: Some(text.into()), ..AgentNode::default() });
    let fresh = NodeId::new(format!("e{how}"));
    let policy = Policy { approve: Some(Approve::Before), locks: Some(vec!["lock1".into()]), ..Policy::default() };
    let all = [
        vec![Edit::SetKind { id: one.clone(), kind: KindData(work(&format!("do {how}"))) }],
        vec![Edit::AddNode { node: Box::new(agent(&fresh, &[one])), at: Some(usize::from(how) % 2) }],
        vec![
            Edit::AddNode { node: Box::new(agent(&fresh, &[one])), at: None },
            Edit::AddDependency { node: two.clone(), on: fresh.clone() },
        ],
        vec![Edit::RemoveNode { id: one.clone() }],
        vec![Edit::AddDependency { node: two.clone(), on: one.clone() }],
        vec![Edit::RemoveDependency { node: two.clone(), on: one.clone() }],
        vec![Edit::AddEdge { edge: Box::new(edge(one, two, "true")), at: None }],
        vec![Edit::RenameNode { from: one.clone(), to: fresh.clone() }],
        vec![Edit::SetPolicy { id: one.clone(), policy: Box::new(policy.clone()) }],
        vec![Edit::SetDefaults { defaults: Box::new(policy) }],
        vec![Edit::RemoveEdge { at: usize::from(how) % 3 }],
    ];
    all.into_iter().nth(usize::from(how) % 11).unwrap_or_default()
}

/// Numbers that are kept up say what is there.
fn audit(run: &Run) {
    let live: Vec<NodeIx> = run.all_nodes().collect();
    assert_eq!(live.len(), run.graph.index.len());
    for &ix in &live {
        let (flow, id) = (&run.flows[ix], run.id_of(ix));
        assert_eq!(run.graph.find(&id), Some(ix));
        assert_eq!(run.is_over(ix), run.nodes[ix].state.has_ended(), "`{id}` {:?} {:?}", flow.phase, run.nodes[ix].state);
        if !run.is_over(ix) {
            let mut anew = RunState::clone(run);
            anew.tally_anew(ix);
            assert_eq!(flow.tally, anew.flows[ix].tally, "tokens of `{id}`");
        }
        let inside: Vec<NodeIx> = run.inside_of(ix);
        let over = inside.iter().filter(|&&ix| run.is_over(ix)).count();
        let gates: usize = inside.iter().map(|&ix| run.open_of(ix).len()).sum();
        let bad = |ix: &&NodeIx| matches!(run.nodes[**ix].state, NodeState::Failed | NodeState::FailedSafe | NodeState::Cancelled);
        let bad = inside.iter().filter(bad).count();
        let counted = run.nodes[ix].inside;
        let numbers = [counted.nodes, counted.over, counted.waiting, counted.bad].map(|number| number as usize);
        assert_eq!(numbers, [inside.len(), over, gates, bad], "inside `{id}`");
    }
    let homes: BTreeSet<InnerRunIx> = live.iter().map(|ix| run.graph.nodes[*ix].home).collect();
    for home in homes {
        let inner = run.inner(home).unwrap();
        assert_eq!(inner.slots.len(), inner.plan.nodes.len());
        let unfinished = inner.nodes().filter(|&ix| !run.is_over(ix)).count();
        assert_eq!(inner.unfinished as usize, unfinished, "in `{}`", inner.prefix);
    }
    let phase = |fits: fn(Phase) -> bool| live.iter().filter(|ix| fits(run.flows[**ix].phase)).count() as u32;
    assert_eq!(run.queue.kept, phase(|phase| phase == Phase::Held));
    assert_eq!(run.queue.resting, phase(|phase| phase == Phase::Resting));
    let busy = run.flows.iter().filter(|flow| flow.worker.as_ref().is_some_and(|worker| worker.since.is_some())).count();
    assert_eq!(run.queue.busy as usize, busy);
    for lock in &run.queue.locks {
        assert!(lock.holder.is_none_or(|ix| run.flows[ix].locked));
    }
    let open: BTreeSet<GateId> = live.iter().flat_map(|&ix| run.open_of(ix)).collect();
    assert_eq!(run.gates.open, open);
}

/// Says an action and sees to it that it does what it said it would, and sometimes takes it back.
fn say(player: &mut Player, draw: Draw) {
    let action = action(&player.world.run, draw);
    if player.world.run.refusal(&Command::act(action.clone())).is_some() {
        return;
    }
    let before = player.world.run.clone();
    let blast = before.impact(&action, Time(player.world.now));
    let events = player.world.act(action.clone());
    player.take_effects();
    let run = &player.world.run;
    let touched: BTreeSet<NodeId> = match events.iter().find(|event| matches!(event, Event::Acted { .. })) {
        Some(Event::Acted { nodes, .. }) => nodes.iter().cloned().collect(),
        other => panic!("{action:?} gave {other:?}"),
    };
    for (id, node) in before.nodes() {
        let named = before.graph.find(id).map(|ix| run.id_of(ix)).filter(|_| touched.iter().all(|other| other != id));
        // A name that was used before raises the generation by itself.
        let Some(then) = named.filter(|name| name == id).and_then(|id| run.node(&id)) else { continue };
        if node.state.has_ended() && nest::owner(id).is_none() {
            assert_eq!(
                (then.generation, &then.result, &then.state),
                (node.generation, &node.result, &node.state),
                "`{id}` after {action:?}"
            );
            assert!(!blast.nodes(NodeImpact::Reruns).to_vec().contains(id), "`{id}` after {action:?}");
        }
    }
    let acted = player.world.records.iter().rev().find(|record| matches!(record.event, Event::Acted { .. })).map(|record| record.seq);
    let undoable = run.undoable().map(|(seq, _)| seq).filter(|seq| Some(*seq) == acted);
    if undoable.is_some() && !draw.2.is_multiple_of(3) {
        player.world.command(Command::Undo);
        assert_eq!(plain(&player.world.run), plain(&before), "{action:?} is taken back");
    }
    audit(&player.world.run);
}

/// Takes the newest action back that still can be, whatever came since.
fn reset_node(player: &mut Player) {
    if player.world.run.undoable().is_some() {
        player.world.command(Command::Undo);
        player.take_effects();
        audit(&player.world.run);
    }
}

/// What a worker of an old generation says is on record, and nothing more.
fn speak_late(player: &mut Player, pick: u8) {
    let aborts = player.world.effects.iter().filter_map(|effect| match effect {
        Effect::Abort { node, generation, attempt } => Some((node.clone(), *generation, *attempt)),
        Effect::Start { .. } | Effect::Answer { .. } | Effect::SetTimer { .. } | Effect::UseModel { .. } | Effect::Replan { .. } => None,
    });
    let aborts: Vec<_> = aborts.collect();
    let Some((node, generation, attempt)) = aborts.get(usize::from(pick) % (aborts.len() + 1)).cloned() else { return };
    if player.world.run.live(&node, generation, attempt).is_some() {
        return;
    }
    let before = plain(&player.world.run);
    let fact = WorkerFact::Done(Done { result: json!("late"), mark: None });
    player.world.step(Input::Work { node, generation, attempt, fact });
    assert_eq!(plain(&player.world.run), before);
}

fn finish(player: &mut Player) {
    if player.world.outcome().is_none() {
        player.world.act(Action::Release { target: ActionTarget::Run });
        let held: Vec<NodeId> = player.world.run.nodes().map(|(id, _)| id.clone()).filter(|id| player.world.run.is_held(id)).collect();
        held.into_iter().for_each(|id| drop(player.world.act(Action::Release { target: ActionTarget::Node(id) })));
        player.take_effects();
    }
    player.finish();
    audit(&player.world.run);
}

/// Everything that must hold of a whole journal, seen event by event.
fn check_journal(world: &World) {
    let mut run = Run::default();
    let mut ended: BTreeSet<(NodeId, u32)> = BTreeSet::new();
    for record in &world.records {
        match &record.event {
            Event::Node { node_id, generation, fact: NodeFact::Started { attempt, .. } } => {
                assert!(!ended.contains(&(node_id.clone(), *generation)), "`{node_id}` starts after its end");
                let ix = run.graph.find(node_id).unwrap();
                assert_eq!(run.nodes[ix].generation, *generation);
                let entry = run.inner_of(ix).and_then(InnerRun::entry);
                let tally = run.flows[ix].tally;
                // A join is decided once: an edit of it while the node rests between attempts doesn't undo that.
                let joins = *attempt > 1 || tally.verdict(run.graph.nodes[ix].join) == Some(true);
                assert!(entry == Some(ix) || joins, "`{node_id}` has its inputs");
                for &edge in run.graph.nodes[ix].ins.iter().filter(|&&edge| run.edge_state(edge) == EdgeState::Taken) {
                    let source = run.graph.link(edge).from;
                    assert!(run.is_over(source) || run.flows[source].outcome.former.is_some(), "`{node_id}` works with what there is");
                }
            }
            Event::Node { node_id, generation, fact: NodeFact::Completed { .. } }
            | Event::Node { node_id, generation, fact: NodeFact::Failed { .. } }
            | Event::Node { node_id, generation, fact: NodeFact::Skipped { .. } }
            | Event::Node { node_id, generation, fact: NodeFact::Passed { .. } }
            | Event::Node { node_id, generation, fact: NodeFact::Cancelled { .. } } => {
                let once = ended.insert((node_id.clone(), *generation));
                assert!(once, "generation {generation} of `{node_id}` ends once");
            }
            _ => {}
        }
        run.evolve(record);
        // Ends that were undone, and those of the one who had a name before, are no ends of what is there now.
        if matches!(&record.event, Event::Undone { .. } | Event::Acted { .. }) {
            ended.retain(|(id, generation)| run.node(id).is_some_and(|node| node.generation > *generation || node.state.has_ended()));
        }
    }
    assert!(run.all_nodes().all(|ix| run.is_over(ix)), "no node is left over: {}", world.states());
    assert!(run.gates.open.is_empty() && run.agenda.is_empty() && run.queue.busy == 0);
    assert!(run.queue.locks.iter().all(|lock| lock.holder.is_none() && lock.waiters.is_empty()));
    assert!(matches!(world.records.last().unwrap().event, Event::RunEnded { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_actions_in_any_plan_keep_the_rules_and_one_taken_back_was_never_said(
        nodes in prop::collection::vec(drawn(), 1..9),
        slots in 1_u32..4,
        draws in prop::collection::vec((any::<Draw>(), any::<u8>()), 0..40),
        after in prop::collection::vec(any::<Draw>(), 0..4),
        dialect in 0..10_usize,
        place in any::<u16>(),
    ) {
        let mut player = Player::new(build(&nodes, Dialect::ALL.get(dialect).copied().unwrap_or_default()), slots);
        for (draw, what) in draws {
            match what % 5 {
                0 | 1 if player.world.run.nodes().next().is_some() => say(&mut player, draw),
                2 if what.is_multiple_of(2) => speak_late(&mut player, draw.1),
                2 => reset_node(&mut player),
                _ if player.world.outcome().is_none() => player.play(draw),
                _ => {}
            }
        }
        let (timeline, run) = Timeline::replay(&player.world.records);
        check_bars(&run, &timeline.chart(&run, Time(player.world.now)));
        finish(&mut player);
        for draw in after {
            say(&mut player, draw);
            finish(&mut player);
        }
        check_journal(&player.world);
        let mut branch = Player::branch(&player.world.records, u64::from(place) % player.world.records.len() as u64 + 1);
        audit(&branch.world.run);
        finish(&mut branch);
        check_journal(&branch.world);
    }
}

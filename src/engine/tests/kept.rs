//! What holds of every journal, whatever was drawn.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    iter::successors,
};

/// What is inside runs between the start and the end of what it is inside of.
fn check_inside(world: &World) {
    let mut going: BTreeSet<&str> = BTreeSet::new();
    for record in &world.records {
        let Some(id) = record.event.node() else { continue };
        if let Some(owner) = nest::owner(id) {
            assert!(going.contains(owner), "`{id}` has an event while `{owner}` doesn't run: {:?}", record.event);
        }
        match &record.event {
            Event::Node { fact: NodeFact::Started { .. }, .. } => drop(going.insert(id)),
            Event::Node { fact: NodeFact::Completed { .. } | NodeFact::Failed { .. } | NodeFact::Cancelled { .. }, .. } => {
                going.remove(&**id);
            }
            _ => {}
        }
    }
    for (id, node) in world.run.nodes() {
        assert_eq!((node.inside.over, node.inside.waiting), (node.inside.nodes, 0), "`{id}`");
    }
}

/// What the attempt before had inside a node is gone.
fn forget_inside(run: &Run, node: &NodeId, ended: &mut BTreeSet<NodeId>, tokens: &mut BTreeMap<EdgeId, bool>) {
    let is_inside = |id: &&NodeId| successors(nest::owner(id), |id| nest::owner(id)).any(|owner| owner == node.as_str());
    for id in ended.iter().filter(is_inside).cloned().collect::<Vec<_>>() {
        ended.remove(&id);
        let shape = run.graph.find(&id).map(|ix| &run.graph.nodes[ix]);
        for edge in shape.into_iter().flat_map(|shape| shape.outs.iter().chain(&shape.ins)) {
            tokens.remove(edge);
        }
    }
}

/// Whether what an event is about still is: nodes inside one that ran anew may be gone.
fn is_there(run: &Run, event: &Event) -> bool {
    !matches!(event, Event::Node { node_id, .. } if run.graph.find(node_id).is_none())
}

/// Everything that must hold of a whole journal.
pub(super) fn check(world: &World) {
    check_inside(world);
    let mut ended = BTreeSet::new();
    let mut approved = BTreeSet::new();
    let mut decided = BTreeSet::new();
    let mut gates: BTreeMap<GateId, Gate> = BTreeMap::new();
    let mut tokens: BTreeMap<EdgeId, bool> = BTreeMap::new();
    let run = &world.run;
    for record in world.records.iter().filter(|record| is_there(run, &record.event)) {
        if let Event::Node { node_id, fact: NodeFact::Completed { .. }, .. } = &record.event {
            let shape = &run.graph.nodes[run.graph.find(node_id).unwrap()];
            let reviewed = gates.values().any(|gate| gate.node == *node_id && decided.contains(&gate.id));
            assert!(!shape.gates.after || reviewed, "the result of `{node_id}` is used only after somebody saw it");
        }
        match &record.event {
            Event::Node { node_id, fact: NodeFact::Completed { .. }, .. }
            | Event::Node { node_id, fact: NodeFact::Failed { .. }, .. }
            | Event::Node { node_id, fact: NodeFact::Skipped { .. }, .. }
            | Event::Node { node_id, fact: NodeFact::Passed { .. }, .. }
            | Event::Node { node_id, fact: NodeFact::Cancelled { .. }, .. } => {
                assert!(ended.insert(node_id.clone()), "`{node_id}` ends once");
                for &edge in &run.graph.nodes[run.graph.find(node_id).unwrap()].outs {
                    tokens.entry(edge).or_insert(false);
                }
            }
            Event::Node { fact: NodeFact::Routed { taken, dead, .. }, .. } => {
                taken.iter().for_each(|edge| assert_eq!(tokens.insert(*edge, true), None));
                dead.iter().for_each(|edge| assert_eq!(tokens.insert(*edge, false), None));
            }
            Event::ApprovalRequired { gate } => {
                gates.insert(gate.id, (**gate).clone());
            }
            Event::GateDecided { gate, decision, .. } => {
                decided.insert(*gate);
                if matches!(decision, GateReply::Approve | GateReply::Modify { .. }) {
                    approved.insert(*gate);
                }
            }
            Event::Node { node_id, fact: NodeFact::Started { .. }, .. } => {
                assert!(!ended.contains(node_id), "`{node_id}` doesn't start after its end");
                forget_inside(run, node_id, &mut ended, &mut tokens);
                let ix = run.graph.find(node_id).unwrap();
                let shape = &run.graph.nodes[ix];
                let settled = shape.ins.iter().filter(|edge| tokens.contains_key(edge)).count();
                match shape.join {
                    Some(Join::Any) => assert!(shape.ins.is_empty() || shape.ins.iter().any(|edge| tokens.get(edge) == Some(&true))),
                    None | Some(Join::All | Join::Settled | Join::Always) => assert_eq!(settled, shape.ins.len(), "`{node_id}`"),
                }
                if shape.gates.before {
                    let yes =
                        gates.values().any(|gate| gate.node == *node_id && gate.kind == GateKind::Approval && approved.contains(&gate.id));
                    assert!(yes, "`{node_id}` starts only after its approval");
                }
            }
            Event::Node { node_id, fact: NodeFact::ToolStarted { call, .. }, .. } => {
                let mut asked = gates.values().filter(|gate| gate.node == *node_id);
                let own = |gate: &&Gate| matches!(&gate.kind, GateKind::Permission { call: id, .. } if *id == call.id);
                if let Some(gate) = asked.find(own) {
                    assert!(approved.contains(&gate.id), "call {} runs only after its approval", call.id);
                }
            }
            _ => {}
        }
    }
    ended.retain(|id| run.node(id).is_some());
    assert_eq!(ended.len(), run.nodes().count(), "no node is left over: {}", world.states());
    assert!(matches!(world.records.last().unwrap().event, Event::RunEnded { .. }));
    assert!(world.records.iter().zip(1..).all(|(record, seq)| record.seq == seq));
    assert!(run.gates.open.is_empty() && run.agenda.is_empty() && run.queue.busy == 0, "{run:?}");
    assert!(run.queue.locks.iter().all(|lock| lock.holder.is_none() && lock.waiters.is_empty()));
    assert_eq!(&Run::replay(&world.records), run);
}

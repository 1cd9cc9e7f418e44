//! The critical path and the widest moment of a plan that has not run: by the expected times of its nodes, or by their number where one is
//! not known. Slots are thought to be enough.

use super::{NodeEstimate, laid::LaidPlan};
use crate::plan::NodeId;
use std::collections::HashMap;

/// The nodes of the plan itself on the longest way through it, and the most of them that work at once.
pub(super) fn of(laid: &LaidPlan<'_>, nodes: &[NodeEstimate]) -> (Vec<NodeId>, usize) {
    let known: HashMap<&NodeId, &NodeEstimate> = nodes.iter().map(|node| (&node.node, node)).collect();
    let times: Option<Vec<f64>> =
        laid.nodes.iter().map(|node| known.get(&node.address).map_or(Some(0.0), |node| node.takes.ms.expected)).collect();
    let works = |at: usize| known.contains_key(&laid.nodes[at].address);
    let times = times.unwrap_or_else(|| (0..laid.nodes.len()).map(|at| if works(at) { 1.0 } else { 0.0 }).collect());
    let mut spans: Vec<(f64, f64)> = vec![(0.0, 0.0); laid.nodes.len()];
    let mut before: Vec<Option<usize>> = vec![None; laid.nodes.len()];
    for &at in &laid.order {
        let last = laid.graph.predecessors(at).max_by(|&a, &b| spans[a].1.total_cmp(&spans[b].1));
        let start = last.map_or(0.0, |last| spans[last].1);
        spans[at] = (start, start + times[at]);
        before[at] = last;
    }
    let mut path = Vec::new();
    let mut next = laid.order.iter().copied().max_by(|&a, &b| spans[a].1.total_cmp(&spans[b].1).then(b.cmp(&a)));
    while let Some(at) = next {
        path.push(laid.nodes[at].address.clone());
        next = before[at];
    }
    path.reverse();
    let mut moments: Vec<(f64, i32)> = Vec::new();
    for at in (0..laid.nodes.len()).filter(|&at| works(at) && laid.order.contains(&at)) {
        let (start, end) = spans[at];
        // What takes no time at all still works for a moment.
        moments.extend([(start, 1), (end.max(start + 1e-6), -1)]);
    }
    moments.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let widest = moments.iter().scan(0, |now, (_, change)| {
        *now += change;
        Some(*now)
    });
    (path, widest.max().and_then(|most| usize::try_from(most).ok()).unwrap_or(0))
}

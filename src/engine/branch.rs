//! What a branch is: a node and what only it feeds.

use super::{graph::NodeIx, run::RunState};
use crate::plan::NodeId;
use std::collections::BTreeMap;

/// A node with what only it feeds, and the nodes that it feeds among others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Branch {
    /// Sources before their consumers; the root first.
    pub own: Vec<NodeIx>,
    pub shared: Vec<NodeIx>,
}

impl RunState {
    /// What cancelling the branch at `node` would end: the node itself with what only it feeds, and the shared nodes it touches.
    pub fn branch(&self, node: &NodeId) -> (Vec<NodeId>, Vec<NodeId>) {
        let Some(root) = self.graph.find(node) else { return (Vec::new(), Vec::new()) };
        let branch = self.branch_of(root);
        let ids = |nodes: Vec<NodeIx>| nodes.into_iter().map(|ix| self.id_of(ix)).collect();
        (ids(branch.own), ids(branch.shared))
    }

    /// In a DAG a node is fed by the root alone when all its sources are: so edges are counted off as the branch grows.
    pub(super) fn branch_of(&self, root: NodeIx) -> Branch {
        let mut own = vec![root];
        let mut seen: BTreeMap<NodeIx, usize> = BTreeMap::new();
        let mut at = 0;
        while let Some(&ix) = own.get(at) {
            at += 1;
            for &edge in &self.graph.nodes[ix].outs {
                super::touch();
                let target = self.graph.link(edge).to;
                let fed = seen.entry(target).or_default();
                *fed += 1;
                if *fed == self.graph.nodes[target].ins.len() {
                    own.push(target);
                }
            }
        }
        let shared = seen.into_iter().filter(|(ix, fed)| *fed < self.graph.nodes[*ix].ins.len()).map(|(ix, _)| ix).collect();
        Branch { own, shared }
    }
}

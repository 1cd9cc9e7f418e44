//! What views see of a run's plans: all nodes that there are, with those of bodies under their full ids, and the outgoing edges of a node.

use crate::engine::{EdgeState, NodeRun, graph::NodeIx, inner_run::InnerRunIx, run::RunState};
use crate::plan::{Edge, Node, NodeId, Plan, nest};

/// One outgoing edge of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct WayOut {
    pub to: NodeId,
    /// Its condition, or the label of the route.
    pub when: Option<String>,
    pub state: EdgeState,
}

impl RunState {
    /// The plan that is run with all that is inside its nodes, as one flat plan: behind each composite node come the nodes of its
    /// bodies, of those that began under the ids that they run by, else under those of the document. In proportion to all of them.
    pub fn outline(&self) -> Plan {
        let Some(plan) = self.plan() else { return Plan::default() };
        let mut flat = Plan { nodes: Vec::new(), edges: Vec::new(), ..plan.clone() };
        self.outline_inner(InnerRunIx(0), &mut flat);
        flat
    }

    fn outline_inner(&self, at: InnerRunIx, flat: &mut Plan) {
        let Some(inner) = self.inner(at) else { return };
        flat.edges.extend(inner.plan.edges.iter().map(|edge| nest::edge_under(&inner.prefix, edge)));
        for (ix, node) in inner.nodes().zip(&inner.plan.nodes) {
            flat.nodes.push(nest::node_under(&inner.prefix, node));
            match &self.flows[ix].bodies {
                Some(bodies) => bodies.inner_runs.iter().for_each(|&inner| self.outline_inner(inner, flat)),
                None => nest::unfold(node, &inner.prefix, flat),
            }
        }
    }

    /// All nodes that there are, those of bodies right behind the node that they run in.
    pub fn nodes_in_order(&self) -> Vec<(&NodeId, &NodeRun)> {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        self.order_inner(InnerRunIx(0), &mut nodes);
        nodes
    }

    fn order_inner<'a>(&'a self, at: InnerRunIx, nodes: &mut Vec<(&'a NodeId, &'a NodeRun)>) {
        let Some(inner) = self.inner(at) else { return };
        for ix in inner.nodes() {
            nodes.push((&self.graph.ids[ix], &self.nodes[ix]));
            let bodies = self.flows[ix].bodies.iter().flat_map(|bodies| &bodies.inner_runs);
            bodies.for_each(|&inner| self.order_inner(inner, nodes));
        }
    }

    /// The document's node behind an id of the run.
    pub fn node_doc(&self, id: &NodeId) -> Option<&Node> {
        self.graph.find(id).and_then(|ix| self.doc(ix))
    }

    /// A node's outgoing edges in edge order, with what became of them.
    pub fn ways_out(&self, id: &NodeId) -> Vec<WayOut> {
        let Some(ix) = self.graph.find(id) else { return Vec::new() };
        let edges = self.graph.nodes[ix].outs.iter();
        edges
            .map(|&edge| WayOut {
                to: self.id_of(self.graph.link(edge).to),
                when: self.edge(edge).and_then(|doc: &Edge| doc.when.clone()),
                state: self.edge_state(edge),
            })
            .collect()
    }

    /// Whether the node's result is output of the run: nothing follows it in the run's own plan.
    pub fn is_final(&self, id: &NodeId) -> bool {
        let shape = |ix: NodeIx| &self.graph.nodes[ix];
        self.graph.find(id).is_some_and(|ix| shape(ix).home == InnerRunIx(0) && (shape(ix).outs.is_empty() || self.is_terminal(ix)))
    }

    /// Why a node's routes were taken as they were; empty while they are not decided and where nothing was chosen.
    pub fn why_this_way(&self, id: &NodeId) -> &str {
        self.graph.find(id).map_or("", |ix: NodeIx| self.flows[ix].outcome.chosen.as_str())
    }
}

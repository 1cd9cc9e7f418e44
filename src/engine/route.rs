//! Which outgoing edges a result takes: all whose condition holds, the first, or the one that a decision names.

use super::{
    EdgeId,
    graph::{NodeIx, edge_doc},
    resolve::Ending,
    run::Run,
};
use crate::plan::{Edge, Route};
use serde_json::Value;

/// Edges taken and edges that died, both in edge order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Routes {
    pub taken: Vec<EdgeId>,
    pub dead: Vec<EdgeId>,
}

impl Run {
    /// Decides the routes of a node that is about to end.
    ///
    /// # Errors
    /// When a condition has no value, or a decision's answer names no edge.
    pub(super) fn routes(&self, ending: Ending<'_>) -> Result<Routes, String> {
        let ix = ending.node;
        let Some(policy) = self.policy(ix) else { return Ok(Routes::default()) };
        let edges = &self.graph.nodes[ix.at()].outs;
        let chosen = match policy.route() {
            Route::Decision => self.decided_edge(edges, ending.result)?.into_iter().collect(),
            Route::First => self.holding(ending, edges, 1)?,
            Route::All => self.holding(ending, edges, usize::MAX)?,
        };
        let (taken, dead) = edges.iter().partition(|edge| {
            super::touch();
            chosen.binary_search(edge).is_ok()
        });
        Ok(Routes { taken, dead })
    }

    fn edge(&self, edge: EdgeId) -> Option<&Edge> {
        self.plan().and_then(|plan| edge_doc(plan, self.graph.link(edge)))
    }

    /// The first so many edges whose condition holds; the default edge stands in when no conditional one does.
    fn holding(&self, ending: Ending<'_>, edges: &[EdgeId], most: usize) -> Result<Vec<EdgeId>, String> {
        let mut chosen = Vec::new();
        let mut conditional = false;
        for &edge in edges {
            if chosen.len() == most {
                break;
            }
            let doc = self.edge(edge);
            match doc.and_then(|doc| doc.when.as_ref()) {
                Some(when) if self.holds(when, Some(ending))? => {
                    conditional = true;
                    chosen.push(edge);
                }
                Some(_) => {}
                None if doc.is_some_and(|doc| doc.default) => {}
                None => chosen.push(edge),
            }
        }
        if !conditional && chosen.len() < most {
            let default = edges.iter().copied().find(|&edge| self.edge(edge).is_some_and(|doc| doc.default));
            chosen.extend(default.filter(|edge| !chosen.contains(edge)));
            chosen.sort_unstable();
        }
        Ok(chosen)
    }

    /// The edge that a decision's answer names: one alone, else the first whose label or target matches, else the default.
    fn decided_edge(&self, edges: &[EdgeId], result: Option<&Value>) -> Result<Option<EdgeId>, String> {
        if edges.len() < 2 {
            return Ok(edges.first().copied());
        }
        let answer = result.and_then(named_route);
        let matches = |edge: EdgeId| {
            let Some(answer) = answer.as_deref() else { return false };
            let label = self.edge(edge).and_then(|doc| doc.when.as_deref());
            label == Some(answer) || &*self.id_of(self.graph.link(edge).to) == answer
        };
        let named = edges.iter().copied().find(|&edge| matches(edge));
        let default = || edges.iter().copied().find(|&edge| self.edge(edge).is_some_and(|doc| doc.default));
        named.or_else(default).map(Some).ok_or_else(|| {
            let labels: Vec<String> = edges.iter().map(|&edge| self.edge_name(edge)).collect();
            let answer = answer.map_or_else(|| "no route".to_string(), |answer| format!("`{answer}`"));
            format!("the answer names {answer}, which is none of its ways out: {}", labels.join(", "))
        })
    }

    /// What an answer may name to take each of a node's edges, in edge order.
    pub(super) fn route_names(&self, ix: NodeIx) -> Vec<String> {
        let edges = &self.graph.nodes[ix.at()].outs;
        edges.iter().map(|&edge| self.route_name(edge)).collect()
    }

    fn route_name(&self, edge: EdgeId) -> String {
        let label = self.edge(edge).and_then(|doc| doc.when.clone());
        label.unwrap_or_else(|| self.id_of(self.graph.link(edge).to).to_string())
    }

    fn edge_name(&self, edge: EdgeId) -> String {
        format!("`{}`", self.route_name(edge))
    }
}

/// The route in an answer: the first of `condition`, `route`, `next`; an answer that isn't an object is the route itself.
fn named_route(answer: &Value) -> Option<String> {
    let value = match answer {
        Value::Object(map) => ["condition", "route", "next"].iter().find_map(|key| map.get(*key))?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => answer,
    };
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.trim().to_string()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    }
}

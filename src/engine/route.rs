//! Which outgoing edges a result takes: all whose condition holds, the first, or the one that a decision names.

use super::{EdgeId, EdgeState, NodeState, graph::NodeIx, resolve::Ending, run::RunState};
use crate::plan::{Dialect, Edge, Route};
use serde_json::Value;
use std::collections::BTreeSet;

/// Edges of a node that are looked through for those that it took, and names of them in a reason.
const WAYS: usize = 64;
const NAMED: usize = 3;

/// Edges taken and edges that died, both in edge order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Routes {
    pub taken: Vec<EdgeId>,
    pub dead: Vec<EdgeId>,
    /// Why, where there was something to choose.
    pub why: String,
    /// An answer named none of the ways, and a stages plan went on all the same.
    pub astray: bool,
}

impl RunState {
    /// Decides the routes of a node that is about to end.
    ///
    /// # Errors
    /// When a condition has no value, or a decision's answer names no edge.
    pub(super) fn routes(&self, ending: Ending<'_>) -> Result<Routes, String> {
        let ix = ending.node;
        let Some(policy) = self.policy(ix) else { return Ok(Routes::default()) };
        let edges = &self.graph.nodes[ix].outs;
        let mut routes = match policy.route() {
            _ if self.is_terminal(ix) => Routes { why: "a terminal stage ends the walk".to_string(), ..Routes::default() },
            Route::Decision if ending.state == NodeState::Rehearsed => self.rehearsed_edge(edges),
            Route::Decision => self.decided_edge(edges, ending.result, policy.plan.dialect)?,
            Route::First => self.holding(ending, edges, 1)?,
            Route::All => self.holding(ending, edges, usize::MAX)?,
        };
        let taken: BTreeSet<EdgeId> = routes.taken.iter().copied().collect();
        routes.dead = edges
            .iter()
            .copied()
            .filter(|edge| {
                super::touch();
                !taken.contains(edge)
            })
            .collect();
        if edges.is_empty() {
            routes.why = String::new();
        }
        Ok(routes)
    }

    /// Whether a walk ends here whatever edges there are.
    pub(super) fn is_terminal(&self, ix: NodeIx) -> bool {
        self.policy(ix).is_some_and(|policy| match policy.plan.dialect {
            Dialect::Stages => policy.node.exit && !policy.plan.edges.is_empty(),
            Dialect::Native | Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid | Dialect::Workflow => false,
        })
    }

    pub(super) fn edge(&self, edge: EdgeId) -> Option<&Edge> {
        let link = self.graph.link(edge);
        link.doc.and_then(|at| self.inner_of(link.from)?.plan.edges.get(at as usize))
    }

    /// The first so many edges whose condition holds; the default edge is taken when no conditional one does.
    fn holding(&self, ending: Ending<'_>, edges: &[EdgeId], most: usize) -> Result<Routes, String> {
        let mut taken = Vec::new();
        let mut held: Vec<&str> = Vec::new();
        for &edge in edges {
            if taken.len() == most {
                break;
            }
            let doc = self.edge(edge);
            match doc.and_then(|doc| doc.when.as_ref()) {
                Some(when) if self.holds(when, ending.node, Some(ending))? => {
                    held.push(when);
                    taken.push(edge);
                }
                Some(_) => {}
                None if doc.is_some_and(|doc| doc.default) => {}
                None => taken.push(edge),
            }
        }
        let asked = edges.iter().any(|&edge| self.edge(edge).is_some_and(|doc| doc.when.is_some()));
        if held.is_empty() && taken.len() < most {
            let default = edges.iter().copied().find(|&edge| self.edge(edge).is_some_and(|doc| doc.default));
            let with: BTreeSet<EdgeId> = taken.into_iter().chain(default).collect();
            taken = edges.iter().copied().filter(|edge| with.contains(edge)).collect();
        }
        let why = match (asked, &held[..], &taken[..]) {
            (false, _, _) => String::new(),
            (true, [], []) => "none of its conditions holds".to_string(),
            (true, [], _) => "none of its conditions holds, so the way without one is taken".to_string(),
            (true, held, _) => held.iter().map(|when| format!("`{when}` holds")).collect::<Vec<_>>().join(", "),
        };
        Ok(Routes { taken, why, ..Routes::default() })
    }

    /// The edge that a decision's answer names: one alone, else the first whose label or target matches, else the default. A stages plan
    /// takes its first edge where no other one is named (seed 004, `resolve_edge`).
    fn decided_edge(&self, edges: &[EdgeId], result: Option<&Value>, dialect: Dialect) -> Result<Routes, String> {
        let one = |edge: EdgeId, why: String| Routes { taken: vec![edge], why, ..Routes::default() };
        let (first, more) = match edges {
            [] => return Ok(Routes::default()),
            [first, more @ ..] => (*first, more),
        };
        if more.is_empty() {
            return Ok(one(first, "it is the only edge".to_string()));
        }
        let answer = result.and_then(named_route);
        let matches = |edge: EdgeId| {
            let Some(answer) = answer.as_deref() else { return false };
            let label = self.edge(edge).and_then(|doc| doc.when.as_deref());
            label == Some(answer) || self.doc(self.graph.link(edge).to).is_some_and(|node| &*node.id == answer)
        };
        let named = edges.iter().copied().find(|&edge| matches(edge));
        let answer = answer.as_deref().map_or_else(|| "no route".to_string(), |answer| format!("`{answer}`"));
        if let Some(edge) = named {
            return Ok(one(edge, format!("the answer names {answer}")));
        }
        let ways = || edges.iter().map(|&edge| format!("`{}`", self.route_name(edge))).collect::<Vec<_>>().join(", ");
        let default = edges.iter().copied().find(|&edge| self.edge(edge).is_some_and(|doc| doc.default));
        match (default, dialect) {
            (Some(edge), _) => Ok(one(edge, format!("the answer names {answer}, none of its edges, so the default is taken"))),
            (None, Dialect::Stages) => {
                let why = format!("the answer names {answer}, which is none of its edges ({}), so the first is taken", ways());
                Ok(Routes { astray: true, ..one(first, why) })
            }
            (None, Dialect::Native | Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid | Dialect::Workflow) => {
                Err(format!("the answer names {answer}, which is none of its edges: {}", ways()))
            }
        }
    }

    /// A decision without an answer takes its default or first edge.
    fn rehearsed_edge(&self, edges: &[EdgeId]) -> Routes {
        let default = edges.iter().copied().find(|&edge| self.edge(edge).is_some_and(|doc| doc.default));
        let why = if default.is_some() { "rehearsed: the default is taken" } else { "rehearsed: the first edge is taken" };
        Routes { taken: default.or(edges.first().copied()).into_iter().collect(), why: why.to_string(), ..Routes::default() }
    }

    /// What an answer may name to take each of a node's edges, in edge order.
    pub(super) fn route_names(&self, ix: NodeIx) -> Vec<String> {
        let edges = &self.graph.nodes[ix].outs;
        edges.iter().map(|&edge| self.route_name(edge)).collect()
    }

    /// What the source of a dead edge took instead, and what that edge needs.
    pub(super) fn other_way(&self, dead: EdgeId) -> (Vec<String>, Option<String>) {
        let outs = &self.graph.nodes[self.graph.link(dead).from].outs;
        let taken = outs.iter().take(WAYS).filter(|edge| self.edges[**edge] == EdgeState::Taken);
        let took = taken.take(NAMED).map(|&edge| self.route_name(edge)).collect();
        (took, self.edge(dead).and_then(|edge| edge.when.clone()))
    }

    pub(super) fn route_name(&self, edge: EdgeId) -> String {
        let label = self.edge(edge).and_then(|doc| doc.when.clone());
        label.unwrap_or_else(|| self.doc(self.graph.link(edge).to).map(|node| node.id.to_string()).unwrap_or_default())
    }
}

/// The route in an answer: the first of `condition`, `route`, `next`; an answer that isn't an object is the route itself.
fn named_route(answer: &Value) -> Option<String> {
    let value = match answer {
        Value::Object(map) => ["condition", "route", "next"].iter().find_map(|key| map.get(*key).filter(|value| !value.is_null()))?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => answer,
    };
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.trim().to_string()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    }
}

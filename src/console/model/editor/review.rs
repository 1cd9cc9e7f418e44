//! `Review`: what validation says of the edited plan, and at which node each finding is shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::validate::{Code, Finding, validate};
use crate::plan::{Catalog, Edge, NodeId, Plan, nest};

#[derive(Clone, Debug, Default)]
pub struct Review {
    findings: Vec<Finding>,
    /// The findings of each node, the worst first, by their place among all.
    marks: BTreeMap<NodeId, Vec<usize>>,
    /// Ids that several nodes have, of a plan whose rows are its nodes.
    twins: BTreeSet<NodeId>,
}

impl Review {
    pub fn of(plan: &Plan, catalog: &Catalog) -> Self {
        // An empty editor is where everybody begins, not a mistake.
        let mut findings = if plan.nodes.is_empty() { Vec::new() } else { validate(plan, catalog) };
        findings.sort_by_key(|finding| finding.severity);
        let mut marks: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (at, finding) in findings.iter().enumerate() {
            if let Some(node) = home(plan, finding) {
                marks.entry(node).or_default().push(at);
            }
        }
        let mut known = BTreeSet::new();
        let nodes = plan.nodes.iter().filter(|_| !nest::is_nested(plan));
        let twins = nodes.filter(|node| !known.insert(&node.id)).map(|node| node.id.clone()).collect();
        Self { findings, marks, twins }
    }

    /// All findings, errors first.
    pub fn all(&self) -> &[Finding] {
        &self.findings
    }

    /// Findings that stop a run. They stand first.
    pub fn errors(&self) -> usize {
        self.findings.partition_point(|finding| finding.is_error())
    }

    /// Whether a part of the request was not understood, so that other words are wanted.
    pub fn is_not_understood(&self) -> bool {
        self.findings.iter().any(|finding| finding.code == Code::NotUnderstood)
    }

    /// What validation says of a node, the worst first.
    pub fn of_node(&self, id: &NodeId) -> impl Iterator<Item = &Finding> {
        self.marks.get(id).into_iter().flatten().filter_map(|at| self.findings.get(*at))
    }

    /// The same of the node at this place, where others have its id too.
    pub fn of_row(&self, id: &NodeId, place: usize) -> impl Iterator<Item = &Finding> {
        let own = self.twins.contains(id).then(|| format!("nodes[{place}]"));
        let is_own = move |finding: &&Finding| match &own {
            Some(own) => !finding.path.starts_with("nodes[") || finding.path.starts_with(own.as_str()),
            None => true,
        };
        self.of_node(id).filter(is_own)
    }

    /// What validation says of nodes that stand inside a node, at any depth.
    pub fn inside(&self, id: &NodeId) -> impl Iterator<Item = &Finding> {
        let prefix = format!("{id}/");
        let inside = self.marks.range(NodeId::new(&prefix)..).take_while(move |(node, _)| node.starts_with(&prefix));
        inside.flat_map(|(_, marks)| marks).filter_map(|at| self.findings.get(*at))
    }
}

/// The node at which a finding is shown: one of an edge at the node that the edge leads to, else at the one that it comes from.
pub fn home(plan: &Plan, finding: &Finding) -> Option<NodeId> {
    let ends = edge(plan, finding).into_iter().flat_map(|edge| [edge.to, edge.from]);
    ends.into_iter().find(|end| nest::find(plan, end).is_some()).or_else(|| finding.node.clone())
}

/// The edge that a finding is about, by addresses.
pub fn edge(plan: &Plan, finding: &Finding) -> Option<Edge> {
    let at = finding.edge?;
    match &finding.node {
        None => plan.edges.get(at).cloned(),
        Some(owner) => {
            let body = nest::find(plan, owner)?.kind.body()?;
            body.edges.get(at).map(|edge| nest::edge_under(&format!("{owner}/"), edge))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_edge_with_an_unknown_end_marks_a_row() {
        for (edge, row) in [(json!({"from": "a", "to": "gone"}), "a"), (json!({"from": "gone", "to": "b"}), "b")] {
            let nodes = json!([{"id": "a", "value": 1}, {"id": "b", "value": 1}]);
            let plan: Plan = serde_json::from_value(json!({"nodes": nodes, "edges": [edge]})).unwrap();
            let review = Review::of(&plan, &Catalog::default());
            assert!(review.of_node(&row.into()).any(|finding| finding.is_error()), "{row}");
        }
    }
}

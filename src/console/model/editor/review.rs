//! `Review`: what validation says of the edited plan, and at which node each finding is shown.

use std::collections::BTreeMap;

use crate::plan::validate::{Finding, Severity, validate};
use crate::plan::{Catalog, Edge, NodeId, Plan, nest};

/// What validation says.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// Errors first.
    findings: Vec<Finding>,
    /// The findings of each node, the worst first, by their place among all.
    marks: BTreeMap<NodeId, Vec<usize>>,
}

impl Review {
    /// Validates a plan.
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
        Self { findings, marks }
    }

    /// All findings, errors first.
    pub fn all(&self) -> &[Finding] {
        &self.findings
    }

    /// Findings that stop a run. They stand first.
    pub fn errors(&self) -> usize {
        self.findings.partition_point(|finding| finding.severity == Severity::Error)
    }

    /// What validation says of a node, the worst first.
    pub fn of_node(&self, id: &NodeId) -> impl Iterator<Item = &Finding> {
        self.marks.get(id).into_iter().flatten().filter_map(|at| self.findings.get(*at))
    }

    /// What validation says of nodes that stand inside a node, at any depth.
    pub fn inside(&self, id: &NodeId) -> impl Iterator<Item = &Finding> {
        let prefix = format!("{id}/");
        let inside = self.marks.range(NodeId::new(&prefix)..).take_while(move |(node, _)| node.starts_with(&prefix));
        inside.flat_map(|(_, marks)| marks).filter_map(|at| self.findings.get(*at))
    }
}

/// The node at which a finding is shown: one of an edge at the node that the edge leads to.
pub fn home(plan: &Plan, finding: &Finding) -> Option<NodeId> {
    edge(plan, finding).map(|edge| edge.to).or_else(|| finding.node.clone())
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

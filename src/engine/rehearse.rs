//! Which nodes are only rehearsed, and what they give in place of a result: what they would do. Nothing of them happens.

use super::{
    NodeState,
    graph::{NodeIx, has_side_effects, tool_of},
    privacy::Taint,
    resolve::Ending,
    run::RunState,
};
use crate::plan::{Dialect, Node, NodeId, NodeKind, Path, needs_model, nest, rehearsed};
use serde_json::Value;

/// Provider of what no model was asked for, in journals.
pub const REHEARSAL: &str = "rehearsal";

/// How the result of a rehearsed node begins where it is a text.
pub const REHEARSED: &str = "[rehearsed]";

/// Means whatever model a server offers, where nobody names one.
pub const AUTO: &str = "auto";

/// What a person answers for a model goes by this name.
pub const OPERATOR: &str = "operator";

impl RunState {
    /// Whether a node that is about to be ready is only rehearsed: no model answers, it would act in a run where nothing does, or what
    /// it reads is made up.
    pub(super) fn rehearses(&self, ix: NodeIx) -> bool {
        let (Some(settings), Some(policy)) = (self.settings(), self.policy(ix)) else { return false };
        let model = policy.get(|policy| policy.model.as_deref()).filter(|own| *own == OPERATOR).or(settings.model.as_deref());
        let is_agent = policy.node.kind.agent().is_some();
        let answers = model.is_some_and(|model| is_agent || model != OPERATOR);
        let lacks_model = !answers && needs_model(policy.node, &settings.catalog);
        lacks_model || settings.rehearse && self.would_act(ix) || self.reaches(Taint::Rehearsed, ix)
    }

    /// Whether something inside a node is rehearsed wherever it begins: no model answers, or it would act in a run where nothing does.
    pub(super) fn rehearses_inside(&self, ix: NodeIx) -> bool {
        let (Some(settings), Some(body)) = (self.settings(), self.doc(ix).and_then(|node| node.kind.body())) else { return false };
        let acts = |node: &Node| {
            let tool = tool_of(node).and_then(|name| settings.catalog.tool(name));
            node.policy.side_effects.unwrap_or_default() || has_side_effects(&node.kind, tool)
        };
        let rehearses = |node: &Node| settings.rehearse && acts(node) || settings.model.is_none() && needs_model(node, &settings.catalog);
        nest::outline(body).nodes.iter().any(rehearses)
    }

    /// Whether a node would change something outside. What a plan says of its tool makes nothing harmless: a rehearsal changes nothing.
    fn would_act(&self, ix: NodeIx) -> bool {
        let by_tool = |node: &Node| {
            let tool = tool_of(node).and_then(|name| self.settings()?.catalog.tool(name));
            has_side_effects(&node.kind, tool)
        };
        self.graph.nodes[ix].side_effects || self.doc(ix).is_some_and(by_tool)
    }

    /// Why a rehearsed node is only rehearsed.
    pub fn rehearsed_because(&self, node: &NodeId) -> &'static str {
        let lacks_model = |node: &Node| self.settings().is_some_and(|settings| needs_model(node, &settings.catalog));
        let acts = |ix: NodeIx| self.settings().is_some_and(|settings| settings.rehearse) && self.would_act(ix);
        match self.graph.find(node) {
            Some(ix) if self.doc(ix).is_some_and(lacks_model) => "no model answered",
            Some(ix) if acts(ix) => "it would change something outside",
            Some(_) | None => "what it reads was only rehearsed",
        }
    }

    /// Whether a condition of a node reads what is made up.
    pub(super) fn reads_rehearsed(&self, ix: NodeIx, condition: &str) -> bool {
        self.are_rehearsed(ix, &self.reads_in_condition(ix, condition))
    }

    /// The same, where the node itself is about to end.
    pub(super) fn ends_rehearsed(&self, ix: NodeIx, condition: &str, ending: Option<Ending<'_>>) -> bool {
        let paths = self.reads_in_condition(ix, condition);
        let own = |path: &Path| match path.node() {
            Some(id) => self.doc(ix).is_some_and(|node| &*node.id == id),
            None => self.inner_of(ix).is_some_and(|home| home.plan.dialect == Dialect::Workflow),
        };
        let ends = ending.is_some_and(|ending| ending.node == ix && ending.state == NodeState::Rehearsed);
        ends && paths.iter().any(own) || self.are_rehearsed(ix, &paths)
    }

    fn are_rehearsed(&self, ix: NodeIx, paths: &[Path]) -> bool {
        self.inner_of(ix).is_some_and(|home| paths.iter().any(|path| self.is_marked_name(Taint::Rehearsed, home, path)))
    }

    /// What a rehearsed node that no agent works at would do.
    pub(super) fn rehearsed_value(&self, ix: NodeIx, node: &Node) -> Result<Value, String> {
        let would = match &node.kind {
            NodeKind::Tool(work) => format!("call {}: {}", work.tool, self.payload(ix)?),
            NodeKind::Code(work) => format!("run this code:\n{}", work.code),
            NodeKind::Approval(_) => format!("ask: {}", self.value(ix, node)?.as_str().unwrap_or_default()),
            NodeKind::Decision(_) => return self.value(ix, node).or_else(|_| Ok(rehearsed(&node.id))),
            _ => return self.value(ix, node),
        };
        Ok(Value::from(format!("{REHEARSED} would {would}")))
    }
}

//! Which nodes work with private data, and which of their calls ask before they send anything out. What is private is a fact of a
//! node's lineage: `is_reached` says it before the node starts, a tool's result adds to it, and whoever reads the node is reached in turn.

use super::{
    EdgeId, EdgeState, Outgoing,
    graph::{NodeIx, tool_of},
    inner_run::InnerRun,
    run::RunState,
};
use crate::plan::{Dialect, Node, NodeKind, Path, Route, takes_results};

/// Key in a plan's metadata: the model that wrote the plan.
pub const PLANNED_BY: &str = "planned_by";

/// What goes from node to node by what they read, and is kept in their lineage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taint {
    Private,
    /// Made up, because no model answered.
    Rehearsed,
}

impl RunState {
    /// Whether what a node gives may hold private data.
    pub(super) fn is_private(&self, ix: NodeIx) -> bool {
        let former = self.nodes[ix].result.is_none() && self.flows[ix].outcome.former_private;
        self.nodes[ix].lineage.private || former
    }

    /// Whether private data reaches a node: from the nodes around it, by names in its texts and guards, or by any edge. An edge is enough,
    /// taken or dead: how a node ended tells of what it read, and so does whether another one ran at all.
    pub(super) fn is_reached(&self, ix: NodeIx) -> bool {
        self.settings().is_some_and(|settings| settings.private_request)
            || self.gates.replans.private.contains(&self.graph.ids[ix])
            || self.graph.nodes[ix].ins.iter().any(|&edge| self.is_private(self.graph.link(edge).from))
            || self.reaches(Taint::Private, ix)
    }

    /// The same of either: what is made up reaches everything that an edge from it leads to.
    pub(super) fn reaches(&self, taint: Taint, ix: NodeIx) -> bool {
        let Some(policy) = self.policy(ix) else { return false };
        let guards = [policy.get(|policy| policy.when.as_deref()), policy.get(|policy| policy.skip_if.as_deref())];
        let mut named: Vec<Path> = guards.into_iter().flatten().flat_map(|guard| self.reads_in_condition(ix, guard)).collect();
        // The answer to a question is the person's own, whatever the question shows.
        if taint == Taint::Rehearsed || !matches!(policy.node.kind, NodeKind::Approval(_)) {
            named.extend(self.reads(ix));
            let given = policy.get(|policy| policy.inputs.as_ref()).into_iter().flat_map(|inputs| inputs.values());
            named.extend(given.flat_map(|value| self.reads_in(ix, value)));
        }
        let takes = taint == Taint::Rehearsed || takes_results(&policy.node.kind);
        self.owners(ix).any(|owner| self.is_marked(taint, owner))
            || self.inner_of(ix).is_some_and(|home| named.iter().any(|path| self.is_marked_name(taint, home, path)))
            || takes && (self.has_marked_context(taint, ix) || self.received(ix).iter().any(|origin| self.is_tainted(taint, origin.node)))
            || self.graph.nodes[ix].ins.iter().any(|&edge| self.edges[edge] == EdgeState::Taken && self.is_marked_choice(taint, edge))
    }

    fn is_marked(&self, taint: Taint, ix: NodeIx) -> bool {
        let lineage = &self.nodes[ix].lineage;
        match taint {
            Taint::Private => lineage.private,
            Taint::Rehearsed => lineage.rehearsed,
        }
    }

    fn is_tainted(&self, taint: Taint, ix: NodeIx) -> bool {
        match taint {
            Taint::Private => self.is_private(ix),
            Taint::Rehearsed => self.is_marked(taint, ix),
        }
    }

    /// Whether a name that is read in a plan means something so.
    pub(super) fn is_marked_name(&self, taint: Taint, home: &InnerRun, path: &Path) -> bool {
        match (path.node().and_then(|id| self.find_in(home, id)), path.node(), taint) {
            (Some(source), _, _) => self.is_tainted(taint, source),
            (None, Some(_), _) => false,
            (None, None, Taint::Private) => self.has_context_of(taint, home) || self.is_private_input(path),
            (None, None, Taint::Rehearsed) => {
                self.has_context_of(taint, home) || home.owner.is_some_and(|owner| self.is_marked(taint, owner))
            }
        }
    }

    /// Whether the input of a name was read from a file. Of nodes inside others, `is_reached` asks the nodes around them.
    fn is_private_input(&self, path: &Path) -> bool {
        let private = self.settings().map(|settings| settings.private_inputs.as_slice()).unwrap_or_default();
        path.input().map_or(!private.is_empty(), |name| private.iter().any(|known| known == name))
    }

    /// In a workflow all results are merged into what names read.
    fn has_marked_context(&self, taint: Taint, ix: NodeIx) -> bool {
        self.inner_of(ix).is_some_and(|home| self.has_context_of(taint, home))
    }

    fn has_context_of(&self, taint: Taint, home: &InnerRun) -> bool {
        home.plan.dialect == Dialect::Workflow && home.walked.iter().any(|&walked| self.is_tainted(taint, walked))
    }

    /// Whether it depended on such data that an edge was taken.
    fn is_marked_choice(&self, taint: Taint, edge: EdgeId) -> bool {
        let source = self.graph.link(edge).from;
        let outs = &self.graph.nodes[source].outs;
        let Some(home) = self.inner_of(source) else { return false };
        let depends = |edge: EdgeId| {
            let Some(when) = self.edge(edge).and_then(|doc| doc.when.as_deref()) else { return false };
            self.reads_in_condition(source, when).iter().any(|path| self.is_marked_name(taint, home, path))
        };
        match self.policy(source).map(|policy| policy.route()) {
            Some(Route::Decision) => outs.len() > 1 && self.is_tainted(taint, source),
            Some(Route::First) => outs.iter().any(|&out| depends(out)),
            Some(Route::All) if self.edge(edge).is_some_and(|doc| doc.default) => outs.iter().any(|&out| depends(out)),
            Some(Route::All) => depends(edge),
            None => false,
        }
    }

    /// Whether what runs inside a node gives it private data: by a result, or by how it ended.
    pub(super) fn gives_private_bodies(&self, ix: NodeIx) -> bool {
        let Some(bodies) = &self.flows[ix].bodies else { return false };
        let inner_runs = bodies.inner_runs.iter().filter_map(|&inner_run| self.inner(inner_run));
        inner_runs.flat_map(InnerRun::nodes).any(|inner| self.is_private(inner))
    }

    /// Whether a node's one call may ask before it sends something out. It then asks for the node too: a person sees once what would
    /// happen, with the exact request.
    pub(super) fn asks_at_its_call(&self, ix: NodeIx) -> bool {
        let is_planned = || {
            self.plan().is_some_and(|plan| plan.metadata.contains_key(PLANNED_BY))
                || self.gates.replans.planned.contains(&self.graph.ids[ix])
        };
        let sends = self.doc(ix).and_then(tool_of).is_some_and(|tool| self.tool_sends(tool));
        sends && (is_planned() || self.is_reached(ix))
    }

    /// Why a call asks before it sends something out; `None` when it needs no yes, or has one.
    pub(super) fn asks_to_leave(&self, ix: NodeIx, outgoing: &Outgoing) -> Option<String> {
        if outgoing.allowed || self.gates.hosts.contains(&outgoing.host) {
            return None;
        }
        let place = if outgoing.host == "*" { "any host" } else { &outgoing.host };
        // What chooses its own host can read this computer by itself.
        if self.is_private(ix) || outgoing.host == "*" {
            return Some(format!("it may send private data to {place}"));
        }
        self.is_planners_host(outgoing).then(|| format!("only the planning model named {place}"))
    }

    /// Which earlier yes lets data go to a place that is not asked about now; empty where nothing private would go.
    pub(super) fn may_leave(&self, outgoing: &Outgoing) -> String {
        match (outgoing.allowed, self.gates.hosts.contains(&outgoing.host)) {
            (true, _) => format!("; this workspace may send to {}", outgoing.host),
            (false, true) => format!("; a yes in this run lets it send to {}", outgoing.host),
            (false, false) => String::new(),
        }
    }

    /// Whether the planning model alone wrote a host: the plan names it, the request doesn't.
    fn is_planners_host(&self, outgoing: &Outgoing) -> bool {
        // Servers stand in files of people, not in plans.
        if outgoing.host.starts_with("mcp:") {
            return false;
        }
        let Some(plan) = self.plan() else { return false };
        let host = outgoing.host.rsplit_once(':').map_or(outgoing.host.as_str(), |(host, _)| host);
        let is_planned = |node: &&Node| plan.metadata.contains_key(PLANNED_BY) || self.gates.replans.planned.contains(&node.id);
        let in_plan =
            || serde_json::to_string(&plan.nodes.iter().filter(is_planned).collect::<Vec<_>>()).is_ok_and(|text| text.contains(host));
        !plan.goal.contains(host) && in_plan()
    }
}

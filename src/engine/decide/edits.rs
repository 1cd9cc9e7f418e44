//! Edits of a running plan: which nodes go back to before they began, why an edit is refused, and where tokens go that new ways
//! have already earned.

use crate::engine::run::Decider;
use crate::engine::{
    Cause, EdgeState, Event, NodeFact, NodeState,
    evolve::amend::Amendment,
    evolve::bodies::unfit,
    flow::{Phase, PhasePart},
    graph::NodeIx,
    inner_run::{InnerRun, InnerRunIx},
    resolve::Ending,
    route::Routes,
    state::EndKind,
};
use crate::plan::{Node, NodeKind, Plan, Route, edit::Edit, validate};
use std::{collections::BTreeSet, mem::discriminant};

impl Decider<'_> {
    /// Nodes that go with an edit, and those that it resets to before they began.
    pub(super) fn edited(&self, edits: &[Edit]) -> Vec<NodeIx> {
        let Ok(amendment) = self.amendment(edits) else { return Vec::new() };
        self.begin_again(&amendment).union(&amendment.removed).copied().collect()
    }

    /// Nodes whose result would be another one, with all that depends on them; and those that asked, waited in line or were skipped for
    /// what is no longer true.
    fn begin_again(&self, amendment: &Amendment) -> BTreeSet<NodeIx> {
        let is_skipped = |ix: &NodeIx| self.is_over(*ix) && !self.has_started(*ix);
        let remade = amendment.remade.iter().filter(|ix| self.is_over(**ix));
        let rewired = amendment.rewired.iter().filter(|ix| is_skipped(ix));
        let mut again = self.downstream(remade.chain(rewired).copied());
        let is_waiting = |ix: &NodeIx| match self.flows[*ix].phase.part() {
            PhasePart::Ahead => self.flows[*ix].phase != Phase::Inputs,
            PhasePart::InLine | PhasePart::AtGate(_) | PhasePart::Answered | PhasePart::Held | PhasePart::Stuck | PhasePart::Lost => true,
            PhasePart::AtWork | PhasePart::Inside | PhasePart::Resting | PhasePart::Over => false,
        };
        let others = amendment.changed.iter().chain(&amendment.rewired).chain(&amendment.renamed);
        again.extend(others.copied().filter(is_waiting));
        again.retain(|ix| !amendment.removed.contains(ix));
        again
    }

    /// Why edits is refused now.
    pub(super) fn edit_refusal(&self, edits: &[Edit]) -> Option<String> {
        let amendment = match self.amendment(edits) {
            Ok(amendment) => amendment,
            Err(why) => return Some(why),
        };
        let again = self.begin_again(&amendment);
        let nodes = self.inner(InnerRunIx(0)).into_iter().flat_map(InnerRun::nodes);
        let why = nodes.into_iter().find_map(|ix| self.node_edit_refusal(ix, &amendment, &again));
        why.or_else(|| self.entry_refusal(&amendment)).or_else(|| self.plan_refusal(&amendment.plan)).or_else(|| {
            let mut after = self.state.clone();
            after.steer.shadow = None;
            after.progress.outcome = None;
            let nodes: Vec<NodeIx> = again.union(&amendment.removed).copied().collect();
            after.amend(edits, &nodes, &Cause::None);
            Decider { state: &after }.new_ways().err()
        })
    }

    /// What a node that has begun has against an edit.
    fn node_edit_refusal(&self, ix: NodeIx, amendment: &Amendment, again: &BTreeSet<NodeIx>) -> Option<String> {
        let id = self.id_of(ix);
        let touched = [&amendment.removed, &amendment.renamed, &amendment.changed, &amendment.rewired];
        if !touched.iter().any(|set| set.contains(&ix)) {
            return None;
        }
        let state = &self.nodes[ix].state;
        if *state == NodeState::Unknown {
            return Some(format!("nobody knows what happened to `{id}`: answer its gate first"));
        }
        if amendment.removed.contains(&ix) && (self.has_started(ix) || self.is_engaged(ix)) {
            let hint = if self.is_over(ix) { "it stays on record" } else { "cancel or skip it instead" };
            return Some(format!("`{id}` is {} and can't be removed any more: {hint}", state.word()));
        }
        let named = self.is_engaged(ix) || self.flows[ix].phase == Phase::Resting || self.flows[ix].bodies.is_some();
        if amendment.renamed.contains(&ix) && named {
            return Some(format!("`{id}` is {}, so it keeps its name", state.word()));
        }
        if amendment.rewired.contains(&ix) && self.has_started(ix) && !again.contains(&ix) {
            let hint = "rerun it while it is held, and edit it then";
            return Some(format!("`{id}` has started, so what it waits for stays as it is: {hint}"));
        }
        if amendment.changed.contains(&ix) && self.is_engaged(ix) && !again.contains(&ix) {
            return self.engaged_refusal(ix, amendment);
        }
        None
    }

    /// What a node at work gets counts from its next attempt on. Some things it can't get.
    fn engaged_refusal(&self, ix: NodeIx, amendment: &Amendment) -> Option<String> {
        let at = amendment.slots.iter().position(|slot| *slot == Some(ix))?;
        let (now, then) = (self.doc(ix)?, &amendment.plan.nodes[at]);
        let locks = |node: &Node, plan: &Plan| node.policy.locks.clone().or_else(|| plan.defaults.locks.clone());
        let what = if discriminant(&now.kind) != discriminant(&then.kind) {
            "what kind of work it does"
        } else if now.kind.is_composite() && now.kind != then.kind {
            "what runs inside it"
        } else if matches!(now.kind, NodeKind::Decision(_)) && now.kind != then.kind {
            "how it decides"
        } else if locks(now, self.plan()?) != locks(then, &amendment.plan) {
            "its locks"
        } else {
            return None;
        };
        Some(format!("`{}` is at work, so {what} can't change: cancel it or wait until it has ended", self.id_of(ix)))
    }

    /// One token walks some plans; where it started is settled.
    fn entry_refusal(&self, amendment: &Amendment) -> Option<String> {
        let entry = self.inner(InnerRunIx(0)).filter(|_| self.progress.started)?.entry()?;
        let marked = amendment.plan.nodes.iter().position(|node| node.entry && amendment.plan.dialect.walks());
        let then = amendment.slots.get(marked.unwrap_or(0)).copied().flatten();
        (then != Some(entry)).then(|| format!("the run has started at `{}`: the entry can't change", self.id_of(entry)))
    }

    /// What an edited plan would have against being run, that the one before had not.
    fn plan_refusal(&self, plan: &Plan) -> Option<String> {
        let settings = self.settings()?;
        if let Some(why) = unfit(plan, &settings.catalog, &[]) {
            return Some(why);
        }
        let errors = |plan: &Plan| {
            let findings = validate::validate(plan, &settings.catalog);
            findings.into_iter().filter(|finding| finding.is_error()).collect::<Vec<_>>()
        };
        let before: BTreeSet<String> = errors(self.plan()?).into_iter().map(|finding| finding.message).collect();
        errors(plan).into_iter().find(|finding| !before.contains(&finding.message)).map(|finding| finding.message)
    }

    /// Where tokens go on ways that lead out of nodes that were over when the ways came.
    ///
    /// # Errors
    /// Why a way can't be decided.
    pub(super) fn new_ways(&self) -> Result<Vec<Event>, String> {
        let mut events = Vec::new();
        for ix in self.inner(InnerRunIx(0)).into_iter().flat_map(InnerRun::nodes).filter(|&ix| self.is_over(ix)) {
            let outs = &self.graph.nodes[ix].outs;
            if outs.iter().all(|&edge| self.edge_state(edge) != EdgeState::Undecided) {
                continue;
            }
            let mut routes =
                self.late_routes(ix).map_err(|why| format!("a new edge out of `{}` can't be decided: {why}", self.id_of(ix)))?;
            routes.taken.retain(|&edge| self.edge_state(edge) == EdgeState::Undecided);
            routes.dead.retain(|&edge| self.edge_state(edge) == EdgeState::Undecided);
            events.push(self.fact(ix, NodeFact::Routed { taken: routes.taken, dead: routes.dead, why: routes.why }));
        }
        Ok(events)
    }

    /// The routes of a node that is over. Where one way is taken at most, a new one is not when another was.
    fn late_routes(&self, ix: NodeIx) -> Result<Routes, String> {
        let outs = &self.graph.nodes[ix].outs;
        let none = || Routes { dead: outs.clone(), why: self.flows[ix].outcome.chosen.clone(), ..Routes::default() };
        let went = outs.iter().any(|&edge| self.edge_state(edge) == EdgeState::Taken);
        let one = self.policy(ix).is_some_and(|policy| policy.route() != Route::All);
        if one && went {
            return Ok(none());
        }
        let node = &self.nodes[ix];
        match node.state.end() {
            EndKind::Gives | EndKind::HandsOn => {
                let error = node.error.as_ref().map(|error| error.message.as_str());
                self.routes(Ending { node: ix, state: node.state, result: node.result.as_deref(), error })
            }
            EndKind::Closes | EndKind::Open => Ok(none()),
        }
    }
}

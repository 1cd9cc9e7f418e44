//! What people's actions call for: the action itself as one event, and what follows from it. And why one is refused.

use crate::engine::run::Decider;
use crate::engine::{
    Action, ActionTarget, Actor, Cause, Event, GateKind, HeldAt, Mark, NodeState, SkippedBy, Time,
    flow::{Phase, PhasePart},
    graph::NodeIx,
};
use crate::plan::NodeId;

impl Decider<'_> {
    pub(super) fn decide_act(&self, action: &Action, why: &str, by: &Actor) -> Vec<Event> {
        let affected = self.affected(action);
        let nodes = affected.iter().map(|&ix| self.id_of(ix)).collect();
        let acted = Event::Acted { action: Box::new(action.clone()), nodes, by: by.clone(), why: why.to_string() };
        if self.resets(action) {
            return self.decide_again(action, &affected, acted, (why, by));
        }
        [acted].into_iter().chain(self.consequences(action, why, by)).collect()
    }

    /// Nodes that an action changes by itself.
    fn affected(&self, action: &Action) -> Vec<NodeIx> {
        match action {
            Action::Hold { target } => self.at_any_depth(target).into_iter().filter(|&ix| self.may_hold(ix)).collect(),
            Action::Release { target } => self.at_any_depth(target).into_iter().filter(|&ix| self.may_release(ix)).collect(),
            Action::Stop { target } => self.winding_up(target),
            Action::Guide { node, .. } | Action::StepInto { node } => self.graph.find(node).into_iter().collect(),
            Action::Resume => self.all_nodes().filter(|&ix| self.is_at_breakpoint(ix)).collect(),
            Action::Step { node: Some(node) } => self.graph.find(node).into_iter().collect(),
            Action::Step { node: None } => self.next_step().into_iter().collect(),
            Action::RunTo { node } => self.graph.find(node).map(|ix| self.upstream(ix).into_iter().collect()).unwrap_or_default(),
            Action::Retry { .. } | Action::Rerun { .. } | Action::Override { .. } | Action::Rewind { .. } => self.reset_by(action),
            Action::Edit { edits } => self.edited(edits),
            Action::Cancel { .. }
            | Action::Skip { .. }
            | Action::Pause
            | Action::Break { .. }
            | Action::Unbreak { .. }
            | Action::Rebreak { .. } => Vec::new(),
        }
    }

    pub(super) fn consequences(&self, action: &Action, why: &str, by: &Actor) -> Vec<Event> {
        let (who, why) = (by.who.clone(), why.to_string());
        let cancelled = Cause::Cancelled { by: who.clone(), why: why.clone() };
        let find = |node: &NodeId| self.graph.find(node);
        match action {
            Action::Cancel { target: ActionTarget::Node(node) } => find(node).map(|ix| self.cancel(ix, &cancelled)).unwrap_or_default(),
            Action::Cancel { target: ActionTarget::Branch(node) } => {
                find(node).map(|ix| self.cancel_branch(ix, &cancelled)).unwrap_or_default()
            }
            Action::Cancel { target: ActionTarget::Run } => {
                let open = self.members(&ActionTarget::Run).into_iter().filter(|&ix| !self.is_over(ix));
                let reason = Cause::RunCancelled { by: who, why };
                let cancels = open.flat_map(|ix| self.cancel(ix, &reason));
                let proposal = self.replan().filter(|replan| replan.node.is_none()).and_then(|replan| replan.gate);
                let closed = proposal.map(|gate| Event::GateVoided { gate, reason: reason.clone() });
                [Event::RunCancelled { by: by.clone() }].into_iter().chain(cancels).chain(closed).collect()
            }
            Action::Skip { node } => {
                find(node).map(|ix| self.instead(ix, self.skip(ix, SkippedBy::Person, Cause::Skipped { by: who, why }))).unwrap_or_default()
            }
            Action::Override { node, value } => {
                find(node).map(|ix| self.instead(ix, self.complete(ix, value.clone(), Some(Mark::Overridden)))).unwrap_or_default()
            }
            // One that was undone goes by itself.
            Action::Retry { node } => {
                find(node).filter(|&ix| self.flows[ix].phase == Phase::Resting).map(|ix| self.ready_event(ix)).into_iter().collect()
            }
            Action::Edit { .. } => self.new_ways().unwrap_or_default(),
            Action::Stop { target } => self.unstarted(target, &by.who),
            Action::Step { node } => node.as_ref().map_or_else(|| self.next_step(), find).map(|ix| self.start_now(ix)).unwrap_or_default(),
            Action::StepInto { node } if self.is_paused() => find(node).map(|ix| self.start_now(ix)).unwrap_or_default(),
            Action::StepInto { .. }
            | Action::Hold { .. }
            | Action::Release { .. }
            | Action::Rerun { .. }
            | Action::Guide { .. }
            | Action::Rewind { .. }
            | Action::Pause
            | Action::Resume
            | Action::RunTo { .. }
            | Action::Break { .. }
            | Action::Unbreak { .. }
            | Action::Rebreak { .. } => Vec::new(),
        }
    }

    /// Why an action is refused now; `None` when it can.
    pub(super) fn action_refusal(&self, action: &Action) -> Option<String> {
        if self.progress.outcome.is_some() && !action.reopens() {
            return Some("the run has ended".to_string());
        }
        let ix = match action.node() {
            Some(node) => match self.graph.find(node) {
                Some(ix) => Some(ix),
                None => return Some(format!("there is no node `{node}`")),
            },
            None => None,
        };
        match action {
            Action::Cancel { target } => match ix.filter(|&ix| self.is_over(ix)) {
                Some(ix) => Some(self.over_already(ix)),
                None => self.nobody(target, "has ended", "that has not ended", |ix| !self.is_over(ix)),
            },
            Action::Hold { target } => self.hold_refusal(target),
            Action::Release { target } => self.nobody(target, "is not held", "that is held", |ix| self.may_release(ix)),
            Action::Skip { .. } => ix.and_then(|ix| self.is_over(ix).then(|| self.over_already(ix))),
            Action::Override { .. } => ix.filter(|&ix| self.is_over(ix)).and_then(|ix| self.inside_refusal(ix)),
            Action::Retry { .. } => ix.and_then(|ix| self.retry_refusal(ix)),
            Action::Rerun { .. } => ix.and_then(|ix| self.rerun_refusal(ix)),
            Action::Rewind { to, feedback, .. } => ix.and_then(|ix| self.rewind_refusal(ix, to, feedback)),
            Action::Pause => self.is_paused().then(|| "the run is paused already".to_string()),
            Action::Resume => {
                let broken = self.all_nodes().any(|ix| self.is_at_breakpoint(ix));
                (!self.is_paused() && !self.is_led() && !broken).then(|| "the run is not paused, and no breakpoint halts it".to_string())
            }
            Action::Step { .. } => self.step_refusal(ix),
            Action::RunTo { .. } => ix.and_then(|ix| self.is_beyond_start(ix).then(|| format!("`{}` has started already", self.id_of(ix)))),
            Action::Unbreak { point } => self.no_such_break(*point),
            Action::Break { point } => self.break_refusal(point),
            Action::Rebreak { point, with } => self.no_such_break(*point).or_else(|| self.break_refusal(with)),
            Action::Edit { edits } => self.edit_refusal(edits),
            Action::Stop { target } => self.stop_refusal(target),
            Action::Guide { text, .. } => ix.and_then(|ix| self.guide_refusal(ix, text)),
            Action::StepInto { .. } => ix.and_then(|ix| self.step_into_refusal(ix)),
        }
    }

    /// A refusal when an action fits no node of its target: behind the state of one, and of what there is none among several.
    fn nobody(&self, target: &ActionTarget, one: &str, several: &str, fits: impl Fn(NodeIx) -> bool) -> Option<String> {
        let members = self.at_any_depth(target);
        if members.iter().any(|&ix| fits(ix)) {
            return None;
        }
        Some(match (target, members.first()) {
            (ActionTarget::Node(_), Some(&ix)) => format!("`{}` {one}", self.id_of(ix)),
            (target, _) => format!("there is nothing in {} {several}", target.label()),
        })
    }

    fn hold_refusal(&self, target: &ActionTarget) -> Option<String> {
        let ix = target.node().and_then(|node| self.graph.find(node)).filter(|_| matches!(target, ActionTarget::Node(_)));
        let is_held = |ix: &NodeIx| self.flows[*ix].halt.hold.is_some();
        let waits = ix.is_some_and(|ix| matches!(self.nodes[ix].state, NodeState::Waiting { .. }));
        let words =
            if waits { "waits for a reply, so it can't be held: reply, skip it or cancel it" } else { "has started, so it can't be held" };
        match ix.filter(|ix| is_held(ix) || self.is_over(*ix)) {
            Some(ix) if is_held(&ix) => Some(format!("`{}` is already held", self.id_of(ix))),
            Some(ix) => Some(self.over_already(ix)),
            None => self.nobody(target, words, "that has not started and is not held", |ix| self.may_hold(ix)),
        }
    }

    pub(super) fn over_already(&self, ix: NodeIx) -> String {
        format!("`{}` has already ended ({})", self.id_of(ix), self.nodes[ix].state.word())
    }

    /// Whether a breakpoint keeps it, and not a hold.
    fn is_broken(&self, ix: NodeIx) -> bool {
        self.flows[ix].phase == Phase::Held && self.flows[ix].halt.hold.is_none()
    }

    /// Whether it is at a breakpoint or before a call.
    pub(super) fn is_at_breakpoint(&self, ix: NodeIx) -> bool {
        self.is_broken(ix) || self.is_at_call(ix)
    }

    fn may_release(&self, ix: NodeIx) -> bool {
        let flow = &self.flows[ix];
        let at_call = self.is_at_call(ix) || flow.drive.into && flow.phase != Phase::Ended;
        flow.halt.hold.is_some() || flow.phase == Phase::Held || at_call
    }

    /// Whether something of it has not started, and waits if it is held.
    fn may_hold(&self, ix: NodeIx) -> bool {
        self.flows[ix].halt.hold.is_none() && (!self.is_beyond_start(ix) || self.has_more_inside(ix))
    }

    /// Whether something inside a composite node at work has not started.
    fn has_more_inside(&self, ix: NodeIx) -> bool {
        let flow = &self.flows[ix];
        let bodies =
            || flow.drive.stopped_by.is_none() && flow.bodies.as_ref().is_some_and(|bodies| bodies.inner_runs.len() < bodies.all());
        flow.phase.part() == PhasePart::Inside && (bodies() || self.open_inside(ix).any(|inner| self.may_hold(inner)))
    }

    /// Whether its attempt is under way or its generation is over.
    fn is_beyond_start(&self, ix: NodeIx) -> bool {
        match self.flows[ix].phase.part() {
            PhasePart::Ahead | PhasePart::InLine | PhasePart::Answered | PhasePart::Resting | PhasePart::Lost => false,
            PhasePart::AtGate(gate) => {
                let asks_first = self.gate_run(gate).is_some_and(|run| run.gate.kind == GateKind::Approval);
                !asks_first && self.nodes[ix].state != NodeState::Unknown
            }
            PhasePart::Held => self.flows[ix].keeps_an_end(),
            PhasePart::AtWork | PhasePart::Inside | PhasePart::Stuck | PhasePart::Over => true,
        }
    }

    /// What was kept goes on.
    pub(super) fn follow_freed(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        match self.flows[ix].halt.kept.as_deref() {
            None | Some(HeldAt::Start) => vec![self.ready_event(ix)],
            Some(HeldAt::Result { result, mark }) => self.finish(ix, result.clone(), mark.clone(), now),
            Some(HeldAt::Failure { error, result }) => self.fail(ix, error.clone(), result.clone()),
        }
    }
}

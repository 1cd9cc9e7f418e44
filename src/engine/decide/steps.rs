//! A step: which node or held call it lets go now, and why none can. Its start is part of it, so that nothing of a step is kept for later.

use crate::engine::run::Decider;
use crate::engine::{
    Event, NodeState,
    flow::{Phase, PhasePart},
    graph::NodeIx,
};

impl Decider<'_> {
    /// What a step without a name means: what is at a breakpoint or before a call, else the next in line.
    pub(super) fn next_step(&self) -> Option<NodeIx> {
        let halted = self.all_nodes().find(|&ix| self.is_at_breakpoint(ix) && self.node_step_refusal(ix).is_none());
        let unlocked = |ix: NodeIx| self.queue.taken(&self.graph.nodes[ix].locks).is_none();
        halted.or_else(|| self.queue.next_of(|ix| self.graph.nodes[ix].place, unlocked))
    }

    /// Why a step lets nothing go now.
    pub(super) fn step_refusal(&self, ix: Option<NodeIx>) -> Option<String> {
        let Some(ix) = ix else { return self.next_step().is_none().then(|| self.nothing_goes()) };
        self.node_step_refusal(ix)
    }

    fn node_step_refusal(&self, ix: NodeIx) -> Option<String> {
        match self.flows[ix].phase.part() {
            PhasePart::InLine => self.no_room(ix),
            PhasePart::Held if self.flows[ix].keeps_an_end() || self.asks_first(ix) => None,
            PhasePart::Held => self.no_room(ix),
            _ => (!self.is_at_call(ix)).then(|| format!("`{}` is {}, not ready", self.id_of(ix), self.nodes[ix].state.word())),
        }
    }

    /// Of what is under way, the first that a person can do something about says why nothing goes.
    fn nothing_goes(&self) -> String {
        let open = self.all_nodes().filter(|&ix| !self.is_over(ix));
        let first = open.min_by_key(|&ix| (self.nodes[ix].state == NodeState::Pending, self.urgency(ix)));
        let blocker = first.and_then(|ix| self.why(&self.id_of(ix)).into_iter().next());
        blocker.map_or_else(|| "nothing can start now".to_string(), |blocker| format!("nothing can start now: {}", blocker.sentence))
    }

    /// The start of a node that a person lets go: at once, or not at all. One that asks first goes to its gate.
    pub(super) fn start_now(&self, ix: NodeIx) -> Vec<Event> {
        if self.no_room(ix).is_some() {
            return Vec::new();
        }
        match self.flows[ix].phase {
            Phase::Queued | Phase::Locked(_) => self.start(ix),
            Phase::Held if !self.flows[ix].keeps_an_end() && !self.asks_first(ix) => {
                [self.ready_event(ix)].into_iter().chain(self.start(ix)).collect()
            }
            _ => Vec::new(),
        }
    }
}

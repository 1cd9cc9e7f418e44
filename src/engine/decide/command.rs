//! What people's commands call for, and why one can't be carried out.

use crate::engine::{
    Actor, Command, Decision, Event, GateId,
    frame::Frame,
    run::{GateEnd, Run},
};

impl Run {
    pub(super) fn decide_command(&self, command: &Command, by: &Actor) -> Vec<Event> {
        if let Some(why) = self.refusal(command) {
            return vec![Event::Refused { by: by.clone(), what: describe(command), why }];
        }
        let reason = format!("cancelled by {}", by.who);
        let find = |node: &crate::plan::NodeId| self.graph.find(node);
        match command {
            Command::Start => vec![Event::RunStarted],
            Command::Decide { gate, decision, hash: _ } => {
                vec![Event::GateDecided { gate: *gate, decision: decision.clone(), by: by.clone() }]
            }
            Command::CancelNode { node } => find(node).map(|ix| self.cancel(ix, &reason)).unwrap_or_default(),
            Command::CancelBranch { node } => find(node).map(|ix| self.cancel_branch(ix, &reason)).unwrap_or_default(),
            Command::CancelRun => {
                let own = self.frames.first().into_iter().flat_map(Frame::nodes);
                let open = own.filter(|&ix| !self.is_over(ix));
                let cancels = open.flat_map(|ix| self.cancel(ix, &format!("the run was {reason}")));
                [Event::RunCancelled { by: by.clone() }].into_iter().chain(cancels).collect()
            }
        }
    }

    /// Why a command can't be carried out now; `None` when it can.
    pub fn refusal(&self, command: &Command) -> Option<String> {
        if self.head.is_none() {
            return Some("there is no run yet".to_string());
        }
        if let Command::Decide { gate, decision, hash } = command {
            return self.decision_refusal(*gate, decision, hash);
        }
        if self.stage.outcome.is_some() {
            return Some("the run is over".to_string());
        }
        match command {
            Command::Start => self.stage.started.then(|| "the run has started already".to_string()),
            Command::CancelNode { node } => match self.graph.find(node) {
                None => Some(format!("there is no node `{node}`")),
                Some(ix) => self.is_over(ix).then(|| format!("`{node}` is {} already", self.nodes[ix.at()].state.word())),
            },
            Command::CancelBranch { node } => match self.graph.find(node) {
                None => Some(format!("there is no node `{node}`")),
                Some(ix) => self
                    .branch_of(ix)
                    .own
                    .into_iter()
                    .all(|ix| self.is_over(ix))
                    .then(|| format!("everything in the branch at `{node}` is over already")),
            },
            Command::CancelRun | Command::Decide { .. } => None,
        }
    }

    fn decision_refusal(&self, id: GateId, decision: &Decision, hash: &str) -> Option<String> {
        let Some(run) = self.gate_run(id) else { return Some(format!("there is no gate {}", id.0)) };
        match &run.end {
            GateEnd::Decided(decided) => Some(format!("{} decided already: {}", decided.by.who, decided.decision.word())),
            GateEnd::Voided(reason) => Some(format!("the question is void: {reason}")),
            GateEnd::Open if run.gate.hash != hash => Some("what would happen has changed since it was shown; look again".to_string()),
            GateEnd::Open => self.misfit(&run.gate, decision),
        }
    }
}

impl Decision {
    /// The decision in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Modify { .. } => "approved with changes",
            Self::Reject { .. } => "rejected",
            Self::Answer { .. } => "answered",
            Self::Skip => "skipped",
            Self::CancelBranch => "cancelled the branch",
        }
    }
}

/// A command in words.
fn describe(command: &Command) -> String {
    match command {
        Command::Start => "start the run".to_string(),
        Command::Decide { gate, decision, .. } => format!("gate {}: {}", gate.0, decision.word()),
        Command::CancelNode { node } => format!("cancel `{node}`"),
        Command::CancelBranch { node } => format!("cancel the branch at `{node}`"),
        Command::CancelRun => "cancel the run".to_string(),
    }
}

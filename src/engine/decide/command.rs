//! What people's commands call for, and why one is refused.

use crate::engine::run::Decider;
use crate::engine::{Actor, Command, Event, GateId, GateReply, REHEARSAL, ReplanTrigger, run::GateEnd};

impl Decider<'_> {
    pub(super) fn decide_command(&self, command: &Command, by: &Actor) -> Vec<Event> {
        if let Some(why) = self.refusal(command) {
            return vec![Event::Refused { by: by.clone(), what: describe(command), why }];
        }
        match command {
            Command::Start => vec![Event::RunStarted],
            Command::Decide { gate, decision, hash: _, message } => {
                let (decision, by, message) = (self.taken(*gate, decision), by.clone(), message.clone());
                vec![Event::GateDecided { gate: *gate, decision, by, message }]
            }
            Command::Act { action, why } => self.decide_act(action, why, by),
            Command::UseModel { model, slots } => {
                vec![Event::ModelChosen { model: model.clone(), slots: slots.clone(), by: by.clone() }]
            }
            Command::Replan { guidance } => {
                let guidance = Some(guidance.trim().to_owned()).filter(|text| !text.is_empty()).into_iter().collect();
                let asked = self.replan_event(None, ReplanTrigger::Person, guidance, Some(by));
                self.reopened(by).into_iter().chain([asked]).collect()
            }
            Command::Undo => {
                let undone = self.undoable().map(|(action, _)| Event::Undone { action, by: by.clone() });
                undone.map(|undone| self.reopened(by).into_iter().chain([undone]).collect()).unwrap_or_default()
            }
        }
    }

    /// A run that is over is opened before it goes on.
    pub(super) fn reopened(&self, by: &Actor) -> Option<Event> {
        self.progress.outcome.is_some().then(|| Event::RunReopened { by: by.clone() })
    }

    /// Why a command is refused now; `None` when it can.
    pub(super) fn refusal(&self, command: &Command) -> Option<String> {
        if self.head.is_none() {
            return Some("there is no run yet".to_string());
        }
        let over = self.progress.outcome.is_some().then(|| "the run has ended".to_string());
        match command {
            Command::Start => over.or_else(|| self.progress.started.then(|| "the run has started already".to_string())),
            Command::Decide { gate, decision, hash, message: _ } => self.decision_refusal(*gate, decision, hash),
            Command::Act { action, .. } => self.action_refusal(action),
            Command::UseModel { model, .. } => {
                (model == REHEARSAL).then(|| "a run that has begun doesn't become a rehearsal: start it again as one".to_string())
            }
            Command::Replan { .. } => self.replan_refusal(),
            Command::Undo => {
                self.undoable().is_none().then(|| "only the last action can be undone, until a node starts or ends after it".to_string())
            }
        }
    }

    fn decision_refusal(&self, id: GateId, decision: &GateReply, hash: &str) -> Option<String> {
        let Some(run) = self.gate_run(id) else { return Some(format!("there is no gate {}", id.0)) };
        match &run.end {
            GateEnd::Decided(decided) => Some(format!("gate {} was already {} by {}", id.0, decided.decision.label(), decided.by.who)),
            GateEnd::Voided(reason) => Some(format!("the gate is closed: {}", reason.message())),
            GateEnd::Open if run.gate.hash != hash => Some("the preview changed since you last saw it; look at it again".to_string()),
            GateEnd::Open => self.misfit(&run.gate, &self.taken(id, decision)),
        }
    }
}

fn describe(command: &Command) -> String {
    match command {
        Command::Start => "start the run".to_string(),
        Command::Decide { gate, decision, .. } => format!("gate {}: {}", gate.0, decision.label()),
        Command::Act { action, .. } => action.label(),
        Command::Undo => "undo the last action".to_string(),
        Command::UseModel { model, .. } => format!("use the model {model}"),
        Command::Replan { .. } => "make a new plan".to_string(),
    }
}

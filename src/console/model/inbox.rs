//! `Inbox`: all gates that wait, of all runs, oldest first; which one is selected, and what was written for each. Nothing here
//! decides: a draft is sent by a decision key only.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Doc, GateKey, RunView};
use crate::engine::{Gate, Time};
use crate::host::client::RuleOffer;

/// All gates that wait.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    /// Open gates, oldest first.
    pub gates: Vec<GateKey>,
    /// The selected gate. It stays selected when it closes; only a person moves the selection.
    pub selected: Option<GateKey>,
    /// First line of the list in sight.
    pub top: usize,
    /// First line of the payload in sight.
    pub scroll: usize,
    /// What was written for gates.
    pub drafts: BTreeMap<GateKey, ReplyDraft>,
    /// A decision that was asked once more.
    pub asked: Option<Asked>,
    /// What rules the last approval could become.
    pub proposal: Option<RuleProposal>,
    /// Texts of gates, made when they open or change.
    pub docs: BTreeMap<GateKey, GateDoc>,
    /// Where the selected gate was last, to go on from there after it closed.
    at: usize,
}

/// An answer that was written and not given yet.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyDraft {
    /// Another payload, to approve.
    Payload(Value),
    /// An answer to a question.
    Answer(Value),
    /// Words to reject with.
    Words(String),
}

impl ReplyDraft {
    /// The payload to approve: what was written for it, else the gate's own.
    pub fn payload<'a>(draft: Option<&'a Self>, gate: &'a Gate) -> &'a Value {
        match draft {
            Some(Self::Payload(edited)) => edited,
            Some(Self::Answer(_) | Self::Words(_)) | None => &gate.payload,
        }
    }
}

/// A decision that was asked once more: the same key again gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub key: GateKey,
    /// Which state of its text.
    pub revision: u64,
    pub intent: Intent,
}

/// What rules an approval could become.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleProposal {
    /// It isn't known yet.
    Awaited(GateKey),
    Offered(GateKey, Vec<RuleOffer>),
}

/// A decision as a key means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Approve, as shown or as edited.
    Approve,
    /// Approve, and let private data be sent to the host from now on, or such calls of the tool run.
    ApproveAlways,
    /// Reject with the words written.
    Reject,
    Skip,
    CancelBranch,
}

/// A gate's text for reading.
#[derive(Clone, Debug)]
pub struct GateDoc {
    pub doc: Doc<'static>,
    /// Changes whenever the text does; what was seen of another revision doesn't count.
    pub revision: u64,
}

impl Inbox {
    /// Collects the open gates again.
    pub fn refresh(&mut self, runs: &[RunView]) {
        let mut open: Vec<(Time, GateKey)> = Vec::new();
        for run in runs.iter().filter(|run| run.goes_on()) {
            open.extend(run.newest().run.open_gates().map(|gate| (gate.opened, GateKey { run: run.id.clone(), gate: gate.id })));
        }
        open.sort();
        self.gates = open.into_iter().map(|(_, key)| key).collect();
        let gates = &self.gates;
        self.drafts.retain(|key, _| gates.contains(key));
        if let Some(place) = self.place() {
            self.at = place;
        }
    }

    /// Where the selected gate is in the list; `None` when it is closed or none is selected.
    pub fn place(&self) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        self.gates.iter().position(|key| key == selected)
    }

    pub fn select(&mut self, key: Option<GateKey>) {
        if self.selected != key {
            self.scroll = 0;
            self.asked = None;
        }
        self.selected = key;
        if let Some(place) = self.place() {
            self.at = place;
        }
    }

    /// Moves the selection by so many gates. From a closed gate it goes to the next one that was there.
    pub fn step(&mut self, by: isize) {
        let to = match self.place() {
            Some(place) => place.saturating_add_signed(by),
            None if by < 0 => self.at.saturating_sub(1),
            None => self.at,
        };
        self.select_at(to);
    }

    /// Selects a gate by its place, or the last one.
    pub fn select_at(&mut self, at: usize) {
        let Some(last) = self.gates.len().checked_sub(1) else { return };
        self.select(self.gates.get(at.min(last)).cloned());
    }

    /// First line of a gate's text in sight.
    pub fn gate_scroll(&self, key: &GateKey) -> usize {
        if self.selected.as_ref() == Some(key) { self.scroll } else { 0 }
    }

    /// The text of the selected gate.
    pub fn selected_doc(&self) -> Option<&GateDoc> {
        self.doc(self.selected.as_ref()?)
    }

    /// The text of a gate.
    pub fn doc(&self, key: &GateKey) -> Option<&GateDoc> {
        self.docs.get(key)
    }

    /// Puts in a gate's text as it is now. Another one is read from its start.
    pub fn set_doc(&mut self, key: GateKey, doc: Doc<'static>) {
        let before = self.docs.get(&key);
        let same = before.is_some_and(|before| before.doc.from(0).eq(doc.from(0)));
        let revision = before.map_or(1, |before| before.revision + u64::from(!same));
        if !same && self.selected.as_ref() == Some(&key) {
            self.scroll = 0;
        }
        self.docs.insert(key, GateDoc { doc, revision });
    }
}

/// The answers of a question that are picked from a list.
pub fn options_to_pick(gate: &Gate) -> Option<Vec<String>> {
    let question = gate.kind.question()?;
    (question.fields.is_empty() && !question.options.is_empty()).then_some(question.options)
}

/// Whether a gate wants an answer rather than a yes.
pub fn is_question(gate: &Gate) -> bool {
    gate.kind.question().is_some()
}

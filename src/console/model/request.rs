//! `RequestLine`: what a person asks for, what they asked before, and the plan that is being made of it.

use super::field::{Lines, TextField};
use crate::engine::Time;
use crate::host::client::PlanningId;
use crate::text::Plain;

/// Requests that show on an empty screen. Each can be planned and run without a model.
pub const EXAMPLES: [&str; 3] = [
    "List the Rust files under src, count their lines, and write the ten longest to longest.md",
    "Find every todo in this folder and group them by file",
    "Compare README.md with what the code does and list what is missing",
];

/// What a person asks for.
#[derive(Clone, Debug)]
pub struct RequestLine {
    /// What is typed.
    pub field: TextField,
    /// What was asked before, oldest first.
    pub history: Vec<String>,
    /// The plan that is being made.
    pub planning: Option<Planning>,
    /// Place in the history while going through it, and what was typed before.
    browsing: Option<(usize, String)>,
    /// Planning requests sent so far.
    sent: u64,
}

/// A plan that is being made.
#[derive(Clone, Debug)]
pub struct Planning {
    /// For the notices.
    pub id: PlanningId,
    /// The request.
    pub text: Plain,
    /// When it was sent.
    pub since: Time,
    /// The planner's last status line.
    pub progress: Plain,
    /// Nodes that came so far.
    pub nodes: usize,
}

impl Default for RequestLine {
    fn default() -> Self {
        Self { field: TextField::new(Lines::Many, ""), history: Vec::new(), planning: None, browsing: None, sent: 0 }
    }
}

impl RequestLine {
    /// Takes what is typed as a request, and its id. Nothing when nothing is typed.
    pub fn submit(&mut self, now: Time) -> Option<(PlanningId, String)> {
        let text = self.field.text().trim().to_owned();
        if text.is_empty() {
            return None;
        }
        if self.history.last() != Some(&text) {
            self.history.push(text.clone());
        }
        self.browsing = None;
        self.field.set("");
        self.sent += 1;
        let id = PlanningId(self.sent);
        self.planning = Some(Planning { id, text: Plain::summary(&text), since: now, progress: Plain::line("planning"), nodes: 0 });
        Some((id, text))
    }

    /// One back in the history.
    pub fn older(&mut self) {
        let at = match &self.browsing {
            None => self.history.len(),
            Some((at, _)) => *at,
        };
        let Some(older) = at.checked_sub(1) else { return };
        let typed = self.browsing.take().map_or_else(|| self.field.text(), |(_, typed)| typed);
        self.field.set(&self.history[older]);
        self.browsing = Some((older, typed));
    }

    /// One forward in the history, at last to what was typed.
    pub fn newer(&mut self) {
        let Some((at, typed)) = self.browsing.take() else { return };
        match self.history.get(at + 1) {
            Some(newer) => {
                self.field.set(newer);
                self.browsing = Some((at + 1, typed));
            }
            None => self.field.set(&typed),
        }
    }

    /// Whether these are the words of the plan that is being made.
    pub fn is_planning(&self, id: PlanningId) -> bool {
        self.planning.as_ref().is_some_and(|planning| planning.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_through_the_history_gives_back_what_was_typed() {
        let mut line = RequestLine::default();
        for text in ["one", "two"] {
            line.field.set(text);
            line.submit(Time(0));
        }
        line.field.set("half");
        line.older();
        line.older();
        line.older();
        assert_eq!(line.field.text(), "one");
        line.newer();
        line.newer();
        assert_eq!(line.field.text(), "half");
    }

    #[test]
    fn an_empty_request_is_not_sent() {
        let mut line = RequestLine::default();
        line.field.set("  \n ");
        assert_eq!(line.submit(Time(0)), None);
    }
}

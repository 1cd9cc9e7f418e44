//! `RequestLine`: what a person asks for, what they asked and typed before, and the plan that is being made of it.

use super::field::{Lines, TextField};
use super::typed::{Typed, TypedLine};
use crate::engine::Time;
use crate::host::client::PlanningId;
use crate::text::Plain;

/// Requests that show on an empty screen. Each can be planned and run without a model.
pub const EXAMPLES: [&str; 3] = [
    "List the Rust files under src, count their lines, and write the ten longest to longest.md",
    "Which files contain \"todo\"?",
    "Summarize README.md and write the summary to summary.md",
];

/// What a person asks for.
#[derive(Clone, Debug)]
pub struct RequestLine {
    /// What is typed.
    pub field: TextField,
    /// What was typed before, here and into other lines.
    pub typed: Typed,
    /// The plan that is being made.
    pub planning: Option<Planning>,
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
}

impl Default for RequestLine {
    fn default() -> Self {
        Self { field: TextField::new(Lines::Many, ""), typed: Typed::default(), planning: None, sent: 0 }
    }
}

impl RequestLine {
    /// Takes what is typed as a request, and its id. Nothing when nothing is typed.
    pub fn submit(&mut self, now: Time) -> Option<(PlanningId, String)> {
        let text = self.field.text().trim().to_owned();
        if text.is_empty() {
            return None;
        }
        self.typed.keep(TypedLine::Request, &text);
        self.field.set("");
        self.sent += 1;
        let id = PlanningId(self.sent);
        self.planning = Some(Planning { id, text: Plain::summary(&text), since: now, progress: Plain::line("planning") });
        Some((id, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_request_is_not_sent() {
        let mut line = RequestLine::default();
        line.field.set("  \n ");
        assert_eq!(line.submit(Time(0)), None);
    }
}

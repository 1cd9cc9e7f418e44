//! `RequestLine`: what a person asks for, what they asked and typed before, and the plan that is being made of it.

use super::field::{Lines, TextField};
use super::typed::{Typed, TypedLine};
use crate::engine::Time;
use crate::host::client::{MadePlan, PlanningId};
use crate::text::Plain;

/// Requests that show on an empty screen. Each can be planned and run without a model.
pub const EXAMPLES: [(&str, bool); 3] = [
    ("List the five largest files and write the list to largest.md", false),
    ("Which files contain todo?", false),
    ("Draft a reply to a customer who waits for an order", true),
];

/// What a person asks for.
#[derive(Clone, Debug)]
pub struct RequestLine {
    pub field: TextField,
    /// What was typed before, here and into other lines.
    pub typed: Typed,
    /// The plan that is being made.
    pub planning: Option<Planning>,
    /// Several plans for one request.
    pub rivals: Rivals,
    /// The commands that were taken from the list of all, the last one last.
    pub taken: Vec<&'static str>,
    /// Planning requests sent so far.
    sent: u64,
}

/// Several plans for one request, to choose from.
#[derive(Clone, Debug, Default)]
pub struct Rivals {
    /// Those that are being made.
    open: Vec<PlanningId>,
    /// Those that came, each with its number.
    pub made: Vec<(usize, MadePlan)>,
    /// The first one's id; numbers count from it.
    first: u64,
}

impl Rivals {
    /// The number of a plan that is being made, from 1.
    pub fn number(&self, id: PlanningId) -> Option<usize> {
        self.open.contains(&id).then(|| usize::try_from(id.0 - self.first).unwrap_or_default() + 1)
    }

    /// Takes one in, or that it failed; says whether all have come now.
    pub fn came(&mut self, id: PlanningId, made: Option<MadePlan>) -> bool {
        let Some(number) = self.number(id) else { return false };
        self.open.retain(|open| *open != id);
        self.made.extend(made.map(|made| (number, made)));
        self.made.sort_by_key(|(number, _)| *number);
        self.open.is_empty()
    }

    /// Stops waiting; gives what is still being made.
    pub fn stop(&mut self) -> Vec<PlanningId> {
        std::mem::take(&mut self.open)
    }
}

/// A plan that is being made.
#[derive(Clone, Debug)]
pub struct Planning {
    pub id: PlanningId,
    pub text: Plain,
    /// When it was sent.
    pub since: Time,
    /// The planner's last status line.
    pub progress: Plain,
}

impl Default for RequestLine {
    fn default() -> Self {
        Self {
            field: TextField::new(Lines::Many, ""),
            typed: Typed::default(),
            planning: None,
            rivals: Rivals::default(),
            taken: Vec::new(),
            sent: 0,
        }
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
        self.planning = Some(Planning { id, text: Plain::summary(&text), since: now, progress: Plain::default() });
        Some((id, text))
    }
}

impl RequestLine {
    /// Takes a text as a request for several plans; gives their ids.
    pub fn submit_rivals(&mut self, text: &str, count: u64, now: Time) -> Vec<PlanningId> {
        self.field.set("");
        let first = self.sent + 1;
        let ids: Vec<PlanningId> = (first..first + count).map(PlanningId).collect();
        // One more for what is shown: none of them grows in the tree.
        self.sent += count + 1;
        self.rivals = Rivals { open: ids.clone(), made: Vec::new(), first };
        let progress = Plain::line(&format!("{count} plans to choose from"));
        self.planning = Some(Planning { id: PlanningId(self.sent), text: Plain::summary(text), since: now, progress });
        ids
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

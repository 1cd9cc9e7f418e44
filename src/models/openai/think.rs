//! Thinking that local models write into their text, between `<think>` and `</think>` at its start, told from the answer. Pure.

use crate::models::Delta;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Takes the text piece by piece.
#[derive(Debug, Default)]
pub(super) struct ThinkSplitter {
    state: ThinkState,
    /// What may be the beginning of a mark.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThinkState {
    /// Nothing but white space has come.
    #[default]
    Start,
    Thinking,
    /// After the thinking, before the first letter of the answer.
    Gap,
    Answer,
}

impl ThinkSplitter {
    /// What a piece adds, as thinking or as answer.
    pub(super) fn push(&mut self, piece: &str) -> Vec<Delta> {
        self.held.push_str(piece);
        let mut out = Vec::new();
        loop {
            let held = std::mem::take(&mut self.held);
            match self.state {
                ThinkState::Answer => {
                    out.extend((!held.is_empty()).then_some(Delta::Text(held)));
                    return out;
                }
                ThinkState::Gap => match held.trim_start() {
                    "" => return out,
                    answer => {
                        self.held = answer.to_owned();
                        self.state = ThinkState::Answer;
                    }
                },
                ThinkState::Start => {
                    let begun = held.trim_start();
                    if let Some(rest) = begun.strip_prefix(OPEN) {
                        self.held = rest.to_owned();
                        self.state = ThinkState::Thinking;
                    } else if OPEN.starts_with(begun) {
                        self.held = held;
                        return out;
                    } else {
                        self.held = held;
                        self.state = ThinkState::Answer;
                    }
                }
                ThinkState::Thinking => {
                    if let Some((thought, rest)) = held.split_once(CLOSE) {
                        out.extend((!thought.is_empty()).then(|| Delta::Reasoning(thought.to_owned())));
                        self.held = rest.to_owned();
                        self.state = ThinkState::Gap;
                    } else {
                        let keep = (1..CLOSE.len()).rev().find(|count| held.ends_with(&CLOSE[..*count])).unwrap_or(0);
                        let (thought, rest) = held.split_at(held.len() - keep);
                        out.extend((!thought.is_empty()).then(|| Delta::Reasoning(thought.to_owned())));
                        self.held = rest.to_owned();
                        return out;
                    }
                }
            }
        }
    }

    /// The text is over: what was held back belongs to it.
    pub(super) fn finish(&mut self) -> Option<Delta> {
        let held = std::mem::take(&mut self.held);
        match self.state {
            _ if held.is_empty() => None,
            ThinkState::Thinking => Some(Delta::Reasoning(held)),
            ThinkState::Start | ThinkState::Gap | ThinkState::Answer => Some(Delta::Text(held)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let mut deltas: Vec<Delta> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
        deltas.extend(splitter.finish());
        let (mut thought, mut answer) = (String::new(), String::new());
        for delta in deltas {
            match delta {
                Delta::Reasoning(text) => thought.push_str(&text),
                Delta::Text(text) => answer.push_str(&text),
                Delta::Call | Delta::Waits { .. } | Delta::Otherwise { .. } | Delta::Restart { .. } => unreachable!(),
            }
        }
        (thought, answer)
    }

    #[test]
    fn thinking_is_told_from_the_answer_however_it_is_cut() {
        let whole = "\n<think>\nIs 2 < 3? </thin yes.\n</think>\n\nYes, <think> is a tag.";
        let expected = ("\nIs 2 < 3? </thin yes.\n".to_owned(), "Yes, <think> is a tag.".to_owned());
        assert_eq!(split(&[whole]), expected);
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        assert_eq!(split(&letters.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn an_answer_without_thinking_is_whole() {
        assert_eq!(split(&["  <", "b>x</b>"]), (String::new(), "  <b>x</b>".into()));
        assert_eq!(split(&["<thi"]), (String::new(), "<thi".into()));
        assert_eq!(split(&["<think>never ends"]), ("never ends".into(), String::new()));
    }
}

//! `Typed`: what was typed into lines of text in this session of the console, so that it can be had again.

use std::mem::{Discriminant, discriminant};

use super::{LineThen, SetupLine};

/// Texts that are kept of each line.
const KEPT: usize = 100;

/// A line of text, whatever its place on the screen is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedLine {
    /// The request line.
    Request,
    Filter,
    LogFilter,
    /// A dialog that asks for this sort of thing.
    Dialog(Discriminant<LineThen>),
    /// A line of setting up a model.
    SetUp(SetupLine),
}

impl TypedLine {
    /// The line of a dialog.
    pub fn of(then: &LineThen) -> Self {
        match then {
            LineThen::SetUp(line) => Self::SetUp(*line),
            other => Self::Dialog(discriminant(other)),
        }
    }
}

/// What was typed before, oldest first, each text once.
#[derive(Clone, Debug, Default)]
pub struct Typed(Vec<(TypedLine, Vec<String>)>);

impl Typed {
    /// What was typed into a line.
    pub fn before(&self, line: TypedLine) -> &[String] {
        self.0.iter().find(|(known, _)| *known == line).map_or(&[], |(_, texts)| texts)
    }

    /// Keeps a text that was taken.
    pub fn keep(&mut self, line: TypedLine, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let at = self.0.iter().position(|(known, _)| *known == line).unwrap_or_else(|| {
            self.0.push((line, Vec::new()));
            self.0.len() - 1
        });
        let texts = &mut self.0[at].1;
        texts.retain(|known| known != text);
        texts.push(text.to_owned());
        texts.drain(..texts.len().saturating_sub(KEPT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::TextField;

    #[test]
    fn going_through_earlier_texts_gives_back_what_stood_there() {
        let mut field = TextField::default();
        let texts = ["one".to_owned(), "two".to_owned()];
        field.set("half");
        for expected in ["two", "one", "one"] {
            field.older(&texts);
            assert_eq!(field.text(), expected);
        }
        assert!(field.newer(&texts) && field.text() == "two");
        assert!(field.newer(&texts) && field.text() == "half");
        assert!(!field.newer(&texts), "there is nothing after it");
        field.set("two");
        field.older(&texts);
        assert_eq!(field.text(), "one", "what stands there already is passed over");
    }

    #[test]
    fn each_line_keeps_its_own_newest_texts_once() {
        let mut typed = Typed::default();
        for text in ["one", "two", " ", "one"] {
            typed.keep(TypedLine::Filter, text);
        }
        typed.keep(TypedLine::of(&LineThen::Why), "because");
        assert_eq!(typed.before(TypedLine::Filter), ["two", "one"]);
        assert_eq!(typed.before(TypedLine::of(&LineThen::Why)), ["because"]);
        assert!(typed.before(TypedLine::LogFilter).is_empty());
        (0..=KEPT).for_each(|n| typed.keep(TypedLine::Filter, &n.to_string()));
        assert_eq!((typed.before(TypedLine::Filter).len(), typed.before(TypedLine::Filter)[0].as_str()), (KEPT, "1"));
    }
}

//! The text of a document: which syntax it is in, its value, and where a path of it is.

use super::excerpt::{Excerpt, excerpt};
use super::json::{self, Lost};
use super::reading::ListForm;
use super::{locate, loose, numbers, unquoted, yaml};
use crate::plan::Dialect;
use crate::plan::fields::ShapeError;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// So many numbers of a text may be larger than any can be: it is read again for each.
const MOST_TOO_LARGE: usize = 20;

/// How a document is written in a text. Drawings have a form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    Json,
    Yaml,
}

impl Syntax {
    /// The syntax of a document's text; `origin` is as in `read`.
    pub fn of(text: &str, origin: &str) -> Self {
        SourceText::open(text, origin).map_or(Self::Json, |source| source.syntax)
    }

    /// Whether a text seems to have comments or words around its plan, which no writer keeps.
    pub fn has_comments(self, text: &str) -> bool {
        let is_comment = |line: &str| match self {
            Self::Yaml => line.trim_start().starts_with('#') || line.contains(" #"),
            Self::Json => line.trim_start().starts_with("//"),
        };
        text.lines().any(is_comment) || excerpt(text, "").is_some_and(|part| part.has_words)
    }
}

/// Why a text is not a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file's name or where the text came from.
    pub origin: String,
    /// Line and column from 1, where they are known.
    pub at: Option<(usize, usize)>,
    /// The place within the document, such as `nodes[2].args`; may be empty.
    pub path: String,
    /// Whose document it is, where its shape tells that.
    pub shape: Option<Dialect>,
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

/// A text with the name of where it came from.
#[derive(Clone)]
pub(super) struct SourceText<'t> {
    text: Cow<'t, str>,
    origin: &'t str,
    syntax: Syntax,
    /// Lines before the text that is read.
    lines_before: usize,
    /// What is read past.
    past: Vec<(ListForm, String)>,
    /// What the value doesn't hold of the text.
    lost: Vec<Lost>,
}

impl<'t> SourceText<'t> {
    /// Tells the syntax: by the file's ending, else by the first character.
    ///
    /// # Errors
    /// When there is no text.
    pub fn open(text: &'t str, origin: &'t str) -> Result<Self, ReadError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match excerpt(text, origin) {
            Some(Excerpt { text, lines_before, left, .. }) => {
                let source = Self::whole(text, origin)?;
                Ok(Self { lines_before, past: vec![left], ..source })
            }
            None => Self::whole(text, origin),
        }
    }

    /// All of a text.
    ///
    /// # Errors
    /// When there is no text.
    pub fn whole(text: &'t str, origin: &'t str) -> Result<Self, ReadError> {
        let ends = |ending: &str| origin.to_ascii_lowercase().ends_with(ending);
        let syntax = if ends(".yaml") || ends(".yml") {
            Syntax::Yaml
        } else if ends(".json") || text.trim_start().starts_with(['{', '[', '"']) {
            Syntax::Json
        } else {
            Syntax::Yaml
        };
        let source = Self { text: Cow::Borrowed(text), origin, syntax, lines_before: 0, past: Vec::new(), lost: Vec::new() };
        if text.trim().is_empty() {
            let line = text.matches('\n').count() + 1;
            let column = text.rsplit('\n').next().map_or(0, str::len).max(1);
            return Err(source.error(Some((line, column)), "the text is empty; a plan is an object in JSON or YAML"));
        }
        Ok(source)
    }

    /// The value of the text.
    ///
    /// # Errors
    /// When the text isn't of its syntax.
    pub fn parse(mut self) -> Result<(Value, Self), ReadError> {
        if self.syntax == Syntax::Yaml {
            return match yaml::read(&self.text) {
                Ok((mut value, lost)) => {
                    unquoted::keep_names(&mut value, &self.text);
                    Ok(self.with_numbers(value, lost))
                }
                Err((message, at)) if message == yaml::NOT_FINITE => self.without_number(at, message),
                Err((message, at)) => Err(self.error_at(at, message)),
            };
        }
        let error = match json::read(&self.text) {
            Ok((value, lost)) => return Ok(self.with_numbers(value, lost)),
            Err(error) => error,
        };
        if error.to_string().starts_with("number out of range") {
            return self.without_number(Some((error.line(), error.column())), "a number is larger than any can be".to_owned());
        }
        if error.is_syntax()
            && let Some((value, text, message)) = loose::read(&self.text)
        {
            self.past.push((ListForm::Surplus, message.to_owned()));
            return Ok((value, Self { text: Cow::Owned(text), ..self }));
        }
        let message = error.to_string();
        // serde_json repeats the place at the end of its message.
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        let message = if error.is_data() {
            message.to_owned()
        } else if message.starts_with("recursion limit") {
            "nested too deeply for a plan".to_owned()
        } else {
            format!("not JSON: {message}")
        };
        Err(self.error_at(Some((error.line().max(1), error.column().max(1))), message))
    }

    fn with_numbers(self, mut value: Value, lost: Vec<Lost>) -> (Value, Self) {
        let more = numbers::lost(&mut value, &self.text, self.syntax, &lost);
        (value, Self { lost: self.lost.iter().cloned().chain(lost).chain(more).collect(), ..self })
    }

    /// The value of the text with a number as text that is larger than any can be.
    fn without_number(mut self, at: Option<(usize, usize)>, message: String) -> Result<(Value, Self), ReadError> {
        let quoted = at.filter(|_| self.lost.len() < MOST_TOO_LARGE).and_then(|at| numbers::quoted(&self.text, self.syntax, at));
        let Some((text, number)) = quoted else { return Err(self.error_at(at, message)) };
        let message = format!("`{number}` is no number that can be kept: it is read as text");
        self.lost.push(Lost { path: String::new(), message, is_doubled: false });
        Self { text: Cow::Owned(text), ..self }.parse()
    }

    /// The error for a place in the document.
    pub fn fault(&self, ShapeError { path, message }: ShapeError) -> ReadError {
        let at = self.locate([path.as_str()].into_iter()).pop().flatten();
        ReadError { path, ..self.error(at, message) }
    }

    /// Line and column of several places in the document, or of the nearest thing around each.
    pub fn locate<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Vec<Option<(usize, usize)>> {
        let mut places: Vec<Option<(usize, usize)>> = match self.syntax {
            Syntax::Json => locate::locate(&self.text, paths).into_iter().map(Some).collect(),
            Syntax::Yaml => yaml::locate(&self.text, paths),
        };
        places.iter_mut().flatten().for_each(|(line, _)| *line += self.lines_before);
        places
    }

    /// What is read past in the text.
    pub fn surplus(&self) -> &[(ListForm, String)] {
        &self.past
    }

    /// The names of what its document only keeps to be repeated in other places.
    pub fn templates(&self) -> Vec<&str> {
        if self.syntax == Syntax::Yaml { yaml::templates(&self.text) } else { Vec::new() }
    }

    /// What the value doesn't hold of the text.
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// An error at a line and column of the text.
    fn error_at(&self, at: Option<(usize, usize)>, message: impl Into<String>) -> ReadError {
        self.error(at.map(|(line, column)| (line + self.lines_before, column)), message)
    }

    fn error(&self, at: Option<(usize, usize)>, message: impl Into<String>) -> ReadError {
        ReadError { origin: self.origin.to_owned(), at, path: String::new(), shape: None, message: message.into() }
    }
}

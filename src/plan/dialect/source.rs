//! The text of a document: which syntax it is in, its value, and where a path of it is.

use super::json::Strict;
use super::{locate, unquoted, yaml};
use crate::plan::Dialect;
use crate::plan::fields::ShapeError;
use serde_json::Value;
use std::fmt;

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

    /// Whether a text seems to have comments, which no writer keeps.
    pub fn has_comments(self, text: &str) -> bool {
        self == Self::Yaml && text.lines().any(|line| line.trim_start().starts_with('#') || line.contains(" #"))
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

/// What a block of Markdown code holds, where the text is no more than one, and how many lines are before it.
fn inside_fence(text: &str) -> Option<(&str, usize)> {
    let block = text.trim_start();
    let (_, inner) = block.strip_prefix("```")?.split_once('\n')?;
    let inner = inner.trim_end().strip_suffix("```").filter(|inner| !inner.contains("```"))?;
    Some((inner, text[..text.len() - block.len()].matches('\n').count() + 1))
}

/// A text with the name of where it came from.
#[derive(Clone, Copy)]
pub(super) struct SourceText<'t> {
    text: &'t str,
    origin: &'t str,
    syntax: Syntax,
    /// Lines before the text, where it is a block of Markdown code.
    fenced_after: Option<usize>,
    /// Commas before a closing bracket make it YAML that is JSON but for them.
    has_commas: bool,
}

impl<'t> SourceText<'t> {
    /// Tells the syntax: by the file's ending, else by the first character.
    ///
    /// # Errors
    /// When there is no text.
    pub fn open(text: &'t str, origin: &'t str) -> Result<Self, ReadError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (text, fenced_after) = inside_fence(text).map_or((text, None), |(inner, lines)| (inner, Some(lines)));
        let ends = |ending: &str| origin.to_ascii_lowercase().ends_with(ending);
        let syntax = if ends(".yaml") || ends(".yml") {
            Syntax::Yaml
        } else if ends(".json") || text.trim_start().starts_with(['{', '[', '"']) {
            Syntax::Json
        } else {
            Syntax::Yaml
        };
        let source = Self { text, origin, syntax, fenced_after, has_commas: false };
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
    pub fn parse(self) -> Result<(Value, Self), ReadError> {
        match self.syntax {
            Syntax::Json => match serde_json::from_str::<Strict>(self.text) {
                Ok(value) => Ok((value.0, self)),
                Err(error) => {
                    let message = error.to_string();
                    if message.starts_with("trailing comma")
                        && let Ok(value) = yaml::read(self.text)
                    {
                        return Ok((value, Self { has_commas: true, ..self }));
                    }
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
            },
            Syntax::Yaml => match yaml::read(self.text) {
                Ok(mut value) => {
                    unquoted::keep_names(&mut value, self.text);
                    Ok((value, self))
                }
                Err((message, at)) => Err(self.error_at(at, message)),
            },
        }
    }

    /// The error for a place in the document.
    pub fn fault(&self, ShapeError { path, message }: ShapeError) -> ReadError {
        let at = self.locate([path.as_str()].into_iter()).pop().flatten();
        ReadError { path, ..self.error(at, message) }
    }

    /// Line and column of several places in the document, or of the nearest thing around each.
    pub fn locate<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Vec<Option<(usize, usize)>> {
        let mut places: Vec<Option<(usize, usize)>> = match self.syntax {
            Syntax::Json => locate::locate(self.text, paths).into_iter().map(Some).collect(),
            Syntax::Yaml => yaml::locate(self.text, paths),
        };
        places.iter_mut().flatten().for_each(|(line, _)| *line += self.fenced_after.unwrap_or(0));
        places
    }

    /// What is read past in the text.
    pub fn surplus(&self) -> Vec<&'static str> {
        let fence = self.fenced_after.map(|_| "the text is a block of Markdown code: read without its marks");
        let commas = self.has_commas.then_some("the text has commas before closing brackets: read without them");
        fence.into_iter().chain(commas).collect()
    }

    /// An error at a line and column of the text.
    fn error_at(&self, at: Option<(usize, usize)>, message: impl Into<String>) -> ReadError {
        self.error(at.map(|(line, column)| (line + self.fenced_after.unwrap_or(0), column)), message)
    }

    fn error(&self, at: Option<(usize, usize)>, message: impl Into<String>) -> ReadError {
        ReadError { origin: self.origin.to_owned(), at, path: String::new(), shape: None, message: message.into() }
    }
}

//! Slots: what a template needs to know of a request (a path, a number, a file to write), taken out of its words.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::places::{is_file, is_output, url};
use super::words::{self, Word};

/// What a slot takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    /// A folder of the workspace.
    Directory,
    /// A file to read; `nth` says which of several.
    File,
    /// A pattern for files: `*.rs`, or the name of a language.
    Glob,
    Number,
    /// A file to write.
    Output,
    /// An address on the web.
    Url,
    Expression,
    /// What is searched for; `nth` says which of several.
    Text,
    Old,
    /// What it is replaced with.
    New,
    Command,
    /// What the request is about, without verbs, files and the like.
    Topic,
    /// One of two things that are compared, by `nth`.
    Side,
    /// A key of `choices` one of whose words occurs.
    Choice,
    /// A path into JSON, such as `users.0.name`.
    Field,
    /// The request as it is.
    Request,
}

/// A slot of a template.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateSlot {
    pub kind: SlotKind,
    /// Which of several, from 1.
    #[serde(default = "first")]
    pub nth: usize,
    /// Taken when the request doesn't say; absent: the slot stays empty.
    #[serde(default)]
    pub default: Option<Value>,
    /// Whether the template only fits when the request fills the slot.
    #[serde(default)]
    pub required: bool,
    /// For `choice`: words by value.
    #[serde(default)]
    pub choices: BTreeMap<String, Vec<String>>,
    /// For `file`: the endings that it may have.
    #[serde(default)]
    pub endings: Vec<String>,
}

fn first() -> usize {
    1
}

/// A request, taken apart once for all templates.
pub(super) struct ParsedRequest<'a> {
    pub text: &'a str,
    pub words: Vec<Word>,
    /// Place of the file to write, if one is named.
    pub output: Option<usize>,
    /// Places of the other files.
    pub files: Vec<usize>,
}

impl<'a> ParsedRequest<'a> {
    pub fn new(text: &'a str) -> Self {
        let words = words::words(text);
        let files: Vec<usize> = (0..words.len()).filter(|&at| is_file(&words[at])).collect();
        let output = files.iter().rev().copied().find(|&at| is_output(&words, at));
        Self { text, files: files.into_iter().filter(|at| Some(*at) != output).collect(), words, output }
    }

    /// The file to write.
    pub fn output(&self) -> Option<&str> {
        self.output.map(|at| self.words[at].raw.as_str())
    }

    /// Takes a slot's value out of the request.
    pub fn take(&self, slot: &TemplateSlot) -> Option<Value> {
        let nth = slot.nth.saturating_sub(1);
        match slot.kind {
            SlotKind::Directory => self.directory().map(Value::from),
            SlotKind::File => self.files_with(&slot.endings).nth(nth).map(Value::from),
            SlotKind::Glob => self.glob().map(Value::from),
            SlotKind::Number => self.number().map(Value::from),
            SlotKind::Output => self.output().map(Value::from),
            SlotKind::Url => self.words.iter().filter_map(|word| url(&word.raw)).nth(nth).map(Value::from),
            SlotKind::Expression => self.expression().map(Value::from),
            SlotKind::Text => self.search_text(nth).map(Value::from),
            SlotKind::Old => self.replacement().map(|(old, _)| Value::from(old)),
            SlotKind::New => self.replacement().map(|(_, new)| Value::from(new)),
            SlotKind::Command => self.command().map(Value::from),
            SlotKind::Topic => self.topic().map(Value::from),
            SlotKind::Side => self.sides().and_then(|sides| sides.into_iter().nth(nth)).map(Value::from),
            SlotKind::Choice => self.choice(&slot.choices).map(Value::from),
            SlotKind::Field => self.field().map(Value::from),
            SlotKind::Request => Some(json!(self.text.trim())),
        }
    }

    pub(super) fn lower(&self, at: usize) -> &str {
        self.words.get(at).filter(|word| !word.quoted).map_or("", |word| word.lower.as_str())
    }

    fn files_with(&self, endings: &[String]) -> impl Iterator<Item = &str> {
        let fits = move |raw: &str| endings.is_empty() || endings.iter().any(|ending| raw.to_lowercase().ends_with(&format!(".{ending}")));
        self.files.iter().map(|&at| self.words[at].raw.as_str()).filter(move |raw| fits(raw))
    }
}

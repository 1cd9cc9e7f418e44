//! What the tools for whole files and folders share: one path or many as an argument, what a call touches, and how it is shown before.

use serde::Deserialize;
use std::fmt::Write as _;

use super::access;
use crate::engine::{FileAccess, Preview};
use crate::text::{bytes, counted};
use crate::tools::{Entry, EntryKind, ToolContext, ToolError, Workspace};

/// Lines of a preview.
const SHOWN: usize = 200;

/// One path, or a list of paths or of objects with a `path`, such as what `list_directory` gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Paths {
    One(String),
    Many(Vec<PathItem>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PathItem {
    Path(String),
    Entry { path: String },
}

impl Paths {
    pub(super) fn all(&self) -> Vec<&str> {
        match self {
            Self::One(path) => vec![path],
            Self::Many(items) => items.iter().map(|(PathItem::Path(path) | PathItem::Entry { path })| path.as_str()).collect(),
        }
    }

    /// In a few words, for the reason of a gate.
    pub(super) fn label(&self) -> String {
        match self.all()[..] {
            [] => "nothing".into(),
            [path] => format!("`{path}`"),
            [first, ..] => format!("`{first}` and {} more", self.all().len() - 1),
        }
    }
}

/// The schema of `Paths`.
pub(super) fn paths_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["string", "array"],
        "items": { "type": ["string", "object"], "properties": { "path": { "type": "string" } }, "required": ["path"] }
    })
}

/// How much entries are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount {
    pub(super) files: usize,
    pub(super) directories: usize,
    pub(super) bytes: u64,
}

impl Amount {
    pub(super) fn of<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Self {
        entries.into_iter().fold(Self::default(), |sum, entry| match entry.kind {
            EntryKind::Directory => Self { directories: sum.directories + 1, ..sum },
            EntryKind::File | EntryKind::Link => Self { files: sum.files + 1, bytes: sum.bytes + entry.bytes, ..sum },
        })
    }

    /// `3 files (1.2 kB) and 1 directory`.
    pub(super) fn label(self) -> String {
        let files = format!("{} ({})", counted(self.files, "file"), bytes(self.bytes));
        match (self.files, self.directories) {
            (_, 0) => files,
            (0, directories) => directories_label(directories),
            (_, directories) => format!("{files} and {}", directories_label(directories)),
        }
    }
}

/// The files among entries, as touched.
pub(super) fn touched(entries: &[Entry], operation: &str) -> impl Iterator<Item = FileAccess> {
    entries.iter().filter(|entry| entry.kind != EntryKind::Directory).map(move |entry| access(entry.at.display(), operation, None))
}

/// A preview of lines below a heading, or why the call would be refused.
pub(super) fn listed(context: &ToolContext, made: impl FnOnce(&Workspace) -> Result<(String, Vec<String>), ToolError>) -> Preview {
    let text = Workspace::new(&context.workspace).and_then(|workspace| made(&workspace)).map(|(heading, lines)| {
        let mut text = heading;
        lines.iter().take(SHOWN).for_each(|line| {
            let _ = write!(text, "\n{line}");
        });
        if lines.len() > SHOWN {
            let _ = write!(text, "\n… and {} more", lines.len() - SHOWN);
        }
        text
    });
    Preview::Text(text.unwrap_or_else(|error| format!("this would be refused: {error}")))
}

fn directories_label(n: usize) -> String {
    if n == 1 { "1 directory".into() } else { format!("{n} directories") }
}

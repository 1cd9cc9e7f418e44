//! Walks below a directory: what they see of what version control leaves out. Never follows links.

use ignore::WalkBuilder;
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

/// What a walk sees of what version control leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing, and no hidden files.
    Plain,
    /// Ignored files, without hidden ones and what tools fill.
    Ignored,
    /// Everything.
    All,
}

impl Seen {
    pub(crate) fn of(all: bool, ignored: bool) -> Self {
        match (all, ignored) {
            (true, _) => Self::All,
            (false, true) => Self::Ignored,
            (false, false) => Self::Plain,
        }
    }
}

/// Folders that tools fill with what can be made again.
pub(crate) const FILLED: [&str; 9] = ["node_modules", "target", "build", "dist", "out", "vendor", "venv", "__pycache__", "coverage"];

/// A walk below a directory, and never inside `.git`.
pub(crate) fn walk(directory: &Path, seen: Seen, depth: Option<usize>) -> ignore::Walk {
    let mut builder = WalkBuilder::new(directory);
    builder.require_git(false).follow_links(false).sort_by_file_path(Ord::cmp).max_depth(depth);
    if seen == Seen::Ignored {
        // Such a folder that isn't ignored is a folder like others.
        let plain = builder.clone().max_depth(None).build().flatten();
        let own: HashSet<PathBuf> =
            plain.filter(|entry| FILLED.iter().any(|name| entry.file_name() == *name)).map(|entry| entry.into_path()).collect();
        builder.filter_entry(move |entry| {
            let is_filled = entry.depth() > 0 && FILLED.iter().any(|name| entry.file_name() == *name);
            entry.file_name() != ".git"
                && (!is_filled || own.contains(entry.path()) || !entry.file_type().is_some_and(|kind| kind.is_dir()))
        });
        return builder.standard_filters(false).hidden(true).build();
    }
    builder.standard_filters(seen == Seen::Plain).filter_entry(|entry| entry.file_name() != ".git").build()
}

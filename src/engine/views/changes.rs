//! `RunChanges`: what a run changed in all, by what its tools reported, and what people replied.

use super::describe::listed;
use crate::engine::{RunState, acts::RunActs};
use crate::text::{Plain, counted, some_of};
use indexmap::IndexSet;

/// What a run changed in all, in each attempt of each generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunChanges {
    acts: RunActs,
    /// What people replied to gates, by its word, with how often.
    replies: Vec<(&'static str, usize)>,
}

/// Files that are named.
const NAMED: usize = 3;

impl RunState {
    /// What it changed so far.
    pub fn changes(&self) -> RunChanges {
        let mut changes = RunChanges { acts: self.progress.acts.clone(), ..RunChanges::default() };
        for decided in self.gates().filter_map(|(_, decided)| decided).filter(|decided| !decided.by.is_rule()) {
            let word = decided.decision.label();
            match changes.replies.iter_mut().find(|(known, _)| *known == word) {
                Some((_, count)) => *count += 1,
                None => changes.replies.push((word, 1)),
            }
        }
        changes
    }
}

impl RunChanges {
    /// Such as `wrote 2 files, deleted 1 file`; empty where it changed none that are known. A command beside them may have changed more.
    pub fn files_label(&self) -> Plain {
        let some = |word: &str, count: usize, what: &str| (count > 0).then(|| Plain::line(&format!("{word} {}", counted(count, what))));
        let RunActs { written, moved, deleted, commands } = &self.acts;
        let files = [some("wrote", written.len(), "file"), some("moved", moved.len(), "file"), some("deleted", deleted.len(), "file")];
        let ran = some("ran", *commands, "command").filter(|_| files.iter().any(Option::is_some));
        listed(files.into_iter().chain([ran]).flatten())
    }

    /// Names with what they name: the files, how many commands ran, what people replied. Empty where nothing was changed and asked.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let named = |files: &IndexSet<String>| some_of(files, NAMED);
        let moved = some_of(self.acts.moved.iter().map(|(from, to)| format!("{from} to {to}")), NAMED);
        let replies = self.replies.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ");
        let ran = match self.acts.commands {
            0 => String::new(),
            count => format!("{}, which may have changed more", counted(count, "command")),
        };
        [("wrote", named(&self.acts.written)), ("moved", moved), ("deleted", named(&self.acts.deleted)), ("ran", ran), ("people", replies)]
            .into_iter()
            .filter(|(_, what)| !what.is_empty())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::FileAccess;

    #[test]
    fn a_file_is_named_once_by_what_became_of_it() {
        let mut changes = RunChanges { replies: vec![("approved", 3), ("rejected", 1)], ..RunChanges::default() };
        let file =
            |(operation, path): &(&str, &str)| FileAccess { path: (*path).into(), operation: (*operation).into(), content_preview: None };
        let mut take = |touched: &[(&str, &str)]| changes.acts.take(&touched.iter().map(file).collect::<Vec<_>>());
        take(&[("write", "a"), ("read", "x"), ("write", "a"), ("write", "b")]);
        take(&[("move", "b"), ("write", "c")]);
        take(&[("delete", "d")]);
        take(&[("move", "e"), ("move", "f"), ("write", "g/e"), ("write", "g/f"), ("write", "h")]);
        take(&[("move", "g/f"), ("write", "f2")]);
        assert_eq!(changes.files_label().as_str(), "wrote 3 files, moved 2 files, deleted 1 file");
        changes.acts.commands = 2;
        assert_eq!(changes.files_label().as_str(), "wrote 3 files, moved 2 files, deleted 1 file, ran 2 commands");
        let due = [
            ("wrote", "a, c, h"),
            ("moved", "e to g/e, f to f2"),
            ("deleted", "d"),
            ("ran", "2 commands, which may have changed more"),
            ("people", "approved 3, rejected 1"),
        ];
        assert_eq!(changes.lines(), due.map(|(name, what)| (name, what.to_owned())));
        assert!(RunChanges::default().lines().is_empty());
    }
}

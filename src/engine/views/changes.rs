//! `RunChanges`: what a run changed in all, by what its tools reported, and what people replied.

use std::collections::VecDeque;

use super::describe::listed;
use crate::engine::RunState;
use crate::text::{Plain, counted};

/// What a run changed in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunChanges {
    written: Vec<String>,
    /// Old and new place of each.
    moved: Vec<(String, String)>,
    deleted: Vec<String>,
    /// Calls of `run_command`.
    commands: usize,
    /// What people replied to gates, by its word, with how often.
    replies: Vec<(&'static str, usize)>,
}

/// Files that are named.
const NAMED: usize = 3;

impl RunState {
    /// What it changed so far.
    pub fn changes(&self) -> RunChanges {
        let mut changes = RunChanges::default();
        for (_, node) in self.nodes() {
            let calls = node.lineage.tools.iter();
            changes.commands += calls.filter(|(call, report)| call.tool == "run_command" && report.is_some()).count();
            changes.take_all(node.lineage.files.iter().map(|file| (file.operation.as_str(), file.path.as_str())));
        }
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
    /// The files that one node touched, in order. What a move writes comes behind the places that it left.
    fn take_all<'a>(&mut self, touched: impl Iterator<Item = (&'a str, &'a str)>) {
        let mut left = VecDeque::new();
        for (operation, path) in touched {
            match (operation, left.front()) {
                ("move", _) => left.push_back(path),
                ("write", Some(_)) => {
                    if let Some(from) = left.pop_front() {
                        self.moves(from, path);
                    }
                }
                ("write", None) => self.writes(path),
                ("delete", _) => self.deletes(path),
                (_, _) => {}
            }
        }
        left.into_iter().for_each(|path| self.deletes(path));
    }

    fn writes(&mut self, path: &str) {
        self.deleted.retain(|known| known != path);
        if !self.written.iter().any(|known| known == path) {
            self.written.push(path.to_owned());
        }
    }

    fn deletes(&mut self, path: &str) {
        self.written.retain(|known| known != path);
        if !self.deleted.iter().any(|known| known == path) {
            self.deleted.push(path.to_owned());
        }
    }

    fn moves(&mut self, from: &str, to: &str) {
        if self.written.iter().any(|known| known == from) {
            self.written.retain(|known| known != from);
            return self.writes(to);
        }
        self.deleted.retain(|known| known != to);
        // What moves on was moved from where it was first.
        match self.moved.iter_mut().find(|(_, known)| known == from) {
            Some((_, place)) => to.clone_into(place),
            None => self.moved.push((from.to_owned(), to.to_owned())),
        }
    }

    /// Such as `wrote 2 files, deleted 1 file`; empty where it changed none.
    pub fn files_label(&self) -> Plain {
        let some = |word: &str, files: usize| (files > 0).then(|| Plain::line(&format!("{word} {}", counted(files, "file"))));
        listed(
            [some("wrote", self.written.len()), some("moved", self.moved.len()), some("deleted", self.deleted.len())].into_iter().flatten(),
        )
    }

    /// Names with what they name: the files, how many commands ran, what people replied. Empty where nothing was changed and asked.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let named = |files: &[String]| {
            let more = files.len().saturating_sub(NAMED);
            let first = files[..files.len().min(NAMED)].join(", ");
            if more > 0 { format!("{first} and {more} more") } else { first }
        };
        let moved: Vec<String> = self.moved.iter().map(|(from, to)| format!("{from} to {to}")).collect();
        let replies = self.replies.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ");
        [
            ("wrote", named(&self.written)),
            ("moved", named(&moved)),
            ("deleted", named(&self.deleted)),
            ("ran", if self.commands > 0 { counted(self.commands, "command") } else { String::new() }),
            ("people", replies),
        ]
        .into_iter()
        .filter(|(_, what)| !what.is_empty())
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_once_by_what_became_of_it() {
        let mut changes = RunChanges { commands: 2, replies: vec![("approved", 3), ("rejected", 1)], ..RunChanges::default() };
        let touched = [("write", "a"), ("read", "x"), ("write", "a"), ("write", "b"), ("move", "b"), ("write", "c"), ("delete", "d")];
        changes.take_all(touched.into_iter());
        changes.take_all([("move", "e"), ("move", "f"), ("write", "g/e"), ("write", "g/f"), ("write", "h")].into_iter());
        changes.take_all([("move", "g/f"), ("write", "f2")].into_iter());
        assert_eq!(changes.files_label().as_str(), "wrote 3 files, moved 2 files, deleted 1 file");
        let due = [
            ("wrote", "a, c, h"),
            ("moved", "e to g/e, f to f2"),
            ("deleted", "d"),
            ("ran", "2 commands"),
            ("people", "approved 3, rejected 1"),
        ];
        assert_eq!(changes.lines(), due.map(|(name, what)| (name, what.to_owned())));
        assert!(RunChanges::default().lines().is_empty());
    }
}

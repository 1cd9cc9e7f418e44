//! `RunChanges`: what a run changed in all, by what its tools reported, and what people replied.

use super::describe::listed;
use crate::engine::RunState;
use crate::text::{Plain, counted};

/// What a run changed in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunChanges {
    written: Vec<String>,
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
            for file in &node.lineage.files {
                changes.take(&file.operation, &file.path);
            }
        }
        for decided in self.gates().filter_map(|(_, decided)| decided).filter(|decided| decided.by.via != "rule") {
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
    fn take(&mut self, operation: &str, path: &str) {
        let (to, from) = match operation {
            "write" => (&mut self.written, &mut self.deleted),
            // A move leaves nothing at the old place.
            "delete" | "move" => (&mut self.deleted, &mut self.written),
            _ => return,
        };
        from.retain(|known| known != path);
        if !to.iter().any(|known| known == path) {
            to.push(path.to_owned());
        }
    }

    /// Such as `wrote 2 files, deleted 1 file`; empty where it changed none.
    pub fn files_label(&self) -> Plain {
        let some =
            |word: &str, files: &[String]| (!files.is_empty()).then(|| Plain::line(&format!("{word} {}", counted(files.len(), "file"))));
        listed([some("wrote", &self.written), some("deleted", &self.deleted)].into_iter().flatten())
    }

    /// Names with what they name: the files, how many commands ran, what people replied. Empty where nothing was changed and asked.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let named = |files: &[String]| {
            let more = files.len().saturating_sub(NAMED);
            let first = files[..files.len().min(NAMED)].join(", ");
            if more > 0 { format!("{first} and {more} more") } else { first }
        };
        let replies = self.replies.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ");
        [
            ("wrote", named(&self.written)),
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
        for (operation, path) in [("write", "a"), ("read", "x"), ("write", "a"), ("write", "b"), ("move", "b"), ("write", "c")] {
            changes.take(operation, path);
        }
        assert_eq!(changes.files_label().as_str(), "wrote 2 files, deleted 1 file");
        let due = [("wrote", "a, c"), ("deleted", "b"), ("ran", "2 commands"), ("people", "approved 3, rejected 1")];
        assert_eq!(changes.lines(), due.map(|(name, what)| (name, what.to_owned())));
        assert!(RunChanges::default().lines().is_empty());
    }
}

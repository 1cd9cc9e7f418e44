//! `RunActs`: what tools of a run did to the world, as far as they report it. A node that runs again, or whose attempt failed, has done
//! what it did, so nothing of this is ever taken back.

use super::FileAccess;
use indexmap::IndexSet;
use std::collections::VecDeque;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunActs {
    pub written: IndexSet<String>,
    /// Old and new place of each.
    pub moved: Vec<(String, String)>,
    pub deleted: IndexSet<String>,
    /// Commands that were started.
    pub commands: usize,
}

impl RunActs {
    /// Takes in the files that one call touched, in order. What a move writes comes behind the places that it left.
    pub fn take(&mut self, files: &[FileAccess]) {
        let mut left = VecDeque::new();
        for FileAccess { operation, path, .. } in files {
            match (operation.as_str(), left.front()) {
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
        if self.deleted.contains(path) {
            self.deleted.shift_remove(path);
        }
        self.written.insert(path.to_owned());
    }

    fn deletes(&mut self, path: &str) {
        if self.written.contains(path) {
            self.written.shift_remove(path);
        }
        self.deleted.insert(path.to_owned());
    }

    fn moves(&mut self, from: &str, to: &str) {
        if self.written.contains(from) {
            self.written.shift_remove(from);
            return self.writes(to);
        }
        if self.deleted.contains(to) {
            self.deleted.shift_remove(to);
        }
        // What moves on was moved from where it was first.
        match self.moved.iter_mut().find(|(_, known)| known == from) {
            Some((_, place)) => to.clone_into(place),
            None => self.moved.push((from.to_owned(), to.to_owned())),
        }
    }
}

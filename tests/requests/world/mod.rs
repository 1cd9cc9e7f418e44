//! The workspaces that requests are asked in, the same bytes and times on every machine.
//!
//! Contents are chosen so that a wrong reading gives another answer: a file without a last newline, blank lines, duplicate rows,
//! numbers with leading zeros, words inside other words, hidden files, the same word in other cases.

pub mod code;
mod depot;
mod desk;
mod service;
mod shop;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

/// 2024-03-01 12:00:00 UTC. Files are this old plus some hours, each its own, in an order that neither names nor sizes give.
const BASE: u64 = 1_709_294_400;

/// What is at a path below a workspace, its bytes or nothing but a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    File(Vec<u8>),
    Folder,
}

impl Entry {
    pub fn text(&self) -> String {
        match self {
            Self::File(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Self::Folder => String::new(),
        }
    }

    pub const fn is_folder(&self) -> bool {
        matches!(self, Self::Folder)
    }
}

/// Everything in a workspace by its path, folders too.
pub type Tree = BTreeMap<String, Entry>;

/// A workspace that can be laid out any number of times.
pub struct Workspaces {
    pub tree: Tree,
    /// Hours after `BASE`, for the files that were generated; what git made has the time of its layout.
    ages: BTreeMap<String, u64>,
    /// What git has staged, in a repository.
    pub staged: Option<String>,
}

impl Workspaces {
    pub fn named(name: &str) -> Self {
        match name {
            "shop" => Self::of(shop::files(), &["reports"]),
            "service" => Self::of(service::files(), &["tmp"]),
            "desk" => Self::of(desk::files(), &["empty", "archive"]),
            "depot" => Self::of(depot::files(), &[]),
            "code" => code::world(),
            other => panic!("no workspace is named {other}"),
        }
    }

    fn of(files: Vec<(impl Into<String>, String)>, folders: &[&str]) -> Self {
        let mut world = Self { tree: Tree::new(), ages: BTreeMap::new(), staged: None };
        for (index, (path, text)) in files.into_iter().map(|(path, text)| (path.into(), text)).enumerate() {
            world.ages.insert(path.clone(), (index as u64 * 37 + 11) % 101);
            for (at, _) in path.match_indices('/') {
                world.tree.insert(path[..at].to_owned(), Entry::Folder);
            }
            world.tree.insert(path, Entry::File(text.into_bytes()));
        }
        for folder in folders {
            world.tree.insert((*folder).to_owned(), Entry::Folder);
        }
        world
    }

    /// Writes the workspace into an empty folder.
    pub fn lay_out(&self, root: &Path) {
        for (path, entry) in &self.tree {
            let path_there = root.join(path);
            match entry {
                Entry::Folder => fs::create_dir_all(&path_there).unwrap(),
                Entry::File(bytes) => {
                    fs::create_dir_all(path_there.parent().unwrap()).unwrap();
                    fs::write(&path_there, bytes).unwrap();
                    if let Some(hours) = self.ages.get(path) {
                        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(BASE + hours * 3600);
                        fs::File::options().write(true).open(&path_there).unwrap().set_modified(time).unwrap();
                    }
                }
            }
        }
    }
}

/// Reads what a folder holds now.
pub fn read_tree(root: &Path) -> Tree {
    fn walk(root: &Path, folder: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                tree.insert(name, Entry::Folder);
                walk(root, &path, tree);
            } else {
                tree.insert(name, Entry::File(fs::read(&path).unwrap_or_default()));
            }
        }
    }
    let mut tree = Tree::new();
    walk(root, root, &mut tree);
    tree
}

/// One of a list, round and round.
fn pick<'a>(list: &[&'a str], index: usize) -> &'a str {
    list[index % list.len()]
}

//! What is known of the workspace before a request is read: its files and folders, and the columns and values of the tables that the request
//! names. Reads files within limits; changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::words::Word;
use crate::files;
use crate::tools::tables;

/// Most entries of the workspace that are known.
const ENTRIES: usize = 20_000;
/// Largest table that is looked into, in bytes.
const TABLE_BYTES: u64 = 4 << 20;
/// Most values of a column that are known.
const VALUES: usize = 500;

/// The workspace as far as requests can name it.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceFacts {
    root: PathBuf,
    files: Vec<String>,
    folders: BTreeSet<String>,
    tables: BTreeMap<String, TableFacts>,
}

/// One table that a request names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TableFacts {
    pub format: tables::TableFormat,
    /// The name that queries know it by.
    pub name: String,
    pub columns: Vec<ColumnFacts>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ColumnFacts {
    pub name: String,
    pub is_number: bool,
    /// Different values as text; none when there are too many.
    pub values: BTreeSet<String>,
    /// Whether each value occurs once.
    pub is_unique: bool,
}

impl TableFacts {
    pub fn column(&self, name: &str) -> Option<&ColumnFacts> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Whether its rows are entries of a program's or a server's log.
    pub fn has_entries(&self) -> bool {
        self.is_log() || self.format == tables::TableFormat::Access
    }

    pub fn is_log(&self) -> bool {
        self.format == tables::TableFormat::Log
    }
}

impl WorkspaceFacts {
    /// Looks at a workspace.
    pub fn look(root: &Path) -> Self {
        let mut facts = Self { root: root.to_owned(), ..Self::default() };
        let walk = ignore::WalkBuilder::new(root).require_git(false).follow_links(false).sort_by_file_path(Ord::cmp).build();
        for entry in walk.flatten().filter(|entry| entry.depth() > 0).take(ENTRIES) {
            let Some(path) = entry.path().strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                facts.folders.insert(path.to_owned());
            } else {
                facts.files.push(path.to_owned());
            }
        }
        facts
    }

    /// Looks into the tables that the words name.
    pub(super) fn with_tables(mut self, words: &[Word]) -> Self {
        for word in words {
            let path = self.spelled(&word.text).or_else(|| self.located(&word.text)).or_else(|| self.by_stem(&word.lower));
            if let Some(path) = path.filter(|path| !self.is_folder(path) && !self.tables.contains_key(path))
                && let Some(table) = self.table_at(&path)
            {
                self.tables.insert(path, table);
            }
        }
        self
    }

    pub(in crate::planner) fn files(&self) -> &[String] {
        &self.files
    }

    /// Folders with the number of files below them, then files.
    pub(in crate::planner) fn top_level(&self) -> Vec<(String, Option<usize>)> {
        let below =
            |folder: &str| self.files.iter().filter(|file| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))).count();
        let folders = self.folders.iter().filter(|folder| !folder.contains('/')).map(|folder| (folder.clone(), Some(below(folder))));
        folders.chain(self.files.iter().filter(|file| !file.contains('/')).map(|file| (file.clone(), None))).collect()
    }

    pub(in crate::planner) fn is_repository(&self) -> bool {
        self.root.join(".git").exists()
    }

    /// The columns of a table with their kind, and the levels of a log.
    pub(in crate::planner) fn columns_at(&self, path: &str) -> Option<Vec<String>> {
        let table = self.table_at(path)?;
        let column = |column: &ColumnFacts| match (column.is_number, table.is_log() && column.name == "level") {
            (true, _) => format!("{} (number)", column.name),
            (false, true) => format!("{} ({})", column.name, column.values.iter().map(String::as_str).collect::<Vec<_>>().join("|")),
            (false, false) => column.name.clone(),
        };
        Some(table.columns.iter().map(column).collect())
    }

    fn table_at(&self, path: &str) -> Option<TableFacts> {
        let tables = tables::read(path, &self.text(path)?, None).ok()?;
        let [table] = &tables[..] else { return None };
        // One object is no table of one row, and plain lines have no columns that people name.
        let is_object = matches!(table.format, tables::TableFormat::Json | tables::TableFormat::Yaml) && table.rows.len() == 1;
        if is_object || table.format == tables::TableFormat::Lines {
            return None;
        }
        let column = |at: usize| {
            let column = &table.columns[at];
            let mut values = BTreeSet::new();
            let mut is_unique = true;
            for row in &table.rows {
                let value = row.get(at).and_then(tables::Cell::as_text);
                is_unique &= value.is_none_or(|value| values.insert(value));
            }
            if values.len() > VALUES {
                values.clear();
            }
            ColumnFacts { name: column.name.clone(), is_number: column.kind == tables::ColumnKind::Number, values, is_unique }
        };
        let columns = (0..table.columns.len()).map(column).collect();
        Some(TableFacts { format: table.format, name: table.name.clone(), columns })
    }

    /// A file or folder exactly as it is spelled, or but for the case of its letters where that is unique.
    pub(super) fn spelled(&self, text: &str) -> Option<String> {
        let text = text.trim_end_matches('/');
        let text = text.strip_prefix("./").unwrap_or(text);
        if self.files.iter().any(|file| file == text) || self.folders.contains(text) {
            return Some(text.to_owned());
        }
        // Hidden and ignored files are no part of the listing, but can be named.
        let plain = !text.is_empty() && !text.split('/').any(|part| part == ".." || part.is_empty()) && !text.starts_with('/');
        (plain && (text.contains('.') || text.contains('/')) && self.root.join(text).symlink_metadata().is_ok()).then(|| text.to_owned())
    }

    /// The one file of this name in whatever folder.
    pub(super) fn located(&self, name: &str) -> Option<String> {
        if self.spelled(name).is_some() || name.contains('/') {
            return self.spelled(name);
        }
        None
    }

    /// The one file whose name without its ending is this.
    pub(super) fn by_stem(&self, stem: &str) -> Option<String> {
        let of = |file: &&String| {
            Path::new(file.as_str()).file_stem().and_then(|name| name.to_str()).is_some_and(|name| name.to_lowercase() == stem)
        };
        let mut found = self.files.iter().filter(of);
        let first = found.next()?;
        let is_data = [".csv", ".tsv", ".json", ".jsonl", ".log", ".yaml", ".yml"].iter().any(|ending| first.ends_with(ending));
        (found.next().is_none() && is_data && stem.len() > 2).then(|| first.clone())
    }

    pub(super) fn is_folder(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.folders.contains(path) || path == "."
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        path == "." || self.spelled(path).is_some()
    }

    /// The nearest file or folder to a name that isn't there.
    pub(super) fn nearest(&self, path: &str) -> Option<&str> {
        let lower = path.to_lowercase();
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let distance = |known: &&str| {
            strsim::damerau_levenshtein(&lower, &known.to_lowercase()).min(1 + strsim::damerau_levenshtein(&name(path), &name(known)))
        };
        let known = self.files.iter().chain(&self.folders).map(String::as_str);
        known.min_by_key(distance).filter(|known| distance(known) <= 2 + path.len() / 8)
    }

    pub(super) fn table(&self, path: &str) -> Option<&TableFacts> {
        self.tables.get(path)
    }

    pub(super) fn columns(&self) -> BTreeSet<&str> {
        self.tables.values().flat_map(|table| table.columns.iter().map(|column| column.name.as_str())).collect()
    }

    /// Columns in which a value occurs, with its own spelling.
    pub(super) fn members(&self, said: &str) -> Vec<(&str, &str)> {
        let mut found = Vec::new();
        for column in self.tables.values().flat_map(|table| &table.columns).filter(|column| !column.is_number) {
            let exact = column.values.iter().filter(|value| value.to_lowercase() == *said);
            found.extend(exact.map(|value| (column.name.as_str(), value.as_str())));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A value of a column that is almost this one.
    pub(super) fn near_value(&self, path: &str, column: &str, said: &str) -> Option<&str> {
        let values = &self.table(path)?.column(column)?.values;
        let lower = said.to_lowercase();
        if values.iter().any(|value| value.to_lowercase() == lower) {
            return None;
        }
        values.iter().map(String::as_str).find(|value| strsim::damerau_levenshtein(&value.to_lowercase(), &lower) <= 2.min(lower.len() / 3))
    }

    /// Text of a file, for questions whose answer depends on it.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        files::read_text(&self.root.join(path), TABLE_BYTES).ok()
    }
}

/// Whether words name a column: equal but for case, `_`, `-`, and a plural.
pub(super) fn same_words(said: &str, column: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', '.'], " ");
    let singular = |text: &str| {
        let plain = plain(text);
        plain
            .strip_suffix("ies")
            .map(|stem| format!("{stem}y"))
            .or_else(|| plain.strip_suffix('s').filter(|stem| stem.len() > 2).map(str::to_owned))
            .unwrap_or(plain)
    };
    plain(said) == plain(column) || singular(said) == singular(column)
}

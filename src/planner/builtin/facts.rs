//! What is known of the workspace before a request is read: its files and folders, and the columns and values of the tables that the request
//! names. Reads files within limits; changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{lists, words::Word};
use crate::files;
use crate::tools::{
    tables,
    walk::{FILLED, Seen, walk},
};

/// Most entries of the workspace that are known.
const ENTRIES: usize = 20_000;
/// Largest table that is looked into, in bytes.
const TABLE_BYTES: u64 = 4 << 20;
/// Most tables that are looked into where a request names none.
const TABLES: usize = 24;
/// Endings of files that are tables.
const DATA: &[&str] = &["csv", "tsv", "json", "jsonl", "ndjson", "log", "yaml", "yml"];
/// Most values of a column that are known.
const VALUES: usize = 500;

/// The workspace as far as requests can name it.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceFacts {
    root: PathBuf,
    files: Vec<String>,
    folders: BTreeSet<String>,
    tables: BTreeMap<String, TableFacts>,
    /// What steps before make, with the file that it has the text of.
    made: BTreeMap<String, String>,
}

/// One table that a request names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TableFacts {
    pub format: tables::TableFormat,
    /// The name that queries know it by.
    pub name: String,
    pub columns: Vec<ColumnFacts>,
    /// Whether its rows are in the order of their dates.
    pub is_in_order: bool,
    /// What separates its cells.
    pub separator: char,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ColumnFacts {
    pub name: String,
    pub is_number: bool,
    /// What says yes and no in it, if nothing else occurs.
    pub truths: Option<[&'static str; 2]>,
    /// Whether each value begins with a date as in ISO 8601.
    pub is_date: bool,
    /// Whether each value is a list, as JSON has them.
    pub is_list: bool,
    /// Different values as text, of lists their entries; none when there are too many.
    pub values: BTreeSet<String>,
    /// Whether each value occurs once.
    pub is_unique: bool,
}

impl TableFacts {
    pub fn column(&self, name: &str) -> Option<&ColumnFacts> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The only column of numbers that a list names: what `over 800` or `cheapest` can speak of.
    pub fn measured(&self, list: &str) -> Option<String> {
        let only = |fits: &dyn Fn(&str) -> bool| {
            let mut found = self.columns.iter().filter(|column| column.is_number && fits(&column.name.to_lowercase()));
            let first = found.next()?;
            found.next().is_none().then(|| first.name.clone())
        };
        // `monthly_cost` is a cost.
        only(&|name| lists::has(list, name))
            .or_else(|| only(&|name| name.rsplit(['_', '-', ' ']).next().is_some_and(|last| lists::has(list, last))))
    }

    pub fn is_log(&self) -> bool {
        self.format == tables::TableFormat::Log
    }

    pub fn is_access(&self) -> bool {
        self.format == tables::TableFormat::Access
    }

    /// The only column of dates.
    pub fn date(&self) -> Option<&str> {
        let mut dates = self.columns.iter().filter(|column| column.is_date);
        let first = dates.next()?;
        dates.next().is_none().then_some(first.name.as_str())
    }
}

impl WorkspaceFacts {
    /// Looks at a workspace.
    pub fn look(root: &Path) -> Self {
        let mut facts = Self { root: root.to_owned(), ..Self::default() };
        for entry in walk(root, Seen::Ignored, None).flatten().filter(|entry| entry.depth() > 0).take(ENTRIES) {
            let Some(path) = entry.path().strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                facts.folders.insert(path.to_owned());
            } else {
                facts.files.push(path.to_owned());
            }
        }
        facts
    }

    /// Looks into the tables that the words name, or into all if they name none.
    pub(super) fn with_tables(mut self, words: &[Word]) -> Self {
        let named: Vec<String> = words.iter().filter_map(|word| self.located(&word.text)).filter(|path| !self.is_folder(path)).collect();
        self.look_into(named);
        if self.tables.is_empty() {
            let is_data = |path: &&String| path.rsplit_once('.').is_some_and(|(_, ending)| DATA.contains(&ending));
            let all = self.files.iter().filter(is_data).take(TABLES + 1).cloned().collect::<Vec<_>>();
            let said: Vec<String> = words.iter().filter_map(|word| self.by_stem(&word.lower)).collect();
            self.look_into(if all.len() <= TABLES { all } else { said });
        }
        self
    }

    fn look_into(&mut self, paths: Vec<String>) {
        for path in paths {
            if !self.tables.contains_key(&path)
                && let Some(table) = self.table_at(&path)
            {
                self.tables.insert(path, table);
            }
        }
    }

    /// The workspace when a path is there, with the text of another if it is known.
    pub(super) fn with(&self, path: &str, source: Option<&str>) -> Self {
        let mut after = self.clone();
        after.tables.extend(source.and_then(|source| self.tables.get(source)).map(|table| (path.to_owned(), table.clone())));
        // What has no ending and no text is a folder.
        let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.')) || source.is_some();
        if !self.exists(path) && is_file {
            after.files.push(path.to_owned());
        } else if !self.exists(path) {
            after.folders.insert(path.to_owned());
        }
        after.made.extend(source.map(|source| (path.to_owned(), source.to_owned())));
        after
    }

    /// Folders below one that tools fill and git ignores: they are no part of a listing.
    pub(super) fn left_out(&self, place: &str) -> Vec<String> {
        let at = if place == "." { String::new() } else { format!("{}/", place.trim_end_matches('/')) };
        let below = self.folders.iter().filter(|folder| folder.starts_with(&at)).map(|folder| format!("{folder}/"));
        let filled = std::iter::once(at.clone()).chain(below).flat_map(|at| FILLED.iter().map(move |name| format!("{at}{name}")));
        filled.filter(|folder| !self.folders.contains(folder) && self.root.join(folder).is_dir()).collect()
    }

    /// Files, or folders, of a set whose names begin with a dot: they are no part of a listing.
    pub(super) fn hidden(&self, places: &[&String], globs: &[String], (direct, folders): (bool, bool)) -> Vec<String> {
        let globs: Vec<_> = globs.iter().filter_map(|glob| Some(globset::Glob::new(glob).ok()?.compile_matcher())).collect();
        let at = |place: &str| if place == "." { String::new() } else { format!("{}/", place.trim_end_matches('/')) };
        let roots: Vec<String> = places.iter().map(|place| at(place)).collect();
        let below = self.folders.iter().map(|folder| format!("{folder}/")).filter(|_| !direct);
        let inner = below.filter(|folder| roots.iter().any(|root| folder.starts_with(root) && folder != root)).collect::<Vec<_>>();
        let mut found = Vec::new();
        for folder in roots.iter().chain(&inner) {
            for entry in std::fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let fits = entry.file_type().is_ok_and(|kind| kind.is_dir() == folders)
                    && (globs.is_empty() || globs.iter().any(|glob| glob.is_match(&name)));
                if name.starts_with('.') && name != ".git" && fits {
                    found.push(format!("{folder}{name}"));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The tables that are known.
    pub(super) fn tables(&self) -> impl Iterator<Item = (&String, &TableFacts)> {
        self.tables.iter()
    }

    pub(in crate::planner) fn files(&self) -> &[String] {
        &self.files
    }

    /// Whether some of the files below a folder, of those that patterns are about, are no texts.
    pub(super) fn has_pictures(&self, place: &str, globs: &[String]) -> bool {
        let globs: Vec<_> = globs.iter().filter_map(|glob| Some(globset::Glob::new(glob).ok()?.compile_matcher())).collect();
        let is_in = |file: &str| place == "." || file.strip_prefix(place).is_some_and(|rest| rest.starts_with('/'));
        let fits = |name: &str| globs.is_empty() || globs.iter().any(|glob| glob.is_match(name));
        let is_picture = |name: &str| name.rsplit_once('.').is_some_and(|(_, ending)| lists::has("pictures", &ending.to_lowercase()));
        self.files
            .iter()
            .filter(|file| is_in(file))
            .map(|file| file.rsplit('/').next().unwrap_or(file))
            .any(|name| fits(name) && is_picture(name))
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

    /// The names of the settings in a file, each with those that it is inside of.
    pub(super) fn settings(&self, path: &str) -> Vec<String> {
        let tables = self.text(path).and_then(|text| tables::read(path, &text, None).ok()).unwrap_or_default();
        if let [table] = &tables[..] { table.columns.iter().map(|column| column.name.clone()).collect() } else { Vec::new() }
    }

    fn table_at(&self, path: &str) -> Option<TableFacts> {
        let text = self.text(path)?;
        let tables = tables::read(path, &text, None).ok()?;
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
            let is_date = !values.is_empty() && values.iter().all(|value| day_of(value).is_some());
            let has_values = !values.is_empty();
            let truths = TRUTHS.into_iter().find(|pair| has_values && values.iter().all(|value| pair.contains(&value.as_str())));
            let lists: Option<Vec<Vec<String>>> = values.iter().map(|value| serde_json::from_str(value).ok()).collect();
            let lists = lists.filter(|_| has_values);
            let is_list = lists.is_some();
            if let Some(lists) = lists {
                values = lists.into_iter().flatten().collect();
            }
            if values.len() > VALUES {
                values.clear();
            }
            let is_number = column.kind == tables::ColumnKind::Number;
            ColumnFacts { name: column.name.clone(), is_number, truths, is_date, is_list, values, is_unique }
        };
        let columns: Vec<ColumnFacts> = (0..table.columns.len()).map(column).collect();
        let is_in_order = columns
            .iter()
            .position(|column| column.is_date)
            .is_none_or(|at| table.rows.iter().filter_map(|row| row.get(at).and_then(tables::Cell::as_text)).is_sorted());
        Some(TableFacts { format: table.format, name: table.name.clone(), columns, is_in_order, separator: tables::separator(&text) })
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
        (plain && (text.contains('.') || text.contains('/') || self.is_folder(text)) && self.root.join(text).symlink_metadata().is_ok())
            .then(|| text.to_owned())
    }

    /// A file as it is spelled, or the one file whose path ends so.
    pub(super) fn located(&self, name: &str) -> Option<String> {
        let ends = |path: &&String| path.strip_suffix(name).is_some_and(|folder| folder.ends_with('/'));
        self.spelled(name).or_else(|| {
            let mut found = self.files.iter().filter(ends);
            let first = found.next().filter(|_| name.contains('.'))?;
            found.next().is_none().then(|| first.clone())
        })
    }

    /// The one file whose name without its ending is this.
    pub(super) fn by_stem(&self, stem: &str) -> Option<String> {
        let of =
            |file: &&String| Path::new(file.as_str()).file_stem().and_then(|name| name.to_str()).is_some_and(|name| same_words(stem, name));
        let is_data = |path: &&String| path.rsplit_once('.').is_some_and(|(_, ending)| DATA.contains(&ending));
        // An older copy is meant where there is nothing else.
        let is_old = |file: &&&String| file.split('/').any(|part| lists::has("old_folders", &part.to_lowercase()));
        let found: Vec<&String> = self.files.iter().filter(is_data).filter(of).collect();
        let new: Vec<&String> = found.iter().filter(|file| !is_old(file)).copied().collect();
        match (&new[..], &found[..]) {
            ([only], _) | ([], [only]) if stem.len() > 2 => Some((*only).clone()),
            _ => None,
        }
    }

    /// `the README`: the file of this name in the workspace itself.
    pub(super) fn titled(&self, name: &str) -> Option<String> {
        let is_it = |file: &&String| file.split('.').next().is_some_and(|stem| stem.to_lowercase() == name);
        self.files.iter().find(is_it).filter(|_| lists::has("titled_files", name)).cloned()
    }

    /// The one file whose name without its ending is several words.
    pub(super) fn by_words(&self, said: &str) -> Option<String> {
        let named = |file: &&String| Path::new(file.as_str()).file_stem().is_some_and(|stem| stem.to_string_lossy().to_lowercase() == said);
        let mut found = self.files.iter().filter(named);
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    }

    /// The command that runs a script of the workspace.
    pub(super) fn script(&self, path: &str) -> Option<String> {
        let file = self.spelled(path).filter(|file| !file.contains(char::is_whitespace))?;
        let program = [(".sh", "sh"), (".py", "python3")].into_iter().find(|(ending, _)| file.ends_with(ending))?.1;
        Some(format!("{program} {file}"))
    }

    /// The one table whose rows are called so by people.
    pub(super) fn by_noun(&self, noun: &str) -> Option<String> {
        let mut stems = lists::choices("row_nouns").filter(|(said, _)| *said == noun).filter_map(|(_, stem)| self.by_stem(stem));
        let first = stems.next()?;
        stems.next().is_none().then_some(first)
    }

    /// The one table whose rows are what was done: `deploys` for "deployed".
    pub(super) fn by_deed(&self, verb: &str) -> Option<String> {
        let stem = verb.strip_suffix("ed").filter(|stem| stem.len() > 3)?;
        [stem.to_owned(), format!("{stem}e"), stem[..stem.len() - 1].to_owned()].iter().find_map(|noun| self.by_stem(noun))
    }

    /// The one folder whose name says what its files are called.
    pub(super) fn folder_of(&self, noun: &str) -> Option<String> {
        let name = |folder: &&String| same_words(noun, folder.rsplit('/').next().unwrap_or(folder));
        let mut found = self.folders.iter().filter(name);
        let first = found.next().filter(|_| noun.len() > 3)?;
        found.next().is_none().then(|| first.clone())
    }

    /// Whether a folder has folders in its folders.
    pub(super) fn is_deep(&self, place: &str) -> bool {
        let below = |folder: &str| {
            if place == "." { Some(folder.to_owned()) } else { Some(folder.strip_prefix(place)?.strip_prefix('/')?.to_owned()) }
        };
        self.folders.iter().filter_map(|folder| below(folder)).any(|folder| folder.contains('/'))
    }

    pub(super) fn is_folder(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        // One that git ignores is no part of the listing, but can be named.
        let plain = !path.is_empty() && !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..");
        self.folders.contains(path) || path == "." || plain && self.root.join(path).is_dir()
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

    /// Whether a table is a text of lines with cells, whose rows can be taken out of it.
    pub(super) fn is_delimited(&self, path: &str) -> bool {
        let format = self.table(path).filter(|table| table.column("rowid").is_none()).map(|table| table.format);
        matches!(format, Some(tables::TableFormat::Csv | tables::TableFormat::Tsv))
    }

    pub(super) fn columns(&self) -> BTreeSet<&str> {
        // The lines of a log are no column that people speak of.
        let counts = |table: &TableFacts, name: &str| name != "line" || !table.is_log() && !table.is_access();
        let pairs = self.tables.values().flat_map(|table| table.columns.iter().map(move |column| (table, column.name.as_str())));
        pairs.filter(|(table, name)| counts(table, name)).map(|(_, name)| name).collect()
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
        let path = self.made.get(path).map_or(path, String::as_str);
        files::read_text(&self.root.join(path), TABLE_BYTES).ok()
    }
}

/// What says yes and no in a column, true first.
const TRUTHS: [[&str; 2]; 2] = [["true", "false"], ["yes", "no"]];

/// The day that a value begins with.
pub(super) fn day_of(value: &str) -> Option<jiff::civil::Date> {
    let behind = value.as_bytes().get(10);
    behind.is_none_or(|next| matches!(next, b' ' | b'T')).then(|| value.get(..10)?.parse().ok()).flatten()
}

/// Whether words name a column: equal but for case, `_`, `-`, and a plural.
pub(super) fn same_words(said: &str, column: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', '.'], " ");
    let singular = |text: &str| {
        let plain = plain(text);
        plain
            .strip_suffix("ies")
            .map(|stem| format!("{stem}y"))
            .or_else(|| plain.strip_suffix('s').filter(|stem| stem.len() > 1).map(str::to_owned))
            .unwrap_or(plain)
    };
    plain(said) == plain(column) || singular(said) == singular(column)
}

//! What a planning model is told of the workspace, in few lines: its top level, the files that the request names, the columns of tables,
//! the levels of logs, whether it is a git repository.

use std::fmt::Write;

use super::super::builtin::WorkspaceFacts;
use crate::text::some_of;

/// Most entries of the top level that are named.
const ENTRIES: usize = 40;
/// Most files below it that are named because the request does.
const NAMED: usize = 10;
/// Most tables that are looked into.
const TABLES: usize = 6;
/// Most columns of a table that are named.
const COLUMNS: usize = 24;

/// Lines about the workspace, each with its end.
pub fn describe(facts: &WorkspaceFacts, request: &str) -> String {
    let mut text = String::new();
    let entries = facts.top_level();
    let shown = entries.iter().map(|(name, below)| below.map_or_else(|| name.clone(), |files| format!("{name}/ ({files} files)")));
    // Writing to a String can't fail.
    let mut line = |line: String| writeln!(text, "{line}").unwrap_or_default();
    match entries.is_empty() {
        true => line("The workspace is empty.".to_owned()),
        false => line(format!("The workspace holds: {}.", some_of(shown, ENTRIES))),
    }
    if facts.is_repository() {
        line("It is a git repository.".to_owned());
    }
    let lower = request.to_lowercase();
    let is_named = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        lower.contains(&name) || name.split_once('.').is_some_and(|(stem, _)| stem.len() > 3 && lower.contains(stem))
    };
    let named: Vec<&String> = facts.files().iter().filter(|path| path.contains('/')).filter(is_named).take(NAMED).collect();
    if !named.is_empty() {
        line(format!("The request may mean: {}.", named.iter().map(|path| path.as_str()).collect::<Vec<_>>().join(", ")));
    }
    let is_data = |path: &&String| [".csv", ".tsv", ".jsonl", ".json", ".log"].iter().any(|ending| path.ends_with(ending));
    let data: Vec<&String> = facts.files().iter().filter(is_data).collect();
    let first = data.iter().filter(|path| is_named(path));
    let others = data.iter().filter(|path| !path.contains('/') && !is_named(path));
    for (path, columns) in first.chain(others).filter_map(|path| Some((path, facts.columns_at(path)?))).take(TABLES) {
        let cut = if columns.len() > COLUMNS { ", …" } else { "" };
        line(format!("{path} has the columns {}{cut}.", columns[..columns.len().min(COLUMNS)].join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_level_tables_and_files_that_the_request_names_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("orders.csv", "id,customer\n1,Ada\n");
        write("app.log", "2026-01-01 10:00:00 ERROR disk full\n2026-01-01 10:00:01 INFO ok\n");
        write("docs/guide/release.md", "x");
        write("src/main.rs", "x");
        let told = describe(&WorkspaceFacts::look(folder.path()), "Sum up the release notes");
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "The workspace holds: docs/ (1 files), src/ (1 files), app.log, orders.csv.");
        assert_eq!(lines[1], "The request may mean: docs/guide/release.md.");
        assert!(lines[2].starts_with("app.log has the columns ") && lines[2].contains("level (ERROR|INFO)"), "{told}");
        assert_eq!(lines[3], "orders.csv has the columns id (number), customer.");
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(describe(&WorkspaceFacts::look(empty.path()), "x"), "The workspace is empty.\n");
    }
}

//! Files as tables: delimited text, JSON, YAML, logs, and any other text as lines. Pure: text in, tables out.
//!
//! The rules of types: a column of delimited text is numeric only if every cell that isn't empty is a plain decimal without leading zeros
//! that is held exactly (64 bits, or 15 digits with a point). Everything else is text: `1,234`, `1.234,5`, `007`, `5 %`. An empty cell is
//! null. What looks like numbers and is text is noted, and so is every line that can't be read.

mod delimited;
mod log;
mod nested;
mod table;

use std::{collections::BTreeMap, path::Path};

pub(crate) use delimited::separator;
pub use table::{Cell, Column, ColumnKind, Table, TableFormat, column_names, number};
use table::{table_name, unlike};

/// Most cells of one file.
const CELLS: usize = 3_000_000;

/// Why a file can't be read as tables, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TableError(String);

impl From<String> for TableError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

/// The tables of a file, named by its stem; nearly always one.
///
/// # Errors
/// When the text can't be read in this format.
pub fn read(path: &str, text: &str, format: Option<TableFormat>) -> Result<Vec<Table>, TableError> {
    read_as(&table_name(&stem(path)), path, text, format)
}

/// The tables of a file under another name.
///
/// # Errors
/// As `read`.
pub fn read_as(name: &str, path: &str, text: &str, format: Option<TableFormat>) -> Result<Vec<Table>, TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let format = format.unwrap_or_else(|| format_of(path, text));
    let empty = Table::empty(name, path, format);
    let tables = match format {
        TableFormat::Csv => vec![delimited::read(empty, text, None)?],
        TableFormat::Tsv => vec![delimited::read(empty, text, Some(b'\t'))?],
        TableFormat::Json => nested::json(&empty, text)?,
        TableFormat::Yaml => nested::yaml(&empty, text)?,
        TableFormat::Jsonl => vec![nested::json_lines(empty, text)?],
        TableFormat::Log => vec![log::app(empty, text)],
        TableFormat::Access => vec![log::access(empty, text)],
        TableFormat::Lines => vec![log::lines(empty, text)],
    };
    match tables.iter().map(|table| table.rows.len() * table.columns.len()).sum::<usize>() {
        cells if cells > CELLS => Err(TableError(format!("{path} has more than {CELLS} cells"))),
        _ => Ok(tables),
    }
}

/// The format by the ending of the name, else by what most lines are.
pub fn format_of(path: &str, text: &str) -> TableFormat {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "csv" => TableFormat::Csv,
        "tsv" | "tab" => TableFormat::Tsv,
        "json" => TableFormat::Json,
        "jsonl" | "ndjson" => TableFormat::Jsonl,
        "yaml" | "yml" => TableFormat::Yaml,
        ending => log::format(text, ending == "log"),
    }
}

/// One name for each path: its stem, with its folder where two files have the same, with its ending where they still have.
pub fn names(paths: &[String]) -> Vec<String> {
    let spelled = |how: fn(&Path) -> String| -> Vec<String> { paths.iter().map(|path| table_name(&how(Path::new(path)))).collect() };
    let last = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ways: [fn(&Path) -> String; 4] = [
        last,
        |path| {
            let folder = path.parent().and_then(Path::file_name).map(|name| format!("{}_", name.to_string_lossy())).unwrap_or_default();
            format!("{folder}{}", path.file_stem().unwrap_or_default().to_string_lossy())
        },
        |path| path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        |path| path.to_string_lossy().into_owned(),
    ];
    let candidates = ways.map(spelled);
    let mut names = candidates[0].clone();
    for way in &candidates[1..] {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        names.iter().for_each(|name| *counts.entry(name.to_lowercase()).or_default() += 1);
        for (name, better) in names.iter_mut().zip(way) {
            if counts.get(&name.to_lowercase()).is_some_and(|count| *count > 1) {
                name.clone_from(better);
            }
        }
    }
    unlike(names)
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_files_of_one_stem_get_their_folder_in_the_name() {
        let named = |paths: &[&str]| names(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["a/sales.csv", "b/stock.csv"]), ["sales", "stock"]);
        assert_eq!(named(&["north/sales.csv", "south/sales.csv", "x.csv"]), ["north_sales", "south_sales", "x"]);
        assert_eq!(named(&["a.csv", "a.json"]), ["a_csv", "a_json"]);
        assert_eq!(named(&["a/x/s.csv", "b/x/s.csv"]), ["a_x_s_csv", "b_x_s_csv"]);
        assert_eq!(named(&["2024-05.csv", "my file.csv", ""]), ["t_2024_05", "my_file", "t_"]);
        assert_eq!(named(&["a.csv", "a.csv"]), ["a_csv", "a_csv_2"]);
    }

    #[test]
    fn a_format_is_known_by_the_ending_or_by_the_lines() {
        let access = "1.2.3.4 - - [04/May/2024:12:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n";
        for (path, text, format) in [
            ("a.CSV", "", TableFormat::Csv),
            ("a.ndjson", "", TableFormat::Jsonl),
            ("a.log", access, TableFormat::Access),
            ("a.log", "2024-05-04 12:00:00 INFO [db] up\n", TableFormat::Log),
            ("a.log", "{\"level\":\"info\",\"msg\":\"x\"}\n", TableFormat::Log),
            ("a.txt", "2024-05-04T12:00:00Z ERROR x\nstack\n", TableFormat::Log),
            ("a.txt", "a poem\nof two lines\n", TableFormat::Lines),
            ("a.rs", "", TableFormat::Lines),
        ] {
            assert_eq!(format_of(path, text), format, "{path}: {text}");
        }
    }
}

//! JSON, JSON lines and YAML. A list of objects is a table; an object that holds lists of objects is a table for each; anything else is one
//! row. Inner objects are columns `a.b`; inner lists stay JSON.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::plan::dialect::{Syntax, keep_digits};
use crate::text::counted;

use super::table::{COLUMNS, Cell, Column, ColumnKind, Table, column_names, table_name};

/// The largest whole number up to which decimals have all whole numbers.
const LARGEST_EXACT: u64 = 1 << 53;
/// Deepest object that becomes columns.
const DEPTH: usize = 5;

pub(super) fn json(empty: &Table, text: &str) -> Result<Vec<Table>, String> {
    let mut value: Value = serde_json::from_str(text).map_err(|cause| format!("{} is not JSON: {cause}", empty.file))?;
    let kept = keep_digits(&mut value, text, Syntax::Json);
    of(&noted(empty, &kept), value)
}

pub(super) fn yaml(empty: &Table, text: &str) -> Result<Vec<Table>, String> {
    let mut value: Value = serde_saphyr::from_str(text).map_err(|cause| {
        let cause = cause.to_string();
        format!("{} is not YAML: {}", empty.file, cause.lines().next().unwrap_or_default())
    })?;
    let kept = keep_digits(&mut value, text, Syntax::Yaml);
    of(&noted(empty, &kept), value)
}

/// The table with a note of the numbers that stayed as they are written.
fn noted(table: &Table, kept: &[String]) -> Table {
    let mut table = table.clone();
    if let Some(first) = kept.first() {
        let numbers = counted(kept.len(), "number");
        let note = format!("{numbers} of {} can't be kept exactly, such as `{first}`: it is text, and so is its column", table.file);
        table.notes.push(note);
    }
    table
}

pub(super) fn json_lines(mut table: Table, text: &str) -> Result<Table, String> {
    let (mut rows, mut first, mut kept) = (JsonRows::default(), None, Vec::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(mut value) => {
                kept.extend(keep_digits(&mut value, line, Syntax::Json));
                rows.add(value);
            }
            Err(_) => {
                table.unreadable += 1;
                first.get_or_insert(at + 1);
            }
        }
    }
    if let Some(line) = first {
        let lines = counted(table.unreadable, "line");
        table.notes.push(format!("left out of {}: {lines} without valid JSON; first: line {line}", table.file));
    }
    rows.into_table(noted(&table, &kept))
}

fn of(empty: &Table, value: Value) -> Result<Vec<Table>, String> {
    let is_table = |value: &Value| value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_object));
    match value {
        Value::Object(fields) if fields.values().any(is_table) => {
            let lists: Vec<(String, Value)> = fields.into_iter().filter(|(_, value)| is_table(value)).collect();
            let alone = lists.len() == 1;
            let table = |(field, value): (String, Value)| {
                let name = if alone { empty.name.clone() } else { format!("{}_{}", empty.name, table_name(&field)) };
                rows(Table { name, ..empty.clone() }, value)
            };
            lists.into_iter().map(table).collect()
        }
        value => Ok(vec![rows(empty.clone(), value)?]),
    }
}

fn rows(table: Table, value: Value) -> Result<Table, String> {
    let mut rows = JsonRows::default();
    match value {
        Value::Array(items) => items.into_iter().for_each(|item| rows.add(item)),
        value => rows.add(value),
    }
    rows.into_table(table)
}

/// JsonRows whose columns come up as they are read.
#[derive(Default)]
pub(super) struct JsonRows {
    columns: IndexMap<String, ()>,
    rows: Vec<Vec<(usize, Cell)>>,
}

impl JsonRows {
    /// A row's first columns, which every row has.
    pub(super) fn begin(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|name| ((*name).to_owned(), ())).collect(), rows: Vec::new() }
    }

    pub(super) fn add(&mut self, value: Value) {
        let mut row = Vec::new();
        match value {
            Value::Object(fields) => self.flatten("", fields, 0, &mut row),
            value => row.push((self.column("value"), plain(value))),
        }
        self.rows.push(row);
    }

    fn column(&mut self, name: &str) -> usize {
        self.columns.get_index_of(name).unwrap_or_else(|| self.columns.insert_full(name.to_owned(), ()).0)
    }

    fn flatten(&mut self, prefix: &str, fields: Map<String, Value>, depth: usize, row: &mut Vec<(usize, Cell)>) {
        for (name, value) in fields {
            let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            match value {
                Value::Object(inner) if depth < DEPTH && !inner.is_empty() => self.flatten(&name, inner, depth + 1, row),
                value => row.push((self.column(&name), plain(value))),
            }
        }
    }

    pub(super) fn into_table(self, mut table: Table) -> Result<Table, String> {
        if self.columns.len() > COLUMNS {
            return Err(format!("{} has more than {COLUMNS} different fields", table.file));
        }
        let width = self.columns.len();
        let mut kinds: Vec<Option<ColumnKind>> = vec![None; width];
        table.rows = Vec::with_capacity(self.rows.len());
        for filled in self.rows {
            let mut row = vec![Cell::Null; width];
            for (at, cell) in filled {
                let kind = match cell {
                    Cell::Null => None,
                    Cell::Integer(_) | Cell::Real(_) => Some(ColumnKind::Number),
                    Cell::Boolean(_) => Some(ColumnKind::Boolean),
                    Cell::Text(_) => Some(ColumnKind::Text),
                };
                kinds[at] = match (kinds[at], kind) {
                    (before, None) => before,
                    (Some(before), Some(kind)) if before != kind => Some(ColumnKind::Text),
                    (_, kind) => kind,
                };
                row[at] = cell;
            }
            table.rows.push(row);
        }
        for (at, kind) in kinds.iter_mut().enumerate().filter(|(_, kind)| **kind == Some(ColumnKind::Number)) {
            let cells = || table.rows.iter().map(|row| &row[at]);
            let is_large = |cell: &Cell| matches!(cell, Cell::Integer(number) if number.unsigned_abs() > LARGEST_EXACT);
            // A column of decimals would round them.
            if cells().any(|cell| matches!(cell, Cell::Real(_))) && cells().any(is_large) {
                table.rows.iter_mut().for_each(|row| row[at] = row[at].as_text().map_or(Cell::Null, Cell::Text));
                *kind = Some(ColumnKind::Text);
            }
        }
        let names = column_names(self.columns.into_keys());
        let kinds = kinds.into_iter().map(|kind| kind.unwrap_or(ColumnKind::Text));
        table.columns = names.into_iter().zip(kinds).map(|(name, kind)| Column::new(name, kind)).collect();
        Ok(table)
    }
}

fn plain(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(truth) => Cell::Boolean(truth),
        // A number that isn't held exactly stays as it is written.
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Cell::Integer(whole),
            (None, Some(real)) if number.is_f64() && real.is_finite() => Cell::Real(real),
            _ => Cell::Text(number.to_string()),
        },
        Value::String(text) => Cell::Text(text),
        value @ (Value::Array(_) | Value::Object(_)) => Cell::Text(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, ColumnKind, Table, read};

    fn columns(table: &Table) -> Vec<(&str, ColumnKind)> {
        table.columns.iter().map(|column| (column.name.as_str(), column.kind)).collect()
    }

    #[test]
    fn a_list_of_objects_is_a_table_with_columns_of_inner_objects() {
        let text = r#"[{"id": 1, "who": {"name": "Ann", "tags": ["a", "b"]}, "ok": true}, {"id": 2.5, "late": "x", "ok": null}]"#;
        let table = read("t.json", text, None).unwrap().remove(0);
        let (number, text, truth) = (ColumnKind::Number, ColumnKind::Text, ColumnKind::Boolean);
        assert_eq!(columns(&table), [("id", number), ("who.name", text), ("who.tags", text), ("ok", truth), ("late", text)]);
        assert_eq!(table.rows[0][2], Cell::Text("[\"a\",\"b\"]".into()));
        assert_eq!(table.rows[1], [Cell::Real(2.5), Cell::Null, Cell::Null, Cell::Null, Cell::Text("x".into())]);
    }

    #[test]
    fn an_object_gives_a_table_for_each_list_or_one_row() {
        let named =
            |text: &str| read("d.json", text, None).unwrap().into_iter().map(|table| (table.name, table.rows.len())).collect::<Vec<_>>();
        assert_eq!(named(r#"{"v": 1, "items": [{"a": 1}, {"a": 2}]}"#), [("d".to_owned(), 2)]);
        assert_eq!(named(r#"{"a": [{"x": 1}], "b": [{"x": 1}]}"#), [("d_a".to_owned(), 1), ("d_b".to_owned(), 1)]);
        assert_eq!(named(r#"{"a": 1, "b": [1, 2]}"#), [("d".to_owned(), 1)]);
        assert_eq!(named("[1, 2, 3]"), [("d".to_owned(), 3)]);
        assert!(read("d.json", "{", None).unwrap_err().to_string().starts_with("d.json is not JSON: "));
        assert_eq!(read("d.yaml", "- a: 1\n- a: 2\n", None).unwrap()[0].rows.len(), 2);
        assert!(read("d.yaml", "a: [", None).unwrap_err().to_string().starts_with("d.yaml is not YAML: "));
    }

    #[test]
    fn a_number_keeps_its_digits_whatever_stands_beside_it() {
        let table = read("t.json", r#"[{"id": 9007199254740993}, {"id": 12345678901234567890123}, {"id": null}]"#, None).unwrap().remove(0);
        assert_eq!(columns(&table), [("id", ColumnKind::Text)]);
        let cells = table.rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>();
        assert_eq!(cells, [Cell::Integer(9007199254740993), Cell::Text("12345678901234567890123".into()), Cell::Null]);
        let note = "1 number of t.json can't be kept exactly, such as `12345678901234567890123`: it is text, and so is its column";
        assert_eq!(table.notes, [note]);
        let lines = read("t.jsonl", "{\"x\": 0.1234567890123456789}\n{\"x\": 2}\n", None).unwrap().remove(0);
        assert_eq!((columns(&lines), lines.notes.len()), (vec![("x", ColumnKind::Text)], 1));
        assert_eq!(lines.rows[0], [Cell::Text("0.1234567890123456789".into())]);
        let table = read("t.yaml", "- zip: 01234\n- zip: 007\n", None).unwrap().remove(0);
        assert_eq!(table.rows, [[Cell::Text("01234".into())], [Cell::Text("007".into())]]);
    }

    #[test]
    fn lines_that_are_not_json_are_counted() {
        let table = read("t.jsonl", "{\"a\": 1}\nnot\n\n{\"a\": \"x\"}\n", None).unwrap().remove(0);
        assert_eq!((table.rows.len(), table.unreadable, columns(&table)), (2, 1, vec![("a", ColumnKind::Text)]));
        assert!(table.notes[0].ends_with("1 line without valid JSON; first: line 2"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in r#"[\[\]{}:,a1"\n .tre-]{0,60}"#) {
            for path in ["t.json", "t.jsonl", "t.yaml"] {
                for table in read(path, &text, None).into_iter().flatten() {
                    assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
                }
            }
        }
    }
}

//! The output of a run as text: a table as a table, a list as lines, one value as itself.

use serde_json::{Map, Value};

/// A result as people read it.
pub(super) fn as_text(result: &Value) -> String {
    match result {
        Value::Object(map) => answer(map).unwrap_or_else(|| format!("{result:#}")),
        Value::Array(entries) => list(entries).unwrap_or_else(|| format!("{result:#}")),
        other => cell(other),
    }
}

/// What has to be known about the answer of `query_data`.
pub(super) fn notes(result: &Value) -> impl Iterator<Item = &str> {
    let is_answer = result.get("columns").is_some() && result.get("rows").is_some();
    result.get("notes").filter(|_| is_answer).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The answer of `query_data`: one value, or a table.
fn answer(map: &Map<String, Value>) -> Option<String> {
    let (columns, rows) = (map.get("columns")?.as_array()?, map.get("rows")?.as_array()?);
    let columns: Vec<&str> = columns.iter().filter_map(Value::as_str).collect();
    Some(match (&columns[..], &rows[..]) {
        (["value"], [only]) => cell(&only["value"]),
        (_, []) => "no rows".to_owned(),
        _ => table(&columns, rows),
    })
}

/// Objects of plain values as a table, plain values as lines.
fn list(entries: &[Value]) -> Option<String> {
    if entries.is_empty() {
        return Some("none".to_owned());
    }
    if entries.iter().all(|entry| !entry.is_object() && !entry.is_array()) {
        return Some(entries.iter().map(cell).collect::<Vec<_>>().join("\n"));
    }
    let mut columns: Vec<&str> = Vec::new();
    for entry in entries {
        for (name, value) in entry.as_object()? {
            if value.is_object() || value.is_array() {
                return None;
            }
            if !columns.contains(&name.as_str()) {
                columns.push(name);
            }
        }
    }
    Some(table(&columns, entries))
}

fn table(columns: &[&str], rows: &[Value]) -> String {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let head = [row(columns.iter().map(|name| (*name).to_owned()).collect()), row(columns.iter().map(|_| "---".to_owned()).collect())];
    let body =
        rows.iter().map(|entry| row(columns.iter().map(|name| cell(&entry[*name]).replace('|', "\\|").replace('\n', " ")).collect()));
    head.into_iter().chain(body).collect::<Vec<_>>().join("\n")
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_prints_as_a_table_a_list_as_lines_and_a_number_as_a_number() {
        assert_eq!(as_text(&json!(28)), "28");
        assert_eq!(as_text(&json!(["a.rs", "b.rs"])), "a.rs\nb.rs");
        assert_eq!(as_text(&json!([{"path": "a|b", "lines": 3}])), "| path | lines |\n| --- | --- |\n| a\\|b | 3 |");
        let answer = json!({"columns": ["value"], "rows": [{"value": 35.5}], "notes": ["1 line can't be read"]});
        assert_eq!((as_text(&answer), notes(&answer).collect::<Vec<_>>()), ("35.5".to_owned(), vec!["1 line can't be read"]));
        assert_eq!(as_text(&json!({"a": {"b": 1}})), "{\n  \"a\": {\n    \"b\": 1\n  }\n}");
    }
}

//! A result as people read it: a table as a table, a list as lines, what a command printed, one value as itself.

use serde_json::{Map, Value};

use crate::text::{Plain, bytes, counted};

/// Columns to which a cell of a table is filled up; a longer one stands out of line.
const WIDEST: usize = 40;

/// The whole result, raw, with the tool that reported it, if one did. Tables are Markdown, filled up so that their columns stand below each
/// other.
pub fn result_text(result: &Value, tool: Option<&str>) -> String {
    let text = match result {
        Value::Object(map) => answer(map)
            .or_else(|| printed(map).map(str::to_owned))
            .or_else(|| changed(map, tool?).map(|lines| lines.join("\n")))
            .or_else(|| fields(map)),
        Value::Array(entries) => list(entries),
        Value::Null => None,
        other => Some(cell(other)),
    };
    text.unwrap_or_else(|| format!("{result:#}"))
}

/// Whether it is only a report of what was done: a file that was written, a command that printed nothing.
pub fn is_effect(result: &Value, tool: Option<&str>) -> bool {
    match result {
        Value::Null => true,
        Value::Object(map) => tool.is_some_and(|tool| changed(map, tool).is_some()) || printed(map).is_some_and(str::is_empty),
        _ => false,
    }
}

/// What has to be known about the answer of `query_data`, or of a search.
pub fn result_notes(result: &Value) -> impl Iterator<Item = &str> {
    let has = |name| result.get(name).is_some();
    let is_answer = has("columns") && has("rows") || has("matches") && has("truncated");
    result.get("notes").filter(|_| is_answer).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The result on one line, raw: one value, the first line of a text, how many rows or items, the fields of an object, else JSON.
pub fn result_line(result: &Value, tool: Option<&str>) -> String {
    let first = |text: &str| text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    let said = match result {
        Value::String(text) => return first(text),
        Value::Array(items) if items.len() != 1 => Some(counted(items.len(), "item")),
        Value::Object(map) => match (rows(map), printed(map)) {
            (Some((_, [row])), _) => row.as_object().and_then(flat),
            (Some((_, rows)), _) => Some(counted(rows.len(), "row")),
            (None, Some(text)) => Some(first(text)).filter(|line| !line.is_empty()).or_else(|| Some("printed nothing".to_owned())),
            (None, None) => match tool.and_then(|tool| changed(map, tool)).as_deref() {
                Some([only]) => Some(only.clone()),
                Some([first, more @ ..]) => Some(format!("{first}, and {} more", more.len())),
                Some([]) | None => flat(map),
            },
        },
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    };
    said.unwrap_or_else(|| result.to_string())
}

/// Plain values with their names; one that is called `value`, and nothing else, alone.
fn flat(map: &Map<String, Value>) -> Option<String> {
    let is_plain = !map.is_empty() && map.values().all(|value| !value.is_object() && !value.is_array());
    let tell = |(name, value): (&String, &Value)| match name.as_str() {
        "value" if map.len() == 1 => cell(value),
        _ => format!("{name}: {}", cell(value)),
    };
    is_plain.then(|| map.iter().map(tell).collect::<Vec<_>>().join(", "))
}

/// The columns and rows of an answer of `query_data`.
fn rows(map: &Map<String, Value>) -> Option<(Vec<&str>, &[Value])> {
    let (columns, rows) = (map.get("columns")?.as_array()?, map.get("rows")?.as_array()?);
    Some((columns.iter().filter_map(Value::as_str).collect(), rows))
}

/// The answer of `query_data`: one value, or a table.
fn answer(map: &Map<String, Value>) -> Option<String> {
    let (columns, rows) = rows(map)?;
    Some(match (&columns[..], rows) {
        (["value"], [only]) => cell(&only["value"]),
        (_, []) => "no rows".to_owned(),
        _ => match map.get("decimals") {
            Some(decimals) => table(&columns, &written(rows, decimals)),
            None => table(&columns, rows),
        },
    })
}

/// Rows with their numbers as their file writes them.
fn written(rows: &[Value], decimals: &Value) -> Vec<Value> {
    let mut rows = rows.to_vec();
    for (name, count) in decimals.as_object().into_iter().flatten() {
        let Some(count) = count.as_u64().and_then(|count| usize::try_from(count).ok()) else { continue };
        for value in rows.iter_mut().filter_map(|row| row.get_mut(name)) {
            if let Some(number) = value.as_f64() {
                *value = Value::String(format!("{number:.count$}"));
            }
        }
    }
    rows
}

/// What a command printed that ended well and complained of nothing.
fn printed(map: &Map<String, Value>) -> Option<&str> {
    let is_well = map.len() == 3 && map.get("exit_code")? == 0 && map.get("stderr")? == "";
    map.get("stdout")?.as_str().filter(|_| is_well).map(str::trim_end)
}

/// What a tool changed in the workspace, a line for each file. The same fields from anybody else say nothing of what was done.
fn changed(map: &Map<String, Value>, tool: &str) -> Option<Vec<String>> {
    let names: Vec<&str> = map.keys().map(String::as_str).collect();
    let each = |list: &Value, tell: &dyn Fn(&Value) -> String, none: &str| {
        let lines: Vec<String> = list.as_array()?.iter().map(tell).collect();
        Some(if lines.is_empty() { vec![none.to_owned()] } else { lines })
    };
    match (tool, &names[..]) {
        ("write_file" | "append_file", ["path", "bytes", "created"]) => {
            let new = if map["created"] == true { ", a new file" } else { "" };
            Some(vec![format!("wrote {} to {}{new}", bytes(map["bytes"].as_u64()?), map["path"].as_str()?)])
        }
        ("edit_file", ["path", "replacements"]) => {
            let times = usize::try_from(map["replacements"].as_u64()?).ok()?;
            Some(vec![format!("changed {} in {}", counted(times, "place"), map["path"].as_str()?)])
        }
        ("delete_file", ["deleted", "files", "directories", "bytes"]) => {
            each(&map["deleted"], &|path| format!("deleted {}", cell(path)), "nothing was deleted")
        }
        ("make_directory", ["created"]) => {
            each(&map["created"], &|path| format!("created the folder {}", cell(path)), "the folder is there already")
        }
        ("move_file" | "copy_file", [done @ ("moved" | "copied"), "files", ..]) => {
            let tell = |step: &Value| {
                let over = if step["overwritten"] == true { ", in place of the file that was there" } else { "" };
                format!("{done} {} to {}{over}", cell(&step["source"]), cell(&step["target"]))
            };
            each(&map[*done], &tell, &format!("nothing was {done}"))
        }
        _ => None,
    }
}

/// An object with texts of several lines, field by field and line by line.
fn fields(map: &Map<String, Value>) -> Option<String> {
    let long = |value: &Value| value.as_str().is_some_and(|text| text.contains('\n'));
    let tell = |(name, value): (&String, &Value)| match value {
        Value::String(text) if long(value) => {
            let lines = text.trim_end_matches('\n').split('\n').map(|line| format!("\n  {line}"));
            format!("{name}:{}", lines.collect::<String>())
        }
        other => format!("{name}: {other}"),
    };
    map.values().any(long).then(|| map.iter().map(tell).collect::<Vec<_>>().join("\n"))
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

/// A table, its columns of numbers to the right.
fn table(columns: &[&str], rows: &[Value]) -> String {
    let escaped = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let is_number =
        |name: &&str| rows.iter().all(|row| row[*name].is_number() || row[*name].as_str().is_some_and(|text| text.parse::<f64>().is_ok()));
    let right: Vec<bool> = columns.iter().map(is_number).collect();
    let head: Vec<String> = columns.iter().map(|name| escaped(name)).collect();
    let body: Vec<Vec<String>> = rows.iter().map(|row| columns.iter().map(|name| escaped(&cell(&row[*name]))).collect()).collect();
    let mut widths = vec![3; columns.len()];
    for cells in std::iter::once(&head).chain(&body) {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = Plain::line(cell).width().clamp(*width, WIDEST.max(*width));
        }
    }
    let line = |cells: &[String]| {
        let fill = |((cell, width), right): ((&String, &usize), &bool)| {
            let blank = " ".repeat(width.saturating_sub(Plain::line(cell).width()));
            if *right { format!("{blank}{cell}") } else { format!("{cell}{blank}") }
        };
        format!("| {} |", cells.iter().zip(&widths).zip(&right).map(fill).collect::<Vec<_>>().join(" | "))
    };
    let rule = |(width, right): (&usize, &bool)| if *right { format!("{}:", "-".repeat(width - 1)) } else { "-".repeat(*width) };
    let rules: Vec<String> = widths.iter().zip(&right).map(rule).collect();
    [line(&head), line(&rules)].into_iter().chain(body.iter().map(|cells| line(cells))).collect::<Vec<_>>().join("\n")
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
    fn a_table_reads_as_a_table_a_list_as_lines_and_a_number_as_a_number() {
        assert_eq!(result_text(&json!(28), None), "28");
        assert_eq!(result_text(&json!("a\nb"), None), "a\nb");
        assert_eq!(result_text(&json!(["a.rs", "b.rs"]), None), "a.rs\nb.rs");
        let rows = json!([{"path": "a|b", "lines": 3}, {"path": "c", "lines": 12}]);
        assert_eq!(result_text(&rows, None), "| path | lines |\n| ---- | ----: |\n| a\\|b |     3 |\n| c    |    12 |");
        let answer = json!({"columns": ["value"], "rows": [{"value": 35.5}], "notes": ["1 line can't be read"]});
        assert_eq!(
            (result_text(&answer, None), result_notes(&answer).collect::<Vec<_>>()),
            ("35.5".to_owned(), vec!["1 line can't be read"])
        );
        let wrote = json!({"path": "a.md", "bytes": 312, "created": true});
        let by = |tool: &'static str, value: &Value| (result_text(value, Some(tool)), result_line(value, Some(tool)));
        assert_eq!(by("write_file", &wrote), ("wrote 312 B to a.md, a new file".into(), "wrote 312 B to a.md, a new file".into()));
        assert_eq!(result_line(&wrote, None), "path: a.md, bytes: 312, created: true", "nobody says that it was done");
        assert!(
            !result_text(&wrote, Some("read_file")).contains("wrote") && !is_effect(&wrote, None) && is_effect(&wrote, Some("write_file"))
        );
        let deleted = json!({"deleted": ["a", "b"], "files": 2, "directories": 0, "bytes": 3});
        assert_eq!(by("delete_file", &deleted), ("deleted a\ndeleted b".into(), "deleted a, and 1 more".into()));
        let moved = json!({"moved": [{"source": "a", "target": "b", "overwritten": true}], "files": 1});
        assert_eq!(by("move_file", &moved).0, "moved a to b, in place of the file that was there");
        assert_eq!(by("copy_file", &json!({"copied": [], "files": 0, "bytes": 0})).0, "nothing was copied");
        assert_eq!(by("make_directory", &json!({"created": ["out"]})).0, "created the folder out");
        assert_eq!(result_text(&json!({"a": {"b": 1}}), None), "{\n  \"a\": {\n    \"b\": 1\n  }\n}");
    }

    #[test]
    fn what_a_command_printed_is_its_result_unless_it_failed_or_complained() {
        assert_eq!(result_text(&json!({"exit_code": 0, "stdout": "a\nb\n", "stderr": ""}), None), "a\nb");
        assert_eq!(
            result_text(&json!({"exit_code": 1, "stdout": "a\nb\n", "stderr": ""}), None),
            "exit_code: 1\nstdout:\n  a\n  b\nstderr: \"\""
        );
    }

    #[test]
    fn one_line_of_a_result_is_json_only_where_it_is_nested() {
        let line = |value: Value| result_line(&value, None);
        assert_eq!(line(json!({"columns": ["value"], "rows": [{"value": 3}]})), "3");
        assert_eq!(line(json!({"columns": ["name", "n"], "rows": [{"name": "a", "n": 1}]})), "name: a, n: 1");
        assert_eq!(line(json!({"columns": ["n"], "rows": [{"n": 1}, {"n": 2}]})), "2 rows");
        assert_eq!(line(json!({"exit_code": 0, "stdout": "\nhi\n", "stderr": ""})), "hi");
        assert_eq!(line(json!({"exit_code": 0, "stdout": "", "stderr": ""})), "printed nothing");
        assert_eq!(line(json!({"path": "a.txt", "bytes": 5})), "path: a.txt, bytes: 5");
        assert_eq!((line(json!([1, 2])), line(json!("\na\nb"))), ("2 items".into(), "a".into()));
        assert_eq!((line(json!({"a": [1]})), line(json!(true))), ("{\"a\":[1]}".into(), "true".into()));
    }
}

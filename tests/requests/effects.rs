//! Whether a workspace changed as it was asked to, and nothing else in it.

use crate::{
    answer::{Setting, numbers, says},
    corpus::{Cell, Change, Request},
    world::{Entry, Tree},
};
use serde_json::Value;

/// The first thing that is another than before without having been asked for. Folders on the way to what was asked for may be new.
pub fn unasked(request: &Request, before: &Tree, after: &Tree) -> Option<String> {
    let is_asked = |path: &str| {
        let is_on_the_way = |asked: &String| asked.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        request.changes.contains_key(path)
            || (after.get(path) == Some(&Entry::Folder) && !before.contains_key(path) && request.changes.keys().any(is_on_the_way))
    };
    let paths = before.keys().chain(after.keys());
    // Reading refreshes the times in git's index; what is staged is compared by itself.
    paths.filter(|path| *path != ".git/index").find(|path| before.get(*path) != after.get(*path) && !is_asked(path)).cloned()
}

/// The first change that was asked for and isn't there.
pub fn undone(request: &Request, before: &Tree, after: &Tree, setting: &Setting<'_>) -> Option<String> {
    request.changes.iter().find_map(|(path, change)| {
        let reason = is_made(path, change, before, after.get(path), setting).err()?;
        Some(format!("{path}: {reason}"))
    })
}

fn is_made(path: &str, change: &Change, before: &Tree, now: Option<&Entry>, setting: &Setting<'_>) -> Result<(), String> {
    let ensure = |holds: bool| if holds { Ok(()) } else { Err(format!("it is {:?}", now.map(Entry::text))) };
    let text = || match now {
        Some(Entry::File(bytes)) => String::from_utf8(bytes.clone()).map_err(|error| error.to_string()),
        Some(Entry::Folder) => Err("it is a folder".to_owned()),
        None => Err("it isn't there".to_owned()),
    };
    match change {
        Change::Gone => ensure(now.is_none()),
        Change::Folder => ensure(now == Some(&Entry::Folder)),
        Change::Same(other) => ensure(now.is_some() && now == before.get(other)),
        Change::Text(expected) => {
            let text = text()?;
            ensure(text.strip_suffix('\n').unwrap_or(&text) == expected.strip_suffix('\n').unwrap_or(expected))
        }
        Change::Json(expected) => {
            let found: Value = serde_json::from_str(&text()?).map_err(|error| error.to_string())?;
            ensure(is_same_value(&serde_json::from_str(expected).unwrap(), &found))
        }
        Change::Yaml(expected) => {
            let found: Value = serde_saphyr::from_str(&text()?).map_err(|error| error.to_string())?;
            ensure(is_same_value(&serde_json::from_str(expected).unwrap(), &found))
        }
        Change::Table(rows) => is_table(rows, &text()?, if path.ends_with(".tsv") { '\t' } else { ',' }),
        Change::Says(answer) => says(answer, &text()?, setting),
    }
}

/// A number may be written as text, null as an empty text or not at all; a text is never a number, so zeros at its beginning stay.
fn is_same_value(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Number(number), Value::String(text)) => text.parse().ok() == number.as_f64(),
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Null, Value::String(text)) => text.is_empty(),
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(one, other)| is_same_value(one, other))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            theirs.keys().all(|name| ours.contains_key(name))
                && ours.iter().all(|(name, value)| is_same_value(value, theirs.get(name).unwrap_or(&Value::Null)))
        }
        (one, other) => one == other,
    }
}

fn is_table(expected: &[Vec<Cell>], text: &str, mark: char) -> Result<(), String> {
    let found = rows(text, mark);
    let is_cell = |cell: &Cell, text: &String| match cell {
        Cell::Text(expected) => expected == text,
        Cell::Number(expected) => matches!(numbers(text)[..], [number] if number.is(*expected)),
    };
    let is_row = |(row, found): (&Vec<Cell>, &Vec<String>)| {
        row.len() == found.len() && row.iter().zip(found).all(|(cell, text)| is_cell(cell, text))
    };
    match expected.iter().zip(&found).position(|pair| !is_row(pair)) {
        Some(at) => Err(format!("row {} is {:?} and not {:?}", at + 1, found[at], expected[at])),
        None if expected.len() != found.len() => Err(format!("{} rows and not {}", found.len(), expected.len())),
        None => Ok(()),
    }
}

/// The rows of a file of values by RFC 4180, without empty lines.
fn rows(text: &str, mark: char) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(row) = rows.last_mut() else { break };
        let Some(cell) = row.last_mut() else { break };
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => rows.push(vec![String::new()]),
            letter if letter == mark && !is_quoted => row.push(String::new()),
            letter => cell.push(letter),
        }
    }
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    rows
}

//! Searching past runs: by what they are for, how and when they ended, and by their results. It reads on a connection of its own, so that
//! a long search holds up nobody who opens a run.

use super::{
    RunFilter, RunRow, Store, StoreError,
    schema::{self, Tuning},
};
use crate::text::{Plain, timestamp};
use rusqlite::{Connection, params};
use serde_json::Value;

/// A run that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRun {
    pub row: RunRow,
    /// The line of a result that has the words; `None` where the run itself has them.
    pub line: Option<String>,
}

impl Store {
    /// Runs that have all the words, in their goal, name, state or time, or in one of their results: the newest `most` of them.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn search(&self, scope: RunFilter<'_>, text: &str, most: usize) -> Result<Vec<FoundRun>, StoreError> {
        let wrap = |error: rusqlite::Error| StoreError::sqlite(&self.path, &error);
        let db = schema::open_to_look(&self.path, Tuning::default())?;
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let mut found = Vec::new();
        for row in self.runs_by(&db, scope)? {
            if found.len() >= most {
                break;
            }
            let line = if is_about(&row, &words) { None } else { Some(in_results(&db, &row, &words).map_err(wrap)?) };
            match line {
                None => found.push(FoundRun { row, line: None }),
                Some(Some(line)) => found.push(FoundRun { row, line: Some(line) }),
                Some(None) => {}
            }
        }
        Ok(found)
    }
}

fn has(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn is_about(row: &RunRow, words: &[String]) -> bool {
    let (driven, left) = (row.status.driven.word(), row.status.left.word());
    has(&format!("{} {} {driven} {left} {}", row.goal, row.run.0, timestamp(row.created.0)), words)
}

/// The first line of a run's results that has the words.
fn in_results(db: &Connection, row: &RunRow, words: &[String]) -> rusqlite::Result<Option<String>> {
    let longest = words.iter().max_by_key(|word| word.len()).map_or("", String::as_str);
    // A text has some of its characters as escapes there: those are not looked for in the raw JSON.
    let raw = if longest.is_ascii() && !longest.contains(['"', '\\']) { longest } else { "" };
    let mut query = db.prepare_cached(
        "SELECT json FROM events WHERE run = ?1 AND kind = 'node_completed' AND instr(lower(json), ?2) > 0 ORDER BY seq DESC",
    )?;
    let mut rows = query.query(params![row.run.0, raw])?;
    while let Some(event) = rows.next()? {
        let event: Value = serde_json::from_str(&event.get::<_, String>(0)?).unwrap_or_default();
        if let Some(line) = event.get("result").and_then(|result| line_with(result, words)) {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

/// The first line in a value that has the words; where several lines have them together, the first of each word.
fn line_with(value: &Value, words: &[String]) -> Option<String> {
    match value {
        Value::String(text) if has(text, words) => {
            let lines = || text.lines().filter(|line| !line.trim().is_empty());
            let first = |word: &String| lines().find(|line| has(line, std::slice::from_ref(word)));
            let mut shown: Vec<&str> =
                lines().find(|line| has(line, words)).map_or_else(|| words.iter().filter_map(first).collect(), |line| vec![line]);
            shown.dedup();
            Some(shown.iter().map(|line| Plain::summary(line).into_string()).collect::<Vec<_>>().join(" … "))
        }
        Value::Array(entries) => entries.iter().find_map(|entry| line_with(entry, words)).or_else(|| whole(value, words)),
        Value::Object(map) => map.values().find_map(|entry| line_with(entry, words)).or_else(|| whole(value, words)),
        Value::Number(_) | Value::Bool(_) => whole(value, words),
        Value::String(_) | Value::Null => None,
    }
}

/// A value on one line, where only all of it has the words.
fn whole(value: &Value, words: &[String]) -> Option<String> {
    Some(value.to_string()).filter(|text| has(text, words)).map(|text| Plain::summary(&text).into_string())
}

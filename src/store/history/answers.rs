//! What people did with suggestions: kept beside what is made from the journal, and by nothing else.

use super::RunHistory;
use crate::engine::Suggestion;
use crate::store::StoreError;
use rusqlite::{Row, params};

/// A suggestion that a person took or dismissed.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptAnswer {
    pub suggestion: Suggestion,
    /// What taking it changed; none: it was dismissed.
    pub taken: Option<TakenChange>,
}

/// A change of a file, so that it can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenChange {
    pub file: String,
    /// What was there; none: nothing.
    pub before: Option<String>,
    pub after: String,
}

impl RunHistory {
    /// The newest first.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn answers(&self) -> Result<Vec<KeptAnswer>, StoreError> {
        let read = || {
            let mut rows = self.db.prepare_cached("SELECT json, file, before, after FROM answers ORDER BY number DESC")?;
            let rows = rows.query_map([], answer)?;
            rows.collect::<rusqlite::Result<Vec<Option<KeptAnswer>>>>()
        };
        read().map(|rows| rows.into_iter().flatten().collect()).map_err(|error| self.wrap(&error))
    }

    /// # Errors
    /// When the file can't be written.
    pub fn keep_answer(&mut self, answer: &KeptAnswer) -> Result<(), StoreError> {
        let json = serde_json::to_string(&answer.suggestion).unwrap_or_default();
        let taken = answer.taken.as_ref();
        let values = (taken.map(|taken| &taken.file), taken.and_then(|taken| taken.before.as_ref()), taken.map(|taken| &taken.after));
        let done = self.changed(|db| {
            db.execute("DELETE FROM answers WHERE suggestion = ?1", params![answer.suggestion.id])?;
            db.execute(
                "INSERT INTO answers (suggestion, json, file, before, after) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![answer.suggestion.id, json, values.0, values.1, values.2],
            )
        });
        done.map(drop).map_err(|error| self.wrap(&error))
    }

    /// # Errors
    /// When the file can't be written.
    pub fn drop_answer(&mut self, suggestion: &str) -> Result<(), StoreError> {
        let done = self.changed(|db| db.execute("DELETE FROM answers WHERE suggestion = ?1", params![suggestion]));
        done.map(drop).map_err(|error| self.wrap(&error))
    }
}

/// One that can't be read is passed over.
fn answer(row: &Row<'_>) -> rusqlite::Result<Option<KeptAnswer>> {
    let taken = match (row.get::<_, Option<String>>(1)?, row.get::<_, Option<String>>(3)?) {
        (Some(file), Some(after)) => Some(TakenChange { file, before: row.get(2)?, after }),
        _ => None,
    };
    let suggestion = serde_json::from_str(&row.get::<_, String>(0)?).ok();
    Ok(suggestion.map(|suggestion| KeptAnswer { suggestion, taken }))
}

//! Runs whose request was similar and that worked, by full-text search.

use super::RunHistory;
use crate::engine::{RunId, Time, short_name};
use crate::store::{StoreError, row::unsigned};
use crate::text::{cost, count, duration};
use rusqlite::{Row, params};
use serde::Serialize;
use std::{collections::BTreeSet, path::Path};

/// Rows that are compared with the request word by word.
const LOOKED_AT: i64 = 30;
/// The share of a request's words that another one has to have.
const ALIKE: f64 = 0.5;
/// Words that say nothing of what a request is about.
const SMALL_WORDS: [&str; 22] = [
    "the", "and", "for", "with", "from", "into", "that", "this", "then", "them", "all", "are", "its", "their", "there", "your", "please",
    "have", "has", "was", "which", "each",
];

/// A run that worked, for a request like another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarRun {
    pub run: RunId,
    pub request: String,
    pub outcome: String,
    pub ended: Time,
    pub took_ms: u64,
    pub tokens: u64,
    /// None where a price is unknown.
    pub cost_usd: Option<f64>,
    /// Its plan, a node a line.
    pub outline: String,
}

impl SimilarRun {
    /// ``run `1a2b3c4d` (succeeded, 14s, 12k tokens, $0.02)``, for people.
    pub fn label(&self) -> String {
        let cost = self.cost_usd.map_or_else(|| "cost ?".to_owned(), |usd| cost(usd).into_string());
        format!("run `{}` ({}, {}, {} tokens, {cost})", short_name(&self.run.0), self.outcome, duration(self.took_ms), count(self.tokens))
    }
}

impl RunHistory {
    /// The best `most` runs of a workspace that succeeded with a request like this one, no plan twice. What was read from a file or stdin
    /// is left out.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn similar(&self, request: &str, workspace: &Path, most: usize) -> Result<Vec<SimilarRun>, StoreError> {
        let wanted = words(request);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.ranked(&wanted, workspace).map_err(|error| self.wrap(&error))?;
        let alike = |run: &SimilarRun| {
            let theirs = words(&run.request);
            let shared = wanted.iter().filter(|word| theirs.iter().any(|other| is_like(word, other))).count();
            shared as f64 >= ALIKE * wanted.len().max(theirs.len()) as f64
        };
        let mut plans = BTreeSet::new();
        let alike = found.into_iter().filter(|run| alike(run) && plans.insert(run.outline.clone()));
        Ok(alike.take(most).collect())
    }

    fn ranked(&self, wanted: &BTreeSet<String>, workspace: &Path) -> rusqlite::Result<Vec<SimilarRun>> {
        let query = wanted.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let mut rows = self.db.prepare_cached(
            "SELECT run, request, outcome, ended, ended - began, tokens, cost, outline FROM requests JOIN runs ON runs.id = requests.rowid
             WHERE requests MATCH ?1 AND workspace = ?2 AND private = 0 AND outcome = 'succeeded' ORDER BY rank, ended DESC LIMIT ?3",
        )?;
        let rows = rows.query_map(params![query, workspace.display().to_string(), LOOKED_AT], similar)?;
        rows.collect()
    }
}

fn similar(row: &Row<'_>) -> rusqlite::Result<SimilarRun> {
    let figure = |at: usize| row.get::<_, i64>(at).map(unsigned);
    Ok(SimilarRun {
        run: RunId(row.get(0)?),
        request: row.get(1)?,
        outcome: row.get(2)?,
        ended: Time(figure(3)?),
        took_ms: figure(4)?,
        tokens: figure(5)?,
        cost_usd: row.get(6)?,
        outline: row.get(7)?,
    })
}

/// The words of a request that say what it is about.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() > 2 && !SMALL_WORDS.contains(&word.as_str())).collect()
}

/// Whether two words are forms of one: `report` and `reports`.
fn is_like(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longest = one.chars().count().max(other.chars().count());
    one == other || (shared >= 4 && longest - shared <= 3)
}

//! `RunHistory`: what past runs teach, in a small file beside the journal, so that it is read fast and costs no run anything. All of it is made
//! from the journal: what ended since is read in when the history is opened. Only which runs are forgotten, and what people did with
//! suggestions, is nowhere else.

mod answers;
mod cases;
mod similar;
mod stats;
#[cfg(test)]
mod tests;

pub use answers::{KeptAnswer, TakenChange};
pub use cases::HistoryBefore;
pub use similar::SimilarRun;

use super::{
    Store, StoreError,
    row::{signed, unsigned},
};
use crate::engine::{Calibration, PAST_EVENTS, PastAttempt, PastRun, RunId, Time, WorkerSort, goal_sort};
use crate::files;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::{
    collections::HashMap,
    fs::OpenOptions,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// Raised when the tables change, or what is put into them: they are made anew then.
const VERSION: i64 = 1;
/// Tables that are made from the journal.
const MADE: [&str; 8] = ["read", "runs", "requests", "scores", "works", "attempts", "tools", "follows"];
/// Tables whose rows name a run.
const OF_RUN: [&str; 4] = ["attempts", "tools", "follows", "scores"];
/// Of many runs that are read in together, so many are held against their estimates: the newest.
const SCORED: usize = 200;
/// Runs that are read in together.
const GROUP: usize = 200;

/// What past runs teach.
#[derive(Debug)]
pub struct RunHistory {
    path: PathBuf,
    db: Connection,
}

impl RunHistory {
    /// The file within a home folder.
    pub fn file(home: &Path) -> PathBuf {
        home.join("history.db")
    }

    /// Opens the history beside a journal, and reads in what ended since. Where the file can't be written, what is in it counts; where there
    /// is none then, it is made in memory.
    ///
    /// # Errors
    /// When the file is damaged, or the journal can't be read.
    pub fn open(store: &Store) -> Result<Self, StoreError> {
        let path = Self::file(store.path().parent().unwrap_or(Path::new(".")));
        let can_write = store.refusal().is_none() && make_private(&path).is_ok();
        let opened = match (can_write, path.exists()) {
            (true, _) => Connection::open(&path),
            (false, true) => Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX),
            (false, false) => Connection::open_in_memory(),
        };
        let mut history = Self { db: opened.map_err(|error| damaged(&path, &error))?, path };
        if can_write || !history.path.exists() {
            history.prepare().map_err(|error| history.wrap(&error))?;
            match history.catch_up(store) {
                // Another program reads in just now: what is there counts.
                Err(StoreError::Locked { .. }) => {}
                read => read?,
            }
        }
        Ok(history)
    }

    /// Takes runs out for good; the journal keeps them. Returns how many of them were in it.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn forget(&mut self, runs: &[RunId]) -> Result<usize, StoreError> {
        let done = self.changed(|db| {
            let mut found = 0;
            for run in runs {
                db.prepare_cached("INSERT OR IGNORE INTO forgotten (run) VALUES (?1)")?.execute(params![run.0])?;
                found += remove(db, &run.0)?;
            }
            Ok(found)
        });
        done.map_err(|error| self.wrap(&error))
    }

    /// What ended before then.
    pub fn before(&self, before: Time) -> HistoryBefore<'_> {
        HistoryBefore::new(&self.db, before)
    }

    /// How the estimates of runs did that ended before then.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn calibration(&self, before: Time) -> Result<Calibration, StoreError> {
        self.before(before).calibration().map_err(|error| self.wrap(&error))
    }

    fn prepare(&mut self) -> rusqlite::Result<()> {
        self.db.busy_timeout(Duration::from_secs(5))?;
        self.db.pragma_update(None, "secure_delete", "ON")?;
        let version: i64 = self.db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == VERSION {
            return Ok(());
        }
        self.changed(|db| {
            for table in MADE {
                db.execute_batch(&format!("DROP TABLE IF EXISTS {table};"))?;
            }
            db.execute_batch(include_str!("history.sql"))?;
            db.pragma_update(None, "user_version", VERSION)
        })
    }

    /// Reads in the runs that ended since, and takes out those that are gone from the journal.
    fn catch_up(&mut self, store: &Store) -> Result<(), StoreError> {
        let over = store.over()?;
        let known = self.known().map_err(|error| self.wrap(&error))?;
        let new: Vec<&(RunId, u64)> = over.iter().filter(|(run, ended)| known.get(&run.0) != Some(ended)).collect();
        let first_scored = new.len().saturating_sub(SCORED);
        for (number, group) in new.chunks(GROUP).enumerate() {
            let past: Vec<_> = group.iter().map(|(run, ended)| Ok((run, *ended, read(store, run)?))).collect::<Result<_, StoreError>>()?;
            let kept = self.changed(|db| {
                for (at, (run, ended, past)) in past.iter().enumerate() {
                    let id = keep(db, run, *ended, past.as_ref())?;
                    if let (Some(id), Some(past)) = (id.filter(|_| number * GROUP + at >= first_scored), past) {
                        cases::score(db, id, past)?;
                    }
                }
                Ok(())
            });
            kept.map_err(|error| self.wrap(&error))?;
        }
        if known.len() + new.len() > over.len() {
            let there: std::collections::HashSet<&str> = over.iter().map(|(run, _)| run.0.as_str()).collect();
            let gone: Vec<&String> = known.keys().filter(|run| !there.contains(run.as_str())).collect();
            let removed = self.changed(|db| gone.iter().try_for_each(|run| remove(db, run).map(drop)));
            removed.map_err(|error| self.wrap(&error))?;
        }
        Ok(())
    }

    fn known(&self) -> rusqlite::Result<HashMap<String, u64>> {
        let mut rows = self.db.prepare_cached("SELECT run, ended FROM read")?;
        rows.query_map([], |row| Ok((row.get(0)?, unsigned(row.get(1)?))))?.collect()
    }

    fn changed<T>(&mut self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = change(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    fn wrap(&self, error: &rusqlite::Error) -> StoreError {
        damaged(&self.path, error)
    }
}

/// Takes runs out that are gone from the journal of a home folder, where it has a history.
pub(super) fn remove_from(home: &Path, runs: &[RunId]) -> Result<(), StoreError> {
    let path = RunHistory::file(home);
    if !path.exists() {
        return Ok(());
    }
    let db = Connection::open(&path).map_err(|error| damaged(&path, &error))?;
    let mut history = RunHistory { path, db };
    let removed = history.prepare().and_then(|()| history.changed(|db| runs.iter().try_for_each(|run| remove(db, &run.0).map(drop))));
    removed.map_err(|error| history.wrap(&error))
}

fn read(store: &Store, run: &RunId) -> Result<Option<PastRun>, StoreError> {
    Ok(PastRun::of(&store.records_of(run, &PAST_EVENTS)?))
}

/// Returns the number of the run where it teaches something.
fn keep(db: &Connection, run: &RunId, ended: u64, past: Option<&PastRun>) -> rusqlite::Result<Option<i64>> {
    remove(db, &run.0)?;
    db.prepare_cached("INSERT INTO read (run, ended) VALUES (?1, ?2)")?.execute(params![run.0, signed(ended)])?;
    let forgotten = db.prepare_cached("SELECT 1 FROM forgotten WHERE run = ?1")?.exists(params![run.0])?;
    past.filter(|_| !forgotten).map(|past| keep_past(db, run, past)).transpose()
}

fn keep_past(db: &Connection, run: &RunId, past: &PastRun) -> rusqlite::Result<i64> {
    let goal = goal_sort(past.request());
    db.prepare_cached(
        "INSERT INTO runs (run, workspace, goal, began, ended, outcome, private, outline, tokens, cost)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        run.0,
        past.workspace,
        goal,
        signed(past.began.0),
        signed(past.ended.0),
        past.outcome.word(),
        past.private,
        past.outline(),
        signed(past.spent.tokens.total()),
        past.spent.known_cost()
    ])?;
    let id = db.last_insert_rowid();
    db.prepare_cached("INSERT INTO requests (rowid, request) VALUES (?1, ?2)")?.execute(params![id, past.request()])?;
    for attempt in &past.attempts {
        keep_attempt(db, id, goal, attempt)?;
    }
    let mut follows = db.prepare_cached("INSERT INTO follows (run, before, after) VALUES (?1, ?2, ?3)")?;
    for (before, after) in past.follows() {
        follows.execute(params![id, before, after])?;
    }
    Ok(id)
}

fn keep_attempt(db: &Connection, run: i64, goal: &str, attempt: &PastAttempt) -> rusqlite::Result<()> {
    let PastAttempt { node, generation, sort, spent, .. } = attempt;
    let work = work(db, goal, attempt)?;
    let (outcome, at) = attempt.end;
    db.prepare_cached(
        "INSERT INTO attempts (run, node, generation, work, outcome, ended, took_ms, calls, prompt, completion, cost, estimated, input, result)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?
    .execute(params![
        run,
        node.as_str(),
        generation,
        work,
        <&str>::from(outcome),
        signed(at.0),
        signed(attempt.took_ms),
        spent.model_calls.max(attempt.tools.get("").copied().unwrap_or_default()),
        signed(spent.tokens.prompt),
        signed(spent.tokens.completion),
        spent.known_cost(),
        spent.estimated,
        signed(attempt.input_tokens),
        signed(attempt.result_tokens)
    ])?;
    let mut tools = db.prepare_cached("INSERT INTO tools (run, work, tool, calls) VALUES (?1, ?2, ?3, ?4)")?;
    for (tool, calls) in attempt.tools.iter().filter(|_| *sort == WorkerSort::Agent) {
        tools.execute(params![run, work, tool, calls])?;
    }
    Ok(())
}

/// The number of what tells an attempt apart.
fn work(db: &Connection, goal: &str, attempt: &PastAttempt) -> rusqlite::Result<i64> {
    let asked = attempt.asked.as_deref().unwrap_or_default();
    let model = match &attempt.answered {
        Some((model, provider)) => format!("{model} ({provider})"),
        // What never answered is known by how it answered before, else by how it was asked for.
        None => db
            .prepare_cached("SELECT model FROM works WHERE asked = ?1 AND asked <> '' AND model <> '' ORDER BY id DESC LIMIT 1")?
            .query_row(params![asked], |row| row.get(0))
            .optional()?
            .unwrap_or_else(|| asked.to_owned()),
    };
    let values = params![<&str>::from(attempt.sort), attempt.worker, asked, model, goal];
    db.prepare_cached("INSERT OR IGNORE INTO works (sort, worker, asked, model, goal) VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(values)?;
    db.prepare_cached("SELECT id FROM works WHERE sort = ?1 AND worker = ?2 AND asked = ?3 AND model = ?4 AND goal = ?5")?
        .query_row(values, |row| row.get(0))
}

/// Takes one run out: returns how many there were.
fn remove(db: &Connection, run: &str) -> rusqlite::Result<usize> {
    db.prepare_cached("DELETE FROM read WHERE run = ?1")?.execute(params![run])?;
    let id = db.prepare_cached("SELECT id FROM runs WHERE run = ?1")?.query_row(params![run], |row| row.get::<_, i64>(0)).optional()?;
    let Some(id) = id else { return Ok(0) };
    for table in OF_RUN {
        db.prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?.execute(params![id])?;
    }
    // The names in it may be words of a request.
    db.execute("DELETE FROM works WHERE id NOT IN (SELECT work FROM attempts)", [])?;
    db.prepare_cached("DELETE FROM requests WHERE rowid = ?1")?.execute(params![id])?;
    db.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute(params![id])
}

fn make_private(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        files::private_folder(parent)?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(drop)
}

fn damaged(path: &Path, error: &rusqlite::Error) -> StoreError {
    StoreError::sqlite(path, error)
}

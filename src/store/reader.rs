//! What is read from the journal: the list of runs, one run's events, and which run a person means.

use super::{
    Audit, Store, StoreError, audit,
    row::{StoredRow, signed, unsigned},
};
use crate::engine::{Outcome, Record, Run, RunId, RunStatus, StopSignal, Time, short_name};
use crate::plan::NodeId;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::{
    path::Path,
    sync::{MutexGuard, PoisonError},
};

/// Which runs are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFilter<'a> {
    /// Those of one workspace.
    Workspace(&'a Path),
    /// All of the home folder.
    All,
}

/// One line of the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    pub run: RunId,
    pub workspace: String,
    pub goal: String,
    /// When it was created.
    pub created: Time,
    /// When its last event happened.
    pub last: Time,
    /// How long it was over before somebody opened it again.
    pub over_ms: u64,
    /// How it ended; `None` while open.
    pub outcome: Option<Outcome>,
    /// The list has none of a run that was opened again or whose plan was changed: its journal says how many.
    pub nodes: u32,
    /// The node of each open gate, oldest first; empty once the run ended.
    pub waiting: Vec<NodeId>,
    pub status: RowStatus,
    /// The run that it branched off, and the last event that they share.
    pub parent: Option<(RunId, u64)>,
    /// When it was read from a file, if it was.
    pub imported: Option<Time>,
}

/// How a run is by its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowStatus {
    /// While a process drives it.
    pub driven: RunStatus,
    pub left: RunStatus,
    /// The signal that ended its last driver, if one did.
    pub interrupted_by: Option<StopSignal>,
}

impl RunRow {
    /// When it ended; `None` while open.
    pub fn finished(&self) -> Option<Time> {
        self.outcome.map(|_| self.last)
    }
}

impl Store {
    /// Runs, newest first.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn runs(&self, scope: RunFilter<'_>) -> Result<Vec<RunRow>, StoreError> {
        self.runs_by(&self.lock(), scope)
    }

    /// The same, read by that connection.
    pub(super) fn runs_by(&self, db: &Connection, scope: RunFilter<'_>) -> Result<Vec<RunRow>, StoreError> {
        let mut runs = list(db, scope).map_err(|error| self.wrap(&error))?;
        for run in runs.iter_mut().filter(|run| run.outcome.is_none() || run.nodes == 0) {
            // One damaged run doesn't hide the others; looking at it says what is wrong with it.
            let Ok(records) = self.all(db, &run.run) else { continue };
            let state = Run::replay(&records);
            (run.nodes, run.over_ms) = (state.counts(state.status()).all, state.over_ms());
            if run.outcome.is_some() {
                continue;
            }
            // What was imported goes on nowhere, however it was left: no reply reaches its gates.
            let gates = state.open_gates().filter(|_| run.imported.is_none());
            run.waiting = gates.map(|gate| gate.node.clone()).collect();
            let left = if run.imported.is_some() { RunStatus::NotUnderWay } else { state.status_without_driver() };
            run.status = RowStatus { driven: state.status(), left, interrupted_by: state.interrupted_by() };
            run.last = records.last().map_or(run.created, |record| record.at);
        }
        Ok(runs)
    }

    /// The run that a person means: `last`, a whole name, or the only one that begins or ends so.
    ///
    /// # Errors
    /// When none or several fit.
    pub fn resolve(&self, name: &str, scope: RunFilter<'_>) -> Result<RunId, StoreError> {
        let db = self.lock();
        if name == "last" {
            let newest = newest(&db, scope).map_err(|error| self.wrap(&error))?;
            let Some(newest) = newest else {
                let elsewhere = elsewhere(&db).map_err(|error| self.wrap(&error))?;
                return Err(StoreError::NoRuns { elsewhere });
            };
            return Ok(RunId(newest));
        }
        let mut fitting = fitting(&db, name).map_err(|error| self.wrap(&error))?;
        match fitting.len() {
            0 => Err(StoreError::NoSuchRun { name: name.to_owned() }),
            1 => Ok(RunId(fitting.remove(0))),
            _ => Err(StoreError::Ambiguous {
                name: name.to_owned(),
                matches: fitting.iter().map(|run| short_name(run).to_owned()).collect(),
            }),
        }
    }

    /// The audit of all runs, also of deleted ones.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn audit(&self) -> Result<Audit, StoreError> {
        audit::read(&self.lock()).map_err(|error| self.wrap(&error))
    }

    /// All committed events of a run, in order.
    ///
    /// # Errors
    /// When the run is unknown or the journal can't be read.
    pub fn records(&self, run: &RunId) -> Result<Vec<Record>, StoreError> {
        self.all(&self.lock(), run)
    }

    /// The same of a run that is damaged behind the event `at`: what is before that, in whole steps.
    ///
    /// # Errors
    /// When the run is unknown, the damage is at that event or before it, or the journal can't be read.
    pub fn records_to(&self, run: &RunId, at: u64) -> Result<Vec<Record>, StoreError> {
        match self.sound(&self.lock(), run)? {
            (records, Some(damage)) if at > records.len() as u64 => Err(damage),
            (records, _) => Ok(records),
        }
    }

    /// Those behind the event `after`, as far as they can be read.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn records_after(&self, run: &RunId, after: u64) -> Result<Vec<Record>, StoreError> {
        let rows = rows(&self.lock(), run, after).map_err(|error| self.wrap(&error))?;
        Ok(rows.iter().map_while(|row| row.record().ok()).collect())
    }

    /// Those of some kinds alone, in order. One that can't be read is passed over.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn records_of(&self, run: &RunId, kinds: &[&str]) -> Result<Vec<Record>, StoreError> {
        let rows = rows_of(&self.lock(), run, kinds).map_err(|error| self.wrap(&error))?;
        Ok(rows.iter().filter_map(|row| row.record().ok()).collect())
    }

    fn all(&self, db: &Connection, run: &RunId) -> Result<Vec<Record>, StoreError> {
        let (records, damage) = self.sound(db, run)?;
        damage.map_or(Ok(records), Err)
    }

    /// The events before the first that is missing or can't be read, as far as their steps are whole, and what is wrong there.
    fn sound(&self, db: &Connection, run: &RunId) -> Result<(Vec<Record>, Option<StoreError>), StoreError> {
        let rows = rows(db, run, 0).map_err(|error| self.wrap(&error))?;
        if rows.is_empty() {
            return Err(StoreError::NoSuchRun { name: run.0.clone() });
        }
        let mut records = Vec::with_capacity(rows.len());
        for (row, seq) in rows.iter().zip(1_u64..) {
            let is_there = unsigned(row.seq) == seq && (seq == 1) == (row.kind == "run_created");
            let read =
                if is_there { row.record() } else { Err(format!("it is missing; event {} (`{}`) is in its place", row.seq, row.kind)) };
            match read {
                Ok(record) => records.push(record),
                Err(cause) => {
                    while records.pop_if(|record: &mut Record| record.more).is_some() {}
                    let (path, whole) = (self.path.clone(), records.len() as u64);
                    return Ok((records, Some(StoreError::DamagedRun { path, run: run.0.clone(), seq, whole, cause })));
                }
            }
        }
        Ok((records, None))
    }

    /// The runs of the home folder that are over, each with the time of its end, oldest end first. What was imported is left out.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn over(&self) -> Result<Vec<(RunId, u64)>, StoreError> {
        over(&self.lock()).map_err(|error| self.wrap(&error))
    }

    /// About how many bytes of the journal a run takes.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn size(&self, run: &RunId) -> Result<u64, StoreError> {
        let all = "SELECT coalesce(sum(length(CAST(json AS BLOB)) + length(kind)), 0) FROM events WHERE run = ?1";
        let size = self.lock().query_row(all, params![run.0], |row| row.get::<_, i64>(0));
        size.map(unsigned).map_err(|error| self.wrap(&error))
    }

    /// Whether a run was read from a file.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn is_imported(&self, run: &RunId) -> Result<bool, StoreError> {
        let found =
            self.lock().query_row("SELECT imported IS NOT NULL FROM runs WHERE id = ?1", params![run.0], |row| row.get(0)).optional();
        found.map(Option::unwrap_or_default).map_err(|error| self.wrap(&error))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Connection> {
        // A reader that panicked has changed nothing.
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wrap(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, error)
    }
}

fn list(db: &Connection, scope: RunFilter<'_>) -> rusqlite::Result<Vec<RunRow>> {
    let mut query = db.prepare_cached(
        "SELECT id, workspace, goal, created, finished, outcome, nodes, parent, parent_seq, imported FROM runs
         WHERE ?1 IS NULL OR workspace = ?1 ORDER BY coalesce(imported, created) DESC, id DESC",
    )?;
    let runs = query.query_map(params![workspace(scope)], |row| {
        let outcome = row.get::<_, Option<String>>(5)?.and_then(|word| word.parse::<Outcome>().ok());
        let status = outcome.map(RunStatus::from).unwrap_or_default();
        Ok(RunRow {
            run: RunId(row.get(0)?),
            workspace: row.get(1)?,
            goal: row.get(2)?,
            created: Time(unsigned(row.get(3)?)),
            last: Time(unsigned(row.get::<_, Option<i64>>(4)?.unwrap_or(row.get(3)?))),
            over_ms: 0,
            outcome,
            nodes: row.get(6)?,
            waiting: Vec::new(),
            status: RowStatus { driven: status, left: status, interrupted_by: None },
            parent: row.get::<_, Option<String>>(7)?.map(RunId).zip(row.get::<_, Option<i64>>(8)?.map(unsigned)),
            imported: row.get::<_, Option<i64>>(9)?.map(|at| Time(unsigned(at))),
        })
    })?;
    runs.collect()
}

fn over(db: &Connection) -> rusqlite::Result<Vec<(RunId, u64)>> {
    let mut runs =
        db.prepare_cached("SELECT id, finished FROM runs WHERE finished IS NOT NULL AND imported IS NULL ORDER BY finished, id")?;
    runs.query_map([], |row| Ok((RunId(row.get(0)?), unsigned(row.get(1)?))))?.collect()
}

fn newest(db: &Connection, scope: RunFilter<'_>) -> rusqlite::Result<Option<String>> {
    db.prepare_cached("SELECT id FROM runs WHERE ?1 IS NULL OR workspace = ?1 ORDER BY coalesce(imported, created) DESC, id DESC LIMIT 1")?
        .query_row(params![workspace(scope)], |row| row.get(0))
        .optional()
}

/// The newest run of all, and its workspace.
fn elsewhere(db: &Connection) -> rusqlite::Result<Option<(String, String)>> {
    db.prepare_cached("SELECT id, workspace FROM runs ORDER BY coalesce(imported, created) DESC, id DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// A part of a run's id means the run from this length on: a shorter name is a gate or a node.
pub const SHORTEST_NAME: usize = 4;

/// A whole name fits alone; else all that begin or end so, or whose short name begins so (names of one minute begin alike).
fn fitting(db: &Connection, name: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = db.prepare_cached(
        "SELECT id FROM runs WHERE id = ?1 OR (length(?1) >= ?2 AND (substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
           OR substr(substr(id, -8), 1, length(?1)) = ?1))
         ORDER BY id <> ?1, created DESC, id DESC LIMIT 6",
    )?;
    let fitting: Vec<String> =
        query.query_map(params![name, signed(SHORTEST_NAME as u64)], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    if fitting.first().is_some_and(|id| id == name) {
        return Ok(vec![name.to_owned()]);
    }
    Ok(fitting)
}

fn rows(db: &Connection, run: &RunId, after: u64) -> rusqlite::Result<Vec<StoredRow>> {
    let mut query = db.prepare_cached("SELECT seq, at, more, kind, json FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq")?;
    query.query_map(params![run.0, signed(after)], stored)?.collect()
}

fn rows_of(db: &Connection, run: &RunId, kinds: &[&str]) -> rusqlite::Result<Vec<StoredRow>> {
    let kinds = serde_json::json!(kinds).to_string();
    let mut query = db.prepare_cached(
        "SELECT seq, at, more, kind, json FROM events WHERE run = ?1 AND kind IN (SELECT value FROM json_each(?2)) ORDER BY seq",
    )?;
    query.query_map(params![run.0, kinds], stored)?.collect()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredRow> {
    Ok(StoredRow { seq: row.get(0)?, at: row.get(1)?, more: row.get(2)?, kind: row.get(3)?, json: row.get(4)? })
}

fn workspace(scope: RunFilter<'_>) -> Option<String> {
    match scope {
        RunFilter::Workspace(path) => Some(path.display().to_string()),
        RunFilter::All => None,
    }
}

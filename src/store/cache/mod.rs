//! `ResultCache`: results that later runs may take, in a file beside the journal. Nothing is only here: a file that is lost or can't be
//! used costs work, and nothing else. Whether a result may be taken is for the host to say.

mod entry;
#[cfg(test)]
mod tests;

pub use entry::{CacheEntry, CacheLook, CacheRow, KeyPart};

use super::{
    StoreError,
    row::{signed, unsigned},
};
use crate::engine::{RunId, Time};
use crate::files;
use crate::plan::NodeId;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior, params};
use std::{
    fs::OpenOptions,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Raised when the tables, or what is put into them, change: what was kept is dropped then.
const VERSION: i64 = 1;
/// How long another program's lock is waited for: work that is done again is better than a run that stands still.
const PATIENCE: Duration = Duration::from_millis(500);
/// Looks that are remembered.
const LOOKS: i64 = 5_000;
/// Results of the same worker that a new one is compared with.
const COMPARED: i64 = 20;
/// The share of all that one result may take.
const LARGEST: u64 = 10;

/// Results that later runs may take.
#[derive(Debug)]
pub struct ResultCache {
    path: PathBuf,
    /// Opened when it is first needed.
    db: Mutex<Option<Connection>>,
}

/// Which results go.
#[derive(Clone, Copy, Debug)]
pub enum CacheScope<'a> {
    All,
    Workspace(&'a Path),
    Runs(&'a [RunId]),
}

impl ResultCache {
    /// The cache of a home folder. Nothing is opened yet.
    pub fn of(home: &Path) -> Self {
        Self { path: home.join("cache.db"), db: Mutex::new(None) }
    }

    /// Whether anything was ever kept.
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// The result that is kept under a key.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn find(&self, key: &str) -> Result<Option<CacheEntry>, StoreError> {
        self.with(|db| {
            let json =
                db.prepare_cached("SELECT json FROM results WHERE key = ?1")?.query_row(params![key], |row| row.get(0)).optional()?;
            Ok(json.and_then(|json: String| serde_json::from_str(&json).ok()))
        })
    }

    /// Of the results that the same worker made, which parts of the key are others in the one that is most alike, and whose it is.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn nearest(&self, workspace: &Path, worker: &str, parts: &[KeyPart]) -> Result<Option<(RunId, Vec<String>)>, StoreError> {
        self.with(|db| {
            let mut rows = db.prepare_cached(
                "SELECT run, parts FROM results WHERE workspace = ?1 AND worker = ?2 ORDER BY made DESC, rowid DESC LIMIT ?3",
            )?;
            let kept = rows.query_map(params![workspace.display().to_string(), worker, COMPARED], |row| {
                Ok((RunId(row.get(0)?), row.get::<_, String>(1)?))
            })?;
            let mut nearest: Option<(RunId, Vec<String>)> = None;
            for kept in kept {
                let (run, json) = kept?;
                let theirs: Vec<KeyPart> = serde_json::from_str(&json).unwrap_or_default();
                let others: Vec<String> = parts.iter().filter(|part| !theirs.contains(part)).map(|part| part.name.clone()).collect();
                if nearest.as_ref().is_none_or(|(_, fewest)| others.len() < fewest.len()) {
                    nearest = Some((run, others));
                }
            }
            Ok(nearest)
        })
    }

    /// Keeps a result in place of one that is there under its key. Those that were not used for the longest time go until all together are
    /// no larger than `most` bytes; one that is large beside that isn't kept. Returns whether it was.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn keep(&self, entry: &CacheEntry, now: Time, most: u64) -> Result<bool, StoreError> {
        let json = serde_json::to_string(entry).unwrap_or_default();
        let parts = serde_json::to_string(&entry.parts).unwrap_or_default();
        let bytes = (json.len() + parts.len()) as u64;
        if json.is_empty() || bytes > most / LARGEST {
            return Ok(false);
        }
        self.changed(|db| {
            let source = &entry.source;
            db.prepare_cached("DELETE FROM results WHERE key = ?1")?.execute(params![entry.key])?;
            db.prepare_cached(
                "INSERT INTO results (key, workspace, worker, run, node, made, used, uses, bytes, parts, json)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, ?9, ?10)",
            )?
            .execute(params![
                entry.key,
                entry.workspace.display().to_string(),
                entry.worker,
                source.run.0,
                source.node.as_str(),
                signed(source.made.0),
                signed(now.0),
                signed(bytes),
                parts,
                json
            ])?;
            shrink(db, most)
        })?;
        Ok(true)
    }

    /// What came of looking for the result of a node: with the key of one that was taken.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn looked(&self, look: &CacheLook, taken: Option<&str>) -> Result<(), StoreError> {
        self.changed(|db| {
            if let Some(key) = taken {
                db.prepare_cached("UPDATE results SET used = ?2, uses = uses + 1 WHERE key = ?1")?
                    .execute(params![key, signed(look.at.0)])?;
            }
            db.prepare_cached("INSERT INTO looks (run, node, at, hit, why) VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
                look.run.0,
                look.node.as_str(),
                signed(look.at.0),
                look.hit,
                look.why
            ])?;
            let last = db.last_insert_rowid();
            db.prepare_cached("DELETE FROM looks WHERE number <= ?1")?.execute(params![last - LOOKS])?;
            Ok(())
        })
    }

    /// What came of looking in a run, in order.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn looks(&self, run: &RunId) -> Result<Vec<CacheLook>, StoreError> {
        self.with(|db| {
            let mut rows = db.prepare_cached("SELECT node, at, hit, why FROM looks WHERE run = ?1 ORDER BY number")?;
            let look = |row: &Row<'_>| {
                Ok(CacheLook {
                    run: run.clone(),
                    node: NodeId::new(row.get::<_, String>(0)?),
                    at: Time(unsigned(row.get(1)?)),
                    hit: row.get(2)?,
                    why: row.get(3)?,
                })
            };
            rows.query_map(params![run.0], look)?.collect()
        })
    }

    /// What is kept, the last used first: of one workspace, or all.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn list(&self, workspace: Option<&Path>) -> Result<Vec<CacheRow>, StoreError> {
        self.with(|db| {
            let mut rows = db.prepare_cached(
                "SELECT workspace, worker, run, node, made, used, uses, bytes FROM results WHERE ?1 IS NULL OR workspace = ?1
                 ORDER BY used DESC, made DESC, rowid DESC",
            )?;
            rows.query_map(params![workspace.map(|workspace| workspace.display().to_string())], CacheRow::read)?.collect()
        })
    }

    /// Takes results out for good. Returns how many there were.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn clear(&self, scope: CacheScope<'_>) -> Result<usize, StoreError> {
        if !self.exists() {
            return Ok(0);
        }
        let gone = self.changed(|db| match scope {
            CacheScope::All => {
                db.execute("DELETE FROM looks", [])?;
                db.execute("DELETE FROM results", [])
            }
            CacheScope::Workspace(workspace) => {
                db.execute("DELETE FROM results WHERE workspace = ?1", params![workspace.display().to_string()])
            }
            CacheScope::Runs(runs) => runs.iter().try_fold(0, |gone, run| {
                db.prepare_cached("DELETE FROM looks WHERE run = ?1")?.execute(params![run.0])?;
                Ok(gone + db.prepare_cached("DELETE FROM results WHERE run = ?1")?.execute(params![run.0])?)
            }),
        })?;
        // What was deleted is still in the log, as long as another program reads from it.
        self.with(|db| db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))?;
        Ok(gone)
    }

    fn with<T>(&self, read: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut db = self.lock();
        let done = match &mut *db {
            Some(open) => read(open),
            None => self.open().or_else(|error| self.made_anew(error)).and_then(|open| read(db.insert(open))),
        };
        if done.is_err() {
            // Whatever is wrong with it may be over when it is opened again.
            *db = None;
        }
        done.map_err(|error| StoreError::sqlite(&self.path, &error))
    }

    fn changed<T>(&self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.with(|db| {
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = change(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })
    }

    /// In the place of a file that is no database, or a broken one: nothing is only there.
    fn made_anew(&self, error: rusqlite::Error) -> rusqlite::Result<Connection> {
        if !matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)) {
            return Err(error);
        }
        for ending in ["", "-wal", "-shm"] {
            let mut file = self.path.clone().into_os_string();
            file.push(ending);
            // What isn't there is gone.
            let _ = std::fs::remove_file(file);
        }
        self.open()
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        make_private(&self.path).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let mut db = Connection::open(&self.path)?;
        db.busy_timeout(PATIENCE)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "NORMAL")?;
        db.pragma_update(None, "secure_delete", "ON")?;
        let version = |db: &Connection| db.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
        if version(&db)? == VERSION {
            return Ok(db);
        }
        let making = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another program may have made it in between.
        if version(&making)? != VERSION {
            making.execute_batch("DROP TABLE IF EXISTS results; DROP TABLE IF EXISTS room; DROP TABLE IF EXISTS looks;")?;
            making.execute_batch(include_str!("cache.sql"))?;
            making.pragma_update(None, "user_version", VERSION)?;
        }
        making.commit()?;
        Ok(db)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the least used until all together fit.
fn shrink(db: &Connection, most: u64) -> rusqlite::Result<()> {
    let all = || db.prepare_cached("SELECT bytes FROM room")?.query_row([], |row| row.get(0)).map(unsigned);
    while all()? > most {
        db.prepare_cached("DELETE FROM results WHERE key = (SELECT key FROM results ORDER BY used, made LIMIT 1)")?.execute([])?;
    }
    Ok(())
}

fn make_private(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        files::private_folder(parent)?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(drop)
}

//! `StoreWriter`: the one thread that writes. It takes everything that waits, writes it in one transaction, then answers all of it.
//!
//! Durability is chosen per transaction: `synchronous=FULL` syncs the write-ahead log at commit (and with it whatever earlier
//! commits left unsynced), `NORMAL` leaves that to the system.

use super::{
    AuditEntry, Durability, StoreError, audit,
    row::{Headline, StoredRow},
};
use rusqlite::{Connection, ErrorCode, Savepoint, TransactionBehavior, params};
use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};
use tokio::sync::oneshot;

/// Appends gathered into one transaction at most, so that the first of them doesn't wait for ever.
const GROUP: usize = 1024;

/// Which files were opened: database and write-ahead log, each with its device, inode and longest known length in bytes. SQLite writes on
/// into files that were deleted or emptied, and nobody could ever read that. It makes neither file shorter while one is open.
#[derive(Debug)]
struct OpenFiles(Vec<(PathBuf, (u64, u64), u64)>);

impl OpenFiles {
    fn of(path: &Path) -> Self {
        // The log is beside what a link leads to.
        let file = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let log = file.with_file_name("journal.db-wal");
        let opened = |path: PathBuf| path.metadata().ok().map(|data| (path, (data.dev(), data.ino()), data.len()));
        Self([file, log].into_iter().filter_map(opened).collect())
    }

    /// Whether they are there, as long as ever. Two looks at the folder, cheap beside a commit.
    fn are_whole(&mut self) -> bool {
        self.0.iter_mut().all(|(path, place, longest)| {
            let found = path.metadata().ok().filter(|data| (data.dev(), data.ino()) == *place && data.len() >= *longest);
            found.map(|data| *longest = data.len()).is_some()
        })
    }
}

/// Events of one run, to be written all or none.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) run: String,
    pub(super) rows: Vec<StoredRow>,
    pub(super) headlines: Vec<Headline>,
    pub(super) audit: Vec<AuditEntry>,
    pub(super) durability: Durability,
    pub(super) ack: oneshot::Sender<Result<(), StoreError>>,
}

/// The writer thread's handle. Dropping it waits until everything handed in is written.
#[derive(Debug)]
pub(super) struct StoreWriter {
    inbox: Option<mpsc::Sender<Append>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl StoreWriter {
    pub(super) fn start(db: Connection, path: PathBuf) -> Result<Self, StoreError> {
        let (inbox, appends) = mpsc::channel();
        let at = path.clone();
        let mut files = OpenFiles::of(&path);
        let thread = thread::Builder::new()
            .name("journal".into())
            .spawn(move || write_all(db, &path, &mut files, &appends))
            .map_err(|error| StoreError::io(&at, &error))?;
        Ok(Self { inbox: Some(inbox), thread: Some(thread) })
    }

    pub(super) fn send(&self, append: Append) -> Result<(), StoreError> {
        let inbox = self.inbox.as_ref().ok_or(StoreError::Closed)?;
        inbox.send(append).map_err(|_| StoreError::Closed)
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        self.inbox = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has answered nobody: its callers saw `Closed`.
            let _ = thread.join();
        }
    }
}

fn write_all(mut db: Connection, path: &Path, files: &mut OpenFiles, appends: &mpsc::Receiver<Append>) {
    while let Ok(first) = appends.recv() {
        let mut group = vec![first];
        group.extend(appends.try_iter().take(GROUP - 1));
        let gone = || Err(StoreError::Gone { path: path.to_path_buf() });
        let mut written = if files.are_whole() { write_group(&mut db, path, &group) } else { gone() };
        // What was cut while it was written is lost too.
        if !files.are_whole() {
            written = gone();
        }
        for (index, append) in group.into_iter().enumerate() {
            let result = match &written {
                Ok(each) => each.get(index).cloned().unwrap_or(Ok(())),
                Err(error) => Err(error.clone()),
            };
            // Whoever asked may have gone; the events are kept all the same.
            let _ = append.ack.send(result);
        }
    }
}

/// One transaction. An append that fails by itself (a conflict) leaves the others alone; a failed commit fails all.
fn write_group(db: &mut Connection, path: &Path, group: &[Append]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let wrap = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    let synced = group.iter().any(|append| append.durability == Durability::Power);
    db.pragma_update(None, "synchronous", if synced { "FULL" } else { "NORMAL" }).map_err(wrap)?;
    let mut transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
    let mut results = Vec::with_capacity(group.len());
    for append in group {
        let savepoint = transaction.savepoint().map_err(wrap)?;
        match write_one(&savepoint, append) {
            Ok(()) => {
                savepoint.commit().map_err(wrap)?;
                results.push(Ok(()));
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                drop(savepoint);
                results.push(Err(StoreError::Conflict { run: append.run.clone() }));
            }
            Err(error) => return Err(wrap(error)),
        }
    }
    transaction.commit().map_err(wrap)?;
    Ok(results)
}

fn write_one(savepoint: &Savepoint<'_>, append: &Append) -> rusqlite::Result<()> {
    for headline in &append.headlines {
        match headline {
            // It shares no event with the run whose results it goes on from.
            Headline::Created { workspace, goal, created, nodes, after } => savepoint
                .prepare_cached(
                    "INSERT INTO runs (id, workspace, goal, created, nodes, parent, parent_seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![append.run, workspace, goal, created, nodes, after, after.as_ref().map(|_| 0)])?,
            Headline::Reopened => savepoint
                .prepare_cached("UPDATE runs SET outcome = NULL, finished = NULL, nodes = 0 WHERE id = ?1")?
                .execute(params![append.run])?,
            Headline::Edited => savepoint.prepare_cached("UPDATE runs SET nodes = 0 WHERE id = ?1")?.execute(params![append.run])?,
            Headline::Branched { parent, seq, created } => savepoint
                .prepare_cached(
                    "UPDATE runs SET parent = ?2, parent_seq = ?3, created = ?4, outcome = NULL, finished = NULL WHERE id = ?1",
                )?
                .execute(params![append.run, parent, seq, created])?,
            Headline::Imported { workspace, at } => savepoint
                .prepare_cached("UPDATE runs SET imported = ?2, workspace = ?3 WHERE id = ?1")?
                .execute(params![append.run, at, workspace])?,
            Headline::Settled { outcome, finished } => savepoint
                .prepare_cached("UPDATE runs SET outcome = ?2, finished = ?3 WHERE id = ?1")?
                .execute(params![append.run, outcome, finished])?,
        };
    }
    let mut insert = savepoint.prepare_cached("INSERT INTO events (run, seq, at, more, kind, json) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for row in &append.rows {
        insert.execute(params![append.run, row.seq, row.at, row.more, row.kind, row.json])?;
    }
    audit::append(savepoint, &append.audit)
}

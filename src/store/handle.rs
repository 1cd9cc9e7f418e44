//! `Store`: the handle that the rest of dagdeck holds. Appends go to the writer thread, reads to a connection of their own.

use super::{
    Audit, CacheScope, Ownership, ResultCache, StoreError, history, prune,
    row::{Headline, StoredRow, signed},
    schema::{self, Tuning},
    writer::{Append, StoreWriter},
};
use crate::engine::{Actor, Record, RunId, Time};
use async_trait::async_trait;
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

/// What must not be able to lose an event before its effects begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The death of the process: committed to the write-ahead log, which the system writes out when it likes.
    Process,
    /// Loss of power too: the write-ahead log is synced to the disk by the commit. For events that a side effect follows.
    Power,
}

/// Where a run's events go. A trait, so that a run can be driven without a disk.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Appends events of one run, in order, all or none. Returns once they are committed.
    ///
    /// # Errors
    /// Nothing was written then.
    async fn append(&self, run: &RunId, records: &[Record], durability: Durability) -> Result<(), StoreError>;

    /// All committed events of a run, in order.
    ///
    /// # Errors
    /// When the run is unknown or the journal can't be read.
    async fn load(&self, run: &RunId) -> Result<Vec<Record>, StoreError>;

    /// The right to drive a run.
    ///
    /// # Errors
    /// When another process has it.
    fn own(&self, run: &RunId, by: &Actor) -> Result<Ownership, StoreError>;
}

/// The journal of all runs of one home folder. Dropping it writes out what was handed in and closes the file.
#[derive(Debug)]
pub struct Store {
    pub(super) path: PathBuf,
    /// None where the journal can only be looked at.
    writer: Option<StoreWriter>,
    /// Only reads.
    pub(super) db: Mutex<Connection>,
}

impl Store {
    /// The database's file within a home folder.
    pub fn file(home: &Path) -> PathBuf {
        home.join("journal.db")
    }

    /// Opens the journal of a home folder, making both if need be.
    ///
    /// # Errors
    /// When the file can't be written or used, is damaged, locked, or written by a newer dagdeck.
    pub fn open(home: &Path) -> Result<Self, StoreError> {
        let store = Self::open_to_look(home)?;
        store.refusal().map_or(Ok(store), Err)
    }

    /// The same, and where the file is there and can't be written it can still be looked at: every append is refused then.
    ///
    /// # Errors
    /// When the file can't be used, is damaged, locked, or written by a newer dagdeck.
    pub fn open_to_look(home: &Path) -> Result<Self, StoreError> {
        let tuning = Tuning::default();
        let refused = match Self::open_with(home, tuning) {
            Err(error @ (StoreError::Unusable { .. } | StoreError::ReadOnly { .. })) => error,
            opened => return opened,
        };
        let path = Self::file(home);
        match schema::open_to_look(&path, tuning) {
            Ok(db) => Ok(Self { path, writer: None, db: Mutex::new(db) }),
            Err(StoreError::Unusable { .. } | StoreError::ReadOnly { .. }) => Err(refused),
            Err(error) => Err(error),
        }
    }

    /// Why nothing can be appended; `None` where it can.
    pub fn refusal(&self) -> Option<StoreError> {
        self.writer().err()
    }

    fn writer(&self) -> Result<&StoreWriter, StoreError> {
        self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.path.clone() })
    }

    pub(super) fn open_with(home: &Path, tuning: Tuning) -> Result<Self, StoreError> {
        let path = Self::file(home);
        let writer = Some(StoreWriter::start(schema::open(&path, tuning)?, path.clone())?);
        let db = Mutex::new(schema::open(&path, tuning)?);
        Ok(Self { path, writer, db })
    }

    /// Where the journal is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes in a run that was read from a file, all or nothing, for the list of this workspace.
    ///
    /// # Errors
    /// When a run of this name is there already, or the journal can't be written.
    pub async fn import(&self, run: &RunId, records: &[Record], workspace: &Path, now: Time) -> Result<(), StoreError> {
        let imported = Headline::Imported { workspace: workspace.display().to_string(), at: signed(now.0) };
        self.write(run, records, Durability::Power, Some(imported)).await
    }

    async fn write(&self, run: &RunId, records: &[Record], durability: Durability, headline: Option<Headline>) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let rows = records.iter().map(StoredRow::of).collect::<Result<Vec<_>, _>>().map_err(|error| StoreError::Unusable {
            path: self.path.clone(),
            cause: format!("an event can't be written as JSON: {error}"),
        })?;
        // What was decided elsewhere is in the audit there.
        let audit = if headline.is_some() { Vec::new() } else { Audit::of(run, records) };
        let headlines = records.iter().filter_map(Headline::of).chain(headline).collect();
        let (ack, done) = tokio::sync::oneshot::channel();
        self.writer()?.send(Append { run: run.0.clone(), rows, headlines, audit, durability, ack })?;
        done.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Deletes runs for good, all or none. What the audit has of them stays.
    ///
    /// # Errors
    /// Nothing was deleted then: a process drives one of them, or the journal can't be written.
    pub fn delete(&self, runs: &[RunId], by: &Actor, now: Time) -> Result<(), StoreError> {
        let deleting = Actor { who: String::new(), via: "deletes it".to_owned() };
        let _owned = runs.iter().map(|run| self.own(run, &deleting)).collect::<Result<Vec<_>, _>>()?;
        prune::delete(&self.path, runs, by, now)?;
        let home = self.path.parent().unwrap_or(Path::new("."));
        ResultCache::of(home).clear(CacheScope::Runs(runs))?;
        history::remove_from(home, runs)
    }

    /// Puts on record that a permission was given or ended, on the disk before it counts.
    ///
    /// # Errors
    /// Nothing was written then.
    pub fn permission_changed(&self, run: Option<&RunId>, change: super::PermissionChange, at: Time) -> Result<(), StoreError> {
        self.refusal().map_or(Ok(()), Err)?;
        prune::note(&self.path, &super::AuditEntry::permission(at, run, change))
    }

    /// Closes the journal and gives its free space back, where no other process has it open: returns whether it did.
    ///
    /// # Errors
    /// When the journal can't be written.
    pub fn compact(self) -> Result<bool, StoreError> {
        let path = self.path.clone();
        drop(self);
        prune::compact(&path)
    }

    /// The version of a journal that this program writes.
    pub fn version() -> i64 {
        schema::newest()
    }

    /// Which process drives a run, in words for people; `None` when none does.
    pub fn driver(&self, run: &RunId) -> Option<String> {
        Ownership::holder(&self.locks(), run)
    }

    /// Waits, without a limit, until the process that drives a run doesn't any more. It blocks.
    pub fn wait_for_driver(&self, run: &RunId) {
        Ownership::wait(&self.locks(), run);
    }

    fn locks(&self) -> PathBuf {
        self.path.with_file_name("locks")
    }
}

#[async_trait]
impl Journal for Store {
    async fn append(&self, run: &RunId, records: &[Record], durability: Durability) -> Result<(), StoreError> {
        self.write(run, records, durability, None).await
    }

    async fn load(&self, run: &RunId) -> Result<Vec<Record>, StoreError> {
        self.records(run)
    }

    fn own(&self, run: &RunId, by: &Actor) -> Result<Ownership, StoreError> {
        self.writer()?;
        Ownership::take(&self.locks(), run, by)
    }
}

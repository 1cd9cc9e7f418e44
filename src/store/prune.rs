//! What is done beside the writer, by a connection of its own: deleting runs, whose events go and are overwritten, making the file short
//! where nobody else has it open, and entries of the audit that belong to no event.

use super::{AuditEntry, StoreError, audit, schema};
use crate::engine::{Actor, RunId, Time};
use rusqlite::{TransactionBehavior, params};
use std::path::Path;

/// Deletes runs, all or none. What they held is overwritten, so that it can't be read from the file.
pub(super) fn delete(path: &Path, runs: &[RunId], by: &Actor, now: Time) -> Result<(), StoreError> {
    let mut db = schema::open(path, schema::Tuning::default())?;
    let mut delete = || {
        db.pragma_update(None, "secure_delete", "ON")?;
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for run in runs {
            transaction.prepare_cached("DELETE FROM events WHERE run = ?1")?.execute(params![run.0])?;
            transaction.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute(params![run.0])?;
        }
        let deleted: Vec<AuditEntry> = runs.iter().map(|run| AuditEntry::deleted(now, run, by)).collect();
        audit::append(&transaction, &deleted)?;
        transaction.commit()
    };
    wrapped(path, delete())
}

/// Appends an entry to the audit, on the disk once this returns.
pub(super) fn note(path: &Path, entry: &AuditEntry) -> Result<(), StoreError> {
    let mut db = schema::open(path, schema::Tuning::default())?;
    let mut write = || {
        db.pragma_update(None, "synchronous", "FULL")?;
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        audit::append(&transaction, std::slice::from_ref(entry))?;
        transaction.commit()
    };
    wrapped(path, write())
}

/// Makes the file as short as what is in it. A program that has the journal open takes a shorter file for a cut one, and SQLite leaves
/// the write-ahead log only where nobody else has the file open: then this does nothing.
///
/// Returns whether it was done.
pub(super) fn compact(path: &Path) -> Result<bool, StoreError> {
    let db = schema::open(path, schema::Tuning::default())?;
    let alone = db.busy_timeout(std::time::Duration::ZERO).and_then(|()| db.pragma_update(None, "journal_mode", "DELETE"));
    if alone.is_err() {
        return Ok(false);
    }
    wrapped(path, db.execute_batch("VACUUM; PRAGMA journal_mode = WAL;"))?;
    Ok(true)
}

fn wrapped<T>(path: &Path, done: rusqlite::Result<T>) -> Result<T, StoreError> {
    done.map_err(|error| StoreError::sqlite(path, &error))
}

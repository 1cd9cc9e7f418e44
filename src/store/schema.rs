//! Opening the database: private files, pragmas, migrations by `user_version`. A step that has shipped is never edited.

use super::StoreError;
use crate::files;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::{
    cmp::Ordering,
    fs::OpenOptions,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::{Duration, Instant},
};

/// One step for each schema version, from 1. Events of every earlier version are read by the same code: what is new in an event has a
/// default.
const STEPS: [&str; 8] = [
    include_str!("steps/1_runs.sql"),
    include_str!("steps/2_branches.sql"),
    include_str!("steps/3_whole_steps.sql"),
    include_str!("steps/4_causes.sql"),
    include_str!("steps/5_audit.sql"),
    include_str!("steps/6_forms.sql"),
    include_str!("steps/7_failures.sql"),
    include_str!("steps/8_cached.sql"),
];

/// The version of a journal that this program writes.
pub(super) fn newest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// How patient a connection is, and how much it may store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// How long to wait for another program's lock.
    pub(super) patience: Duration,
    /// A cap in pages; only tests set one, to see a full disk.
    pub(super) max_pages: Option<u32>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { patience: Duration::from_secs(5), max_pages: None }
    }
}

/// Opens the database, making it and its folder if need be, both for the user alone, and brings its schema up to date.
pub(super) fn open(path: &Path, tuning: Tuning) -> Result<Connection, StoreError> {
    make_private(path).map_err(|error| StoreError::io(path, &error))?;
    // SQLite would wait on a pipe for ever. A folder it refuses by itself.
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(StoreError::Damaged { path: path.to_path_buf(), cause: "it is not a regular file".to_owned() });
    }
    let mut db = Connection::open(path).map_err(|error| StoreError::sqlite(path, &error))?;
    if db.is_readonly("main").map_err(|error| StoreError::sqlite(path, &error))? {
        return Err(StoreError::Unusable { path: path.to_path_buf(), cause: "it can't be written".to_owned() });
    }
    prepare(&db, tuning).map_err(|error| StoreError::sqlite(path, &error))?;
    migrate(&mut db, path)?;
    Ok(db)
}

/// Opens a database that is there and can't be written: its events are all read, what stands in its write-ahead log too.
pub(super) fn open_to_look(path: &Path, tuning: Tuning) -> Result<Connection, StoreError> {
    let log = path.with_file_name("journal.db-wal");
    let is_whole = !log.metadata().is_ok_and(|log| log.len() > 0);
    let shared = look(path, "");
    // Without a log nobody writes, and SQLite can't make here what it would share with a writer.
    let db = if is_whole { shared.or_else(|_| look(path, "?immutable=1")) } else { shared };
    let db = db.and_then(|db| db.busy_timeout(tuning.patience).and_then(|()| Ok((version(&db)?, db))));
    let (found, db) = db.map_err(|error| StoreError::sqlite(path, &error))?;
    match found.cmp(&newest()) {
        Ordering::Less => Err(StoreError::Older { path: path.to_path_buf(), found, known: newest() }),
        Ordering::Equal => Ok(db),
        Ordering::Greater => Err(StoreError::Newer { path: path.to_path_buf(), found, known: newest() }),
    }
}

fn look(path: &Path, how: &str) -> rusqlite::Result<Connection> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let name: String = bytes.map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") }).collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(format!("file:{name}{how}"), flags)?;
    // Only reading tells whether it can be read.
    version(&db)?;
    Ok(db)
}

fn make_private(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        files::private_folder(parent)?;
    }
    // Made once and not opened again: closing a file drops this process's locks on it. SQLite gives the write-ahead files the
    // permissions of the database file.
    match OpenOptions::new().create_new(true).append(true).mode(0o600).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

fn prepare(db: &Connection, tuning: Tuning) -> rusqlite::Result<()> {
    db.busy_timeout(tuning.patience)?;
    write_ahead(db, tuning.patience)?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "foreign_keys", "ON")?;
    if let Some(pages) = tuning.max_pages {
        db.pragma_update(None, "max_page_count", pages)?;
    }
    Ok(())
}

/// Switches to the write-ahead log. SQLite doesn't wait for others that do the same at this moment, so we do.
fn write_ahead(db: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let end = Instant::now() + patience;
    loop {
        let done = db.pragma_update(None, "journal_mode", "WAL");
        let busy = done.as_ref().is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy));
        if !busy || Instant::now() >= end {
            return done;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let wrap = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    let known = newest();
    if version(db).map_err(wrap)? == known {
        return Ok(());
    }
    // Asked again under the write lock: another program may have migrated in between.
    let migration = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
    let found = version(&migration).map_err(wrap)?;
    if found > known {
        return Err(StoreError::Newer { path: path.to_path_buf(), found, known });
    }
    if found == 0 && tables(&migration).map_err(wrap)? > 0 {
        let cause = "it has tables but no journal version: another program made it, or the version is lost".to_owned();
        return Err(StoreError::Damaged { path: path.to_path_buf(), cause });
    }
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        migration.execute_batch(step).map_err(wrap)?;
    }
    migration.pragma_update(None, "user_version", known).map_err(wrap)?;
    migration.commit().map_err(wrap)
}

/// Tables of any program. An empty file has none: it is a journal whose making was cut short, and nothing is lost by making it.
fn tables(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
}

fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Each kind of event has a line there.
    const PUBLISHED: &str = include_str!("../../tests/fixtures/events/published.jsonl");

    #[test]
    fn a_kind_of_event_that_older_programs_cannot_read_raises_the_version_of_the_journal() {
        let kind = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].to_string();
        let kinds: BTreeSet<String> = PUBLISHED.lines().map(kind).collect();
        assert_eq!((newest(), kinds.len()), (8, 58), "add a step to `STEPS` in store/schema.rs, and a journal of the version before");
    }
}

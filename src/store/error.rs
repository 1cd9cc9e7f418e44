//! `StoreError`: why the journal could not be read or written, in words that a person can act on.

use crate::engine::short_name;
use rusqlite::ErrorCode;
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// Why the journal could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another program holds the write lock.
    #[error("the journal `{}` is locked by another program", path.display())]
    Locked { path: PathBuf },
    /// No room left to write.
    #[error("the disk that holds the journal `{}` is full", path.display())]
    Full { path: PathBuf },
    /// The file is no database, or a broken one: so SQLite or the reader of events said.
    #[error("the journal `{}` is damaged: {cause}", path.display())]
    Damaged { path: PathBuf, cause: String },
    /// An event of one run is missing or can't be read: the first that is not as it was written. Up to `whole` its steps are whole; 0 where
    /// nothing is. Other runs of the file are not touched by that.
    #[error("run `{}` is damaged at its event {seq}: {cause} (journal `{}`)", short_name(run), path.display())]
    DamagedRun { path: PathBuf, run: String, seq: u64, whole: u64, cause: String },
    /// The file was written by a later version.
    #[error("the journal `{}` was written by a newer dagdeck (schema {found}, this one reads up to {known})", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// What is open has no name any more: whatever is written there is lost when the last program closes it.
    #[error("the journal `{}` was deleted, replaced or cut while it was in use", path.display())]
    Gone { path: PathBuf },
    /// The file can be read, and not be written.
    #[error("the journal `{}` is read-only", path.display())]
    ReadOnly { path: PathBuf },
    /// The file was written by an earlier version, and can't be brought up to date where it is.
    #[error("the journal `{}` was written by an older dagdeck (schema {found}, this one needs {known}) and can't be updated, because it is read-only", path.display())]
    Older { path: PathBuf, found: i64, known: i64 },
    /// The file or its folder can't be used.
    #[error("the journal `{}` can't be used: {cause}", path.display())]
    Unusable { path: PathBuf, cause: String },
    /// These events are there already: two programs write one run.
    #[error("run `{}` is being written by another program", short_name(run))]
    Conflict { run: String },
    /// Another process drives the run.
    #[error("run `{}` is already run by {by}", short_name(run))]
    Driven { run: String, by: String },
    /// No run has this name.
    #[error("no run is called `{name}`")]
    NoSuchRun { name: String },
    /// No run at all in this workspace; the newest of all others, and its workspace.
    #[error("no runs in this workspace yet")]
    NoRuns { elsewhere: Option<(String, String)> },
    /// These, the first few, fit the name.
    #[error("`{name}` fits {} runs: {}", matches.len(), matches.join(", "))]
    Ambiguous { name: String, matches: Vec<String> },
    /// The writer has ended.
    #[error("the journal is closed")]
    Closed,
}

impl StoreError {
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::DamagedRun { run, whole, .. } => Some(beside(short_name(run), *whole).into()),
            Self::NoRuns { elsewhere: Some((run, workspace)) } => {
                let run = short_name(run);
                Some(format!("the newest run elsewhere is `{run}`; use this id, or --workspace {workspace}").into())
            }
            Self::NoRuns { elsewhere: None } => Some("`dagdeck` opens the console; `dagdeck run \"request\"` runs without it".into()),
            other => other.fixed_hint().map(Cow::Borrowed),
        }
    }

    /// A way out that needs no names.
    fn fixed_hint(&self) -> Option<&'static str> {
        match self {
            Self::Locked { .. } => Some("close the other program (another dagdeck, a sqlite3 shell) and try again"),
            Self::Full { .. } => Some("free some space and try again"),
            Self::Damaged { .. } => {
                Some("move the file to start anew, or use another --home; `sqlite3 FILE .recover` can rescue what is readable")
            }
            Self::Newer { .. } => Some("update dagdeck, or use another --home"),
            Self::ReadOnly { .. } => Some(
                "check the permissions of its folder and of the file, or use another --home; `dagdeck ls`, `show` and `replay` still work",
            ),
            Self::Gone { .. } => Some("put its folder back, or start dagdeck again"),
            Self::Older { .. } => Some("copy its folder to a place where you may write, and use that as --home"),
            Self::Unusable { .. } => Some("check the folder's permissions, or use another --home"),
            Self::Conflict { .. } => Some("let only one dagdeck drive a run"),
            Self::Driven { .. } => {
                Some("act on the run in that process, or end it (`q`, then `y`, in a console; ctrl-c elsewhere) and try again here")
            }
            Self::NoSuchRun { .. } | Self::Ambiguous { .. } => Some("`dagdeck ls` lists the runs; `last` is the newest"),
            Self::DamagedRun { .. } | Self::NoRuns { .. } | Self::Closed => None,
        }
    }

    pub(super) fn sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path, cause: error.to_string() },
            _ => Self::Unusable { path, cause: one_line(error) },
        }
    }

    pub(super) fn io(path: &Path, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::StorageFull {
            return Self::Full { path: path.to_path_buf() };
        }
        Self::Unusable { path: path.to_path_buf(), cause: error.to_string() }
    }
}

/// What SQLite said, without the statement that it said it of.
fn one_line(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        error => error.to_string(),
    }
}

/// What still works beside a damaged event.
fn beside(run: &str, whole: u64) -> String {
    let others = "other runs are not affected";
    if whole == 0 {
        return format!("{others}; nothing before that event can be used");
    }
    format!(
        "{others}; `dagdeck replay {run} --at {whole}` shows the run before it, `dagdeck branch {run} --at {whole}` continues from there"
    )
}

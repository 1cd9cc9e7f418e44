//! `ServerLog`: what a server says beside the protocol, kept in a file of the state folder, its last lines in memory for errors. Known
//! secrets are masked.

use crate::{files, tools::KnownSecrets};
use std::{
    collections::VecDeque,
    fs::{File, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Bytes of the file; what follows is left out.
const MOST: usize = 1 << 20;
/// Lines kept in memory.
const LINES: usize = 20;

pub(super) struct ServerLog {
    file: PathBuf,
    secrets: Arc<KnownSecrets>,
    kept: Mutex<KeptLog>,
}

#[derive(Default)]
struct KeptLog {
    last: VecDeque<String>,
    file: Option<File>,
    written: usize,
}

impl ServerLog {
    pub(super) fn new(file: PathBuf, secrets: Arc<KnownSecrets>) -> Self {
        Self { file, secrets, kept: Mutex::default() }
    }

    pub(super) fn path(&self) -> &PathBuf {
        &self.file
    }

    /// A server starts: its log begins anew.
    pub(super) fn begin(&self) {
        let open = || {
            self.file.parent().map_or(Ok(()), files::private_folder)?;
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&self.file)
        };
        let file = open().inspect_err(|error| tracing::warn!("`{}` can't be written: {error}", self.file.display())).ok();
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = KeptLog { file, ..KeptLog::default() };
    }

    pub(super) fn line(&self, line: &str) {
        let line = self.secrets.sealed_line(line.trim_end(), !line.ends_with('\n'));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_room = kept.written < MOST;
        kept.written += line.len();
        let rest = if kept.written >= MOST && is_room { "[the rest is left out]\n" } else { "" };
        if let Some(file) = kept.file.as_mut().filter(|_| is_room) {
            // A log that can't be written is not worth a failed call.
            let _ = file.write_all(line.as_bytes()).and_then(|()| file.write_all(rest.as_bytes()));
        }
        if !line.trim().is_empty() {
            kept.last.push_back(line.trim_end().to_owned());
            let more = kept.last.len().saturating_sub(LINES);
            kept.last.drain(..more);
        }
    }

    /// The last line, for an error.
    pub(super) fn last(&self) -> Option<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let last = kept.last.back()?;
        Some(last.chars().take(300).collect())
    }
}

//! `Ownership`: the right to drive a run, held by one process at a time. A lock on a file of the run, which the system gives back when
//! the process ends in whatever way.

use super::StoreError;
use crate::engine::{Actor, RunId};
use crate::files;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// How often a lock is tried: whoever only looks who holds it takes it for a moment, too.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// The right to drive a run; dropping it gives it back.
#[derive(Debug)]
pub struct Ownership {
    /// Locked as long as it is open.
    _file: File,
    path: PathBuf,
}

impl Ownership {
    /// Takes it, for a person to be told of.
    pub(crate) fn take(folder: &Path, run: &RunId, by: &Actor) -> Result<Self, StoreError> {
        let path = file_of(folder, run);
        let wrap = |error: std::io::Error| StoreError::io(&path, &error);
        files::private_folder(folder).map_err(wrap)?;
        for _ in 0..TRIES {
            let mut file = open(&path).map_err(wrap)?;
            match file.try_lock() {
                Ok(()) if is_still(&file, &path) => {
                    file.set_len(0).map_err(wrap)?;
                    write!(file, "process {} ({})", std::process::id(), by.via).map_err(wrap)?;
                    return Ok(Self { _file: file, path });
                }
                // Whoever had it took the file away between our opening and our locking it.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(wrap(error)),
            }
        }
        Err(StoreError::Driven { run: run.0.clone(), by: label(&path) })
    }

    /// Who has it, in words; `None` when nobody does.
    pub(super) fn holder(folder: &Path, run: &RunId) -> Option<String> {
        let path = file_of(folder, run);
        let file = File::open(&path).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(label(&path)),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    /// Waits until nobody has it.
    pub(super) fn wait(folder: &Path, run: &RunId) {
        if let Ok(file) = File::open(file_of(folder, run)) {
            // A lock that can't be waited for counts as one that nobody has.
            let _ = file.lock_shared();
        }
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        // The file goes while the lock still holds, so that nobody can have locked it in between; one that stays is taken over.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Names of runs are ours, but one that was read from a file must not lead out of the folder.
fn file_of(folder: &Path, run: &RunId) -> PathBuf {
    let name: String = run.0.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    folder.join(format!("{name}.lock"))
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Whether the path still names the file that was opened.
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |data: std::fs::Metadata| (data.dev(), data.ino());
    file.metadata().map(place).ok() == path.metadata().map(place).ok()
}

fn label(path: &Path) -> String {
    let mut label = String::new();
    let read = File::open(path).and_then(|file| file.take(200).read_to_string(&mut label));
    if read.is_err() || label.is_empty() { "another process".to_owned() } else { label }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        RunId("0190-a".into())
    }

    fn take(folder: &Path) -> Result<Ownership, StoreError> {
        Ownership::take(folder, &run(), &Actor { who: "anna".into(), via: "console".into() })
    }

    #[test]
    fn a_run_is_driven_by_one_at_a_time_and_the_other_is_told_who() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("locks");
        assert_eq!(Ownership::holder(&folder, &run()), None);
        let owned = take(&folder).unwrap();
        let who = format!("process {} (console)", std::process::id());
        assert_eq!(Ownership::holder(&folder, &run()).as_deref(), Some(who.as_str()));
        let refused = take(&folder).unwrap_err();
        assert_eq!(refused, StoreError::Driven { run: run().0, by: who });
        drop(owned);
        assert_eq!(Ownership::holder(&folder, &run()), None);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "no file is left over");
        drop(take(&folder).unwrap());
    }

    #[test]
    fn a_file_that_a_dead_process_left_is_taken_over() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(file_of(home.path(), &run()), "process 1 (console)").unwrap();
        assert_eq!(Ownership::holder(home.path(), &run()), None);
        drop(take(home.path()).unwrap());
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        assert_eq!(file_of(Path::new("/h"), &RunId("../../x".into())), Path::new("/h/______x.lock"));
    }
}

//! `Scratch`: a folder for what a command writes on its way. It goes with the command. What a process leaves that is killed is swept away
//! later: a lock on the folder tells whether anybody still uses it, and the system frees it whatever a process dies of.

use rustix::{
    fs::{Mode, OFlags},
    process::geteuid,
};
use std::{
    fs::{File, Permissions},
    io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};
use tempfile::TempDir;

/// How such a folder is called, before so many letters and digits that nobody chose.
const PREFIX: &str = "dagdeck-scratch-";
const RANDOM: usize = 12;

/// A folder of one command.
pub(super) struct Scratch {
    folder: TempDir,
    _held: File,
}

impl Scratch {
    /// Makes one.
    pub(super) fn new() -> io::Result<Self> {
        Self::in_place(&std::env::temp_dir())
    }

    fn in_place(place: &Path) -> io::Result<Self> {
        loop {
            let mut builder = tempfile::Builder::new();
            let private = Permissions::from_mode(0o700);
            let folder = builder.prefix(PREFIX).rand_bytes(RANDOM).permissions(private).tempdir_in(place)?;
            let held = open(folder.path())?;
            // Where nothing can be locked nothing is swept away either.
            let _ = held.lock();
            // Somebody may have swept it away before it was locked.
            if folder.path().is_dir() {
                return Ok(Self { folder, _held: held });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Takes away the folders of commands whose process was killed, as far as they are this user's. Reads and removes files.
pub(in crate::tools) fn sweep_scratch() {
    sweep(&std::env::temp_dir());
}

fn sweep(place: &Path) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for folder in entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|folder| is_named_so(folder)) {
        let Ok(held) = open(&folder) else { continue };
        let is_ours = held.metadata().is_ok_and(|data| data.uid() == geteuid().as_raw() && data.mode() & 0o077 == 0);
        if is_ours && held.try_lock().is_ok() {
            // What can't be removed now may be the next time.
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

fn is_named_so(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.len() == RANDOM && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// The folder itself, and nothing that a link leads to.
fn open(folder: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(folder, flags, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn left(place: &Path, name: &str) -> PathBuf {
        let folder = place.join(name);
        std::fs::create_dir_all(folder.join("inside")).unwrap();
        std::fs::write(folder.join("inside/file"), "x").unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        folder
    }

    #[test]
    fn what_nobody_uses_is_swept_away_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        let used = Scratch::in_place(place).unwrap();
        let elsewhere = left(place, "elsewhere");
        std::os::unix::fs::symlink(&elsewhere, place.join("dagdeck-scratch-abcdefABCD12")).unwrap();
        let kept = ["dagdeck-scratch-mine", "dagdeck-scratch-abcdef-12345", "dagdeck-abcdefABCD12"].map(|name| left(place, name));
        let open = left(place, "dagdeck-scratch-0123456789ab");
        std::fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
        let gone = left(place, "dagdeck-scratch-aB3dE6gH9jK2");
        sweep(place);
        assert!(!gone.exists(), "its process is gone");
        assert!(kept.iter().chain([&elsewhere, &open]).all(|folder| folder.join("inside/file").is_file()));
        assert!(used.path().is_dir());
        drop(used);
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 6, "a folder goes with its command");
    }
}

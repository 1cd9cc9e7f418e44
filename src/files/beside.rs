//! Files that are written whole or not at all: beside others under a name that tells dagdeck's, locked as long as they are written, then
//! put in their place. What a killed process left is known by its name and by nobody's lock on it.

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, fchmod, flock, fstat, openat, renameat, unlinkat},
    io::Errno,
};
use std::{
    fs::File,
    io::{Error, ErrorKind, Result, Write},
    os::fd::AsFd,
    path::Path,
};

/// A name that no other file has, and that `sweep` knows.
pub fn temporary_name() -> String {
    format!(".dagdeck-{}.tmp", uuid::Uuid::now_v7().simple())
}

fn is_temporary(name: &[u8]) -> bool {
    let id = name.strip_prefix(b".dagdeck-").and_then(|rest| rest.strip_suffix(b".tmp"));
    id.and_then(|id| uuid::Uuid::try_parse_ascii(id).ok()).is_some_and(|id| id.get_version_num() == 7)
}

/// A new file in a folder, locked as long as it is open.
///
/// # Errors
/// When the folder can't be written.
pub fn temporary(folder: impl AsFd, mode: Mode) -> std::result::Result<(String, File), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let name = temporary_name();
        let file = openat(&folder, &name, flags, mode)?;
        // Where nothing can be locked nothing is swept away either.
        let _ = flock(&file, FlockOperation::LockExclusive);
        // Somebody may have swept it away before it was locked.
        if fstat(&file)?.st_nlink > 0 {
            return Ok((name, File::from(file)));
        }
    }
}

/// Takes away what writes into this folder left there whose process was killed. Nobody else's lock is on such a file.
pub fn sweep(folder: impl AsFd) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    for entry in Dir::read_from(&folder).into_iter().flatten().filter_map(std::result::Result::ok) {
        let name = entry.file_name();
        if !is_temporary(name.to_bytes()) {
            continue;
        }
        let Ok(file) = openat(&folder, name, flags, Mode::empty()) else { continue };
        let is_file = fstat(&file).is_ok_and(|data| FileType::from_raw_mode(data.st_mode) == FileType::RegularFile);
        if is_file && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // What can't be removed now may be the next time.
            let _ = unlinkat(&folder, name, AtFlags::empty());
        }
    }
}

/// Renames a file unless there is one of its new name.
///
/// # Errors
/// When there is one, or it can't be renamed.
pub fn rename_new(from: impl AsFd, name: &Path, to: impl AsFd, new: &Path) -> std::result::Result<(), Errno> {
    match rustix::fs::renameat_with(&from, name, &to, new, RenameFlags::NOREPLACE) {
        // A file system that can't tell: as near as it comes.
        Err(Errno::INVAL | Errno::NOSYS) if rustix::fs::statat(&to, new, AtFlags::SYMLINK_NOFOLLOW).is_err() => {
            renameat(&from, name, &to, new)
        }
        Err(Errno::INVAL | Errno::NOSYS) => Err(Errno::EXIST),
        done => done,
    }
}

/// Writes a whole file in the place of one, which leaves its permissions; a new one only the user can read.
///
/// # Errors
/// When the folder or the file can't be written.
pub fn write(file: &Path, content: &[u8]) -> Result<()> {
    // A link stays one.
    let real = file.canonicalize();
    let file = real.as_deref().unwrap_or(file);
    put(file, content, (true, OWN), |folder, name, new| renameat(folder, name, folder, new))
}

/// Writes a whole file that only the user can read, also where others could read the one before.
///
/// # Errors
/// When the folder or the file can't be written.
pub fn write_private(file: &Path, content: &[u8]) -> Result<()> {
    put(file, content, (false, OWN), |folder, name, new| renameat(folder, name, folder, new))
}

/// Writes a whole file unless there is one, and says whether it did. Others may read it as the user's other files: for what a person saves.
///
/// # Errors
/// When the folder or the file can't be written.
pub fn write_open(file: &Path, content: &[u8]) -> Result<bool> {
    match put(file, content, (true, Mode::from_raw_mode(0o666)), |folder, name, new| rename_new(folder, name, folder, new)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        written => written.map(|()| true),
    }
}

/// For the user alone.
const OWN: Mode = Mode::RUSR.union(Mode::WUSR);

/// `mode` is that of a new file, from which the user's mask takes.
fn put(
    file: &Path,
    content: &[u8],
    (keeps_mode, mode): (bool, Mode),
    place: impl FnOnce(&rustix::fd::OwnedFd, &Path, &Path) -> std::result::Result<(), Errno>,
) -> Result<()> {
    let parent = file.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let (Some(parent), Some(new)) = (parent.filter(|folder| folder.is_dir()), file.file_name()) else {
        return Err(Error::new(ErrorKind::NotFound, "there is no such folder"));
    };
    let folder = openat(CWD, parent, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    sweep(&folder);
    let (name, mut beside) = temporary(&folder, mode)?;
    let written = (|| {
        if keeps_mode && let Ok(known) = std::fs::metadata(file) {
            fchmod(&beside, Mode::from_raw_mode(std::os::unix::fs::PermissionsExt::mode(&known.permissions())))?;
        }
        beside.write_all(content)?;
        beside.sync_all()?;
        place(&folder, Path::new(&name), Path::new(new)).map_err(Error::from)
    })();
    if written.is_err() {
        let _ = unlinkat(&folder, &name, AtFlags::empty());
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn what_a_killed_write_left_goes_with_the_next_write_there_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let folder = File::open(dir.path()).unwrap();
        let (left, file) = temporary(&folder, Mode::RUSR | Mode::WUSR).unwrap();
        drop(file);
        let (used, _file) = temporary(&folder, Mode::RUSR | Mode::WUSR).unwrap();
        let kept = [".dagdeck-mine.tmp", "dagdeck-019f0000000070008000000000000000.tmp", ".dagdeck-019f0000000070008000000000000000"];
        kept.iter().for_each(|name| fs::write(dir.path().join(name), "x").unwrap());
        let link = ".dagdeck-019f0000000070008000000000000001.tmp";
        symlink(kept[0], dir.path().join(link)).unwrap();
        write(&dir.path().join("plan.json"), b"{}").unwrap();
        assert!(!dir.path().join(&left).exists(), "its process is gone");
        assert!(dir.path().join(&used).exists(), "it is being written");
        assert!(kept.iter().chain([&"plan.json", &link]).all(|name| dir.path().join(name).symlink_metadata().is_ok()));
        assert!(!write_open(&dir.path().join("plan.json"), b"[]").unwrap());
        assert_eq!(fs::read(dir.path().join("plan.json")).unwrap(), b"{}");
        assert!(write_open(&dir.path().join("new.json"), b"[]").unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 7, "nothing is left beside");
    }

    #[test]
    fn a_link_stays_one_and_what_it_leads_to_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.json"), dir.path().join("link.json"));
        fs::write(&real, "old").unwrap();
        symlink("real.json", &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }
}

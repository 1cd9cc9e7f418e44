//! Effects on whole entries of the workspace: copy, rename, remove, make. Each works from the opened folder that holds the entry and follows
//! no link below it, so that a link swapped in meanwhile makes it fail, not escape. A copy is made beside its target and then renamed:
//! all of it is there, or nothing.

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, mkdirat, openat, readlinkat, renameat, statat, symlinkat, unlinkat},
    io::Errno,
};
use std::{fs::File, os::fd::OwnedFd, path::Path};

use super::{Located, PROTECTED, Parents, Workspace, fill_from};
use crate::files::beside;
use crate::tools::ToolError;

/// Most entries of one effect.
const MOST: usize = 10_000;
/// Deepest folder below an entry.
const DEEPEST: usize = 100;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What an entry is, the entry itself and not what a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link,
}

/// One entry of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub at: Located,
    pub kind: EntryKind,
    /// Size of a file.
    pub bytes: u64,
}

/// What is done where a file is already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Refuse,
    Replace,
}

impl Workspace {
    /// Resolves the folder of an entry, but not the entry itself if it is a link.
    ///
    /// # Errors
    /// As `locate_for_writing`.
    pub fn locate_entry(&self, path: &str) -> Result<Located, ToolError> {
        let given = Path::new(path.trim_end_matches('/'));
        let (Some(name), Some(parent)) = (given.file_name(), given.parent()) else { return self.locate_for_writing(path) };
        let mut relative = self.locate(parent.to_str().unwrap_or_default())?.relative;
        relative.push(name);
        Self::unprotected(Located { relative })
    }

    /// A place in a folder.
    pub fn inside(&self, folder: &Located, entry: &Located) -> Located {
        Located { relative: folder.relative.join(entry.relative.file_name().unwrap_or_default()) }
    }

    /// Whether a place is another one or below it.
    pub fn is_within(&self, at: &Located, folder: &Located) -> bool {
        at.relative.starts_with(&folder.relative)
    }

    /// What is at a place, if anything.
    pub fn kind(&self, at: &Located) -> Option<EntryKind> {
        let found = self.absolute(at).symlink_metadata().ok()?.file_type();
        Some(if found.is_dir() {
            EntryKind::Directory
        } else if found.is_symlink() {
            EntryKind::Link
        } else {
            EntryKind::File
        })
    }

    /// An entry and all below it, each folder before what it holds.
    ///
    /// # Errors
    /// When there is none, when it holds what tools don't write to, or is neither file, folder nor link, or is too much.
    pub fn entries(&self, at: &Located) -> Result<Vec<Entry>, ToolError> {
        let mut found = Vec::new();
        let (parent, name) = self.parent(at, Parents::Needed).map_err(|cause| super::missing(at, cause))?;
        self.gather(&parent, name.as_path(), at.clone(), &mut found)?;
        Ok(found)
    }

    fn gather(&self, parent: &OwnedFd, name: &Path, at: Located, found: &mut Vec<Entry>) -> Result<(), ToolError> {
        let failed = |cause| super::missing(&at, cause);
        let data = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        let kind = match FileType::from_raw_mode(data.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            _ => return Err(ToolError::refused(format!("`{}` is neither a file nor a directory", at.display()))),
        };
        if found.len() == MOST || at.relative.components().count() > DEEPEST {
            return Err(ToolError::refused(format!(
                "more than {MOST} entries, or deeper than {DEEPEST} directories: too much for one call"
            )));
        }
        if PROTECTED.iter().any(|kept| at.relative.file_name().is_some_and(|name| name.eq_ignore_ascii_case(kept))) {
            return Err(ToolError::refused(format!("`{}` is there, which tools don't write to", at.display()))
                .hint("name what is beside it, or use `run_command`"));
        }
        let bytes = if kind == EntryKind::File { u64::try_from(data.st_size).unwrap_or_default() } else { 0 };
        found.push(Entry { at: at.clone(), kind, bytes });
        if kind == EntryKind::Directory {
            let folder = openat(parent, name, FOLDER, Mode::empty()).map_err(failed)?;
            for name in names(&folder).map_err(failed)? {
                let below = Located { relative: at.relative.join(&name) };
                self.gather(&folder, Path::new(&name), below, found)?;
            }
        }
        Ok(())
    }

    /// Gives an entry another place; folders are made as needed.
    ///
    /// # Errors
    /// When the target is there already and may not be replaced, or can't be written.
    pub fn rename(&self, source: &Located, target: &Located, existing: Existing) -> Result<(), ToolError> {
        let failed = |cause| not_written(target, cause);
        let (from, name) = self.parent(source, Parents::Needed).map_err(|cause| super::missing(source, cause))?;
        let (to, new) = self.parent(target, Parents::Made).map_err(failed)?;
        place(&from, &name, &to, &new, existing).map_err(failed)
    }

    /// Copies an entry with all below it; links inside are copied as links.
    ///
    /// # Errors
    /// As `rename`.
    pub fn copy(&self, source: &Located, target: &Located, existing: Existing) -> Result<(), ToolError> {
        let failed = |cause| not_written(target, cause);
        let (from, name) = self.parent(source, Parents::Needed).map_err(|cause| super::missing(source, cause))?;
        let (to, new) = self.parent(target, Parents::Made).map_err(failed)?;
        // The lock holds until the file has its name.
        let (made, _file) = match self.kind(source) {
            Some(EntryKind::Directory) => (beside::temporary_name(), None),
            _ => {
                let (name, file) = beside::temporary(&to, Mode::from_raw_mode(0o666)).map_err(failed)?;
                (name, Some(file))
            }
        };
        let copied = match &_file {
            Some(file) => file_into(&from, &name, file),
            None => tree(&from, &name, &to, Path::new(&made)),
        };
        copied.and_then(|()| place(&to, Path::new(&made), &to, &new, existing)).map_err(|cause| {
            let _ = remove(&to, Path::new(&made));
            failed(cause)
        })
    }

    /// Removes an entry with all below it.
    ///
    /// # Errors
    /// When something of it can't be removed; some of it may be gone then.
    pub fn remove(&self, at: &Located) -> Result<(), ToolError> {
        let failed = |cause: Errno| ToolError::failed(format!("`{}` can't be deleted: {cause}", at.display()));
        let (parent, name) = self.parent(at, Parents::Needed).map_err(|cause| super::missing(at, cause))?;
        remove(&parent, &name).map_err(failed)
    }

    /// Makes a folder and those above it; gives those that were not there, in order.
    ///
    /// # Errors
    /// When one can't be made, or something else has its name.
    pub fn make(&self, at: &Located) -> Result<Vec<Located>, ToolError> {
        let above = at.relative.ancestors().filter(|place| !place.as_os_str().is_empty());
        let mut new: Vec<Located> =
            above.map(|place| Located { relative: place.to_path_buf() }).filter(|at| self.kind(at).is_none()).collect();
        new.reverse();
        let below = Located { relative: at.relative.join("x") };
        self.parent(&below, Parents::Made).map_err(|cause| match cause {
            Errno::NOTDIR | Errno::LOOP => ToolError::refused(format!("`{}` is a file, or below one", at.display())),
            cause => not_written(at, cause),
        })?;
        Ok(new)
    }
}

/// Names in a folder, sorted.
fn names(folder: &OwnedFd) -> Result<Vec<std::ffi::OsString>, Errno> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn place(from: &OwnedFd, name: &Path, to: &OwnedFd, new: &Path, existing: Existing) -> Result<(), Errno> {
    match existing {
        Existing::Replace => renameat(from, name, to, new),
        Existing::Refuse => beside::rename_new(from, name, to, new),
    }
}

fn file_into(from: &OwnedFd, name: &Path, target: &File) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let source = File::from(openat(from, name, flags, Mode::empty())?);
    let data = rustix::fs::fstat(&source)?;
    if FileType::from_raw_mode(data.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    fill_from(target, source, Some(Mode::from_raw_mode(data.st_mode)))
}

fn tree(from: &OwnedFd, name: &Path, to: &OwnedFd, new: &Path) -> Result<(), Errno> {
    let data = statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(data.st_mode) {
        FileType::Directory => {
            mkdirat(to, new, Mode::from_raw_mode(0o700))?;
            let (source, target) = (openat(from, name, FOLDER, Mode::empty())?, openat(to, new, FOLDER, Mode::empty())?);
            for name in names(&source)? {
                tree(&source, Path::new(&name), &target, Path::new(&name))?;
            }
            fchmod(&target, Mode::from_raw_mode(data.st_mode))
        }
        FileType::Symlink => symlinkat(readlinkat(from, name, Vec::new())?, to, new),
        _ => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            file_into(from, name, &File::from(openat(to, new, flags, Mode::from_raw_mode(0o600))?))
        }
    }
}

fn remove(parent: &OwnedFd, name: &Path) -> Result<(), Errno> {
    let is_folder = FileType::from_raw_mode(statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode) == FileType::Directory;
    if !is_folder {
        return unlinkat(parent, name, AtFlags::empty());
    }
    let folder = openat(parent, name, FOLDER, Mode::empty())?;
    for name in names(&folder)? {
        remove(&folder, Path::new(&name))?;
    }
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

fn not_written(target: &Located, cause: Errno) -> ToolError {
    let shown = target.display();
    match cause {
        Errno::EXIST => ToolError::refused(format!("`{shown}` is there already")).hint("set `overwrite` to replace it"),
        Errno::XDEV => ToolError::refused(format!("`{shown}` is on another file system")).hint("copy it, then delete the source"),
        cause => ToolError::failed(format!("`{shown}` can't be written: {cause}")),
    }
}

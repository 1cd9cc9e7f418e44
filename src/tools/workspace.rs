//! The workspace boundary. A path is resolved link by link to where it really leads; only then is it judged. Files are opened
//! component by component from the root without following links, so that a link swapped in meanwhile makes the call fail, not escape.

mod effects;

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, fchmod, fstat, fsync, mkdirat, openat, renameat, unlinkat},
    io::Errno,
};
use std::{
    fs::File,
    io::Read,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
};

pub use effects::{Entry, EntryKind, Existing};

use super::ToolError;
use crate::files::beside;

/// Directories that tools never write to: the repository's own state, and dagdeck's (cards and rules would let a plan widen its rights).
const PROTECTED: [&str; 2] = [".git", ".dagdeck"];

/// The directory that file tools stay inside.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Canonical: absolute and without links.
    root: PathBuf,
}

/// A place inside the workspace, with every link on the way resolved. It may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Below the root; plain names only; empty for the root itself.
    relative: PathBuf,
}

impl Located {
    /// The path relative to the workspace, empty for the workspace itself.
    pub fn path(&self) -> &Path {
        &self.relative
    }

    /// The path relative to the workspace, `.` for the workspace itself.
    pub fn display(&self) -> String {
        if self.relative.as_os_str().is_empty() { ".".into() } else { self.relative.to_string_lossy().into_owned() }
    }
}

impl Workspace {
    /// Opens the workspace.
    ///
    /// # Errors
    /// When the directory can't be read.
    pub fn new(root: &Path) -> Result<Self, ToolError> {
        let root = root
            .canonicalize()
            .map_err(|cause| ToolError::refused(format!("the workspace `{}` can't be opened: {cause}", root.display())))?;
        Ok(Self { root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The absolute path of a place.
    pub fn absolute(&self, at: &Located) -> PathBuf {
        self.root.join(&at.relative)
    }

    /// Resolves a path, relative to the workspace or absolute inside it.
    ///
    /// # Errors
    /// When it leads outside, through a dangling link, or through something that is not a directory.
    pub fn locate(&self, path: &str) -> Result<Located, ToolError> {
        if path.contains('\0') {
            return Err(ToolError::refused("the path contains a NUL character"));
        }
        let outside = || {
            ToolError::refused(format!("`{}` leads outside the workspace", path.escape_debug()))
                .hint("give a path relative to the workspace; start dagdeck with `--workspace DIR` to work elsewhere")
        };
        let mut at = self.root.clone();
        let mut given = PathBuf::from(path);
        if given.is_absolute() {
            // The workspace may be named by way of a link (`/tmp` on macOS), so what exists of the path is taken as what it really is.
            let real = given.ancestors().find_map(|known| Some(known.canonicalize().ok()?.join(given.strip_prefix(known).ok()?)));
            given = real.and_then(|real| Some(real.strip_prefix(&self.root).ok()?.to_path_buf())).ok_or_else(outside)?;
        }
        for component in given.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    if at == self.root || !at.pop() {
                        return Err(outside());
                    }
                }
                Component::Normal(name) => {
                    at.push(name);
                    if at.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                        at = at
                            .canonicalize()
                            .map_err(|cause| ToolError::refused(format!("`{}` is a broken symbolic link: {cause}", path.escape_debug())))?;
                    }
                    if !at.starts_with(&self.root) {
                        return Err(outside());
                    }
                }
                Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        let relative = at.strip_prefix(&self.root).map_err(|_| outside())?.to_path_buf();
        Ok(Located { relative })
    }

    /// Resolves a path that is to be written.
    ///
    /// # Errors
    /// As `locate`; also for the workspace itself and for protected directories.
    pub fn locate_for_writing(&self, path: &str) -> Result<Located, ToolError> {
        let at = self.locate(path)?;
        if at.relative.as_os_str().is_empty() {
            return Err(ToolError::refused(format!("`{}` is the workspace itself", path.escape_debug())));
        }
        Self::unprotected(at)
    }

    fn unprotected(at: Located) -> Result<Located, ToolError> {
        for component in at.relative.components() {
            let name = component.as_os_str();
            if let Some(kept) = PROTECTED.iter().find(|kept| name.eq_ignore_ascii_case(kept)) {
                return Err(ToolError::refused(format!("`{}` is inside `{kept}`, which tools don't write to", at.display()))
                    .hint("change it by hand, or with `run_command`"));
            }
        }
        Ok(at)
    }

    /// Opens an existing regular file for reading.
    ///
    /// # Errors
    /// When there is none, or it is something else (a directory, a pipe, a device).
    pub fn open(&self, at: &Located) -> Result<File, ToolError> {
        let io = |cause: Errno| missing(at, cause);
        let (parent, name) = self.parent(at, Parents::Needed).map_err(io)?;
        // Without NONBLOCK, opening a pipe would wait for a writer for ever.
        let file =
            openat(&parent, &name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).map_err(io)?;
        match FileType::from_raw_mode(fstat(&file).map_err(io)?.st_mode) {
            FileType::RegularFile => Ok(File::from(file)),
            FileType::Directory => {
                Err(ToolError::refused(format!("`{}` is a directory", at.display())).hint("use `list_directory` for directories"))
            }
            _ => Err(ToolError::refused(format!("`{}` is not a regular file", at.display()))),
        }
    }

    /// The content of a file; `None` where it is longer than `most` bytes.
    ///
    /// # Errors
    /// As `open`; also when it can't be read.
    pub fn read(&self, at: &Located, most: u64) -> Result<Option<Vec<u8>>, ToolError> {
        let mut bytes = Vec::new();
        let read = self.open(at)?.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|cause| ToolError::refused(format!("`{}` can't be read: {cause}", at.display())))?;
        Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= most))
    }

    /// Lets nobody else change a file of this workspace by its content, in whatever process, until what is given back is dropped: two
    /// nodes that append to one file would else lose the text of one.
    ///
    /// # Errors
    /// When the workspace can't be opened or locked.
    pub fn changing(&self) -> Result<std::fs::File, ToolError> {
        let locked = std::fs::File::open(&self.root).and_then(|folder| folder.lock().map(|()| folder));
        locked.map_err(|cause| ToolError::failed(format!("the workspace can't be locked for a change: {cause}")))
    }

    /// Writes a whole file: all of it or nothing, parents made as needed, the permissions of an existing file kept.
    ///
    /// # Errors
    /// When the place can't be written; nothing has changed then but perhaps new empty directories.
    pub fn write(&self, at: &Located, content: &[u8]) -> Result<(), ToolError> {
        let failed = |cause: Errno| ToolError::failed(format!("`{}` can't be written: {cause}", at.display()));
        let (parent, name) = self.parent(at, Parents::Made).map_err(failed)?;
        let mode = match rustix::fs::statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => Some(Mode::from_raw_mode(found.st_mode)),
                _ => return Err(ToolError::refused(format!("`{}` exists and is not a regular file", at.display()))),
            },
            Err(Errno::NOENT) => None,
            Err(cause) => return Err(failed(cause)),
        };
        let (temporary, file) = beside::temporary(&parent, Mode::from_raw_mode(0o666)).map_err(failed)?;
        let written = fill_from(&file, content, mode).and_then(|()| renameat(&parent, &temporary, &parent, &name));
        written.map_err(|cause| {
            let _ = unlinkat(&parent, &temporary, AtFlags::empty());
            failed(cause)
        })
    }

    /// Takes away what writes to this place left beside it whose process was killed.
    pub fn sweep(&self, at: &Located) {
        if let Ok((parent, _)) = self.parent(at, Parents::Needed) {
            beside::sweep(parent);
        }
    }

    /// The directory that holds a place, opened from the root down without following links, and the place's name in it.
    fn parent(&self, at: &Located, parents: Parents) -> Result<(OwnedFd, PathBuf), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut directory = openat(CWD, &self.root, flags, Mode::empty())?;
        let Some(name) = at.relative.file_name() else { return Ok((directory, PathBuf::from("."))) };
        for component in at.relative.parent().into_iter().flat_map(Path::components) {
            let component = component.as_os_str();
            directory = match (openat(&directory, component, flags, Mode::empty()), parents) {
                (Err(Errno::NOENT), Parents::Made) => {
                    match mkdirat(&directory, component, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(cause) => return Err(cause),
                    }
                    openat(&directory, component, flags, Mode::empty())?
                }
                (opened, Parents::Made | Parents::Needed) => opened?,
            };
        }
        Ok((directory, PathBuf::from(name)))
    }
}

#[derive(Clone, Copy)]
enum Parents {
    Needed,
    Made,
}

fn fill_from(mut file: &File, mut content: impl Read, mode: Option<Mode>) -> Result<(), Errno> {
    std::io::copy(&mut content, &mut file).map_err(|cause| Errno::from_io_error(&cause).unwrap_or(Errno::IO))?;
    if let Some(mode) = mode {
        fchmod(file, mode)?;
    }
    fsync(file)
}

fn missing(at: &Located, cause: Errno) -> ToolError {
    let shown = at.display();
    match cause {
        Errno::NOENT | Errno::NOTDIR => ToolError::refused(format!("there is no file `{shown}`")).hint("`list_directory` shows the files"),
        Errno::ACCESS | Errno::PERM => ToolError::refused(format!("`{shown}` can't be read: permission denied")),
        cause => ToolError::refused(format!("`{shown}` can't be read: {cause}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    struct ResolvedPath {
        dir: tempfile::TempDir,
        work: Workspace,
    }

    /// A workspace beside a directory `outside` that holds `secret`.
    fn place() -> ResolvedPath {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("work/src")).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        fs::write(dir.path().join("outside/secret"), "secret").unwrap();
        fs::write(dir.path().join("work/src/a.txt"), "a").unwrap();
        let work = Workspace::new(&dir.path().join("work")).unwrap();
        ResolvedPath { dir, work }
    }

    fn refusal(result: Result<Located, ToolError>) -> String {
        let error = result.unwrap_err();
        assert!(error.nothing_began);
        error.message
    }

    #[test]
    fn paths_inside_are_found_in_every_spelling() {
        let place = place();
        let absolute = place.work.root().join("src/a.txt");
        for path in ["src/a.txt", "./src/a.txt", "src/../src/a.txt", "src//a.txt", absolute.to_str().unwrap()] {
            assert_eq!(place.work.locate(path).unwrap().display(), "src/a.txt", "{path}");
        }
        assert_eq!(place.work.locate(".").unwrap().display(), ".");
    }

    #[test]
    fn dot_dot_and_absolute_paths_outside_are_refused_with_a_hint() {
        let place = place();
        for path in ["..", "../outside/secret", "src/../../outside/secret", "/etc/passwd", "/", "new/../../outside/secret"] {
            let error = place.work.locate(path).unwrap_err();
            assert!(error.message.ends_with("leads outside the workspace"), "{path}: {error}");
            assert!(error.hint.is_some());
        }
    }

    #[test]
    fn links_that_leave_are_refused_for_files_that_exist_and_files_that_do_not() {
        let place = place();
        symlink(place.dir.path().join("outside"), place.dir.path().join("work/link")).unwrap();
        for path in ["link", "link/secret", "link/new", "link/../work/src/a.txt"] {
            assert!(refusal(place.work.locate(path)).ends_with("leads outside the workspace"), "{path}");
        }
    }

    #[test]
    fn a_dangling_link_is_never_written_through() {
        let place = place();
        symlink(place.dir.path().join("outside/new"), place.dir.path().join("work/dangling")).unwrap();
        assert!(refusal(place.work.locate_for_writing("dangling")).contains("broken symbolic link"));
        assert!(!place.dir.path().join("outside/new").exists());
    }

    #[test]
    fn a_link_inside_leads_to_its_target() {
        let place = place();
        symlink("src", place.dir.path().join("work/alias")).unwrap();
        assert_eq!(place.work.locate("alias/a.txt").unwrap().display(), "src/a.txt");
        assert!(refusal(place.work.locate("src/\0")).contains("NUL"));
    }

    #[test]
    fn a_link_swapped_in_after_the_check_is_not_followed() {
        let place = place();
        let at = place.work.locate_for_writing("src/a.txt").unwrap();
        fs::remove_file(place.dir.path().join("work/src/a.txt")).unwrap();
        fs::remove_dir(place.dir.path().join("work/src")).unwrap();
        symlink(place.dir.path().join("outside"), place.dir.path().join("work/src")).unwrap();
        assert!(place.work.write(&at, b"x").is_err());
        assert!(place.work.open(&at).is_err());
        assert!(!place.dir.path().join("outside/a.txt").exists());
    }

    #[test]
    fn a_repository_and_dagdecks_own_files_are_not_written_to() {
        let place = place();
        for path in [".git/config", "sub/.git/hooks/post-commit", ".GIT/config", ".dagdeck/config.toml", "src/../.git/x", "."] {
            assert!(place.work.locate_for_writing(path).is_err(), "{path}");
        }
        assert!(place.work.locate_for_writing(".gitignore").is_ok());
    }

    #[test]
    fn writing_makes_parents_keeps_permissions_and_leaves_no_scraps() {
        let place = place();
        let script = place.dir.path().join("work/run.sh");
        fs::write(&script, "old").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
        place.work.write(&place.work.locate_for_writing("run.sh").unwrap(), b"new").unwrap();
        place.work.write(&place.work.locate_for_writing("a/b/c.txt").unwrap(), b"c").unwrap();
        assert_eq!(fs::read_to_string(&script).unwrap(), "new");
        assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(fs::read_to_string(place.dir.path().join("work/a/b/c.txt")).unwrap(), "c");
        assert_eq!(fs::read_dir(place.dir.path().join("work/a/b")).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_or_pipe_is_neither_read_nor_replaced() {
        let place = place();
        let pipe = place.dir.path().join("work/pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        for path in ["src", "pipe", "."] {
            assert!(place.work.open(&place.work.locate(path).unwrap()).is_err(), "{path}");
        }
        for path in ["src", "pipe"] {
            assert!(place.work.write(&place.work.locate_for_writing(path).unwrap(), b"x").is_err(), "{path}");
        }
    }

    #[test]
    fn an_absolute_path_may_name_the_workspace_by_way_of_a_link() {
        let place = place();
        let alias = place.dir.path().join("alias");
        symlink(place.work.root(), &alias).unwrap();
        for (path, found) in [("src/a.txt", "src/a.txt"), ("src/new/b", "src/new/b"), (".", ".")] {
            assert_eq!(place.work.locate(alias.join(path).to_str().unwrap()).unwrap().display(), found);
        }
        assert!(place.work.locate(alias.join("../outside/secret").to_str().unwrap()).is_err());
        assert!(place.work.locate(alias.join("new/../../outside/new").to_str().unwrap()).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_path_of_any_spelling_leads_outside(parts in proptest::collection::vec(0_usize..9, 0..8), absolute: bool) {
            let place = place();
            symlink("..", place.work.root().join("src/up")).unwrap();
            symlink("../..", place.work.root().join("src/out")).unwrap();
            symlink(place.dir.path().join("outside"), place.work.root().join("link")).unwrap();
            let names = ["..", ".", "src", "up", "out", "link", "secret", "new", "work"];
            let relative = parts.iter().map(|part| names[*part]).collect::<Vec<_>>().join("/");
            let path = if absolute { format!("{}/{relative}", place.work.root().display()) } else { relative };
            if let Ok(at) = place.work.locate(&path) {
                let absolute = place.work.absolute(&at);
                assert!(at.relative.components().all(|part| matches!(part, Component::Normal(_))), "{path}");
                assert!(absolute.canonicalize().is_ok_and(|real| real == absolute) || absolute.symlink_metadata().is_err(), "{path}");
            }
        }
    }

    #[test]
    fn a_file_is_opened_and_a_missing_one_is_named() {
        let place = place();
        let mut text = String::new();
        place.work.open(&place.work.locate("src/a.txt").unwrap()).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "a");
        let error = place.work.open(&place.work.locate("src/b.txt").unwrap()).unwrap_err();
        assert_eq!(error.message, "there is no file `src/b.txt`");
    }
}

//! `NamedFiles`: the workspace's files that commands of servers name, each with the hash of its content. Who trusts a command trusts
//! these files as they are then.

use super::entry::{McpEntry, McpLaunch};
use crate::text::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Paths relative to the workspace, with hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NamedFiles(BTreeMap<String, String>);

impl NamedFiles {
    /// The files that the servers of a text name. What can't be read has a hash of its own kind, which never stays the same as another.
    pub fn of_text(workspace: &Path, text: &str) -> Self {
        let entries = McpEntry::read(text).unwrap_or_default();
        Self(entries.iter().filter_map(|entry| entry.launch.as_ref().ok()).flat_map(|launch| Self::of(workspace, launch).0).collect())
    }

    /// Those that one server names.
    pub fn of(workspace: &Path, launch: &McpLaunch) -> Self {
        let McpLaunch::Process { command, args, .. } = launch else { return Self::default() };
        let program = if command.contains('/') { Some(PathBuf::from(command)) } else { on_path(command) };
        let words = args.iter().flat_map(|arg| [Some(arg.as_str()), arg.split_once('=').map(|(_, value)| value)]).flatten();
        let candidates = program.into_iter().chain(words.map(PathBuf::from));
        let files: BTreeSet<(String, PathBuf)> =
            candidates.filter_map(|path| inside(workspace, &path)).filter(|(_, file)| !is_database(file)).collect();
        Self(files.into_iter().map(|(name, file)| (name, hash(&file).unwrap_or_else(|error| format!("unreadable: {error}")))).collect())
    }

    /// The files of which these say something else, or nothing, or that are gone.
    pub fn changed_since(&self, trusted: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.0.keys().chain(trusted.0.keys()).collect();
        names.into_iter().filter(|name| self.0.get(*name) != trusted.0.get(*name)).cloned().collect()
    }

    /// The first file that isn't as it was trusted; what was trusted beside these doesn't matter.
    pub(super) fn first_untrusted(&self, trusted: &Self) -> Option<&str> {
        self.0.iter().find(|(name, hash)| trusted.0.get(*name) != Some(hash)).map(|(name, _)| name.as_str())
    }
}

/// A regular file of the workspace by its name there: by links, too.
fn inside(workspace: &Path, path: &Path) -> Option<(String, PathBuf)> {
    let file = workspace.join(path).canonicalize().ok()?;
    let root = workspace.canonicalize().ok()?;
    let name = file.strip_prefix(root).ok()?.to_str()?.to_owned();
    file.is_file().then_some((name, file))
}

/// Whether a file is a database by name and content: a server that is given one changes it with each call.
fn is_database(file: &Path) -> bool {
    let is_named = file.extension().is_some_and(|ending| ["db", "sqlite", "sqlite3"].iter().any(|known| ending == *known));
    let mut start = [0; 16];
    let read = |start: &mut [u8]| File::open(file).and_then(|mut file| file.read_exact(start));
    // A new one is empty.
    is_named && (read(&mut start).is_ok() && start == *b"SQLite format 3\0" || file.metadata().is_ok_and(|about| about.len() == 0))
}

fn on_path(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(command)).find(|file| file.is_file())
}

fn hash(file: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(file)?, &mut hasher)?;
    Ok(hex(&hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_the_workspace_are_known_by_their_content_however_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let (root, at) = (folder.path(), |name: &str| folder.path().join(name));
        std::fs::create_dir(at("src")).unwrap();
        for name in ["a.py", "b.py", "src/c.py", "unnamed"] {
            std::fs::write(at(name), name).unwrap();
        }
        std::os::unix::fs::symlink(at("src/c.py"), at("link")).unwrap();
        let text = format!(
            r#"{{"mcpServers": {{"s": {{"command": "./a.py", "args": ["--file=b.py", "{}", "src", "/etc/passwd", "none"]}}}}}}"#,
            at("link").display()
        );
        let before = NamedFiles::of_text(root, &text);
        assert_eq!(before.0.keys().collect::<Vec<_>>(), ["a.py", "b.py", "src/c.py"]);
        std::fs::write(at("src/c.py"), "other").unwrap();
        std::fs::write(at("none"), "now there").unwrap();
        let after = NamedFiles::of_text(root, &text);
        assert_eq!(after.changed_since(&before), ["none", "src/c.py"]);
        assert_eq!(after.first_untrusted(&before), Some("none"));
        assert_eq!(before.first_untrusted(&before), None);
    }

    #[test]
    fn a_database_that_a_server_changes_needs_no_new_trust() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"mcpServers": {"s": {"command": "x", "args": ["--db", "a.db", "b.sqlite", "c.db"]}}}"#;
        std::fs::write(folder.path().join("a.db"), b"SQLite format 3\0 and pages").unwrap();
        std::fs::write(folder.path().join("b.sqlite"), "").unwrap();
        std::fs::write(folder.path().join("c.db"), "import os").unwrap();
        assert_eq!(NamedFiles::of_text(folder.path(), text).0.keys().collect::<Vec<_>>(), ["c.db"]);
    }
}

//! `HostPlace`: where the host of a workspace is reached, and the lock that there is only one. Both are in a folder that only the user can
//! open. The lock is the system's, so it goes with the process that has it, however that ends.

use crate::files;
use crate::host::{Folders, client::Problem};
use crate::text::hex;
use rustix::process::getuid;
use sha2::{Digest, Sha256};
use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// Longest path that every system takes for a socket.
const LONGEST: usize = 100;

/// The log of a host starts again from empty when it is longer, in bytes.
const LONGEST_LOG: u64 = 1 << 20;

/// Where the host of one workspace is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPlace {
    /// What clients connect to.
    pub socket: PathBuf,
    /// What the host's process writes when something is badly wrong.
    pub log: PathBuf,
    lock: PathBuf,
}

impl HostPlace {
    /// That of a workspace, for a state folder.
    pub fn of(places: &Folders) -> Self {
        // A folder that isn't there yet is made by whoever starts the host.
        let home = places.home.canonicalize().or_else(|_| std::path::absolute(&places.home)).unwrap_or_else(|_| places.home.clone());
        let name = name(&home, &places.workspace);
        let folder = home.join("hosts");
        let mut socket = folder.join(format!("{name}.sock"));
        if socket.as_os_str().len() > LONGEST {
            socket = PathBuf::from(format!("/tmp/dagdeck-{}", getuid().as_raw())).join(format!("{name}.sock"));
        }
        Self { socket, log: folder.join(format!("{name}.log")), lock: folder.join(format!("{name}.lock")) }
    }

    /// Makes the folders, and checks that nobody else can open that of the socket.
    ///
    /// # Errors
    /// When they can't be made, or belong to somebody else.
    pub fn prepare(&self) -> Result<(), Problem> {
        let wrap = |path: &Path, error: io::Error| Problem::new(format!("`{}` can't be used for the host: {error}", path.display()));
        for path in [&self.lock, &self.socket] {
            let Some(folder) = path.parent() else { continue };
            if let Some(above) = folder.parent() {
                files::private_folder(above).map_err(|error| wrap(above, error))?;
            }
            match DirBuilder::new().mode(0o700).create(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(wrap(folder, error)),
                Ok(()) | Err(_) => {}
            }
            let about = folder.symlink_metadata().map_err(|error| wrap(folder, error))?;
            if !about.is_dir() || about.uid() != getuid().as_raw() {
                return Err(Problem::new(format!("`{}` isn't a folder of your own, so no host is reached there", folder.display())));
            }
            if about.mode() & 0o077 != 0 {
                std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).map_err(|error| wrap(folder, error))?;
            }
        }
        Ok(())
    }

    /// The right to be the host of the workspace, as long as the file is open; `None` where another process has it.
    ///
    /// # Errors
    /// When the file can't be used.
    pub fn lock(&self) -> io::Result<Option<File>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&self.lock)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The log, for a process that is to write to it.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn open_log(&self) -> io::Result<File> {
        let is_long = self.log.metadata().is_ok_and(|log| log.len() > LONGEST_LOG);
        OpenOptions::new().create(true).write(true).append(!is_long).truncate(is_long).mode(0o600).open(&self.log)
    }
}

/// What is short enough for a path of a socket, and another one for each workspace and state folder.
fn name(home: &Path, workspace: &Path) -> String {
    let mut digest = Sha256::new();
    digest.update(home.as_os_str().as_encoded_bytes());
    digest.update([0]);
    digest.update(workspace.as_os_str().as_encoded_bytes());
    hex(&digest.finalize()[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(home: &Path, workspace: &str) -> Folders {
        Folders { workspace: workspace.into(), settings: workspace.into(), home: home.to_owned(), config: None }
    }

    #[test]
    fn each_workspace_and_state_folder_has_a_host_of_its_own_and_one_lock() {
        let folder = tempfile::tempdir().unwrap();
        let place = HostPlace::of(&places(folder.path(), "/a"));
        assert_eq!(place, HostPlace::of(&places(folder.path(), "/a")));
        assert_ne!(place, HostPlace::of(&places(folder.path(), "/b")));
        place.prepare().unwrap();
        let held = place.lock().unwrap().unwrap();
        assert!(place.lock().unwrap().is_none());
        drop(held);
        assert!(place.lock().unwrap().is_some());
    }

    #[test]
    fn nobody_else_can_open_the_folder_of_the_socket() {
        let folder = tempfile::tempdir().unwrap();
        let place = HostPlace::of(&places(folder.path(), "/a"));
        let hosts = folder.path().join("hosts");
        std::fs::create_dir(&hosts).unwrap();
        std::fs::set_permissions(&hosts, PermissionsExt::from_mode(0o777)).unwrap();
        place.prepare().unwrap();
        assert_eq!(hosts.metadata().unwrap().mode() & 0o777, 0o700);
        std::fs::remove_dir(&hosts).unwrap();
        std::os::unix::fs::symlink("/tmp", &hosts).unwrap();
        assert!(place.prepare().unwrap_err().message.contains("isn't a folder of your own"));
    }

    #[test]
    fn a_state_folder_of_a_long_path_has_its_socket_elsewhere() {
        let long = PathBuf::from(format!("/{}", "x".repeat(120)));
        let place = HostPlace::of(&places(&long, "/a"));
        assert!(place.socket.as_os_str().len() <= LONGEST && place.socket.starts_with("/tmp"), "{place:?}");
        assert!(place.lock.starts_with(&long));
    }
}

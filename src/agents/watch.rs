//! `Watch`: says when the folders of cards may have changed. It waits on the system's file events and wakes for nothing else.

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// A watch over folders that may not exist yet.
pub struct Watch {
    watcher: RecommendedWatcher,
    changes: mpsc::Receiver<()>,
    folders: Vec<PathBuf>,
    watched: Vec<PathBuf>,
}

impl Watch {
    /// Watches these folders, or the nearest folder above that exists, until it does.
    ///
    /// # Errors
    /// When the system offers no file events (for example no inotify watches left).
    pub fn new(folders: Vec<PathBuf>) -> notify::Result<Self> {
        // One place is enough: a change that nobody has looked at yet counts for all that follow.
        let (sender, changes) = mpsc::channel(1);
        let wanted = folders.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let matters = event.map_or(true, |event| {
                !event.kind.is_access() && event.paths.iter().any(|path| wanted.iter().any(|folder| concerns(path, folder)))
            });
            if matters {
                // A full channel already holds the news; a closed one has nobody to tell.
                let _ = sender.try_send(());
            }
        })?;
        let mut watch = Self { watcher, changes, folders, watched: Vec::new() };
        watch.rearm();
        Ok(watch)
    }

    /// Waits until something changed. The caller reloads the registry then.
    pub async fn changed(&mut self) {
        if self.changes.recv().await.is_none() {
            // The watcher ended; there will never be news again.
            std::future::pending::<()>().await;
        }
        self.rearm();
    }

    /// Follows folders that were made or removed since.
    fn rearm(&mut self) {
        let wanted: Vec<PathBuf> = self.folders.iter().filter_map(|folder| nearest(folder)).collect();
        for old in self.watched.iter().filter(|old| !wanted.contains(old)) {
            // A folder that is gone has already ended its watch.
            let _ = self.watcher.unwatch(old);
        }
        self.watched = wanted.into_iter().filter(|path| self.watcher.watch(path, RecursiveMode::NonRecursive).is_ok()).collect();
    }
}

/// The folder itself, or the nearest one above it that exists.
fn nearest(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|path| path.is_dir()).map(Path::to_path_buf)
}

/// A file in the folder, the folder, or a folder on the way to it.
fn concerns(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder) || folder.starts_with(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    #[tokio::test]
    async fn a_card_in_a_folder_that_is_made_later_is_noticed() {
        let project = TempDir::new().unwrap();
        let root = project.path().canonicalize().unwrap();
        let folder = root.join(".dagdeck/agents");
        let mut watch = Watch::new(vec![folder.clone()]).unwrap();
        fs::create_dir_all(&folder).unwrap();
        watch.changed().await;
        fs::write(folder.join("a.md"), "x").unwrap();
        watch.changed().await;
        assert_eq!(watch.watched, [folder]);
    }

    #[test]
    fn only_paths_on_the_way_to_a_folder_concern_it() {
        let folder = Path::new("/w/.dagdeck/agents");
        assert!(concerns(Path::new("/w/.dagdeck"), folder));
        assert!(concerns(Path::new("/w/.dagdeck/agents/a.md"), folder));
        assert!(!concerns(Path::new("/w/target"), folder));
    }
}

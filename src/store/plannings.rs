//! Plannings on record: what was asked, whether a plan came, and what the model calls took. Lines of JSON in one small private file; where
//! it can't be written nothing else is lost.

use crate::engine::{ModelCall, Time};
use crate::files;
use serde::{Deserialize, Serialize};
use std::{fs::OpenOptions, io::Write, os::unix::fs::OpenOptionsExt, path::Path};

/// The file's name in the state folder.
pub const PLANNINGS: &str = "plannings.jsonl";
/// The file begins anew when it is larger than this.
const LARGEST: u64 = 1 << 20;

/// One planning, by a model or built in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanningRecord {
    pub at: Time,
    pub workspace: String,
    pub request: String,
    /// Why no plan came; absent: one did.
    pub failed: Option<String>,
    /// What its model calls took, also those whose answer was no use.
    pub calls: Vec<ModelCall>,
}

impl PlanningRecord {
    /// Puts it on record in the state folder.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn keep(&self, home: &Path) -> std::io::Result<()> {
        let file = home.join(PLANNINGS);
        let is_full = std::fs::metadata(&file).is_ok_and(|data| data.len() > LARGEST);
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        let mut options = OpenOptions::new();
        options.create(true).append(!is_full).write(is_full).truncate(is_full).mode(0o600);
        options.open(&file)?.write_all(line.as_bytes())
    }

    /// Those of a workspace, oldest first. A line that can't be read is passed over.
    pub fn all(home: &Path, workspace: &Path) -> Vec<Self> {
        let text = files::read_text(&home.join(PLANNINGS), 2 * LARGEST).unwrap_or_default();
        let read = text.lines().filter_map(|line| serde_json::from_str::<Self>(line).ok());
        read.filter(|record| Path::new(&record.workspace) == workspace).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plannings_are_kept_by_workspace_and_a_damaged_line_hides_no_other() {
        let home = tempfile::tempdir().unwrap();
        let record = |workspace: &str, failed: Option<&str>| PlanningRecord {
            at: Time(1),
            workspace: workspace.into(),
            request: "do it".into(),
            failed: failed.map(str::to_owned),
            calls: Vec::new(),
        };
        record("/a", None).keep(home.path()).unwrap();
        record("/b", None).keep(home.path()).unwrap();
        std::fs::OpenOptions::new().append(true).open(home.path().join(PLANNINGS)).unwrap().write_all(b"{\n").unwrap();
        record("/a", Some("no plan")).keep(home.path()).unwrap();
        assert_eq!(PlanningRecord::all(home.path(), Path::new("/a")), [record("/a", None), record("/a", Some("no plan"))]);
    }
}

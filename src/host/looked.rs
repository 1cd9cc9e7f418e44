//! `LastLook`: when a person last had a console open in a workspace, so that it can say what ended since. A file of the state folder; one
//! that can't be read or written only costs that sentence.

use crate::engine::Time;
use crate::files::{self, beside};
use std::collections::BTreeMap;
use std::path::Path;

/// The file, and most bytes of it.
const FILE: &str = "looked.json";
const LARGEST: u64 = 1_000_000;

/// What is known of earlier consoles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastLook {
    /// When the last one of the workspace was left, or opened where it broke off.
    pub at: Option<Time>,
    /// There was never one, in any workspace.
    pub is_first: bool,
}

impl LastLook {
    pub fn read(home: &Path, workspace: &Path) -> Self {
        let known = all(home);
        let at = known.as_ref().and_then(|known| known.get(&name(workspace)).copied());
        Self { at: at.map(Time), is_first: known.is_none() }
    }

    /// From now on this is the last look.
    pub fn keep(home: &Path, workspace: &Path, now: Time) {
        let mut known = all(home).unwrap_or_default();
        known.insert(name(workspace), now.0);
        let written = serde_json::to_vec(&known).map(|text| beside::write_private(&home.join(FILE), &text));
        if !matches!(written, Ok(Ok(()))) {
            tracing::warn!("the time of the last look was not kept");
        }
    }
}

fn name(workspace: &Path) -> String {
    workspace.display().to_string()
}

fn all(home: &Path) -> Option<BTreeMap<String, u64>> {
    let text = files::read_text(&home.join(FILE), LARGEST).ok()?;
    Some(serde_json::from_str(&text).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workspace_has_its_last_look_and_the_first_of_all_is_known() {
        let home = tempfile::tempdir().unwrap();
        let read = |workspace: &str| LastLook::read(home.path(), Path::new(workspace));
        assert_eq!(read("/a"), LastLook { at: None, is_first: true });
        LastLook::keep(home.path(), Path::new("/a"), Time(7));
        assert_eq!(read("/a"), LastLook { at: Some(Time(7)), is_first: false });
        assert_eq!(read("/b"), LastLook { at: None, is_first: false });
        std::fs::write(home.path().join(FILE), "{").unwrap();
        assert_eq!(read("/a"), LastLook { at: None, is_first: false }, "a damaged file is no first start");
    }
}

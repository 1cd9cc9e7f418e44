//! `ShownPreviews`: the preview of each call that people saw last before they decided. Where the preview has changed since, because its
//! file has, it is shown again, or the call is refused: nobody approved the call as it would be now.

use crate::engine::Preview;
use crate::tools::{Tool, ToolContext};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

type Fingerprint = [u8; 32];

/// By call, the preview shown last.
#[derive(Debug, Default)]
pub(super) struct ShownPreviews(Mutex<HashMap<Fingerprint, Fingerprint>>);

impl ShownPreviews {
    /// A person is shown this preview of a call.
    pub(super) fn remember(&self, tool: &str, args: &Value, preview: &Preview) {
        self.lock().insert(fingerprint(&(tool, args)), fingerprint(preview));
    }

    /// The preview as it is now, if a person was shown another one. Reads files.
    pub(super) fn changed(&self, tool: &dyn Tool, args: &Value, context: &ToolContext) -> Option<Preview> {
        let shown = *self.lock().get(&fingerprint(&(&tool.info().name, args)))?;
        tool.preview(args, context).filter(|now| fingerprint(now) != shown)
    }

    /// The call is done: its preview is history.
    pub(super) fn forget(&self, tool: &str, args: &Value) {
        self.lock().remove(&fingerprint(&(tool, args)));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Fingerprint, Fingerprint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fingerprint(value: &impl Serialize) -> Fingerprint {
    // Plain data always has a JSON form.
    Sha256::digest(serde_json::to_vec(value).unwrap_or_default()).into()
}

//! `Sights`: which picture of an effect people were last shown before they decided. An effect whose picture has changed since, because
//! its file has, is shown again or given up: nobody approved it as it would be now.

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

/// By call, the picture last shown.
#[derive(Debug, Default)]
pub(super) struct Sights(Mutex<HashMap<Fingerprint, Fingerprint>>);

impl Sights {
    /// A person is shown this picture of a call.
    pub(super) fn note(&self, tool: &str, args: &Value, picture: &Preview) {
        self.lock().insert(fingerprint(&(tool, args)), fingerprint(picture));
    }

    /// The picture as it is now, if a person was shown another one. Reads files.
    pub(super) fn changed(&self, tool: &dyn Tool, args: &Value, context: &ToolContext) -> Option<Preview> {
        let shown = *self.lock().get(&fingerprint(&(&tool.info().name, args)))?;
        tool.preview(args, context).filter(|now| fingerprint(now) != shown)
    }

    /// The call is done: its picture is history.
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

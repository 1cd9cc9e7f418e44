//! `ShownPreviews`: the preview of each call that people saw last before they decided. Where the preview has changed since, because its
//! file has, it is shown again, or the call is refused: nobody approved the call as it would be now.

use super::gate_with_tool::GateWithTool;
use crate::engine::{GateId, Preview, RunId};
use crate::tools::{Tool, ToolContext};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

type Fingerprint = [u8; 32];

#[derive(Debug, Default)]
pub(super) struct ShownPreviews {
    /// By call, the preview shown last.
    calls: Mutex<HashMap<Fingerprint, Fingerprint>>,
    /// Gates that were shown, so that an approval doesn't ask the run for them again. The run knows by the hash if one has changed.
    gates: Mutex<HashMap<(RunId, GateId), GateWithTool>>,
}

impl ShownPreviews {
    /// A person is shown this preview of a call.
    pub(super) fn remember(&self, tool: &str, args: &Value, preview: &Preview) {
        lock(&self.calls).insert(fingerprint(&(tool, args)), fingerprint(preview));
    }

    /// A person is shown this gate.
    pub(super) fn keep_gate(&self, run: &RunId, gate: &GateWithTool) {
        lock(&self.gates).insert((run.clone(), gate.gate.id), gate.clone());
    }

    /// A gate that was shown and is replied to.
    pub(super) fn take_gate(&self, run: &RunId, gate: GateId) -> Option<GateWithTool> {
        lock(&self.gates).remove(&(run.clone(), gate))
    }

    /// The preview as it is now, if a person was shown another one. Reads files.
    pub(super) fn changed(&self, tool: &dyn Tool, args: &Value, context: &ToolContext) -> Option<Preview> {
        let shown = *lock(&self.calls).get(&fingerprint(&(&tool.info().name, args)))?;
        tool.preview(args, context).filter(|now| fingerprint(now) != shown)
    }

    /// The call is done: its preview is history.
    pub(super) fn forget(&self, tool: &str, args: &Value) {
        lock(&self.calls).remove(&fingerprint(&(tool, args)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fingerprint(value: &impl Serialize) -> Fingerprint {
    // Plain data always has a JSON form.
    Sha256::digest(serde_json::to_vec(value).unwrap_or_default()).into()
}

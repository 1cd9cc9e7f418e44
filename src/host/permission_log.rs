//! `PermissionLog`: puts on record in the audit what may happen without asking from now on, or no longer, before it counts.

use crate::engine::{Actor, GateId, RunId, Time};
use crate::store::{LastingPermission, PermissionChange, PermissionTurn, Store, StoreError};
use std::path::Path;

/// Who changes permissions, when, and the journal that keeps it.
#[derive(Clone)]
pub struct PermissionLog<'a> {
    pub store: &'a Store,
    pub by: Actor,
    pub at: Time,
}

/// A permission in words, and the reply that made it.
pub(super) struct NamedPermission<'a> {
    pub(super) permission: LastingPermission,
    pub(super) what: String,
    pub(super) run: Option<&'a RunId>,
    pub(super) gate: Option<GateId>,
}

impl NamedPermission<'_> {
    /// One that no reply made.
    pub(super) fn alone(permission: LastingPermission, what: String) -> Self {
        Self { permission, what, run: None, gate: None }
    }
}

impl PermissionLog<'_> {
    /// # Errors
    /// When it can't be put on record. Then it must not count.
    pub(super) fn write(&self, workspace: &Path, turn: PermissionTurn, named: NamedPermission<'_>) -> Result<(), StoreError> {
        let NamedPermission { permission, what, run, gate } = named;
        let workspace = workspace.display().to_string();
        let change = PermissionChange { workspace, turn, permission, what, gate, by: self.by.clone() };
        self.store.permission_changed(run, change, self.at)
    }
}

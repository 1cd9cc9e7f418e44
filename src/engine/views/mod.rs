//! What people see of a run: derived from its state, by functions that change nothing and decide nothing.

pub(super) mod brief;
pub(super) mod changes;
pub(super) mod compare;
pub(super) mod critical;
pub(super) mod describe;
pub(super) mod estimate;
pub(super) mod expense;
pub(super) mod impact;
pub(super) mod outline;
pub(super) mod past;
pub(super) mod peek;
pub(super) mod stats;
pub(super) mod suggest;
pub(super) mod timeline;
pub(super) mod trace;
pub(super) mod transcript;
pub(super) mod why;

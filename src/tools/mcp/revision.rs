//! `McpRevision`: counts changes of what the servers of a host list; others wait for them.

use std::sync::Arc;
use tokio::sync::watch;

#[derive(Clone)]
pub(super) struct McpRevision(Arc<watch::Sender<u64>>);

impl Default for McpRevision {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl McpRevision {
    pub(super) fn now(&self) -> u64 {
        *self.0.borrow()
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }

    pub(super) fn changed(&self) {
        self.0.send_modify(|revision| *revision += 1);
    }
}

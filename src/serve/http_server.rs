//! `HttpServer`: what all requests share: the way to the host, who may ask, and the places for chats.

use super::access::BearerToken;
use crate::engine::{Actor, Run, RunStatus};
use crate::host::client::Connection;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What the server is given.
pub struct ServeOptions {
    /// A connection to the host for whoever asks.
    pub connect: Box<dyn Fn(Actor) -> Connection + Send + Sync>,
    /// The user who serves: without tokens, everything is asked in that name.
    pub user: String,
    /// A run as JSON for people and programs.
    pub state: fn(&Run, &str, RunStatus) -> Value,
    /// Who may ask what; without one, whoever reaches the address is the owner.
    pub tokens: Vec<BearerToken>,
    /// Chats that are worked on at once.
    pub most_runs: usize,
    /// Chats that may wait beside these.
    pub most_queued: usize,
}

pub(super) struct HttpServer {
    pub(super) options: ServeOptions,
    /// No token is asked for.
    pub(super) is_open: bool,
    /// A place for each chat that is worked on or waits.
    pub(super) admitted: Arc<Semaphore>,
    pub(super) working: Arc<Semaphore>,
}

impl HttpServer {
    pub(super) fn new(options: ServeOptions) -> Self {
        let places = options.most_runs.saturating_add(options.most_queued);
        Self {
            is_open: options.tokens.is_empty(),
            admitted: Arc::new(Semaphore::new(places)),
            working: Arc::new(Semaphore::new(options.most_runs)),
            options,
        }
    }
}

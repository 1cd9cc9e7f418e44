//! `CallScope`: who makes a call, and what its server may ask of them.

use super::server::McpServer;
use crate::plan::Verdict;
use crate::tools::{CallQuestion, McpConfig, ToolContext};
use serde_json::Value;
use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

/// One call, for those who answer its server.
pub(super) struct CallScope<'a> {
    pub(super) server: &'a str,
    /// With the server's name.
    pub(super) tool: &'a str,
    /// Where replies go.
    pub(super) place: &'a str,
    pub(super) context: &'a ToolContext,
    /// How long the server may be silent.
    pub(super) silence: Duration,
    config: &'a McpConfig,
    /// Questions asked by now.
    asked: AtomicU32,
    /// Calls under way that the question may as well belong to.
    rivals: AtomicU32,
    /// A person lets a model answer for the rest of the call.
    lets_sample: AtomicBool,
}

impl<'a> CallScope<'a> {
    pub(super) fn new(server: &'a McpServer, tool: &'a str, context: &'a ToolContext) -> Self {
        Self {
            server: &server.name,
            tool,
            place: &server.label,
            context,
            silence: server.silence(),
            config: server.config(),
            asked: AtomicU32::new(0),
            rivals: AtomicU32::new(0),
            lets_sample: AtomicBool::new(false),
        }
    }

    /// The number of the next question. The same call of a later attempt counts anew, so that it finds the replies that were given.
    pub(super) fn next_number(&self) -> u32 {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What is asked next may as well belong to so many other calls.
    pub(super) fn set_rivals(&self, rivals: u32) {
        self.rivals.store(rivals, Ordering::Relaxed);
    }

    /// What to say where nobody knows which call a question belongs to.
    pub(super) fn doubt(&self) -> String {
        match self.rivals.load(Ordering::Relaxed) {
            0 => String::new(),
            rivals => format!("\n(it doesn't say which of its {} calls under way it asks for; this is the newest)", rivals + 1),
        }
    }

    pub(super) async fn ask(&self, question: CallQuestion) -> Result<Value, String> {
        match &self.context.asker {
            Some(asker) => asker.ask(question).await,
            None => Err("nobody is there to answer".to_owned()),
        }
    }

    /// Whether a model may answer the server.
    pub(super) fn sampling(&self) -> Verdict {
        match self.config.sampling {
            Verdict::Ask if self.lets_sample.load(Ordering::Relaxed) => Verdict::Allow,
            verdict => verdict,
        }
    }

    pub(super) fn allow_sampling(&self) {
        self.lets_sample.store(true, Ordering::Relaxed);
    }
}

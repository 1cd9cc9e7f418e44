//! `CallDesk`: brings what a server asks to the call that it is about. Servers of earlier generations don't say which one that is: it is the
//! newest under way, and nobody's where none is.

#![expect(deprecated, reason = "servers of the generations before this one still ask for a model's answer")]

use rmcp::model::{CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// What a server wants in the middle of a call.
pub(super) enum WantedInput {
    /// A person's reply.
    Reply(Box<ElicitRequestParams>),
    /// A model's answer.
    Answer(Box<CreateMessageRequestParams>),
}

/// What it gets.
pub(super) enum GivenInput {
    Reply(ElicitResult),
    Answer(Box<CreateMessageResult>),
    /// Nothing, and why.
    Refused(String),
}

/// What a server asks in the middle of a call.
pub(super) struct ServerAsk {
    pub(super) wanted: WantedInput,
    pub(super) reply: oneshot::Sender<GivenInput>,
    /// Other calls under way.
    pub(super) rivals: u32,
}

#[derive(Default)]
pub(super) struct CallDesk(Mutex<CallsAtDesk>);

#[derive(Default)]
struct CallsAtDesk {
    last: u64,
    /// By age.
    calls: Vec<(u64, mpsc::UnboundedSender<ServerAsk>)>,
}

impl CallDesk {
    /// A call is under way: its number, and what its server asks.
    pub(super) fn begin(&self) -> (u64, mpsc::UnboundedReceiver<ServerAsk>) {
        let (to, asks) = mpsc::unbounded_channel();
        let mut desk = self.lock();
        desk.last += 1;
        let number = desk.last;
        desk.calls.push((number, to));
        (number, asks)
    }

    pub(super) fn end(&self, number: u64) {
        self.lock().calls.retain(|(known, _)| *known != number);
    }

    /// What the server gets, unless no call is under way or it ends before.
    pub(super) async fn ask(&self, wanted: WantedInput) -> Option<GivenInput> {
        let (reply, answer) = oneshot::channel();
        {
            let desk = self.lock();
            let (_, to) = desk.calls.last()?;
            let rivals = u32::try_from(desk.calls.len() - 1).unwrap_or(u32::MAX);
            to.send(ServerAsk { wanted, reply, rivals }).ok()?;
        }
        answer.await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, CallsAtDesk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

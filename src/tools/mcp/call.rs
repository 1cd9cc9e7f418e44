//! One call from its send to its answer: how long its server may be silent, its progress, what its server asks meanwhile, and its
//! cancellation. A server that asks is not silent: the wait for a person takes nothing of its time.

use super::{connection::McpConnection, desk::ServerAsk, elicit};
use crate::tools::{Asker as _, CallQuestion, ToolContext};
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification, CancelledNotificationParam, ClientRequest,
        ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest, InputResponses, ProgressToken, RequestId, ServerResult,
    },
    service::{Peer, PeerRequestOptions, RequestHandle, ServiceError},
};
use serde_json::{Map, Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::sync::{Notify, mpsc};

/// Most answers in a row that only ask for more.
const ROUNDS: usize = 20;

/// Why a call gave no result.
pub(super) enum CallFault {
    /// The server refused it before it did anything.
    Refused(String),
    Failed(String),
    /// The connection broke, or the server said nothing for too long.
    Lost(String),
}

/// Who makes a call, and what its server may ask of them.
pub(super) struct CallScope<'a> {
    pub(super) server: &'a str,
    /// With the server's name.
    pub(super) tool: &'a str,
    /// Where replies go.
    pub(super) place: String,
    pub(super) context: &'a ToolContext,
    /// Questions asked by now.
    asked: AtomicU32,
    /// Calls under way that the question may as well belong to.
    rivals: AtomicU32,
}

impl<'a> CallScope<'a> {
    pub(super) fn new(server: &'a str, tool: &'a str, place: String, context: &'a ToolContext) -> Self {
        Self { server, tool, place, context, asked: AtomicU32::new(0), rivals: AtomicU32::new(0) }
    }

    /// The number of the next question. The same call of a later attempt counts anew, so that it finds the replies that were given.
    pub(super) fn next_number(&self) -> u32 {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1
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

    async fn elicited(&self, request: ElicitRequestParams) -> ElicitResult {
        match &self.context.asker {
            Some(_) => elicit::reply(request, self).await,
            None => ElicitResult::new(ElicitationAction::Decline),
        }
    }

    /// Everything that an answer asks for, one after the other.
    async fn provide(&self, wanted: impl IntoIterator<Item = (String, InputRequest)>) -> Result<InputResponses, CallFault> {
        let mut given = InputResponses::new();
        for (key, request) in wanted {
            let InputRequest::Elicitation(request) = request else {
                return Err(CallFault::Failed("the server asks for something that dagdeck doesn't give to servers".to_owned()));
            };
            given.insert(key, json!(self.elicited(request.params).await));
        }
        Ok(given)
    }
}

impl McpConnection {
    /// Calls a tool. It may be silent for so long; dropping the future cancels the call at the server.
    pub(super) async fn call(
        &self,
        tool: &str,
        args: Map<String, Value>,
        scope: &CallScope<'_>,
        silence: Duration,
    ) -> Result<CallToolResult, CallFault> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        for _ in 0..ROUNDS {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            match self.exchange(request, scope, silence).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(wanted) => {
                    params.input_responses = Some(scope.provide(wanted.input_requests.unwrap_or_default()).await?);
                    params.request_state = wanted.request_state;
                }
                _ => return Err(CallFault::Failed("the server's answer is no result of a call".to_owned())),
            }
        }
        Err(CallFault::Failed(format!("the server asked for more input {ROUNDS} times in a row")))
    }

    async fn exchange(&self, request: ClientRequest, scope: &CallScope<'_>, silence: Duration) -> Result<ServerResult, CallFault> {
        self.asked();
        let sent = self.peer().send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.fault(error).await),
        };
        let mut call = CallUnderWay::begin(self, &handle, scope.context);
        loop {
            let answer = tokio::select! {
                biased;
                answer = &mut handle.rx => answer,
                Some(ServerAsk { request, mut reply, rivals }) = call.asks.recv() => {
                    scope.rivals.store(rivals, Ordering::Relaxed);
                    tokio::select! {
                        biased;
                        answer = &mut handle.rx => answer,
                        () = reply.closed() => continue,
                        given = scope.elicited(request) => {
                            // A server that asks no longer needs no reply.
                            let _ = reply.send(given);
                            continue;
                        }
                    }
                }
                () = call.sign.notified() => continue,
                () = tokio::time::sleep(silence) => {
                    return Err(CallFault::Lost(format!("the server said nothing for {} s", silence.as_secs())));
                }
            };
            call.id = None;
            return match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
                Ok(result) => Ok(result),
                Err(error) => Err(self.fault(error).await),
            };
        }
    }
}

/// A call until its answer is here: one that is dropped before is cancelled at the server.
struct CallUnderWay<'a> {
    connection: &'a McpConnection,
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
    token: ProgressToken,
    /// The server did something for it.
    sign: Arc<Notify>,
    asks: mpsc::UnboundedReceiver<ServerAsk>,
    at_desk: u64,
}

impl<'a> CallUnderWay<'a> {
    fn begin(connection: &'a McpConnection, handle: &RequestHandle<RoleClient>, context: &ToolContext) -> Self {
        let (sign, token) = (Arc::<Notify>::default(), handle.progress_token.clone());
        connection.heard().progress.begin(&token, context.watcher.clone(), sign.clone());
        let (at_desk, asks) = connection.heard().desk.begin();
        Self { connection, peer: connection.peer().clone(), id: Some(handle.id.clone()), token, sign, asks, at_desk }
    }
}

impl Drop for CallUnderWay<'_> {
    fn drop(&mut self) {
        let heard = self.connection.heard();
        heard.progress.end(&self.token);
        heard.desk.end(self.at_desk);
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let params = CancelledNotificationParam::new(Some(id), Some("the call was cancelled".to_owned()));
            // A server that has gone needs no word.
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}

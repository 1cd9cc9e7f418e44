//! One call from its send to its answer: how long its server may be silent, its progress, what its server asks meanwhile, and its
//! cancellation. A server that asks is not silent: the wait for a person takes nothing of its time.

#![expect(deprecated, reason = "servers of the generations before this one still ask for roots and a model's answer")]

use super::{
    connection::McpConnection,
    desk::{GivenInput, ServerAsk, WantedInput},
    elicit,
    error::CallFault,
    sampling,
    scope::CallScope,
};
use crate::tools::ToolContext;
use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification, CancelledNotificationParam, ClientRequest,
        ElicitResult, ElicitationAction, InputRequest, InputRequests, InputResponses, ListRootsResult, ProgressToken, ReadResourceRequest,
        ReadResourceRequestParams, RequestId, ResourceContents, Root, ServerResult,
    },
    service::{Peer, PeerRequestOptions, RequestHandle, ServiceError},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};

/// Most answers in a row that only ask for more.
const ROUNDS: usize = 20;

impl McpConnection {
    /// Calls a tool. Dropping the future cancels the call at the server.
    pub(super) async fn call(&self, tool: &str, args: Map<String, Value>, scope: &CallScope<'_>) -> Result<CallToolResult, CallFault> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let request = |replies, state| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (replies, state);
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        match self.rounds(request, scope).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            _ => Err(CallFault::Failed("the server's answer is no result of a call".to_owned())),
        }
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: &str, scope: &CallScope<'_>) -> Result<Vec<ResourceContents>, CallFault> {
        let request = |replies, state| {
            let mut params = ReadResourceRequestParams::new(uri);
            (params.input_responses, params.request_state) = (replies, state);
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        match self.rounds(request, scope).await? {
            ServerResult::ReadResourceResult(result) => Ok(result.contents),
            _ => Err(CallFault::Failed("the server's answer is no resource".to_owned())),
        }
    }

    /// Sends a request, again with what its answer asks for, until there is one that asks for nothing.
    async fn rounds(
        &self,
        request: impl Fn(Option<InputResponses>, Option<String>) -> ClientRequest,
        scope: &CallScope<'_>,
    ) -> Result<ServerResult, CallFault> {
        let (mut replies, mut state) = (None, None);
        for _ in 0..ROUNDS {
            match self.exchange(request(replies.take(), state.take()), scope).await? {
                ServerResult::InputRequiredResult(wanted) => {
                    replies = Some(provide_all(scope, self.roots(), wanted.input_requests.unwrap_or_default()).await?);
                    state = wanted.request_state;
                }
                answer => return Ok(answer),
            }
        }
        Err(CallFault::Failed(format!("the server asked for more input {ROUNDS} times in a row")))
    }

    async fn exchange(&self, request: ClientRequest, scope: &CallScope<'_>) -> Result<ServerResult, CallFault> {
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
                Some(ServerAsk { wanted, mut reply, rivals }) = call.asks.recv() => {
                    scope.set_rivals(rivals);
                    tokio::select! {
                        biased;
                        answer = &mut handle.rx => answer,
                        () = reply.closed() => continue,
                        given = provide(scope, wanted) => {
                            // A server that asks no longer needs no reply.
                            let _ = reply.send(given);
                            continue;
                        }
                    }
                }
                () = call.sign.notified() => continue,
                () = tokio::time::sleep(scope.silence) => {
                    return Err(CallFault::Lost(format!("the server said nothing for {} s", scope.silence.as_secs())));
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

/// What a server asks for, as far as people and settings give it.
async fn provide(scope: &CallScope<'_>, wanted: WantedInput) -> GivenInput {
    match wanted {
        WantedInput::Reply(request) if scope.context.asker.is_some() => GivenInput::Reply(elicit::reply(*request, scope).await),
        WantedInput::Reply(_) => GivenInput::Reply(ElicitResult::new(ElicitationAction::Decline)),
        WantedInput::Answer(request) => match sampling::reply(*request, scope).await {
            Ok(answer) => GivenInput::Answer(Box::new(answer)),
            Err(why) => {
                if let Some(watcher) = &scope.context.watcher {
                    watcher(&format!("`{}` asked a model and got no answer: {why}", scope.server), false);
                }
                GivenInput::Refused(why)
            }
        },
    }
}

/// Everything that an answer asks for, one after the other.
async fn provide_all(scope: &CallScope<'_>, roots: &[Root], wanted: InputRequests) -> Result<InputResponses, CallFault> {
    let mut all = InputResponses::new();
    for (key, request) in wanted {
        let given = match request {
            InputRequest::Elicitation(request) => provide(scope, WantedInput::Reply(Box::new(request.params))).await,
            InputRequest::CreateMessage(request) => provide(scope, WantedInput::Answer(Box::new(request.params))).await,
            InputRequest::ListRoots(_) => {
                all.insert(key, json!(ListRootsResult::new(roots.to_vec())));
                continue;
            }
            _ => GivenInput::Refused("dagdeck doesn't know what it asks for".to_owned()),
        };
        let value = match given {
            GivenInput::Reply(reply) => json!(reply),
            GivenInput::Answer(answer) => json!(answer),
            GivenInput::Refused(why) => return Err(CallFault::Failed(format!("the server needs what it doesn't get: {why}"))),
        };
        all.insert(key, value);
    }
    Ok(all)
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

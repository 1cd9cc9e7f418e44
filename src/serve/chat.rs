//! `/v1/chat/completions` and `/v1/models`: what a `ChatRun` says, in OpenAI's shapes.

use super::{
    access::{HttpCaller, HttpRole},
    chat_request::{AGENT, ChatWish, PLANNER},
    chat_run::{ChatPart, ChatRun},
    http_error::HttpError,
    http_server::HttpServer,
};
use crate::engine::TokenUsage;
use crate::host::client::Notice;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State, rejection::BytesRejection},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::stream;
use serde_json::{Value, json};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::sync::mpsc;

/// Parts that wait for a client that reads slowly; the chat waits beyond that, and no run does.
const PARTS: usize = 64;

/// How often a silent stream says that it is there.
pub(super) const SILENCE: Duration = Duration::from_secs(10);

/// What all chunks of a chat have in common.
struct ChunkFrame {
    id: String,
    created: i64,
    model: String,
    include_usage: bool,
}

pub(super) async fn complete(
    State(server): State<Arc<HttpServer>>,
    Extension(caller): Extension<HttpCaller>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, HttpError> {
    caller.needs(HttpRole::Owner)?;
    let wish = ChatWish::read(&read_body(body)?)?;
    let Ok(place) = server.admitted.clone().try_acquire_owned() else {
        let limits = &server.options;
        let message = format!("{} chats are worked on and {} wait already", limits.most_runs, limits.most_queued);
        return Err(HttpError::new(429, "too_many_runs", message));
    };
    let id = format!("chatcmpl-{}", uuid::Uuid::now_v7().simple());
    let frame =
        ChunkFrame { id, created: jiff::Timestamp::now().as_second(), model: wish.model.clone(), include_usage: wish.include_usage };
    let streams = wish.streams;
    let (parts, heard) = mpsc::channel(PARTS);
    tokio::spawn(async move {
        let _place = place;
        let working = tokio::select! {
            working = server.working.clone().acquire_owned() => working,
            () = parts.closed() => return,
        };
        let connection = (server.options.connect)(caller.actor());
        ChatRun::new(wish, connection, parts).work().await;
        drop(working);
    });
    if streams { Ok(frame.stream(heard)) } else { frame.whole(heard).await }
}

/// The body, or why it isn't read.
pub(super) fn read_body(body: Result<Bytes, BytesRejection>) -> Result<Bytes, HttpError> {
    body.map_err(|refused| HttpError::new(refused.status().as_u16(), "body_refused", refused.body_text()))
}

impl ChunkFrame {
    fn stream(self, parts: mpsc::Receiver<ChatPart>) -> Response {
        let first = self.chunk(&json!({"role": "assistant", "content": ""}), None);
        let chunks = stream::unfold((self, parts, vec![first]), |(frame, mut parts, mut ready)| async move {
            while ready.is_empty() {
                ready = frame.chunks(parts.recv().await?);
                ready.reverse();
            }
            let chunk = Ok::<_, Infallible>(Event::default().data(ready.pop()?));
            Some((chunk, (frame, parts, ready)))
        });
        Sse::new(chunks).keep_alive(KeepAlive::new().interval(SILENCE)).into_response()
    }

    /// What a part is in a stream. The channel ends behind the last one.
    fn chunks(&self, part: ChatPart) -> Vec<String> {
        match part {
            ChatPart::Text(text) => vec![self.chunk(&json!({"content": text}), None)],
            ChatPart::Progress(progress) => vec![self.object("chat.completion.chunk", json!([]), &progress).to_string()],
            ChatPart::Refused(error) => vec![error.body().to_string()],
            ChatPart::Ended { progress, usage } => {
                let mut last = self.object("chat.completion.chunk", json!([]), &progress);
                last["choices"] = json!([{"index": 0, "delta": {}, "finish_reason": "stop"}]);
                let mut chunks = vec![last.to_string()];
                if self.include_usage {
                    let mut chunk = self.object("chat.completion.chunk", json!([]), &Value::Null);
                    chunk["usage"] = usage_json(usage);
                    chunks.push(chunk.to_string());
                }
                chunks.push("[DONE]".to_owned());
                chunks
            }
        }
    }

    async fn whole(self, mut parts: mpsc::Receiver<ChatPart>) -> Result<Response, HttpError> {
        let (mut content, mut remarks) = (String::new(), Vec::new());
        while let Some(part) = parts.recv().await {
            match part {
                ChatPart::Text(text) => content.push_str(&text),
                ChatPart::Progress(progress) => remarks.extend(progress.get("remark").cloned()),
                ChatPart::Refused(error) => return Err(error),
                ChatPart::Ended { mut progress, usage } => {
                    progress["remarks"] = remarks.into();
                    let message = json!({"role": "assistant", "content": content, "refusal": null});
                    let choices = json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}]);
                    let mut whole = self.object("chat.completion", choices, &progress);
                    whole["usage"] = usage_json(usage);
                    return Ok(Json(whole).into_response());
                }
            }
        }
        Err(HttpError::host_is_gone())
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> String {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        self.object("chat.completion.chunk", choices, &Value::Null).to_string()
    }

    fn object(&self, kind: &str, choices: Value, orchestration: &Value) -> Value {
        let mut object = json!({"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices});
        if !orchestration.is_null() {
            object["orchestration"] = orchestration.clone();
        }
        object
    }
}

fn usage_json(usage: TokenUsage) -> Value {
    json!({"prompt_tokens": usage.prompt, "completion_tokens": usage.completion, "total_tokens": usage.total()})
}

pub(super) async fn models(
    State(server): State<Arc<HttpServer>>,
    Extension(caller): Extension<HttpCaller>,
) -> Result<Json<Value>, HttpError> {
    let models = server.models(&caller).await?;
    Ok(Json(json!({"object": "list", "data": models})))
}

pub(super) async fn model(
    State(server): State<Arc<HttpServer>>,
    Extension(caller): Extension<HttpCaller>,
    Path(name): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let model = server.models(&caller).await?.into_iter().find(|model| model["id"] == name);
    model.map(Json).ok_or_else(|| HttpError::new(404, "model_not_found", format!("there is no model `{name}`; /v1/models lists them")))
}

impl HttpServer {
    /// The planner, and each agent alone.
    async fn models(&self, caller: &HttpCaller) -> Result<Vec<Value>, HttpError> {
        let mut connection = (self.options.connect)(caller.actor());
        let catalog = loop {
            match connection.notices.recv().await {
                Some(Notice::Catalog { catalog, .. }) => break catalog,
                Some(_) => {}
                None => return Err(HttpError::host_is_gone()),
            }
        };
        let model =
            |id: String, about: &str| json!({"id": id, "object": "model", "created": 0, "owned_by": "dagdeck", "description": about});
        let planner = model(PLANNER.to_owned(), "plans the request and runs the plan");
        let agents = catalog.agents.iter().map(|agent| model(format!("{AGENT}{}", agent.name), &agent.description));
        Ok(std::iter::once(planner).chain(agents).collect())
    }
}

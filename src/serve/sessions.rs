//! The routes of one run: its state, its events from any of them on, replies to its gates, and actions. A session is a run, by its id.

use super::{
    access::{HttpCaller, HttpRole},
    chat::{SILENCE, read_body},
    http_error::HttpError,
    http_server::HttpServer,
};
use crate::engine::{Action, Actor, Command, Event, Gate, GateId, Record, Run, RunId};
use crate::host::client::{Connection, Driver, Notice, Problem, Request};
use crate::plan::NodeId;
use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State, rejection::BytesRejection},
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{self, KeepAlive, Sse},
    },
};
use futures::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::VecDeque, convert::Infallible, sync::Arc};

/// A run as it is, and what comes of it.
struct OpenRun {
    id: RunId,
    records: Vec<Record>,
    driver: Driver,
    connection: Connection,
}

impl OpenRun {
    async fn new(server: &HttpServer, caller: &HttpCaller, session: String) -> Result<Self, HttpError> {
        let (mut connection, id) = ((server.options.connect)(caller.actor()), RunId(session));
        connection.requests.send(Request::OpenRun(id.clone())).map_err(|_| HttpError::host_is_gone())?;
        while let Some(notice) = connection.notices.recv().await {
            match notice {
                Notice::RunOpened { run, records, driver } if run == id => return Ok(Self { id, records, driver, connection }),
                Notice::RunGone(run) if run == id => return Err(HttpError::not_found("there is no such session")),
                Notice::Problem(problem) => return Err(HttpError::refused("session_refused", &problem)),
                _ => {}
            }
        }
        Err(HttpError::host_is_gone())
    }

    /// Sends a command, and waits until it is in the journal or is refused.
    async fn command(mut self, command: Command, by: &Actor) -> Result<Json<Value>, HttpError> {
        let refused = |problem: &Problem| HttpError::new(409, "refused", problem.message.clone());
        let request = Request::Command { run: self.id.clone(), command };
        self.connection.requests.send(request).map_err(|_| HttpError::host_is_gone())?;
        let known = self.records.last().map_or(0, |record| record.seq);
        while let Some(notice) = self.connection.notices.recv().await {
            let records = match notice {
                Notice::Events { run, records } if run == self.id => records,
                // The command opened a run again that was over.
                Notice::RunOpened { run, records, .. } if run == self.id => records,
                Notice::Problem(problem) | Notice::Frozen { problem, .. } => return Err(refused(&problem)),
                Notice::RunGone(run) if run == self.id => return Err(HttpError::not_found("there is no such session")),
                _ => continue,
            };
            for record in records.iter().filter(|record| record.seq > known) {
                if let Event::GateDecided { by: who, .. } | Event::Acted { by: who, .. } = &record.event
                    && who == by
                {
                    return Ok(Json(json!({"session_id": self.id, "seq": record.seq, "by": by})));
                }
                if let Event::Refused { by: who, why, .. } = &record.event
                    && who == by
                {
                    return Err(refused(&Problem::new(why)));
                }
            }
        }
        Err(HttpError::host_is_gone())
    }
}

pub(super) async fn state(
    State(server): State<Arc<HttpServer>>,
    Extension(caller): Extension<HttpCaller>,
    Path(session): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let open = OpenRun::new(&server, &caller, session).await?;
    let run = Run::replay(&open.records);
    let status = if open.driver == Driver::Nobody { run.status_without_driver() } else { run.status() };
    let mut state = (server.options.state)(&run, &open.id.0, status);
    state["last_seq"] = json!(run.last_seq());
    Ok(Json(state))
}

/// Every event behind the one that `Last-Event-ID` names, and those that come, until the run is over.
pub(super) async fn events(
    State(server): State<Arc<HttpServer>>,
    Extension(caller): Extension<HttpCaller>,
    Path(session): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let last = match headers.get("last-event-id").map(|id| id.to_str().ok().and_then(|id| id.parse::<u64>().ok())) {
        None => 0,
        Some(Some(last)) => last,
        Some(None) => return Err(HttpError::wrong("`Last-Event-ID` is the number of an event")),
    };
    let open = OpenRun::new(&server, &caller, session).await?;
    let goes_on = open.driver != Driver::Nobody && !is_over(&open.records);
    let state = EventStream { id: open.id, connection: open.connection, ready: open.records.into(), last, goes_on };
    let events = stream::unfold(state, |mut state| async move {
        let event = state.next().await?;
        Some((Ok::<_, Infallible>(event), state))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(SILENCE)).into_response())
}

/// Whether the run is over behind these.
fn is_over(records: &[Record]) -> bool {
    records.last().is_some_and(|last| matches!(last.event, Event::RunEnded { .. }))
}

struct EventStream {
    id: RunId,
    connection: Connection,
    ready: VecDeque<Record>,
    /// The number of the event that the client has.
    last: u64,
    goes_on: bool,
}

impl EventStream {
    async fn next(&mut self) -> Option<sse::Event> {
        loop {
            while let Some(record) = self.ready.pop_front() {
                if record.seq > self.last {
                    self.last = record.seq;
                    // A record always has a form in JSON.
                    return Some(sse::Event::default().id(record.seq.to_string()).data(serde_json::to_string(&record).ok()?));
                }
            }
            if !self.goes_on {
                return None;
            }
            match self.connection.notices.recv().await? {
                Notice::Events { run, records } if run == self.id => {
                    self.goes_on = !is_over(&records);
                    self.ready.extend(records);
                }
                Notice::Driver { run, driver: Driver::Nobody } if run == self.id => self.goes_on = false,
                Notice::RunGone(run) if run == self.id => self.goes_on = false,
                _ => {}
            }
        }
    }
}

/// A reply to a gate, which its node or its number names. The hash is that of the gate as it was shown.
#[derive(Deserialize)]
struct RespondBody {
    node_id: Option<NodeId>,
    gate_id: Option<GateId>,
    hash: Option<String>,
}

pub(super) async fn respond(
    State(server): State<Arc<HttpServer>>,
    Extension(caller): Extension<HttpCaller>,
    Path(session): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, HttpError> {
    caller.needs(HttpRole::Approver)?;
    let mut body: Value = json_body(body)?;
    if body["decision"] == "reject" && body["message"].is_null() {
        body["message"] = json!("");
    }
    let wrong = |error: serde_json::Error| HttpError::wrong(format!("the reply can't be read: {error}"));
    let named: RespondBody = serde_json::from_value(body.clone()).map_err(wrong)?;
    let open = OpenRun::new(&server, &caller, session).await?;
    let run = Run::replay(&open.records);
    let gate = find(&run, &named)?;
    let hash = match named.hash {
        Some(hash) => hash,
        // Only one thing was ever shown there, so there is no doubt what the reply is to.
        None if run.gates().filter(|(other, _)| other.node == gate.node).count() == 1 => gate.hash.clone(),
        None => return Err(HttpError::wrong("the node asked more than once: send the `hash` of the gate that you reply to")),
    };
    let mut command = json!({"command": "decide", "gate": gate.id, "decision": body, "hash": hash});
    // A rejection has its text in itself.
    if body["decision"] != "reject" && body["message"].is_string() {
        command["message"] = body["message"].clone();
    }
    let command: Command = serde_json::from_value(command).map_err(wrong)?;
    open.command(command, &caller.actor()).await
}

/// The gate that is named; a closed one only by its number, so that the answer names who replied.
fn find<'r>(run: &'r Run, named: &RespondBody) -> Result<&'r Gate, HttpError> {
    if let Some(id) = named.gate_id {
        let gate = run.gate(id).map(|(gate, _)| gate).filter(|gate| named.node_id.as_ref().is_none_or(|node| *node == gate.node));
        return gate.ok_or_else(|| HttpError::not_found("the session has no such gate"));
    }
    let Some(node) = &named.node_id else { return Err(HttpError::wrong("name the gate: send `node_id` or `gate_id`")) };
    let open: Vec<&Gate> = run.open_gates().filter(|gate| gate.node == *node).collect();
    let closed: Vec<&Gate> = run.gates().map(|(gate, _)| gate).filter(|gate| gate.node == *node).collect();
    match (&open[..], &closed[..]) {
        ([gate], _) => Ok(gate),
        ([], [.., last]) => Ok(last),
        ([], []) => Err(HttpError::not_found(format!("no gate is open at `{node}`"))),
        _ => Err(HttpError::wrong(format!("several gates are open at `{node}`: send `gate_id`"))),
    }
}

/// An action, as the journal writes it, with a reason.
#[derive(Deserialize)]
struct CommandBody {
    #[serde(flatten)]
    action: Action,
    #[serde(default)]
    why: String,
}

pub(super) async fn command(
    State(server): State<Arc<HttpServer>>,
    Extension(caller): Extension<HttpCaller>,
    Path(session): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, HttpError> {
    caller.needs(HttpRole::Owner)?;
    let body: CommandBody = json_body(body)?;
    let open = OpenRun::new(&server, &caller, session).await?;
    open.command(Command::Act { action: Box::new(body.action), why: body.why }, &caller.actor()).await
}

fn json_body<T: serde::de::DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<T, HttpError> {
    serde_json::from_slice(&read_body(body)?).map_err(|error| HttpError::wrong(format!("the body can't be read: {error}")))
}

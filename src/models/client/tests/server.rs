//! A server that plays a script: one connection a reply, each written as it is, then closed, cut or left hanging.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What is written to one connection.
#[derive(Clone)]
pub struct Reply {
    head: String,
    body: Vec<u8>,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Close,
    /// Closed before all that was announced is sent.
    Cut,
    Hang,
}

impl Reply {
    /// A stream of these events.
    pub fn stream(events: &[Value]) -> Self {
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        Self::raw(200, "content-type: text/event-stream\r\n", &body)
    }

    /// A stream that ends with `[DONE]`.
    pub fn done(events: &[Value]) -> Self {
        let mut reply = Self::stream(events);
        reply.body.extend(b"data: [DONE]\n\n");
        reply
    }

    /// A stream of one text.
    pub fn text(text: &str) -> Self {
        Self::done(&[piece(text), json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})])
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "content-type: application/json\r\n", &body.to_string())
    }

    pub fn raw(status: u16, headers: &str, body: &str) -> Self {
        Self { head: format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}"), body: body.into(), end: End::Close }
    }

    pub fn header(mut self, line: &str) -> Self {
        self.head.push_str(line);
        self.head.push_str("\r\n");
        self
    }

    pub fn then_cut(self) -> Self {
        Self { end: End::Cut, ..self }
    }

    pub fn then_hang(self) -> Self {
        Self { end: End::Hang, ..self }
    }

    /// Accepts, then says nothing at all.
    pub fn silence() -> Self {
        Self { head: String::new(), body: Vec::new(), end: End::Hang }
    }
}

/// A piece of streamed text.
pub fn piece(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    pub head: String,
    pub body: Value,
}

pub struct ServerScript {
    pub address: String,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
}

impl ServerScript {
    pub async fn play(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = seen.clone();
        tokio::spawn(async move {
            let mut hanging = Vec::new();
            for reply in replies {
                let (mut socket, _) = listener.accept().await.unwrap();
                let request = read_request(&mut socket).await;
                record.lock().unwrap().push(request);
                if let Some(socket) = write_reply(socket, reply).await {
                    hanging.push(socket);
                }
            }
            // Connections that hang stay open as long as the test runs.
            std::future::pending::<()>().await;
            drop(hanging);
        });
        Self { address, seen }
    }

    pub fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().unwrap().clone()
    }
}

async fn write_reply(mut socket: TcpStream, reply: Reply) -> Option<TcpStream> {
    if !reply.head.is_empty() {
        let extra = usize::from(reply.end != End::Close) * 1000;
        let head = format!("{}content-length: {}\r\n\r\n", reply.head, reply.body.len() + extra);
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(&reply.body).await.unwrap();
    }
    socket.flush().await.unwrap();
    (reply.end == End::Hang).then_some(socket)
}

async fn read_request(socket: &mut TcpStream) -> SeenRequest {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = socket.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return SeenRequest { body: serde_json::from_str(body).unwrap_or_default(), head };
            }
        }
        assert!(count > 0, "the request was cut");
    }
}

//! A server on the loopback address that speaks chat completions from a script: one reply a request, in order.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
};

/// What the server answers to one request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Streams text in pieces, then usage.
    Text(String),
    /// Streams the first text, then waits for `ChatServer::release` before it streams the second.
    Held(String, String),
    /// Asks for tool calls: `(name, arguments)`.
    Calls(Vec<(String, Value)>),
    /// A status with a body and extra headers.
    Status(u16, String, Vec<(String, String)>),
    /// Streams some text, then cuts the connection.
    Cut(String),
    /// Streams some text, then an event that can't be read.
    Malformed,
    /// A 200 whose body is no event stream.
    Nonsense,
    /// Never answers.
    Hang,
    /// Streams some text, then says nothing more, with the connection open.
    Stall(String),
}

/// One chat request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its body.
    pub body: Value,
    /// Its `authorization` header.
    pub authorization: String,
}

/// The server; it ends with the test's process.
pub struct ChatServer {
    /// Base URL to configure.
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    script: Vec<Reply>,
    asked: Mutex<Vec<Asked>>,
    /// The `authorization` of each question for models.
    listed: Mutex<Vec<String>>,
    /// Held replies that may go on.
    released: Mutex<usize>,
    release: Condvar,
}

impl ChatServer {
    /// Starts with a script; requests beyond it get the last reply again.
    pub fn start(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            script,
            asked: Mutex::default(),
            listed: Mutex::default(),
            released: Mutex::default(),
            release: Condvar::new(),
        });
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                thread::spawn(move || serve(stream, &server));
            }
        });
        Self { url, shared }
    }

    /// The chat requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// The `authorization` headers of all requests so far.
    pub fn keys(&self) -> Vec<String> {
        let listed = self.shared.listed.lock().unwrap().clone();
        self.asked().into_iter().map(|asked| asked.authorization).chain(listed).collect()
    }

    /// Bodies of the chat requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.asked().into_iter().map(|asked| asked.body).collect()
    }

    /// Lets one held reply go on.
    pub fn release(&self) {
        *self.shared.released.lock().unwrap() += 1;
        self.shared.release.notify_all();
    }
}

fn serve(stream: TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some((path, asked)) = read_request(&mut reader) {
        if path.ends_with("/models") {
            shared.listed.lock().unwrap().push(asked.authorization);
            let body = json!({"object": "list", "data": [{"id": "test-model", "object": "model"}]}).to_string();
            respond(&mut stream, 200, "application/json", &[], &body);
            continue;
        }
        let number = {
            let mut list = shared.asked.lock().unwrap();
            list.push(asked);
            list.len() - 1
        };
        match &shared.script[number.min(shared.script.len() - 1)] {
            Reply::Text(text) => stream_events(&mut stream, &text_chunks(text), End::Whole),
            Reply::Held(first, second) => {
                send(&mut stream, &(HEAD.to_owned() + &events(&opening(first))));
                let released = shared.released.lock().unwrap();
                *shared.release.wait_while(released, |released| *released == 0).unwrap() -= 1;
                send(&mut stream, &(events(&text_chunks(second)) + DONE));
            }
            Reply::Calls(calls) => stream_events(&mut stream, &call_chunks(calls), End::Whole),
            Reply::Status(status, body, headers) => respond(&mut stream, *status, "application/json", headers, body),
            Reply::Malformed => {
                let broken = "data: {\"choices\": [{]\n\n";
                send(&mut stream, &format!("{HEAD}{}{:x}\r\n{broken}\r\n{DONE}", events(&opening("Half.")), broken.len()));
            }
            Reply::Nonsense => respond(&mut stream, 200, "text/html", &[], "<html>welcome to the proxy</html>"),
            Reply::Cut(text) => {
                stream_events(&mut stream, &opening(text), End::Cut);
                return;
            }
            Reply::Stall(text) => {
                stream_events(&mut stream, &opening(text), End::Open);
                wait_for_ever();
            }
            Reply::Hang => wait_for_ever(),
        }
    }
}

fn wait_for_ever() -> ! {
    loop {
        thread::park();
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, Asked)> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let path = line.split_whitespace().nth(1)?.to_string();
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        let Some((name, value)) = header.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => value.trim().clone_into(&mut authorization),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, Asked { body: serde_json::from_slice(&body).unwrap_or(Value::Null), authorization }))
}

/// How an event stream ends.
#[derive(PartialEq)]
enum End {
    Whole,
    Cut,
    Open,
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const DONE: &str = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";

fn stream_events(stream: &mut TcpStream, chunks: &[Value], end: End) {
    let tail = if end == End::Whole { DONE } else { "" };
    send(stream, &(HEAD.to_owned() + &events(chunks) + tail));
    if end == End::Cut {
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Chunks as server-sent events in pieces of the chunked encoding.
fn events(chunks: &[Value]) -> String {
    let event = |chunk: &Value| {
        let text = format!("data: {chunk}\n\n");
        format!("{:x}\r\n{text}\r\n", text.len())
    };
    chunks.iter().map(event).collect()
}

fn send(stream: &mut TcpStream, text: &str) {
    // A client that has gone away is its own business.
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.flush();
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "test-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn usage_chunk() -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "test-model", "choices": [],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})
}

fn text_chunks(text: &str) -> Vec<Value> {
    let letters: Vec<char> = text.chars().collect();
    let mut chunks = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
    chunks.extend(letters.chunks(7).map(|piece| chunk(&json!({"content": piece.iter().collect::<String>()}), None)));
    chunks.push(chunk(&json!({}), Some("stop")));
    chunks.push(usage_chunk());
    chunks
}

/// The beginning of an answer that goes on.
fn opening(text: &str) -> Vec<Value> {
    let mut chunks = text_chunks(text);
    chunks.truncate(chunks.len() - 2);
    chunks
}

fn call_chunks(calls: &[(String, Value)]) -> Vec<Value> {
    let mut chunks = vec![chunk(&json!({"role": "assistant", "content": null}), None)];
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let id = format!("call_{index}");
        let opening = json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
        chunks.push(chunk(&opening, None));
        for piece in arguments.to_string().as_bytes().chunks(9) {
            let piece = String::from_utf8_lossy(piece);
            chunks.push(chunk(&json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}), None));
        }
    }
    chunks.push(chunk(&json!({}), Some("tool_calls")));
    chunks.push(usage_chunk());
    chunks
}

fn respond(stream: &mut TcpStream, status: u16, kind: &str, headers: &[(String, String)], body: &str) {
    let extra: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let text = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n{extra}\r\n{body}", body.len());
    send(stream, &text);
}

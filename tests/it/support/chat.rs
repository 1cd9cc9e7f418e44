//! A server on the loopback address that speaks chat completions from a script: one reply a request, in order.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// What the server answers to one request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Streams text in pieces, then usage.
    Text(String),
    /// Asks for tool calls: `(name, arguments)`.
    Calls(Vec<(String, Value)>),
    /// A status with a body and extra headers.
    Status(u16, String, Vec<(String, String)>),
    /// Streams some text, then cuts the connection.
    Cut(String),
    /// A 200 whose body is no event stream.
    Nonsense,
    /// Never answers.
    Hang,
}

/// The server; it ends with the test's process.
pub struct ChatServer {
    /// Base URL to configure.
    pub url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl ChatServer {
    /// Starts with a script; requests beyond it get the last reply again.
    pub fn start(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                let script = script.clone();
                thread::spawn(move || serve(stream, &script, &seen));
            }
        });
        Self { url, requests }
    }

    /// Bodies of the chat requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, script: &[Reply], seen: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some((path, body)) = read_request(&mut reader) {
        if path.ends_with("/models") {
            let body = json!({"object": "list", "data": [{"id": "test-model", "object": "model"}]}).to_string();
            respond(&mut stream, 200, "application/json", &[], &body);
            continue;
        }
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(serde_json::from_slice(&body).unwrap_or(Value::Null));
            seen.len() - 1
        };
        match &script[number.min(script.len() - 1)] {
            Reply::Text(text) => stream_events(&mut stream, &text_chunks(text), End::Whole),
            Reply::Calls(calls) => stream_events(&mut stream, &call_chunks(calls), End::Whole),
            Reply::Status(status, body, headers) => respond(&mut stream, *status, "application/json", headers, body),
            Reply::Nonsense => respond(&mut stream, 200, "text/html", &[], "<html>welcome to the proxy</html>"),
            Reply::Cut(text) => {
                let mut chunks = text_chunks(text);
                chunks.truncate(chunks.len() - 2);
                stream_events(&mut stream, &chunks, End::Cut);
                return;
            }
            Reply::Hang => loop {
                thread::park();
            },
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let path = line.split_whitespace().nth(1)?.to_string();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, body))
}

/// How an event stream ends.
#[derive(PartialEq)]
enum End {
    Whole,
    Cut,
}

fn stream_events(stream: &mut TcpStream, chunks: &[Value], end: End) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut out = head.to_string();
    let mut push = |text: &str| out.push_str(&format!("{:x}\r\n{text}\r\n", text.len()));
    for chunk in chunks {
        push(&format!("data: {chunk}\n\n"));
    }
    if end == End::Whole {
        push("data: [DONE]\n\n");
        out.push_str("0\r\n\r\n");
    }
    // A client that has gone away is its own business.
    let _ = stream.write_all(out.as_bytes());
    let _ = stream.flush();
    if end == End::Cut {
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
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
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.flush();
}

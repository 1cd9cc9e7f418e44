//! Two hundred agents of the real program before a server of models: how near their time comes to the ideal where the server works sixteen
//! calls at once and takes 0.2 s for each, and that none fails where it takes so many in a minute. `cargo bench --bench provider` measures
//! it; as a test it runs once with fewer agents.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench that cannot set itself up has nothing to measure")]

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

const CALL: Duration = Duration::from_millis(200);
const SLOTS: u32 = 16;

/// A server that takes a time for each call, and perhaps only so many in a minute.
struct BenchServer {
    url: String,
    seen: Arc<Mutex<SeenCall>>,
}

#[derive(Default)]
struct SeenCall {
    first: Option<Instant>,
    last: Option<Instant>,
    /// When the next call is taken.
    next: Option<Instant>,
    at_once: u32,
    most_at_once: u32,
    refused: u32,
}

impl BenchServer {
    fn start(a_minute: Option<u32>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(SeenCall::default()));
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                thread::spawn(move || serve(&stream, &seen, a_minute));
            }
        });
        Self { url, seen }
    }
}

fn serve(mut stream: &TcpStream, seen: &Mutex<SeenCall>, a_minute: Option<u32>) {
    let mut reader = BufReader::new(stream);
    while let Some(path) = read_request(&mut reader) {
        let (status, kind, body) = match path.ends_with("/chat/completions") {
            true => answer(seen, a_minute),
            false => (200, "application/json", json!({"object": "list", "data": [{"id": "m"}]}).to_string()),
        };
        let head = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(seen: &Mutex<SeenCall>, a_minute: Option<u32>) -> (u16, &'static str, String) {
    {
        let now = Instant::now();
        let mut seen = seen.lock().expect("no panic");
        seen.first.get_or_insert(now);
        if let Some(wait) = a_minute.and(seen.next).and_then(|next| next.checked_duration_since(now)).filter(|wait| !wait.is_zero()) {
            seen.refused += 1;
            let message = format!("Rate limit reached for m. Please try again in {}ms.", wait.as_millis() + 1);
            return (429, "application/json", json!({"error": {"message": message, "code": "rate_limit_exceeded"}}).to_string());
        }
        seen.next = a_minute.map(|count| now + Duration::from_secs(60) / count);
        seen.at_once += 1;
        seen.most_at_once = seen.most_at_once.max(seen.at_once);
    }
    thread::sleep(CALL);
    let mut seen = seen.lock().expect("no panic");
    seen.at_once -= 1;
    seen.last = Some(Instant::now());
    let piece = json!({"model": "m", "choices": [{"index": 0, "delta": {"content": "done"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1}});
    (200, "text/event-stream", format!("data: {piece}\n\ndata: [DONE]\n\n"))
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<String> {
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).ok()?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        match header.trim().to_ascii_lowercase().split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(path)
}

/// Runs so many agents, and says how many succeeded.
fn run(agents: u32, server: &BenchServer) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let node = |at: u32| json!({"id": format!("a{at}"), "agent": "writer", "objective": "Write one word."});
    let plan = json!({"dagdeck": 1, "goal": "measure", "nodes": (0..agents).map(node).collect::<Vec<Value>>()});
    let file = folder.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("a plan");
    let dagdeck = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dagdeck"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder.path()).env("DAGDECK_HOME", folder.path().join("home"));
        command.env("OPENAI_BASE_URL", &server.url).env("OPENAI_MODEL", "m").current_dir(folder.path());
        command.args(args).stdin(Stdio::null()).output().expect("dagdeck")
    };
    dagdeck(&["run", &file.to_string_lossy()]);
    let shown: Value = serde_json::from_slice(&dagdeck(&["show", "last", "--json"]).stdout).expect("a run");
    let nodes = shown["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    nodes.iter().filter(|node| node["state"] == "succeeded").count()
}

fn measure(agents: u32, a_minute: Option<u32>) {
    let server = BenchServer::start(a_minute);
    let succeeded = run(agents, &server);
    let seen = server.seen.lock().expect("no panic");
    let took = seen.last.zip(seen.first).map(|(last, first)| last - first).unwrap_or_default();
    let ideal = match a_minute {
        None => CALL * agents.div_ceil(SLOTS),
        Some(count) => Duration::from_secs(60) / count * (agents - 1) + CALL,
    };
    let limit = a_minute.map_or_else(|| format!("{SLOTS} slots"), |count| format!("{count} requests a minute"));
    println!(
        "{agents} agents, {limit}: {:.2} s, ideal {:.2} s, {:.2} of it; most at once {}, refused {}, failed {}",
        took.as_secs_f64(),
        ideal.as_secs_f64(),
        took.as_secs_f64() / ideal.as_secs_f64(),
        seen.most_at_once,
        seen.refused,
        agents as usize - succeeded
    );
    assert_eq!(succeeded, agents as usize, "every agent succeeds");
    assert!(seen.most_at_once <= SLOTS, "no more calls at once than there are slots");
}

fn main() {
    let is_measured = std::env::args().any(|arg| arg == "--bench");
    let (agents, a_minute) = if is_measured { (200, 120) } else { (20, 1200) };
    measure(agents, None);
    measure(agents, Some(a_minute));
}

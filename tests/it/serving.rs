//! `dagdeck serve --http`: the real program, asked by a plain HTTP client.

use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    process::{Child, Stdio},
    time::Duration,
};

const CHATS: &str = "/v1/chat/completions";

/// A plan with a write at its end, which waits for a yes.
const WRITE: &str = "List the Rust files under src, count their lines, and write the ten longest to longest.md";

struct Served {
    child: Child,
    address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer, wholly read.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }

    /// What the lines of a stream hold, one by one.
    fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

impl Served {
    fn start(program: &Program, flags: &[&str]) -> Self {
        let args = [&["serve", "--http", "127.0.0.1:0"], flags].concat();
        let mut child = program.process(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|line| line.strip_suffix("/v1")).unwrap().to_owned();
        Self { child, address }
    }

    /// Sends a request; its headers are lines.
    fn send(&self, line: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let host = if headers.contains("Host: ") { String::new() } else { format!("Host: {}\r\n", self.address) };
        // A server that refuses a body may not read it to its end.
        let _ = write!(
            stream,
            "{line} HTTP/1.1\r\n{host}{headers}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream
    }

    fn ask(&self, line: &str, headers: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut text = String::new();
        self.send(line, headers, &body).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn chat(&self, body: &Value) -> Answer {
        self.ask(&format!("POST {CHATS}"), "", body)
    }
}

fn request(text: &str) -> Value {
    json!({"model": "dagdeck", "messages": [{"role": "user", "content": text}]})
}

fn streamed(text: &str) -> Value {
    let mut body = request(text);
    body["stream"] = json!(true);
    body
}

fn with_sources() -> Program {
    let program = Program::new();
    std::fs::create_dir(program.workspace().join("src")).unwrap();
    program.file("src/a.rs", "one\ntwo\n");
    program.file("notes.md", "one\n");
    program
}

#[test]
fn a_chat_is_planned_and_run_without_a_model_and_answered_whole_or_as_a_stream() {
    let program = with_sources();
    let served = Served::start(&program, &[]);
    let whole = served.chat(&request("list the *.md files"));
    assert_eq!(whole.status, 200, "{whole:?}");
    let answer = whole.json();
    assert_eq!((&answer["object"], &answer["choices"][0]["finish_reason"]), (&json!("chat.completion"), &json!("stop")));
    assert!(answer["choices"][0]["message"]["content"].as_str().unwrap().contains("notes.md"), "{answer}");
    assert_eq!(answer["orchestration"]["status"], "succeeded");

    let mut asked = streamed("list the *.md files");
    asked["stream_options"] = json!({"include_usage": true});
    let stream = served.chat(&asked);
    assert!(stream.head.contains("text/event-stream") && stream.body.contains("data: [DONE]"), "{stream:?}");
    assert!(!stream.body.lines().any(|line| line.starts_with("event:")), "named events break clients");
    let chunks = stream.events();
    assert!(chunks.iter().all(|chunk| chunk["choices"].is_array() && chunk["object"] == "chat.completion.chunk"), "{chunks:?}");
    let text: String = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert!(text.contains("notes.md"), "{text}");
    assert!(chunks.iter().any(|chunk| chunk["orchestration"]["status"] == "running"), "{chunks:?}");
    assert!(chunks.last().unwrap()["usage"]["total_tokens"].is_number(), "{chunks:?}");
}

#[test]
fn a_gate_waits_for_the_reply_of_the_sessions_route_and_the_first_one_wins() {
    let program = with_sources();
    let served = Served::start(&program, &[]);
    let whole = served.chat(&request(WRITE)).json();
    assert!(whole["choices"][0]["message"]["content"].as_str().unwrap().contains("waits for a person"), "{whole}");
    assert!(!program.workspace().join("longest.md").exists(), "nothing is written without a yes");
    let session = whole["orchestration"]["session_id"].as_str().unwrap();
    let gate = &whole["orchestration"]["gates"][0];
    assert!(gate["payload"]["content"].as_str().unwrap().contains("src/a.rs"), "the exact payload is there: {gate}");

    let at = |what: &str| format!("/v1/orchestration/{session}/{what}");
    let mut reply = json!({"node_id": gate["node"], "decision": "approve", "hash": "another"});
    let stale = served.ask(&format!("POST {}", at("respond")), "", &reply);
    assert_eq!(stale.status, 409, "{stale:?}");
    reply["hash"] = gate["hash"].clone();
    reply["message"] = json!("as we agreed on Monday");
    let taken = served.ask(&format!("POST {}", at("respond")), "", &reply);
    assert_eq!(taken.status, 200, "{taken:?}");
    let late = served.ask(&format!("POST {}", at("respond")), "", &json!({"node_id": gate["node"], "decision": "reject"}));
    assert!(late.status == 409 && late.body.contains("already approved"), "{late:?}");

    let all = served.ask(&format!("GET {}", at("events")), "", &Value::Null).events();
    assert_eq!(all.last().unwrap()["type"], "run_settled", "{all:?}");
    let behind = all[4]["seq"].as_u64().unwrap();
    let rest = served.ask(&format!("GET {}", at("events")), &format!("Last-Event-ID: {behind}\r\n"), &Value::Null).events();
    assert_eq!(rest, all[5..], "a client that comes back gets what it missed");
    assert!(program.read("longest.md").contains("src/a.rs"));
    let state = served.ask(&format!("GET {}", at("state")), "", &Value::Null).json();
    assert_eq!(state["status"], "succeeded");
    let audit = program.run(&["audit"]).code(0);
    assert!(audit.out.contains("http"), "who replied by which way is on record: {}", audit.out);
    assert!(audit.out.contains("as we agreed on Monday"), "and what they said with it: {}", audit.out);
}

#[test]
fn a_client_that_leaves_ends_its_run_unless_it_is_detached() {
    let program = with_sources();
    let served = Served::start(&program, &[]);
    let leave = |body: &Value| {
        let stream = served.send(&format!("POST {CHATS}"), "", &body.to_string());
        let line = BufReader::new(stream).lines().map(Result::unwrap).find(|line| line.contains("\"waiting\"")).unwrap();
        let chunk: Value = serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap();
        chunk["orchestration"]["session_id"].as_str().unwrap().to_owned()
    };
    let session = leave(&streamed(WRITE));
    let events = served.ask(&format!("GET /v1/orchestration/{session}/events"), "", &Value::Null).body;
    assert!(events.contains("run_cancelled") || events.contains("\"cancel\""), "{events}");
    let mut body = streamed(WRITE);
    body["orchestration"] = json!({"detach": true});
    let session = leave(&body);
    let state = served.ask(&format!("GET /v1/orchestration/{session}/state"), "", &Value::Null).json();
    assert_eq!(state["status"], "waiting", "{state}");
    let cancel = json!({"verb": "cancel", "target": {"on": "run"}, "why": "not needed"});
    assert_eq!(served.ask(&format!("POST /v1/orchestration/{session}/commands"), "", &cancel).status, 200);
}

#[test]
fn an_agent_alone_is_a_model_and_its_words_come_as_it_says_them() {
    let server = ChatServer::start(vec![Reply::Held("Good ".into(), "morning.".into())]);
    let program = Program::connected(&server);
    let served = Served::start(&program, &[]);
    let models = served.ask("GET /v1/models", "", &Value::Null).json();
    let ids: Vec<_> = models["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"dagdeck") && ids.contains(&"agent:writer"), "{ids:?}");
    let mut body = streamed("Greet me, {{inputs.nobody}}");
    body["model"] = json!("agent:writer");
    let mut lines = BufReader::new(served.send(&format!("POST {CHATS}"), "", &body.to_string())).lines().map(Result::unwrap);
    lines.find(|line| line.contains("\"content\":\"Good")).unwrap();
    server.release();
    let rest: Vec<String> = lines.collect();
    assert!(rest.iter().any(|line| line.contains("morning.")) && rest.iter().any(|line| line == "data: [DONE]"), "{rest:?}");
    assert_eq!(rest.iter().filter(|line| line.contains("Good")).count(), 0, "nothing is said twice: {rest:?}");
}

#[test]
fn who_has_no_token_or_the_wrong_role_or_comes_from_another_site_is_refused() {
    let program = with_sources();
    let tokens = program.file("tokens", "owner ada owner-0123456789\nwatcher bob watcher-0123456789\n");
    let refused = program.run(&["serve", "--http", "0.0.0.0:0"]).code(2);
    assert!(refused.err.contains("no token is asked for"), "{}", refused.err);
    std::fs::set_permissions(&tokens, PermissionsExt::from_mode(0o644)).unwrap();
    let refused = program.run(&["serve", "--http", "127.0.0.1:0", "--tokens", &tokens]).code(1);
    assert!(refused.err.contains("chmod 600"), "{}", refused.err);
    std::fs::set_permissions(&tokens, PermissionsExt::from_mode(0o600)).unwrap();

    let served = Served::start(&program, &["--tokens", &tokens]);
    let models = |headers: &str| served.ask("GET /v1/models", headers, &Value::Null);
    assert_eq!((models("").status, models("").code().as_str()), (401, "invalid_api_key"));
    assert_eq!(models("Authorization: Bearer owner-012345678\r\n").status, 401);
    let watcher = "Authorization: Bearer watcher-0123456789\r\n";
    assert_eq!(models(watcher).status, 200);
    let chat = served.ask(&format!("POST {CHATS}"), watcher, &request("list the *.md files"));
    assert!(chat.status == 403 && chat.body.contains("needs the role owner"), "{chat:?}");
    assert_eq!(models(&format!("{watcher}Origin: http://evil.example\r\n")).code(), "origin_refused");

    let open = Served::start(&program, &[]);
    assert_eq!(open.ask("GET /v1/models", "Host: evil.example\r\n", &Value::Null).code(), "host_refused");
}

#[test]
fn what_cant_be_done_is_an_error_in_openais_shape_that_no_client_sends_again() {
    let program = with_sources();
    let served = Served::start(&program, &[]);
    let answer = served.chat(&request("frobnicate the quux of notes.md"));
    assert_eq!((answer.status, answer.code().as_str()), (422, "request_not_understood"), "{answer:?}");
    let mut unknown = request("list the *.md files");
    unknown["model"] = json!("gpt-9");
    assert_eq!((served.chat(&unknown).status, served.chat(&unknown).code().as_str()), (404, "model_not_found"));
    let mut agent = request("hello");
    agent["model"] = json!("agent:writer");
    assert_eq!(served.chat(&agent).code(), "model_required");
    let broken = served.ask(&format!("POST {CHATS}"), "", &json!("no object"));
    assert_eq!(broken.status, 400, "{broken:?}");
    let streamed = served.chat(&streamed("frobnicate the quux of notes.md"));
    assert_eq!(streamed.events().last().unwrap()["error"]["code"], "request_not_understood", "{streamed:?}");
    assert_eq!(served.ask("GET /v1/nothing", "", &Value::Null).code(), "not_found");
    assert_eq!(served.ask("GET /v1/orchestration/none/state", "", &Value::Null).status, 404);
}

#[test]
fn a_chat_beyond_the_limits_is_told_to_come_again() {
    let program = with_sources();
    let served = Served::start(&program, &["--most-runs", "1", "--most-queued", "0"]);
    let first = served.send(&format!("POST {CHATS}"), "", &streamed(WRITE).to_string());
    BufReader::new(&first).lines().map(Result::unwrap).find(|line| line.contains("\"waiting\"")).unwrap();
    let second = served.chat(&request("list the *.md files"));
    assert_eq!((second.status, second.code().as_str()), (429, "too_many_runs"));
    assert!(second.head.contains("retry-after: 5"), "{}", second.head);
}

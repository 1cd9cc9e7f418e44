//! A host behind a socket: what clients see of it, and what bad ones get.

use super::{
    packet::{self, LARGEST_NOTICE, LARGEST_REQUEST},
    server::{CONNECTIONS, SocketServer},
    *,
};
use crate::engine::{Command, Event, GateReply, Outcome, Record};
use crate::host::{
    client::{Client, Connection, Notice, Problem, Request},
    host_tests::{Bed, Seat, copy_plan},
};
use rustix::process::getuid;
use serde_json::{Value, json};
use std::path::PathBuf;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};

/// A host with files to work on, behind a socket.
struct Served {
    bed: Bed,
    socket: PathBuf,
    server: SocketServer,
    serving: JoinHandle<()>,
}

impl Served {
    fn new() -> Self {
        Self::of_user(getuid().as_raw())
    }

    fn of_user(user: u32) -> Self {
        let bed = Bed::new(&[("in.txt", "hello")]);
        let socket = bed.places.home.join("host.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let (server, _) = SocketServer::new(bed.host.clone(), user);
        let serving = tokio::spawn({
            let server = server.clone();
            async move { server.serve(listener).await }
        });
        Self { bed, socket, server, serving }
    }

    fn seat(&self) -> Seat {
        Seat { connection: SocketClient::new(self.socket.clone(), "a test").connect(), run: crate::engine::Run::default(), id: None }
    }

    async fn raw(&self, bytes: &[u8]) -> UnixStream {
        let mut stream = UnixStream::connect(&self.socket).await.unwrap();
        // One that is refused at once may be closed already.
        let _ = stream.write_all(bytes).await;
        stream
    }

    /// Still serves others.
    async fn is_whole(&self) {
        let Ok(HostAnswer::Status(status)) = call(&self.socket, Opening::Status).await else { panic!("no status") };
        assert_eq!((status.protocol, status.process), (PROTOCOL, std::process::id()));
    }

    /// Waits until so many clients are attached.
    async fn attached(&self, count: usize) {
        self.server.clients().wait_for(|clients| clients.len() == count).await.unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(stream: &mut UnixStream) -> HostAnswer {
    serde_json::from_slice(&packet::read(stream, LARGEST_NOTICE).await.unwrap().unwrap()).unwrap()
}

async fn refusal(stream: &mut UnixStream) -> String {
    let HostAnswer::Refused(Problem { message, .. }) = answer(stream).await else { panic!("it was let in") };
    message
}

fn packed(data: &Value) -> Vec<u8> {
    let text = data.to_string();
    [&u32::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat()
}

#[tokio::test]
async fn a_run_goes_on_without_its_client_and_another_one_sees_all_of_it() {
    let served = Served::new();
    let mut first = served.seat();
    first.start(copy_plan());
    let gate = first.gate().await;
    let (run, state) = (first.id.clone().unwrap(), first.run.clone());
    served.attached(1).await;
    drop(first);
    served.attached(0).await;
    assert_eq!(served.bed.host.shared().live().len(), 1, "it waits for its reply");
    let mut second = served.seat();
    second.ask(Request::OpenRun(run));
    assert_eq!(second.gate().await, gate);
    assert_eq!(second.run, state);
    second.decide(&gate, GateReply::Approve);
    assert_eq!(second.end().await, Outcome::Succeeded);
    assert_eq!(served.bed.read("out.txt").as_deref(), Some("copied"));
}

#[tokio::test]
async fn a_client_hears_that_runs_go_on_when_it_leaves() {
    let served = Served::new();
    let hello = served.seat().connection.notices.recv().await;
    assert!(matches!(hello, Some(Notice::Hello(hello)) if hello.runs_go_on));
    let hello = served.bed.host.connect().notices.recv().await;
    assert!(matches!(hello, Some(Notice::Hello(hello)) if !hello.runs_go_on));
}

#[tokio::test]
async fn of_two_replies_at_once_the_first_one_counts_and_both_clients_see_it() {
    let served = Served::new();
    for _ in 0..20 {
        let (mut one, mut other) = (served.seat(), served.seat());
        one.start(copy_plan());
        let gate = one.gate().await;
        other.ask(Request::OpenRun(one.id.clone().unwrap()));
        other.gate().await;
        one.decide(&gate, GateReply::Approve);
        other.decide(&gate, GateReply::Reject { message: "no".into() });
        assert_eq!(one.end().await, other.end().await);
        let records = served.bed.journal(one.id.as_ref().unwrap());
        let replies = |records: &[Record]| records.iter().filter(|record| matches!(record.event, Event::GateDecided { .. })).count();
        assert_eq!(replies(&records), 1);
    }
}

#[tokio::test]
async fn each_bad_client_gets_an_error_and_the_host_stays_whole() {
    let served = Served::new();
    let attach = |protocol: u32| json!({ "protocol": protocol, "program": "9.9.9", "opening": { "Attach": { "from": "here" } } });
    let bad: [(Vec<u8>, &str); 6] = [
        (u32::MAX.to_be_bytes().to_vec(), "larger than"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "larger than"),
        (packed(&json!([1, 2])), "the greeting can't be read"),
        (packed(&json!({ "protocol": 1, "program": "x", "opening": "Dance" })), "the greeting can't be read"),
        (packed(&attach(PROTOCOL + 1)), "dagdeck 9.9.9 can't work with"),
        (b"\0\0\0\x04nope".to_vec(), "the greeting can't be read"),
    ];
    for (bytes, why) in bad {
        let message = refusal(&mut served.raw(&bytes).await).await;
        assert!(message.contains(why), "{message}");
        served.is_whole().await;
    }
    for half in [&b"\0\0"[..], b"\0\0\0\x09half"] {
        let mut stream = served.raw(half).await;
        stream.shutdown().await.unwrap();
        assert!(refusal(&mut stream).await.contains("in the middle"));
        served.is_whole().await;
    }
    served.raw(b"").await.shutdown().await.unwrap();
    served.is_whole().await;
}

#[tokio::test]
async fn a_request_that_can_not_be_read_is_answered_and_the_next_one_is_taken() {
    let served = Served::new();
    let mut stream = served.raw(&packed(&serde_json::to_value(Greeting::new(Opening::Attach { from: "here".into() })).unwrap())).await;
    assert_eq!(answer(&mut stream).await, HostAnswer::Attached);
    stream.write_all(&packed(&json!({ "Dance": 1 }))).await.unwrap();
    stream.write_all(&packed(&json!("ListRuns"))).await.unwrap();
    let mut problems = Vec::new();
    loop {
        match serde_json::from_slice(&packet::read(&mut stream, LARGEST_NOTICE).await.unwrap().unwrap()).unwrap() {
            Notice::Problem(problem) => problems.push(problem.message),
            Notice::Runs(_) => break,
            _ => {}
        }
    }
    assert!(problems.len() == 1 && problems[0].contains("can't read what was asked"), "{problems:?}");
    stream.write_all(&(LARGEST_REQUEST + 1).to_be_bytes()).await.unwrap();
    let mut last = None;
    while let Some(bytes) = packet::read(&mut stream, LARGEST_NOTICE).await.unwrap() {
        last = serde_json::from_slice(&bytes).ok();
    }
    assert!(matches!(&last, Some(Notice::Problem(problem)) if problem.message.contains("larger than")), "{last:?}");
    served.is_whole().await;
}

#[tokio::test]
async fn another_user_is_refused_before_anything_is_read() {
    let served = Served::of_user(getuid().as_raw() + 1);
    for opening in [Opening::Status, Opening::Stop, Opening::Attach { from: "there".into() }] {
        let answer = call(&served.socket, opening).await.unwrap();
        assert_eq!(answer, HostAnswer::Refused(Problem::new("the host belongs to another user")));
    }
    let Connection { mut notices, .. } = SocketClient::new(served.socket.clone(), "there").connect();
    assert!(matches!(notices.recv().await, Some(Notice::Problem(problem)) if problem.message.contains("another user")));
    assert_eq!(notices.recv().await, None);
}

#[tokio::test]
async fn connections_beyond_the_limit_are_refused_and_taken_again_when_others_end() {
    let served = Served::new();
    let mut held = Vec::new();
    for _ in 0..CONNECTIONS {
        let greeting = serde_json::to_value(Greeting::new(Opening::Attach { from: "here".into() })).unwrap();
        let mut stream = served.raw(&packed(&greeting)).await;
        assert_eq!(answer(&mut stream).await, HostAnswer::Attached);
        held.push(stream);
    }
    for _ in 0..20 {
        let answer = call(&served.socket, Opening::Status).await.unwrap();
        assert!(matches!(answer, HostAnswer::Refused(problem) if problem.message.contains("connections already")));
    }
    held.clear();
    served.attached(0).await;
    served.is_whole().await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_holds_nobody_up() {
    let served = Served::new();
    let greeting = serde_json::to_value(Greeting::new(Opening::Attach { from: "here".into() })).unwrap();
    let mut silent = served.raw(&packed(&greeting)).await;
    let mut seat = served.seat();
    seat.start(copy_plan());
    let gate = seat.gate().await;
    // More than a socket holds.
    for _ in 0..500 {
        let open = json!({ "OpenRun": seat.id });
        silent.write_all(&packed(&open)).await.unwrap();
    }
    seat.decide(&gate, GateReply::Approve);
    assert_eq!(seat.end().await, Outcome::Succeeded);
    let mut some = [0; 8];
    silent.read_exact(&mut some).await.unwrap();
    drop(silent);
    drop(seat);
    served.attached(0).await;
    served.is_whole().await;
}

#[tokio::test]
async fn without_a_host_a_client_is_told_so() {
    let nowhere = PathBuf::from("/nowhere/host.sock");
    assert!(matches!(call(&nowhere, Opening::Status).await, Err(CallError::Absent)));
    let mut connection = SocketClient::new(nowhere, "here").connect();
    assert!(matches!(connection.notices.recv().await, Some(Notice::Problem(problem)) if problem.message == "no host runs"));
    assert_eq!(connection.notices.recv().await, None);
}

#[test]
fn what_crosses_is_the_same_on_the_other_side() {
    let requests = [
        Request::ListRuns,
        Request::Command { run: crate::engine::RunId("r".into()), command: Command::Undo },
        Request::Start {
            plan: Box::new(copy_plan()),
            inputs: serde_json::from_value(json!({ "n": null, "big": 12_345_678_901_234_567_890_u64 })).unwrap(),
            first: vec![crate::engine::Action::Pause],
            model: None,
            planning: Vec::new(),
        },
    ];
    for request in requests {
        let bytes = serde_json::to_vec(&request).unwrap();
        assert_eq!(serde_json::from_slice::<Request>(&bytes).unwrap(), request);
    }
}

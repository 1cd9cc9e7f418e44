//! An agent at work driven by a person, through the real host against a server of chat completions: stepped through, guided, stopped.

use super::support::chat::{ChatServer, Reply};
use dagdeck::engine::Mark;
use dagdeck::{
    engine::{Action, ActionTarget, Command, Event, MessageRole, NextCall, NodeFact, NodeRun, Run, RunId},
    host::{
        Folders, LocalHost,
        client::{Client, Connection, Notice, Request},
        config::Config,
    },
    plan::{NodeId, Plan},
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A run of one agent, seen as a client sees it.
struct Seat {
    folder: TempDir,
    host: LocalHost,
    connection: Connection,
    run: Run,
    id: Option<RunId>,
    events: Vec<Event>,
}

impl Seat {
    fn start(server: &ChatServer, node: Value) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = Folders { workspace: root.join("work"), settings: root.join("work"), home: root.join("home"), config: None };
        std::fs::create_dir_all(&places.workspace).unwrap();
        std::fs::write(places.workspace.join("notes.md"), "- buy a kayak\n").unwrap();
        let url = server.url.clone();
        let env = move |name: &str| match name {
            "OPENAI_BASE_URL" => Some(url.clone()),
            "OPENAI_API_KEY" => Some("sk-test".to_string()),
            _ => None,
        };
        let host = LocalHost::open(places, Config::default(), Some("test-model"), env).unwrap();
        let connection = host.connect();
        let plan: Plan = serde_json::from_value(json!({ "goal": "test", "nodes": [node] })).unwrap();
        connection
            .requests
            .send(Request::Start { plan: Box::new(plan), inputs: Map::new(), first: Vec::new(), model: None, planning: Vec::new() })
            .unwrap();
        Self { folder, host, connection, run: Run::default(), id: None, events: Vec::new() }
    }

    async fn until(&mut self, reached: impl Fn(&Run) -> bool) {
        while !reached(&self.run) {
            assert!(self.run.outcome().is_none(), "it is over before: {:?}", self.events.last());
            let notice = self.connection.notices.recv().await.unwrap();
            let (Notice::RunOpened { run: id, records, .. } | Notice::Events { run: id, records }) = notice else { continue };
            records.iter().for_each(|record| self.run.evolve(record));
            self.events.extend(records.into_iter().map(|record| record.event));
            self.id = Some(id);
        }
    }

    fn act(&self, verb: Action) {
        self.connection.requests.send(Request::Command { run: self.id.clone().unwrap(), command: Command::act(verb) }).unwrap();
    }

    /// Waits until a call other than these is held, and gives it.
    async fn held(&mut self, seen: &mut Vec<String>) -> NextCall {
        let known = seen.clone();
        let id = answer();
        self.until(|run| run.held_calls(&id).any(|held| !known.contains(&held.call))).await;
        let held = self.run.held_calls(&answer()).next().unwrap();
        seen.push(held.call.clone());
        held.next.clone()
    }

    async fn end(mut self) -> (NodeRun, Vec<Event>, TempDir) {
        self.until(|run| run.outcome().is_some()).await;
        self.host.shutdown().await;
        (self.run.node(&answer()).unwrap().clone(), self.events, self.folder)
    }
}

fn answer() -> NodeId {
    NodeId::new("answer")
}

fn calls(tool: &str, arguments: Value) -> Reply {
    Reply::Calls(vec![(tool.into(), arguments)])
}

#[tokio::test]
async fn an_agent_is_stepped_through_call_by_call_and_hears_what_it_is_told_on_the_way() {
    let server = ChatServer::start(vec![calls("read_file", json!({"path": "notes.md"})), Reply::Text("A kayak is due.".into())]);
    let node = json!({"id": "answer", "agent": "writer", "objective": "Sum up notes.md", "breakpoint": true});
    let mut seat = Seat::start(&server, node);
    seat.until(|run| run.kept(&answer()).is_some()).await;
    seat.act(Action::StepInto { node: answer() });
    let mut seen = Vec::new();
    assert_eq!(seat.held(&mut seen).await, NextCall::Model { model: "test-model".into() });
    assert!(server.asked().is_empty(), "nothing is asked before it is let go");
    seat.act(Action::Step { node: Some(answer()) });
    let NextCall::Tool { tool, args, .. } = seat.held(&mut seen).await else { panic!("a tool is next") };
    assert_eq!((tool.as_str(), args), ("read_file", json!({"path": "notes.md"})));
    seat.act(Action::Guide { node: answer(), text: "one line only".into() });
    seat.act(Action::Step { node: Some(answer()) });
    assert!(matches!(seat.held(&mut seen).await, NextCall::Model { .. }));
    assert_eq!(server.asked().len(), 1);
    seat.act(Action::Release { target: ActionTarget::Node(answer()) });
    let (node, events, _folder) = seat.end().await;
    assert_eq!(node.result.as_deref(), Some(&json!("A kayak is due.")));
    let [first, second] = server.requests().try_into().unwrap();
    let last = |request: &Value| request["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(!first.to_string().contains("one line only"));
    assert_eq!(
        (last(&second)["role"].as_str(), last(&second)["content"].as_str().unwrap().lines().last()),
        (Some("user"), Some("one line only"))
    );
    let told = |event: &Event| matches!(event, Event::Node { fact: NodeFact::Message { role, content }, .. } if *role == MessageRole::User && content.contains("one line only"));
    assert_eq!(events.iter().filter(|event| told(event)).count(), 1, "what it was told is on record");
}

#[tokio::test]
async fn a_stopped_agent_hands_back_what_it_has_and_what_it_waited_for_never_happens() {
    let write = calls("write_file", json!({"path": "out.txt", "content": "x"}));
    let server = ChatServer::start(vec![write, Reply::Text("As far as I came.".into())]);
    let mut seat =
        Seat::start(&server, json!({"id": "answer", "agent": "code_executor", "objective": "Write it.", "tools": ["write_file"]}));
    seat.until(|run| run.open_gates().next().is_some()).await;
    seat.act(Action::Stop { target: ActionTarget::Node(answer()) });
    let (node, _, folder) = seat.end().await;
    assert_eq!((node.result.as_deref(), node.mark.as_ref().map(Mark::as_str)), (Some(&json!("As far as I came.")), Some("stopped")));
    let [first, second] = server.requests().try_into().unwrap();
    assert!(first["tools"].is_array() && second.get("tools").is_none_or(|tools| *tools == json!([])), "the last turn has no tools");
    assert!(second.to_string().contains("the operator stopped the node"));
    assert!(!folder.path().join("work/out.txt").exists());
}

#[tokio::test]
async fn an_agent_that_is_sent_back_sees_its_own_rejected_result_beside_the_feedback() {
    let server = ChatServer::start(vec![Reply::Text("A report of many pages.".into()), Reply::Text("One line.".into())]);
    let mut seat = Seat::start(&server, json!({"id": "answer", "agent": "writer", "objective": "Report.", "approve": "after"}));
    seat.until(|run| run.open_gates().next().is_some()).await;
    seat.act(Action::Rewind { node: answer(), to: answer(), feedback: "too long".into() });
    seat.until(|run| run.open_gates().any(|gate| gate.generation == 2)).await;
    let again = server.requests().pop().unwrap()["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let again = again.as_str().unwrap();
    assert!(again.contains("was rejected: too long"), "{again}");
    assert!(again.ends_with("Your own earlier result, which was rejected:\nA report of many pages."), "{again}");
    seat.host.shutdown().await;
}

#[tokio::test]
async fn the_model_call_of_a_tool_is_held_and_counted_like_any_other() {
    let server = ChatServer::start(vec![Reply::Text("Short.".into())]);
    let node = json!({"id": "answer", "tool": "summarize", "args": {"text": "a long story"}, "breakpoint": "call"});
    let mut seat = Seat::start(&server, node);
    let mut seen = Vec::new();
    assert!(matches!(seat.held(&mut seen).await, NextCall::Tool { tool, .. } if tool == "summarize"));
    seat.act(Action::Release { target: ActionTarget::Node(answer()) });
    assert_eq!(seat.held(&mut seen).await, NextCall::Model { model: "test-model".into() });
    assert!(server.asked().is_empty());
    seat.act(Action::Resume);
    let (node, _, _folder) = seat.end().await;
    assert_eq!(
        (node.result.as_deref(), node.lineage.spent.model_calls, node.lineage.spent.tokens.total()),
        (Some(&json!("Short.")), 1, 18)
    );
}

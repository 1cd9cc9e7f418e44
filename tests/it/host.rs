//! A host with the real binary as its sandbox: code nodes between real tools, and what the doctor finds.

use dagdeck::{
    engine::{Action, ActionTarget, Command, Event, GateReply, NodeState, Outcome, Run, RunId},
    host::{
        Flags, Folders, Headless, HeadlessEnd, Health, LocalHost, Yes,
        client::{Client, Connection, Notice, Request},
        config::Config,
        examine,
    },
    plan::{NodeId, Plan},
    store::Store,
};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

struct HostBed {
    _folder: TempDir,
    places: Folders,
    config: Config,
}

impl HostBed {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = Folders { workspace: root.join("work"), settings: root.join("work"), home: root.join("home"), config: None };
        std::fs::create_dir_all(&places.workspace).unwrap();
        for (path, text) in files {
            std::fs::write(places.workspace.join(path), text).unwrap();
        }
        let mut config = Config::default();
        config.tools.sandbox.program = Some(PathBuf::from(env!("CARGO_BIN_EXE_dagdeck")));
        Self { _folder: folder, places, config }
    }

    fn host(&self) -> LocalHost {
        LocalHost::open(self.places.clone(), self.config.clone(), None, |_: &str| None).unwrap()
    }

    async fn run(&self, nodes: Value, yes: Yes) -> Headless {
        let (host, plan) = (self.host(), plan(nodes));
        let flags = Flags { yes, ..Flags::default() };
        host.run_headless(
            dagdeck::host::NewRun { plan, ..Default::default() },
            &flags,
            &mut tokio::sync::mpsc::unbounded_channel().1,
            &mut |_| {},
        )
        .await
        .unwrap()
    }
}

fn plan(nodes: Value) -> Plan {
    serde_json::from_value(json!({ "goal": "test", "nodes": nodes })).unwrap()
}

#[tokio::test]
async fn code_works_on_what_a_tool_read_and_another_tool_writes_it() {
    let bed = HostBed::new(&[("numbers.json", "[3, 1, 2]")]);
    let end = bed
        .run(
            json!([
                { "id": "read", "tool": "read_file", "args": { "path": "numbers.json" } },
                { "id": "sum", "depends_on": ["read"],
                  "code": "console.log('adding'); const text = deps.read.output.content ?? deps.read.output; return String(text).match(/\\d/g).length" },
                { "id": "write", "tool": "write_file", "depends_on": ["sum"],
                  "args": { "path": "count.txt", "content": "{{sum}} numbers" } },
            ]),
            Yes::Given,
        )
        .await;
    assert!(matches!(end.end, HeadlessEnd::Ended { outcome: Outcome::Succeeded, .. }), "{:?}", end.end);
    assert!(std::fs::read_to_string(bed.places.workspace.join("count.txt")).unwrap().ends_with(" numbers"));
    let records = Store::open(&bed.places.home).unwrap().records(&end.run).unwrap();
    assert_eq!(Run::replay(&records), end.state);
}

#[tokio::test]
async fn code_that_throws_fails_its_node_with_its_words() {
    let end = HostBed::new(&[]).run(json!([{ "id": "bad", "code": "throw new Error('boom')" }]), Yes::Absent).await;
    assert!(matches!(end.end, HeadlessEnd::Ended { outcome: Outcome::Failed, .. }));
    let node = end.state.node(&NodeId::new("bad")).unwrap();
    assert!(node.error.as_ref().unwrap().message.contains("boom"));
    assert_eq!(node.attempt, 1, "code that fails is not run again");
}

#[tokio::test]
async fn the_doctor_finds_a_fresh_machine_in_order_and_says_how_to_connect_a_model() {
    let bed = HostBed::new(&[]);
    let checks = examine(&bed.places, None, &|_| None).await;
    let check = |name: &str| checks.iter().find(|check| check.name == name).unwrap();
    for name in ["workspace", "configuration", "journal", "agents"] {
        assert_eq!(check(name).health, Health::Fine, "{:?}", check(name));
    }
    assert_eq!(check("model").health, Health::Absent);
    assert!(check("model").remedy.as_ref().unwrap().contains("OPENAI_API_KEY"));
}

#[tokio::test]
async fn the_doctor_names_a_broken_configuration_and_goes_on() {
    let bed = HostBed::new(&[]);
    std::fs::create_dir_all(bed.places.workspace.join(".dagdeck")).unwrap();
    std::fs::write(bed.places.workspace.join(".dagdeck/config.toml"), "[limits]\nslots = true\n").unwrap();
    let checks = examine(&bed.places, None, &|_| None).await;
    let broken: Vec<_> = checks.iter().filter(|check| check.health == Health::Broken && check.name != "sandbox").collect();
    assert_eq!(broken.len(), 1);
    assert!(broken[0].found.contains("config.toml:2: `slots`"), "{}", broken[0].found);
}

/// Takes notices in until the run's state has what this asks for.
async fn until(connection: &mut Connection, run: &mut Run, reached: impl Fn(&Run, &[Event]) -> bool) -> RunId {
    loop {
        let notice = connection.notices.recv().await.unwrap();
        let (Notice::RunOpened { run: id, records, .. } | Notice::Events { run: id, records }) = notice else { continue };
        records.iter().for_each(|record| run.evolve(record));
        let events: Vec<Event> = records.into_iter().map(|record| record.event).collect();
        if reached(run, &events) {
            return id;
        }
    }
}

/// Reads a file of the workspace as soon as the command has written it.
async fn written(path: &std::path::Path) -> String {
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => tokio::task::yield_now().await,
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn cancelling_a_node_kills_the_command_that_it_runs() {
    let bed = HostBed::new(&[]);
    let host = bed.host();
    let mut connection = host.connect();
    let nodes = json!([
        { "id": "long", "tool": "run_command", "args": { "command": "echo $$ > pid.txt; exec sleep 600" } },
        { "id": "clock", "tool": "current_time", "args": {} },
    ]);
    let mut run = Run::default();
    connection
        .requests
        .send(Request::Start { plan: Box::new(plan(nodes)), inputs: Map::new(), first: Vec::new(), model: None, planning: Vec::new() })
        .unwrap();
    let id = until(&mut connection, &mut run, |run, _| run.open_gates().next().is_some()).await;
    let gate = run.open_gates().next().unwrap().clone();
    let ask = |command: Command| connection.requests.send(Request::Command { run: id.clone(), command }).unwrap();
    ask(Command::decide(gate.id, GateReply::Approve, gate.hash));
    let pid = written(&bed.places.workspace.join("pid.txt")).await;
    let process = PathBuf::from("/proc").join(pid.trim());
    assert!(process.exists());
    ask(Command::act(Action::Cancel { target: ActionTarget::Node(NodeId::new("long")) }));
    until(&mut connection, &mut run, |run, _| run.outcome().is_some()).await;
    host.shutdown().await;
    assert_eq!(run.node(&NodeId::new("long")).unwrap().state, NodeState::Cancelled);
    assert_eq!(run.node(&NodeId::new("clock")).unwrap().state, NodeState::Succeeded);
    while process.exists() {
        tokio::task::yield_now().await;
    }
}

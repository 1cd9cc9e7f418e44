//! A host with the real binary as its sandbox: code nodes between real tools, and what the doctor finds.

use dagdeck::{
    engine::{Outcome, Run},
    host::{Flags, Headless, HeadlessEnd, Health, LocalHost, Places, Yes, config::Config, examine},
    plan::{NodeId, Plan},
    store::Store,
};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct Bed {
    _folder: TempDir,
    places: Places,
    config: Config,
}

impl Bed {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = Places { workspace: root.join("work"), home: root.join("home"), config: None };
        std::fs::create_dir_all(&places.workspace).unwrap();
        for (path, text) in files {
            std::fs::write(places.workspace.join(path), text).unwrap();
        }
        let mut config = Config::default();
        config.tools.sandbox.program = Some(PathBuf::from(env!("CARGO_BIN_EXE_dagdeck")));
        Self { _folder: folder, places, config }
    }

    async fn run(&self, nodes: Value, yes: Yes) -> Headless {
        let host = LocalHost::open(self.places.clone(), self.config.clone(), None, &|_| None).unwrap();
        let plan: Plan = serde_json::from_value(json!({ "goal": "test", "nodes": nodes })).unwrap();
        let flags = Flags { yes, ..Flags::default() };
        host.run_headless(plan, Map::new(), &flags, &CancellationToken::new(), &mut |_| {}).await.unwrap()
    }
}

#[tokio::test]
async fn code_works_on_what_a_tool_read_and_another_tool_writes_it() {
    let bed = Bed::new(&[("numbers.json", "[3, 1, 2]")]);
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
    assert!(matches!(end.end, HeadlessEnd::Settled { outcome: Outcome::Succeeded, .. }), "{:?}", end.end);
    assert!(std::fs::read_to_string(bed.places.workspace.join("count.txt")).unwrap().ends_with(" numbers"));
    let records = Store::open(&bed.places.home).unwrap().records(&end.run).unwrap();
    assert_eq!(Run::replay(&records), end.state);
}

#[tokio::test]
async fn code_that_throws_fails_its_node_with_its_words() {
    let end = Bed::new(&[]).run(json!([{ "id": "bad", "code": "throw new Error('boom')" }]), Yes::Absent).await;
    assert!(matches!(end.end, HeadlessEnd::Settled { outcome: Outcome::Failed, .. }));
    let node = end.state.node(&NodeId::new("bad")).unwrap();
    assert!(node.error.as_ref().unwrap().message.contains("boom"));
    assert_eq!(node.attempt, 1, "code that fails is not run again");
}

#[tokio::test]
async fn the_doctor_finds_a_fresh_machine_in_order_and_says_how_to_connect_a_model() {
    let bed = Bed::new(&[]);
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
    let bed = Bed::new(&[]);
    std::fs::create_dir_all(bed.places.workspace.join(".dagdeck")).unwrap();
    std::fs::write(bed.places.workspace.join(".dagdeck/config.toml"), "[limits]\nslots = true\n").unwrap();
    let checks = examine(&bed.places, None, &|_| None).await;
    let broken: Vec<_> = checks.iter().filter(|check| check.health == Health::Broken && check.name != "sandbox").collect();
    assert_eq!(broken.len(), 1);
    assert!(broken[0].found.contains("config.toml:2: `slots`"), "{}", broken[0].found);
}

//! Requests from their words to their effect, without a model: the built-in planner, real tools, rehearsed agents.

use dagdeck::{
    engine::Outcome,
    host::{Flags, Headless, HeadlessEnd, LocalHost, Places, Yes, config::Config},
    plan::{Node, NodeId},
    planner::PlanSink,
};
use serde_json::{Map, Value, json};
use std::{fs, path::PathBuf};
use tempfile::TempDir;

const DEMO: &str = "List the Rust files under src, count their lines, and write the ten longest to longest.md";

struct Quiet;

impl PlanSink for Quiet {
    fn progress(&mut self, _text: &str) {}
    fn node(&mut self, _node: Node) {}
}

struct Bed {
    _folder: TempDir,
    places: Places,
}

impl Bed {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = Places { workspace: root.join("work"), settings: root.join("work"), home: root.join("home"), config: None };
        fs::create_dir_all(&places.workspace).unwrap();
        for (path, text) in files {
            let path = places.workspace.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { _folder: folder, places }
    }

    async fn ask(&self, request: &str, yes: Yes) -> Headless {
        let mut config = Config::default();
        config.tools.sandbox.program = Some(PathBuf::from(env!("CARGO_BIN_EXE_dagdeck")));
        let host = LocalHost::open(self.places.clone(), config, None, &|_| None).unwrap();
        let planned = host.plan(request, &Map::new(), &mut Quiet).await.unwrap();
        let flags = Flags { yes, ..Flags::default() };
        host.run_headless(
            dagdeck::host::NewRun { plan: planned.plan, ..Default::default() },
            &flags,
            &mut tokio::sync::mpsc::unbounded_channel().1,
            &mut |_| {},
        )
        .await
        .unwrap()
    }

    /// Asks with every gate approved; the run has to succeed.
    async fn done(&self, request: &str) -> Headless {
        self.ended(request, Outcome::Succeeded).await
    }

    async fn rehearsed(&self, request: &str) -> Headless {
        self.ended(request, Outcome::Rehearsed).await
    }

    async fn ended(&self, request: &str, wanted: Outcome) -> Headless {
        let end = self.ask(request, Yes::Given).await;
        let failed: Vec<_> = end.state.nodes().filter_map(|(id, node)| Some((id.clone(), node.error.clone()?.message))).collect();
        assert!(matches!(end.end, HeadlessEnd::Settled { outcome, .. } if outcome == wanted), "{request}: {:?} {failed:?}", end.end);
        end
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.places.workspace.join(path)).ok()
    }
}

fn result(end: &Headless, node: &str) -> Value {
    end.state.node(&NodeId::new(node)).and_then(|node| node.result.as_deref().cloned()).unwrap_or_default()
}

fn sources() -> Bed {
    let files: Vec<(String, String)> = (1..=12).map(|n| (format!("src/deep/f{n}.rs"), "x\n".repeat(n))).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("src/notes.txt", "long\nlong\nlong\n"));
    Bed::new(&files)
}

#[tokio::test]
async fn the_first_request_lists_counts_and_writes_the_ten_longest() {
    let bed = sources();
    bed.done(DEMO).await;
    let report = bed.read("longest.md").unwrap();
    assert!(report.contains("| 1 | `src/deep/f12.rs` | 12 | 24 |"), "{report}");
    assert!(report.contains("| 10 | `src/deep/f3.rs` | 3 | 6 |") && !report.contains("f2.rs") && !report.contains("notes.txt"), "{report}");
}

#[tokio::test]
async fn the_first_request_writes_nothing_before_somebody_approves() {
    let bed = sources();
    let end = bed.ask(DEMO, Yes::Absent).await;
    let HeadlessEnd::Parked(gates) = &end.end else { panic!("{:?}", end.end) };
    assert_eq!(gates.len(), 1);
    assert_eq!(gates[0].node.as_str(), "write_report");
    let gate = end.state.open_gates().next().unwrap();
    assert!(gate.payload.to_string().contains("src/deep/f12.rs"), "the exact content is there to be seen: {}", gate.payload);
    assert_eq!(bed.read("longest.md"), None);
}

#[tokio::test]
async fn requests_about_data_and_text_are_done_by_real_tools() {
    let bed = Bed::new(&[
        ("sales.csv", "name,price\nA,1.5\nB,2.5\n"),
        ("app.log", "INFO up\nERROR timeout after 31 ms\nERROR timeout after 7 ms\n"),
        ("package.json", r#"{"dependencies":{"react":"19.0.0"}}"#),
        ("a.txt", "one\ntwo\n"),
        ("b.txt", "one\n2\n"),
        ("src/x.rs", "// TODO: mend\nfn main() {}\n"),
    ]);
    assert!(result(&bed.done("Compute statistics for sales.csv").await, "report").as_str().unwrap().contains("| price | 2 |"));
    assert!(result(&bed.done("Summarize the errors in app.log").await, "report").as_str().unwrap().contains("2 × "));
    assert_eq!(result(&bed.done("Get the field \"dependencies.react\" from package.json").await, "query"), "19.0.0");
    assert!(result(&bed.done("Compare a.txt and b.txt").await, "report").as_str().unwrap().contains("-     2  two"));
    assert!(result(&bed.done("list the TODO comments in src").await, "report").as_str().unwrap().contains("TODO: mend"));
    assert!(result(&bed.done("Show the directory tree of src").await, "draw_tree").as_str().unwrap().contains("└── x.rs"));
    assert!(result(&bed.done("Which files mention main?").await, "report").as_str().unwrap().contains("## src/x.rs"));
    assert!(result(&bed.done("How many lines of code are in this project?").await, "report").as_str().unwrap().contains("| .rs | 1 | 2 |"));
    assert!(result(&bed.done("Calculate (3 + 4) * 12.5").await, "calculate").to_string().contains("87.5"));
    assert!(result(&bed.done("What is 15% of 240?").await, "calculate").to_string().contains("36"));
    assert!(result(&bed.done("Count the words in a.txt").await, "report").as_str().unwrap().contains("2 words"));
}

#[tokio::test]
async fn requests_that_write_do_so_once_approved() {
    let bed = Bed::new(&[("people.csv", "name,age\nAnn,31\n"), ("notes.txt", "foo and foo\n")]);
    bed.done("Convert people.csv to JSON and save it as people.json").await;
    assert_eq!(serde_json::from_str::<Value>(&bed.read("people.json").unwrap()).unwrap(), json!([{ "name": "Ann", "age": 31 }]));
    bed.done("In notes.txt change every foo to bar").await;
    assert_eq!(bed.read("notes.txt").unwrap(), "bar and bar\n");
}

#[tokio::test]
async fn requests_for_agents_are_rehearsed_and_say_so() {
    let bed = Bed::new(&[("README.md", "# Hello\n")]);
    let end = bed.rehearsed("Read README.md and write a summary of it to summary.md").await;
    assert_eq!(end.state.node(&NodeId::new("summarize")).unwrap().state.word(), "rehearsed");
    assert_eq!(bed.read("summary.md"), None, "a rehearsed text is never written into a file");
    let end = bed.rehearsed("Research flights, hotels and restaurants in Rome").await;
    assert!(result(&end, "answer").as_str().unwrap().starts_with("[rehearsed]"));
}

#[tokio::test]
async fn a_failed_command_is_explained_and_a_good_one_is_not() {
    let bed = Bed::new(&[]);
    let end = bed.rehearsed("run `false` and explain why it fails").await;
    assert_eq!(result(&end, "verdict")["exit_code"], 1);
    assert!(result(&end, "explain").as_str().unwrap().starts_with("[rehearsed]"));
    let end = bed.done("run `true` and explain errors").await;
    assert_eq!(result(&end, "verdict")["passed"], true);
    assert_eq!(end.state.node(&NodeId::new("explain")).unwrap().state.word(), "skipped");
}

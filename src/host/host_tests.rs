//! The whole host in one process: a temporary home and workspace, real tools, the client protocol, flags.

use super::{
    client::{Client, Connection, Driver, Notice, Problem, Request},
    config::Config,
    *,
};
use crate::engine::{Action, ActionTarget, Command, Event, Gate, GateReply, NodeFact, NodeState, Outcome, Record, Run, RunId};
use crate::plan::{NodeId, Plan};
use crate::store::Store;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

pub(super) struct Bed {
    pub(super) _folder: TempDir,
    pub(super) places: Folders,
    pub(super) host: LocalHost,
}

impl Bed {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = Folders { workspace: root.join("work"), settings: root.join("work"), home: root.join("home"), config: None };
        std::fs::create_dir_all(&places.workspace).unwrap();
        for (path, text) in files {
            std::fs::write(places.workspace.join(path), text).unwrap();
        }
        let host = LocalHost::open(places.clone(), Config::default(), None, |_: &str| None).unwrap();
        Self { _folder: folder, places, host }
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.places.workspace.join(file)
    }

    pub(super) fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.path(file)).ok()
    }

    pub(super) async fn headless(&self, plan: Plan, flags: Flags) -> Headless {
        let mut kept = Vec::new();
        let sink = &mut |record: &Record| kept.push(record.clone());
        let end = self.host.run_headless(NewRun { plan, ..NewRun::default() }, &flags, &mut nobody(), sink).await.unwrap();
        assert_eq!(kept, self.journal(&end.run));
        assert_eq!(Run::replay(&kept), end.state);
        end
    }

    /// What a process that opens the journal anew reads.
    pub(super) fn journal(&self, run: &RunId) -> Vec<Record> {
        Store::open(&self.places.home).unwrap().records(run).unwrap()
    }
}

pub(super) fn plan(nodes: Value) -> Plan {
    serde_json::from_value(json!({ "goal": "test", "nodes": nodes })).unwrap()
}

pub(super) fn copy_plan() -> Plan {
    plan(json!([
        { "id": "read", "tool": "read_file", "args": { "path": "in.txt" } },
        { "id": "write", "tool": "write_file", "args": { "path": "out.txt", "content": "copied" }, "depends_on": ["read"] },
    ]))
}

pub(super) fn flags(approve: &[&str], deny: &[&str], yes: Yes) -> Flags {
    let own = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    Flags { yes, approve: own(approve), deny: own(deny), ..Flags::default() }
}

pub(super) fn settled(end: &Headless) -> Option<Outcome> {
    match &end.end {
        HeadlessEnd::Ended { outcome, .. } => Some(*outcome),
        HeadlessEnd::Parked(_) | HeadlessEnd::Stopped(_) | HeadlessEnd::Frozen(_) => None,
    }
}

pub(super) fn state(run: &Run, node: &str) -> NodeState {
    run.node(&NodeId::new(node)).unwrap().state
}

/// No signal ever comes.
pub(super) fn nobody() -> RunSignals {
    tokio::sync::mpsc::unbounded_channel().1
}

/// A client that folds what it is told.
pub(super) struct Seat {
    pub(super) connection: Connection,
    pub(super) run: Run,
    pub(super) id: Option<RunId>,
}

impl Seat {
    pub(super) fn take(bed: &Bed) -> Self {
        Self { connection: bed.host.connect(), run: Run::default(), id: None }
    }

    pub(super) fn ask(&self, request: Request) {
        self.connection.requests.send(request).unwrap();
    }

    pub(super) fn start(&self, plan: Plan) {
        self.ask(Request::Start { plan: Box::new(plan), inputs: Map::new(), first: Vec::new(), model: None, planning: Vec::new() });
    }

    pub(super) fn decide(&self, gate: &Gate, decision: GateReply) {
        self.command(Command::decide(gate.id, decision, gate.hash.clone()));
    }

    pub(super) fn command(&self, command: Command) {
        self.ask(Request::Command { run: self.id.clone().unwrap(), command });
    }

    /// Takes notices in until this picks something.
    pub(super) async fn until<T>(&mut self, pick: impl Fn(&Run, &Notice) -> Option<T>) -> T {
        loop {
            let notice = self.connection.notices.recv().await.expect("the host is there");
            if let Notice::RunOpened { run, records, .. } | Notice::Events { run, records } = &notice
                && self.id.as_ref().is_none_or(|id| id == run)
            {
                self.id = Some(run.clone());
                records.iter().for_each(|record| self.run.evolve(record));
            }
            if let Some(found) = pick(&self.run, &notice) {
                return found;
            }
        }
    }

    pub(super) async fn gate(&mut self) -> Gate {
        self.until(|run, _| run.open_gates().next().cloned()).await
    }

    pub(super) async fn end(&mut self) -> Outcome {
        self.until(|run, _| run.outcome().map(|(outcome, _)| outcome)).await
    }

    pub(super) async fn problem(&mut self) -> Problem {
        self.until(|_, notice| if let Notice::Problem(problem) = notice { Some(problem.clone()) } else { None }).await
    }
}

#[tokio::test]
async fn a_client_is_greeted_with_the_catalog_and_how_to_connect_a_model() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    let Some(Notice::Hello(hello)) = seat.connection.notices.recv().await else { panic!("no hello") };
    assert_eq!(hello.workspace, bed.places.workspace.display().to_string());
    assert!(matches!(hello.model, client::ModelStatus::Absent { how } if how.contains("OPENAI_API_KEY")));
    let Some(Notice::Catalog { catalog, .. }) = seat.connection.notices.recv().await else { panic!("no catalog") };
    assert!(catalog.tools.iter().any(|tool| tool.name == "write_file"));
    assert!(!catalog.agents.is_empty());
}

#[tokio::test]
async fn several_runs_go_on_at_once_and_end_apart() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let mut seats: Vec<Seat> = (0..3).map(|_| Seat::take(&bed)).collect();
    let target = |n: usize| format!("out-{n}.txt");
    for (n, seat) in seats.iter().enumerate() {
        let write = json!({ "id": "write", "tool": "write_file", "args": { "path": target(n), "content": target(n) } });
        seat.start(plan(json!([write])));
    }
    let mut gates = Vec::new();
    for seat in &mut seats {
        gates.push(seat.gate().await);
    }
    assert_eq!(bed.host.shared().live().len(), 3);
    for n in [2, 0, 1] {
        seats[n].decide(&gates[n], GateReply::Approve);
        assert_eq!(seats[n].end().await, Outcome::Succeeded);
        assert_eq!(bed.read(&target(n)), Some(target(n)));
    }
    let runs = bed.host.shared().runs().unwrap();
    assert_eq!(runs.len(), 3);
    assert!(runs.iter().all(|run| run.outcome == Some(Outcome::Succeeded)));
}

#[tokio::test]
async fn a_command_to_a_run_that_has_ended_is_told_why_it_does_nothing() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    seat.start(plan(json!([{ "id": "clock", "tool": "current_time", "args": {} }])));
    assert_eq!(seat.end().await, Outcome::Succeeded);
    while bed.host.shared().session(seat.id.as_ref().unwrap()).is_some() {
        tokio::task::yield_now().await;
    }
    seat.command(Command::act(Action::Cancel { target: ActionTarget::Run }));
    assert_eq!(seat.problem().await.message, "the run has ended");
}

#[tokio::test]
async fn whoever_decides_second_is_told_who_decided() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let (mut first, mut second) = (Seat::take(&bed), Seat::take(&bed));
    first.start(copy_plan());
    let gate = first.gate().await;
    second.ask(Request::OpenRun(first.id.clone().unwrap()));
    assert_eq!(second.gate().await, gate);
    first.decide(&gate, GateReply::Reject { message: "not this file".into() });
    assert_eq!(first.end().await, Outcome::Failed);
    // The run may still be on its way out, or gone: either way there is an answer.
    second.decide(&gate, GateReply::Approve);
    let told = second.problem().await.message;
    assert_eq!(told, format!("gate 1 was already rejected by {}", bed.host.shared().actor("").who));
    assert_eq!(bed.read("out.txt"), None);
}

#[tokio::test]
async fn a_tool_by_the_name_that_other_programs_use_is_found_without_a_finding_and_runs() {
    let bed = Bed::new(&[("notes.txt", "one two"), ("numbers.txt", "three")]);
    let aliased = plan(json!([
        { "id": "find", "tool": "grep", "query": "thr" },
        { "id": "list", "tool": "list_files", "args": {} },
        { "id": "search", "tool": "serper_web_search", "query": "age of Julius Caesar at death", "when": "1 > 2" },
    ]));
    let findings = crate::plan::validate::validate(&aliased, &bed.host.catalog());
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code.name()).collect();
    assert_eq!(codes, ["not-set-up"], "its service, not its name");
    let end = bed.headless(aliased, Flags::default()).await;
    assert_eq!(settled(&end), Some(Outcome::Succeeded), "{:?}", end.end);
    let found = end.state.node(&NodeId::new("find")).unwrap().result.clone().unwrap();
    assert!(found.to_string().contains("numbers.txt") && !found.to_string().contains("notes.txt"), "{found}");
    assert_eq!(state(&end.state, "search"), NodeState::Skipped);
}

#[tokio::test]
async fn an_old_run_opens_as_it_was_and_an_unknown_one_is_told_so() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let end = bed.headless(copy_plan(), flags(&[], &[], Yes::Given)).await;
    let mut seat = Seat::take(&bed);
    seat.ask(Request::OpenRun(end.run.clone()));
    let driver = seat.until(|_, notice| if let Notice::RunOpened { driver, .. } = notice { Some(driver.clone()) } else { None }).await;
    assert_eq!(driver, Driver::Nobody);
    assert_eq!(seat.run, end.state);
    seat.ask(Request::OpenRun(RunId("nothing".into())));
    let gone = seat.until(|_, notice| if let Notice::RunGone(run) = notice { Some(run.clone()) } else { None }).await;
    assert_eq!(gone, RunId("nothing".into()));
}

#[tokio::test]
async fn leaving_keeps_runs_as_they_stand_and_they_can_be_resumed() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    seat.gate().await;
    bed.host.leave(None).await;
    let id = seat.id.clone().unwrap();
    let run = Run::replay(&bed.journal(&id));
    assert_eq!((run.outcome(), run.open_gates().count()), (None, 1));
    assert_eq!(bed.host.shared().driver(&id), Driver::Nobody);
}

#[tokio::test]
async fn shutting_down_cancels_what_goes_on_and_journals_that() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    seat.gate().await;
    bed.host.shutdown().await;
    let run = Run::replay(&bed.journal(seat.id.as_ref().unwrap()));
    assert_eq!(run.outcome().unwrap().0, Outcome::Cancelled);
    assert!(bed.host.shared().live().is_empty());
}

#[tokio::test]
async fn a_frozen_run_does_not_keep_its_host_from_shutting_down() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    let gate = seat.gate().await;
    std::fs::remove_file(bed.host.shared().store.path()).unwrap();
    seat.decide(&gate, GateReply::Approve);
    let saved = seat.until(|_, notice| if let Notice::Frozen { problem, .. } = notice { problem.hint.clone() } else { None }).await;
    let (_, saved) = saved.split_once("`dagdeck import ").unwrap();
    std::fs::remove_file(saved.trim_end_matches('`')).unwrap();
    bed.host.shutdown().await;
    assert_eq!(bed.read("out.txt"), None, "nothing that is not on record took effect");
}

#[tokio::test]
async fn a_request_becomes_a_plan_node_by_node_without_a_model() {
    let bed = Bed::new(&[("a.rs", "x\n")]);
    let mut seat = Seat::take(&bed);
    let id = client::PlanningId(7);
    let text = "List the Rust files, count their lines, and write the ten longest to longest.md";
    seat.ask(Request::Plan { id, wish: client::PlanWish::new(text) });
    let mut grown = Vec::new();
    let (plan, origin) = loop {
        match seat.connection.notices.recv().await.unwrap() {
            Notice::PlanNode { id: of, node } if of == id => grown.push(node.id.clone()),
            Notice::PlanReady { id: of, made } if of == id => break (made.plan, made.origin),
            _ => {}
        }
    };
    assert!(origin.starts_with("the built-in planner"), "{origin}");
    assert_eq!(grown, plan.nodes.iter().map(|node| node.id.clone()).collect::<Vec<_>>());
    assert!(plan.nodes.len() >= 2 && plan.goal == text);
}

#[tokio::test]
async fn an_empty_request_is_told_so() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    seat.ask(Request::Plan { id: client::PlanningId(1), wish: client::PlanWish::new("  ") });
    let problem = seat.until(|_, notice| if let Notice::PlanFailed { problem, .. } = notice { Some(problem.clone()) } else { None }).await;
    assert_eq!(problem.message, "the request is empty");
}

#[tokio::test]
async fn a_plan_that_can_not_run_is_refused_with_what_is_wrong_and_leaves_no_run() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    let looped = [("a", "b"), ("b", "a")].map(|(id, on)| json!({ "id": id, "tool": "current_time", "args": {}, "depends_on": [on] }));
    seat.start(plan(json!(looped)));
    let problem = seat.problem().await;
    assert!(problem.message.starts_with("the plan can't run: ") && problem.message.contains("a → b"), "{}", problem.message);
    assert!(bed.host.shared().runs().unwrap().is_empty());
}

#[tokio::test]
async fn a_shown_run_that_another_process_changed_is_noticed_at_once() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    seat.gate().await;
    let id = seat.id.clone().unwrap();
    bed.host.leave(None).await;

    let mut watcher = Seat::take(&bed);
    watcher.ask(Request::OpenRun(id.clone()));
    watcher.until(|_, notice| matches!(notice, Notice::RunOpened { driver: Driver::Nobody, .. }).then_some(())).await;
    let other = LocalHost::open(bed.places.clone(), Config::default(), None, |_: &str| None).unwrap();
    let flags = flags(&["*"], &[], Yes::Absent);
    let ended = other.resume_headless((&id, ResumeFrom::End), Vec::new(), &flags, &mut nobody(), &mut |_| {}).await.unwrap();
    watcher.until(|run, _| run.outcome().map(drop)).await;
    assert_eq!(watcher.run, ended.state, "event by event, each once");
}

#[tokio::test]
async fn a_past_run_is_told_of_in_a_few_words_and_found_by_its_result_without_being_opened() {
    let bed = Bed::new(&[("in.txt", "the moon is far")]);
    let plan = plan(json!([{ "id": "read", "tool": "read_file", "args": { "path": "in.txt" } }]));
    let end = bed.headless(plan, flags(&[], &[], Yes::Absent)).await;
    let mut seat = Seat::take(&bed);
    seat.ask(Request::PeekRun(end.run.clone()));
    let peek = seat.until(|_, notice| match notice {
        Notice::RunPeeked { peek, .. } => Some(peek.clone()),
        _ => None,
    });
    let peek = peek.await;
    assert!(peek.counts.contains("1/1 done") && peek.gates.is_empty() && peek.results[0].text.contains("the moon is far"), "{peek:?}");
    seat.ask(Request::SearchRuns("moon far".into()));
    let found = seat.until(|_, notice| match notice {
        Notice::RunsFound { found, .. } => Some(found.clone()),
        _ => None,
    });
    let found = found.await;
    assert_eq!(found.iter().map(|found| &found.summary.run).collect::<Vec<_>>(), [&end.run]);
    assert!(found[0].line.as_ref().is_some_and(|line| line.contains("the moon is far")), "{found:?}");
}

#[tokio::test]
async fn opening_an_interrupted_run_starts_nothing_and_resuming_it_drives_it_on() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let parked = bed.headless(copy_plan(), Flags::default()).await;
    let mut seat = Seat::take(&bed);
    seat.ask(Request::OpenRun(parked.run.clone()));
    let opened = |_: &Run, notice: &Notice| match notice {
        Notice::RunOpened { records, driver, .. } => Some((records.len(), driver.clone())),
        _ => None,
    };
    let before = bed.journal(&parked.run).len();
    assert_eq!(seat.until(opened).await, (before, Driver::Nobody));
    assert_eq!(bed.journal(&parked.run).len(), before);

    let mut seat = Seat::take(&bed);
    seat.ask(Request::Resume(parked.run.clone()));
    assert_eq!(seat.until(opened).await, (before + 1, Driver::Here));
    let gate = seat.run.open_gates().next().cloned().unwrap();
    seat.decide(&gate, GateReply::Approve);
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(bed.read("out.txt").as_deref(), Some("copied"));
    let reads = |record: &&Record| matches!(&record.event, Event::Node { node_id, fact: NodeFact::Started { .. }, .. } if node_id.as_str() == "read");
    assert_eq!(bed.journal(&parked.run).iter().filter(reads).count(), 1, "what was finished is not run again");
    let mut seat = Seat::take(&bed);
    seat.ask(Request::Resume(parked.run));
    assert!(seat.problem().await.message.starts_with("the run has ended: "));
}

#[tokio::test]
async fn a_run_is_driven_by_one_host_at_a_time_and_the_other_says_which() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    seat.gate().await;
    let run = seat.id.clone().unwrap();
    let other = Bed { host: LocalHost::open(bed.places.clone(), Config::default(), None, |_: &str| None).unwrap(), ..Bed::new(&[]) };
    let who = format!("process {} (console)", std::process::id());
    assert_eq!(other.host.shared().runs().unwrap()[0].driver, Driver::Elsewhere(who.clone()));
    let mut guest = Seat::take(&other);
    guest.ask(Request::Resume(run.clone()));
    assert_eq!(guest.problem().await.message, format!("run `{}` is already run by {who}", crate::engine::short_name(&run.0)));
    bed.host.shutdown().await;
    assert_eq!(other.host.shared().driver(&run), Driver::Nobody);
}

#[tokio::test]
async fn a_run_of_another_workspace_is_not_driven_by_the_tools_of_this_one() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let parked = bed.headless(copy_plan(), Flags::default()).await;
    let places = Folders { workspace: bed.places.home.clone(), ..bed.places.clone() };
    let other = Bed { host: LocalHost::open(places, Config::default(), None, |_: &str| None).unwrap(), ..Bed::new(&[]) };
    let mut guest = Seat::take(&other);
    guest.ask(Request::Resume(parked.run.clone()));
    let hint = format!("resume it there: --workspace {}", bed.places.workspace.display());
    assert_eq!(guest.problem().await.hint, Some(hint));
    assert_eq!(bed.host.shared().driver(&parked.run), Driver::Nobody, "it is given back");
}

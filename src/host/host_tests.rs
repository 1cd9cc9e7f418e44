//! The whole host in one process: a temporary home and workspace, real tools, the client protocol, flags.

use super::{
    client::{Client, Connection, Driver, Notice, Problem, Request},
    config::Config,
    *,
};
use crate::engine::{
    Action, ActionTarget, Actor, Command, Event, Gate, GateReply, Mark, NodeFact, NodeState, Outcome, Preview, Record, RerunReach, Run,
    RunId,
};
use crate::plan::{NodeId, Plan};
use crate::store::Store;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

struct Bed {
    _folder: TempDir,
    places: Folders,
    host: LocalHost,
}

impl Bed {
    fn new(files: &[(&str, &str)]) -> Self {
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

    fn path(&self, file: &str) -> PathBuf {
        self.places.workspace.join(file)
    }

    fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.path(file)).ok()
    }

    async fn headless(&self, plan: Plan, flags: Flags) -> Headless {
        let mut kept = Vec::new();
        let sink = &mut |record: &Record| kept.push(record.clone());
        let end = self.host.run_headless(NewRun { plan, ..NewRun::default() }, &flags, &mut nobody(), sink).await.unwrap();
        assert_eq!(kept, self.journal(&end.run));
        assert_eq!(Run::replay(&kept), end.state);
        end
    }

    /// What a process that opens the journal anew reads.
    fn journal(&self, run: &RunId) -> Vec<Record> {
        Store::open(&self.places.home).unwrap().records(run).unwrap()
    }
}

fn plan(nodes: Value) -> Plan {
    serde_json::from_value(json!({ "goal": "test", "nodes": nodes })).unwrap()
}

fn copy_plan() -> Plan {
    plan(json!([
        { "id": "read", "tool": "read_file", "args": { "path": "in.txt" } },
        { "id": "write", "tool": "write_file", "args": { "path": "out.txt", "content": "copied" }, "depends_on": ["read"] },
    ]))
}

fn flags(approve: &[&str], deny: &[&str], yes: Yes) -> Flags {
    let own = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    Flags { yes, approve: own(approve), deny: own(deny), ..Flags::default() }
}

fn settled(end: &Headless) -> Option<Outcome> {
    match &end.end {
        HeadlessEnd::Ended { outcome, .. } => Some(*outcome),
        HeadlessEnd::Parked(_) | HeadlessEnd::Stopped(_) | HeadlessEnd::Frozen(_) => None,
    }
}

fn state(run: &Run, node: &str) -> NodeState {
    run.node(&NodeId::new(node)).unwrap().state
}

/// A client that folds what it is told.
struct Seat {
    connection: Connection,
    run: Run,
    id: Option<RunId>,
}

impl Seat {
    fn take(bed: &Bed) -> Self {
        Self { connection: bed.host.connect(), run: Run::default(), id: None }
    }

    fn ask(&self, request: Request) {
        self.connection.requests.send(request).unwrap();
    }

    fn start(&self, plan: Plan) {
        self.ask(Request::Start { plan: Box::new(plan), inputs: Map::new(), first: Vec::new(), model: None, planning: Vec::new() });
    }

    fn decide(&self, gate: &Gate, decision: GateReply) {
        self.command(Command::Decide { gate: gate.id, decision, hash: gate.hash.clone() });
    }

    fn command(&self, command: Command) {
        self.ask(Request::Command { run: self.id.clone().unwrap(), command });
    }

    /// Takes notices in until this picks something.
    async fn until<T>(&mut self, pick: impl Fn(&Run, &Notice) -> Option<T>) -> T {
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

    async fn gate(&mut self) -> Gate {
        self.until(|run, _| run.open_gates().next().cloned()).await
    }

    async fn end(&mut self) -> Outcome {
        self.until(|run, _| run.outcome().map(|(outcome, _)| outcome)).await
    }

    async fn problem(&mut self) -> Problem {
        self.until(|_, notice| if let Notice::Problem(problem) = notice { Some(problem.clone()) } else { None }).await
    }
}

#[tokio::test]
async fn real_tools_run_and_an_approved_write_happens() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let end = bed.headless(copy_plan(), flags(&["write"], &[], Yes::Absent)).await;
    assert_eq!(settled(&end), Some(Outcome::Succeeded));
    assert_eq!(bed.read("out.txt").as_deref(), Some("copied"));
    let decided = bed.journal(&end.run).into_iter().find_map(|record| match record.event {
        Event::GateDecided { by, .. } => Some(by),
        _ => None,
    });
    let Some(Actor { who, via }) = decided else { panic!("no decision on record") };
    assert!(who.ends_with("(--approve write)") && via == "rule", "{who} {via}");
}

#[tokio::test]
async fn without_a_flag_the_run_is_parked_open_and_names_the_flag() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let end = bed.headless(copy_plan(), Flags::default()).await;
    let HeadlessEnd::Parked(gates) = &end.end else { panic!("{:?}", end.end) };
    assert_eq!(gates.len(), 1);
    assert_eq!((gates[0].node.as_str(), gates[0].tool.as_deref()), ("write", Some("write_file")));
    assert_eq!(gates[0].flag.as_deref(), Some("--approve write"));
    assert_eq!(bed.read("out.txt"), None);
    let runs = bed.host.shared().runs().unwrap();
    assert_eq!((runs[0].outcome, &runs[0].driver, runs[0].waiting.as_slice()), (None, &Driver::Nobody, &[NodeId::new("write")][..]));
}

#[tokio::test]
async fn deny_beats_approve_and_yes_and_a_rejected_call_never_runs() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let end = bed.headless(copy_plan(), flags(&["write"], &["write_*"], Yes::Given)).await;
    assert_eq!(bed.read("out.txt"), None);
    assert_eq!(state(&end.state, "read"), NodeState::Succeeded);
    assert_eq!(state(&end.state, "write"), NodeState::Cancelled);
    assert!(settled(&end).is_some_and(|outcome| outcome != Outcome::Succeeded));
}

#[tokio::test]
async fn a_flag_means_a_tool_by_any_of_its_names() {
    for denied in ["grep", "search_files", "search_*"] {
        let bed = Bed::new(&[("in.txt", "hello")]);
        let asked = plan(json!([{ "id": "find", "tool": "grep", "query": "hello", "approve": "before" }]));
        let end = bed.headless(asked, flags(&[], &[denied], Yes::Given)).await;
        assert_eq!(state(&end.state, "find"), NodeState::Cancelled, "{denied}");
    }
}

#[tokio::test]
async fn a_question_that_wants_words_is_never_answered_by_a_flag() {
    let bed = Bed::new(&[]);
    let end = bed
        .headless(plan(json!([{ "id": "sure", "ask": { "text": "Which?", "options": ["a", "b"] } }])), flags(&["*"], &[], Yes::Given))
        .await;
    let HeadlessEnd::Parked(gates) = &end.end else { panic!("{:?}", end.end) };
    assert_eq!((gates[0].node.as_str(), gates[0].flag.as_deref()), ("sure", None));
}

#[tokio::test]
async fn a_flag_that_is_no_glob_is_refused_before_anything_starts() {
    let bed = Bed::new(&[]);
    let flags = flags(&["a[", "b"], &[], Yes::Absent);
    let problem =
        bed.host.run_headless(NewRun { plan: copy_plan(), ..NewRun::default() }, &flags, &mut nobody(), &mut |_| {}).await.unwrap_err();
    assert!(problem.message.starts_with("--approve: `a[` is not a valid pattern"), "{}", problem.message);
    assert!(bed.host.shared().runs().unwrap().is_empty());
}

/// No signal ever comes.
fn nobody() -> RunSignals {
    tokio::sync::mpsc::unbounded_channel().1
}

#[tokio::test]
async fn a_signal_stops_a_headless_run_where_it_is() {
    let bed = Bed::new(&[]);
    let (tell, mut stop) = tokio::sync::mpsc::unbounded_channel();
    tell.send(crate::engine::StopSignal::Terminate).unwrap();
    let asks = plan(json!([{ "id": "sure", "ask": { "text": "Sure?" } }]));
    let end = bed.host.run_headless(NewRun { plan: asks, ..NewRun::default() }, &Flags::default(), &mut stop, &mut |_| {}).await.unwrap();
    assert!(matches!(end.end, HeadlessEnd::Stopped(crate::engine::StopSignal::Terminate) | HeadlessEnd::Parked(_)), "{:?}", end.end);
    assert_eq!(end.state.outcome(), None);
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
async fn a_gate_is_previewed_edited_checked_again_and_approved() {
    let bed = Bed::new(&[("in.txt", "hello"), ("out.txt", "old\n")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    let gate = seat.gate().await;
    seat.ask(Request::Preview { run: seat.id.clone().unwrap(), gate: gate.id, payload: gate.payload.clone() });
    let preview = seat.until(|_, notice| if let Notice::Preview { preview, .. } = notice { Some(preview.clone()) } else { None }).await;
    let wanted = Preview::Diff { path: "out.txt".into(), before: Some("old\n".into()), after: "copied".into() };
    assert_eq!(preview, wanted);

    seat.decide(&gate, GateReply::Modify { payload: json!({ "path": "out.txt", "contents": "x" }) });
    assert!(seat.problem().await.message.contains("`contents` is not known"));
    assert_eq!(bed.read("out.txt").as_deref(), Some("old\n"));

    seat.decide(&gate, GateReply::Modify { payload: json!({ "path": "out.txt", "content": "edited" }) });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(bed.read("out.txt").as_deref(), Some("edited"));
}

#[tokio::test]
async fn an_approval_of_a_picture_that_has_changed_does_nothing_but_show_the_new_one() {
    let bed = Bed::new(&[("in.txt", "hello"), ("out.txt", "old\n")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    let gate = seat.gate().await;
    let picture = |_: &Run, notice: &Notice| if let Notice::Preview { preview, .. } = notice { Some(preview.clone()) } else { None };
    seat.ask(Request::Preview { run: seat.id.clone().unwrap(), gate: gate.id, payload: gate.payload.clone() });
    seat.until(picture).await;
    std::fs::write(bed.path("out.txt"), "somebody's work\n").unwrap();

    seat.decide(&gate, GateReply::Approve);
    let now = seat.until(picture).await;
    assert_eq!(now, Preview::Diff { path: "out.txt".into(), before: Some("somebody's work\n".into()), after: "copied".into() });
    assert!(seat.problem().await.message.contains("changed since you last saw it"));
    assert_eq!(bed.read("out.txt").as_deref(), Some("somebody's work\n"));

    seat.decide(&gate, GateReply::Approve);
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(bed.read("out.txt").as_deref(), Some("copied"));
}

#[tokio::test]
async fn a_file_that_changes_between_approval_and_write_is_not_written_over() {
    let bed = Bed::new(&[("in.txt", "hello"), ("out.txt", "old\n")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    let gate = seat.gate().await;
    let run = seat.id.clone().unwrap();
    seat.ask(Request::Preview { run: run.clone(), gate: gate.id, payload: gate.payload.clone() });
    seat.until(|_, notice| matches!(notice, Notice::Preview { .. }).then_some(())).await;
    std::fs::write(bed.path("out.txt"), "somebody's work\n").unwrap();

    // Straight to the run, as an approval that was on its way before the file changed.
    let approve = Command::Decide { gate: gate.id, decision: GateReply::Approve, hash: gate.hash.clone() };
    let shared = bed.host.shared();
    assert!(shared.session(&run).unwrap().command(approve, shared.actor("console")));
    assert_ne!(seat.end().await, Outcome::Succeeded);
    assert_eq!(bed.read("out.txt").as_deref(), Some("somebody's work\n"));
    let error = seat.run.node(&NodeId::new("write")).unwrap().error.clone().unwrap();
    assert!(error.message.contains("changed since the approval"), "{}", error.message);
}

#[tokio::test]
async fn a_rejected_gate_leaves_the_world_alone_and_the_other_branch_goes_on() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let mut seat = Seat::take(&bed);
    let mut nodes = serde_json::to_value(copy_plan()).unwrap()["nodes"].clone();
    nodes.as_array_mut().unwrap().push(json!({ "id": "clock", "tool": "current_time", "args": {} }));
    seat.start(plan(nodes));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Reject { message: "not this file".into() });
    assert_eq!(seat.end().await, Outcome::Partial);
    assert_eq!(bed.read("out.txt"), None);
    assert_eq!((state(&seat.run, "write"), state(&seat.run, "clock")), (NodeState::Cancelled, NodeState::Succeeded));
}

/// Case 5, with real tools.
#[tokio::test]
async fn two_gates_in_parallel_branches_answered_in_either_order_go_on_by_themselves_and_nothing_else_stops() {
    let write = |id: &str| json!({ "id": id, "tool": "write_file", "args": { "path": id, "content": "x" } });
    let read = |id: &str, path: &str, on: &str| json!({ "id": id, "tool": "read_file", "args": { "path": path }, "depends_on": [on] });
    let nodes = json!([
        write("a"), write("b"), read("a2", "a", "a"), read("b2", "b", "b"),
        { "id": "c", "tool": "current_time", "args": {} }, read("c2", "in.txt", "c"),
    ]);
    for order in [["a", "b"], ["b", "a"]] {
        let bed = Bed::new(&[("in.txt", "hello")]);
        let mut seat = Seat::take(&bed);
        seat.start(plan(nodes.clone()));
        let both = seat.until(|run, _| {
            let open: Vec<Gate> = run.open_gates().cloned().collect();
            (open.len() == 2 && state(run, "c2") == NodeState::Succeeded).then_some(open)
        });
        let gates = both.await;
        for id in order {
            let gate = gates.iter().find(|gate| gate.node.as_str() == id).unwrap();
            seat.decide(gate, GateReply::Approve);
            seat.until(|run, _| (state(run, &format!("{id}2")) == NodeState::Succeeded).then_some(())).await;
            assert_eq!(bed.read(id).as_deref(), Some("x"));
        }
        // The last answer may have ended the run in one batch with its node.
        if seat.run.outcome().is_none() {
            seat.end().await;
        }
        assert_eq!(seat.run.outcome().unwrap().0, Outcome::Succeeded);
    }
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
    assert!(seat.problem().await.message.contains("`nothing`"));
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
async fn an_agent_without_a_model_is_rehearsed_and_marked() {
    let bed = Bed::new(&[]);
    let end = bed.headless(plan(json!([{ "id": "write", "agent": "writer", "objective": "Say hello" }])), Flags::default()).await;
    assert_eq!(settled(&end), Some(Outcome::Rehearsed));
    let node = end.state.node(&NodeId::new("write")).unwrap();
    assert_eq!((node.state, node.mark.as_ref().map(Mark::as_str)), (NodeState::Rehearsed, Some("rehearsal")));
    assert_eq!((node.lineage.spent.model_calls, node.lineage.spent.tokens.total()), (0, 0), "an estimate is not spent");
}

#[tokio::test]
async fn a_human_agent_asks_a_person_where_there_is_no_model() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    seat.start(plan(json!([{ "id": "ask", "agent": "operator", "objective": "Which colour?" }])));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Answer { value: json!("blue") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(seat.run.node(&NodeId::new("ask")).unwrap().result.as_deref(), Some(&json!("blue")));
}

#[tokio::test]
async fn what_was_rehearsed_runs_again_for_real_with_the_model_that_a_person_chose_since() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    seat.start(plan(json!([{ "id": "write", "agent": "writer", "objective": "Say hello" }, { "id": "use", "value": "{{write}}", "depends_on": ["write"] }])));
    assert_eq!(seat.end().await, Outcome::Rehearsed);
    seat.ask(Request::UseModel { model: "operator".into(), run: None });
    seat.command(Command::act(Action::Rerun { node: NodeId::new("write"), scope: RerunReach::Alone }));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Answer { value: json!("hello") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(seat.run.node(&NodeId::new("use")).unwrap().result.as_deref(), Some(&json!("hello")));
}

#[tokio::test]
async fn a_run_that_failed_for_its_model_is_healed_by_the_one_that_a_person_chose_since() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    let plan = plan(json!([{ "id": "write", "agent": "writer", "objective": "Say hello" }]));
    let model = Some("gpt-4o".to_owned());
    seat.ask(Request::Start { plan: Box::new(plan), inputs: Map::new(), first: Vec::new(), model, planning: Vec::new() });
    assert_eq!(seat.end().await, Outcome::Failed);
    seat.ask(Request::UseModel { model: "operator".into(), run: seat.id.clone() });
    seat.command(Command::act(Action::Retry { node: NodeId::new("write") }));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Answer { value: json!("hello") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    let records = bed.journal(seat.id.as_ref().unwrap());
    assert!(records.iter().any(|record| matches!(&record.event, Event::ModelChosen { model, .. } if model == "operator")));
    seat.ask(Request::UseModel { model: "rehearsal".into(), run: None });
    seat.command(Command::act(Action::Rerun { node: NodeId::new("write"), scope: RerunReach::Alone }));
    assert!(seat.problem().await.message.contains("doesn't become a rehearsal"));
}

#[tokio::test]
async fn a_run_that_goes_on_asks_the_model_that_a_person_chose_on_its_screen_from_the_next_node_on() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    let nodes = json!([
        { "id": "look", "ask": { "text": "Go on?" } },
        { "id": "write", "agent": "writer", "objective": "Say hello", "depends_on": ["look"] },
    ]);
    let model = Some("gpt-4o".to_owned());
    seat.ask(Request::Start { plan: Box::new(plan(nodes)), inputs: Map::new(), first: Vec::new(), model, planning: Vec::new() });
    let gate = seat.gate().await;
    seat.ask(Request::UseModel { model: "operator".into(), run: seat.id.clone() });
    seat.decide(&gate, GateReply::Approve);
    let gate = seat.until(|run, _| run.open_gates().find(|gate| gate.node.as_str() == "write").cloned()).await;
    seat.decide(&gate, GateReply::Answer { value: json!("hello") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
}

#[tokio::test]
async fn models_are_chosen_by_name_and_the_operator_can_take_their_place() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    seat.ask(Request::UseModel { model: "operator".into(), run: None });
    let status = seat.until(|_, notice| if let Notice::Model(status) = notice { Some(status.clone()) } else { None }).await;
    assert_eq!(status, client::ModelStatus::Operator);
    seat.start(plan(json!([{ "id": "write", "agent": "writer", "objective": "Say hello" }])));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Answer { value: json!("hello") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(seat.run.node(&NodeId::new("write")).unwrap().result.as_deref(), Some(&json!("hello")));
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
    assert!(origin.starts_with("built-in planner"), "{origin}");
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
    assert_eq!(guest.problem().await.message, format!("run `{}` is already run by {who}", crate::store::short(&run.0)));
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

//! One run against scripted workers, a journal in memory and virtual time: order, speed, freezing, stopping.

use super::{
    client::Notice,
    clock::Clock,
    session::{Order, RunSession, Services},
    workers::{Assignment, JobRunner, WorkerPort},
};
use crate::engine::{
    Action, ActionTarget, Actor, Command, Done, Event, GateReply, ModelCall, NodeFact, NodeState, Outcome, Record, Run, RunId, RunSettings,
    Time, TokenUsage, WorkerFact,
};
use crate::plan::{NodeId, Plan};
use crate::store::{Durability, Journal, Ownership, StoreError};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{sync::mpsc, time::Instant};

/// What a scripted worker does.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Sleep(u64),
    /// Says so many pieces of text, one each millisecond.
    Stream(usize),
    Babble,
    /// Goes on until what it says is cut off.
    GoOn,
    /// Breaks off by a fault.
    Fault,
    /// Asks a model, whose answer never ends; or, where it isn't sent, waits for its server.
    Ask {
        is_sent: bool,
    },
}

#[derive(Default)]
pub(super) struct SessionScript {
    pub(super) acts: BTreeMap<&'static str, Act>,
    pub(super) at_work: Arc<AtomicUsize>,
    /// Workers that ever began.
    pub(super) begun: Arc<AtomicUsize>,
}

/// Counts a worker as long as its future lives.
struct WorkingCount(Arc<AtomicUsize>);

impl Drop for WorkingCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl JobRunner for SessionScript {
    async fn work(&self, task: Assignment, port: WorkerPort) -> WorkerFact {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.at_work.fetch_add(1, Ordering::SeqCst);
        let _here = WorkingCount(self.at_work.clone());
        match self.acts.get(task.origin.node.as_str()) {
            Some(Act::Sleep(ms)) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Some(Act::Stream(pieces)) => {
                for piece in 0..*pieces {
                    port.report(WorkerFact::Output(format!("{piece} ")));
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            Some(Act::Babble) => loop {
                port.report(WorkerFact::Output("x".repeat(100)));
                tokio::task::yield_now().await;
            },
            Some(Act::GoOn) => port.overdue().await,
            Some(Act::Fault) => panic!("a fault in the work"),
            Some(Act::Ask { is_sent }) => {
                port.under_way().begins(call_of("m"), 30);
                port.under_way().is_sent(*is_sent);
                if *is_sent {
                    port.under_way().goes_on(5, "some words", |model, usage| (model == "m").then_some(usage.total() as f64));
                }
                port.report(WorkerFact::Log("asked".into()));
                std::future::pending::<()>().await;
            }
            None => {}
        }
        WorkerFact::Done(Done { result: Value::from(task.origin.node.as_str()), mark: None })
    }

    fn use_model(&self, _: &str) {}
}

#[derive(Default)]
pub(super) struct Memory {
    pub(super) records: Mutex<Vec<Record>>,
    /// Those that outlive a loss of power by an append of their own.
    pub(super) synced: Mutex<Vec<Record>>,
    pub(super) full: AtomicBool,
}

#[async_trait]
impl Journal for Memory {
    async fn append(&self, _run: &RunId, records: &[Record], durability: Durability) -> Result<(), StoreError> {
        if self.full.load(Ordering::SeqCst) {
            return Err(StoreError::Full { path: "journal.db".into() });
        }
        self.records.lock().unwrap().extend_from_slice(records);
        if durability == Durability::Power {
            self.synced.lock().unwrap().extend_from_slice(records);
        }
        Ok(())
    }

    async fn load(&self, _run: &RunId) -> Result<Vec<Record>, StoreError> {
        Ok(self.records.lock().unwrap().clone())
    }

    fn own(&self, run: &RunId, by: &Actor) -> Result<Ownership, StoreError> {
        Ownership::take(&std::env::temp_dir().join(format!("dagdeck-test-{}", std::process::id())), run, by)
    }
}

struct Virtual(Instant);

impl Clock for Virtual {
    fn now(&self) -> Time {
        Time(1_000_000 + u64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

pub(super) struct SessionStage {
    pub(super) session: RunSession,
    pub(super) notices: mpsc::UnboundedReceiver<Notice>,
    pub(super) journal: Arc<Memory>,
    pub(super) at_work: Arc<AtomicUsize>,
    pub(super) begun: Arc<AtomicUsize>,
    pub(super) rescues: tempfile::TempDir,
}

impl SessionStage {
    pub(super) async fn open(acts: &[(&'static str, Act)], nodes: Value) -> Self {
        let plan: Plan = serde_json::from_value(json!({ "goal": "test", "nodes": nodes })).unwrap();
        let script = SessionScript { acts: acts.iter().cloned().collect(), ..SessionScript::default() };
        let (at_work, begun, journal) = (script.at_work.clone(), script.begun.clone(), Arc::new(Memory::default()));
        let rescues = tempfile::tempdir().unwrap();
        let clock = Arc::new(Virtual(Instant::now()));
        let services = Services {
            journal: journal.clone(),
            runner: Arc::new(script),
            clock,
            rescues: rescues.path().to_path_buf(),
            secrets: Arc::default(),
        };
        let (listener, notices) = mpsc::unbounded_channel();
        let session = RunSession::start(
            services,
            plan,
            RunSettings { model: Some("test".into()), ..RunSettings::default() },
            Vec::new(),
            by(),
            Some(listener),
        )
        .await
        .unwrap();
        Self { session, notices, journal, at_work, begun, rescues }
    }

    pub(super) fn order(&self, command: Command) {
        assert!(self.session.command(command, by()));
    }

    pub(super) async fn end(&self) -> Run {
        self.session.ended().await;
        Run::replay(&self.records())
    }

    pub(super) fn records(&self) -> Vec<Record> {
        self.journal.records.lock().unwrap().clone()
    }

    /// Waits for the first notice that this picks.
    pub(super) async fn until<T>(&mut self, pick: impl Fn(&Notice) -> Option<T>) -> T {
        loop {
            let notice = self.notices.recv().await.expect("the run goes on");
            if let Some(found) = pick(&notice) {
                return found;
            }
        }
    }
}

fn call_of(model: &str) -> ModelCall {
    ModelCall {
        model: model.into(),
        provider: "host".into(),
        usage: TokenUsage::default(),
        estimated: true,
        cost_usd: None,
        duration_ms: 0,
        finish: String::new(),
        id: String::new(),
    }
}

/// A node whose model answers and one whose call still waits; both have begun.
async fn asking() -> SessionStage {
    let acts = [("a", Act::Ask { is_sent: true }), ("w", Act::Ask { is_sent: false })];
    let mut stage = SessionStage::open(&acts, json!([step("a", &[]), step("w", &[])])).await;
    let asked = |record: &Record| matches!(&record.event, Event::LogLine { text, .. } if text == "asked");
    while stage.records().iter().filter(|record| asked(record)).count() < 2 {
        stage.until(|notice| (!records_of(notice).is_empty()).then_some(())).await;
    }
    stage
}

/// Node, tokens, cost and end of each model call on record.
fn calls_on_record(stage: &SessionStage) -> Vec<(String, TokenUsage, Option<f64>, String)> {
    let of = |record: Record| match record.event {
        Event::Node { node_id, fact: NodeFact::ModelCalled { call }, .. } => {
            Some((node_id.as_str().to_owned(), call.usage, call.cost_usd, call.finish))
        }
        _ => None,
    };
    stage.records().into_iter().filter_map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn what_an_answer_has_taken_is_on_record_where_a_command_or_leaving_breaks_it_off() {
    let taken = [("a".to_owned(), TokenUsage::of(30, 5), Some(35.0), "broken off".to_owned())];
    let stage = asking().await;
    stage.order(Command::act(Action::Cancel { target: ActionTarget::Run }));
    assert_eq!(stage.end().await.outcome().unwrap().0, Outcome::Cancelled);
    assert_eq!(calls_on_record(&stage), taken, "the call that waited took nothing");
    let stage = asking().await;
    stage.session.order(Order::Leave);
    stage.end().await;
    assert_eq!(calls_on_record(&stage), taken);
    let stage = asking().await;
    stage.order(Command::act(Action::Cancel { target: ActionTarget::Node(NodeId::new("w")) }));
    stage.order(Command::act(Action::Pause));
    stage.session.order(Order::Leave);
    stage.end().await;
    assert_eq!(calls_on_record(&stage), taken, "one that goes on is counted once, when it ends");
}

pub(super) fn by() -> Actor {
    Actor { who: "ann".into(), via: "test".into() }
}

pub(super) fn step(id: &str, after: &[&str]) -> Value {
    json!({ "id": id, "code": "scripted", "depends_on": after })
}

pub(super) fn records_of(notice: &Notice) -> &[Record] {
    match notice {
        Notice::RunOpened { records, .. } | Notice::Events { records, .. } => records,
        _ => &[],
    }
}

#[tokio::test(start_paused = true)]
async fn the_makespan_is_the_critical_path_to_the_millisecond() {
    let acts = [("a", 100), ("b", 10), ("c", 200), ("d", 50), ("e", 300)].map(|(id, ms)| (id, Act::Sleep(ms)));
    let nodes = json!([step("a", &[]), step("b", &["a"]), step("c", &["a"]), step("d", &["b", "c"]), step("e", &[])]);
    let stage = SessionStage::open(&acts, nodes).await;
    let run = stage.end().await;
    assert_eq!(run.outcome().unwrap().0, Outcome::Succeeded);
    let records = stage.records();
    assert_eq!(records.last().unwrap().at.since(records[0].at), 350);
}

/// Case 32, with a worker behind each node.
#[tokio::test(start_paused = true)]
async fn a_chain_goes_on_beside_one_that_waits_for_a_decision_and_the_gated_body_runs_once() {
    let acts = ["a", "b", "c", "d", "e"].map(|id| (id, Act::Sleep(100)));
    let mut gated = step("b", &["a"]);
    gated["approve"] = json!("before");
    let mut stage = SessionStage::open(&acts, json!([step("a", &[]), gated, step("c", &[]), step("d", &["c"]), step("e", &["d"])])).await;
    let completed = |id: &'static str| {
        move |notice: &Notice| {
            let is_it = |record: &Record| matches!(&record.event, Event::Node { node_id, fact: NodeFact::Completed { .. }, .. } if node_id.as_str() == id);
            records_of(notice).iter().any(is_it).then_some(())
        }
    };
    stage.until(completed("e")).await;
    let run = Run::replay(&stage.records());
    let gate = run.open_gates().next().unwrap().clone();
    assert!(
        (gate.node.as_str(), stage.records().last().unwrap().at.since(stage.records()[0].at)) == ("b", 300),
        "the other chain took its own time"
    );
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    stage.order(Command::decide(gate.id, GateReply::Approve, gate.hash));
    assert_eq!(stage.end().await.outcome().unwrap().0, Outcome::Succeeded);
    let starts = stage
        .records()
        .into_iter()
        .filter(|record| matches!(&record.event, Event::Node { node_id, fact: NodeFact::Started { .. }, .. } if node_id.as_str() == "b"));
    assert_eq!(starts.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn events_are_told_only_after_they_are_journalled_and_in_order() {
    let mut stage = SessionStage::open(&[("a", Act::Sleep(5))], json!([step("a", &[]), step("b", &["a"])])).await;
    let mut told = Vec::new();
    while let Some(notice) = stage.notices.recv().await {
        let kept = stage.records();
        for record in records_of(&notice) {
            assert!(kept.contains(record));
            told.push(record.clone());
        }
    }
    assert_eq!(told, stage.records());
    assert!(told.iter().map(|record| record.seq).eq(1..=told.len() as u64));
}

#[tokio::test(start_paused = true)]
async fn streamed_text_is_merged_and_complete_and_comes_before_the_end_of_its_node() {
    let stage = SessionStage::open(&[("a", Act::Stream(450))], json!([step("a", &[])])).await;
    stage.end().await;
    let records = stage.records();
    let texts: Vec<(usize, &str)> = records
        .iter()
        .enumerate()
        .filter_map(|(at, record)| match &record.event {
            Event::Node { fact: NodeFact::Output { text }, .. } => Some((at, text.as_str())),
            _ => None,
        })
        .collect();
    let whole: String = texts.iter().map(|(_, text)| *text).collect();
    assert_eq!(whole, (0..450).map(|piece| format!("{piece} ")).collect::<String>());
    assert!((4..=6).contains(&texts.len()), "{} pieces in 450 ms", texts.len());
    let end = records.iter().position(|record| matches!(record.event, Event::Node { fact: NodeFact::Completed { .. }, .. })).unwrap();
    assert!(texts.last().unwrap().0 < end);
}

#[tokio::test]
async fn a_flood_of_text_does_not_hold_up_a_command() {
    let mut stage = SessionStage::open(&[("a", Act::Babble)], json!([step("a", &[])])).await;
    stage
        .until(|notice| {
            records_of(notice).iter().any(|record| matches!(record.event, Event::Node { fact: NodeFact::Output { .. }, .. })).then_some(())
        })
        .await;
    stage.order(Command::act(Action::Cancel { target: ActionTarget::Run }));
    let run = stage.end().await;
    assert_eq!(run.outcome().unwrap().0, Outcome::Cancelled);
    assert_eq!(stage.at_work.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_breaks_off_fails_its_node_and_no_other() {
    let stage = SessionStage::open(&[("a", Act::Fault), ("b", Act::Sleep(5))], json!([step("a", &[]), step("b", &[])])).await;
    let run = stage.end().await;
    let node = |id: &str| run.node(&NodeId::new(id)).unwrap().clone();
    assert_eq!((node("a").state, node("b").state), (NodeState::Failed, NodeState::Succeeded));
    assert!(node("a").error.unwrap().message.contains("bug in dagdeck"));
    assert_eq!(run.outcome().unwrap().0, Outcome::Partial);
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_node_drops_its_work_and_the_others_finish() {
    let nodes = json!([step("a", &[]), step("b", &["a"]), step("c", &[])]);
    let mut stage = SessionStage::open(&[("a", Act::Sleep(1_000_000)), ("c", Act::Sleep(50))], nodes).await;
    stage
        .until(|notice| {
            records_of(notice).iter().any(|record| matches!(record.event, Event::Node { fact: NodeFact::Started { .. }, .. })).then_some(())
        })
        .await;
    stage.order(Command::act(Action::Cancel { target: ActionTarget::Node(NodeId::new("a")) }));
    let run = stage.end().await;
    let state = |id: &str| run.node(&NodeId::new(id)).unwrap().state;
    assert_eq!((state("a"), state("b"), state("c")), (NodeState::Cancelled, NodeState::Skipped, NodeState::Succeeded));
    assert_eq!(stage.at_work.load(Ordering::SeqCst), 0);
    let records = stage.records();
    assert!(records.last().unwrap().at.since(records[0].at) < 1000);
}

#[tokio::test(start_paused = true)]
async fn a_stop_shows_at_once_and_ends_a_stream_that_goes_on_for_5_s_more() {
    let agent = json!({ "id": "a", "agent": "writer", "objective": "go on" });
    let mut stage = SessionStage::open(&[("a", Act::GoOn)], json!([agent])).await;
    let began = |notice: &Notice| {
        records_of(notice).iter().find(|record| matches!(record.event, Event::Node { fact: NodeFact::Started { .. }, .. })).map(|_| ())
    };
    stage.until(began).await;
    let stop = Action::Stop { target: ActionTarget::Node(NodeId::new("a")) };
    let stopped = |notice: &Notice| records_of(notice).iter().any(|record| matches!(record.event, Event::Acted { .. })).then_some(());
    let state = |stage: &SessionStage| Run::replay(&stage.records()).node(&NodeId::new("a")).unwrap().state;
    stage.order(Command::act(stop.clone()));
    stage.until(stopped).await;
    assert_eq!(state(&stage), NodeState::Stopping);
    tokio::time::sleep(Duration::from_secs(4)).await;
    stage.order(Command::Undo);
    stage.until(|notice| records_of(notice).iter().any(|record| matches!(record.event, Event::Undone { .. })).then_some(())).await;
    assert_eq!(state(&stage), NodeState::Running, "an undone stop cuts nothing off");
    tokio::time::sleep(Duration::from_secs(20)).await;
    stage.order(Command::act(stop));
    stage.until(stopped).await;
    let run = stage.end().await;
    let records = stage.records();
    let last = records.iter().rposition(|record| matches!(record.event, Event::Acted { .. })).unwrap();
    assert_eq!((run.outcome().unwrap().0, records.last().unwrap().at.since(records[last].at)), (Outcome::Succeeded, 5_000));
}

#[tokio::test(start_paused = true)]
async fn a_newcomer_sees_everything_so_far_and_then_what_follows() {
    let mut stage = SessionStage::open(&[("a", Act::Sleep(10))], json!([step("a", &[]), step("b", &["a"])])).await;
    stage.until(|notice| matches!(notice, Notice::RunOpened { .. }).then_some(())).await;
    let (listener, mut notices) = mpsc::unbounded_channel();
    stage.session.order(Order::Attach(listener));
    stage.end().await;
    let mut seen = Vec::new();
    while let Some(notice) = notices.recv().await {
        seen.extend_from_slice(records_of(&notice));
    }
    assert_eq!(seen, stage.records());
}

#[tokio::test(start_paused = true)]
async fn a_command_behind_the_one_that_ended_the_run_is_answered() {
    let stage = SessionStage::open(&[("a", Act::Sleep(1_000_000))], json!([step("a", &[])])).await;
    let (asker, mut answers) = mpsc::unbounded_channel();
    stage.order(Command::act(Action::Cancel { target: ActionTarget::Run }));
    let late = Command::act(Action::Cancel { target: ActionTarget::Node(NodeId::new("a")) });
    stage.session.order(Order::Command { command: late, by: by(), asker: Some(asker) });
    stage.end().await;
    let told = answers.recv().await;
    assert!(matches!(&told, Some(Notice::Problem(problem)) if problem.message == "the run has ended"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_left_stays_open_and_its_workers_stop() {
    let stage = SessionStage::open(&[("a", Act::Sleep(1_000_000))], json!([step("a", &[])])).await;
    stage.session.order(Order::Leave);
    let run = stage.end().await;
    assert_eq!(run.outcome(), None);
    assert_eq!(stage.at_work.load(Ordering::SeqCst), 0);
}

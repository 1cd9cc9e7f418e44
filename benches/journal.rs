//! Events a second that the journal takes: one a commit, a hundred a commit, and many runs whose commits are gathered; and how long it
//! takes to replay a run of two hundred model calls from it.

#![expect(clippy::expect_used, reason = "a bench that cannot set itself up has nothing to measure")]

use dagdeck::engine::{
    Actor, Command, Done, Event, Input, ModelCall, NodeFact, Record, Run, RunId, RunSettings, Time, TokenUsage, WorkerFact,
};
use dagdeck::plan::{NodeId, Plan};
use dagdeck::store::{Durability, Journal, Store};
use divan::{Bencher, counter::ItemsCount};
use std::sync::Arc;

const EVENTS: u64 = 2_000;

fn main() {
    divan::main();
}

fn created(run: &RunId) -> Record {
    let event = Event::RunCreated {
        run: run.clone(),
        plan: Box::new(Plan::default()),
        settings: Box::new(RunSettings::default()),
        by: Actor { who: "bench".into(), via: "bench".into() },
    };
    Record { seq: 1, at: Time(0), more: false, event }
}

fn event(seq: u64) -> Record {
    let event = Event::Node { node_id: NodeId::new(format!("node-{seq}")), generation: 1, fact: NodeFact::Ready { rehearsed: false } };
    Record { seq, at: Time(seq), more: false, event }
}

struct Desk {
    _home: tempfile::TempDir,
    store: Arc<Store>,
    runtime: tokio::runtime::Runtime,
}

fn desk(runs: u64) -> Desk {
    let home = tempfile::tempdir().expect("a temporary folder");
    let store = Arc::new(Store::open(home.path()).expect("a journal"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    for n in 0..runs {
        let run = RunId(format!("run-{n}"));
        runtime.block_on(store.append(&run, &[created(&run)], Durability::Process)).expect("a run");
    }
    Desk { _home: home, store, runtime }
}

#[divan::bench(args = [1, 100], sample_count = 10)]
fn one_run(bencher: Bencher<'_, '_>, per_commit: u64) {
    bencher.counter(ItemsCount::new(EVENTS)).with_inputs(|| desk(1)).bench_local_values(|desk| {
        let run = RunId("run-0".into());
        desk.runtime.block_on(async {
            for start in (0..EVENTS).step_by(usize::try_from(per_commit).unwrap_or(1)) {
                let records: Vec<Record> = (start..start + per_commit).map(|n| event(n + 2)).collect();
                desk.store.append(&run, &records, Durability::Process).await.expect("a commit");
            }
        });
        desk
    });
}

#[divan::bench(sample_count = 10)]
fn one_run_synced_to_disk(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(EVENTS / 10)).with_inputs(|| desk(1)).bench_local_values(|desk| {
        let run = RunId("run-0".into());
        desk.runtime.block_on(async {
            for n in 0..EVENTS / 10 {
                desk.store.append(&run, &[event(n + 2)], Durability::Power).await.expect("a commit");
            }
        });
        desk
    });
}

#[divan::bench(sample_count = 10)]
fn forty_runs_gathered(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(EVENTS)).with_inputs(|| desk(40)).bench_local_values(|desk| {
        desk.runtime.block_on(async {
            let tasks: Vec<_> = (0..40)
                .map(|n| {
                    let store = desk.store.clone();
                    tokio::spawn(async move {
                        let run = RunId(format!("run-{n}"));
                        for seq in 0..EVENTS / 40 {
                            store.append(&run, &[event(seq + 2)], Durability::Process).await.expect("a commit");
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("a task");
            }
        });
        desk
    });
}

/// A run of so many agents, each with one model call.
fn called(run: &RunId, calls: u32) -> Vec<Record> {
    let ids: Vec<String> = (0..calls).map(|n| format!("agent-{n}")).collect();
    let nodes: Vec<_> = ids.iter().map(|id| serde_json::json!({"id": id, "agent": "writer", "objective": "say something"})).collect();
    let plan: Plan = serde_json::from_value(serde_json::json!({"goal": "many calls", "nodes": nodes})).expect("a plan");
    let by = Actor { who: "bench".into(), via: "bench".into() };
    let settings = RunSettings { slots: calls, ..RunSettings::default() };
    let create = Input::Create { run: run.clone(), plan: Box::new(plan), settings: Box::new(settings), by: by.clone() };
    let mut state = Run::default();
    let mut records = state.steps(&[create, Input::Command { command: Command::Start, by }], Time(0)).records;
    let call = ModelCall {
        id: "m1".into(),
        model: "a-model".into(),
        provider: "a provider".into(),
        usage: TokenUsage::default(),
        estimated: false,
        cost_usd: Some(0.01),
        duration_ms: 900,
        finish: "stop".into(),
    };
    for id in &ids {
        let text = "a sentence of some length. ".repeat(40);
        let message = WorkerFact::Message { role: dagdeck::engine::MessageRole::Assistant, content: text.clone() };
        for fact in [WorkerFact::ModelCalled(call.clone()), message, WorkerFact::Done(Done { result: text.into(), mark: None })] {
            records.extend(state.step(&Input::Work { node: NodeId::new(id), generation: 1, attempt: 1, fact }, Time(1)).records);
        }
    }
    records
}

/// Must stay under 50 ms.
#[divan::bench(args = [200])]
fn replay_of_calls(bencher: Bencher<'_, '_>, calls: u32) {
    let desk = desk(0);
    let run = RunId("run-0".into());
    let records = called(&run, calls);
    desk.runtime.block_on(desk.store.append(&run, &records, Durability::Process)).expect("a run");
    bencher.counter(ItemsCount::new(records.len())).bench_local(|| {
        let state = Run::replay(&desk.store.records(&run).expect("the events"));
        assert!(state.outcome().is_some());
        state
    });
}

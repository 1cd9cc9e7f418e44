//! How long statistics of five thousand past runs take, once they are read in; and how long it takes to read them in.

#![expect(clippy::expect_used, reason = "a bench that cannot set itself up has nothing to measure")]

use dagdeck::engine::{Actor, AgentJob, Event, Job, ModelCall, NodeFact, Outcome, Record, RunId, RunSettings, Time, TokenUsage, ToolCall};
use dagdeck::plan::{AgentNode, Node, NodeId, NodeKind, Plan};
use dagdeck::store::{Durability, Journal, RunHistory, Store};
use serde_json::json;

const RUNS: u64 = 5_000;
const AGENTS: [&str; 4] = ["web_researcher", "analyst", "writer", "code_analyzer"];
const GOALS: [&str; 4] = ["Write the notes", "Review the change", "Find the files", "Summarize it"];

fn main() {
    divan::main();
}

fn node_event(node: &str, fact: NodeFact) -> Event {
    Event::Node { node_id: NodeId::new(node), generation: 1, fact }
}

/// A chain of four agents, each with two turns and a tool call.
fn events(run: &RunId, n: u64) -> Vec<Event> {
    let node = |at: usize| {
        let agent = AgentNode { agent: Some(AGENTS[at].into()), objective: Some("do it".into()), ..AgentNode::default() };
        let depends_on = at.checked_sub(1).map(|at| NodeId::new(format!("n{at}"))).into_iter().collect();
        Node { depends_on, ..Node::new(format!("n{at}").as_str(), NodeKind::Agent(agent)) }
    };
    let goal = GOALS[usize::try_from(n).unwrap_or(0) % GOALS.len()];
    let plan = Plan { goal: goal.into(), nodes: (0..4).map(node).collect(), ..Plan::default() };
    let by = Actor { who: "bench".into(), via: "bench".into() };
    let settings = RunSettings { model: Some("gpt-5-mini".into()), host: json!({"workspace": "/w"}), ..RunSettings::default() };
    let mut events = vec![Event::RunCreated { run: run.clone(), plan: Box::new(plan), settings: Box::new(settings), by }];
    for (at, agent) in AGENTS.iter().enumerate() {
        let id = format!("n{at}");
        let job = Job::Agent(AgentJob { agent: Some((*agent).into()), objective: Some("do it".into()), ..AgentJob::default() });
        events.push(node_event(&id, NodeFact::Started { attempt: 1, job: Box::new(job), private: false }));
        for _ in 0..2 {
            let usage = TokenUsage::of(500 + n % 900, 100 + n % 70);
            let model = if n.is_multiple_of(3) { "gpt-5" } else { "gpt-5-mini" };
            let call = ModelCall { model: model.into(), provider: "openai".into(), usage, cost_usd: Some(0.001), ..ModelCall::default() };
            events.push(node_event(&id, NodeFact::ModelCalled { call }));
        }
        let call = ToolCall { id: "c".into(), tool: "read_file".into(), args: json!({"path": "a"}) };
        events.push(node_event(&id, NodeFact::ToolStarted { call, rule: None }));
        events.push(node_event(&id, NodeFact::Completed { result: json!("a result"), mark: None }));
    }
    events.push(Event::RunEnded { outcome: Outcome::Succeeded, reason: "done".into() });
    events
}

fn home(runs: u64) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(home.path()).expect("a journal");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    for n in 0..runs {
        let run = RunId(format!("run-{n:06}"));
        let records: Vec<Record> = events(&run, n)
            .into_iter()
            .zip(1..)
            .map(|(event, seq)| Record { seq, at: Time(n * 1_000 + seq), more: false, event })
            .collect();
        runtime.block_on(store.append(&run, &records, Durability::Process)).expect("a run");
    }
    home
}

/// All that `dagdeck stats` does, but for starting and printing.
#[divan::bench(sample_count = 21, sample_size = 1)]
fn statistics_of_5000_runs(bencher: divan::Bencher<'_, '_>) {
    let home = home(RUNS);
    drop(RunHistory::open(&Store::open(home.path()).expect("a journal")).expect("a history"));
    bencher.bench_local(|| {
        let store = Store::open(home.path()).expect("a journal");
        RunHistory::open(&store).expect("a history").stats(Time(0)).expect("statistics")
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reading_in_500_runs(bencher: divan::Bencher<'_, '_>) {
    bencher.with_inputs(|| home(500)).bench_local_values(|home| {
        let store = Store::open(home.path()).expect("a journal");
        drop(RunHistory::open(&store).expect("a history"));
        home
    });
}

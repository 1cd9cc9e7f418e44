//! The engine alone: each node started, done and folded, without journal or workers. `items` are nodes, so the cost per node is the time
//! divided by them. Layers are wired with four edges a node: each layer wholly to the next would be a million edges, which measures
//! memory more than rules.

use dagdeck::{
    engine::{Actor, Command, Done, Effect, Input, Run, RunId, RunSettings, Time, WorkerFact},
    plan::{CodeNode, Node, NodeKind, Plan, SandboxLimits},
};
use divan::{Bencher, counter::ItemsCount};
use std::{collections::VecDeque, hint::black_box};

fn main() {
    divan::main();
}

fn node(id: String, deps: impl Iterator<Item = String>) -> Node {
    let work = NodeKind::Code(CodeNode { code: "return 1".to_string(), sandbox: SandboxLimits::default() });
    Node { depends_on: deps.map(|id| id.as_str().into()).collect(), ..Node::new(id.as_str(), work) }
}

fn chain(length: usize) -> Plan {
    let nodes = (0..length).map(|at| node(format!("n{at}"), at.checked_sub(1).map(|before| format!("n{before}")).into_iter()));
    Plan { nodes: nodes.collect(), ..Plan::default() }
}

fn fan_out(width: usize) -> Plan {
    let leaves = (0..width).map(|at| node(format!("n{at}"), ["root".to_string()].into_iter()));
    Plan { nodes: [node("root".to_string(), std::iter::empty())].into_iter().chain(leaves).collect(), ..Plan::default() }
}

fn layers(depth: usize, width: usize) -> Plan {
    let sources = |layer: usize, at: usize| {
        (0..4).filter(move |_| layer > 0).map(move |step| format!("n{}-{}", layer.wrapping_sub(1), (at + step * 7) % width))
    };
    let nodes = (0..depth).flat_map(|layer| (0..width).map(move |at| node(format!("n{layer}-{at}"), sources(layer, at))));
    Plan { nodes: nodes.collect(), ..Plan::default() }
}

fn by() -> Actor {
    Actor { who: "bench".to_string(), via: "bench".to_string() }
}

fn created(plan: &Plan) -> Run {
    let mut run = Run::default();
    let create =
        Input::Create { run: RunId("run".to_string()), plan: Box::new(plan.clone()), settings: Box::new(RunSettings::default()), by: by() };
    run.step(&create, Time(0));
    run
}

/// Runs to the end, every worker done in order of its start. Gives the number of events.
fn play(mut run: Run) -> usize {
    let (mut events, mut effects) = (0, VecDeque::new());
    let mut input = Some(Input::Command { command: Command::Start, by: by() });
    while let Some(next) = input {
        let batch = run.step(&next, Time(1));
        events += batch.records.len();
        effects.extend(batch.effects);
        input = if batch.more { Some(Input::Proceed) } else { done(&mut effects) };
    }
    assert!(run.outcome().is_some(), "the run settled");
    events
}

/// What the worker reports that was started first of all that are at work.
fn done(effects: &mut VecDeque<Effect>) -> Option<Input> {
    while let Some(effect) = effects.pop_front() {
        if let Effect::Start { node, generation, attempt, .. } = effect {
            let fact = WorkerFact::Done(Done { result: serde_json::Value::Bool(true), mark: None });
            return Some(Input::Work { node, generation, attempt, fact });
        }
    }
    None
}

fn bench(bencher: Bencher, plan: &Plan) {
    bencher.counter(ItemsCount::new(plan.nodes.len())).with_inputs(|| created(plan)).bench_values(|run| black_box(play(run)));
}

#[divan::bench(sample_count = 20)]
fn chain_of_1_000(bencher: Bencher) {
    bench(bencher, &chain(1_000));
}

#[divan::bench(sample_count = 10)]
fn fan_out_of_10_000(bencher: Bencher) {
    bench(bencher, &fan_out(10_000));
}

#[divan::bench(sample_count = 10)]
fn layers_100_by_100(bencher: Bencher) {
    bench(bencher, &layers(100, 100));
}

#[divan::bench(sample_count = 10)]
fn creating_10_000_nodes(bencher: Bencher) {
    let plan = layers(100, 100);
    bencher.counter(ItemsCount::new(plan.nodes.len())).bench(|| black_box(created(&plan)));
}

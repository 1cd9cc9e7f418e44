//! Estimates against histories that other programs made up: agents whose cost grows with their input, runs that are hard as a whole, models
//! that drift. The estimator knows nothing of how they were made. Each run is estimated from those before it.

use super::*;
use crate::engine::{
    Actor, AgentJob, Cause, Estimate, EstimateBasis, EstimateSources, Event, Job, Measure, ModelCall, NodeError, NodeFact, Record,
    RunSettings, Time, TokenUsage,
};
use crate::plan::{AgentNode, Catalog, Node, NodeId, NodeKind};
use crate::store::{Durability, Journal};
use serde_json::json;
use tempfile::TempDir;

/// Randomness with a seed: xorshift, so that it has nothing in common with what estimates are drawn by.
struct SeededWorld {
    state: u64,
    clock: u64,
    hard: f64,
    drift: f64,
}

impl SeededWorld {
    fn new(seed: u64) -> Self {
        Self { state: seed | 1, clock: 1_000, hard: 1.0, drift: 1.0 }
    }

    fn chance(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// By a bell curve, about: the sum of twelve.
    fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.chance()).sum::<f64>() - 6.0
    }

    fn lognormal(&mut self, middle: f64, spread: f64) -> f64 {
        middle * (spread * self.bell()).exp()
    }
}

/// What one call of a model takes and says.
struct CallFigures {
    prompt: f64,
    answer: f64,
    ms: f64,
}

/// How an agent works: from the tokens of its input to its calls, and whether it fails.
type Worker = fn(&mut SeededWorld, &str, f64) -> (Vec<CallFigures>, bool);

fn agent(id: &str, agent: &str, deps: &[&str], objective: &str) -> Node {
    let work = AgentNode { agent: Some(agent.into()), objective: Some(objective.into()), ..AgentNode::default() };
    Node { depends_on: deps.iter().map(NodeId::new).collect(), ..Node::new(id, NodeKind::Agent(work)) }
}

/// A search, two readers side by side, a writer. How long the objective is differs from run to run.
fn plan(words: usize) -> crate::plan::Plan {
    let text = "word ".repeat(words);
    let nodes = vec![
        agent("find", "searcher", &[], &text),
        agent("left", "reader", &["find"], "read it"),
        agent("right", "reader", &["find"], "read it"),
        agent("tell", "writer", &["left", "right"], "write it"),
    ];
    crate::plan::Plan { goal: "Write about it".into(), nodes, ..crate::plan::Plan::default() }
}

/// The records of one run.
fn run(world: &mut SeededWorld, id: &RunId, worker: Worker) -> Vec<Record> {
    let words = world.lognormal(60.0, 0.8) as usize;
    let plan = plan(words.clamp(1, 4_000));
    let began = world.clock;
    let settings = RunSettings { model: Some("m".into()), host: json!({"workspace": "/w"}), ..RunSettings::default() };
    let by = Actor { who: "ann".into(), via: "test".into() };
    let mut events = vec![
        (began, Event::RunCreated { run: id.clone(), plan: Box::new(plan.clone()), settings: Box::new(settings), by }),
        (began, Event::RunStarted),
    ];
    let mut ends: HashMap<String, (u64, Option<String>)> = HashMap::new();
    for node in &plan.nodes {
        let sources: Vec<_> = node.depends_on.iter().map(|source| ends[source.as_str()].clone()).collect();
        let start = sources.iter().map(|(end, _)| *end).max().unwrap_or(began);
        if sources.iter().any(|(_, result)| result.is_none()) {
            ends.insert(node.id.to_string(), (start, None));
            continue;
        }
        let work = node.kind.agent().unwrap();
        let name = work.agent.clone().unwrap();
        let job = AgentJob { agent: work.agent.clone(), objective: work.objective.clone(), ..AgentJob::default() };
        let given: usize = sources.iter().flat_map(|(_, result)| result).map(|text| text.len() / 4).sum();
        let input = (work.objective.as_ref().unwrap().len() / 4 + given) as f64;
        let (calls, fails) = worker(world, &name, input);
        let event = |fact| Event::Node { node_id: node.id.clone(), generation: 1, fact };
        events.push((start, event(NodeFact::Started { attempt: 1, job: Box::new(Job::Agent(job)), private: false })));
        let mut at = start;
        for said in &calls {
            at += said.ms as u64;
            let usage = TokenUsage::of(said.prompt as u64, said.answer as u64);
            let cost = (said.prompt + 4.0 * said.answer) * 1e-6;
            let call = ModelCall { model: "m".into(), provider: "p".into(), usage, cost_usd: Some(cost), ..ModelCall::default() };
            events.push((at, event(NodeFact::ModelCalled { call })));
        }
        let result = "text".repeat(calls.last().map_or(1, |said| said.answer as usize).clamp(1, 20_000));
        let end = match fails {
            true => NodeFact::Failed { error: NodeError::permanent("no"), safe: false, result: None },
            false => NodeFact::Completed { result: json!(result), mark: None },
        };
        events.push((at, event(end)));
        ends.insert(node.id.to_string(), (at, (!fails).then_some(result)));
    }
    events.sort_by_key(|(at, _)| *at);
    let end = events.last().unwrap().0;
    let outcome = if ends["tell"].1.is_some() { crate::engine::Outcome::Succeeded } else { crate::engine::Outcome::Failed };
    events.push((end, Event::RunEnded { outcome, reason: Cause::from("over") }));
    world.clock = end + 10;
    let records = events.into_iter().zip(1..).map(|((at, event), seq)| Record { seq, at: Time(at), more: false, event });
    records.collect()
}

/// Of so many runs, after a first hundred, how many were inside their estimates.
async fn inside(seed: u64, worker: Worker, change: fn(&mut SeededWorld, usize)) -> Vec<(Measure, f64)> {
    const BATCH: usize = 100;
    const BATCHES: usize = 5;
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    let mut world = SeededWorld::new(seed);
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for batch in 0..BATCHES {
        for number in 0..BATCH {
            change(&mut world, batch * BATCH + number);
            let id = RunId(format!("run-{:05}", batch * BATCH + number));
            let records = run(&mut world, &id, worker);
            store.append(&id, &records, Durability::Process).await.unwrap();
        }
        let calibration = RunHistory::open(&store).unwrap().calibration(Time(u64::MAX)).unwrap();
        for measure in Measure::ALL.into_iter().filter(|_| batch > 0) {
            let (inside, all) = calibration.inside(measure, BATCH);
            assert!(all > 90, "nearly each run was estimated: {all}");
            let sum = counts.entry(measure.into()).or_default();
            *sum = (sum.0 + inside, sum.1 + all);
        }
    }
    let share = |measure: Measure| counts[<&str>::from(measure)];
    [Measure::Tokens, Measure::Usd, Measure::Ms].map(|measure| (measure, share(measure).0 as f64 / share(measure).1 as f64)).to_vec()
}

/// Four of five are inside, within five points.
fn is_calibrated(shares: &[(Measure, f64)]) {
    for (measure, share) in shares {
        assert!((0.75..=0.85).contains(share), "{measure:?}: {share}, of {shares:?}");
    }
}

fn steady(world: &mut SeededWorld, name: &str, input: f64) -> (Vec<CallFigures>, bool) {
    let turns = 1 + (world.chance() * 3.0) as usize;
    let base = if name == "writer" { 900.0 } else { 400.0 };
    let answer = world.lognormal(150.0 + input / 3.0, 0.5);
    let turn = |_| CallFigures { prompt: base + 1.3 * input, answer: answer / 2.0, ms: 400.0 + answer * 9.0 };
    ((0..turns).map(turn).collect(), false)
}

/// In some runs all is dear, and some agents go round and round.
fn moody(world: &mut SeededWorld, _: &str, input: f64) -> (Vec<CallFigures>, bool) {
    let turns = if world.chance() < 0.1 { 9 } else { 2 };
    let hard = world.hard;
    let answer = hard * world.lognormal(200.0, 0.3);
    let said = |_| CallFigures { prompt: (500.0 + input) * hard, answer, ms: hard * 700.0 };
    ((0..turns).map(said).collect(), false)
}

/// What it takes grows with the months, and one in twelve attempts fails early.
fn drifting(world: &mut SeededWorld, _: &str, input: f64) -> (Vec<CallFigures>, bool) {
    let fails = world.chance() < 0.08;
    let answer = world.drift * world.lognormal(if fails { 40.0 } else { 300.0 }, 0.4);
    (vec![CallFigures { prompt: 300.0 + input.powf(0.8), answer, ms: 5.0 * answer + world.lognormal(900.0, 0.6) }], fails)
}

#[tokio::test]
async fn four_of_five_runs_of_agents_that_work_by_the_size_of_their_input_are_inside_their_estimate() {
    is_calibrated(&inside(7, steady, |_, _| {}).await);
}

#[tokio::test]
async fn four_of_five_runs_are_inside_their_estimate_where_runs_are_hard_as_a_whole() {
    let change = |world: &mut SeededWorld, _| world.hard = world.lognormal(1.0, 0.7);
    is_calibrated(&inside(11, moody, change).await);
}

#[tokio::test]
async fn four_of_five_runs_are_inside_their_estimate_while_a_model_drifts_and_agents_fail() {
    let change = |world: &mut SeededWorld, number: usize| world.drift = 1.0 + number as f64 / 500.0;
    is_calibrated(&inside(13, drifting, change).await);
}

fn estimate(history: &RunHistory, plan: &crate::plan::Plan, model: Option<&str>) -> Estimate {
    let calibration = history.calibration(Time(u64::MAX)).unwrap();
    let price = |_: &str, prompt: u64, answer: u64| Some((prompt + 4 * answer) as f64 * 1e-6);
    let (catalog, past) = (Catalog::default(), history.before(Time(u64::MAX)));
    Estimate::of(plan, &EstimateSources { past: &past, catalog: &catalog, model, price: &price, calibration: &calibration })
}

#[tokio::test]
async fn an_estimate_says_what_it_is_from_and_knows_nothing_before_a_run() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    let basis = |estimate: &Estimate| estimate.node("tell").unwrap().basis;
    let before = estimate(&RunHistory::open(&store).unwrap(), &plan(60), Some("m"));
    assert_eq!((before.whole.tokens.expected, before.whole.ms.expected, before.whole.usd.expected), (None, None, None));
    assert_eq!((basis(&before), before.widest), (EstimateBasis::Limits, 2));
    assert!(before.whole.tokens.low > 0.0, "the prompts are counted");
    let nobody = estimate(&RunHistory::open(&store).unwrap(), &plan(60), None);
    assert!(nobody.whole.tokens.is_unknown() && basis(&nobody) == EstimateBasis::Unknown, "{nobody:?}");

    let mut world = SeededWorld::new(3);
    for number in 0..40 {
        let id = RunId(format!("run-{number}"));
        store.append(&id, &run(&mut world, &id, steady), Durability::Process).await.unwrap();
    }
    let history = RunHistory::open(&store).unwrap();
    let (short, long) = (estimate(&history, &plan(20), Some("m")), estimate(&history, &plan(800), Some("m")));
    assert_eq!((basis(&short), short.node("left").unwrap().cases), (EstimateBasis::History, Some(80)));
    assert!(long.whole.tokens.expected > short.whole.tokens.expected, "{short:?}\n{long:?}");
    assert_eq!(short.critical_path.first().map(NodeId::as_str), Some("find"));
    let other = estimate(&history, &plan(20), Some("another"));
    assert_eq!((basis(&other), other.whole.usd.expected), (EstimateBasis::OtherModels, None), "what another model costs is not known");
    assert!(other.whole.tokens.expected.is_some());
    let mut capped = plan(20);
    capped.budget.tokens = Some(10);
    let broken = estimate(&history, &capped, Some("m")).broken_caps;
    assert_eq!((broken.len(), broken[0].node.clone(), broken[0].cap), (1, None, 10.0));
}

#[tokio::test]
async fn the_most_similar_requests_that_worked_come_first_and_a_forgotten_one_is_gone() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    let mut world = SeededWorld::new(5);
    let requests = [
        "Summarize the sales report of March",
        "Count the lines of all Rust files",
        "Summarize the sales reports",
        "Summarize the weather",
        "Summarize the sales report of a file",
    ];
    for (number, request) in requests.into_iter().enumerate() {
        let id = RunId(format!("run-{number}"));
        let mut records = run(&mut world, &id, steady);
        if let Event::RunCreated { plan, settings, .. } = &mut records[0].event {
            settings.private_request = request.ends_with("of a file");
            plan.goal = request.into();
            plan.nodes[0].id = NodeId::new(format!("n{number}"));
        }
        store.append(&id, &records, Durability::Process).await.unwrap();
    }
    let mut history = RunHistory::open(&store).unwrap();
    let found = |history: &RunHistory, workspace: &str| -> Vec<String> {
        let found = history.similar("summarize our sales report for April", Path::new(workspace), 3).unwrap();
        found.into_iter().map(|run| run.request).collect()
    };
    let mut all = found(&history, "/w");
    all.sort();
    assert_eq!(all, ["Summarize the sales report of March", "Summarize the sales reports"]);
    assert_eq!(found(&history, "/elsewhere"), [""; 0], "requests of other workspaces stay there");
    history.forget(&[RunId("run-0".into()), RunId("run-2".into())]).unwrap();
    assert_eq!(found(&RunHistory::open(&store).unwrap(), "/w"), [""; 0]);
    assert_eq!(history.stats(Time(0)).unwrap().runs, 3);
    let raw = std::fs::read(RunHistory::file(home.path())).unwrap();
    assert!(!raw.windows(5).any(|bytes| bytes == b"March"), "nothing of it is left in the file");
}

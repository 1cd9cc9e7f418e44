//! Tries of model calls: how many there are, what waits between them, and that waiting is no work.

use super::kit::*;
use crate::engine::*;
use crate::plan::{Node, Retry};
use proptest::prelude::*;
use serde_json::json;

fn limited(attempts: u32, timeout_s: f64) -> Node {
    let mut node = agent("a", &[]);
    node.policy.retry = Some(Retry { attempts, ..Retry::default() });
    node.policy.timeout_s = Some(timeout_s);
    node
}

fn asked(node: Node) -> World {
    let mut world = World::new(plan(vec![node]));
    world.fact("a", WorkerFact::ModelAsked { call: "m".into(), model: "small".into(), need: None });
    world
}

fn failed(verdict: TryVerdict) -> FailedTry {
    FailedTry { message: "`host` failed (500)".into(), verdict, refused: false, otherwise: None, usage: None }
}

fn call() -> String {
    "m".into()
}

/// Sends a try that fails; how long until the next, if one follows.
fn fail_try(world: &mut World, failed: FailedTry) -> Option<u64> {
    world.fact("a", WorkerFact::ModelSent { call: call(), unheard: None });
    world.fact("a", WorkerFact::ModelTryFailed { call: call(), failed });
    match world.answers().pop() {
        Some((_, Answer::Again { after_ms, .. })) => Some(after_ms),
        _ => None,
    }
}

fn tries(world: &World) -> Vec<u32> {
    let sent = world.records.iter().filter_map(|record| match &record.event {
        Event::Node { fact: NodeFact::ModelSent { number, .. }, .. } => Some(*number),
        _ => None,
    });
    sent.collect()
}

#[test]
fn what_is_sent_otherwise_is_sent_at_once_and_uses_no_try() {
    let mut world = asked(limited(1, 60.0));
    let answers = world.answers().len();
    for _ in 0..3 {
        let otherwise = FailedTry { otherwise: Some("without tools".into()), ..failed(TryVerdict::Again) };
        assert_eq!(fail_try(&mut world, otherwise), None);
    }
    assert_eq!(world.answers().len(), answers, "nobody waits to hear of it: an answer would be taken for that of the next question");
    assert_eq!(fail_try(&mut world, failed(TryVerdict::Again)), None);
    assert_eq!(tries(&world), [1, 1, 1, 1]);
}

#[test]
fn a_call_has_as_many_tries_as_its_node_has_attempts_and_none_after_a_failure_for_good() {
    for attempts in 1..5 {
        let mut world = asked(limited(attempts, 60.0));
        while fail_try(&mut world, failed(TryVerdict::Again)).is_some() {}
        assert_eq!(tries(&world), (1..=attempts).collect::<Vec<_>>());
    }
    let mut world = asked(limited(3, 60.0));
    assert_eq!(fail_try(&mut world, failed(TryVerdict::Never)), None);
    assert_eq!(world.answers().pop().unwrap().1, Answer::Refused { message: "`host` failed (500)".into() });
}

#[test]
fn a_try_waits_at_least_as_long_as_the_server_asks_and_the_row_says_until_when_and_why() {
    let mut world = asked(limited(3, 60.0));
    assert_eq!(fail_try(&mut world, failed(TryVerdict::After { ms: 90_000 })), Some(90_000));
    assert_eq!(world.state("a"), "held");
    assert_eq!(world.reason("a"), "asks the model again at 00:01:31Z: `host` failed (500)");
    assert_eq!(world.why("a"), ["`a` is held: asks the model again at 00:01:31Z: `host` failed (500)"]);
}

#[test]
fn a_refused_rate_uses_no_try() {
    let mut world = asked(limited(2, 60.0));
    for _ in 0..20 {
        let refused = FailedTry { refused: true, ..failed(TryVerdict::After { ms: 490 }) };
        assert_eq!(fail_try(&mut world, refused), Some(490));
    }
    while fail_try(&mut world, failed(TryVerdict::Again)).is_some() {}
    assert_eq!(tries(&world)[20..], [1, 2]);
}

#[test]
fn waiting_for_a_model_is_no_work() {
    let mut world = asked(limited(3, 60.0));
    let waits = |reason: Cause| WorkerFact::ModelWaits { call: call(), reason };
    for reason in [Cause::ModelSlot { provider: "host:1".into() }, Cause::ModelRate { provider: "host:1".into(), until: Time(41_000) }] {
        let words = reason.message();
        world.fact("a", waits(reason));
        assert_eq!((world.state("a"), world.reason("a")), ("held", words));
        world.now += 40_000;
        world.due("a", TimerKind::Timeout);
    }
    world.fact("a", WorkerFact::ModelSent { call: call(), unheard: None });
    world.now += 100_000;
    world.due("a", TimerKind::Timeout);
    assert_eq!((world.state("a"), world.reason("a")), ("running", "waits for the model to begin its answer".into()));
    world.fact("a", WorkerFact::ModelAnswers { call: call() });
    world.now += 59_999;
    world.due("a", TimerKind::Timeout);
    assert_eq!((world.state("a"), world.reason("a")), ("running", String::new()));
    let mut timers = world.effects.iter().filter_map(|effect| match effect {
        Effect::SetTimer { timer: Timer { kind: TimerKind::Timeout, .. }, at } => Some(at.0),
        _ => None,
    });
    assert_eq!(timers.next_back(), Some(241_000), "the limit counts from where the answer began");
    world.now += 1;
    world.due("a", TimerKind::Timeout);
    assert_eq!(world.node("a").error.as_ref().unwrap().message, "it worked for 60 s, which is its limit");
    let (timeline, run) = Timeline::replay(&world.records);
    let bar = &timeline.chart(&run, Time(world.now)).bars[0];
    assert_eq!((bar.spent(Doing::Model, Time(world.now)), bar.spent(Doing::Working, Time(world.now))), (180_000, 60_000));
    assert_eq!(world.node("a").work_ms(), Some(60_000));
}

#[test]
fn a_stopped_node_says_that_it_stops_also_while_its_model_waits() {
    let mut world = asked(limited(3, 60.0));
    fail_try(&mut world, failed(TryVerdict::Again));
    world.act(Action::Stop { target: on("a") });
    assert_eq!(world.state("a"), "stopping");
}

#[test]
fn a_call_of_a_tool_that_waits_stops_the_clock_only_where_nothing_else_is_at_work() {
    let mut world = World::new(plan(vec![limited(3, 60.0)]));
    for call in ["c1", "c2"] {
        world.ask("a", call, "read", json!({"path": call}), crate::plan::Verdict::Allow);
    }
    world.fact("a", WorkerFact::ModelAsked { call: call(), model: "small".into(), need: None });
    world.fact("a", WorkerFact::ModelWaits { call: call(), reason: Cause::ModelSlot { provider: "host".into() } });
    assert_eq!(world.state("a"), "running");
    world.now += 1_000;
    world.tool_done("a", "c1", json!(1));
    assert_eq!(world.state("a"), "held");
    world.now += 1_000;
    world.fact("a", WorkerFact::ModelAnswers { call: call() });
    assert_eq!((world.state("a"), world.node("a").span.worked_ms), ("running", 1_000));
}

/// What a server and its limits do with one try: wait before it, how it fails, wait before its answer.
fn drawn() -> impl Strategy<Value = (u64, u8, u64)> {
    (0..100_000_u64, 0..5_u8, 0..1_000_u64)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_verdicts_and_waits_give_more_tries_than_attempts_and_every_wait_is_in_events(
        attempts in 1..6_u32,
        draws in prop::collection::vec(drawn(), 1..40),
    ) {
        let mut world = asked(limited(attempts, 1e9));
        let (mut waited, mut worked) = (0, 0);
        for (wait, how, answer) in draws {
            let until = Time(world.now + wait);
            world.fact("a", WorkerFact::ModelWaits { call: call(), reason: Cause::ModelRate { provider: "host".into(), until } });
            world.now += wait;
            waited += wait;
            let verdict = match how {
                0 => {
                    world.fact("a", WorkerFact::ModelSent { call: call(), unheard: None });
                    world.fact("a", WorkerFact::ModelAnswers { call: call() });
                    world.now += answer;
                    worked += answer;
                    TryVerdict::Again
                }
                1 => TryVerdict::After { ms: answer },
                2 => TryVerdict::Never,
                _ => TryVerdict::Again,
            };
            let failed = FailedTry { refused: how == 3, ..failed(verdict) };
            let next = if how == 0 {
                world.fact("a", WorkerFact::ModelTryFailed { call: call(), failed });
                world.answers().pop().and_then(|(_, answer)| match answer { Answer::Again { after_ms, .. } => Some(after_ms), _ => None })
            } else {
                fail_try(&mut world, failed)
            };
            let Some(next) = next else { break };
            world.now += next;
            waited += next;
        }
        prop_assert!(tries(&world).into_iter().all(|number| number <= attempts));
        let (timeline, run) = Timeline::replay(&world.records);
        let now = Time(world.now);
        let bar = &timeline.chart(&run, now).bars[0];
        prop_assert_eq!((bar.spent(Doing::Model, now), bar.spent(Doing::Working, now)), (waited, worked));
    }
}

#[test]
fn no_more_agents_start_than_their_provider_works_calls_at_once_and_tools_pass_them() {
    let nodes = vec![agent("a", &[]), agent("b", &[]), agent("c", &[]), tool("t", "read", json!({"path": "x"}), &[])];
    let model_slots = Some(ModelSlots { provider: "localhost:8080".into(), slots: 2 });
    let mut world = World::with(plan(nodes), RunSettings { model_slots, ..settings() });
    assert_eq!(world.started(), ["a", "b", "t"]);
    assert_eq!(
        world.why("c"),
        ["`c` is ready and waits for a free slot at localhost:8080 (2 of 2 in use: `a`, `b`)", "  `a` is running", "  `b` is running"]
    );
    world.done("t", json!(1));
    assert_eq!(world.state("c"), "ready");
    world.done("a", json!(1));
    assert_eq!(world.state("c"), "running");
}

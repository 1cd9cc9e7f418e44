//! What model calls were for: their sum is what the run's state says, whatever happened, and failed and repeated work is told apart.

use super::kit::*;
use crate::engine::*;
use proptest::prelude::*;
use serde_json::json;

fn call(model: &str, tokens: u64) -> WorkerFact {
    let usage = TokenUsage::of(tokens, 1);
    WorkerFact::ModelCalled(ModelCall { model: model.into(), provider: "p".into(), usage, cost_usd: Some(0.5), ..ModelCall::default() })
}

fn rerun(id: &str, scope: RerunReach) -> Action {
    Action::Rerun { node: id.into(), scope }
}

fn told(world: &World) -> Vec<(String, SpentFor)> {
    let told = |expense: Expense| (format!("{}:{}", expense.node.as_deref().unwrap_or("planning"), expense.call.model), expense.spent_for);
    expenses(&world.records).into_iter().map(told).collect()
}

#[test]
fn calls_of_failed_attempts_and_of_results_that_were_made_again_are_told_apart() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.fact("a", call("m1", 1));
    world.fail("a", ErrorKind::Transient);
    world.due("a", TimerKind::Retry);
    world.fact("a", call("m2", 2));
    world.done("a", json!("one"));
    world.fact("b", call("m3", 3));
    world.act(rerun("a", RerunReach::Downstream));
    world.fact("a", call("m4", 4));
    let (failed, replaced, result) = (SpentFor::FailedAttempt, SpentFor::ReplacedResult, SpentFor::Result);
    let expected =
        |b| vec![("a:m1".to_owned(), failed), ("a:m2".to_owned(), replaced), ("b:m3".to_owned(), b), ("a:m4".to_owned(), result)];
    // `b` has not begun anew yet, so nothing has taken the place of what it was at.
    assert_eq!(told(&world), expected(result));
    world.done("a", json!("two"));
    assert_eq!(told(&world), expected(replaced));
    let agents: Vec<Option<String>> = expenses(&world.records).into_iter().map(|expense| expense.agent).collect();
    assert!(agents.iter().all(|agent| agent.as_deref() == Some("worker")), "{agents:?}");
}

#[test]
fn a_branch_counts_only_what_it_took_itself() {
    let mut settings = settings();
    settings.planning = vec![ModelCall { usage: TokenUsage::of(7, 0), ..ModelCall::default() }];
    let mut world = World::with(plan(vec![agent("a", &[])]), settings);
    world.fact("a", call("m1", 1));
    assert_eq!(told(&world).len(), 2, "the planning counts");
    let branched = Event::Branched { from: RunId("run".into()), from_seq: world.records.len() as u64, by: me() };
    let seq = world.records.len() as u64 + 1;
    world.records.push(Record { seq, at: Time(1), more: false, event: branched });
    assert_eq!(told(&world), []);
}

proptest! {
    #[test]
    fn what_all_calls_took_is_what_the_run_took_whatever_happens(draws in prop::collection::vec((0_u8..3, 0_u8..9), 1..60)) {
        let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
        for (pick, how) in draws {
            let id = ["a", "b", "c"][usize::from(pick)];
            match how {
                0..=3 => drop(world.fact(id, call("m", u64::from(how) + 1))),
                4 => drop(world.done(id, json!(how))),
                5 => drop(world.fail(id, ErrorKind::Transient)),
                6 => drop(world.due(id, TimerKind::Retry)),
                7 => drop(world.act(rerun(id, RerunReach::Downstream))),
                _ => drop(world.act(Action::Cancel { target: on(id) })),
            }
            let all = expenses(&world.records);
            let (said, took) = (Expense::sum(&all), world.run.spent());
            prop_assert_eq!((said.tokens, said.cost_usd, said.model_calls), (took.tokens, took.cost_usd, took.model_calls));
            let kept: Vec<Record> = world.records.iter().filter(|record| is_read(record)).cloned().collect();
            prop_assert_eq!(expenses(&kept), all, "the kinds of events that are read suffice");
            let past = PastRun::of(&world.records);
            let kept: Vec<Record> = world.records.iter().filter(|record| is_of_past(record)).cloned().collect();
            prop_assert_eq!(PastRun::of(&kept), past.clone(), "the kinds of events that are read suffice");
            prop_assert_eq!(past.is_some(), world.run.outcome().is_some());
            if let Some(past) = past {
                prop_assert_eq!((past.spent.tokens, past.spent.model_calls), (took.tokens, took.model_calls));
                let of_attempts: u32 = past.attempts.iter().map(|attempt| attempt.spent.model_calls).sum();
                prop_assert_eq!(of_attempts, took.model_calls, "each call is of one attempt");
            }
        }
    }
}

fn is_read(record: &Record) -> bool {
    EXPENSE_EVENTS.contains(&kind(record).as_str())
}

fn is_of_past(record: &Record) -> bool {
    PAST_EVENTS.contains(&kind(record).as_str())
}

fn kind(record: &Record) -> String {
    serde_json::to_value(record).unwrap()["type"].as_str().unwrap().to_owned()
}

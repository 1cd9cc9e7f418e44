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

fn sent(call: &str, tokens: u64) -> WorkerFact {
    let usage = TokenUsage::of(tokens, 1);
    let unheard = ModelCall { id: call.into(), model: "m".into(), usage, estimated: true, finish: UNHEARD.into(), ..ModelCall::default() };
    WorkerFact::ModelSent { call: call.into(), unheard: Some(Box::new(unheard)) }
}

fn asked(call: &str) -> WorkerFact {
    WorkerFact::ModelAsked { call: call.into(), model: "m".into(), need: None }
}

#[test]
fn a_call_counts_from_when_it_is_sent_also_if_nobody_hears_its_end() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.fact("a", asked("1"));
    world.fact("a", sent("1", 700));
    assert_eq!(told(&world), [("a:m".to_owned(), SpentFor::UnderWay)], "also where nobody has recovered the run");
    world.step(Input::Recover { by: me() });
    assert_eq!(told(&world), [("a:m".to_owned(), SpentFor::FailedAttempt)]);
    let spent = world.run.spent();
    assert_eq!((spent.tokens, spent.model_calls, spent.estimated, spent.unpriced), (TokenUsage::of(700, 1), 1, true, true));
    assert_eq!(Expense::sum(&expenses(&world.records)), Spent { attempts: 0, ..spent });
    world.fact("a", asked("2"));
    world.fact("a", sent("2", 900));
    let failed = FailedTry {
        message: "503".into(),
        verdict: TryVerdict::Again,
        refused: false,
        otherwise: None,
        usage: Some(TokenUsage::default()),
    };
    world.fact("a", WorkerFact::ModelTryFailed { call: "2".into(), failed });
    assert_eq!((told(&world).len(), failed_requests(&world.records)), (1, 1), "a request that the server failed costs nothing");
    world.fact("a", sent("2", 900));
    let WorkerFact::ModelCalled(answer) = call("m2", 800) else { panic!("it is one") };
    world.fact("a", WorkerFact::ModelCalled(ModelCall { id: "2".into(), ..answer }));
    world.done("a", json!("two"));
    assert_eq!((told(&world).len(), world.run.spent().tokens), (2, TokenUsage::of(1_500, 2)));
}

proptest! {
    #[test]
    fn what_all_calls_took_is_what_the_run_took_whatever_happens(draws in prop::collection::vec((0_u8..3, 0_u8..11), 1..60)) {
        let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"])]));
        // The call that each node was at last.
        let mut at = [const { String::new() }; 3];
        for (nth, (pick, how)) in draws.into_iter().enumerate() {
            let id = ["a", "b", "c"][usize::from(pick)];
            match how {
                0..=3 => drop(world.fact(id, call("m", u64::from(how) + 1))),
                4 => {
                    let WorkerFact::ModelCalled(end) = call("m", 7) else { continue };
                    world.fact(id, WorkerFact::ModelCalled(ModelCall { id: at[usize::from(pick)].clone(), ..end }));
                    world.done(id, json!(how));
                }
                9 | 10 => {
                    let call = format!("c{nth}");
                    world.fact(id, asked(&call));
                    world.fact(id, sent(&call, u64::from(how)));
                    at[usize::from(pick)] = call;
                }
                5 => drop(world.fail(id, ErrorKind::Transient)),
                6 => drop(world.due(id, TimerKind::Retry)),
                7 => drop(world.act(rerun(id, RerunReach::Downstream))),
                _ => drop(world.act(Action::Cancel { target: on(id) })),
            }
            let all = expenses(&world.records);
            // A node that was taken back has nothing under way any more.
            let is_at_work = |expense: &Expense| expense.node.as_ref().is_some_and(|node| world.node(node.as_str()).state.is_at_work());
            let over = all.iter().filter(|expense| expense.spent_for != SpentFor::UnderWay || !is_at_work(expense));
            let (said, took) = (Expense::sum(over), world.run.spent());
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

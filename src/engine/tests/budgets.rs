//! Caps: what is reserved for model calls, who waits, who gets a last turn, and what is settled.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::json;

fn capped(nodes: Vec<Node>, budget: Budget) -> World {
    World::new(Plan { budget, ..plan(nodes) })
}

fn tokens(cap: u64) -> Budget {
    Budget { tokens: Some(cap), ..Budget::default() }
}

fn need() -> CallNeed {
    CallNeed { prompt: 500, least: 64, most: 4_000, last: 300, price: Some(TokenPrice { prompt: 1_000, answer: 4_000 }) }
}

/// Asks for a call; what may be taken, if it may be made at once.
fn ask(world: &mut World, id: &str, call: &str) -> Option<Answer> {
    world.fact(id, WorkerFact::ModelAsked { call: call.into(), model: "m".into(), need: Some(need()) });
    answered(world, call)
}

fn answered(world: &World, call: &str) -> Option<Answer> {
    world.answers().into_iter().rev().find(|(id, _)| id == call).map(|(_, answer)| answer)
}

fn granted(answer: Option<Answer>) -> Option<(u64, bool)> {
    match answer {
        Some(Answer::Go { granted: Some(granted), wrap_up, .. }) => {
            assert_eq!(wrap_up, granted.at_cap);
            Some((granted.tokens, granted.at_cap))
        }
        _ => None,
    }
}

fn end(world: &mut World, id: &str, call: &str, usage: TokenUsage) {
    world.fact(id, WorkerFact::ModelSent { call: call.into(), unheard: None });
    let call = ModelCall { id: call.into(), model: "m".into(), provider: "p".into(), usage, cost_usd: Some(0.001), ..ModelCall::default() };
    world.fact(id, WorkerFact::ModelCalled(call));
}

fn account(world: &World) -> (u64, u64, u64) {
    let Account { used, reserved, kept } = world.run.account();
    (used.tokens, reserved.tokens, kept.tokens)
}

/// Asks for a call that a budget doesn't hold, and has what there is handed back.
fn hand_back(world: &mut World, id: &str, call: &str) -> Option<Answer> {
    assert_eq!(ask(world, id, call), None);
    let gate = world.open().pop().unwrap();
    world.decide(gate, reject(""));
    answered(world, call)
}

fn add(world: &mut World, gate: u32, more: &str) -> Vec<Event> {
    world.decide(gate, GateReply::Answer { value: more.into() })
}

#[test]
fn without_a_cap_nothing_is_reserved_and_all_is_counted() {
    let mut world = capped(vec![agent("a", &[])], Budget::default());
    assert!(matches!(ask(&mut world, "a", "1"), Some(Answer::Go { granted: None, wrap_up: false, .. })));
    end(&mut world, "a", "1", TokenUsage::of(100, 20));
    assert_eq!(account(&world), (120, 0, 0));
    assert_eq!(world.run.account().used, CapAmount { tokens: 120, nano_usd: 1_000_000, calls: 1 });
}

#[test]
fn a_call_gets_what_the_cap_leaves_beside_its_last_turn_and_gives_back_what_it_does_not_take() {
    let mut world = capped(vec![agent("a", &[])], tokens(2_000));
    assert_eq!(granted(ask(&mut world, "a", "1")), Some((1_700, false)));
    assert_eq!(account(&world), (0, 1_700, 300));
    end(&mut world, "a", "1", TokenUsage::of(400, 100));
    assert_eq!(account(&world), (500, 0, 300));
    world.done("a", json!(1));
    assert_eq!(account(&world), (500, 0, 0));
}

#[test]
fn calls_at_once_share_a_cap_and_the_one_that_does_not_fit_waits_until_another_has_settled() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &[])], tokens(2_200));
    assert_eq!(granted(ask(&mut world, "a", "1")), Some((1_900, false)));
    assert_eq!(ask(&mut world, "b", "2"), None);
    assert_eq!((world.state("b"), world.reason("b").contains("the budget of the run")), ("held", true));
    end(&mut world, "a", "1", TokenUsage::of(400, 100));
    assert_eq!(granted(answered(&world, "2")), Some((1_100, false)));
    assert_eq!((world.state("b"), account(&world)), ("running", (500, 1_100, 600)));
}

#[test]
fn a_call_waits_for_the_room_that_is_kept_for_others_as_long_as_one_of_theirs_is_under_way() {
    let calls = Budget { model_calls: Some(2), ..Budget::default() };
    let mut world = capped(vec![agent("a", &[]), agent("b", &[])], calls);
    assert!(granted(ask(&mut world, "a", "1")).is_some());
    assert_eq!((ask(&mut world, "b", "2"), world.state("b"), world.open()), (None, "held", vec![]));
    end(&mut world, "a", "1", TokenUsage::of(400, 100));
    assert_eq!((world.state("b"), world.open()), ("waiting", vec![1]), "one call is left, and none behind it");
    world.done("a", json!(1));
    world.decide(1, reject(""));
    assert_eq!(granted(answered(&world, "2")).map(|(_, at_cap)| at_cap), Some(true));
}

#[test]
fn at_the_cap_people_are_asked_and_a_no_gives_the_agent_a_last_turn_for_which_room_was_kept() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &[])], tokens(2_000));
    ask(&mut world, "a", "1");
    end(&mut world, "a", "1", TokenUsage::of(500, 1_000));
    assert_eq!((ask(&mut world, "a", "2"), world.state("a")), (None, "waiting"));
    let gate = world.run.open_gates().next().unwrap().clone();
    let figures = "of 2,000 tokens 1,500 are used and 300 reserved, and the next call may take 864";
    let asks = "Add how much, as in `5k tokens`? A rejection makes it return what it has";
    assert_eq!(gate.asks(), format!("The budget of the run is used up: {figures}. {asks}"));
    assert_eq!((&gate.payload["left"], &gate.payload["next call"]), (&json!("200 tokens"), &json!("up to 864 tokens")));
    world.decide(gate.id.0, reject(""));
    assert_eq!(granted(answered(&world, "2")), Some((500, true)), "what is left, not less than was kept");
    assert_eq!(hand_back(&mut world, "b", "3"), None, "what is reserved may come back");
    end(&mut world, "a", "2", TokenUsage::of(400, 50));
    let Some(Answer::Refused { message }) = answered(&world, "3") else { panic!("too little came back") };
    let figures = "of 2,000 tokens 1,950 are used and 0 reserved, and the next call may take 864";
    assert_eq!(message, format!("the budget of the run is used up: {figures}"));
}

#[test]
fn a_call_without_figures_takes_all_that_was_reserved_for_it() {
    let mut world = capped(vec![agent("a", &[])], tokens(2_000));
    ask(&mut world, "a", "1");
    world.fact("a", WorkerFact::ModelSent { call: "1".into(), unheard: None });
    let usage = TokenUsage::of(10, 10);
    world.fact("a", WorkerFact::ModelCalled(ModelCall { id: "1".into(), usage, estimated: true, ..ModelCall::default() }));
    assert_eq!(account(&world), (1_700, 0, 300));
}

#[test]
fn what_a_provider_charges_beyond_what_it_was_asked_for_is_noted_and_blocks_further_calls() {
    let mut world = capped(vec![agent("a", &[])], tokens(2_000));
    ask(&mut world, "a", "1");
    end(&mut world, "a", "1", TokenUsage::of(500, 5_000));
    assert_eq!(world.node("a").lineage.notes[0].text, "p charged 3,800 tokens more than it was asked for");
    assert!(matches!(hand_back(&mut world, "a", "2"), Some(Answer::Refused { .. })));
}

#[test]
fn a_call_that_was_sent_when_its_process_ended_counts_as_taken_and_one_that_was_not_comes_back() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &[])], tokens(10_000));
    let [a, b] = ["a", "b"].map(|id| granted(ask(&mut world, id, id)).unwrap().0);
    world.fact("a", WorkerFact::ModelSent { call: "a".into(), unheard: None });
    assert_eq!(account(&world), (0, a + b, 600));
    world.step(Input::Recover { by: me() });
    assert_eq!(account(&world), (a, 0, 0));
}

#[test]
fn a_last_turn_that_fits_once_others_have_ended_waits_for_them() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &[])], tokens(860));
    assert_eq!(granted(hand_back(&mut world, "a", "1")), Some((860, true)), "all that is left is reserved for it");
    assert_eq!((hand_back(&mut world, "b", "2"), world.state("b")), (None, "held"));
    end(&mut world, "a", "1", TokenUsage::of(100, 100));
    assert_eq!(granted(answered(&world, "2")), Some((660, true)));
}

#[test]
fn a_run_says_at_its_end_whose_work_was_cut_short() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &[])], tokens(10_000));
    for id in ["a", "b"] {
        world.fact(id, WorkerFact::Done(Done { result: "half".into(), mark: Some(Mark::BudgetExhausted) }));
    }
    let message = world.run.outcome().map(|(_, cause)| cause.message()).unwrap();
    assert_eq!(message, "`a` used up its limit; its result is what it had by then; so it is with 1 more");
}

#[test]
fn a_failed_try_takes_what_was_reported_or_all_and_the_next_one_is_reserved_anew() {
    let mut world = capped(vec![agent("a", &[])], tokens(10_000));
    let first = granted(ask(&mut world, "a", "1")).unwrap().0;
    let failed = |usage| FailedTry { message: "cut".into(), verdict: TryVerdict::Again, refused: false, otherwise: None, usage };
    world.fact("a", WorkerFact::ModelSent { call: "1".into(), unheard: None });
    world.fact("a", WorkerFact::ModelTryFailed { call: "1".into(), failed: failed(Some(TokenUsage::default())) });
    assert_eq!(account(&world), (0, first, 300), "a server that says no takes no token");
    assert_eq!(world.run.account().used.calls, 1, "it was asked all the same");
    world.fact("a", WorkerFact::ModelSent { call: "1".into(), unheard: None });
    world.fact("a", WorkerFact::ModelTryFailed { call: "1".into(), failed: failed(None) });
    let Some(Answer::Again { tokens: Some(second), .. }) = answered(&world, "1") else { panic!("it is tried again") };
    assert_eq!(account(&world), (first, second, 300));
    end(&mut world, "a", "1", TokenUsage::of(400, 100));
    assert_eq!(account(&world), (first + 500, 0, 300));
}

#[test]
fn requests_that_the_server_fails_count_for_a_cap_on_calls() {
    let mut world = capped(vec![agent("a", &[])], Budget { model_calls: Some(4), ..Budget::default() });
    ask(&mut world, "a", "1");
    let mut sent = 0;
    loop {
        world.fact("a", WorkerFact::ModelSent { call: "1".into(), unheard: None });
        sent += 1;
        let usage = Some(TokenUsage::default());
        let failed = FailedTry { message: "503".into(), verdict: TryVerdict::Again, refused: false, otherwise: None, usage };
        world.fact("a", WorkerFact::ModelTryFailed { call: "1".into(), failed });
        let goes_on = matches!(answered(&world, "1"), Some(Answer::Again { .. }));
        if !goes_on || sent > 4 {
            break;
        }
    }
    assert_eq!(world.run.account().used.calls, sent);
    assert!(sent <= 4);
    world.fail("a", ErrorKind::Permanent);
    assert_eq!(world.run.account().reserved, CapAmount::default());
}

#[test]
fn money_and_calls_are_capped_as_tokens_are() {
    let mut world = capped(vec![agent("a", &[])], Budget { usd: Some(0.004), ..Budget::default() });
    // The prompt takes $0.0005, a token of the answer $0.000004, the last turn $0.0012.
    assert_eq!(granted(ask(&mut world, "a", "1")), Some((500 + 575, false)));
    let mut world = capped(vec![agent("a", &[])], Budget { model_calls: Some(2), ..Budget::default() });
    assert_eq!(granted(ask(&mut world, "a", "1")), Some((4_500, false)));
    end(&mut world, "a", "1", TokenUsage::of(400, 100));
    assert_eq!(granted(hand_back(&mut world, "a", "2")).map(|(_, at_cap)| at_cap), Some(true));
    end(&mut world, "a", "2", TokenUsage::of(400, 100));
    assert!(
        matches!(hand_back(&mut world, "a", "3"), Some(Answer::Refused { message }) if message.contains("of 2 model calls 2 are used"))
    );
}

#[test]
fn the_cap_of_a_node_counts_what_runs_inside_it_and_is_its_own_again_when_it_runs_anew() {
    let inner = json!({"nodes": [{"id": "x", "agent": "worker", "objective": "do it"}]});
    let outer = json!({"id": "outer", "budget": {"tokens": 2_000}, "plan": inner});
    let mut world = World::new(serde_json::from_value(json!({"goal": "g", "nodes": [outer]})).unwrap());
    assert_eq!(granted(ask(&mut world, "outer/x", "1")), Some((1_700, false)));
    end(&mut world, "outer/x", "1", TokenUsage::of(500, 1_000));
    assert_eq!(granted(hand_back(&mut world, "outer/x", "2")), Some((500, true)));
    world.done("outer/x", json!(1));
    world.act(Action::Rerun { node: "outer".into(), scope: RerunReach::Alone });
    assert_eq!(granted(ask(&mut world, "outer/x", "3")), Some((1_700, false)));
    assert_eq!(account(&world).0, 1_500, "the run counts all of it");
}

#[test]
fn a_cap_can_be_raised_and_lowered_under_way() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &["a"])], tokens(1_000));
    let set = |world: &mut World, cap| world.act(Action::Edit { edits: vec![crate::plan::edit::Edit::SetBudget { budget: tokens(cap) }] });
    ask(&mut world, "a", "1");
    end(&mut world, "a", "1", TokenUsage::of(400, 100));
    set(&mut world, 5_000);
    assert_eq!(granted(ask(&mut world, "a", "2")).map(|(_, at_cap)| at_cap), Some(false));
    set(&mut world, 600);
    end(&mut world, "a", "2", TokenUsage::of(100, 100));
    assert!(matches!(hand_back(&mut world, "a", "3"), Some(Answer::Refused { .. })), "700 are used of 600");
}

#[test]
fn what_is_added_lets_the_call_go_and_closes_the_gates_of_others_that_fit_by_now() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &[])], tokens(800));
    assert_eq!((ask(&mut world, "a", "1"), ask(&mut world, "b", "2")), (None, None));
    let refused = |events: Vec<Event>| match &events[..] {
        [Event::Refused { why, .. }] => why.clone(),
        other => panic!("not refused: {other:?}"),
    };
    assert!(refused(add(&mut world, 1, "lots")).starts_with("`lots` is no budget: write `$2`"));
    assert_eq!(refused(add(&mut world, 1, "$1")), "that is not what the budget of the run counts: say how much to add, as in `5k tokens`");
    assert!(refused(world.decide(1, GateReply::Approve)).contains("give an answer"));
    add(&mut world, 1, "100 tokens");
    assert_eq!((granted(answered(&world, "1")).is_some(), world.run.budget().unwrap().tokens), (true, Some(900)));
    end(&mut world, "a", "1", TokenUsage::of(1, 1));
    world.done("a", json!(1));
    assert_eq!((world.voided(2).as_deref(), granted(answered(&world, "2")).is_some()), (Some("its budget holds the call by now"), true));
}

#[test]
fn a_branch_has_a_budget_of_its_own_with_what_only_it_feeds() {
    let mut a = agent("a", &[]);
    a.policy.branch_budget = Some(tokens(2_000));
    let nodes = vec![a, agent("b", &["a"]), agent("other", &[]), agent("both", &["b", "other"])];
    let mut world = capped(nodes, Budget::default());
    assert_eq!(granted(ask(&mut world, "a", "1")), Some((1_700, false)));
    end(&mut world, "a", "1", TokenUsage::of(500, 1_000));
    world.done("a", json!(1));
    assert!(granted(ask(&mut world, "other", "2")).is_none() && answered(&world, "2").is_some(), "it is in no branch with a cap");
    assert_eq!(ask(&mut world, "b", "3"), None);
    assert!(world.run.open_gates().next().unwrap().asks().starts_with("The budget of the branch at `a` is used up: of 2,000 tokens 1,500"));
    add(&mut world, 1, "1k tokens");
    assert_eq!(granted(answered(&world, "3")), Some((1_200, false)));
    end(&mut world, "b", "3", TokenUsage::of(100, 100));
    world.done("b", json!(1));
    world.done("other", json!(1));
    assert!(matches!(ask(&mut world, "both", "4"), Some(Answer::Go { granted: None, .. })));
}

#[test]
fn when_the_time_of_a_run_is_up_agents_return_what_they_have_and_nothing_more_starts() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &["a"])], Budget { seconds: Some(10.0), ..Budget::default() });
    let set = |world: &World| {
        let timers = world.effects.iter().filter_map(|effect| match effect {
            Effect::SetTimer { timer: Timer { kind: TimerKind::Budget, .. }, at } => Some(at.0),
            _ => None,
        });
        timers.collect::<Vec<u64>>()
    };
    assert_eq!(set(&world), [11_000]);
    let timer = Timer { node: "".into(), generation: 0, attempt: 0, kind: TimerKind::Budget };
    world.now = 5_000;
    world.step(Input::TimerDue { timer: timer.clone(), unfinished: None });
    assert_eq!(world.state("a"), "running", "it is not up yet");
    world.now = 11_000;
    world.step(Input::TimerDue { timer, unfinished: None });
    assert_eq!((world.state("a"), world.state("b")), ("stopping", "cancelled"));
    world.done("a", json!(1));
    assert_eq!(world.ended_by().as_deref(), Some("stopped by the budget; what was done by then is kept"));
}

#[test]
fn an_unknown_price_under_a_cap_in_money_is_asked_for_once() {
    let mut world = capped(vec![agent("a", &[]), agent("b", &[])], Budget { usd: Some(0.01), ..Budget::default() });
    let unpriced = |world: &mut World, id: &str, call: &str| {
        let need = CallNeed { price: None, ..need() };
        world.fact(id, WorkerFact::ModelAsked { call: call.into(), model: "m".into(), need: Some(need) });
        answered(world, call)
    };
    assert_eq!(unpriced(&mut world, "a", "1"), None);
    assert!(
        world.run.open_gates().next().unwrap().asks().starts_with("The price of `m` is unknown, and the budget of the run is in dollars")
    );
    let refused = add(&mut world, 1, "cheap");
    assert!(matches!(&refused[..], [Event::Refused { why, .. }] if why.contains("`cheap` is no price")));
    add(&mut world, 1, "1, 4");
    // A last turn takes $0.0012, the prompt $0.0005: what is left makes 2,075 tokens of an answer.
    assert_eq!(granted(answered(&world, "1")), Some((500 + 2_075, false)));
    let usage = TokenUsage::of(100, 50);
    world.fact("a", WorkerFact::ModelSent { call: "1".into(), unheard: None });
    world.fact("a", WorkerFact::ModelCalled(ModelCall { id: "1".into(), usage, ..ModelCall::default() }));
    assert_eq!(world.run.account().used.nano_usd, 100 * 1_000 + 50 * 4_000);
    assert!(unpriced(&mut world, "b", "2").is_some(), "it is known by now");
}

#[test]
fn what_is_too_little_to_add_asks_again_and_a_stop_asks_nobody() {
    let mut world = capped(vec![agent("a", &[])], tokens(600));
    ask(&mut world, "a", "1");
    add(&mut world, 1, "100 tokens");
    assert_eq!((answered(&world, "1"), world.open()), (None, vec![2]));
    world.act(Action::Stop { target: on("a") });
    let Some(Answer::Go { wrap_up: true, granted: Some(granted), .. }) = answered(&world, "1") else { panic!("a last turn") };
    assert_eq!((granted, world.open()), (Granted { tokens: 700, at_cap: false }, vec![]));
}

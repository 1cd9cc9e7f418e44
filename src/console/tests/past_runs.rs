//! Estimates of a plan before it runs, and the screen of statistics with what it suggests.

use super::Deck;
use crate::console::update::ConsoleEffect;
use crate::engine::{
    BrokenCap, Calibration, Estimate, EstimateBand, EstimateBasis, Follows, Forecast, Measure, NodeEstimate, Stats, StatsCell, StatsKey,
    SuggestedChange, Suggestion, ToolUse, WorkStats,
};
use crate::host::client::{
    EstimateReport, LearnWish, LearnedNews, Notice, Request, StatsReport, SuggestionEntry, SuggestionState, SuggestionTurn,
};

fn figure(low: f64, expected: f64, worst: f64) -> EstimateBand {
    EstimateBand { low, expected: Some(expected), worst: Some(worst) }
}

/// The number of the newest question for an estimate.
fn asked(deck: &Deck) -> Option<u64> {
    deck.asked.iter().rev().find_map(|effect| match effect {
        ConsoleEffect::Send(Request::Learn(LearnWish::Estimate { number, .. })) => Some(*number),
        _ => None,
    })
}

fn came(deck: &mut Deck, broken: bool) {
    let node = deck.model.editor.plan().nodes[0].id.clone();
    let takes = Forecast { tokens: figure(8_100.0, 12_000.0, 21_000.0), ms: figure(9_000.0, 14_000.0, 30_000.0), ..Forecast::default() };
    let known = NodeEstimate { node, basis: EstimateBasis::History, cases: Some(34), prompt_tokens: None, takes };
    let cap = BrokenCap { node: None, measure: Measure::Tokens, cap: 10_000.0, worst: 21_000.0 };
    let broken_caps = if broken { vec![cap] } else { Vec::new() };
    let estimate = Estimate { whole: takes, nodes: vec![known], broken_caps, ..Estimate::default() };
    let number = asked(deck).unwrap();
    let report = Box::new(EstimateReport { estimate, record: Calibration::default() });
    deck.notice(Notice::LearnedNews(LearnedNews::Estimate { number, report }));
}

#[test]
fn what_a_plan_will_take_is_in_its_head_its_rows_and_its_card_and_what_nobody_knows_is_a_question_mark() {
    let mut deck = Deck::planned(200, 30);
    assert!(asked(&deck).is_some(), "{:?}", deck.asked);
    assert!(!deck.sees("about"), "nothing is shown before it is known: {}", deck.screen());
    came(&mut deck, false);
    let first = deck.model.editor.plan().nodes[0].id.clone();
    deck.select(&first);
    for words in ["about 14s", "about 12k tokens", "cost ?", "about 12k (8.1k to", "from 34 attempts"] {
        assert!(deck.sees(words), "{words}: {}", deck.screen());
    }
    let screen = deck.screen();
    let row = screen.lines().find(|line| line.contains('▶')).unwrap_or_default();
    assert!(row.split('┃').next().is_some_and(|row| row.contains("14s")), "{screen}");
}

#[test]
fn an_edit_asks_for_another_estimate_and_the_old_one_is_shown_no_more() {
    let mut deck = Deck::planned(200, 30);
    came(&mut deck, true);
    let first = asked(&deck);
    deck.keys("d");
    assert!(asked(&deck) > first, "{:?}", deck.asked);
    assert!(!deck.sees("about 12k tokens"), "{}", deck.screen());
    deck.keys("j k");
    let again = asked(&deck);
    deck.keys("j k");
    assert_eq!(asked(&deck), again, "a key that changes nothing asks nothing");
}

fn report(state: SuggestionState) -> StatsReport {
    let key = |agent: &str, model: &str| StatsKey { agent: Some(agent.into()), model: Some(model.into()), goal: Some("write".into()) };
    let tools = [("read_file".to_owned(), ToolUse { attempts: 3, calls: 4 })].into();
    let done = WorkStats {
        attempts: 35,
        succeeded: 34,
        failed: 1,
        prompt: 35_000,
        took_ms: 35_000,
        model_calls: 70,
        tools,
        ..WorkStats::default()
    };
    let unpriced = WorkStats { attempts: 4, succeeded: 4, unpriced: 4, ..WorkStats::default() };
    let cells = vec![StatsCell { key: key("writer", "mini (p)"), done }, StatsCell { key: key("analyst", "large (p)"), done: unpriced }];
    let follows = vec![Follows { before: "analyst".into(), after: "writer".into(), runs: 7 }];
    let change = SuggestedChange::DropTool { agent: "writer".into(), tool: "summarize".into() };
    let evidence = "it called summarize in none of 35 attempts".into();
    let suggestion = Suggestion { id: "drop:writer:summarize".into(), change, evidence };
    StatsReport {
        stats: Stats { runs: 39, cells, follows, ..Stats::default() },
        record: Calibration::default(),
        suggestions: vec![SuggestionEntry { suggestion, state, file: None }],
    }
}

fn statistics() -> Deck {
    let mut deck = Deck::new(120, 34);
    deck.keys("esc 0");
    assert!(deck.asked.contains(&ConsoleEffect::Send(Request::Learn(LearnWish::Stats))));
    deck.notice(Notice::LearnedNews(LearnedNews::Stats(report(SuggestionState::Open))));
    deck
}

#[test]
fn statistics_show_how_agents_and_models_did_and_sum_up_otherwise_by_a_key() {
    let mut deck = statistics();
    for words in
        ["by agent and model", "39 past runs", "writer · mini (p)", "97 % of 35", "analyst · large (p)", "drop summarize from the card"]
    {
        assert!(deck.sees(words), "{words}: {}", deck.screen());
    }
    deck.keys("j");
    for words in ["read_file in 3 of 35 attempts", "writer follows analyst 7×", "2.0 of its model"] {
        assert!(deck.sees(words), "{words}: {}", deck.screen());
    }
    deck.keys("j");
    assert!(deck.sees("?, as a price is unknown"), "{}", deck.screen());
    deck.keys("b b b");
    assert!(deck.sees("by kind of goal"), "{}", deck.screen());
}

#[test]
fn a_suggestion_shows_its_evidence_and_is_taken_dismissed_and_undone_by_one_key_each() {
    let mut deck = statistics();
    assert!(deck.sees("in none of 35 attempts") && deck.sees("Taking it changes the agent's card"), "{}", deck.screen());
    let sent = |deck: &Deck, turn| {
        let wish = LearnWish::Suggestion { id: "drop:writer:summarize".into(), turn };
        deck.asked.contains(&ConsoleEffect::Send(Request::Learn(wish)))
    };
    deck.keys("u");
    assert!(!sent(&deck, SuggestionTurn::Undo) && deck.sees("no suggestion that you took"), "{}", deck.screen());
    deck.keys("t");
    assert!(sent(&deck, SuggestionTurn::Take));
    deck.notice(Notice::LearnedNews(LearnedNews::Turned("changed /config/agents/writer.md".into(), report(SuggestionState::Taken))));
    assert!(deck.sees("changed /config/agents/writer.md") && deck.sees("taken"), "{}", deck.screen());
    deck.keys("t d");
    assert!(!sent(&deck, SuggestionTurn::Dismiss), "what was taken is undone first");
    deck.keys("u");
    assert!(sent(&deck, SuggestionTurn::Undo));
}

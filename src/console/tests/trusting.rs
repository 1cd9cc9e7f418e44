//! Trust in the console: what a workspace brings is named, and trusted only after all that it would change was shown.

use super::Deck;
use crate::console::update::ConsoleEffect;
use crate::engine::{GateId, Outgoing, RunId, ToolCall, ToolReport, WorkerFact};
use crate::host::client::{CoveredCalls, Notice, Patterns, Problem, Request, RuleOffer, RuleScope, TrustItem};
use crate::plan::Verdict;
use serde_json::json;

#[test]
fn a_file_is_trusted_only_after_all_that_it_would_change_was_shown() {
    let item: TrustItem = serde_json::from_value(json!({
        "path": ".dagdeck/agents/writer.md", "state": "changed", "text": "new",
        "changes": ["replaces the shipped agent `writer`", "- tools: [read_file]", "+ tools: [\"*\"]"],
    }))
    .unwrap();
    let mut deck = Deck::new(100, 30);
    deck.notice(Notice::Trust(vec![item.clone()]));
    assert!(deck.sees("files to trust") && deck.sees(".dagdeck/agents/writer.md") && deck.sees("changed"), "{}", deck.screen());
    let sent = |deck: &Deck| deck.asked.iter().any(|asked| matches!(asked, ConsoleEffect::Send(Request::Trust(sent)) if **sent == item));
    deck.keys("enter");
    assert!(deck.sees("trust .dagdeck/agents/writer.md as it is now?") && deck.sees("+ tools: [\"*\"]"), "{}", deck.screen());
    assert!(!sent(&deck));
    deck.keys("y");
    assert!(sent(&deck));
    deck.notice(Notice::Trust(Vec::new()));
    assert!(deck.sees("nothing in this workspace waits to be trusted"), "{}", deck.screen());
}

#[test]
fn a_host_is_allowed_for_good_only_by_its_own_key_pressed_twice() {
    let mut deck = Deck::running(110, 34);
    let call = |id: &str, tool: &str| ToolCall { id: id.into(), tool: tool.into(), args: json!({ "path": "x" }) };
    let ask = |call, leaves| WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves };
    deck.fact("scan", ask(call("1", "read_file"), None));
    deck.fact("scan", WorkerFact::ToolDone { call: "1".into(), report: ToolReport { ok: true, ..ToolReport::default() } });
    let outgoing = Outgoing { host: "collector.example:443".into(), ..Outgoing::default() };
    deck.fact("scan", ask(call("2", "fetch_url"), Some(Box::new(outgoing))));
    let allowed = |deck: &Deck| {
        let wanted = ConsoleEffect::Send(Request::AllowHost("collector.example:443".into()));
        deck.asked.contains(&wanted)
    };
    deck.keys("i");
    assert!(deck.sees("what it would send"), "{}", deck.screen());
    deck.keys("A");
    assert!(deck.sees("may then always be sent to collector.example:443: press A"), "{}", deck.screen());
    assert!(!allowed(&deck) && deck.engine().open_gates().count() == 1);
    deck.keys("A");
    assert!(allowed(&deck) && deck.engine().open_gates().count() == 0, "{}", deck.screen());
}

/// The gate whose rules are asked for.
fn asked_for(deck: &Deck) -> (RunId, GateId) {
    let asked = deck.asked.iter().find_map(|asked| match asked {
        ConsoleEffect::Send(Request::OfferRules { run, gate }) => Some((run.clone(), *gate)),
        _ => None,
    });
    asked.expect("the rules of the gate are asked for")
}

#[test]
fn after_an_approval_a_rule_is_proposed_and_only_the_picked_one_is_kept() {
    let mut deck = Deck::running(120, 34);
    let call = ToolCall { id: "1".into(), tool: "write_file".into(), args: json!({ "path": "x" }) };
    deck.fact("scan", WorkerFact::ToolAsked { call, verdict: Verdict::Ask, why: String::new(), leaves: None });
    deck.keys("i Y");
    assert!(deck.sees("approve or reject the call of a tool first"), "{}", deck.screen());
    deck.keys("a");
    let (run, gate) = asked_for(&deck);
    let offer = |scope, rule: Result<&str, &str>, approved| RuleOffer {
        scope,
        rule: rule.map(str::to_owned).map_err(str::to_owned),
        covered: CoveredCalls { approved, ..CoveredCalls::default() },
    };
    let offers = vec![
        offer(RuleScope::Same, Ok("allow write_file with the same arguments"), 1),
        offer(RuleScope::Run, Ok("allow write_file in run 1"), 4),
    ];
    deck.notice(Notice::RuleOffers { run: run.clone(), gate, offers });
    assert!(deck.sees("keeps a rule, so that such calls ask no more: it would have covered 4 calls"), "{}", deck.screen());
    deck.keys("Y");
    assert!(deck.sees("allow write_file in run 1") && deck.sees("would have covered 4 ca"), "{}", deck.screen());
    let kept = |deck: &Deck, scope| {
        deck.asked.contains(&ConsoleEffect::Send(Request::KeepRule { run: run.clone(), gate, scope, only: Patterns::new() }))
    };
    deck.keys("down enter");
    assert!(kept(&deck, RuleScope::Run) && !kept(&deck, RuleScope::Same));
    deck.notice(Notice::RuleKept { id: 7, what: "allow write_file in run 1".into(), file: "/kept/rules.json".into() });
    assert!(deck.sees("rule 7: allow write_file in run 1; kept in /kept/rules.json"), "{}", deck.screen());
    deck.keys("Y");
    assert!(deck.sees("approve or reject the call of a tool first"), "{}", deck.screen());
}

#[test]
fn a_rule_of_ones_own_is_weighed_as_it_is_typed() {
    let mut deck = Deck::running(80, 24);
    let call = ToolCall { id: "1".into(), tool: "write_file".into(), args: json!({"path": "docs/a.txt", "content": "two\nlines"}) };
    deck.fact("scan", WorkerFact::ToolAsked { call, verdict: Verdict::Ask, why: String::new(), leaves: None });
    deck.keys("i a");
    let (run, gate) = asked_for(&deck);
    let covered = || CoveredCalls { approved: 2, rejected: 1, newest: vec!["path: docs/a.txt".into()] };
    let offer = |rule: &str| RuleOffer { scope: RuleScope::Project, rule: Ok(rule.to_owned()), covered: covered() };
    deck.notice(Notice::RuleOffers { run: run.clone(), gate, offers: vec![offer("allow write_file in this workspace")] });
    deck.keys("Y down enter");
    assert!(deck.sees("path (a pattern; empty: any)") && !deck.sees("content"), "{}", deck.screen());
    let only = |path: &str| Patterns::from([("path".to_owned(), path.to_owned())]);
    let weighs = |deck: &Deck, path: &str| {
        let request = Request::WeighRule { run: run.clone(), gate, only: only(path) };
        deck.asked.iter().filter(|asked| **asked == ConsoleEffect::Send(request.clone())).count()
    };
    assert_eq!(weighs(&deck, "docs/a.txt"), 1);
    deck.keys("backspace backspace backspace backspace backspace *");
    assert_eq!(weighs(&deck, "docs/*"), 1);
    let late = offer("allow write_file path=docs/a.txt in this workspace");
    deck.notice(Notice::RuleWeighed { run: run.clone(), gate, only: only("docs/a.txt"), offer: late });
    assert!(!deck.sees("path=docs/a.txt"), "it is no longer what is typed: {}", deck.screen());
    let now = offer("allow write_file path=docs/* in this workspace");
    deck.notice(Notice::RuleWeighed { run: run.clone(), gate, only: only("docs/*"), offer: now });
    for words in ["path=docs/* in this workspace", "would have covered 2 calls", "that you approved and 1 that you rejected"] {
        assert!(deck.sees(words), "{words}: {}", deck.screen());
    }
    deck.keys("ctrl-s");
    let kept = Request::KeepRule { run: run.clone(), gate, scope: RuleScope::Project, only: only("docs/*") };
    assert!(deck.asked.contains(&ConsoleEffect::Send(kept)));
    deck.notice(Notice::Problem(Problem::new("the disk is full")));
    assert!(deck.sees("> docs/*"), "what was typed stays: {}", deck.screen());
    deck.keys("ctrl-s");
    deck.notice(Notice::RuleKept { id: 1, what: "allow it".into(), file: "/kept/rules.json".into() });
    assert!(deck.sees("rule 1: allow it") && !deck.sees("> docs/*"), "{}", deck.screen());
}

#[test]
fn a_tool_is_allowed_for_good_only_by_its_own_key_pressed_twice() {
    let mut deck = Deck::running(110, 34);
    let call = ToolCall { id: "1".into(), tool: "write_file".into(), args: json!({ "path": "x" }) };
    deck.fact("scan", WorkerFact::ToolAsked { call, verdict: Verdict::Ask, why: String::new(), leaves: None });
    let allowed = |deck: &Deck| deck.asked.iter().any(|asked| matches!(asked, ConsoleEffect::Send(Request::ApproveAlways { .. })));
    deck.keys("i");
    deck.keys("A");
    assert!(deck.sees("write_file then always runs in this workspace, whatever its arguments: press A"), "{}", deck.screen());
    assert!(!allowed(&deck));
    deck.keys("A");
    assert!(allowed(&deck), "{}", deck.screen());
}

//! Faults that users of comparable programs met, none of which this console may have.

use serde_json::{Value, json};

use super::Deck;
use crate::console::{
    model::Key,
    update::{ConsoleEffect, Msg, next_wake},
};
use crate::engine::{NodeError, RunId, RunStatus, Time, ToolCall, ToolReport, WorkerFact};
use crate::host::client::{Driver, ModelStatus, Notice, PlanningId, Problem, RunSummary};
use crate::plan::{Plan, Verdict};

/// An escape sequence that sets the clipboard, one that clears the screen, both as C1 controls too, and text that runs backwards.
const HOSTILE: &str = "\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{9d}0;owned\u{9c}\u{9b}2J\u{202e}drawkcab\u{2066}\u{200f}\r\u{8}";

/// Everything of a plan that an author writes, written by an enemy.
fn hostile_plan() -> Plan {
    let id = |n: u8| format!("n{n}{HOSTILE}");
    serde_json::from_value(json!({
        "goal": HOSTILE,
        "inputs": { HOSTILE: HOSTILE },
        "metadata": { HOSTILE: HOSTILE },
        "nodes": [
            { "id": id(1), "agent": HOSTILE, "objective": HOSTILE, "notes": HOSTILE, "model": HOSTILE, "tools": [HOSTILE] },
            { "id": id(2), "tool": "read_file", "args": { "path": HOSTILE, HOSTILE: [HOSTILE] } },
            { "id": id(3), "code": HOSTILE, "when": "true" },
            { "id": id(4), "tool": "write_file", "args": { "path": HOSTILE, "content": HOSTILE }, "approve": "before" },
            { "id": id(5), "ask": { "text": HOSTILE, "options": [HOSTILE, "no"] } },
            { "id": id(6), "ask": { "text": HOSTILE, "fields": [{ "name": HOSTILE, "label": HOSTILE, "default": HOSTILE }] } },
            { "id": id(7), "value": HOSTILE, "depends_on": [id(1)], "when": HOSTILE },
            { "id": id(8), "agent": HOSTILE, "objective": HOSTILE },
        ],
        "edges": [{ "from": id(2), "to": id(3), "label": HOSTILE, "when": "true" }],
    }))
    .unwrap()
}

/// What a terminal obeys, and what reorders what it shows.
fn is_dangerous(c: char) -> bool {
    c.is_control() && c != '\n' || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What was sent to the terminal besides the screen: copied text goes through `Plain` on its way out, the farewell is made of it.
fn farewell(deck: &Deck) -> String {
    let lines = deck.asked.iter().filter_map(|action| match action {
        ConsoleEffect::Quit { summary, .. } => Some(summary.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("\n")),
        _ => None,
    });
    lines.collect()
}

fn check(deck: &mut Deck, after: &str) {
    let screen = deck.screen();
    let bad: Vec<char> = screen.chars().filter(|c| is_dangerous(*c)).collect();
    assert!(bad.is_empty(), "after {after}: {bad:?}\n{screen:?}");
}

/// Case 17.
#[test]
fn escapes_and_bidi_in_ids_titles_arguments_and_results_are_shown_escaped_never_sent() {
    let mut deck = Deck::new(160, 50);
    let mut catalog = deck.catalog.clone();
    catalog.tools[0].name = HOSTILE.into();
    catalog.tools[0].description = HOSTILE.into();
    catalog.agents[0].name = HOSTILE.into();
    catalog.agents[0].description = HOSTILE.into();
    let problem = Problem { message: HOSTILE.into(), hint: Some(HOSTILE.into()) };
    deck.notice(Notice::Catalog { catalog: Box::new(catalog), problems: vec![problem.clone()] });
    deck.notice(Notice::Model(ModelStatus::Connected { model: HOSTILE.into(), provider: HOSTILE.into() }));
    check(&mut deck, "the catalog");
    deck.plan = hostile_plan();
    deck.type_text("a request");
    deck.keys("enter");
    deck.notice(Notice::PlanProgress { id: PlanningId(1), text: HOSTILE.into() });
    let plan_keys = "1 tab ] ] ] ] z y esc j j j k e esc F j esc D esc C esc w esc R esc ? esc : esc / esc m esc a esc t Z";
    each(&mut deck, plan_keys);

    deck.start(hostile_plan(), Vec::new());
    let id = |n: u8| format!("n{n}{HOSTILE}");
    for fact in hostile_facts() {
        deck.fact(&id(1), fact);
        check(&mut deck, "a fact");
    }
    deck.done(&id(2), json!({ HOSTILE: [HOSTILE] }));
    deck.fact(&id(8), WorkerFact::Failed(NodeError { hint: Some(HOSTILE.into()), ..NodeError::permanent(HOSTILE) }));
    deck.notice(Notice::Problem(problem));
    check(&mut deck, "a problem");
    let runs = RunSummary {
        run: RunId(HOSTILE.into()),
        goal: HOSTILE.into(),
        created: Time(1),
        over_ms: 0,
        last: Time(1),
        outcome: None,
        driver: Driver::Nobody,
        nodes: 1,
        waiting: vec![HOSTILE.into()],
        status: RunStatus::Interrupted,
        parent: None,
        imported: None,
    };
    deck.notice(Notice::Runs(vec![runs]));
    each(&mut deck, "1 tab ] ] ] ] ] z y esc j ] ] ] z esc j j j X n ctrl-k n 3 esc i z esc e esc y j e esc j e esc j e esc j enter . q c");
    assert!(deck.engine().open_gates().count() == 0, "the run was cancelled on leaving: {}", deck.screen());
    let farewell = farewell(&deck);
    assert!(!farewell.is_empty() && !farewell.contains(is_dangerous), "{farewell:?}");
}

fn each(deck: &mut Deck, keys: &str) {
    for key in keys.split(' ') {
        deck.keys(key);
        check(deck, key);
    }
}

fn hostile_facts() -> Vec<WorkerFact> {
    let call = |id: &str| ToolCall { id: id.into(), tool: HOSTILE.into(), args: json!({ "path": HOSTILE, HOSTILE: HOSTILE }) };
    vec![
        WorkerFact::Message { role: crate::engine::MessageRole::Assistant, content: HOSTILE.into() },
        WorkerFact::Output(HOSTILE.into()),
        WorkerFact::Log(HOSTILE.into()),
        WorkerFact::ToolAsked { call: call("1"), verdict: Verdict::Allow, why: HOSTILE.into(), leaves: None },
        WorkerFact::ToolDone { call: "1".into(), report: ToolReport { ok: true, value: Value::from(HOSTILE), ..ToolReport::default() } },
        WorkerFact::ToolAsked { call: call("2"), verdict: Verdict::Ask, why: HOSTILE.into(), leaves: None },
        WorkerFact::QuestionAsked {
            call: "3".into(),
            text: HOSTILE.into(),
            options: vec![HOSTILE.into()],
            fields: Vec::new(),
            payload: json!({ "prompt": HOSTILE }),
            within: None,
        },
    ]
}

/// Case 14.
#[test]
fn leaving_prints_a_short_summary_not_every_buffer() {
    let mut deck = Deck::running(80, 24);
    for piece in 0..2_000 {
        deck.fact("scan", WorkerFact::Output(format!("streamed line {piece}\n")));
    }
    deck.done("scan", json!("a result"));
    for _ in 0..40 {
        deck.start(super::plan(), Vec::new());
    }
    deck.keys("ctrl-c c");
    let farewell = farewell(&deck);
    assert!((3..=10).contains(&farewell.lines().count()), "{farewell}");
    assert!(
        farewell.contains("list the rust files") && farewell.contains("dagdeck ls") && farewell.contains("dagdeck show run-41"),
        "{farewell}"
    );
    assert!(!farewell.contains("streamed line") && !farewell.contains("a result"), "{farewell}");
    assert!(farewell.lines().all(|line| line.chars().count() <= 80), "{farewell}");
}

/// Case 18.
#[test]
fn the_oldest_gate_comes_first_across_runs_and_cancelling_one_keeps_the_others() {
    let gated = |id: &str| -> Plan {
        serde_json::from_value(json!({ "goal": id, "nodes": [
            { "id": format!("{id}-one"), "agent": "writer", "objective": "x", "approve": "before" },
            { "id": format!("{id}-two"), "agent": "writer", "objective": "x", "approve": "before" },
        ] }))
        .unwrap()
    };
    let mut deck = Deck::new(100, 30);
    for id in ["old", "new"] {
        deck.later(10_000);
        deck.start(gated(id), Vec::new());
    }
    let nodes = |deck: &Deck| -> Vec<String> {
        let inbox = deck.model.inbox.gates.iter();
        inbox.map(|key| deck.runs[&key.run.0].gate(key.gate).unwrap().0.node.to_string()).collect()
    };
    assert_eq!(nodes(&deck), ["old-one", "old-two", "new-one", "new-two"]);
    deck.keys("esc i k X X");
    assert_eq!(nodes(&deck), ["old-one", "new-one", "new-two"], "{}", deck.screen());
    deck.keys("k a");
    assert_eq!(nodes(&deck), ["new-one", "new-two"], "{}", deck.screen());
}

/// Case 22.
#[test]
fn text_can_be_copied_by_y_and_from_a_zoomed_pane_without_borders() {
    let lines: Vec<String> = (0..60).map(|line| format!("line {line} of the result")).collect();
    let mut deck = Deck::running(80, 24);
    deck.done("scan", json!(lines.join("\n")));
    deck.select("scan");
    deck.keys("y z");
    let screen = deck.screen();
    let shown: Vec<&str> = screen.lines().filter(|line| line.contains("of the result")).collect();
    assert!(shown.len() > 10, "{screen}");
    assert!(
        shown.iter().all(|line| line.starts_with("line ") && line.ends_with("of the result")),
        "nothing stands beside the text:\n{screen}"
    );
    assert!(!screen.contains(['│', '─', '┌', '┐', '└', '┘', '╭', '╮', '╰', '╯']), "{screen}");
    deck.keys("y");
    let copied: Vec<&String> =
        deck.asked.iter().filter_map(|action| if let ConsoleEffect::Copy(text) = action { Some(text) } else { None }).collect();
    assert_eq!(copied.len(), 2, "{:?}", deck.asked);
    for text in copied {
        assert!(lines.iter().all(|line| text.lines().any(|copied| copied == line)), "all of it, not only what is in sight: {text}");
    }
}

/// Case 21.
#[test]
fn nothing_wakes_an_idle_console_and_the_title_is_not_set_again() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i");
    deck.later(5_000);
    deck.flush();
    let minute = Time((deck.now.0 / 60_000 + 1) * 60_000);
    assert_eq!(next_wake(&deck.model, deck.now), Some(minute), "only how long ago it asked goes on");
    deck.asked.clear();
    deck.send(Msg::Tick);
    deck.keys("j k");
    assert!(!deck.asked.iter().any(|action| matches!(action, ConsoleEffect::Attention { .. })), "{:?}", deck.asked);
    let mut done = Deck::running(80, 24);
    assert!(next_wake(&done.model, done.now).is_some(), "elapsed time goes by");
    done.send(Msg::Key(Key::parse("ctrl-k").unwrap()));
    done.keys("y");
    done.later(5_000);
    done.flush();
    assert_eq!(next_wake(&done.model, done.now), None, "{}", done.screen());
}

#[test]
fn with_reduced_motion_the_screen_changes_only_when_something_happens() {
    let mut deck = Deck::running(80, 24);
    assert!(next_wake(&deck.model, deck.now).is_some());
    deck.model.look.reduced_motion = true;
    assert_eq!(next_wake(&deck.model, deck.now), None, "times of what runs stay as they are");
    deck.keys("H ]");
    deck.keys("0 space");
    assert!(next_wake(&deck.model, deck.now).is_some(), "a replay that a person plays goes on");
}

//! Answers to forms, edits that change nothing, and what undo brings back with a plan.

use super::Deck;
use crate::console::{
    model::{EditThen, PlanScreen},
    update::{ConsoleEffect, Msg},
};
use crate::engine::GateReply;
use crate::plan::Plan;
use serde_json::{Value, json};

fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

/// A run of one question with options and a form.
fn asking() -> Deck {
    let mut deck = Deck::new(100, 30);
    deck.start(
        read(json!({ "goal": "order", "nodes": [{ "id": "ask", "ask": {
        "text": "How many, and from where?",
        "options": ["north", "south"],
        "fields": [{ "name": "count", "kind": "number", "default": 3, "label": "How many" }, { "name": "words", "kind": "text" }],
    } }] })),
        Vec::new(),
    );
    deck
}

fn result(deck: &Deck) -> Value {
    deck.engine().node(&"ask".into()).unwrap().result.as_deref().cloned().unwrap()
}

#[test]
fn a_question_with_options_and_fields_is_answered_by_one_form() {
    let mut deck = asking();
    deck.keys("esc i");
    assert!(deck.sees("How many (a number), preset 3"), "{}", deck.screen());
    deck.keys("e");
    assert!(deck.sees("one of: north, south"), "{}", deck.screen());
    deck.keys("ctrl-s");
    assert!(deck.sees("type one of: north, south"), "{}", deck.screen());
    deck.type_text("so");
    deck.keys("ctrl-s a");
    assert_eq!(result(&deck), json!({ "answer": { "option": "south", "count": 3, "words": "" } }), "{}", deck.screen());
}

#[test]
fn a_form_can_be_answered_outside_as_json() {
    let mut deck = asking();
    deck.keys("esc i E");
    let Some(ConsoleEffect::OpenEditor { text, suffix, then }) = deck.asked.pop() else { panic!("{:?}", deck.asked) };
    assert_eq!(suffix, ".json");
    let asked: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(asked, json!({ "option": "north | south", "count": 3, "words": "" }));
    let answer = text.replace("north | south", "north");
    deck.send(Msg::Edited { then, before: text, text: Ok(answer) });
    deck.keys("a");
    assert_eq!(result(&deck), json!({ "answer": { "option": "north", "count": 3, "words": "" } }), "{}", deck.screen());
}

#[test]
fn an_answer_without_the_option_is_refused() {
    let mut deck = asking();
    let run = crate::engine::RunId("run-1".into());
    let gate = deck.engine().open_gates().next().unwrap();
    let (gate, hash) = (gate.id, gate.hash.clone());
    let decision = GateReply::Answer { value: json!({ "count": 1 }) };
    deck.command(&run, crate::engine::Command::decide(gate, decision, hash));
    assert!(deck.model.status.as_ref().unwrap().text.as_str().contains("`option` must be one of: north, south"), "{:?}", deck.model.status);
}

#[test]
fn origin_and_baseline_follow_undo_across_plans() {
    let mut deck = Deck::new(100, 30);
    let from_file = super::plan();
    crate::console::update::actions::plan::open(&mut deck.model, from_file, crate::console::model::PlanOrigin::File("plan.json".into()));
    assert!(deck.sees("from plan.json"), "{}", deck.screen());
    deck.plan = read(json!({ "goal": "another", "nodes": [{ "id": "only", "value": 1 }] }));
    deck.keys("n");
    deck.type_text("another");
    deck.keys("enter");
    assert!(deck.sees("by the built-in planner") && !deck.sees("from plan.json"), "{}", deck.screen());
    deck.keys("u");
    assert!(deck.sees("from plan.json") && !deck.sees("built-in"), "{}", deck.screen());
    deck.keys("=");
    assert!(deck.model.editor.compare.differences().is_empty(), "{}", deck.screen());
    deck.keys("= U");
    assert!(deck.sees("by the built-in planner"), "{}", deck.screen());
    deck.keys("u d");
    deck.keys("=");
    assert!(!deck.model.editor.compare.differences().is_empty(), "{}", deck.screen());
    deck.keys("= u r P");
    assert!(deck.sees("from a run"), "{}", deck.screen());
    deck.keys("u");
    assert!(deck.sees("from plan.json"), "{}", deck.screen());
}

#[test]
fn the_farewell_says_how_each_run_ended() {
    let mut deck = Deck::running(80, 24);
    deck.later(65_000);
    deck.keys("1 < r y");
    deck.keys("q c");
    let Some(ConsoleEffect::Quit { summary, .. }) = deck.asked.pop() else { panic!("{:?}", deck.asked) };
    let lines: Vec<&str> = summary.iter().map(crate::text::Plain::as_str).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("cancelled   ") && lines[0].ends_with("0/4 done, 4 not run, elapsed 1m11s"), "{lines:?}");
    assert_eq!((lines[1], lines[3]), ("  dagdeck show run-1", "  dagdeck show run-2"));
}

#[test]
fn the_ends_of_a_gates_text_are_a_key_away_and_the_gate_stays() {
    let mut deck = Deck::new(100, 30);
    let long: Vec<String> = (0..80).map(|line| format!("line {line}")).collect();
    let node = |id: &str| json!({ "id": id, "agent": "writer", "objective": long.join("\n"), "approve": "before" });
    deck.start(read(json!({ "goal": "x", "nodes": [node("a"), node("b")] })), Vec::new());
    for way in ["esc i", "1 enter"] {
        deck.keys(way);
        deck.keys("G");
        assert!(deck.sees("line 79"), "{}", deck.screen());
        deck.keys("g");
        assert!(deck.sees("line 0") && !deck.sees("line 79"), "{}", deck.screen());
        assert_eq!(deck.model.selected_gate().map(|(_, gate)| gate.node.as_str()), Some("a"));
    }
}

#[test]
fn a_text_that_comes_back_as_it_was_is_no_answer_and_no_change() {
    let mut deck = Deck::waiting(100, 30);
    deck.keys("esc i E");
    let Some(ConsoleEffect::OpenEditor { text, then, .. }) = deck.asked.pop() else { panic!("{:?}", deck.asked) };
    deck.send(Msg::Edited { then, before: text.clone(), text: Ok(format!("{text}\n")) });
    assert!(deck.model.inbox.drafts.is_empty());
    assert!(deck.sees("nothing changed"), "{}", deck.screen());
    deck.keys("e ctrl-s");
    assert!(deck.model.inbox.drafts.is_empty());
}

#[test]
fn edits_that_change_nothing_add_no_step_to_undo() {
    let mut deck = Deck::planned(100, 30);
    deck.select("count");
    deck.keys("ctrl-e");
    let Some(ConsoleEffect::OpenEditor { text, then, .. }) = deck.asked.pop() else { panic!("{:?}", deck.asked) };
    let other = format!("\n{text}");
    deck.send(Msg::Edited { then, before: text.clone(), text: Ok(other) });
    deck.keys("S ctrl-s L ctrl-s O enter C enter I ctrl-s e ctrl-s R enter");
    assert!(deck.model.dialogs.is_empty(), "{}", deck.screen());
    assert!(!deck.model.editor.can_undo(), "{}", deck.screen());
    let other = text.replace("list the rust files", "count the rust files");
    deck.send(Msg::Edited { then: EditThen::WholePlan, before: text, text: Ok(other) });
    assert!(deck.model.editor.can_undo());
}

#[test]
fn esc_stays_at_the_tree_of_the_run_and_says_how_to_go_elsewhere() {
    let mut deck = Deck::running(100, 30);
    assert!(deck.sees("> plan"), "{}", deck.screen());
    deck.keys("esc esc esc");
    assert!(matches!(deck.model.place.shown, PlanScreen::Run(_)));
    assert!(deck.sees("> goes on to the next run or the plan"), "{}", deck.screen());
    deck.keys(">");
    assert_eq!(deck.model.place.shown, PlanScreen::Plan);
    assert_eq!(deck.engine().outcome(), None);
}

#[test]
fn what_is_said_fits_the_screen_and_the_moment() {
    let mut deck = Deck::running(100, 30);
    assert!(!deck.sees("starting"), "{}", deck.screen());
    deck.keys("i");
    deck.done("list", json!("x"));
    deck.done("scan", json!("x"));
    deck.done("count", json!("x"));
    assert!(deck.sees("write: may it start?") && !deck.sees("goes there"), "{}", deck.screen());
}

#[test]
fn a_search_without_a_hit_leaves_the_selection_where_it_was() {
    let mut deck = Deck::planned(100, 30);
    deck.select("write");
    deck.keys("/");
    deck.type_text("zz");
    deck.keys("esc");
    assert_eq!(deck.model.selected_id().unwrap().as_str(), "write");
}

#[test]
fn rows_that_cannot_be_taken_as_dependencies_have_no_box_to_mark() {
    let mut deck = Deck::planned(100, 30);
    deck.select("count");
    deck.keys("D");
    let screen = deck.screen();
    assert_eq!(screen.matches("[ ]").count(), 1, "only `scan` can be taken:\n{screen}");
}

#[test]
fn a_node_added_at_an_empty_plan_inside_goes_into_it() {
    let mut deck = Deck::new(100, 30);
    let outer = json!({ "id": "outer", "plan": { "nodes": [] } });
    crate::console::update::actions::plan::open(
        &mut deck.model,
        read(json!({ "goal": "x", "nodes": [outer] })),
        crate::console::model::PlanOrigin::File("x".into()),
    );
    deck.keys("a");
    deck.type_text("merge");
    deck.keys("enter");
    assert_eq!(deck.model.selected_id().unwrap().as_str(), "outer/merge");
    assert!(deck.model.selected_node().unwrap().depends_on.is_empty());
}

#[test]
fn changing_a_worker_begins_at_the_one_in_use() {
    let mut deck = Deck::planned(100, 30);
    deck.select("write");
    deck.keys("w");
    assert!(deck.sees("in use  write_file as its name says"), "{}", deck.screen());
    deck.keys("enter");
    assert!(!deck.model.editor.can_undo());
}

#[test]
fn elapsed_time_stands_still_while_a_run_is_over_and_counts_on_once_it_goes_on() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("i");
    deck.later(1_000);
    deck.keys("a 1");
    deck.done("write", serde_json::json!("written"));
    let took = |deck: &Deck| {
        let view = deck.model.shown_run().unwrap();
        view.elapsed_ms(deck.now)
    };
    let once = took(&deck);
    assert!(deck.sees("   succeeded  "), "{}", deck.screen());
    deck.later(60_000);
    assert_eq!(took(&deck), once, "it stands still");
    deck.select("count");
    deck.keys("r y");
    assert!((once..once + 10_000).contains(&took(&deck)), "{} after {once}", took(&deck));
    let begun = took(&deck);
    deck.later(10_000);
    assert_eq!(took(&deck), begun + 10_000);
}

#[test]
fn the_time_of_a_run_that_waits_for_a_person_goes_by() {
    let mut deck = Deck::waiting(120, 40);
    let took = |deck: &Deck| deck.model.shown_run().unwrap().elapsed_ms(deck.now);
    let once = took(&deck);
    deck.later(480_000);
    assert_eq!(took(&deck), once + 480_000);
    let header = deck.screen().lines().nth(1).unwrap().to_owned();
    assert!(header.contains("began ") && !header.contains("elapsed "), "a number would stand still: {header}");
}

#[test]
fn f_says_whether_it_took_a_fix_or_a_guess_and_what_undoes_that() {
    let after = |named: &str| {
        let mut deck = Deck::new(120, 30);
        deck.plan.nodes[3].depends_on[0] = named.into();
        deck.type_text("x");
        deck.keys("enter");
        deck.select("write");
        deck.keys("f");
        deck
    };
    let (mut guess, mut safe) = (after("cuont"), after("Count"));
    assert!(guess.sees("guessed: ") && guess.sees("; u undoes it"), "{}", guess.screen());
    assert!(safe.sees("fixed: ") && !safe.sees("undoes it"), "{}", safe.screen());
}

//! Replay and log: any run at any event, without anything being called, and the events themselves.

use serde_json::json;

use super::{Deck, safety::Dice};
use crate::console::model::{Replay, Screen};
use crate::console::update::next_wake;
use crate::engine::{Event, NodeFact, Run, Time, WorkerFact};

fn at(deck: &Deck) -> usize {
    deck.model.replay().map_or(0, Replay::at)
}

fn events(deck: &Deck) -> usize {
    deck.model.shown_run().unwrap().journal().len()
}

#[test]
fn a_step_back_shows_the_run_as_it_was_and_the_end_shows_it_as_it_is() {
    let mut deck = Deck::waiting(120, 40);
    deck.select("count");
    assert!(deck.sees("✓ │ count"), "{}", deck.screen());
    deck.keys("H ( (");
    let before = deck.screen();
    assert!(before.contains("replay") && before.contains("● │ count"), "{before}");
    assert!(!before.contains("◆   write"), "{before}");
    deck.keys("$");
    assert!(deck.sees("◆   write"), "{}", deck.screen());
    assert!(deck.model.replay().is_none());
}

#[test]
fn whatever_way_leads_to_an_event_it_shows_what_all_events_up_to_it_say() {
    let mut deck = Deck::running(80, 24);
    for line in 0..700 {
        deck.fact("scan", WorkerFact::Output(format!("line {line}\n")));
    }
    deck.done("list", json!("x"));
    let records = deck.model.shown_run().unwrap().journal().records().to_vec();
    let mut replay = Replay::at_the_end_of(&records);
    let mut dice = Dice(7);
    for _ in 0..200 {
        let to = match dice.roll(3) {
            0 => dice.roll(records.len()) + 1,
            1 => replay.at().saturating_sub(dice.roll(5)),
            _ => replay.at() + dice.roll(5),
        };
        replay.seek(&records, to);
        assert_eq!(replay.at(), to.clamp(1, records.len()));
        assert_eq!(replay.fold().run, Run::replay(&records[..replay.at()]), "after event {}", replay.at());
        let said = replay.fold().transcript(&"scan".into()).map_or(0, |scan| scan.output.lines().len());
        let outputs = records[..replay.at()]
            .iter()
            .filter(|record| matches!(record.event, crate::engine::Event::Node { fact: crate::engine::NodeFact::Output { .. }, .. }))
            .count();
        assert_eq!(said, outputs, "after event {}", replay.at());
    }
}

#[test]
fn a_step_back_folds_few_events_and_few_copies_are_kept_however_long_the_run_is() {
    let mut deck = Deck::running(80, 24);
    for _ in 0..6_000 {
        deck.fact("scan", WorkerFact::Output("x".into()));
    }
    let records = deck.model.shown_run().unwrap().journal().records().to_vec();
    let mut replay = Replay::at_the_end_of(&records);
    let begun = replay.folded();
    for steps in 1..=1_000 {
        let before = replay.folded();
        replay.seek(&records, replay.at() - 1);
        assert!(replay.folded() - before <= 64 + steps, "step {steps} folded {}", replay.folded() - before);
        assert!(replay.copies() <= 24, "{} copies", replay.copies());
    }
    let folded = replay.folded() - begun;
    assert!(folded < 64 * 1_000, "{folded} events folded for 1000 steps back");
    // Forward again costs an event a step.
    let before = replay.folded();
    (0..500).for_each(|_| replay.seek(&records, replay.at() + 1));
    assert_eq!(replay.folded() - before, 500);
    assert!(replay.copies() <= 24, "{} copies", replay.copies());
}

#[test]
fn a_live_run_goes_on_behind_its_replay_and_says_so() {
    let mut deck = Deck::running(120, 40);
    deck.keys("H [");
    let (here, all) = (at(&deck), events(&deck));
    deck.done("list", json!("x"));
    assert_eq!(at(&deck), here);
    assert!(events(&deck) > all);
    assert!(deck.sees(&format!("the run is running: {} more", events(&deck) - here)), "{}", deck.screen());
    assert_eq!(deck.engine().node(&"count".into()).unwrap().state.word(), "running");
    assert!(!deck.sees("count       running"), "{}", deck.screen());
}

#[test]
fn nothing_is_decided_while_a_run_is_looked_at_as_it_was() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("H [ i a");
    assert_eq!(deck.engine().open_gates().count(), 1);
    let here = at(&deck);
    assert!(deck.sees(&format!("its run is shown as it was after event {here}: press $ to leave the replay")), "{}", deck.screen());
    for keys in ["x", "-", "X", "X", "e"] {
        deck.keys(keys);
        assert_eq!(deck.engine().open_gates().count(), 1);
        assert!(deck.model.dialogs.is_empty(), "{keys}");
    }
    deck.keys("1 | ctrl-k");
    assert!(deck.model.dialogs.is_empty());
    deck.keys("$ i a");
    assert_eq!(deck.engine().open_gates().count(), 0);
}

#[test]
fn a_gate_as_it_was_is_read_and_not_decided() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("i a");
    deck.done("write", json!({"bytes": 12}));
    deck.keys("1 H 0");
    deck.keys("/");
    deck.type_text("kind:gate asks");
    deck.keys("enter o");
    assert!(deck.sees("the gate as it was") && deck.sees("longest.md"), "{}", deck.screen());
}

#[test]
fn a_replay_plays_by_itself_wakes_only_then_and_stops_at_the_end() {
    let mut deck = Deck::waiting(120, 40);
    deck.later(10_000);
    deck.keys("H 0");
    assert_eq!(next_wake(&deck.model, deck.now), None, "a replay that stands costs nothing");
    deck.keys("space");
    let mut wakes = 0;
    let mut shown = vec![at(&deck)];
    while let Some(due) = next_wake(&deck.model, deck.now).filter(|_| !deck.sees("this is the last event so far")) {
        assert!(due > deck.now && due.since(deck.now) <= 2_000);
        deck.now = due;
        deck.send(crate::console::update::Msg::Tick);
        shown.push(at(&deck));
        wakes += 1;
        assert!(wakes < 200);
    }
    assert!(shown.is_sorted(), "{shown:?}");
    assert_eq!(at(&deck), events(&deck));
    assert!(wakes > 2, "waits between events are waited for: {shown:?}");
    assert!(deck.sees("this is the last event so far"), "{}", deck.screen());
}

#[test]
fn a_replay_that_plays_faster_takes_less_time() {
    let took = |keys: &str| {
        let mut deck = Deck::waiting(80, 24);
        deck.keys("H 0");
        deck.keys(keys);
        let begun = deck.now;
        deck.keys("space");
        while let Some(due) = next_wake(&deck.model, deck.now) {
            deck.now = due;
            deck.send(crate::console::update::Msg::Tick);
        }
        deck.now.since(begun)
    };
    assert!(took("+ + + +") < took("-"));
}

#[test]
fn steps_by_node_and_by_time_land_where_they_say() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("H 0 ) )");
    let view = deck.model.shown_run().unwrap();
    let record = &view.journal().records()[at(&deck) - 1];
    assert!(matches!(record.event, crate::engine::Event::Node { fact: crate::engine::NodeFact::Started { .. }, .. }), "{record:?}");
    assert_eq!(deck.model.selected_id(), record.event.node());
    deck.keys("0 }");
    let moved = view_time(&deck).since(first_time(&deck));
    assert!(moved <= 10_000 && at(&deck) > 1);
    deck.keys("{ {");
    assert_eq!(at(&deck), 1);
}

fn view_time(deck: &Deck) -> Time {
    deck.model.shown_run().unwrap().seen().last
}

fn first_time(deck: &Deck) -> Time {
    deck.model.shown_run().unwrap().journal().records()[0].at
}

#[test]
fn a_search_goes_from_hit_to_hit_and_round() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("H 0 /");
    deck.type_text("node:count succeeded");
    deck.keys("enter");
    let hit = at(&deck);
    let node = deck.model.shown_run().unwrap().journal().records()[hit - 1].event.node().cloned();
    assert_eq!(node.as_ref().map(|node| node.as_str()), Some("count"));
    deck.keys("n");
    assert_eq!(at(&deck), hit, "the only hit is found again");
    deck.keys("/");
    deck.type_text("xyz");
    deck.keys("enter");
    assert!(deck.sees("no event with"), "{}", deck.screen());
}

#[test]
fn the_log_follows_the_end_until_a_person_moves_and_leads_into_the_replay() {
    let mut deck = Deck::running(120, 40);
    deck.keys("5");
    assert_eq!(deck.model.place.screen, Screen::Log);
    let last = |deck: &Deck| deck.model.shown_run().unwrap().log.event().unwrap() + 1 == events(deck);
    deck.done("list", json!("x"));
    assert!(last(&deck));
    deck.keys("k k");
    let here = deck.model.shown_run().unwrap().log.event();
    deck.done("scan", json!("y"));
    assert_eq!(deck.model.shown_run().unwrap().log.event(), here);
    deck.keys("enter");
    assert_eq!((deck.model.place.screen, at(&deck)), (Screen::Plan, here.unwrap() + 1));
    deck.keys("esc 5 G");
    deck.done("count", json!("z"));
    assert!(last(&deck), "going to the end follows it again");
}

#[test]
fn a_filtered_log_takes_in_what_matches_and_looks_at_each_event_once() {
    let mut deck = Deck::running(120, 40);
    deck.keys("5 /");
    deck.type_text("node:scan kind:text");
    deck.keys("enter");
    assert_eq!(deck.model.shown_run().unwrap().log.len(), 0);
    deck.fact("scan", WorkerFact::Output("reading".into()));
    deck.done("list", json!("x"));
    assert_eq!(deck.model.shown_run().unwrap().log.len(), 1);
    assert!(deck.sees("says: reading"), "{}", deck.screen());
    deck.keys("/ esc");
    let tell = |deck: &Deck| {
        let records = deck.model.shown_run().unwrap().journal().records();
        records
            .iter()
            .filter(|record| record.event != Event::Carried && !matches!(record.event, Event::Node { fact: NodeFact::Routed { .. }, .. }))
            .count()
    };
    assert_eq!(deck.model.shown_run().unwrap().log.len(), tell(&deck));
    deck.keys("g j j j j j o");
    let view = deck.model.shown_run().unwrap();
    let node = view.log.only_node().cloned().unwrap();
    assert!(view.log.rows().iter().all(|row| {
        let record = &view.journal().records()[row.last()];
        record.event.about(&view.newest().run).as_ref() == Some(&node)
    }));
}

/// Two agents that stream word by word, at the same time.
fn streaming() -> Deck {
    let mut deck = Deck::new(120, 40);
    let agent = |id: &str| json!({"id": id, "agent": "code_analyzer", "objective": "look"});
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "two", "nodes": [agent("left"), agent("right")]})).unwrap();
    deck.type_text("x");
    deck.keys("enter r 5");
    for (left, right) in [("Bern ", "It "), ("is ", "rai"), ("11 ", "ns\n"), ("degrees warmer", "in Oslo")] {
        deck.fact("left", WorkerFact::Output(left.into()));
        deck.fact("right", WorkerFact::Output(right.into()));
    }
    deck
}

#[test]
fn what_an_agent_streams_is_one_row_of_the_log_that_grows() {
    let mut deck = streaming();
    let screen = deck.screen();
    assert!(screen.contains("says 25 characters: Bern is 11 degrees warmer"), "{screen}");
    assert!(screen.contains("says 16 characters: …in Oslo"), "{screen}");
    let rows = deck.model.shown_run().unwrap().log.len();
    deck.fact("left", WorkerFact::Output(" than Oslo".into()));
    assert_eq!(deck.model.shown_run().unwrap().log.len(), rows);
    deck.keys("k");
    assert!(deck.sees("5 pieces of ") && deck.sees("Bern is 11 degrees warmer than Oslo"), "{}", deck.screen());
    // The same words after something else of that node begin another row.
    deck.fact("left", WorkerFact::Log("a note".into()));
    deck.fact("left", WorkerFact::Output("and more".into()));
    assert!(deck.sees("says: and more"), "{}", deck.screen());
}

#[test]
fn a_row_of_streamed_pieces_leads_to_its_last_one_and_is_found_from_each() {
    let mut deck = streaming();
    deck.keys("k enter");
    let here = at(&deck);
    assert_eq!(here, events(&deck) - 1, "the last piece of `left`");
    deck.keys("5 esc H 5");
    deck.keys("[ [ [");
    let log = &deck.model.shown_run().unwrap().log;
    let selected = &deck.model.shown_run().unwrap().journal().records()[log.row().unwrap().first()].event;
    assert!(matches!(selected, Event::Node { fact: NodeFact::Output { text }, .. } if text == "It "), "{selected:?}");
}

#[test]
fn a_filter_finds_words_that_lie_over_several_pieces() {
    let mut deck = streaming();
    deck.keys("/");
    deck.type_text("rains");
    let log = &deck.model.shown_run().unwrap().log;
    assert_eq!(log.len(), 1);
    deck.fact("right", WorkerFact::Output(" today".into()));
    assert!(deck.sees("…in Oslo today") && deck.model.shown_run().unwrap().log.len() == 1, "{}", deck.screen());
}

#[test]
fn events_that_tell_nothing_by_themselves_are_there_for_those_who_ask() {
    let mut deck = Deck::running(120, 40);
    deck.keys("b 5");
    assert!(deck.sees("add a breakpoint") && !deck.sees("the action is complete"), "{}", deck.screen());
    deck.keys("/");
    deck.type_text("is complete");
    assert!(deck.sees("the action is complete"), "{}", deck.screen());
}

#[test]
fn the_log_tells_the_words_of_a_guidance() {
    let mut deck = Deck::running(120, 40);
    deck.select("scan");
    deck.keys("\"");
    deck.type_text("only the tests");
    deck.keys("ctrl-s y 5");
    assert!(deck.sees("guide find what is left to do: only the tests"), "{}", deck.screen());
}

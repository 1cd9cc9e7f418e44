//! Hints and the palette: what they offer is what keys and picks do.

use serde_json::json;

use super::Deck;
use crate::console::{
    commands,
    commands::CommandRun,
    model::{Dialog, Focus, KeyContext, PickItem, PickThen, PlanScreen, Screen, contexts},
    view,
};

/// Consoles that show a plan, a run that goes on, one that is over, and one that is looked at as it was.
fn stages() -> [(&'static str, Deck); 4] {
    let mut over = Deck::waiting(400, 40);
    over.keys("i a");
    over.done("write", json!("done"));
    over.keys("1");
    assert!(over.engine().outcome().is_some());
    let mut replay = Deck::waiting(400, 40);
    replay.keys("H [ [");
    [("plan", Deck::planned(400, 40)), ("run", Deck::waiting(400, 40)), ("over", over), ("replay", replay)]
}

const SCREENS: [Screen; 9] = [
    Screen::Plan,
    Screen::Graph,
    Screen::Inbox,
    Screen::Compare,
    Screen::Runs,
    Screen::Log,
    Screen::Timeline,
    Screen::Trace,
    Screen::Versus,
];

#[test]
fn every_key_that_is_hinted_means_the_command_that_the_hint_names() {
    for (stage, mut deck) in stages() {
        for screen in SCREENS {
            for focus in [Focus::Tree, Focus::Inspector, Focus::Request, Focus::Filter] {
                (deck.model.place.screen, deck.model.place.focus) = (screen, focus);
                deck.flush();
                let hints = view::hints(&deck.model);
                let keys: Vec<String> = hints.iter().map(|hint| hint.key.to_string()).collect();
                for hint in &hints {
                    let meant = deck.model.look.keymap.resolve(&contexts(&deck.model), hint.key).map(|command| command.id);
                    assert_eq!(meant, Some(hint.command), "{stage}, {screen:?}, {focus:?}: {keys:?}");
                }
                assert!(hints.len() >= 2, "{stage}, {screen:?}, {focus:?} tells too little: {keys:?}");
            }
        }
    }
}

fn hinted(deck: &Deck) -> Vec<&'static str> {
    view::hints(&deck.model).iter().map(|hint| hint.command).collect()
}

#[test]
fn the_inspector_of_a_run_hints_at_its_own_keys() {
    let mut deck = Deck::running(200, 40);
    deck.keys("tab");
    assert_eq!(deck.model.place.focus, Focus::Inspector);
    let hints = hinted(&deck);
    assert!(hints.contains(&"inspector.right") && !hints.contains(&"tree.attention"), "{hints:?}");
}

#[test]
fn a_graph_in_a_replay_replays_by_the_keys_that_it_hints_at() {
    let mut deck = Deck::waiting(200, 40);
    deck.keys("H [ [ v");
    let at = deck.model.replay().unwrap().at();
    let hints = hinted(&deck);
    assert!(hints.contains(&"replay.back") && hints.contains(&"replay.play"), "{hints:?}");
    deck.keys("{");
    assert!(deck.model.replay().unwrap().at() < at);
}

fn palette(deck: &mut Deck) -> Vec<PickItem> {
    deck.keys(":");
    let Some(Dialog::Pick(pick)) = deck.model.dialogs.last() else { panic!() };
    let items = pick.items.clone();
    deck.keys("esc");
    items
}

#[test]
fn the_palette_has_every_command_of_every_screen_and_says_where_it_works() {
    let mut deck = Deck::waiting(120, 40);
    let items = palette(&mut deck);
    for context in [
        KeyContext::Log,
        KeyContext::Timeline,
        KeyContext::Trace,
        KeyContext::Versus,
        KeyContext::Graph,
        KeyContext::Compare,
        KeyContext::Runs,
    ] {
        for command in commands::all().filter(|command| command.context == context) {
            let item = items.iter().find(|item| item.label.as_str() == command.title && item.detail.as_str() == command.description);
            let item = item.unwrap_or_else(|| panic!("`{}` is not in the palette", command.id));
            let why = item.refused.as_ref().map(|why| why.as_str()).unwrap_or_default();
            assert!(why.starts_with("works "), "`{}` is offered on another screen: {why}", command.id);
        }
    }
    deck.keys("5");
    let follow = palette(&mut deck).into_iter().find(|item| item.label.as_str() == "Follow the end").unwrap();
    assert_eq!(follow.refused, None);
}

#[test]
fn entries_of_the_palette_that_are_one_do_one_thing() {
    let mut deck = Deck::waiting(120, 40);
    let items = palette(&mut deck);
    for item in &items {
        let alike = items.iter().filter(|other| other.label == item.label && other.detail == item.detail).count();
        assert_eq!(alike, 1, "{} stands in the palette more than once", item.label.as_str());
    }
    for item in &items {
        let id = match &item.then {
            PickThen::Command(id) => id,
            PickThen::Act(_) => continue,
            other => panic!("{other:?}"),
        };
        let one = commands::find(id).unwrap();
        for other in commands::all().filter(|other| other.in_palette() && other.title == one.title && other.description == one.description)
        {
            let is_same = match (one.run, other.run) {
                (CommandRun::Does(one) | CommandRun::OpensField(one), CommandRun::Does(other) | CommandRun::OpensField(other)) => {
                    std::ptr::fn_addr_eq(one, other)
                }
                (CommandRun::Replies(one), CommandRun::Replies(other)) => one == other,
                _ => false,
            };
            assert!(is_same, "`{}` and `{}` are one entry and do two things", one.id, other.id);
        }
    }
}

#[test]
fn dependencies_change_in_a_live_run_with_marks_and_an_undo_of_their_own() {
    let mut deck = Deck::running(120, 40);
    deck.select("write");
    deck.keys("D");
    let screen = deck.screen();
    assert!(screen.contains("[✓]") && screen.contains("[ ]"), "{screen}");
    deck.select("list");
    let before = deck.engine().plan().unwrap().clone();
    deck.keys("space");
    assert_ne!(deck.engine().plan(), Some(&before));
    deck.keys("u");
    assert!(deck.sees("undid: "), "{}", deck.screen());
    assert_eq!(deck.engine().plan(), Some(&before));
    assert!(matches!(deck.model.place.shown, PlanScreen::Run(_)));
}

#[test]
fn a_question_is_hinted_to_be_answered_and_then_to_be_sent_and_never_to_be_approved() {
    let mut deck = Deck::new(200, 40);
    let ask = json!({"text": "Which one?", "options": ["red", "blue"]});
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "ask", "nodes": [{"id": "ask", "ask": ask}]})).unwrap();
    deck.type_text("x");
    deck.keys("enter r i");
    let words = |deck: &Deck| view::hints(&deck.model).iter().map(|hint| format!("{} {}", hint.key, hint.words)).collect::<Vec<_>>();
    let before = words(&deck);
    assert!(before.contains(&"e pick the answer".into()) && !before.iter().any(|hint| hint.contains("approve")), "{before:?}");
    deck.keys("e enter");
    let after = words(&deck);
    assert!(after.contains(&"a send your reply".into()) && !after.iter().any(|hint| hint.contains("approve")), "{after:?}");
    deck.keys("u");
    assert_eq!(words(&deck), before, "without the answer nothing can be sent");
}

fn typed(deck: &Deck, line: &str) -> String {
    match (line, deck.model.dialogs.last()) {
        ("dialog", Some(Dialog::Line(line))) => line.field.text(),
        ("tree", None) => deck.model.tree().filter.text(),
        ("log", None) => deck.model.shown_run().unwrap().log.filter.text(),
        (_, other) => panic!("{other:?}"),
    }
}

#[test]
fn what_was_typed_into_a_line_before_comes_back_by_the_key_that_is_hinted_at_once_there_is_some() {
    // How to get to the line, to take what is typed, and to leave without.
    for (line, to, done, earlier) in [("tree", "1 /", "enter", "filter.older"), ("log", "5 /", "enter", "log.filter_older")] {
        let mut deck = Deck::waiting(120, 40);
        deck.keys(to);
        deck.keys("up");
        assert!(deck.sees("nothing was typed here before") && !hinted(&deck).contains(&earlier), "{line}");
        deck.type_text("list");
        deck.keys(done);
        deck.keys(to.split(' ').next_back().unwrap());
        deck.type_text("x");
        deck.keys("esc");
        deck.keys(to.split(' ').next_back().unwrap());
        assert!(hinted(&deck).contains(&earlier), "{line}");
        // A search begins anew; a filter goes on.
        let newest = if line == "tree" { "x" } else { "listx" };
        for (key, text) in [("up", newest), ("up", "list"), ("down", newest), ("down", "")] {
            deck.keys(key);
            assert_eq!(typed(&deck, line), text, "{line}, {key}");
        }
        deck.keys("up up down down down");
        assert_eq!(deck.model.place.focus, Focus::Tree, "{line}: from the newest it goes on to what is filtered");
    }
}

#[test]
fn a_dialog_of_one_line_gives_back_what_was_typed_into_its_like() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("H /");
    assert!(!deck.sees("up earlier"), "{}", deck.screen());
    for text in ["started", "ready"] {
        deck.type_text(text);
        deck.keys("enter /");
    }
    assert!(deck.sees("up earlier"), "{}", deck.screen());
    deck.keys("up");
    assert_eq!(typed(&deck, "dialog"), "started");
    deck.keys("down");
    assert_eq!(typed(&deck, "dialog"), "ready");
    deck.keys("esc $");
    deck.select("write");
    deck.keys("ctrl-x w");
    assert!(!deck.sees("up earlier"), "other lines have texts of their own: {}", deck.screen());
}

#[test]
fn a_part_of_a_request_that_is_not_understood_is_named_and_nothing_of_its_plan_runs() {
    let mut deck = Deck::new(120, 40);
    let plan = json!({"dagdeck": 1, "goal": "list the files and dance", "nodes": [{"id": "ask", "ask": {"text": "What is meant?"}}],
        "metadata": {"open": {"not_understood": ["dance"]}}});
    deck.plan = serde_json::from_value(plan).unwrap();
    deck.type_text("list the files and dance");
    deck.keys("enter");
    assert!(
        deck.sees("not understood: \"dance\"; nothing runs until") && deck.sees("1 node  1 asks you (◆)  1 error"),
        "{}",
        deck.screen()
    );
    assert!(!deck.sees("press r to run"), "{}", deck.screen());
    deck.keys("r");
    assert!(deck.model.runs.open.is_empty() && deck.sees("Run: 1 error; press F to see"), "{}", deck.screen());
}

#[test]
fn findings_of_no_plan_are_not_called_valid() {
    let mut deck = Deck::new(120, 40);
    deck.keys("tab F");
    assert!(!deck.sees("the plan is valid"), "{}", deck.screen());
}

#[test]
fn a_long_request_wraps_and_its_card_grows_until_all_of_it_is_in_sight() {
    let mut deck = Deck::new(80, 24);
    let request = "List the Rust files under src, count their lines, and write the ten longest to longest.md";
    deck.type_text(request);
    assert!(deck.sees("List the Rust files under src,") && deck.sees("longest.md"), "{}", deck.screen());
    let (rows, cursor) = deck.model.request.field.rows(20);
    assert_eq!(rows.iter().map(crate::text::Plain::as_str).collect::<String>(), request, "nothing is left out");
    assert_eq!(cursor, (rows.len() - 1, "longest.md".len()));
    assert!(rows.iter().all(|row| row.width() < 20), "the cursor has its place");
}

#[test]
fn the_palette_finds_every_action_of_the_menu_by_its_name_with_a_run_or_without() {
    for mut deck in [Deck::planned(120, 40), Deck::waiting(120, 40)] {
        for name in ["override", "rewind", "rerun alone", "mark as done", "hold this branch"] {
            deck.keys(":");
            deck.type_text(name);
            let Some(Dialog::Pick(pick)) = deck.model.dialogs.last() else { panic!("{}", deck.screen()) };
            let first = pick.marked().map(|item| item.label.as_str().to_owned()).unwrap_or_default();
            assert!(first.to_lowercase().starts_with(name), "`{name}` finds `{first}`");
            deck.keys("esc");
        }
    }
}

#[test]
fn what_was_not_understood_is_there_to_be_said_in_other_words() {
    let mut deck = Deck::new(120, 40);
    let ask = json!({"id": "ask", "ask": "What is meant?"});
    deck.plan =
        serde_json::from_value(json!({"goal": "frobnicate", "nodes": [ask], "metadata": {"open": {"not_understood": ["frobnicate"]}}}))
            .unwrap();
    deck.type_text("frobnicate the quux");
    deck.keys("enter");
    assert!(deck.sees("to say it in other words") && deck.sees("n change the request"), "{}", deck.screen());
    deck.keys("n");
    assert_eq!(deck.model.request.field.text(), "frobnicate the quux");
}

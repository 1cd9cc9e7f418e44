//! What one sees at a glance: what waits or failed out of sight, what marks mean, how themes look before one is chosen.

use ratatui::style::Modifier;
use serde_json::{Value, json};

use super::Deck;
use crate::console::theme::{Depth, load};
use crate::console::update::ConsoleEffect;
use crate::engine::{NodeError, WorkerFact};
use crate::host::client::Request;
use crate::plan::Plan;

/// Forty nodes in a row of branches, of which the last one asks and the first one can fail.
fn long(width: u16, height: u16) -> Deck {
    let mut nodes: Vec<Value> = (0..40).map(|at| json!({"id": format!("n{at}"), "code": "return 1;"})).collect();
    nodes.push(json!({"id": "gated", "code": "return 1;", "approve": "before"}));
    let mut deck = Deck::new(width, height);
    deck.plan = serde_json::from_value::<Plan>(json!({"dagdeck": 1, "goal": "many", "nodes": nodes})).unwrap();
    deck.type_text("many");
    deck.keys("enter r");
    deck
}

#[test]
fn what_waits_or_failed_out_of_sight_is_counted_above_the_tree() {
    let mut deck = long(80, 24);
    assert!(deck.sees("more below  ◆ 1"), "{}", deck.screen());
    deck.fact("n0", WorkerFact::Failed(NodeError::permanent("no")));
    assert!(!deck.sees("✗ 1"), "it is in sight: {}", deck.screen());
    deck.keys("G");
    let screen = deck.screen();
    assert!(screen.contains("more above  ✗ 1"), "{screen}");
    assert!(!screen.contains("◆ 1"), "{screen}");
}

#[test]
fn moving_in_the_list_of_themes_shows_each_and_esc_brings_back_the_one_in_use() {
    let mut deck = Deck::planned(80, 24);
    let ground = |deck: &mut Deck| deck.flush().content[0].bg;
    let own = ground(&mut deck);
    deck.keys("T");
    let screen = deck.screen();
    assert!(screen.contains("terminal") && screen.contains("in use: the terminal's own 16 colours"), "{screen}");
    assert!(screen.contains("soft colours on dark"), "{screen}");
    assert_eq!(ground(&mut deck), own, "the one in use is marked first");
    deck.keys("down down");
    let dark = ground(&mut deck);
    assert_ne!(dark, own);
    deck.keys("esc");
    assert_eq!(ground(&mut deck), own);
    assert_eq!(deck.model.look.name, "terminal");
    deck.asked.clear();
    deck.keys("T down down enter");
    assert_eq!((ground(&mut deck), deck.model.look.name.as_str()), (dark, "dark"));
    assert_eq!(deck.asked, [ConsoleEffect::Send(Request::KeepTheme("dark".into()))]);
    deck.keys("T");
    deck.type_text("xyz");
    assert_eq!(ground(&mut deck), dark, "a search without a hit shows the one in use");
}

#[test]
fn a_replay_says_what_the_marks_on_its_bar_mean() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("H ( (");
    let screen = deck.screen();
    assert!(screen.contains("┃ the event shown   ◆ asked"), "{screen}");
    assert!(!screen.contains("failed"), "what there is not is not explained: {screen}");
}

#[test]
fn the_log_says_to_the_millisecond_when_in_the_run_an_event_was() {
    let mut deck = Deck::running(120, 40);
    deck.later(1_042);
    deck.fact("list", WorkerFact::Failed(NodeError::permanent("no")));
    deck.keys("5");
    let screen = deck.screen();
    assert!(screen.contains("0:01.042"), "{screen}");
    assert!(screen.contains("+00:00, 0:01.042 after the start"), "{screen}");
}

/// A run of two branches of which one failed, with the card on the other.
fn failing(width: u16, height: u16) -> Deck {
    let mut deck = Deck::running(width, height);
    deck.fact("scan", WorkerFact::Failed(NodeError::permanent("the server refused the key")));
    deck.select("list");
    deck
}

#[test]
fn below_the_tree_stands_what_failed_and_why_unless_the_card_says_it() {
    let mut deck = failing(120, 40);
    let screen = deck.screen();
    let row = screen.lines().find(|line| line.contains("the server refused the key")).unwrap_or_else(|| panic!("{screen}"));
    assert!(row.trim_start().starts_with("✗ find what is left to do"), "{row}");
    deck.select("scan");
    assert_eq!(deck.screen().matches("the server refused the key").count(), 1, "{}", deck.screen());
}

#[test]
fn below_the_tree_stands_what_a_gate_asks_wherever_the_cursor_is() {
    let mut deck = Deck::waiting(120, 40);
    deck.select("list");
    let screen = deck.screen();
    assert!(screen.lines().any(|line| line.trim_start().starts_with("◆ write  may it start?")), "{screen}");
}

#[test]
fn a_wide_screen_has_a_pane_of_what_goes_on_and_what_happened() {
    let mut deck = failing(200, 50);
    deck.later(2_000);
    deck.done("list", json!("src/main.rs"));
    let screen = deck.screen();
    let layout = deck.model.layout();
    assert!(layout.live.width >= 32 && layout.list.width < 90, "{layout:?}");
    for words in ["✗ find what is left to do", "the server refused the key", "lately", "list  succeeded: src/main.rs"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
}

#[test]
fn what_is_counted_in_the_header_does_not_move_when_a_number_grows() {
    let mut deck = long(120, 40);
    let place = |deck: &mut Deck| deck.screen().lines().nth(1).unwrap().find(" done").unwrap();
    deck.done("n0", json!(1));
    let before = place(&mut deck);
    for at in 1..12 {
        deck.done(&format!("n{at}"), json!(1));
    }
    assert!(deck.sees("12/41 done"), "{}", deck.screen());
    assert_eq!(place(&mut deck), before);
}

#[test]
fn below_a_tree_that_is_cut_stands_what_goes_on_first_what_needs_a_person() {
    let mut deck = long(80, 24);
    deck.fact("n3", WorkerFact::Failed(NodeError::permanent("the disk is full")));
    let layout = deck.model.layout();
    assert_eq!((layout.live.height, layout.live.y), (3, layout.list.bottom()), "{layout:?}");
    let screen = deck.screen();
    for words in ["◆ gated  may it start?", "✗ n3     the disk is full", "● n1"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    for at in (0..8).filter(|at| *at != 3) {
        deck.done(&format!("n{at}"), json!(1));
    }
    assert_eq!(deck.model.layout().live.height, 3, "nothing moves while the run is not over");
}

#[test]
fn a_wide_screen_has_the_plan_by_stages_beside_its_tree_and_the_marks_follow_the_selection() {
    let mut deck = Deck::planned(200, 50);
    deck.select("count");
    let screen = deck.screen();
    assert!(screen.contains("graph of the plan, by stages"), "{screen}");
    let marked = |screen: &str, mark: &str, node: &str| screen.lines().any(|line| line.contains(&format!("{mark}   {node}")));
    assert!(marked(&screen, "↑", "list"), "{screen}");
    assert!(screen.lines().any(|line| line.contains("↓ ◆ write")), "{screen}");
    deck.select("write");
    let screen = deck.screen();
    assert!(marked(&screen, "↑", "count") && !screen.lines().any(|line| line.contains("↓ ◆ write")), "{screen}");
}

#[test]
fn a_line_below_words_does_not_begin_before_them() {
    let mut deck = failing(120, 40);
    deck.model.look.theme = load("mono", None, Depth::Mono).unwrap();
    let buffer = deck.flush();
    let row: Vec<_> = buffer.content[120..240].iter().collect();
    let at = row.windows(8).position(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>() == "1 failed").unwrap();
    let is_underlined = |at: usize| row[at].modifier.contains(Modifier::UNDERLINED);
    assert!(is_underlined(at) && !is_underlined(at - 1) && !is_underlined(at - 2));
}

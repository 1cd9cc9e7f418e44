//! Results that were made of earlier ones: marked wherever a node is shown, with why and what to do.

use serde_json::json;

use super::{Deck, screens::shoot_at};
use crate::console::model::Dialog;
use crate::text::GlyphSet;

/// `list` ran again alone, after `count` had been made of its result.
fn stale(width: u16, height: u16) -> Deck {
    let mut deck = Deck::waiting(width, height);
    deck.select("list");
    deck.keys("m");
    deck.type_text("rerun alone");
    deck.keys("enter");
    assert!(deck.sees("→ stale"), "it is shown before: {}", deck.screen());
    deck.keys("y");
    deck.done("list", json!("src/main.rs"));
    deck.select("count");
    deck
}

/// The row of a node on the screen.
fn row(deck: &mut Deck, node: &str) -> String {
    let screen = deck.screen();
    let left = |line: &str| line.split('┃').next().unwrap_or_default().to_owned();
    screen.lines().skip(2).find(|line| left(line).split_whitespace().any(|word| word == node)).unwrap_or_default().to_owned()
}

#[test]
fn a_stale_result_is_marked_on_the_screen() {
    shoot_at(&[(80, 24), (120, 40)], "stale", stale);
}

#[test]
fn a_stale_result_is_marked_in_tree_header_timeline_trace_and_graph() {
    let mut deck = stale(120, 40);
    assert!(row(&mut deck, "count").contains("↻ │ count"), "{}", deck.screen());
    assert!(!row(&mut deck, "scan").contains("stale"), "{}", deck.screen());
    assert!(deck.screen().lines().nth(1).unwrap().contains("1 stale"), "{}", deck.screen());
    deck.keys("6");
    assert!(
        row(&mut deck, "count").contains('↻') && deck.sees("┃ ↻ count") && deck.sees("made of an earlier result of list"),
        "{}",
        deck.screen()
    );
    deck.keys("7");
    assert!(deck.sees("▶ ↻ count"), "{}", deck.screen());
    deck.keys("4");
    assert!(deck.sees("↻ count"), "{}", deck.screen());
}

#[test]
fn the_inspector_says_why_a_result_is_stale_and_its_key_makes_it_anew() {
    let mut deck = stale(120, 40);
    assert!(
        deck.sees("↻ stale: made of an earlier result of list") && deck.sees("r runs this and all after it again"),
        "{}",
        deck.screen()
    );
    deck.keys("m");
    let Some(Dialog::Pick(pick)) = deck.model.dialogs.last() else { panic!() };
    let keyed = pick.items.iter().find(|item| item.key.as_deref() == Some("r")).unwrap();
    assert_eq!(keyed.label.as_str(), "Rerun, with all after it", "the list of actions says the same");
    deck.keys("esc r y");
    deck.done("count", json!(1));
    assert!(!deck.sees("stale"), "{}", deck.screen());
}

#[test]
fn the_next_node_that_needs_somebody_may_be_a_stale_one() {
    let mut deck = stale(120, 40);
    deck.select("list");
    deck.keys(". .");
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("count"));
}

#[test]
fn a_replay_says_what_was_stale_and_offers_nothing() {
    let mut deck = stale(120, 40);
    deck.keys("H");
    assert!(deck.sees("↻ stale: made of an earlier result of list") && !deck.sees("runs this again"), "{}", deck.screen());
    deck.keys("0");
    assert!(!deck.sees("stale"), "{}", deck.screen());
}

#[test]
fn the_mark_reads_without_colour_and_without_unicode_and_help_lists_it() {
    let mut deck = stale(80, 24);
    deck.model.look.theme = deck.model.look.theme.clone().with_glyphs(GlyphSet::Ascii);
    assert!(row(&mut deck, "count").contains("s | count"), "{}", deck.screen());
    deck.keys("?");
    deck.type_text("stale");
    assert!(deck.sees("s                stale") && deck.sees("uses a result that has changed since"), "{}", deck.screen());
}

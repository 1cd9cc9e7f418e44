//! Screens as snapshots: every state of the main job at three sizes, in colour and without.

use insta::assert_snapshot;
use ratatui::{buffer::Buffer, style::Modifier};
use serde_json::json;

use super::{Deck, text};
use crate::console::theme::{Depth, Theme, load};
use crate::engine::{NodeError, WorkFact};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 50)];

fn shoot(name: &str, make: impl Fn(u16, u16) -> Deck) {
    for (width, height) in SIZES {
        let mut deck = make(width, height);
        deck.later(1_000);
        deck.flush();
        let buffer = deck.flush();
        assert_snapshot!(format!("{name}_{width}x{height}"), text(&buffer));
        if width == 80 {
            assert_snapshot!(format!("{name}_{width}x{height}_styles"), marks(&buffer));
            deck.model.look.theme = mono();
            assert_snapshot!(format!("{name}_{width}x{height}_no_colour"), marks(&deck.flush()));
        }
    }
}

fn mono() -> Theme {
    load("terminal", None, Depth::Mono).unwrap()
}

/// The screen with a letter for each way in which cells look, and what the letters mean.
fn marks(buffer: &Buffer) -> String {
    let mut looks: Vec<String> = Vec::new();
    let mut map = String::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width)) {
        let mut line = String::new();
        for cell in row {
            let plain = cell.modifier == Modifier::empty() && format!("{:?}{:?}", cell.fg, cell.bg) == "ResetReset";
            let look = format!("{:?} on {:?} {:?}", cell.fg, cell.bg, cell.modifier);
            line.push(if plain {
                '.'
            } else {
                let at = looks.iter().position(|known| *known == look).unwrap_or_else(|| {
                    looks.push(look.clone());
                    looks.len() - 1
                });
                char::from(b'a' + u8::try_from(at).unwrap())
            });
        }
        map.push_str(line.trim_end_matches('.'));
        map.push('\n');
    }
    for (at, look) in looks.iter().enumerate() {
        map.push_str(&format!("{}: {look}\n", char::from(b'a' + u8::try_from(at).unwrap())));
    }
    map
}

#[test]
fn empty() {
    shoot("empty", Deck::new);
}

#[test]
fn plan() {
    shoot("plan", Deck::planned);
}

#[test]
fn editing() {
    shoot("editing", |width, height| {
        let mut deck = Deck::planned(width, height);
        deck.model.editor.select(&"write".into());
        deck.keys("D k k");
        deck
    });
}

#[test]
fn editor() {
    shoot("editor", |width, height| {
        let mut deck = Deck::planned(width, height);
        deck.keys("e");
        deck
    });
}

#[test]
fn running() {
    shoot("running", |width, height| {
        let mut deck = Deck::running(width, height);
        deck.done("list", json!("src/main.rs\nsrc/lib.rs"));
        deck.fact("scan", WorkFact::Output("reading src/main.rs\nreading src/lib.rs\ntwo things are".into()));
        deck.model.with_tree(|tree, plan| {
            tree.reveal(plan, &"scan".into());
        });
        deck
    });
}

#[test]
fn waiting() {
    shoot("waiting", Deck::waiting);
}

#[test]
fn inbox() {
    shoot("inbox", |width, height| {
        let mut deck = Deck::waiting(width, height);
        deck.keys("i");
        deck
    });
}

#[test]
fn failed() {
    shoot("failed", |width, height| {
        let mut deck = Deck::running(width, height);
        deck.done("list", json!("src/main.rs"));
        deck.fact("scan", WorkFact::Failed(NodeError::permanent("the server refused the key").hint("set OPENAI_API_KEY to a valid key")));
        deck.done("count", json!(2));
        deck.model.with_tree(|tree, plan| {
            tree.reveal(plan, &"scan".into());
        });
        deck
    });
}

#[test]
fn help() {
    shoot("help", |width, height| {
        let mut deck = Deck::planned(width, height);
        deck.keys("?");
        deck
    });
}

#[test]
fn palette() {
    shoot("palette", |width, height| {
        let mut deck = Deck::planned(width, height);
        deck.keys(":");
        deck.type_text("run");
        deck
    });
}

#[test]
fn ascii_is_complete() {
    for make in [Deck::new, Deck::planned, Deck::waiting] {
        let mut deck = make(80, 24);
        deck.model.look.theme = deck.model.look.theme.clone().with_glyphs(crate::text::GlyphSet::Ascii);
        let screen = deck.screen();
        assert!(screen.is_ascii(), "{screen}");
    }
}

#[test]
fn the_selection_is_visible_without_colour() {
    let mut deck = Deck::planned(80, 24);
    deck.model.look.theme = mono();
    let buffer = deck.flush();
    let selected = deck.model.layout().list.y + 1;
    assert!(buffer[(5, selected)].modifier.contains(Modifier::REVERSED));
    assert!(!buffer[(5, selected + 1)].modifier.contains(Modifier::REVERSED));
}

#[test]
fn a_terminal_that_is_too_small_gets_one_sentence() {
    let mut deck = Deck::planned(30, 6);
    assert_eq!(deck.screen().trim(), "dagdeck needs 40 columns and\n10 rows.");
}

#[test]
fn every_size_is_drawn_without_a_panic() {
    for width in [1, 2, 39, 40, 41, 60, 99, 100, 101] {
        for height in [1, 2, 9, 10, 11, 17, 18, 24] {
            for keys in ["1", "i", "3", "?", ":", "a", "e", "z", "D", "R", "F", "q"] {
                let mut deck = Deck::waiting(width, height);
                deck.keys(keys);
                deck.flush();
                deck.keys("<");
                deck.keys(keys);
                deck.flush();
            }
        }
    }
}

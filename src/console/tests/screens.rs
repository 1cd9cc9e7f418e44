//! Screens as snapshots: every state of the main job at three sizes, in colour and without.

use insta::assert_snapshot;
use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};
use serde_json::json;

use super::{Deck, EVERYWHERE, text};
use crate::console::theme::{Depth, Theme, load};
use crate::engine::{NodeError, Outcome, RunId, RunStatus, WorkerFact};
use crate::host::client::{Driver, ModelStatus, Notice, RunSummary};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 50)];

fn shoot(name: &str, make: impl Fn(u16, u16) -> Deck) {
    shoot_at(&SIZES, name, make);
}

/// Screens at these sizes, in colour and without. All are compared before one that differs fails the test.
pub fn shoot_at(sizes: &[(u16, u16)], name: &str, make: impl Fn(u16, u16) -> Deck) {
    let mut differ = Vec::new();
    for (width, height) in sizes.iter().copied() {
        let mut deck = make(width, height);
        deck.later(1_000);
        deck.flush();
        let colour = deck.flush();
        deck.model.look.theme = mono();
        let plain = deck.flush();
        assert_eq!(text(&colour), text(&plain), "without colour the words are the same");
        let screen = format!("{}\n\nin colour\n{}\nNO_COLOR\n{}", text(&colour), looks(&colour), looks(&plain));
        let name = format!("{name}_{width}x{height}");
        if std::panic::catch_unwind(|| assert_snapshot!(name.as_str(), screen)).is_err() {
            differ.push(name);
        }
    }
    assert!(differ.is_empty(), "{differ:?}");
}

fn mono() -> Theme {
    load("terminal", None, Depth::Mono).unwrap()
}

/// How the cells of each row look, where they don't look ordinary: row, then looks with columns.
fn looks(buffer: &Buffer) -> String {
    let mut all = String::new();
    for (y, row) in buffer.content.chunks(usize::from(buffer.area.width)).enumerate() {
        let mut runs: Vec<(String, usize, usize)> = Vec::new();
        for (x, cell) in row.iter().enumerate() {
            let look = look(cell);
            match runs.last_mut() {
                Some((last, _, to)) if *last == look => *to = x,
                _ => runs.push((look, x, x)),
            }
        }
        let runs = runs.iter().filter(|(look, _, _)| !look.is_empty());
        let runs: Vec<String> = runs.map(|(look, from, to)| format!("{look} {from}-{to}")).collect();
        if !runs.is_empty() {
            all.push_str(&format!("{y:>3}  {}\n", runs.join(", ")));
        }
    }
    all
}

fn look(cell: &Cell) -> String {
    let mut words: Vec<String> = cell.modifier.iter_names().map(|(name, _)| name.to_lowercase()).collect();
    if cell.fg != Color::Reset {
        words.push(format!("{:?}", cell.fg).to_lowercase());
    }
    if cell.bg != Color::Reset {
        words.push(format!("on {:?}", cell.bg).to_lowercase());
    }
    words.join(" ")
}

#[test]
fn empty() {
    shoot("empty", |width, height| {
        let mut deck = Deck::new(width, height);
        deck.notice(Notice::Model(ModelStatus::Absent { how: "set OPENAI_API_KEY".into() }));
        deck.model.status = None;
        deck
    });
}

#[test]
fn plan() {
    shoot("plan", Deck::planned);
}

#[test]
fn editing() {
    shoot("editing", |width, height| {
        let mut deck = Deck::planned(width, height);
        deck.select("write");
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
        deck.fact("scan", WorkerFact::Output("reading src/main.rs\nreading src/lib.rs\ntwo things are".into()));
        deck.select("scan");
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
        deck.fact("scan", WorkerFact::Failed(NodeError::permanent("the server refused the key").hint("set OPENAI_API_KEY to a valid key")));
        deck.done("count", json!(2));
        deck.select("scan");
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
fn findings() {
    shoot("findings", |width, height| {
        let mut deck = Deck::new(width, height);
        deck.plan.nodes[3].depends_on[0] = "cuont".into();
        deck.type_text("list the rust files");
        deck.keys("enter F");
        deck
    });
}

#[test]
fn runs() {
    shoot("runs", |width, height| {
        let mut deck = Deck::waiting(width, height);
        let now = deck.now;
        let run = |name: &str, goal: &str, outcome: Option<Outcome>| RunSummary {
            run: RunId(name.into()),
            goal: goal.into(),
            created: now,
            last: now.plus(83_000),
            over_ms: 0,
            outcome,
            driver: if outcome.is_none() { Driver::Here } else { Driver::Nobody },
            nodes: 4,
            waiting: Vec::new(),
            status: outcome.map_or(RunStatus::Waiting, RunStatus::from),
            parent: None,
            imported: None,
        };
        let listing = vec![
            run("run-1", "list the rust files and count their lines", None),
            run("run-0", "compare README.md with what the code does", Some(Outcome::Partial)),
            run("run-a", "find every todo in this folder", Some(Outcome::Succeeded)),
        ];
        deck.notice(Notice::Runs(listing));
        deck.keys("3");
        deck
    });
}

#[test]
fn replay() {
    shoot_at(&SIZES[..2], "replay", |width, height| {
        let mut deck = Deck::waiting(width, height);
        deck.keys("H (");
        deck
    });
}

#[test]
fn log() {
    shoot_at(&SIZES[..2], "log", |width, height| {
        let mut deck = Deck::waiting(width, height);
        deck.keys("5");
        deck
    });
}

#[test]
fn cancelling() {
    shoot("cancelling", |width, height| {
        let mut deck = Deck::running(width, height);
        deck.keys("|");
        deck
    });
}

#[test]
fn actions() {
    shoot_at(&SIZES[..2], "actions", |width, height| {
        let mut deck = Deck::running(width, height);
        deck.select("count");
        deck.keys("m");
        deck
    });
}

#[test]
fn timeline() {
    shoot_at(&SIZES[..2], "timeline", |width, height| {
        let mut deck = Deck::waiting(width, height);
        deck.later(4_000);
        deck.keys("i a");
        deck.done("write", json!({"bytes": 12}));
        deck.keys("1 6");
        deck
    });
}

#[test]
fn trace() {
    shoot_at(&SIZES[..2], "trace", |width, height| {
        let mut deck = Deck::waiting(width, height);
        deck.keys("i a");
        deck.done("write", json!({"bytes": 12}));
        deck.select("write");
        deck.keys("1 7");
        deck
    });
}

#[test]
fn why() {
    shoot_at(&SIZES[..2], "why", |width, height| {
        let mut deck = Deck::running(width, height);
        deck.select("scan");
        deck.keys("p");
        deck.select("write");
        deck.keys("W");
        deck
    });
}

#[test]
fn breakpoints() {
    shoot_at(&SIZES[..2], "breakpoints", |width, height| {
        let mut deck = Deck::running(width, height);
        deck.select("write");
        deck.keys("b p B a");
        deck.type_text(" when attempt > 1");
        deck.keys("enter");
        deck
    });
}

#[test]
fn ascii_is_complete() {
    let ascii = |mut deck: Deck, keys: &str| {
        deck.model.look.theme = deck.model.look.theme.clone().with_glyphs(crate::text::GlyphSet::Ascii);
        deck.keys(keys);
        let screen = deck.screen();
        assert!(screen.is_ascii(), "after {keys}: {screen}");
    };
    for make in [Deck::new, Deck::planned, Deck::waiting] {
        ascii(make(80, 24), "tab");
    }
    let base = Deck::beside_another(120, 40);
    EVERYWHERE.into_iter().for_each(|keys| ascii(base.clone(), keys));
}

#[test]
fn the_selection_is_visible_without_colour() {
    let mut deck = Deck::planned(80, 24);
    deck.model.look.theme = mono();
    let buffer = deck.flush();
    let selected = deck.model.layout().list.y + 1;
    assert!(buffer[(5, selected)].modifier.contains(Modifier::BOLD) && !buffer[(5, selected)].modifier.contains(Modifier::REVERSED));
    assert_eq!((buffer[(0, selected)].symbol(), buffer[(0, selected + 1)].symbol()), ("▶", " "));
}

#[test]
fn a_terminal_that_is_too_small_gets_one_sentence() {
    let mut deck = Deck::planned(30, 6);
    assert_eq!(deck.screen().trim(), "dagdeck needs 40 columns and\n10 rows.");
}

#[test]
fn every_size_is_drawn_without_a_panic() {
    let bases = [Deck::beside_another(80, 24), Deck::planned(80, 24)];
    for width in [1, 2, 39, 40, 41, 60, 99, 100, 101] {
        for height in [1, 2, 9, 10, 11, 17, 18, 24] {
            for base in &bases {
                let mut base = base.clone();
                base.model.place.size = (width, height);
                for keys in EVERYWHERE {
                    let mut deck = base.clone();
                    deck.keys(keys);
                    deck.flush();
                }
            }
        }
    }
}

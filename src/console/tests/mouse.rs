//! The mouse selects and scrolls; it never decides.

use super::Deck;
use crate::console::model::Focus;
use crate::console::term::MouseAct;
use crate::console::update::Msg;

/// Where the row of a node is, which the screen says too.
fn place(deck: &mut Deck, node: &str) -> (u16, u16) {
    let row = deck.model.tree().rows().iter().position(|row| row.node.as_str() == node).unwrap();
    let y = usize::from(deck.model.layout().list.y) + 1 + row - deck.model.tree().top();
    let title = deck.model.plan().nodes[deck.model.tree().rows()[row].index].title_or_id();
    let line = deck.screen().lines().nth(y).unwrap().to_owned();
    assert!(line.contains(title.as_str()), "{line}");
    (8, u16::try_from(y).unwrap())
}

fn selected(deck: &Deck) -> &str {
    deck.model.selected_id().map(|id| id.as_str()).unwrap_or_default()
}

#[test]
fn a_click_selects_the_row_under_it_and_the_wheel_moves_on() {
    let mut deck = Deck::running(120, 40);
    for node in ["scan", "list", "write"] {
        let at = place(&mut deck, node);
        deck.send(Msg::Mouse(MouseAct::Click, at));
        assert_eq!(selected(&deck), node);
    }
    let before = deck.model.tree().selected();
    deck.send(Msg::Mouse(MouseAct::WheelUp, (3, 5)));
    assert_eq!(deck.model.tree().selected(), before - 1);
    deck.send(Msg::Mouse(MouseAct::Click, (100, 10)));
    assert_eq!(deck.model.place.focus, Focus::Inspector);
}

#[test]
fn no_click_and_no_wheel_anywhere_replies_to_a_gate_or_answers_a_question() {
    for keys in ["1", "i", "v", "5", "6", "3", "i -", "ctrl-k", "q"] {
        let mut deck = Deck::waiting(120, 40);
        deck.keys(keys);
        let (dialogs, seq) = (deck.model.dialogs.len(), deck.engine().last_seq());
        for what in [MouseAct::Click, MouseAct::WheelUp, MouseAct::WheelDown] {
            for (x, y) in (0..120).step_by(7).flat_map(|x| (0..40).map(move |y| (x, y))) {
                deck.send(Msg::Mouse(what, (x, y)));
            }
        }
        deck.later(1_000);
        assert_eq!((deck.engine().open_gates().count(), deck.model.dialogs.len()), (1, dialogs), "after {keys}");
        assert_eq!(deck.engine().last_seq(), seq, "after {keys}");
        assert!(deck.model.inbox.asked.is_none(), "a question that waits for the same key is taken back, after {keys}");
    }
}

#[test]
fn a_click_on_the_graph_selects_the_node_that_is_drawn_there() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("v");
    for form in ["boxes", "by stages"] {
        for node in ["count", "list", "write"] {
            let screen = deck.screen();
            let found =
                screen.lines().enumerate().skip(3).find_map(|(y, line)| Some((y, format!("{line} ").find(&format!(" {node} "))?, line)));
            let (y, byte, line) = found.unwrap_or_else(|| panic!("{form}, {node}: {screen}"));
            let x = line[..byte].chars().count() + 1;
            deck.send(Msg::Mouse(MouseAct::Click, (u16::try_from(x).unwrap(), u16::try_from(y).unwrap())));
            assert_eq!(selected(&deck), node, "{form}");
        }
        deck.keys("f");
    }
}

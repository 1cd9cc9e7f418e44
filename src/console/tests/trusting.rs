//! Trust in the console: what a workspace brings is named, and trusted only after all that it would change was shown.

use super::Deck;
use crate::console::update::ConsoleEffect;
use crate::host::client::{Notice, Request, TrustItem};
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

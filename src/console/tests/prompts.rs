//! Prompts of MCP servers: in the palette, with a form for what they want to know, and in the request line before anything is sent.

use super::Deck;
use crate::console::update::ConsoleEffect;
use crate::host::client::{Notice, PromptOffer, Request};
use serde_json::json;

#[test]
fn a_prompt_of_a_server_asks_by_a_form_and_fills_the_request_line() {
    let mut deck = Deck::new(100, 30);
    let fields = json!([{"name": "topic", "label": "topic: what about"}, {"name": "tone", "optional": true}]);
    let letter: PromptOffer =
        serde_json::from_value(json!({"server": "notes", "name": "letter", "description": "A letter", "fields": fields})).unwrap();
    deck.notice(Notice::Prompts(vec![letter]));
    deck.type_text("first");
    deck.keys("esc");
    deck.keys(":");
    deck.type_text("notes:letter");
    assert!(deck.sees("Begin with notes:letter") && deck.sees("A letter"), "{}", deck.screen());
    deck.keys("enter");
    assert!(deck.sees("topic: what about (text)") && deck.sees("tone (text, or nothing)"), "{}", deck.screen());
    deck.type_text("the sea");
    deck.keys("ctrl-s");
    let wanted = Request::Prompt {
        server: "notes".into(),
        name: "letter".into(),
        arguments: json!({"topic": "the sea"}).as_object().cloned().unwrap(),
    };
    assert!(deck.asked.contains(&ConsoleEffect::Send(wanted)), "{:?}", deck.asked);
    deck.notice(Notice::PromptText("Write about the sea.".into()));
    assert!(deck.sees("first") && deck.sees("Write about the sea."), "what was typed stays: {}", deck.screen());
    assert!(!deck.asked.iter().any(|asked| matches!(asked, ConsoleEffect::Send(Request::Plan { .. }))), "nothing is sent yet");
}

//! The screen of agents and tools: what it shows, and what is done from it.

use super::Deck;
use crate::console::model::EditThen;
use crate::console::update::{ConsoleEffect, Msg};
use crate::engine::Time;
use crate::host::client::{AgentEntry, Inventory, Notice, Request, RuleEntry, ServerEntry, ServerTurn, ToolEntry, UseCount};
use crate::plan::{AgentInfo, AgentKind, Risk, ToolInfo, ToolInput, Verdict};
use serde_json::json;

fn inventory() -> Inventory {
    let used = UseCount { times: 4, failed: 1, last: Some(Time(1_750_000_000_000)), last_error: Some("no such file".into()) };
    let schema = json!({
        "type": "object", "required": ["path"],
        "properties": {"last": {"type": "integer"}, "path": {"type": "string", "description": "Which file"}},
    });
    let info = ToolInfo {
        name: "read_file".into(),
        description: "Reads a file".into(),
        input_schema: schema,
        risk: Risk::Read,
        verdict: Verdict::Allow,
        reach: None,
    };
    let agent = AgentInfo {
        name: "writer".into(),
        description: "Writes".into(),
        kind: AgentKind::Llm,
        origin: "shipped".into(),
        ..AgentInfo::default()
    };
    let server = ServerEntry {
        name: "files".into(),
        state: "running, 2 tools".into(),
        label: "npx files".into(),
        origin: ".mcp.json".into(),
        log: "/state/files.log".into(),
        problems: Vec::new(),
        is_fine: true,
    };
    let what = "allow write_file in this workspace";
    let rule =
        RuleEntry { id: 3, what: what.into(), label: format!("{what}, by ada"), made: Time(1), hits: 2, file: "/kept/rules.json".into() };
    Inventory {
        agents: vec![AgentEntry { info: agent, used: UseCount::default() }],
        tools: vec![ToolEntry { info, is_set_up: true, rule: "its risk is read, where `permissions.read` says allow".into(), used }],
        servers: vec![server],
        rules: vec![rule],
    }
}

fn deck() -> Deck {
    let mut deck = Deck::new(120, 34);
    deck.keys("esc 8");
    assert!(deck.asked.contains(&ConsoleEffect::Send(Request::ListInventory)));
    deck.notice(Notice::Inventory(Box::new(inventory())));
    deck
}

fn sent(deck: &Deck, request: Request) -> bool {
    deck.asked.contains(&ConsoleEffect::Send(request))
}

#[test]
fn rules_servers_agents_and_tools_are_listed_with_what_decides_about_them_and_how_they_were_used() {
    let mut deck = deck();
    for words in [
        "rule 3",
        "allow write_file in this workspace",
        "2 calls",
        "/kept/rules.json",
        "files",
        "running",
        "writer",
        "by a model",
        "read_file",
        "4×",
    ] {
        assert!(deck.sees(words), "{words}: {}", deck.screen());
    }
    deck.keys("G");
    for words in ["its risk is read, where", "4 calls, 1 failed", "no such file", "Which file"] {
        assert!(deck.sees(words), "{words}: {}", deck.screen());
    }
    deck.keys("esc");
    assert!(!deck.sees("agents & tools"), "{}", deck.screen());
}

#[test]
fn a_tool_is_tried_by_a_form_in_a_run_of_its_own() {
    let mut deck = deck();
    deck.keys("G t");
    assert!(deck.sees("try read_file") && deck.sees("path: Which file") && deck.sees("last (may be empty)"), "{}", deck.screen());
    deck.type_text("notes.md");
    deck.keys("tab x ctrl-s");
    assert!(deck.sees("last must be JSON"), "{}", deck.screen());
    deck.keys("tab backspace 5 ctrl-s");
    let run = deck.engine();
    let node = &run.plan().unwrap().nodes[0];
    let work = node.kind.tool().unwrap();
    let args = json!({"path": "notes.md", "last": 5});
    assert_eq!((work.tool.as_str(), &work.input), ("read_file", &ToolInput::Args(args.as_object().unwrap().clone())));
    assert!(deck.sees("Try read_file"), "{}", deck.screen());
}

#[test]
fn text_that_comes_at_once_goes_to_the_next_field_where_it_has_a_tab_and_what_is_needed_must_be_there() {
    let mut deck = deck();
    deck.keys("G t tab 5 ctrl-s");
    assert!(deck.sees("path is needed"), "{}", deck.screen());
    deck.send(Msg::TypedAtOnce("notes for me.md\t5".into()));
    deck.keys("ctrl-s");
    let args = json!({"path": "notes for me.md", "last": 55});
    assert_eq!(deck.engine().plan().unwrap().nodes[0].kind.tool().unwrap().input, ToolInput::Args(args.as_object().unwrap().clone()));
}

#[test]
fn a_card_is_edited_outside_and_comes_back_where_it_cannot_be_used() {
    let mut deck = deck();
    deck.keys("j j e");
    assert!(sent(&deck, Request::ReadCard("writer".into())), "{}", deck.screen());
    deck.notice(Notice::CardRead { name: "writer".into(), text: "---\n".into(), file: "/config/agents/writer.md".into() });
    let editor = ConsoleEffect::OpenEditor { text: "---\n".into(), suffix: ".md", then: EditThen::Card("writer".into()) };
    assert!(deck.asked.contains(&editor));
    deck.notice(Notice::CardRefused { name: "writer".into(), text: "nothing".into(), why: "the card doesn't open with `---`".into() });
    assert!(deck.sees("the card can't be used") && deck.sees("doesn't open with"), "{}", deck.screen());
    deck.keys("x ctrl-s");
    let saved = deck.asked.iter().any(|asked| matches!(asked, ConsoleEffect::Send(Request::SaveCard { name, .. }) if name == "writer"));
    assert!(saved);
}

#[test]
fn a_server_is_started_and_ended_and_a_rule_is_ended_once_that_was_confirmed() {
    let mut deck = deck();
    deck.keys("d");
    assert!(deck.sees("end rule 3?") && !sent(&deck, Request::RevokeRule(3)), "{}", deck.screen());
    deck.keys("y");
    assert!(sent(&deck, Request::RevokeRule(3)));
    deck.keys("j t");
    assert!(deck.sees("select a tool first"), "{}", deck.screen());
    deck.keys("s S");
    assert!(sent(&deck, Request::TurnServer { name: "files".into(), turn: ServerTurn::Restart }));
    assert!(sent(&deck, Request::TurnServer { name: "files".into(), turn: ServerTurn::Stop }));
    assert!(deck.sees("ending files"), "{}", deck.screen());
    deck.notice(Notice::Inventory(Box::new(inventory())));
    assert!(deck.sees("files: running, 2 tools") && !deck.sees("ending files"), "{}", deck.screen());
    deck.keys("o");
    assert!(sent(&deck, Request::ReadServerLog("files".into())));
    deck.notice(Notice::ServerLog { name: "files".into(), text: "started\nended".into() });
    assert!(deck.sees("log of files") && deck.sees("ended"), "{}", deck.screen());
}

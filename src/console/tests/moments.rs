//! The moments of work: the end of a run, a failure, a change that was made on the way, the first screen.

use serde_json::{Value, json};

use super::Deck;
use crate::console::model::PlanOrigin;
use crate::console::update::ConsoleEffect;
use crate::console::update::actions::plan::open;
use crate::engine::{NodeError, Outcome, Preview, WorkerFact};
use crate::host::client::{ModelStatus, Notice, Request};
use crate::plan::{NodeId, Plan};

fn plan(nodes: Value) -> Plan {
    serde_json::from_value(json!({"goal": "a report", "nodes": nodes})).unwrap()
}

/// A console in which this plan runs.
fn running((width, height): (u16, u16), nodes: Value) -> Deck {
    let mut deck = Deck::new(width, height);
    deck.start(plan(nodes), Vec::new());
    deck.keys("esc");
    deck
}

fn selected(deck: &Deck) -> Option<&str> {
    deck.model.selected_id().map(NodeId::as_str)
}

fn fails(deck: &mut Deck, node: &str, message: &str) {
    deck.later(1_000);
    deck.fact(node, WorkerFact::Failed(NodeError::permanent(message)));
}

/// A console in which `lint` has failed and `write` waits for a reply.
fn failed_beside_a_gate() -> Deck {
    let nodes = json!([
        {"id": "lint", "code": "return 1;"},
        {"id": "write", "tool": "write_file", "args": {"path": "a.md", "content": "one"}},
        {"id": "mail", "code": "return 2;", "depends_on": ["lint", "write"]},
    ]);
    let mut deck = running((80, 24), nodes);
    fails(&mut deck, "lint", "no such word");
    deck.select("write");
    deck.keys(".");
    deck
}

#[test]
fn a_rejection_that_ends_a_run_leaves_the_selection_where_the_next_key_is_meant() {
    let mut deck = failed_beside_a_gate();
    deck.keys("x");
    deck.type_text("not today");
    deck.keys("enter x");
    assert_eq!(deck.engine().outcome().map(|(outcome, _)| outcome), Some(Outcome::Failed));
    let screen = deck.screen();
    assert_eq!(selected(&deck), Some("write"), "{screen}");
    assert!(screen.contains("rejected write · failed: lint failed") && screen.contains("(. goes there)"), "{screen}");
    deck.keys(".");
    assert_eq!(selected(&deck), Some("lint"));
}

#[test]
fn a_failure_that_comes_after_a_reply_is_gone_to() {
    let nodes = json!([
        {"id": "write", "tool": "write_file", "args": {"path": "a.md", "content": "one"}},
        {"id": "mail", "code": "return 2;", "depends_on": ["write"]},
    ]);
    let mut deck = running((80, 24), nodes);
    deck.keys(". a a");
    deck.done("write", json!({"bytes": 3}));
    fails(&mut deck, "mail", "no such word");
    let screen = deck.screen();
    assert_eq!(selected(&deck), Some("mail"), "{screen}");
}

#[test]
fn what_a_command_printed_last_stands_once_on_the_card_of_its_failure() {
    let mut deck = running((80, 24), json!([{"id": "build", "title": "Build it", "code": "return 1;"}]));
    deck.fact("build", WorkerFact::Output("step one\nbroken pipe\nat line 7\n".into()));
    fails(&mut deck, "build", "the command failed with exit code 3:\nbroken pipe\nat line 7");
    let screen = deck.screen();
    assert_eq!(screen.matches("broken pipe").count(), 1, "{screen}");
    assert!(screen.contains("step one") && screen.contains("at line 7"), "{screen}");
}

#[test]
fn the_row_of_a_node_has_what_a_person_gave_it_at_its_gate() {
    let nodes = json!([
        {"id": "disk", "tool": "write_file", "args": {"path": "one.md", "content": "x"}},
        {"id": "other", "title": "Write the other", "tool": "write_file", "args": {"path": "two.md", "content": "x"}},
    ]);
    let mut deck = running((120, 40), nodes);
    for (node, path) in [("disk", "one.md"), ("other", "two.md")] {
        deck.select(node);
        deck.keys("e");
        deck.type_text("path");
        deck.keys("enter ctrl-u");
        deck.type_text(&format!("other-{path}"));
        deck.keys("enter a");
        deck.done(node, json!({"bytes": 1}));
    }
    let screen = deck.screen();
    assert!(screen.contains("disk  edited  path: other-one.md") && screen.contains("Write the other  edited"), "{screen}");
}

#[test]
fn a_change_made_in_a_run_is_offered_for_the_plan_and_saved_into_its_file() {
    let mut deck = Deck::new(80, 24);
    let nodes = json!([{"id": "sum", "title": "Add them up", "code": "return 1;"}]);
    open(&mut deck.model, plan(nodes), PlanOrigin::File("nightly.json".into()));
    deck.keys("r");
    fails(&mut deck, "sum", "no such word");
    assert!(!deck.sees("change the plan too"), "{}", deck.screen());
    deck.keys("e");
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set("return 2;");
    deck.keys("ctrl-s y");
    assert!(deck.sees("changed Add them up"), "{}", deck.screen());
    deck.done("sum", json!(2));
    let screen = deck.screen();
    assert!(screen.contains("P change the plan too") && screen.contains("P puts the change into the plan too"), "{screen}");
    deck.keys("P");
    let screen = deck.screen();
    assert!(screen.contains("from a run of nightly.json") && screen.contains("return 2;"), "{screen}");
    deck.keys("ctrl-s enter");
    let saved = deck.asked.iter().find_map(|asked| match asked {
        ConsoleEffect::Send(Request::SavePlan { path, plan, .. }) => Some((path.clone(), plan.clone())),
        _ => None,
    });
    let (path, plan) = saved.unwrap();
    assert_eq!(path, "nightly.json");
    deck.notice(Notice::PlanSaved { path, plan });
    let screen = deck.screen();
    assert!(screen.contains("from nightly.json"), "{screen}");
    deck.keys(">");
    assert!(!deck.sees("change the plan too"), "it has it now: {}", deck.screen());
}

#[test]
fn the_time_in_which_a_run_was_over_is_no_part_of_its_elapsed_time() {
    let mut deck = running((80, 24), json!([{"id": "sum", "title": "Add them up", "code": "return 1;"}]));
    fails(&mut deck, "sum", "no such word");
    let before = deck.model.shown_run().unwrap().elapsed_ms(deck.now);
    deck.later(600_000);
    deck.keys("r");
    deck.keys("y");
    deck.done("sum", json!(2));
    let after = deck.model.shown_run().unwrap().elapsed_ms(deck.now);
    assert!(deck.engine().outcome().is_some() && after - before < 10_000, "{before} ms, then {after} ms: {}", deck.screen());
}

#[test]
fn halts_and_failures_are_counted_beside_each_other_on_a_narrow_screen() {
    let mut deck = failed_beside_a_gate();
    deck.start(
        plan(json!([
            {"id": "stop", "code": "return 1;", "breakpoint": "before"},
            {"id": "lint", "code": "return 1;"},
            {"id": "write", "tool": "write_file", "args": {"path": "a.md", "content": "one"}},
            {"id": "mail", "code": "return 2;", "depends_on": ["lint"]},
        ])),
        Vec::new(),
    );
    fails(&mut deck, "lint", "no such word");
    let screen = deck.screen();
    let row = screen.lines().nth(1).unwrap_or_default();
    assert!(row.contains("1 needs you") && row.contains("1 halt") && row.contains("1 failed"), "{screen}");
}

#[test]
fn the_first_screen_names_keys_and_places_that_are_there() {
    let mut deck = Deck::new(80, 24);
    let screen = deck.screen();
    let keys = screen.lines().last().unwrap_or_default();
    assert!(!keys.contains("tree"), "{screen}");
    deck.keys("esc x");
    assert!(deck.sees("x means nothing here: n types a request"), "{}", deck.screen());
    for key in ["enter make a plan", "esc to the keys", "ctrl-c quit", "f1 help"] {
        assert!(keys.contains(key), "{key}: {screen}");
    }
}

#[test]
fn a_key_without_a_meaning_is_answered_in_one_line_that_says_where_to_look() {
    let mut deck = Deck::planned(80, 24);
    deck.keys("3");
    for key in ["^", "%", "n"] {
        deck.keys(&format!("esc {key}"));
    }
    deck.keys("esc 3 ^");
    assert!(deck.sees("^ means nothing here: ? shows what works"), "{}", deck.screen());
    deck.keys("B");
    assert!(deck.sees("not here: B works in a run (breakpoints)"), "{}", deck.screen());
}

#[test]
fn one_line_is_gone_on_with_and_several_are_read_from_their_start() {
    let mut deck = Deck::new(80, 24);
    open(
        &mut deck.model,
        plan(json!([{"id": "one", "code": "return 1;"}, {"id": "two", "code": "return 1;\nreturn 2;"}])),
        PlanOrigin::Stdin,
    );
    for (node, at) in [("one", (0, 9)), ("two", (0, 0))] {
        deck.select(node);
        deck.keys("e");
        assert_eq!(deck.model.dialogs.last_mut().unwrap().field().unwrap().cursor(), at);
        deck.keys("esc");
    }
}

#[test]
fn who_answers_for_a_model_reads_first_what_is_asked() {
    let mut deck = running((80, 24), json!([{"id": "note", "agent": "writer", "objective": "Write two sentences on sales"}]));
    let payload = json!({"system": "You write texts that their readers finish.", "user": "Write two sentences on sales"});
    deck.fact(
        "note",
        WorkerFact::QuestionAsked {
            call: "1".into(),
            text: "answer for the model: Write two sentences on sales".into(),
            options: Vec::new(),
            fields: Vec::new(),
            payload,
            within: None,
        },
    );
    deck.select("note");
    let screen = deck.screen();
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(at("\"user\"") < at("\"system\""), "{screen}");
}

#[test]
fn what_is_not_understood_offers_other_words_an_example_and_a_model() {
    let mut deck = Deck::new(80, 24);
    deck.notice(Notice::Model(ModelStatus::Absent { how: "none".into() }));
    let nodes = json!([{"id": "ask", "ask": "What is meant by \"frob\"?"}]);
    deck.plan = Plan { metadata: json!({"open": {"not_understood": ["frob"]}}).as_object().cloned().unwrap_or_default(), ..plan(nodes) };
    deck.type_text("frob");
    deck.keys("enter");
    let screen = deck.screen();
    let keys = screen.lines().last().unwrap_or_default();
    assert!(keys.contains("M set up a model") && !keys.contains("delete"), "{screen}");
    assert!(screen.contains("understood, for example"), "{screen}");
    deck.keys("F");
    assert!(!deck.sees("fix what is safe"), "{}", deck.screen());
}

#[test]
fn a_tool_that_is_not_set_up_is_marked_where_one_is_picked_and_a_question_is_yours() {
    let mut deck = Deck::planned(120, 40);
    deck.model.session.catalog.not_set_up.insert("read_file".into());
    deck.keys("esc a");
    assert!(deck.sees("question"), "{}", deck.screen());
    deck.type_text("one tool call");
    deck.keys("enter");
    let screen = deck.screen();
    let row = screen.lines().find(|line| line.contains("read_file")).unwrap_or_default();
    assert!(row.contains("off: not set up"), "{screen}");
}

#[test]
fn a_line_that_goes_on_is_marked_in_the_editor_and_typing_can_be_undone() {
    let mut deck = Deck::new(80, 24);
    let code = format!("return [{}];", "1234567, ".repeat(14));
    open(&mut deck.model, plan(json!([{"id": "one", "code": code}])), PlanOrigin::Stdin);
    deck.keys("e x");
    let screen = deck.screen();
    let rows: Vec<&str> = screen.lines().filter(|line| line.contains("1234567")).collect();
    let marked: Vec<bool> = rows.iter().map(|row| row.trim_end_matches([' ', '│']).ends_with('→')).collect();
    assert!(marked.starts_with(&[true]) && marked.iter().filter(|marked| !**marked).count() >= 1, "{screen}");
    assert!(screen.contains("alt-u undo"), "{screen}");
    deck.keys("alt-u");
    assert_eq!(deck.model.dialogs.last_mut().unwrap().field().unwrap().text(), code);
}

#[test]
fn on_a_low_screen_the_key_to_the_next_failure_shows_what_went_wrong() {
    let nodes = json!([{"id": "lint", "code": "return 1;"}, {"id": "other", "code": "return 1;"}]);
    let mut deck = running((60, 15), nodes);
    fails(&mut deck, "lint", "no such word");
    deck.select("other");
    deck.keys(".");
    assert!(deck.sees("no such word"), "{}", deck.screen());
}

#[test]
fn a_run_to_a_node_says_that_it_halted_before_it() {
    let nodes = json!([
        {"id": "find", "code": "return 1;"},
        {"id": "sum", "code": "return 1;", "depends_on": ["find"]},
        {"id": "mail", "code": "return 1;", "depends_on": ["sum"]},
    ]);
    let mut deck = Deck::new(80, 24);
    open(&mut deck.model, plan(nodes), PlanOrigin::Stdin);
    deck.keys("s");
    deck.select("mail");
    deck.keys("'");
    deck.done("find", json!(1));
    deck.done("sum", json!(1));
    assert!(deck.sees("paused before mail"), "{}", deck.screen());
}

#[test]
fn of_two_nodes_with_one_id_each_has_its_own_findings() {
    let mut deck = Deck::new(120, 40);
    let nodes = json!([
        {"id": "d", "tool": "write_fil", "args": {"path": "x"}},
        {"id": "d", "tool": "read_file", "args": {"path": "x"}},
    ]);
    open(&mut deck.model, plan(nodes), PlanOrigin::Stdin);
    assert!(deck.sees("write_fil"), "{}", deck.screen());
    deck.keys("j");
    let screen = deck.screen();
    let card: String = screen.lines().filter_map(|line| line.split_once('┃')).map(|(_, card)| format!("{card}\n")).collect();
    assert!(!card.contains("write_fil`") && !card.contains("no tool write_fil"), "{screen}");
}

#[test]
fn the_plans_header_counts_every_row_that_asks() {
    let mut deck = Deck::new(80, 24);
    let body = json!({"nodes": [{"id": "note", "tool": "write_file", "args": {"path": "a", "content": "b"}}]});
    open(
        &mut deck.model,
        plan(json!([{"id": "each", "over": "[1, 2]", "body": body}, {"id": "end", "ask": "Send it?"}])),
        PlanOrigin::Stdin,
    );
    assert!(deck.sees("2 ask you"), "{}", deck.screen());
}

#[test]
fn a_gate_whose_preview_changes_is_read_from_its_start_again() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys(". J J");
    let run = deck.model.shown_run().unwrap().id.clone();
    let gate = deck.engine().open_gates().next().unwrap().id;
    let preview = Preview::Diff { path: "other.md".into(), before: None, after: "one\ntwo\n".into() };
    deck.notice(Notice::Preview { run, gate, preview });
    deck.flush();
    let screen = deck.screen();
    assert!(screen.contains("new file other.md") && screen.contains("+ two") && !screen.contains("(J)"), "{screen}");
}

#[test]
fn no_row_of_a_tool_shows_code() {
    let mut deck = Deck::new(120, 40);
    let sql = "SELECT region, sum(amount) AS total FROM orders GROUP BY region";
    open(
        &mut deck.model,
        plan(json!([{"id": "sums", "tool": "read_file", "args": {"path": "orders.csv", "sql": sql}}])),
        PlanOrigin::Stdin,
    );
    let screen = deck.screen();
    let row = screen.lines().find(|line| line.contains("sums  path: orders.csv")).unwrap_or_else(|| panic!("{screen}"));
    let (row, _) = row.split_once('┃').unwrap_or((row, ""));
    assert!(!row.contains("SELECT"), "{screen}");
    assert!(screen.contains("SELECT region"), "the card has it: {screen}");
}

#[test]
fn the_list_of_breakpoints_offers_what_the_selected_one_takes() {
    let mut deck = Deck::running(80, 24);
    deck.select("write");
    deck.keys("B");
    assert!(deck.sees("a add  esc close"), "{}", deck.screen());
    deck.keys("esc b B");
    assert!(deck.sees("space disable  d remove"), "{}", deck.screen());
    deck.keys("space");
    assert!(deck.sees("space enable"), "{}", deck.screen());
}

#[test]
fn a_sentence_is_no_address_of_a_model() {
    let mut deck = Deck::new(80, 24);
    deck.keys("esc");
    deck.notice(Notice::Providers(Vec::new()));
    deck.type_text("my model, e.g. a small one");
    deck.keys("enter");
    assert!(deck.sees("no provider has this name") && !deck.sees("key for my model"), "{}", deck.screen());
}

#[test]
fn a_question_stands_once_where_a_run_that_waits_is_listed() {
    let waits = |nodes: Value| {
        let deck = running((80, 24), nodes);
        let peek = deck.engine().peek(deck.engine().status());
        assert_eq!(peek.gates, std::slice::from_ref(&peek.note));
        peek.note
    };
    assert_eq!(waits(json!([{"id": "who", "ask": "Who shall sign the report?"}])), "Who shall sign the report?");
    assert_eq!(waits(json!([{"id": "write", "tool": "write_file", "args": {}}])), "write: may it start?");
}

#[test]
fn the_way_back_is_offered_only_where_there_is_one() {
    let mut deck = running((80, 24), json!([{"id": "sum", "title": "Add them up", "code": "return 1;"}]));
    deck.done("sum", json!(2));
    assert!(deck.sees("esc tree"), "the output has the screen: {}", deck.screen());
    deck.keys("esc");
    let screen = deck.screen();
    assert!(!screen.lines().last().unwrap_or_default().contains("esc"), "{screen}");
    deck.keys("v");
    assert!(deck.sees("esc back"), "{}", deck.screen());
}

#[test]
fn what_only_a_plan_takes_names_in_a_run_the_key_that_leads_to_the_plan() {
    let mut deck = Deck::running(80, 24);
    deck.keys("O");
    assert!(deck.sees("P copies its plan into the editor"), "{}", deck.screen());
}

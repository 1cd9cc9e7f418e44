//! What becomes of a plan that doesn't go as it was meant: people are asked about failures, and a planner proposes what to do instead.

use super::chat::{last_words, text};
use super::support::{
    chat::ChatServer,
    program::{Ended, Program},
};
use serde_json::{Value, json};

/// A plan that reads a file which may be missing, and asks about that.
fn reads(program: &Program) -> String {
    let document = json!({"dagdeck": 1, "goal": "read the note", "nodes": [
        {"id": "note", "tool": "read_file", "args": {"path": "note.txt"}, "on_failure": "ask"},
        {"id": "use", "value": "got {{note.result}}", "depends_on": ["note"]},
    ]});
    program.file("plan.json", document.to_string())
}

#[test]
fn a_failure_that_its_plan_asks_about_waits_for_a_person_whatever_the_flags_say() {
    let program = Program::new();
    let file = reads(&program);
    let said = ["gate at note (read_file): ", "note.txt", "options: retry, skip, fail", "only a person can answer this: `dagdeck answer "];
    program.run(&["run", &file, "--yes", "--approve", "*"]).code(7).says(&said);
    program.run(&["resume", "--yes", "--approve", "note"]).code(7).says(&said);
    let why = program.run(&["why", "last", "use"]).code(0).says(&["-m ANSWER"]).out;
    assert!(why.contains("`note` waits for a reply to gate 1"), "{why}");
    program.run(&["approve", "last", "note"]).code(1).says(&["answer one of: retry, skip, fail"]);
    program.run(&["answer", "last", "note", "-m", "perhaps"]).says(&["answer one of: retry, skip, fail"]);
    program.file("note.txt", "hello");
    let ended = program.run(&["answer", "last", "note", "-m", "retry"]).code(0);
    assert!(ended.out.contains("hello"), "{ended}");
    let shown = program.json(&["show", "--json"]);
    assert_eq!(shown["gates"][0]["decision"], json!({"decision": "on_failure", "choice": "retry"}), "{shown:#}");
    assert_eq!((&shown["nodes"][0]["state"], &shown["nodes"][0]["attempts"]), (&json!("succeeded"), &json!(2)));
    let traced = program.run(&["trace", "last", "note"]).code(0).out;
    assert!(traced.contains("failure"), "{traced}");
}

#[test]
fn a_failed_node_does_something_else_skips_or_stays_failed_as_its_person_says() {
    let program = Program::new();
    program.file("other.txt", "hello");
    for (words, code, state) in [
        (&["approve", "last", "note", "--payload", "{\"path\": \"other.txt\"}"][..], 0, "succeeded"),
        (&["answer", "last", "note", "-m", "skip"], 5, "skipped"),
        (&["answer", "last", "note", "-m", "fail"], 5, "failed"),
        (&["reject", "last", "note", "-m", "no use"], 5, "failed"),
    ] {
        program.run(&["run", &reads(&program)]).code(7);
        program.run(words).code(code);
        assert_eq!(program.json(&["show", "--json"])["nodes"][0]["state"], state, "{words:?}");
    }
}

/// A trip whose booking fails, as its file is missing, and that is to be planned anew then.
fn trip(program: &Program) -> Ended {
    program.file("hotels.txt", "three hotels");
    program.file("lyon.txt", "a room in Lyon");
    let document = json!({"dagdeck": 1, "goal": "go to Paris", "nodes": [
        {"id": "find", "tool": "read_file", "args": {"path": "hotels.txt"}},
        {"id": "book", "tool": "read_file", "args": {"path": "paris.txt"}, "depends_on": ["find"], "on_failure": "replan"},
        {"id": "tell", "value": "booked {{book.result}}", "depends_on": ["book"]},
    ]});
    let file = program.file("plan.json", document.to_string());
    program.run(&["run", &file])
}

fn lyon() -> Value {
    json!({"nodes": [
        {"id": "book_lyon", "title": "Book in Lyon", "tool": "read_file", "args": {"path": "lyon.txt"}, "depends_on": ["find"]},
        {"id": "tell", "title": "Tell", "value": "booked {{book_lyon.result}}", "depends_on": ["book_lyon"]},
    ]})
}

fn started(program: &Program) -> Vec<String> {
    let events = program.run(&["replay", "last", "--events", "--json"]).code(0).lines();
    let started = events.iter().filter(|event| event["type"] == "node_started");
    started.map(|event| event["node_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_failure_has_the_planner_propose_a_way_on_that_is_shown_and_runs_after_a_yes() {
    let server = ChatServer::start(vec![text(lyon())]);
    let program = Program::connected(&server);
    trip(&program).code(7).says(&[
        "asks the planner for a new plan: `book` failed",
        "gate at book: `book` failed: ",
        "+ node  book_lyon",
        "- edge  book → tell",
        "takes it, with `--piece NUMBER` a part of it",
    ]);
    let [asked] = server.requests().try_into().unwrap();
    let heard = last_words(&asked);
    assert!(["A new plan is wanted: `book` failed: ", "three hotels", "paris.txt"].iter().all(|words| heard.contains(words)), "{heard}");
    let shown = program.json(&["show", "--json"]);
    assert_eq!(shown["nodes"].as_array().unwrap().len(), 3, "nothing has changed yet");
    let ended = program.run(&["resume", "--approve", "book"]).code(4);
    assert!(ended.out.contains("booked") && ended.out.contains("a room in Lyon"), "{ended}");
    assert_eq!(started(&program), ["find", "book", "book_lyon", "tell"], "what was done is not done again");
    assert_eq!(server.requests().len(), 1);
    assert!(program.run(&["audit"]).code(0).out.contains("new plan"), "{}", program.run(&["audit"]).out);
}

#[test]
fn a_proposal_is_refused_or_taken_by_the_piece_in_the_shell() {
    let program = Program::connected(&ChatServer::start(vec![text(lyon())]));
    trip(&program).code(7);
    program.run(&["reject", "last", "book"]).code(5).says(&["`book` failed"]);
    trip(&program).code(7);
    program.run(&["approve", "last", "book", "--piece", "9"]).code(2).says(&["the new plan has the pieces 1 to 4"]);
    let shown = program.run(&["show"]).code(0).out;
    assert!(shown.contains("1. - edge  book → tell") && shown.contains("+ tool: read_file"), "{shown}");
    program.run(&["approve", "last", "book", "--piece", "4"]).says(&["left out of the new plan", "1 (- edge  book → tell), 2 ("]);
    let plan = program.run(&["export", "last"]).code(0).out;
    assert!(plan.contains("book_lyon"), "{plan}");
}

#[test]
fn a_success_that_calls_for_a_new_plan_gets_one_and_the_planner_tries_again_with_words() {
    let first = json!({"nodes": [{"id": "tell", "title": "Tell", "value": "sorry", "depends_on": ["hotels"]}]});
    let second = json!({"nodes": [{"id": "tell", "title": "Tell", "value": "Lyon it is", "depends_on": ["hotels"]}]});
    let server = ChatServer::start(vec![text(first), text(second)]);
    let program = Program::connected(&server);
    let document = json!({"dagdeck": 1, "goal": "go to Paris", "nodes": [
        {"id": "hotels", "value": {"note": "All hotels fully booked for selected dates", "full": true}, "replan_when": "hotels.full"},
        {"id": "tell", "value": "Paris it is", "depends_on": ["hotels"]},
    ]});
    let file = program.file("plan.json", document.to_string());
    program.run(&["run", &file]).code(7).says(&["the result of `hotels` calls for a new plan: hotels.full", "~ node  tell"]);
    program.run(&["reject", "last", "hotels", "-m", "propose another town"]).code(7).says(&["~ node  tell"]);
    let asked = server.requests();
    assert!(last_words(&asked[0]).contains("All hotels fully booked for selected dates"), "{}", asked[0]);
    assert!(last_words(&asked[1]).contains("The operator says: propose another town"), "{}", asked[1]);
    let ended = program.run(&["approve", "last", "hotels"]).code(0);
    assert_eq!(ended.out, "Lyon it is\n");
    assert_eq!(started(&program), ["hotels", "tell"]);
}

#[test]
fn a_person_has_what_is_left_planned_anew_also_after_the_end() {
    let more = json!({"nodes": [{"id": "table", "title": "As a table", "value": "| {{note}} |", "depends_on": ["note"]}]});
    let server = ChatServer::start(vec![text(more)]);
    let program = Program::connected(&server);
    let file = program.file("plan.json", json!({"dagdeck": 1, "goal": "a note", "nodes": [{"id": "note", "value": "hello"}]}).to_string());
    program.run(&["run", &file]).code(0);
    program.run(&["replan", "-m", "as a table, please"]).code(7).says(&["tester asks for a new plan", "+ node  table"]);
    assert!(last_words(&server.requests()[0]).contains("The operator says: as a table, please"));
    program.run(&["replan"]).code(1).says(&["a new plan waits at gate 1: reply to it first"]);
    let ended = program.run(&["approve"]).code(0);
    assert_eq!(ended.out, "| hello |\n");
    assert_eq!(started(&program), ["note", "table"]);
}

#[test]
fn a_plan_that_can_not_run_is_corrected_or_no_proposal() {
    let again = json!({"nodes": [{"id": "find", "title": "Find again", "value": "x", "depends_on": []}]});
    let server = ChatServer::start(vec![text(again.clone()), text(lyon())]);
    let program = Program::connected(&server);
    trip(&program).code(7).says(&["+ node  book_lyon"]);
    assert!(last_words(&server.requests()[1]).contains("`find` is succeeded and stays as it is"), "{}", server.requests()[1]);
    let program = Program::connected(&ChatServer::start(vec![text(again)]));
    trip(&program)
        .code(7)
        .says(&["no new plan: the planner's plan can't run: `find` is succeeded and stays as it is", "options: retry, skip, replan, fail"]);
}

#[test]
fn without_a_model_a_failure_that_wants_a_new_plan_offers_what_needs_none() {
    let program = Program::new();
    trip(&program).code(7).says(&["no new plan: a new plan needs a model, and none is connected", "options: retry, skip, fail"]);
    program.file("paris.txt", "a room in Paris");
    let ended = program.run(&["answer", "last", "book", "-m", "retry"]).code(0);
    assert!(ended.out.contains("a room in Paris"), "{ended}");
    program.run(&["replan", "last"]).code(1).says(&["a new plan needs a model"]);
}

#[test]
fn an_agent_that_finds_out_that_the_plan_makes_no_sense_asks_for_another() {
    let next = json!({"nodes": [{"id": "tell", "title": "Tell", "value": "nothing to book", "depends_on": ["look"]}]});
    let ask = super::chat::call("request_replan", json!({"reason": "all hotels are closed"}));
    let server = ChatServer::start(vec![ask, text("nothing found"), text(next)]);
    let program = Program::connected(&server);
    let document = json!({"dagdeck": 1, "goal": "go to Paris", "nodes": [
        {"id": "look", "agent": "writer", "objective": "look for hotels"},
        {"id": "tell", "value": "booked", "depends_on": ["look"]},
    ]});
    let file = program.file("plan.json", document.to_string());
    program.run(&["run", &file]).code(7).says(&["`look` asks for a new plan: all hotels are closed"]);
    assert_eq!(program.run(&["approve"]).code(0).out, "nothing to book\n");
}

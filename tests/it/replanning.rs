//! What becomes of a plan that doesn't go as it was meant: people are asked about failures.

use super::support::program::Program;
use serde_json::json;

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
    let said = ["gate at note: ", "note.txt", "options: retry, skip, fail", "only a person can answer this: `dagdeck answer "];
    program.run(&["run", &file, "--yes", "--approve", "*"]).code(7).says(&said);
    program.run(&["resume", "--yes", "--approve", "note"]).code(7).says(&said);
    let why = program.run(&["why", "last", "use"]).code(0).out;
    assert!(why.contains("`note` waits for a reply to gate 1") && why.contains("-m ANSWER"), "{why}");
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
        (&["answer", "last", "note", "-m", "skip"], 4, "skipped"),
        (&["answer", "last", "note", "-m", "fail"], 5, "failed"),
        (&["reject", "last", "note", "-m", "no use"], 5, "failed"),
    ] {
        program.run(&["run", &reads(&program)]).code(7);
        program.run(words).code(code);
        assert_eq!(program.json(&["show", "--json"])["nodes"][0]["state"], state, "{words:?}");
    }
}

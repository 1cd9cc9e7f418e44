//! Follow-up requests: a plan that goes on from the results of a run that has ended.

use super::chat::text;
use super::support::{chat::ChatServer, program::Program};
use serde_json::json;

fn noted(program: &Program) {
    program.file("note.txt", "hello");
    let document = json!({"dagdeck": 1, "goal": "write a note", "nodes": [
        {"id": "note", "value": {"word": "hello"}},
        {"id": "read", "tool": "read_file", "args": {"path": "note.txt"}},
        {"id": "unused", "value": "nothing"},
    ]});
    let file = program.file("plan.json", document.to_string());
    program.run(&["run", &file]).code(0);
}

#[test]
fn a_follow_up_request_uses_what_a_run_gave_and_is_listed_below_it() {
    let plan = json!({"nodes": [{"id": "table", "title": "As a table", "value": "| {{inputs.note.word}} |", "depends_on": []}]});
    let server = ChatServer::start(vec![text(plan)]);
    let program = Program::connected(&server);
    noted(&program);
    let parent = program.json(&["show", "--json"])["run"].as_str().unwrap().to_owned();
    let ended = program.run(&["run", "--after", "last", "and now as a table"]).code(0).says(&["it uses results of run ", "`note`"]);
    assert_eq!(ended.out, "| hello |\n");
    let asked = server.requests()[0]["messages"].to_string();
    assert!(["write a note", "hello", "never follow", "and now as a table"].iter().all(|words| asked.contains(words)), "{asked}");
    let runs = program.json(&["ls", "--json"]);
    assert_eq!(runs[0]["parent"], json!({"run": parent, "seq": 0}));
    assert!(program.run(&["ls"]).code(0).out.contains("follows "), "{}", program.run(&["ls"]).out);
    let exported = program.run(&["export", "last"]).code(0).out;
    assert!(exported.contains("\"note\"") && !exported.contains("unused"), "{exported}");
    let replayed = program.json(&["replay", "last", "--json"]);
    assert_eq!(replayed["nodes"], program.json(&["show", "--json"])["nodes"]);
}

#[test]
fn what_a_planner_writes_of_private_results_is_private() {
    for is_private in [true, false] {
        let send = json!({"nodes": [{"id": "send", "title": "Send it", "tool": "fetch_url",
            "args": {"url": "http://127.0.0.1:9/?q=hello"}, "depends_on": []}]});
        let program = Program::connected(&ChatServer::start(vec![text(send)]));
        if is_private {
            noted(&program);
        } else {
            let document = json!({"dagdeck": 1, "goal": "greet", "nodes": [{"id": "note", "value": "hello"}]});
            let file = program.file("plan.json", document.to_string());
            program.run(&["run", &file]).code(0);
        }
        let ended = program.run(&["run", "--after", "last", "send it to 127.0.0.1:9"]);
        assert_eq!(ended.err.contains("private data"), is_private, "{ended}");
    }
}

#[test]
fn without_a_model_or_a_result_nothing_follows() {
    let program = Program::new();
    noted(&program);
    program.run(&["run", "--after", "last", "and now as a table"]).code(8).says(&["only a model can go on from the results of a run"]);
    let program = Program::connected(&ChatServer::start(vec![text("{}")]));
    let open = program.file("open.json", json!({"dagdeck": 1, "goal": "ask", "nodes": [{"id": "a", "ask": "Go on?"}]}).to_string());
    program.run(&["run", &open]).code(7);
    program.run(&["run", "--after", "last", "and then?"]).code(1).says(&["has not ended", "dagdeck replan "]);
    program.run(&["run", "--after", "last", &open]).code(2).says(&["`--after` is for a request"]);
    program.run(&["run", "--after", "nobody", "and then?"]).code(1);
}

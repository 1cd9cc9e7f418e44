//! What is said of a run is what happened to it: reasons, marks and states, in the real program.

use super::support::program::{Ended, Program};
use serde_json::{Value, json};

fn plan(program: &Program, nodes: Value) -> String {
    program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string())
}

fn says(program: &Program, args: &[&str], words: &[&str]) -> Ended {
    let ended = program.run(args);
    for words in words {
        assert!(ended.out.contains(words) || ended.err.contains(words), "{words}\n{ended}");
    }
    ended
}

#[test]
fn a_rejection_is_told_as_one_and_a_cancel_with_its_reason() {
    let program = Program::new();
    let nodes = json!([{"id": "w", "tool": "write_file", "args": {"path": "n.txt", "content": "x"}}]);
    let plan = plan(&program, nodes);
    program.run(&["run", &plan]).code(7);
    let ended = says(&program, &["reject", "last", "w", "-m", "not there"], &["failed", ": `w` was rejected by "]).code(5);
    assert!(!ended.err.contains("failed or was cancelled"), "{ended}");
    says(&program, &["show", "last"], &["`w` was rejected by ", ", so the run has no output", "rejected by ", ": not there"]);
    program.run(&["run", &plan]).code(7);
    program.run(&["cancel", "last", "-m", "too slow"]).code(0);
    says(&program, &["show", "last"], &["cancelled by ", ": too slow"]);
    says(&program, &["why", "last", "w"], &["cancelled by ", ": too slow"]);
}

#[test]
fn a_node_that_failed_safe_is_not_called_failed() {
    let program = Program::new();
    let nodes = json!([
        {"id": "s", "tool": "read_file", "args": {"path": "none.txt"}, "on_failure": "safe"},
        {"id": "t", "value": "{{s.failed_safe}}", "depends_on": ["s"]},
    ]);
    let ended = program.run(&["run", &plan(&program, nodes)]).code(0);
    assert!(ended.err.contains("s: failed_safe: ") && !ended.err.contains("s: failed: "), "{ended}");
}

#[test]
fn a_number_that_is_set_is_told_where_it_is_not_what_was_typed() {
    let program = Program::new();
    let nodes = json!({"inputs": {"v": ""}, "nodes": [{"id": "a", "value": "v is {{inputs.v}}"}]});
    let file = program.file("plan.json", nodes.to_string());
    let version = program.run(&["run", &file, "--set", "v=1.10"]).code(0);
    version.says(&["note: `v` is the number 1.1; `--set 'v=\"1.10\"'` makes it text"]);
    let text = program.run(&["run", &file, "--set", "v=\"1.10\""]).code(0);
    assert_eq!(text.out.trim(), "v is 1.10");
    let long = program.run(&["run", &file, "--set", "v=12345678901234567890123"]).code(0);
    assert_eq!(long.out.trim(), "v is 12345678901234567890123");
    long.says(&["note: `v` is text: a number keeps fewer digits than 12345678901234567890123 has"]);
    program.file("data.json", "{\"id\": 12345678901234567890123}");
    let inside = program.run(&["run", &file, "--set-file", "v=data.json"]).code(0);
    assert!(inside.out.contains("\"12345678901234567890123\""), "{inside}");
    inside.says(&["note: in `v`, 12345678901234567890123 is text: a number keeps fewer digits than 12345678901234567890123 has"]);
}

#[test]
fn what_has_to_be_known_of_a_result_is_said_also_where_another_node_reads_it() {
    let program = Program::new();
    program.file("a.txt", "hi");
    program.file("b.bin", "hi\0");
    let nodes = json!([
        {"id": "find", "tool": "search_files", "args": {"pattern": "hi"}},
        {"id": "first", "value": "{{find.matches.0.path}}", "depends_on": ["find"]}
    ]);
    let ran = program.run(&["run", &program.file("plan.json", json!({ "nodes": nodes }).to_string())]).code(0);
    assert_eq!(ran.out.trim(), "a.txt");
    ran.says(&["note: find: 1 file of binary data, not searched to the end, such as `b.bin`"]);
}

#[test]
fn a_result_in_which_characters_were_replaced_says_so_whatever_tool_gave_it() {
    let program = Program::new();
    std::fs::write(program.workspace().join("latin.txt"), b"caf\xe9 cr\xe8me").unwrap();
    program.file("plain.txt", "café");
    let read = |id: &str, path: &str| json!({"id": id, "tool": "read_file", "args": {"path": path}});
    let nodes = json!([
        read("latin", "latin.txt"),
        read("plain", "plain.txt"),
        {"id": "search", "tool": "search_files", "args": {"pattern": "caf"}},
    ]);
    let ran = program.run(&["run", &program.file("plan.json", json!({ "nodes": nodes }).to_string())]).code(0);
    let ran = ran
        .says(&["latin: characters replaced: the result of `read_file` has 2 characters `\u{fffd}`", "the result of `search_files` has"]);
    assert!(!ran.err.contains("plain: characters"), "{ran}");
    let notes = program.json(&["show", "last", "--json"])["nodes"][0]["notes"].to_string();
    assert!(notes.contains("the text is not what was read"), "{notes}");
}

#[test]
fn results_that_are_no_plain_ones_are_marked_where_they_are_printed() {
    let program = Program::new();
    let nodes = json!([
        {"id": "w", "tool": "write_file", "args": {"path": "n.txt", "content": "x"}},
        {"id": "y", "value": "got {{w}}", "depends_on": ["w"]},
        {"id": "n", "value": 3},
        {"id": "l", "until": "x > 9", "body": {"nodes": [{"id": "x", "code": "return 3"}]}, "max_iterations": 2},
    ]);
    let ended = program.run(&["run", &plan(&program, nodes), "--rehearse"]);
    assert!(ended.out.contains("== y (rehearsed)\n") && ended.out.contains("== n\n3\n"), "{ended}");
    assert!(ended.out.contains("== l (failed)\n3\n"), "{ended}");
    let nodes = json!([{"id": "w", "tool": "write_file", "args": {"path": "n.txt", "content": "x"}}]);
    program.run(&["run", &plan(&program, nodes), "--rehearse"]).code(8).says(&["note: the result of w is marked: rehearsed"]);
}

#[test]
fn an_imported_run_with_an_open_gate_is_the_same_in_the_list_and_where_it_is_shown() {
    let program = Program::new();
    program.run(&["run", &plan(&program, json!([{"id": "w", "tool": "write_file", "args": {"path": "n.txt", "content": "x"}}]))]).code(7);
    program.run(&["export", "last", "--run-file", "run.jsonl"]).code(0);
    let elsewhere = Program::new();
    let file = elsewhere.file("run.jsonl", program.read("run.jsonl"));
    elsewhere.run(&["import", &file]).code(0);
    let listed = elsewhere.json(&["ls", "--json"]);
    assert_eq!(
        (&listed[0]["status"], elsewhere.json(&["show", "last", "--json"])["status"].clone()),
        (&json!("not_under_way"), json!("not_under_way"))
    );
    assert_eq!(listed[0]["waiting"], json!([]), "no reply reaches it");
    let why =
        elsewhere.run(&["why", "last", "w"]).code(0).says(&["hint: the run was imported from a file, so it can't go on", "dagdeck branch"]);
    assert!(!why.err.contains("dagdeck approve"), "{why}");
}

#[test]
fn what_looks_like_a_key_is_not_printed_and_that_is_said() {
    let program = Program::new();
    let (key, token) = ("AKIAIOSFODNN7EXAMPLE", "ghp_abcdefghijklmnopqrstuvwxyz0123456789");
    let plan = plan(&program, json!([{"id": "k", "tool": "run_command", "args": {"command": format!("echo {key} {token}")}}]));
    let asked = program.run(&["run", &plan]).code(7);
    let ended = program.run(&["resume", "--yes"]).code(0).says(&["note: what looks like a key in the result of k isn't shown"]);
    let shown = [asked, ended, program.run(&["show", "last"]), program.run(&["show", "last", "k"]), program.run(&["trace", "last", "k"])];
    for ended in shown {
        assert!(!ended.out.contains(key) && !ended.err.contains(key), "{ended}");
        assert!(!ended.out.contains(token) && !ended.err.contains(token), "{ended}");
    }
    let result = program.run(&["show", "last", "--result"]).code(0);
    assert!(result.out.contains(key) && result.out.contains(token), "for a file by the person's own wish: {result}");
}

#[test]
fn a_shown_run_says_what_its_open_gates_would_change() {
    let program = Program::new();
    program.file("d.txt", "old words\n");
    let nodes = json!([{"id": "e", "tool": "edit_file", "args": {"path": "d.txt", "old_string": "old", "new_string": "new"}}]);
    program.run(&["run", &plan(&program, nodes)]).code(7);
    for shown in [&["show", "last"][..], &["show", "last", "e"]] {
        says(&program, shown, &["-old words", "+new words"]);
    }
    program.file("d.txt", "old other words\n");
    says(&program, &["show", "last"], &["+new other words"]);
    program.run(&["resume", "--yes"]).code(0);
    assert_eq!(program.read("d.txt"), "new other words\n", "the change was shown before the yes");
}

#[test]
fn a_key_that_is_written_into_a_plan_is_told_before_a_run_and_where_the_plan_is_exported() {
    let program = Program::new();
    let key = "sk-abcdefghijklmnopqrstuvwxyz123456";
    let plan = plan(
        &program,
        json!([{"id": "f", "value": {"header": format!("Bearer {key}")}}, {"id": "n", "value": "sk-learn-pipeline-of-2026"}]),
    );
    let told = program.run(&["validate", &plan]).code(0);
    assert!(told.out.contains("warning[literal-key] nodes[0].value") && told.out.matches("literal-key").count() == 1, "{told}");
    program.run(&["export", &plan, "--format", "native"]).code(0).says(&["note: the plan has what looks like a key"]);
    for shown in [program.run(&["run", &plan]).code(0), program.run(&["show"]).code(0), told] {
        assert!(!shown.out.contains(key) && !shown.err.contains(key), "{shown}");
    }
}

#[test]
fn a_plan_that_is_printed_with_a_known_secret_says_which() {
    let program = Program::new();
    program.file(".env", "X_KEY=supersecretvalue1\n");
    let planned = program.run(&["plan", "write 'supersecretvalue1' to p9.txt"]).code(0);
    planned.says(&["note: the plan has the value of X_KEY, written out as it is"]);
    let file = plan(&program, json!([{"id": "a", "value": "supersecretvalue1"}]));
    program.run(&["export", &file]).code(0).says(&["note: the plan has the value of X_KEY"]);
    let marked = plan(&program, json!([{"id": "a", "value": "supersecret"}]));
    assert!(!program.run(&["export", &marked]).code(0).err.contains("note:"));
}

#[test]
fn show_json_says_of_an_open_gate_what_its_call_would_do() {
    let program = Program::new();
    program.file("n.txt", "old\n");
    let nodes = json!([{"id": "w", "tool": "write_file", "args": {"path": "n.txt", "content": "new\n"}}]);
    program.run(&["run", &plan(&program, nodes)]).code(7);
    let gate = program.json(&["show", "last", "--json"])["gates"][0].clone();
    assert!(gate["preview"].as_str().unwrap().contains("-old\n+new"), "{gate}");
    program.run(&["resume", "--yes"]).code(0);
    assert!(program.json(&["show", "last", "--json"])["gates"][0].get("preview").is_none(), "what is decided has none");
}

#[test]
fn the_hints_of_why_try_every_failed_source_of_a_skipped_node() {
    let program = Program::new();
    let broken = |id: &str| json!({"id": id, "code": format!("if (inputs.ok) return 1; throw new Error('{id} is broken')")});
    let last = json!({"id": "d", "value": "{{a}} {{b}}", "depends_on": ["a", "b"]});
    program.run(&["run", &plan(&program, json!([broken("a"), broken("b"), last]))]).code(5);
    let told = says(&program, &["why", "last", "d"], &["`d` was skipped: `a` failed, `b` failed", "a is broken", "b is broken"]);
    for id in ["a", "b"] {
        assert!(told.err.contains(&format!(" {id}` tries it once more")), "{told}");
    }
}

#[test]
fn what_only_looks_like_a_tools_report_is_not_told_as_done() {
    let program = Program::new();
    let nodes = json!([{"id": "a", "value": {"path": "never.txt", "bytes": 7, "created": true}}]);
    let ended = program.run(&["run", &plan(&program, nodes)]).code(0);
    assert!(ended.out.contains("never.txt") && !ended.out.contains("wrote") && !ended.err.contains("wrote"), "{ended}");
    let nodes = json!([{"id": "a", "tool": "write_file", "args": {"path": "n.txt", "content": "x"}}]);
    let ended = program.run(&["run", &plan(&program, nodes), "--yes"]).code(0);
    assert!(ended.out.contains("wrote 1 B to n.txt, a new file"), "{ended}");
    program.run(&["override", "last", "a", "--value", "{\"path\": \"other.txt\", \"bytes\": 7, \"created\": true}"]).code(0);
    let shown = program.run(&["show", "last", "a"]).code(0);
    assert!(shown.out.contains("other.txt") && !shown.out.contains("wrote 7 B"), "{shown}");
}

#[test]
fn why_and_trace_alone_are_about_what_waits_or_failed_and_the_final_nodes() {
    let program = Program::new();
    let tool = json!({"id": "w", "tool": "write_file", "args": {"path": "out.txt", "content": "x"}});
    let plan = json!({"nodes": [tool, {"id": "bad", "code": "throw new Error('no such town')"}, {"id": "after", "value": "{{bad}}", "depends_on": ["bad"]}]});
    program.file("p.json", plan.to_string());
    program.run(&["run", "p.json"]).code(7);
    for args in [&["why"] as &[&str], &["why", "last"]] {
        let why = program.run(args).code(0).says(&["dagdeck approve", "dagdeck retry"]);
        assert!(why.out.contains("no such town") && why.out.contains("`w`"), "{why}");
    }
    let trace = program.run(&["trace", "last"]).code(0).out;
    assert!(trace.contains("after") && trace.contains("w "), "the final nodes: {trace}");
    program.run(&["why", "w"]).code(0).says(&["dagdeck approve"]);
    let fine = json!({"nodes": [{"id": "fine", "value": 1}]});
    program.file("f.json", fine.to_string());
    program.run(&["run", "f.json"]).code(0);
    assert_eq!(program.run(&["why"]).code(0).out.trim(), "succeeded: every node that had to run is done");
}

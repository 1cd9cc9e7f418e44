//! What `validate` and every other reader says of documents that are wrong.

use super::cli::{codes, keys, plan, small};
use super::support::program::Program;
use serde_json::json;

#[test]
fn validate_tells_good_plans_from_bad_ones() {
    let program = Program::new();
    let good = program.file("good.json", small().to_string());
    program.run(&["validate", &good]).code(0).says(&["valid: 2 nodes, 0 warnings"]);
    assert_eq!(program.json(&["validate", &good, "--json"]), json!({"valid": true, "findings": []}));

    let bad = plan(
        &program,
        json!([
            {"id": "a", "tool": "read_flie", "args": {}, "depends_on": ["b"]},
            {"id": "b", "value": "{{ghost}}", "depends_on": ["a"]},
        ]),
    );
    let ended = program.run(&["validate", &bad]).code(3).says(&["not valid: 3 errors"]);
    for words in ["a → b → a", "`read_file`", "ghost"] {
        assert!(ended.out.contains(words), "{words}\n{ended}");
    }
    let validated = program.run(&["validate", &bad, "--json"]).code(3).json();
    assert_eq!((keys(&validated), &validated["valid"]), (vec!["valid", "findings"], &json!(false)));
    assert!(["cycle", "unknown-tool", "unknown-reference"].iter().all(|code| codes(&validated).contains(code)), "{validated}");
    for finding in validated["findings"].as_array().unwrap() {
        assert_eq!(keys(finding)[..6], ["code", "severity", "node", "path", "message", "fix"], "{finding}");
    }
}

#[test]
fn validate_reads_stdin_and_answers_in_json_even_when_the_text_is_no_plan() {
    let program = Program::new();
    program.feed(&["validate", "-"], small().to_string()).code(0);
    program.feed(&["validate", "-"], "").code(3).says(&["stdin:1:1", "the text is empty", "hint: "]);
    let validated = program.feed(&["validate", "-", "--json"], "{\"nodes\": [").code(3).json();
    assert_eq!(validated["valid"], false);
    let finding = &validated["findings"][0];
    assert!(finding["message"].as_str().unwrap().starts_with("stdin:1:11: not JSON"), "{validated}");
    assert_eq!((&finding["line"], &finding["column"]), (&json!(1), &json!(11)));
    let finding = &program.feed(&["validate", "-", "--json"], "{\"dag\": [\n {\"id\": 3}]}").code(3).json()["findings"][0];
    assert_eq!((&finding["path"], &finding["line"], &finding["column"]), (&json!("dag[0].id"), &json!(2), &json!(9)));
    let ended = program.feed(&["validate", "-"], "{\"dag\": [\n {\"id\": 3}]}").code(3);
    assert!(!ended.err.contains("schema plan"), "that is another format: {ended}");
}

#[test]
fn findings_stand_where_the_document_has_them_in_its_own_words() {
    let program = Program::new();
    let text = "{\"tasks\": [\n  {\"id\": \"a\", \"tool\": \"read_flie\", \"arguments\": {\"path\": \"x\"}}]}";
    let file = program.file("hybrid.json", text);
    let finding = &program.run(&["validate", &file, "--json"]).code(3).json()["findings"][0];
    assert_eq!((&finding["path"], &finding["line"], &finding["column"]), (&json!("tasks[0].tool"), &json!(2), &json!(23)));
    let place = format!("{file}:2:23: error[unknown-tool] tasks[0].tool: ");
    let ended = program.run(&["validate", &file]).code(3);
    assert!(ended.out.contains(&place), "{ended}");
    program.run(&["run", &file]).code(3).says(&[&place]);
}

#[test]
fn a_slip_of_the_pen_in_a_fields_name_is_told_with_what_was_meant() {
    let program = Program::new();
    let file = plan(&program, json!([{"id": "a", "value": 1}, {"id": "b", "value": 2, "lokcs": ["printer"]}]));
    let ended = program.run(&["validate", &file]).code(0);
    assert!(ended.out.contains("warning[unknown-field] nodes[1].lokcs: ") && ended.out.contains("`locks`"), "{ended}");
}

/// Bad documents, with what has to be said about each of them.
fn bad_documents() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    let deep = |open: &str, close: &str| [open.repeat(100_000), close.repeat(100_000)].concat().into_bytes();
    vec![
        ("empty", Vec::new(), vec![":1:1", "empty"]),
        ("blank", b" \n\n ".to_vec(), vec!["empty"]),
        ("cut", b"{\n \"nodes\": [".to_vec(), vec![":2:", "not JSON"]),
        ("huge", vec![b'x'; 10_000_000], vec![":1:1", "not JSON"]),
        ("deep list", deep("[", "]"), vec![":1:", "nested too deeply"]),
        ("deep object", deep("{\"a\":", "}"), vec![":1:", "nested too deeply"]),
        ("NUL", b"{\"goal\": \"a\0b\"}".to_vec(), vec![":1:", "control character"]),
        ("no text", b"{\"goal\": \"\xff\xfe\"}".to_vec(), vec!["byte 11 is not UTF-8"]),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec(), vec!["byte 1 is not UTF-8"]),
        ("a list", b"[1, 2]".to_vec(), vec!["must be an object, not a list"]),
        ("a number", b"42".to_vec(), vec!["must be an object, not a number"]),
        ("no nodes", b"{\"goal\": \"g\"}".to_vec(), vec!["list of `nodes`"]),
        ("a newer format", b"{\"dagdeck\": 99, \"nodes\": []}".to_vec(), vec!["`dagdeck`", "version 99"]),
    ]
}

#[test]
fn documents_that_are_no_plans_are_told_with_place_and_way_out_by_every_verb_that_reads_them() {
    let program = Program::new();
    for (name, text, words) in bad_documents() {
        let file = program.file("bad.json", &text);
        for verb in ["validate", "run", "export"] {
            let ended = program.run(&[verb, &file]);
            assert_eq!((ended.code, ended.out.as_str()), (3, ""), "{name}, {verb}: {ended}");
            ended.says(&words).says(&["error: ", "bad.json", "hint: "]);
        }
    }
    assert_eq!(program.json(&["ls", "--json"]), json!([]), "nothing was run");
}

#[test]
fn limits_out_of_bounds_and_unknown_names_stop_a_run_before_it_begins() {
    let program = Program::new();
    for (nodes, words) in [
        (json!([{"id": "a", "value": 1, "depends_on": ["a"]}]), "a"),
        (json!([{"id": "a", "value": 1, "depends_on": ["b"]}, {"id": "b", "value": 1, "depends_on": ["a"]}]), "a → b → a"),
        (json!([{"id": "a", "value": 1}, {"id": "a", "value": 2}]), "duplicate-id"),
        (json!([{"id": "a b\u{1b}[31m", "value": 1}]), "bad-id"),
        (json!([{"id": "a", "tool": "rm_rf", "args": {}}]), "unknown-tool"),
        (json!([{"id": "a", "tool": "read_file", "args": {"path": 7}}]), "bad-arguments"),
        (json!([{"id": "a", "agent": "nobody", "objective": "x"}]), "unknown-agent"),
        (json!([{"id": "a", "value": "{{b}}"}]), "unknown-reference"),
        (json!([{"id": "a", "value": 1, "when": "1 +"}]), "bad-condition"),
        (json!([{"id": "a", "value": 1, "timeout_s": -1}]), "bad-limit"),
        (json!([{"id": "a", "value": 1, "retry": {"attempts": 0}}]), "bad-limit"),
        (json!([{"id": "a", "value": 1, "max_iterations": 21}]), "bad-limit"),
        (json!([]), "empty-plan"),
    ] {
        let ended = program.run(&["run", &plan(&program, nodes), "--yes"]).code(3).says(&[words, "nothing was run", "hint: "]);
        assert!(!ended.err.contains('\u{1b}'), "{:?}", ended.err);
    }
    assert_eq!(program.json(&["ls", "--json"]), json!([]));
}

#[test]
fn files_that_can_not_be_read_are_named() {
    let program = Program::new();
    std::fs::create_dir(program.workspace().join("folder.json")).unwrap();
    for (name, words) in [("missing.json", "No such file"), ("./missing", "No such file"), ("folder.json", "it is a folder")] {
        for verb in ["validate", "run"] {
            program.run(&[verb, name]).code(1).says(&["error: can't read", name, words, "hint: "]);
        }
    }
}

#[test]
fn devices_and_pipes_are_refused_at_once_wherever_a_file_is_named() {
    let program = Program::new();
    let pipe =
        |path: &std::path::Path| rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    pipe(&program.workspace().join("pipe"));
    pipe(&program.workspace().join("pipe.json"));
    program.run(&["run", "pipe"]).code(1).says(&["error: can't read `pipe`: it is not a regular file"]);
    for name in ["/dev/zero", "./pipe.json"] {
        for args in [&["validate", name][..], &["run", name], &["export", name, "--format", "native"], &["import", name]] {
            program.run(args).code(1).says(&["error: can't read", name, "it is not a regular file", "hint: "]);
        }
    }
    std::fs::create_dir(program.workspace().join("state")).unwrap();
    pipe(&program.workspace().join("state/journal.db"));
    program.run(&["ls", "--home", "state"]).code(1).says(&["state/journal.db` is damaged: it is not a regular file", "hint: "]);
}

#[test]
fn plans_that_name_each_other_many_times_over_are_capped_while_they_are_read() {
    let program = Program::new();
    for level in 0..6 {
        let next = format!("level{}.json", level + 1);
        let nodes: Vec<_> = (0..10).map(|n| json!({"id": format!("n{n}"), "plan": next})).collect();
        program.file(&format!("level{level}.json"), json!({"dagdeck": 1, "goal": "many", "nodes": nodes}).to_string());
    }
    program.file("level6.json", json!({"dagdeck": 1, "goal": "one", "nodes": [{"id": "a", "value": 1}]}).to_string());
    let ended = program.run(&["validate", "level0.json"]).code(3);
    assert_eq!(ended.out.matches("more than 100000 nodes").count(), 1, "{ended}");
}

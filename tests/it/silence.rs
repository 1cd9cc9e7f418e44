//! Nothing in silence: what a run of the real program says before it does what somebody may not have meant.

use super::support::program::Program;
use serde_json::{Value, json};

fn plan(program: &Program, nodes: Value) -> String {
    program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string())
}

fn validated(program: &Program, document: &Value) -> (i32, String) {
    program.file("plan.json", document.to_string());
    let ended = program.run(&["validate", "plan.json"]);
    (ended.code, ended.out)
}

#[test]
fn a_run_and_an_edit_say_the_warnings_of_their_plan_first() {
    let program = Program::new();
    let nodes = json!([
        {"id": "a", "value": 1, "colour": "red", "shape": "round"},
        {"id": "b", "merge": {}, "depends_on": ["a"]},
    ]);
    let file = plan(&program, nodes);
    let warned = [
        "warning[unknown-field] nodes[0].colour: a node has no field `colour`, so it does nothing",
        "warning[unknown-field] nodes[0].shape: a node has no field `shape`, so it does nothing",
        "1 more warning: `dagdeck validate ",
    ];
    let run = program.run(&["run", &file]).code(0).says(&warned);
    assert!(run.err.find("warning[").unwrap() < run.err.find("a: started").unwrap(), "{run}");
    let held = plan(&program, json!([{"id": "a", "value": 1, "breakpoint": true}]));
    program.run(&["run", &held]).code(7);
    let changed = plan(&program, json!([{"id": "a", "value": 2, "breakpoint": true, "colour": []}]));
    program.run(&["edit", "last", &changed]).says(&["warning[unknown-field] nodes[0].colour"]);
}

#[test]
fn what_says_whether_or_after_what_something_runs_is_an_error_where_nothing_reads_it() {
    let program = Program::new();
    let two = || json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": 2}], "edges": [{"from": "a", "to": "b"}]});
    let tasks = || json!({"tasks": [{"id": "a", "type": "code_execution", "code": "return 1"}, {"id": "b", "tool": "current_time"}]});
    let on = |mut document: Value, place: &str, name: &str, value: Value| {
        document.pointer_mut(place).unwrap()[name] = value;
        document
    };
    for document in [
        on(two(), "/nodes/1", "execute", json!(false)),
        on(two(), "/nodes/1", "should_run", json!(false)),
        on(two(), "/nodes/1", "run", json!(false)),
        on(two(), "/nodes/1", "wen", json!([])),
        on(two(), "/nodes/1", "aprove", json!("before")),
        on(two(), "/edges/0", "approve", json!("before")),
        on(two(), "/edges/0", "unless", json!("true")),
        on(two(), "/edges/0", "guard", json!(false)),
        on(two(), "/edges/0", "disabled", json!(true)),
        on(two(), "/edges/0", "wehn", json!("false")),
        on(two(), "", "dependencies", json!([{"from": "a", "to": "b"}])),
        on(two(), "", "order", json!([["a", "b"]])),
        on(two(), "", "before", json!({"b": ["a"]})),
        on(tasks(), "", "dependencies", json!([{"from": "a", "to": "b"}])),
        on(tasks(), "", "nodes", json!([{"id": "c", "tool": "current_time"}])),
        on(tasks(), "/tasks/1", "breakpoint", json!(true)),
    ] {
        let (code, out) = validated(&program, &document);
        assert!(code == 3 && out.contains("error[wrong-shape]"), "{document}: {out}");
        assert!(!out.contains("guess: remove"), "a guess must not take it out: {out}");
    }
}

#[test]
fn a_gate_for_every_node_holds_in_every_form_and_where_settings_are() {
    let program = Program::new();
    let native = json!({"nodes": [{"id": "a", "tool": "current_time"}], "metadata": {"requires_approval": true}});
    let tasks = json!({"tasks": [{"id": "a", "tool": "current_time"}], "defaults": {"approve": "before"}});
    for document in [native, tasks] {
        let (code, out) = validated(&program, &document);
        assert!(code == 0 && out.contains("is read as `approve: before` for every node that says nothing else"), "{out}");
        program.run(&["run", "plan.json"]).code(7).says(&["gate at a"]);
        let written = program.run(&["export", "plan.json", "--format", if document.get("tasks").is_some() { "hybrid" } else { "native" }]);
        assert_eq!(written.code(0).json(), document);
    }
    let more = json!({"tasks": [{"id": "a", "tool": "current_time"}], "defaults": {"approve": "before", "timeout_s": 5}});
    assert_eq!(validated(&program, &more).0, 3);
}

#[test]
fn guesses_take_out_no_gate_and_no_condition_and_say_which_order_they_take_out() {
    let program = Program::new();
    let nodes = json!([
        {"id": "a", "value": 1, "breakpoint": {"at": 7}},
        {"id": "b", "value": 2, "approve": {"when": []}, "join": "most"},
        {"id": "c", "value": 3, "depends_on": ["d"]},
        {"id": "d", "value": 4, "depends_on": ["c"]},
    ]);
    let file = program.file("plan.json", json!({"nodes": nodes, "edges": [{"from": "a", "to": "b", "when": {"x": 1}}]}).to_string());
    let fixed = program.run(&["validate", "--fix=guess", &file]).code(3);
    for kept in ["error[bad-breakpoint]", "error[wrong-shape] edges[0].when", "error[wrong-shape] nodes[1].join"] {
        assert!(fixed.out.contains(kept), "{kept}: {fixed}");
    }
    fixed.says(&["guesses removed a dependency: `d` before `c`; check that the plan is right without it"]);
}

#[test]
fn resume_says_which_breakpoints_it_releases() {
    let program = Program::new();
    let file = plan(
        &program,
        json!([{"id": "a", "value": 1, "breakpoint": "before"}, {"id": "b", "value": 2, "breakpoint": "after"}, {"id": "g", "ask": "Go on?"}]),
    );
    program.run(&["run", &file]).code(7);
    // A reply to a gate releases nothing.
    let replied = program.run(&["approve", "last", "g"]).code(7);
    assert!(!replied.err.contains("released"), "{replied}");
    program
        .run(&["resume", "last"])
        .code(0)
        .says(&["released: a: the plan's breakpoint before `a`", "released: b: the plan's breakpoint after `b`"]);
}

#[test]
fn a_reply_to_a_gate_by_resume_releases_no_breakpoint() {
    for reply in ["--approve", "--deny"] {
        let program = Program::new();
        let nodes = json!([
            {"id": "w", "tool": "write_file", "args": {"path": "w.txt", "content": "y"}, "approve": "never", "breakpoint": true},
            {"id": "v", "value": 1, "approve": "before"},
        ]);
        program.run(&["run", &plan(&program, nodes)]).code(7);
        let replied = program.run(&["resume", "last", reply, "v"]).code(7);
        assert!(!replied.err.contains("released") && !program.workspace().join("w.txt").exists(), "{replied}");
    }
}

#[test]
fn a_yes_to_a_step_decides_only_about_what_the_step_starts() {
    let program = Program::new();
    let file = plan(
        &program,
        json!([
            {"id": "a", "tool": "write_file", "args": {"path": "a", "content": "y"}, "breakpoint": true},
            {"id": "b", "value": 2, "approve": "before", "depends_on": ["a"]},
            {"id": "other", "tool": "write_file", "args": {"path": "x", "content": "y"}, "approve": "before"},
        ]),
    );
    program.run(&["run", &file]).code(7);
    program.run(&["pause", "last"]).code(0);
    // The first step leads to its gate.
    program.run(&["step", "last", "a", "--yes"]).code(7);
    program.run(&["step", "last", "a", "--yes"]).code(7).says(&["ran a (succeeded)"]);
    assert!(program.workspace().join("a").exists());
    program.run(&["run-to", "last", "b", "--yes"]).code(7).says(&["gate at other"]);
    assert!(!program.workspace().join("x").exists());
}

#[test]
fn a_flag_that_can_decide_nothing_is_told_before_the_run() {
    let program = Program::new();
    let body = json!({"nodes": [{"id": "x", "value": 1, "approve": "before"}]});
    let file = plan(&program, json!([{"id": "m", "over": "[1, 2]", "body": body}]));
    let told = "warning: `--deny rm` matches no node and no tool of this run";
    let run = program.run(&["run", &file, "--yes", "--deny", "rm", "--deny", "m[*]/x", "--approve", "m[7]/x"]).says(&[told]);
    assert!(run.err.find(told).unwrap() < run.err.find("started").unwrap(), "{run}");
    assert!(!run.err.contains("`--deny m[*]/x` matches") && !run.err.contains("`--approve m[7]/x` matches"), "{run}");
    run.says(&["m[0]/x: cancelled: rejected by tester (--deny m[*]/x)", "m[1]/x: cancelled: rejected by tester (--deny m[*]/x)"]);
}

#[test]
fn a_shell_shows_what_a_yes_would_change_and_notices_when_that_changed() {
    let program = Program::new();
    program.file("notes.txt", "one\ntwo\n");
    program.file("old/a.txt", "a");
    let nodes = json!([
        {"id": "write", "tool": "write_file", "args": {"path": "notes.txt", "content": "one\nthree\n"}},
        {"id": "clear", "tool": "delete_file", "args": {"path": "old", "recursive": true}},
    ]);
    let file = plan(&program, nodes);
    program.run(&["run", &file]).code(7).says(&["  -two\n  +three", "  - old/a.txt  (1 B)"]);
    program.file("notes.txt", "one\nfour\n");
    program.file("old/b.txt", "b");
    let changed = "nothing was approved: what write would do has changed since it was shown";
    program.run(&["approve", "last", "write"]).code(1).says(&["  -four\n  +three", changed]);
    assert_eq!(program.read("notes.txt"), "one\nfour\n");
    program.run(&["approve", "last", "write"]).code(7);
    assert_eq!(program.read("notes.txt"), "one\nthree\n");
    program.file("old/c.txt", "c");
    program.run(&["resume", "last", "--yes"]).code(1).says(&["  - old/c.txt  (1 B)", "what clear would do has changed"]);
    program.run(&["resume", "last", "--yes"]).code(0);
    assert!(!program.workspace().join("old").exists());
}

#[test]
fn a_yes_to_several_gates_is_for_none_of_them_until_each_change_was_shown() {
    let program = Program::new();
    let write = |id: &str| json!({"id": id, "tool": "write_file", "args": {"path": format!("{id}.txt"), "content": "new\n"}});
    let file = plan(&program, json!([write("a"), write("b")]));
    program.run(&["run", &file]).code(7).says(&["new file a.txt", "new file b.txt"]);
    program.file("a.txt", "one\n");
    program.file("b.txt", "two\n");
    let changed = "nothing was approved: what a, b would do has changed since it was shown";
    program.run(&["resume", "last", "--yes"]).code(1).says(&["  -one", "  -two", changed]);
    assert_eq!((program.read("a.txt").as_str(), program.read("b.txt").as_str()), ("one\n", "two\n"));
    program.run(&["resume", "last", "--yes"]).code(0);
    assert_eq!(program.read("b.txt"), "new\n");
}

#[test]
fn a_tool_that_changes_things_and_is_said_not_to_is_told() {
    let program = Program::new();
    for (tool, args, told) in [("run_command", json!({"command": "true"}), true), ("current_time", json!({}), false)] {
        let (code, out) = validated(&program, &json!({"nodes": [{"id": "a", "tool": tool, "args": args, "side_effects": false}]}));
        assert_eq!((code, out.contains("warning[denied-effects] nodes[0].side_effects")), (0, told), "{out}");
    }
}

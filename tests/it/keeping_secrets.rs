//! Secrets: the real program, and every byte that it leaves behind.

use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
};
use serde_json::{Value, json};
use std::path::Path;

const SECRET: &str = "hunter2-hunter2-hunter2";

/// Files in a folder whose bytes hold the secret.
fn leaks(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(leaks(&path));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(SECRET) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn program() -> Program {
    let program = Program::new().env("DEPLOY_TOKEN", "from-the-environment");
    program.file(".env", format!("API_KEY={SECRET}\nMODE=quiet\n"));
    program
}

fn planned(program: &Program, nodes: Value) -> String {
    program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string())
}

#[test]
fn an_exported_run_has_no_secret_that_came_into_the_workspace_during_the_run() {
    let program = Program::new();
    let node = json!({"id": "w", "tool": "write_file", "args": {"path": ".env", "content": format!("API_KEY={SECRET}\n")}});
    program.run(&["run", "--yes", &planned(&program, json!([node]))]).code(0);
    let exported = program.run(&["export", "last", "--run-file", "-"]).code(0);
    assert!(!exported.out.contains(SECRET) && !exported.err.contains("no secrets were found"), "{exported}");
}

#[test]
fn a_known_secret_stands_raw_nowhere_after_its_file_was_read() {
    let program = program();
    let plan = planned(
        &program,
        json!([
            {"id": "a", "tool": "read_file", "args": {"path": ".env"}},
            {"id": "b", "code": "return deps.a.result + 'x'", "depends_on": ["a"]},
            {"id": "c", "value": {"all": "{{a}} from-the-environment"}, "depends_on": ["a", "b"]},
            {"id": "d", "tool": "run_command", "args": {"command": "cat .env; cat .env >&2; exit 3"}, "depends_on": ["c"]},
        ]),
    );
    let run = program.run(&["run", &plan, "--yes"]);
    let shown = [
        run,
        program.run(&["run", &plan, "--yes", "--json"]),
        program.run(&["show", "last"]),
        program.run(&["show", "last", "a"]),
        program.run(&["show", "last", "--json"]),
        program.run(&["trace", "last", "c"]),
        program.run(&["replay", "last", "--events"]),
        program.run(&["export", "last", "--run-file", "-"]),
    ];
    for ended in &shown {
        assert!(!ended.out.contains(SECRET) && !ended.err.contains(SECRET), "{ended}");
        assert!(!ended.out.contains("from-the-environment") && !ended.err.contains("from-the-environment"), "{ended}");
    }
    assert!(shown[3].out.contains("API_KEY=[secret API_KEY]") && shown[3].out.contains("MODE=quiet"), "{}", shown[3]);
    assert_eq!(leaks(&program.home().join("state")), Vec::<String>::new());
}

#[test]
fn a_secret_is_known_also_where_its_file_is_no_text() {
    let program = program();
    program.file(".env", [format!("# \u{e9}\nAPI_KEY={SECRET}\nOTHER_KEY=abcdefgh").as_bytes(), &[0xe9, b'\n']].concat());
    let plan = planned(&program, json!([{"id": "a", "tool": "run_command", "args": {"command": "cat .env"}}]));
    let run = program.run(&["run", &plan, "--yes"]).code(0);
    assert!(run.out.contains("API_KEY=[secret API_KEY]\nOTHER_KEY=[secret OTHER_KEY]"), "{run}");
    assert_eq!(leaks(&program.home().join("state")), Vec::<String>::new());
}

#[test]
fn no_piece_of_a_secret_is_left_where_a_tool_cuts_its_text() {
    let program = program();
    program.file("line.txt", format!("needle {}{SECRET}\n", "x".repeat(383)));
    let fill = (32 << 10) - 10;
    // Half of the secret is in what is kept, at both ends.
    program.file("long.txt", format!("{}{SECRET}{}{SECRET}{}", "a".repeat(fill), "b".repeat(70_000), "c".repeat(fill)));
    let plan = planned(
        &program,
        json!([
            {"id": "line", "tool": "search_files", "args": {"pattern": "needle"}},
            {"id": "ends", "tool": "run_command", "args": {"command": "cat long.txt"}},
            {"id": "error", "tool": "run_command", "args": {"command": format!("cat .env; head -c 1980 /dev/zero | tr '\\0' x; exit 3")}},
        ]),
    );
    program.run(&["run", &plan, "--yes"]);
    let shown = program.run(&["show", "last", "--json"]).code(0);
    let (mark, end) = (r"\ufdd0API_KEY\ufdd1", r"\n[");
    for kept in [
        format!("xxx{mark}\""),
        format!("aaa{mark}{end}"),
        format!(r"left out]\n{mark}ccc"),
        format!(r"exit code 3:\n{mark}\nMODE=quiet\nxxx"),
    ] {
        assert!(shown.out.contains(&kept), "{kept}: {shown}");
    }
    assert!(!shown.out.contains("hunt") && !shown.out.contains("ter2") && !shown.out.contains(r"\ufdd2"), "{shown}");
}

#[test]
fn a_line_of_env_that_is_not_understood_is_told_before_a_run() {
    let program = program();
    program.file(".env", format!("API_KEY: {SECRET}\nsetenv OTHER_KEY something\n"));
    let plan = planned(&program, json!([{"id": "a", "tool": "read_file", "args": {"path": ".env"}}]));
    let run = program.run(&["run", &plan]).code(0).says(&["`.env`: line 2 can't be read as `NAME=value`"]);
    assert!(run.out.contains("API_KEY: [secret API_KEY]"), "{run}");
}

#[test]
fn a_file_of_secrets_that_is_too_large_is_told_of() {
    let program = program();
    std::fs::File::options().write(true).open(program.workspace().join(".env")).unwrap().set_len((64 << 20) + 1).unwrap();
    let plan = planned(&program, json!([{"id": "a", "value": 1}]));
    for how in [&["run", &plan][..], &["agents"]] {
        program.run(how).code(0).says(&["the secrets in `.env` are not known, so they are not hidden: it is larger than 1 MiB"]);
    }
}

#[test]
fn a_secret_is_put_in_only_by_a_yes_that_names_it_and_never_into_an_address() {
    let program = program();
    let read = json!({"id": "a", "tool": "read_file", "args": {"path": ".env"}});
    let copy = json!({"id": "copy", "tool": "write_file", "args": {"path": "copy.txt", "content": "{{a}}"}, "depends_on": ["a"]});
    program.configure("[permissions]\nallow = [\"write_file\"]\n");
    let plan = planned(&program, json!([read, copy]));
    program.run(&["run", &plan]).code(7).says(&["it puts in the secret `API_KEY`"]);
    assert!(!program.workspace().join("copy.txt").exists());
    program.run(&["approve", "last"]).code(0);
    assert_eq!(program.read("copy.txt"), program.read(".env"));
    let send = json!({"id": "send", "tool": "fetch_url", "args": {"url": "http://example.com/?d={{a}}"}, "depends_on": ["a"]});
    let plan = planned(&program, json!([read, send]));
    program.run(&["run", &plan, "--yes", "--allow-host", "*"]).says(&["would send the secret `API_KEY`"]);
    let plain =
        json!({"id": "copy", "tool": "write_file", "args": {"path": "text.txt", "content": "${secret:API_KEY} \u{fdd0}API_KEY\u{fdd1}"}});
    program.run(&["run", &planned(&program, json!([plain])), "--yes"]);
    assert!(!program.read("text.txt").contains(SECRET), "text that reads like a secret is text");
    assert_eq!(leaks(&program.home().join("state")), Vec::<String>::new());
}

#[test]
fn a_model_reads_the_name_of_a_secret_and_never_its_value() {
    let call = Reply::Calls(vec![("read_file".to_owned(), json!({"path": ".env"}))]);
    let server = ChatServer::start(vec![call, Reply::Text("done".into())]);
    let program = program().env("OPENAI_BASE_URL", &server.url).env("OPENAI_API_KEY", "sk-test").env("OPENAI_MODEL", "test-model");
    let plan = planned(
        &program,
        json!([{"id": "a", "role": "helper", "objective": "Help with hunter2-hunter2-hunter2.", "tools": ["read_file"]}]),
    );
    program.run(&["run", &plan]).code(0);
    let asked: Vec<String> = server.requests().iter().map(Value::to_string).collect();
    assert!(asked.iter().all(|asked| !asked.contains(SECRET)) && asked[1].contains("API_KEY"), "{asked:?}");
    assert_eq!(leaks(&program.home().join("state")), Vec::<String>::new());
}

#[test]
fn an_exported_run_has_no_raw_control_characters() {
    let program = program();
    program.file("odd.txt", "bell \u{7} esc \u{1b}[31m c1 \u{9b} bidi \u{202e} delete \u{7f}");
    let plan = planned(&program, json!([{"id": "a", "tool": "read_file", "args": {"path": "odd.txt"}}]));
    program.run(&["run", &plan]).code(0);
    let written = program.run(&["export", "last", "--run-file", "-"]).code(0);
    let raw = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(!written.out.contains(raw), "{written}");
    let file = program.file("run.jsonl", &written.out);
    program.run(&["import", &file, "--home", "other"]).code(0);
}

#[test]
fn a_plan_whose_node_is_called_as_a_secret_is_refused_with_the_reason() {
    let program = Program::new();
    program.file(".env", "PRIMARY_KEY=customer_id\n");
    let plan = planned(&program, json!([{"id": "customer_id", "value": 1}]));
    for subcommand in ["validate", "run"] {
        let message = "the value of the secret PRIMARY_KEY is in the name of a node";
        let ran = program.run(&[subcommand, &plan]).code(3);
        let shown = [ran.out, ran.err].concat();
        assert!(["nodes[0].id", message, "the name of the variable PRIMARY_KEY"].iter().all(|part| shown.contains(part)), "{shown}");
    }
}

#[test]
fn a_secrets_value_in_code_or_a_reference_is_told_as_that_by_validate_and_by_run() {
    let program = Program::new();
    program.file(".env", "O_KEY=12345678\nC_SECRET=localhost\n");
    let nodes = json!([
        {"id": "c", "code": "return 12345678 * 2"},
        {"id": "e", "value": {"localhost": 1}},
        {"id": "f", "value": ["{{e.localhost}}"], "depends_on": ["e"]},
    ]);
    let plan = planned(&program, nodes);
    for subcommand in ["validate", "run"] {
        let ran = program.run(&[subcommand, &plan]).code(3);
        let shown = [ran.out, ran.err].concat();
        for finding in
            ["nodes[0].code: the value of the secret O_KEY is in code", "nodes[2].value: the value of the secret C_SECRET is in a ref"]
        {
            assert!(shown.contains(finding), "{shown}");
        }
    }
}

#[test]
fn a_file_of_secrets_that_is_read_and_written_keeps_its_quotes_and_comments() {
    let program = program();
    let text = format!("F_KEY=a1b2c3d4e5 # comment\nDB_PASSWORD=\"p@ss w0rd9\"\nE_SECRET=\"es\\\"caped-x\"\nAPI_KEY='{SECRET}'\n");
    program.file(".env", &text);
    let plan = planned(
        &program,
        json!([
            {"id": "a", "tool": "read_file", "args": {"path": ".env"}},
            {"id": "w", "tool": "write_file", "args": {"path": "o.env", "content": "{{a}}"}, "depends_on": ["a"]},
        ]),
    );
    program.run(&["run", &plan, "--yes"]).code(0);
    assert_eq!(program.read("o.env"), text);
    assert_eq!(leaks(&program.home().join("state")), Vec::<String>::new());
}

#[test]
fn nothing_that_looks_inside_of_a_text_with_a_secret_goes_on_with_another_text() {
    let program = program();
    let read = json!({"id": "a", "tool": "read_file", "args": {"path": ".env"}});
    let inside = ["{{ a | length }}", "{{ a | slice(0, 9) }}", "{{ 'zz' in a }}", "{{ upper(a) }}", "{{ a | lines }}", "{{ a in 'zz' }}"];
    let ordered = ["{{ a > 'API_KEY=t' }}", "{{ [a, 'zz', 'aa'] | sort }}", "{{ max('zz', a) }}", "{{ ['zz', a] | min }}"];
    for what in inside.into_iter().chain(ordered) {
        let plan = planned(&program, json!([read, {"id": "b", "value": what, "depends_on": ["a"]}]));
        let ran = program.run(&["run", &plan, "--yes"]);
        assert!(ran.code == 5 && ran.err.contains("can't look inside of a text that holds the secret"), "{what}: {ran}");
    }
    for code in
        ["return deps.a.result.length >= 16 ? 'key ok' : 'key too short'", "return {all: nodes}", "const {a} = deps; return /^A/.test(a)"]
    {
        let plan = planned(&program, json!([read, {"id": "b", "code": code, "depends_on": ["a"]}]));
        let ran = program.run(&["run", &plan, "--yes"]);
        assert!(ran.code == 5 && ran.err.contains("holds the secret API_KEY, whose value code doesn't get"), "{code}: {ran}");
    }
    // What asks nothing of the text goes on.
    let nodes =
        json!([read, {"id": "b", "code": "return 1 + 1", "depends_on": ["a"]}, {"id": "c", "value": "{{a}} {{b}}", "depends_on": ["b"]}]);
    program.run(&["run", &planned(&program, nodes), "--yes"]).code(0);
    let script =
        json!({"id": "j", "tool": "run_javascript", "args": {"code": "return inputs.length", "inputs": "{{a}}"}, "depends_on": ["a"]});
    let length = program.read(".env").len();
    let ran = program.run(&["run", &planned(&program, json!([read, script])), "--yes"]).code(0);
    assert!(ran.out.contains(&length.to_string()), "{ran}");
    let plan = planned(&program, json!([{"id": "w", "tool": "write_file", "args": {"path": "s.txt", "content": SECRET}}]));
    program.run(&["run", &plan, "--yes"]).code(0);
    let exported = program.run(&["export", "last"]).code(0);
    assert!(exported.err.contains("marks of secrets"), "{exported}");
}

#[test]
fn no_line_shows_a_known_secret() {
    let program = program();
    let request = format!("write '{SECRET}' to p9.txt");
    for how in [&["run", &request][..], &["plan", &request], &["run", &format!("blah '{SECRET}' foo")]] {
        let ran = program.run(how);
        assert!(!ran.err.contains(SECRET) && ran.err.contains("[secret API_KEY]"), "{ran}");
    }
    for how in [&["run", &request, "--json", "--yes"][..], &["plan", &request, "--json"], &["show", "last", "--json"], &["ls", "--json"]] {
        let ran = program.run(how);
        assert!(ran.out.contains("API_KEY") && !ran.out.contains(SECRET) && !ran.err.contains(SECRET), "{ran}");
    }
    let plan = planned(&program, json!([{"id": "a", "tool": "t", "args": {"x": format!("{SECRET}")}, "when": format!("{SECRET} ==")}]));
    for subcommand in ["validate", "run", "export"] {
        let ran = program.run(&[subcommand, &plan]);
        assert!(subcommand == "export" || !ran.out.contains(SECRET) && !ran.err.contains(SECRET), "{ran}");
    }
}

#[test]
fn the_mark_of_a_secret_in_a_plan_of_its_own_is_told_before_it_runs() {
    let program = Program::new();
    program.file(".env", "X_API_KEY=supersecretvalue1\n");
    let plan = json!({"nodes": [{"id": "w", "value": "supersecretvalue1"}]});
    program.file("plan.json", plan.to_string());
    assert!(!program.run(&["validate", "plan.json"]).code(0).out.contains("secret-mark"));
    program.run(&["run", "plan.json"]).code(0);
    let exported = program.run(&["export", "last"]).code(0).out;
    program.file("again.json", exported);
    assert!(program.run(&["validate", "again.json"]).code(0).out.contains("warning[secret-mark] nodes[0].value"));
    program.run(&["run", "again.json"]).says(&["warning[secret-mark] nodes[0].value", "write the value"]);
}

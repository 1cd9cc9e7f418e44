//! Rules for calls by their arguments: what they let run asks nobody, and what they deny never runs, by whatever route it is called.

use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
};
use serde_json::{Value, json};

const RULES: &str = r#"
[[permissions.rules]]
tool = "run_command"
verdict = "allow"
args = { command = "echo *" }

[[permissions.rules]]
tool = "write_file"
verdict = "deny"
args = { path = "kept/**" }
"#;

fn with_rules(program: Program) -> Program {
    program.configure(RULES);
    program
}

fn plan(program: &Program, nodes: &Value) -> String {
    program.file("plan.json", json!({"dagdeck": 1, "goal": "g", "nodes": nodes}).to_string())
}

fn command(id: &str, command: &str) -> Value {
    json!({"id": id, "title": id, "tool": "run_command", "args": {"command": command}})
}

fn write(id: &str) -> Value {
    json!({"id": id, "title": id, "tool": "write_file", "args": {"path": "kept/a.txt", "content": "x"}})
}

#[test]
fn a_plain_command_that_a_rule_covers_runs_and_any_other_asks() {
    let program = with_rules(Program::new());
    let covered = plan(&program, &json!([command("a", "echo one two")]));
    program.run(&["run", &covered]).code(0);
    let audit = program.run(&["audit"]).code(0);
    assert!(audit.out.contains("`permissions.rules` has `run_command command=echo *`"), "{audit}");
    let listed = program.run(&["permissions"]).code(0);
    assert!(listed.out.contains("allow  run_command command=echo *  (permissions.rules of the configuration; decided 1 call)"), "{listed}");
    for other in ["echo one > a.txt", "echo $(id)", "echo one; id", "echo one\nid", "A=1 echo one", "id"] {
        let plan = plan(&program, &json!([command("a", other)]));
        program.run(&["run", &plan]).code(7).says(&["gate at a (run_command)"]);
    }
    assert!(!program.workspace().join("a.txt").exists());
}

#[test]
fn a_rule_for_paths_goes_by_where_they_lead() {
    let program = Program::new();
    let rule = |tool: &str, verdict: &str, path: &str| {
        format!("[[permissions.rules]]\ntool = \"{tool}\"\nverdict = \"{verdict}\"\nargs = {{ path = \"{path}\" }}\n")
    };
    program.configure(&(rule("write_file", "allow", "docs/**") + &rule("delete_file", "deny", "kept/*")));
    program.file("docs/a.txt", "a");
    program.file("kept/key.txt", "k");
    std::os::unix::fs::symlink("..", program.workspace().join("docs/up")).unwrap();
    std::os::unix::fs::symlink("../kept/key.txt", program.workspace().join("docs/link.txt")).unwrap();
    let write = |path: &str| plan(&program, &json!([{"id": "a", "tool": "write_file", "args": {"path": path, "content": "x"}}]));
    program.run(&["run", &write("docs/b.txt")]).code(0);
    for path in ["docs/up/c.txt", "docs/link.txt"] {
        program.run(&["run", &write(path)]).code(7).says(&["gate at a (write_file)"]);
    }
    for path in [json!("kept/key.txt"), json!(["docs/a.txt", "kept/key.txt"]), json!("docs/up/kept/key.txt"), json!("kept")] {
        let node = json!({"id": "a", "tool": "delete_file", "args": {"path": path, "recursive": true}});
        program.run(&["run", &plan(&program, &json!([node])), "--yes"]).code(5).says(&["`permissions.rules` has"]);
    }
    assert_eq!([program.read("kept/key.txt"), program.read("docs/a.txt")], ["k", "a"]);
}

#[test]
fn a_rule_takes_no_gate_away_that_the_plan_wants() {
    let program = with_rules(Program::new());
    let mut asks = command("a", "echo one");
    asks["approve"] = json!("before");
    let plan = plan(&program, &json!([asks]));
    program.run(&["run", &plan]).code(7).says(&["the plan asks before this node starts"]);
}

#[test]
fn an_agent_runs_a_command_that_a_rule_covers() {
    let call = |command: &str| Reply::Calls(vec![("run_command".to_owned(), json!({ "command": command }))]);
    let server = ChatServer::start(vec![call("echo one"), call("echo two | cat"), Reply::Text("Done.".into())]);
    let program = with_rules(Program::connected(&server));
    let agents = program.home().join(".config/dagdeck/agents");
    std::fs::create_dir_all(&agents).unwrap();
    let card =
        "---\nname: runner\ndescription: Runs\nobjective_template: Run\ntype: llm\ntools: [run_command, write_file]\n---\nYou run.\n";
    std::fs::write(agents.join("runner.md"), card).unwrap();
    let plan = plan(&program, &json!([{"id": "a", "title": "a", "agent": "runner", "objective": "run"}]));
    program.run(&["run", &plan]).code(7).says(&["gate at a (run_command)"]);
    assert_eq!(server.requests().len(), 2, "the first call asked nobody");
}

#[test]
fn a_denied_call_runs_by_no_route() {
    let call = Reply::Calls(vec![("write_file".to_owned(), json!({"path": "./kept/b.txt", "content": "x"}))]);
    let server = ChatServer::start(vec![call, Reply::Text("Done.".into())]);
    let program = with_rules(Program::connected(&server));
    let inside = json!({"dagdeck": 1, "goal": "g", "nodes": [write("w")]});
    let each = json!({"dagdeck": 1, "goal": "g", "nodes": [
        {"id": "w", "title": "w", "tool": "write_file", "args": {"path": "kept/{{inputs.item}}", "content": "x"}}]});
    let agent = json!({"id": "agent", "title": "a", "agent": "code_executor", "objective": "write", "tools": ["write_file"]});
    let nodes = json!([
        write("own"), {"id": "nested", "title": "n", "plan": inside},
        {"id": "map", "title": "m", "over": "[\"a\", \"b\"]", "body": each}, agent
    ]);
    let file = plan(&program, &nodes);
    let ended = program.run(&["run", &file, "--yes"]);
    assert!(ended.code != 0, "{ended}");
    assert!(ended.err.matches("is denied by the permission rules: `permissions.rules` has").count() >= 2, "{ended}");
    assert!(server.requests().last().unwrap()["messages"].to_string().contains("denied by the permission rules"), "{ended}");
    assert!(!program.workspace().join("kept").exists(), "{ended}");
    let edited = plan(&program, &json!([{"id": "a", "title": "a", "tool": "write_file", "args": {"path": "free.txt", "content": "x"}}]));
    program.run(&["run", &edited]).code(7);
    program.run(&["approve", "last", "a", "--payload", r#"{"path": "kept/c.txt", "content": "x"}"#]);
    program.run(&["retry", "last", "a", "--yes"]);
    program.run(&["rerun", "last", "a", "--yes"]);
    program.run(&["branch", "last", "--at", "1", "--yes"]);
    program.run(&["replay", "last"]);
    assert!(!program.workspace().join("kept").exists());
}

#[test]
fn an_approval_proposes_the_rule_with_the_calls_that_it_would_have_covered() {
    let program = Program::new();
    let file = plan(&program, &json!([command("a", "id -u")]));
    for calls in ["1 call", "2 calls"] {
        program.run(&["run", &file]).code(7);
        let words =
            format!("keeps a rule: allow run_command command=id -u in this workspace; would have covered {calls} that you approved");
        program.run(&["approve", "last", "a"]).code(0).says(&["`dagdeck permissions --like 1 --run ", " --for project`", &words]);
    }
    program.run(&["run", &file]).code(7);
    program.run(&["permissions", "--like", "a"]).code(1).says(&["nothing was approved at `a`"]);
    program.run(&["reject", "last", "a"]).code(5);
    program.run(&["run", &file]).code(7);
    program.run(&["approve", "last", "a"]).code(0);
    let listed = program.run(&["permissions", "--like", "a"]).code(0);
    assert!(listed.out.contains("--for project  allow run_command command=id -u in this workspace;"), "{listed}");
    assert!(listed.out.contains("3 calls that you approved and 1 that you rejected: command: id -u"), "{listed}");
    assert!(listed.out.contains("--for node     allow run_command on a in run "), "{listed}");
    assert_eq!(program.json(&["permissions", "--like", "a", "--json"])[3]["covered"]["approved"], 3);
    program.run(&["permissions", "--for", "run"]).code(2).says(&["`--for` needs `--like NODE`"]);
    program.run(&["permissions", "--like", "a", "--for", "project"]).code(0).says(&["rule 1: allow run_command command=id -u"]);
    program.run(&["run", &file]).code(0);
}

#[test]
fn no_wide_rule_is_proposed_where_the_whole_command_can_have_none() {
    let program = Program::new();
    let file = plan(&program, &json!([command("a", "id | cat")]));
    program.run(&["run", &file]).code(7);
    let approved = program.run(&["approve", "last", "a"]).code(0);
    approved.says(&["--for same` keeps a rule: allow run_command with the same arguments in run "]);
    let listed = program.run(&["permissions", "--like", "a"]).code(0);
    assert!(listed.out.contains("--for project  no rule can be made of this call: `id | cat` is not one plain command"), "{listed}");
    let mut asks = command("a", "id");
    asks["approve"] = json!("before");
    let file = plan(&program, &json!([asks]));
    program.run(&["run", &file]).code(7);
    let approved = program.run(&["approve", "last", "a"]).code(0);
    assert!(!approved.err.contains("keeps a rule"), "{approved}");
}

#[test]
fn the_console_proposes_a_rule_after_an_approval_and_keeps_the_one_that_is_picked() {
    let program = Program::new();
    plan(&program, &json!([command("a", "id -u")]));
    let mut deck = program.console_with(&["console", "plan.json"], (110, 30));
    deck.sees("id -u").send("r").sees("1 needs you").send("i").sees("keys active").send("a");
    deck.sees("Y keep a rule").send("Y");
    deck.sees("which calls are decided like this one").sees("would have covered 1 call that you approved").send("\x1b[F\x1b[A\r");
    deck.sees("rule 1: allow run_command command=id -u in this workspace").send("q");
    assert_eq!(program.json(&["permissions", "--json"])["kept"][0]["args"]["command"], "id -u");
}

#[test]
fn the_console_shows_what_a_rule_would_cover_while_its_pattern_is_shortened() {
    let program = Program::new();
    let earlier = plan(&program, &json!([command("a", "id -g")]));
    program.run(&["run", &earlier]).code(7);
    program.run(&["approve", "last", "a"]).code(0);
    plan(&program, &json!([command("a", "id -u")]));
    let mut deck = program.console_with(&["console", "plan.json"], (80, 24));
    deck.sees("id -u").send("r").sees("1 needs you").send("i").sees("keys active").send("a");
    deck.sees("Y keep a rule").send("Y").sees("one of your own").send("\x1b[F\r");
    deck.sees("command=id -u in this workspace").sees("would have covered 1 call");
    deck.send("\x7f\x7f*").sees("command=id * in this workspace").sees("would have covered 2 calls");
    deck.send("\x7f\x7f; ls").sees("one plain command");
    deck.send("\x13").sees("keep the rule");
    deck.send("\x7f\x7f\x7f\x7f *")
        .sees("would have covered 2 calls")
        .send("\x13")
        .sees("rule 1: allow run_command command=id *")
        .send("q");
    assert_eq!(program.json(&["permissions", "--json"])["kept"][0]["args"]["command"], "id *");
}

#[test]
fn a_no_in_the_console_can_hold_for_more_calls() {
    let program = Program::new();
    let file = plan(&program, &json!([command("a", "id -u")]));
    let mut deck = program.console_with(&["console", "plan.json"], (110, 30));
    deck.sees("id -u").send("r").sees("1 needs you").send("i").sees("keys active").send("x");
    deck.sees("reject a: why?").send("not here\r").sees("not sent yet").sees("keys active").send("x");
    deck.sees("Y keep a rule").send("Y").sees("deny run_command in run").send("\x1b[F\x1b[A\r");
    deck.sees("rule 1: deny run_command with the same arguments in this workspace").send("q");
    program.run(&["run", &file, "--yes"]).code(5).says(&["is denied by the permission rules: rule 1"]);
}

#[test]
fn a_rule_that_can_be_evaded_is_refused_with_the_reason() {
    let program = Program::new();
    program.configure("[[permissions.rules]]\ntool = \"run_command\"\nverdict = \"deny\"\nargs = { command = \"rm *\" }\n");
    for word in ["tools", "permissions"] {
        program.run(&[word]).code(1).says(&["`permissions.rules`: a command can't be asked about or denied by its text"]);
    }
    let doctor = program.run(&["doctor"]);
    assert!(doctor.out.contains("BROKEN  configuration"), "{doctor}");
}

#[test]
fn a_yes_for_more_calls_is_listed_counted_and_revoked() {
    let program = Program::new();
    let (one, other) = (json!([command("a", "id -u")]), json!([command("a", "id -u"), command("b", "id -g")]));
    let one = plan(&program, &one);
    program.run(&["run", &one]).code(7);
    let approved = program.run(&["approve", "last", "a", "--for", "project"]).code(0);
    approved.says(&["rule 1: allow run_command command=id -u in this workspace, by tester"]);
    program.run(&["run", &one]).code(0);
    let other = plan(&program, &other);
    program.run(&["run", &other]).code(7).says(&["gate at b (run_command)"]);
    let listed = program.run(&["permissions"]).code(0);
    assert!(listed.out.contains("rule 1: allow run_command command=id -u") && listed.out.contains("decided 2 calls"), "{listed}");
    assert!(program.run(&["audit"]).code(0).out.contains("rule 1: allow run_command"), "the audit says by which yes it ran");
    program.run(&["permissions", "--revoke", "1"]).code(0);
    program.run(&["run", &one]).code(7);
    program.run(&["permissions", "--revoke", "1"]).code(1).says(&["there is no rule 1"]);
}

#[test]
fn a_reply_reaches_as_far_as_it_says() {
    let program = Program::new();
    let mut nodes = json!([command("a", "id -u"), command("b", "id -u"), command("c", "id -g")]);
    nodes[1]["depends_on"] = json!(["a"]);
    nodes[2]["depends_on"] = json!(["b"]);
    let file = plan(&program, &nodes);
    program.run(&["run", &file]).code(7);
    program.run(&["approve", "last", "a", "--for", "same"]).code(7).says(&["b: succeeded", "gate at c (run_command)"]);
    program.run(&["approve", "last", "c", "--for", "run"]).code(0);
    program.run(&["run", &file]).code(7).says(&["gate at a (run_command)"]);
    program.run(&["reject", "last", "a", "--for", "project"]).code(5);
    let again = program.run(&["run", &file, "--yes"]);
    assert!(again.code == 5 && again.err.contains("is denied by the permission rules: rule 3: deny run_command"), "{again}");
}

#[test]
fn a_reply_for_a_node_holds_for_its_next_calls_and_for_no_other_node() {
    let program = Program::new();
    let mut nodes = json!([command("a", "id -u"), command("b", "id -u")]);
    nodes[1]["depends_on"] = json!(["a"]);
    let file = plan(&program, &nodes);
    program.run(&["run", &file]).code(7);
    program.run(&["approve", "last", "a", "--for", "node"]).code(7).says(&["rule 1: allow run_command on a in run ", "gate at b"]);
    program.run(&["approve", "last", "b"]).code(0);
    let again = program.run(&["rerun", "last", "a"]).code(7).says(&["a: succeeded", "gate at b (run_command)"]);
    assert!(!again.err.contains("gate at a"), "{again}");
    program.run(&["reject", "last", "b", "--for", "node"]);
    let again = program.run(&["rerun", "last", "a", "--yes"]);
    assert!(again.err.contains("rule 2: deny run_command on b"), "a no holds whatever else says yes: {again}");
    program.run(&["run", &file]).code(7).says(&["gate at a (run_command)"]);
}

#[test]
fn no_rule_is_made_where_it_would_not_hold() {
    let program = Program::new();
    let piped = plan(&program, &json!([command("a", "id | cat")]));
    program.run(&["run", &piped]).code(7);
    program.run(&["approve", "last", "a", "--for", "project"]).code(1).says(&["is not one plain command"]);
    program.run(&["approve", "last", "a", "--for", "run", "--only", "command=ls *"]).code(1).says(&["would not cover this very call"]);
    let mut asks = command("a", "id");
    asks["approve"] = json!("before");
    let asks = plan(&program, &json!([asks]));
    program.run(&["run", &asks]).code(7);
    program.run(&["approve", "last", "a", "--for", "run"]).code(1).says(&["the plan itself asks"]);
    assert_eq!(program.json(&["permissions", "--json"])["kept"], json!([]));
}

#[test]
fn the_console_approves_a_command_for_good_once_its_key_was_pressed_twice() {
    let program = Program::new();
    plan(&program, &json!([command("a", "id -u")]));
    let mut deck = program.console_with(&["console", "plan.json"], (100, 30));
    deck.sees("id -u").send("r").sees("1 needs you").send("i").sees("keys active").send("A");
    deck.sees("this same command then always runs in this workspace: press A again")
        .sees("press again to confirm")
        .send("A")
        .sees("succeeded")
        .send("q");
    assert_eq!(program.json(&["permissions", "--json"])["kept"][0]["args"]["command"], "id -u");
    let again = plan(&program, &json!([command("b", "id -u")]));
    program.run(&["run", &again]).code(0);
}

//! The verbs as a shell sees them: exit codes, what goes to which stream, the shapes of JSON, and what is said about bad input.

use super::headless::started;
use super::support::program::{Ended, Program};
use serde_json::{Map, Value, json};

/// Two nodes that run for real, and need nothing.
pub(super) fn small() -> Value {
    json!({"dagdeck": 1, "goal": "double it", "nodes": [
        {"id": "sum", "tool": "calculator", "args": {"expression": "20 + 1"}},
        {"id": "twice", "code": "return Number(deps.sum.output) * 2", "depends_on": ["sum"]},
    ]})
}

/// A plan of nodes, in the workspace.
pub(super) fn plan(program: &Program, nodes: Value) -> String {
    program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string())
}

pub(super) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

pub(super) fn codes(validated: &Value) -> Vec<&str> {
    validated["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn run_prints_the_results_on_stdout_and_what_happens_on_stderr() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let ended = program.run(&["run", &file]).code(0).says(&["sum: started", "twice: succeeded", " succeeded, elapsed "]);
    assert_eq!(ended.out, "42\n");
    let ended = program.feed(&["run", "-"], small().to_string()).code(0);
    assert_eq!(ended.out, "42\n");
}

#[test]
fn run_json_prints_events_and_last_the_outcome() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let mut lines = program.run(&["run", &file, "--json"]).code(0).lines();
    let last = lines.pop().unwrap();
    assert_eq!(keys(&last), ["run", "outcome", "reason", "exit"]);
    assert_eq!((&last["outcome"], &last["exit"]), (&json!("succeeded"), &json!(0)));
    assert_eq!((&lines[0]["type"], &lines[0]["run"]), (&json!("run_created"), &last["run"]));
    let seqs: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "without gaps");
    let order: Vec<(&str, &str)> = lines
        .iter()
        .filter(|line| ["node_started", "node_completed"].contains(&line["type"].as_str().unwrap()))
        .map(|line| (line["type"].as_str().unwrap(), line["node_id"].as_str().unwrap()))
        .collect();
    assert_eq!(order, [("node_started", "sum"), ("node_completed", "sum"), ("node_started", "twice"), ("node_completed", "twice")]);
}

#[test]
fn words_with_white_space_are_a_request_and_stdin_holds_a_plan_or_a_request() {
    let program = Program::new();
    std::fs::create_dir(program.workspace().join("data")).unwrap();
    program.file("data/config.old.json", "{}");
    program.run(&["run", "delete data/config.old.json"]).says(&["planned by"]);
    program.run(&["run", "data/missing.json"]).code(1).says(&["can't read `data/missing.json`"]);
    program.feed(&["run", "-"], "delete data/config.old.json").says(&["planned by"]);
    program.feed(&["run", "-"], "{\"nodes\": [").code(3).says(&["stdin:1:11"]);
    program.file("two words.json", small().to_string());
    assert_eq!(program.run(&["run", "two words.json"]).code(0).out, "42\n", "an existing file is the plan");
}

#[test]
fn several_final_nodes_each_print_their_output_under_their_name() {
    let program = Program::new();
    let file = plan(&program, json!([{"id": "a", "value": 1}, {"id": "b", "value": "x\ny"}, {"id": "c", "value": 2, "depends_on": ["a"]}]));
    assert_eq!(program.run(&["run", &file]).code(0).out, "== b\nx\ny\n== c\n2\n");
}

#[test]
fn export_writes_every_form_and_reads_its_own_back() {
    let program = Program::new();
    let agents = json!([
        {"id": "find", "agent": "web_researcher", "objective": "Find \"it\""},
        {"id": "tell", "agent": "writer", "objective": "Tell {{find.result}}", "depends_on": ["find"]},
    ]);
    let file = plan(&program, agents.clone());
    let export = |form: &str| program.run(&["export", &file, "--format", form]).code(0);
    assert_eq!(export("native").json(), json!({"dagdeck": 1, "goal": "test", "nodes": agents}));
    let orchestration = export("orchestration").says(&["the orchestration format doesn't hold all of the plan:", "  goal: "]);
    assert_eq!(keys(&orchestration.json()["nodes"][0]), ["id", "agent", "objective", "depends_on"]);
    let again = program.feed(&["export", "-", "--format", "orchestration"], orchestration.out.clone()).code(0);
    assert_eq!(again.out, orchestration.out);
    for (form, words) in [("mermaid", "flowchart"), ("dot", "digraph"), ("tree", "\ntell  "), ("text", "│ tell")] {
        let exported = export(form);
        assert!(exported.out.contains(words) && exported.out.contains("find"), "{form}: {exported}");
    }
    program.run(&["run", &program.file("small.json", small().to_string())]).code(0);
    assert_eq!(program.run(&["export", "last"]).code(0).json(), small());
    program.run(&["export", "nothing"]).code(1).says(&["`nothing`", "hint: "]);
    program.run(&["export", &file, "--format", "svg"]).code(2).says(&["svg", "mermaid"]);
}

#[test]
fn a_plan_of_another_system_is_read_from_yaml_and_written_in_every_form_that_holds_it() {
    let program = Program::new();
    let text = "nodes:\n  - {id: hi, agent_name: writer, is_entry: true}\n  - {id: bye, agent_name: writer, is_exit: true}\nconnections:\n  - {source_id: hi, target_id: bye, condition: hi.result}\n";
    let file = program.file("talk.yaml", text);
    let export = |options: &[&str]| program.run(&[&["export", &file][..], options].concat()).code(0);
    let workflow = export(&["--format", "workflow"]);
    assert_eq!((&workflow.json()["connections"][0]["condition"], workflow.err.as_str()), (&json!("hi.result"), ""));
    let yaml = export(&["--format", "workflow", "--yaml"]);
    assert!(yaml.out.starts_with("nodes:\n  - id: hi\n    agent_name: writer\n    is_entry: true\n"), "{yaml}");
    let again = program.feed(&["export", "-", "--format", "workflow"], yaml.out.clone()).code(0);
    assert_eq!(again.out, workflow.out);
    assert_eq!(export(&[]).json()["dialect"], "workflow");
    export(&["--format", "orchestration"]).says(&["  connections[0].condition: ", "  nodes[0].is_entry: "]);
    program.run(&["export", &file, "--format", "dot", "--yaml"]).code(2).says(&["`dot` is a drawing", "hint: "]);
    let wrong = program.file("wrong.yaml", text.replace("target_id", "target"));
    let slip = program.run(&["validate", &wrong]).code(0);
    assert!(slip.out.contains("wrong.yaml:5:29: warning[read-as] connections[0].target: `target` is read as `target_id`"), "{slip}");
}

#[test]
fn diff_tells_what_differs_and_by_its_exit_code_whether_something_does() {
    let program = Program::new();
    let node = |objective: &str| json!({"id": "tell", "agent": "writer", "objective": objective});
    let old = program.file("old.json", json!({"dagdeck": 1, "nodes": [node("say it"), {"id": "gone", "value": 1}]}).to_string());
    let new =
        program.file("new.json", json!({"dagdeck": 1, "nodes": [{"id": "first", "value": "\u{1b}[2J"}, node("say that")]}).to_string());
    let told = program.run(&["diff", &old, &new]).code(4).says(&["1 added, 1 removed, 1 changed"]);
    assert!(told.out.contains("~ node  tell  objective\n    - say it\n    + say that\n"), "{told}");
    assert!(told.out.contains("+ node  first") && told.out.contains("- node  gone") && !told.out.contains('\u{1b}'), "{told}");
    let pieces = program.run(&["diff", &old, &new, "--json"]).code(4).json();
    assert_eq!((&pieces["equal"], pieces["pieces"].as_array().unwrap().len()), (&json!(false), 3));
    program.run(&["diff", &old, &old]).code(0).says(&["equal"]);
    program.run(&["diff", &old, "missing.json"]).code(1).says(&["missing.json", "hint: "]);
    program.run(&["diff", "-", "-"]).code(2).says(&["stdin"]);
}

#[test]
fn the_doctor_names_the_path_of_config_toml_also_when_there_is_none() {
    let program = Program::new();
    let settings = |program: &Program| {
        let out = program.run(&["doctor"]).out;
        out.lines().find(|line| line.contains("configuration")).unwrap().to_owned()
    };
    let none = settings(&program);
    assert!(none.contains("all settings have their defaults; settings go in ") && none.matches("config.toml").count() == 2, "{none}");
    program.configure("[limits]\nslots = 3\n");
    assert_eq!(settings(&program).matches("config.toml").count(), 1);
    assert!(program.run(&["ls", "--help"]).code(0).out.contains("`dagdeck doctor` shows where settings are"));
}

#[test]
fn an_export_that_leaves_everything_out_is_an_error_that_names_the_form_which_holds_it() {
    let program = Program::new();
    let agents = program.file("agents.json", r#"{"nodes": [{"id": "a", "agent": "writer", "objective": "o", "timeout_s": 3}]}"#);
    let ended = program.run(&["export", &agents, "--format", "tools"]).code(1).says(&["can't hold any node", "--format orchestration"]);
    assert_eq!(ended.out, "");
    let code = program.file("code.json", r#"{"nodes": [{"id": "a", "code": "return 1"}, {"id": "b", "merge": true}]}"#);
    program.run(&["export", &code, "--format", "workflow"]).code(1).says(&["--format native"]);
    program.run(&["export", &code, "--format", "stages"]).code(0).says(&["`a` is left out"]);
}

#[test]
fn an_expression_of_the_calculator_that_is_none_is_a_finding() {
    let program = Program::new();
    let node = |id: &str, expression: &str| json!({"id": id, "tool": "calculator", "args": {"expression": expression}});
    let nodes = [node("a", "difference between 69 and 55"), node("b", "{{a}} + 1"), node("c", "the age of the elder one")];
    let file = program.file("plan.json", json!({ "nodes": nodes }).to_string());
    let findings = program.run(&["validate", &file]).code(3).out;
    assert_eq!(findings.matches("bad-arguments").count(), 1, "{findings}");
    assert!(
        findings.contains("`the age of the elder one` can't be calculated") && findings.contains("such as `difference between"),
        "{findings}"
    );
}

#[test]
fn every_code_of_a_finding_is_published_with_its_severity() {
    let codes = Program::new().run(&["schema", "findings"]).code(0).json();
    let of = |code: &str| codes.as_array().unwrap().iter().find(|row| row["code"] == code).unwrap()["severity"].clone();
    assert_eq!((of("cycle"), of("no-entry"), of("read-as")), (json!("error"), json!("error"), json!("warning")));
}

#[test]
fn plan_prints_a_plan_that_validates_and_fits_the_published_schema() {
    let program = Program::new();
    let schema = program.run(&["schema"]).code(0).json();
    let planned = program.run(&["plan", "count the lines of every file and write them to lines.md", "--json"]).code(0).json();
    assert_eq!(keys(&planned), ["plan", "origin", "remarks", "calls", "changes", "valid", "findings"]);
    let faults: Vec<String> = jsonschema::validator_for(&schema).unwrap().iter_errors(&planned["plan"]).map(|e| e.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new());
    let text = program.run(&["plan", "count the lines of every file and write them to lines.md"]).code(0).says(&["planned by "]);
    assert_eq!(text.json(), planned["plan"]);
    program.feed(&["validate", "-"], text.out).code(0);
    assert!(program.feed(&["plan", "-", "--format", "tree"], "find all TODO comments").code(0).out.contains("TODO"));
    for empty in ["", "  \n"] {
        program.run(&["plan", empty]).code(2).says(&["the request is empty", "hint: "]);
        program.run(&["run", empty]).code(2).says(&["the request is empty", "hint: "]);
    }
}

#[test]
fn a_request_may_end_in_a_files_name() {
    let program = Program::new();
    program.file("people.csv", "name\nAnn\n");
    program.run(&["run", "turn people.csv into people.json", "--yes"]).code(0).says(&["planned by "]);
    assert_eq!(serde_json::from_str::<Value>(&program.read("people.json")).unwrap(), json!([{ "name": "Ann" }]));
}

#[test]
fn agents_tools_models_and_doctor_list_what_there_is() {
    let program = Program::new();
    let agents = program.json(&["agents", "--json"]);
    assert!(agents.as_array().unwrap().iter().any(|agent| agent["name"] == "deep_reasoner"), "{agents}");
    assert!(program.run(&["agents"]).code(0).out.contains("deep_reasoner"));
    let tools = program.json(&["tools", "--json"]);
    let tool = |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    let listed = program.run(&["tools"]).code(0).says(&["off: not set up"]);
    assert!(listed.out.lines().any(|line| line.starts_with("web_search ") && line.contains("  off  ")), "{listed}");
    assert_eq!((&tool("write_file")["risk"], &tool("write_file")["verdict"]), (&json!("write"), &json!("ask")));
    assert!(tool("read_file")["input_schema"]["properties"]["path"].is_object());
    assert!(program.run(&["tools"]).code(0).out.contains("run_command"));
    assert_eq!(
        program.json(&["models", "--json"]),
        json!({"used": null, "why": null, "models": ["operator", "rehearsal"], "classes": {"haiku": null, "opus": null, "sonnet": null}})
    );
    program.run(&["models"]).code(0).says(&["no model is set up", "OPENAI_API_KEY"]);
    let checks = program.run(&["doctor", "--json"]).json();
    for check in checks.as_array().unwrap() {
        assert!(["fine", "absent", "broken"].contains(&check["health"].as_str().unwrap()), "{check}");
        assert!(check["health"] == "fine" || check["remedy"].is_string(), "every fault has a remedy: {check}");
    }
}

#[test]
fn completions_and_man_are_written_for_every_verb() {
    let program = Program::new();
    let man = program.run(&["man"]).code(0).out;
    assert!(man.contains(".TH dagdeck 1"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = program.run(&["completions", shell]).code(0).out;
        for verb in ["validate", "export", "doctor"] {
            assert!(text.contains(verb), "{shell} lacks {verb}");
        }
    }
    program.run(&["completions", "tcsh"]).code(2).says(&["tcsh", "zsh"]);
    program.run(&["schema", "card"]).code(2).says(&["card", "plan"]);
}

#[test]
fn command_lines_that_make_no_sense_are_usage_errors_with_a_way_out() {
    let program = Program::new();
    for args in [vec!["run"], vec!["validate"], vec!["skip"], vec!["plan"], vec!["completions"], vec!["run", "x", "--bogus"]] {
        program.run(&args).code(2).says(&["error: ", "--help"]);
    }
    let home = Ended::of(program.command(&["skip", "last", "--bogus"]).env("DAGDECK_HOME", "/tmp")).code(2);
    assert!(home.err.contains("Usage: dagdeck skip [OPTIONS] [RUN] <NODE>\n"), "no false requirement: {home}");
    program.run(&["list my files"]).code(2).says(&["hint: `dagdeck plan "]);
    program.run(&[]).code(2).says(&["the console needs a terminal", "hint: "]);
    program.run(&["ls", "--workspace", "/nowhere/at/all"]).code(1).says(&["/nowhere/at/all", "--workspace"]);
    program.run(&["ls", "--workspace", &program.file("file.txt", "x")]).code(1).says(&["file.txt", "not a folder", "--workspace"]);
    assert!(program.run(&["--version"]).code(0).out.starts_with("dagdeck "));
}

#[test]
fn a_configuration_that_can_not_be_read_is_named_with_its_line() {
    for (text, words) in [
        ("[limits]\nslots = \"many\"\n", "config.toml:2: `slots`"),
        ("[console]\n\nthem = \"dark\"\n", "config.toml:3: there is no setting `them`"),
        ("[limits\n", "config.toml:1"),
        ("\0", "config.toml:1"),
    ] {
        let program = Program::new();
        program.configure(text);
        for args in [vec!["tools"], vec!["run", "find all TODO comments"]] {
            program.run(&args).code(1).says(&["error: ", words, "hint: "]);
        }
        let doctor = program.run(&["doctor"]).code(1);
        assert!(doctor.out.contains("BROKEN  configuration") && doctor.out.contains(words), "{doctor}");
    }
    let program = Program::new();
    program.file(".dagdeck/config.toml", "[permissions]\nallow = [\"*\"]\n");
    program.run(&["tools", "--trust"]).code(1).says(&["config.toml:2", "a project can't set"]);
}

#[test]
fn a_card_that_can_not_be_read_is_told_and_the_others_stay() {
    let program = Program::new();
    program.file(".dagdeck/agents/broken.md", "---\nname: broken\ndescription: x\ntype: wizard\n---\nHello.\n");
    let listed = program.run(&["agents", "--trust"]).code(0).says(&["broken.md:4: ", "wizard", "hint: "]);
    assert!(listed.out.contains("writer"));
}

/// The verbs that only look at a plan or at what there is.
const LOOKERS: [&[&str]; 5] = [&["validate", "plan.json"], &["export", "plan.json"], &["agents"], &["tools"], &["models"]];

#[test]
fn a_damaged_journal_is_told_with_a_way_out_and_stops_only_what_needs_it() {
    for damage in [&b"hello, I am no database"[..], &b"SQLite format 3\0"[..], &[0xAB; 10_000][..]] {
        let program = Program::new();
        plan(&program, json!([{"id": "a", "value": 1}]));
        std::fs::create_dir_all(program.home().join("state")).unwrap();
        let journal = program.home().join("state/journal.db");
        std::fs::write(&journal, damage).unwrap();
        for args in [vec!["ls"], vec!["show"], vec!["run", "plan.json"], vec!["export", "last"]] {
            program.run(&args).code(1).says(&["error: ", "journal.db", "hint: "]);
        }
        assert_eq!(std::fs::read(&journal).unwrap(), damage, "nothing is lost");
        let doctor = program.run(&["doctor"]).code(1);
        assert!(doctor.out.contains("BROKEN  journal"), "{doctor}");
        for args in LOOKERS {
            program.run(args).code(0);
        }
    }
}

#[test]
fn a_home_that_can_not_be_written_is_told_and_stops_only_what_needs_it() {
    let program = Program::new();
    plan(&program, json!([{"id": "a", "value": 1}]));
    let home = program.file("a-file", "x") + "/home";
    let run = |args: &[&str]| Ended::of(program.command(args).env("DAGDECK_HOME", &home));
    for args in [vec!["ls"], vec!["run", "plan.json"]] {
        run(&args).code(1).says(&["error: ", "a-file", "hint: ", "--home"]);
    }
    for args in LOOKERS {
        run(args).code(0);
    }
}

#[test]
fn without_a_home_variable_everything_still_works() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    for args in [vec!["run", &file], vec!["ls"], vec!["doctor", "--json"], vec!["agents"]] {
        Ended::of(program.command(&args).env_remove("HOME").env_remove("USER")).code(0);
    }
}

#[test]
fn many_programs_at_once_share_one_journal() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let children: Vec<_> = (0..6).map(|_| started(&program, &["run", &file])).collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let runs = program.json(&["ls", "--json"]);
    let done: Map<String, Value> =
        runs.as_array().unwrap().iter().map(|run| (run["run"].as_str().unwrap().to_owned(), run["status"].clone())).collect();
    assert_eq!(done.len(), 6);
    assert!(done.values().all(|status| status == "succeeded"), "{done:?}");
}

#[test]
fn a_drawing_says_which_edges_it_has_no_line_for() {
    let program = Program::new();
    let nodes = json!([{"id": "c", "value": 1}, {"id": "d", "value": 2, "depends_on": ["zz"]},
        {"id": "m", "over": "[1]", "body": {"nodes": [{"id": "x", "value": 3, "depends_on": ["yy"]}]}}]);
    let file = program.file("plan.json", json!({"nodes": nodes, "edges": [{"from": "c", "to": "nowhere"}]}).to_string());
    for format in [&["mermaid"][..], &["dot"], &["tree"], &["text"], &["text", "--ascii"]] {
        let drawn = program.run(&[&["export", &file, "--format"], format].concat()).code(0);
        drawn
            .says(&["edges[0]: has no line in the drawing: there is no node `nowhere`", "nodes[1].depends_on[0]: ", "`zz`"])
            .says(&["nodes[2].body.nodes[0].depends_on[0]: ", "`yy`"]);
    }
}

#[test]
fn a_request_that_partial_can_not_split_says_so_and_what_helps() {
    let program = Program::new();
    program
        .run(&["run", "--partial", "bake bread"])
        .code(3)
        .says(&["nothing was run", "can't take what was understood out of this request"]);
    program.run(&["run", "--reading", "3", "bake bread"]).code(3).says(&["not understood", "only chooses between readings"]);
    let absent = program.run(&["run", "--partial", "total the amount per shop in sales.csv"]).code(3);
    absent.says(&["there is no sales.csv here", "hint: check the names"]);
}

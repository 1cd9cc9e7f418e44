//! The real program against a server of chat completions: what it asks, what it makes of answers, and what it says when they go wrong.

use super::support::{
    chat::{ChatServer, Reply},
    program::{Ended, Program},
};
use serde_json::{Value, json};

pub(super) fn text(text: impl ToString) -> Reply {
    Reply::Text(text.to_string())
}

pub(super) fn call(tool: &str, arguments: Value) -> Reply {
    Reply::Calls(vec![(tool.into(), arguments)])
}

/// A refusal in OpenAI's form.
pub(super) fn refusal(status: u16, code: &str, message: &str) -> Reply {
    let body = json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": code}});
    Reply::Status(status, body.to_string(), Vec::new())
}

/// A failure that asks to come again at once, so that no test waits.
pub(super) fn failure(status: u16) -> Reply {
    let body = json!({"error": {"message": "the engine is on fire", "type": "server_error"}});
    Reply::Status(status, body.to_string(), vec![("retry-after".into(), "0".into())])
}

/// A plan of one agent, as a model writes it.
pub(super) fn one_agent(agent: &str, objective: &str) -> Value {
    json!({"nodes": [{"id": "answer", "agent": agent, "objective": objective, "depends_on": []}]})
}

/// Runs a plan of one agent that is tried once.
pub(super) fn run_agent(program: &Program, agent: &str, flags: &[&str]) -> Ended {
    let node = json!({"id": "answer", "agent": agent, "objective": "Say it.", "retry": {"attempts": 1}});
    let plan = program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": [node]}).to_string());
    program.run(&[&["run", &plan], flags].concat())
}

pub(super) fn shown(program: &Program) -> Value {
    program.json(&["show", "last", "--json"])
}

pub(super) fn answer(shown: &Value) -> &Value {
    shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == "answer").unwrap()
}

/// The content of the last message of a request.
pub(super) fn last_words(request: &Value) -> &str {
    request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

#[test]
fn a_request_is_planned_and_run_by_the_model_with_tools_that_really_run() {
    let plan = one_agent("writer", "Sum up notes.md");
    let server = ChatServer::start(vec![text(plan), call("read_file", json!({"path": "notes.md"})), text("Two things are left to do.")]);
    let program = Program::connected(&server);
    program.file("notes.md", "- buy a kayak\n- paint the shed\n");
    let ended = program
        .run(&["run", "Sum up my notes"])
        .code(0)
        .says(&["planned by test-model: 1 model call, 18 tokens, cost ?", "answer: succeeded"]);
    assert_eq!(ended.out, "Two things are left to do.\n");

    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|asked| asked.authorization == "Bearer sk-test" && asked.body["stream"] == true));
    let [planning, first, second] = server.requests().try_into().unwrap();
    assert!(
        planning["response_format"]["json_schema"]["schema"]["$defs"]["last2"].is_object(),
        "nothing is known of a model on this computer"
    );
    assert!(planning["max_tokens"].is_u64() && planning["temperature"].is_number(), "{planning}");
    assert_eq!(planning["response_format"]["type"], "json_schema");
    assert_eq!(last_words(&planning), "Sum up my notes");
    assert!(first["tools"].as_array().unwrap().iter().any(|tool| tool["function"]["name"] == "read_file"), "{first}");
    assert!(last_words(&first).contains("Sum up notes.md"));
    let messages = second["messages"].as_array().unwrap();
    let [said, result] = &messages[messages.len() - 2..] else { panic!("{second}") };
    assert_eq!(said["tool_calls"][0]["id"], result["tool_call_id"]);
    assert!(result["role"] == "tool" && last_words(&second).contains("paint the shed"), "{result}");

    let shown = shown(&program);
    let node = answer(&shown);
    assert_eq!((&shown["status"], &node["result"]), (&json!("succeeded"), &json!("Two things are left to do.")));
    assert_eq!(node["metadata"]["tokens"], json!({"prompt": 22, "completion": 14, "total": 36}));
    assert_eq!(shown["planning"][0]["usage"], json!({"prompt": 11, "completion": 7}), "planning counts in the run that starts from it");
    assert_eq!(node["metadata"]["tools_called"][0]["tool_name"], "read_file");
    assert_eq!(node["metadata"]["files_accessed"][0]["path"], "notes.md");
}

#[test]
fn a_node_without_a_card_works_by_its_class_and_code_takes_its_result_apart() {
    let found = json!({"result": {"findings": ["a", "b", "c", "d"]}});
    let server = ChatServer::start(vec![call("return_result", found)]);
    let program = Program::connected(&server);
    let nodes = json!([
        {"id": "research", "role": "researcher", "goal": "Find what is best", "model": "haiku", "tools": ["read_file"], "max_iterations": 3},
        {"id": "answer", "code": "console.log('hi'); return { summary: deps.research.output.findings.slice(0, 3), ok: deps.research.status }",
         "depends_on": ["research"]},
    ]);
    let plan = program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string());
    let events = program.run(&["run", &plan, "--json"]).code(0).lines();
    let lines: Vec<&str> = events.iter().filter(|event| event["type"] == "log_line").filter_map(|event| event["text"].as_str()).collect();
    assert!(lines[0].contains("no model is set for the class `haiku`, so the run's model `test-model` is used"), "{lines:?}");
    assert_eq!(lines[1], "hi");
    assert_eq!(answer(&shown(&program))["result"], json!({"summary": ["a", "b", "c"], "ok": "succeeded"}));
    let request = &server.requests()[0];
    assert_eq!((&request["model"], last_words(request)), (&json!("test-model"), "Find what is best"));
    assert!(request["messages"][0]["content"].as_str().unwrap().contains("Your role: researcher."));
    let tools: Vec<&Value> = request["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(tools, ["read_file", "return_result", "ask_operator", "request_replan"]);
}

#[test]
fn a_hybrid_plan_runs_as_it_is_written_and_its_agents_take_the_class_that_the_format_means() {
    let plan = include_str!("../fixtures/plans/hybrid/seed_poc1.json");
    let found = json!({"result": {"findings": ["Use custom Error classes", "Implement Result<T, E>", "Use try-catch", "more"]}});
    let server = ChatServer::start(vec![call("return_result", found)]);
    let program = Program::connected(&server);
    program.configure("[models.classes]\nhaiku = \"small-1\"\n");
    let plan = program.file("plan.json", plan);
    program.run(&["run", &plan]).code(0);
    let request = &server.requests()[0];
    assert_eq!(request["model"], "small-1");
    assert_eq!(last_words(request), "Research TypeScript best practices for error handling");
    let shown = shown(&program);
    let summary = shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == "summarize").unwrap();
    let summarized = json!(["Use custom Error classes", "Implement Result<T, E>", "Use try-catch"]);
    assert_eq!(summary["result"], json!({"summary": summarized, "source": "agent_delegation"}));
}

#[test]
fn an_agent_that_is_still_at_work_at_its_limit_of_turns_fails_and_what_it_had_is_kept() {
    let server = ChatServer::start(vec![call("list_directory", json!({"path": "."})), text("half of it")]);
    let program = Program::connected(&server);
    let node = json!({"id": "answer", "agent": "writer", "objective": "Say it.", "max_iterations": 2});
    let plan = program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": [node]}).to_string());
    program.run(&["run", &plan]).code(5).says(&["still working after 2 turns", "max_iterations"]);
    let shown = shown(&program);
    assert_eq!((&answer(&shown)["state"], &answer(&shown)["result"]), (&json!("failed"), &json!("half of it")));
}

#[test]
fn an_agent_decides_which_way_a_plan_goes() {
    let server = ChatServer::start(vec![text("It depends."), text("**Mend**"), text("Mended.")]);
    let program = Program::connected(&server);
    let plan = json!({
        "dagdeck": 1, "goal": "test",
        "nodes": [
            {"id": "check", "decide": {"agent": "writer", "objective": "Is it good?"}},
            {"id": "answer", "agent": "writer", "objective": "Mend it."},
            {"id": "ship", "agent": "writer", "objective": "Ship it."},
        ],
        "edges": [{"from": "check", "to": "ship", "when": "ship"}, {"from": "check", "to": "answer", "when": "mend"}],
    });
    let plan = program.file("plan.json", plan.to_string());
    assert_eq!(program.run(&["run", &plan]).code(0).out, "Mended.\n");
    let requests = server.requests();
    assert!(last_words(&requests[0]).contains("exactly one of these routes:\n- ship\n- mend\n"), "{}", last_words(&requests[0]));
    assert!(last_words(&requests[1]).ends_with("nothing else: ship, mend"));
}

#[test]
fn the_key_is_nowhere_in_the_journal_and_nowhere_on_the_screen() {
    let server = ChatServer::start(vec![refusal(401, "invalid_api_key", "Incorrect API key provided: sk-very-secret-key.")]);
    let program = Program::connected(&server).env("OPENAI_API_KEY", "sk-very-secret-key");
    let ended = run_agent(&program, "writer", &["--json"]).code(5);
    assert_eq!(server.asked()[0].authorization, "Bearer sk-very-secret-key");
    assert!(!ended.to_string().contains("very-secret"), "{ended}");
    let files = std::fs::read_dir(program.home().join("state")).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let bytes = std::fs::read(file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("very-secret"));
    }
}

#[test]
fn plan_prints_the_models_plan_with_the_edges_that_its_references_imply() {
    let nodes = json!({"nodes": [
        {"id": "find", "tool": "search_files", "args": {"pattern": "TODO"}, "depends_on": []},
        {"id": "tell", "agent": "writer", "objective": "Sum up {{find.result}}", "depends_on": []},
    ]});
    let program = Program::connected(&ChatServer::start(vec![text(nodes)]));
    let planned = program.run(&["plan", "what is left to do?", "--json"]).code(0).json();
    assert_eq!(planned["plan"]["nodes"][1]["depends_on"], json!(["find"]));
    assert_eq!((&planned["origin"], &planned["valid"]), (&json!("test-model"), &json!(true)));
    assert!(planned["remarks"][0].as_str().unwrap().contains("`tell` now waits for `find`"), "{planned}");
}

#[test]
fn the_events_of_a_run_carry_the_streamed_answer_and_the_usage() {
    let program = Program::connected(&ChatServer::start(vec![text("It is said, and said again.")]));
    let events = run_agent(&program, "writer", &["--json"]).code(0).lines();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    let streamed: String = of("output").iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!(streamed, "It is said, and said again.");
    assert_eq!(of("model_called").len(), 1, "{events:?}");
    assert_eq!(events.last().unwrap()["outcome"], "succeeded");
}

#[test]
fn a_write_that_nobody_allowed_has_no_effect_and_names_the_flag() {
    let script = || vec![call("write_file", json!({"path": "out.txt", "content": "hello"})), text("Written.")];
    let server = ChatServer::start(script());
    let program = Program::connected(&server);
    run_agent(&program, "code_executor", &[]).code(7).says(&["write_file", "dagdeck approve ", "--yes"]);
    assert!(!program.workspace().join("out.txt").exists());
    assert_eq!(server.requests().len(), 1, "the model waits with its node");

    let server = ChatServer::start(script());
    let program = Program::connected(&server);
    run_agent(&program, "code_executor", &["--approve", "write_*"]).code(0);
    assert_eq!(program.read("out.txt"), "hello");

    let server = ChatServer::start(script());
    let program = Program::connected(&server);
    run_agent(&program, "code_executor", &["--yes", "--deny", "write_file"]).code(0);
    assert!(!program.workspace().join("out.txt").exists());
    assert!(last_words(&server.requests()[1]).contains("--deny write_file"), "{}", last_words(&server.requests()[1]));
}

#[test]
fn wrong_calls_go_back_to_the_model_as_errors() {
    let calls = Reply::Calls(vec![("no_such_tool".into(), json!({})), ("read_file".into(), json!({"paht": "x"}))]);
    let server = ChatServer::start(vec![calls, text("Done without.")]);
    let program = Program::connected(&server);
    run_agent(&program, "writer", &[]).code(0);
    let second = &server.requests()[1];
    let told: Vec<&str> =
        second["messages"].as_array().unwrap().iter().filter(|m| m["role"] == "tool").map(|m| m["content"].as_str().unwrap()).collect();
    assert!(told[0].contains("no_such_tool") && told[1].contains("paht"), "{told:?}");
}

#[test]
fn a_wrong_plan_goes_back_with_its_faults_and_the_corrected_one_runs() {
    let wrong = json!({"nodes": [{"id": "answer", "agent": "writre", "objective": "x", "depends_on": ["ghost"]}]});
    let server = ChatServer::start(vec![text(wrong), text(one_agent("writer", "Say it.")), text("Said.")]);
    let program = Program::connected(&server);
    let ended = program.run(&["run", "say it"]).code(0).says(&["corrects its plan, round 1 of 2"]);
    assert_eq!(ended.out, "Said.\n");
    let faults = server.requests()[1].clone();
    assert!(last_words(&faults).contains("`ghost`") && last_words(&faults).contains("`writre`"), "{faults}");
}

#[test]
fn a_plan_that_stays_wrong_is_corrected_twice_and_then_told_with_what_is_wrong() {
    let server = ChatServer::start(vec![text(one_agent("nobody", "Say it."))]);
    let program = Program::connected(&server);
    program.configure("[models]\npositional_plans = false\n");
    let planned = program.run(&["plan", "say it", "--json"]).code(3).json();
    let asked = server.requests();
    let corrections = asked.iter().filter(|request| last_words(request).contains("can't run yet")).count();
    assert_eq!((asked.len(), corrections), (4, 2), "as asked, corrected twice, and once with numbered ids");
    assert_eq!(planned["calls"].as_array().unwrap().len(), 4, "each is on record: {planned}");
    assert_eq!((&planned["valid"], &planned["plan"]["nodes"][0]["agent"]), (&json!(false), &json!("nobody")), "nothing is thrown away");
    let error = planned["findings"].as_array().unwrap().iter().find(|finding| finding["severity"] == "error").unwrap();
    assert!(error["message"].as_str().unwrap().contains("`nobody`"), "{planned}");
    program.run(&["run", "say it"]).code(3).says(&["`nobody`", "nothing was run"]);
    assert_eq!(program.json(&["ls", "--json"]), json!([]));
}

#[test]
fn a_server_without_schemas_is_asked_for_json_and_then_by_words() {
    let unknown = || refusal(400, "", "response_format is not supported by this backend");
    let server = ChatServer::start(vec![unknown(), unknown(), text(one_agent("writer", "Say it.")), text("Said.")]);
    let program = Program::connected(&server);
    program.run(&["run", "say it"]).code(0);
    let requests = server.requests();
    let formats: Vec<&Value> = requests.iter().map(|request| &request["response_format"]["type"]).collect();
    assert_eq!(formats, [&json!("json_schema"), &json!("json_object"), &Value::Null, &Value::Null]);
    let system = requests[2]["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("JSON Schema") && system.contains("depends_on"), "the schema is in the words now");
}

#[test]
fn a_result_with_a_schema_is_checked_and_repaired_once() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let node = json!({"id": "answer", "agent": "writer", "objective": "Count.", "output_schema": schema});
    let plan = json!({"goal": "count", "nodes": [node]}).to_string();
    let server = ChatServer::start(vec![text("{\"n\": \"many\"}"), text("{\"n\": 3}")]);
    let program = Program::connected(&server);
    program.run(&["run", &program.file("plan.json", &plan)]).code(0);
    assert_eq!(answer(&shown(&program))["result"], json!({"n": 3}));
    assert!(last_words(&server.requests()[1]).contains("does not match"), "{}", server.requests()[1]);

    let program = Program::connected(&ChatServer::start(vec![text("{\"n\": \"many\"}")]));
    program.run(&["run", &program.file("plan.json", &plan)]).code(5).says(&["schema"]);
}

#[test]
fn models_lists_each_name_once_and_marks_the_one_in_use() {
    let program = Program::connected(&ChatServer::start(vec![text("unused")]));
    let listed = program.run(&["models"]).code(0);
    assert_eq!(listed.out, "* test-model\n  operator\n", "{listed}");
    assert_eq!(
        program.json(&["models", "--json"]),
        json!({"used": "test-model", "why": "OPENAI_MODEL names it", "models": ["test-model", "operator", "rehearsal"], "classes": {"haiku": null, "opus": null, "sonnet": null}})
    );
    let doctor = program.run(&["doctor"]);
    assert!(doctor.out.contains("ok      model          `test-model` at 127.0.0.1"), "{doctor}");
}

#[test]
fn a_plan_whose_stream_breaks_for_good_is_shown_as_far_as_it_came() {
    let server = ChatServer::start(vec![Reply::Cut(r#"{"nodes": [{"id": "answer", "agent": "writer", "objective": "x"}, {"id": "#.into())]);
    let program = Program::connected(&server);
    let planned = program.run(&["plan", "say it", "--json"]).json();
    assert_eq!(planned["plan"]["nodes"].as_array().unwrap().len(), 1);
    assert!(planned["remarks"][0].as_str().unwrap().starts_with("steps may be missing: "), "{planned}");
    assert_eq!(server.requests().len(), 3, "a broken line is no fault of the plan, so nothing is corrected");
}

#[test]
fn in_the_console_the_plan_streams_into_the_tree_and_the_answer_into_the_inspector() {
    let first = r#"{"nodes": [{"id": "gather", "agent": "writer", "objective": "Gather it", "depends_on": []}, {"id": "ans"#;
    let second = r#"wer", "agent": "writer", "objective": "Say it", "depends_on": ["gather"]}]}"#;
    let server = ChatServer::start(vec![
        Reply::Held(first.into(), second.into()),
        text("Gathered."),
        Reply::Held("The first half of the answer".into(), ", and the second.".into()),
    ]);
    let program = Program::connected(&server);
    let mut terminal = program.console((80, 24));
    terminal.sees("test-model").sees("Type what you want").send("say something\r");
    terminal.sees("Gather it");
    assert!(!terminal.screen().contains("Say it"), "the plan is still under way\n{}", terminal.screen());
    server.release();
    terminal.sees("Say it").sees("read the plan, then").send("r").sees("Gathered.").send("j");
    terminal.sees("The first half of the answer");
    server.release();
    terminal.sees("The first half of the answer, and the second.").sees("succeeded").send("q");
    assert_eq!(terminal.ended(), 0);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn several_plans_are_compared_and_written_and_one_can_be_run() {
    let server = ChatServer::start(vec![text(one_agent("writer", "Say it."))]);
    let program = Program::connected(&server);
    let ended = program.run(&["plan", "say it", "--rivals", "2"]).code(0);
    for words in [
        "plan 1 by test-model: 1 node, longest chain 1 (1 agent)",
        "plan 2 by test-model",
        "written to plan-1.json",
        "written to plan-2.json",
    ] {
        assert!(ended.out.contains(words), "{words}: {ended}");
    }
    assert!(program.read("plan-2.json").contains("Say it."));
    let systems: Vec<Value> = server.requests().iter().map(|request| request["messages"][0]["content"].clone()).collect();
    assert_ne!(systems[0], systems[1], "each is asked for in another way");
    program.run(&["plan", "say it", "--rivals", "2", "--pick", "3"]).code(2).says(&["there is no plan 3"]);

    let server = ChatServer::start(vec![text(one_agent("writer", "Say it.")), text(one_agent("writer", "Say it.")), text("Said.")]);
    let program = Program::connected(&server);
    let ended = program.run(&["run", "say it", "--rivals", "2", "--pick", "2"]).code(0).says(&["using plan 2"]);
    assert_eq!(ended.out, "Said.\n");
    assert_eq!(shown(&program)["planning"].as_array().unwrap().len(), 2, "both count");
}

#[test]
fn a_request_changes_the_plan_of_a_file_and_says_what_changed() {
    let first = json!({"id": "a", "agent": "writer", "objective": "Say it.", "depends_on": []});
    let more = json!({"nodes": [first, {"id": "b", "agent": "writer", "objective": "Say it louder.", "depends_on": ["a"]}]});
    let server = ChatServer::start(vec![text(more)]);
    let program = Program::connected(&server);
    let file = program.file("plan.json", json!({"goal": "say it", "nodes": [first]}).to_string());
    let ended = program.run(&["plan", "now also louder", "--on", &file]).code(0).says(&["differences", "+ node", " b"]);
    assert!(ended.out.contains("say it; now also louder"), "{ended}");
    let messages = server.requests()[0]["messages"].clone();
    assert!(messages.to_string().contains("\\\"id\\\":\\\"a\\\""), "{messages}");
    let alone = Program::new();
    let file = alone.file("plan.json", json!({"goal": "say it", "nodes": [first]}).to_string());
    alone.run(&["plan", "now also louder", "--on", &file]).code(8).says(&["only with a model"]);
}

#[test]
fn an_answer_that_breaks_off_for_good_counts_as_counted_here() {
    let program = Program::connected(&ChatServer::start(vec![Reply::Cut("Half of an answer that somebody pays for".into())]));
    run_agent(&program, "writer", &[]).code(5);
    let shown = shown(&program);
    let node = answer(&shown);
    assert!(node["tokens"].as_u64().unwrap() > 0 && node["estimated"] == true, "{node}");
    assert!(program.run(&["show"]).code(0).out.contains('~'));
}

#[test]
fn an_agent_is_not_offered_a_search_that_is_not_set_up_and_a_plan_that_names_it_has_a_finding() {
    let server = ChatServer::start(vec![text("done")]);
    let program = Program::connected(&server);
    run_agent(&program, "web_researcher", &[]).code(0);
    let offered = server.requests()[0]["tools"].to_string();
    assert!(offered.contains("fetch_url") && !offered.contains("web_search"), "{offered}");
    let node = json!({"id": "find", "tool": "web_search", "args": {"query": "harbours"}});
    let plan = program.file("search.json", json!({"dagdeck": 1, "goal": "find", "nodes": [node]}).to_string());
    let findings = program.run(&["validate", &plan, "--json"]).code(0).json();
    assert_eq!(findings["findings"][0]["code"], "not-set-up", "{findings}");
}

#[test]
fn what_planning_took_is_on_record_where_no_plan_came_or_a_wrong_one() {
    let looped = json!({"nodes": [
        {"id": "a", "agent": "writer", "objective": "x", "depends_on": ["b"]},
        {"id": "b", "agent": "writer", "objective": "y", "depends_on": ["a"]},
    ]});
    let program = Program::connected(&ChatServer::start(vec![text(&looped)]));
    let ended = program.run(&["run", "make a circle"]).code(3);
    ended.says(&["dagdeck console ", "wrong-plan.json` opens it"]);
    let program = Program::connected(&ChatServer::start(vec![text("ok")]));
    program.run(&["plan", "make no plan"]).code(1);
    program.run(&["ls"]).code(0).says(&["1 request failed before there was a plan", "make no plan", "plannings.jsonl"]);
}

//! What is learned from past runs: `dagdeck stats` against what the server reported, and `dagdeck forget`.

use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
};
use serde_json::{Value, json};

/// Tokens that the server reports for each answer.
const PROMPT: u64 = 11;
const WRITTEN: u64 = 7;

/// A researcher, then a writer that works with its result.
fn program(server: &ChatServer) -> Program {
    let program = Program::connected(server);
    program.configure("[models.prices]\ntest-model = { prompt = 1000, completion = 2000 }\n");
    let node = |id: &str, agent: &str, deps: Value| json!({"id": id, "agent": agent, "objective": "a line", "depends_on": deps});
    let nodes = [node("find", "web_researcher", json!([])), node("tell", "writer", json!(["find"]))];
    program.file("p.json", json!({"goal": "Write two lines", "nodes": nodes}).to_string());
    program
}

fn row<'s>(stats: &'s Value, agent: &str) -> &'s Value {
    stats["rows"].as_array().unwrap().iter().find(|row| row["agent"] == agent).unwrap_or_else(|| panic!("{agent}\n{stats:#}"))
}

#[test]
fn statistics_are_the_sum_of_what_the_server_reported_by_whatever_they_are_summed_up() {
    let list = || Reply::Calls(vec![("list_directory".into(), json!({}))]);
    let server = ChatServer::start(vec![
        Reply::Text("found".into()),
        Reply::Text("told".into()),
        list(),
        Reply::Text("found".into()),
        Reply::Status(400, "{}".into(), Vec::new()),
    ]);
    let program = program(&server);
    program.run(&["stats"]).code(0).says(&["nothing is known yet"]);
    program.run(&["run", "p.json"]).code(0);
    program.run(&["run", "p.json"]);
    for by in ["agent-and-model", "agent", "model", "goal"] {
        let stats = program.json(&["stats", "--by", by, "--json"]);
        let sum = |field: &str| stats["rows"].as_array().unwrap().iter().map(|row| row[field].as_u64().unwrap()).sum::<u64>();
        assert_eq!((stats["runs"].as_u64(), sum("attempts"), sum("succeeded"), sum("failed")), (Some(2), 4, 3, 1), "{by}: {stats:#}");
        let calls = sum("model_calls");
        assert_eq!((sum("prompt"), sum("completion"), calls), (4 * PROMPT, 4 * WRITTEN, 4), "{by}: {stats:#}");
    }
    let stats = program.json(&["stats", "--by", "agent", "--json"]);
    let found = row(&stats, "web_researcher");
    assert_eq!((&found["attempts"], &found["model_calls"]), (&json!(2), &json!(3)), "{stats:#}");
    let cost = (3 * PROMPT * 1000 + 3 * WRITTEN * 2000) as f64 / 1e6;
    assert!((found["known_cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9, "{found}");
    let told = row(&stats, "writer");
    assert_eq!((&told["succeeded"], &told["failed"]), (&json!(1), &json!(1)), "{stats:#}");
    assert_eq!(stats["follows"], json!([{"before": "web_researcher", "after": "writer", "runs": 1}]), "of runs that succeeded");
    assert_eq!(program.json(&["stats", "--by", "goal", "--json"])["rows"][0]["goal"], "write");
    let shown = program.run(&["stats"]).code(0);
    assert!(shown.out.contains("writer · test-model (") && shown.out.contains("writer follows web_researcher in 1 run"), "{shown}");
}

#[test]
fn a_run_that_is_forgotten_or_deleted_is_in_no_statistic_and_the_journal_keeps_what_is_forgotten() {
    let server = ChatServer::start(["a", "b", "c", "d", "e", "f"].map(|text| Reply::Text(text.into())).to_vec());
    let program = program(&server);
    for _ in 0..3 {
        program.run(&["run", "p.json"]).code(0);
    }
    let runs = || program.json(&["stats", "--json"])["runs"].as_u64();
    assert_eq!(runs(), Some(3));
    let listed = program.json(&["ls", "--json"]);
    let name = |at: usize| listed[at]["run"].as_str().unwrap().to_owned();
    program.run(&["forget", "last", "last"]).code(0).says(&["1 run forgotten", "the journal keeps"]);
    assert_eq!(runs(), Some(2));
    program.run(&["show", &name(0)]).code(0);
    program.run(&["prune", &name(1), "--yes"]).code(0);
    assert_eq!(runs(), Some(1));
    std::fs::remove_file(program.home().join("state/history.db")).unwrap();
    assert_eq!(runs(), Some(2), "what is made from the journal is made anew");
    program.run(&["forget", "nosuchrun"]).code(1).says(&["no run is called"]);
}

#[test]
fn what_a_run_took_that_goes_on_after_its_end_counts_once() {
    let server = ChatServer::start(["a", "b", "c"].map(|text| Reply::Text(text.into())).to_vec());
    let program = program(&server);
    program.run(&["run", "p.json"]).code(0);
    let attempts = || row(&program.json(&["stats", "--by", "agent", "--json"]), "writer")["attempts"].as_u64();
    assert_eq!(attempts(), Some(1));
    program.run(&["rerun", "last", "tell"]).code(0);
    assert_eq!(attempts(), Some(2));
}

#[test]
fn a_rehearsal_teaches_nothing() {
    let program = program(&ChatServer::start(Vec::new()));
    program.run(&["run", "p.json", "--rehearse"]).code(8);
    program.run(&["stats"]).code(0).says(&["nothing is known yet"]);
}

#[test]
fn an_estimate_knows_bounds_before_a_run_and_figures_after_three() {
    let server = ChatServer::start((0..6).map(|at| Reply::Text(format!("line {at}"))).collect());
    let program = program(&server);
    let before = program.json(&["estimate", "p.json", "--json"]);
    assert_eq!((&before["whole"]["tokens"]["expected"], &before["whole"]["ms"]["expected"]), (&Value::Null, &Value::Null), "{before:#}");
    assert_eq!(before["nodes"][0]["basis"], "limits");
    let shown = program.run(&["estimate", "p.json"]).code(0).says(&["2 nodes without a similar past run"]);
    assert!(shown.out.contains("what its figures are from"), "{shown}");
    assert!(shown.out.contains('?') && !shown.out.contains("$0 "), "{shown}");
    assert_eq!(server.asked().len(), 0, "nothing is asked for an estimate");
    for _ in 0..3 {
        program.run(&["run", "p.json"]).code(0);
    }
    let after = program.json(&["estimate", "p.json", "--json"]);
    assert_eq!((&after["nodes"][1]["basis"], &after["nodes"][1]["cases"]), (&json!("history"), &json!(3)), "{after:#}");
    let tokens = &after["whole"]["tokens"];
    assert!((tokens["expected"].as_f64().unwrap() - 2.0 * (PROMPT + WRITTEN) as f64).abs() < 0.5, "each run took the same: {tokens}");
    assert_eq!(after["critical_path"], json!(["find", "tell"]));
    let capped = json!({"goal": "g", "budget": {"tokens": 20}, "nodes": [
        {"id": "a", "agent": "writer", "objective": "say {{word}}"}, {"id": "b", "agent": "writer", "objective": "a line"}],
        "inputs": {"word": "hello"}});
    program.file("capped.json", capped.to_string());
    let shown = program.run(&["estimate", "capped.json", "--prompts"]).code(0).says(&["warning: the worst case", "20 tokens"]);
    assert!(shown.out.contains("say hello") && shown.out.contains("at most 2 nodes at once"), "{shown}");
    let wrong = json!({"goal": "g", "nodes": [{"id": "a", "agent": "writer", "objective": "x", "depends_on": ["b"]}]});
    program.file("wrong.json", wrong.to_string());
    program.run(&["estimate", "wrong.json"]).code(0).says(&["the plan has 1 error", "can't run as it is"]);
}

/// Ten runs of a researcher that calls one of its tools, once.
fn ten_runs() -> (ChatServer, Program) {
    let time = Reply::Calls(vec![("current_time".into(), json!({}))]);
    let server = ChatServer::start([time].into_iter().chain((0..10).map(|at| Reply::Text(format!("line {at}")))).collect());
    let program = Program::connected(&server);
    let nodes = json!([{"id": "tell", "agent": "web_researcher", "objective": "a line"}]);
    program.file("p.json", json!({"goal": "Write a line", "nodes": nodes}).to_string());
    for _ in 0..9 {
        program.run(&["run", "p.json"]).code(0);
    }
    program.run(&["suggestions"]).code(0).says(&["nothing to suggest"]);
    program.run(&["run", "p.json"]).code(0);
    (server, program)
}

#[test]
fn a_suggestion_is_made_on_ten_cases_changes_nothing_before_it_is_taken_and_is_undone() {
    let (_server, program) = ten_runs();
    let tools = |program: &Program| {
        let agents = program.json(&["agents", "--json"]);
        agents.as_array().unwrap().iter().find(|agent| agent["name"] == "web_researcher").unwrap()["tools"].clone()
    };
    let before = tools(&program);
    let listed = program.json(&["suggestions", "--json"]);
    let first = &listed[0];
    let id = first["id"].as_str().unwrap_or_else(|| panic!("{listed:#}")).to_owned();
    let tool = first["tool"].as_str().unwrap().to_owned();
    assert_eq!((&first["change"], &first["agent"], &first["state"]), (&json!("drop_tool"), &json!("web_researcher"), &json!("open")));
    assert!(first["evidence"].as_str().unwrap().contains("in none of 10 attempts"), "{first}");
    assert_eq!(tools(&program), before, "nothing is changed before it is taken");
    program.run(&["suggestions", "--take", &id]).code(0).says(&["changed", "web_researcher.md", "--undo"]);
    assert!(!tools(&program).as_array().unwrap().contains(&json!(tool)), "{}", tools(&program));
    program.run(&["suggestions", "--take", &id]).code(1).says(&["there is no open suggestion"]);
    program.run(&["suggestions", "--undo", &id]).code(0).says(&["is as it was"]);
    assert_eq!(tools(&program), before);
    program.run(&["suggestions", "--dismiss", &id]).code(0).says(&["not suggested again"]);
    let states = program.json(&["suggestions", "--json"]);
    assert!(states.as_array().unwrap().iter().any(|entry| entry["id"] == *id && entry["state"] == "dismissed"), "{states:#}");
    program.run(&["suggestions", "--undo", &id]).code(0).says(&["open again"]);
}

#[test]
fn a_card_that_was_changed_since_a_suggestion_was_taken_is_left_as_it_is() {
    let (_server, program) = ten_runs();
    let id = program.json(&["suggestions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    program.run(&["suggestions", "--take", &id]).code(0);
    let card = program.home().join(".config/dagdeck/agents/web_researcher.md");
    let text = std::fs::read_to_string(&card).unwrap() + "Be brief.\n";
    std::fs::write(&card, &text).unwrap();
    program.run(&["suggestions", "--undo", &id]).code(1).says(&["was changed since"]);
    assert_eq!(std::fs::read_to_string(&card).unwrap(), text);
}

#[test]
fn a_model_that_was_chosen_for_an_agent_works_for_it_where_its_plan_names_none() {
    let server = ChatServer::start(["a", "b", "c"].map(|text| Reply::Text(text.into())).to_vec());
    let program = program(&server);
    program.configure("[models.by_agent]\nwriter = \"small-model\"\n");
    program.run(&["run", "p.json"]).code(0);
    let models: Vec<Value> = server.asked().iter().map(|asked| asked.body["model"].clone()).collect();
    assert_eq!(models, [json!("test-model"), json!("small-model")]);
}

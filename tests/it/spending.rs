//! What model calls took: `dagdeck cost`, against what the server reported.

use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
};
use serde_json::{Value, json};

/// Tokens that the server reports for each answer.
const PROMPT: u64 = 11;
const WRITTEN: u64 = 7;

fn program(server: &ChatServer) -> Program {
    let program = Program::connected(server);
    program.configure("[models.prices]\ntest-model = { prompt = 1000, completion = 2000 }\n");
    let node = |id: &str, deps: Value| json!({"id": id, "role": "writer", "goal": "write", "objective": "a line", "depends_on": deps});
    program.file("p.json", json!({"goal": "two lines", "nodes": [node("one", json!([])), node("two", json!(["one"]))]}).to_string());
    program
}

#[test]
fn the_cost_is_the_sum_of_what_the_server_reported_by_whatever_it_is_summed_up() {
    let answers = ["first", "second", "first again", "second again"];
    let server = ChatServer::start(answers.map(|text| Reply::Text(text.into())).to_vec());
    let program = program(&server);
    program.run(&["cost"]).code(0).says(&["no model was asked"]);
    program.run(&["run", "p.json"]).code(0);
    program.run(&["rerun", "last", "one"]).code(0);
    let calls = server.asked().len() as u64;
    assert_eq!(calls, 4);
    for by in ["node", "agent", "model", "tool", "run", "day"] {
        let cost = program.run(&["cost", "--by", by, "--json"]).code(0).json();
        let rows: u64 = cost["rows"].as_array().unwrap().iter().map(|row| row["model_calls"].as_u64().unwrap()).sum();
        assert_eq!(rows, calls, "{by}: {cost}");
        let total = &cost["total"];
        assert_eq!((total["tokens"]["prompt"].as_u64(), total["tokens"]["completion"].as_u64()), (Some(4 * PROMPT), Some(4 * WRITTEN)));
        assert_eq!(total["cost_usd"].as_f64(), Some((4 * PROMPT * 1000 + 4 * WRITTEN * 2000) as f64 / 1e6));
        assert_eq!(cost["replaced_results"]["model_calls"], json!(2), "{by}: the first two results were made again");
    }
    let shown = program.run(&["cost", "last"]).code(0).says(&["50 % of the money", "for results that were made again"]);
    assert!(shown.out.contains("one") && shown.out.contains("two") && shown.out.contains("$0.10"), "{shown}");
    program.run(&["cost", "--since", "2099-01-01"]).code(0).says(&["no model was asked"]);
}

/// Tokens that a request lets the answer have at most.
fn most(body: &Value) -> Option<u64> {
    ["max_tokens", "max_completion_tokens"].iter().find_map(|field| body[*field].as_u64())
}

#[test]
fn a_run_asks_for_no_more_than_its_budget_leaves_and_makes_no_call_that_does_not_fit() {
    let server = ChatServer::start(vec![Reply::Text("a line".into())]);
    let program = program(&server);
    program.run(&["run", "p.json", "--budget", "lots"]).code(2).says(&["`lots` is no budget", "`200k tokens`"]);
    program.run(&["run", "p.json", "--budget", "100 tokens"]).code(5).says(&["the budget of the run is used up: of 100 tokens 0 are used"]);
    assert_eq!(server.asked().len(), 0);
    program.run(&["run", "p.json", "--budget", "$20, 12k tokens"]).code(0);
    let asked: Vec<u64> = server.requests().iter().map(|body| most(body).expect("a cap for the answer")).collect();
    assert!(asked.len() == 2 && asked.iter().all(|most| (64..12_000).contains(most)), "{asked:?}");
    program.run(&["run", "p.json"]).code(0);
    assert!(server.requests()[2..].iter().all(|body| most(body).is_none()), "nobody wrote a limit");
}

#[test]
fn at_the_cap_a_run_without_a_person_returns_what_it_has_or_asks_if_it_is_told_to() {
    let server = ChatServer::start(vec![Reply::Text("a line".into())]);
    let program = program(&server);
    program.run(&["run", "p.json", "--budget", "2 calls"]).code(0);
    let shown = program.json(&["show", "last", "--json"]);
    assert_eq!((&shown["nodes"][0]["mark"], &shown["nodes"][1]["mark"]), (&Value::Null, &json!("budget_exhausted")), "{shown}");
    let asks = program.run(&["run", "p.json", "--budget", "2 calls", "--ask-at-cap"]).code(7);
    assert!(asks.err.contains("The budget of the run is used up: of 2 model calls 1 are used"), "{asks}");
    program.run(&["answer", "last", "two", "-m", "$3"]).code(1).says(&["that is not what the budget of the run counts", "`5 calls`"]);
    program.run(&["answer", "last", "two", "-m", "3 calls", "--ask-at-cap"]).code(0);
    let shown = program.json(&["show", "last", "--json"]);
    assert_eq!(shown["nodes"][1]["mark"], Value::Null, "{shown}");
}

#[test]
fn eight_processes_together_take_what_a_day_may_take_and_no_more() {
    let server = ChatServer::start(vec![Reply::Text("a line".into())]);
    let program = program(&server);
    program.configure("[limits]\nday = \"5 calls\"\n");
    std::thread::scope(|threads| {
        (0..8).for_each(|_| drop(threads.spawn(|| program.run(&["run", "p.json"]))));
    });
    assert_eq!(server.asked().len(), 5);
    program.run(&["run", "p.json"]).code(5).says(&["the budget of today is used up: of 5 model calls 5 are used", "[limits]"]);
    assert_eq!(server.asked().len(), 5);
}

#[test]
fn planning_counts_in_the_budget_of_the_run_that_it_is_for() {
    let server = ChatServer::start(vec![Reply::Text("no plan".into())]);
    let program = program(&server);
    let refused = program.run(&["run", "write two lines about bees", "--budget", "1k tokens"]).code(1);
    assert!(refused.err.contains("the budget of the run is used up: of 1,000 tokens 0 are used"), "{refused}");
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn a_branch_does_not_count_what_its_parent_took_and_an_unknown_price_is_no_zero() {
    let server = ChatServer::start(["first", "second", "third"].map(|text| Reply::Text(text.into())).to_vec());
    let program = program(&server);
    program.configure("");
    program.run(&["run", "p.json"]).code(0);
    program.run(&["branch", "last", "--until", "one"]).code(0);
    let cost = program.run(&["cost", "--json"]).code(0).json();
    assert_eq!((&cost["total"]["model_calls"], &cost["total"]["cost_usd"]), (&json!(server.asked().len()), &Value::Null), "{cost}");
    let shown = program.run(&["cost"]).code(0).says(&["a price is unknown"]);
    assert!(shown.out.contains("cost ?"), "{shown}");
}

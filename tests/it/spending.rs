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

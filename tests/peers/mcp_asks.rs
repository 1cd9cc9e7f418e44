//! What MCP servers ask of people in the middle of a call, by a scripted server and a real one.

use super::{
    mcp::{plan, result, trusted, with_model},
    support::chat::{ChatServer, Reply},
};
use serde_json::{Value, json};

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn a_server_that_asks_parks_the_run_and_gets_the_reply_that_fits_its_form() {
    let program = trusted(&["good"]);
    let plan = plan(&program, &[("a", "good:who")]);
    let parked = program.run(&["run", &plan, "--yes"]).code(7);
    parked.says(&["the MCP server `good` asks in a call of `good:who`: Who are you?"]);
    let shown = program.run(&["show", "last"]).code(0);
    for words in
        ["field age: In years; minimum 18; a number", "field side: one of: left, right, or nothing, preset left", "some of mon, tue, wed"]
    {
        assert!(shown.out.contains(words), "{words}\n{shown}");
    }
    let wrong = json!({"name": "Anna", "age": 7});
    program
        .run(&["answer", "last", "a", "-m", &wrong.to_string()])
        .code(7)
        .says(&["Your last reply was not sent", "less than the minimum of 18"]);
    let right = json!({"name": "Anna", "age": 37, "side": "right", "days": "mon, wed"});
    program.run(&["answer", "last", "a", "-m", &right.to_string()]).code(0);
    let got: Value = serde_json::from_str(result(&program, "a").as_str().unwrap()).unwrap();
    assert_eq!(got, json!({"action": "accept", "content": {"name": "Anna", "age": 37, "side": "r", "days": ["mon", "wed"]}}));
}

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn a_rejection_declines_and_the_call_goes_on() {
    let program = trusted(&["good"]);
    let plan = plan(&program, &[("a", "good:sure")]);
    program.run(&["run", &plan]).code(7).says(&["Are you sure?", "options: yes, no"]);
    program.run(&["reject", "last", "a", "-m", "not today"]).code(0);
    assert_eq!(result(&program, "a"), json!("decline"));
    program.run(&["run", &plan]).code(7);
    program.run(&["answer", "last", "a", "-m", "yes"]).code(0);
    assert_eq!(result(&program, "a"), json!("accept"));
}

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn a_server_that_does_not_wait_takes_its_question_back() {
    let program = trusted(&["good"]);
    plan(&program, &[("a", "good:hurry")]);
    let mut deck = program.console_with(&["console", "plan.json"], (100, 30));
    deck.sees("good:hurry").send("r");
    deck.sees("went on");
    drop(deck);
    let gates = program.json(&["show", "last", "--json"])["gates"].to_string();
    assert!(gates.contains("the call that asked needs no answer any more"), "{gates}");
}

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn a_server_of_the_newest_generation_asks_by_its_answer() {
    let program = trusted(&["newest"]);
    let plan = plan(&program, &[("a", "newest:who")]);
    program.run(&["run", &plan]).code(7).says(&["Who are you?"]);
    program.run(&["answer", "last", "a", "-m", &json!({"name": "Anna", "age": 37}).to_string()]).code(0);
    let got: Value = serde_json::from_str(result(&program, "a").as_str().unwrap()).unwrap();
    assert_eq!(got, json!(["first", {"action": "accept", "content": {"name": "Anna", "age": 37}}]));
}

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn a_server_that_offers_no_tools_has_a_model_answer_too_and_pictures_are_refused_in_plain_words() {
    let model = ChatServer::start(vec![Reply::Text("A haiku.".into())]);
    let program = with_model(&model, &["good"]);
    program.configure("[tools.mcp]\nsampling = \"allow\"\n");
    let asks = plan(&program, &[("a", "good:plain")]);
    program.run(&["run", &asks, "--yes"]).code(0);
    let got: Value = serde_json::from_str(result(&program, "a").as_str().unwrap()).unwrap();
    assert_eq!(got["content"]["text"], "A haiku.");
    assert!(model.requests()[0]["tools"].as_array().is_none_or(Vec::is_empty), "{:?}", model.requests());
    let shows = plan(&program, &[("a", "good:picture")]);
    let ended = program.run(&["run", &shows, "--yes", "--json"]).code(0);
    let why = "it sends an image or sound, and dagdeck gives models text alone";
    assert!(result(&program, "a").as_str().unwrap().contains(why), "the server hears why");
    assert!(ended.out.contains(&format!("asked a model and got no answer: {why}")), "and so does the person: {ended}");
    assert_eq!(model.requests().len(), 1, "nothing was sent");
}

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn prompts_and_tools_of_a_server_that_starts_meanwhile_are_offered_at_once() {
    let program = trusted(&["more"]);
    plan(&program, &[("a", "more:echo")]);
    let mut deck = program.console_with(&["console", "plan.json"], (100, 30));
    deck.sees("more:echo").send(":").sees("Commands").send("more:le").sees("> more:le").loses("Begin with more:letter").send("\x1b");
    deck.loses("> more:le").send("r").sees("1/1 done");
    deck.send(":").sees("Commands").send("more:le").sees("Begin with more:letter").send("\x1b").loses("> more:le").send("8");
    deck.sees("running");
}

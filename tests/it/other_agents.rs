//! Agents that are no plain model with a prompt: services at an address, and those that a model writes.

use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
    service::Service,
};
use serde_json::{Value, json};

fn plan(program: &Program, nodes: &Value) -> String {
    program.file("plan.json", json!({"dagdeck": 1, "goal": "g", "nodes": nodes}).to_string())
}

fn node(agent: &str) -> Value {
    json!([{"id": "a", "title": "a", "agent": agent, "objective": "count the words"}])
}

fn card(service: &Service, more: &str) -> String {
    format!("---\nname: remote\ndescription: Counts\ntype: service\nservice_url: {}\n{more}---\n", service.url)
}

fn with_card(program: &Program, text: &str) {
    let agents = program.home().join(".config/dagdeck/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("remote.md"), text).unwrap();
}

#[test]
fn a_service_gets_the_objective_and_gives_the_result_once_a_person_said_yes() {
    let service = Service::start(&["200 OK\nContent-Type: application/json\n\n{\"result\": {\"words\": 3}}"]);
    let program = Program::new();
    with_card(&program, &card(&service, ""));
    let file = plan(&program, &node("remote"));
    program.run(&["run", &file]).code(7).says(&["gate at a (service:remote)"]);
    assert!(service.asked().is_empty());
    let ended = program.run(&["approve", "last", "a"]).code(0);
    assert!(ended.out.contains("\"words\": 3") || ended.out.contains("\"words\":3"), "{ended}");
    let asked = service.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((&asked[0].1["agent"], &asked[0].1["objective"]), (&json!("remote"), &json!("count the words")), "{asked:?}");
    assert!(program.run(&["audit"]).code(0).out.contains("ran service:remote"), "the audit has the call");
    let listed = program.run(&["agents"]).code(0);
    assert!(listed.out.contains("by a service"), "{listed}");
    let tools = program.run(&["tools"]).code(0);
    assert!(!tools.out.contains("service:remote"), "no plan and no model names it: {tools}");
}

#[test]
fn a_card_that_says_that_its_service_only_answers_asks_nobody_unless_private_data_would_leave() {
    let service = Service::start(&["200 OK\n\n\"fine\"", "200 OK\n\n\"fine\""]);
    let program = Program::new();
    with_card(&program, &card(&service, "risk: network\n"));
    let file = plan(&program, &node("remote"));
    program.run(&["run", &file]).code(0);
    program.file("secret.txt", "the plan of the vault\n");
    let read = json!({"id": "r", "title": "r", "tool": "read_file", "args": {"path": "secret.txt"}});
    let mut nodes = node("remote");
    nodes[0]["depends_on"] = json!(["r"]);
    nodes.as_array_mut().unwrap().push(read);
    let file = plan(&program, &nodes);
    program.run(&["run", &file, "--yes"]).code(7).says(&["private data to 127.0.0.1:"]);
    assert_eq!(service.asked().len(), 1);
    program.run(&["approve", "last", "a"]).code(0);
    assert!(service.asked()[1].1["context"].as_str().unwrap().contains("the plan of the vault"));
}

#[test]
fn a_service_of_a_project_counts_once_its_card_is_trusted_with_its_address_shown() {
    let service = Service::start(&["200 OK\n\n\"fine\""]);
    let program = Program::new();
    program.file(".dagdeck/agents/remote.md", card(&service, "risk: network\ntoken_env: VAULT_TOKEN\n"));
    let file = plan(&program, &node("remote"));
    program.run(&["run", &file]).code(3);
    let told = program.run(&["trust"]);
    let words = format!("sends what the agent `remote` gets to {} with the value of VAULT_TOKEN", service.url);
    assert!(told.out.contains(&words) || told.err.contains(&words), "{told}");
    program.run(&["trust", ".dagdeck/agents/remote.md"]).code(0);
    let ended = program.run(&["run", &file]);
    assert!(ended.code == 5 && ended.err.contains("`VAULT_TOKEN` is not set"), "{ended}");
    assert!(service.asked().is_empty());
}

fn retried(attempts: u32) -> Value {
    let mut nodes = node("remote");
    nodes[0]["retry"] = json!({"attempts": attempts, "backoff_ms": 1});
    nodes
}

#[test]
fn a_service_that_only_answers_is_tried_again_as_the_node_says() {
    let service = Service::start(&["503 Service Unavailable\n\nbusy", "200 OK\n\n\"fine\"", "503 Service Unavailable\n\nbusy"]);
    let program = Program::new();
    with_card(&program, &card(&service, "risk: network\n"));
    let file = plan(&program, &retried(2));
    program.run(&["run", &file]).code(0).says(&["the service answered 503 Service Unavailable: busy"]);
    let file = plan(&program, &retried(1));
    program.run(&["run", &file]).code(5).says(&["the service answered 503 Service Unavailable: busy"]);
    assert_eq!(service.asked().len(), 3);
}

#[test]
fn a_failed_request_that_may_have_had_an_effect_is_sent_again_by_its_key_or_asked_about() {
    let answers = ["503 Service Unavailable\n\nbusy", "200 OK\n\n\"fine\""];
    let service = Service::start(&answers);
    let program = Program::new();
    with_card(&program, &card(&service, ""));
    let file = plan(&program, &retried(3));
    program.run(&["run", &file]).code(7);
    program.run(&["approve", "last", "a"]).code(7).says(&["nobody knows whether its call was made"]);
    assert_eq!(service.asked().len(), 1, "nobody knows what it did");
    let service = Service::start(&answers);
    with_card(&program, &card(&service, "risk: repeatable\n"));
    program.run(&["run", &file]).code(7);
    program.run(&["approve", "last", "a"]).code(0);
    let asked = service.asked();
    assert_eq!(asked.len(), 2, "one yes is for all attempts: {asked:?}");
    assert!(asked[0].2.len() == 32 && asked[0] == asked[1], "the same request with the same key: {asked:?}");
}

#[test]
fn the_row_shows_how_far_a_service_is_and_a_cancelled_one_is_asked_no_more() {
    let service = Service::start(&["202 Accepted\nRetry-After: 60\nLocation: /jobs/1\n\n{\"progress\": \"half way there\"}"]);
    let program = Program::new();
    with_card(&program, &card(&service, "risk: network\n"));
    plan(&program, &node("remote"));
    let mut deck = program.console_with(&["console", "plan.json"], (110, 34));
    deck.sees("count the words").send("r").sees("half way there").send("\x18").sees("do it").send("y").loses("do it").sees("cancelled");
    deck.send("q");
    assert_eq!(service.asked().len(), 1);
}

const WRITTEN: &str = r#"{"description": "Writes poems", "tools": ["read_file"], "prompt": "You write short poems."}"#;

#[test]
fn an_agent_that_a_model_wrote_works_once_it_was_taken() {
    let server = ChatServer::start(vec![Reply::Text(WRITTEN.into()), Reply::Text("Roses are red.".into())]);
    let program = Program::connected(&server);
    let file = plan(&program, &node("dynamic_agent"));
    let asked = program.run(&["run", &file]).code(7);
    asked.says(&["gate at a (new_agent)", "a model wrote this agent"]);
    assert_eq!(server.requests().len(), 1, "it doesn't work before");
    let server = ChatServer::start(vec![Reply::Text(WRITTEN.into()), Reply::Text("Roses are red.".into())]);
    let program = Program::connected(&server);
    let file = plan(&program, &node("dynamic_agent"));
    let ended = program.run(&["run", &file, "--approve", "a"]).code(0);
    program.run(&["permissions", "--like", "a", "--for", "run"]).code(1).says(&["each agent that a model wrote is shown before it works"]);
    assert!(ended.out.contains("Roses are red."), "{ended}");
    let requests = server.requests();
    assert!(requests[0]["messages"].to_string().contains("count the words"), "{requests:?}");
    assert!(requests[1]["messages"][0].to_string().contains("You write short poems."), "{requests:?}");
    let tools = requests[1]["tools"].to_string();
    assert!(tools.contains("read_file") && !tools.contains("write_file"), "{tools}");
    assert!(!program.home().join(".config/dagdeck/agents").exists(), "nobody asked to keep it");
}

#[test]
fn an_agent_that_a_model_wrote_is_refused_by_a_no() {
    let server = ChatServer::start(vec![Reply::Text(WRITTEN.into()), Reply::Text("Roses are red.".into())]);
    let program = Program::connected(&server);
    let file = plan(&program, &node("dynamic_agent"));
    let ended = program.run(&["run", &file, "--deny", "a"]);
    assert!(ended.code == 5 && server.requests().len() == 1, "{ended}");
}

#[test]
fn the_console_shows_a_written_agent_as_a_card_to_edit_and_keeps_it_under_a_name() {
    let server = ChatServer::start(vec![Reply::Text(WRITTEN.into()), Reply::Text("Roses are red.".into())]);
    let program = Program::connected(&server);
    plan(&program, &node("dynamic_agent"));
    let mut deck = program.console_with(&["console", "plan.json"], (110, 36));
    deck.sees("count the words").send("r").sees("1 needs you").send("i").sees("You write short poems.").sees("keys active");
    deck.send("e").sees("edit which part?").send("keep_as").sees("keep_as").send("\r").sees("keep_as, of a").send("poet\r");
    deck.sees("you edited the payload").sees("keys active").send("a").sees("no open gate").send("1").sees("Roses are red").send("q");
    let kept = std::fs::read_to_string(program.home().join(".config/dagdeck/agents/poet.md")).unwrap();
    assert!(kept.contains("name: poet") && kept.contains("You write short poems."), "{kept}");
    assert!(program.run(&["agents"]).code(0).out.contains("poet"));
}

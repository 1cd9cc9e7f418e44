//! dagdeck before aimock, which speaks the forms of OpenAI, Anthropic and Gemini and keeps a journal of what it was asked: whole runs, and
//! every fault with as many requests as its rule allows.

use super::{Bench, node, one_agent, words};
use serde_json::{Value, json};
use std::process::Command;

const KEY: &str = "sk-dagdeck-test";

/// The server as a provider of each form. Gemini's address says by its end in which of its two forms it is spoken to.
fn forms() -> [(&'static str, Vec<(&'static str, String)>); 4] {
    let url = server();
    [
        ("openai", vec![("OPENAI_BASE_URL", url.clone()), ("OPENAI_API_KEY", KEY.into()), ("OPENAI_MODEL", "test-model".into())]),
        (
            "anthropic",
            vec![("ANTHROPIC_BASE_URL", url.clone()), ("ANTHROPIC_API_KEY", KEY.into()), ("ANTHROPIC_MODEL", "test-model".into())],
        ),
        ("gemini", vec![("GEMINI_BASE_URL", url.clone()), ("GEMINI_API_KEY", KEY.into()), ("GEMINI_MODEL", "test-model".into())]),
        (
            "gemini in OpenAI's form",
            vec![
                ("GEMINI_BASE_URL", format!("{url}/v1beta/openai")),
                ("GEMINI_API_KEY", KEY.into()),
                ("GEMINI_MODEL", "test-model".into()),
            ],
        ),
    ]
}

fn server() -> String {
    std::env::var("DAGDECK_PEER_AIMOCK").expect("started by .ci/peers")
}

fn ask(method: &str, path: &str, body: &str) -> Value {
    let url = format!("{}/__aimock/{path}", server());
    let output = Command::new("curl").args(["-s", "--noproxy", "*", "-X", method, "-d", body, &url]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// Takes back what was asked, and how often each answer was given.
fn begin() {
    ask("POST", "reset", "");
    ask("POST", "fixtures", include_str!("aimock.json"));
}

/// Paths of the calls since the beginning.
fn calls() -> Vec<String> {
    let journal = ask("GET", "journal", "");
    let posts = journal.as_array().unwrap().iter().filter(|entry| entry["method"] == "POST");
    posts.map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "needs aimock"]
fn a_request_is_planned_and_run_in_every_form_and_what_it_took_is_what_the_server_says() {
    for (form, env) in forms() {
        let bench = Bench::new(env);
        begin();
        let output = bench.dagdeck(&["run", "compare two ponds"]);
        assert!(output.status.success(), "{form}: {}", words(&output));
        assert!(words(&output).contains("The large one is larger."), "{form}: {}", words(&output));
        let calls = calls();
        assert_eq!(calls.len(), 4, "{form}: one for the plan, one for each agent: {calls:?}");
        let path = match form {
            "openai" => "/v1/chat/completions",
            "anthropic" => "/v1/messages",
            "gemini" => "/v1beta/models/test-model:streamGenerateContent",
            _ => "/v1beta/openai/chat/completions",
        };
        assert!(calls.iter().all(|call| call.starts_with(path)), "{form}: {calls:?}");
        let shown = bench.json(&["show", "last", "--json"]);
        let took = json!({"prompt": 412, "completion": 128});
        assert_eq!(shown["planning"][0]["usage"], took, "{form}: what planning took is the server's figure");
    }
}

#[test]
#[ignore = "needs aimock"]
fn an_agent_calls_a_tool_and_thinks_in_every_form() {
    for (form, env) in forms() {
        let bench = Bench::new(env);
        for (objective, requests, result) in [("add with a tool", 2, "It is 391."), ("thinking model", 1, "42")] {
            begin();
            let mut plan = one_agent(objective);
            plan["nodes"][0]["agent"] = json!("data_analyst");
            let output = bench.dagdeck(&["run", &bench.plan_file(&plan)]);
            assert!(output.status.success(), "{form}: {}", words(&output));
            let shown = bench.json(&["show", "last", "--json"]);
            assert_eq!((calls().len(), node(&shown, "answer")["result"].to_string().contains(result)), (requests, true), "{form}: {shown}");
        }
    }
}

#[test]
#[ignore = "needs aimock"]
fn every_fault_takes_as_many_requests_as_its_rule_allows_in_every_form() {
    for (form, env) in forms() {
        let bench = Bench::new(env);
        for (fault, attempts, requests, code) in [
            ("flaky", 3, 3, 0),
            ("always 500", 3, 3, 5),
            ("always 500", 1, 1, 5),
            ("always 500", 5, 5, 5),
            ("always 401", 3, 1, 5),
            ("context too long", 3, 1, 5),
            ("slow first token", 3, 1, 0),
            ("cut stream", 2, 2, 5),
            ("dropped connection", 2, 2, 5),
            ("loop forever", 3, 5, 0),
            ("quota is used up", 3, 1, 5),
            ("unicode", 3, 1, 0),
        ] {
            begin();
            let mut plan = one_agent(fault);
            plan["nodes"][0]["agent"] = json!("data_analyst");
            plan["nodes"][0]["retry"]["attempts"] = json!(attempts);
            let output = bench.dagdeck(&["run", &bench.plan_file(&plan)]);
            assert_eq!(
                (calls().len(), output.status.code()),
                (requests, Some(code)),
                "{form}, {fault}, {attempts} tries\n{}",
                words(&output)
            );
        }
    }
}

#[test]
#[ignore = "needs aimock"]
fn a_wrong_plan_is_corrected_twice_in_every_form() {
    for (form, env) in forms() {
        let bench = Bench::new(env);
        for (request, requests, code) in
            [("plan in a circle", 3, 3), ("plan that is cut off", 3, 1), ("quota is used up", 1, 1), ("always 500", 3, 1)]
        {
            begin();
            let output = bench.dagdeck(&["plan", request]);
            assert_eq!((calls().len(), output.status.code()), (requests, Some(code)), "{form}, {request}\n{}", words(&output));
        }
    }
}

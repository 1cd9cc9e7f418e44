//! dagdeck against real programs: the LiteLLM proxy, llama.cpp's server with a small model, aimock in the forms of three
//! providers, LLMock, which judges clients, and MCP servers. `.ci/peers` installs and starts them; plain `cargo test` leaves these out.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail a test by it, as the tests themselves do"
)]

mod aimock;
mod judge;
mod mcp;
mod mcp_asks;
mod mcp_real;
mod mcp_sign_in;
#[expect(dead_code, reason = "the other tests use the rest of it")]
#[path = "../it/support/mod.rs"]
mod support;

use assert_cmd::Command;
use serde_json::{Value, json};
use std::{path::Path, process::Output, time::Duration};

/// Turns a hang into a failure; a small model on a busy machine takes its time.
const DEADLINE: Duration = Duration::from_secs(300);

/// dagdeck in a workspace and home of its own, connected to one server.
struct Bench {
    folder: tempfile::TempDir,
    env: Vec<(&'static str, String)>,
}

impl Bench {
    fn litellm() -> Self {
        let url = std::env::var("DAGDECK_PEER_LITELLM").expect("started by .ci/peers");
        let key = "sk-dagdeck-test".to_string();
        Self::new(vec![("LITELLM_PROXY_BASE_URL", url), ("LITELLM_PROXY_API_KEY", key)])
    }

    /// The same proxy by its form of Anthropic's messages.
    fn anthropic() -> Self {
        let url = std::env::var("DAGDECK_PEER_LITELLM").expect("started by .ci/peers");
        Self::new(vec![("ANTHROPIC_BASE_URL", url), ("ANTHROPIC_API_KEY", "sk-dagdeck-test".to_string())])
    }

    fn llama() -> Self {
        let url = std::env::var("DAGDECK_PEER_LLM").expect("started by .ci/peers");
        Self::new(vec![("OPENAI_BASE_URL", url)])
    }

    /// Models answer the same each time, and never ramble on. Without any chance in it, a small model would go in circles. A provider that
    /// refuses calls for their rate is waited for so long, and not for ten minutes.
    fn new(env: Vec<(&'static str, String)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join(".config/dagdeck");
        std::fs::create_dir_all(&config).unwrap();
        let settings = "[models.settings]\ntemperature = 0.7\nseed = 1\nmax_tokens = 250\n[models.limits]\nrefused_s = 5\n";
        std::fs::write(config.join("config.toml"), settings).unwrap();
        Self { folder, env }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn dagdeck(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dagdeck"));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path())
            .env("DAGDECK_HOME", self.path().join("home"))
            .env("DAGDECK_CACHE", "off");
        command.envs(self.env.iter().map(|(name, value)| (*name, value.as_str())));
        command.current_dir(self.path()).args(args).timeout(DEADLINE).output().unwrap()
    }

    fn plan_file(&self, plan: &Value) -> String {
        let path = self.path().join("plan.json");
        std::fs::write(&path, plan.to_string()).unwrap();
        path.to_string_lossy().to_string()
    }

    /// The JSON that a verb prints.
    fn json(&self, args: &[&str]) -> Value {
        let output = self.dagdeck(args);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}\n{}", words(&output)))
    }
}

fn words(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn one_agent(objective: &str) -> Value {
    let node = json!({"id": "answer", "agent": "writer", "objective": objective, "retry": {"attempts": 1}, "timeout_s": 240});
    json!({"dagdeck": 1, "goal": "answer", "nodes": [node]})
}

fn node<'a>(shown: &'a Value, id: &str) -> &'a Value {
    shown["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).unwrap()
}

/// An agent of the proxy answers, and its tokens are counted. Gives the file of its plan.
fn says_hello(bench: &Bench) -> String {
    let plan = bench.plan_file(&one_agent("say hello"));
    let output = bench.dagdeck(&["run", &plan, "--model", "fake-text"]);
    assert!(output.status.success(), "{}", words(&output));
    let shown = bench.json(&["show", "last", "--json"]);
    assert_eq!(node(&shown, "answer")["result"], "Hello from behind the proxy.");
    assert!(node(&shown, "answer")["tokens"].as_u64().unwrap() > 0, "{shown}");
    plan
}

#[test]
#[ignore = "needs the LiteLLM proxy"]
fn an_agent_answers_through_the_litellm_proxy() {
    let bench = Bench::litellm();
    says_hello(&bench);
}

#[test]
#[ignore = "needs the LiteLLM proxy"]
fn an_agent_answers_by_anthropics_messages() {
    let mut bench = Bench::anthropic();
    let plan = says_hello(&bench);
    bench.env[1].1 = "sk-wrong".into();
    let output = bench.dagdeck(&["run", &plan, "--model", "fake-text"]);
    assert!(words(&output).contains("refused the key") && words(&output).contains("ANTHROPIC_API_KEY"), "{}", words(&output));
}

#[test]
#[ignore = "needs the LiteLLM proxy"]
fn a_plan_comes_through_the_litellm_proxy() {
    let bench = Bench::litellm();
    let planned = bench.json(&["plan", "compare two editors", "--model", "fake-plan", "--json"]);
    let ids: Vec<&str> = planned["plan"]["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["find", "write"]);
}

#[test]
#[ignore = "needs the LiteLLM proxy"]
fn a_failing_server_fails_the_node_with_words_that_say_so() {
    let bench = Bench::litellm();
    let plan = bench.plan_file(&one_agent("say hello"));
    let output = bench.dagdeck(&["run", &plan, "--model", "fake-500"]);
    assert_eq!(output.status.code(), Some(5), "{}", words(&output));
    assert!(words(&output).contains("500"), "{}", words(&output));
}

#[test]
#[ignore = "needs the LiteLLM proxy"]
fn a_rate_limit_of_the_proxy_is_told_as_such() {
    let bench = Bench::litellm();
    let plan = bench.plan_file(&one_agent("say hello"));
    let output = bench.dagdeck(&["run", &plan, "--model", "fake-limit"]);
    assert_eq!(output.status.code(), Some(5), "{}", words(&output));
    assert!(words(&output).contains("limits the rate of requests (429)"), "{}", words(&output));
}

#[test]
#[ignore = "needs the LiteLLM proxy and llama.cpp's server"]
fn a_real_model_answers_through_the_proxy() {
    let bench = Bench::litellm();
    let plan = bench.plan_file(&one_agent("Say one short sentence about rivers."));
    let output = bench.dagdeck(&["run", &plan, "--model", "local"]);
    assert!(output.status.success(), "{}", words(&output));
    let shown = bench.json(&["show", "last", "--json"]);
    assert!(node(&shown, "answer")["metadata"]["tokens"]["completion"].as_u64().unwrap() > 0, "{shown}");
}

#[test]
#[ignore = "needs the LiteLLM proxy"]
fn the_models_of_the_proxy_are_listed() {
    let listed = Bench::litellm().json(&["models", "--json"]);
    assert!(["fake-text", "local"].iter().all(|name| listed["models"].as_array().unwrap().contains(&json!(name))), "{listed}");
}

#[test]
#[ignore = "needs the LiteLLM proxy"]
fn an_unknown_model_is_named_in_the_error() {
    let bench = Bench::litellm();
    let plan = bench.plan_file(&one_agent("say hello"));
    let output = bench.dagdeck(&["run", &plan, "--model", "no-such-model"]);
    assert_eq!(output.status.code(), Some(5), "{}", words(&output));
    assert!(words(&output).contains("no-such-model"), "{}", words(&output));
}

#[test]
#[ignore = "needs the LiteLLM proxy"]
fn a_wrong_key_is_told_as_such() {
    let mut bench = Bench::litellm();
    bench.env[1].1 = "sk-wrong".into();
    let plan = bench.plan_file(&one_agent("say hello"));
    let output = bench.dagdeck(&["run", &plan, "--model", "fake-text"]);
    assert_eq!(output.status.code(), Some(5), "{}", words(&output));
    assert!(words(&output).contains("refused the key") && words(&output).contains("LITELLM_PROXY_API_KEY"), "{}", words(&output));
}

#[test]
#[ignore = "needs llama.cpp's server"]
fn a_real_model_answers_and_its_usage_is_kept() {
    let bench = Bench::llama();
    let plan = bench.plan_file(&one_agent("Say one short sentence about rivers."));
    let output = bench.dagdeck(&["run", &plan, "--model", "smollm2"]);
    assert!(output.status.success(), "{}", words(&output));
    let shown = bench.json(&["show", "last", "--json"]);
    let answer = node(&shown, "answer");
    assert!(!answer["result"].is_null(), "{shown}");
    assert!(answer["metadata"]["tokens"]["completion"].as_u64().unwrap() > 0, "{shown}");
}

#[test]
#[ignore = "needs llama.cpp's server"]
fn a_small_model_plans_and_whatever_it_gives_is_kept() {
    let bench = Bench::llama();
    let planned = bench.json(&["plan", "find out what a DAG is and write a short text about it", "--model", "smollm2", "--json"]);
    assert!(!planned["plan"]["nodes"].as_array().unwrap().is_empty(), "{planned}");
    assert!(planned["findings"].is_array(), "{planned}");
}

#[test]
#[ignore = "needs llama.cpp's server"]
fn the_models_of_a_server_are_listed() {
    let bench = Bench::llama();
    let listed = bench.json(&["models", "--json"]).to_string();
    assert!(listed.contains("smollm2"), "{listed}");
}

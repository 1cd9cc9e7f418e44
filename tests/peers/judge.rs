//! dagdeck before LLMock, which breaks answers on purpose and then says what the client did wrong with it.

use super::{Bench, one_agent, words};
use serde_json::{Value, json};
use std::process::Command;

/// Faults, and how the run ends: what is transient is tried again, what isn't never.
fn faults() -> [(Value, i32); 8] {
    let streamed = json!({"stream": true});
    [
        (json!({"type": "stream_fault", "kind": "truncate", "after_chunks": 2, "times": 2}), 0),
        (json!({"type": "stream_fault", "kind": "malformed", "after_chunks": 2, "times": 2}), 0),
        (json!({"type": "stream_fault", "kind": "disconnect", "after_chunks": 2, "times": 2}), 0),
        (json!({"type": "stream_fault", "kind": "stall", "after_chunks": 3, "stall_seconds": 30, "times": 1}), 0),
        (json!({"type": "fail", "status": 429, "retry_after": 1, "times": 2, "match": streamed}), 0),
        (json!({"type": "fail", "status": 500, "times": 2, "match": streamed}), 0),
        (json!({"type": "fail", "status": 400, "times": 1, "match": streamed}), 5),
        (json!({"type": "fail", "status": 401, "times": 1, "match": streamed}), 5),
    ]
}

fn ask(url: &str, path: &str, body: Option<&Value>) -> Value {
    let mut command = Command::new("curl");
    command.args(["-sf", "--noproxy", "*", &format!("{url}/_llmock/{path}")]);
    if let Some(body) = body {
        command.args(["-d", &body.to_string()]);
    }
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn judged(url: &str, env: Vec<(&'static str, String)>) {
    let bench = Bench::new(env);
    std::fs::write(bench.path().join(".config/dagdeck/config.toml"), "[models.timeouts]\nfirst_s = 4\nbetween_s = 2\n").unwrap();
    let mut plan = one_agent("Write a line about the sea.");
    plan["nodes"][0]["retry"]["attempts"] = json!(3);
    let plan = bench.plan_file(&plan);
    for (fault, code) in faults() {
        ask(url, "reset", Some(&json!({})));
        ask(url, "scenario", Some(&json!({"behaviors": [fault]})));
        let output = bench.dagdeck(&["run", &plan]);
        assert_eq!(output.status.code(), Some(code), "{fault}\n{}", words(&output));
        assert_eq!(ask(url, "scenario", None)["pending"], json!([]), "the fault was met: {fault}");
        let verdict = ask(url, "verdict", None);
        assert_eq!(verdict["findings"], json!([]), "{fault}\n{verdict}");
    }
}

#[test]
#[ignore = "needs LLMock"]
fn the_judge_finds_nothing_wrong_with_either_form() {
    let url = std::env::var("DAGDECK_PEER_JUDGE").expect("started by .ci/peers");
    let key = "sk-dagdeck-test".to_string();
    judged(&url, vec![("OPENAI_BASE_URL", url.clone()), ("OPENAI_API_KEY", key.clone()), ("OPENAI_MODEL", "gpt-4o".into())]);
    judged(&url, vec![("ANTHROPIC_BASE_URL", format!("{url}/anthropic/v1")), ("ANTHROPIC_API_KEY", key)]);
}

//! MCP servers of others, over stdio and HTTP, of three generations of the protocol.

use super::support::{
    chat::{ChatServer, Reply},
    program::{Ended, Program},
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A workspace that trusts these servers, by their names in `launch`.
fn with_servers(names: &[&str]) -> Program {
    servers_in(Program::new(), names)
}

fn servers_in(program: Program, names: &[&str]) -> Program {
    let program = program.env("PATH", &std::env::var("PATH").unwrap());
    let servers: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), launch(name, &program.workspace()))).collect();
    program.file(".mcp.json", json!({ "mcpServers": servers }).to_string());
    program.configure("[tools.mcp]\nstart_timeout_s = 60\nsilence_s = 20\n");
    program.run(&["trust", "--all"]).code(0);
    program
}

fn launch(name: &str, workspace: &Path) -> Value {
    let lab = PathBuf::from(std::env::var("DAGDECK_PEER_MCP").expect("installed by .ci/peers"));
    let of_node = |file: &str| lab.join("mcp-node/node_modules/.bin").join(file);
    let of_python = |folder: &str, file: &str| lab.join(folder).join("bin").join(file);
    let (command, args): (PathBuf, &[&str]) = match name {
        "files" => (of_node("mcp-server-filesystem"), &["."]),
        "memory" => (of_node("mcp-server-memory"), &[]),
        "thinking" => (of_node("mcp-server-sequential-thinking"), &[]),
        "everything" => (of_node("mcp-server-everything"), &["stdio"]),
        "time" => (of_python("mcp-python", "mcp-server-time"), &[]),
        "git" => (of_python("mcp-python", "mcp-server-git"), &["--repository", "."]),
        "sqlite" => (of_python("mcp-sqlite", "mcp-server-sqlite"), &["--db-path", "data.db"]),
        _ => {
            let url = std::env::var("DAGDECK_PEER_MCP_HTTP").expect("started by .ci/peers");
            return json!({"type": "http", "url": if name == "http" { url } else { "http://127.0.0.1:9/mcp".to_owned() }});
        }
    };
    json!({"command": command, "args": args, "env": {"MEMORY_FILE_PATH": workspace.join("memory.json")}})
}

/// Runs a plan of calls, none of which waits for another, and gives how it ended with the results by node.
fn calls(program: &Program, nodes: &[(&str, &str, Value)]) -> (Ended, Value) {
    let node =
        |(id, tool, args): &(&str, &str, Value)| json!({"id": id, "title": id, "tool": tool, "args": args, "retry": {"attempts": 1}});
    let nodes: Vec<Value> = nodes.iter().map(node).collect();
    let plan = program.file("plan.json", json!({"dagdeck": 1, "goal": "g", "nodes": nodes}).to_string());
    let ended = program.run(&["run", &plan, "--yes", "--json"]);
    let shown = program.json(&["show", "last", "--json"]);
    let results = shown["nodes"].as_array().unwrap().iter().map(|node| {
        let failed = node["result"].is_null();
        (node["id"].as_str().unwrap().to_owned(), if failed { node["reason"].clone() } else { node["result"].clone() })
    });
    (ended, Value::Object(results.collect()))
}

#[test]
#[ignore = "needs MCP servers: `.ci/peers`"]
fn each_server_is_listed_and_each_gives_results() {
    let program = with_servers(&["files", "memory", "thinking", "everything", "time", "git", "sqlite", "http"]);
    program.file("a.txt", "hello\n");
    let git =
        |args: &[&str]| assert!(std::process::Command::new("git").args(args).current_dir(program.workspace()).status().unwrap().success());
    git(&["init", "-q"]);
    git(&["add", "a.txt"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first commit"]);
    program.run(&["tools", "--start", "--servers"]).code(0);
    let (ended, results) = calls(
        &program,
        &[
            ("file", "files:read_text_file", json!({"path": "a.txt"})),
            ("outside", "files:read_text_file", json!({"path": "/etc/hostname"})),
            ("remember", "memory:create_entities", json!({"entities": [{"name": "n", "entityType": "t", "observations": ["o"]}]})),
            (
                "think",
                "thinking:sequentialthinking",
                json!({"thought": "t", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}),
            ),
            ("image", "everything:get-tiny-image", json!({})),
            ("typed", "everything:get-structured-content", json!({"location": "Chicago"})),
            ("sum", "everything:get-sum", json!({"a": 2, "b": 3})),
            ("far", "http:get-sum", json!({"a": 20, "b": 30})),
            ("when", "time:convert_time", json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"})),
            ("log", "git:git_log", json!({"repo_path": "."})),
            ("table", "sqlite:create_table", json!({"query": "CREATE TABLE t (a INT)"})),
        ],
    );
    assert_eq!(ended.code, 4, "{ended}");
    assert_eq!(results["file"]["content"], "hello\n");
    assert!(results["outside"].as_str().unwrap().contains("Access denied"), "{results}");
    assert_eq!(results["remember"]["entities"][0]["name"], "n", "{results}");
    assert_eq!(results["think"]["thoughtHistoryLength"], 1, "{results}");
    assert!(results["image"].as_str().unwrap().contains("[image/png, "), "{results}");
    assert!(results["typed"]["temperature"].is_number(), "{results}");
    assert!(results["sum"].as_str().unwrap().contains('5') && results["far"].as_str().unwrap().contains("50"), "{results}");
    assert!(results["when"].to_string().contains("21:00"), "{results}");
    assert!(results["log"].to_string().contains("first commit"), "{results}");
    assert!(results["table"].as_str().unwrap().contains("created"), "{results}");
    let (ended, results) = calls(&program, &[("tables", "sqlite:list_tables", json!({}))]);
    assert_eq!(ended.code, 0, "a server that changes its database needs no new trust: {ended}");
    assert!(results["tables"].to_string().contains('t'), "{results}");
}

#[test]
#[ignore = "needs MCP servers: `.ci/peers`"]
fn wrong_arguments_are_known_before_the_run_or_told_by_the_server() {
    let program = with_servers(&["everything", "time"]);
    program.run(&["tools", "--start"]).code(0);
    let plan = json!({"dagdeck": 1, "goal": "g", "nodes": [{"id": "a", "tool": "everything:get-sum", "args": {"a": "two"}}]});
    let plan = program.file("wrong.json", plan.to_string());
    let checked = program.run(&["validate", &plan]).code(3);
    assert!(checked.out.contains("`everything:get-sum` needs the argument `b`"), "{checked}");
    let (ended, results) = calls(&program, &[("a", "time:get_current_time", json!({"timezone": "Nowhere/Else"}))]);
    assert_eq!(ended.code, 5, "{ended}");
    assert!(results["a"].as_str().unwrap().contains("Nowhere/Else"), "{results}");
}

#[test]
#[ignore = "needs MCP servers: `.ci/peers`"]
fn progress_is_seen_and_a_call_is_cancelled_over_stdio_and_http() {
    let program = with_servers(&["everything", "http"]);
    let slow = |steps: u32| json!({"duration": 1, "steps": steps});
    let (ended, _) = calls(
        &program,
        &[("a", "everything:trigger-long-running-operation", slow(4)), ("b", "http:trigger-long-running-operation", slow(5))],
    );
    assert!(ended.code == 0 && ended.out.contains("2 of 4") && ended.out.contains("2 of 5"), "{ended}");
    let hang = |id: &str, server: &str| {
        let tool = format!("{server}:trigger-long-running-operation");
        json!({"id": id, "title": id, "tool": tool, "args": {"duration": 600, "steps": 2}, "timeout_s": 1, "retry": {"attempts": 1}, "on_failure": "safe"})
    };
    let after = |id: &str, server: &str, on: &str| json!({"id": id, "title": id, "tool": format!("{server}:get-sum"), "args": {"a": 1, "b": 2}, "depends_on": [on]});
    let nodes = json!([hang("a", "everything"), hang("b", "http"), after("c", "everything", "a"), after("d", "http", "b")]);
    let plan = program.file("plan.json", json!({"dagdeck": 1, "goal": "g", "nodes": nodes}).to_string());
    let ended = program.run(&["run", &plan, "--yes"]).code(0).says(&["a: failed_safe", "b: failed_safe"]);
    assert_eq!(ended.out.matches("is 3").count(), 2, "both servers go on: {ended}");
}

#[test]
#[ignore = "needs MCP servers: `.ci/peers`"]
fn an_address_where_nothing_answers_fails_its_nodes_alone() {
    let program = with_servers(&["gone", "http"]);
    program.run(&["tools", "--start"]).code(1).says(&["the MCP server `gone` can't be used: it can't be reached"]);
    let (ended, results) = calls(&program, &[("a", "gone:any", json!({})), ("b", "http:get-sum", json!({"a": 1, "b": 2}))]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(results["a"].as_str().unwrap().contains("can't be reached") && results["b"].as_str().unwrap().contains('3'), "{results}");
}

#[test]
#[ignore = "needs MCP servers: `.ci/peers`"]
fn real_servers_let_their_resources_be_read_and_ask_by_a_form() {
    let program = with_servers(&["everything", "http"]);
    let read = |server: &str| format!("{server}:read_resource");
    let uri = json!({"uri": "demo://resource/dynamic/text/7"});
    let (ended, results) = calls(&program, &[("near", &read("everything"), uri.clone()), ("far", &read("http"), uri)]);
    assert_eq!(ended.code, 0, "{ended}");
    assert!(["near", "far"].iter().all(|node| results[node].as_str().unwrap().contains("Resource 7")), "{results}");
    let listed = program.run(&["tools"]).code(0);
    for line in ["resource @everything:demo://resource/dynamic/text/{resourceId}", "prompt everything:args-prompt city state?"] {
        assert!(listed.out.contains(line), "{line}\n{listed}");
    }
    let (ended, _) = calls(&program, &[("ask", "everything:trigger-elicitation-request", json!({}))]);
    assert_eq!(ended.code, 7, "{ended}");
    let shown = program.run(&["show", "last"]).code(0);
    let fields = ["one of: Superman, Green Lantern, Wonder Woman", "some of Tuna, Salmon, Trout", "minimum 1; maximum 100", "format email"];
    assert!(fields.iter().all(|words| shown.out.contains(words)), "{shown}");
}

#[test]
#[ignore = "needs MCP servers: `.ci/peers`"]
fn a_real_server_has_a_model_answer_it_once_a_person_says_yes() {
    let model = ChatServer::start(vec![Reply::Text("A short tale.".into())]);
    let program = servers_in(Program::connected(&model), &["everything"]);
    let (ended, _) = calls(&program, &[("a", "everything:trigger-sampling-request", json!({"prompt": "Tell a tale", "maxTokens": 50}))]);
    assert_eq!(ended.code, 7, "{ended}");
    assert!(model.requests().is_empty(), "nothing was sent");
    // The tool may change things by what its server says of it, so whether it did is asked before it is called anew with the reply.
    program.run(&["answer", "last", "a", "-m", "yes"]).code(7).says(&["run again, mark done, skip"]);
    program.run(&["resume", "last", "--unknown", "again", "--yes"]).code(0);
    let shown = program.json(&["show", "last", "--json"]).to_string();
    assert!(shown.contains("A short tale."), "{shown}");
    assert!(model.requests()[0]["messages"].to_string().contains("Tell a tale"), "{:?}", model.requests());
}

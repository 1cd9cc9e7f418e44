//! Results of earlier runs: when they are taken in place of work, when not, how that is shown, and how they go.

use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Two agents, the second of which works with what the first says, and code after them.
fn program(server: &ChatServer) -> Program {
    let program = Program::connected(server).env("DAGDECK_CACHE", "on");
    program.configure("[models.prices]\ntest-model = { prompt = 1000, completion = 2000 }\n");
    program.file("p.json", plan(&json!({})).to_string());
    program
}

fn plan(policy: &Value) -> Value {
    let node = |id: &str, deps: Value| json!({"id": id, "role": "writer", "goal": "write", "objective": "a line", "depends_on": deps});
    let mut nodes = [
        node("one", json!([])),
        node("two", json!(["one"])),
        json!({"id": "both", "code": "return [deps.one.result, deps.two.result]", "depends_on": ["one", "two"]}),
    ];
    for node in &mut nodes {
        node.as_object_mut().unwrap().extend(policy.as_object().unwrap().clone());
    }
    json!({"goal": "two lines", "nodes": nodes})
}

fn texts(texts: &[&str]) -> Vec<Reply> {
    texts.iter().map(|text| Reply::Text((*text).to_owned())).collect()
}

fn nodes(program: &Program) -> Vec<Value> {
    program.json(&["show", "last", "--json"])["nodes"].as_array().unwrap().clone()
}

/// Waits until a file is so old that its time of change tells what a run read.
fn settle() {
    let until = Instant::now() + Duration::from_millis(60);
    while Instant::now() < until {
        std::thread::yield_now();
    }
}

#[test]
fn the_same_work_is_taken_from_the_run_that_did_it_and_shown_as_such_everywhere() {
    let server = ChatServer::start(texts(&["first", "second", "other"]));
    let program = program(&server);
    program.run(&["run", "p.json"]).code(0);
    let made = nodes(&program);
    let first = program.json(&["show", "last", "--json"])["run"].as_str().unwrap().to_owned();
    let second = program.run(&["run", "p.json"]).code(0);
    assert_eq!(server.asked().len(), 2, "nobody was asked again");
    let cached = nodes(&program);
    for (made, cached) in made.iter().zip(&cached) {
        assert_eq!((&made["result"], &made["state"], &made["private"]), (&cached["result"], &cached["state"], &cached["private"]));
        assert_eq!((&made["cached"], &cached["cached"]["run"]), (&Value::Null, &json!(first)), "{cached:#}");
    }
    assert_eq!((&cached[0]["tokens"], &cached[0]["model"]), (&json!(0), &made[0]["model"]), "nothing was spent: {:#}", cached[0]);
    let short = &first[first.len() - 8..];
    assert!(second.err.contains(&format!("cached: from run `{short}`")), "{second}");
    let cost = program.json(&["cost", "last", "--json"]);
    assert_eq!((&cost["total"]["model_calls"], &cost["saved_by_cache"]["model_calls"]), (&json!(0), &json!(2)), "{cost:#}");
    program.run(&["cost", "last"]).says(&["the cache saved 2 model calls, 36 tokens, $0.05"]);
    assert!(program.run(&["show", "last"]).out.contains("cached"), "rows say it");
    assert!(program.run(&["show", "last", "one"]).out.contains("cached from run"), "and so does the node");
    assert!(program.run(&["trace", "last", "both"]).out.contains(short), "and where a result came from");
    let why = program.run(&["cache", "why"]).code(0).out;
    assert!(why.contains("all that went into it is the same"), "{why}");
    let stats = program.json(&["stats", "--json"]);
    assert_eq!(stats["rows"][0]["attempts"], json!(2), "what was not done teaches nothing: {stats:#}");
    let replayed = program.json(&["replay", "last", "--json"]);
    assert_eq!(replayed["nodes"], program.json(&["show", "last", "--json"])["nodes"]);
}

#[test]
fn a_run_a_node_or_a_person_who_wants_it_anew_gets_it_anew() {
    let server = ChatServer::start(texts(&["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]));
    let program = program(&server);
    program.run(&["run", "p.json"]).code(0);
    program.run(&["run", "p.json", "--no-cache"]).code(0);
    assert_eq!(server.asked().len(), 4, "`--no-cache` does all anew");
    let why = program.run(&["cache", "why", "last", "one"]).out;
    assert!(why.contains("`--no-cache`"), "{why}");
    program.run(&["run", "p.json"]).code(0);
    assert_eq!((server.asked().len(), &nodes(&program)[0]["result"]), (4, &json!("one")), "and keeps nothing");
    program.run(&["rerun", "last", "one"]).code(0);
    assert_eq!((server.asked().len(), &nodes(&program)[1]["result"]), (6, &json!("six")), "a rerun is no look into the cache");
    program.run(&["run", "p.json"]).code(0);
    assert_eq!((server.asked().len(), &nodes(&program)[1]["result"]), (6, &json!("six")), "but later runs get what it gave");
    program.file("off.json", plan(&json!({"cache": "off"})).to_string());
    program.run(&["run", "off.json"]).code(0);
    assert_eq!(server.asked().len(), 8);
    program.run(&["branch", "last", "--at", "2", "--yes"]).code(0);
    assert_eq!(server.asked().len(), 10, "a branch goes its own way");
    program.file("bad.json", plan(&json!({"cache": "perhaps"})).to_string());
    program.run(&["run", "bad.json"]).code(3).says(&["write \"off\""]);
}

#[test]
fn a_file_that_an_agent_read_is_compared() {
    let read = || Reply::Calls(vec![("read_file".into(), json!({"path": "a.txt"}))]);
    let answer = |text: &str| Reply::Text(text.to_owned());
    let server = ChatServer::start(vec![read(), answer("it says one"), read(), answer("it says two")]);
    let program = Program::connected(&server).env("DAGDECK_CACHE", "on");
    program.file("a.txt", "one");
    settle();
    let node = json!({"id": "a", "role": "reader", "goal": "read", "objective": "read a.txt", "tools": ["read_file"]});
    program.file("p.json", json!({"goal": "read", "nodes": [node]}).to_string());
    program.run(&["run", "p.json"]).code(0);
    program.run(&["run", "p.json"]).code(0);
    let cached = &nodes(&program)[0];
    assert_eq!((server.asked().len(), &cached["private"]), (2, &json!(true)), "what was read stays private: {cached:#}");
    assert_eq!(cached["metadata"]["files_accessed"][0]["path"], "a.txt");
    program.file("a.txt", "two");
    settle();
    program.run(&["run", "p.json"]).code(0);
    assert_eq!((server.asked().len(), &nodes(&program)[0]["result"]), (4, &json!("it says two")));
    program.run(&["cache", "why"]).code(0);
    let why = program.run(&["cache", "why", "last", "a"]).out;
    assert!(why.contains("`a.txt`, which it read, is another now"), "{why}");
    program.configure("[permissions]\nask = [\"read_file\"]\n");
    program.run(&["run", "p.json", "--yes"]);
    assert!(server.asked().len() > 4, "what needs a yes now is not skipped");
}

#[test]
fn what_a_run_asks_for_twice_is_done_twice_and_each_is_kept_for_its_own() {
    let server = ChatServer::start(texts(&["red", "blue", "other"]));
    let program = Program::connected(&server).env("DAGDECK_CACHE", "on");
    let node = |id: &str, deps: Value| json!({"id": id, "role": "painter", "goal": "name", "objective": "a colour", "depends_on": deps, "context": "selected"});
    let after = json!({"id": "then", "code": "return 1", "depends_on": ["a"]});
    let mut second = node("b", json!([]));
    second["locks"] = json!(["one"]);
    let mut first = node("a", json!([]));
    first["locks"] = json!(["one"]);
    program.file("p.json", json!({"goal": "colours", "nodes": [first, second, after]}).to_string());
    for _ in 0..2 {
        program.run(&["run", "p.json"]).code(0);
        let results: Vec<Value> = nodes(&program).iter().map(|node| node["result"].clone()).collect();
        assert_eq!(results[..2], [json!("red"), json!("blue")]);
    }
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn failures_answers_of_people_and_cut_results_are_never_kept() {
    let server = ChatServer::start(vec![Reply::Text("a line".into())]);
    let program = Program::connected(&server).env("DAGDECK_CACHE", "on");
    program.file("fails.json", json!({"goal": "g", "nodes": [{"id": "a", "code": "throw new Error('no')"}]}).to_string());
    program.run(&["run", "fails.json"]).code(5);
    program.run(&["run", "fails.json"]).code(5);
    let time = json!({"goal": "g", "nodes": [{"id": "now", "code": "return Date.now()"}, {"id": "luck", "code": "return Math.random()"}]});
    program.file("time.json", time.to_string());
    program.run(&["run", "time.json"]).code(0);
    program.run(&["run", "--model", "operator", "time.json"]).code(0);
    assert_eq!(program.json(&["cache", "--json"]), json!([]), "none of these is worth it");
    let kept = json!({"goal": "g", "nodes": [{"id": "luck", "code": "return Math.random()", "cache": {"ttl_s": 600}}]});
    program.file("kept.json", kept.to_string());
    program.run(&["run", "kept.json"]).code(0);
    let luck = nodes(&program)[0]["result"].clone();
    program.run(&["run", "kept.json"]).code(0);
    assert_eq!(nodes(&program)[0]["result"], luck, "a plan that gives a time means it");
}

#[test]
fn the_list_says_what_is_kept_and_what_is_deleted_is_gone() {
    let server = ChatServer::start(texts(&["first", "second", "third", "fourth"]));
    let program = program(&server);
    program.run(&["cache"]).code(0).says(&["no result is kept yet"]);
    program.run(&["run", "p.json"]).code(0);
    program.run(&["run", "p.json"]).code(0);
    let list = program.json(&["cache", "--json"]);
    assert_eq!(list.as_array().unwrap().iter().map(|row| row["uses"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 1, 1], "{list:#}");
    let shown = program.run(&["cache"]).code(0);
    assert!(shown.out.contains("one (agent writer)") && shown.err.contains("3 results"), "{shown}");
    program.run(&["cache", "clear"]).code(0).says(&["deleted 3 cached results"]);
    program.run(&["run", "p.json"]).code(0);
    assert_eq!(server.asked().len(), 4);
    program.run(&["prune", "last", "--yes"]).code(0);
    assert_eq!(program.json(&["cache", "--json"]), json!([]), "a run that is deleted leaves nothing here");
    std::fs::write(
        program.home().join("state/cache.db"),
        "this is no database, but it is long enough to be read as the head of one, or is it?",
    )
    .unwrap();
    program.run(&["run", "p.json"]).code(0);
    program.run(&["run", "p.json"]).code(0);
    assert_eq!(server.asked().len(), 6, "a broken file costs work and nothing else");
}

#[test]
fn a_secret_in_a_cached_result_is_the_marked_piece_that_it_was() {
    let server = ChatServer::start(texts(&["the key is hunter2hunter2, keep it"]));
    let program = Program::connected(&server).env("DAGDECK_CACHE", "on").env("GARDEN_TOKEN", "hunter2hunter2");
    let node = json!({"id": "a", "role": "writer", "goal": "write", "objective": "a line"});
    program.file("p.json", json!({"goal": "g", "nodes": [node]}).to_string());
    program.run(&["run", "p.json"]).code(0);
    let made = nodes(&program);
    program.run(&["run", "p.json"]).code(0);
    let cached = nodes(&program);
    assert_eq!((server.asked().len(), &made[0]["result"]), (1, &cached[0]["result"]));
    for file in ["cache.db", "cache.db-wal"] {
        let raw = std::fs::read(program.home().join("state").join(file)).unwrap_or_default();
        assert!(!raw.windows(14).any(|bytes| bytes == b"hunter2hunter2"), "{file}");
    }
}

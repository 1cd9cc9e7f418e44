//! Servers of models that fail, refuse, break off or are not there.

use super::chat::{answer, failure, one_agent, refusal, run_agent, shown, text};
use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
    pty::Terminal,
};
use serde_json::json;

#[test]
fn a_rate_limit_is_waited_out_as_long_as_the_server_asks() {
    let server = ChatServer::start(vec![failure(429), text(one_agent("writer", "Say it.")), failure(429), text("Said.")]);
    let program = Program::connected(&server);
    program.run(&["run", "say it"]).code(0);
    assert_eq!(server.requests().len(), 4);
    assert_eq!(answer(&shown(&program))["result"], "Said.");
}

#[test]
fn a_server_that_fails_and_fails_is_given_up_with_its_words() {
    let server = ChatServer::start(vec![failure(500)]);
    let program = Program::connected(&server);
    let ended = run_agent(&program, "writer", &[]).code(5).says(&["(500)", "the engine is on fire", "hint: "]);
    assert_eq!(server.requests().len(), 1, "{ended}");
    program.run(&["plan", "say it"]).code(1).says(&["error: ", "(500)", "the engine is on fire", "hint: "]);
    let shown = program.run(&["show", "last", "answer"]).code(0);
    assert!(shown.out.contains("the engine is on fire") && shown.out.contains("hint: "), "{shown}");
}

#[test]
fn a_call_is_tried_as_often_as_its_node_has_attempts_and_each_try_is_on_record() {
    let run = |server: &ChatServer, attempts: u32, code: i32| {
        let program = Program::connected(server);
        let retry = json!({"attempts": attempts, "backoff_ms": 1});
        let plan = json!({"goal": "test", "nodes": [{"id": "answer", "agent": "writer", "objective": "Say it.", "retry": retry}]});
        let events = program.run(&["run", &program.file("plan.json", plan.to_string()), "--json"]).code(code).lines();
        let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!(of("node_started"), 1, "a failed call begins no new attempt");
        (server.requests().len(), of("model_sent"), of("model_try_failed"))
    };
    let wrong_key = || refusal(401, "invalid_api_key", "Incorrect API key");
    for (attempts, reply, sends) in [(3, failure(500), 3), (1, failure(500), 1), (3, wrong_key(), 1)] {
        assert_eq!(run(&ChatServer::start(vec![reply]), attempts, 5), (sends, sends, sends));
    }
    let flaky = ChatServer::start(vec![failure(503), Reply::Malformed, text("Back again.")]);
    assert_eq!(run(&flaky, 3, 0), (3, 3, 2));
}

#[test]
fn a_part_that_a_server_refuses_is_left_out_at_once_on_record_and_without_a_try() {
    let refused = refusal(400, "", "registry.ollama.ai/library/gemma3 does not support tools");
    let server = ChatServer::start(vec![refused, text("Said without them.")]);
    let program = Program::connected(&server);
    run_agent(&program, "writer", &[]).code(0);
    assert_eq!(server.requests().iter().map(|request| request["tools"].is_array()).collect::<Vec<_>>(), [true, false]);
    let events = program.run(&["replay", "last", "--events"]).code(0);
    let of = |words: &str| events.out.lines().filter(|line| line.contains(words)).count();
    assert_eq!((of("call sent"), of("sent again at once without tools: ")), (2, 1), "{events}");
}

#[test]
fn work_that_needs_tools_fails_at_once_where_the_server_refuses_them() {
    let refused = refusal(400, "", "registry.ollama.ai/library/gemma3 does not support tools");
    let server = ChatServer::start(vec![refused, text("never sent")]);
    let program = Program::connected(&server);
    let ended = run_agent(&program, "data_analyst", &[]).code(5);
    assert!(ended.err.contains("can't call tools, and this work needs them"), "{ended}");
    assert_eq!(server.requests().len(), 1, "{ended}");
    let events = program.run(&["replay", "last", "--events"]).code(0);
    assert_eq!(events.out.lines().filter(|line| line.contains("call sent")).count(), 1, "{events}");
}

#[test]
fn a_model_that_nobody_named_is_called_by_its_name_wherever_it_is_shown() {
    let server = ChatServer::start(vec![Reply::Cut("Half of an answer.".into())]);
    let program = Program::new().env("OPENAI_BASE_URL", &server.url).env("OPENAI_API_KEY", "sk-test");
    run_agent(&program, "writer", &[]).code(5);
    assert_eq!(answer(&shown(&program))["model"], "test-model");
    let events = program.run(&["replay", "last", "--events"]).code(0);
    assert!(events.out.contains("the only one that") && !events.out.contains("auto: "), "which, and why: {events}");
    assert!(events.out.contains("model call, ~"), "counted here: {events}");
    let header = |terminal: &Terminal| terminal.screen().lines().next().unwrap_or_default().to_owned();
    let server = ChatServer::start(vec![text(one_agent("writer", "Say it.")), text("Said.")]);
    let program = Program::new().env("OPENAI_BASE_URL", &server.url).env("OPENAI_API_KEY", "sk-test");
    let mut terminal = program.console((80, 24));
    terminal.sees("Type what you want").sees(" auto ").send("say something\r").sees("read the plan, then");
    assert!(header(&terminal).contains(" test-model "), "{}", terminal.screen());
    terminal.send("r").sees("Said.").sees("succeeded");
    assert!(header(&terminal).contains(" test-model "), "{}", terminal.screen());
}

#[test]
fn a_stream_that_is_cut_starts_again_and_nothing_of_the_first_part_stays() {
    let plan = one_agent("writer", "Say it.").to_string();
    let half = plan[..plan.len() - 20].to_owned();
    let server = ChatServer::start(vec![Reply::Cut(half), text(plan), Reply::Cut("Half of an ans".into()), text("A whole answer.")]);
    let program = Program::connected(&server);
    let ended = program.run(&["run", "say it"]).code(0).says(&["starting over"]);
    assert_eq!(ended.out, "A whole answer.\n");
    assert_eq!(shown(&program)["nodes"].as_array().unwrap().len(), 1);
}

#[test]
fn a_stream_that_is_always_cut_fails_with_words_that_say_so() {
    let program = Program::connected(&ChatServer::start(vec![Reply::Cut("Half of an ans".into())]));
    run_agent(&program, "writer", &[]).code(5).says(&["was cut off", "hint: "]);
}

#[test]
fn a_web_page_in_place_of_an_answer_points_at_the_address() {
    let program = Program::connected(&ChatServer::start(vec![Reply::Nonsense]));
    run_agent(&program, "writer", &[]).code(5).says(&["a web page", "OPENAI_BASE_URL"]);
    program.run(&["plan", "say it"]).code(1).says(&["a web page", "OPENAI_BASE_URL"]);
}

#[test]
fn words_in_place_of_a_plan_are_asked_for_again_and_at_last_told() {
    let program = Program::connected(&ChatServer::start(vec![text("Sure! First I would think about it.")]));
    program.run(&["plan", "say it"]).code(1).says(&["text instead of JSON", "Sure! First I would think about it.", "hint: "]);
}

#[test]
fn a_server_that_never_answers_is_left_after_the_configured_time() {
    let hanging = Program::connected(&ChatServer::start(vec![Reply::Hang]));
    hanging.configure("[models.timeouts]\nfirst_s = 0.2\n");
    run_agent(&hanging, "writer", &[]).code(5).says(&["did not answer within 0.2 s", "[models.timeouts]"]);
    hanging.run(&["plan", "say it"]).code(1).says(&["did not answer within 0.2 s"]);

    let stalling = Program::connected(&ChatServer::start(vec![Reply::Stall("So far".into())]));
    stalling.configure("[models.timeouts]\nbetween_s = 0.2\n");
    run_agent(&stalling, "writer", &[]).code(5).says(&["stopped in the middle of its answer for 0.2 s"]);
}

#[test]
fn refusals_say_what_to_do() {
    let cases: [(Reply, &[&str]); 4] = [
        (refusal(401, "invalid_api_key", "Incorrect API key provided."), &["refused the key", "check OPENAI_API_KEY"]),
        (refusal(404, "model_not_found", "The model `test-model` does not exist"), &["has no model `test-model`", "`dagdeck models`"]),
        (
            refusal(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens."),
            &["too long for `test-model`", "8192 tokens", "less context"],
        ),
        (refusal(429, "insufficient_quota", "You exceeded your current quota."), &["quota", "billing"]),
    ];
    for (reply, words) in cases {
        let server = ChatServer::start(vec![reply]);
        let program = Program::connected(&server);
        run_agent(&program, "writer", &[]).code(5).says(words);
        assert_eq!(server.requests().len(), 1, "asking again helps nobody: {words:?}");
        program.run(&["plan", "say it"]).code(1).says(words).says(&["error: ", "hint: "]);
    }
}

#[test]
fn a_server_without_a_key_that_wants_one_says_which_variable_to_set() {
    let server = ChatServer::start(vec![refusal(401, "", "Missing bearer authentication")]);
    let program = Program::new().env("OPENAI_BASE_URL", &server.url);
    run_agent(&program, "writer", &[]).code(5).says(&["needs a key", "set OPENAI_API_KEY"]);
    assert_eq!(server.asked()[0].authorization, "");
    assert_eq!(server.requests()[0]["model"], "test-model", "without a name the server's own model is used");
}

#[test]
fn no_route_names_the_host_and_the_variable() {
    // A port that was free a moment ago: nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("http://127.0.0.1:{port}/v1");
    let program = Program::new().env("OPENAI_BASE_URL", &address).env("OPENAI_MODEL", "test-model");
    let host = format!("can't reach `127.0.0.1:{port}`");
    run_agent(&program, "writer", &[]).code(5).says(&[&host, "refused", "OPENAI_BASE_URL"]);
    // Another model heals the run, and who chose it is on record.
    program.run(&["retry", "answer", "--model", "operator"]).code(7);
    assert!(program.run(&["replay", "--events"]).code(0).out.contains("from here on the model is operator"));
    program.run(&["models"]).code(1).says(&[&host, "hint: "]);
    let doctor = program.run(&["doctor"]).code(1);
    assert!(doctor.out.contains("BROKEN  model") && doctor.out.contains(&host), "{doctor}");
}

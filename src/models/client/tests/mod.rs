//! The client against a server that plays what real ones were seen to do.

mod errors;
mod keys;
mod listing;
mod providers;
mod server;

use serde_json::{Value, json};
use std::time::Duration;

use self::server::{Reply, ServerScript, piece};
use super::*;
use crate::engine::TokenUsage;
use crate::models::{CallRequest, ChatMessage, ModelSettings, OutputSchema, ToolOffer};

fn limits() -> CallLimits {
    CallLimits {
        connect: Duration::from_secs(60),
        first: Duration::from_secs(60),
        between: Duration::from_secs(60),
        overall: Duration::from_secs(120),
    }
}

fn client(address: &str, limits: CallLimits) -> ModelClient {
    let server = Server {
        base: address.parse().unwrap(),
        address_from: "OPENAI_BASE_URL".into(),
        key: ApiKey::Given(SecretString::from("sk-secret")),
        key_from: "OPENAI_API_KEY".into(),
        limits,
        traits: ServerTraits::default(),
        small: None,
    };
    ModelClient::new(server, Knowledge::default()).unwrap()
}

fn request() -> ChatRequest {
    ChatRequest { model: "m".into(), messages: vec![ChatMessage::User { content: "hi".into() }], ..ChatRequest::default() }
}

fn with_schema() -> ChatRequest {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false});
    ChatRequest { schema: Some(OutputSchema { name: "answer".into(), schema }), ..request() }
}

/// What a call gave, with what was streamed, and the server afterwards.
struct Exchange {
    outcome: Result<ChatAnswer, ModelError>,
    deltas: Vec<Delta>,
    script: ServerScript,
}

async fn chat(replies: Vec<Reply>, limits: CallLimits, request: &ChatRequest) -> Exchange {
    let script = ServerScript::play(replies).await;
    let mut deltas = Vec::new();
    let outcome = client(&script.address, limits).chat(request, &mut |delta| deltas.push(delta)).await;
    Exchange { outcome, deltas, script }
}

async fn error_of(replies: Vec<Reply>) -> ModelError {
    chat(replies, limits(), &request()).await.outcome.unwrap_err()
}

fn refused(message: &str, code: Value) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "code": code}})
}

#[tokio::test]
async fn text_is_streamed_and_usage_is_the_servers() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    let stop = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let exchange = chat(vec![Reply::done(&[piece("Hel"), piece("lo"), stop, usage])], limits(), &request()).await;
    let reply = exchange.outcome.unwrap();
    assert_eq!(exchange.deltas, [Delta::Text("Hel".into()), Delta::Text("lo".into())]);
    assert_eq!((reply.text.as_str(), reply.usage, reply.estimated), ("Hello", TokenUsage::of(9, 2), false));
    let seen = &exchange.script.seen()[0];
    assert!(seen.head.starts_with("post /v1/chat/completions"), "{}", seen.head);
    assert!(seen.head.contains("authorization: bearer sk-secret"));
    assert_eq!(seen.body["stream_options"]["include_usage"], true);
}

#[tokio::test]
async fn tool_calls_are_offered_and_answered() {
    let call = json!({"choices": [{"delta": {"content": null, "tool_calls": [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\":1}"}},
        {"index": 1, "id": null, "function": {"name": "sub", "arguments": ""}}]}, "finish_reason": "stop"}]});
    let mut request = request();
    request.tools.push(ToolOffer { name: "add".into(), description: "adds".into(), parameters: json!({"type": "object"}) });
    let exchange = chat(vec![Reply::done(&[call])], limits(), &request).await;
    let reply = exchange.outcome.unwrap();
    let call = |id: &str, name: &str, arguments: &str| CallRequest {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        signature: None,
    };
    assert_eq!(reply.calls, [call("c1", "add", "{\"a\":1}"), call("call_2", "sub", "{}")]);
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(exchange.script.seen()[0].body["tools"][0]["function"]["name"], "add");
}

#[tokio::test]
async fn a_call_is_sent_once_and_its_error_says_whether_another_try_can_help() {
    for status in [429, 500, 503, 408, 425] {
        let busy = Reply::json(status, &json!({"error": {"message": "boom", "code": null}}));
        let exchange = chat(vec![busy, Reply::text("ok")], limits(), &request()).await;
        let error = exchange.outcome.unwrap_err();
        assert_eq!((error.verdict, exchange.script.seen().len()), (TryVerdict::Again, 1), "{status}");
        assert!(error.message.contains("boom") && error.message.contains(&status.to_string()), "{error}");
    }
}

#[tokio::test]
async fn what_a_server_asks_to_wait_is_read_in_all_its_forms() {
    for (header, ms) in [
        ("retry-after: 0", 0),
        ("retry-after: Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("retry-after-ms: 1", 1),
        ("llm_provider-retry-after: 0", 0),
    ] {
        let error = error_of(vec![Reply::json(429, &json!({"error": {"message": "slow down"}})).header(header)]).await;
        assert_eq!(error.verdict, TryVerdict::After { ms }, "{header}");
    }
    for (busy, ms) in [
        (Reply::json(429, &json!({"error": "slow down"})).header("retry-after: 120"), 120_000),
        (Reply::json(503, &json!({"error": "overloaded"})).header("llm_provider-retry-after: 90"), 90_000),
        (Reply::json(429, &json!({"error": {"message": "Rate limit reached. Please try again in 7m12.5s."}})), 432_500),
        (Reply::done(&[json!({"error": {"message": "rate limit: please retry in 61s", "code": "rate_limit_exceeded"}})]), 61_000),
    ] {
        let error = error_of(vec![busy]).await;
        assert_eq!(error.verdict, TryVerdict::After { ms }, "{error}");
    }
}

#[tokio::test]
async fn other_refusals_are_never_repeated_and_say_what_to_do() {
    let cases = [
        (401, refused("Incorrect API key provided: sk-secret", json!("invalid_api_key")), ModelErrorKind::WrongKey, "OPENAI_API_KEY"),
        (403, json!({"error": "forbidden"}), ModelErrorKind::WrongKey, "OPENAI_API_KEY"),
        (400, refused("API key not valid", json!(400)), ModelErrorKind::WrongKey, "OPENAI_API_KEY"),
        (
            400,
            json!({"error": {"message": "No connected db.", "type": "no_db_connection", "code": "400"}}),
            ModelErrorKind::WrongKey,
            "OPENAI_API_KEY",
        ),
        (400, refused("maximum context length is 8192 tokens", json!(null)), ModelErrorKind::ContextTooLong, "less context"),
        (404, json!({"detail": "Not Found"}), ModelErrorKind::BadRequest, "/v1"),
        (400, refused("messages: empty", json!(null)), ModelErrorKind::BadRequest, "prompt"),
        (429, refused("You exceeded your quota", json!("insufficient_quota")), ModelErrorKind::RateLimit, "billing"),
        (402, refused("Insufficient Balance", json!("invalid_request_error")), ModelErrorKind::RateLimit, "billing"),
        (422, json!({"detail": [{"msg": "field required"}]}), ModelErrorKind::BadRequest, "prompt"),
    ];
    for (status, body, kind, hint) in cases {
        let exchange = chat(vec![Reply::json(status, &body)], limits(), &request()).await;
        let error = exchange.outcome.unwrap_err();
        assert_eq!((error.kind, error.verdict), (kind, TryVerdict::Never), "{error}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{error:?}");
        assert!(!error.message.contains("sk-secret"), "{error}");
        assert_eq!(exchange.script.seen().len(), 1, "{error}");
    }
}

#[tokio::test]
async fn without_a_key_a_refusal_says_which_one_to_set() {
    let script = ServerScript::play(vec![Reply::json(401, &json!({"error": "who are you"}))]).await;
    let server = Server {
        base: script.address.parse().unwrap(),
        address_from: "OPENAI_BASE_URL".into(),
        key: ApiKey::None,
        key_from: "OPENAI_API_KEY".into(),
        limits: limits(),
        traits: ServerTraits::default(),
        small: None,
    };
    let error = ModelClient::new(server, Knowledge::default()).unwrap().chat(&request(), &mut |_| ()).await.unwrap_err();
    assert_eq!((error.kind, error.hint.as_deref()), (ModelErrorKind::NoKey, Some("set OPENAI_API_KEY")));
    assert!(!script.seen()[0].head.contains("authorization"));
}

#[tokio::test]
async fn a_stream_that_ends_early_is_no_answer_and_may_be_tried_again() {
    let half = || Reply::stream(&[piece("This sen")]);
    for reply in [half(), half().then_cut(), Reply::done(&[])] {
        let error = error_of(vec![reply]).await;
        assert_eq!((error.kind, error.verdict), (ModelErrorKind::CutStream, TryVerdict::Again), "{error}");
    }
}

#[tokio::test]
async fn broken_and_rejected_answers_carry_what_the_server_counted() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    let exchange = chat(vec![Reply::stream(&[piece("This sen"), usage.clone()]).then_cut()], limits(), &request()).await;
    assert_eq!(exchange.outcome.unwrap_err().usage, Some(TokenUsage::of(9, 2)));
    let sure = || Reply::done(&[piece("Sure!"), usage.clone()]);
    let exchange = chat(vec![sure(), sure()], limits(), &with_schema()).await;
    assert_eq!(exchange.outcome.unwrap_err().usage, Some(TokenUsage::of(18, 4)));
    let exchange = chat(vec![sure(), Reply::done(&[piece("{\"a\": 1}"), usage])], limits(), &with_schema()).await;
    assert_eq!(exchange.outcome.unwrap().usage, TokenUsage::of(18, 4));
}

#[tokio::test]
async fn a_connection_that_can_not_be_made_secure_is_never_tried_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/v1", listener.local_addr().unwrap());
    // A server without TLS answers the greeting in clear text.
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut socket, b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    });
    let error = client(&address, limits()).chat(&request(), &mut |_| ()).await.unwrap_err();
    assert_eq!((error.kind, error.verdict), (ModelErrorKind::NoRoute, TryVerdict::Never), "{error}");
    assert!(error.message.contains("secure"), "{error}");
}

#[tokio::test]
async fn done_or_a_reason_to_stop_is_enough_of_an_end() {
    let exchange = chat(vec![Reply::done(&[piece("a")])], limits(), &request()).await;
    assert_eq!(exchange.outcome.unwrap().text, "a");
    let stop = json!({"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]});
    let exchange = chat(vec![Reply::stream(&[stop]).then_cut()], limits(), &request()).await;
    assert_eq!(exchange.outcome.unwrap().text, "b");
}

#[tokio::test]
async fn an_error_inside_a_stream_is_an_error() {
    let inside = |error: Value| vec![Reply::stream(&[piece("Once"), json!({"error": error})])];
    let error = error_of(inside(json!({"message": "Incorrect API key", "code": "401"}))).await;
    assert_eq!(error.kind, ModelErrorKind::WrongKey);
    let flaky = inside(json!({"message": "litellm.MidStreamFallbackError", "type": null, "code": "500"}));
    let error = error_of(flaky).await;
    assert!(error.verdict == TryVerdict::Again && error.message.contains("MidStreamFallback"), "{error}");
    for words in ["the quota", "rate limit"] {
        assert_eq!(error_of(inside(json!(words))).await.kind, ModelErrorKind::RateLimit);
    }
}

#[tokio::test]
async fn nonsense_is_called_nonsense() {
    let html = "<html><body>Welcome to nginx</body></html>";
    for reply in [
        Reply::raw(200, "content-type: text/html\r\n", html),
        Reply::json(200, &json!({"hello": "world"})),
        Reply::json(200, &json!(["x"])),
        Reply::raw(200, "content-type: application/json\r\n", "{\"choices\": "),
    ] {
        let error = error_of(vec![reply]).await;
        assert_eq!(error.kind, ModelErrorKind::Nonsense, "{error}");
        assert!(error.hint.is_some_and(|hint| hint.contains("OPENAI_BASE_URL")));
    }
    let broken = Reply::raw(200, "content-type: text/event-stream\r\n", "data: {\"choices\": [{]\n\n");
    let error = error_of(vec![broken]).await;
    assert_eq!((error.kind, error.verdict), (ModelErrorKind::Nonsense, TryVerdict::Again));
    let error = error_of(vec![Reply::raw(404, "content-type: text/html\r\n", html)]).await;
    assert!(!error.message.contains("nginx") && error.hint.is_some_and(|hint| hint.contains("/v1")));
}

#[tokio::test]
async fn a_whole_completion_in_place_of_a_stream_is_an_answer() {
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}], "usage": null});
    let exchange = chat(vec![Reply::json(200, &whole)], limits(), &request()).await;
    let reply = exchange.outcome.unwrap();
    assert_eq!((reply.text.as_str(), reply.estimated), ("hi", true));
    assert_eq!(exchange.deltas, [Delta::Text("hi".into())]);
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let short = Duration::from_millis(40);
    let impatient = CallLimits { first: short, ..limits() };
    for reply in [Reply::silence(), Reply::stream(&[]).then_hang()] {
        let error = chat(vec![reply], impatient.clone(), &request()).await.outcome.unwrap_err();
        assert_eq!((error.kind, error.verdict), (ModelErrorKind::Timeout, TryVerdict::Again), "{error}");
        assert!(error.message.contains("0.04 s"), "{error}");
    }
    let exchange = chat(vec![Reply::stream(&[piece("Once")]).then_hang()], CallLimits { between: short, ..limits() }, &request()).await;
    assert_eq!(exchange.outcome.unwrap_err().kind, ModelErrorKind::Timeout);
    let exchange = chat(vec![Reply::silence()], CallLimits { overall: short, ..limits() }, &request()).await;
    assert!(exchange.outcome.unwrap_err().hint.is_some_and(|hint| hint.contains("overall_s")));
}

#[tokio::test]
async fn a_server_that_hangs_after_its_answer_is_not_waited_for() {
    let stop = json!({"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}});
    let exchange = chat(vec![Reply::stream(&[stop.clone(), usage]).then_hang()], limits(), &request()).await;
    assert!(!exchange.outcome.unwrap().estimated);
    let short = CallLimits { between: Duration::from_millis(40), ..limits() };
    let exchange = chat(vec![Reply::stream(&[stop]).then_hang()], short, &request()).await;
    assert!(exchange.outcome.unwrap().estimated);
}

#[tokio::test]
async fn no_server_means_no_route_and_names_the_host_and_the_variable() {
    // Bound, then dropped: nobody listens there.
    let address = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = client(&format!("http://{address}/v1"), limits()).chat(&request(), &mut |_| ()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::NoRoute);
    assert!(error.message.contains(&address.to_string()) && error.message.contains("refused"), "{error}");
    assert!(error.hint.is_some_and(|hint| hint.contains("OPENAI_BASE_URL")));
}

#[tokio::test]
async fn a_refused_schema_is_asked_for_in_a_looser_way_and_that_is_remembered() {
    let refusal = || Reply::json(400, &refused("Unsupported: response_format", json!(null)));
    let answer = || Reply::text("{\"a\": 1}");
    let script = ServerScript::play(vec![refusal(), refusal(), answer(), answer()]).await;
    let client = client(&script.address, limits());
    for _ in 0..2 {
        assert_eq!(client.chat(&with_schema(), &mut |_| ()).await.unwrap().text, "{\"a\": 1}");
    }
    let formats: Vec<Value> = script.seen().iter().map(|seen| seen.body["response_format"]["type"].clone()).collect();
    assert_eq!(formats, [json!("json_schema"), json!("json_object"), Value::Null, Value::Null]);
}

#[tokio::test]
async fn an_answer_that_ignores_the_schema_is_asked_for_again_in_words() {
    let exchange = chat(vec![Reply::text("Sure!"), Reply::text("```json\n{\"a\": 1}\n```")], limits(), &with_schema()).await;
    assert_eq!(exchange.outcome.unwrap().text, "{\"a\": 1}");
    assert!(exchange.deltas.iter().any(|delta| matches!(delta, Delta::Restart { .. })));
    assert_eq!(exchange.script.seen()[1].body["messages"][0]["role"], "system");
    let exchange = chat((0..2).map(|_| Reply::text("Sure!")).collect(), limits(), &with_schema()).await;
    assert_eq!(exchange.outcome.unwrap_err().kind, ModelErrorKind::Nonsense);
}

#[tokio::test]
async fn json_that_is_cut_at_the_cap_or_filtered_is_no_answer() {
    let end = |reason: &str| Reply::done(&[json!({"choices": [{"delta": {"content": "{\"a\": "}, "finish_reason": reason}]})]);
    let error = chat(vec![end("length")], limits(), &with_schema()).await.outcome.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Nonsense);
    assert!(error.hint.is_some_and(|hint| hint.contains("max_tokens")));
    let error = chat(vec![end("content_filter")], limits(), &with_schema()).await.outcome.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Refused);
    let reply = chat(vec![end("length")], limits(), &request()).await.outcome.unwrap();
    assert_eq!(reply.finish, Finish::Length);
}

#[tokio::test]
async fn a_refusal_of_the_model_is_shown_as_it_wrote_it() {
    let refusal = json!({"choices": [{"delta": {"refusal": "I can't help with that."}, "finish_reason": "stop"}]});
    let error = error_of(vec![Reply::done(&[refusal])]).await;
    assert_eq!(error.kind, ModelErrorKind::Refused);
    assert!(error.message.contains("I can't help with that."));
}

#[tokio::test]
async fn a_refused_limit_of_the_answer_is_asked_for_as_the_server_says() {
    let settings = ModelSettings { max_tokens: Some(6000), ..ModelSettings::default() };
    let request = ChatRequest { settings, ..request() };
    for (message, sent) in [
        ("max_tokens is too large: 6000. This model supports at most 4096 completion tokens, whereas you provided 6000.", json!(4096)),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 8256 tokens (2256 in the messages, 6000 in the completion).",
            json!(5936),
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 6000. This model's maximum context length is 2048 tokens and your request has 48 input tokens (6000 > 2048 - 48). None",
            json!(2000),
        ),
        ("max_tokens: 6000 > 4000, which is the maximum allowed number of output tokens for m", json!(4000)),
        ("Unrecognized request argument supplied: max_tokens", Value::Null),
    ] {
        let replies = vec![Reply::json(400, &refused(message, json!(null))), Reply::text("ok")];
        let exchange = chat(replies, limits(), &request).await;
        let reply = exchange.outcome.unwrap();
        assert_eq!(exchange.script.seen()[1].body["max_tokens"], sent, "{message}");
        assert_eq!(reply.notes.len(), usize::from(sent.is_null()), "{:?}", reply.notes);
    }
    let of_window = Reply::json(400, &refused("This model's maximum context length is 4096 tokens", json!("context_length_exceeded")));
    let exchange = chat(vec![of_window, Reply::text("ok")], limits(), &request).await;
    exchange.outcome.unwrap();
    let left = exchange.script.seen()[1].body["max_tokens"].as_u64().unwrap();
    assert!((4000..4096).contains(&left), "{left}");
    let long = "This model's maximum context length is 8192 tokens. However, you requested 15000 tokens (9000 in the messages, 6000 in the completion).";
    let exchange = chat(vec![Reply::json(400, &refused(long, json!(null)))], limits(), &request).await;
    assert_eq!(exchange.outcome.unwrap_err().kind, ModelErrorKind::ContextTooLong);
}

#[tokio::test]
async fn a_limit_that_nobody_asked_for_is_sent_only_where_the_model_writes_less_than_there_is_room_for() {
    for (model, sent) in [("m", Value::Null), ("gpt-4o-2024-08-06", json!(16_384)), ("gpt-4", Value::Null)] {
        let script = ServerScript::play(vec![Reply::text("ok")]).await;
        let knowledge = Knowledge { prices: Arc::new(Prices::shipped()), ..Knowledge::default() };
        let client = ModelClient { knowledge, ..client(&script.address, limits()) };
        client.chat(&ChatRequest { model: model.into(), ..request() }, &mut |_| ()).await.unwrap();
        assert_eq!(script.seen()[0].body["max_tokens"], sent, "{model}");
    }
}

#[tokio::test]
async fn a_limit_that_was_asked_for_leaves_room_for_the_prompt() {
    let script = ServerScript::play(vec![Reply::text("ok")]).await;
    let knowledge = Knowledge { prices: Arc::new(Prices::shipped()), ..Knowledge::default() };
    let client = ModelClient { knowledge, ..client(&script.address, limits()) };
    let settings = ModelSettings { max_tokens: Some(8192), ..ModelSettings::default() };
    let messages = vec![ChatMessage::User { content: "word ".repeat(4_000) }];
    client.chat(&ChatRequest { model: "gpt-4".into(), messages, settings, ..request() }, &mut |_| ()).await.unwrap();
    assert!(script.seen()[0].body["max_tokens"].as_u64().unwrap() < 4_192, "{}", script.seen()[0].body["max_tokens"]);
}

#[tokio::test]
async fn refused_tools_are_left_out_with_a_note_unless_they_are_needed_and_that_outlives_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let tools = vec![ToolOffer { name: "add".into(), description: "adds".into(), parameters: json!({"type": "object"}) }];
    let request = ChatRequest { tools, ..request() };
    let refusal = Reply::json(
        400,
        &json!({"error": {"message": "registry.ollama.ai/library/m does not support tools", "type": "api_error", "param": null, "code": null}}),
    );
    let script =
        ServerScript::play(vec![refusal.clone(), Reply::text("a"), Reply::text("b"), refusal, Reply::text("c"), Reply::text("d")]).await;
    for sends in [2, 3] {
        let knowledge = Knowledge { learned: Arc::new(Learned::open(folder.path())), ..Knowledge::default() };
        let client = ModelClient { knowledge, ..client(&script.address, limits()) };
        let reply = client.chat(&request, &mut |_| ()).await.unwrap();
        assert!(reply.notes[0].contains("can't call tools"), "{:?}", reply.notes);
        assert_eq!((script.seen().len(), script.seen()[sends - 1].body.get("tools")), (sends, None));
    }
    let knowledge = Knowledge { learned: Arc::new(Learned::open(folder.path())), ..Knowledge::default() };
    let client = ModelClient { knowledge, ..client(&script.address, limits()) };
    let needing = ChatRequest { needs_tools: true, ..request.clone() };
    let mut otherwise = 0;
    let error = client.chat(&needing, &mut |delta| otherwise += u32::from(matches!(delta, Delta::Otherwise { .. }))).await.unwrap_err();
    assert_eq!((error.verdict, script.seen().len(), otherwise), (TryVerdict::Never, 4, 0), "{error}");
    client.chat(&needing, &mut |_| ()).await.unwrap();
    assert!(client.chat(&request, &mut |_| ()).await.unwrap().notes.is_empty(), "the server has been given tools since");
    assert!(script.seen()[4..].iter().all(|seen| seen.body.get("tools").is_some()));
}

#[tokio::test]
async fn a_cost_that_the_server_says_and_the_name_that_it_answers_with_are_kept() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "cost": 0.25, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 1}});
    let chunk = json!({"model": "m-2024", "choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}], "usage": usage});
    let reply = chat(vec![Reply::done(&[chunk])], limits(), &request()).await.outcome.unwrap();
    assert_eq!((reply.cost_usd, reply.model.as_str()), (Some(0.25), "m-2024"));
    assert_eq!(reply.usage, TokenUsage { cached: 4, reasoning: 1, ..TokenUsage::of(10, 2) });
    for (header, cost) in
        [("x-litellm-response-cost: 0.5", Some(0.5)), ("x-litellm-response-cost: 0.0", None), ("server: llama.cpp", Some(0.0))]
    {
        let reply = chat(vec![Reply::text("x").header(header)], limits(), &request()).await.outcome.unwrap();
        assert_eq!(reply.cost_usd, cost, "{header}");
    }
}

#[tokio::test]
async fn thinking_is_never_part_of_the_answer() {
    let thought = json!({"choices": [{"delta": {"reasoning": "hm"}}]});
    let exchange = chat(vec![Reply::done(&[thought, piece("<think>2"), piece("</think>\n\n4")])], limits(), &request()).await;
    assert_eq!(exchange.outcome.unwrap().text, "4");
    assert_eq!(exchange.deltas, [Delta::Reasoning("hm".into()), Delta::Reasoning("2".into()), Delta::Text("4".into())]);
}

#[tokio::test]
async fn parts_that_a_server_does_not_know_are_left_out() {
    let replies = vec![
        Reply::json(400, &refused("Unrecognized request argument supplied: stream_options", json!(null))),
        Reply::json(400, &refused("Unsupported parameter: use 'max_completion_tokens' instead", json!("unsupported_parameter"))),
        Reply::json(400, &refused("'temperature' does not support 0.0 with this model", json!("unsupported_value"))),
        Reply::text("ok"),
    ];
    let settings = ModelSettings { temperature: Some(0.0), max_tokens: Some(5), ..ModelSettings::default() };
    let exchange = chat(replies, limits(), &ChatRequest { settings, ..request() }).await;
    assert!(exchange.outcome.unwrap().estimated);
    let last = &exchange.script.seen()[3].body;
    assert_eq!((last.get("stream_options"), last.get("temperature"), &last["max_completion_tokens"]), (None, None, &json!(5)));
}

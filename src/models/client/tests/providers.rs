//! The forms of Anthropic, Gemini and OpenRouter.

use super::*;

fn messages_of(script: &ServerScript) -> ModelClient {
    let traits = ServerTraits { api: Api::Anthropic, auth: Auth::XApiKey, ..ServerTraits::default() };
    ModelClient { traits, ..client(&script.address, limits()) }
}

#[tokio::test]
async fn anthropics_messages_are_spoken_with_their_own_headers() {
    let events = [
        json!({"type": "message_start", "message": {"model": "claude-x-1", "usage": {"input_tokens": 7, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ];
    let script = ServerScript::play(vec![Reply::stream(&events)]).await;
    let reply = messages_of(&script).chat(&request(), &mut |_| ()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage, reply.model.as_str()), ("hi", TokenUsage::of(7, 3), "claude-x-1"));
    let seen = &script.seen()[0];
    assert!(seen.head.starts_with("post /v1/messages ") && seen.head.contains("x-api-key: sk-secret"), "{}", seen.head);
    assert!(seen.head.contains("anthropic-version: 2023-06-01") && !seen.head.contains("authorization"));
    assert_eq!(seen.body["max_tokens"], 4096);
}

#[tokio::test]
async fn anthropics_errors_are_sorted_by_what_they_say() {
    let error = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
    let start = json!({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 7, "output_tokens": 1}}});
    let overloaded = || error("overloaded_error", "Overloaded");
    for (reply, kind, again) in [
        (Reply::json(529, &overloaded()), ModelErrorKind::Server, true),
        (Reply::stream(&[start.clone(), overloaded()]), ModelErrorKind::Server, true),
        (Reply::stream(&[start, error("rate_limit_error", "slow down")]), ModelErrorKind::RateLimit, true),
        (Reply::json(401, &error("authentication_error", "invalid x-api-key")), ModelErrorKind::WrongKey, false),
        (
            Reply::json(400, &error("invalid_request_error", "Your credit balance is too low to access the Anthropic API")),
            ModelErrorKind::RateLimit,
            false,
        ),
        (
            Reply::json(400, &error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
            ModelErrorKind::ContextTooLong,
            false,
        ),
    ] {
        let script = ServerScript::play(vec![reply]).await;
        let error = messages_of(&script).chat(&request(), &mut |_| ()).await.unwrap_err();
        assert_eq!((error.kind, error.verdict == TryVerdict::Again), (kind, again), "{error}");
    }
}

fn gemini(script: &ServerScript) -> ModelClient {
    let traits = ServerTraits::default().speaking(Api::Gemini);
    ModelClient { traits, ..client(&script.address, limits()) }
}

#[tokio::test]
async fn geminis_own_form_is_spoken_with_its_own_header_and_ends_where_it_says_why() {
    let part =
        |text: &str| json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}], "modelVersion": "gemini-x-1"});
    let mut last = part("lo");
    last["candidates"][0]["finishReason"] = json!("STOP");
    last["usageMetadata"] = json!({"promptTokenCount": 7, "candidatesTokenCount": 3});
    let script = ServerScript::play(vec![Reply::stream(&[part("hel"), last]), Reply::stream(&[part("hel")])]).await;
    let reply = gemini(&script).chat(&request(), &mut |_| ()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage, reply.model.as_str()), ("hello", TokenUsage::of(7, 3), "gemini-x-1"));
    let seen = &script.seen()[0];
    assert!(seen.head.starts_with("post /v1/models/m:streamgeneratecontent?alt=sse "), "{}", seen.head);
    assert!(seen.head.contains("x-goog-api-key: sk-secret") && !seen.head.contains("authorization"), "{}", seen.head);
    assert_eq!(seen.body["contents"][0]["role"], "user");
    let error = gemini(&script).chat(&request(), &mut |_| ()).await.unwrap_err();
    assert_eq!((error.kind, error.verdict), (ModelErrorKind::CutStream, TryVerdict::Again));
}

#[tokio::test]
async fn geminis_errors_are_sorted_by_what_they_say() {
    let error = |code: u16, status: &str, message: &str| json!({"error": {"code": code, "message": message, "status": status}});
    let mut limited = error(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
    );
    limited["error"]["details"] = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]);
    let overloaded = || error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.");
    for (reply, kind, verdict) in [
        (
            Reply::json(400, &error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")),
            ModelErrorKind::WrongKey,
            TryVerdict::Never,
        ),
        (Reply::json(429, &limited), ModelErrorKind::RateLimit, TryVerdict::After { ms: 34_000 }),
        (Reply::json(503, &overloaded()), ModelErrorKind::Server, TryVerdict::Again),
        (Reply::stream(&[overloaded()]), ModelErrorKind::Server, TryVerdict::Again),
        (
            Reply::json(
                404,
                &error(404, "NOT_FOUND", "models/m is not found for API version v1beta, or is not supported for generateContent."),
            ),
            ModelErrorKind::UnknownModel,
            TryVerdict::Never,
        ),
        (
            Reply::json(
                400,
                &error(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575)."),
            ),
            ModelErrorKind::ContextTooLong,
            TryVerdict::Never,
        ),
        (Reply::stream(&[json!({"promptFeedback": {"blockReason": "SAFETY"}})]), ModelErrorKind::Refused, TryVerdict::Never),
        (Reply::stream(&[json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]})]), ModelErrorKind::Server, TryVerdict::Again),
    ] {
        let script = ServerScript::play(vec![reply, Reply::json(404, &json!({}))]).await;
        let error = gemini(&script).chat(&request(), &mut |_| ()).await.unwrap_err();
        assert_eq!((error.kind, error.verdict), (kind, verdict), "{error}");
    }
}

#[tokio::test]
async fn what_gemini_lists_for_other_work_than_answers_is_left_out() {
    let list = json!({"models": [
        {"name": "models/gemini-x", "supportedGenerationMethods": ["generateContent", "countTokens"]},
        {"name": "models/embedding-1", "supportedGenerationMethods": ["embedContent"]},
    ]});
    let script = ServerScript::play(vec![Reply::json(200, &list)]).await;
    assert_eq!(gemini(&script).list().await.unwrap(), ["gemini-x"]);
    assert!(script.seen()[0].head.starts_with("get /v1/models?pagesize=1000 "));
}

#[tokio::test]
async fn openrouter_is_asked_for_the_answer_that_the_credits_pay_for() {
    let refusal = |left: u32| {
        let message = format!(
            "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford {left}."
        );
        Reply::json(402, &json!({"error": {"message": message, "code": 402, "metadata": {"provider_name": null}}}))
    };
    let exchange = chat(vec![refusal(3395), Reply::text("ok")], limits(), &request()).await;
    assert_eq!((exchange.outcome.unwrap().text.as_str(), &exchange.script.seen()[1].body["max_tokens"]), ("ok", &json!(3395)));
    for refusals in [vec![refusal(95)], vec![refusal(3395), refusal(3395)]] {
        let exchange = chat(refusals, limits(), &request()).await;
        assert_eq!(exchange.outcome.unwrap_err().verdict, TryVerdict::Never);
    }
}

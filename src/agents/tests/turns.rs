//! Turns: calls and their results, answers, schemas, routes, errors.

use super::*;

#[tokio::test]
async fn an_answer_is_streamed_reported_and_is_the_result() {
    let stage = AgentStage::new(vec![text("All is well.")]).depends_on(&[("a", json!("found"))]);
    assert_eq!(stage.run().await, plain(json!("All is well.")));
    assert_eq!(*stage.desk.output.lock().unwrap(), "All is well.");
    let log = stage.desk.log.lock().unwrap().clone();
    assert!(log[0].contains("Your role: a clerk."));
    assert!(log[1].contains("[a]: found") && log[1].starts_with("user: Do it.\n\nResults of"));
    assert_eq!(log[2], "assistant: All is well.");
    let calls = stage.desk.calls.lock().unwrap();
    assert_eq!((calls.len(), calls[0].usage.total(), calls[0].finish.as_str()), (1, 100, "stop"));
}

#[tokio::test]
async fn results_of_tools_go_back_until_the_model_answers() {
    let stage = AgentStage::new(vec![calls(&[("git__log", r#"{"path":"x"}"#)]), text("{\"n\": 1}")]);
    assert_eq!(stage.run().await, plain(json!({ "n": 1 })));
    let called = stage.desk.tools.lock().unwrap().clone();
    assert_eq!((called[0].tool.as_str(), &called[0].args), ("git:log", &json!({ "path": "x" })));
    assert_eq!(stage.told(), [r#"{"said":{"path":"x"}}"#]);
    let log = stage.desk.log.lock().unwrap().join("\n");
    assert!(log.contains("assistant: → git__log({\"path\":\"x\"})"), "{log}");
    assert!(log.contains("tool: {\"said\""));
}

#[tokio::test]
async fn wrong_arguments_unknown_tools_errors_and_refusals_go_back_to_the_model() {
    let stage = AgentStage::new(vec![
        calls(&[
            ("read_file", "{path"),
            ("read_file", "[1]"),
            ("read_file", r#"{"path": 1}"#),
            ("rm", "{}"),
            ("broken", r#"{"path":"x"}"#),
            ("write_file", r#"{"path":"x"}"#),
        ]),
        text("ok"),
    ]);
    assert_eq!(stage.run().await, plain(json!("ok")));
    let told = stage.told();
    assert!(told[0].starts_with("error: the arguments are not JSON"), "{}", told[0]);
    assert!(told[1].starts_with("error: the arguments are not a JSON object"));
    assert!(told[2].starts_with("error: wrong arguments for `read_file`: at /path"), "{}", told[2]);
    assert!(told[3].starts_with("error: there is no tool `rm`; the tools are: read_file, git__log"));
    assert_eq!(told[4..], ["error: it broke", "refused: not today"]);
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn calls_that_only_read_run_together() {
    let mut stage = AgentStage::new(vec![calls(&[("read_file", r#"{"path":"a"}"#), ("git__log", r#"{"path":"b"}"#)]), text("ok")]);
    stage.desk.together = Some(Barrier::new(2));
    let result = tokio::time::timeout(Duration::from_secs(5), stage.run()).await;
    assert_eq!(result, Ok(plain(json!("ok"))));
}

#[tokio::test(start_paused = true)]
async fn calls_run_in_order_when_one_of_them_writes() {
    let mut stage = AgentStage::new(vec![calls(&[("read_file", r#"{"path":"a"}"#), ("write_file", r#"{"path":"b"}"#)]), text("ok")]);
    stage.desk.together = Some(Barrier::new(2));
    assert!(tokio::time::timeout(Duration::from_secs(5), stage.run()).await.is_err());
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn call_ids_are_unique_over_attempts_although_the_provider_repeats_its_own() {
    let lines = || vec![calls(&[("read_file", r#"{"path":"a"}"#)]), text("ok")];
    let (first, second) = (AgentStage::new(lines()), AgentStage::new(lines()));
    first.run().await.unwrap();
    second.run().await.unwrap();
    let id = |stage: &AgentStage| stage.desk.tools.lock().unwrap()[0].id.clone();
    assert_ne!(id(&first), id(&second));
}

#[tokio::test]
async fn return_result_ends_the_node_with_json() {
    let stage = AgentStage::new(vec![calls(&[("return_result", r#"{"result":{"findings":[1]}}"#)])]);
    assert_eq!(stage.run().await, plain(json!({ "findings": [1] })));
}

#[tokio::test]
async fn return_result_beside_a_failed_call_waits_for_another_look() {
    let stage = AgentStage::new(vec![calls(&[("broken", r#"{"path":"a"}"#), ("return_result", r#"{"result":1}"#)]), text("2")]);
    assert_eq!(stage.run().await, plain(json!(2)));
    assert!(stage.told()[1].starts_with("not accepted"));
}

#[tokio::test]
async fn thoughts_are_on_record_and_in_no_conversation_and_no_result() {
    let stage = AgentStage::new(vec![AgentLine::Thought("hm", Box::new(calls(&[("read_file", r#"{"path":"a"}"#)]))), text("ok")]);
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.desk.log.lock().unwrap().contains(&"reasoning: hm".to_owned()));
    assert!(!format!("{:?}", stage.requests()).contains("hm\""));
    assert_eq!(*stage.desk.output.lock().unwrap(), "ok");
}

#[tokio::test]
async fn thoughts_of_a_try_that_broke_off_stay_on_record_and_apart() {
    let stage = AgentStage::new(vec![AgentLine::Restarted("hm", Box::new(text("ok")))]);
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.desk.log.lock().unwrap().contains(&"reasoning: hm".to_owned()));
    assert_eq!(*stage.desk.thoughts.lock().unwrap(), "hm\n[trying again: it broke]\n");
}

#[tokio::test]
async fn a_provider_that_takes_more_than_was_asked_for_is_not_asked_again() {
    let AgentLine::Reply(mut first) = calls(&[("read_file", r#"{"path":"a"}"#)]) else { unreachable!() };
    first.usage.prompt = 90_000;
    first.text = "first thoughts".into();
    let mut stage = AgentStage::new(vec![AgentLine::Reply(first.clone())]);
    stage.job.max_tokens = 10_000;
    assert_eq!(stage.run().await, done(json!("first thoughts"), Mark::BudgetExhausted));
    first.text.clear();
    let mut stage = AgentStage::new(vec![AgentLine::Reply(first)]);
    stage.job.max_tokens = 10_000;
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
}

#[tokio::test]
async fn output_that_matches_the_schema_is_the_result() {
    let mut stage = AgentStage::new(vec![text("{\"n\": 1}")]);
    stage.job.output_schema = Some(json!({ "type": "object", "required": ["n"] }));
    assert_eq!(stage.run().await, plain(json!({ "n": 1 })));
    assert!(stage.requests()[0].schema.is_some());
}

#[tokio::test]
async fn output_that_does_not_match_the_schema_gets_one_round_of_repair() {
    let schema = json!({ "type": "object", "required": ["n"] });
    let mut stage = AgentStage::new(vec![text("nothing"), text("{\"n\": 1}")]);
    stage.job.output_schema = Some(schema.clone());
    assert_eq!(stage.run().await, plain(json!({ "n": 1 })));
    let mut stage = AgentStage::new(vec![text("nothing"), calls(&[("return_result", r#"{"result":{}}"#)])]);
    stage.job.output_schema = Some(schema);
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Permanent));
}

#[tokio::test]
async fn an_empty_reply_is_asked_again() {
    let stage = AgentStage::new(vec![text(" "), text("ok")]);
    assert_eq!(stage.run().await, plain(json!("ok")));
}

#[tokio::test]
async fn model_errors_become_the_kinds_that_retry_understands_and_keep_their_hints() {
    let after = TryVerdict::After { ms: 7 };
    for (error, verdict, expected) in [
        (ModelErrorKind::NoRoute, TryVerdict::Again, ErrorKind::NothingBegan),
        (ModelErrorKind::NoRoute, TryVerdict::Never, ErrorKind::Permanent),
        (ModelErrorKind::RateLimit, after, ErrorKind::NothingBegan),
        (ModelErrorKind::RateLimit, TryVerdict::Never, ErrorKind::Permanent),
        (ModelErrorKind::Server, after, ErrorKind::Transient),
        (ModelErrorKind::CutStream, TryVerdict::Again, ErrorKind::Transient),
        (ModelErrorKind::WrongKey, TryVerdict::Never, ErrorKind::Permanent),
    ] {
        let failed = AgentStage::new(vec![fails_for(error, verdict)]).run().await.unwrap_err();
        let found = (failed.kind, failed.hint.as_deref(), failed.retry_after_ms);
        assert_eq!(found, (expected, Some("try"), verdict.wait_ms()), "{error:?} {verdict:?}");
    }
}

#[tokio::test]
async fn after_a_call_that_may_have_changed_something_no_failure_proves_that_nothing_began() {
    let stage = AgentStage::new(vec![calls(&[("write_file", r#"{"path":"a"}"#)]), fails(ModelErrorKind::RateLimit)]);
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Transient));
}

#[test]
fn a_running_agent_can_move_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    let stage = AgentStage::new(Vec::new());
    is_send(&stage.run());
}

#[tokio::test]
async fn a_decision_is_one_of_its_routes_said_bare_or_with_a_reason() {
    let stage = routes(AgentStage::new(vec![text("Mend.")]), &["ship", "mend"]);
    assert_eq!(stage.run().await, plain(json!("mend")));
    assert_eq!(stage.requests()[0].schema, None, "a word is no JSON");
    let stage =
        routes(AgentStage::new(vec![calls(&[("return_result", r#"{"result":{"route":"SHIP","reason":"good"}}"#)])]), &["ship", "mend"]);
    assert_eq!(stage.run().await, plain(json!({ "route": "ship", "reason": "good" })));
}

#[tokio::test]
async fn a_decision_that_names_no_route_is_asked_once_more_and_then_left_to_the_plan() {
    let stage = routes(AgentStage::new(vec![text("hard to say"), text("ship")]), &["ship", "mend"]);
    assert_eq!(stage.run().await, plain(json!("ship")));
    let ChatMessage::User { content } = stage.requests()[1].messages[3].clone() else { panic!("a request") };
    assert!(content.ends_with("exactly one of these and nothing else: ship, mend"), "{content}");
    let stage = routes(AgentStage::new(vec![text("hard to say"), text("neither")]), &["ship", "mend"]);
    assert_eq!(stage.run().await, plain(json!("neither")));
    assert_eq!(stage.notes(), ["the answer is none of the routes ship, mend"]);
}

#[tokio::test]
async fn what_a_server_did_otherwise_than_asked_is_in_the_log_once() {
    let noted = |line: AgentLine| {
        let reply = reply_of(line);
        AgentLine::Reply(ChatAnswer { notes: vec!["asked without tools".into()], cost_usd: Some(0.25), ..reply })
    };
    let stage = AgentStage::new(vec![noted(calls(&[("read_file", r#"{"path":"a"}"#)])), noted(text("ok"))]);
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert_eq!(stage.notes(), ["asked without tools"]);
    assert_eq!(stage.desk.calls.lock().unwrap()[0].cost_usd, Some(0.25));
}

#[tokio::test]
async fn a_broken_answer_counts_with_what_the_provider_reported() {
    let error = ModelError { usage: Some(TokenUsage::of(5, 2)), ..ModelError::new(ModelErrorKind::CutStream, TryVerdict::Again, "no") };
    let stage = AgentStage::new(vec![AgentLine::Error(error)]);
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Transient));
    let calls = stage.desk.calls.lock().unwrap();
    assert_eq!((calls[0].usage.total(), calls[0].finish.as_str()), (7, "failed"));
}

//! Limits of turns, tokens, time and repetition, and what is handed back there.

use super::*;

#[tokio::test]
async fn at_the_last_iteration_there_is_one_turn_without_tools_and_the_node_fails_with_what_it_hands_back() {
    let read = || calls(&[("read_file", r#"{"path":"a"}"#)]);
    let mut stage = AgentStage::new(vec![read(), read(), text("so far")]);
    stage.job.max_iterations = 3;
    let Ok(AttemptEnd::Limit { error, handed_back }) = stage.end().await else { panic!("a limit was reached") };
    assert_eq!((error.kind, handed_back), (ErrorKind::Limit, json!("so far")));
    assert!(error.message.contains("after 3 turns") && error.hint.unwrap().contains("max_iterations"));
    let requests = stage.requests();
    assert!(!requests[1].tools.is_empty() && requests[2].tools.is_empty());
    let mut stage = AgentStage::new(vec![read(), read()]);
    stage.job.max_iterations = 2;
    let failed = stage.run().await;
    assert_eq!(kind(&failed), Some(ErrorKind::Limit));
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 1, "the call of the last turn is not carried out");
}

#[tokio::test]
async fn the_default_is_five_iterations_and_twenty_are_the_most() {
    let read = |n: u32| calls(&[("read_file", &format!(r#"{{"path":"{n}"}}"#))]);
    let stage = AgentStage::new((0..5).map(read).collect());
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
    assert_eq!(stage.requests().len(), 5);
    let mut stage = AgentStage::new((0..20).map(read).collect());
    stage.job.max_iterations = 100;
    stage.job.max_tokens = 1_000_000;
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
    assert_eq!(stage.requests().len(), 20);
}

#[tokio::test]
async fn the_configurations_limits_hold_where_plan_and_card_say_nothing() {
    let read = |n: u32| calls(&[("read_file", &format!(r#"{{"path":"{n}"}}"#))]);
    let mut stage = AgentStage::new((0..5).map(read).collect());
    stage.job.otherwise.iterations = 3;
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
    assert_eq!(stage.requests().len(), 3);
}

#[tokio::test]
async fn a_cards_limits_hold_where_the_plan_says_nothing() {
    let read = || calls(&[("read_file", r#"{"path":"a"}"#)]);
    let stage = AgentStage::new(vec![read(), read()]);
    let limits = CardLimits { max_iterations: Some(2), max_tokens: None };
    let stage = AgentStage {
        execution: Execution { card: Arc::new(Card { limits, ..(*stage.execution.card).clone() }), ..stage.execution.clone() },
        ..stage
    };
    assert_eq!(kind(&stage.run().await), Some(ErrorKind::Limit));
    assert_eq!(stage.requests().len(), 2);
}

#[tokio::test]
async fn with_one_iteration_the_agent_answers_without_tools() {
    let mut stage = AgentStage::new(vec![text("ok")]);
    stage.job.max_iterations = 1;
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.requests()[0].tools.is_empty());
}

#[tokio::test]
async fn near_the_limit_of_tokens_the_agent_hands_back_what_it_has() {
    let AgentLine::Reply(mut first) = calls(&[("read_file", r#"{"path":"a"}"#)]) else { unreachable!() };
    first.usage.prompt = 9_400;
    let mut stage = AgentStage::new(vec![AgentLine::Reply(first), text("what I have")]);
    stage.job.max_tokens = 10_000;
    assert_eq!(stage.run().await, done(json!("what I have"), Mark::BudgetExhausted));
    assert!(stage.requests()[1].tools.is_empty());
}

#[tokio::test]
async fn without_a_written_limit_no_answer_is_capped_and_only_what_the_model_writes_is_counted() {
    let AgentLine::Reply(mut first) = calls(&[("read_file", r#"{"path":"a"}"#)]) else { unreachable!() };
    first.usage = TokenUsage::of(90_000, 9_999);
    let AgentLine::Reply(mut second) = calls(&[("read_file", r#"{"path":"b"}"#)]) else { unreachable!() };
    second.usage = TokenUsage::of(90_000, 2);
    let stage = AgentStage::new(vec![AgentLine::Reply(first), AgentLine::Reply(second), text("what I have")]);
    assert_eq!(stage.run().await, done(json!("what I have"), Mark::BudgetExhausted));
    let requests = stage.requests();
    assert!(requests.iter().all(|request| request.settings.max_tokens.is_none()));
    assert!(!requests[1].tools.is_empty() && requests[2].tools.is_empty());
    assert_eq!(stage.notes(), ["the model has written 10,001 tokens; where no limit is set, 10,000 are enough"]);
}

#[tokio::test]
async fn one_answer_may_pass_the_default_limit() {
    let AgentLine::Reply(mut long) = text("a book") else { unreachable!() };
    long.usage.completion = 30_000;
    assert_eq!(AgentStage::new(vec![AgentLine::Reply(long)]).run().await, plain(json!("a book")));
}

#[tokio::test]
async fn the_same_call_is_made_twice_and_an_agent_that_insists_ends_with_what_it_has() {
    let same = || calls(&[("read_file", r#"{"path":"a"}"#)]);
    let stage = AgentStage::new(vec![same(), same(), same(), text("then so")]);
    assert_eq!(stage.run().await, plain(json!("then so")));
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 2);
    assert!(stage.told()[2].contains("not made: `read_file` was called 2 times with the same arguments"), "{:?}", stage.told());
    let stage = AgentStage::new(vec![same(), same(), same(), same(), text("what I have")]);
    assert_eq!(stage.run().await, done(json!("what I have"), Mark::RepeatedCall));
    assert!(stage.requests()[4].tools.is_empty());
    assert_eq!(stage.desk.tools.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn no_call_may_answer_longer_than_the_limit_leaves() {
    let mut stage = AgentStage::new(vec![calls(&[("read_file", r#"{"path":"a"}"#)]), text("ok")]);
    stage.job.max_tokens = 4_000;
    stage.run().await.unwrap();
    for request in stage.requests() {
        let prompt = tokens::of_messages(&request.messages) + tokens::of_offers(&request.tools);
        assert!(prompt + request.settings.max_tokens.unwrap() <= 4_000);
    }
}

#[tokio::test]
async fn a_prompt_larger_than_the_limit_is_not_sent() {
    let mut stage = AgentStage::new(Vec::new());
    stage.job.objective = Some("x".repeat(60_000));
    stage.job.max_tokens = 10_000;
    let failed = stage.run().await;
    assert_eq!(kind(&failed), Some(ErrorKind::Limit));
    assert!(failed.unwrap_err().message.contains("the node's limit is 10000"));
}

#[tokio::test]
async fn a_long_tool_result_is_cut_so_that_the_limit_holds() {
    let mut stage = AgentStage::new(vec![calls(&[("read_file", r#"{"path":"a"}"#)]), text("ok")]);
    stage.desk.answers = Mutex::default();
    let long = "y".repeat(100_000);
    let AgentLine::Reply(first) = calls(&[("ask_operator", r#"{"question":"?"}"#)]) else { unreachable!() };
    stage.script.lines.lock().unwrap()[0] = AgentLine::Reply(first);
    stage.desk.answers.lock().unwrap().push_back(json!(long));
    stage.job.max_tokens = 5_000;
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.told()[0].ends_with("of 100000 characters are shown]"));
}

#[tokio::test]
async fn a_model_that_says_the_same_words_over_and_over_is_cut_off_and_its_answer_marked() {
    let stage = AgentStage::new(vec![AgentLine::Endless("The answer is 4. ", "It is just a tree of trees. ")]);
    let result = json!("The answer is 4. It is just a tree of trees.\n[cut here: the same words came over and over]");
    assert_eq!(stage.run().await, done(result, Mark::RepeatedWords));
    assert_eq!(stage.notes(), ["the model said the same words over and over, so its answer was cut off"]);
    let calls = stage.desk.calls.lock().unwrap();
    assert!(calls[0].estimated && calls[0].usage.completion > 300, "{calls:?}");
}

#[tokio::test]
async fn an_answer_that_was_cut_by_the_nodes_limit_is_marked() {
    let mut stage = AgentStage::new(vec![AgentLine::Fill]);
    stage.job.max_tokens = 10_000;
    let done = stage.run().await.unwrap();
    assert_eq!(done.mark, Some(Mark::BudgetExhausted));
}

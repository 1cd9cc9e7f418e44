//! The material of earlier steps: picked, cut, sent again.

use super::*;

#[tokio::test]
async fn a_prompt_that_the_model_finds_too_long_is_sent_again_with_less_of_the_results() {
    let stage = AgentStage::new(vec![fails(ModelErrorKind::ContextTooLong), fails(ModelErrorKind::ContextTooLong), text("ok")]);
    let stage = stage.depends_on(&[("long", json!("x".repeat(40_000))), ("short", json!("whole"))]);
    assert_eq!(stage.run().await, plain(json!("ok")));
    let sizes: Vec<usize> = stage.requests().iter().map(|request| user(request).matches('x').count()).collect();
    assert!(sizes[0] == 40_000 && sizes[1] < 21_000 && sizes[2] < 11_000 && sizes[2] > 5_000, "{sizes:?}");
    assert!(stage.requests().iter().all(|request| user(request).contains("[short]: whole")));
    assert!(stage.notes().iter().any(|note| note.contains("sent again with less")), "{:?}", stage.notes());
    let hopeless = AgentStage::new((0..9).map(|_| fails(ModelErrorKind::ContextTooLong)).collect());
    assert!(hopeless.run().await.is_err());
    assert_eq!(hopeless.requests().len(), 1, "nothing can be left out");
}

#[tokio::test]
async fn a_conversation_that_grew_too_long_goes_on_with_less_of_what_tools_gave() {
    let stage = AgentStage::new(vec![calls(&[("ask_operator", r#"{"question":"?"}"#)]), fails(ModelErrorKind::ContextTooLong), text("ok")]);
    stage.desk.answers.lock().unwrap().push_back(json!("y".repeat(8_000)));
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert!(stage.told()[0].ends_with("the first 4000 of 8000 characters are shown]"), "{:?}", stage.told());
}

#[tokio::test]
async fn a_model_picks_what_is_relevant_and_the_call_counts_and_is_on_record() {
    let mut stage = selecting(vec![spent(r#"{"relevant": ["law", "nothing", "bees"]}"#, 700), text("done")]);
    stage.job.max_tokens = 10_000;
    assert_eq!(stage.run().await, plain(json!("done")));
    let requests = stage.requests();
    assert!(user(&requests[0]).contains("Do it.") && user(&requests[0]).contains("[cars] (3 tokens): they honk"));
    let told = user(&requests[1]);
    assert!(told.contains("[bees]: they hum\n\n[law]: a lot") && told.contains("Not picked as relevant: `cars`."), "{told}");
    assert!(!told.contains("honk"));
    assert_eq!(stage.notes(), ["context: the model chose `bees`, `law` and left out `cars`"]);
    assert_eq!(stage.desk.calls.lock().unwrap()[0].usage.total(), 700);
    assert!(requests[1].settings.max_tokens.unwrap() < 10_000 - 700, "what picking took is gone from the node's limit");
    let log = stage.desk.log.lock().unwrap().join("\n");
    assert!(log.contains("assistant: {\"relevant\""), "{log}");
    assert_eq!(*stage.desk.output.lock().unwrap(), "done", "picking is no output");
}

#[tokio::test]
async fn when_picking_fails_all_results_are_given_and_the_log_says_why() {
    for (line, why) in [
        (fails(ModelErrorKind::Server), "the model could not choose: no"),
        (text("the first two, I think"), "the model's answer is not a list of results"),
        (text(r#"{"relevant": ["nonsense"]}"#), "the model chose none of them"),
    ] {
        let stage = selecting(vec![line, text("done")]);
        assert_eq!(stage.run().await, plain(json!("done")));
        assert!(user(&stage.requests()[1]).contains("[bees]: they hum\n\n[cars]: they honk\n\n[law]: a lot"));
        assert_eq!(stage.notes(), [format!("context: all results are passed on, because {why}")]);
    }
}

#[tokio::test]
async fn nobody_picks_with_too_few_tokens_or_with_one_result() {
    let mut short = selecting(vec![text("done")]);
    short.job.max_tokens = 2_000;
    assert_eq!(short.run().await, plain(json!("done")));
    assert_eq!(short.notes(), ["context: all results are passed on, because 2000 tokens are too few to choose first"]);
    let mut one = selecting(vec![text("done")]);
    one.deps.truncate(1);
    assert_eq!(one.run().await, plain(json!("done")));
    assert!(one.notes().is_empty());
}

#[tokio::test]
async fn what_was_cut_of_the_context_is_in_the_log_of_the_node() {
    let mut stage = AgentStage::new(vec![text("done")]).depends_on(&[("long", json!("x".repeat(40_000)))]);
    stage.job.max_tokens = 10_000;
    stage.run().await.unwrap();
    let notes = stage.notes();
    assert!(notes[0].contains("tokens of `long` were cut") && notes[0].contains("may use 1500 tokens"), "{notes:?}");
    assert!(user(&stage.requests()[0]).contains("tokens of `long` were cut]\n</material>"));
    let mut narrow = AgentStage::new(vec![text("done")]).depends_on(&[("long", json!("x".repeat(40_000)))]);
    narrow.execution.context_tokens = Some(500);
    narrow.run().await.unwrap();
    assert!(narrow.notes()[0].contains("may use 500 tokens"));
}

#[tokio::test]
async fn a_node_without_a_card_has_its_goal_as_objective_and_its_role_in_the_system_prompt() {
    let mut stage = AgentStage::new(vec![calls(&[("return_result", r#"{"result":{"findings":["a"]}}"#)])]);
    stage.job = AgentJob { role: Some("api_researcher".into()), goal: Some("Find {the} limits".into()), ..AgentJob::default() };
    stage.execution.card = AgentRegistry::open(std::path::Path::new("/nonexistent"), None).cards().for_job(&stage.job).unwrap();
    assert_eq!(stage.run().await, plain(json!({ "findings": ["a"] })));
    let request = &stage.requests()[0];
    let ChatMessage::System { content } = &request.messages[0] else { panic!("a system prompt") };
    assert!(content.contains("Your role: api_researcher.") && content.contains("`return_result`") && !content.contains("limits"));
    assert_eq!(user(request), "Find {the} limits");
    assert!(request.tools.iter().any(|tool| tool.name == "return_result"));
}

#[tokio::test]
async fn what_people_say_while_the_model_picks_its_context_reaches_the_agent() {
    let stage = steered(selecting(vec![text(r#"{"relevant": ["a"]}"#), text("done")]), vec![guided("only facts")]);
    assert_eq!(stage.run().await, plain(json!("done")));
    let requests = stage.requests();
    assert!(
        !user(&requests[0]).contains("only facts")
            && requests[1]
                .messages
                .iter()
                .any(|message| { matches!(message, ChatMessage::User { content } if content.contains("only facts")) })
    );
}

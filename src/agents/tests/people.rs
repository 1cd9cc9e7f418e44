//! What people say, answer and stop.

use super::*;

#[tokio::test]
async fn an_agent_can_ask_the_operator() {
    let stage = AgentStage::new(vec![calls(&[("ask_operator", r#"{"question":"Red?","options":["yes","no"]}"#)]), text("ok")]);
    stage.desk.answers.lock().unwrap().push_back(json!("yes"));
    assert_eq!(stage.run().await, plain(json!("ok")));
    assert_eq!(stage.told(), ["yes"]);
    assert_eq!(stage.desk.questions.lock().unwrap()[0].options, ["yes", "no"]);
}

#[tokio::test]
async fn a_rehearsed_prompt_is_assembled_and_shown_and_nobody_is_asked() {
    let mut stage = routes(rehearsing(AgentStage::new(Vec::new())), &["ship", "fix"]);
    let rehearsed = stage.run().await.unwrap();
    assert_eq!(rehearsed.mark, Some(Mark::Rehearsal));
    let text = rehearsed.result.as_str().unwrap();
    assert!(text.starts_with("[rehearsed] would ask a model, with about ") && text.ends_with("(estimate): Do it."), "{text}");
    assert!(stage.desk.calls.lock().unwrap().is_empty() && stage.desk.questions.lock().unwrap().is_empty());
    stage.job.output_schema = Some(json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] }));
    assert_eq!(stage.run().await, done(json!({ "title": "[rehearsed] title" }), Mark::Rehearsal));
}

#[tokio::test]
async fn the_operator_answers_in_the_models_place_and_sees_the_assembled_prompt() {
    let mut stage = AgentStage::new(Vec::new());
    stage.execution.responder = Responder::Operator;
    stage.desk.answers.lock().unwrap().push_back(json!("{\"a\": 1}"));
    assert_eq!(stage.run().await, plain(json!({ "a": 1 })));
    let questions = stage.desk.questions.lock().unwrap();
    assert!(questions[0].payload["system"].as_str().unwrap().contains("Your role: a clerk."));
    assert_eq!(questions[0].payload["user"], "Do it.");
    assert_eq!(stage.desk.calls.lock().unwrap()[0].provider, OPERATOR);
}

#[tokio::test]
async fn the_operators_answer_is_checked_once_more_against_the_schema() {
    let mut stage = AgentStage::new(Vec::new());
    stage.execution.responder = Responder::Operator;
    stage.job.output_schema = Some(json!({ "type": "integer" }));
    stage.desk.answers.lock().unwrap().extend([json!("x"), json!("3")]);
    assert_eq!(stage.run().await, plain(json!(3)));
    assert!(stage.desk.questions.lock().unwrap()[1].text.contains("doesn't match"));
}

#[tokio::test]
async fn a_human_agent_asks_its_objective() {
    let stage = AgentStage::new(Vec::new()).shipped("operator");
    stage.desk.answers.lock().unwrap().push_back(json!("blue"));
    assert_eq!(stage.run().await, plain(json!("blue")));
    assert_eq!(stage.desk.questions.lock().unwrap()[0].text, "Do it.");
}

#[tokio::test]
async fn people_choose_a_route_from_the_options() {
    for mut stage in [AgentStage::new(Vec::new()).shipped("operator"), AgentStage::new(Vec::new())] {
        stage.execution.responder = Responder::Operator;
        let stage = routes(stage, &["ship", "mend"]);
        stage.desk.answers.lock().unwrap().push_back(json!("mend"));
        assert_eq!(stage.run().await, plain(json!("mend")));
        assert_eq!(stage.desk.questions.lock().unwrap()[0].options, ["ship", "mend"]);
    }
}

#[tokio::test]
async fn words_of_the_operator_reach_the_next_turn_and_are_on_record() {
    let lines = vec![calls(&[("git__log", r#"{"path":"x"}"#)]), text("done")];
    let stage = steered(AgentStage::new(lines), vec![GoAhead::default(), guided("be brief")]);
    assert_eq!(stage.run().await, plain(json!("done")));
    let requests = stage.requests();
    let said = "The operator says, and it goes before everything else here:\nbe brief";
    assert!(!user(&requests[0]).contains("be brief"));
    assert_eq!(requests[1].messages.last(), Some(&ChatMessage::User { content: said.into() }));
    assert!(stage.desk.log.lock().unwrap().contains(&format!("user: {said}")));
    assert_eq!(*stage.desk.asked.lock().unwrap(), 2, "each model call is asked about, once");
}

#[tokio::test]
async fn a_stopped_agent_hands_back_what_it_has_in_one_turn_without_tools() {
    let lines = vec![calls(&[("git__log", r#"{"path":"x"}"#)]), text("half of it")];
    let stage = steered(AgentStage::new(lines), vec![GoAhead::default(), stopped()]);
    assert_eq!(stage.run().await, done(json!("half of it"), Mark::Stopped));
    let last = stage.requests().pop().unwrap();
    assert!(last.tools.is_empty());
    assert!(matches!(last.messages.last(), Some(ChatMessage::User { content }) if content.contains("the operator stopped the node")));
    let empty = steered(AgentStage::new(vec![text("")]), vec![stopped()]);
    assert!(matches!(empty.run().await, Err(error) if error.message.contains("gave no result")));
}

#[tokio::test]
async fn a_stop_ends_an_answer_that_goes_on_and_keeps_what_was_said() {
    let mut stage = AgentStage::new(vec![AgentLine::Hang]);
    stage.desk.overdue = true;
    assert_eq!(stage.run().await, done(json!("so far"), Mark::Stopped));
    let called = stage.desk.calls.lock().unwrap().pop().unwrap();
    assert!(called.estimated && called.usage.prompt > 0 && called.usage.completion > 0, "{called:?}");
}

#[tokio::test]
async fn without_an_answer_of_a_person_there_is_no_result() {
    let mut stage = AgentStage::new(vec![]);
    stage.execution.responder = Responder::Operator;
    assert!(matches!(stage.run().await, Err(NodeError { kind: ErrorKind::Rejected, message, .. }) if message == "nobody answers"));
}

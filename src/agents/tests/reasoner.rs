//! The deep reasoner.

use super::*;

#[tokio::test]
async fn the_deep_reasoner_asks_thinks_criticizes_and_answers_within_its_turns() {
    let lines =
        vec![text("1. What is it?\n2. Why?\n3. How much?"), text("a thing"), text("because, and 7"), text("weak"), text("the answer")];
    let mut stage = AgentStage::new(lines).shipped("deep_reasoner");
    stage.job.max_tokens = 50_000;
    assert_eq!(stage.run().await, plain(json!("the answer")));
    let requests = stage.requests();
    assert_eq!(requests.len(), 5);
    let user = |at: usize| match &requests[at].messages[1] {
        ChatMessage::User { content } => content.clone(),
        _ => String::new(),
    };
    assert!(user(1).contains("What is it?") && !user(1).contains("Answer this, step by step, using what was found before:\nWhy?"));
    assert!(user(2).contains("Why?\nHow much?"), "{}", user(2));
    assert!(user(4).contains("weak") && user(4).contains("because, and 7"));
    assert_eq!(*stage.desk.output.lock().unwrap(), "the answer", "thoughts on the way are not output");
}

#[tokio::test]
async fn the_deep_reasoner_answers_even_with_one_turn_or_few_tokens() {
    let mut stage = AgentStage::new(vec![text("short")]).shipped("deep_reasoner");
    stage.job.max_iterations = 1;
    assert_eq!(stage.run().await, plain(json!("short")));
    let mut stage = AgentStage::new(vec![text("short")]).shipped("deep_reasoner");
    stage.job.max_tokens = 1_200;
    assert_eq!(stage.run().await, done(json!("short"), Mark::BudgetExhausted));
}

#[tokio::test]
async fn the_deep_reasoner_never_passes_its_limit_of_tokens_and_always_answers() {
    for limit in [1_500, 2_500, 4_000, 6_000, 10_000, 30_000] {
        for turns in 1..=8 {
            let mut stage = AgentStage::new((0..turns).map(|_| AgentLine::Fill).collect()).shipped("deep_reasoner");
            (stage.job.max_tokens, stage.job.max_iterations) = (limit, turns);
            stage.run().await.unwrap();
            let spent: u64 = stage.desk.calls.lock().unwrap().iter().map(|call| call.usage.total()).sum();
            assert!(spent <= limit, "{spent} of {limit} in {turns} turns");
        }
    }
}

#[tokio::test]
async fn the_deep_reasoner_decides_too() {
    let mut stage = routes(AgentStage::new(vec![text("unsure"), text("mend")]).shipped("deep_reasoner"), &["ship", "mend"]);
    stage.job.max_iterations = 2;
    stage.job.max_tokens = 50_000;
    assert_eq!(stage.run().await, plain(json!("mend")));
}

#[tokio::test]
async fn the_deep_reasoner_listens_and_stops_between_its_stages() {
    let deep = |lines, goes| {
        let mut stage = steered(AgentStage::new(lines), goes);
        let kind = CardKind::DeepReasoner;
        stage.execution.card = Arc::new(Card { kind, ..(*stage.execution.card).clone() });
        stage.job.max_iterations = 6;
        stage
    };
    let lines = vec![text("1. Why is it?\n2. What then?"), text("so"), text("thus"), text("weak"), text("the answer")];
    let stage = deep(lines, vec![GoAhead::default(), guided("in metres")]);
    assert_eq!(stage.run().await, plain(json!("the answer")));
    let told: Vec<bool> = stage.requests().iter().map(|request| user(request).contains("in metres")).collect();
    assert_eq!(told, [false, true, true, true, true]);
    let stage = deep(vec![text("1. Why is it?\n2. What then?"), text("as far as I came")], vec![GoAhead::default(), stopped()]);
    assert_eq!(stage.run().await, done(json!("as far as I came"), Mark::Stopped));
    assert_eq!(*stage.desk.asked.lock().unwrap(), 2);
}

//! Which model answers: none, a person, or the one that was chosen.

use super::host_tests::{Bed, Seat, plan, settled};
use super::{
    client::{Notice, Request},
    *,
};
use crate::engine::{Action, Command, Event, GateReply, Mark, NodeState, Outcome, RerunReach};
use crate::plan::NodeId;
use serde_json::{Map, json};

#[tokio::test]
async fn an_agent_without_a_model_is_rehearsed_and_marked() {
    let bed = Bed::new(&[]);
    let end = bed.headless(plan(json!([{ "id": "write", "agent": "writer", "objective": "Say hello" }])), Flags::default()).await;
    assert_eq!(settled(&end), Some(Outcome::Rehearsed));
    let node = end.state.node(&NodeId::new("write")).unwrap();
    assert_eq!((node.state, node.mark.as_ref().map(Mark::as_str)), (NodeState::Rehearsed, Some("rehearsal")));
    assert_eq!((node.lineage.spent.model_calls, node.lineage.spent.tokens.total()), (0, 0), "an estimate is not spent");
}

#[tokio::test]
async fn a_human_agent_asks_a_person_where_there_is_no_model() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    seat.start(plan(json!([{ "id": "ask", "agent": "operator", "objective": "Which colour?" }])));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Answer { value: json!("blue") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(seat.run.node(&NodeId::new("ask")).unwrap().result.as_deref(), Some(&json!("blue")));
}

#[tokio::test]
async fn what_was_rehearsed_runs_again_for_real_with_the_model_that_a_person_chose_since() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    seat.start(plan(json!([{ "id": "write", "agent": "writer", "objective": "Say hello" }, { "id": "use", "value": "{{write}}", "depends_on": ["write"] }])));
    assert_eq!(seat.end().await, Outcome::Rehearsed);
    seat.ask(Request::UseModel { model: "operator".into(), run: None });
    seat.command(Command::act(Action::Rerun { node: NodeId::new("write"), scope: RerunReach::Alone }));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Answer { value: json!("hello") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(seat.run.node(&NodeId::new("use")).unwrap().result.as_deref(), Some(&json!("hello")));
}

#[tokio::test]
async fn a_run_that_failed_for_its_model_is_healed_by_the_one_that_a_person_chose_since() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    let plan = plan(json!([{ "id": "write", "agent": "writer", "objective": "Say hello" }]));
    let model = Some("gpt-4o".to_owned());
    seat.ask(Request::Start { plan: Box::new(plan), inputs: Map::new(), first: Vec::new(), model, planning: Vec::new() });
    assert_eq!(seat.end().await, Outcome::Failed);
    seat.ask(Request::UseModel { model: "operator".into(), run: seat.id.clone() });
    seat.command(Command::act(Action::Retry { node: NodeId::new("write") }));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Answer { value: json!("hello") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    let records = bed.journal(seat.id.as_ref().unwrap());
    assert!(records.iter().any(|record| matches!(&record.event, Event::ModelChosen { model, .. } if model == "operator")));
    seat.ask(Request::UseModel { model: "rehearsal".into(), run: None });
    seat.command(Command::act(Action::Rerun { node: NodeId::new("write"), scope: RerunReach::Alone }));
    assert!(seat.problem().await.message.contains("doesn't become a rehearsal"));
}

#[tokio::test]
async fn a_run_that_goes_on_asks_the_model_that_a_person_chose_on_its_screen_from_the_next_node_on() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    let nodes = json!([
        { "id": "look", "ask": { "text": "Go on?" } },
        { "id": "write", "agent": "writer", "objective": "Say hello", "depends_on": ["look"] },
    ]);
    let model = Some("gpt-4o".to_owned());
    seat.ask(Request::Start { plan: Box::new(plan(nodes)), inputs: Map::new(), first: Vec::new(), model, planning: Vec::new() });
    let gate = seat.gate().await;
    seat.ask(Request::UseModel { model: "operator".into(), run: seat.id.clone() });
    seat.decide(&gate, GateReply::Approve);
    let gate = seat.until(|run, _| run.open_gates().find(|gate| gate.node.as_str() == "write").cloned()).await;
    seat.decide(&gate, GateReply::Answer { value: json!("hello") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
}

#[tokio::test]
async fn models_are_chosen_by_name_and_the_operator_can_take_their_place() {
    let bed = Bed::new(&[]);
    let mut seat = Seat::take(&bed);
    seat.ask(Request::UseModel { model: "operator".into(), run: None });
    let status = seat.until(|_, notice| if let Notice::Model(status) = notice { Some(status.clone()) } else { None }).await;
    assert_eq!(status, client::ModelStatus::Operator);
    seat.start(plan(json!([{ "id": "write", "agent": "writer", "objective": "Say hello" }])));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Answer { value: json!("hello") });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(seat.run.node(&NodeId::new("write")).unwrap().result.as_deref(), Some(&json!("hello")));
}

//! Questions that a tool call under way asks: its node's clock and slot rest, a no goes back to who asked, and nobody answers for nothing.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

fn asks(world: &mut World, id: &str, within: &str, question: &str) -> Vec<Event> {
    let fact = WorkerFact::QuestionAsked {
        call: question.into(),
        text: "which?".into(),
        options: vec![],
        fields: vec![],
        payload: json!({"question": question}),
        within: Some(within.into()),
    };
    world.fact(id, fact)
}

fn answered(world: &World, call: &str) -> Option<Answer> {
    world.answers().into_iter().find(|(id, _)| id == call).map(|(_, answer)| answer)
}

/// A run with one slot, whose tool node asks in the middle of its call.
fn asking() -> World {
    let plan = plan(vec![tool("t", "read", json!({"path": "x"}), &[]), agent("b", &[])]);
    let mut world = World::with(plan, RunSettings { slots: 1, ..settings() });
    world.ask("t", "c", "read", json!({"path": "x"}), Verdict::Allow);
    world.now += 1_000;
    asks(&mut world, "t", "c", "q");
    world
}

#[test]
fn a_call_that_asks_gives_its_slot_to_others_and_its_clock_rests() {
    let mut world = asking();
    assert_eq!((world.state("t"), world.state("b")), ("waiting", "running"));
    world.now += 3_600_000;
    world.decide(1, GateReply::Answer { value: json!("left") });
    assert_eq!((world.state("t"), answered(&world, "q")), ("held", None), "it waits for its slot back");
    world.done("b", json!(1));
    assert_eq!((world.state("t"), answered(&world, "q")), ("running", Some(Answer::Value(json!("left")))));
    world.now += 500;
    world.tool_done("t", "c", json!("done"));
    world.done("t", json!("done"));
    assert_eq!((world.state("t"), world.node("t").work_ms()), ("succeeded", Some(1_500)));
}

#[test]
fn a_no_to_a_question_of_a_call_goes_back_to_the_call() {
    let mut world = asking();
    world.decide(1, GateReply::Reject { message: "not now".into() });
    world.done("b", json!(1));
    assert!(matches!(answered(&world, "q"), Some(Answer::Refused { message }) if message.contains("not now")));
    assert_eq!(world.state("t"), "running");
    world.tool_done("t", "c", json!("without it"));
    world.done("t", json!("without it"));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn a_question_whose_call_needs_no_answer_any_more_closes_and_the_work_goes_on() {
    let mut world = asking();
    world.done("b", json!(1));
    world.fact("t", WorkerFact::QuestionOver { call: "q".into(), why: "it is over".into() });
    assert_eq!((world.open(), world.voided(1).as_deref(), world.state("t")), (vec![], Some("it is over"), "running"));
    world.tool_done("t", "c", json!(1));
    world.done("t", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    assert!(world.fact("t", WorkerFact::QuestionOver { call: "q".into(), why: String::new() }).is_empty());
}

#[test]
fn a_skip_at_the_question_of_a_call_ends_its_node() {
    let mut world = asking();
    world.decide(1, GateReply::Skip);
    assert_eq!((world.state("t"), answered(&world, "q")), ("skipped", None));
}

#[test]
fn a_call_that_works_beside_one_that_asks_keeps_the_clock_of_its_node_going() {
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), RunSettings { slots: 1, ..settings() });
    world.ask("a", "c1", "read", json!({"path": "x"}), Verdict::Allow);
    world.ask("a", "c2", "read", json!({"path": "y"}), Verdict::Allow);
    asks(&mut world, "a", "c1", "q");
    assert_eq!(world.state("b"), "ready", "the other call of `a` works");
    world.tool_done("a", "c2", Value::Null);
    assert_eq!(world.state("b"), "running");
}

#[test]
fn an_answer_to_a_form_takes_one_of_its_options_and_may_leave_out_what_is_optional() {
    let field = |name: &str, options: &[&str], optional| Field {
        name: name.into(),
        options: options.iter().map(|option| (*option).to_string()).collect(),
        optional,
        ..Field::default()
    };
    let number = Field { kind: FieldKind::Number, ..field("age", &[], true) };
    let ask =
        ApprovalNode { text: "who?".into(), fields: vec![field("side", &["left", "right"], false), number], ..ApprovalNode::default() };
    let mut world = World::new(plan(vec![node("ask", NodeKind::Approval(ask), &[])]));
    let reply = |value: Value| GateReply::Answer { value };
    for (value, why) in [
        (json!({}), "`side` must be one of: left, right"),
        (json!({"side": "up"}), "`side` must be one of"),
        (json!({"side": "left", "age": "x"}), "`age` must be a number"),
    ] {
        let events = world.decide(1, reply(value));
        assert!(matches!(&events[..], [Event::Refused { why: said, .. }] if said.contains(why)), "{events:?}");
    }
    world.decide(1, reply(json!({"side": "left"})));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

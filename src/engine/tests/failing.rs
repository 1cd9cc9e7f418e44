//! A failure that its plan asks people about.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

fn asking(node: Node) -> Node {
    Node { policy: Policy { on_failure: Some(OnFailure::Ask), ..node.policy.clone() }, ..node }
}

fn two() -> World {
    World::new(plan(vec![asking(agent("a", &[])), agent("b", &["a"]), agent("c", &[])]))
}

fn answer(text: &str) -> GateReply {
    GateReply::Answer { value: json!(text) }
}

#[test]
fn a_failure_that_its_plan_asks_about_waits_for_a_person_and_the_rest_goes_on() {
    let mut world = two();
    world.fail("a", ErrorKind::Permanent);
    assert_eq!(world.states(), "a waiting, b pending, c running");
    assert_eq!((world.reason("a").as_str(), world.open()), ("it broke", vec![1]));
    assert_eq!(world.why("b"), ["`b` waits for `a`", "  `a` waits for a reply to gate 1: it broke"]);
    world.done("c", json!(1));
    assert!(world.run.is_parked() && world.outcome().is_none());
    let asked = world.run.gate(GateId(1)).unwrap().0;
    assert_eq!(asked.payload, json!({"agent": "worker", "objective": "do it"}));
    assert_eq!(asked.kind.question().unwrap().options, ["retry", "model NAME", "skip", "replan", "fail"]);
}

#[test]
fn each_choice_after_a_failure_does_what_it_says() {
    for (reply, states) in [
        (answer("retry"), "a running, b pending, c running"),
        (answer("Retry"), "a running, b pending, c running"),
        (answer("model large"), "a running, b pending, c running"),
        (answer("skip"), "a skipped, b skipped, c running"),
        (GateReply::Skip, "a skipped, b skipped, c running"),
        (answer("fail"), "a failed, b skipped, c running"),
        (reject("no use"), "a failed, b skipped, c running"),
        (GateReply::CancelBranch, "a cancelled, b cancelled, c running"),
    ] {
        let mut world = two();
        world.fail("a", ErrorKind::Permanent);
        world.decide(1, reply.clone());
        assert_eq!((world.states().as_str(), world.open()), (states, vec![]), "{reply:?}");
    }
}

#[test]
fn a_reply_that_is_none_of_the_choices_is_refused_with_the_choices() {
    for reply in [GateReply::Approve, answer("perhaps"), answer("retry it"), answer("model"), GateReply::Lost { choice: LostChoice::Again }]
    {
        let mut world = two();
        world.fail("a", ErrorKind::Permanent);
        let events = world.decide(1, reply.clone());
        let Some(Event::Refused { why, .. }) = events.first() else { panic!("{reply:?}: {events:?}") };
        let is_lost = matches!(reply, GateReply::Lost { .. });
        let words = if is_lost { "its effect is not unknown" } else { "answer one of: retry, model NAME, skip, replan, fail" };
        assert_eq!((why.as_str(), world.open()), (words, vec![1]), "{reply:?}");
    }
    let mut save = asking(tool("s", "save", json!({"path": "x"}), &[]));
    save.policy.retry = Some(Retry { attempts: 1, ..Retry::default() });
    let mut world = World::new(plan(vec![save]));
    world.fail("s", ErrorKind::Permanent);
    assert!(matches!(world.decide(1, answer("model large"))[0], Event::Refused { .. }), "a tool asks no model");
}

#[test]
fn a_retry_with_another_model_or_an_edited_task_does_that_and_nothing_else() {
    let mut world = two();
    world.fail("a", ErrorKind::Permanent);
    world.decide(1, answer("model large"));
    let job = |world: &World| match world.effects.iter().rev().find(|effect| matches!(effect, Effect::Start { .. })) {
        Some(Effect::Start { job, attempt, .. }) => match &**job {
            Job::Agent(job) => (job.model.clone().unwrap(), job.objective.clone().unwrap(), *attempt),
            other => panic!("{other:?}"),
        },
        _ => panic!("nothing started"),
    };
    assert_eq!(job(&world), ("large".to_owned(), "do it".to_owned(), 2));
    world.fail("a", ErrorKind::Permanent);
    let payload = json!({"agent": "worker", "objective": "do half of it"});
    world.decide(2, GateReply::Modify { payload });
    assert_eq!(job(&world), ("large".to_owned(), "do half of it".to_owned(), 3));
    world.done("a", json!(1));
    assert_eq!((world.state("a"), world.node("a").generation), ("succeeded", 1));
}

#[test]
fn a_failure_is_tried_by_its_policy_again_after_a_person_said_retry() {
    let mut world = two();
    for gate in 1..=2 {
        for _ in 0..2 {
            world.fail("a", ErrorKind::Transient);
            assert_eq!(world.state("a"), "retrying");
            world.due("a", TimerKind::Retry);
        }
        world.fail("a", ErrorKind::Transient);
        assert_eq!(world.open(), [gate]);
        world.decide(gate, answer("retry"));
        assert_eq!(world.state("a"), "running");
    }
}

#[test]
fn a_failed_call_that_may_have_changed_something_says_so_where_it_asks() {
    let mut world = World::new(plan(vec![asking(tool("s", "save", json!({"path": "x"}), &[]))]));
    world.ask("s", "1", "save", json!({"path": "x"}), Verdict::Allow);
    world.fail("s", ErrorKind::Permanent);
    assert_eq!(world.reason("s"), "it broke; it may have changed something already, which a retry would do again");
    assert_eq!(world.run.gate(GateId(1)).unwrap().0.payload, json!({"path": "x"}));
}

#[test]
fn a_plan_inside_a_node_runs_anew_after_its_failure_and_counts_what_it_took() {
    let body = plan(vec![agent("x", &[])]);
    let each = NodeKind::Map(MapNode { over: "[1, 2]".into(), body: Box::new(body), max_parallel: None });
    let mut world = World::new(plan(vec![asking(node("m", each, &[])), agent("after", &["m"])]));
    world.fail("m[0]/x", ErrorKind::Permanent);
    world.fail("m[1]/x", ErrorKind::Permanent);
    assert_eq!((world.state("m"), world.state("after"), world.open()), ("waiting", "pending", vec![1]));
    world.decide(1, answer("retry"));
    assert_eq!((world.state("m"), world.state("m[0]/x"), world.node("m").inside.nodes), ("running", "running", 2));
    world.done("m[0]/x", json!(1));
    world.done("m[1]/x", json!(2));
    assert_eq!(world.node("m").result.as_deref(), Some(&json!([1, 2])));
    assert_eq!(world.state("after"), "running");
    assert_eq!(world.node("m").spent().attempts, 4, "those at both entries before, and its own two: {:?}", world.node("m").spent());
}

#[test]
fn nobody_is_asked_about_a_failure_in_a_run_that_is_stopped_or_rehearsed() {
    let mut world = two();
    world.act(Action::Stop { target: ActionTarget::Run });
    world.fail("a", ErrorKind::Permanent);
    assert_eq!((world.state("a"), world.open()), ("failed", vec![]));
}

#[test]
fn a_question_about_a_failure_outlives_the_process_and_closes_when_its_node_is_edited_or_cancelled() {
    let mut world = two();
    world.fail("a", ErrorKind::Permanent);
    world.step(Input::Recover { by: me() });
    assert_eq!((world.state("a"), world.open()), ("waiting", vec![1]));
    let mut cancelled = World { run: world.run.clone(), records: Vec::new(), effects: Vec::new(), now: world.now };
    cancelled.act(Action::Cancel { target: on("a") });
    assert_eq!((cancelled.state("a"), cancelled.open()), ("cancelled", vec![]));
    let kind = NodeKind::Agent(AgentNode { agent: Some("worker".into()), objective: Some("do less".into()), ..AgentNode::default() });
    world.act(Action::Edit { edits: vec![edit::Edit::SetKind { id: "a".into(), kind: edit::KindData(kind) }] });
    assert_eq!((world.state("a"), world.node("a").generation, world.open()), ("running", 2, vec![]));
    assert_eq!(world.voided(1).as_deref(), Some("the plan was edited, so it asks again"));
    world.decide(1, answer("retry"));
    assert_eq!(world.node("a").attempt, 1, "a closed gate takes no reply");
    assert_eq!(world.node("a").result.as_deref(), None::<&Value>);
}

//! Nodes at work, driven by people: calls held before they happen, guidance for the next turn, and stops.

use super::{breaking::point, kit::*};
use crate::engine::Mark;
use crate::engine::*;
use crate::plan::*;
use serde_json::{Value, json};

fn go(guidance: &[&str], wrap_up: bool) -> Answer {
    Answer::Go { guidance: guidance.iter().map(|words| (*words).to_string()).collect(), wrap_up, granted: None }
}

fn model(world: &mut World, id: &str, call: &str) -> Vec<Event> {
    world.fact(id, WorkerFact::ModelAsked { call: call.into(), model: "m".into(), need: None })
}

fn held(world: &World, id: &str) -> Vec<String> {
    world.run.held_calls(&id.into()).map(|held| held.next.label()).collect()
}

fn answered(world: &World, call: &str) -> Option<Answer> {
    world.answers().into_iter().find(|(id, _)| id == call).map(|(_, answer)| answer)
}

fn refused(events: &[Event]) -> String {
    match events {
        [Event::Refused { why, .. }] => why.clone(),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_model_call_that_nobody_holds_goes_at_once() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    let events = model(&mut world, "a", "m1");
    assert!(matches!(&events[..], [Event::Node { fact: NodeFact::ModelStarted { model, wrap_up: false, .. }, .. }] if model == "m"));
    assert_eq!((answered(&world, "m1"), world.state("a")), (Some(go(&[], false)), "running"));
}

#[test]
fn stepping_into_a_node_holds_each_of_its_calls_and_gives_its_slot_to_others() {
    let settings = RunSettings { slots: 1, ..settings() };
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), settings);
    world.act(Action::StepInto { node: "a".into() });
    assert_eq!((world.state("a"), world.state("b")), ("running", "ready"));
    model(&mut world, "a", "m1");
    assert_eq!((world.state("a"), world.state("b")), ("held", "running"));
    assert_eq!((held(&world, "a"), answered(&world, "m1")), (vec!["the model `m`".to_string()], None));
    assert_eq!(world.reason("a"), "about to call the model `m`: stepping through `a`");
    world.act(Action::Step { node: Some("a".into()) });
    assert_eq!((world.state("a"), world.run.pace()), ("held", Pace::Going), "it waits for its slot back");
    world.done("b", json!(1));
    assert_eq!((world.state("a"), answered(&world, "m1")), ("running", Some(go(&[], false))));
    world.ask("a", "t1", "read", json!({"path": "x"}), Verdict::Allow);
    assert_eq!(held(&world, "a"), ["`read`"]);
    world.act(Action::Release { target: on("a") });
    assert_eq!(answered(&world, "t1"), Some(Answer::Run { args: json!({"path": "x"}) }));
    world.tool_done("a", "t1", json!(1));
    model(&mut world, "a", "m2");
    assert_eq!(answered(&world, "m2"), Some(go(&[], false)), "a release ends the stepping");
}

#[test]
fn gates_ask_after_the_hold_and_the_clock_rests_all_the_time() {
    let mut slow = agent("a", &[]);
    slow.policy.timeout_s = Some(10.0);
    let mut world = World::created(plan(vec![slow]), settings());
    world.act(point(Moment::Call, Some("a"), Some("tool == 'write' and first_use and args.path == 'x'")));
    world.command(Command::Start);
    model(&mut world, "a", "m1");
    world.ask("a", "t1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!((held(&world, "a"), world.open().len()), (vec!["`write`".to_string()], 0));
    assert!(world.run.is_parked());
    world.now += 60_000;
    world.due("a", TimerKind::Timeout);
    world.act(Action::Resume);
    assert_eq!((world.state("a"), world.open()), ("waiting", vec![1]));
    world.now += 60_000;
    world.decide(1, GateReply::Approve);
    assert_eq!((world.state("a"), answered(&world, "t1")), ("running", Some(Answer::Run { args: json!({"path": "x"}) })));
    world.tool_done("a", "t1", json!(1));
    world.ask("a", "t2", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!((held(&world, "a").len(), world.open()), (0, vec![2]), "it is not the first use any more");
}

#[test]
fn the_calls_of_one_reply_are_held_and_released_one_by_one() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.act(Action::StepInto { node: "a".into() });
    for call in ["t1", "t2", "t3"] {
        world.ask("a", call, "read", json!({"path": call}), Verdict::Allow);
    }
    world.act(Action::Step { node: Some("a".into()) });
    assert_eq!((world.answers().len(), held(&world, "a").len(), world.state("a")), (1, 2, "held"));
    world.act(Action::Step { node: None });
    world.act(Action::Resume);
    assert_eq!((world.answers().len(), world.state("a")), (3, "running"));
    assert_eq!(refused(&world.act(Action::Step { node: Some("a".into()) })), "`a` is running, not ready");
}

#[test]
fn a_node_of_a_paused_run_that_is_stepped_into_starts_and_stops_at_its_first_call() {
    let mut world = World::created(plan(vec![agent("a", &[]), agent("b", &[])]), settings());
    world.act(Action::Pause);
    world.command(Command::Start);
    world.act(Action::StepInto { node: "b".into() });
    assert_eq!((world.state("a"), world.state("b")), ("ready", "running"));
    model(&mut world, "b", "m1");
    assert_eq!((world.state("b"), world.run.pace()), ("held", Pace::Paused));
}

#[test]
fn a_call_of_a_tool_that_asks_a_model_is_held_with_its_clock_at_rest_and_is_no_turn_of_the_agent() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.ask("a", "t1", "read", json!({"path": "x"}), Verdict::Allow);
    world.act(Action::Guide { node: "a".into(), text: "be brief".into() });
    model(&mut world, "a", "inner1");
    assert_eq!(answered(&world, "inner1"), Some(go(&[], false)));
    world.act(Action::StepInto { node: "a".into() });
    model(&mut world, "a", "inner2");
    assert!(world.run.is_parked(), "its slot rests: {}", world.states());
    world.act(Action::Release { target: on("a") });
    world.tool_done("a", "t1", json!(1));
    model(&mut world, "a", "m1");
    assert_eq!(answered(&world, "m1"), Some(go(&["be brief"], false)));
}

#[test]
fn what_can_not_be_stepped_into_is_refused() {
    let map = NodeKind::Map(MapNode { over: "[1]".into(), body: Box::new(plan(vec![agent("x", &[])])), max_parallel: None });
    let mut world = World::new(plan(vec![agent("a", &[]), transform("t", json!(1), &["a"]), node("m", map, &["a"])]));
    for (id, words) in [("t", "calls neither models nor tools"), ("m", "step into a node of that"), ("no", "there is no node `no`")] {
        let why = refused(&world.act(Action::StepInto { node: id.into() }));
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn guidance_reaches_an_agent_with_its_next_turn_once_or_when_it_starts() {
    let mut retried = agent("a", &[]);
    retried.policy.retry = Some(Retry { attempts: 2, ..Retry::default() });
    let mut world = World::new(plan(vec![retried, agent("b", &["a"])]));
    world.act(Action::Guide { node: "a".into(), text: "use metres".into() });
    world.act(Action::Guide { node: "b".into(), text: "in German".into() });
    assert_eq!(world.run.graph.find("a").map(|ix| world.run.unheard(ix)), Some(&["use metres".to_string()][..]));
    model(&mut world, "a", "m1");
    model(&mut world, "a", "m2");
    assert_eq!((answered(&world, "m1"), answered(&world, "m2")), (Some(go(&["use metres"], false)), Some(go(&[], false))));
    world.fail("a", ErrorKind::NothingBegan);
    world.due("a", TimerKind::Retry);
    world.done("a", json!(1));
    let received = |world: &World, attempt: u32, id: &str| {
        world.effects.iter().find_map(|effect| match effect {
            Effect::Start { node, attempt: of, job, .. } if **node == *id && *of == attempt => match &**job {
                Job::Agent(job) => Some(job.guidance.clone()),
                _ => None,
            },
            _ => None,
        })
    };
    assert_eq!(received(&world, 2, "a").unwrap(), ["use metres"], "another attempt gets it again");
    assert_eq!(received(&world, 1, "b").unwrap(), ["in German"]);
    assert!(refused(&world.act(Action::Guide { node: "a".into(), text: "more".into() })).contains("rewind or rerun it"));
    model(&mut world, "b", "m3");
    assert_eq!(answered(&world, "m3"), Some(go(&[], false)));
}

#[test]
fn guidance_is_undone_until_it_is_delivered() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.act(Action::Guide { node: "a".into(), text: "use metres".into() });
    world.fact("a", WorkerFact::Output("thinking".into()));
    world.fact("a", WorkerFact::Message { role: MessageRole::Assistant, content: "thinking".into() });
    assert!(world.run.undoable().is_some(), "what the agent says has nothing to do with it");
    world.command(Command::Undo);
    model(&mut world, "a", "m1");
    assert_eq!(answered(&world, "m1"), Some(go(&[], false)));
    world.act(Action::Guide { node: "a".into(), text: "use metres".into() });
    model(&mut world, "a", "m2");
    assert_eq!(world.run.undoable(), None);
}

#[test]
fn only_agents_that_still_listen_are_guided() {
    let mut world = World::new(plan(vec![agent("a", &[]), tool("t", "read", json!({"path": "x"}), &[])]));
    assert!(
        refused(&world.act(Action::Guide { node: "t".into(), text: "x".into() })).contains("is not an agent, so it can't take guidance")
    );
    assert!(refused(&world.act(Action::Guide { node: "a".into(), text: "  ".into() })).contains("the text is empty"));
    world.act(Action::Stop { target: on("a") });
    world.act(Action::Guide { node: "a".into(), text: "and name your sources".into() });
    model(&mut world, "a", "m1");
    assert_eq!(answered(&world, "m1"), Some(go(&["and name your sources"], true)));
    assert!(refused(&world.act(Action::Guide { node: "a".into(), text: "x".into() })).contains("on its last turn"));
}

#[test]
fn one_running_agent_can_be_steered_stopped_and_keeps_what_it_has_or_cancelled() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &[])]));
    let blast = world.run.impact(&Action::Stop { target: on("a") }, Time(world.now));
    assert_eq!(
        (blast.nodes(NodeImpact::Wraps).to_vec(), blast.nodes(NodeImpact::Stops).to_vec(), blast.nodes(NodeImpact::Starts).to_vec()),
        (vec![NodeId::new("a")], vec![], vec![])
    );
    world.act(Action::Stop { target: on("a") });
    assert_eq!((world.state("a"), world.reason("a").as_str()), ("stopping", "stopped by anna; it returns what it has"));
    assert!(world.run.undoable().is_some());
    world.ask("a", "t1", "read", json!({"path": "x"}), Verdict::Allow);
    assert!(matches!(answered(&world, "t1"), Some(Answer::Refused { message }) if message.starts_with("stopped by anna")));
    model(&mut world, "a", "m1");
    assert_eq!((answered(&world, "m1"), world.run.undoable()), (Some(go(&[], true)), None));
    assert!(refused(&world.act(Action::Stop { target: on("a") })).contains("was stopped by anna already"));
    world.fact("a", WorkerFact::Done(Done { result: json!("half of it"), mark: Some(Mark::Stopped) }));
    assert_eq!((world.node("a").mark.as_ref().map(Mark::as_str), world.state("b")), (Some("stopped"), "running"));
    world.act(Action::Cancel { target: on("c") });
    assert_eq!(world.state("c"), "cancelled");
}

#[test]
fn a_stop_refuses_what_the_agent_waits_for() {
    let settings = RunSettings { slots: 1, ..settings() };
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), settings);
    world.ask("a", "t1", "write", json!({"path": "x"}), Verdict::Ask);
    world.act(Action::StepInto { node: "a".into() });
    world.ask("a", "t2", "read", json!({"path": "x"}), Verdict::Allow);
    let fact = WorkerFact::QuestionAsked {
        call: "q".into(),
        text: "which?".into(),
        options: vec![],
        fields: vec![],
        payload: Value::Null,
        within: None,
    };
    world.fact("a", fact);
    assert_eq!((world.open(), world.state("b")), (vec![1, 2], "running"));
    world.act(Action::Stop { target: on("a") });
    assert!(world.answers().is_empty(), "it waits for its slot");
    world.done("b", json!(1));
    assert_eq!((world.open().len(), world.answers().len(), world.state("a")), (0, 3, "stopping"));
    assert!(world.answers().iter().all(|(_, answer)| matches!(answer, Answer::Refused { .. })));
    model(&mut world, "a", "m1");
    assert_eq!(answered(&world, "m1"), Some(go(&[], true)), "a stopped node is not stepped through");
}

#[test]
fn an_agent_that_is_to_stop_and_waits_for_its_slot_may_still_be_cancelled() {
    let settings = RunSettings { slots: 1, ..settings() };
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), settings);
    world.ask("a", "t1", "write", json!({"path": "x"}), Verdict::Ask);
    world.act(Action::Stop { target: on("a") });
    world.act(Action::Cancel { target: on("a") });
    assert_eq!((world.state("a"), world.open()), ("cancelled", vec![]));
    world.done("b", json!(1));
    assert!(world.outcome().is_some(), "{:?}", world.run.queue);
}

#[test]
fn what_returns_nothing_is_not_stopped_alone() {
    let code = node("c", NodeKind::Code(CodeNode { code: "return 1".into(), sandbox: SandboxLimits::default() }), &[]);
    let mut world = World::new(plan(vec![code, agent("a", &["c"])]));
    assert!(refused(&world.act(Action::Stop { target: on("c") })).contains("nothing to return before its end"));
    assert!(refused(&world.act(Action::Stop { target: on("a") })).contains("has not started"));
}

#[test]
fn a_stopped_run_lets_agents_return_and_tools_finish_and_starts_nothing_more() {
    let body = plan(vec![agent("x", &[]), agent("y", &["x"])]);
    let map = NodeKind::Map(MapNode { over: "[1, 2, 3]".into(), body: Box::new(body), max_parallel: Some(1) });
    let nodes = vec![agent("a", &[]), tool("t", "read", json!({"path": "x"}), &[]), agent("b", &["a", "t"]), node("m", map, &[])];
    let mut world = World::new(plan(nodes));
    let blast = world.run.impact(&Action::Stop { target: ActionTarget::Run }, Time(world.now));
    assert_eq!(blast.nodes(NodeImpact::Wraps).to_vec(), [NodeId::new("a"), NodeId::new("m"), NodeId::new("m[0]/x")]);
    assert_eq!(blast.nodes(NodeImpact::Cancels).to_vec(), [NodeId::new("b"), NodeId::new("m[0]/y")]);
    world.act(Action::Stop { target: ActionTarget::Run });
    assert_eq!((world.state("t"), world.state("b"), world.reason("b").as_str()), ("running", "cancelled", "stopped by anna"));
    world.done("m[0]/x", json!(1));
    world.done("a", json!("half"));
    world.done("t", json!(1));
    assert_eq!(world.run.nodes().count(), 6, "no further entry of the map begins");
    assert_eq!(world.outcome(), Some(Outcome::Cancelled));
    assert_eq!(world.ended_by().as_deref(), Some("stopped by anna; what was done by then is kept"));
}

#[test]
fn a_stopped_loop_gives_what_its_last_turn_gave() {
    let body = plan(vec![agent("x", &[])]);
    let mut looped = node("l", NodeKind::Loop(LoopNode { body: Box::new(body), until: "false".into() }), &[]);
    looped.policy.max_iterations = Some(5);
    let mut world = World::new(plan(vec![looped, agent("b", &["l"])]));
    world.done("l[1]/x", json!("first"));
    world.act(Action::Stop { target: on("l") });
    model(&mut world, "l[2]/x", "m1");
    assert_eq!(answered(&world, "m1"), Some(go(&[], true)));
    world.done("l[2]/x", json!("second"));
    let looped = world.node("l");
    assert_eq!(
        (looped.state.word(), looped.mark.as_ref().map(Mark::as_str), looped.result.as_deref()),
        ("succeeded", Some("stopped"), Some(&json!("second")))
    );
    assert_eq!(world.state("b"), "running");
}

#[test]
fn a_call_that_was_held_when_the_driver_ended_was_never_made() {
    let mut world = World::new(plan(vec![agent("a", &[]), tool("t", "save", json!({"path": "x"}), &[])]));
    world.act(Action::StepInto { node: "t".into() });
    world.ask("t", "t1", "save", json!({"path": "x"}), Verdict::Allow);
    assert_eq!(held(&world, "t"), ["`save`"]);
    world.run = Run::replay(&world.records);
    world.step(Input::Recover { by: me() });
    assert_eq!((world.state("t"), world.node("t").attempt), ("running", 1), "nothing happened, so it goes again");
    world.ask("t", "t2", "save", json!({"path": "x"}), Verdict::Allow);
    assert_eq!(held(&world, "t").len(), 1, "and is stepped through as before");
}

#[test]
fn a_call_held_beside_one_at_work_leaves_slot_and_clock_to_that_one() {
    let mut slow = agent("a", &[]);
    slow.policy.timeout_s = Some(10.0);
    let mut world = World::created(plan(vec![slow, agent("b", &[])]), RunSettings { slots: 1, ..settings() });
    world.act(point(Moment::Call, Some("a"), Some("tool == 'save'")));
    world.command(Command::Start);
    model(&mut world, "a", "m1");
    world.ask("a", "t1", "read", json!({"path": "x"}), Verdict::Allow);
    world.ask("a", "t2", "save", json!({"path": "x"}), Verdict::Allow);
    assert_eq!((held(&world, "a"), world.state("b"), world.run.is_parked()), (vec!["`save`".to_string()], "ready", false));
    world.now += 6_000;
    world.tool_done("a", "t1", json!(1));
    assert_eq!((world.state("b"), world.run.is_parked()), ("running", false), "now nothing of it works");
    world.done("b", json!(1));
    assert!(world.run.is_parked());
    world.now += 60_000;
    world.act(Action::Resume);
    world.now += 4_000;
    world.due("a", TimerKind::Timeout);
    assert_eq!(world.state("a"), "failed", "6 s beside the held call and 4 s after it");
}

#[test]
fn a_tool_that_was_approved_before_or_after_a_stop_does_not_run_any_more() {
    for approved_first in [true, false] {
        let settings = RunSettings { slots: 1, ..settings() };
        let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), settings);
        world.ask("a", "t1", "write", json!({"path": "x"}), Verdict::Ask);
        assert_eq!(world.state("b"), "running");
        if approved_first {
            world.decide(1, GateReply::Approve);
        }
        world.act(Action::Stop { target: on("a") });
        if !approved_first {
            world.decide(1, GateReply::Approve);
        }
        world.done("b", json!(1));
        assert!(matches!(answered(&world, "t1"), Some(Answer::Refused { message }) if message.starts_with("stopped by anna")));
        assert_eq!(world.state("a"), "stopping");
        model(&mut world, "a", "m1");
        assert_eq!(answered(&world, "m1"), Some(go(&[], true)));
    }
}

#[test]
fn an_answer_that_a_person_gave_in_a_tools_place_is_heard_after_a_stop_too() {
    let settings = RunSettings { slots: 1, ..settings() };
    let mut world = World::with(plan(vec![agent("a", &[]), agent("b", &[])]), settings);
    world.ask("a", "t1", "write", json!({"path": "x"}), Verdict::Ask);
    world.act(Action::Stop { target: on("a") });
    world.decide(1, GateReply::Answer { value: json!("done by hand") });
    world.done("b", json!(1));
    assert_eq!(answered(&world, "t1"), Some(Answer::Value(json!("done by hand"))));
}

#[test]
fn a_held_call_that_would_have_asked_waits_for_its_slot_when_it_is_refused_unasked() {
    let mut world = World::created(plan(vec![agent("a", &[]), agent("b", &[])]), RunSettings { slots: 1, ..settings() });
    world.act(point(Moment::Call, Some("a"), None));
    world.command(Command::Start);
    world.ask("a", "t1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!((world.state("a"), world.state("b")), ("held", "running"));
    world.act(Action::Stop { target: on("a") });
    assert_eq!((world.state("a"), answered(&world, "t1")), ("held", None), "nobody asks about it any more, and there is no slot");
    world.done("b", json!(1));
    assert_eq!(world.state("a"), "stopping");
    assert!(matches!(answered(&world, "t1"), Some(Answer::Refused { .. })));
}

#[test]
fn the_time_of_a_node_is_that_of_its_work_and_stands_still_while_it_waits_for_people() {
    let mut asks = {
        let mut node = agent("a", &[]);
        node.policy.approve = Some(Approve::Before);
        node
    };
    asks.policy.retry = Some(Retry { attempts: 2, ..Retry::default() });
    let mut world = World::new(plan(vec![asks]));
    let took = |world: &World| world.node("a").work_ms_by(Time(world.now));
    world.now += 5_000;
    world.decide(1, GateReply::Approve);
    world.act(Action::StepInto { node: "a".into() });
    world.now += 10;
    model(&mut world, "a", "m1");
    world.now += 60_000;
    assert_eq!((world.state("a"), took(&world)), ("held", Some(10)), "held at its call");
    world.act(Action::Release { target: on("a") });
    world.now += 5;
    world.ask("a", "t1", "write", json!({"path": "x"}), Verdict::Ask);
    world.now += 60_000;
    assert_eq!((world.state("a"), took(&world)), ("waiting", Some(15)), "waits for an answer");
    world.decide(2, GateReply::Approve);
    world.now += 3;
    world.tool_done("a", "t1", json!(1));
    world.now += 2;
    assert_eq!((world.state("a"), took(&world)), ("running", Some(20)));
    world.fail("a", ErrorKind::NothingBegan);
    world.now += 60_000;
    assert_eq!((world.state("a"), took(&world)), ("retrying", Some(20)), "rests");
    world.due("a", TimerKind::Retry);
    world.now += 7;
    world.act(point(Moment::After, Some("a"), None));
    world.done("a", json!(1));
    world.now += 60_000;
    assert_eq!((world.state("a"), took(&world)), ("held", Some(27)), "its result is kept");
    world.act(Action::Release { target: on("a") });
    assert_eq!((world.state("a"), world.node("a").work_ms()), ("succeeded", Some(27)));
}

#[test]
fn nobody_worked_while_nobody_drove_the_run() {
    let doc = plan(vec![
        node("inside", NodeKind::Subplan(SubplanNode::Inline(Box::new(plan(vec![agent("x", &[])])))), &[]),
        tool("t", "save", json!({"path": "x"}), &[]),
    ]);
    let mut world = World::new(doc);
    let call = ToolCall { id: "t1".into(), tool: "save".into(), args: json!({"path": "x"}) };
    world.fact("t", WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves: None });
    world.now += 40;
    world.fact("inside/x", WorkerFact::Log("here".into()));
    world.now += 3_600_000;
    world.run = Run::replay(&world.records);
    world.step(Input::Recover { by: me() });
    let took = |world: &World, id: &str| world.node(id).work_ms_by(Time(world.now));
    assert_eq!((world.state("t"), took(&world, "t"), took(&world, "inside")), ("unknown", Some(40), Some(40)));
    world.now += 2;
    assert_eq!((took(&world, "inside/x"), took(&world, "inside"), took(&world, "t")), (Some(2), Some(42), Some(40)));
}

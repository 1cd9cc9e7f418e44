//! What becomes of nodes that were at work when the driver of their run ended, one sentence a test.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::json;

impl World {
    /// The driver dies; another one opens what is in the journal.
    pub fn crash(&mut self) -> Vec<Event> {
        self.run = Run::replay(&self.records);
        self.effects.clear();
        self.step(Input::Recover { by: me() })
    }
}

fn save(id: &str, deps: &[&str]) -> Node {
    tool(id, "save", json!({"path": "x"}), deps)
}

/// Case 8.
#[test]
fn in_the_middle_of_a_fan_out_the_run_opens_and_goes_on() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), agent("c", &["a"]), agent("d", &["b", "c"])]));
    world.done("a", json!(1));
    world.done("b", json!(2));
    assert_eq!(world.states(), "a succeeded, b succeeded, c running, d pending");
    let events = world.crash();
    assert!(matches!(&events[0], Event::RunRecovered { by, .. } if *by == me()));
    assert!(
        matches!(&events[1], Event::Node { node_id, fact: NodeFact::Interrupted { attempt: 1, .. }, .. } if &**node_id == "c"),
        "{events:?}"
    );
    assert_eq!(world.started(), ["c"], "what was finished is not run again");
    assert_eq!(world.node("c").attempt, 2);
    world.done("c", json!(3));
    world.done("d", json!(4));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn a_tool_whose_call_was_released_is_unknown_until_somebody_decides() {
    let mut world = World::new(plan(vec![save("s", &[]), agent("after", &["s"])]));
    world.ask("s", "1", "save", json!({"path": "x"}), Verdict::Allow);
    world.crash();
    assert_eq!(world.states(), "s unknown, after pending");
    assert!(world.started().is_empty() && world.run.is_parked());
    world.decide(1, GateReply::Answer { value: json!("run again") });
    assert_eq!(world.started(), ["s"]);
    assert_eq!(world.node("s").attempt, 2);
}

#[test]
fn a_journal_that_asks_in_words_what_becomes_of_a_node_reads_as_one_that_offers_choices() {
    for (words, choice) in [("run again", "again"), ("mark done", "done"), ("skip", "skip")] {
        let mut world = World::new(plan(vec![save("s", &[]), agent("after", &["s"])]));
        world.ask("s", "1", "save", json!({"path": "x"}), Verdict::Allow);
        world.crash();
        world.decide(1, GateReply::Answer { value: json!(words) });
        let mut old = 0;
        let as_it_was = |record: &Record| {
            let mut value = serde_json::to_value(record).unwrap();
            if value["gate"]["kind"]["kind"] == "unknown_effect" {
                let text = value["gate"]["kind"]["text"].take();
                let options = ["run again", "mark done", "skip"];
                value["gate"]["kind"] = json!({"kind": "question", "text": text, "options": options, "fields": [], "call": null});
                old += 1;
            } else if value["decision"] == json!({"decision": "lost", "choice": choice}) {
                value["decision"] = json!({"decision": "answer", "value": words});
                old += 1;
            }
            serde_json::from_value(value).unwrap()
        };
        let records: Vec<Record> = world.records.iter().map(as_it_was).collect();
        assert_eq!(old, 2);
        assert_eq!(Run::replay(&records), world.run);
    }
}

#[test]
fn a_tool_whose_call_was_never_released_has_not_begun_and_goes_again() {
    for said in [None, Some(true)] {
        let mut node = save("s", &[]);
        node.policy.side_effects = said;
        let mut world = World::new(plan(vec![node]));
        world.crash();
        assert_eq!((world.states().as_str(), world.started()), ("s running", vec!["s".to_string()]));
    }
}

#[test]
fn a_call_that_ended_gives_its_node_the_result_and_is_not_made_again() {
    let mut world = World::new(plan(vec![save("s", &[])]));
    world.ask("s", "1", "save", json!({"path": "x"}), Verdict::Allow);
    world.tool_done("s", "1", json!("saved"));
    world.crash();
    assert!(world.started().is_empty());
    assert_eq!(world.node("s").result.as_deref(), Some(&json!("saved")));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

/// Case 9: 500, then the crash, then 200.
#[test]
fn a_failure_is_not_replayed_as_the_result() {
    let mut world = World::new(plan(vec![tool("r", "read", json!({"path": "x"}), &[])]));
    world.ask("r", "1", "read", json!({"path": "x"}), Verdict::Allow);
    let report = ToolReport { ok: false, value: json!("500"), ..ToolReport::default() };
    world.fact("r", WorkerFact::ToolDone { call: "1".into(), report });
    world.crash();
    assert_eq!(world.started(), ["r"]);
    world.ask("r", "2", "read", json!({"path": "x"}), Verdict::Allow);
    world.tool_done("r", "2", json!("200"));
    world.done("r", json!("200"));
    assert_eq!(world.node("r").result.as_deref(), Some(&json!("200")));
    assert_eq!((world.outcome(), &world.node("r").error), (Some(Outcome::Succeeded), &None));
}

#[test]
fn an_agent_is_unknown_once_a_call_that_leaves_something_was_released() {
    for (called, state) in [("read", "running"), ("save", "unknown")] {
        let mut world = World::new(plan(vec![agent("a", &[])]));
        world.ask("a", "1", called, json!({"path": "x"}), Verdict::Allow);
        world.tool_done("a", "1", json!(1));
        world.crash();
        assert_eq!(world.state("a"), state, "{called}");
    }
}

#[test]
fn a_plan_that_says_what_a_node_leaves_behind_is_believed() {
    for (said, state) in [(true, "unknown"), (false, "running")] {
        let mut node = agent("a", &[]);
        node.policy.side_effects = Some(said);
        let mut world = World::new(plan(vec![node]));
        world.ask("a", "1", "save", json!({"path": "x"}), Verdict::Allow);
        world.crash();
        assert_eq!(world.state("a"), state, "{said}");
    }
}

#[test]
fn what_was_approved_stays_approved_and_what_was_being_asked_is_asked_again() {
    let mut world = World::new(plan(vec![tool("w", "write", json!({"path": "x"}), &[]), agent("a", &[])]));
    world.decide(1, GateReply::Approve);
    world.ask("a", "1", "write", json!({"path": "y"}), Verdict::Ask);
    assert_eq!(world.states(), "w running, a waiting");
    world.crash();
    assert_eq!(world.states(), "w running, a running");
    assert_eq!(world.voided(2).as_deref(), Some("the attempt has ended"));
    world.ask("w", "1", "write", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.answers().len(), 1, "the approval holds for the next attempt");
    world.ask("a", "1", "write", json!({"path": "y"}), Verdict::Ask);
    assert_eq!(world.open(), [3]);
}

#[test]
fn gates_of_nodes_that_have_not_started_stay_open_under_their_names() {
    let mut gated = agent("a", &[]);
    gated.policy.approve = Some(Approve::Before);
    let mut world = World::new(plan(vec![gated, agent("b", &[])]));
    let hash = world.run.gate(GateId(1)).unwrap().0.hash.clone();
    world.crash();
    assert_eq!(world.open(), [1]);
    assert_eq!(world.run.gate(GateId(1)).unwrap().0.hash, hash);
}

#[test]
fn a_node_that_waits_for_its_next_attempt_still_gets_it() {
    let mut node = agent("a", &[]);
    node.policy.retry = Some(Retry { attempts: 2, ..Retry::default() });
    let mut world = World::new(plan(vec![node]));
    world.fail("a", ErrorKind::Transient);
    let NodeState::Retrying { until } = world.node("a").state else { panic!("{}", world.states()) };
    world.crash();
    let timer = Timer { node: "a".into(), generation: 1, attempt: 1, kind: TimerKind::Retry };
    assert_eq!(world.effects, [Effect::SetTimer { timer, at: until }]);
    world.due("a", TimerKind::Retry);
    assert_eq!(world.started(), ["a"]);
}

#[test]
fn locks_and_slots_of_the_dead_are_free() {
    let locked = |id: &str| {
        let mut node = save(id, &[]);
        node.policy.locks = Some(vec!["file".into()]);
        node
    };
    let mut world = World::with(plan(vec![locked("a"), locked("b")]), RunSettings { slots: 1, ..settings() });
    world.ask("a", "1", "save", json!({"path": "x"}), Verdict::Allow);
    world.crash();
    assert_eq!(world.states(), "a unknown, b running");
}

#[test]
fn what_runs_inside_of_nodes_goes_on_where_it_was() {
    let body = plan(vec![agent("x", &[]), agent("y", &["x"])]);
    let map = node("m", NodeKind::Map(MapNode { over: "[1, 2]".into(), body: Box::new(body), max_parallel: None }), &[]);
    let mut world = World::new(plan(vec![map]));
    world.done("m[0]/x", json!(1));
    world.crash();
    assert_eq!(world.started(), ["m[1]/x", "m[0]/y"]);
    assert_eq!(world.node("m").attempt, 1, "the map itself did not break off");
}

#[test]
fn a_settled_run_is_not_recovered() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.done("a", json!(1));
    assert_eq!(world.crash(), []);
}

#[test]
fn a_branch_goes_on_from_what_it_keeps_also_where_the_other_run_was_over() {
    let mut world = World::new(plan(vec![agent("a", &[]), save("s", &["a"])]));
    world.done("a", json!(1));
    world.ask("s", "1", "save", json!({"path": "x"}), Verdict::Allow);
    let at = world.records.len();
    world.command(Command::act(Action::Cancel { target: ActionTarget::Run }));
    assert_eq!(world.outcome(), Some(Outcome::Cancelled));
    for (at, states) in [(2, "a running, s pending"), (at, "a succeeded, s unknown"), (world.records.len(), "a succeeded, s cancelled")] {
        let mut branch =
            World { run: Run::replay(&world.records[..at]), records: world.records[..at].to_vec(), ..World::new(plan(vec![])) };
        branch.step(Input::Branch { from: RunId("run".into()), from_seq: at as u64, by: me() });
        assert_eq!(branch.states(), states, "{at}");
        assert!(matches!(&branch.records[at].event, Event::Branched { from_seq: shared, .. } if *shared == at as u64));
    }
}

#[test]
fn an_answer_that_the_worker_never_heard_holds_for_the_same_question_of_the_next_attempt() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.ask("a", "1", "write", json!({"path": "y"}), Verdict::Ask);
    let hash = world.run.gate(GateId(1)).unwrap().0.hash.clone();
    let yes = Command::decide(GateId(1), GateReply::Approve, hash);
    world.effects.clear();
    let by = Actor { who: "bob".into(), via: "cli".into() };
    let batch = world.run.steps(&[Input::Command { command: yes, by: by.clone() }, Input::Recover { by: me() }], Time(2_000));
    world.records.extend(batch.records);
    assert_eq!(world.states(), "a running");
    world.ask("a", "1", "write", json!({"path": "other"}), Verdict::Ask);
    assert_eq!(world.open(), [2], "another call is asked about");
    world.ask("a", "2", "write", json!({"path": "y"}), Verdict::Ask);
    assert_eq!(world.answers(), [("2".to_string(), Answer::Run { args: json!({"path": "y"}) })]);
    assert_eq!(world.run.gate(GateId(3)).unwrap().1.unwrap().by, by, "it is on record who said yes");
    world.ask("a", "3", "write", json!({"path": "y"}), Verdict::Ask);
    assert_eq!(world.open(), [2, 4], "one yes is for one call");
}

#[test]
fn actions_that_come_with_the_recovery_are_heard_before_anything_starts() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    let run = &mut Run::replay(&world.records);
    let pause = Input::Command { command: Command::act(Action::Pause), by: me() };
    let batch = run.steps(&[pause, Input::Recover { by: me() }], Time(2_000));
    assert_eq!(batch.effects, []);
    world.run = run.clone();
    assert_eq!(world.states(), "a ready, b pending");
}

fn proposes(world: &mut World, id: &str, calls: &[&str]) -> Vec<String> {
    for call in calls {
        world.fact(id, WorkerFact::ModelAsked { call: format!("m{call}"), model: "m".into(), need: None });
        if world.run.held_calls(&id.into()).next().is_some() {
            break;
        }
        world.ask(id, &format!("t{call}"), "read", json!({"path": call}), Verdict::Allow);
        if world.run.held_calls(&id.into()).next().is_some() {
            break;
        }
        world.tool_done(id, &format!("t{call}"), json!(1));
    }
    world.run.held_calls(&id.into()).map(|held| held.call.clone()).collect()
}

#[test]
fn a_call_that_was_released_is_not_held_again_in_the_attempt_after_a_crash() {
    let release = Input::Command { command: Command::act(Action::Release { target: on("a") }), by: me() };
    for let_go_first in [false, true] {
        let mut node = agent("a", &[]);
        node.policy.breakpoint = Some(json!("call"));
        let mut world = World::new(plan(vec![node]));
        let mut stops = Vec::new();
        loop {
            let held = proposes(&mut world, "a", &["x", "y"]);
            if held.is_empty() {
                break;
            }
            stops.extend(held);
            assert!(world.run.is_parked());
            // Nobody drives the run on: the next process lets the call go, before or after it has recovered the run.
            world.run = Run::replay(&world.records);
            assert_eq!(world.run.without_driver(Time(0)).refusal(&Command::act(Action::Release { target: on("a") })), None);
            let recover = Input::Recover { by: me() };
            for input in if let_go_first { [release.clone(), recover] } else { [recover, release.clone()] } {
                world.step(input);
            }
        }
        assert_eq!(stops, ["mx", "tx", "my", "ty"], "each is held once, the second of the same name too");
        world.done("a", json!(1));
        assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    }
}

#[test]
fn a_new_try_after_a_failure_and_a_call_that_nobody_released_are_held_as_before() {
    let mut node = agent("a", &[]);
    node.policy.breakpoint = Some(json!("call"));
    node.policy.retry = Some(Retry { attempts: 4, ..Retry::default() });
    let mut world = World::new(plan(vec![node]));
    assert_eq!(proposes(&mut world, "a", &["x"]), ["mx"]);
    world.crash();
    assert_eq!(proposes(&mut world, "a", &["x"]), ["mx"], "nobody let it go");
    world.act(Action::Step { node: Some("a".into()) });
    world.fail("a", ErrorKind::NothingBegan);
    world.due("a", TimerKind::Retry);
    assert_eq!((world.node("a").attempt, proposes(&mut world, "a", &["x"])), (3, vec!["mx".to_string()]));
}

#[test]
fn a_step_after_a_crash_lets_the_node_begin_and_the_one_call_go_that_it_stood_at() {
    let recover = Input::Recover { by: me() };
    for action in [Action::Step { node: None }, Action::Step { node: Some("a".into()) }] {
        for (paused, at_once) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut node = agent("a", &[]);
            node.policy.breakpoint = Some(json!("call"));
            let mut world = World::new(plan(vec![node, agent("b", &[]), agent("c", &["b"])]));
            assert_eq!(proposes(&mut world, "a", &["x"]), ["mx"]);
            if paused {
                world.act(Action::Pause);
            }
            world.run = Run::replay(&world.records);
            let step = Input::Command { command: Command::act(action.clone()), by: me() };
            if at_once {
                let batch = world.run.steps(&[recover.clone(), step], Time(2_000));
                world.records.extend(batch.records);
            } else {
                world.step(recover.clone());
                world.step(step);
            }
            let beside = if paused { "ready" } else { "running" };
            assert_eq!((world.state("a"), world.node("a").attempt, world.state("b")), ("running", 2, beside), "{action:?} {at_once}");
            assert_eq!(proposes(&mut world, "a", &["x"]), ["tx"], "the one call goes, and the next is held: {action:?} {paused} {at_once}");
            assert_eq!(world.run.pace() == Pace::Going, !paused, "all else goes as it went");
        }
    }
}

#[test]
fn what_a_node_stood_at_is_forgotten_with_its_end() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &[])]));
    world.act(Action::Break { point: Breakpoint { at: Moment::Call, node: Some("a".into()), when: None, disabled: false } });
    assert_eq!(proposes(&mut world, "a", &["x"]), ["mx"]);
    world.crash();
    world.done("a", json!(1));
    let why = world.run.refusal(&Command::act(Action::Resume));
    assert_eq!(why.as_deref(), Some("the run is not paused, and no breakpoint halts it"));
}

#[test]
fn what_was_approved_in_a_run_is_asked_again_in_its_branch() {
    let mut node = save("s", &[]);
    node.policy.approve = Some(Approve::Before);
    let mut world = World::with(plan(vec![node, agent("a", &[]), agent("b", &[])]), RunSettings { slots: 1, ..settings() });
    world.decide(1, GateReply::Approve);
    assert_eq!(world.states(), "s ready, a running, b ready", "approved, and in line");
    let approved = world.records.len() as u64;
    world.done("a", json!(1));
    world.done("b", json!(1));
    assert_eq!(world.state("s"), "running");
    for at in [approved, world.records.len() as u64] {
        let run = Run::replay(&world.records[..usize::try_from(at).unwrap()]);
        let mut branch = World { run, records: Vec::new(), ..World::new(plan(vec![])) };
        branch.step(Input::Branch { from: RunId("run".into()), from_seq: at, by: me() });
        assert_eq!((branch.state("s"), branch.open()), ("waiting", vec![2]), "a yes is for one run");
    }
}

#[test]
fn waiting_at_a_gate_inside_a_call_uses_up_no_attempt() {
    let mut world = World::new(plan(vec![tool("r", "read", json!({"path": "x"}), &[])]));
    for _ in 0..3 {
        world.ask("r", "1", "read", json!({"path": "x"}), Verdict::Ask);
        assert_eq!(world.state("r"), "waiting");
        world.crash();
    }
    for failures in 1..=2 {
        world.fail("r", ErrorKind::NothingBegan);
        assert_eq!(world.state("r"), "retrying", "{failures} of 3 attempts have failed");
        world.due("r", TimerKind::Retry);
    }
    world.fail("r", ErrorKind::NothingBegan);
    assert_eq!(world.state("r"), "failed");
}

#[test]
fn a_call_that_was_under_way_when_two_processes_ended_is_named_once() {
    let mut world = World::new(plan(vec![save("s", &[])]));
    for gate in 1..=2 {
        world.ask("s", "1", "save", json!({"path": "x"}), Verdict::Allow);
        world.crash();
        let text = world.run.gate(GateId(gate)).unwrap().0.kind.question().map(|asked| asked.text.to_owned());
        assert!(text.unwrap().starts_with("The call of `save` in `s` may have had its effect"));
        world.decide(gate, GateReply::Lost { choice: LostChoice::Again });
    }
}

#[test]
fn an_approval_of_a_tool_nodes_call_holds_across_the_retries_of_its_generation() {
    let mut world = World::new(plan(vec![tool("r", "read", json!({"path": "x"}), &[])]));
    world.ask("r", "1", "read", json!({"path": "x"}), Verdict::Ask);
    world.decide(1, GateReply::Approve);
    for attempt in 2..4 {
        world.fail("r", ErrorKind::NothingBegan);
        world.due("r", TimerKind::Retry);
        assert_eq!(world.node("r").attempt, attempt);
        world.ask("r", "1", "read", json!({"path": "x"}), Verdict::Ask);
        assert_eq!((world.open(), world.states().as_str()), (vec![], "r running"), "attempt {attempt}");
    }
    world.fail("r", ErrorKind::NothingBegan);
    assert_eq!(world.states(), "r failed");
    world.act(Action::Rerun { node: "r".into(), scope: RerunReach::Downstream });
    world.ask("r", "1", "read", json!({"path": "x"}), Verdict::Ask);
    assert_eq!(world.open().len(), 1, "a new generation asks again");
    world.decide(world.open()[0], GateReply::Approve);
    world.fail("r", ErrorKind::NothingBegan);
    world.due("r", TimerKind::Retry);
    world.ask("r", "1", "read", json!({"path": "another"}), Verdict::Ask);
    assert_eq!(world.open().len(), 1, "and so does another payload");
}

#[test]
fn a_tool_node_that_only_asked_when_its_driver_ended_has_made_no_attempt() {
    let mut world = World::new(plan(vec![tool("r", "read", json!({"path": "x"}), &[])]));
    for _ in 0..3 {
        world.ask("r", "1", "read", json!({"path": "x"}), Verdict::Ask);
        world.crash();
        assert_eq!(world.node("r").attempt, 1);
    }
}

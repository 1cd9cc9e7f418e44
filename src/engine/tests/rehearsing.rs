//! Rehearsals: what needs a model that nobody answers for, and all that depends on it. And random plans, of which nothing happens.

use super::kit::*;
use super::properties::{build, drawn};
use crate::engine::*;
use crate::plan::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// No model is set up.
fn alone() -> RunSettings {
    RunSettings { model: None, ..settings() }
}

/// The same, and nothing is to change.
fn rehearsing() -> RunSettings {
    RunSettings { rehearse: true, ..alone() }
}

fn rehearse(world: &mut World, id: &str, result: Value) {
    world.fact(id, WorkerFact::Done(Done { result, mark: Some(Mark::Rehearsal) }));
}

fn result<'a>(world: &'a World, id: &str) -> &'a Value {
    world.node(id).result.as_deref().unwrap()
}

#[test]
fn what_depends_on_a_rehearsed_node_is_rehearsed_and_runs_no_tool_and_no_code_and_opens_no_gate() {
    let code = NodeKind::Code(CodeNode { code: "return 1".into(), sandbox: SandboxLimits::default() });
    let ask = NodeKind::Approval(ApprovalNode { text: "send {{s}}?".into(), ..ApprovalNode::default() });
    let mut nodes = vec![agent("s", &[]), tool("w", "write", json!({"path": "{{s.title}}"}), &["s"]), node("c", code, &["s"])];
    nodes.extend([node("q", ask, &["s"]), tool("free", "read", json!({"path": "x"}), &[])]);
    nodes[0].policy.approve = Some(Approve::Both);
    let mut world = World::with(plan(nodes), alone());
    rehearse(&mut world, "s", json!("a text"));
    assert_eq!(world.states(), "s rehearsed, w rehearsed, c rehearsed, q rehearsed, free running");
    assert_eq!((world.started(), world.open()), (vec!["s".to_string(), "free".to_string()], vec![]));
    assert_eq!(result(&world, "w"), &json!("[rehearsed] would call write: {\"path\":\"[rehearsed: s.title]\"}"));
    assert_eq!(result(&world, "c"), &json!("[rehearsed] would run this code:\nreturn 1"));
    assert_eq!(result(&world, "q"), &json!("[rehearsed] would ask: send a text?"));
    world.done("free", json!("x"));
    assert_eq!(world.outcome(), Some(Outcome::Rehearsed));
    assert_eq!(world.ended_by().unwrap(), "what needs a model or would change something was only rehearsed");
}

/// A plan may say of a tool that it changes nothing; a rehearsal doesn't take its word for it.
fn said_harmless(node: Node) -> Node {
    Node { policy: Policy { side_effects: Some(false), ..node.policy }, ..node }
}

#[test]
fn with_rehearse_what_has_a_side_effect_is_rehearsed_and_what_only_reads_runs() {
    let mut world = World::with(
        plan(vec![tool("r", "read", json!({"path": "x"}), &[]), said_harmless(tool("w", "save", json!({"path": "{{r}}"}), &["r"]))]),
        rehearsing(),
    );
    world.done("r", json!("found"));
    assert_eq!((world.states().as_str(), world.outcome()), ("r succeeded, w rehearsed", Some(Outcome::Rehearsed)));
    assert_eq!(
        (world.started(), result(&world, "w")),
        (vec!["r".to_string()], &json!("[rehearsed] would call save: {\"path\":\"found\"}"))
    );
}

#[test]
fn over_rehearsed_data_guards_hold_and_nothing_is_passed_over() {
    let mut nodes = vec![agent("s", &[]), transform("t", json!("{{s.a.b}} and {{ s.n + 1 }}"), &["s"]), agent("p", &["s"])];
    nodes[1].policy.when = Some("s.n > 3".into());
    nodes[2].policy.skip_if = Some("s".into());
    nodes[1].policy.breakpoint = Some(json!({"at": "after", "when": "output"}));
    let mut world = World::with(Plan { edges: vec![edge("s", "u", "s.n < 0")], ..plan([nodes, vec![agent("u", &[])]].concat()) }, alone());
    rehearse(&mut world, "s", json!("a text"));
    assert_eq!(world.states(), "s rehearsed, t rehearsed, p running, u running");
    assert_eq!(result(&world, "t"), &json!("[rehearsed: s.a.b] and [rehearsed: {{ s.n + 1 }}]"));
}

#[test]
fn a_rehearsed_decision_takes_its_default_or_its_first_edge() {
    for (default, taken) in [(false, "a running, b skipped"), (true, "a skipped, b running")] {
        let decide = NodeKind::Decision(DecisionNode::Agent(AgentNode { agent: Some("worker".into()), ..AgentNode::default() }));
        let right = Edge { default, ..edge("d", "b", "right") };
        let nodes = vec![node("d", decide, &[]), agent("a", &[]), agent("b", &[])];
        let mut world = World::with(Plan { edges: vec![edge("d", "a", "left"), right], ..plan(nodes) }, alone());
        rehearse(&mut world, "d", json!("right"));
        assert_eq!(world.states(), format!("d rehearsed, {taken}"));
    }
}

#[test]
fn a_map_over_rehearsed_data_runs_one_sample_and_a_loop_one_turn_and_both_are_rehearsed() {
    let body = || Box::new(plan(vec![tool("w", "write", json!({"path": "{{item.name}}"}), &[])]));
    let turn = Box::new(plan(vec![agent("a", &[])]));
    let nodes = vec![
        agent("s", &[]),
        node("m", NodeKind::Map(MapNode { over: "s.items".into(), body: body(), max_parallel: None }), &["s"]),
        node("l", NodeKind::Loop(LoopNode { body: turn, until: "a.good".into() }), &[]),
    ];
    let mut world = World::with(plan(nodes), alone());
    rehearse(&mut world, "s", json!("a text"));
    rehearse(&mut world, "l[1]/a", json!("a text"));
    assert_eq!(world.states(), "s rehearsed, m rehearsed, l rehearsed, l[1]/a rehearsed, m[0]/w rehearsed");
    assert_eq!(result(&world, "m"), &json!(["[rehearsed] would call write: {\"path\":\"[rehearsed: item.name]\"}"]));
    assert_eq!(world.outcome(), Some(Outcome::Rehearsed));
}

#[test]
fn an_overridden_result_voids_the_rehearsed_nodes_after_it_and_they_run_for_real() {
    let mut world = World::with(plan(vec![agent("s", &[]), tool("w", "write", json!({"path": "{{s}}"}), &["s"])]), alone());
    rehearse(&mut world, "s", json!("a text"));
    assert_eq!(world.outcome(), Some(Outcome::Rehearsed));
    world.act(Action::Override { node: "s".into(), value: json!("real.txt") });
    assert_eq!((world.states().as_str(), world.open().len()), ("s succeeded, w waiting", 1));
    assert_eq!(world.run.open_gates().next().unwrap().payload, json!({"path": "real.txt"}));
}

#[test]
fn running_a_rehearsed_node_again_alone_voids_the_rehearsed_nodes_after_it() {
    let mut world =
        World::with(plan(vec![agent("s", &[]), transform("t", json!("{{s}}"), &["s"]), transform("u", json!("{{t}}"), &["t"])]), alone());
    rehearse(&mut world, "s", json!("a text"));
    world.act(Action::Rerun { node: "s".into(), scope: RerunReach::Alone });
    assert_eq!(world.states(), "s running, t pending, u pending");
}

#[test]
fn a_rehearsal_goes_on_for_real_with_a_model_that_a_person_chose() {
    let mut world = World::with(plan(vec![agent("s", &[]), tool("w", "write", json!({"path": "{{s}}"}), &["s"])]), rehearsing());
    rehearse(&mut world, "s", json!("a text"));
    world.command(Command::UseModel { model: "test".into(), slots: None });
    world.act(Action::Rerun { node: "s".into(), scope: RerunReach::Downstream });
    world.done("s", json!("real.txt"));
    assert_eq!((world.states().as_str(), world.open().len()), ("s succeeded, w waiting", 1));
}

#[test]
fn a_person_answers_for_a_model_and_nothing_is_rehearsed() {
    let mut world =
        World::with(plan(vec![agent("s", &[]), agent("t", &["s"])]), RunSettings { model: Some("operator".into()), ..settings() });
    world.done("s", json!("said"));
    world.done("t", json!("said"));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
}

#[test]
fn a_result_that_an_earlier_version_marked_as_rehearsal_is_rehearsed_and_its_recorded_outcome_stays() {
    let mut world = World::with(plan(vec![agent("s", &[])]), alone());
    rehearse(&mut world, "s", json!("[rehearsal] No model is set up"));
    let mut records = world.records.clone();
    for record in &mut records {
        match &mut record.event {
            Event::Node { fact: NodeFact::Ready { rehearsed }, .. } => *rehearsed = false,
            Event::RunEnded { outcome, .. } => *outcome = Outcome::Succeeded,
            _ => {}
        }
    }
    let run = Run::replay(&records);
    assert_eq!(run.node(&"s".into()).unwrap().state, NodeState::Rehearsed);
    assert_eq!(run.outcome().unwrap().0, Outcome::Succeeded);
}

/// Every worker that starts hands in what it is asked for, until nobody is at work.
fn run_out(world: &mut World) {
    let mut heard = 0;
    while let Some(effect) = world.effects.get(heard).cloned() {
        heard += 1;
        let Effect::Start { node, generation, attempt, job, .. } = effect else { continue };
        let rehearsed = matches!(&*job, Job::Agent(job) if job.rehearsed);
        let mark = rehearsed.then_some(Mark::Rehearsal);
        let fact = WorkerFact::Done(Done { result: json!({"route": "left", "ok": false}), mark });
        world.step(Input::Work { node, generation, attempt, fact });
    }
}

proptest! {
    #[test]
    fn in_random_rehearsals_nothing_acts_no_gate_opens_over_made_up_data_and_what_reads_it_is_rehearsed(
        drawn in prop::collection::vec(drawn(), 1..9),
        dialect in prop_oneof![Just(Dialect::Native), Just(Dialect::Workflow), Just(Dialect::Stages)],
    ) {
        let plan = build(&drawn, dialect);
        let mut world = World::with(plan, rehearsing());
        run_out(&mut world);
        let acts = ["save", "write", "delete"];
        for effect in &world.effects {
            if let Effect::Start { job, .. } = effect {
                let is_agent = matches!(&**job, Job::Agent(job) if !job.rehearsed);
                prop_assert!(!is_agent, "an agent works");
                let is_act = matches!(&**job, Job::Tool { tool, .. } if acts.contains(&tool.as_str()));
                prop_assert!(!is_act, "a tool acts");
            }
        }
        let rehearsed: BTreeSet<String> =
            world.run.nodes().filter(|(_, node)| node.state == NodeState::Rehearsed).map(|(id, _)| id.to_string()).collect();
        for gate in world.run.gates() {
            prop_assert!(!rehearsed.contains(gate.0.node.as_str()), "a gate opened at {}", gate.0.node);
        }
        for (at, link) in world.run.graph.links.iter().enumerate() {
            let is_taken = world.run.edge_state(EdgeId(u32::try_from(at).unwrap())) == EdgeState::Taken;
            let (source, target) = (&world.run.nodes[link.from], &world.run.nodes[link.to]);
            if is_taken && source.state == NodeState::Rehearsed && world.run.graph.nodes[link.to].join != Some(Join::Any) {
                let id = world.run.id_of(link.to);
                prop_assert!(target.state != NodeState::Succeeded, "{} succeeded over made-up data", id);
            }
        }
        let plan = world.run.plan().unwrap();
        let ends = plan.nodes.iter().filter(|node| world.run.is_final(&node.id));
        if world.outcome() == Some(Outcome::Succeeded) && !dialect.walks() {
            prop_assert!(ends.into_iter().all(|node| !rehearsed.contains(node.id.as_str())));
        }
    }
}

#[test]
fn a_write_that_is_rehearsed_again_is_not_said_to_change_things_again() {
    let world = World::with(plan(vec![tool("w", "save", json!({"path": "x"}), &[])]), rehearsing());
    let again = Action::Rerun { node: "w".into(), scope: RerunReach::Downstream };
    let lines: Vec<String> = world.run.impact(&again, Time(world.now)).lines().into_iter().map(|(_, line)| line.into_string()).collect();
    assert_eq!(lines, ["rehearses again: w"]);
    assert_eq!(world.run.rehearsed_because(&"w".into()), "it would change something outside");
}

#[test]
fn the_result_of_a_rehearsed_decision_is_the_way_that_it_takes() {
    let decide = NodeKind::Decision(DecisionNode::Expression("'x' if w.ok else 'y'".into()));
    let saved = tool("w", "save", json!({"path": "x"}), &[]);
    let nodes = vec![saved, node("d", decide, &["w"]), transform("x", json!(1), &[]), transform("y", json!("got {{d}}"), &[])];
    let mut document = plan(nodes);
    document.edges = vec![edge("d", "x", "x"), Edge { default: true, ..edge("d", "y", "y") }];
    let world = World::with(document, rehearsing());
    assert_eq!(world.states(), "w rehearsed, d rehearsed, x skipped, y rehearsed");
    assert_eq!((result(&world, "d"), result(&world, "y")), (&json!("y"), &json!("got y")));
}

#[test]
fn a_map_whose_body_is_rehearsed_again_is_said_to_be_so() {
    let body = Box::new(plan(vec![tool("x", "save", json!({"path": "{{item}}"}), &[])]));
    let map = NodeKind::Map(MapNode { over: "a.items".into(), body, max_parallel: None });
    let mut world = World::with(plan(vec![agent("a", &[]), transform("v", json!("{{a}}"), &["a"]), node("m", map, &["a"])]), rehearsing());
    rehearse(&mut world, "a", json!({"items": [1]}));
    let given = Action::Override { node: "a".into(), value: json!({"items": [1, 2]}) };
    let impact = world.run.impact(&given, Time(world.now));
    assert_eq!(impact.nodes(NodeImpact::RehearsesAgain).iter().map(NodeId::as_str).collect::<Vec<_>>(), ["m"]);
    world.act(given);
    assert_eq!(world.states(), "a succeeded, v succeeded, m rehearsed, m[0]/x rehearsed, m[1]/x rehearsed");
}

//! New plans for what is left of a run: who asks for one, what stays, what a reply does.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use serde_json::json;

/// `find` has ended, `book` is at work, and `tell` needs it; `other` goes on by itself.
fn trip(on_failure: Option<OnFailure>, replan_when: Option<&str>) -> World {
    let mut book = agent("book", &["find"]);
    book.policy = Policy { on_failure, replan_when: replan_when.map(str::to_owned), ..Policy::default() };
    let mut world = World::new(plan(vec![agent("find", &[]), book, agent("tell", &["book"]), agent("other", &[])]));
    world.done("find", json!("three hotels"));
    world
}

/// The planner answers: instead of the steps that have not run these.
fn proposed(world: &World, new: Vec<Node>) -> Plan {
    let known = world.run.plan().unwrap().clone();
    let stays = |node: &Node| world.node(&node.id).attempt > 0 && new.iter().all(|other| other.id != node.id);
    let mut nodes: Vec<Node> = known.nodes.iter().filter(|node| stays(node)).cloned().collect();
    nodes.extend(new);
    Plan { nodes, ..known }
}

fn answers(world: &mut World, plan: Result<Plan, &str>) -> Vec<Event> {
    let number = world.run.replan().unwrap().number;
    let call = ModelCall { model: "test".into(), usage: TokenUsage::of(100, 20), cost_usd: Some(0.5), ..ModelCall::default() };
    let answer = ReplanAnswer { plan: plan.map(Box::new).map_err(str::to_owned), calls: vec![call] };
    world.step(Input::Replanned { number, answer: Box::new(answer) })
}

fn asked(world: &World) -> usize {
    world.effects.iter().filter(|effect| matches!(effect, Effect::Replan { .. })).count()
}

fn pieces(world: &World, gate: u32) -> Vec<String> {
    let gate = world.run.gate(GateId(gate)).unwrap().0;
    ReplanPiece::read(&gate.payload).unwrap().into_iter().map(|piece| piece.piece).collect()
}

fn lyon() -> Vec<Node> {
    vec![agent("book_lyon", &["find"]), agent("tell", &["book_lyon"])]
}

/// Fails and has the planner propose Lyon, at gate 1.
fn proposal() -> World {
    let mut world = trip(Some(OnFailure::Replan), None);
    world.fail("book", ErrorKind::Permanent);
    let plan = proposed(&world, lyon());
    answers(&mut world, Ok(plan));
    world
}

#[test]
fn under_a_budget_no_model_makes_a_new_plan_since_nothing_is_reserved_for_that() {
    let mut nodes = plan(vec![agent("find", &[]), agent("book", &["find"])]);
    nodes.budget.tokens = Some(100_000);
    nodes.nodes[1].policy.on_failure = Some(OnFailure::Replan);
    let mut world = World::new(nodes);
    world.done("find", json!("three hotels"));
    world.fail("book", ErrorKind::Permanent);
    assert_eq!((world.states().as_str(), asked(&world)), ("find succeeded, book waiting", 0));
    let refused = world.run.refusal(&Command::Replan { guidance: String::new() });
    assert_eq!(refused.as_deref(), Some("the run has a budget, and what making a new plan takes isn't counted in it"));
}

#[test]
fn a_failure_has_the_planner_propose_what_then_runs_and_nothing_that_is_done_runs_again() {
    let mut world = trip(Some(OnFailure::Replan), None);
    world.fail("book", ErrorKind::Permanent);
    assert_eq!((world.states().as_str(), asked(&world)), ("find succeeded, book held, tell pending, other running", 1));
    assert_eq!(world.reason("book"), "a new plan is being made");
    let brief = world.run.brief().unwrap();
    assert_eq!(brief.why, "`book` failed: it broke");
    let told: Vec<_> = brief.nodes.iter().map(|node| (node.id.as_str(), node.state, node.stays)).collect();
    assert_eq!(told, [("find", "succeeded", true), ("book", "failed", false), ("tell", "pending", false), ("other", "running", true)]);
    let plan = proposed(&world, lyon());
    answers(&mut world, Ok(plan.clone()));
    assert_eq!((world.state("book"), world.open()), ("waiting", vec![1]));
    assert_eq!(pieces(&world, 1), ["- edge  book → tell", "+ node  book_lyon"]);
    assert_eq!(world.node("book").lineage.spent.tokens.total(), 120, "what the planner took counts");
    assert!(!world.run.is_parked(), "the rest goes on");
    world.decide(1, GateReply::Approve);
    assert_eq!(world.states(), "find succeeded, book failed, tell pending, other running, book_lyon running");
    assert_eq!(world.run.plan().unwrap().nodes.len(), 5);
    assert_eq!(world.started(), ["find", "other", "book", "book_lyon"]);
    for node in ["book_lyon", "tell", "other"] {
        world.done(node, json!(1));
    }
    assert_eq!(world.outcome(), Some(Outcome::Partial), "{:?}", world.ended_by());
    assert_eq!(world.started().iter().filter(|id| *id == "find").count(), 1);
}

#[test]
fn a_success_that_calls_for_a_new_plan_stays_and_what_comes_after_it_is_planned_anew() {
    for (full, waits) in [(true, true), (false, false)] {
        let mut world = trip(None, Some("book.full"));
        world.done("book", json!({"full": full}));
        assert_eq!(world.state("book") == "held", waits);
        if !waits {
            assert_eq!(world.state("tell"), "running");
            continue;
        }
        let plan = proposed(&world, vec![agent("try_lyon", &["book"]), agent("tell", &["try_lyon"])]);
        answers(&mut world, Ok(plan));
        assert_eq!(world.reason("book"), "the result of `book` calls for a new plan: book.full");
        world.decide(1, GateReply::Approve);
        assert_eq!(world.states(), "find succeeded, book succeeded, tell pending, other running, try_lyon running");
    }
}

#[test]
fn an_agent_asks_for_a_new_plan_and_ends_first() {
    let mut world = trip(None, None);
    world.fact("book", WorkerFact::PlanWanted("all is booked".into()));
    assert_eq!((world.state("book"), asked(&world)), ("running", 0));
    world.done("book", json!("nothing"));
    assert_eq!((world.state("book"), asked(&world)), ("held", 1));
    assert_eq!(world.run.brief().unwrap().why, "`book` asks for a new plan: all is booked");
    let mut failed = trip(None, None);
    failed.fact("book", WorkerFact::PlanWanted("all is booked".into()));
    failed.fail("book", ErrorKind::Permanent);
    assert_eq!((failed.state("book"), asked(&failed)), ("held", 1));
}

#[test]
fn a_new_plan_is_taken_in_part_refused_or_made_once_more() {
    let mut world = proposal();
    let mut plan = proposed(&world, lyon());
    plan.nodes.push(agent("extra", &["find"]));
    world.decide(1, reject("and something extra"));
    assert_eq!(world.run.brief().unwrap().guidance, ["and something extra"]);
    assert_eq!((asked(&world), world.state("book")), (2, "held"));
    answers(&mut world, Ok(plan));
    assert_eq!(pieces(&world, 2), ["- edge  book → tell", "+ node  book_lyon", "+ node  extra"]);
    let all = world.run.gate(GateId(2)).unwrap().0.payload.clone();
    world.decide(2, GateReply::Modify { payload: json!([all[0], all[1]]) });
    assert!(world.run.node(&"extra".into()).is_none());
    assert_eq!(world.states(), "find succeeded, book failed, tell pending, other running, book_lyon running");

    let mut world = proposal();
    for (payload, why) in
        [(json!([]), "no piece is left"), (json!({"a": 1}), "must be a list of the pieces"), (json!([{"piece": 1}]), "must be a list")]
    {
        let events = world.decide(1, GateReply::Modify { payload });
        assert!(matches!(&events[0], Event::Refused { why: said, .. } if said.contains(why)), "{events:?}");
    }
    world.decide(1, reject(""));
    assert_eq!(world.states(), "find succeeded, book failed, tell skipped, other running");
    for (reply, states) in [
        (GateReply::Skip, "find succeeded, book skipped, tell skipped, other running"),
        (GateReply::CancelBranch, "find succeeded, book cancelled, tell cancelled, other running"),
    ] {
        let mut world = proposal();
        world.decide(1, reply);
        assert_eq!(world.states(), states);
    }
}

#[test]
fn a_piece_that_would_change_what_began_meanwhile_is_refused_and_the_rest_can_be_taken() {
    let mut world = trip(Some(OnFailure::Replan), None);
    world.act(Action::Edit { edits: vec![edit::Edit::AddNode { node: Box::new(agent("late", &["other"])), at: None }] });
    world.fail("book", ErrorKind::Permanent);
    let plan = proposed(&world, lyon());
    answers(&mut world, Ok(plan));
    assert_eq!(pieces(&world, 1), ["- node  late", "- edge  book → tell", "+ node  book_lyon"]);
    world.done("other", json!(1));
    assert_eq!(world.state("late"), "running");
    let events = world.decide(1, GateReply::Approve);
    assert!(matches!(&events[0], Event::Refused { why, .. } if why.contains("`late` is running and can't be removed")), "{events:?}");
    let all = world.run.gate(GateId(1)).unwrap().0.payload.clone();
    world.decide(1, GateReply::Modify { payload: json!([all[1], all[2]]) });
    assert_eq!(world.states(), "find succeeded, book failed, tell pending, other succeeded, late running, book_lyon running");
}

#[test]
fn a_run_asks_by_itself_three_times_at_most_and_never_for_the_same_failure_twice_in_a_row() {
    let mut world = trip(Some(OnFailure::Replan), None);
    let fails = |world: &mut World, id: &str, message: &str| {
        world.fact(id, WorkerFact::Failed(NodeError::permanent(message)));
    };
    let mut failing = "book".to_owned();
    for round in 1..=3_u32 {
        fails(&mut world, &failing, &format!("no room {round}"));
        assert_eq!(asked(&world), round as usize);
        failing = format!("book_{round}");
        let mut next = agent(&failing, &["find"]);
        next.policy.on_failure = Some(OnFailure::Replan);
        let plan = proposed(&world, vec![next, agent("tell", &[failing.as_str()])]);
        answers(&mut world, Ok(plan));
        world.decide(round, GateReply::Approve);
        assert_eq!(world.state(&failing), "running");
    }
    fails(&mut world, &failing, "no room 4");
    assert_eq!(asked(&world), 3);
    assert!(
        world.reason(&failing).ends_with("no new plan: the run has asked for 3 new plans by itself already"),
        "{}",
        world.reason(&failing)
    );
    world.decide(4, GateReply::Answer { value: json!("replan try a tent") });
    assert_eq!((asked(&world), world.run.brief().unwrap().guidance), (4, vec!["try a tent".to_owned()]), "people may ask on");

    let mut world = proposal();
    let mut again = agent("book_lyon", &["find"]);
    again.policy.on_failure = Some(OnFailure::Replan);
    let plan = proposed(&world, vec![again, agent("tell", &["book_lyon"])]);
    world.decide(1, reject("mind that"));
    answers(&mut world, Ok(plan));
    world.decide(2, GateReply::Approve);
    fails(&mut world, "book_lyon", "it broke");
    assert_eq!(asked(&world), 2);
    assert!(world.reason("book_lyon").ends_with("no new plan: the same failure led to the last new plan"), "{}", world.reason("book_lyon"));
}

#[test]
fn without_a_planner_people_are_asked_what_needs_none() {
    for model in [None, Some(OPERATOR.to_owned())] {
        let mut book = agent("book", &[]);
        book.policy.on_failure = Some(OnFailure::Replan);
        let tool = tool("t", "read", json!({"path": "x"}), &[]);
        let full = Node { policy: Policy { replan_when: Some("t == 'full'".into()), ..Policy::default() }, ..tool };
        let mut world = World::with(
            plan(vec![book, full, transform("after", json!("{{t}}"), &["t"])]),
            RunSettings { model: model.clone(), ..settings() },
        );
        world.done("t", json!("full"));
        let gate = world.run.open_gates().find(|gate| gate.node.as_str() == "t").unwrap().clone();
        assert!(gate.why.ends_with("no new plan: a new plan needs a model, and none is connected"), "{}", gate.why);
        world.decide(gate.id.0, GateReply::Approve);
        assert_eq!(world.state("after"), "succeeded", "{model:?}");
        if model.is_none() {
            continue;
        }
        world.fail("book", ErrorKind::Permanent);
        let gate = world.run.open_gates().next().unwrap().clone();
        assert_eq!(gate.kind.question().unwrap().options, ["retry", "model NAME", "skip", "fail"], "{model:?}");
        let refused = world.command(Command::Replan { guidance: String::new() });
        assert!(matches!(&refused[0], Event::Refused { why, .. } if why.contains("needs a model")), "{refused:?}");
    }
}

#[test]
fn a_planner_that_gives_nothing_useful_leaves_the_choice_to_people() {
    for (plan, why) in [(Err("the server is down"), "the server is down"), (Ok(()), "the planner changed nothing")] {
        let mut world = trip(Some(OnFailure::Replan), None);
        world.fail("book", ErrorKind::Permanent);
        let known = world.run.plan().unwrap().clone();
        answers(&mut world, plan.map(|()| known));
        assert!(world.reason("book").ends_with(&format!("no new plan: {why}")), "{}", world.reason("book"));
        assert_eq!(
            world.run.gate(GateId(1)).unwrap().0.kind.question().unwrap().options,
            ["retry", "model NAME", "skip", "replan", "fail"]
        );
        world.decide(1, GateReply::Answer { value: json!("fail") });
        assert_eq!(world.states(), "find succeeded, book failed, tell skipped, other running");
    }
    let mut world = trip(Some(OnFailure::Replan), None);
    world.fail("book", ErrorKind::Permanent);
    let mut plan = proposed(&world, lyon());
    plan.nodes.retain(|node| node.id.as_str() != "find");
    plan.nodes.iter_mut().for_each(|node| node.depends_on.retain(|source| source.as_str() != "find"));
    answers(&mut world, Ok(plan));
    assert!(
        world.reason("book").contains("the planner's plan doesn't fit the run: `find` is succeeded and can't be removed"),
        "{}",
        world.reason("book")
    );
}

#[test]
fn people_have_a_new_plan_made_at_any_time_and_the_run_waits_for_it_at_its_end() {
    let mut world = trip(None, None);
    world.command(Command::Replan { guidance: "also by train".into() });
    assert_eq!((asked(&world), world.states().as_str()), (1, "find succeeded, book running, tell pending, other running"));
    let refused = world.command(Command::Replan { guidance: String::new() });
    assert!(matches!(&refused[0], Event::Refused { why, .. } if why.contains("being made already")), "{refused:?}");
    for node in ["book", "other", "tell"] {
        world.done(node, json!(1));
    }
    assert_eq!((world.outcome(), world.run.is_parked()), (None, false), "the planner is at work");
    let plan = proposed(&world, vec![agent("train", &["tell"])]);
    answers(&mut world, Ok(plan));
    assert!(world.run.is_parked());
    assert_eq!(world.run.open_gates().next().unwrap().why, "anna asks for a new plan");
    let skipped = world.decide(1, GateReply::Skip);
    assert!(matches!(skipped[0], Event::Refused { .. }), "no node waits");
    world.decide(1, GateReply::Approve);
    assert_eq!(world.state("train"), "running");
    world.done("train", json!(1));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded));
    world.command(Command::Replan { guidance: "once more".into() });
    assert_eq!((world.outcome(), asked(&world)), (None, 2), "a run that is over goes on for it");
    answers(&mut world, Err("no idea"));
    assert_eq!(world.outcome(), Some(Outcome::Succeeded), "and ends again as it was");
}

#[test]
fn several_failures_are_planned_one_after_the_other() {
    let nodes = ["a", "b"].map(|id| Node { policy: Policy { on_failure: Some(OnFailure::Replan), ..Policy::default() }, ..agent(id, &[]) });
    let mut world = World::new(plan(nodes.to_vec()));
    for id in ["a", "b"] {
        world.fact(id, WorkerFact::Failed(NodeError::permanent(format!("{id} broke"))));
    }
    assert_eq!((asked(&world), world.reason("b").as_str()), (1, "another new plan is decided first"));
    let plan = proposed(&world, vec![agent("c", &[])]);
    answers(&mut world, Ok(plan));
    world.decide(1, GateReply::Approve);
    assert_eq!((asked(&world), world.run.brief().unwrap().why.as_str()), (2, "`b` failed: b broke"));
    world.act(Action::Cancel { target: on("b") });
    assert!(world.run.replan().is_none());
}

#[test]
fn a_planner_that_was_at_work_when_the_process_ended_is_asked_again() {
    let mut world = trip(Some(OnFailure::Replan), None);
    world.fail("book", ErrorKind::Permanent);
    world.effects.clear();
    world.step(Input::Recover { by: me() });
    assert_eq!((asked(&world), world.state("book")), (1, "held"));
    let plan = proposed(&world, lyon());
    answers(&mut world, Ok(plan.clone()));
    let late = world.step(Input::Replanned { number: 1, answer: Box::new(ReplanAnswer { plan: Ok(Box::new(plan)), calls: Vec::new() }) });
    assert_eq!((late, world.open()), (vec![], vec![1]), "an answer counts once");
    world.act(Action::Cancel { target: ActionTarget::Run });
    assert_eq!((world.outcome(), world.open()), (Some(Outcome::Cancelled), vec![]));
}

#[test]
fn a_new_plan_that_was_taken_is_undone_as_any_edit_is() {
    let mut world = proposal();
    let mut held = World { run: world.run.clone(), records: world.records.clone(), effects: Vec::new(), now: world.now };
    held.act(Action::Pause);
    held.decide(1, GateReply::Approve);
    assert_eq!(held.state("book_lyon"), "ready");
    held.command(Command::Undo);
    assert_eq!(held.states(), "find succeeded, book failed, tell skipped, other running");
    world.decide(1, GateReply::Approve);
    assert_eq!(world.state("book_lyon"), "running");
}

#[test]
fn what_a_planner_wrote_after_it_read_private_results_is_private_from_its_start() {
    for reads in [true, false] {
        let mut book = agent("book", &["find"]);
        book.policy.on_failure = Some(OnFailure::Replan);
        let find = if reads { tool("find", "read", json!({"path": "x"}), &[]) } else { agent("find", &[]) };
        let mut settings = settings();
        settings.catalog.tools.iter_mut().for_each(|tool| tool.reach = Some(if reads { ToolReach::Private } else { ToolReach::Public }));
        let mut world = World::with(plan(vec![find, book]), settings);
        if reads {
            world.ask("find", "1", "read", json!({"path": "x"}), Verdict::Allow);
            world.tool_done("find", "1", json!("secret"));
        }
        world.done("find", json!("secret"));
        world.fail("book", ErrorKind::Permanent);
        let plan = proposed(&world, vec![agent("alone", &[])]);
        answers(&mut world, Ok(plan));
        world.decide(1, GateReply::Approve);
        assert_eq!((world.state("alone"), world.node("alone").lineage.private), ("running", reads));
    }
}

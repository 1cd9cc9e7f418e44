//! Another model for a run that has begun: who chose it is on record, and what starts later asks it.

use super::kit::*;
use crate::engine::*;
use serde_json::json;

fn choose(world: &mut World, model: &str) -> Vec<Event> {
    world.command(Command::UseModel { model: model.into(), slots: None })
}

/// The models of the agents that started, in order.
fn asked(world: &World) -> Vec<String> {
    let started = world.effects.iter().filter_map(|effect| if let Effect::Start { job, .. } = effect { Some(job) } else { None });
    started.filter_map(|job| if let Job::Agent(job) = &**job { job.model.clone() } else { None }).collect()
}

#[test]
fn what_has_not_started_asks_the_model_that_a_person_chose_and_a_node_with_its_own_keeps_it() {
    let mut own = agent("c", &["a"]);
    own.policy.model = Some("own".into());
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"]), own]));
    let chosen = choose(&mut world, "other");
    assert!(matches!(&chosen[..], [Event::ModelChosen { model, by, .. }] if model == "other" && *by == me()), "{chosen:?}");
    world.done("a", json!(1));
    assert_eq!(asked(&world), ["test", "other", "own"]);
    assert_eq!(Run::replay(&world.records).settings().unwrap().model.as_deref(), Some("other"));
}

#[test]
fn a_failed_node_is_healed_by_another_model_though_the_run_is_over() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    world.fail("a", ErrorKind::Permanent);
    choose(&mut world, "other");
    assert_eq!(world.outcome(), Some(Outcome::Failed), "a choice alone opens nothing");
    world.act(Action::Retry { node: "a".into() });
    world.done("a", json!(1));
    assert_eq!((asked(&world).join(" ").as_str(), world.outcome()), ("test other", Some(Outcome::Succeeded)));
}

#[test]
fn the_choice_stays_when_an_action_before_it_is_undone() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.act(Action::Hold { target: ActionTarget::Node("b".into()) });
    choose(&mut world, "other");
    world.command(Command::Undo);
    world.done("a", json!(1));
    assert_eq!(asked(&world), ["test", "other"]);
}

#[test]
fn as_many_start_at_once_as_the_new_models_server_takes() {
    let one = ModelSlots { provider: "small".into(), slots: 1 };
    let settings = RunSettings { model_slots: Some(one.clone()), ..settings() };
    let nodes = ["a", "b", "c", "d"].map(|id| agent(id, &[]));
    let mut world = World::with(plan(nodes.to_vec()), settings);
    assert_eq!(world.started(), ["a"]);
    choose(&mut world, "big");
    assert_eq!(world.started().len(), 4);
    let mut world = World::new(plan(["a", "b", "c"].map(|id| agent(id, &["first"])).into_iter().chain([agent("first", &[])]).collect()));
    world.command(Command::UseModel { model: "small".into(), slots: Some(one) });
    world.done("first", json!(1));
    assert_eq!(world.started(), ["first", "a"]);
}

#[test]
fn what_a_model_was_saying_when_the_time_of_its_node_was_up_counts_and_is_handed_back() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    for fact in [
        WorkerFact::ModelAsked { call: "1".into(), model: "m".into(), need: None },
        WorkerFact::ModelSent { call: "1".into(), unheard: None },
        WorkerFact::ModelAnswers { call: "1".into() },
    ] {
        world.fact("a", fact);
    }
    world.now += 120_000;
    let usage = TokenUsage::of(10, 20);
    let (model, provider, finish) = ("m".into(), "p".into(), "time limit".into());
    let call = ModelCall { model, provider, usage, estimated: true, cost_usd: None, duration_ms: 1, finish, id: String::new() };
    let unfinished = Some(Box::new(UnfinishedAnswer { call, text: "so far".into() }));
    let timer = Timer { node: "a".into(), generation: 1, attempt: 1, kind: TimerKind::Timeout };
    world.step(Input::TimerDue { timer, unfinished });
    let node = world.node("a");
    assert_eq!((world.state("a"), node.result.as_deref()), ("failed", Some(&json!("so far"))));
    assert_eq!((node.lineage.spent.tokens.total(), node.lineage.spent.estimated), (30, true));
}

#[test]
fn a_run_that_has_begun_does_not_become_a_rehearsal() {
    let mut world = World::new(plan(vec![agent("a", &[])]));
    let refused = choose(&mut world, REHEARSAL);
    assert!(matches!(&refused[..], [Event::Refused { why, .. }] if why.contains("rehearsal")), "{refused:?}");
    assert_eq!(world.run.settings().unwrap().model.as_deref(), Some("test"));
}

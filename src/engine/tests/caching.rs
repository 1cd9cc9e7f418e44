//! Which attempts may take an earlier result, and what a node that took one is.

use super::kit::*;
use crate::engine::*;
use crate::plan::Node;
use serde_json::{Value, json};

fn uses(world: &World, id: &str) -> Vec<Option<CacheUse>> {
    let of = |effect: &Effect| match effect {
        Effect::Start { node, cache, .. } if node.as_str() == id => Some(*cache),
        _ => None,
    };
    world.effects.iter().filter_map(of).collect()
}

fn with_cache(node: Node, cache: Value) -> Node {
    let mut node = node;
    node.policy.cache = Some(cache);
    node
}

fn source(private: bool) -> CachedResult {
    CachedResult {
        run: RunId("earlier".into()),
        node: "x".into(),
        made: Time(1),
        spent: Spent { tokens: TokenUsage::of(100, 20), cost_usd: 0.5, model_calls: 2, ..Spent::default() },
        model: Some("m".into()),
        private,
        files: vec![FileAccess { path: "a.txt".into(), operation: "read".into(), content_preview: None }],
        sources: Vec::new(),
    }
}

#[test]
fn the_first_attempt_may_take_an_earlier_result_and_what_a_person_lets_run_again_may_not() {
    let mut world = World::new(plan(vec![agent("a", &[]), with_cache(agent("b", &["a"]), json!({"ttl_s": 60}))]));
    world.done("a", json!(1));
    world.done("b", json!(2));
    assert!(matches!(uses(&world, "a")[..], [Some(CacheUse { ttl_s: None, reads: true, asks_to_send: false })]));
    assert!(matches!(uses(&world, "b")[..], [Some(CacheUse { ttl_s: Some(60.0), reads: true, .. })]));
    world.act(Action::Rerun { node: "a".into(), scope: RerunReach::Downstream });
    world.done("a", json!(3));
    for id in ["a", "b"] {
        assert!(matches!(uses(&world, id)[..], [_, Some(CacheUse { reads: false, .. })]), "{:?}", uses(&world, id));
    }
}

#[test]
fn a_retry_and_a_branch_take_no_earlier_result() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.fail("a", ErrorKind::Permanent);
    world.act(Action::Retry { node: "a".into() });
    assert!(matches!(uses(&world, "a")[..], [_, Some(CacheUse { reads: false, .. })]));
    world.step(Input::Branch { from: RunId("r".into()), from_seq: world.records.len() as u64, by: me() });
    world.effects.clear();
    world.step(Input::Proceed);
    world.done("a", json!(1));
    assert!(uses(&world, "b").iter().all(|cache| matches!(cache, Some(CacheUse { reads: false, .. }))), "{:?}", uses(&world, "b"));
}

#[test]
fn what_the_plan_keeps_out_or_leaves_something_behind_has_no_part_in_the_cache() {
    let mut effects = agent("b", &[]);
    effects.policy.side_effects = Some(true);
    let world = World::new(plan(vec![with_cache(agent("a", &[]), json!("off")), effects, with_cache(agent("c", &[]), json!("what"))]));
    for id in ["a", "b", "c"] {
        assert_eq!(uses(&world, id), [None], "{id}");
    }
}

#[test]
fn a_node_that_took_an_earlier_result_keeps_its_marks_and_spends_nothing() {
    let mut world = World::new(plan(vec![agent("a", &[]), agent("b", &["a"])]));
    world.fact("a", WorkerFact::Cached(Box::new(source(true))));
    world.done("a", json!("kept"));
    let node = world.node("a");
    assert_eq!((node.state, node.lineage.spent, node.mark_label().as_deref()), (NodeState::Succeeded, Spent::default(), Some("cached")));
    assert!(node.lineage.private && node.lineage.files.len() == 1, "what was private stays private");
    assert!(world.node("b").lineage.private, "and so is what is made of it");
    let deps = world.effects.iter().find_map(|effect| match effect {
        Effect::Start { node, deps, .. } if node.as_str() == "b" => Some(deps.clone()),
        _ => None,
    });
    let provenance = &deps.unwrap()[0].provenance;
    assert_eq!((provenance.tokens, provenance.model.as_deref()), (120, Some("m")), "as where it was made");
    assert_eq!(saved(&world.records, Time(0)).cost_usd, 0.5);
    assert_eq!(PAST_EVENTS.iter().filter(|kind| **kind == "node_cached").count(), 1);
    assert_eq!(Run::replay(&world.records).node(&"a".into()), Some(world.node("a")));
    world.act(Action::Rerun { node: "a".into(), scope: RerunReach::Downstream });
    world.done("a", json!("new"));
    assert_eq!((world.node("a").mark_label(), saved(&world.records, Time(0)).cost_usd), (None, 0.5));
}

#[test]
fn a_cached_result_goes_through_the_gates_that_the_plan_has() {
    let mut node = agent("a", &[]);
    node.policy.approve = Some(crate::plan::Approve::Both);
    let mut world = World::new(plan(vec![node]));
    assert_eq!((world.started().len(), world.open().len()), (0, 1), "it asks before it looks");
    world.decide(world.open()[0], GateReply::Approve);
    world.fact("a", WorkerFact::Cached(Box::new(source(false))));
    world.done("a", json!("kept"));
    assert_eq!((world.state("a"), world.open().len()), ("waiting", 1), "and before its result is used");
}

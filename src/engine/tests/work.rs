//! The work of a step is proportional to what its input touches, never to the size of the plan.

use super::{TOUCHES, kit::*};
use serde_json::json;

fn touched(act: impl FnOnce()) -> u64 {
    TOUCHES.with(|touches| touches.set(0));
    act();
    TOUCHES.with(std::cell::Cell::get)
}

#[test]
fn a_step_on_a_chain_of_ten_thousand_looks_at_a_handful_of_edges() {
    let id = |at: usize| format!("n{at}");
    let nodes = (0..10_000).map(|at| if at == 0 { agent("n0", &[]) } else { agent(&id(at), &[&id(at - 1)]) }).collect();
    let mut world = World::new(plan(nodes));
    for at in 0..3 {
        let touches = touched(|| drop(world.run.step(&done(&id(at)), crate::engine::Time(2_000))));
        assert!(touches < 20, "{touches} nodes and edges for one completion");
    }
    assert_eq!(world.state("n3"), "running");
}

#[test]
fn a_step_in_a_fan_out_of_ten_thousand_looks_at_a_handful_of_edges() {
    let mut nodes: Vec<_> = (0..10_000).map(|at| agent(&format!("n{at}"), &[])).collect();
    nodes.push(agent("end", &["n0", "n1"]));
    let mut world = World::new(plan(nodes));
    let touches = touched(|| drop(world.run.step(&done("n1"), crate::engine::Time(2_000))));
    assert!(touches < 20, "{touches} nodes and edges for one completion");
}

fn done(id: &str) -> crate::engine::Input {
    use crate::engine::{Done, Input, WorkerFact};
    Input::Work { node: id.into(), generation: 1, attempt: 1, fact: WorkerFact::Done(Done { result: json!(1), mark: None }) }
}

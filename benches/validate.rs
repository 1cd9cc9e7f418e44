//! Validation of a plan of 100,000 nodes and 300,000 edges.

use dagdeck::plan::validate::validate;
use dagdeck::plan::{Catalog, Edge, Node, NodeKind, Plan, TransformNode};
use serde_json::json;

fn main() {
    divan::main();
}

/// Layers of 100 nodes; each node needs three of the layer above and reads one of them.
fn plan(nodes: usize) -> Plan {
    let id = |n: usize| format!("node-{n}");
    let mut plan = Plan::default();
    for n in 0..nodes {
        let sources: Vec<usize> = if n < 100 { vec![] } else { (0..3).map(|k| n - 100 - (n % 100) + (n * 7 + k * 31) % 100).collect() };
        let value = sources.first().map_or(json!(n), |source| json!({ "text": format!("from {{{{{}.result}}}}", id(*source)) }));
        let mut node = Node::new(id(n).as_str(), NodeKind::Transform(TransformNode { value }));
        for (k, source) in sources.into_iter().enumerate() {
            if k == 0 {
                plan.edges.push(Edge { when: Some(format!("{}.ok", id(source))), ..Edge::new(id(source).as_str(), id(n).as_str()) });
            } else {
                node.depends_on.push(id(source).as_str().into());
            }
        }
        plan.nodes.push(node);
    }
    plan
}

#[divan::bench(args = [1_000, 10_000, 100_000])]
fn layers(bencher: divan::Bencher, nodes: usize) {
    let plan = plan(nodes);
    let catalog = Catalog::default();
    assert!(validate(&plan, &catalog).is_empty());
    bencher.bench_local(|| validate(divan::black_box(&plan), &catalog));
}

//! A plan in one line, for people who choose between several.

use super::Plan;
use crate::text::counted;
use std::collections::BTreeMap;

/// `5 nodes, longest chain 3`
pub fn in_brief(plan: &Plan) -> String {
    format!("{}, longest chain {}", counted(plan.nodes.len(), "node"), longest(plan))
}

/// `2 agent, 3 tool`
pub fn kinds_in_brief(plan: &Plan) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &plan.nodes {
        *kinds.entry(node.kind.name()).or_default() += 1;
    }
    kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
}

/// What its nodes do, by their titles, else their ids, in their order.
pub fn titles(plan: &Plan) -> String {
    plan.nodes.iter().map(|node| node.title_or_id().into_string()).collect::<Vec<_>>().join(" · ")
}

/// Nodes on the longest way. A cycle ends where all nodes were counted.
fn longest(plan: &Plan) -> usize {
    let at: BTreeMap<&str, usize> = plan.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let plain = plan.nodes.iter().flat_map(|node| node.depends_on.iter().map(|source| (source.as_str(), node.id.as_str())));
    let edges = plain.chain(plan.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str())));
    let edges: Vec<(usize, usize)> = edges.filter_map(|(from, to)| Some((*at.get(from)?, *at.get(to)?))).collect();
    let mut depths = vec![1_usize; plan.nodes.len()];
    for _ in 1..plan.nodes.len() {
        let before = depths.clone();
        edges.iter().for_each(|(from, to)| depths[*to] = depths[*to].max(depths[*from] + 1).min(plan.nodes.len()));
        if depths == before {
            break;
        }
    }
    depths.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::dialect;

    #[test]
    fn kinds_and_the_longest_way_are_counted_and_a_cycle_ends() {
        let plan = |text: &str| dialect::read(text, "x").unwrap().0;
        let text = r#"{"nodes": [{"id": "a", "title": "Begin", "value": 1}, {"id": "b", "code": "return 1", "depends_on": ["a"]},
            {"id": "c", "value": 2}], "edges": [{"from": "b", "to": "c", "when": "b.result"}]}"#;
        assert_eq!(in_brief(&plan(text)), "3 nodes, longest chain 3");
        assert_eq!(kinds_in_brief(&plan(text)), "1 code, 2 transform");
        assert_eq!(titles(&plan(text)), "Begin · b · c");
        let cycle = r#"{"nodes": [{"id": "a", "value": 1, "depends_on": ["b"]}, {"id": "b", "value": 1, "depends_on": ["a"]}]}"#;
        assert_eq!(in_brief(&plan(cycle)), "2 nodes, longest chain 2");
    }
}

//! Edges that a model meant: those that it wrote apart from the nodes, and those that a reference implies.

use std::collections::{HashMap, HashSet};

use crate::plan::{Edge, Node, NodeId, NodeText, Plan, PlanNames, node_texts, reference};

/// Adds edges that are apart from the nodes: plain ones to their nodes, those with a condition to the plan, in place of plain ones.
pub(super) fn add_written(plan: &mut Plan, edges: Vec<Edge>) {
    for edge in edges {
        let Some(target) = plan.nodes.iter_mut().find(|node| node.id == edge.to) else { continue };
        if edge.when.is_some() || edge.default {
            target.depends_on.retain(|source| *source != edge.from);
            plan.edges.push(edge);
        } else if !target.depends_on.contains(&edge.from) {
            target.depends_on.push(edge.from);
        }
    }
}

/// Adds an edge wherever a node reads another's result without waiting for it. Not where that would close a circle: which of the
/// edges is wrong is not decided here. Gives a remark for each.
pub(super) fn add_implied(plan: &mut Plan) -> Vec<String> {
    let mut remarks = Vec::new();
    let wanted: Vec<(usize, String, String)> = {
        let names = PlanNames::new(plan.nodes.iter().map(|node| node.id.as_str()), &plan.inputs);
        let nodes = plan.nodes.iter().enumerate();
        nodes.flat_map(|(at, node)| read_by(node, &names).into_iter().map(move |(source, as_written)| (at, source, as_written))).collect()
    };
    for (at, source, as_written) in wanted {
        let target = plan.nodes[at].id.clone();
        if waits_for(plan, &target, &source) || waits_for(plan, &source, &target) {
            continue;
        }
        plan.nodes[at].depends_on.push(NodeId::new(&source));
        remarks.push(format!("`{target}` now waits for `{source}`, because it uses {as_written}"));
    }
    remarks
}

/// The nodes whose results a node reads, each with the reference as written.
fn read_by(node: &Node, names: &PlanNames<'_>) -> Vec<(String, String)> {
    let mut read = Vec::new();
    node_texts(node, |_, text| {
        let found = match text {
            NodeText::Template(text) => reference::references_in_text(text, names),
            NodeText::Json(value) => reference::references(value, names),
            NodeText::Code(code) => return read.extend(read_by_code(code, names)),
            NodeText::Expression(_) | NodeText::Condition(_) | NodeText::ResultCondition(_) => return,
        };
        for found in &found {
            read.extend(found.paths.iter().filter_map(|path| Some((path.node()?.to_owned(), found.text.clone()))));
        }
    });
    read.retain(|(source, _)| is_node(names, source));
    read
}

/// `deps.a` and `deps["a-b"]` in code, as far as they can be read without running it.
fn read_by_code(code: &str, names: &PlanNames<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("deps") {
        let rest = &code[at + "deps".len()..];
        let rest = rest.trim_start_matches(['?', '.', '[', '"', '\'', '`']);
        let id: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
        // In `deps.a-1` the `-` calculates.
        let id = if is_node(names, &id) { id } else { id.split('-').next().unwrap_or_default().to_owned() };
        if is_node(names, &id) {
            found.push((id.clone(), format!("deps.{id}")));
        }
    }
    found
}

fn is_node(names: &PlanNames<'_>, id: &str) -> bool {
    use crate::plan::NameScope;
    names.node(id).is_some()
}

/// Whether `node` is `source` or waits for it, directly or through others.
fn waits_for(plan: &Plan, node: &str, source: &str) -> bool {
    let by_id: HashMap<&str, &Node> = plan.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut seen = HashSet::from([node]);
    let mut left = vec![node];
    while let Some(next) = left.pop() {
        if next == source {
            return true;
        }
        let sources = by_id.get(next).into_iter().flat_map(|node| &node.depends_on);
        let conditional = plan.edges.iter().filter(|edge| edge.to.as_str() == next).map(|edge| edge.from.as_str());
        left.extend(sources.map(NodeId::as_str).chain(conditional).filter(|source| seen.insert(source)));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::model::read;
    use serde_json::{Value, json};

    fn plan(nodes: Value) -> Plan {
        let nodes = nodes.as_array().unwrap().iter().enumerate().map(|(at, value)| read::node(value, at).unwrap()).collect();
        Plan { nodes, ..Plan::default() }
    }

    fn sources(plan: &Plan, id: &str) -> Vec<String> {
        plan.nodes.iter().find(|node| node.id.as_str() == id).unwrap().depends_on.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_reference_without_its_edge_gets_one_and_a_remark() {
        let mut plan = plan(json!([
            {"id": "a", "code": "return 1"},
            {"id": "b-1", "tool": "t", "args": {"x": {"y": ["{{a.result.z}}"]}}},
            {"id": "c", "code": "return deps['b-1'].output + deps.a.output"},
            {"id": "d", "value": "$OUTPUT[c]"},
        ]));
        let remarks = add_implied(&mut plan);
        assert_eq!(sources(&plan, "b-1"), ["a"]);
        assert_eq!(sources(&plan, "c"), ["b-1"], "`a` is waited for through `b-1`");
        assert_eq!(sources(&plan, "d"), ["c"]);
        assert_eq!(remarks[0], "`b-1` now waits for `a`, because it uses {{a.result.z}}");
        assert_eq!(remarks.len(), 3);
    }

    #[test]
    fn no_edge_closes_a_circle_or_leads_nowhere() {
        let mut plan = plan(json!([
            {"id": "a", "value": "{{b}} {{a}} {{inputs.b}} {{ghost}}"},
            {"id": "b", "value": "x", "depends_on": ["a", "ghost"]},
        ]));
        assert_eq!(add_implied(&mut plan), Vec::<String>::new());
        assert_eq!(sources(&plan, "a"), Vec::<String>::new());
    }

    #[test]
    fn edges_written_apart_are_added_once_and_keep_their_condition() {
        let mut plan = plan(
            json!([{"id": "a", "value": "1"}, {"id": "b", "value": "2", "depends_on": ["a"]}, {"id": "c", "value": "3", "depends_on": ["b"]}]),
        );
        let answer = r#"{"nodes": [], "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}, {"from": "a", "to": "ghost"}, {"from": "b", "to": "c", "when": "b.result"}]}"#;
        add_written(&mut plan, read::edges(answer));
        assert_eq!((sources(&plan, "a"), sources(&plan, "b"), sources(&plan, "c")), (vec!["b".into()], vec!["a".into()], vec![]));
        assert_eq!(plan.edges[0].when.as_deref(), Some("b.result"));
    }
}

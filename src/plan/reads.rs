//! What a node's work reads: the names in its texts, arguments and expressions. Conditions are no part of it: they decide whether it works,
//! not what it works with.

use super::{
    AgentNode, DecisionNode, MapNode, MergeNode, NameScope, Node, NodeKind, Path, ToolInput, expr,
    reference::{references, references_in_text},
};
use serde_json::Value;

/// The paths that a node's work and its named inputs read, in the order in which they are written. Code is read by `names_in_code`.
pub fn reads(node: &Node, scope: &dyn NameScope) -> Vec<Path> {
    let mut reads = Vec::new();
    let mut text = |text: &str| reads.extend(references_in_text(text, scope).into_iter().flat_map(|found| found.paths));
    let agent = match &node.kind {
        NodeKind::Agent(agent) | NodeKind::Decision(DecisionNode::Agent(agent)) => agent,
        _ => &AgentNode::default(),
    };
    [&agent.role, &agent.goal, &agent.objective].into_iter().flatten().for_each(|words| text(words));
    match &node.kind {
        NodeKind::Approval(ask) => text(&ask.text),
        NodeKind::Tool(tool) => match &tool.input {
            ToolInput::Query(query) => text(query),
            ToolInput::Args(args) => args.values().for_each(|value| reads.extend(in_value(value, scope))),
        },
        NodeKind::Transform(work) => reads.extend(in_value(&work.value, scope)),
        NodeKind::Merge(MergeNode { template: Some(template) }) => reads.extend(in_value(template, scope)),
        NodeKind::Decision(DecisionNode::Expression(text)) | NodeKind::Map(MapNode { over: text, .. }) => {
            reads.extend(expr::check(text, scope).unwrap_or_default());
        }
        NodeKind::Agent(_)
        | NodeKind::Code(_)
        | NodeKind::Decision(DecisionNode::Agent(_))
        | NodeKind::Merge(MergeNode { template: None })
        | NodeKind::Subplan(_)
        | NodeKind::Loop(_) => {}
    }
    node.policy.inputs.iter().flat_map(|inputs| inputs.values()).for_each(|value| reads.extend(in_value(value, scope)));
    reads
}

fn in_value(value: &Value, scope: &dyn NameScope) -> Vec<Path> {
    references(value, scope).into_iter().flat_map(|found| found.paths).collect()
}

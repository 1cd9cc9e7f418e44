//! What a node's work reads: the names in its texts, arguments and expressions. Conditions are no part of it: they decide whether it works,
//! not what it works with.

use super::{
    AgentWork, DecisionWork, MapWork, MergeWork, Node, Path, Scope, ToolInput, Work, expr,
    reference::{references, references_in_text},
};
use serde_json::Value;

/// The paths that a node's work and its named inputs read, in the order in which they are written. Code is read by `names_in_code`.
pub fn reads(node: &Node, scope: &dyn Scope) -> Vec<Path> {
    let mut reads = Vec::new();
    let mut text = |text: &str| reads.extend(references_in_text(text, scope).into_iter().flat_map(|found| found.paths));
    let agent = match &node.work {
        Work::Agent(agent) | Work::Decision(DecisionWork::Agent(agent)) => agent,
        _ => &AgentWork::default(),
    };
    [&agent.role, &agent.goal, &agent.objective].into_iter().flatten().for_each(|words| text(words));
    match &node.work {
        Work::Approval(ask) => text(&ask.text),
        Work::Tool(tool) => match &tool.input {
            ToolInput::Query(query) => text(query),
            ToolInput::Args(args) => args.values().for_each(|value| reads.extend(in_value(value, scope))),
        },
        Work::Transform(work) => reads.extend(in_value(&work.value, scope)),
        Work::Merge(MergeWork { template: Some(template) }) => reads.extend(in_value(template, scope)),
        Work::Decision(DecisionWork::Expression(text)) | Work::Map(MapWork { over: text, .. }) => {
            reads.extend(expr::check(text, scope).unwrap_or_default());
        }
        Work::Agent(_)
        | Work::Code(_)
        | Work::Decision(DecisionWork::Agent(_))
        | Work::Merge(MergeWork { template: None })
        | Work::Plan(_)
        | Work::Loop(_) => {}
    }
    node.policy.inputs.iter().flat_map(|inputs| inputs.values()).for_each(|value| reads.extend(in_value(value, scope)));
    reads
}

fn in_value(value: &Value, scope: &dyn Scope) -> Vec<Path> {
    references(value, scope).into_iter().flat_map(|found| found.paths).collect()
}

//! Stage plans: stages of type AGENT, TOOL, DECISION, MERGE or TRANSFORM, and edges `{from_stage_id, to_stage_id, condition, edge_id,
//! edge_type}`. One token walks from an entry to a terminal stage. Without edges the stages are one line, in their order.

mod layout;
pub(super) mod names;
mod read;
mod write;

pub(super) use layout::{beside_list, holds_one, no_object};
pub(in crate::plan) use read::implied;
pub(super) use read::{edge, read, stage_alone};
pub(super) use write::write;

use super::names::NAMES;

use crate::plan::{AgentNode, DecisionNode, Dialect, Node, NodeId, NodeKind, Plan, TransformNode};
use serde_json::Value;

/// The type of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
enum StageType {
    Agent,
    Tool,
    Decision,
    Merge,
    Transform,
}

impl StageType {
    /// By its name in any case.
    fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    fn name(self) -> &'static str {
        self.into()
    }

    fn of(work: &NodeKind) -> Option<Self> {
        match work {
            NodeKind::Agent(_) => Some(Self::Agent),
            NodeKind::Tool(_) => Some(Self::Tool),
            NodeKind::Decision(_) => Some(Self::Decision),
            NodeKind::Merge(_) => Some(Self::Merge),
            NodeKind::Transform(_) => Some(Self::Transform),
            NodeKind::Code(_) | NodeKind::Approval(_) | NodeKind::Subplan(_) | NodeKind::Loop(_) | NodeKind::Map(_) => None,
        }
    }
}

/// The place of a stage in the document that its plan was read from.
pub(super) fn stage_place(plan: &Plan, at: usize, id: &NodeId) -> String {
    layout::StagesLayout::of(&plan.ext).place(at, id)
}

/// The place of a written edge in the document that its plan was read from.
pub(super) fn edge_place(plan: &Plan, at: usize) -> String {
    format!("{}[{at}]", layout::StagesLayout::of(&plan.ext).edges())
}

/// The name of a native field in a stage, as it was written there.
pub(super) fn field<'n>(node: &Node, native: &'n str) -> &'n str {
    match native {
        "entry" => "entrypoint",
        "exit" => "terminal",
        "agent" => write::under(node, &NAMES.stage.agent),
        "objective" => write::under(node, &NAMES.stage.objective),
        "tool" => write::under(node, &NAMES.stage.tool),
        "args" => write::under(node, &NAMES.stage.args),
        "decide" => write::under(node, &NAMES.stage.decide),
        "value" => write::under(node, &NAMES.stage.value),
        _ => native,
    }
}

/// What a stage does that says no more than its type: it works by its name, decides by what came in, or passes it on. One token walks,
/// so what came in is from the last source on its way; `sources` names later ones first.
fn plain_work(kind: StageType, name: &str, sources: &[&NodeId]) -> Option<NodeKind> {
    let came_in = || match sources {
        [] => "inputs".to_owned(),
        [later @ .., first] => {
            let visited = later.iter().map(|id| format!("{id}.result if nodes[\"{id}\"].status == \"succeeded\" else "));
            visited.chain([format!("{first}.result")]).collect()
        }
    };
    match kind {
        StageType::Agent => Some(NodeKind::Agent(AgentNode { role: Some(name.to_owned()), ..AgentNode::default() })),
        StageType::Decision => Some(NodeKind::Decision(DecisionNode::Expression(came_in()))),
        StageType::Transform => Some(NodeKind::Transform(TransformNode { value: Value::String(format!("{{{{{}}}}}", came_in())) })),
        StageType::Tool | StageType::Merge => None,
    }
}

/// The name that stands for a stage without an agent.
fn name_of(node: &Node) -> &str {
    node.ext.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or(&node.id)
}

/// The dialect of this room.
const DIALECT: Dialect = Dialect::Stages;

//! The names of fields in stage plans.

use crate::plan::fields::Slips;

/// The unknown field of a plan that holds the note.
pub(in crate::plan) const LAYOUT: &str = "stages_layout";
/// Objects that may hold `stages` and `edges`.
pub(in crate::plan) const GRAPHS: [&str; 4] = ["workflow", "graph", "workflow_graph", "pipeline"];

/// Fields of a stage of any type.
pub(in crate::plan) const FIELDS: [&str; 26] = [
    "stage_id",
    "id",
    "type",
    "entrypoint",
    "terminal",
    "agent_id",
    "agent",
    "agent_name",
    "objective",
    "goal",
    "prompt",
    "instructions",
    "tool_id",
    "tool",
    "tool_name",
    "args",
    "arguments",
    "inputs",
    "parameters",
    "query",
    "decide",
    "expression",
    "decision",
    "template",
    "value",
    "role",
];

/// The unknown field that marks a stage which says no more than its type, so that its work follows from what leads into it.
pub(in crate::plan) const IMPLIED: &str = "implied_work";

/// Names of a stage's agent; the first is the one that is written.
pub(in crate::plan) const AGENT: [&str; 3] = ["agent_id", "agent", "agent_name"];
/// Names of what an agent is asked to do.
pub(in crate::plan) const OBJECTIVE: [&str; 4] = ["objective", "goal", "prompt", "instructions"];
/// Names of a stage's tool.
pub(in crate::plan) const TOOL: [&str; 3] = ["tool_id", "tool", "tool_name"];
/// Names of a tool's arguments.
pub(in crate::plan) const ARGS: [&str; 4] = ["args", "arguments", "inputs", "parameters"];
/// Names of a decision's expression.
pub(in crate::plan) const DECIDE: [&str; 3] = ["decide", "expression", "decision"];
/// Names of a transform's value.
pub(in crate::plan) const VALUE: [&str; 3] = ["value", "template", "expression"];

/// Whether a reader keeps this name only to know how the stage was written.
pub(in crate::plan) fn is_memo(name: &str) -> bool {
    ["type", "stage_id", IMPLIED].contains(&name)
        || [&AGENT[..], &OBJECTIVE, &TOOL, &ARGS, &DECIDE, &VALUE].iter().any(|names| names.contains(&name))
}

pub(in crate::plan) const DOCUMENT: Slips =
    Slips { what: "a stage plan", renamed: &[("connections", "edges"), ("transitions", "edges")], elsewhere: &[] };
pub(in crate::plan) const STAGE: Slips = Slips {
    what: "a stage",
    renamed: &[
        ("kind", "type"),
        ("stage_type", "type"),
        ("is_entry", "entrypoint"),
        ("entry", "entrypoint"),
        ("is_exit", "terminal"),
        ("exit", "terminal"),
    ],
    elsewhere: &[
        ("depends_on", "write an edge with `from_stage_id` and `to_stage_id`"),
        ("dependencies", "write an edge with `from_stage_id` and `to_stage_id`"),
        ("next", "write an edge with `from_stage_id` and `to_stage_id`"),
    ],
};
pub(in crate::plan) const EDGE: Slips = Slips {
    what: "an edge between stages",
    renamed: &[
        ("from", "from_stage_id"),
        ("from_id", "from_stage_id"),
        ("source", "from_stage_id"),
        ("source_id", "from_stage_id"),
        ("to", "to_stage_id"),
        ("to_id", "to_stage_id"),
        ("target", "to_stage_id"),
        ("target_id", "to_stage_id"),
        ("when", "condition"),
    ],
    elsewhere: &[],
};

//! The plan document: nodes, edges, edits with inverses, validation, references, conditions, order, dialects. Pure.

mod breakpoint;
mod brief;
mod budget;
mod cache_policy;
mod catalog;
mod code;
pub mod dialect;
pub mod diff;
mod document;
pub mod drawing;
pub mod edit;
pub mod expr;
mod fields;
mod id;
pub mod layers;
pub mod limits;
mod names;
pub mod native;
pub mod nest;
mod node;
pub mod order;
#[cfg(test)]
mod order_tests;
pub mod reference;
#[cfg(test)]
mod reference_tests;
mod resource_refs;
#[cfg(test)]
mod samples;
mod schema;
mod shell;
mod texts;
pub mod tree;
pub mod validate;

pub use breakpoint::{Breakpoint, BreakpointError, FACTS, Facts, Holds, Moment};
pub use brief::{in_brief, kinds_in_brief, titles};
pub use budget::{BudgetFault, WrittenBudget};
pub use cache_policy::{CachePolicy, CachePolicyError};
pub use catalog::{
    AgentInfo, AgentKind, ArgumentCheck, ArgumentChecks, Catalog, ModelFacts, PYTHON_TOOL, Risk, SHELL_TOOL, ToolInfo, ToolReach,
    ToolServer, Verdict, gated, is_agent_name, listed, may_mean, needs_model, that_need_model,
};
pub use code::{may_read, names_in_code};
pub use document::{Budget, Dialect, Edge, Plan, PlanSource};
pub use id::NodeId;
pub use names::{NameLookup, NameScope, NodeValue, Path, PlanNames, RESERVED_IDS, Root, is_legal_id, rehearsed};
pub use node::{
    AgentNode, ApprovalNode, Approve, CodeNode, ContextMode, DecisionNode, Field, FieldKind, Join, LoopNode, MapNode, MergeNode, Node,
    NodeKind, OnFailure, Policy, Retry, Route, SandboxLimits, SubplanNode, ToolInput, ToolNode, TransformNode,
};
pub use resource_refs::{ResourceRef, resource_refs};
pub use schema::{schema, schema_faults};
pub use texts::{
    NodeText, NodeTextMut, TextPlace, each_text_mut, inputs_read, node_texts, node_texts_mut, reads, takes_results, value_text,
};

pub use catalog::SERVICE;

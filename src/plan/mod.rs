//! The plan document: nodes, edges, edits with inverses, validation, references, conditions, order, dialects. Pure.

mod catalog;
mod document;
mod id;
mod node;

pub use catalog::{AgentInfo, Catalog, Risk, ToolInfo, Verdict};
pub use document::{Budget, Edge, Plan};
pub use id::NodeId;
pub use node::{
    AgentWork, Approve, Ask, CodeWork, ContextMode, DecisionWork, Field, FieldKind, Join, MergeWork, Node, OnFailure, Policy, Retry, Route,
    SandboxLimits, ToolInput, ToolWork, TransformWork, Work,
};

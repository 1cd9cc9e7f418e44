//! The native form of a plan: how `Plan`, `Node` and `Edge` are in JSON. Reading tells where (a path such as `nodes[2].retry`)
//! and what is wrong; writing leaves absent fields out. Fields that this version doesn't know stay in `ext` and are written back;
//! an explicit `null` counts as absent.

mod read;
#[cfg(test)]
pub(super) use tests::every_work;
#[cfg(test)]
mod tests;
mod write;

pub use super::fields::ShapeError;
pub(crate) use super::fields::kind;
pub use read::edge_from_value;
pub(in crate::plan) use read::{EDGE_FIELDS, PLAN_FIELDS, is_node_field, node_fields};
pub use read::{MAX_DEPTH, MAX_NODES};
pub(in crate::plan) use read::{body_from_value, node_from_value, plan_from_value};
pub use write::edge_to_value;
pub(in crate::plan) use write::object;
pub(in crate::plan) use write::{body_to_value, node_to_value, plan_to_value};

/// The format version that this program reads and writes.
pub const FORMAT: u64 = 1;

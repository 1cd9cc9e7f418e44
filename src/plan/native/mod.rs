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
pub(in crate::plan) use read::{EDGE_FIELDS, PLAN_FIELDS, is_node_field, node_fields};
pub use read::{MAX_DEPTH, MAX_NODES};
pub use read::{body_from_value, edge_from_value, node_from_value, plan_from_value};
pub(in crate::plan) use write::object;
pub use write::{body_to_value, edge_to_value, node_to_value, plan_to_value};

use super::{Edge, Node, Plan};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;

/// The format version that this program reads and writes.
pub const FORMAT: u64 = 1;

/// Types whose serialised form is the native one.
macro_rules! native_form {
    ($($type:ty: $write:ident, $read:expr;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $write(self).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $read(Value::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    )*};
}

native_form! {
    Plan: plan_to_value, plan_from_value;
    Node: node_to_value, |value| node_from_value(value, "");
    Edge: edge_to_value, |value| edge_from_value(value, "");
}

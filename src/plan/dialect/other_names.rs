//! What the object of a native node says by other names than its own, for readers that take in an object without its document.

use super::aliases::gate;
use super::field_names::DocumentPart;
use super::forms::is_alias;
use super::names::NAMES;
use crate::plan::Dialect;
use crate::plan::fields::is_quiet;
use crate::plan::native::is_node_field;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// The fields with ids that the node waits for.
pub(crate) fn sources(object: &Object) -> impl Iterator<Item = &Value> {
    NAMES.node.depends_on.iter().filter_map(|name| object.get(*name))
}

/// The field with the condition, if it is called otherwise.
pub(crate) fn condition(object: &Object) -> Option<&Value> {
    let names = NAMES.form(Dialect::Native).node.renamed.iter().filter(|(_, right)| *right == "when");
    names.into_iter().find_map(|(name, _)| object.get(*name))
}

/// When a field that would have a person asked asks: `before`, `after` or `both`.
pub(crate) fn asked(object: &Object) -> Option<&'static str> {
    object.iter().find_map(|(name, value)| gate(name, value, None))
}

/// The fields that say something and that no native node has, by any name.
pub(crate) fn unknown(object: &Object) -> impl Iterator<Item = (&String, &Value)> {
    let is_known = |name: &str| is_node_field(name) || is_alias(Dialect::Native, DocumentPart::Node, name);
    object.iter().filter(move |(name, value)| !is_quiet(value) && !is_known(name) && gate(name, value, None).is_none())
}

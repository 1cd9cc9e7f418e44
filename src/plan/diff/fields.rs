//! Differences of fields: of two nodes with the same id, and of two plans without their nodes and edges.

use super::Change;
use crate::plan::dialect::{node_to_value, plan_to_value};
use crate::plan::native::object;
use crate::plan::{Node, NodeKind, Plan, SubplanNode, ToolInput};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One field of the native form that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedField {
    /// Keys that lead to it.
    pub path: Vec<String>,
    /// What was there; `None` where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub old: Option<Value>,
    /// What is there; `None` where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub new: Option<Value>,
}

/// A field that is there, null too.
fn there<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl ChangedField {
    pub fn name(&self) -> String {
        self.path.join(".")
    }

    pub(super) fn inverse(self) -> Self {
        Self { path: self.path, old: self.new, new: self.old }
    }

    /// Puts the new value in its place.
    pub(super) fn put(&self, map: &mut Map<String, Value>) {
        let Some((last, way)) = self.path.split_last() else { return };
        let mut here = map;
        for step in way {
            let next = here.entry(step.clone()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(next) = next else { return };
            here = next;
        }
        match &self.new {
            Some(value) => {
                here.insert(last.clone(), value.clone());
            }
            None => {
                here.shift_remove(last);
            }
        }
    }
}

/// Fields of an agent that only make sense together.
const WHO: [&str; 3] = ["agent", "role", "goal"];
/// Fields that are compared key by key.
const KEYED: [&str; 6] = ["args", "inputs", "budget", "defaults", "metadata", "retry"];

/// Fields of a node as the native form has them, edges left out.
pub(super) fn map_of(node: &Node) -> Map<String, Value> {
    let mut map = object(node_to_value(&Node { depends_on: Vec::new(), ..node.clone() }));
    map.shift_remove("id");
    map
}

/// What differs between two nodes with the same id, edges and inner plans aside.
pub(super) fn of_node(old: &Node, new: &Node) -> Vec<Change> {
    if old.kind == new.kind && old.policy == new.policy && old.ext == new.ext && (old.entry, old.exit) == (new.entry, new.exit) {
        return Vec::new();
    }
    let inner = match (bodies(old, new), &new.kind) {
        (None, _) => None,
        (Some(_), NodeKind::Subplan(_)) => Some("plan"),
        (Some(_), _) => Some("body"),
    };
    let slots = slots(&map_of(old), &map_of(new)).into_iter().filter(|slot| Some(slot.path[0].as_str()) != inner);
    let same = same_sort(&old.kind, &new.kind);
    let (old_work, new_work) = (map_of(&Node::new("", old.kind.clone())), map_of(&Node::new("", new.kind.clone())));
    let is_work = |slot: &ChangedField| old_work.contains_key(&slot.path[0]) || new_work.contains_key(&slot.path[0]);
    let is_who = |slot: &ChangedField| matches!(new.kind, NodeKind::Agent(_)) && WHO.contains(&slot.path[0].as_str());
    let (together, alone): (Vec<ChangedField>, Vec<ChangedField>) = slots.partition(|slot| if same { is_who(slot) } else { is_work(slot) });
    let field = |name: String, slots: Vec<ChangedField>| Change::Field { node: new.id.clone(), name, slots };
    let mut changes = Vec::new();
    if !together.is_empty() {
        changes.push(field(if same { "agent" } else { "work" }.to_owned(), together));
    }
    changes.extend(alone.into_iter().map(|slot| field(slot.name(), vec![slot])));
    changes
}

/// The plans inside of two nodes, where both have one of the same sort that is written there.
pub(super) fn bodies<'a>(old: &'a Node, new: &'a Node) -> Option<(&'a Plan, &'a Plan)> {
    match (&old.kind, &new.kind) {
        (NodeKind::Subplan(SubplanNode::Inline(old)), NodeKind::Subplan(SubplanNode::Inline(new))) => Some((old, new)),
        (NodeKind::Loop(old), NodeKind::Loop(new)) => Some((&old.body, &new.body)),
        (NodeKind::Map(old), NodeKind::Map(new)) => Some((&old.body, &new.body)),
        _ => None,
    }
}

/// Whether two works have the same fields, so that these can change one by one.
fn same_sort(old: &NodeKind, new: &NodeKind) -> bool {
    let sort = std::mem::discriminant::<NodeKind>;
    let more = match (old, new) {
        (NodeKind::Tool(old), NodeKind::Tool(new)) => {
            matches!((&old.input, &new.input), (ToolInput::Args(_), ToolInput::Args(_)) | (ToolInput::Query(_), ToolInput::Query(_)))
        }
        (NodeKind::Subplan(old), NodeKind::Subplan(new)) => std::mem::discriminant(old) == std::mem::discriminant(new),
        _ => true,
    };
    sort(old) == sort(new) && more
}

/// A plan without its nodes and edges, as the native form has it.
pub(super) fn head_of(plan: &Plan) -> Map<String, Value> {
    let head = Plan { nodes: Vec::new(), edges: Vec::new(), ..plan.clone() };
    let mut map = object(plan_to_value(&head));
    map.shift_remove("nodes");
    map
}

/// What differs between two plans, nodes and edges aside.
pub(super) fn of_head(old: &Plan, new: &Plan) -> Vec<ChangedField> {
    slots(&head_of(old), &head_of(new))
}

/// Fields that differ, in the order of the new map, then those that are gone.
fn slots(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<ChangedField> {
    let mut slots = Vec::new();
    let gone = old.keys().filter(|key| !new.contains_key(*key));
    for key in new.keys().chain(gone) {
        let (before, after) = (old.get(key), new.get(key));
        if before == after {
            continue;
        }
        if let (true, Some(Value::Object(before)), Some(Value::Object(after))) = (KEYED.contains(&key.as_str()), before, after) {
            let gone = before.keys().filter(|key| !after.contains_key(*key));
            let keys = after.keys().chain(gone).filter(|key| before.get(*key) != after.get(*key));
            slots.extend(keys.map(|inner| ChangedField {
                path: vec![key.clone(), inner.clone()],
                old: before.get(inner).cloned(),
                new: after.get(inner).cloned(),
            }));
        } else {
            slots.push(ChangedField { path: vec![key.clone()], old: before.cloned(), new: after.cloned() });
        }
    }
    slots
}

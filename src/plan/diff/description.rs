//! A piece as people read it: a mark, what it is about, and what was and is there, line by line.

use super::{Change, ChangedField, Difference, Whole, readable};
use crate::plan::dialect::node_to_value;
use crate::plan::fields::AS_WRITTEN;
use crate::plan::native::edge_to_value;
use crate::plan::{Edge, NodeId};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Lines around a change that are shown with it.
const AROUND: usize = 2;

/// Whether something came, went, or is other than it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceMark {
    Added,
    Removed,
    /// It is other than it was; of a line: it stayed.
    Changed,
}

impl DifferenceMark {
    fn of<T>(old: Option<&T>, new: Option<&T>) -> Self {
        match (old, new) {
            (None, Some(_)) => Self::Added,
            (Some(_), None) => Self::Removed,
            (Some(_) | None, _) => Self::Changed,
        }
    }

    /// The mark as a character: `+`, `-`, `~`.
    pub fn glyph(self) -> &'static str {
        match self {
            Self::Added => "+",
            Self::Removed => "-",
            Self::Changed => "~",
        }
    }
}

/// A piece in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceText {
    pub mark: DifferenceMark,
    /// What sort of thing it is: `node`, `edge`, `plan`.
    pub sort: &'static str,
    /// What it is about: `report`, `list → sort`.
    pub subject: String,
    /// The field that changed, or more about it; may be empty.
    pub field: String,
    /// What went, what came, and what is between, line by line.
    pub lines: Vec<(DifferenceMark, String)>,
}

impl Difference {
    /// The piece in words. Texts are raw.
    pub fn description(&self) -> DifferenceText {
        let address = |id: &NodeId| match &self.within {
            Some(within) => format!("{within}/{id}"),
            None => id.to_string(),
        };
        let whole = |mark: DifferenceMark, whole: &Whole| {
            let mut value = node_to_value(&whole.node);
            if let Value::Object(map) = &mut value {
                map.shift_remove("id");
                let edges: Vec<String> = whole.edges.iter().map(|edge| arrow(edge, &|id| id.to_string())).collect();
                if !edges.is_empty() {
                    map.insert("edges".into(), json!(edges));
                }
            }
            let lines = fields(&value).into_iter().map(|line| (mark, line)).collect();
            DifferenceText { mark, sort: "node", subject: address(&whole.node.id), field: String::new(), lines }
        };
        match &self.change {
            Change::Added(added) => whole(DifferenceMark::Added, added),
            Change::Removed(removed) => whole(DifferenceMark::Removed, removed),
            Change::Field { node, name, slots } => {
                let lines = slots.iter().flat_map(|slot| slot_lines(slot, slots.len() > 1)).collect();
                DifferenceText {
                    mark: DifferenceMark::Changed,
                    sort: "node",
                    subject: address(node),
                    field: if name == AS_WRITTEN { "spelling in the file".to_owned() } else { name.clone() },
                    lines,
                }
            }
            Change::Edge { old, new } => edge(old.as_deref(), new.as_deref(), &address),
            Change::Order { from, old, new } => {
                let text = |edges: &[Edge]| edges.iter().map(|edge| format!("{}\n", arrow(edge, &address))).collect::<String>();
                let lines = compared(&text(old), &text(new));
                DifferenceText {
                    mark: DifferenceMark::Changed,
                    sort: "order",
                    subject: address(from),
                    field: "order of the outgoing edges".into(),
                    lines,
                }
            }
            Change::Head(slot) => {
                let mark = DifferenceMark::of(slot.old.as_ref(), slot.new.as_ref());
                let subject = self.within.as_ref().map(ToString::to_string).unwrap_or_default();
                DifferenceText { mark, sort: "plan", subject, field: slot.name(), lines: slot_lines(slot, false) }
            }
        }
    }

    /// The piece for machines.
    pub fn to_json(&self) -> Value {
        let text = self.description();
        let path = if let Change::Field { name, .. } = &self.change { name } else { &text.field };
        let change = match text.mark {
            DifferenceMark::Added => "added",
            DifferenceMark::Removed => "removed",
            DifferenceMark::Changed => "changed",
        };
        let (old, new) = self.values();
        json!({"change": change, "sort": text.sort, "subject": text.subject, "path": path, "old": old, "new": new})
    }

    /// What was there and what is there.
    fn values(&self) -> (Value, Value) {
        let edge = |edge: &Option<Box<Edge>>| edge.as_deref().map_or(Value::Null, edge_to_value);
        let whole = |whole: &Whole| {
            let edges: Vec<Value> = whole.edges.iter().map(edge_to_value).collect();
            json!({"node": node_to_value(&whole.node), "edges": edges})
        };
        match &self.change {
            Change::Added(added) => (Value::Null, whole(added)),
            Change::Removed(removed) => (whole(removed), Value::Null),
            Change::Field { slots, .. } => match slots.as_slice() {
                [slot] => (slot.old.clone().unwrap_or_default(), slot.new.clone().unwrap_or_default()),
                slots => {
                    let map = |side: fn(&ChangedField) -> &Option<Value>| {
                        let entries = slots.iter().filter_map(|slot| Some((slot.name(), side(slot).clone()?)));
                        Value::Object(entries.collect())
                    };
                    (map(|slot| &slot.old), map(|slot| &slot.new))
                }
            },
            Change::Edge { old, new } => (edge(old), edge(new)),
            Change::Order { old, new, .. } => {
                let targets = |edges: &[Edge]| edges.iter().map(|edge| json!(edge.to)).collect::<Value>();
                (targets(old), targets(new))
            }
            Change::Head(slot) => (slot.old.clone().unwrap_or_default(), slot.new.clone().unwrap_or_default()),
        }
    }
}

/// An edge on one line.
fn arrow(edge: &Edge, address: &dyn Fn(&NodeId) -> String) -> String {
    let when = edge.when.as_deref().map(|when| format!(" when {when}")).unwrap_or_default();
    format!("{} → {}{when}", address(&edge.from), address(&edge.to))
}

fn edge(old: Option<&Edge>, new: Option<&Edge>, address: &dyn Fn(&NodeId) -> String) -> DifferenceText {
    let mark = DifferenceMark::of(old, new);
    let subject = new.or(old).map(|edge| format!("{} → {}", address(&edge.from), address(&edge.to))).unwrap_or_default();
    let lines = |edge: Option<&Edge>| {
        let mut value = edge.map_or(Value::Null, edge_to_value);
        if let Value::Object(map) = &mut value {
            map.shift_remove("from");
            map.shift_remove("to");
        }
        fields(&value).into_iter().map(|line| line + "\n").collect::<String>()
    };
    let field = match mark {
        DifferenceMark::Added | DifferenceMark::Removed => {
            new.or(old).and_then(|edge| edge.when.as_deref()).map(|when| format!("when {when}"))
        }
        DifferenceMark::Changed => None,
    };
    DifferenceText { mark, sort: "edge", subject, field: field.unwrap_or_default(), lines: compared(&lines(old), &lines(new)) }
}

/// The fields of an object, each with its name before it.
fn fields(value: &Value) -> Vec<String> {
    let Value::Object(map) = value else { return Vec::new() };
    let field = |(name, value): (&String, &Value)| {
        let text = readable(value);
        if text.contains('\n') {
            let lines = text.lines().map(|line| format!("  {line}"));
            std::iter::once(format!("{name}:")).chain(lines).collect()
        } else {
            vec![format!("{name}: {text}")]
        }
    };
    map.iter().flat_map(field).collect()
}

fn slot_lines(slot: &ChangedField, named: bool) -> Vec<(DifferenceMark, String)> {
    let text = |value: &Option<Value>| match value {
        None => String::new(),
        Some(value) if named => {
            let map = Value::Object([(slot.name(), value.clone())].into_iter().collect());
            fields(&map).into_iter().map(|line| line + "\n").collect()
        }
        Some(value) => readable(value) + "\n",
    };
    compared(&text(&slot.old), &text(&slot.new))
}

/// Two texts line by line; what stays is shown only around what changes.
fn compared(old: &str, new: &str) -> Vec<(DifferenceMark, String)> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(AROUND) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let mark = match change.tag() {
                ChangeTag::Delete => DifferenceMark::Removed,
                ChangeTag::Insert => DifferenceMark::Added,
                ChangeTag::Equal => DifferenceMark::Changed,
            };
            lines.push((mark, change.value().trim_end_matches('\n').to_owned()));
        }
    }
    lines
}

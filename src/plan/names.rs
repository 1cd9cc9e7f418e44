//! What a name in a reference or an expression means: a node's result first (the longest known id wins), then a plan input.
//! `NameScope` is what is known at the place where the text is; a `Path` is a name and the fields behind it.

use serde_json::{Map, Value};
use std::{borrow::Cow, collections::HashSet, fmt};

/// Names that mean something of their own, so no node may have them.
pub const RESERVED_IDS: [&str; 4] = ["inputs", "deps", "nodes", "run"];

/// What is known where a text is.
pub trait NameScope {
    /// A node of the plan by its exact id; `None` when the plan has no such node.
    fn node(&self, id: &str) -> Option<NodeValue<'_>>;

    /// A plan input by its name.
    fn input(&self, name: &str) -> Option<&Value>;

    fn inputs(&self) -> Map<String, Value>;

    /// Whether what a path reads was made up in a rehearsal, so that nothing of it is missing.
    fn is_rehearsed(&self, _path: &Path) -> bool {
        false
    }
}

/// What a node has given so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeValue<'a> {
    /// Absent when it was passed, skipped, or its path died: it reads as null.
    pub result: Option<&'a Value>,
    /// Its state in one word.
    pub status: &'a str,
    /// Its error's words, if it failed.
    pub error: Option<&'a str>,
}

/// A scope that knows which names there are and no results: for checking a plan before it runs.
pub struct PlanNames<'a> {
    ids: HashSet<&'a str>,
    inputs: &'a Map<String, Value>,
}

impl<'a> PlanNames<'a> {
    /// The names of a plan.
    pub fn new(ids: impl IntoIterator<Item = &'a str>, inputs: &'a Map<String, Value>) -> Self {
        Self { ids: ids.into_iter().collect(), inputs }
    }
}

impl NameScope for PlanNames<'_> {
    fn node(&self, id: &str) -> Option<NodeValue<'_>> {
        self.ids.contains(id).then(NodeValue::default)
    }

    fn input(&self, name: &str) -> Option<&Value> {
        self.inputs.get(name)
    }

    fn inputs(&self) -> Map<String, Value> {
        self.inputs.clone()
    }
}

/// What a path starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    Node(String),
    /// A node by `deps` or `nodes`: `output`, `result`, `status` and `error` are beside the fields of its result.
    Entry(String),
    /// A plan input by its name.
    Input(String),
    Inputs,
    /// Neither a node nor an input.
    Unknown(String),
}

/// A name and the fields behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// What it starts from.
    pub root: Root,
    /// Keys of objects and positions in lists, as written.
    pub fields: Vec<String>,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum NameLookup<'a> {
    Value(Cow<'a, Value>),
    /// The node has no result: passed, skipped, or not run on this path.
    Nothing,
    /// There is no such thing; the words say what is missing.
    Missing(String),
}

impl Path {
    /// The node that it reads from.
    pub fn node(&self) -> Option<&str> {
        match &self.root {
            Root::Node(id) | Root::Entry(id) => Some(id),
            Root::Input(_) | Root::Inputs | Root::Unknown(_) => None,
        }
    }

    /// The input that it reads; all of them are none in particular.
    pub fn input(&self) -> Option<&str> {
        match &self.root {
            Root::Input(name) => Some(name),
            Root::Inputs => self.fields.first().map(String::as_str),
            Root::Node(_) | Root::Entry(_) | Root::Unknown(_) => None,
        }
    }

    /// The node whose result it reads, and the fields of that result; a node's state and error are no part of it.
    pub fn of_result(&self) -> Option<(&str, &[String])> {
        let first = self.fields.first().map(String::as_str);
        match (&self.root, first) {
            (Root::Entry(_), Some("status" | "error")) => None,
            (Root::Node(id) | Root::Entry(id), Some("result")) | (Root::Entry(id), Some("output")) => Some((id, &self.fields[1..])),
            (Root::Node(id) | Root::Entry(id), _) => Some((id, &self.fields)),
            (Root::Input(_) | Root::Inputs | Root::Unknown(_), _) => None,
        }
    }

    pub fn find<'a>(&self, scope: &'a dyn NameScope) -> NameLookup<'a> {
        match self.find_given(scope) {
            NameLookup::Missing(_) if scope.is_rehearsed(self) => NameLookup::Value(Cow::Owned(rehearsed(self))),
            found => found,
        }
    }

    fn find_given<'a>(&self, scope: &'a dyn NameScope) -> NameLookup<'a> {
        match &self.root {
            Root::Node(id) => match scope.node(id) {
                None => NameLookup::Missing(format!("there is no node `{id}`")),
                Some(node) => self.result(node, usize::from(self.fields.first().is_some_and(|field| field == "result"))),
            },
            Root::Entry(id) => match scope.node(id) {
                None => NameLookup::Missing(format!("there is no node `{id}`")),
                Some(node) => self.entry(node),
            },
            Root::Input(name) => match scope.input(name) {
                None => NameLookup::Missing(format!("the plan has no input `{name}`")),
                Some(value) => self.walk(value, 0),
            },
            Root::Inputs => match self.fields.first() {
                None => NameLookup::Value(Cow::Owned(Value::Object(scope.inputs()))),
                Some(name) => match scope.input(name) {
                    None => NameLookup::Missing(format!("the plan has no input `{name}`")),
                    Some(value) => self.walk(value, 1),
                },
            },
            Root::Unknown(name) => NameLookup::Missing(format!("`{name}` is neither a node nor an input of the plan")),
        }
    }

    fn entry<'a>(&self, node: NodeValue<'a>) -> NameLookup<'a> {
        match self.fields.first().map(String::as_str) {
            Some("output" | "result") => self.result(node, 1),
            Some("status") if self.fields.len() == 1 => NameLookup::Value(Cow::Owned(Value::from(node.status))),
            Some("error") if self.fields.len() == 1 => NameLookup::Value(Cow::Owned(node.error.map_or(Value::Null, Value::from))),
            _ => self.result(node, 0),
        }
    }

    fn result<'a>(&self, node: NodeValue<'a>, from: usize) -> NameLookup<'a> {
        node.result.map_or(NameLookup::Nothing, |result| self.walk(result, from))
    }

    fn walk<'a>(&self, value: &'a Value, from: usize) -> NameLookup<'a> {
        let mut here = value;
        for field in &self.fields[from..] {
            let next = match here {
                Value::Object(map) => map.get(field),
                Value::Array(list) => field.parse().ok().and_then(|i: usize| list.get(i)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            };
            match next {
                Some(value) => here = value,
                None => return NameLookup::Missing(format!("`{self}` has no `{field}`{}", has_instead(here))),
            }
        }
        NameLookup::Value(Cow::Borrowed(here))
    }
}

/// What is read where a rehearsal has no data.
pub fn rehearsed(name: &dyn fmt::Display) -> Value {
    Value::from(format!("[rehearsed: {name}]"))
}

/// What there is where a field is missing.
fn has_instead(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => ": the object is empty".into(),
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().take(5).map(|key| format!("`{key}`")).collect();
            format!(": the object has {}{}", keys.join(", "), if map.len() > keys.len() { ", …" } else { "" })
        }
        Value::Array(list) => format!(": the list has {} entries", list.len()),
        other => format!(": it is {}, not an object", super::fields::kind(other)),
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Node(name) | Root::Input(name) | Root::Unknown(name) => f.write_str(name)?,
            Root::Entry(id) => write!(f, "nodes[\"{id}\"]")?,
            Root::Inputs => f.write_str("inputs")?,
        }
        self.fields.iter().try_for_each(|field| write!(f, ".{field}"))
    }
}

/// Whether a byte may be in a node's id.
pub(crate) fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether a text is a legal node id: 1 to 64 of `A-Z a-z 0-9 _ -`, and none of the reserved names.
pub fn is_legal_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(is_id_byte) && !RESERVED_IDS.contains(&id)
}

/// The most parts between hyphens that a name is looked for in: no legal id has more.
const MOST_PARTS: usize = 64;

/// The longest name that `run` (characters of ids only) starts with: a node before an input; `None` when nothing is known by it.
/// A name ends where an identifier ends, so `a` is not found in `ab`.
pub(crate) fn longest_known(run: &str, scope: &dyn NameScope) -> Option<(Root, usize)> {
    let ends = || run.char_indices().skip(1).filter(|(_, c)| *c == '-').map(|(i, _)| i).chain([run.len()]);
    let ends: Vec<usize> = ends().take(MOST_PARTS).collect();
    let longest = |known: &dyn Fn(&str) -> bool| ends.iter().rev().copied().find(|&end| known(&run[..end]));
    if let Some(end) = longest(&|name| scope.node(name).is_some()) {
        return Some((Root::Node(run[..end].to_owned()), end));
    }
    longest(&|name| scope.input(name).is_some()).map(|end| (Root::Input(run[..end].to_owned()), end))
}

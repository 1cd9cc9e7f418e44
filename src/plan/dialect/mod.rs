//! Dialects: documents of different shapes that are one plan inside. `read` tells the shape by looking at it; `write` gives any
//! format's text and lists what that format can't express. Reading then writing the same dialect gives an equal document.

mod locate;
mod picture;
#[cfg(test)]
mod tests;
mod write;

pub use write::{Loss, Written, write};

use super::native::{ShapeError, plan_from_value};
use super::{Dialect, Plan};
use serde_json::{Map, Value};
use std::{fmt, str::FromStr};

/// A form that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// dagdeck's own JSON.
    Native,
    /// `{nodes: [{id, agent, objective, depends_on}], metadata}`.
    Orchestration,
    /// A Mermaid flowchart.
    Mermaid,
    /// Graphviz.
    Dot,
    /// A picture of the tree as text.
    Tree,
    /// A picture with boxes and lines as text.
    Text,
}

impl Format {
    /// Every format, in the order of help.
    pub const ALL: [Self; 6] = [Self::Native, Self::Orchestration, Self::Mermaid, Self::Dot, Self::Tree, Self::Text];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Orchestration => "orchestration",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Tree => "tree",
            Self::Text => "text",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| format!("unknown format `{name}`: one of {}", names()))
    }
}

/// Why a text is not a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file's name or where the text came from.
    pub origin: String,
    /// Line and column from 1, where they are known.
    pub at: Option<(usize, usize)>,
    /// The place within the document, such as `nodes[2].args`; may be empty.
    pub path: String,
    /// Cause, lower-case start.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

/// Reads a plan; `origin` names the text in errors.
///
/// # Errors
/// When the text is no JSON, no plan, or a plan of a shape that this version doesn't read.
pub fn read(text: &str, origin: &str) -> Result<(Plan, Dialect), ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|error| not_json(text, origin, &error))?;
    let dialect = tell(&value).map_err(|message| ReadError { origin: origin.into(), at: None, path: String::new(), message })?;
    let mut plan = plan_from_value(value).map_err(|ShapeError { path, message }| {
        let at = locate::locate(text, &path);
        ReadError { origin: origin.into(), at, path, message }
    })?;
    if plan.dialect == Dialect::Native {
        plan.dialect = dialect;
    }
    Ok((plan, dialect))
}

fn not_json(text: &str, origin: &str, error: &serde_json::Error) -> ReadError {
    let words = error.to_string();
    // serde_json repeats the place at the end of its words.
    let message = words.rsplit_once(" at line ").map_or(words.as_str(), |(message, _)| message);
    let message = if text.trim().is_empty() {
        "the text is empty, a plan is a JSON object".into()
    } else if origin.ends_with(".yaml") || origin.ends_with(".yml") {
        format!("this version reads plans as JSON only ({message})")
    } else {
        format!("not JSON: {message}")
    };
    ReadError { origin: origin.into(), at: Some((error.line().max(1), error.column().max(1))), path: String::new(), message }
}

/// The dialect of a document by its shape.
fn tell(value: &Value) -> Result<Dialect, String> {
    let Value::Object(map) = value else { return Ok(Dialect::Native) };
    if map.contains_key("dagdeck") {
        return Ok(Dialect::Native);
    }
    let other = if map.contains_key("dag") {
        Some("tools")
    } else if map.contains_key("tasks") {
        Some("hybrid")
    } else if map.contains_key("connections") {
        Some("workflow")
    } else if map.contains_key("stages") {
        Some("stages")
    } else {
        None
    };
    if let Some(name) = other {
        return Err(format!("this is a plan of the {name} dialect; this version reads native and orchestration plans"));
    }
    let nodes = map.get("nodes").and_then(Value::as_array);
    let plain = !["goal", "inputs", "edges", "budget", "defaults"].iter().any(|field| map.contains_key(*field));
    let is_orchestration = plain && nodes.is_some_and(|nodes| !nodes.is_empty() && nodes.iter().all(is_orchestration_node));
    Ok(if is_orchestration { Dialect::Orchestration } else { Dialect::Native })
}

fn is_orchestration_node(node: &Value) -> bool {
    let read = |map: &Map<String, Value>| super::native::node_from_value(Value::Object(map.clone()), "").ok();
    node.as_object().is_some_and(|map| {
        map.contains_key("agent") && map.contains_key("objective") && read(map).is_some_and(|node| node.policy == super::Policy::default())
    })
}

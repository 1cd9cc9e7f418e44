//! Plans as text of each format, with what is lost on the way.

use super::draft::Loss;
use super::read::amended;
use super::reading::{FieldReading, ListForm};
use super::source::{SourceText, Syntax};
use super::values::{document, shaped};
use super::{diagram, keep, numbers, reading, splice, yaml};
use crate::plan::drawing;
use crate::plan::fields::AS_WRITTEN;
use crate::plan::order::{EdgePlace, PlanGraph};
use crate::plan::{Catalog, Dialect, Edge, Node, NodeKind, Plan};
use crate::text::{GlyphSet, safe_json};
use serde::Serialize;
use serde_json::{Map, Value};
use std::str::FromStr;
use strum::{EnumIter, IntoEnumIterator};

/// A form that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter)]
pub enum Format {
    /// A document that can be read again.
    Document(Dialect),
    Mermaid,
    Dot,
    /// A drawing of the tree as text.
    Tree,
    /// A drawing with boxes and lines as text.
    Text,
}

impl Format {
    /// Every format, in the order of help.
    pub fn all() -> impl Iterator<Item = Self> {
        Dialect::ALL.map(Self::Document).into_iter().chain(Self::iter().filter(|format| format.is_drawing()))
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Document(dialect) => dialect.name(),
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Tree => "tree",
            Self::Text => "text",
        }
    }

    /// Whether it is a drawing of the plan rather than a document that can be read again.
    pub fn is_drawing(self) -> bool {
        !matches!(self, Self::Document(_))
    }
}

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{name}`; use one of {}", Format::all().map(Format::name).collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat {
    name: String,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::all().find(|format| format.name() == name).ok_or_else(|| UnknownFormat { name: name.to_owned() })
    }
}

/// A plan in a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedPlan {
    /// The text, with a line break at its end.
    pub text: String,
    /// What the format can't express; nothing for native. Drawings show the structure: only edges without a line are listed.
    pub lost: Vec<Loss>,
}

/// Writes a plan in a format, as JSON where that is a document.
pub fn write(plan: &Plan, format: Format) -> ExportedPlan {
    write_as(plan, format, Syntax::Json, &Catalog::default())
}

/// Writes a plan in a format and a syntax. The catalog tells which parameter of a tool a `query` fills; a tool that isn't in it has it
/// listed as a loss.
pub fn write_as(plan: &Plan, format: Format, syntax: Syntax, catalog: &Catalog) -> ExportedPlan {
    let shape = match format {
        Format::Document(dialect) => dialect,
        Format::Mermaid => return ExportedPlan { text: diagram::mermaid(plan), lost: undrawn(plan) },
        Format::Dot => return ExportedPlan { text: diagram::dot(plan), lost: undrawn(plan) },
        Format::Tree => return ExportedPlan { text: diagram::tree(plan), lost: undrawn(plan) },
        Format::Text => return ExportedPlan { text: drawing::text(plan, GlyphSet::Unicode), lost: undrawn(plan) },
    };
    let (value, mut lost) = document(plan, shape, catalog);
    let doubled = held(plan, &Part::Plan).into_iter().filter(|(_, reading)| reading.is_lost() && reading.wrong);
    lost.extend(doubled.map(|(_, reading)| Loss { path: reading.name, reason: reading.message }));
    let others = held(plan, &Part::Plan).into_iter().filter(|(_, reading)| reading.list == Some(ListForm::OtherPlans));
    lost.extend(
        others.map(|(_, reading)| Loss { path: String::new(), reason: format!("{}, and only that one is written", reading.message) }),
    );
    let value = match source(plan, shape) {
        Some((source, read)) if shaped(shape, read.clone()).as_ref() == Ok(plan) => source,
        Some((_, read)) => {
            let kept = keep::as_read(value, read, |value| shaped(shape, value).ok(), |plan| document(plan, shape, catalog).0);
            if shape == plan.dialect { reading::restored(kept) } else { kept }
        }
        None if shape == plan.dialect => reading::restored(value),
        None => value,
    };
    let text = match syntax {
        Syntax::Json => {
            let source = plan.source.as_ref();
            let kept = source.filter(|source| source.shape == shape).and_then(|source| splice::spliced(&source.text, &value));
            let text = kept.unwrap_or_else(|| json_like(&value, source.map(|source| source.text.as_str())));
            format!("{}\n", safe_json(text.trim_end()))
        }
        Syntax::Yaml => {
            let source = plan.source.as_ref().filter(|source| source.shape == shape && Syntax::of(&source.text, &source.origin) == syntax);
            let spelled = source.map(|source| numbers::spelled(&value, &source.text)).unwrap_or_default();
            yaml::write(&value, &spelled)
        }
    };
    ExportedPlan { text, lost }
}

/// The edges of a plan, and of what is inside its nodes, that no drawing has a line for: an end of theirs is no node.
pub fn undrawn(plan: &Plan) -> Vec<Loss> {
    let mut lost = Vec::new();
    undrawn_under("", plan, &mut lost);
    lost
}

fn undrawn_under(inside: &str, plan: &Plan, lost: &mut Vec<Loss>) {
    for link in PlanGraph::new(plan).links().iter().filter(|link| link.from.is_none() || link.to.is_none()) {
        let Some(edge) = plan.edge_at(link.place) else { continue };
        let path = match link.place {
            EdgePlace::Edge(at) => format!("{inside}edges[{at}]"),
            EdgePlace::Dependency(node, at) => format!("{inside}nodes[{node}].depends_on[{at}]"),
        };
        let unknown = if link.from.is_none() { edge.from } else { edge.to };
        lost.push(Loss { path, reason: format!("has no line in the drawing: there is no node `{unknown}`") });
    }
    for (at, node) in plan.nodes.iter().enumerate() {
        let field = if matches!(node.kind, NodeKind::Subplan(_)) { "plan" } else { "body" };
        node.kind.body().into_iter().for_each(|body| undrawn_under(&format!("{inside}nodes[{at}].{field}."), body, lost));
    }
}

/// The document that a plan was read from, if it is in this shape: as it is written, and as its reader took it.
fn source(plan: &Plan, shape: Dialect) -> Option<(Value, Value)> {
    let source = plan.source.as_ref().filter(|source| source.shape == shape)?;
    let (source, text) = SourceText::open(&source.text, &source.origin).and_then(SourceText::parse).ok()?;
    let mut read = source.clone();
    (amended(&mut read, &text).ok()? == shape).then_some((source, read))
}

/// JSON with the indent of the text that it came from, on one line where that is on one.
fn json_like(value: &Value, source: Option<&str>) -> String {
    let source = source.map(str::trim).filter(|text| text.starts_with(['{', '[']));
    let indent = source.map_or(Some("  "), |text| {
        let line = text.split_once('\n')?.1;
        Some(&line[..line.len() - line.trim_start_matches([' ', '\t']).len()])
    });
    match indent {
        None => value.to_string(),
        Some(indent) => {
            let mut written = Vec::new();
            let pretty = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
            // A value is always written to memory.
            let _ = value.serialize(&mut serde_json::Serializer::with_formatter(&mut written, pretty));
            String::from_utf8_lossy(&written).into_owned()
        }
    }
}

/// Something with unknown fields, written alone so that its readings can be compared.
pub(in crate::plan) enum Part<'p> {
    Plan,
    Node(&'p Node),
    Edge(&'p Edge),
}

/// The readings of a part that nobody has changed since, with their positions.
pub(in crate::plan) fn held(plan: &Plan, part: &Part<'_>) -> Vec<(usize, FieldReading)> {
    let ext = match part {
        Part::Plan => &plan.ext,
        Part::Node(node) => &node.ext,
        Part::Edge(edge) => &edge.ext,
    };
    if !ext.contains_key(AS_WRITTEN) {
        return Vec::new();
    }
    let bare = Plan { dialect: plan.dialect, ..Plan::default() };
    let alone = match part {
        Part::Plan => Plan { nodes: Vec::new(), edges: Vec::new(), ..plan.clone() },
        Part::Node(node) => Plan { nodes: vec![(*node).clone()], ..bare },
        Part::Edge(edge) => Plan { edges: vec![(*edge).clone()], ..bare },
    };
    let value = document(&alone, plan.dialect, &Catalog::default()).0;
    let object = noted(&value);
    let is_held = |reading: &FieldReading| object.is_none_or(|object| reading.holds(object));
    reading::readings(ext).into_iter().enumerate().filter(|(_, reading)| is_held(reading)).collect()
}

/// The first object with readings.
fn noted(value: &Value) -> Option<&Map<String, Value>> {
    match value {
        Value::Object(map) if map.contains_key(AS_WRITTEN) => Some(map),
        Value::Object(map) => map.values().find_map(noted),
        Value::Array(list) => list.iter().find_map(noted),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

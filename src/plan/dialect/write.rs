//! Plans as text of each format, with what is lost on the way.

use super::{Format, diagram, hybrid, keep, orchestration, stages, tools, workflow, yaml};
use crate::plan::drawing;
use crate::plan::native::plan_to_value;
use crate::plan::{Catalog, Dialect, Plan};
use crate::text::{GlyphSet, safe_json};
use serde_json::Value;

/// How a document stands in a text. Drawings have a form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    Json,
    Yaml,
}

/// A plan in a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedPlan {
    /// The text, with a line break at its end.
    pub text: String,
    /// What the format can't express; nothing for native. Drawings show the structure and list no losses.
    pub lost: Vec<Loss>,
}

/// Something that a format can't express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it stands in the native form.
    pub path: String,
    /// Why it is lost.
    pub reason: String,
}

/// Writes a plan in a format, as JSON where that is a document.
pub fn write(plan: &Plan, format: Format) -> ExportedPlan {
    write_as(plan, format, Syntax::Json, &Catalog::default())
}

/// Writes a plan in a format and a syntax. The catalog tells which parameter of a tool a `query` fills; a tool that isn't in it has it
/// listed as a loss.
pub fn write_as(plan: &Plan, format: Format, syntax: Syntax, catalog: &Catalog) -> ExportedPlan {
    let shape = match format {
        Format::Native => Dialect::Native,
        Format::Orchestration => Dialect::Orchestration,
        Format::Tools => Dialect::Tools,
        Format::Hybrid => Dialect::Hybrid,
        Format::Workflow => Dialect::Workflow,
        Format::Stages => Dialect::Stages,
        Format::Mermaid => return ExportedPlan { text: diagram::mermaid(plan), lost: Vec::new() },
        Format::Dot => return ExportedPlan { text: diagram::dot(plan), lost: Vec::new() },
        Format::Tree => return ExportedPlan { text: diagram::tree(plan), lost: Vec::new() },
        Format::Text => return ExportedPlan { text: drawing::text(plan, GlyphSet::Unicode), lost: Vec::new() },
    };
    let (value, lost) = document(plan, shape, catalog);
    let value = keep::as_read(plan, shape, value, |plan| document(plan, shape, catalog).0);
    let text = match syntax {
        Syntax::Json => pretty(&value),
        Syntax::Yaml => yaml::write(&value),
    };
    ExportedPlan { text, lost }
}

/// The document of a plan in a dialect, in the one way that its writer has.
pub(super) fn document(plan: &Plan, dialect: Dialect, catalog: &Catalog) -> (Value, Vec<Loss>) {
    match dialect {
        Dialect::Native => (plan_to_value(plan), Vec::new()),
        Dialect::Orchestration => orchestration::write(plan),
        Dialect::Tools => tools::write(plan, catalog),
        Dialect::Hybrid => hybrid::write(plan, catalog),
        Dialect::Workflow => workflow::write(plan),
        Dialect::Stages => stages::write(plan),
    }
}

fn pretty(value: &Value) -> String {
    format!("{}\n", safe_json(&format!("{value:#}")))
}

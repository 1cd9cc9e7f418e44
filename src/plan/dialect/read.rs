//! From text to a plan.

use super::amend::amend;
use super::reading::{FieldReading, ListForm, note};
use super::source::{ReadError, SourceText};
use super::values::shaped;
use crate::plan::document::SourceDocument;
use crate::plan::native::ShapeError;
use crate::plan::{Dialect, Plan, PlanSource};
use serde_json::Value;

/// Reads a plan; `origin` names the text in errors. The second value is the shape that was found, which for a native document may
/// differ from the dialect by whose rules its plan is read. What can't be read as it is written is noted in the plan, for validation to
/// tell.
///
/// # Errors
/// When the text is neither JSON nor YAML, or holds nothing like nodes.
pub fn read(text: &str, origin: &str) -> Result<(Plan, Dialect), ReadError> {
    let source = SourceText::open(text, origin)?;
    let (mut value, source) = source.parse()?;
    let shape = amended(&mut value, &source).map_err(|error| source.fault(error))?;
    let mut plan = shaped(shape, value).map_err(|error| ReadError { shape: Some(shape), ..source.fault(error) })?;
    plan.source = PlanSource::new(SourceDocument { text: text.to_owned(), origin: origin.to_owned(), shape });
    Ok((plan, shape))
}

/// Amends what a text holds, and notes what the text is.
///
/// # Errors
/// When it holds nothing like nodes.
pub(super) fn amended(value: &mut Value, source: &SourceText<'_>) -> Result<Dialect, ShapeError> {
    // What is written once to be repeated says nothing where it stands.
    let mut templates = Vec::new();
    if let Value::Object(map) = value {
        for name in source.templates() {
            let at = map.keys().position(|key| key == name);
            templates.extend(at.zip(map.get(name).filter(|held| held.is_object()).cloned()).map(|(at, held)| (name.to_owned(), at, held)));
        }
        templates.iter().for_each(|(name, ..)| drop(map.shift_remove(name)));
    }
    let shape = amend(value, "", 0)?;
    if let Value::Object(map) = value {
        templates.into_iter().for_each(|(name, at, held)| drop(map.shift_insert(at.min(map.len()), name, held)));
        let surplus =
            |(list, message): &(ListForm, String)| FieldReading { message: message.clone(), list: Some(*list), ..FieldReading::default() };
        let lost = source.lost().iter().map(|lost| FieldReading {
            name: lost.path.clone(),
            message: lost.message.clone(),
            wrong: lost.is_doubled,
            ..FieldReading::default()
        });
        note(map, source.surplus().iter().map(surplus).chain(lost).collect());
    }
    Ok(shape)
}

//! Dialects: documents of different shapes that are one plan inside. `read` tells the shape by looking at it, in JSON or YAML; `write`
//! gives any format's text and lists what that format can't express. Reading then writing the same dialect gives an equal document, and
//! after an edit the document differs from what was read only by that edit (`keep`).
//!
//! A dialect's reader takes its fields into the plan's types. What says nothing there (null, false, an empty list) and what it doesn't
//! know stays in `ext`, and its writer gives it back. A name that belongs to another dialect is an error that tells the right one.

mod aliases;
mod amend;
mod coerce;
mod diagram;
mod draft;
mod exact;
mod excerpt;
mod field_names;
mod forms;
mod groups;
mod hybrid;
mod json;
mod keep;
mod locate;
mod loose;
pub(in crate::plan) mod names;
mod numbers;
mod orchestration;
pub(crate) mod other_names;
mod outline;
mod parts;
mod place;
mod read;
mod reading;
mod source;
mod splice;
mod spread;
mod stages;
#[cfg(test)]
mod tests;
mod tools;
mod unquoted;
mod values;
mod workflow;
mod write;
mod yaml;

pub(in crate::plan) use aliases::{asks, gate, gate_within, is_like_a_gate, is_step, plain};
pub use draft::Loss;
pub use exact::exact_json;
pub(in crate::plan) use field_names::{DocumentPart, fields as known_fields, is_field, is_kept};
pub(in crate::plan) use forms::is_alias;
pub use numbers::keep_digits;
pub use place::{locate, source_message, source_path, written_path};
pub use read::read;
pub use reading::note_unread;
pub(in crate::plan) use reading::{FieldReading, ListForm, is_noted_unread, without};
pub use source::{ReadError, Syntax};
pub(in crate::plan) use stages::implied as implied_stages;
pub use values::{body_from_value, body_to_value, node_from_value, node_to_value, plan_from_value, plan_to_value};
pub use write::{ExportedPlan, Format, write, write_as};
pub(in crate::plan) use write::{Part, held};

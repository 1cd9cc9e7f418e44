//! The names of fields in stage plans.

use crate::plan::dialect::names::NAMES;

/// The unknown field of a plan that holds the note.
pub(in crate::plan) const LAYOUT: &str = "stages_layout";

/// The unknown field that marks a stage which says no more than its type, so that its work follows from what leads into it.
pub(in crate::plan) const IMPLIED: &str = "implied_work";

/// Whether a reader keeps this name only to know how the stage was written.
pub(in crate::plan) fn is_memo(name: &str) -> bool {
    let stage = &NAMES.stage;
    ["type", "stage_id", IMPLIED].contains(&name)
        || [&stage.agent, &stage.objective, &stage.tool, &stage.args, &stage.decide, &stage.value].iter().any(|names| names.contains(&name))
}

//! A difference between two plans in words: what it is about, what was there and what is there, and what comes with it.

use super::diff::{difference_lines, difference_title};
use crate::console::model::{Doc, Model};
use crate::console::theme::Role;
use crate::plan::diff::DifferenceMark;
use crate::text::Plain;

/// What there is to know of the selected difference.
pub fn compare(model: &Model) -> Doc<'static> {
    let mut doc = Doc::default();
    let compare = &model.editor.compare;
    let Some(difference) = compare.selected() else { return doc };
    let is_planned = model.editor.version().is_some_and(|version| version.goes_on);
    let [added, removed, changed] = match compare.name() {
        None if is_planned => ["is new in this plan", "was in the plan before", "is different from the plan before"],
        None => ["added by your edits", "removed by your edits", "changed by your edits"],
        Some(_) => ["is only in the other plan", "is not in the other plan", "is different in the other plan"],
    };
    let whose = match difference.mark {
        DifferenceMark::Added => added,
        DifferenceMark::Removed => removed,
        DifferenceMark::Changed => changed,
    };
    doc.line(Role::Heading, difference_title(difference));
    doc.line(Role::Dim, Plain::line(whose));
    let needed = compare.needed(model.editor.plan());
    for difference in needed.iter().filter_map(|at| compare.differences().get(*at)) {
        doc.line(Role::Warning, Plain::line("together with: ").then(&difference_title(difference)));
    }
    doc.line(Role::Text, Plain::default());
    difference_lines(difference, &mut doc);
    doc
}

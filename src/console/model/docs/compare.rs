//! A difference between two plans in words: what it is about, what was there and what is there, and what comes with it.

use super::mark_role;
use crate::console::{
    model::{Doc, Model},
    theme::Role,
};
use crate::plan::diff::DifferenceMark;
use crate::text::Plain;

/// What there is to know of the selected difference.
pub fn compare(model: &Model) -> Doc<'static> {
    let mut doc = Doc::default();
    let compare = &model.editor.compare;
    let Some(told) = compare.differences().get(compare.selected) else { return doc };
    let whose = match compare.name() {
        None => match told.mark {
            DifferenceMark::Added => "added by your edits",
            DifferenceMark::Removed => "removed by your edits",
            DifferenceMark::Changed => "changed by your edits",
        },
        Some(_) => match told.mark {
            DifferenceMark::Added => "is only in the other plan",
            DifferenceMark::Removed => "is not in the other plan",
            DifferenceMark::Changed => "is different in the other plan",
        },
    };
    doc.line(Role::Heading, Plain::summary(&format!("{} {} {}", told.sort, told.subject, told.field)));
    doc.line(Role::Dim, Plain::line(whose));
    let needed = compare.needed(model.editor.plan());
    for told in needed.iter().filter_map(|at| compare.differences().get(*at)) {
        doc.line(Role::Warning, Plain::summary(&format!("together with: {} {} {}", told.sort, told.subject, told.field)));
    }
    doc.line(Role::Text, Plain::default());
    for (mark, line) in &told.lines {
        let (sign, role) = match mark {
            DifferenceMark::Added | DifferenceMark::Removed => (mark.sign(), mark_role(*mark)),
            DifferenceMark::Changed => (" ", Role::Text),
        };
        doc.line(role, Plain::line(&format!("{sign} {line}")));
    }
    doc
}

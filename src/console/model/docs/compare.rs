//! A difference between two plans in words: what it is about, what was there and what is there, and what comes with it.

use crate::console::{
    model::{Doc, Model},
    theme::Role,
};
use crate::plan::diff::Mark;
use crate::text::Plain;

/// How a difference looks.
pub fn mark_role(mark: Mark) -> Role {
    match mark {
        Mark::Added => Role::DiffAdd,
        Mark::Removed => Role::DiffDel,
        Mark::Changed => Role::Accent,
    }
}

/// What there is to know of the selected difference.
pub fn compare(model: &Model) -> Doc<'static> {
    let mut doc = Doc::default();
    let compare = &model.editor.compare;
    let Some(told) = compare.told().get(compare.selected) else { return doc };
    let whose = match compare.name() {
        None => match told.mark {
            Mark::Added => "came with your edits",
            Mark::Removed => "went with your edits",
            Mark::Changed => "is other than it came",
        },
        Some(_) => match told.mark {
            Mark::Added => "is only in the other plan",
            Mark::Removed => "is not in the other plan",
            Mark::Changed => "is other in the other plan",
        },
    };
    doc.line(Role::Heading, Plain::summary(&format!("{} {} {}", told.sort, told.subject, told.field)));
    doc.line(Role::Dim, Plain::line(whose));
    let needed = compare.needed(model.editor.plan());
    for told in needed.iter().filter_map(|at| compare.told().get(*at)) {
        doc.line(Role::Warning, Plain::summary(&format!("together with: {} {} {}", told.sort, told.subject, told.field)));
    }
    doc.line(Role::Text, Plain::default());
    for (mark, line) in &told.lines {
        let (sign, role) = match mark {
            Mark::Added | Mark::Removed => (mark.sign(), mark_role(*mark)),
            Mark::Changed => (" ", Role::Text),
        };
        doc.line(role, Plain::line(&format!("{sign} {line}")));
    }
    doc
}

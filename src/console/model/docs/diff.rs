//! Differences line by line, for every pane that shows some.

use similar::ChangeTag;

use crate::console::model::{Doc, lines};
use crate::console::theme::Role;
use crate::plan::diff::{DifferenceMark, DifferenceText};
use crate::text::Plain;

/// What a difference is about.
pub fn difference_title(difference: &DifferenceText) -> Plain {
    Plain::summary(&format!("{} {} {}", difference.sort, difference.subject, difference.field))
}

/// A difference line by line.
pub fn difference_lines(difference: &DifferenceText, doc: &mut Doc<'static>) {
    for (mark, line) in &difference.lines {
        let (glyph, role) = match mark {
            DifferenceMark::Added | DifferenceMark::Removed => (mark.glyph(), mark_role(*mark)),
            DifferenceMark::Changed => (" ", Role::Text),
        };
        doc.line(role, Plain::line(&format!("{glyph} {line}")));
    }
}

/// How a difference looks.
pub fn mark_role(mark: DifferenceMark) -> Role {
    match mark {
        DifferenceMark::Added => Role::DiffAdd,
        DifferenceMark::Removed => Role::DiffDel,
        DifferenceMark::Changed => Role::Accent,
    }
}

/// A changed line of two texts, in as many pieces as it takes.
pub fn changed_line(tag: ChangeTag, line: &str, doc: &mut Doc<'static>) {
    let (glyph, role) = match tag {
        ChangeTag::Delete => ("- ", Role::DiffDel),
        ChangeTag::Insert => ("+ ", Role::DiffAdd),
        ChangeTag::Equal => ("  ", Role::Text),
    };
    let pieces = lines(line.strip_suffix('\n').unwrap_or(line));
    if pieces.is_empty() {
        doc.line(role, Plain::line(glyph));
    }
    for piece in pieces {
        doc.line(role, Plain::line(glyph).then(&piece));
    }
}

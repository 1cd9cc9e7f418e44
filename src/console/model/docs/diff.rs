//! Differences line by line, for every pane that shows some.

use similar::{ChangeTag, DiffOp, TextDiff};

use crate::console::model::{Doc, DrawnLine, lines};
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

/// The lines of one piece of a comparison: those that are equal, or that were removed and added, with the words marked in which they differ.
pub fn changed_lines(changes: &TextDiff<'_, '_, str>, piece: &DiffOp, doc: &mut Doc<'static>) {
    for change in changes.iter_inline_changes_deadline(piece, None) {
        let (glyph, role, word) = match change.tag() {
            ChangeTag::Delete => ("- ", Role::DiffDel, Role::DiffDelWord),
            ChangeTag::Insert => ("+ ", Role::DiffAdd, Role::DiffAddWord),
            ChangeTag::Equal => ("  ", Role::Text, Role::Text),
        };
        let line: String = change.values().iter().map(|(_, text)| *text).collect();
        let shown = lines(line.strip_suffix('\n').unwrap_or(&line));
        let differs = change.values().iter().any(|(differs, _)| *differs);
        match shown.as_slice() {
            [] => doc.line(role, Plain::line(glyph)),
            [whole] if differs => {
                let words = change.values().iter().map(|(differs, text)| {
                    let text = Plain::line(text.strip_suffix('\n').unwrap_or(text));
                    (text, if *differs { word } else { role })
                });
                let pieces: Vec<(Plain, Role)> = std::iter::once((Plain::line(glyph), role)).chain(words).collect();
                let drawn = DrawnLine::of(pieces, GLYPH);
                let whole = Plain::line(glyph).then(whole);
                // What is marked word by word says exactly what the line says, or it isn't marked.
                if *drawn.text() == whole { doc.drawn_line(drawn) } else { doc.line(role, whole) }
            }
            shown => shown.iter().for_each(|line| doc.line(role, Plain::line(glyph).then(line))),
        }
    }
}

/// Columns of what a line begins with.
const GLYPH: usize = 2;

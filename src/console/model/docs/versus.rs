//! Two runs side by side in words: what differs at one place, line by line.

use similar::TextDiff;

use super::diff::{changed_lines, difference_lines, difference_title};
use crate::console::model::{CompareScreen, Doc, VersusRow};
use crate::console::theme::Role;
use crate::engine::{Side, Totals, listed, result_text};
use crate::text::Plain;

/// What a run took, on one line.
pub fn totals(totals: &Totals) -> Plain {
    let open = totals.elapsed_ms.is_none().then(|| Plain::line("not finished"));
    listed(open.into_iter().chain([totals.label()]).filter(|part| !part.is_empty()))
}

fn text(side: &Side) -> String {
    let result = side.result.as_deref().filter(|result| !result.is_null());
    result.map(|result| result_text(result, None)).or_else(|| side.error.clone()).unwrap_or_default()
}

/// Lines of two results together up to which they are compared.
const LONGEST: usize = 4_000;

/// What differs at the selected row.
pub fn versus(versus: &CompareScreen) -> Doc<'static> {
    let mut doc = Doc::default();
    match versus.row(versus.place.selected) {
        None => {}
        Some(VersusRow::Plan(difference)) => {
            doc.line(Role::Heading, difference_title(difference));
            difference_lines(difference, &mut doc);
        }
        Some(VersusRow::Node(node)) => {
            doc.line(Role::Heading, Plain::summary(&node.node));
            for (name, side) in [("first", &node.left), ("second", &node.right)] {
                doc.field(name, &side.as_ref().map_or_else(|| Plain::line("not in this run"), Side::label));
            }
            doc.heading("its result, from the first to the second");
            let (left, right) = (node.left.as_ref().map(text).unwrap_or_default(), node.right.as_ref().map(text).unwrap_or_default());
            changes(&left, &right, &mut doc);
        }
    }
    doc
}

fn changes(left: &str, right: &str, doc: &mut Doc<'static>) {
    if left.lines().count() + right.lines().count() > LONGEST {
        return doc.line(Role::Dim, Plain::line("too long to compare line by line"));
    }
    let changes = TextDiff::from_lines(left, right);
    changes.ops().iter().for_each(|op| changed_lines(&changes, op, doc));
}

//! Two runs side by side in words: what differs at one place, line by line.

use serde_json::Value;
use similar::TextDiff;

use super::diff::{changed_line, difference_lines, difference_title};
use crate::console::model::{CompareScreen, Doc, VersusRow, texts};
use crate::console::theme::Role;
use crate::engine::{Side, Totals, listed, result_text};
use crate::text::Plain;

/// What a run took, on one line.
pub fn totals(totals: &Totals) -> Plain {
    let open = totals.elapsed_ms.is_none().then(|| Plain::line("not finished"));
    listed(open.into_iter().chain([totals.label()]).filter(|part| !part.is_empty()))
}

/// What became of a node, on one line.
pub fn side(side: Option<&Side>) -> Plain {
    let Some(side) = side else { return Plain::line("not in this run") };
    let mark = side.mark.as_ref().map(|mark| format!(", {}", mark.as_str())).unwrap_or_default();
    let first = |text: &str| start(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    let said = match side.result.as_deref() {
        None | Some(Value::Null) => first(side.error.as_deref().unwrap_or_default()),
        Some(Value::String(text)) => first(text),
        Some(other) => texts::compact_start(other, ON_A_LINE),
    };
    Plain::summary(&format!("{}{mark} {said}", side.state))
}

/// Characters of a result that a row tells.
const ON_A_LINE: usize = 200;

fn start(line: &str) -> String {
    line.chars().take(ON_A_LINE).collect()
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
    for change in TextDiff::from_lines(left, right).iter_all_changes() {
        changed_line(change.tag(), change.value(), doc);
    }
}

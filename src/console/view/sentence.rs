//! Sentences on the screen: what they put into backticks, such as an id, is drawn in a style of its own, and without them.

use crate::console::theme::Role;
use crate::text::Plain;

/// A sentence on as many rows of so many columns as it takes, each in pieces with their roles.
pub fn rows(text: &Plain, role: Role, columns: usize) -> Vec<Vec<(Plain, Role)>> {
    let (whole, quoted) = unquoted(text.as_str());
    let mut from = 0;
    let rows = Plain::line(&whole).wrap(columns).into_iter().map(|row| {
        let start = whole[from..].find(row.as_str()).map_or(from, |at| from + at);
        from = (start + row.as_str().len()).min(whole.len());
        pieces(&whole, start, from, &quoted, role)
    });
    rows.collect()
}

/// The same on one row, however long.
pub fn row(text: &Plain, role: Role) -> Vec<(Plain, Role)> {
    let (whole, quoted) = unquoted(text.as_str());
    pieces(&whole, 0, whole.len(), &quoted, role)
}

/// A sentence without backticks.
pub fn bare(text: &Plain) -> Plain {
    Plain::line(&unquoted(text.as_str()).0)
}

fn pieces(whole: &str, start: usize, end: usize, quoted: &[(usize, usize)], role: Role) -> Vec<(Plain, Role)> {
    let mut pieces = Vec::new();
    let mut at = start;
    for (from, to) in quoted.iter().map(|(from, to)| (*from.max(&start), *to.min(&end))).filter(|(from, to)| from < to) {
        pieces.push((Plain::line(&whole[at..from]), role));
        pieces.push((Plain::line(&whole[from..to]), Role::Heading));
        at = to;
    }
    pieces.push((Plain::line(&whole[at..end]), role));
    pieces
}

/// The text without its pairs of backticks, and where what was between them begins and ends.
fn unquoted(text: &str) -> (String, Vec<(usize, usize)>) {
    let (mut whole, mut quoted, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, (inside, after))) = rest.split_once('`').and_then(|(before, tail)| Some((before, tail.split_once('`')?))) {
        whole.push_str(before);
        quoted.push((whole.len(), whole.len() + inside.len()));
        whole.push_str(inside);
        rest = after;
    }
    whole.push_str(rest);
    (whole, quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_a_style_and_no_backticks_however_the_sentence_is_wrapped() {
        let text = Plain::line("halted before `write_report`: `x` > 1, as ` alone");
        for columns in [8, 12, 20, 80] {
            let rows = rows(&text, Role::Warning, columns);
            let of = |role| rows.iter().flatten().filter(|(_, known)| *known == role).map(|(text, _)| text.as_str()).collect::<String>();
            assert_eq!(of(Role::Heading), "write_reportx", "{columns}");
            assert_eq!(of(Role::Warning).replace(' ', ""), "haltedbefore:>1,as`alone", "{columns}");
        }
        assert_eq!(bare(&text).as_str(), "halted before write_report: x > 1, as ` alone");
        assert_eq!(row(&text, Role::Text).len(), 5);
    }
}

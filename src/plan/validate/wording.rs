//! Names and texts of a plan in messages, and the nearest name to a wrong one.

use super::finding::FixKind;
use crate::plan::dialect::plain;
use std::borrow::Cow;

/// Longer names than this in bytes are no slips, and comparing them would take long.
const COMPARED: usize = 128;

/// The name with the fewest edits to `wrong`, if they are few for its length.
pub fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (wrong.len() / 3).max(1) + 1;
    let close = names.filter(|name| *name != wrong && wrong.len() <= COMPARED && name.len().abs_diff(wrong.len()) <= limit);
    let measured = close.map(|name| (strsim::levenshtein(&wrong.to_lowercase(), &name.to_lowercase()), name));
    // A name that shares no letter is no slip either.
    let is_slip = |distance: usize, name: &str| distance <= limit && distance < wrong.len().max(name.len());
    measured.filter(|(distance, name)| is_slip(*distance, name)).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// A known name that is one slip away; two in longer names.
pub(super) fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let slips = if name.len() < 5 { 1 } else { 2 };
    let near = known.filter(|known| known.len().abs_diff(name.len()) <= slips);
    near.map(|known| (strsim::osa_distance(name, known), known)).filter(|(count, _)| *count <= slips).min().map(|(_, known)| known)
}

/// Which kind of fix puts one name in the place of another: they are the same but for case, `_`, `-` and spaces, and no other is.
pub(super) fn kind_of<'n>(wrong: &str, near: &str, names: impl Iterator<Item = &'n str>) -> FixKind {
    let wrong = plain(wrong);
    let is_only = wrong == plain(near) && names.filter(|name| plain(name) == wrong).take(2).count() == 1;
    if is_only { FixKind::Safe } else { FixKind::Guess }
}

/// How much of what a plan says is repeated in a message, in characters, and how much a message has at most.
const QUOTED: (usize, usize) = (80, 600);

/// A message with what it quotes cut: what stands between backticks, and the whole of it.
pub(super) fn cut(message: &str) -> String {
    let parts: Vec<Cow<str>> =
        message.split('`').enumerate().map(|(i, part)| if i % 2 == 1 { shortened(part, QUOTED.0) } else { Cow::Borrowed(part) }).collect();
    shortened(&parts.join("`"), QUOTED.1).into_owned()
}

fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some(_) => Cow::Owned(text.chars().take(most - 1).chain(['…']).collect()),
        None => Cow::Borrowed(text),
    }
}

/// The words that follow an unknown name.
pub(super) fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// A name or text of the plan as messages show it: nothing in it is obeyed or hidden, and quotes stay as they are.
pub(super) fn legible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' | '"' => shown.push(c),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

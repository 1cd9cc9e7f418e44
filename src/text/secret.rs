//! A secret value in text is a piece between two characters that no text may have, with its name inside. Unicode keeps these
//! characters for the use of one program; where text comes in, `without_marks` takes them out.

use std::borrow::Cow;

/// Begins a marked piece.
pub const SECRET_START: char = '\u{fdd0}';
/// Ends a marked piece.
pub const SECRET_END: char = '\u{fdd1}';

/// Where a tool cut a text, perhaps in the middle of a secret; it goes when secrets are marked.
pub const TEXT_CUT: char = '\u{fdd2}';

/// The marked piece of a secret.
pub fn secret_mark(name: &str) -> String {
    format!("{SECRET_START}{name}{SECRET_END}")
}

/// Text from outside: what would be a mark in it is a replacement character.
pub fn without_marks(text: &str) -> Cow<'_, str> {
    let is_mark = |c: char| matches!(c, SECRET_START | SECRET_END);
    if text.contains(is_mark) { Cow::Owned(text.replace(is_mark, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// Names in the marked pieces of a text, in order.
pub fn secret_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(SECRET_START).skip(1).filter_map(|piece| piece.split_once(SECRET_END)).map(|(name, _)| name)
}

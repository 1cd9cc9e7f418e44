//! A secret value in text is a piece between two characters that no text may have, with its name inside. Unicode keeps these
//! characters for the use of one program; where text comes in, `without_marks` takes them out.

use serde::Deserialize;
use std::{borrow::Cow, sync::LazyLock};

/// How secrets are known that nobody named, read from `secret.toml`.
#[derive(Default, Deserialize)]
pub struct SecretPatterns {
    pub key_beginnings: Vec<String>,
    pub names: Vec<String>,
}

/// A file that can't be read would hide nothing; a test reads it.
pub static SECRET_PATTERNS: LazyLock<SecretPatterns> = LazyLock::new(|| toml::from_str(include_str!("secret.toml")).unwrap_or_default());

/// A key is at least this long.
pub const KEY_LENGTH: usize = 20;
/// What is shown in the place of a key that nobody named.
pub const REDACTED: &str = "[redacted]";
/// Letters without a separator, a digit among them, that a key has and a name made of words has not.
const KEY_RUN: usize = 10;

/// What a key is made of: nothing that could say more than the key itself, as it is hidden in what people approve.
pub(super) fn is_key_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Whether the letters so far are a key, or may become one.
pub(super) fn is_key(word: &str) -> Option<bool> {
    if word.len() < KEY_LENGTH {
        return None;
    }
    if !begins_as_key(word) {
        return Some(false);
    }
    let mut runs = word.split(['-', '_']);
    runs.any(|run| run.len() >= KEY_RUN && run.contains(|c: char| c.is_ascii_digit())).then_some(true)
}

/// Whether a word begins as keys do.
pub fn begins_as_key(word: &str) -> bool {
    SECRET_PATTERNS.key_beginnings.iter().any(|beginning| word.starts_with(beginning.as_str()))
}

/// Whether a text has a key that is not shown.
pub fn has_key(text: &str) -> bool {
    text.split(|c| !is_key_letter(c)).any(|word| is_key(word) == Some(true))
}

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

//! The phrases of `phrases.toml`, by which servers say what is wrong with a call.

use serde::Deserialize;
use std::sync::LazyLock;

/// How servers say what is wrong, read from `phrases.toml`.
#[derive(Default, Deserialize)]
pub(super) struct ServerPhrases {
    pub(super) about_key: Vec<String>,
    pub(super) too_long: Vec<String>,
    pub(super) no_such_model: Vec<String>,
    pub(super) about_cap: Vec<String>,
}

/// Without the file a status alone says what is wrong; a test reads it.
pub(super) static PHRASES: LazyLock<ServerPhrases> = LazyLock::new(|| toml::from_str(include_str!("phrases.toml")).unwrap_or_default());

/// Whether a refusal (in lower case) has one of the phrases.
pub(super) fn is_said(phrases: &[String], text: &str) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phrases_can_be_read() {
        let phrases: ServerPhrases = toml::from_str(include_str!("phrases.toml")).unwrap();
        assert!([phrases.about_key, phrases.too_long, phrases.no_such_model, phrases.about_cap].iter().all(|list| list.len() > 7));
    }
}

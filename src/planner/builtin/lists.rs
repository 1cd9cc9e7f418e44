//! The lists of words of `lists.toml`.

use serde::Deserialize;
use std::{collections::BTreeMap, sync::LazyLock};

#[derive(Default, Deserialize)]
struct Lists {
    words: BTreeMap<String, Vec<String>>,
    choices: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// A list that can't be read would be empty; a test reads them.
static LISTS: LazyLock<Lists> = LazyLock::new(|| toml::from_str(include_str!("lists.toml")).unwrap_or_default());

pub(super) fn words(list: &str) -> &'static [String] {
    LISTS.words.get(list).map_or(&[], Vec::as_slice)
}

pub(super) fn has(list: &str, word: &str) -> bool {
    words(list).iter().any(|known| known == word)
}

/// Whether some list has a word.
pub(super) fn knows(word: &str) -> bool {
    let said = LISTS.choices.values().flat_map(BTreeMap::values).chain(LISTS.words.values()).flatten();
    said.flat_map(|said| said.split(' ')).any(|known| known == word)
}

/// What people say, with the choice that it is.
pub(super) fn choices(list: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = LISTS.choices.get(list).into_iter().flatten();
    rows.flat_map(|(choice, said)| said.iter().map(move |said| (said.as_str(), choice.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_read() {
        let lists: Lists = toml::from_str(include_str!("lists.toml")).unwrap();
        assert!(lists.words.len() > 8 && lists.choices.len() > 6);
        assert!(has("function_words", "except") && choices("levels").any(|pair| pair == ("warnings", "WARN")));
    }
}

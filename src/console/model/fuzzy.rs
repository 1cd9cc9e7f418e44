//! Fuzzy search over short lists: which items match, best first.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Indices of items that match, best first; all of them, in order, for an empty query. A match in the name counts more than one in
/// the words.
pub fn rank<'a>(query: &str, items: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<usize> {
    let pattern = Pattern::parse(query.trim(), CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, usize)> = Vec::new();
    for (at, (name, words)) in items.enumerate() {
        let mut score = |text: &str| pattern.score(Utf32Str::new(text, &mut buffer), &mut matcher);
        // The whole name comes before a longer one that begins so.
        let whole = u32::from(name.eq_ignore_ascii_case(query.trim()));
        let by_name = score(name).map(|score| score * 2 + whole);
        let both = score(&format!("{name} {words}"));
        if let Some(best) = by_name.max(both) {
            found.push((best, at));
        }
    }
    found.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    found.into_iter().map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_words_and_nothing_asked_shows_everything() {
        let items = [("Undo", "take a change back"), ("Theme", "change colours"), ("Change agent", "another card")];
        assert_eq!(rank("", items.into_iter()), [0, 1, 2]);
        assert_eq!(rank("chan", items.into_iter())[0], 2);
        assert_eq!(rank("run", [("Runs", "of now and before"), ("Run", "the plan")].into_iter()), [1, 0]);
        assert_eq!(rank("zzz", items.into_iter()), Vec::<usize>::new());
    }
}

//! Search over short lists: which items match, best first. Where no item has the words, letters in their order count as a match.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Indices of items that match, best first; all of them, in order, for an empty query. A match in the name counts more than one in
/// the words.
pub fn rank<'a>(query: &str, items: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<usize> {
    let items: Vec<(&str, &str)> = items.collect();
    let found = with_words(query, &items);
    if found.is_empty() { with_letters(query, &items) } else { found }
}

/// Indices of items that have every word of the query, best first.
pub fn having<'a>(query: &str, items: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<usize> {
    let items: Vec<(&str, &str)> = items.collect();
    with_words(query, &items)
}

/// Indices of items that have every word of the query: those that have them in the name first, and at the start of a word before others.
fn with_words(query: &str, items: &[(&str, &str)]) -> Vec<usize> {
    let query = query.trim().to_lowercase();
    let begins = |text: &str, word: &str| text.match_indices(word).any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric));
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, (name, words)) in items.iter().enumerate() {
        let (name, words) = (name.to_lowercase(), words.to_lowercase());
        let place = |word: &str| match (begins(&name, word), name.contains(word), begins(&words, word), words.contains(word)) {
            (true, ..) => Some(0),
            (_, true, ..) => Some(2),
            (_, _, true, _) => Some(4),
            (.., true) => Some(5),
            (false, false, false, false) => None,
        };
        let places = query.split_whitespace().map(place).try_fold(0, |sum, place| Some(sum + place?));
        let whole = usize::from(name != query) + usize::from(!name.starts_with(&query));
        found.extend(places.map(|places| (places * 3 + whole, at)));
    }
    found.sort_unstable();
    found.into_iter().map(|(_, at)| at).collect()
}

fn with_letters(query: &str, items: &[(&str, &str)]) -> Vec<usize> {
    let pattern = Pattern::parse(query.trim(), CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, usize)> = Vec::new();
    for (at, (name, words)) in items.iter().enumerate() {
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

    #[test]
    fn letters_that_are_scattered_match_only_where_no_item_has_the_words() {
        let items = [("Cancel the run", "stops everything; opens yes"), ("Edit a copy of its plan", "into the editor")];
        assert_eq!(rank("copy", items.into_iter()), [1]);
        assert_eq!(rank("the EDITOR", items.into_iter()), [1]);
        assert_eq!(rank("cnclrn", items.into_iter()), [0]);
        assert_eq!(rank("plan", [("Airplanes", ""), ("Run the plan", ""), ("Plan", "")].into_iter()), [2, 1, 0]);
    }
}

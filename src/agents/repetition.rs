//! `Repetition`: notices that a model says the same words over and over, so that it doesn't go on until its time is up. It counts how few
//! different stretches the newest words are made of; a text that only repeats itself here and there is none.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
};

/// Words of one stretch.
const STRETCH: usize = 5;
/// So many of the newest words are looked at: few for what is short, many for what is long.
const WINDOWS: [usize; 2] = [300, 1_000];
/// How often each stretch is there, in the mean, where the words are the same over and over.
const TIMES: usize = 20;
/// A word is cut after so many letters: some texts have no blanks.
const LONGEST_WORD: usize = 12;
/// A run of blanks that means nothing any more.
const BLANKS: usize = 2_000;

/// The newest words of an answer.
pub(super) struct Repetition {
    windows: [StretchWindow; 2],
    /// The word under way, and how many blanks are behind the last one.
    word: String,
    blanks: usize,
    /// The newest words, for the stretch that ends with the last one.
    last: VecDeque<String>,
}

/// The stretches that the newest words are made of.
struct StretchWindow {
    size: usize,
    stretches: VecDeque<u64>,
    counts: HashMap<u64, u32>,
}

impl Repetition {
    pub fn new() -> Self {
        let window = |size| StretchWindow { size, stretches: VecDeque::new(), counts: HashMap::new() };
        Self { windows: WINDOWS.map(window), word: String::new(), blanks: 0, last: VecDeque::new() }
    }

    /// Takes in the next piece; whether the text is the same words over and over by now.
    pub fn hears(&mut self, piece: &str) -> bool {
        let mut is_endless = false;
        for letter in piece.chars() {
            if letter.is_whitespace() {
                self.blanks += 1;
                is_endless |= self.blanks >= BLANKS || self.word_ends();
                continue;
            }
            self.blanks = 0;
            self.word.push(letter);
            is_endless |= self.word.chars().count() >= LONGEST_WORD && self.word_ends();
        }
        is_endless
    }

    fn word_ends(&mut self) -> bool {
        if self.word.is_empty() {
            return false;
        }
        self.last.push_back(std::mem::take(&mut self.word));
        if self.last.len() > STRETCH {
            self.last.pop_front();
        }
        let mut hasher = DefaultHasher::new();
        self.last.hash(&mut hasher);
        let stretch = hasher.finish();
        let mut is_endless = false;
        for window in &mut self.windows {
            is_endless |= window.takes(stretch);
        }
        is_endless
    }
}

impl StretchWindow {
    fn takes(&mut self, stretch: u64) -> bool {
        self.stretches.push_back(stretch);
        *self.counts.entry(stretch).or_default() += 1;
        if self.stretches.len() <= self.size {
            return false;
        }
        if let Some(oldest) = self.stretches.pop_front()
            && let Some(count) = self.counts.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&oldest);
            }
        }
        self.counts.len() * TIMES <= self.size
    }
}

/// A text that ends with the same words over and over, up to where they are there for the second time.
pub(super) fn without(text: &str) -> String {
    let words: Vec<(usize, &str)> = text.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word)).collect();
    let mut known = HashSet::new();
    let is_new = |stretch: &[(usize, &str)]| known.insert(stretch.iter().map(|(_, word)| (*word).to_owned()).collect::<Vec<_>>());
    let fresh: Vec<bool> = words.windows(STRETCH).map(is_new).collect();
    let again = fresh.iter().rposition(|is_new| *is_new).map(|at| at + 1);
    let end = again.and_then(|at| words.get(at)).map_or(text.len(), |(start, _)| *start);
    format!("{}\n[cut here: the same words came over and over]", text[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters until it is noticed.
    fn noticed(text: impl Iterator<Item = String>) -> Option<usize> {
        let mut guard = Repetition::new();
        let mut heard = 0;
        for piece in text {
            heard += piece.chars().count();
            if guard.hears(&piece) {
                return Some(heard);
            }
        }
        None
    }

    fn endless(stretch: &str) -> impl Iterator<Item = String> {
        std::iter::repeat_n(stretch.to_owned(), 20_000 / stretch.len().max(1))
    }

    #[test]
    fn the_same_words_over_and_over_are_noticed_whatever_they_are() {
        for stretch in [
            "and it is just a tree of a number of trees, ",
            "no ",
            "- The file is a file.\n",
            "abcdefg",
            "字字字。",
            " ",
            "This is a longer sentence that has quite a number of words in it, which a small model says again and again without an end. ",
        ] {
            assert!(noticed(endless(stretch)).is_some_and(|letters| letters < 8_000), "{stretch}");
        }
    }

    #[test]
    fn small_changes_in_between_hide_nothing() {
        let text = (0..2_000).map(|at| format!("the tree of the {} is a tree. ", ["oak", "elm", "ash"][at * at % 3]));
        assert!(noticed(text).is_some());
    }

    #[test]
    fn long_texts_lists_and_tables_are_no_repetition() {
        let list = (0..3_000).map(|at| format!("{at}. line {at} of the file has {} words\n", at * 7 % 100));
        assert_eq!(noticed(list), None);
        let log =
            (0..3_000).map(|at| format!("2026-01-01T00:{:02}:{:02} INFO request done in {} ms\n", at / 60 % 60, at % 60, at * 13 % 997));
        assert_eq!(noticed(log), None);
        let code = (0..500).map(|at| format!("fn f{at}(x: u64) -> u64 {{\n    x + {at}\n}}\n\n"));
        assert_eq!(noticed(code), None);
        assert_eq!(noticed(std::iter::repeat_n("hello ".to_owned(), 200)), None, "somebody may have asked for it");
    }
}

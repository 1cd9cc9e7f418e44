//! A request as words with their places. Nothing is thrown away here: punctuation is a word too, so that coverage can be a check of places.

use super::lists;

/// One word, piece of punctuation or quoted text of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// As it is in the request, without quotes.
    pub text: String,
    pub lower: String,
    pub quoted: bool,
    /// Its place in the request in bytes, quotes included.
    pub from: usize,
    pub to: usize,
}

impl Word {
    /// A word that the request doesn't have.
    pub fn made(text: &str) -> Self {
        Self { text: text.to_owned(), lower: text.to_lowercase(), quoted: false, from: 0, to: 0 }
    }

    /// A word as it is spelled, never quoted text.
    pub fn is(&self, word: &str) -> bool {
        !self.quoted && self.lower == word
    }
}

/// Short forms and what they say.
const CONTRACTIONS: &[(&str, &[&str])] = &[
    ("what's", &["what", "is"]),
    ("whats", &["what", "is"]),
    ("wheres", &["where", "is"]),
    ("who've", &["who", "have"]),
    ("we've", &["we", "have"]),
    ("where's", &["where", "is"]),
    ("who's", &["who", "is"]),
    ("that's", &["that", "is"]),
    ("it's", &["it", "is"]),
    ("there's", &["there", "is"]),
    ("isn't", &["is", "not"]),
    ("aren't", &["are", "not"]),
    ("don't", &["do", "not"]),
    ("doesn't", &["does", "not"]),
    ("didn't", &["did", "not"]),
    ("hasn't", &["has", "not"]),
    ("haven't", &["have", "not"]),
    ("hadn't", &["had", "not"]),
    ("weren't", &["were", "not"]),
    ("wasn't", &["was", "not"]),
    ("can't", &["can", "not"]),
    ("cannot", &["can", "not"]),
    ("i'd", &["i", "would"]),
    ("let's", &["let", "us"]),
];

const QUOTES: &[(char, char)] = &[('"', '"'), ('`', '`'), ('“', '”'), ('«', '»'), ('‘', '’'), ('\'', '\'')];

/// Punctuation that is a word of its own at the edge of a word.
const EDGES: &[char] = &[',', ';', ':', '?', '!', '.', '(', ')'];

/// Splits a request into its words.
pub(super) fn words(request: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = request[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if let Some((text, end)) = quoted(request, at) {
            words.push(Word { text: text.to_owned(), lower: text.to_lowercase(), quoted: true, from: at, to: end });
            at = end;
        } else {
            let end = request[at..].find(char::is_whitespace).map_or(request.len(), |length| at + length);
            plain(request, at, end, &mut words);
            at = end;
        }
    }
    words
}

/// Quoted text that starts here, and where it ends. An apostrophe opens nothing unless it closes before a space or the end.
fn quoted(request: &str, at: usize) -> Option<(&str, usize)> {
    let rest = &request[at..];
    let (open, close) = QUOTES.iter().find(|(open, _)| rest.starts_with(*open))?;
    let inner = &rest[open.len_utf8()..];
    let ends = inner.match_indices(*close).find(|(end, _)| {
        let behind = inner[end + close.len_utf8()..].chars().next();
        *close != '\'' || behind.is_none_or(|next| !next.is_alphanumeric())
    })?;
    Some((&inner[..ends.0], at + open.len_utf8() + ends.0 + close.len_utf8()))
}

/// Words between spaces: punctuation at the edges, short forms and `a=b` are taken apart.
fn plain(request: &str, from: usize, to: usize, words: &mut Vec<Word>) {
    let (mut from, mut to) = (from, to);
    let mut behind = Vec::new();
    while let Some(first) = request[from..to].chars().next().filter(|first| "(,;:!".contains(*first) && to - from > 1) {
        push(request, from, from + first.len_utf8(), words);
        from += first.len_utf8();
        if let Some((text, end)) = quoted(request, from).filter(|(_, end)| *end <= to) {
            words.push(Word { text: text.to_owned(), lower: text.to_lowercase(), quoted: true, from, to: end });
            return if end < to {
                plain(request, end, to, words)
            };
        }
    }
    while let Some(last) = request[from..to].chars().next_back().filter(|last| EDGES.contains(last) && to - from > 1) {
        let piece = &request[from..to];
        let balanced = last == ')' && piece.contains('(');
        if balanced || piece.ends_with("..") || last == '.' && piece.ends_with("/.") {
            break;
        }
        behind.push((to - last.len_utf8(), to));
        to -= last.len_utf8();
    }
    let piece = &request[from..to];
    let lower = piece.to_lowercase().replace('’', "'");
    if let Some((_, parts)) = CONTRACTIONS.iter().find(|(short, _)| *short == lower) {
        words.extend(parts.iter().map(|part| Word { text: (*part).to_owned(), lower: (*part).to_owned(), quoted: false, from, to }));
    } else if let Some(owner) = lower.strip_suffix("'s").filter(|owner| !owner.is_empty() && owner.len() + 2 == piece.len()) {
        push(request, from, from + owner.len(), words);
        push(request, from + owner.len(), to, words);
    } else if let Some((left, right)) = compared(piece) {
        push(request, from, from + left, words);
        push(request, from + left, from + right, words);
        match quoted(request, from + right).filter(|(_, end)| *end <= to) {
            Some((text, end)) => {
                words.push(Word { text: text.into(), lower: text.to_lowercase(), quoted: true, from: from + right, to: end })
            }
            None if from + right < to => push(request, from + right, to, words),
            None => {}
        }
    } else {
        push(request, from, to, words);
    }
    behind.into_iter().rev().for_each(|(from, to)| push(request, from, to, words));
}

/// The places around the operator of `status=404` and `price>=10`.
fn compared(piece: &str) -> Option<(usize, usize)> {
    let left = piece.find(['=', '<', '>', '!'])?;
    let right = left + piece[left..].find(|c| !"=<>!".contains(c)).unwrap_or(piece.len() - left);
    let name = &piece[..left];
    let fits = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c)) && right < piece.len();
    (fits && ["=", "==", "!=", "<", "<=", ">", ">="].contains(&&piece[left..right])).then_some((left, right))
}

/// The words as the request has them; absent where they are not beside each other there, as those of a clause that takes some from another.
pub(super) fn as_written<'r>(words: &[Word], request: &'r str) -> Option<&'r str> {
    let (first, last) = (words.first()?, words.last()?);
    let beside = |pair: &[Word]| {
        let gap = request.get(pair[0].to..pair[1].from).is_some_and(|gap| !gap.contains(char::is_alphanumeric));
        gap || pair[0].from == pair[1].from
    };
    let is_there = |word: &Word| word.from < word.to;
    (words.iter().all(is_there) && words.windows(2).all(beside)).then(|| request.get(first.from..last.to)).flatten()
}

fn push(request: &str, from: usize, to: usize, words: &mut Vec<Word>) {
    let text = &request[from..to];
    words.push(Word { text: text.to_owned(), lower: text.to_lowercase().replace('’', "'"), quoted: false, from, to });
}

/// A word that looks like the path of a file or folder, there or not.
pub(super) fn path_text(word: &Word) -> Option<String> {
    let text = word.text.trim_end_matches('/');
    let fits = !text.is_empty()
        && !text.contains("://")
        && !text.contains(['*', '?', '<', '>', '|', '\n'])
        && (word.quoted || !text.contains(['(', ')', ',', '=']));
    let name = text.rsplit('/').next()?;
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    let has_ending = ending.is_some_and(|ending| lists::has("extensions", &ending));
    let has_folder = word.text.contains('/')
        && text.chars().any(char::is_alphabetic)
        && !matches!(word.lower.as_str(), "and/or" | "i/o" | "w/o" | "n/a");
    let is_hidden = name.starts_with('.')
        && name.len() > 1
        && !name[1..].contains('.')
        && name[1..].chars().all(|c| c.is_alphanumeric() || c == '_')
        && !has_ending;
    (fits && (has_ending || has_folder || is_hidden)).then(|| text.strip_prefix("./").unwrap_or(text).to_owned())
}

/// A tag with a version, a hash, or a commit counted from the last one.
pub(super) fn is_revision(text: &str) -> bool {
    let version = text.strip_prefix('v').unwrap_or(text);
    let is_version = version.split('.').count() > 1 && version.split('.').all(|part| part.parse::<u32>().is_ok());
    let is_hash = text.len() > 6 && text.bytes().all(|c| c.is_ascii_hexdigit()) && text.contains(|c: char| c.is_ascii_digit());
    is_version || is_hash || text.starts_with("head~") || text.starts_with("head^")
}

/// A name as programs have them.
pub(super) fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_') && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

pub(super) fn is_key(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || "_-.[]$".contains(c))
        && text.chars().any(char::is_alphabetic)
        && !lists::has("function_words", &text.to_lowercase())
}

/// What a word says of the names of files: `*.rs`, `.rs`.
pub(super) fn glob(word: &Word) -> Option<String> {
    if word.text.contains('*') && word.text.len() > 1 && word.text.chars().all(|c| c.is_alphanumeric() || "*?./_-{},[]".contains(c)) {
        return Some(word.text.clone());
    }
    let ending = word.text.strip_prefix('.').filter(|_| !word.quoted)?;
    let known = lists::has("extensions", &ending.to_lowercase());
    known.then(|| format!("*.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(request: &str) -> Vec<String> {
        words(request).into_iter().map(|word| if word.quoted { format!("«{}»", word.text) } else { word.text }).collect()
    }

    #[test]
    fn words_keep_quotes_paths_and_punctuation_apart() {
        assert_eq!(texts("List src/a.rs, then (b.txt)."), ["List", "src/a.rs", ",", "then", "(", "b.txt", ")", "."]);
        assert_eq!(texts("what's in \"my file.txt\"?"), ["what", "is", "in", "«my file.txt»", "?"]);
        assert_eq!(texts("don't touch Ann's 'notes'"), ["do", "not", "touch", "Ann", "'s", "«notes»"]);
        assert_eq!(texts("where status=404 and price>='1,5'"), ["where", "status", "=", "404", "and", "price", ">=", "«1,5»"]);
        assert_eq!(texts("sum (3 + 4) * 1,234.5"), ["sum", "(", "3", "+", "4", ")", "*", "1,234.5"]);
    }

    #[test]
    fn words_of_different_places_have_no_text_together() {
        let request = "what's in a.txt, and count b.txt";
        let all = words(request);
        assert_eq!(as_written(&all[1..4], request), Some("what's in a.txt"));
        assert_eq!(as_written(&all, request), Some(request));
        assert_eq!(as_written(&[all[6].clone(), all[2].clone()], request), None, "the other way round");
        assert_eq!(as_written(&[all[0].clone(), all[6].clone()], request), None, "with words between them");
        assert_eq!(as_written(&[Word::made("how")], request), None, "no word of the request");
    }

    #[test]
    fn every_word_knows_its_place() {
        let request = "Zähle 'a b' in ä.txt.";
        for word in words(request) {
            assert!(request[word.from..word.to].contains(&word.text));
        }
    }
}

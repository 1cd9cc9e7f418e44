//! Entities: what a slot of a form takes out of the words at a place. A slot can be read in several ways; each is given.

use super::slots::SlotValue;
use super::{
    facts::{WorkspaceFacts, same_words},
    lists,
    words::Word,
};
use crate::planner::builtin::slots::{Literal, Relation};

/// Words of a clause with what is known of the workspace.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub words: &'a [Word],
    pub facts: &'a WorkspaceFacts,
    pub request: &'a str,
}

pub(super) const KINDS: &[&str] = &[
    "number",
    "text",
    "quoted",
    "file",
    "folder",
    "path",
    "new",
    "glob",
    "filekind",
    "pluralkind",
    "column",
    "value",
    "member",
    "cmp",
    "between",
    "size",
    "date",
    "level",
    "todo",
    "measure",
    "superlative",
    "order",
    "range",
    "more",
    "rest",
    "expression",
    "command",
    "key",
    "url",
    "word",
    "name",
    "data",
    "format",
    "program",
    "topic",
];

fn names(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    let word = &words[at];
    let mut found: Vec<(usize, SlotValue)> = if word.quoted || is_name(word) { vec![(at + 1, text(word))] } else { Vec::new() };
    let capital = |word: &Word| !word.quoted && word.text.starts_with(char::is_uppercase);
    if let Some(second) = words.get(at + 1).filter(|second| capital(word) && capital(second)) {
        found.push((at + 2, SlotValue::Text { text: format!("{} {}", word.text, second.text), quoted: false }));
    }
    found
}

/// Every way to fill a slot of a kind from the words at a place, with where it ends.
pub(super) fn read(kind: &str, scene: Scene<'_>, at: usize) -> Vec<(usize, SlotValue)> {
    let Scene { words, facts, request } = scene;
    let Some(word) = words.get(at) else { return Vec::new() };
    let one = |slot: Option<SlotValue>| slot.map(|slot| (at + 1, slot)).into_iter().collect();
    match kind {
        "number" => one(number(word).map(SlotValue::Number)),
        "quoted" => one(word.quoted.then(|| text(word))),
        "text" => texts(words, at),
        "word" => one((word.quoted || is_name(word)).then(|| text(word))),
        "file" => files(words, at, facts).into_iter().map(|(end, path)| (end, SlotValue::Path(path))).collect(),
        "folder" => folders(words, at, facts),
        "path" => {
            let mut found: Vec<_> = files(words, at, facts).into_iter().map(|(end, path)| (end, SlotValue::Path(path))).collect();
            found.extend(folders(words, at, facts));
            found.dedup();
            found
        }
        "new" => one(path_text(word).or_else(|| facts.spelled(&word.text)).map(SlotValue::Path)),
        "glob" => one(glob(word).map(|glob| SlotValue::Globs(vec![glob]))),
        "filekind" => file_kinds(words, at),
        "pluralkind" => one(listed("plural_kinds", word).map(|glob| SlotValue::Globs(vec![glob.to_owned()]))),
        "column" => columns(words, at, facts),
        "value" => values(words, at, facts),
        "member" => members(words, at, facts),
        "cmp" => {
            // `are at least` is `at least`.
            let verb = ["is", "are", "was", "were"].iter().any(|verb| word.is(verb));
            let behind = if verb { comparisons(words, at + 1) } else { Vec::new() };
            let found =
                if behind.iter().any(|(_, comparison)| *comparison != Relation::NotEqual) { behind } else { comparisons(words, at) };
            found.into_iter().map(|(end, comparison)| (end, SlotValue::Compare(comparison))).collect()
        }
        "between" => choice(words, at, "between"),
        "size" => size(words, at),
        "date" => dates(word).into_iter().map(|date| (at + 1, SlotValue::Value(Literal::Text(date)))).collect(),
        "level" => one(listed("levels", word).map(SlotValue::Choice)),
        "todo" => one(listed("todo", word).map(SlotValue::Choice)),
        "measure" => choice(words, at, "measures"),
        "superlative" => choice(words, at, "superlatives"),
        "order" => choice(words, at, "orders"),
        "range" => one(range(&word.text)),
        "more" => choice(words, at, "more"),
        "key" => one((word.quoted || is_key(&word.text)).then(|| text(word))),
        "name" => names(words, at),
        "data" => files(words, at, facts).into_iter().map(|(end, path)| (end, SlotValue::Path(path))).collect(),
        "format" => {
            one(["json", "csv", "tsv", "yaml", "jsonl", "markdown"].into_iter().find(|format| word.is(format)).map(SlotValue::Choice))
        }
        "program"
            if ["cargo", "npm", "npx", "pnpm", "yarn", "docker", "kubectl", "python3", "pytest", "ls"].contains(&word.lower.as_str())
                && words.len() > at + 1 =>
        {
            rest(words, at, request, words.len())
        }
        "url" => one((word.lower.starts_with("http://") || word.lower.starts_with("https://")).then(|| text(word))),
        "topic" => (at + 1..=words.len()).flat_map(|end| rest(&words[..end], at, request, end)).collect(),
        "rest" => rest(words, at, request, words.len()),
        "expression" => (at + 1..=words.len()).filter_map(|end| Some((end, expression(&request[word.from..words[end - 1].to])?))).collect(),
        "command" if word.quoted => vec![(at + 1, text(word))],
        // Words of English behind a program are no arguments that anybody meant.
        "command" if lists::has("programs", &word.lower) || word.text.starts_with("./") => {
            let says = words[at + 1..].iter().any(|word| !word.quoted && lists::has("function_words", &word.lower));
            if says { Vec::new() } else { rest(words, at, request, words.len()) }
        }
        _ => Vec::new(),
    }
}

fn text(word: &Word) -> SlotValue {
    SlotValue::Text { text: word.text.clone(), quoted: word.quoted }
}

fn rest(words: &[Word], at: usize, request: &str, end: usize) -> Vec<(usize, SlotValue)> {
    let mut last = end;
    while last > at + 1 && [".", "?", "!", ","].iter().any(|mark| words[last - 1].is(mark)) {
        last -= 1;
    }
    vec![(end, SlotValue::Text { text: request[words[at].from..words[last - 1].to].to_owned(), quoted: false })]
}

fn listed(list: &str, word: &Word) -> Option<&'static str> {
    lists::choices(list).find(|(name, _)| word.is(name)).map(|(_, value)| value)
}

/// Entries whose words are here; only the longest, because `is not` is never `is`.
fn phrases<'l, T>(words: &[Word], at: usize, list: impl Iterator<Item = (&'l str, T)>) -> Vec<(usize, T)> {
    let says = |phrase: &str| {
        let parts = phrase.split(' ').count();
        let fits = phrase.split(' ').enumerate().all(|(offset, part)| words.get(at + offset).is_some_and(|word| word.is(part)));
        fits.then_some(at + parts)
    };
    let mut found: Vec<(usize, T)> = list.filter_map(|(phrase, value)| Some((says(phrase)?, value))).collect();
    let longest = found.iter().map(|(end, _)| *end).max().unwrap_or(0);
    found.retain(|(end, _)| *end == longest);
    found
}

fn choice(words: &[Word], at: usize, list: &str) -> Vec<(usize, SlotValue)> {
    let found = phrases(words, at, lists::choices(list)).into_iter().take(1);
    found.map(|(end, name)| (end, SlotValue::Choice(name))).collect()
}

fn comparisons(words: &[Word], at: usize) -> Vec<(usize, Relation)> {
    let found = phrases(words, at, lists::choices("comparisons")).into_iter();
    found.filter_map(|(end, name)| Some((end, Relation::named(name)?))).collect()
}

pub(super) fn number(word: &Word) -> Option<f64> {
    if word.quoted {
        return None;
    }
    if let Some(at) = lists::words("numbers").iter().position(|name| *name == word.lower) {
        return Some(at as f64);
    }
    let digits = word.text.strip_prefix(['-', '+']).unwrap_or(&word.text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let grouped = whole.contains(',');
    let groups: Vec<&str> = whole.split(',').collect();
    let fits = groups.iter().enumerate().all(|(at, group)| {
        !group.is_empty() && group.bytes().all(|c| c.is_ascii_digit()) && (!grouped || group.len() == 3 || at == 0 && group.len() < 3)
    });
    let fits = fits && !fraction.is_empty() && fraction.bytes().all(|c| c.is_ascii_digit());
    fits.then(|| word.text.replace(',', "").parse().ok()).flatten()
}

fn range(text: &str) -> Option<SlotValue> {
    let (from, to) = text.split_once(['-', '–']).or_else(|| text.split_once(".."))?;
    Some(SlotValue::Range(from.parse().ok()?, to.parse().ok()?))
}

/// A word that can be a name or a text by itself.
fn is_name(word: &Word) -> bool {
    !lists::has("function_words", &word.lower) && word.text.chars().any(char::is_alphanumeric) && number(word).is_none()
}

fn texts(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    let first = &words[at];
    if first.quoted {
        return vec![(at + 1, text(first))];
    }
    let plain = |word: &Word| !lists::has("function_words", &word.lower) && word.text.chars().any(char::is_alphanumeric) && !word.quoted;
    if plain(first) { vec![(at + 1, text(first))] } else { Vec::new() }
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

/// Files that words name: as they are spelled, or by the name without its ending where only one file has it.
fn files(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, String)> {
    let word = &words[at];
    if let Some(path) = path_text(word).filter(|path| !facts.is_folder(path)) {
        return vec![(at + 1, facts.located(&path).unwrap_or(path))];
    }
    let known = facts.spelled(&word.text).filter(|path| !facts.is_folder(path));
    known.or_else(|| if word.quoted { None } else { facts.by_stem(&word.lower) }).map(|path| (at + 1, path)).into_iter().collect()
}

fn folders(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let word = &words[at];
    let mut here = phrases(words, at, lists::words("here").iter().map(|name| (name.as_str(), ())));
    if let Some((end, ())) = here.pop().filter(|_| !facts.is_folder(&word.text)) {
        return vec![(end, SlotValue::Path(".".into()))];
    }
    let text = word.text.trim_end_matches('/');
    let text = text.strip_prefix("./").unwrap_or(text);
    let looks = word.text.ends_with('/') && text.len() > 1 || text == "." || text.is_empty() && word.text == "./";
    let is_file = !facts.is_folder(text)
        && (facts.spelled(text).is_some()
            || path_text(word).is_some_and(|path| path.rsplit('/').next().is_some_and(|name| name.contains('.'))));
    if facts.is_folder(text) || looks || (path_text(word).is_some() && !is_file) {
        return vec![(at + 1, SlotValue::Path(if text.is_empty() { ".".into() } else { text.to_owned() }))];
    }
    // A name that is said to be a folder's.
    let said = |word: Option<&Word>| word.is_some_and(|word| ["folder", "directory", "dir"].iter().any(|name| word.is(name)));
    let named = said(words.get(at + 1)) || at > 0 && said(words.get(at - 1));
    if named && is_name(word) && !is_file { vec![(at + 1, SlotValue::Path(text.to_owned()))] } else { Vec::new() }
}

fn glob(word: &Word) -> Option<String> {
    if word.text.contains('*') && word.text.len() > 1 && word.text.chars().all(|c| c.is_alphanumeric() || "*?./_-{},[]".contains(c)) {
        return Some(word.text.clone());
    }
    let ending = word.text.strip_prefix('.').filter(|_| !word.quoted)?;
    let known = lists::has("extensions", &ending.to_lowercase());
    known.then(|| format!("*.{ending}"))
}

/// `Rust`, `.rs`, `CSV and JSON`.
fn file_kinds(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    let kind = |at: usize| {
        let word = words.get(at)?;
        listed("file_kinds", word).map(str::to_owned).or_else(|| word.text.starts_with('.').then(|| glob(word)).flatten())
    };
    let Some(first) = kind(at) else { return Vec::new() };
    let mut found = vec![(at + 1, SlotValue::Globs(vec![first.clone()]))];
    if let Some(second) = kind(at + 2).filter(|_| words[at + 1].is("and") || words[at + 1].is("or")) {
        found.push((at + 3, SlotValue::Globs(vec![first, second])));
    }
    found
}

fn columns(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let mut found = Vec::new();
    for name in facts.columns() {
        for length in 1..=4 {
            let Some(said) = words.get(at..at + length) else { break };
            if said.iter().all(|word| !word.quoted || length == 1) && same_words(&joined(said), name) {
                found.push((at + length, SlotValue::Column(name.to_owned())));
            }
        }
    }
    found
}

fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" ")
}

fn members(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let mut found = Vec::new();
    for length in 1..=4 {
        let Some(said) = words.get(at..at + length) else { break };
        if said.iter().any(|word| word.quoted) && length > 1 || length == 1 && lists::has("function_words", &said[0].lower) {
            continue;
        }
        for (column, value) in facts.members(&joined(said)) {
            found.push((at + length, SlotValue::Member { column: column.to_owned(), value: value.to_owned() }));
        }
    }
    found
}

fn values(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
    let word = &words[at];
    if let Some(number) = number(word).or_else(|| word.text.strip_prefix('$').and_then(|text| text.parse().ok())) {
        return vec![(at + 1, SlotValue::Value(Literal::Number(number)))];
    }
    if word.quoted {
        return vec![(at + 1, SlotValue::Value(Literal::Text(word.text.clone())))];
    }
    let dates = dates(word);
    if !dates.is_empty() {
        return dates.into_iter().map(|date| (at + 1, SlotValue::Value(Literal::Text(date)))).collect();
    }
    // A column is no value.
    if !columns(words, at, facts).is_empty() {
        return Vec::new();
    }
    let known = members(words, at, facts);
    if let Some(longest) = known.iter().map(|(end, _)| *end).max() {
        let mut found: Vec<(usize, SlotValue)> = known
            .into_iter()
            .filter(|(end, _)| *end == longest)
            .filter_map(|(end, slot)| match slot {
                SlotValue::Member { value, .. } => Some((end, SlotValue::Value(Literal::Text(value)))),
                _ => None,
            })
            .collect();
        found.dedup();
        return found;
    }
    if is_name(word) { vec![(at + 1, SlotValue::Value(Literal::Text(word.text.clone())))] } else { Vec::new() }
}

/// A number of bytes: `10 KB` and `10kB` are 10,000, `10 KiB` is 10,240.
fn size(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    const UNITS: &[(&str, f64)] = &[
        ("b", 1.0),
        ("byte", 1.0),
        ("bytes", 1.0),
        ("kb", 1e3),
        ("k", 1e3),
        ("kilobytes", 1e3),
        ("kilobyte", 1e3),
        ("mb", 1e6),
        ("megabytes", 1e6),
        ("megabyte", 1e6),
        ("gb", 1e9),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
    ];
    let unit = |text: &str| UNITS.iter().find(|(name, _)| *name == text).map(|(_, factor)| *factor);
    if let Some((number, factor)) = number(&words[at]).zip(words.get(at + 1).and_then(|word| unit(&word.lower))) {
        return vec![(at + 2, SlotValue::Number(number * factor))];
    }
    let split = words[at].lower.find(|c: char| c.is_alphabetic());
    let both = split.and_then(|split| Some(words[at].lower[..split].parse::<f64>().ok()? * unit(&words[at].lower[split..])?));
    both.map(|bytes| (at + 1, SlotValue::Number(bytes))).into_iter().collect()
}

/// ISO dates, and days with slashes in each of their readings.
pub(super) fn dates(word: &Word) -> Vec<String> {
    if let Ok(date) = word.text.parse::<jiff::civil::Date>() {
        return if word.text.len() == 10 { vec![date.to_string()] } else { Vec::new() };
    }
    let parts: Vec<i16> = word.text.split('/').filter_map(|part| part.parse().ok()).collect();
    let [first, second, year] = parts[..] else { return Vec::new() };
    if word.text.split('/').count() != 3 {
        return Vec::new();
    }
    let year = if year < 100 { 2000 + year } else { year };
    let date = |month: i16, day: i16| jiff::civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok();
    let mut found: Vec<String> = [date(first, second), date(second, first)].into_iter().flatten().map(|date| date.to_string()).collect();
    found.dedup();
    found
}

fn is_key(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || "_-.[]$".contains(c))
        && text.chars().any(char::is_alphabetic)
        && !lists::has("function_words", &text.to_lowercase())
}

/// A calculation in figures, or in figures with words that the calculator knows.
fn expression(text: &str) -> Option<SlotValue> {
    let clean = text.trim_end_matches(['?', '=', ' ', '.']);
    let words: Vec<&str> = clean.split(|c: char| c.is_whitespace() || "+-*/^%()".contains(c)).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &str| word.replace(',', "").parse::<f64>().is_ok();
    let digits = words.iter().filter(|word| is_number(word)).count();
    let knows = words.iter().all(|word| is_number(word) || lists::has("calculation", &word.to_lowercase()));
    let operates = clean.contains(['+', '*', '/', '^', '%', '-']) || words.len() > digits;
    let is_date =
        digits > 0 && words.len() == digits && (clean.matches('/').count() == 2 || clean.matches('-').count() == 2) && !clean.contains(' ');
    let open = clean.matches('(').count() == clean.matches(')').count();
    (digits > 0 && knows && operates && open && !is_date).then(|| SlotValue::Text { text: in_signs(clean), quoted: false })
}

/// Words of arithmetic as the signs that the calculator reads.
fn in_signs(text: &str) -> String {
    const SIGNS: &[(&str, &str)] = &[
        (" multiplied by ", " * "),
        (" divided by ", " / "),
        (" to the power of ", "^"),
        (" raised to ", "^"),
        (" times ", " * "),
        (" plus ", " + "),
        (" minus ", " - "),
        (" x ", " * "),
        (" squared", "^2"),
        (" cubed", "^3"),
        (" percent", "%"),
        ("square root of ", "sqrt "),
        (" mod ", " mod "),
    ];
    SIGNS.iter().fold(format!(" {text} "), |text, (words, sign)| text.replace(words, sign)).replace("the ", "").trim().to_owned()
}

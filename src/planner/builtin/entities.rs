//! Entities: what a slot of a form takes out of the words at a place. A slot can be read in several ways; each is given.

use super::figures::{self, clock, expression, number, periods, quantity, range, size, status};
use super::slots::SlotValue;
use super::{
    facts::{WorkspaceFacts, same_words},
    form::FormPart,
    lists,
    names::{called, columns, flags, is_name, members, phrases, things, unflags, values},
    sets,
    words::{Word, as_written, glob, is_identifier, is_key, is_revision, path_text},
};
use crate::planner::builtin::slots::{Literal, Relation};

/// Words of a clause with what is known of the workspace.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub words: &'a [Word],
    pub facts: &'a WorkspaceFacts,
    pub request: &'a str,
    /// dagdeck's own words.
    pub vocabulary: &'a [&'static str],
    /// The forms that mean several files.
    pub sets: &'a [&'static [FormPart]],
}

impl Scene<'_> {
    /// Whether a word is one of dagdeck's own.
    pub fn is_own(&self, word: &Word) -> bool {
        self.vocabulary.contains(&word.lower.as_str())
    }
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
    "verb",
    "value",
    "member",
    "cmp",
    "over",
    "pricier",
    "slower",
    "older",
    "between",
    "size",
    "date",
    "level",
    "plainlevel",
    "capital",
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
    "noun",
    "flag",
    "period",
    "recent",
    "commitfield",
    "deed",
    "outcome",
    "unflag",
    "status",
    "clock",
    "foldernoun",
    "unit",
    "quantity",
    "document",
    "ordinal",
    "setting",
    "things",
    "files",
    "several",
    "both",
    "names",
    "phrase",
    "said",
    "sought",
    "identifier",
    "day",
    "age",
    "span",
    "percent",
    "addends",
    "place",
    "list",
    "author",
    "ending",
    "amount",
    "branch",
    "revision",
    "figure",
    "remark",
    "linething",
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
    let Scene { words, facts, request, .. } = scene;
    let Some(word) = words.get(at) else { return Vec::new() };
    let one = |slot: Option<SlotValue>| slot.map(|slot| (at + 1, slot)).into_iter().collect();
    match kind {
        "number" => one(number(word).map(SlotValue::Number)),
        "quoted" => one(word.quoted.then(|| text(word))),
        "text" => texts(words, at),
        "word" => one((word.quoted || is_name(word)).then(|| text(word))),
        "file" | "data" => files(scene, at).into_iter().map(|(end, path)| (end, SlotValue::Path(path))).collect(),
        "folder" => folders(words, at, facts),
        "path" => {
            let mut found: Vec<_> = files(scene, at).into_iter().map(|(end, path)| (end, SlotValue::Path(path))).collect();
            found.extend(folders(words, at, facts));
            found.dedup();
            found
        }
        "new" => one(path_text(word).or_else(|| facts.spelled(&word.text)).map(SlotValue::Path)),
        "glob" => one(glob(word).map(|glob| SlotValue::Globs(vec![glob]))),
        // `files in temp` are those of the folder.
        "filekind" if facts.is_folder(&word.text) && at > 0 && ["in", "from", "of"].iter().any(|known| words[at - 1].is(known)) => {
            Vec::new()
        }
        "filekind" => file_kinds(words, at),
        "pluralkind" => one(listed("plural_kinds", word).map(|glob| SlotValue::Globs(vec![glob.to_owned()]))),
        "column" => columns(words, at, facts),
        "verb" => called(words, at, facts, "column_verbs"),
        "value" => values(words, at, facts),
        "member" => members(words, at, facts),
        "cmp" => {
            // `are at least` is `at least`.
            let verb = ["is", "are", "was", "were"].iter().any(|verb| word.is(verb));
            let behind = || comparisons(words, at + 1, "comparisons").iter().any(|(_, comparison)| *comparison != Relation::NotEqual);
            compared(words, if verb && behind() { at + 1 } else { at }, "comparisons")
        }
        "over" | "pricier" | "slower" | "older" => compared(words, at, kind),
        "between" => choice(words, at, "between"),
        "size" => size(words, at),
        "date" | "day" => {
            figures::days(words, at).into_iter().map(|(end, day)| (end, SlotValue::Value(Literal::Text(day.to_string())))).collect()
        }
        "level" | "plainlevel" => one(listed("levels", word).map(SlotValue::Choice)),
        "todo" => one(listed("todo", word).map(SlotValue::Choice)),
        "measure" => choice(words, at, "measures"),
        "superlative" => choice(words, at, "superlatives"),
        "order" => orders(words, at),
        "range" => one(range(&word.text)),
        "more" => choice(words, at, "more"),
        "key" => one((word.quoted || is_key(&word.text)).then(|| text(word))),
        "name" => names(words, at),
        "format" => {
            one(["json", "csv", "tsv", "yaml", "jsonl", "markdown"].into_iter().find(|format| word.is(format)).map(SlotValue::Choice))
        }
        "program" if lists::has("runners", &word.lower) && words.len() > at + 1 && !says_how(&words[at..]) => {
            rest(words, at, request, words.len())
        }
        "url" => one((word.lower.starts_with("http://") || word.lower.starts_with("https://")).then(|| text(word))),
        "topic" => (at + 1..=words.len()).flat_map(|end| rest(&words[..end], at, request, end)).collect(),
        "rest" => rest(words, at, request, words.len()),
        "expression" => (at + 1..=words.len()).filter_map(|end| Some((end, expression(as_written(&words[at..end], request)?)?))).collect(),
        "command" if word.quoted => vec![(at + 1, text(word))],
        // Words of English behind a program are no arguments that anybody meant.
        "command" if lists::has("programs", &word.lower) || word.text.starts_with("./") => {
            let says = words[at + 1..].iter().any(|word| !word.quoted && lists::has("function_words", &word.lower));
            if says || says_how(&words[at..]) { Vec::new() } else { rest(words, at, request, words.len()) }
        }
        "command" => one(facts.script(&word.text).map(|text| SlotValue::Text { text, quoted: true })),
        _ => named(kind, scene, at),
    }
}

/// Slots that name rows, and days and hours of theirs.
fn named(kind: &str, scene: Scene<'_>, at: usize) -> Vec<(usize, SlotValue)> {
    let Scene { words, facts, .. } = scene;
    let word = &words[at];
    let one = |slot: Option<SlotValue>| slot.map(|slot| (at + 1, slot)).into_iter().collect();
    match kind {
        "document" => {
            // Not what a table's rows are called.
            let is_said = |end: usize| end > at + 1 || word.quoted || path_text(word).is_some() || facts.by_stem(&word.lower).is_none();
            files(scene, at).into_iter().filter(|(end, _)| is_said(*end)).map(|(end, path)| (end, SlotValue::Path(path))).collect()
        }
        "things" => things(word, facts).into_iter().map(|slot| (at + 1, slot)).collect(),
        "noun" => {
            let named = || named_by_noun(scene, &word.lower);
            one(named()
                .or_else(|| facts.by_stem(&word.lower))
                .filter(|_| !word.quoted)
                .or_else(|| facts.by_noun(&word.lower))
                .map(SlotValue::Path))
        }
        "foldernoun" => one(facts.folder_of(&word.lower).filter(|_| !word.quoted).map(SlotValue::Path)),
        "ordinal" => one(ordinal(word)),
        "setting" => values(words, at, facts).into_iter().take(1).collect(),
        "unit" => one((lists::has("calculation", &word.lower) && word.lower.chars().all(char::is_alphabetic)).then(|| text(word))),
        "flag" => flags(words, at, facts),
        "period" => periods(words, at),
        "files" => sets::files(scene, at),
        "several" | "both" => {
            let found = if kind == "both" { sets::listed(scene, at) } else { sets::files(scene, at) };
            found.into_iter().filter(|(_, slot)| matches!(slot, SlotValue::Paths(_))).collect()
        }
        "names" => sets::listed(scene, at),
        "phrase" => sets::phrases(scene, at),
        "said" => sets::said(scene, at),
        "sought" => {
            let is_own = (lists::knows(&word.lower) || scene.is_own(word)) && !lists::has("programs", &word.lower);
            one((!is_own && is_name(word) && facts.members(&word.lower).is_empty() || word.quoted).then(|| text(word)))
        }
        "identifier" => one(is_identifier(&word.text).then(|| text(word)).filter(|_| word.quoted || is_name(word))),
        "author" => {
            // `Ada Stone` is a name, whatever a stone is.
            let is_own = |at: usize, alone: bool| {
                let known = alone && (lists::knows(&words[at].lower) || scene.is_own(&words[at]));
                !words[at].quoted && (known || path_text(&words[at]).is_some())
            };
            names(words, at).into_iter().filter(|(end, _)| !(at..*end).any(|word| is_own(word, *end == at + 1))).collect()
        }
        "list" => {
            let stem = |path: &str| path.rsplit('/').next().and_then(|name| Some(name.split_once('.')?.0.to_lowercase()));
            let is_list =
                |path: &String| stem(path).is_some_and(|stem| stem.split(['-', '_', ' ']).any(|part| lists::has("lines_of_things", part)));
            files(scene, at).into_iter().filter(|(_, path)| is_list(path)).map(|(end, path)| (end, SlotValue::Path(path))).collect()
        }
        // `.bak`, `old`
        "ending" => one(Some(word.text.trim_start_matches('.'))
            .filter(|text| lists::has("extensions", &text.to_lowercase()))
            .map(|text| SlotValue::Text { text: text.to_owned(), quoted: false })),
        // A number as it is written.
        "amount" => one(number(word).map(|_| text(word))),
        "branch" => one((!word.text.starts_with('-') && (word.quoted || is_name(word))).then(|| text(word))),
        "revision" => one(is_revision(&word.lower).then(|| text(word))),
        "place" => {
            let is_bare = at == 0 || !super::form::is_article(&words[at - 1]);
            let new = is_bare && is_name(word) && !word.text.contains(['.', '*']) && !facts.exists(&word.text);
            let known = folders(words, at, facts);
            if known.is_empty() && new { vec![(at + 1, SlotValue::Path(word.text.clone()))] } else { known }
        }
        _ => reckoned(kind, scene, at),
    }
}

/// Slots of days, figures, and words of a list.
fn reckoned(kind: &str, scene: Scene<'_>, at: usize) -> Vec<(usize, SlotValue)> {
    let Scene { words, facts, .. } = scene;
    let word = &words[at];
    let one = |slot: Option<SlotValue>| slot.map(|slot| (at + 1, slot)).into_iter().collect();
    match kind {
        "figure" => choice(words, at, "figures"),
        "remark" => phrases(words, at, lists::words("remarks").iter().map(|said| (said.as_str(), said)))
            .into_iter()
            .map(|(end, said)| (end, SlotValue::Text { text: said.clone(), quoted: false }))
            .collect(),
        "linething" => one(is_thing_of_lines(scene, word).then(|| text(word))),
        "commitfield" => choice(words, at, "commit_fields"),
        "capital" => one((word.text.len() == 1 && word.text.starts_with(char::is_uppercase)).then(|| text(word))),
        "recent" => figures::recent(words, at),
        "deed" => one(facts.by_deed(&word.lower).filter(|_| !word.quoted).map(SlotValue::Path)),
        "outcome" => one(listed("outcomes", word).map(SlotValue::Choice)),
        "unflag" => unflags(words, at, facts),
        "status" => one(status(word)),
        "clock" => one(clock(&word.text)),
        "age" => figures::age(words, at),
        "span" => figures::span(words, at).map(|(end, span)| (end, SlotValue::Text { text: span.1, quoted: false })).into_iter().collect(),
        "percent" => figures::percent(words, at).into_iter().collect(),
        "addends" => figures::addends(words, at),
        "quantity" => (at + 1..=words.len()).filter_map(|end| Some((end, quantity(&words[at..end])?))).collect(),
        _ => Vec::new(),
    }
}

/// Whether a word is what the lines of the only text that is named are: names, addresses, or `books` of `books.txt`.
fn is_thing_of_lines(scene: Scene<'_>, word: &Word) -> bool {
    let named: Vec<String> = scene.words.iter().filter_map(path_text).filter_map(|name| scene.facts.located(&name)).collect();
    let is_text = |path: &String| path.ends_with(".txt") && scene.facts.table(path).is_none();
    let stems = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.split(|c: char| !c.is_alphanumeric()).any(|part| part.len() > 2 && part != "txt" && same_words(&word.lower, part))
    };
    !word.quoted
        && !named.is_empty()
        && named.iter().all(is_text)
        && (lists::has("things_of_lines", &word.lower) || named.iter().any(stems))
}

/// The one table of those that the words name whose name says what its rows are: `expenses` of `expenses-2026.csv`.
fn named_by_noun(scene: Scene<'_>, noun: &str) -> Option<String> {
    let says = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        scene.facts.table(path).is_some() && stem.split(|c: char| !c.is_alphanumeric()).any(|part| part.len() > 2 && same_words(noun, part))
    };
    // `the expenses of 2026`
    let dated = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.split(|c: char| !c.is_ascii_digit()).any(|part| part.len() == 4 && scene.words.iter().any(|word| word.is(part)))
    };
    let by_year = scene.facts.tables().map(|(path, _)| path).filter(dated).cloned();
    let mut found: Vec<String> =
        scene.words.iter().filter_map(path_text).filter_map(|name| scene.facts.located(&name)).chain(by_year).filter(says).collect();
    found.sort_unstable();
    found.dedup();
    if let [only] = &found[..] { Some(only.clone()) } else { None }
}

pub(super) fn text(word: &Word) -> SlotValue {
    SlotValue::Text { text: word.text.clone(), quoted: word.quoted }
}

fn rest(words: &[Word], at: usize, request: &str, end: usize) -> Vec<(usize, SlotValue)> {
    let mut last = end;
    while last > at + 1 && [".", "?", "!", ","].iter().any(|mark| words[last - 1].is(mark)) {
        last -= 1;
    }
    let text = as_written(&words[at..last], request);
    text.map(|text| (end, SlotValue::Text { text: text.to_owned(), quoted: false })).into_iter().collect()
}

/// Whether words say how often or when a command is run.
fn says_how(words: &[Word]) -> bool {
    words.iter().any(|word| !word.quoted && lists::has("manners", &word.lower))
}

/// An order, or what comes first in it.
fn orders(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    let named = choice(words, at, "orders");
    if !named.is_empty() {
        return named;
    }
    let first = choice(words, at + usize::from(words[at].is(",")), "superlatives").into_iter();
    first.filter(|(end, _)| words.get(*end).is_some_and(|word| word.is("first"))).map(|(end, slot)| (end + 1, slot)).collect()
}

fn listed(list: &str, word: &Word) -> Option<&'static str> {
    lists::choices(list).find(|(name, _)| word.is(name)).map(|(_, value)| value)
}

fn choice(words: &[Word], at: usize, list: &str) -> Vec<(usize, SlotValue)> {
    let found = phrases(words, at, lists::choices(list)).into_iter().take(1);
    found.map(|(end, name)| (end, SlotValue::Choice(name))).collect()
}

fn comparisons(words: &[Word], at: usize, list: &str) -> Vec<(usize, Relation)> {
    let found = phrases(words, at, lists::choices(list)).into_iter();
    found.filter_map(|(end, name)| Some((end, Relation::named(name)?))).collect()
}

fn compared(words: &[Word], at: usize, list: &str) -> Vec<(usize, SlotValue)> {
    comparisons(words, at, list).into_iter().map(|(end, comparison)| (end, SlotValue::Compare(comparison))).collect()
}

fn texts(words: &[Word], at: usize) -> Vec<(usize, SlotValue)> {
    let first = &words[at];
    if first.quoted {
        return vec![(at + 1, text(first))];
    }
    let plain = |word: &Word| !lists::has("function_words", &word.lower) && word.text.chars().any(char::is_alphanumeric) && !word.quoted;
    // `contain a number` speaks of any number.
    if plain(first) && !lists::has("kinds_of_text", &first.lower) { vec![(at + 1, text(first))] } else { Vec::new() }
}

/// Files that words name: as they are spelled, or by the name without its ending where only one file has it.
fn files(scene: Scene<'_>, at: usize) -> Vec<(usize, String)> {
    let Scene { words, facts, request, .. } = scene;
    let word = &words[at];
    // A name with spaces, without quotes.
    let spaced = |end: usize| {
        words.get(end - 1).filter(|last| !last.quoted && !word.quoted && last.text.contains('.'))?;
        Some((end, facts.spelled(as_written(&words[at..end], request)?)?))
    };
    if let Some(named) = (at + 2..at + 6).find_map(spaced) {
        return vec![named];
    }
    if let Some(path) = path_text(word).filter(|path| !facts.is_folder(path)) {
        return vec![(at + 1, facts.located(&path).unwrap_or(path))];
    }
    let known = facts.spelled(&word.text).filter(|path| !facts.is_folder(path));
    // `the shopping list` is `shopping list.txt`.
    let stem = |end: usize| {
        Some((end, facts.by_words(&words.get(at..end)?.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" "))?))
    };
    if let Some(named) = (at + 2..at + 5).find_map(stem).filter(|(end, _)| words[at..*end].iter().all(|word| !word.quoted)) {
        return vec![named];
    }
    let unquoted = || Some(&word.lower).filter(|_| !word.quoted);
    known.or_else(|| facts.by_stem(unquoted()?)).or_else(|| facts.titled(unquoted()?)).map(|path| (at + 1, path)).into_iter().collect()
}

pub(super) fn folders(words: &[Word], at: usize, facts: &WorkspaceFacts) -> Vec<(usize, SlotValue)> {
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
    let says_which = lists::has("which_folder", &word.lower);
    if named && is_name(word) && !is_file && !says_which { vec![(at + 1, SlotValue::Path(text.to_owned()))] } else { Vec::new() }
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

/// `third`, `3rd`. The first is no number: it is a part of its own.
fn ordinal(word: &Word) -> Option<SlotValue> {
    let named = lists::words("ordinals").iter().position(|name| word.is(name)).map(|at| at as u32 + 1);
    let endings = ["st", "nd", "rd", "th"];
    let written = || endings.iter().find_map(|ending| word.lower.strip_suffix(ending)?.parse::<u32>().ok());
    let number = named.or_else(|| written().filter(|_| !word.quoted)).filter(|number| *number > 1)?;
    Some(SlotValue::Number(f64::from(number)))
}

//! Slots of several files, and of words without quotes.

use globset::Glob;

use super::{
    entities::{self, Scene},
    facts::WorkspaceFacts,
    form, lists,
    slots::{SlotValue, SlotValues},
    words::{self, as_written},
};

/// Most files that one request changes or reads one by one.
const MOST: usize = 60;
/// Most words without quotes that are one text.
const WORDS: usize = 8;

/// One file or several: a list of names, or all of a kind.
pub(super) fn files(scene: Scene<'_>, at: usize) -> Vec<(usize, SlotValue)> {
    let mut found = listed(scene, at);
    for set in scene.sets {
        for (end, slots) in form::matches(set, scene, at) {
            let all = members(scene.facts, &slots);
            let slot = (end, SlotValue::Paths(all));
            if matches!(&slot, (_, SlotValue::Paths(all)) if (1..=MOST).contains(&all.len())) && !found.contains(&slot) {
                found.push(slot);
            }
        }
    }
    found
}

fn one_or_more(mut paths: Vec<String>) -> Option<SlotValue> {
    match paths.len() {
        0 => None,
        1 => paths.pop().map(SlotValue::Path),
        _ => (paths.len() <= MOST).then_some(SlotValue::Paths(paths)),
    }
}

/// `a.txt`, `a.txt, b.txt and c.txt`, `a.txt and b.txt in notes`.
pub(super) fn listed(scene: Scene<'_>, at: usize) -> Vec<(usize, SlotValue)> {
    let Scene { words, facts, .. } = scene;
    let is = |at: usize, said: &[&str]| words.get(at).is_some_and(|word| said.iter().any(|known| word.is(known)));
    let (mut found, mut names, mut next) = (Vec::new(), Vec::new(), at);
    while let Some((end, SlotValue::Path(name))) = entities::read("file", scene, next).pop() {
        names.push(name);
        found.extend(one_or_more(names.clone()).map(|slot| (end, slot)));
        let folder = (end + 1..(end + 4).min(words.len()))
            .filter(|_| is(end, &["in", "from", "of"]))
            .flat_map(|from| entities::folders(words, from, facts))
            .next();
        if let Some((behind, SlotValue::Path(folder))) = folder {
            let inside = |name: &String| {
                let path = if name.starts_with(&format!("{folder}/")) { name.clone() } else { format!("{folder}/{name}") };
                facts.exists(&path).then_some(path)
            };
            let inside: Option<Vec<String>> = names.iter().map(inside).collect();
            found.extend(inside.and_then(one_or_more).map(|slot| (behind, slot)));
        }
        next = end;
        while is(next, &[",", "and", "&", "the", "in"]) {
            next += 1;
        }
        if next == end {
            break;
        }
    }
    found
}

/// The files of a kind, in a folder, without some.
fn members(facts: &WorkspaceFacts, slots: &SlotValues) -> Vec<String> {
    let (mut globs, mut except, mut folders) = (Vec::new(), Vec::new(), Vec::new());
    for (name, slot) in slots {
        match (name.as_str(), slot) {
            ("except", SlotValue::Globs(some)) => except.extend(some.clone()),
            ("except", SlotValue::Path(path)) => except.push(path.rsplit('/').next().unwrap_or(path).to_owned()),
            (_, SlotValue::Globs(some)) => globs.extend(some.clone()),
            (_, SlotValue::Path(path)) => folders.push(path.trim_end_matches('/')),
            _ => return Vec::new(),
        }
    }
    if folders.iter().any(|folder| !facts.is_folder(folder)) {
        return Vec::new();
    }
    let fits = |glob: &String, path: &str| {
        let name = if glob.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
        Glob::new(glob).is_ok_and(|glob| glob.compile_matcher().is_match(name))
    };
    let inside = |path: &str| {
        let is_in = |folder: &&str| *folder == "." || path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/'));
        folders.is_empty() || folders.iter().any(is_in)
    };
    let wanted = |path: &&String| {
        inside(path) && (globs.is_empty() || globs.iter().any(|glob| fits(glob, path))) && !except.iter().any(|glob| fits(glob, path))
    };
    facts.files().iter().filter(wanted).cloned().collect()
}

/// A few words as they are written, or what is in quotes.
pub(super) fn phrases(scene: Scene<'_>, at: usize) -> Vec<(usize, SlotValue)> {
    let Scene { words, request, .. } = scene;
    if words[at].quoted {
        return vec![(at + 1, entities::text(&words[at]))];
    }
    // `the word test` names a word.
    if ["word", "text", "string", "phrase"].iter().any(|noun| words[at].is(noun)) {
        return Vec::new();
    }
    // What joins the parts of a request joins none of a text.
    let plain = |at: usize| {
        let word = &words[at];
        !word.quoted && word.text.chars().any(char::is_alphanumeric) && !lists::has("joints", &word.lower)
    };
    let stop = (at..words.len().min(at + WORDS)).find(|at| !plain(*at)).unwrap_or(words.len().min(at + WORDS));
    let is_text = |end: &usize| (at..*end).any(|at| !lists::has("function_words", &words[at].lower));
    let said = |end: usize| Some((end, SlotValue::Text { text: as_written(&words[at..end], request)?.to_owned(), quoted: false }));
    (at + 1..=stop).filter(is_text).filter_map(said).collect()
}

/// Words that can't be meant as anything but themselves: no word of dagdeck's own, no file, no number.
pub(super) fn said(scene: Scene<'_>, at: usize) -> Vec<(usize, SlotValue)> {
    let own = |at: &usize| {
        let word = &scene.words[*at];
        let small = word.lower.len() < 4 || form::is_article(word) || word.is("with") || word.is("from");
        words::path_text(word).is_some()
            || !small && (scene.is_own(word) || lists::knows(&word.lower))
            || ["it", "them", "that", "this"].iter().any(|pronoun| word.is(pronoun))
    };
    // `the usual closing` names a text and is none.
    if form::is_article(&scene.words[at]) {
        return Vec::new();
    }
    phrases(scene, at)
        .into_iter()
        .filter(|(end, slot)| matches!(slot, SlotValue::Text { quoted: true, .. }) || !(at..*end).any(|at| own(&at)))
        .collect()
}

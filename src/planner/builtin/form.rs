//! Forms: how people word an operation. `word`, `a|b` (one of them), `[a b|c]` (may be left out), `(a b|c)` (one of these), `{kind}` or
//! `{name:kind}` (a typed slot).

use super::entities::Scene;
use super::slots::SlotValues;
use super::{
    entities::{self},
    words::Word,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FormPart {
    Word(String),
    /// One of several sequences; an empty one means that nothing has to be there.
    Any(Vec<Vec<FormPart>>),
    SlotValue {
        name: String,
        kind: String,
    },
}

pub(super) fn parse(form: &str) -> Result<Vec<FormPart>, String> {
    let mut rest = form.trim();
    let parts = sequence(&mut rest, form, false)?;
    if rest.is_empty() { Ok(parts) } else { Err(format!("`{form}` has a bracket too many")) }
}

/// Parts up to the end of the form or of the group that they are in; in a group, `|` divides whole sequences.
fn sequence(rest: &mut &str, form: &str, grouped: bool) -> Result<Vec<FormPart>, String> {
    let mut parts = Vec::new();
    loop {
        *rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(parts) };
        match first {
            ')' | ']' | '|' => return Ok(parts),
            '(' | '[' => {
                let (close, mut ways) = if first == '(' { (')', vec![]) } else { (']', vec![vec![]]) };
                *rest = &rest[1..];
                loop {
                    ways.push(sequence(rest, form, true)?);
                    match rest.chars().next() {
                        Some('|') => *rest = &rest[1..],
                        Some(end) if end == close => break,
                        _ => return Err(format!("`{form}` lacks `{close}`")),
                    }
                }
                *rest = &rest[1..];
                parts.push(FormPart::Any(ways));
            }
            '{' => {
                let end = rest.find('}').ok_or_else(|| format!("`{form}` lacks a closing brace"))?;
                let (name, kind) = rest[1..end].split_once(':').unwrap_or((&rest[1..end], &rest[1..end]));
                if !entities::KINDS.contains(&kind) {
                    return Err(format!("`{form}` has a slot of the unknown kind `{kind}`"));
                }
                parts.push(FormPart::SlotValue { name: name.to_owned(), kind: kind.to_owned() });
                *rest = &rest[end + 1..];
            }
            _ => {
                let end = rest.find([' ', '(', ')', '[', ']', '{']).unwrap_or(rest.len());
                let end = if grouped { rest[..end].find('|').unwrap_or(end) } else { end };
                let words: Vec<&str> = rest[..end].split('|').collect();
                if let [only] = words[..] {
                    parts.push(FormPart::Word(only.to_owned()));
                } else {
                    parts.push(FormPart::Any(words.iter().map(|word| vec![FormPart::Word((*word).to_owned())]).collect()));
                }
                *rest = &rest[end..];
            }
        }
    }
}

/// Every word of a form, for knowing dagdeck's own words.
pub(super) fn vocabulary<'a>(parts: &'a [FormPart], add: &mut impl FnMut(&'a str)) {
    for part in parts {
        match part {
            FormPart::Word(word) => add(word),
            FormPart::Any(ways) => ways.iter().for_each(|way| vocabulary(way, add)),
            FormPart::SlotValue { .. } => {}
        }
    }
}

/// The names of a form's slots, with their kinds; the first kind of a name counts.
pub(super) fn typed_slots(parts: &[FormPart], found: &mut Vec<(String, String)>) {
    for part in parts {
        match part {
            FormPart::SlotValue { name, kind } if !found.iter().any(|(known, _)| known == name) => found.push((name.clone(), kind.clone())),
            FormPart::Any(ways) => ways.iter().for_each(|way| typed_slots(way, found)),
            FormPart::Word(_) | FormPart::SlotValue { .. } => {}
        }
    }
}

/// Kinds of slots that are text as it is.
const FREE_TEXT: [&str; 9] = ["rest", "plainlevel", "capital", "text", "word", "said", "phrase", "sought", "setting"];

/// Every way in which the words from a place on are worded by a form: where it ends, and its slots.
pub(super) fn matches(parts: &[FormPart], scene: Scene<'_>, at: usize) -> Vec<(usize, SlotValues)> {
    let Some((first, rest)) = parts.split_first() else { return vec![(at, Vec::new())] };
    let ways: Vec<(usize, SlotValues)> = match first {
        FormPart::Word(word) => match scene.words.get(at) {
            Some(said) if said.is(word) => vec![(at + 1, Vec::new())],
            // An article may precede any word of a form.
            Some(said) if is_article(said) && scene.words.get(at + 1).is_some_and(|next| next.is(word)) => vec![(at + 2, Vec::new())],
            _ => Vec::new(),
        },
        FormPart::Any(ways) => ways.iter().flat_map(|way| matches(way, scene, at)).collect(),
        FormPart::SlotValue { name, kind } => {
            // An article before free text belongs to it, or says that a thing is meant and no text: `replace the date`, `called the end`.
            let is_named = at > 0 && ["called", "named"].iter().any(|word| scene.words[at - 1].is(word));
            let skips = !FREE_TEXT.contains(&kind.as_str()) && !is_named && scene.words.get(at).is_some_and(is_article);
            let from = at + usize::from(skips);
            entities::read(kind, scene, from).into_iter().map(|(end, slot)| (end, vec![(name.clone(), slot)])).collect()
        }
    };
    let mut found = Vec::new();
    for (end, slots) in ways {
        for (end, more) in matches(rest, scene, end) {
            let all: SlotValues = slots.iter().cloned().chain(more).collect();
            if !found.contains(&(end, all.clone())) {
                found.push((end, all));
            }
        }
    }
    found
}

pub(super) fn is_article(word: &Word) -> bool {
    ["the", "a", "an", "my", "our"].iter().any(|article| word.is(article))
}

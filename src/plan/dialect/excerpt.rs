//! The plan in a text that says more: in a block of Markdown code, after what a model thought, between sentences.

use super::amend::amend;
use super::reading::ListForm;
use super::source::SourceText;
use super::{loose, yaml};
use serde::de::IgnoredAny;
use serde_json::Value;

/// A part of a text.
pub(super) struct Excerpt<'t> {
    pub text: &'t str,
    pub lines_before: usize,
    /// What is left out, and whether that is another plan.
    pub left: (ListForm, String),
    /// There is more around it than marks.
    pub has_words: bool,
}

/// At how many places a value is looked for between sentences.
const MOST_PLACES: usize = 64;

/// The part of a text that is read, where that isn't all of it.
pub(super) fn excerpt<'t>(text: &'t str, origin: &str) -> Option<Excerpt<'t>> {
    let lines_before = |part: &str| text[..part.as_ptr() as usize - text.as_ptr() as usize].matches('\n').count();
    let bare = text.trim();
    let blocks = blocks(text);
    if let [only] = blocks[..]
        && bare.starts_with("```")
        && bare.ends_with("```")
    {
        let message = "the text is a block of Markdown code: read without its marks".to_owned();
        return Some(Excerpt { text: only, lines_before: lines_before(only), left: (ListForm::Surplus, message), has_words: false });
    }
    if is_whole(text, bare, origin.to_ascii_lowercase().ends_with(".json")) {
        return None;
    }
    let of = |parts: Vec<&'t str>, message: &str| {
        let plans: Vec<&str> = parts.into_iter().filter(|part| holds_plan(part)).collect();
        let text = plans.last().copied()?;
        let lines_before = lines_before(text);
        // The same one twice is one.
        let left = match 1 + plans.iter().filter(|plan| plan.trim() != text.trim()).count() {
            1 => (ListForm::Surplus, message.to_owned()),
            count => (ListForm::OtherPlans, format!("the text has {count} plans: the last one is read, from line {}", lines_before + 1)),
        };
        Some(Excerpt { text, lines_before, left, has_words: true })
    };
    let between = || bare_values(after_thought(text)).into_iter().filter(|value| value.len() < bare.len()).collect();
    of(blocks, "the plan is in a block of code: the text around it is left out")
        .or_else(|| of(documents(text), "the plan is one of several documents: the others are left out"))
        .or_else(|| of(between(), "the plan is between other words: those are left out"))
}

/// Whether a text is a document as it is, or has nothing of one between its words.
fn is_whole(text: &str, bare: &str, is_json: bool) -> bool {
    if bare.starts_with(['{', '[']) {
        let is_plan = |value: &Value| ["nodes", "dag"].iter().any(|list| value.get(*list).is_some());
        let are_plans = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(is_plan));
        return serde_json::from_str::<IgnoredAny>(text).is_ok() || loose::read(text).is_some_and(|(value, ..)| !are_plans(&value));
    }
    let says_more = text.lines().skip(1).any(|line| line.trim_end() == "---")
        || ["```", "<think", "{\"", "[{", "{\n", "[\n"].iter().any(|mark| text.contains(mark));
    !says_more || !is_json && yaml::read(text).is_ok_and(|(value, _)| value.is_object() || value.is_array())
}

/// The blocks of Markdown code of a text.
fn blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut open = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.trim_start().starts_with("```") {
            open = match open {
                None => Some(next),
                Some(start) => {
                    blocks.push(&text[start..at]);
                    None
                }
            };
        }
        at = next;
    }
    blocks
}

/// What follows the thoughts that a text begins with.
fn after_thought(text: &str) -> &str {
    let close = ["</think>", "</thinking>", "</reasoning>"].into_iter().find_map(|end| Some(text.rfind(end)? + end.len()));
    close.map_or(text, |at| &text[at..])
}

/// The documents of a text that has several by YAML's marks.
fn documents(text: &str) -> Vec<&str> {
    let (mut documents, mut start, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            documents.push(&text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    if start > 0 {
        documents.push(&text[start..]);
    }
    documents
}

/// The values in a text that are plans.
fn bare_values(text: &str) -> Vec<&str> {
    let (mut from, mut plans) = (0, Vec::new());
    for _ in 0..MOST_PLACES {
        let Some(start) = text.get(from..).and_then(|rest| Some(from + rest.find(['{', '['])?)) else { break };
        let value = balanced(&text[start..]);
        plans.extend(value.filter(|value| holds_plan(value)));
        from = start + value.map_or(1, str::len);
    }
    plans
}

/// From an opening bracket to the one that closes it.
fn balanced(text: &str) -> Option<&str> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

fn holds_plan(text: &str) -> bool {
    let value = SourceText::whole(text, "").and_then(SourceText::parse);
    value.is_ok_and(|(mut value, _)| amend(&mut value, "", 0).is_ok() && value.is_object())
}

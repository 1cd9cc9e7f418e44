//! Whether a name or a text speaks of asking a person, as authors say it in fields that nothing reads: "needs sign-off", "ask the owner
//! before this runs", `operator_ok: true`. It judges words alone; whether the plan asks is for its caller to see.

use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::{gate, is_like_a_gate};
use regex::{Regex, RegexSet};
use serde_json::Value;
use std::sync::LazyLock;

/// How somebody says that a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asking {
    /// It is said in a few words, and for every case.
    pub is_plain: bool,
    /// It is about what a node made.
    pub is_after: bool,
}

/// Longer texts tell a story.
const MOST_WORDS: usize = 40;
/// From how many words on something may be said beside it.
const FEW_WORDS: usize = 8;
/// Fields of words by which things are found.
const SORTS: [&str; 8] = ["tag", "label", "category", "topic", "keyword", "domain", "theme", "group"];
/// Up to how many words a text may go on from its name.
const SHORT: usize = 6;
/// How far before its words a denial may be.
const NEAR: usize = 4;

/// Each pattern, and all of them at once, which tells most texts apart in one go.
static PATTERNS: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    let person = format!("(?:{})", NAMES.asking.person.join("|"));
    // Texts are words with spaces between them: a word is whatever is no space.
    let whole = |pattern: &&str| pattern.replace("PERSON", &person).replace(r"\w", "[^ ]").replace(r"\b", r"(?-u:\b)");
    let patterns: Vec<String> = NAMES.asking.texts.iter().map(whole).collect();
    let any = RegexSet::new(&patterns).unwrap_or_else(|_| RegexSet::empty());
    (any, patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect())
});

/// What a value under a name says of asking a person.
pub(super) fn asking(name: &str, value: &Value) -> Option<Asking> {
    let (said, words) = (plain_words(name), NAMES.asking.names.as_slice());
    let is_about = is_like_a_gate(name)
        || gate(name, &Value::Bool(true), Some("approve")).is_some()
        || said.split(' ').any(|word| words.contains(&word)) && !said.split(' ').any(|word| NAMES.asking.states.contains(&word));
    let by_name = || Asking { is_plain: is_like_a_gate(name), is_after: is_about_result(&said) };
    match value {
        Value::Bool(true) => of_words(&said).or_else(|| is_about.then(by_name)),
        Value::Bool(false) => (denied_by_name(&said) || runs_by_itself(&said)).then(by_name),
        Value::String(text) if NAMES.gate.no.contains(&plain_words(text).as_str()) && runs_by_itself(&said) => Some(by_name()),
        Value::Number(number) => {
            let is_few = number.as_u64().is_some_and(|count| (1..10).contains(&count));
            let counts = NAMES.asking.counts.iter().any(|word| said.split(' ').any(|other| other == *word));
            (is_few && is_about && counts).then(by_name)
        }
        Value::String(text) if NAMES.gate.yes.contains(&plain_words(text).as_str()) && is_about => Some(by_name()),
        Value::String(text) => {
            let words = plain_words(text);
            // One word sorts there.
            if SORTS.contains(&said.trim_end_matches('s')) && !words.contains(' ') {
                return None;
            }
            // A few words may go on from their name: `review_by: editor`.
            let is_short = words.split(' ').count() <= SHORT;
            of_words(&words).or_else(|| of_words(&format!("{said} {words}")).filter(|_| is_short))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What words say of asking a person, unless they say that nobody is.
fn of_words(text: &str) -> Option<Asking> {
    if text.is_empty() || text.split(' ').count() > MOST_WORDS {
        return None;
    }
    let (any, patterns) = &*PATTERNS;
    if !any.is_match(text) {
        return None;
    }
    let mut found = patterns.iter().filter_map(|pattern| pattern.find(text));
    found.find(|found| !is_denied(&text[..found.start()], found.as_str(), &text[found.end()..]))?;
    let mut words = text.split(' ');
    let is_plain = words.clone().count() <= FEW_WORDS && !words.any(|word| NAMES.asking.cases.contains(&word));
    Some(Asking { is_plain, is_after: is_about_result(text) })
}

/// "no approval needed", "approval is not required", but not "never without approval".
fn is_denied(before: &str, found: &str, after: &str) -> bool {
    let near = before.split(' ').filter(|word| !word.is_empty()).rev().take(NEAR).collect::<Vec<_>>();
    let words: Vec<&str> = near.into_iter().rev().chain(found.split(' ')).collect();
    let denies = |word: &&str| NAMES.asking.denials.contains(word);
    let excepts = |word: &&str| NAMES.asking.exceptions.contains(word);
    let begins = |words: &&str| after.trim_start().strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    if NAMES.asking.denied.iter().any(begins) {
        return true;
    }
    let Some(last) = words.iter().rposition(denies) else { return false };
    // Two denials are none, and so is one with an exception.
    let is_twofold = excepts(&words[last]) && words[..last].iter().any(denies);
    let has_exception = words[last + 1..].iter().any(excepts);
    !(is_twofold || has_exception)
}

/// `auto_approve`, `skip_review`: a no to them asks.
fn denied_by_name(said: &str) -> bool {
    let words: Vec<&str> = said.split(' ').collect();
    let denies = words.iter().any(|word| NAMES.asking.denials.contains(word));
    let about = |word: &&str| NAMES.asking.names.contains(word) || is_like_a_gate(word);
    denies && words.iter().any(about)
}

/// `allow_auto_run`, `can_run_unattended`: a no to them asks.
fn runs_by_itself(said: &str) -> bool {
    let itself = ["auto", "automatic", "automatically", "unattended", "autonomous", "autonomously", "autorun"];
    let runs = [
        "run",
        "runs",
        "runnable",
        "execute",
        "executed",
        "executes",
        "executable",
        "execution",
        "start",
        "proceed",
        "continue",
        "go",
        "allow",
        "allowed",
        "safe",
        "can",
        "may",
        "is",
        "be",
        "to",
        "mode",
        "enabled",
        "ok",
        "on",
        "ahead",
        "apply",
        "submit",
        "send",
        "deploy",
    ];
    let words = || said.split(' ');
    words().any(|word| itself.contains(&word)) && words().all(|word| itself.contains(&word) || runs.contains(&word))
}

fn is_about_result(text: &str) -> bool {
    text.split(' ').any(|word| NAMES.asking.results.contains(&word))
}

/// The words of a name or a text: lower case, one space between them, without signs.
pub(super) fn plain_words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if begins || !c.is_alphanumeric() && c != '\'' && c != '’' {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        before = c;
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_can_be_read() {
        assert_eq!((PATTERNS.0.len(), PATTERNS.1.len()), (NAMES.asking.texts.len(), NAMES.asking.texts.len()));
    }

    #[test]
    fn words_of_asking_a_person_are_told_from_others() {
        let asks = |text: &str| of_words(&plain_words(text)).is_some();
        for text in [
            "needs approval",
            "needs-review",
            "HumanInTheLoop",
            "ask before deleting",
            "only after sign-off by legal",
            "wait for the owner's ok",
            "do not run until approved",
            "never deploy without sign-off",
            "get consent from the patient",
            "once I say so",
            "when the Küchenchef agrees",
            "manual approval",
            "must be reviewed by a human",
            "awaiting go-ahead",
            "show me the draft first",
            "no one may send this before the editor approves",
            "only with the dean's approval",
            "never without the pharmacist's consent",
            "verify with customer",
            "prompt user",
            "requires user input",
            "interactive",
            "requires two person",
            "approval status pending",
            "actor user",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "no approval needed",
            "approval is not required",
            "auto-approve",
            "runs without confirmation",
            "works without the user's consent",
            "loan approval",
            "approval rates by region",
            "summarize user reviews",
            "human readable",
            "booking confirmation",
            "code review",
            "approved vendors",
            "OAuth authorization",
            "verify user identity",
            "the user asked for it",
            "before noon",
            "interactive chart",
            "user input parsing",
            "system prompt user text",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}

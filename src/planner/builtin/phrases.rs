//! What a request says in phrases: counts, expressions, texts to find and replace, commands, topics, sides of a comparison, fields.

use std::collections::BTreeMap;

use super::places::{is_file, url};
use super::slots::ParsedRequest;
use super::words::{self, Word};

impl ParsedRequest<'_> {
    pub(super) fn number(&self) -> Option<u64> {
        let found = self.words.iter().filter(|word| !word.quoted).find_map(|word| words::number(&word.lower));
        let occurs = |list: &[&str]| self.words.iter().any(|word| !word.quoted && list.contains(&word.lower.as_str()));
        let superlative = || occurs(&["longest", "largest", "biggest", "heaviest", "shortest", "smallest"]);
        let one = || occurs(&["file", "module", "script", "document"]) && !occurs(&["files", "modules", "scripts", "documents"]);
        let single = || (superlative() && one()).then_some(1);
        found.or_else(single).filter(|number| *number > 0)
    }

    pub(super) fn expression(&self) -> Option<String> {
        const OPENERS: &[&str] = &["calculate", "compute", "evaluate", "is", "are", "what's", "solve", "convert", "sum", "much"];
        let opener = (0..self.words.len()).find(|&at| OPENERS.contains(&self.lower(at)));
        let start = opener.map_or(0, |at| if self.lower(at) == "convert" || self.lower(at) == "sum" { at } else { at + 1 });
        let end = (start..self.words.len())
            .find(|&at| matches!(self.lower(at), "and" | "then") && words::is_verb(self.lower(at + 1)) || self.output == Some(at))
            .unwrap_or(self.words.len());
        let mut parts: Vec<&str> = self.words[start..end].iter().map(|word| word.raw.as_str()).collect();
        while parts.first().is_some_and(|word| matches!(word.to_lowercase().as_str(), "the" | "value" | "result" | "of" | "is" | "convert"))
        {
            parts.remove(0);
        }
        // Brackets were taken off as punctuation; the text itself still has them.
        let text = parts.join(" ");
        let whole = self.span(start, end).unwrap_or(text);
        let whole = strip_opening(whole.trim().trim_end_matches(['?', '=', '.', '!', ',', ':', ' ']));
        is_arithmetic(whole).then(|| whole.to_owned())
    }

    /// The request's own text from one word to before another.
    fn span(&self, start: usize, end: usize) -> Option<String> {
        let mut from = 0;
        let mut bounds = None;
        for (at, word) in self.words.iter().enumerate().take(end) {
            let found = self.text[from..].find(&word.raw)? + from;
            from = found + word.raw.len();
            if at == start {
                bounds = Some((found, from));
            } else if let Some((begin, _)) = bounds {
                bounds = Some((begin, from));
            }
        }
        let (mut begin, mut until) = bounds?;
        // Brackets right before and behind belong to it.
        begin -= self.text[..begin].len() - self.text[..begin].trim_end_matches('(').len();
        until += self.text[until..].len() - self.text[until..].trim_start_matches([')', '!', '%']).len();
        Some(self.text[begin..until].to_owned())
    }

    pub(super) fn search_text(&self, nth: usize) -> Option<String> {
        const BEFORE: &[&str] = &[
            "containing",
            "contain",
            "contains",
            "mention",
            "mentions",
            "mentioning",
            "word",
            "string",
            "text",
            "pattern",
            "phrase",
            "term",
            "uses",
            "usages",
            "references",
            "occurrences",
            "occurrence",
            "calls",
        ];
        if let Some(word) = self.words.iter().filter(|word| word.quoted).nth(nth) {
            return Some(word.raw.clone());
        }
        let at = (0..self.words.len()).find(|&at| BEFORE.contains(&self.lower(at)))?;
        let next = (at + 1..self.words.len()).find(|&next| !words::is_stopword(self.lower(next)) && !BEFORE.contains(&self.lower(next)))?;
        (nth == 0).then(|| self.words[next].raw.clone())
    }

    pub(super) fn replacement(&self) -> Option<(String, String)> {
        const VERBS: &[&str] = &["replace", "change", "rename", "substitute", "swap", "turn"];
        const WITH: &[&str] = &["with", "by", "to", "into", "for"];
        let verb = (0..self.words.len()).find(|&at| VERBS.contains(&self.lower(at)))?;
        let with = (verb + 2..self.words.len()).find(|&at| WITH.contains(&self.lower(at)) && !self.words[at].quoted)?;
        let mut between: Vec<&Word> = self.words[verb + 1..with].iter().collect();
        if let Some(at) = between.iter().position(|word| word.quoted) {
            between = vec![between[at]];
        } else {
            const NOISE: &[&str] = &[
                "all",
                "every",
                "each",
                "occurrences",
                "occurrence",
                "of",
                "the",
                "word",
                "string",
                "text",
                "function",
                "variable",
                "name",
            ];
            between.retain(|word| !NOISE.contains(&word.lower.as_str()));
            // `replace a in x.txt with b`: what stands behind `in` is the place.
            if let Some(place) = between.iter().position(|word| word.lower == "in") {
                between.truncate(place);
            }
        }
        let new = self.words.get(with + 1).filter(|word| word.quoted || !words::is_stopword(&word.lower))?;
        let old = between.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ");
        (!old.is_empty() && old != new.raw).then(|| (old, new.raw.clone()))
    }

    pub(super) fn command(&self) -> Option<String> {
        const PROGRAMS: &[&str] = &[
            "cargo", "npm", "pnpm", "yarn", "make", "just", "pytest", "python", "python3", "go", "git", "node", "deno", "bun", "gradle",
            "mvn", "ls", "cat", "grep", "cmake", "ruff", "tox", "mix", "rake", "bundle", "dotnet", "zig", "docker",
        ];
        let run = (0..self.words.len()).find(|&at| matches!(self.lower(at), "run" | "execute" | "command" | "running"))?;
        if let Some(word) = self.words[run..].iter().find(|word| word.quoted) {
            return Some(word.raw.clone());
        }
        let start = (run + 1..self.words.len()).find(|&at| PROGRAMS.contains(&self.words[at].raw.as_str()))?;
        let stops = |at: usize| matches!(self.lower(at), "and" | "then" | "to" | "if" | "in" | "for" | "on");
        let end =
            (start..self.words.len()).find(|&at| stops(at) || (at > start && self.words[at - 1].ends_clause)).unwrap_or(self.words.len());
        Some(self.words[start..end].iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" "))
    }

    /// What is behind `about`, `on` and the like; else what is left without verbs and the file to write.
    pub(super) fn topic(&self) -> Option<String> {
        const MARKS: &[&str] = &["about", "regarding", "concerning", "on", "research", "investigate", "study", "into", "for", "explore"];
        let end = self.end_of_subject();
        let start =
            (0..end).find(|&at| MARKS[..3].contains(&self.lower(at))).or_else(|| (0..end).find(|&at| MARKS.contains(&self.lower(at))));
        let mut start = start.map_or(0, |at| at + 1);
        while start < end
            && ((words::is_filler(self.lower(start)) && self.lower(start) != "the")
                || words::is_verb(self.lower(start))
                || matches!(self.lower(start), "a" | "an" | "about" | "on" | "up"))
        {
            start += 1;
        }
        self.span(start, end).map(|text| text.trim().to_owned()).filter(|text| text.chars().filter(|c| c.is_alphanumeric()).count() > 1)
    }

    /// Where the request goes on to what is done with the result.
    fn end_of_subject(&self) -> usize {
        let goes_on = |at: usize| {
            let second = if words::is_filler(self.lower(at + 1)) { self.lower(at + 2) } else { self.lower(at + 1) };
            matches!(self.lower(at), "and" | "then") && (words::is_verb(self.lower(at + 1)) || words::is_verb(second))
        };
        let writes = |at: usize| {
            self.output.is_some_and(|output| at < output && output - at <= 3 && matches!(self.lower(at), "to" | "into" | "as" | "in"))
        };
        let ends = |at: usize| at > 0 && self.words[at - 1].ends_clause && (words::is_verb(self.lower(at)) || goes_on(at));
        (1..self.words.len()).find(|&at| goes_on(at) || writes(at) || ends(at) || self.output == Some(at)).unwrap_or(self.words.len())
    }

    pub(super) fn sides(&self) -> Option<Vec<String>> {
        const BETWEEN: &[&str] = &["and", "with", "to", "vs", "vs.", "versus", "against", "or"];
        let opener = (0..self.words.len()).find(|&at| matches!(self.lower(at), "compare" | "between" | "contrast" | "comparison"))?;
        let start = (opener + 1..self.words.len())
            .find(|&at| !matches!(self.lower(at), "the" | "a" | "of" | "between" | "differences" | "and" | "contrast"))?;
        let middle = (start + 1..self.words.len()).find(|&at| BETWEEN.contains(&self.lower(at)))?;
        let behind = self.words[middle + 1..].iter().position(|word| word.ends_clause).map_or(self.words.len(), |at| middle + 2 + at);
        let stop = |at: usize| matches!(self.lower(at), "for" | "regarding" | "concerning" | "then" | "by" | "as" | "and" | "in" | "with");
        let end = (middle + 2..behind).find(|&at| stop(at)).unwrap_or(behind);
        let sides = [self.span(start, middle)?, self.span(middle + 1, end)?];
        sides.iter().all(|side| !side.trim().is_empty()).then(|| sides.into())
    }

    pub(super) fn choice(&self, choices: &BTreeMap<String, Vec<String>>) -> Option<String> {
        let occurs = |form: &String| self.words.iter().any(|word| !word.quoted && matches_form(&word.lower, form));
        choices.iter().find(|(_, forms)| forms.iter().any(occurs)).map(|(value, _)| value.clone())
    }

    pub(super) fn field(&self) -> Option<String> {
        let is_json = |lower: &str| lower.ends_with(".json");
        if let Some(word) = self.words.iter().find(|word| word.quoted && !is_json(&word.lower)) {
            return Some(word.raw.clone());
        }
        let dotted = |raw: &str| {
            raw.contains('.')
                && raw.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-'))
        };
        if let Some(word) = self.words.iter().find(|word| dotted(&word.raw) && !is_json(&word.lower) && url(&word.raw).is_none()) {
            return Some(word.raw.clone());
        }
        const MARKS: &[&str] = &["field", "key", "keys", "value", "values", "extract", "property", "get"];
        let at = (0..self.words.len()).find(|&at| MARKS.contains(&self.lower(at)))?;
        let next = (at + 1..self.words.len()).find(|&next| !words::is_stopword(self.lower(next)) && !MARKS.contains(&self.lower(next)))?;
        (!is_file(&self.words[next])).then(|| self.words[next].raw.clone())
    }
}

/// A form is a word, or a beginning with `*` behind it.
pub(super) fn matches_form(lower: &str, form: &str) -> bool {
    let lower = lower.trim_end_matches("'s").trim_end_matches("’s");
    form.strip_suffix('*').map_or(lower == form, |stem| lower.starts_with(stem))
}

/// Whether a text calculates: an operator beside a number, or a word for one.
fn is_arithmetic(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "plus",
        "minus",
        "times",
        "divided",
        "percent",
        "squared",
        "cubed",
        "sqrt",
        "root",
        "log",
        "sin",
        "cos",
        "to",
        "in",
        "difference",
    ];
    let signs: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let number = |at: Option<&char>| at.is_some_and(|c| c.is_ascii_digit() || "().".contains(*c));
    let operator = (1..signs.len()).any(|at| {
        let binary = "+-*/^×÷".contains(signs[at]) && number(signs.get(at - 1)) && number(signs.get(at + 1));
        binary || (signs[at] == '%' && signs[at - 1].is_ascii_digit())
    });
    let starts_with_number = || text.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '(');
    let wording = || text.split_whitespace().any(|word| WORDS.contains(&word.to_lowercase().as_str()));
    text.chars().any(|c| c.is_ascii_digit())
        && (operator || (wording() && (starts_with_number() || text.contains("sqrt") || text.contains("root"))))
}

fn strip_opening(text: &str) -> &str {
    let mut text = text.trim();
    for opening in ["convert ", "the value of ", "the result of ", "the "] {
        if text.get(..opening.len()).is_some_and(|start| start.eq_ignore_ascii_case(opening)) {
            text = &text[opening.len()..];
        }
    }
    text
}

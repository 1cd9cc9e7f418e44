//! Slots: what a template needs to know of a request (a path, a number, a file to write), taken out of its words.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::words::{self, NameIs, Word};

/// What a slot takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    /// A folder of the workspace.
    Directory,
    /// A file to read; `nth` says which of several.
    File,
    /// A pattern for files: `*.rs`, or the name of a language.
    Glob,
    /// A count.
    Number,
    /// A file to write.
    Output,
    /// An address on the web.
    Url,
    /// Something to calculate.
    Expression,
    /// What is searched for; `nth` says which of several.
    Text,
    /// What is replaced.
    Old,
    /// What it is replaced with.
    New,
    /// A command line.
    Command,
    /// What the request is about, without verbs, files and the like.
    Topic,
    /// One of two things that are compared, by `nth`.
    Side,
    /// A key of `choices` one of whose words occurs.
    Choice,
    /// A path into JSON, such as `users.0.name`.
    Field,
    /// The request as it is.
    Request,
}

/// A slot of a template.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// What it takes.
    pub kind: SlotKind,
    /// Which of several, from 1.
    #[serde(default = "first")]
    pub nth: usize,
    /// Taken when the request doesn't say; absent: the slot stays empty.
    #[serde(default)]
    pub default: Option<Value>,
    /// Whether the template only fits when the request fills the slot.
    #[serde(default)]
    pub required: bool,
    /// For `choice`: words by value.
    #[serde(default)]
    pub choices: BTreeMap<String, Vec<String>>,
    /// For `file`: the endings that it may have.
    #[serde(default)]
    pub endings: Vec<String>,
}

fn first() -> usize {
    1
}

/// A request, taken apart once for all templates.
pub(super) struct Request<'a> {
    pub text: &'a str,
    pub words: Vec<Word>,
    /// Place of the file to write, if one is named.
    output: Option<usize>,
    /// Places of the other files.
    files: Vec<usize>,
}

/// Verbs that make a file.
const WRITING: &[&str] = &[
    "write",
    "save",
    "store",
    "put",
    "export",
    "dump",
    "output",
    "record",
    "create",
    "generate",
    "produce",
    "append",
    "log",
    "make",
    "convert",
    "turn",
    "send",
    "report",
    "results",
    "result",
    "summarize",
    "summarise",
    "list",
    "collect",
    "translate",
    "print",
    "compile",
    "document",
];

/// Verbs whose `to` leads to no file that is written.
const CHANGING: &[&str] = &["compare", "diff", "rename", "replace", "change", "move", "copy"];

impl<'a> Request<'a> {
    pub fn new(text: &'a str) -> Self {
        let words = words::words(text);
        let files: Vec<usize> = (0..words.len()).filter(|&at| is_file(&words[at])).collect();
        let output = files.iter().rev().copied().find(|&at| is_output(&words, at));
        Self { text, files: files.into_iter().filter(|at| Some(*at) != output).collect(), words, output }
    }

    /// The file to write.
    pub fn output(&self) -> Option<&str> {
        self.output.map(|at| self.words[at].raw.as_str())
    }

    /// Takes a slot's value out of the request.
    pub fn take(&self, slot: &Slot) -> Option<Value> {
        let nth = slot.nth.saturating_sub(1);
        match slot.kind {
            SlotKind::Directory => self.directory().map(Value::from),
            SlotKind::File => self.files_with(&slot.endings).nth(nth).map(Value::from),
            SlotKind::Glob => self.glob().map(Value::from),
            SlotKind::Number => self.number().map(Value::from),
            SlotKind::Output => self.output().map(Value::from),
            SlotKind::Url => self.words.iter().filter_map(|word| url(&word.raw)).nth(nth).map(Value::from),
            SlotKind::Expression => self.expression().map(Value::from),
            SlotKind::Text => self.search_text(nth).map(Value::from),
            SlotKind::Old => self.replacement().map(|(old, _)| Value::from(old)),
            SlotKind::New => self.replacement().map(|(_, new)| Value::from(new)),
            SlotKind::Command => self.command().map(Value::from),
            SlotKind::Topic => self.topic().map(Value::from),
            SlotKind::Side => self.sides().and_then(|sides| sides.into_iter().nth(nth)).map(Value::from),
            SlotKind::Choice => self.choice(&slot.choices).map(Value::from),
            SlotKind::Field => self.field().map(Value::from),
            SlotKind::Request => Some(json!(self.text.trim())),
        }
    }

    fn lower(&self, at: usize) -> &str {
        self.words.get(at).filter(|word| !word.quoted).map_or("", |word| word.lower.as_str())
    }

    fn files_with(&self, endings: &[String]) -> impl Iterator<Item = &str> {
        let fits = move |raw: &str| endings.is_empty() || endings.iter().any(|ending| raw.to_lowercase().ends_with(&format!(".{ending}")));
        self.files.iter().map(|&at| self.words[at].raw.as_str()).filter(move |raw| fits(raw))
    }

    fn directory(&self) -> Option<String> {
        const HERE: &[&str] = &["here", "workspace", "project", "repo", "repository", "codebase"];
        let mut here = false;
        for at in 0..self.words.len() {
            let (word, before) = (&self.words[at], if at == 0 { "" } else { self.lower(at - 1) });
            if is_file(word) || url(&word.raw).is_some() || word.raw.contains('*') {
                continue;
            }
            let is_path =
                word.raw == "." || word.raw == ".." || word.raw.starts_with("./") || (word.raw.contains('/') && is_path_text(&word.raw));
            if is_path
                || (self.follows_place(at)
                    && !words::is_stopword(&word.lower)
                    && !HERE.contains(&word.lower.as_str())
                    && self.is_folder(at))
            {
                let path = word.raw.trim_end_matches('/');
                return Some(if path.is_empty() { "/".to_owned() } else { path.to_owned() });
            }
            let folder_word = matches!(word.lower.as_str(), "directory" | "folder");
            here |= HERE.contains(&word.lower.as_str()) || (folder_word && matches!(before, "this" | "current" | "working"));
        }
        here.then(|| ".".to_owned())
    }

    /// Whether the word stands behind `in`, `under` and so on, articles apart.
    fn follows_place(&self, at: usize) -> bool {
        const PLACES: &[&str] =
            &["in", "under", "below", "beneath", "inside", "within", "from", "of", "at", "through", "across", "directory", "folder", "for"];
        self.before(at).is_some_and(|before| PLACES.contains(&self.lower(before)))
    }

    /// The place of the last word before this one that is no article.
    fn before(&self, at: usize) -> Option<usize> {
        (0..at)
            .rev()
            .find(|&before| !matches!(self.lower(before), "the" | "a" | "an" | "my" | "our" | "this" | "file" | "called" | "named" | "new"))
    }

    /// Whether a plain word names a folder: by its own look, by the words around it, or because it usually does.
    fn is_folder(&self, at: usize) -> bool {
        const COMMON: &[&str] = &[
            "src",
            "lib",
            "libs",
            "app",
            "apps",
            "tests",
            "test",
            "docs",
            "doc",
            "examples",
            "bin",
            "crates",
            "packages",
            "pkg",
            "cmd",
            "internal",
            "include",
            "scripts",
            "tools",
            "data",
            "logs",
            "build",
            "dist",
            "public",
            "assets",
            "config",
            "server",
            "client",
            "api",
            "web",
            "ui",
            "core",
            "benches",
            "migrations",
            "modules",
            "components",
            "notebooks",
            "vendor",
            "agents",
            "plans",
            "themes",
        ];
        let word = &self.words[at];
        let before = self.before(at);
        let place = before.map_or("", |before| self.lower(before));
        let named = matches!(self.lower(at + 1), "directory" | "folder" | "dir" | "tree" | "subdirectory" | "subfolder");
        let plain = word.raw.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) && words::number(&word.lower).is_none();
        if !plain && !word.quoted {
            return false;
        }
        let beside_files = before.is_some_and(|before| before > 0 && words::is_file_noun(self.lower(before - 1)));
        let lowercase = word.raw.chars().next().is_some_and(|c| !c.is_uppercase());
        let ends_clause =
            word.ends_clause || at + 1 == self.words.len() || matches!(self.lower(at + 1), "and" | "or" | "by" | "then" | "to");
        let known = words::language(&word.lower).is_some() || words::is_filler(&word.lower);
        match place {
            "under" | "below" | "beneath" | "inside" => !known,
            "directory" | "folder" => {
                !known && !matches!(word.lower.as_str(), "tree" | "structure" | "listing" | "layout" | "overview" | "contents")
            }
            "for" => named,
            "in" | "within" | "from" | "at" | "through" | "across" | "of" => {
                named || COMMON.contains(&word.lower.as_str()) || (beside_files && lowercase && ends_clause && !known && place != "of")
            }
            _ => false,
        }
    }

    fn glob(&self) -> Option<String> {
        for at in 0..self.words.len() {
            let word = &self.words[at];
            if word.raw.contains('*') && word.raw.len() > 1 && is_path_text(&word.raw.replace(['*', '{', '}', ',', '?', '[', ']'], "x")) {
                return Some(word.raw.clone());
            }
            let files_follow = (at + 1..=at + 2).any(|next| words::is_file_noun(self.lower(next)));
            if let Some(ending) = word.raw.strip_prefix('.')
                && files_follow
                && !ending.is_empty()
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
            {
                return Some(format!("*.{}", ending.to_lowercase()));
            }
            let singular = word
                .lower
                .strip_suffix('s')
                .filter(|_| matches!(word.lower.as_str(), "images" | "notebooks" | "pdfs" | "logs" | "scripts"));
            if let Some((glob, name)) = words::language(singular.unwrap_or(&word.lower))
                && !word.quoted
                && (name == NameIs::Clear || files_follow || singular.is_some())
            {
                return Some(glob.to_owned());
            }
        }
        None
    }

    fn number(&self) -> Option<u64> {
        let found = self.words.iter().filter(|word| !word.quoted).find_map(|word| words::number(&word.lower));
        let occurs = |list: &[&str]| self.words.iter().any(|word| !word.quoted && list.contains(&word.lower.as_str()));
        let superlative = || occurs(&["longest", "largest", "biggest", "heaviest", "shortest", "smallest"]);
        let one = || occurs(&["file", "module", "script", "document"]) && !occurs(&["files", "modules", "scripts", "documents"]);
        let single = || (superlative() && one()).then_some(1);
        found.or_else(single).filter(|number| *number > 0)
    }

    fn expression(&self) -> Option<String> {
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

    fn search_text(&self, nth: usize) -> Option<String> {
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

    fn replacement(&self) -> Option<(String, String)> {
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

    fn command(&self) -> Option<String> {
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
    fn topic(&self) -> Option<String> {
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

    fn sides(&self) -> Option<Vec<String>> {
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

    fn choice(&self, choices: &BTreeMap<String, Vec<String>>) -> Option<String> {
        let occurs = |form: &String| self.words.iter().any(|word| !word.quoted && matches_form(&word.lower, form));
        choices.iter().find(|(_, forms)| forms.iter().any(occurs)).map(|(value, _)| value.clone())
    }

    fn field(&self) -> Option<String> {
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

fn is_path_text(raw: &str) -> bool {
    !raw.contains("://")
        && raw.chars().all(|c| c.is_alphanumeric() || "_-./ ~+@".contains(c))
        && raw.chars().any(char::is_alphanumeric)
        && !raw.split('/').all(|part| part.chars().all(|c| c.is_ascii_digit()))
        && !matches!(raw.to_lowercase().as_str(), "and/or" | "i/o" | "w/o" | "n/a")
}

/// Whether a word names a file: by its ending, or a well-known name.
pub(super) fn is_file(word: &Word) -> bool {
    const NAMES: &[&str] = &["makefile", "dockerfile", "justfile", "readme", "license", "changelog", "cargo.lock", ".gitignore", ".env"];
    if NAMES.contains(&word.lower.as_str()) {
        return true;
    }
    let Some((stem, ending)) = word.raw.rsplit_once('.') else { return false };
    let fine = (1..=8).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && ending.chars().any(|c| c.is_ascii_alphabetic());
    let stem = stem.rsplit('/').next().unwrap_or(stem);
    fine && !stem.is_empty()
        && is_path_text(&word.raw)
        && url(&word.raw).is_none()
        && !matches!(word.lower.as_str(), "e.g" | "i.e" | "node.js" | "vue.js" | "next.js" | "asp.net" | "d3.js" | "three.js")
        && (!word.quoted || !word.raw.contains(' '))
}

/// An address on the web, with its scheme.
pub(super) fn url(raw: &str) -> Option<String> {
    const DOMAINS: &[&str] = &["com", "org", "net", "io", "dev", "edu", "gov", "info", "app"];
    let lower = raw.to_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return (raw.len() > 10).then(|| raw.to_owned());
    }
    let host = lower.split(['/', '?']).next().unwrap_or_default();
    let (name, domain) = host.rsplit_once('.')?;
    let fits = DOMAINS.contains(&domain)
        && !name.is_empty()
        && name.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    fits.then(|| format!("https://{raw}"))
}

/// Whether the file at this place is where the result goes.
fn is_output(words: &[Word], at: usize) -> bool {
    let lower = |at: usize| if words[at].quoted { "" } else { words[at].lower.as_str() };
    let before = (0..at).rev().find(|&before| {
        !matches!(
            lower(before),
            "the" | "a" | "an" | "my" | "our" | "file" | "called" | "named" | "new" | "report" | "document" | "markdown"
        )
    });
    let Some(before) = before else { return false };
    let verb = (0..=before).rev().map(lower).find(|word| WRITING.contains(word) || CHANGING.contains(word));
    let called = (before + 1..at).any(|between| matches!(lower(between), "called" | "named"));
    match lower(before) {
        "to" | "into" | "as" | ">" | "->" | "→" | "in" if verb.is_some_and(|verb| CHANGING.contains(&verb)) => false,
        "to" | "into" | "as" | ">" | "->" | "→" => {
            verb.is_some_and(|verb| WRITING.contains(&verb)) || verb.is_none() || words[before].raw == ">"
        }
        "in" => verb.is_some_and(|verb| matches!(verb, "save" | "store" | "write" | "put" | "record" | "create")),
        "create" | "write" | "generate" | "produce" | "make" | "save" | "update" => true,
        _ => called && verb.is_some_and(|verb| WRITING.contains(&verb)),
    }
}

//! Where a request points to: folders, files, patterns, addresses, and the file to write.

use super::slots::ParsedRequest;
use super::words::{self, NameIs, Word};

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

impl ParsedRequest<'_> {
    pub(super) fn directory(&self) -> Option<String> {
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

    pub(super) fn glob(&self) -> Option<String> {
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
}

pub(super) fn is_path_text(raw: &str) -> bool {
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
pub(super) fn is_output(words: &[Word], at: usize) -> bool {
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

//! The words of a request: tokens with what they look like, and the tables that tell verbs, numbers and languages of code.

/// A word of the request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    /// As written, without the punctuation and quotes around it.
    pub raw: String,
    pub lower: String,
    /// Whether it stood in quotes; spaces are kept then.
    pub quoted: bool,
    /// Whether a clause ends behind it.
    pub ends_clause: bool,
}

/// Quotes and what closes them.
const QUOTES: [(char, char); 7] = [('"', '"'), ('`', '`'), ('\'', '\''), ('“', '”'), ('„', '“'), ('«', '»'), ('‘', '’')];

/// Splits a text into words; what is in quotes is one word.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = quoted(rest, first);
        let (word, length) = match quoted {
            Some((inner, length)) => {
                (Word { raw: inner.to_owned(), lower: inner.to_lowercase(), quoted: true, ends_clause: false }, length)
            }
            None => {
                let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (plain(&rest[..length]), length)
            }
        };
        if !word.raw.is_empty() {
            words.push(word);
        } else if let Some(last) = words.last_mut() {
            last.ends_clause |= word.ends_clause;
        }
        rest = &rest[length..];
        // Punctuation right behind a quote belongs to the quoted word.
        let tail = rest.len() - rest.trim_start_matches([',', ';', '.', '?', '!', ':', ')']).len();
        if quoted.is_some() && tail > 0 {
            if let Some(last) = words.last_mut() {
                last.ends_clause = true;
            }
            rest = &rest[tail..];
        }
        rest = rest.trim_start();
    }
    words
}

/// The text in quotes that `rest` begins with, and the length with quotes. An apostrophe inside a word opens nothing.
fn quoted(rest: &str, first: char) -> Option<(&str, usize)> {
    let (open, close) = QUOTES.into_iter().find(|(open, _)| *open == first)?;
    let inner = &rest[open.len_utf8()..];
    let end = inner
        .char_indices()
        .find(|&(at, c)| c == close && (close != '\'' || inner[at + 1..].chars().next().is_none_or(|next| !next.is_alphanumeric())))?;
    let text = &inner[..end.0];
    (!text.trim().is_empty() && !text.contains('\n')).then_some((text, open.len_utf8() + end.0 + close.len_utf8()))
}

fn plain(token: &str) -> Word {
    let opened = token.trim_start_matches(['(', '[', '{', '"', '\'', '“']);
    let raw = opened.trim_end_matches([',', ';', '.', '?', '!', ':', ')', ']', '}', '"', '\'', '”', '…', '。', '，']);
    // A lone `.` or `..` is a path.
    let raw = if raw.is_empty() && (opened == "." || opened == "..") { opened } else { raw };
    let tail = &opened[opened.len().min(raw.len())..];
    let ends_clause = tail.contains([',', ';', '?', '!', ':', '.']);
    Word { raw: raw.to_owned(), lower: raw.to_lowercase(), quoted: false, ends_clause }
}

/// Verbs that begin a step when they open a clause.
const VERBS: &[&str] = &[
    "add",
    "analyse",
    "analyze",
    "answer",
    "append",
    "archive",
    "ask",
    "book",
    "brainstorm",
    "build",
    "buy",
    "calculate",
    "change",
    "check",
    "choose",
    "clean",
    "collect",
    "combine",
    "commit",
    "compare",
    "compile",
    "compose",
    "compute",
    "conclude",
    "convert",
    "copy",
    "correct",
    "count",
    "crawl",
    "create",
    "debug",
    "decide",
    "delete",
    "deploy",
    "describe",
    "design",
    "determine",
    "diagnose",
    "diff",
    "digest",
    "discuss",
    "display",
    "download",
    "draft",
    "edit",
    "email",
    "estimate",
    "evaluate",
    "examine",
    "execute",
    "explain",
    "explore",
    "export",
    "extract",
    "fetch",
    "figure",
    "filter",
    "find",
    "fix",
    "format",
    "gather",
    "generate",
    "get",
    "give",
    "grep",
    "group",
    "highlight",
    "identify",
    "implement",
    "improve",
    "inspect",
    "install",
    "investigate",
    "list",
    "load",
    "locate",
    "look",
    "make",
    "map",
    "measure",
    "merge",
    "move",
    "open",
    "optimize",
    "order",
    "organize",
    "outline",
    "parse",
    "pick",
    "plan",
    "plot",
    "post",
    "predict",
    "prepare",
    "present",
    "print",
    "prioritize",
    "produce",
    "propose",
    "publish",
    "push",
    "put",
    "query",
    "rank",
    "rate",
    "read",
    "recommend",
    "record",
    "refactor",
    "remove",
    "rename",
    "render",
    "replace",
    "report",
    "research",
    "review",
    "rewrite",
    "run",
    "save",
    "scan",
    "schedule",
    "score",
    "search",
    "select",
    "send",
    "share",
    "show",
    "simplify",
    "sketch",
    "solve",
    "sort",
    "split",
    "store",
    "structure",
    "study",
    "suggest",
    "sum",
    "summarise",
    "summarize",
    "tell",
    "test",
    "tidy",
    "trace",
    "transform",
    "translate",
    "turn",
    "update",
    "upload",
    "use",
    "validate",
    "verify",
    "visit",
    "warn",
    "weigh",
    "write",
];

/// Words before the verb that carry nothing.
const FILLERS: &[&str] = &[
    "please",
    "can",
    "could",
    "would",
    "will",
    "you",
    "i",
    "want",
    "need",
    "like",
    "to",
    "me",
    "us",
    "and",
    "then",
    "also",
    "now",
    "first",
    "firstly",
    "second",
    "secondly",
    "third",
    "thirdly",
    "next",
    "finally",
    "lastly",
    "afterwards",
    "let's",
    "lets",
    "just",
    "kindly",
    "so",
    "hey",
    "hi",
    "hello",
    "help",
    "i'd",
    "we",
    "should",
    "must",
    "have",
    "after",
    "that",
    "at",
    "last",
    "once",
    "done",
    "start",
    "by",
    "finish",
    "with",
    "go",
    "ahead",
    "the",
];

/// Whether a word begins a step when it opens a clause.
pub(super) fn is_verb(lower: &str) -> bool {
    VERBS.contains(&lower)
}

/// The verb that opens a clause, if one does.
pub(super) fn leading_verb(words: &[Word]) -> Option<&str> {
    let first = words.iter().find(|word| word.quoted || !FILLERS.contains(&word.lower.as_str()))?;
    (!first.quoted && is_verb(&first.lower)).then_some(first.lower.as_str())
}

/// Whether a word carries nothing before the verb.
pub(super) fn is_filler(lower: &str) -> bool {
    FILLERS.contains(&lower)
}

/// Words that carry no subject.
pub(super) fn is_stopword(lower: &str) -> bool {
    const STOP: &[&str] = &[
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or", "but", "is", "are", "was", "were", "be",
        "it", "its", "their", "them", "they", "this", "that", "these", "those", "my", "our", "your", "his", "her", "all", "any", "some",
        "what", "which", "who", "how", "why", "when", "where", "into", "about", "as", "me", "us", "i", "we", "you", "do", "does", "there",
        "please", "can", "could", "would", "under", "than", "most", "more", "each", "every", "should", "will", "has", "have", "result",
        "results",
    ];
    STOP.contains(&lower)
}

/// A number in digits or words.
pub(super) fn number(lower: &str) -> Option<u64> {
    const NUMBERS: &[(&str, u64)] = &[
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("eleven", 11),
        ("twelve", 12),
        ("dozen", 12),
        ("fifteen", 15),
        ("twenty", 20),
        ("thirty", 30),
        ("fifty", 50),
        ("hundred", 100),
    ];
    let digits = lower.strip_prefix('#').unwrap_or(lower);
    digits.parse().ok().or_else(|| NUMBERS.iter().find(|(word, _)| *word == lower).map(|(_, number)| *number))
}

/// Glob of the files of a language or kind, and whether the name needs a word such as `files` behind it.
pub(super) fn language(lower: &str) -> Option<(&'static str, NameIs)> {
    use NameIs::{Clear, Common};
    const LANGUAGES: &[(&str, &str, NameIs)] = &[
        ("rust", "*.rs", Clear),
        ("python", "*.py", Clear),
        ("javascript", "*.{js,mjs,cjs,jsx}", Clear),
        ("js", "*.js", Clear),
        ("typescript", "*.{ts,tsx}", Clear),
        ("golang", "*.go", Clear),
        ("go", "*.go", Common),
        ("java", "*.java", Clear),
        ("kotlin", "*.kt", Clear),
        ("scala", "*.scala", Clear),
        ("swift", "*.swift", Common),
        ("c", "*.{c,h}", Common),
        ("c++", "*.{cc,cpp,cxx,h,hpp}", Clear),
        ("c#", "*.cs", Clear),
        ("csharp", "*.cs", Clear),
        ("ruby", "*.rb", Common),
        ("php", "*.php", Clear),
        ("perl", "*.pl", Clear),
        ("lua", "*.lua", Clear),
        ("haskell", "*.hs", Clear),
        ("elixir", "*.{ex,exs}", Clear),
        ("zig", "*.zig", Clear),
        ("dart", "*.dart", Common),
        ("julia", "*.jl", Clear),
        ("shell", "*.sh", Common),
        ("bash", "*.sh", Clear),
        ("html", "*.html", Common),
        ("css", "*.css", Common),
        ("scss", "*.scss", Common),
        ("sql", "*.sql", Common),
        ("markdown", "*.md", Common),
        ("md", "*.md", Common),
        ("json", "*.json", Common),
        ("yaml", "*.{yaml,yml}", Common),
        ("toml", "*.toml", Common),
        ("xml", "*.xml", Common),
        ("csv", "*.csv", Common),
        ("text", "*.txt", Common),
        ("txt", "*.txt", Common),
        ("log", "*.log", Common),
        ("image", "*.{png,jpg,jpeg,gif,svg,webp}", Common),
        ("pdf", "*.pdf", Common),
        ("notebook", "*.ipynb", Clear),
        ("py", "*.py", Common),
        ("rs", "*.rs", Common),
        ("ts", "*.ts", Common),
        ("rb", "*.rb", Common),
    ];
    LANGUAGES.iter().find(|(name, _, _)| *name == lower).map(|(_, glob, name)| (*glob, *name))
}

/// How a language's name reads in prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameIs {
    /// It can mean nothing else.
    Clear,
    /// It is also a word of its own.
    Common,
}

pub(super) fn is_file_noun(lower: &str) -> bool {
    const NOUNS: &[&str] = &[
        "file",
        "files",
        "code",
        "source",
        "sources",
        "module",
        "modules",
        "script",
        "scripts",
        "document",
        "documents",
        "docs",
        "tests",
        "test",
        "sourcefiles",
        "program",
        "programs",
        "lines",
        "todos",
        "fixmes",
        "configs",
    ];
    NOUNS.contains(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.raw).collect()
    }

    #[test]
    fn quotes_keep_words_together_and_punctuation_is_taken_off() {
        assert_eq!(raw("Find \"a b\", in (src); now!"), ["Find", "a b", "in", "src", "now"]);
        assert_eq!(raw("run `cargo test`."), ["run", "cargo test"]);
        assert_eq!(raw("don't replace 'a b' in the user's list"), ["don't", "replace", "a b", "in", "the", "user's", "list"]);
    }

    #[test]
    fn paths_stay_whole() {
        assert_eq!(raw("files under . and ./src/a.rs, or ../x."), ["files", "under", ".", "and", "./src/a.rs", "or", "../x"]);
    }

    #[test]
    fn unclosed_quotes_and_odd_text_do_no_harm() {
        assert_eq!(raw("\"open"), ["open"]);
        assert_eq!(raw("  , . \n"), ["."]);
        assert!(raw("").is_empty());
        assert_eq!(raw("列出文件。").len(), 1);
    }

    #[test]
    fn numbers_and_languages_are_known() {
        assert_eq!((number("ten"), number("25"), number("#3"), number("tender")), (Some(10), Some(25), Some(3), None));
        assert_eq!(language("rust"), Some(("*.rs", NameIs::Clear)));
    }

    #[test]
    fn the_leading_verb_is_found_behind_politeness() {
        assert_eq!(leading_verb(&words("Could you please list the files")), Some("list"));
        assert_eq!(leading_verb(&words("the longest files")), None);
    }
}

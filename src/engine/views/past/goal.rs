//! The kind of a goal, by the first word of a request that says what is to be done. A coarse order for tables, never for decisions.

/// The kinds, each with words that ask for it.
const SORTS: [(&str, &[&str]); 9] = [
    ("summarize", &["summarize", "summarise", "summary", "digest", "condense", "recap", "shorten"]),
    ("review", &["review", "check", "audit", "verify", "validate", "inspect", "test", "lint", "proofread"]),
    ("compare", &["compare", "rank", "choose", "decide", "evaluate", "rate"]),
    ("count", &["count", "measure", "sum", "calculate", "compute", "average", "total"]),
    ("list", &["list", "find", "search", "show", "which", "where", "collect", "extract", "read", "get", "fetch", "sort", "group"]),
    ("research", &["research", "investigate", "explain", "analyze", "analyse", "explore", "why", "how", "what", "learn", "study"]),
    (
        "change",
        &["fix", "change", "rename", "move", "replace", "refactor", "update", "convert", "translate", "format", "delete", "migrate"],
    ),
    ("write", &["write", "draft", "create", "make", "generate", "compose", "document", "design", "build", "implement", "add", "plan"]),
    ("run", &["run", "ship", "release", "deploy", "publish", "send", "install", "start", "execute"]),
];

/// What a request that fits none is.
const OTHER: &str = "other";

/// What a request asks for, in one word: `write`, `review`, `other`.
pub fn goal_sort(request: &str) -> &'static str {
    let words = request.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    let sort = |word: String| SORTS.iter().find(|(_, asked)| asked.contains(&word.as_str())).map(|(sort, _)| *sort);
    words.take(12).find_map(sort).unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use super::goal_sort;

    #[test]
    fn the_first_word_that_asks_for_something_says_the_kind_of_a_goal() {
        for (request, sort) in [
            ("Write the release notes, then review them", "write"),
            ("Please summarise README.md", "summarize"),
            ("Which files are larger than 1 MB?", "list"),
            ("Ship the release: test, build, publish", "run"),
            ("東京の天気", "other"),
            ("", "other"),
        ] {
            assert_eq!(goal_sort(request), sort, "{request}");
        }
    }
}

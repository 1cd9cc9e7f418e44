//! Splitting a request into steps: lists, sentences, and clauses that begin with a verb; which follow each other, and which don't have to.

use super::words::{self, Word};

/// A step of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestStep {
    pub text: String,
    /// Where it ends in the request, in bytes.
    pub end: usize,
    /// How it stands to the step before it.
    pub link: StepLink,
}

/// How a step stands to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepLink {
    /// It may run at the same time.
    Beside,
    /// It needs what came before.
    After,
}

/// Most steps of a plan; what is beyond stays together in the last one.
const MOST_STEPS: usize = 16;

/// Most words of one item of an enumeration.
const LONGEST_ITEM: usize = 4;

/// Words that say "and after that", as they stand in a text. Longer ones come first.
const THEN: &[&str] = &[
    ", and then ",
    " and then ",
    ", then ",
    " then ",
    "; then ",
    ", and finally ",
    " and finally ",
    ", finally ",
    " finally ",
    ", after that ",
    " after that ",
    " afterwards ",
    ", followed by ",
    " followed by ",
    ", next ",
    ", lastly ",
    " subsequently ", // English
    ", und dann ",
    " und dann ",
    ", dann ",
    " dann ",
    " danach ",
    " anschließend ",
    " schließlich ",
    " zum schluss ", // German
    " et puis ",
    ", puis ",
    " puis ",
    " ensuite ",
    " enfin ", // French
    " y luego ",
    " luego ",
    " después ",
    " finalmente ",
    " por último ", // Spanish
    " e poi ",
    " poi ",
    " infine ",
    " e depois ",
    " depois ",
    " em seguida ",
    " daarna ",
    " vervolgens ",
    " därefter ",
    " sedan ", // Italian, Portuguese, Dutch, Swedish
    " а затем ",
    " затем ",
    " потом ",
    " наконец ",
    " potem ",
    " następnie ", // Russian, Polish
    "，然后",
    "然后",
    "，接着",
    "接着",
    "，最后",
    "最后",
    "それから",
    "その後",
    "最後に",
    "그런 다음",
    "그 다음",
    "마지막으로", // Chinese, Japanese, Korean
];

/// Verbs of steps that look at the world and don't need what came before unless they say so.
const LOOKING: &[&str] = &[
    "research",
    "find",
    "search",
    "look",
    "fetch",
    "read",
    "get",
    "list",
    "check",
    "count",
    "calculate",
    "compute",
    "investigate",
    "review",
    "analyze",
    "analyse",
    "inspect",
    "collect",
    "gather",
    "estimate",
    "explore",
    "measure",
    "identify",
    "study",
    "visit",
    "load",
    "open",
    "translate",
    "summarize",
    "summarise",
    "download",
    "examine",
    "scan",
];

/// Words that point to something said before.
const POINTING: &[&str] = &[
    "it",
    "them",
    "they",
    "their",
    "its",
    "these",
    "those",
    "both",
    "result",
    "results",
    "findings",
    "everything",
    "each",
    "output",
    "above",
    "that",
    "this",
    "all",
];

/// Words that begin a question.
const QUESTIONS: &[&str] = &["what", "who", "why", "how", "when", "where", "which", "is", "are", "does", "do", "should", "can"];

/// Splits a request into at least one step, unless it is empty.
pub(super) fn split(request: &str) -> Vec<RequestStep> {
    let mut steps = listed(request).unwrap_or_else(|| prose(request));
    steps.retain(|step| step.text.chars().any(char::is_alphanumeric));
    while steps.len() > MOST_STEPS {
        let Some(last) = steps.pop() else { break };
        if let Some(before) = steps.last_mut() {
            before.text.push_str("; ");
            before.text.push_str(&last.text);
            before.end = last.end;
        }
    }
    steps
}

/// A numbered or bulleted list, with what stands before and behind it.
fn listed(request: &str) -> Option<Vec<RequestStep>> {
    let mut steps: Vec<RequestStep> = Vec::new();
    let (mut items, mut offset, mut gap) = (0, 0, false);
    for line in request.split_inclusive('\n') {
        offset += line.len();
        let trimmed = line.trim();
        let link = match item(trimmed) {
            Some((text, numbered)) => {
                items += 1;
                let link = if numbered || items == 1 && !steps.is_empty() { StepLink::After } else { link_of(&words::words(text)) };
                Some((text, link))
            }
            None if trimmed.is_empty() => {
                gap = true;
                continue;
            }
            // A line right below an item goes on with it; one behind a gap is a step for what the list gave.
            None if items > 0 && !gap => None,
            None => Some((trimmed, StepLink::After)),
        };
        gap = false;
        match (link, steps.last_mut()) {
            (Some((text, link)), _) => steps.push(RequestStep { text: text.to_owned(), end: offset, link }),
            (None, Some(last)) => {
                last.text.push(' ');
                last.text.push_str(trimmed);
                last.end = offset;
            }
            (None, None) => {}
        }
    }
    // What introduces a list is no step of its own.
    if steps.first().is_some_and(|first| first.text.ends_with(':')) {
        steps.remove(0);
    }
    (items >= 2).then_some(steps)
}

/// The text of a list item, and whether it is numbered.
fn item(line: &str) -> Option<(&str, bool)> {
    if let Some(text) = ["- ", "* ", "• ", "– ", "+ "].iter().find_map(|bullet| line.strip_prefix(bullet)) {
        return Some((text.trim(), false));
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &line[digits..];
    let text = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    (1..=3).contains(&digits).then_some((text.trim(), true))
}

fn prose(request: &str) -> Vec<RequestStep> {
    let mut steps: Vec<RequestStep> = Vec::new();
    for (start, end) in sentences(request) {
        for (part, part_end, then) in clauses(&request[start..end]) {
            let words = words::words(part);
            let verb = words::leading_verb(&words).is_some();
            let asks = part.trim_end().ends_with('?') && words.first().is_some_and(|word| QUESTIONS.contains(&word.lower.as_str()));
            let link = if then { StepLink::After } else { link_of(&words) };
            match steps.last_mut() {
                // A lone verb belongs to what follows (`search and replace …`), and what has no verb to what was said before.
                Some(last) if !then && (last_is_bare(last) || !(verb || asks)) => {
                    last.end = start + part_end;
                    let begin = request[..last.end].rfind(&last.text).unwrap_or(start);
                    last.text = request[begin..last.end].trim().to_owned();
                }
                _ => steps.push(RequestStep { text: part.trim().to_owned(), end: start + part_end, link }),
            }
        }
    }
    steps
}

fn last_is_bare(step: &RequestStep) -> bool {
    let words = words::words(&step.text);
    let carrying = words.iter().filter(|word| !words::is_filler(&word.lower)).count();
    carrying <= 1 && words::leading_verb(&words).is_some()
}

/// Beside what came before if the step only looks at the world and points to nothing.
fn link_of(words: &[Word]) -> StepLink {
    let points = words.iter().any(|word| !word.quoted && POINTING.contains(&word.lower.as_str()));
    match words::leading_verb(words) {
        // A verb that names nothing, as in `and summarize`, means what was said before.
        Some(verb) if LOOKING.contains(&verb) && !points && words.iter().any(|word| names_something(word, verb)) => StepLink::Beside,
        None if !points && words.first().is_some_and(|word| QUESTIONS.contains(&word.lower.as_str())) => StepLink::Beside,
        Some(_) | None => StepLink::After,
    }
}

fn names_something(word: &Word, verb: &str) -> bool {
    word.quoted || !(word.lower == verb || words::is_stopword(&word.lower) || words::is_filler(&word.lower))
}

/// Bounds of the sentences. Full stops in names of files and numbers end nothing.
fn sentences(text: &str) -> Vec<(usize, usize)> {
    const SHORT: &[&str] = &["e.g.", "i.e.", "etc.", "vs.", "dr.", "mr.", "mrs.", "approx.", "no.", "st."];
    let mut bounds = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        let before_space = text[next..].chars().next().is_none_or(char::is_whitespace);
        let ends = match c {
            '.' => {
                before_space
                    && !SHORT.contains(&text[..next].rsplit(char::is_whitespace).next().unwrap_or("").to_lowercase().as_str())
                    && !text[..at].ends_with(char::is_whitespace)
            }
            '!' | '?' | ';' => before_space,
            '\n' => text[next..].trim_start_matches([' ', '\t']).starts_with('\n'),
            '。' | '！' | '？' | '；' => true,
            _ => false,
        };
        if ends {
            bounds.push((start, next));
            start = next;
        }
    }
    bounds.push((start, text.len()));
    bounds.retain(|&(start, end)| !text[start..end].trim().is_empty());
    bounds
}

/// Clauses of a sentence: text, end within the sentence, and whether a word says that it comes after the one before.
fn clauses(sentence: &str) -> Vec<(&str, usize, bool)> {
    let mut cuts: Vec<(usize, usize, bool)> = Vec::new();
    // A byte of lower case stands where the byte of the sentence stands, or nothing is looked for.
    let lower = sentence.to_lowercase();
    let lower = if lower.len() == sentence.len() { lower } else { sentence.to_owned() };
    let is_conditional = lower.trim_start().starts_with("if ");
    let mut from = 0;
    while let Some((at, length, then)) = next_cut(&lower, from, is_conditional) {
        cuts.push((at, at + length, then));
        from = (at + length).max(from + 1);
    }
    let mut parts = Vec::new();
    let (mut start, mut then) = (0, false);
    for (end, next, next_then) in cuts {
        // `Finally, send it`: what is before the comma only introduces the clause.
        if words::words(&sentence[start..end]).iter().all(|word| words::is_filler(&word.lower)) {
            then |= next_then;
            continue;
        }
        parts.push((&sentence[start..end], end, then));
        (start, then) = (next, next_then);
    }
    parts.push((&sentence[start..], sentence.len(), then));
    parts.retain(|(text, _, _)| text.chars().any(char::is_alphanumeric));
    // `After reading it, …`: what follows the comma comes after.
    if parts.len() > 1 && ["after ", "once "].iter().any(|word| lower.trim_start().starts_with(word)) {
        parts[1].2 = true;
    }
    parts
}

/// The next place where a clause ends: its start, its length, and whether it says "then".
fn next_cut(lower: &str, from: usize, is_conditional: bool) -> Option<(usize, usize, bool)> {
    let then = THEN
        .iter()
        .filter(|_| !is_conditional)
        .filter_map(|word| Some((lower.get(from..)?.find(word)? + from, word.len(), true)))
        .filter(|(at, _, _)| !in_quotes(lower, *at))
        .min_by_key(|(at, length, _)| (*at, usize::MAX - length));
    let places = |word: &'static str| lower.get(from..).into_iter().flat_map(move |rest| rest.match_indices(word));
    let verb = [", and ", " and ", ", ", "; "]
        .into_iter()
        .flat_map(places)
        .map(|(at, word)| (at + from, word.len()))
        .filter(|(at, length)| !in_quotes(lower, *at) && words::leading_verb(&words::words(short(&lower[at + length..]))).is_some())
        .map(|(at, length)| (at, length, false))
        .min_by_key(|(at, length, _)| (*at, usize::MAX - length));
    match (then, verb) {
        (Some(then), Some(verb)) => Some(if then.0 <= verb.0 { then } else { verb }),
        (then, verb) => then.or(verb),
    }
}

/// The beginning of a text, enough to see its verb.
fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(60)]
}

fn in_quotes(text: &str, at: usize) -> bool {
    ['"', '`'].iter().any(|quote| text[..at].matches(*quote).count() % 2 == 1 && text[at..].contains(*quote))
}

/// The parts of an enumeration: `research flights, hotels and food in Rome` gives three texts, each with its end.
pub(super) fn enumerated(text: &str) -> Option<Vec<String>> {
    const PAIRS: &[&str] = &[
        "pros and cons",
        "search and replace",
        "terms and conditions",
        "advantages and disadvantages",
        "strengths and weaknesses",
        "cause and effect",
        "supply and demand",
        "research and development",
        "black and white",
        "between",
        "trial and error",
    ];
    const TAILS: &[&str] = &["in", "for", "from", "to", "at", "on", "near", "during", "within", "under", "of", "about"];
    let text = text.trim().trim_end_matches(['.', '!', ';']);
    let lower = text.to_lowercase();
    if PAIRS.iter().any(|pair| lower.contains(pair)) || !text.is_ascii() && lower.len() != text.len() {
        return None;
    }
    let all = words::words(text);
    let verb = words::leading_verb(&all).filter(|verb| LOOKING.contains(verb))?;
    let after_verb = lower.find(verb)? + verb.len();
    let (head, rest) = text.split_at(after_verb);
    let rest = rest.trim_start();
    let particle = ["about ", "on ", "into ", "up ", "for "].iter().find(|word| rest.starts_with(**word)).copied().unwrap_or("");
    let rest = rest[particle.len()..].replace(", and ", ", ").replace(" & ", ", ").replace(" and ", ", ");
    let mut items: Vec<String> = rest.split(", ").map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect();
    if !(2..=8).contains(&items.len()) {
        return None;
    }
    let last = items.pop()?;
    let mut last_words: Vec<&str> = last.split_whitespace().collect();
    let tail = last_words
        .iter()
        .skip(1)
        .position(|word| TAILS.contains(&word.to_lowercase().as_str()))
        .map(|at| last_words.split_off(at + 1).join(" "));
    items.push(last_words.join(" "));
    let fits = |item: &String| item.split_whitespace().count() <= LONGEST_ITEM;
    let tail = tail.map(|tail| format!(" {tail}")).unwrap_or_default();
    items.iter().all(fits).then(|| items.iter().map(|item| format!("{head} {particle}{item}{tail}").trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(request: &str) -> Vec<(String, StepLink)> {
        split(request).into_iter().map(|step| (step.text, step.link)).collect()
    }

    fn check(request: &str, expected: &[(&str, StepLink)]) {
        let found = texts(request);
        let found: Vec<(&str, StepLink)> = found.iter().map(|(text, link)| (text.as_str(), *link)).collect();
        assert_eq!(found.get(1..), expected.get(1..), "{request}");
        assert_eq!(found.first().map(|step| step.0), expected.first().map(|step| step.0));
        let ends: Vec<usize> = split(request).iter().map(|step| step.end).collect();
        assert!(ends.is_sorted() && ends.iter().all(|end| *end <= request.len()));
    }

    #[test]
    fn clauses_with_verbs_are_steps() {
        check(
            "List the Rust files under src, count their lines, and write the ten longest to longest.md",
            &[
                ("List the Rust files under src", StepLink::After),
                ("count their lines", StepLink::After),
                ("write the ten longest to longest.md", StepLink::After),
            ],
        );
    }

    #[test]
    fn sequence_words_order_steps_and_looking_goes_side_by_side() {
        check(
            "Research hotels in Rome, research flights to Rome and then write an itinerary. Finally, send it to me",
            &[
                ("Research hotels in Rome", StepLink::After),
                ("research flights to Rome", StepLink::Beside),
                ("write an itinerary.", StepLink::After),
                ("Finally, send it to me", StepLink::After),
            ],
        );
    }

    #[test]
    fn a_verb_that_names_nothing_needs_what_was_said_before() {
        check("Search the web for tea and summarize", &[("Search the web for tea", StepLink::After), ("summarize", StepLink::After)]);
        check("Read a.txt, summarize b.txt", &[("Read a.txt", StepLink::After), ("summarize b.txt", StepLink::Beside)]);
    }

    #[test]
    fn lists_are_steps() {
        check(
            "Do this:\n1. Read a.txt\n2. Sum it up\n   in ten words\n\nThen tell me",
            &[("Read a.txt", StepLink::After), ("Sum it up in ten words", StepLink::After), ("Then tell me", StepLink::After)],
        );
        check(
            "- Research A\n- Research B\n- Compare them",
            &[("Research A", StepLink::After), ("Research B", StepLink::Beside), ("Compare them", StepLink::After)],
        );
    }

    #[test]
    fn other_languages_are_split_at_their_own_words() {
        check(
            "Lies die Datei a.txt, dann fasse sie zusammen",
            &[("Lies die Datei a.txt", StepLink::After), ("fasse sie zusammen", StepLink::After)],
        );
        check("列出所有文件，然后统计行数", &[("列出所有文件", StepLink::After), ("统计行数", StepLink::After)]);
    }

    #[test]
    fn names_with_dots_quotes_and_conditions_are_not_torn() {
        check("Read src/a.rs v1.5 e.g. the head", &[("Read src/a.rs v1.5 e.g. the head", StepLink::After)]);
        check("Find \"x, then read y\" here", &[("Find \"x, then read y\" here", StepLink::After)]);
        check("If it fails then stop", &[("If it fails then stop", StepLink::After)]);
        check("search and replace foo with bar", &[("search and replace foo with bar", StepLink::After)]);
    }

    #[test]
    fn sentences_without_a_verb_of_their_own_belong_to_the_one_before() {
        check("Plan a trip. Budget is tight. Two people.", &[("Plan a trip. Budget is tight. Two people.", StepLink::After)]);
    }

    #[test]
    fn nothing_gives_no_steps_and_very_much_gives_few() {
        assert!(split(" \n ?! ").is_empty());
        assert_eq!(split(&"Read a file. ".repeat(500)).len(), MOST_STEPS);
    }

    #[test]
    fn enumerations_are_taken_apart_with_their_tail() {
        assert_eq!(
            enumerated("Research flights, hotels and good food in Rome").unwrap(),
            ["Research flights in Rome", "Research hotels in Rome", "Research good food in Rome"]
        );
        assert_eq!(enumerated("read a.txt and b.txt").unwrap(), ["read a.txt", "read b.txt"]);
        for whole in ["research the pros and cons of x", "write a and b", "research one thing", "find the difference between a and b"] {
            assert!(enumerated(whole).is_none(), "{whole}");
        }
    }
}

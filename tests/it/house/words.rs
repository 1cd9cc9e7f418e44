//! The words of text for people: those that readers stumbled over don't come back.
//!
//! The glossary in src/ARCHITECTURE.md has the word for each concept. A string with a space in it counts as text for people; names in
//! the formats of plans and of published JSON are single words and so aren't looked at.

use super::{Source, collect_ending, report, root, sources};
use std::{collections::BTreeMap, fs};

/// Words and what to write instead.
const BANNED: [(&str, &str); 28] = [
    ("armed", "keys active"),
    ("blast", "impact"),
    ("carried out", "ran, was done"),
    ("gives back", "returns"),
    ("hands back", "returns"),
    ("is not so", "say what is"),
    ("is said", "say what happens"),
    ("leads on", "say where it leads"),
    ("let go", "release, continue"),
    ("lets go", "releases, continues"),
    ("mend", "fix"),
    ("rests", "waits, has ended"),
    ("so many of", "give the number"),
    ("stand below", "are shown below"),
    ("stands", "is"),
    ("stands below", "is shown below"),
    ("take back", "undo"),
    ("taken back", "undone"),
    ("takes back", "undoes"),
    ("tells", "shows, lists, says"),
    ("told", "shown, listed, reported"),
    ("uid", "the name of the user"),
    ("verb", "action of a person, subcommand of the shell"),
    ("verbs", "actions of a person, subcommands of the shell"),
    ("was said", "say what happened"),
    ("way out", "fix, what to do, final node"),
    ("what there is", "name it"),
    ("whoever", "the person who"),
];

/// Rooms that still have such words, with their number, which may only fall.
const STILL: [(&str, usize); 0] = [];

/// A banned word that occurs as a whole word, and what to write instead.
fn banned(text: &str) -> Vec<(&'static str, &'static str)> {
    let text = text.to_lowercase();
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-');
    let occurs = |word: &str| {
        let ends = |at: usize| !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + word.len()..].chars().next());
        text.match_indices(word).any(|(at, _)| ends(at))
    };
    BANNED.into_iter().filter(|(word, _)| occurs(word)).collect()
}

/// The string literals of a source without its tests, with their lines.
fn literals(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String, String)> = None;
    for (number, line) in source.code() {
        let is_continued = open.as_ref().is_some_and(|(_, _, close)| close == "\"");
        let mut rest = if is_continued { line.trim_start() } else { line };
        loop {
            if let Some((begin, text, close)) = &mut open {
                let escapes = close == "\"";
                let end = rest.match_indices(close.as_str()).map(|(at, _)| at);
                let end =
                    end.into_iter().find(|at| !escapes || rest[..*at].chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 0);
                let Some(end) = end else {
                    text.push_str(rest.trim_end_matches('\\'));
                    break;
                };
                text.push_str(&rest[..end]);
                rest = &rest[end + close.len()..];
                found.push((*begin, std::mem::take(text)));
                open = None;
            } else {
                let Some(at) = rest.find(['"', '/', '\'']) else { break };
                let hashes = rest[..at].chars().rev().take_while(|letter| *letter == '#').count();
                let is_raw = rest[..at - hashes].ends_with('r');
                match &rest[at..] {
                    tail if tail.starts_with("//") => break,
                    tail if tail.starts_with("'\"'") => rest = &tail[3..],
                    tail if tail.starts_with("'\\") => rest = tail.get(4..).unwrap_or_default(),
                    tail if tail.starts_with('"') => {
                        let close = if is_raw { format!("\"{}", "#".repeat(hashes)) } else { "\"".to_owned() };
                        open = Some((number, String::new(), close));
                        rest = &tail[1..];
                    }
                    tail => rest = &tail[1..],
                }
            }
        }
    }
    found
}

/// What people read of a file: its literals, and the help texts of the command line, which are comments.
fn people_read(source: &Source) -> Vec<(usize, String)> {
    let mut texts: Vec<_> = literals(source).into_iter().filter(|(_, text)| text.trim().contains(' ')).collect();
    if source.text.contains("clap::") || source.text.contains("use clap") {
        let lines = source.text.lines().enumerate();
        texts.extend(lines.filter_map(|(at, line)| Some((at + 1, line.trim_start().strip_prefix("/// ")?.to_owned()))));
    }
    texts
}

/// Prose of a page, without what is code.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    // What is made from the code below the mark is checked there.
    let by_hand = text.lines().take_while(|line| !line.starts_with("<!-- Made from the code"));
    for (at, line) in by_hand.enumerate() {
        is_code ^= line.trim_start().starts_with("```");
        if !is_code {
            lines.push((at + 1, line.split('`').step_by(2).collect()));
        }
    }
    lines
}

#[test]
fn text_for_people_has_no_banned_word() {
    let sources = sources();
    let mut texts: Vec<(&str, String, usize, String)> = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        texts.extend(
            people_read(source).into_iter().map(|(line, text)| (source.room.as_str(), source.path.display().to_string(), line, text)),
        );
    }
    // The schema of plans is data whose descriptions people read.
    let schema = Source {
        path: "src/plan/schema.json".into(),
        room: "plan".into(),
        text: fs::read_to_string(root().join("src/plan/schema.json")).unwrap(),
    };
    texts.extend(people_read(&schema).into_iter().map(|(line, text)| ("plan", schema.path.display().to_string(), line, text)));
    let mut pages = vec![root().join("README.md")];
    collect_ending(&root().join("docs"), "md", &mut pages);
    for page in pages {
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        texts.extend(prose(&fs::read_to_string(&page).unwrap()).into_iter().map(|(line, text)| ("docs", name.clone(), line, text)));
    }
    let mut faults: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (room, file, line, text) in &texts {
        for (word, instead) in banned(text) {
            let fault = format!("{file}:{line}: \"{word}\" (write: {instead})\n    {}", text.trim());
            faults.entry(room).or_default().push(fault);
        }
    }
    let mut found: Vec<String> = Vec::new();
    for (room, count) in STILL.iter().filter(|(room, _)| !faults.contains_key(room)) {
        found.push(format!("{room} has no banned word any more, and had {count}; take it off `STILL` in this test"));
    }
    let listed = |room: &str| STILL.iter().find(|(name, _)| *name == room).map_or(0, |(_, count)| *count);
    found.extend(faults.into_iter().filter(|(room, faults)| faults.len() > listed(room)).flat_map(|(_, faults)| faults));
    report(&found);
}

#[test]
fn literals_are_found_and_whole_words_count() {
    let text = "//! x\nlet a = \"told \\\" you\"; let b = 'a'; // \"told\"\nlet c = r#\"raw \"told\" x\"#;\nlet d = '\"'; f(\"one \\\n    two\");\n";
    let source = Source { path: "src/text/x.rs".into(), room: "text".into(), text: text.into() };
    let found: Vec<String> = literals(&source).into_iter().map(|(line, text)| format!("{line} {text}")).collect();
    assert_eq!(found, ["2 told \\\" you", "3 raw \"told\" x", "4 one two"]);
    assert_eq!(banned("It was Told to mend").len(), 2);
    assert_eq!(banned("untold amendments, re-armed"), []);
}

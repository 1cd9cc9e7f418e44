//! `docs/debugging.md`, key by key: what its tables say to press is pressed in the real program, and what they say is seen is waited for.

use super::support::{
    program::Program,
    pty::{Start, Terminal},
};

const TEXT: &str = include_str!("../../docs/debugging.md");

/// Texts in backticks of a table's cell.
fn spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The rows of the table whose header begins with this word, as first and last cell.
fn table(header: &str) -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let mut lines = TEXT.lines().skip_while(|line| !line.starts_with(&format!("| {header} |")));
    let rows = lines.by_ref().take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        (spans(cells[0]), spans(cells[cells.len() - 1]))
    })
    .collect()
}

/// What the terminal sends for a key by its name in the keymap; other text is typed as it is. What looks like a name must be one.
fn key(name: &str) -> String {
    match name {
        "enter" => "\r".to_owned(),
        "esc" => "\x1b".to_owned(),
        "ctrl-home" => "\x1b[1;5H".to_owned(),
        control if control.len() == 6 && control.starts_with("ctrl-") => char::from(control.as_bytes()[5] & 0x1f).to_string(),
        letter if letter.chars().count() == 1 => letter.to_owned(),
        name if name.chars().all(|c| c.is_ascii_lowercase() || c == '-') => panic!("the test knows no key `{name}`"),
        text => text.to_owned(),
    }
}

#[test]
fn the_story_of_the_debugger_is_true_key_by_key() {
    let program = Program::new();
    let plan = TEXT.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    program.file("towns.json", plan);
    let keys = table("Press");
    assert!(keys.len() > 20, "the table was read: {}", keys.len());
    let (workspace, home) = (program.workspace(), program.home());
    let args = &["console", "towns.json"];
    let mut deck = Terminal::start(&Start { args, workspace: &workspace, home: &home, size: (80, 24), env: &[] });
    deck.sees("How much").sees("5 nodes");
    for (presses, seen) in keys {
        for name in presses {
            deck.send(&key(name));
        }
        for text in seen {
            deck.sees(text);
        }
    }
    assert_eq!(deck.ended(), 0);
    assert_eq!(program.read("gap.txt"), "Bern is 11 degrees warmer\n");
    let shell = table("Type");
    assert!(shell.len() > 3, "the table was read: {}", shell.len());
    for (commands, seen) in shell {
        for command in commands {
            let words: Vec<&str> = command.split(' ').skip(1).collect();
            let ended = program.run(&words);
            let shown = ended.to_string();
            assert_eq!(ended.code, 0, "`{command}`: {shown}");
            assert!(!seen.is_empty(), "nothing is said of what `{command}` shows");
            seen.iter().for_each(|text| assert!(shown.contains(text), "`{command}` shows no `{text}`: {shown}"));
        }
    }
}

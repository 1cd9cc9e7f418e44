//! The pages about the code agree with the code. `docs/keys.md` and `docs/command-line.md` are made from its tables below their mark, and
//! what `src/ARCHITECTURE.md` names exists.

use super::support::program::Program;
use clap::{Arg, Command, CommandFactory};
use dagdeck::{
    cli::{Cli, GROUPS},
    console::commands,
};
use std::fmt::Write;

/// What is above it is written by hand.
const MARK: &str = "<!-- Made from the code: WRITE_DOCS=1 cargo test --test it pages -->\n";

/// Compares a page with what the code says, or writes it where that is asked for.
fn check(page: &str, made: &str) {
    let path = format!("{}/docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (above, below) = text.split_once(MARK).unwrap_or_else(|| panic!("docs/{page} has no line {MARK}"));
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{above}{MARK}{made}")).unwrap();
        return;
    }
    let other = made.lines().zip(below.lines()).find(|(made, written)| made != written);
    assert!(made == below, "docs/{page} differs from the code: {other:?}\nwrite it anew: WRITE_DOCS=1 cargo test --test it pages");
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_page_of_keys_shows_the_command_table() {
    let mut places: Vec<String> = Vec::new();
    for command in commands::all() {
        let place = place(command);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut made = String::new();
    for shown in places {
        writeln!(made, "\n## {shown}\n\n| keys | command | what it does | id |\n| --- | --- | --- | --- |").unwrap();
        for command in commands::all().filter(|command| place(command) == shown) {
            let keys: Vec<String> = command.keys.iter().map(|key| format!("`{}`", cell(key))).collect();
            writeln!(made, "| {} | {} | {} | `{}` |", keys.join(" "), cell(command.title), cell(command.description), command.id).unwrap();
        }
    }
    check("keys.md", &made);
}

#[test]
fn the_page_of_tools_names_each_built_in_tool() {
    let page = std::fs::read_to_string(format!("{}/docs/tools.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let tools = Program::new().json(&["tools", "--json"]);
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(page.contains(&format!("`{name}`")), "add `{name}` to the table of docs/tools.md");
    }
}

/// Where the keys of a command work, as a heading.
fn place(command: &commands::ConsoleCommand) -> String {
    let place = command.context.place().unwrap_or_else(|| command.context.title());
    let (first, rest) = place.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn the_page_of_the_command_line_shows_the_grammar() {
    let mut root = Cli::command();
    root.build();
    let mut made = String::from("\n## Common options\n\n");
    arguments(&mut made, root.get_arguments());
    made += "\n## Gates\n\nSubcommands that continue a run take these too:\n\n";
    let gates = root.find_subcommand("run").unwrap().get_arguments().filter(|argument| heading(argument).starts_with("Gates"));
    arguments(&mut made, gates);
    for (group, names) in GROUPS {
        writeln!(made, "\n## {group}").unwrap();
        for name in names {
            subcommand(&mut made, root.find_subcommand(name).unwrap());
        }
    }
    check("command-line.md", &made);
}

fn heading(argument: &Arg) -> &str {
    argument.get_help_heading().unwrap_or_default()
}

fn subcommand(made: &mut String, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    writeln!(made, "\n### `{}`\n", usage.trim_start_matches("Usage: ").trim()).unwrap();
    let about = command.get_long_about().or(command.get_about()).unwrap().to_string();
    writeln!(made, "{}", about.replacen("\n\n", ". ", 1).trim_end_matches('.').to_owned() + ".").unwrap();
    let own: Vec<&Arg> = command.get_arguments().filter(|argument| heading(argument).is_empty() && !is_usual(argument)).collect();
    if !own.is_empty() {
        made.push('\n');
        arguments(made, own.into_iter());
    }
    command.get_subcommands().for_each(|inner| subcommand(made, inner));
}

fn is_usual(argument: &Arg) -> bool {
    ["help", "version"].contains(&argument.get_id().as_str())
}

fn arguments<'a>(made: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    made.push_str("| argument | meaning |\n| --- | --- |\n");
    for argument in arguments.filter(|argument| !is_usual(argument)) {
        let name = argument.to_string();
        let short = argument.get_short().map(|letter| format!("`-{letter}` ")).unwrap_or_default();
        let help = argument.get_long_help().or(argument.get_help()).unwrap().to_string();
        let values: Vec<String> = argument
            .get_possible_values()
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .filter(|name| name != "`true`" && name != "`false`")
            .collect();
        let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
        let default = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(", ");
        let is_shown = argument.get_action().takes_values() && !argument.is_hide_default_value_set() && !default.is_empty();
        let default = if is_shown { format!(" [default: `{default}`]") } else { String::new() };
        writeln!(made, "| {short}`{}` | {}{values}{default} |", cell(&name), cell(&help)).unwrap();
    }
}

#[test]
fn files_and_types_that_the_guide_names_are_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("src/ARCHITECTURE.md")).unwrap();
    let mut sources = String::new();
    read_all(&root.join("src"), &mut sources);
    let mut missing = Vec::new();
    for name in text.split('`').skip(1).step_by(2) {
        let is_path = name.ends_with(".rs") || name.ends_with(".md") || name.ends_with(".toml") || name.ends_with('/');
        let is_type = name.starts_with(|letter: char| letter.is_ascii_uppercase()) && name.chars().all(char::is_alphanumeric);
        let is_there = |keyword: &str| {
            let definition = format!("{keyword} {name}");
            sources
                .match_indices(&definition)
                .any(|(at, _)| !sources[at + definition.len()..].starts_with(|letter: char| letter.is_alphanumeric()))
        };
        if is_path && !root.join(name).exists() && !root.join("src").join(name).exists()
            || is_type && !["struct", "enum", "trait", "type"].into_iter().any(is_there)
        {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "src/ARCHITECTURE.md names what is not there; name what replaced it: {missing:?}");
}

fn read_all(folder: &std::path::Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, text);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            *text += &std::fs::read_to_string(path).unwrap();
        }
    }
}

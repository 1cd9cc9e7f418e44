//! The list of verbs by what they are for. Names are grouped here, words come from the grammar, and a test holds the two together.

use super::Cli;
use clap::{Command, CommandFactory};
use std::fmt::Write as _;

/// What verbs are for, and the verbs, each in one group.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Plan", &["plan", "validate", "diff", "schema"]),
    ("Run", &["console", "run", "resume"]),
    ("Decide", &["approve", "reject", "answer"]),
    (
        "Steer",
        &["pause", "hold", "release", "cancel", "stop", "retry", "rerun", "skip", "override", "guide", "rewind", "edit", "undo", "branch"],
    ),
    ("Look", &["show", "why", "trace", "replay"]),
    ("Runs and files", &["ls", "export", "import"]),
    ("Settings", &["agents", "tools", "models", "doctor", "completions", "man"]),
];

/// Columns of a line in a narrow terminal.
#[cfg(test)]
const NARROW: usize = 80;

/// The grammar, with its verbs listed by what they are for.
pub(super) fn command() -> Command {
    let command = Cli::command();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        listing(&command)
    );
    command.help_template(template).after_help("`dagdeck help VERB` tells all about a verb; docs/debugging.md walks through the debugger.")
}

/// All groups with their verbs, one a line.
fn listing(command: &Command) -> String {
    let width = command.get_subcommands().map(|verb| verb.get_name().len()).max().unwrap_or(0);
    GROUPS.iter().fold(String::new(), |mut text, (title, names)| {
        // Writing into a text can't fail.
        let _ = writeln!(text, "\n{title}:");
        for verb in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:width$}  {about}", verb.get_name());
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_stands_in_one_group_and_no_group_names_another() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        let command = Cli::command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs, "add the verb to `GROUPS`, where people look for it");
    }

    #[test]
    fn the_list_of_verbs_fits_a_narrow_terminal_and_tells_of_each() {
        let text = listing(&Cli::command());
        for line in text.lines() {
            assert!(line.len() <= NARROW, "say it shorter: {line}");
            assert!(!line.contains('{') && !line.ends_with(' '), "{line}");
        }
    }

    #[test]
    fn help_shows_headings_in_place_of_one_long_list() {
        for help in [command().render_help(), command().render_long_help()] {
            let help = help.to_string();
            assert!(GROUPS.iter().all(|(title, _)| help.contains(&format!("\n{title}:\n"))), "{help}");
            assert!(!help.contains("Commands:"), "{help}");
            assert!(help.contains("--workspace") && help.contains("--version"), "{help}");
        }
    }
}

//! The list of subcommands by purpose. The groups are here, the help texts are in the grammar, and a test keeps the two together.

use super::Cli;
use clap::{Command, CommandFactory};
use std::fmt::Write as _;

/// Every subcommand, in one group.
pub const GROUPS: [(&str, &[&str]); 7] = [
    ("Plan", &["plan", "validate", "estimate", "diff", "schema"]),
    ("Run", &["console", "attach", "run", "wait", "resume", "host", "serve"]),
    ("Decide", &["approve", "reject", "answer"]),
    (
        "Act on a run",
        &[
            "pause", "hold", "release", "step", "run-to", "break", "cancel", "stop", "retry", "rerun", "skip", "override", "guide",
            "rewind", "replan", "edit", "undo", "branch",
        ],
    ),
    ("Look", &["show", "logs", "why", "trace", "replay"]),
    ("Runs and files", &["ls", "cost", "cache", "stats", "suggestions", "audit", "export", "import", "forget", "prune"]),
    ("Settings", &["agents", "tools", "models", "trust", "permissions", "doctor", "completions", "man"]),
];

/// The numbers that scripts rely on, so they stay as they are.
const EXIT_CODES: &str = "Exit codes:
  0 done: succeeded, valid, recorded    4 run partial, or the plans differ
  1 error                               5 run failed, or what it needed was rejected
  2 wrong command line                  6 run cancelled
  3 plan or request can't run as it is  7 run waits for a person, or is paused or held
  8 run rehearsed, or it needs a model and none is set up
  129, 130, 143 a signal stopped the run (SIGHUP, SIGINT, SIGTERM); `dagdeck resume` continues it

A run that goes on in the host (`dagdeck host`) takes actions and replies from any shell. When another
dagdeck process has the run open, act there; or quit that process, which keeps the run.

`dagdeck help SUBCOMMAND` explains a subcommand. docs/debugging.md shows how to debug a plan.";

pub(super) fn command() -> Command {
    let command = Cli::command();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        listing(&command)
    );
    command.help_template(template).after_help(EXIT_CODES)
}

fn listing(command: &Command) -> String {
    let width = command.get_subcommands().map(|subcommand| subcommand.get_name().len()).max().unwrap_or(0);
    GROUPS.iter().fold(String::new(), |mut text, (title, names)| {
        // Writing into a text can't fail.
        let _ = writeln!(text, "\n{title}:");
        for subcommand in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:width$}  {about}", subcommand.get_name());
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        let command = Cli::command();
        let mut subcommands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        subcommands.sort_unstable();
        assert_eq!(grouped, subcommands, "add the subcommand to `GROUPS`, where people look for it");
    }

    #[test]
    fn the_list_of_subcommands_fits_80_columns() {
        let text = listing(&Cli::command());
        for line in text.lines() {
            assert!(line.len() <= 80, "say it shorter: {line}");
            assert!(!line.contains('{') && !line.ends_with(' '), "{line}");
        }
    }

    #[test]
    fn help_shows_groups_and_exit_codes() {
        for help in [command().render_help(), command().render_long_help()] {
            let help = help.to_string();
            assert!(GROUPS.iter().all(|(title, _)| help.contains(&format!("\n{title}:\n"))), "{help}");
            assert!(!help.contains("Commands:"), "{help}");
            assert!(help.contains("7 run waits for a person, or is paused or held"), "{help}");
            assert!(help.contains("--workspace") && help.contains("--version"), "{help}");
        }
    }
}

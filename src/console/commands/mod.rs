//! The command table: what a person can do, under which words and keys, where, and when not. It feeds the keymap, the help, the
//! palette and the hint bar, so that none of them can say something else than the others.

pub mod guards;
pub mod help;
mod table;

use super::model::{Intent, KeyContext, Model, Offered};
use super::update::UpdateTurn;

use guards::DisabledReason;

/// Whether a command can be used now; else why not.
pub type Guard = fn(&Model) -> Result<(), DisabledReason>;

/// Characters of a title at most, so that help shows it whole.
pub const TITLE: usize = 26;

/// The headings of the palette and of the menu of actions, in their order.
pub const GROUPS: [&str; 7] = ["Suggested", "Here", "This node", "This run", "This plan", "Go to", "Console"];

/// One thing that a person can do.
#[derive(Debug)]
pub struct ConsoleCommand {
    /// `group.action`; what key files use.
    pub id: &'static str,
    /// A few words; what palette, help and hints show.
    pub title: &'static str,
    /// A word or two for the hint bar; empty where the title is short enough.
    pub hint: &'static str,
    /// More words: what it does, for the palette's search and for the docs.
    pub description: &'static str,
    /// Default keys by name; the first is the one that hints show.
    pub keys: &'static [&'static str],
    /// Where its keys work.
    pub context: KeyContext,
    /// Whether it can be used now.
    pub guard: Guard,
    pub run: CommandRun,
}

/// What a command does, by what may start it.
#[derive(Clone, Copy, Debug)]
pub enum CommandRun {
    /// Its key or a pick from a list starts it.
    Does(fn(&mut Model, &mut UpdateTurn)),
    /// It opens a text field, so text that comes at once after its key is for that field.
    OpensField(fn(&mut Model, &mut UpdateTurn)),
    /// It replies to a gate: its own key alone, never a pick from a list. Nothing else in the table can send a reply.
    Replies(Intent),
}

/// All commands, in the order that help shows them.
pub fn all() -> impl Iterator<Item = &'static ConsoleCommand> {
    table::GROUPS.iter().flat_map(|group| group.iter())
}

/// A command by its id.
pub fn find(id: &str) -> Option<&'static ConsoleCommand> {
    all().find(|command| command.id == id)
}

impl ConsoleCommand {
    /// Its words in the hint bar.
    pub fn in_hints(&self) -> String {
        if self.hint.is_empty() { self.title.to_lowercase() } else { self.hint.to_owned() }
    }

    /// Whether another one does the same: it has the same words.
    pub fn is_like(&self, other: &Self) -> bool {
        self.title == other.title && self.description == other.description
    }

    /// Whether it replies to a gate.
    pub fn replies(&self) -> bool {
        matches!(self.run, CommandRun::Replies(_))
    }

    /// Where it works, for one that is about what is selected on a screen of its own.
    pub fn screen(&self) -> Option<String> {
        self.context.place().filter(|_| self.context.offered() == Offered::OnItsScreen).map(|place| format!("works {place}"))
    }

    /// Below which heading the palette has it.
    pub fn group(&self, is_run: bool) -> &'static str {
        let whole = if is_run { "This run" } else { "This plan" };
        match self.id.split_once('.').unwrap_or_default() {
            ("app", "model" | "trust" | "theme" | "keys" | "tour" | "quit" | "interrupt" | "suspend" | "redraw") => "Console",
            ("app" | "tree" | "stage" | "request" | "focus" | "found", _) | ("replay", "toggle") => "Go to",
            ("plan", "run" | "step" | "edit_all" | "inputs" | "goal" | "save" | "undo" | "redo" | "compare" | "rivals") => whole,
            ("plan", "compare_file" | "findings") | ("act", "pause" | "breaks" | "menu" | "undo") | ("replay", _) => whole,
            ("run", "resume" | "compare" | "cancel" | "take_plan") => whole,
            ("plan" | "act" | "run" | "inspector", _) => "This node",
            _ => "Here",
        }
    }

    /// Whether the palette offers it: commands that only make sense in a dialog or while typing are left out.
    pub fn in_palette(&self) -> bool {
        self.context.offered() != Offered::Never && self.id != "app.palette" && self.id != "app.back"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::Keymap;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_titles_are_short() {
        let mut seen = BTreeSet::new();
        for command in all() {
            assert!(seen.insert(command.id), "`{}` stands twice in the table", command.id);
            let title = command.title.chars().count();
            assert!(title <= TITLE, "`{}`: {title} characters of title; help has room for {TITLE}", command.id);
            let description = command.description.chars().count();
            assert!((1..=57).contains(&description), "`{}`: {description} characters; help has room for 57", command.id);
        }
    }

    /// All sources below a folder of the console.
    fn sources(folder: &str) -> Vec<String> {
        let mut next = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/console").join(folder)];
        let mut found = Vec::new();
        while let Some(path) = next.pop() {
            if path.is_dir() {
                next.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                found.push(std::fs::read_to_string(path).unwrap());
            }
        }
        found
    }

    #[test]
    fn every_command_that_views_and_verbs_name_exists() {
        let groups: BTreeSet<&str> = all().filter_map(|command| command.id.split_once('.')).map(|(group, _)| group).collect();
        let mut named = BTreeSet::new();
        for source in ["view", "update", "model"].into_iter().flat_map(sources) {
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            let plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            let is_id = |text: &str| text.split_once('.').is_some_and(|(group, action)| groups.contains(group) && plain(action));
            // A text is an id, or a list of them.
            let ids = |text: &str| text.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect::<Vec<_>>();
            let texts = code.split('"').skip(1).map(ids).filter(|ids| ids.iter().all(|id| is_id(id)));
            named.extend(texts.flatten());
        }
        // Names of files look the same.
        named.remove("plan.json");
        assert!(named.len() > 100, "{named:?}");
        for id in named {
            assert!(find(&id).is_some(), "no command `{id}`");
        }
    }

    #[test]
    fn palette_and_help_show_keys_that_mean_their_command_and_everything_can_be_found_in_one_of_them() {
        let keymap = Keymap::default();
        for command in all() {
            for key in keymap.keys_of(command.id) {
                let meant = keymap.resolve(&[command.context], *key).map(|meant| meant.id);
                assert_eq!(meant, Some(command.id), "`{key}`");
            }
            assert!(command.in_palette() || !command.keys.is_empty(), "`{}` can't be said by anybody", command.id);
        }
    }

    #[test]
    fn the_page_of_keys_binds_commands_that_exist() {
        let page = include_str!("../../../docs/keys.md");
        let ids: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix('"')?.split('"').next()).collect();
        assert!(!ids.is_empty() && ids.iter().all(|id| find(id).is_some()), "docs/keys.md binds {ids:?}");
    }
}

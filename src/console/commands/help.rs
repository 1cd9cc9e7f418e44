//! Help: what works here, made of the command table.

use super::{ConsoleCommand, all};
use crate::console::model::{HelpDialog, HelpGroup, HelpLine, Key, KeyContext, Model};
use crate::console::theme::{Role, Theme, of_state};
use crate::engine::NodeState;
use crate::text::{Glyph, Plain};

/// Everything that works in the contexts of the help, innermost first, with the keys that mean it there; what it doesn't find there, with why.
pub fn groups(model: &Model, help: &HelpDialog) -> Vec<HelpGroup> {
    let mut groups: Vec<HelpGroup> = Vec::new();
    let mut known: Vec<(&ConsoleCommand, usize, usize)> = Vec::new();
    for context in &help.contexts {
        let mut lines: Vec<HelpLine> = Vec::new();
        for command in all().filter(|command| command.context == *context) {
            let own = model.look.keymap.keys_of(command.id);
            let keys: Vec<String> = own.iter().filter(|key| means(model, help, **key, command)).map(ToString::to_string).collect();
            // A command all of whose keys mean something else further inside doesn't work here.
            if keys.is_empty() && !own.is_empty() {
                continue;
            }
            if let Some((_, group, line)) = known.iter().find(|(other, _, _)| other.is_like(command)) {
                let place = if *group == groups.len() { lines.get_mut(*line) } else { groups[*group].lines.get_mut(*line) };
                place.into_iter().for_each(|line| line.keys.extend(keys.iter().cloned()));
                continue;
            }
            known.push((command, groups.len(), lines.len()));
            let refused = (command.guard)(model).err().map(|why| format!("not now: {why}"));
            lines.push(line(command, keys, refused));
        }
        match groups.last_mut().filter(|group| *context == KeyContext::Always && group.title == KeyContext::Global.title()) {
            Some(group) => group.lines.extend(lines),
            None => groups.push(HelpGroup { title: context.title(), folds: *context == KeyContext::Moving, lines }),
        }
    }
    // What moves is known from everywhere.
    groups.sort_by_key(|group| group.folds);
    groups.push(marks(&model.look.theme));
    groups.push(gates());
    groups.push(elsewhere(model, help, &known));
    groups
}

fn means(model: &Model, help: &HelpDialog, key: Key, command: &ConsoleCommand) -> bool {
    model.look.keymap.resolve(&help.contexts, key).is_some_and(|meant| meant.id == command.id)
}

fn line(command: &ConsoleCommand, keys: Vec<String>, refused: Option<String>) -> HelpLine {
    let description = Plain::line(refused.as_deref().unwrap_or(command.description));
    // One without a key is found, and picked from the list of all commands.
    let has_key = !keys.is_empty();
    let keys = if has_key { keys } else { vec![":".to_owned()] };
    HelpLine { keys, title: Plain::line(command.title), description, role: Role::Text, is_elsewhere: refused.is_some() || !has_key }
}

/// What works in other places only: it is found, and never listed.
fn elsewhere(model: &Model, help: &HelpDialog, known: &[(&ConsoleCommand, usize, usize)]) -> HelpGroup {
    let mut lines = Vec::new();
    for command in all().filter(|command| !help.contexts.contains(&command.context)) {
        let Some(place) = command.context.place().filter(|_| !known.iter().any(|(other, _, _)| other.is_like(command))) else { continue };
        let keys = model.look.keymap.keys_of(command.id).iter().map(ToString::to_string).collect();
        lines.push(line(command, keys, Some(format!("{place}: {}", command.description))));
    }
    HelpGroup { title: "Elsewhere", folds: false, lines }
}

/// What the marks before nodes mean.
fn marks(theme: &Theme) -> HelpGroup {
    let states = NodeState::all().map(|state| {
        let (glyph, role) = of_state(&state);
        (glyph, role, state.word(), state.description())
    });
    let others = [
        (Glyph::Stale, Role::Stale, "stale", "uses a result that has changed since"),
        (Glyph::AtBreakpoint, Role::Held, "halted", "at a breakpoint, a step or a held call"),
        (Glyph::Breakpoint, Role::Held, "breakpoint", "the run halts there"),
    ];
    let line = |(glyph, role, word, words): (Glyph, Role, &str, &str)| HelpLine {
        keys: vec![theme.glyph(glyph).to_owned()],
        title: Plain::line(word),
        description: Plain::line(words),
        role,
        is_elsewhere: false,
    };
    HelpGroup { title: "Marks", folds: true, lines: states.chain(others).map(line).collect() }
}

fn gates() -> HelpGroup {
    let words = "You reply to a gate beside the tree or in the inbox, when you went to it, it has been on the screen, and no key was pressed for \
                 0.4 s: then its keys are bold and it says that they count. Enter, Space and Esc never reply to a gate.";
    let line =
        HelpLine { keys: Vec::new(), title: Plain::line(words), description: Plain::default(), role: Role::Dim, is_elsewhere: false };
    HelpGroup { title: "Gates", folds: true, lines: vec![line] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::tests::Deck;

    /// All rows of help for these contexts as text, page by page, and its box.
    fn shown(deck: &Deck, contexts: &[KeyContext], query: &str) -> (Vec<String>, usize, usize) {
        let mut help = HelpDialog::new(contexts.to_vec());
        help.query.set(query);
        help.groups = groups(&deck.model, &help);
        let room = HelpDialog::room(deck.model.place.size);
        let pages = help.pages(room);
        let text = |row: &Vec<(Plain, Role)>| row.iter().map(|(text, _)| text.as_str()).collect::<String>();
        let count = pages.len();
        (pages.iter().flatten().flatten().map(text).collect(), room.0, count)
    }

    #[test]
    fn no_key_and_no_title_in_help_is_cut_and_each_key_means_what_it_says() {
        for width in [40, 60, 80, 100, 120, 133, 200] {
            for deck in [Deck::new(width, 24), Deck::planned(width, 24), Deck::waiting(width, 24)] {
                let here = crate::console::model::contexts(&deck.model);
                let (rows, columns, _) = shown(&deck, &here, "");
                let too_wide = rows.iter().find(|row| Plain::line(row).width() > columns && width >= 60);
                assert_eq!(too_wide, None, "{width}");
                let mut said = 0;
                for command in all().filter(|command| here.contains(&command.context) && command.context != KeyContext::Moving) {
                    let reached = deck.model.look.keymap.reaching(&here, command).filter(|_| (command.guard)(&deck.model).is_ok());
                    let Some(key) =
                        reached.filter(|_| !all().take_while(|other| other.id != command.id).any(|other| other.is_like(command)))
                    else {
                        continue;
                    };
                    let has = |row: &&String| row.starts_with(&format!("{key} ")) && row.contains(command.title);
                    assert!(rows.iter().any(|row| has(&row)), "{width} columns, `{}`:\n{}", command.id, rows.join("\n"));
                    said += 1;
                }
                assert!(said > 5, "{width}: {said}");
            }
        }
    }

    #[test]
    fn the_keys_of_a_run_take_two_screens_at_most() {
        for (size, most) in [((80, 24), 2), ((120, 40), 1)] {
            let deck = Deck::waiting(size.0, size.1);
            let here = crate::console::model::contexts(&deck.model);
            let (rows, _, pages) = shown(&deck, &here, "");
            assert!(pages <= most, "{size:?}: {pages}\n{}", rows.join("\n"));
        }
    }

    #[test]
    fn typing_finds_keys_words_marks_and_what_works_elsewhere_with_the_reason() {
        let deck = Deck::planned(120, 40);
        let here = crate::console::model::contexts(&deck.model);
        let found = |query: &str| shown(&deck, &here, query).0.join("\n");
        assert!(found("break").contains("in a run: lists them"), "{}", found("break"));
        assert!(found("ctrl-s").contains("Save the plan") && !found("ctrl-s").contains("Undo"), "{}", found("ctrl-s"));
        assert!(found("marks").contains("the run halts there"), "{}", found("marks"));
        assert!(found("redo").contains("not now: nothing to redo"), "{}", found("redo"));
        assert_eq!(found("zzzz"), "nothing has these words");
    }

    #[test]
    fn a_key_that_means_something_else_here_is_not_named() {
        let deck = Deck::waiting(120, 40);
        let here = crate::console::model::contexts(&deck.model);
        let add = shown(&deck, &here, "add a node").0.join("\n");
        assert!(add.contains("+ ") && !add.lines().any(|line| line.starts_with("a ")), "{add}");
    }
}

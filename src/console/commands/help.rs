//! Help: what works here, made of the command table.

use super::{ConsoleCommand, TITLE, all};
use crate::console::model::{Doc, KeyContext, Model};
use crate::console::theme::{Role, Theme, of_state};
use crate::engine::NodeState;
use crate::text::{Glyph, Plain, counted};

/// From so many columns on, each line also says what the command does.
const WIDE: usize = 106;
/// Columns of the keys.
const KEYS: usize = 20;
/// Columns of keys and title.
const HEAD: usize = KEYS + TITLE + 2;

/// Everything that works in these contexts, innermost first, with keys. A command all of whose keys mean something else further
/// inside doesn't.
pub fn lines(model: &Model, contexts: &[KeyContext]) -> Doc<'static> {
    let mut doc = Doc::default();
    let columns = model.place.reading_columns();
    let mut refused = 0;
    for context in contexts {
        let keymap = &model.look.keymap;
        let is_reached = |command: &&ConsoleCommand| keymap.keys_of(command.id).is_empty() || keymap.reaching(contexts, command).is_some();
        let commands = all().filter(|command| command.context == *context).filter(is_reached);
        let mut is_first = true;
        for command in commands {
            let keys: Vec<String> = model.look.keymap.keys_of(command.id).iter().map(ToString::to_string).collect();
            let line = Plain::line(&keys.join(", ")).pad(KEYS).then(&Plain::line(command.title));
            if (command.guard)(model).is_err() {
                refused += 1;
                continue;
            }
            if std::mem::take(&mut is_first) {
                doc.heading(context.title());
            }
            if columns >= WIDE {
                behind(&mut doc, Role::Text, &line, command.description, (HEAD, columns - HEAD));
            } else {
                doc.line(Role::Text, line);
            }
        }
    }
    if refused > 0 {
        let words = format!("{} can't be used now: {} finds them, with why", counted(refused, "command"), model.hint("app.palette"));
        doc.line(Role::Text, Plain::default());
        doc.line(Role::Dim, Plain::line(&words));
    }
    marks(&mut doc, &model.look.theme);
    doc.heading("Gates");
    for words in [
        "A gate never takes the focus. You reply to it beside the tree or in the",
        "inbox, when you went to it, it has been on the screen, and no key was",
        "pressed for 0.4 s: then it says \"keys active\". Enter, Space and Esc",
        "never reply to a gate.",
    ] {
        doc.line(Role::Dim, Plain::line(words));
    }
    doc
}

/// What the marks before nodes mean.
fn marks(doc: &mut Doc<'static>, theme: &Theme) {
    doc.heading("Marks");
    let states = NodeState::all().map(|state| {
        let (glyph, role) = of_state(&state);
        (glyph, role, state.word(), state.description())
    });
    let others = [
        (Glyph::Stale, Role::Stale, "stale", "uses a result that has changed since"),
        (Glyph::Bullet, Role::Failed, "breakpoint", "the run pauses there"),
    ];
    for (glyph, role, word, words) in states.chain(others) {
        let head = Plain::line(theme.glyph(glyph)).pad(2).then(&Plain::line(word).pad(13));
        doc.line(role, head.then(&Plain::line(words)));
    }
}

/// Words in a column behind a head, on as many lines as they take.
fn behind(doc: &mut Doc<'static>, role: Role, head: &Plain, words: &str, (at, width): (usize, usize)) {
    let mut head = head.clone();
    for piece in Plain::line(words).wrap(width) {
        doc.line(role, head.pad(at).then(&piece));
        head = Plain::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::tests::Deck;
    use std::collections::BTreeSet;

    /// All lines of help for these contexts, joined where they are one.
    fn shown(deck: &Deck, contexts: &[KeyContext]) -> Vec<String> {
        lines(&deck.model, contexts).from(0).map(|line| line.text().as_str().to_owned()).collect()
    }

    #[test]
    fn no_key_and_no_title_in_help_is_cut() {
        let contexts: BTreeSet<KeyContext> = all().map(|command| command.context).collect();
        for width in [40, 60, 80, 100, 110, 120, 133, 134, 200] {
            for deck in [Deck::new(width, 24), Deck::planned(width, 24), Deck::waiting(width, 24)] {
                for context in &contexts {
                    let lines = shown(&deck, &[*context]);
                    let can = |command: &&ConsoleCommand| command.context == *context && (command.guard)(&deck.model).is_ok();
                    for command in all().filter(can) {
                        let line = format!("{:<KEYS$}{}", command.keys.join(", "), command.title);
                        let whole = |shown: &&String| **shown == line || shown.starts_with(&format!("{line}  "));
                        assert!(lines.iter().any(|shown| whole(&shown)), "{width} columns, `{}`:\n{}", command.id, lines.join("\n"));
                    }
                    if width >= 80 {
                        let columns = deck.model.place.reading_columns();
                        let wide = lines.iter().find(|line| Plain::line(line).width() > columns);
                        assert_eq!(wide, None, "a line fits into {columns} columns");
                    }
                }
            }
        }
    }
}

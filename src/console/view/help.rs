//! Help: what works here, made of the command table.

use crate::console::{
    commands::{self, Context},
    keymap::Key,
    model::{Doc, Model},
    theme::Role,
};
use crate::text::Plain;

/// From this width on, each line also says what the command does.
const WIDE: u16 = 110;
/// Columns of keys and title, where lines are wide.
const HEAD: usize = 50;
/// Columns of words behind the head, where lines are wide.
const WORDS: usize = 56;
/// The same where they are not.
const NARROW: (usize, usize) = (40, 34);

/// Everything that works in these contexts, innermost first, with keys. A command all of whose keys mean something else further
/// inside doesn't.
pub fn help_lines(model: &Model, contexts: &[Context]) -> Doc<'static> {
    let mut doc = Doc::default();
    let wide = model.place.size.0 >= WIDE;
    for context in contexts {
        let keymap = &model.look.keymap;
        let is_reached = |command: &&commands::Command| {
            let keys = keymap.keys_of(command.id);
            let means = |key: &Key| keymap.resolve(contexts, *key).is_some_and(|meant| meant.id == command.id);
            keys.is_empty() || keys.iter().any(means)
        };
        let mut commands = commands::all().filter(|command| command.context == *context).filter(is_reached).peekable();
        if commands.peek().is_none() {
            continue;
        }
        doc.heading(context.title());
        for command in commands {
            let keys: Vec<String> = model.look.keymap.keys_of(command.id).iter().map(ToString::to_string).collect();
            let line = Plain::line(&keys.join(", ")).pad(18).then(&Plain::line(command.title));
            match (command.guard)(model) {
                Ok(()) if wide => behind(&mut doc, Role::Text, &line, command.words, (HEAD, WORDS)),
                Ok(()) => doc.line(Role::Text, line),
                Err(why) => {
                    let columns = if wide { (HEAD, WORDS) } else { NARROW };
                    behind(&mut doc, Role::Dim, &line, &format!("not now: {why}"), columns);
                }
            }
        }
    }
    doc.heading("Gates");
    for words in [
        "A gate never takes the focus. A key decides only in the inbox, on the",
        "selected gate, after it was on the screen as it is now, and when no key",
        "came for 0.4 s: then it says armed. Enter, Space and Esc never decide.",
    ] {
        doc.line(Role::Dim, Plain::line(words));
    }
    doc
}

/// Words in a column behind a head, on as many lines as they take.
fn behind(doc: &mut Doc<'static>, role: Role, head: &Plain, words: &str, (at, width): (usize, usize)) {
    let mut head = head.clone();
    for piece in Plain::line(words).wrap(width) {
        doc.line(role, head.pad(at).then(&piece));
        head = Plain::default();
    }
}

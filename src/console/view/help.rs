//! Help: what works here, made of the command table.

use crate::console::{
    commands::{self, Context},
    keymap::Key,
    model::{Doc, Model},
    theme::{Role, Theme},
};
use crate::text::{Glyph, Plain};

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
    marks(&mut doc, &model.look.theme);
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

/// What the marks before nodes mean.
fn marks(doc: &mut Doc<'static>, theme: &Theme) {
    doc.heading("Marks");
    for (glyph, role, word, words) in [
        (Glyph::Pending, Role::Pending, "pending", "waits for its sources"),
        (Glyph::Ready, Role::Ready, "ready", "starts as soon as a slot is free"),
        (Glyph::Held, Role::Held, "held", "by a breakpoint, a pause, a lock, or a person"),
        (Glyph::Waiting, Role::Waiting, "waiting", "for your answer: the inbox has the question"),
        (Glyph::Running, Role::Running, "running", "at work"),
        (Glyph::Retrying, Role::Retrying, "retrying", "an attempt failed, another one follows"),
        (Glyph::Succeeded, Role::Succeeded, "succeeded", "has a result"),
        (Glyph::Passed, Role::Passed, "passed", "hands on what it received"),
        (Glyph::Skipped, Role::Skipped, "skipped", "never ran"),
        (Glyph::Failed, Role::Failed, "failed", "for good"),
        (Glyph::FailedSafe, Role::FailedSafe, "failed_safe", "failed, and what comes after it was told so"),
        (Glyph::Cancelled, Role::Cancelled, "cancelled", "ended or rejected by a person"),
        (Glyph::Unknown, Role::Unknown, "unknown", "nobody knows whether it took effect: say so"),
        (Glyph::Stale, Role::Stale, "stale", "made of a result that was made anew since"),
        (Glyph::Bullet, Role::Failed, "breakpoint", "the run stops there"),
    ] {
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

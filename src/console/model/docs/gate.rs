//! A gate in words: who asks what and why, what would change, and the exact payload, escaped. What a person wrote for it is first.

use serde_json::Value;
use similar::TextDiff;

use super::diff::changed_lines;
use crate::console::model::{Doc, ReplyDraft, RunView, is_question, texts};
use crate::console::theme::Role;
use crate::engine::{Gate, GateKind, GateQuestion, Preview, ReplanPiece};
use crate::text::{Plain, bytes};

/// What a gate is about, on one line.
pub fn gate_title(view: &RunView, gate: &Gate) -> Plain {
    let (title, asks) = (view.title_of(&gate.node), asks(gate));
    if asks.as_str().contains(title.as_str()) { asks } else { title.then(&Plain::line(": ")).then(&asks) }
}

/// What a gate asks, on one line.
pub fn asks(gate: &Gate) -> Plain {
    Plain::summary(&gate.asks().replace('`', ""))
}

/// All that there is to know before deciding.
pub fn gate_doc(gate: &Gate, preview: Option<&Preview>, draft: Option<&ReplyDraft>) -> Doc<'static> {
    let mut doc = Doc::default();
    let options = gate.kind.question().map(|question| question.options.to_vec()).unwrap_or_default();
    written(draft, &options, &mut doc);
    let why = match &gate.kind {
        GateKind::Question { text, .. } | GateKind::UnknownEffect { text } | GateKind::Failure { text, .. } if gate.why == *text => "",
        _ => gate.why.as_str(),
    };
    if !why.is_empty() {
        doc.text(Role::Dim, &format!("because {}", why.replace('`', "")));
    }
    let payload = ReplyDraft::payload(draft, gate);
    let hidden = hidden(payload);
    if hidden > 0 {
        let words = format!("control or hidden characters: {hidden}; they are written as escapes below");
        doc.text(Role::Hidden, &words);
    }
    question(&gate.kind, draft, &mut doc);
    sends(&gate.kind, &mut doc);
    let shown = match preview {
        Some(Preview::Diff { path, before, after }) if length(before.as_deref()) + length(Some(after.as_str())) > LONGEST_DIFF => {
            let words = if before.is_some() { "change to" } else { "new file" };
            doc.heading(&format!("{words} {path}: too long to compare, the whole new text follows"));
            None
        }
        Some(Preview::Diff { path, before, after }) => {
            diff(path, before.as_deref(), after, &mut doc);
            Some(after.as_str()).filter(|after| before.as_deref() != Some(*after))
        }
        Some(Preview::Text(text)) => {
            doc.heading("preview");
            doc.text(Role::Text, text);
            None
        }
        None => None,
    };
    let says_nothing = payload.is_null() || (is_question(gate) && is_empty(payload)) || is_shown_whole(payload, preview, shown.is_some());
    if let (GateKind::Replan { .. }, Some(pieces)) = (&gate.kind, ReplanPiece::read(&gate.payload)) {
        new_plan(&pieces, payload, &mut doc);
    } else if !says_nothing {
        doc.heading(match gate.kind {
            GateKind::Review => "the exact result",
            GateKind::Approval | GateKind::Permission { .. } | GateKind::Replan { .. } => "the exact payload",
            GateKind::Failure { .. } => "what it was to do",
            GateKind::Question { .. } | GateKind::UnknownEffect { .. } => "what you need to know",
        });
        exact(payload, shown, 0, &mut doc);
    }
    doc
}

/// The pieces of a new plan: which are taken, and what comes and goes by each.
fn new_plan(pieces: &[ReplanPiece], taken: &Value, doc: &mut Doc<'static>) {
    if pieces.is_empty() {
        return;
    }
    doc.heading("what would change");
    let taken = ReplanPiece::read(taken).unwrap_or_default();
    for piece in pieces {
        let is_taken = taken.contains(piece);
        let mark = if is_taken { "[x] " } else { "[ ] " };
        let line = Plain::line(mark).then(&Plain::summary(&piece.piece));
        doc.line(if is_taken { Role::Text } else { Role::Dim }, line);
        for line in &piece.lines {
            let role = match line.chars().next() {
                _ if !is_taken => Role::Dim,
                Some('+') => Role::DiffAdd,
                Some('-') => Role::DiffDel,
                Some(_) | None => Role::Dim,
            };
            for line in crate::console::model::lines(line) {
                doc.line(role, Plain::blank(6).then(&line));
            }
        }
    }
    if taken.iter().any(|piece| !pieces.contains(piece)) {
        doc.line(Role::Warning, Plain::line("you wrote pieces of your own; they are taken as you wrote them"));
    }
}

/// Whether a payload is nothing but a command, or a new file with its text, and the preview shows just that.
fn is_shown_whole(payload: &Value, preview: Option<&Preview>, is_compared: bool) -> bool {
    let parts = payload.as_object().map_or(0, serde_json::Map::len);
    match preview {
        Some(Preview::Text(text)) => {
            parts == 1 && payload["command"].as_str().is_some_and(|command| text.starts_with(&format!("$ {command}\n")))
        }
        Some(Preview::Diff { path, before: None, after }) => {
            is_compared && parts == 2 && payload["path"] == path.as_str() && payload["content"] == after.as_str()
        }
        Some(Preview::Diff { .. }) | None => false,
    }
}

/// Lines of an old and a new text together up to which they are compared.
const LONGEST_DIFF: usize = 20_000;

fn length(text: Option<&str>) -> usize {
    text.unwrap_or_default().lines().count()
}

/// Characters in texts of a value that are spelled out when it is drawn.
fn hidden(value: &Value) -> u32 {
    match value {
        Value::String(text) => Plain::block(text).iter().map(Plain::hidden).sum(),
        Value::Array(list) => list.iter().map(hidden).sum(),
        Value::Object(map) => map.iter().map(|(name, value)| Plain::line(name).hidden() + hidden(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn written(draft: Option<&ReplyDraft>, options: &[String], doc: &mut Doc<'static>) {
    match draft {
        None => return,
        Some(ReplyDraft::Payload(_)) => doc.line(Role::Warning, Plain::line("you edited the payload; it is checked again when approved")),
        // The mark at the option says it.
        Some(ReplyDraft::Answer(Value::String(answer))) if options.iter().any(|option| option == answer) => return,
        Some(ReplyDraft::Answer(value)) => {
            doc.line(Role::Warning, Plain::line("your reply, not sent yet:"));
            doc.text(Role::Text, &texts::result(value));
        }
        Some(ReplyDraft::Words(text)) if text.is_empty() => doc.line(Role::Warning, Plain::line("rejects without a message, not sent yet")),
        Some(ReplyDraft::Words(text)) => {
            doc.line(Role::Warning, Plain::line("rejects, not sent yet, with this message:"));
            doc.text(Role::Text, text);
        }
    }
    doc.line(Role::Text, Plain::default());
}

/// Bytes of a question that the rows of a title hold on any screen.
const TITLE: usize = 150;

fn question(kind: &GateKind, draft: Option<&ReplyDraft>, doc: &mut Doc<'static>) {
    let Some(GateQuestion { text, options, fields }) = kind.question() else { return };
    // A short one is whole in the title.
    if text.len() > TITLE || text.contains('\n') {
        doc.heading("question");
        doc.text(Role::Text, text);
    }
    for option in options {
        let is_picked = matches!(draft, Some(ReplyDraft::Answer(Value::String(answer))) if *answer == *option);
        let line = Plain::line(if is_picked { "  [x] " } else { "  [ ] " }).then(&Plain::summary(&option));
        let unsent = if is_picked { Plain::line("  your reply, not sent yet") } else { Plain::default() };
        doc.line(if is_picked { Role::Warning } else { Role::Text }, line.then(&unsent));
    }
    for field in fields {
        let preset = field.default.as_ref().map(|value| Plain::line(", preset ").then(&Plain::summary(&value.to_string())));
        doc.line(Role::Text, Plain::line("  field: ").then(&texts::field(field)).then(&preset.unwrap_or_default()));
    }
    if matches!(kind, GateKind::Question { call: None, .. }) {
        doc.line(Role::Dim, Plain::line("the run goes on with any answer, a no too; only a rejection stops what comes after"));
    }
}

/// What a call would send out, exactly.
fn sends(kind: &GateKind, doc: &mut Doc<'static>) {
    let GateKind::Permission { leaves: Some(outgoing), .. } = kind else { return };
    doc.heading("what it would send");
    for (name, text) in outgoing.parts() {
        for (at, piece) in crate::console::model::lines(&text).into_iter().enumerate() {
            let head = Plain::line(if at == 0 { name } else { "" }).pad(9);
            doc.line(Role::Text, head.then(&piece));
        }
    }
    doc.line(Role::Dim, Plain::line("approving allows this host and port for the whole run"));
}

/// Lines of unchanged text around a change.
const CONTEXT: usize = 3;

fn diff(path: &str, before: Option<&str>, after: &str, doc: &mut Doc<'static>) {
    let size = bytes(u64::try_from(after.len()).unwrap_or(u64::MAX));
    let new = if before.is_none() { "new file " } else { "change to " };
    doc.heading(Plain::line(new).then(&Plain::summary(path)).then(&Plain::line(", ")).then(&size).as_str());
    let changes = TextDiff::from_lines(before.unwrap_or_default(), after);
    let mut any = false;
    for group in changes.grouped_ops(CONTEXT) {
        if any {
            doc.line(Role::Dim, Plain::line("  ..."));
        }
        any = true;
        group.iter().for_each(|op| changed_lines(&changes, op, doc));
    }
    if !any {
        doc.line(Role::Dim, Plain::line("nothing would change: the file has this text already"));
    }
}

/// The payload without anything left out, except a text that is just above as the new text of a file: every line of it is
/// either shown there as added or is the same as now.
fn exact(value: &Value, shown: Option<&str>, depth: usize, doc: &mut Doc<'static>) {
    let indent = Plain::blank(depth * 2);
    match value {
        Value::Object(map) if !map.is_empty() => {
            // Who answers for a model reads first what it is asked, then how it is told to work.
            let (system, asked): (Vec<_>, Vec<_>) = map.iter().partition(|(name, _)| depth == 0 && *name == "system");
            for (name, value) in asked.into_iter().chain(system) {
                if let Some(command) = value.as_str().filter(|_| depth == 0 && name == "command") {
                    typed(command, doc);
                    continue;
                }
                // Code alone is read as it is written.
                if let Some(code) = value.as_str().filter(|_| depth == 0 && name == "code" && map.len() == 1) {
                    block(code, &Plain::default(), doc);
                    continue;
                }
                let name = Plain::line(&Value::String(name.clone()).to_string());
                entry(&indent.clone().then(&name).then(&Plain::line(":")), value, shown, depth, doc);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for value in list {
                entry(&indent.clone().then(&Plain::line("-")), value, shown, depth, doc);
            }
        }
        Value::String(text) if text.contains('\n') => block(text, &indent, doc),
        other => leaf(&indent, other, doc),
    }
}

/// A command as it is typed.
fn typed(command: &str, doc: &mut Doc<'static>) {
    for (at, piece) in crate::console::model::lines(command).iter().enumerate() {
        doc.line(Role::Text, Plain::line(if at == 0 { "$ " } else { "  " }).then(piece));
    }
}

fn entry(head: &Plain, value: &Value, shown: Option<&str>, depth: usize, doc: &mut Doc<'static>) {
    match value {
        Value::String(text) if shown == Some(text.as_str()) && !text.is_empty() => {
            doc.line(Role::Text, head.clone().then(&Plain::line(" the new text above, ")).then(&bytes(text.len() as u64)));
        }
        Value::String(text) if text.contains('\n') => {
            doc.line(Role::Text, head.clone().then(&Plain::line(" text, ")).then(&bytes(text.len() as u64)));
            block(text, &Plain::blank(depth * 2 + 2), doc);
        }
        Value::Object(_) | Value::Array(_) if !is_empty(value) => {
            doc.line(Role::Text, head.clone());
            exact(value, shown, depth + 1, doc);
        }
        other => leaf(&head.clone().then(&Plain::blank(1)), other, doc),
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// A text of several lines, each behind a bar.
fn block(text: &str, indent: &Plain, doc: &mut Doc<'static>) {
    for line in text.split('\n') {
        if line.is_empty() {
            doc.line(Role::Text, indent.clone().then(&Plain::line("|")));
        }
        for piece in crate::console::model::lines(line) {
            doc.line(Role::Text, indent.clone().then(&Plain::line("| ")).then(&piece));
        }
    }
}

fn leaf(head: &Plain, value: &Value, doc: &mut Doc<'static>) {
    for (at, piece) in crate::console::model::lines(&value.to_string()).iter().enumerate() {
        let head = if at == 0 { head.clone() } else { Plain::blank(head.width()) };
        doc.line(Role::Text, head.then(piece));
    }
}

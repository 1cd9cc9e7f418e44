//! What can be replied to a failure, and which pieces of a new plan are taken, picked from a list; and which part of a payload is edited.

use serde_json::Value;

use super::super::UpdateTurn;
use super::gates::{edit_part, keep_draft};
use crate::console::model::{Dialog, GateKey, LineThen, Model, Pick, PickItem, PickThen, ReplyDraft, Status, TextField, texts};
use crate::engine::{Command, FailureChoice, Gate, GateKind, ReplanPiece};
use crate::host::client::Request;

/// The replies to a failure, with what each comes to.
pub fn choices(key: &GateKey, gate: &Gate, title: &str) -> Dialog {
    let GateKind::Failure { choices, .. } = &gate.kind else { return Dialog::pick(title, Vec::new()) };
    let answer = |choice: &FailureChoice, detail: &str| {
        PickItem::new(PickThen::Answer(key.clone(), choice.label().to_owned()), choice.label(), detail)
    };
    let mut items = Vec::new();
    for choice in choices {
        items.push(match choice {
            FailureChoice::Retry => answer(choice, "tries it again as it is"),
            FailureChoice::Model => {
                let (label, detail) = ("retry with another model …", "tries it again, and asks the model that you name");
                PickItem::new(PickThen::GateModel(key.clone()), label, detail)
            }
            FailureChoice::Replan => {
                let (label, detail) = ("replan …", "has the planner propose another way; you see it before it happens");
                PickItem::new(PickThen::GateReplan(key.clone()), label, detail)
            }
            FailureChoice::Skip => answer(choice, "leaves it out; nodes that need it don't run"),
            FailureChoice::Fail => answer(choice, "leaves it failed; nodes that need it don't run"),
        });
        if *choice == FailureChoice::Retry && !gate.payload.is_null() {
            items.push(PickItem::new(PickThen::EditGate(key.clone()), "edit and retry …", "changes what it is to do, then tries that"));
        }
    }
    Dialog::pick(title, items)
}

/// Asks what the planner is to do otherwise with what is left of the shown run.
pub fn ask_replan(model: &mut Model, _: &mut UpdateTurn) {
    let Some(view) = model.shown_run() else { return };
    if let Some(why) = view.newest().run.refusal(&Command::Replan { guidance: String::new() }) {
        return model.status = Some(Status::warn(&format!("can't make a new plan: {why}")));
    }
    let note = "what the planner is to do otherwise; what is done stays, and you see the new plan before it happens";
    model.dialogs.push(Dialog::line("a new plan for what is left: how?", TextField::line(""), note, LineThen::Replan));
}

/// Asks the planner.
pub fn replan(model: &mut Model, turn: &mut UpdateTurn, text: &str) {
    let Some(run) = model.shown_run().map(|view| view.id.clone()) else { return };
    turn.send(Request::Command { run, command: Command::Replan { guidance: text.to_owned() } });
    model.status = Some(Status::note("the planner makes a new plan for what is left"));
}

/// Asks for the model that a node is tried again with.
pub fn ask_model(model: &mut Model, key: GateKey) {
    let note = "as `--model` takes it; the other nodes keep theirs";
    model.dialogs.push(Dialog::line("retry with which model?", TextField::line(""), note, LineThen::GateModel(key)));
}

/// Asks what the planner is to hear.
pub fn ask_guidance(model: &mut Model, key: GateKey) {
    let note = "what the planner is to do otherwise; may stay empty";
    model.dialogs.push(Dialog::line("a new plan: how?", TextField::line(""), note, LineThen::GateReplan(key)));
}

/// The pieces of a new plan, each to take or to leave out.
fn pieces(model: &Model, key: &GateKey, selected: usize) -> Option<Pick> {
    let (gate, _) = model.runs.get(&key.run)?.newest().run.gate(key.gate)?;
    let all = ReplanPiece::read(&gate.payload).filter(|_| matches!(gate.kind, GateKind::Replan { .. }))?;
    let taken = ReplanPiece::read(ReplyDraft::payload(model.inbox.drafts.get(key), gate)).unwrap_or_default();
    let item = |(at, piece): (usize, &ReplanPiece)| {
        let mark = if taken.contains(piece) { "[x]" } else { "[ ]" };
        PickItem::new(PickThen::Piece(key.clone(), at), &format!("{mark} {}", piece.piece), "")
    };
    let json = PickItem::new(PickThen::EditPart(key.clone(), None), "edit as JSON …", "the pieces as the gate has them");
    let mut pick = Pick::new("which pieces of the new plan?", all.iter().enumerate().map(item).chain([json]).collect());
    pick.selected = selected;
    Some(pick)
}

/// Takes a piece of a new plan, or leaves it out.
pub fn toggle_piece(model: &mut Model, turn: &mut UpdateTurn, key: &GateKey, at: usize) {
    let Some((gate, _)) = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate)) else { return };
    let all = gate.payload.as_array().cloned().unwrap_or_default();
    let taken = ReplyDraft::payload(model.inbox.drafts.get(key), gate).as_array().cloned().unwrap_or_default();
    let Some(piece) = all.get(at) else { return };
    let keeps = |other: &&Value| if *other == piece { !taken.contains(piece) } else { taken.contains(other) };
    let payload = Value::Array(all.iter().filter(keeps).cloned().collect());
    keep_draft(model, turn, key, ReplyDraft::Payload(payload));
    let dialog = pieces(model, key, at).map(Dialog::Pick);
    model.dialogs.extend(dialog);
}

/// Edits what a gate asks about: of several parts the one that is picked, the longest text first, all of it last.
pub fn edit_payload(model: &mut Model, key: GateKey) {
    let Some((gate, _)) = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate)) else { return };
    let payload = ReplyDraft::payload(model.inbox.drafts.get(&key), gate);
    if let Some(pick) = pieces(model, &key, 0) {
        return model.dialogs.push(Dialog::Pick(pick));
    }
    match payload.as_object() {
        Some(parts) if parts.len() > 1 => {
            let dialog = pick_part(&key, parts);
            model.dialogs.push(dialog);
        }
        parts => {
            let part = parts.and_then(|parts| parts.keys().next().cloned());
            edit_part(model, key, part);
        }
    }
}

fn pick_part(key: &GateKey, parts: &serde_json::Map<String, Value>) -> Dialog {
    let mut names: Vec<&String> = parts.keys().collect();
    names.sort_by_key(|name| std::cmp::Reverse(parts[*name].as_str().map_or(0, str::len)));
    let item =
        |part: Option<&String>, label: &str, detail: &str| PickItem::new(PickThen::EditPart(key.clone(), part.cloned()), label, detail);
    let all = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let items = names.into_iter().map(|name| item(Some(name), name, &texts::result(&parts[name])));
    Dialog::pick("edit which part?", items.chain([item(None, "all of it, as JSON", &all)]).collect())
}

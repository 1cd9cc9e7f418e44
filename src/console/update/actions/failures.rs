//! What can be replied to a failure, picked from a list; and which part of a payload is edited.

use serde_json::Value;

use super::gates::edit_part;
use crate::console::model::{Dialog, GateKey, LineThen, Model, PickItem, PickThen, ReplyDraft, TextField, texts};
use crate::engine::{FailureChoice, Gate, GateKind};

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
            FailureChoice::Skip => answer(choice, "leaves it out; nodes that need it don't run"),
            FailureChoice::Fail => answer(choice, "leaves it failed; nodes that need it don't run"),
        });
        if *choice == FailureChoice::Retry && !gate.payload.is_null() {
            items.push(PickItem::new(PickThen::EditGate(key.clone()), "edit and retry …", "changes what it is to do, then tries that"));
        }
    }
    Dialog::pick(title, items)
}

/// Asks for the model that a node is tried again with.
pub fn ask_model(model: &mut Model, key: GateKey) {
    let note = "as `--model` takes it; the other nodes keep theirs";
    model.dialogs.push(Dialog::line("retry with which model?", TextField::line(""), note, LineThen::GateModel(key)));
}

/// Edits what a gate asks about: of several parts the one that is picked, the longest text first, all of it last.
pub fn edit_payload(model: &mut Model, key: GateKey) {
    let Some((gate, _)) = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate)) else { return };
    let payload = ReplyDraft::payload(model.inbox.drafts.get(&key), gate);
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

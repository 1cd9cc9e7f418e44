//! Agents, tools, servers and rules: looking at them, trying a tool, editing a card, starting and ending a server, ending a rule.

use serde_json::{Map, Value};

use super::super::{ConsoleEffect, UpdateTurn};
use super::rules;
use crate::console::model::{
    Asks, Confirmed, Dialog, EditThen, EditorDialog, FormDialog, FormThen, GateKey, InventoryRow, Model, Reading, Screen, Status, TextField,
};
use crate::host::client::{Notice, Request, ServerTurn};
use crate::plan::dialect::exact_json;
use crate::plan::{Field, FieldKind, Node, NodeId, NodeKind, Plan, ToolInfo, ToolInput, ToolNode};
use crate::text::Plain;

/// Lines of a log that are shown first: its last ones.
const LOG_LINES: usize = 12;

/// Shows them as they are now.
pub fn screen(model: &mut Model, turn: &mut UpdateTurn) {
    model.go(Screen::Inventory);
    turn.send(Request::ListInventory);
}

/// Takes in what the host says of them, and of rules.
pub fn heard(model: &mut Model, turn: &mut UpdateTurn, notice: Notice) {
    match notice {
        Notice::Inventory(inventory) => {
            model.session.inventory.came(*inventory);
            turned(model);
        }
        Notice::CardRead { name, text, file } => {
            model.status = Some(Status::note(&format!("saved to {file}")));
            turn.effects.push(ConsoleEffect::OpenEditor { text, suffix: ".md", then: EditThen::Card(name) });
        }
        Notice::CardSaved { name, file } => {
            model.status = Some(Status::good(&format!("the card of `{name}` is saved to {file}; it counts for the next node that starts")));
            turn.send(Request::ListInventory);
        }
        Notice::CardRefused { name, text, why } => {
            let Dialog::Editor(editor) = Dialog::editor("the card can't be used: fix it here, or cancel", &text, EditThen::Card(name))
            else {
                return;
            };
            model.dialogs.push(Dialog::Editor(EditorDialog { note: Some(Plain::summary(&why)), ..editor }));
        }
        Notice::ServerLog { name, text } => {
            let lines: Vec<Plain> = text.lines().map(Plain::line).collect();
            let (title, start) = (Plain::line(&format!("log of {name}, its end")), lines.len().saturating_sub(LOG_LINES));
            model.dialogs.push(Dialog::reader(Reading::Words { title, lines }, start));
        }
        Notice::RuleOffers { run, gate, offers } => rules::offered(model, GateKey { run, gate }, offers),
        Notice::RuleWeighed { run, gate, only, offer } => rules::weighed(model, &GateKey { run, gate }, &only, &offer),
        Notice::RuleKept { id, what, file } => rules::kept(model, id, &what, &file),
        _ => {}
    }
}

/// Says how the server is that was to be started or ended.
fn turned(model: &mut Model) {
    let Some(name) = model.session.inventory.turning.take() else { return };
    if let Some(server) = model.session.inventory.shown.servers.iter().find(|server| server.name == name) {
        let said = format!("{name}: {}", server.state);
        model.status = Some(if server.is_fine { Status::good(&said) } else { Status::warn(&said) });
    }
}

/// Opens what there is of the selected row: a tool is tried, a card edited, a server's log read.
pub fn open(model: &mut Model, turn: &mut UpdateTurn) {
    match model.session.inventory.selected() {
        Some(InventoryRow::Tool(_)) => attempt(model, turn),
        Some(InventoryRow::Agent(_)) => edit(model, turn),
        Some(InventoryRow::Server(_)) => log(model, turn),
        Some(InventoryRow::Rule(_)) => revoke(model, turn),
        None => {}
    }
}

/// Asks for the arguments of the selected tool.
pub fn attempt(model: &mut Model, _: &mut UpdateTurn) {
    let Some(InventoryRow::Tool(tool)) = model.session.inventory.selected() else { return };
    let name = tool.info.name.clone();
    ask(model, name, &Value::Null, None);
}

/// Asks again, with what was typed, as something was wrong with it.
pub fn try_again(model: &mut Model, tool: String, typed: &Value, why: &str) {
    ask(model, tool, typed, Some(Plain::summary(why)));
}

fn ask(model: &mut Model, name: String, typed: &Value, note: Option<Plain>) {
    let Some(tool) = model.session.inventory.tool(&name) else { return };
    let line = |field: Field| {
        let text = TextField::line(typed[&field.name].as_str().unwrap_or_default());
        (Asks::Field(field), text)
    };
    let fields = fields(&tool.info).into_iter().map(line).collect();
    let title = Plain::line(&format!("try {name}: it runs as a run of its own, and asks as always"));
    model.dialogs.push(Dialog::Form(FormDialog { title, fields, focus: 0, note, then: FormThen::Try(name) }));
}

/// The parameters of a tool, the required ones first. All are typed as text, so that what is left empty is left out.
fn fields(tool: &ToolInfo) -> Vec<Field> {
    let required = |name: &str| tool.input_schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
    let about = |name: &str, schema: &Value| {
        let need = if required(name) { "" } else { " (may be empty)" };
        let what = schema["description"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
        let label = Some(format!("{name}{need}{what}"));
        Field { name: name.to_owned(), kind: FieldKind::Text, label, default: None, options: Vec::new(), optional: !required(name) }
    };
    let properties = tool.input_schema["properties"].as_object();
    let mut fields: Vec<Field> = properties.into_iter().flatten().map(|(name, schema)| about(name, schema)).collect();
    fields.sort_by_key(|field| !required(&field.name));
    fields
}

/// Runs the tool with what was typed, by a plan of one node: its gates, its place in the journal and its undo are those of any run.
///
/// # Errors
/// Which argument is wrong, in words.
pub fn tried(model: &mut Model, turn: &mut UpdateTurn, tool: &str, typed: &Value) -> Result<(), String> {
    let known = model.session.inventory.tool(tool).ok_or_else(|| format!("there is no tool `{tool}` any more"))?;
    let args = arguments(&known.info, typed)?;
    let kind = NodeKind::Tool(ToolNode { tool: tool.to_owned(), input: ToolInput::Args(args) });
    let mut node = Node::new(NodeId::new("try"), kind);
    node.ext.insert("title".to_owned(), Value::from(format!("Try {tool}")));
    let plan = Plan { goal: format!("Try {tool}"), nodes: vec![node], ..Plan::default() };
    turn.send(Request::Start { plan: Box::new(plan), inputs: Map::new(), first: Vec::new(), model: None, planning: Vec::new() });
    model.go(Screen::Plan);
    model.status = Some(Status::note("starting"));
    Ok(())
}

/// What was typed, as the tool's schema has it: it stays text where text is taken, all else is JSON.
fn arguments(tool: &ToolInfo, typed: &Value) -> Result<Map<String, Value>, String> {
    let needed = tool.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = needed.into_iter().find(|name| typed[name].as_str().is_none_or(str::is_empty)) {
        return Err(format!("`{missing}` is needed: write something there"));
    }
    let given = typed.as_object().into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_str()?)));
    let is_text = |name: &str| {
        let kind = &tool.input_schema["properties"][name]["type"];
        kind == "string" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "string"))
    };
    let value = |(name, text): (&String, &str)| {
        let value = if is_text(name) { Ok(Value::from(text)) } else { exact_json(text) };
        value.map(|value| (name.clone(), value)).map_err(|_| format!("`{name}` must be JSON, such as 3, true or [\"a\"]"))
    };
    given.filter(|(_, text)| !text.is_empty()).map(value).collect()
}

/// Edits the card of the selected agent in `$EDITOR`.
pub fn edit(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(InventoryRow::Agent(agent)) = model.session.inventory.selected() {
        turn.send(Request::ReadCard(agent.info.name.clone()));
    }
}

/// Starts the selected server, or starts it anew.
pub fn start(model: &mut Model, turn: &mut UpdateTurn) {
    serve(model, turn, ServerTurn::Restart, "starting");
}

/// Ends the selected server; the next call of a tool of it starts it again.
pub fn stop(model: &mut Model, turn: &mut UpdateTurn) {
    serve(model, turn, ServerTurn::Stop, "ending");
}

fn serve(model: &mut Model, turn: &mut UpdateTurn, what: ServerTurn, word: &str) {
    let Some(InventoryRow::Server(server)) = model.session.inventory.selected() else { return };
    let name = server.name.clone();
    model.status = Some(Status::note(&format!("{word} {name} …")));
    model.session.inventory.turning = Some(name.clone());
    turn.send(Request::TurnServer { name, turn: what });
}

/// Reads the log of the selected server.
pub fn log(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(InventoryRow::Server(server)) = model.session.inventory.selected() {
        turn.send(Request::ReadServerLog(server.name.clone()));
    }
}

/// Asks whether the selected rule is to end.
pub fn revoke(model: &mut Model, _: &mut UpdateTurn) {
    let Some(InventoryRow::Rule(rule)) = model.session.inventory.selected() else { return };
    let lines = vec![Plain::line(&format!("end rule {}?", rule.id)), Plain::summary(&rule.label)];
    let then = Confirmed::RevokeRule(rule.id);
    model.dialogs.push(Dialog::confirm(lines, then));
}

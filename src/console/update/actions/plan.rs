//! Changing the plan: nodes, their text, who does them, their gates; undo and redo.

use serde_json::{Map, Value, json};

use super::{
    super::{ConsoleEffect, UpdateTurn},
    change::{change, report},
};
use crate::console::model::{
    Dialog, EditThen, EditorDialog, Focus, LineDialog, LineThen, Lines, Model, Pick, PickItem, PickThen, PlanScreen, Status, TextField,
    Version, words,
};
use crate::plan::{
    AgentNode, Approve, Ask, CodeNode, DecisionNode, LoopNode, MapNode, MergeNode, Node, NodeId, NodeKind, Plan, SandboxLimits,
    SubplanNode, ToolInput, ToolNode, TransformNode,
    edit::Edit,
    native::{node_from_value, node_to_value},
    nest,
};
use crate::text::Plain;

/// A plan that is there already goes into the editor; `origin` says where it comes from (`from plan.json`).
pub fn open(model: &mut Model, plan: Plan, origin: &str) {
    model.editor.begin(Version { plan: Box::new(plan), origin: Plain::summary(origin) });
    if model.session.knows_catalog {
        model.editor.refresh(&model.session.catalog);
    }
    model.place.shown = PlanScreen::Plan;
    model.place.focus = Focus::Tree;
}

/// Picks the sort of work of a new node.
pub fn add(model: &mut Model, _: &mut UpdateTurn) {
    let items = vec![
        PickItem::new("agent", "agent", "an agent works on an objective"),
        PickItem::new("tool", "tool", "one tool call, no model"),
        PickItem::new("code", "code", "JavaScript in the sandbox; sees deps and inputs"),
        PickItem::new("transform", "transform", "shapes data by a template"),
        PickItem::new("approval", "approval", "asks you a question"),
        PickItem::new("merge", "merge", "joins branches"),
        PickItem::new("decision", "decision", "picks one edge by an expression"),
        PickItem::new("decider", "decision by an agent", "an agent's answer picks one edge"),
        PickItem::new("plan", "sub-plan", "an inner plan that runs as one node"),
        PickItem::new("map", "map", "runs the inner plan once for each entry of a list"),
        PickItem::new("loop", "loop", "repeats the inner plan until a condition holds"),
    ];
    model.dialogs.push(Dialog::Pick(Pick::new("add a node: what kind?", items, PickThen::AddKind)));
}

/// The sort of work was picked: agents and tools are picked next, others are added at once.
pub fn add_kind(model: &mut Model, turn: &mut UpdateTurn, kind: &str) {
    let work = match kind {
        "agent" => return pick_worker(model, "agent", None, PickThen::AddWorker { kind: "agent" }),
        "tool" => return pick_worker(model, "tool", None, PickThen::AddWorker { kind: "tool" }),
        "decider" => return pick_worker(model, "agent", None, PickThen::AddWorker { kind: "decider" }),
        "plan" => NodeKind::Subplan(SubplanNode::Inline(Box::new(step_of(json!("done"))))),
        "map" => {
            NodeKind::Map(MapNode { over: "inputs.items".into(), body: Box::new(step_of(json!("{{inputs.item}}"))), max_parallel: None })
        }
        "loop" => NodeKind::Loop(LoopNode { body: Box::new(step_of(json!("{{inputs.iteration}}"))), until: "step == 3".into() }),
        "code" => NodeKind::Code(CodeNode { code: "return null;".into(), sandbox: SandboxLimits::default() }),
        "transform" => NodeKind::Transform(TransformNode { value: Value::Object(Map::new()) }),
        "approval" => NodeKind::Approval(Ask { text: "May this go on?".into(), ..Ask::default() }),
        "merge" => NodeKind::Merge(MergeNode::default()),
        "decision" => NodeKind::Decision(DecisionNode::Expression(String::new())),
        _ => return,
    };
    add_node(model, turn, kind, work);
}

/// A plan of one step to begin with; steps are added beside it.
fn step_of(value: Value) -> Plan {
    Plan { nodes: vec![Node::new("step", NodeKind::Transform(TransformNode { value }))], ..Plan::default() }
}

/// The agent or tool of a new node was picked.
pub fn add_worker(model: &mut Model, turn: &mut UpdateTurn, kind: &str, name: &str) {
    let agent = || AgentNode { agent: Some(name.to_owned()), objective: Some(String::new()), ..AgentNode::default() };
    let work = match kind {
        "agent" => NodeKind::Agent(agent()),
        "decider" => NodeKind::Decision(DecisionNode::Agent(agent())),
        _ => NodeKind::Tool(ToolNode { tool: name.to_owned(), input: ToolInput::Args(skeleton(model, name)) }),
    };
    add_node(model, turn, name, work);
}

/// Arguments that a tool requires, empty.
fn skeleton(model: &Model, tool: &str) -> Map<String, Value> {
    let schema = model.session.catalog.tool(tool).map(|known| &known.input_schema);
    let required = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), Value::String(String::new()))).collect()
}

fn add_node(model: &mut Model, turn: &mut UpdateTurn, name: &str, work: NodeKind) {
    // An empty plan inside the selected node is filled; else the new node comes after the selected one.
    let inside = model.selected_id().filter(|id| model.addressed().is_empty_inside(id)).map(|id| NodeId::new(format!("{id}/")));
    let id = model.addressed().free_id(inside.as_ref().or(model.selected_id()), name);
    let depends_on = model.selected_id().filter(|_| inside.is_none()).cloned().into_iter().collect();
    let mut node = Node { depends_on, ..Node::new(id.clone(), work) };
    node.policy.max_iterations = matches!(node.kind, NodeKind::Loop(_)).then_some(5);
    if matches!(model.place.shown, PlanScreen::Run(_)) {
        // It may start as soon as it is there: its text is written first.
        let title = Plain::line(&words::text_title(&node));
        let text = words::text(&node);
        model.dialogs.push(Dialog::Editor(EditorDialog::new(title, &text, EditThen::NewNode { node: Box::new(node) })));
        return;
    }
    let done = change(model, turn, |plan| Ok(Some(plan.append(&node))));
    report(model, done, &format!("added `{id}`"));
    select(model, &id);
    if model.selected_node().is_some_and(|node| !matches!(node.kind, NodeKind::Merge(_) | NodeKind::Subplan(_))) {
        edit_text(model);
    }
}

fn pick_worker(model: &mut Model, kind: &str, current: Option<&str>, then: PickThen) {
    let catalog = &model.session.catalog;
    let items: Vec<PickItem> = match kind {
        "agent" => catalog.agents.iter().map(|agent| PickItem::new(&agent.name, &agent.name, &agent.description)).collect(),
        _ => catalog.tools.iter().map(|tool| PickItem::new(&tool.name, &tool.name, &tool.description)).collect(),
    };
    let selected = items.iter().position(|item| Some(item.value.as_str()) == current).unwrap_or(0);
    let mut items = items;
    if let Some(item) = items.get_mut(selected).filter(|_| current.is_some()) {
        item.detail = Plain::line("in use  ").then(&item.detail);
    }
    model.dialogs.push(Dialog::Pick(Pick { selected, ..Pick::new(kind, items, then) }));
}

/// The text of a node that is added to a run was written.
///
/// # Errors
/// What is wrong with it, in words.
pub fn keep_new(model: &mut Model, turn: &mut UpdateTurn, node: &Node, text: &str) -> Result<(), String> {
    let node = Node { kind: words::with_text(&node.kind, text)?, ..node.clone() };
    change(model, turn, |plan| Ok(Some(plan.append(&node)))).map(|_| ())
}

/// Deletes the selected node with its edges.
pub fn delete(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(id) = model.selected_id().cloned() else { return };
    let undo = model.hint("plan.undo");
    let done = change(model, turn, |plan| Ok(Some(plan.remove(&id))));
    report(model, done, &format!("deleted `{id}`; press {undo} to undo"));
}

/// Asks for the node's new id.
pub fn rename(model: &mut Model, _: &mut UpdateTurn) {
    let Some(id) = model.selected_id().cloned() else { return };
    model.dialogs.push(Dialog::Line(LineDialog {
        title: Plain::line(&format!("new id of `{id}`; references change too")),
        field: TextField::new(Lines::One, &id[nest::prefix(&id).len()..]),
        note: None,
        then: LineThen::Rename { node: id },
    }));
}

/// Adds a copy of the selected node.
pub fn duplicate(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(from) = model.selected_id().cloned() else { return };
    let id = model.addressed().free_id(Some(&from), nest::name(&from));
    let done = change(model, turn, |plan| Ok(Some(plan.duplicate(&from, &id))));
    report(model, done, &format!("added `{id}`"));
    select(model, &id);
}

fn select(model: &mut Model, id: &NodeId) {
    if model.addressed().node(id).is_none() {
        return;
    }
    model.with_tree(|tree, plan| {
        tree.reveal(plan, id);
    });
}

/// Edits the selected node's text in a dialog.
pub fn edit(model: &mut Model, _: &mut UpdateTurn) {
    edit_text(model);
}

fn edit_text(model: &mut Model) {
    let Some(node) = model.selected_node() else { return };
    let text = words::text(node);
    let title = Plain::line(&words::text_title(node));
    let then = EditThen::NodeText { node: node.id.clone() };
    model.dialogs.push(Dialog::Editor(EditorDialog::new(title, &text, then)));
}

/// Edits the selected node with all its fields as JSON.
pub fn node(model: &mut Model, _: &mut UpdateTurn) {
    let Some(node) = model.selected_node() else { return };
    let text = words::pretty(&node_to_value(&nest::node_within(nest::prefix(&node.id), node)));
    let title = Plain::line(&format!("node `{}`", node.id));
    let then = EditThen::Node { node: node.id.clone() };
    model.dialogs.push(Dialog::Editor(EditorDialog::new(title, &text, then)));
}

/// The node was edited with all its fields.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn keep_node(model: &mut Model, turn: &mut UpdateTurn, id: &NodeId, text: &str) -> Result<(), String> {
    let node = node_from_value(words::parse(text)?, "").map_err(|error| error.to_string())?;
    let prefix = nest::prefix(id);
    if id[prefix.len()..] != *node.id {
        return Err(format!("keep the id `{}`: use rename to change it with its references", &id[prefix.len()..]));
    }
    change(model, turn, |plan| Ok(plan.replace(&nest::node_under(prefix, &node)))).map(|_| ())
}

/// Edits the selected node's text outside.
pub fn edit_outside(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(node) = model.selected_node() else { return };
    let then = EditThen::NodeText { node: node.id.clone() };
    turn.effects.push(ConsoleEffect::OpenEditor { text: words::text(node), suffix: words::text_suffix(&node.kind), then });
}

/// Edits the whole plan as JSON outside.
pub fn edit_all(model: &mut Model, turn: &mut UpdateTurn) {
    let text = serde_json::to_string_pretty(model.editor.plan()).unwrap_or_default();
    turn.effects.push(ConsoleEffect::OpenEditor { text, suffix: ".json", then: EditThen::WholePlan });
}

/// Edits the plan's inputs as JSON.
pub fn inputs(model: &mut Model, _: &mut UpdateTurn) {
    let text = words::pretty(&Value::Object(model.plan().inputs.clone()));
    model.dialogs.push(Dialog::Editor(EditorDialog::new(Plain::line("inputs of the plan"), &text, EditThen::Inputs)));
}

/// The plan's inputs were edited.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn keep_inputs(model: &mut Model, turn: &mut UpdateTurn, text: &str) -> Result<(), String> {
    let Value::Object(inputs) = words::parse(text)? else { return Err("inputs must be a JSON object: name and value".into()) };
    change(model, turn, |plan| Ok((inputs != plan.plan.inputs).then_some(Edit::SetInputs { inputs }))).map(|_| ())
}

/// Asks for the plan's goal.
pub fn goal(model: &mut Model, _: &mut UpdateTurn) {
    model.dialogs.push(Dialog::Line(LineDialog {
        title: Plain::line("goal of the plan"),
        field: TextField::new(Lines::One, &model.plan().goal),
        note: None,
        then: LineThen::Goal,
    }));
}

/// The plan's goal was edited.
///
/// # Errors
/// Why it is refused, in words.
pub fn keep_goal(model: &mut Model, turn: &mut UpdateTurn, goal: &str) -> Result<(), String> {
    change(model, turn, |plan| Ok((goal != plan.plan.goal).then(|| Edit::SetGoal { goal: goal.to_owned() }))).map(|_| ())
}

/// The node's new id was typed.
///
/// # Errors
/// Why it is refused, in words.
pub fn keep_id(model: &mut Model, turn: &mut UpdateTurn, from: &NodeId, to: &str) -> Result<(), String> {
    let address = NodeId::new(format!("{}{to}", nest::prefix(from)));
    // The tree follows first, so that folds and the selection stay with the node.
    model.with_tree(|tree, _| tree.rename(from, &address));
    let done = change(model, turn, |plan| Ok(plan.rename(from, &NodeId::new(to))));
    // A run has the new name only when it says so.
    if done.is_err() || matches!(model.place.shown, PlanScreen::Run(_)) {
        model.with_tree(|tree, _| tree.rename(&address, from));
    }
    done.map(|_| ())
}

/// The node's text was edited.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn keep_text(model: &mut Model, turn: &mut UpdateTurn, id: &NodeId, text: &str) -> Result<(), String> {
    let mut node = model.addressed().node(id).cloned().ok_or_else(|| format!("`{id}` is no longer in the plan"))?;
    node.kind = words::with_text(&node.kind, text)?;
    change(model, turn, |plan| Ok(plan.replace(&node))).map(|_| ())
}

/// Picks another agent or tool.
pub fn worker(model: &mut Model, _: &mut UpdateTurn) {
    let Some(node) = model.selected_node() else { return };
    let (kind, current) = match (node.kind.tool(), node.kind.agent()) {
        (Some(work), _) => ("tool", Some(work.tool.clone())),
        (None, Some(work)) => ("agent", work.agent.clone()),
        (None, None) => return,
    };
    let then = PickThen::Worker { node: node.id.clone() };
    pick_worker(model, kind, current.as_deref(), then);
}

/// Another agent or tool was picked.
pub fn set_worker(model: &mut Model, turn: &mut UpdateTurn, id: &NodeId, name: &str) {
    let Some(mut node) = model.addressed().node(id).cloned() else { return };
    match &mut node.kind {
        NodeKind::Agent(work) | NodeKind::Decision(DecisionNode::Agent(work)) => work.agent = Some(name.to_owned()),
        NodeKind::Tool(work) => name.clone_into(&mut work.tool),
        _ => return,
    }
    let done = change(model, turn, |plan| Ok(plan.replace(&node)));
    report(model, done, &format!("`{id}` now uses {name}"));
}

/// The next setting of the gates around the selected node.
pub fn gate(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(mut node) = model.selected_node().cloned() else { return };
    node.policy.approve = match node.policy.approve {
        None => Some(Approve::Before),
        Some(Approve::Before) => Some(Approve::After),
        Some(Approve::After) => Some(Approve::Both),
        Some(Approve::Both) => Some(Approve::Never),
        Some(Approve::Never) => None,
    };
    let said = format!("`{}` asks you: {}", node.id, words::approve(node.policy.approve));
    let done = change(model, turn, |plan| Ok(plan.replace(&node)));
    report(model, done, &said);
}

/// Takes the last change back.
pub fn undo(model: &mut Model, _: &mut UpdateTurn) {
    model.editor.undo(&model.session.catalog);
    model.status = Some(Status::note("undone"));
}

/// Does it again.
pub fn redo(model: &mut Model, _: &mut UpdateTurn) {
    model.editor.redo(&model.session.catalog);
    model.status = Some(Status::note("redone"));
}

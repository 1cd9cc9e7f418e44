//! Changing the plan: nodes, their text, who does them, their gates; undo and redo.

use serde_json::{Map, Value, json};

use super::super::{ConsoleEffect, UpdateTurn};
use super::change::{change, report};
use crate::console::model::{
    Dialog, EditThen, Focus, HistoryStep, LineThen, Model, Performer, Pick, PickItem, PickThen, PlanOrigin, PlanScreen, Screen, Status,
    TextField, Version, texts,
};
use crate::plan::edit::Edit;
use crate::plan::{
    AgentNode, ApprovalNode, Approve, CodeNode, DecisionNode, LoopNode, MapNode, MergeNode, Moment, Node, NodeId, NodeKind, Plan,
    SandboxLimits, SubplanNode, ToolInput, ToolNode, TransformNode, nest,
};
use crate::text::Plain;

/// A plan that is there already goes into the editor.
pub fn open(model: &mut Model, plan: Plan, origin: PlanOrigin) {
    model.editor.begin(Version { plan: Box::new(plan), origin, ..Version::default() });
    if model.session.knows_catalog {
        model.editor.refresh(&model.session.catalog);
    }
    model.place.shown = PlanScreen::Plan;
    model.place.focus = Focus::Tree;
}

/// Asks what kind a new node is of.
pub fn add(model: &mut Model, _: &mut UpdateTurn) {
    let inner = |value: &str| Box::new(step_of(json!(value)));
    let map = MapNode { over: "inputs.items".into(), body: inner("{{inputs.item}}"), max_parallel: None };
    let ask = ApprovalNode { text: "May this go on?".into(), ..ApprovalNode::default() };
    let code = CodeNode { code: "return null;".into(), sandbox: SandboxLimits::default() };
    let by = |performer, label, detail| PickItem::new(PickThen::AddBy(performer), label, detail);
    let of = |work: NodeKind, name: &str, label, detail| PickItem::new(PickThen::Add(name.to_owned(), Box::new(work)), label, detail);
    let items = vec![
        by(Performer::Agent, "agent", "an agent works on an objective"),
        by(Performer::Tool, "tool", "one tool call, no model"),
        of(NodeKind::Code(code), "code", "code", "JavaScript in the sandbox; sees deps and inputs"),
        of(NodeKind::Transform(TransformNode { value: json!({}) }), "transform", "transform", "shapes data by a template"),
        of(NodeKind::Approval(ask), "approval", "question", "asks you, and goes on with your answer"),
        of(NodeKind::Merge(MergeNode::default()), "merge", "merge", "joins branches"),
        of(NodeKind::Decision(DecisionNode::Expression(String::new())), "decision", "decision", "picks one edge by an expression"),
        by(Performer::Decider, "decision by an agent", "an agent's answer picks one edge"),
        of(NodeKind::Subplan(SubplanNode::Inline(inner("done"))), "plan", "subplan", "an inner plan that runs as one node"),
        of(NodeKind::Map(map), "map", "map", "runs the inner plan once for each entry of a list"),
        of(
            NodeKind::Loop(LoopNode { body: inner("{{inputs.iteration}}"), until: "step == 3".into() }),
            "loop",
            "loop",
            "repeats the inner plan until a condition holds",
        ),
    ];
    model.dialogs.push(Dialog::pick("add a node: what kind?", items));
}

/// A plan of one step to begin with; steps are added beside it.
fn step_of(value: Value) -> Plan {
    Plan { nodes: vec![Node::new("step", NodeKind::Transform(TransformNode { value }))], ..Plan::default() }
}

/// Asks for the agent or tool of a new node.
pub fn ask_performer(model: &mut Model, performer: Performer) {
    let agent = |name: &str| AgentNode { agent: Some(name.to_owned()), objective: Some(String::new()), ..AgentNode::default() };
    let work = |name: &str| match performer {
        Performer::Agent => NodeKind::Agent(agent(name)),
        Performer::Decider => NodeKind::Decision(DecisionNode::Agent(agent(name))),
        Performer::Tool => NodeKind::Tool(ToolNode { tool: name.to_owned(), input: ToolInput::Args(skeleton(model, name)) }),
    };
    let pick = performers(model, performer, None, |name| PickThen::Add(name.to_owned(), Box::new(work(name))));
    model.dialogs.push(pick);
}

/// Arguments that a tool requires, empty.
fn skeleton(model: &Model, tool: &str) -> Map<String, Value> {
    let schema = model.session.catalog.tool(tool).map(|known| &known.input_schema);
    let required = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), Value::String(String::new()))).collect()
}

/// Adds a node that does this, called like this.
pub fn add_node(model: &mut Model, turn: &mut UpdateTurn, name: &str, work: NodeKind) {
    // An empty plan inside the selected node is filled; else the new node comes after the selected one.
    let inside = model.selected_id().filter(|id| model.addressed().is_empty_inside(id)).map(|id| NodeId::new(format!("{id}/")));
    let id = model.addressed().free_id(inside.as_ref().or(model.selected_id()), name);
    let depends_on = model.selected_id().filter(|_| inside.is_none()).cloned().into_iter().collect();
    let mut node = Node { depends_on, ..Node::new(id.clone(), work) };
    node.policy.max_iterations = matches!(node.kind, NodeKind::Loop(_)).then_some(5);
    if matches!(model.place.shown, PlanScreen::Run(_)) {
        // It may start as soon as it is there: its text is written first.
        let (title, text) = (texts::text_title(&node), texts::to_edit(&node));
        return model.dialogs.push(Dialog::editor(&title, &text, EditThen::NewNode(Box::new(node))));
    }
    let done = change(model, turn, |plan| Ok(Some(plan.append(&node))));
    report(model, done, &format!("added `{id}`"));
    select(model, &id);
    if model.selected_node().is_some_and(|node| !matches!(node.kind, NodeKind::Merge(_) | NodeKind::Subplan(_))) {
        edit(model, turn);
    }
}

/// The agents or tools to pick from; the one in use is marked.
fn performers(model: &Model, performer: Performer, current: Option<&str>, then: impl Fn(&str) -> PickThen) -> Dialog {
    let catalog = &model.session.catalog;
    let (title, known): (&str, Vec<(&String, &String)>) = match performer {
        Performer::Agent | Performer::Decider => ("agent", catalog.agents.iter().map(|agent| (&agent.name, &agent.description)).collect()),
        Performer::Tool => ("tool", catalog.tools.iter().map(|tool| (&tool.name, &tool.description)).collect()),
    };
    let selected = known.iter().position(|(name, _)| Some(name.as_str()) == current);
    let mut pick = Pick::new(title, known.iter().map(|(name, detail)| PickItem::new(then(name), name, detail)).collect());
    if let Some(at) = selected {
        pick.selected = at;
        pick.items[at].detail = Plain::line("in use  ").then(&pick.items[at].detail);
    }
    if performer == Performer::Tool {
        let off = known.iter().enumerate().filter(|(_, (name, _))| catalog.not_set_up.contains(*name));
        for (at, _) in off {
            pick.items[at].detail = Plain::line("off: not set up, so it fails  ").then(&pick.items[at].detail);
        }
    }
    Dialog::Pick(pick)
}

/// The text of a node that is added to a run was written.
///
/// # Errors
/// What is wrong with it, in words.
pub fn keep_new(model: &mut Model, turn: &mut UpdateTurn, node: &Node, text: &str) -> Result<(), String> {
    let node = Node { kind: texts::with_text(&node.kind, text)?, ..node.clone() };
    change(model, turn, |plan| Ok(Some(plan.append(&node)))).map(drop)
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
    let (title, field) = (format!("new id of `{id}`; references change too"), TextField::line(nest::name(&id)));
    model.dialogs.push(Dialog::line(&title, field, "", LineThen::Rename(id)));
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
    if model.addressed().node(id).is_some() {
        model.reveal(id);
    }
}

/// Edits the selected node's text in a dialog.
pub fn edit(model: &mut Model, _: &mut UpdateTurn) {
    let Some(node) = model.selected_node() else { return };
    let editor = Dialog::editor(&texts::text_title(node), &texts::to_edit(node), EditThen::NodeText(node.id.clone()));
    model.dialogs.push(editor);
}

/// Edits the selected node with all its fields as JSON.
pub fn node(model: &mut Model, _: &mut UpdateTurn) {
    let Some(node) = model.selected_node() else { return };
    let editor = Dialog::editor(&format!("node `{}`", node.id), &texts::node_json(node), EditThen::Node(node.id.clone()));
    model.dialogs.push(editor);
}

/// The node was edited with all its fields.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn keep_node(model: &mut Model, turn: &mut UpdateTurn, id: &NodeId, text: &str) -> Result<(), String> {
    let node = texts::node_of(text)?;
    if *nest::name(id) != *node.id {
        return Err(format!("keep the id `{}`: use rename to change it with its references", nest::name(id)));
    }
    change(model, turn, |plan| Ok(plan.replace(&nest::node_under(nest::prefix(id), &node)))).map(drop)
}

/// Edits the selected node's text outside.
pub fn edit_outside(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(node) = model.selected_node() else { return };
    let (text, suffix, then) = (texts::to_edit(node), texts::text_suffix(&node.kind), EditThen::NodeText(node.id.clone()));
    turn.effects.push(ConsoleEffect::OpenEditor { text, suffix, then });
}

/// Edits the whole plan as JSON outside.
pub fn edit_all(model: &mut Model, turn: &mut UpdateTurn) {
    let text = serde_json::to_string_pretty(model.editor.plan()).unwrap_or_default();
    turn.effects.push(ConsoleEffect::OpenEditor { text, suffix: ".json", then: EditThen::WholePlan });
}

/// Edits the plan's inputs as JSON.
pub fn inputs(model: &mut Model, _: &mut UpdateTurn) {
    let text = texts::pretty(&Value::Object(model.plan().inputs.clone()));
    model.dialogs.push(Dialog::editor("inputs of the plan", &text, EditThen::Inputs));
}

/// The plan's inputs were edited.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn keep_inputs(model: &mut Model, turn: &mut UpdateTurn, text: &str) -> Result<(), String> {
    let Value::Object(inputs) = texts::parse(text)? else { return Err("inputs must be a JSON object: name and value".into()) };
    change(model, turn, |plan| Ok((inputs != plan.plan.inputs).then_some(Edit::SetInputs { inputs }))).map(drop)
}

/// Asks for the plan's goal.
pub fn goal(model: &mut Model, _: &mut UpdateTurn) {
    let field = TextField::line(&model.plan().goal);
    model.dialogs.push(Dialog::line("goal of the plan", field, "", LineThen::Goal));
}

/// The plan's goal was edited.
///
/// # Errors
/// Why it is refused, in words.
pub fn keep_goal(model: &mut Model, turn: &mut UpdateTurn, goal: &str) -> Result<(), String> {
    change(model, turn, |plan| Ok((goal != plan.plan.goal).then(|| Edit::SetGoal { goal: goal.to_owned() }))).map(drop)
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
    done.map(drop)
}

/// The node's text was edited.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn keep_text(model: &mut Model, turn: &mut UpdateTurn, id: &NodeId, text: &str) -> Result<(), String> {
    let mut node = model.addressed().node(id).cloned().ok_or_else(|| format!("`{id}` is no longer in the plan"))?;
    node.kind = texts::with_text(&node.kind, text)?;
    change(model, turn, |plan| Ok(plan.replace(&node))).map(drop)
}

/// Picks another agent or tool.
pub fn worker(model: &mut Model, _: &mut UpdateTurn) {
    let Some(node) = model.selected_node() else { return };
    let (id, kind) = (node.id.clone(), node.kind.clone());
    let (performer, current) = match (kind.tool(), kind.agent()) {
        (Some(tool), _) => (Performer::Tool, Some(tool.tool.as_str())),
        (None, Some(agent)) => (Performer::Agent, agent.agent.as_deref()),
        (None, None) => return,
    };
    let work = |name: &str| {
        let mut kind = kind.clone();
        match &mut kind {
            NodeKind::Agent(work) | NodeKind::Decision(DecisionNode::Agent(work)) => work.agent = Some(name.to_owned()),
            NodeKind::Tool(work) => name.clone_into(&mut work.tool),
            _ => {}
        }
        PickThen::Work(id.clone(), Box::new(kind))
    };
    let pick = performers(model, performer, current, work);
    model.dialogs.push(pick);
}

/// Gives a node other work.
pub fn set_work(model: &mut Model, turn: &mut UpdateTurn, id: &NodeId, work: NodeKind) {
    let Some(node) = model.addressed().node(id).cloned() else { return };
    let node = Node { kind: work, ..node };
    let done = change(model, turn, |plan| Ok(plan.replace(&node)));
    report(model, done, &format!("`{id}` now uses {}", texts::worker(&node)));
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
    let said = format!("`{}` asks you: {}", node.id, texts::approve(node.policy.approve));
    let done = change(model, turn, |plan| Ok(plan.replace(&node)));
    report(model, done, &said);
}

/// A plain breakpoint before the selected node in each run of the plan, or none any more.
pub fn toggle_break(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(mut node) = model.selected_node().cloned() else { return };
    node.policy.breakpoint = if node.policy.breakpoint.is_none() { Some(Value::from(Moment::Before.word())) } else { None };
    let said = match node.policy.breakpoint {
        Some(_) => format!("each run of the plan halts before `{}`", node.id),
        None => format!("no run halts at `{}` by the plan any more", node.id),
    };
    let done = change(model, turn, |plan| Ok(plan.replace(&node)));
    report(model, done, &said);
}

/// Undoes the last change, or makes it again.
pub fn step(model: &mut Model, step: HistoryStep) {
    let goal = model.editor.plan().goal.clone();
    model.editor.step(&model.session.catalog, step);
    if model.place.screen == Screen::Compare {
        model.editor.compare_again();
    }
    let done = match step {
        HistoryStep::Undo => "undone",
        HistoryStep::Redo => "redone",
    };
    let now = &model.editor.plan().goal;
    let message = if *now == goal { done.to_owned() } else { format!("{done}: this is the plan for {}", Plain::summary(now)) };
    model.status = Some(Status::note(&message));
}

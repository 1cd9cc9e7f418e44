//! What a run costs: to its screen, by what it is summed up, and the budget that caps it.

use super::super::UpdateTurn;
use super::change::change;
use crate::console::model::{CostGroup, Dialog, LineThen, Model, Screen, TextField, around};
use crate::plan::{Budget, edit::Edit};

/// To the cost of the shown run, or back to the tree.
pub fn screen(model: &mut Model, _: &mut UpdateTurn) {
    super::run::screen(model, Screen::Cost);
}

/// Sums up by the next of node, agent, model and tool.
pub fn group(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(view) = model.shown_run_mut() {
        let next = around(&CostGroup::ALL, view.cost.group, 1);
        view.cost.regroup(next);
    }
}

/// From a row to its node.
pub fn node(model: &mut Model, _: &mut UpdateTurn) {
    let node = model.shown_run().and_then(|view| view.cost.selected()?.node.clone());
    if let Some(node) = node {
        model.reveal(&node);
        model.go(Screen::Plan);
    }
}

/// Asks what the plan or the run may take.
pub fn budget(model: &mut Model, _: &mut UpdateTurn) {
    let field = TextField::line(&capped(model).written());
    let note = "`$2`, `200k tokens`, `50 calls`, or several of these with commas between; nothing for no cap";
    model.dialogs.push(Dialog::line("budget of the run", field, note, LineThen::Budget));
}

fn capped(model: &Model) -> Budget {
    match model.shown_run() {
        Some(view) => view.newest().run.budget().cloned().unwrap_or_default(),
        None => model.editor.plan().budget.clone(),
    }
}

/// The budget was typed.
///
/// # Errors
/// Why it is refused, in words.
pub fn keep_budget(model: &mut Model, turn: &mut UpdateTurn, text: &str) -> Result<(), String> {
    let budget = if text.trim().is_empty() { Budget::default() } else { Budget::parse(text).map_err(|fault| fault.to_string())? };
    let before = capped(model);
    change(model, turn, |_| Ok((budget != before).then_some(Edit::SetBudget { budget }))).map(drop)
}

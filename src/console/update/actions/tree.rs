//! The tree: folding, going in and out, searching, turning, finding what needs a person.

use super::{super::UpdateTurn, typing};
use crate::console::commands::guards::interrupted;
use crate::console::model::{
    Focus, GateKey, Model, PlanScreen, Screen, Scroll, Status, Stop, StopKind, Tab, TreeRow, TreeRowKind, TreeView,
};
use crate::engine::GateId;

/// To the inspector.
pub fn open(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(TreeRowKind::Finished(_)) = model.tree().row().map(|row| row.kind) {
        model.with_tree(TreeView::toggle_fold);
    } else if model.tree().row().is_some() {
        model.place.focus = Focus::Inspector;
    }
}

/// Unfolds, or goes to the first node below.
pub fn go_in(model: &mut Model, _: &mut UpdateTurn) {
    model.with_tree(|tree, plan| match tree.row().map(|row| row.kind) {
        Some(TreeRowKind::Folded(_) | TreeRowKind::Finished(_)) => tree.toggle_fold(plan),
        Some(TreeRowKind::Open) => tree.step(1),
        Some(TreeRowKind::Leaf) | None => {}
    });
}

/// Folds, or goes to the node above.
pub fn go_out(model: &mut Model, _: &mut UpdateTurn) {
    model.with_tree(|tree, plan| match (tree.row().map(|row| row.kind), tree.above()) {
        (Some(TreeRowKind::Open), _) => tree.toggle_fold(plan),
        (Some(TreeRowKind::Leaf | TreeRowKind::Folded(_) | TreeRowKind::Finished(_)), Some(above)) => tree.select(above),
        (_, None) | (None, _) => {}
    });
}

/// From the start down, or from the goal down.
pub fn orient(model: &mut Model, _: &mut UpdateTurn) {
    model.place.screen = Screen::Plan;
    model.with_tree(|tree, plan| tree.turn(plan));
}

/// To the filter line, for a new search.
pub fn filter(model: &mut Model, _: &mut UpdateTurn) {
    model.place.screen = Screen::Plan;
    clear_filter(model);
    model.place.focus = Focus::Filter;
    model.with_tree(|tree, _| tree.begin_search());
}

/// To the next hit of the search, or the one before.
pub fn next_hit(model: &mut Model, is_below: bool) {
    model.with_tree(|tree, plan| tree.to_hit(plan, is_below));
}

/// Shows all nodes again.
pub fn filter_clear(model: &mut Model, _: &mut UpdateTurn) {
    typing::keep(model);
    model.place.focus = Focus::Tree;
    clear_filter(model);
}

/// Takes the filter off; the selection stays on its node.
pub fn clear_filter(model: &mut Model) {
    model.with_tree(|tree, plan| tree.end_search(plan));
}

/// The next place that waits for a person: of a run the oldest first, of a plan the next row with a finding.
pub fn attention(model: &mut Model, _: &mut UpdateTurn) {
    let left = model.selected_draft().and(model.selected_gate()).map(|(_, gate)| gate.node.clone());
    let Some(view) = model.shown_run_mut() else { return finding(model) };
    view.grow();
    let (id, stops) = (view.id.clone(), view.stops().to_vec());
    let at = after(model, &stops);
    let Some(stop) = stops.get(at) else { return model.status = Some(Status::good("nothing here needs you")) };
    if !matches!(model.place.screen, Screen::Plan | Screen::Graph) {
        model.go(Screen::Plan);
    }
    // Where nothing has room beside the tree, the card comes in its place: a gate that isn't seen can't be replied to, and an error that
    // isn't seen says nothing.
    model.place.focus = Focus::Tree;
    if model.layout().detail.is_empty() {
        model.place.focus = Focus::Inspector;
    }
    model.reveal(&stop.node);
    (model.inspector.run_tab, model.inspector.scroll) = (Tab::Output, Scroll::Start);
    if let StopKind::Gate(gate) = stop.kind {
        model.inbox.select(Some(GateKey { run: id, gate }));
    }
    let which = which_stop(&stops, at);
    let resume = matches!(stop.kind, StopKind::Gate(_)) && interrupted(model).is_ok();
    let resume = if resume { format!(": press {} to resume the run, then reply", model.hint("run.resume")) } else { String::new() };
    let left = left.map(|node| format!("; your reply to `{node}` is not sent")).unwrap_or_default();
    model.status = Some(Status::note(&format!("{which}{resume}{left}")));
}

/// Which of its kind a place is, and how many of the others there are, in the header's words.
fn which_stop(stops: &[Stop], at: usize) -> String {
    let kind = stops[at].kind;
    let like = |of: StopKind| stops.iter().filter(move |stop| stop.kind.is_like(of));
    let (place, all) = (1 + stops[..at].iter().filter(|stop| stop.kind.is_like(kind)).count(), like(kind).count());
    let which = if all == 1 { kind.counted(1) } else { format!("{} {place} of {all}", kind.word()) };
    let mut others: Vec<String> = Vec::new();
    for stop in stops.iter().filter(|stop| !stop.kind.is_like(kind)) {
        let words = stop.kind.counted(like(stop.kind).count());
        if !others.contains(&words) {
            others.push(words);
        }
    }
    [vec![which], others].concat().join(", ")
}

/// How many presses of the key lead to a gate of the shown run from where the person is.
pub fn presses_to(model: &Model, stops: &[Stop], gate: GateId) -> Option<usize> {
    let to = stops.iter().position(|stop| stop.kind == StopKind::Gate(gate))?;
    Some((to + stops.len() - after(model, stops)) % stops.len() + 1)
}

/// Where the next press leads: behind the place that is selected, else to a gate that opened at the selected row, else to the oldest
/// gate, as the run waits for it, else to the oldest place.
fn after(model: &Model, stops: &[Stop]) -> usize {
    let is_gate = |stop: &Stop| matches!(stop.kind, StopKind::Gate(_));
    let opened = |stop: &Stop| is_gate(stop) && model.selected_id() == Some(&stop.node);
    match stops.iter().position(|stop| is_here(model, stop)) {
        Some(here) => (here + 1) % stops.len(),
        None => stops.iter().position(opened).or_else(|| stops.iter().position(is_gate)).unwrap_or(0),
    }
}

/// Whether this is the place that is selected.
fn is_here(model: &Model, stop: &Stop) -> bool {
    let is_gate =
        |gate| model.inbox.selected.as_ref().is_some_and(|key| key.gate == gate && model.place.shown == PlanScreen::Run(key.run.clone()));
    model.selected_id() == Some(&stop.node)
        && match stop.kind {
            StopKind::Gate(gate) => is_gate(gate),
            StopKind::Halt | StopKind::Failure | StopKind::Stale => true,
        }
}

fn finding(model: &mut Model) {
    let rows = model.tree().rows();
    let start = model.tree().selected() + 1;
    let mut order = (start..rows.len()).chain(0..start.min(rows.len()));
    match order.find(|at| has_finding(model, &rows[*at])) {
        Some(at) if at == model.tree().selected() => {
            let findings = model.hint("plan.findings");
            model.status = Some(Status::note(&format!("the only row with a finding is this one: {findings} shows it")));
        }
        Some(at) => model.with_tree(|tree, _| tree.select(at)),
        None => model.status = Some(Status::good("nothing here needs you")),
    }
}

/// A folded row counts for what is inside it too.
fn has_finding(model: &Model, row: &TreeRow) -> bool {
    let review = &model.editor.review;
    let folded = matches!(row.kind, TreeRowKind::Folded(_));
    review.of_node(&row.node).next().is_some() || folded && review.inside(&row.node).next().is_some()
}

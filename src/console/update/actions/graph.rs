//! The Graph screen: stepping along edges, folding bodies, going through the turns of a body. The selection is the tree's own.

use super::super::UpdateTurn;
use crate::console::model::{Model, Status, address, outermost};
use crate::plan::{NodeId, drawing::GraphMove, nest};

/// One step from the selected box.
pub fn step(model: &mut Model, step: GraphMove) {
    let Some(mut here) = shown(model) else { return };
    let by_stages = model.tree().drawing.stages().is_some();
    if by_stages {
        here = NodeId::new(outermost(&here));
    }
    while let Some(next) = model.tree().drawing.chart().and_then(|chart| chart.step(&here, step).cloned()) {
        // By stages, what is inside of a node is not shown.
        if by_stages && nest::owner(&next).is_some() {
            here = next;
            continue;
        }
        return select(model, &next);
    }
}

/// Folds the graph by stages, or shows boxes and lines.
pub fn toggle_form(model: &mut Model, _: &mut UpdateTurn) {
    model.with_tree(|tree, _| tree.drawing.toggle_form());
}

/// To the first box, or to the last.
pub fn end(model: &mut Model, first: bool) {
    let chart = model.tree().drawing.chart();
    let to = chart.and_then(|chart| if first { chart.first() } else { chart.last() }).cloned();
    if let Some(to) = to {
        select(model, &to);
    }
}

/// The address of the box that shows the selected node.
fn shown(model: &Model) -> Option<NodeId> {
    let drawing = &model.tree().drawing;
    let place = drawing.place(model.selected_id()?)?;
    drawing.chart()?.nodes().get(place).map(|node| node.id.clone())
}

/// Selects a box's node: in a run the one of the turn that the drawing shows.
pub fn select(model: &mut Model, address: &NodeId) {
    let id = model.standing_at(address);
    model.reveal(&id);
}

/// Folds or unfolds the body of the selected node, or the one that it is in.
pub fn fold(model: &mut Model, _: &mut UpdateTurn) {
    let Some(id) = model.selected_id().cloned() else { return };
    let mut folded = None;
    model.with_tree(|tree, _| folded = tree.drawing.toggle(&id));
    match folded {
        Some(owner) => select(model, &owner),
        None => model.status = Some(Status::note("nothing to fold: the node has no inner plan and is in none")),
    }
}

/// The same node so many turns of its body further.
pub fn turn(model: &mut Model, by: isize) {
    let Some(here) = model.selected_id().cloned() else { return };
    let next = model.shown_run().and_then(|_| {
        let (outer, inner) = here.rsplit_once(']')?;
        let (owner, number) = outer.rsplit_once('[')?;
        let next = number.parse::<usize>().ok()?.checked_add_signed(by)?;
        Some(NodeId::new(format!("{owner}[{next}]{inner}")))
    });
    let there = next.filter(|next| model.shown_run().is_some_and(|run| run.seen().run.node(next).is_some()));
    match there {
        Some(next) => model.reveal(&next),
        None if nest::owner(&address(&here)).is_none() => {
            model.status = Some(Status::note("the selected node is not in a loop or map"));
        }
        None => model.status = Some(Status::note("there is no further turn")),
    }
}

//! Findings: the list, going to a node, applying fixes.

use super::{super::UpdateTurn, act::Proposed, change::report};
use crate::console::model::{Dialog, Focus, ListOf, Model, Status};
use crate::plan::validate::FixKind;
use crate::text::counted;

/// Opens the list, at the selected node's first finding.
pub fn open(model: &mut Model, _: &mut UpdateTurn) {
    let here = model.selected_id();
    let selected = model.editor.findings().iter().position(|finding| model.editor.home_of(finding).as_ref() == here).unwrap_or(0);
    model.dialogs.push(Dialog::List { of: ListOf::Findings, selected });
}

fn selected(model: &Model) -> Option<usize> {
    let Some(Dialog::List { selected, .. }) = model.dialogs.last() else { return None };
    Some((*selected).min(model.editor.findings().len().checked_sub(1)?))
}

/// To the node of the selected finding.
pub fn go(model: &mut Model, _: &mut UpdateTurn) {
    let node = selected(model).and_then(|at| model.editor.home_of(&model.editor.findings()[at]));
    model.dialogs.pop();
    if let Some(node) = node {
        model.editor.select(&node);
        model.place.focus = Focus::Tree;
    }
}

/// Applies the fix of the selected finding.
pub fn fix(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(at) = selected(model) {
        fix_at(model, at);
    }
    close_when_clean(model);
}

/// Applies the fix of the selected node's first finding that has one.
pub fn fix_here(model: &mut Model, _: &mut UpdateTurn) {
    let here = model.selected_id();
    let mut findings = model.editor.findings().iter();
    match findings.position(|finding| finding.fix.is_some() && model.editor.home_of(finding).as_ref() == here) {
        Some(at) => fix_at(model, at),
        None => model.status = Some(Status::warn("no finding here has a fix")),
    }
}

fn fix_at(model: &mut Model, at: usize) {
    let fix = model.editor.findings()[at].fix.as_ref().map(|fix| (fix.kind, fix.title.clone()));
    match fix {
        Some((kind, title)) => {
            let done = model.editor.fix(&model.session.catalog, at);
            let did = match kind {
                FixKind::Safe => format!("fixed: {title}"),
                FixKind::Guess => format!("guessed: {title}; {} undoes it", model.hint("plan.undo")),
            };
            report(model, done.map(|()| Proposed::Sent), &did);
        }
        None => model.status = Some(Status::warn("this finding has no fix: edit the node")),
    }
}

/// Applies the fixes with one meaning, and says what is left.
pub fn fix_all(model: &mut Model, _: &mut UpdateTurn) {
    let applied = model.editor.fix_all(&model.session.catalog);
    let left = model.editor.findings();
    let guesses = left.iter().filter(|finding| finding.fix.is_some()).count();
    let rest = match (left.len(), guesses) {
        (0, _) => "nothing is left".to_owned(),
        (all, 0) => format!("{} left, to edit by hand", counted(all, "finding")),
        (all, guesses) => format!("{} left, {guesses} with a guess to take one by one", counted(all, "finding")),
    };
    model.status = Some(match applied {
        0 => Status::warn(&format!("no finding has a safe fix: {rest}")),
        1 => Status::good(&format!("applied 1 safe fix; {rest}")),
        _ => Status::good(&format!("applied {applied} safe fixes; {rest}")),
    });
    close_when_clean(model);
}

fn close_when_clean(model: &mut Model) {
    if model.editor.findings().is_empty() {
        model.dialogs.pop();
    }
}

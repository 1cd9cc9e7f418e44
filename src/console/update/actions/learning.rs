//! What past runs teach: the estimate of the plan that is edited, and how agents and models did.

use super::super::UpdateTurn;
use crate::console::model::{Model, PlanScreen, Screen, Status};
use crate::engine::StatsBy;
use crate::host::client::{LearnWish, LearnedNews, Request, SuggestionTurn};

/// Shows how agents and models did.
pub fn screen(model: &mut Model, turn: &mut UpdateTurn) {
    model.go(Screen::Stats);
    turn.send(Request::Learn(LearnWish::Stats));
}

/// Sums up by the next thing.
pub fn sum_up(model: &mut Model, _: &mut UpdateTurn) {
    let stats = &mut model.session.stats;
    let at = StatsBy::ALL.iter().position(|by| *by == stats.by).unwrap_or(0);
    stats.sum_up(StatsBy::ALL[(at + 1) % StatsBy::ALL.len()]);
}

pub fn take(model: &mut Model, turn: &mut UpdateTurn) {
    answer(model, turn, SuggestionTurn::Take);
}

pub fn dismiss(model: &mut Model, turn: &mut UpdateTurn) {
    answer(model, turn, SuggestionTurn::Dismiss);
}

pub fn undo(model: &mut Model, turn: &mut UpdateTurn) {
    answer(model, turn, SuggestionTurn::Undo);
}

fn answer(model: &mut Model, turn: &mut UpdateTurn, what: SuggestionTurn) {
    if let Some(entry) = model.session.stats.suggestion(|_| true) {
        turn.send(Request::Learn(LearnWish::Suggestion { id: entry.suggestion.id.clone(), turn: what }));
    }
}

/// Takes in what the host says.
pub fn heard(model: &mut Model, learned: LearnedNews) {
    match learned {
        LearnedNews::Estimate { number, report } => model.editor.forecast.came(number, report),
        LearnedNews::Stats(report) => model.session.stats.came(report),
        LearnedNews::Turned(said, report) => {
            model.status = Some(Status::good(&said));
            model.session.stats.came(report);
            model.editor.forecast.is_old();
        }
    }
}

/// Asks what the plan on the screen will take, where it is another one than before.
pub fn ask(model: &mut Model, turn: &mut UpdateTurn) {
    let editor = &mut model.editor;
    let is_shown = model.place.shown == PlanScreen::Plan && model.session.knows_catalog;
    if !is_shown || editor.is_growing() || editor.plan().nodes.is_empty() {
        return;
    }
    if let Some(number) = editor.forecast.to_ask() {
        turn.send(Request::Learn(LearnWish::Estimate { number, plan: Box::new(editor.plan().clone()) }));
    }
}

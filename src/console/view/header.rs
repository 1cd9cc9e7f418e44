//! The first row: what is shown and how far it is; how many gates wait; which model is used.

use ratatui::layout::Rect;

use super::pen::Pen;
use crate::console::model::{Model, PlanScreen, RunView, Screen, texts};
use crate::console::theme::Role;
use crate::engine::{Time, elapsed};
use crate::host::client::Driver;
use crate::text::{Glyph, Plain, cost, count, counted, duration};

/// Draws the first row.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let badges = badges(model, pen);
    let right = pen.pieces_right(area, &badges);
    let mut left = vec![(Plain::line(" dagdeck  "), Role::Title)];
    left.extend(place(model, now));
    let room = Rect { width: right.saturating_sub(area.x + 1), ..area };
    pen.pieces(room, &left);
}

fn badges(model: &Model, pen: &Pen<'_>) -> Vec<(Plain, Role)> {
    let mut badges = Vec::new();
    let waiting = model.inbox.gates.len();
    if waiting > 0 {
        let mark = pen.theme.glyph(Glyph::Gate);
        let key = model.hint("app.inbox");
        // A replay shows what was; what waits, waits now.
        let word = if model.replay().is_some() { "waiting now" } else { "waiting" };
        badges.push((Plain::line(&format!(" {mark} {waiting} {word} ({key}) ")), Role::Badge));
        badges.push((Plain::blank(1), Role::Text));
    }
    let going_on = model.runs.going_on().count();
    let shown = usize::from(model.shown_run().is_some_and(RunView::goes_on));
    if going_on > 1 {
        badges.push((Plain::line(&format!("{going_on} runs ")), Role::Running));
    } else if let Some(run) = model.runs.going_on().next().filter(|_| going_on > shown) {
        let key = model.hint("stage.next");
        badges.push((Plain::line(&format!("1 run is {} ({key}) ", run.status().word())), texts::status_role(run.status())));
    }
    if model.replay().is_some() {
        return badges;
    }
    let role = if model.session.lacks_model() { Role::Badge } else { Role::Dim };
    let key = model.hint("app.model");
    let words = model.session.model_label().truncate(24);
    badges.push((Plain::blank(1).then(&words).then(&Plain::line(&format!(" ({key}) "))), role));
    badges
}

fn place(model: &Model, now: Time) -> Vec<(Plain, Role)> {
    match (model.place.screen, &model.place.shown) {
        (Screen::Inbox, _) => vec![(Plain::line("inbox"), Role::Heading)],
        (Screen::Compare, _) => vec![(Plain::line("compare  "), Role::Heading), (Plain::summary(&model.editor.plan().goal), Role::Text)],
        (Screen::Versus, _) => vec![(Plain::line("two runs side by side"), Role::Heading)],
        (Screen::Runs, _) => vec![(Plain::line("runs in "), Role::Heading), (model.session.workspace.clone(), Role::Dim)],
        (Screen::Plan | Screen::Graph | Screen::Log | Screen::Timeline | Screen::Trace, PlanScreen::Plan) => plan(model, now),
        (Screen::Plan | Screen::Graph | Screen::Log | Screen::Timeline | Screen::Trace, PlanScreen::Run(id)) => {
            model.runs.get(id).map(|view| run(model, view, now)).unwrap_or_default()
        }
    }
}

fn plan(model: &Model, now: Time) -> Vec<(Plain, Role)> {
    if let Some(planning) = &model.request.planning {
        let took = duration(now.since(planning.since) / 1000 * 1000);
        let progress = Plain::line("  ").then(&planning.progress);
        return vec![(Plain::line("planning "), Role::Running), (took, Role::Dim), (progress, Role::Text)];
    }
    let count = model.editor.plan().nodes.len();
    if count == 0 {
        return vec![(model.session.workspace.clone(), Role::Dim)];
    }
    let errors = model.editor.review.errors();
    let warnings = model.editor.findings().len() - errors;
    let mut parts = vec![(Plain::line(&format!("plan, {}", counted(count, "node"))), Role::Heading)];
    if errors > 0 {
        parts.push((Plain::line("  ").then(&Plain::line(&counted(errors, "error"))), Role::Error));
    }
    if warnings > 0 {
        parts.push((Plain::line("  ").then(&Plain::line(&counted(warnings, "warning"))), Role::Warning));
    }
    parts.push((Plain::line("  ").then(&Plain::summary(&model.editor.plan().goal)), Role::Text));
    parts
}

fn run(model: &Model, view: &RunView, now: Time) -> Vec<(Plain, Role)> {
    let at = model.runs.number(&view.id).unwrap_or(1);
    let status = view.seen_status();
    let (word, role) = (Plain::line(status.word()), texts::status_role(status));
    let mut parts = vec![(Plain::line(&format!("run {at}/{} ", model.runs.open.len())), Role::Heading)];
    match view.replay() {
        Some(replay) => {
            parts.push((Plain::line(&format!(" replay {}/{} ", replay.at(), view.journal().len())), Role::Badge));
            parts.push((Plain::blank(1).then(&word), role));
        }
        None => parts.push((word, role)),
    }
    let counts = view.seen().run.counts(status).parts();
    parts.extend(counts.into_iter().map(|(what, count)| (Plain::blank(2).then(&count), texts::count_role(what))));
    if view.seen().tokens > 0 {
        parts.push((Plain::line("  ").then(&count(view.seen().tokens)).then(&Plain::line(" tokens")), Role::Dim));
    }
    if view.seen().cost_usd > 0.0 {
        parts.push((Plain::line("  ").then(&cost(view.seen().cost_usd)), Role::Dim));
    }
    if view.replay().is_none() {
        let ms = view.elapsed_ms(now);
        let shown = if view.works() { ms / 1000 * 1000 } else { ms };
        parts.push((Plain::blank(2).then(&elapsed(shown)), Role::Dim));
    }
    match &view.driver {
        Driver::Here => {}
        Driver::Elsewhere(who) => parts.push((Plain::summary(&format!("  under way in {who}")), Role::Dim)),
        // Actions open one that is over again: of that there is no more to say than how it ended.
        Driver::Nobody if view.newest().run.outcome().is_some() => {}
        Driver::Nobody => parts.push((Plain::line("  not under way"), Role::Dim)),
    }
    parts.push((Plain::line("  ").then(&view.goal()), Role::Text));
    parts
}

//! The first row: what is shown and how far it is; how many gates wait; which model is used.

use ratatui::layout::Rect;

use super::pen::Pen;
use crate::console::model::{Model, PlanScreen, RunView, Screen, texts};
use crate::console::theme::Role;
use crate::engine::{RunStatus, Time, Totals, elapsed};
use crate::host::client::Driver;
use crate::text::{Glyph, Plain, clock, counted, duration};

/// Draws the first row.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let mut badges = badges(model, pen);
    let (must, may) = place(model, now);
    let title = (Plain::line(" dagdeck  "), Role::Title);
    let must: Vec<(Plain, Role)> = [title].into_iter().chain(must).collect();
    // What needs somebody comes before the model's name.
    if model.replay().is_none() && width(&must) + width(&badges) >= usize::from(area.width) {
        badges.pop();
    }
    let right = pen.pieces_right(area, &badges);
    let room = Rect { width: right.saturating_sub(area.x + 1), ..area };
    let x = pen.pieces(room, &must);
    let mut room = Rect { x, width: room.right().saturating_sub(x), ..room };
    for piece in may {
        let is_whole = piece.0.width() <= usize::from(room.width);
        if is_whole || piece.1 == Role::Text && usize::from(room.width) >= GOAL {
            let x = pen.pieces(room, &[piece]);
            room = Rect { x, width: room.right().saturating_sub(x), ..room };
        }
    }
}

/// Columns of a goal below which it says nothing.
const GOAL: usize = 12;

fn width(pieces: &[(Plain, Role)]) -> usize {
    pieces.iter().map(|(text, _)| text.width()).sum()
}

/// What must be seen, and what may be left out.
type HeaderPieces = (Vec<(Plain, Role)>, Vec<(Plain, Role)>);

fn badges(model: &Model, pen: &Pen<'_>) -> Vec<(Plain, Role)> {
    let mut badges = Vec::new();
    let waiting = model.inbox.gates.len();
    if waiting > 0 {
        let mark = pen.theme.glyph(Glyph::Gate);
        let key = model.hint("app.inbox");
        // A replay shows what was; what waits, waits now.
        let now = if model.replay().is_some() { " now" } else { "" };
        badges.push((Plain::line(&format!(" {mark} {}{now} (key {key}) ", counted(waiting, "gate"))), Role::Badge));
        badges.push((Plain::blank(1), Role::Text));
    }
    let going_on = model.runs.going_on().count();
    let shown = usize::from(model.shown_run().is_some_and(RunView::goes_on));
    if going_on > 1 {
        badges.push((Plain::line(&format!("{going_on} runs ")), Role::Running));
    } else if let Some(run) = model.runs.going_on().next().filter(|_| going_on > shown) {
        let key = model.hint("stage.next");
        badges.push((Plain::line(&format!("1 run is {} (key {key}) ", run.status().word())), texts::status_role(run.status())));
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

fn place(model: &Model, now: Time) -> HeaderPieces {
    match (model.place.screen, &model.place.shown) {
        (Screen::Inbox, _) => (vec![(Plain::line("inbox"), Role::Heading)], Vec::new()),
        (Screen::Compare, _) => {
            (vec![(Plain::line("compare  "), Role::Heading)], vec![(Plain::summary(&model.editor.plan().goal), Role::Text)])
        }
        (Screen::Versus, _) => (vec![(Plain::line("two runs side by side"), Role::Heading)], Vec::new()),
        (Screen::Runs, _) => (vec![(Plain::line("runs in "), Role::Heading), (model.session.workspace.clone(), Role::Dim)], Vec::new()),
        (Screen::Plan | Screen::Graph | Screen::Log | Screen::Timeline | Screen::Trace, PlanScreen::Plan) => plan(model, now),
        (Screen::Plan | Screen::Graph | Screen::Log | Screen::Timeline | Screen::Trace, PlanScreen::Run(id)) => {
            model.runs.get(id).map(|view| run(model, view, now)).unwrap_or_default()
        }
    }
}

fn plan(model: &Model, now: Time) -> HeaderPieces {
    if let Some(planning) = &model.request.planning {
        let took = duration(now.since(planning.since) / 1000 * 1000);
        let progress = Plain::line("  ").then(&planning.progress);
        return (vec![(Plain::line("planning "), Role::Running), (took, Role::Dim)], vec![(progress, Role::Text)]);
    }
    let count = model.editor.plan().nodes.len();
    if count == 0 {
        return (vec![(model.session.workspace.clone(), Role::Dim)], Vec::new());
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
    (parts, vec![(Plain::line("  ").then(&Plain::summary(&model.editor.plan().goal)), Role::Text)])
}

fn run(model: &Model, view: &RunView, now: Time) -> HeaderPieces {
    let at = model.runs.number(&view.id).unwrap_or(1);
    let status = view.seen_status();
    let (word, role) = (Plain::line(status.word()), texts::status_role(status));
    let all = model.runs.open.len();
    let number = if all > 1 { format!("run {at} of {all} ") } else { String::new() };
    let mut parts = vec![(Plain::line(&number), Role::Heading)];
    match view.replay() {
        Some(replay) => {
            parts.push((Plain::line(&format!(" replay {}/{} ", replay.at(), view.journal().len())), Role::Badge));
            parts.push((Plain::blank(1).then(&word), role));
        }
        None => parts.push((word, role)),
    }
    let counts = view.seen().run.counts(status).parts();
    parts.extend(counts.into_iter().map(|(what, count)| (Plain::blank(2).then(&count), texts::count_role(what))));
    match &view.driver {
        Driver::Here => {}
        Driver::Elsewhere(who) => parts.push((Plain::line("  under way in ").then(&Plain::summary(who)), Role::Dim)),
        // Actions open one that is over again: of that there is no more to say than how it ended.
        Driver::Nobody if view.newest().run.outcome().is_some() => {}
        Driver::Nobody if matches!(status, RunStatus::NotUnderWay | RunStatus::Interrupted) => {}
        Driver::Nobody => parts.push((Plain::line("  not under way"), Role::Dim)),
    }
    let mut may = Vec::new();
    let spent = Totals::from(view.seen().spent);
    if spent.tokens > 0 {
        may.push((Plain::line("  ").then(&spent.tokens_label()).then(&Plain::line(" tokens")), Role::Dim));
    }
    may.extend(spent.money_label().map(|money| (Plain::line("  ").then(&money), Role::Dim)));
    if view.replay().is_none() {
        let (ms, run) = (view.elapsed_ms(now), &view.newest().run);
        let time = match view.works() {
            true => elapsed(ms / 1000 * 1000),
            // Nothing is drawn while all of it waits, so a number would soon be false.
            false if view.status().is_timed() => Plain::line("began ").then(&clock(run.began().0)),
            false => elapsed(ms),
        };
        may.push((Plain::blank(2).then(&time), Role::Dim));
    }
    may.push((Plain::line("  ").then(&view.goal()), Role::Text));
    (parts, may)
}

//! What a run costs: a row for each node, agent, model or tool, the dearest first, and all of it beside them.

use ratatui::layout::Rect;

use super::doc;
use super::pen::{Pen, below, text_of};
use crate::console::model::{CostRow, Model, RunView, ScreenLayout, docs};
use crate::console::theme::Role;
use crate::engine::{Spent, Totals};
use crate::text::{Glyph, Plain};

/// Columns of calls, tokens, money and the share of all.
const CALLS: usize = 4;
const TOKENS: usize = 8;
const MONEY: usize = 11;
const SHARE: usize = 10;
/// From this width on, the share has room.
const WIDE: u16 = 64;

/// Draws the rows and what there is to know of all of them.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let area = layout.list;
    let Some(view) = model.shown_run() else {
        pen.title(area, &[(Plain::line("cost"), Role::Title)]);
        return pen.no_rows(below(area), "No run is shown.");
    };
    let view_of = &view.cost;
    let by = format!("  by {}  ({} sums up otherwise)", view_of.group.word(), model.hint("cost.group"));
    pen.title(area, &[(Plain::line("cost"), Role::Title), (Plain::line(&by), Role::Dim)]);
    if view_of.rows().is_empty() {
        return pen.no_rows(below(area), "No model was asked: nothing is spent.");
    }
    let all = view_of.sum(None);
    let place = view_of.place;
    pen.list(below(area), (place.top, view_of.rows().len()), Some(place.selected), model.dialogs.is_empty(), |pen, at, line| {
        entry(view, &view_of.rows()[at], all, pen, line);
    });
    doc::beside(pen, layout.detail, "the run", &docs::cost_of(view), place.scroll);
}

fn entry(view: &RunView, row: &CostRow, all: Spent, pen: &mut Pen<'_>, line: Rect) {
    let text = text_of(line);
    let totals = Totals::from(row.spent);
    let money = totals.money_label().unwrap_or_default();
    let mut right = vec![
        (Plain::line(&row.spent.model_calls.to_string()).pad_start(CALLS).then(&Plain::line("×")), Role::Dim),
        (totals.tokens_label().pad_start(TOKENS), Role::Text),
        (money.pad_start(MONEY), Role::Text),
    ];
    if text.width >= WIDE {
        let share = match all.cost_usd > 0.0 {
            true => row.spent.cost_usd / all.cost_usd,
            false => row.spent.tokens.total() as f64 / (all.tokens.total().max(1)) as f64,
        };
        let columns = (share * SHARE as f64).round() as usize;
        let bar = Plain::line(&pen.theme.glyph(Glyph::LineHeavy).repeat(columns.min(SHARE)));
        right.push((Plain::blank(2).then(&bar.pad(SHARE)), Role::Dim));
    }
    let end = pen.pieces_right(text, &right);
    let name = row.node.as_ref().map_or_else(|| Plain::summary(&row.name), |node| view.title_of(node));
    pen.pieces(Rect { width: end.saturating_sub(text.x + 1), ..text }, &[(name, Role::Text)]);
}

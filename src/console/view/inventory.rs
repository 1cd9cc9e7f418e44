//! Agents, tools, MCP servers and rules in a list, and the selected one beside it.

use ratatui::layout::Rect;

use super::doc;
use super::pen::{Pen, below, text_of};
use crate::console::model::{InventoryRow, Model, ScreenLayout, docs};
use crate::console::theme::Role;
use crate::plan::Verdict;
use crate::text::{Plain, counted};

/// Columns of the sort of a row, and of its state.
const KIND: usize = 8;
const STATE: usize = 18;
/// From this width on, how often something was used has room.
const WIDE: u16 = 54;

pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let (inventory, area) = (&model.session.inventory, layout.list);
    pen.title(area, &[(Plain::line(&format!("agents & tools  {}", inventory.len())), Role::Title)]);
    if inventory.is_empty() {
        return pen.no_rows(below(area), "Looking …");
    }
    pen.list(below(area), (inventory.place.top, inventory.len()), Some(inventory.place.selected), true, |pen, at, line| {
        if let Some(row) = inventory.row(at) {
            entry(row, pen, line);
        }
    });
    let Some(row) = inventory.selected() else { return };
    let Some((head, inside)) = doc::pane(pen, layout.detail, Role::Border) else { return };
    let text = docs::inventory(Some(row));
    let seen = doc::draw(pen, inside, &text, inventory.place.scroll.min(text.len().saturating_sub(1)));
    pen.pieces(head, &[(Plain::line(row.kind()), Role::Dim), seen.label()]);
    pen.end_bar(inside);
}

fn entry(row: InventoryRow<'_>, pen: &mut Pen<'_>, line: Rect) {
    let text = text_of(line);
    let (name, state, role, used) = match row {
        InventoryRow::Agent(agent) => (agent.info.name.clone(), docs::agent_kind(agent.info.kind), Role::Dim, agent.used.times),
        InventoryRow::Tool(tool) => {
            let role = match tool.info.verdict {
                _ if !tool.is_set_up => Role::Dim,
                Verdict::Allow => Role::Success,
                Verdict::Ask => Role::Waiting,
                Verdict::Deny => Role::Error,
            };
            (tool.info.name.clone(), docs::verdict(tool.is_set_up, tool.info.verdict), role, tool.used.times)
        }
        InventoryRow::Server(server) => {
            let state = server.state.split([':', ',']).next().unwrap_or_default();
            let role = if server.is_fine { Role::Dim } else { Role::Error };
            let pieces = [(Plain::line(state), role)];
            let end = pen.pieces_right(text, &pieces);
            return named(row, &server.name, pen, Rect { width: end.saturating_sub(text.x + 1), ..text });
        }
        InventoryRow::Rule(rule) => {
            let end =
                pen.pieces_right(text, &[(Plain::line(&counted(usize::try_from(rule.hits).unwrap_or(usize::MAX), "call")), Role::Dim)]);
            return named(row, &rule.what, pen, Rect { width: end.saturating_sub(text.x + 1), ..text });
        }
    };
    let used = if used > 0 && text.width >= WIDE { format!("{used}×") } else { String::new() };
    let end = pen.pieces_right(text, &[(Plain::line(state).pad(STATE), role), (Plain::line(&used).pad_start(6), Role::Dim)]);
    named(row, &name, pen, Rect { width: end.saturating_sub(text.x + 1), ..text });
}

fn named(row: InventoryRow<'_>, name: &str, pen: &mut Pen<'_>, area: Rect) {
    pen.pieces(area, &[(Plain::line(row.kind()).pad(KIND), Role::Dim), (Plain::summary(name), Role::Text)]);
}

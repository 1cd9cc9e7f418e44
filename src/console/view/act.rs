//! An action before it is done, beside the tree that shows what it would change; and the list of breakpoints.

use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use super::dialogs::{boxed_rows, columns, keys, last_row};
use super::pen::Pen;
use super::{doc, sentence};
use crate::console::model::{Model, Proposal, Screen, ScreenLayout, docs, scrolled};
use crate::console::theme::Role;
use crate::engine::{Blocker, Breakpoint, Obstacle};
use crate::plan::NodeId;
use crate::text::{Glyph, Plain, counted};

/// Rows of a proposal that is where no pane has room for it.
const ROWS: usize = 12;
/// Rows of its title at most.
const TITLE: u16 = 3;

/// Draws the action that is shown before it is done: in the place of the details, so that the tree stays in sight.
pub fn proposal(model: &Model, proposal: &Proposal, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let said = docs::proposal(model, proposal);
    let title = model.runs.get(&proposal.run).map(|view| docs::proposal_title(view, proposal)).unwrap_or_default();
    let fits = matches!(model.place.screen, Screen::Plan | Screen::Graph) && layout.detail.height >= 5 && layout.detail.width >= 30;
    let inside = if fits {
        let area = layout.detail;
        Clear.render(area, pen.buffer);
        pen.wash(area, Role::Text);
        let Some(card) = doc::pane(pen, area, Role::Gate) else { return };
        doc::headed(pen, card, None, (&title, Role::Title), TITLE).1
    } else {
        boxed_rows(pen, ROWS, &title)
    };
    let body = Rect { height: inside.height.saturating_sub(1), ..inside };
    let seen = doc::draw(pen, body, &said, proposal.scroll.min(said.len().saturating_sub(1)));
    let hints = [("proposal.yes", "do it"), ("proposal.no", "don't"), ("proposal.why", "add a reason"), ("move.down", "down")];
    // The keys are below what they are about.
    let row = Rect { y: (body.y + seen.rows + 1).min(last_row(inside).y), ..last_row(inside) };
    keys(model, pen, row, &hints[..if seen.is_all() { 3 } else { 4 }]);
    pen.end_bar(inside);
}

/// Levels that are indented.
const DEEPEST: usize = 12;

/// Draws why a node is as it is: what it waits for, and what that waits for.
pub fn why(model: &Model, node: &NodeId, selected: usize, pen: &mut Pen<'_>) {
    let row = |link: &Blocker| {
        let (mark, role, text) = match (link.obstacle.is_for_people(), link.obstacle) {
            (true, _) => (Glyph::Gate, Role::Waiting, Role::Waiting),
            (false, Obstacle::Work) => (Glyph::Running, Role::Running, Role::Text),
            (false, _) => (Glyph::Pending, Role::Dim, Role::Text),
        };
        let mark = Plain::blank(link.depth.min(DEEPEST) * 2).then(&Plain::line(pen.theme.glyph(mark))).then(&Plain::blank(1));
        let said = model.shown_run().map_or_else(|| link.sentence.clone(), |view| view.titled(&link.sentence));
        [(mark, role)].into_iter().chain(sentence::row(&Plain::summary(&said), text)).collect()
    };
    let rows = model.blockers().iter().map(row).collect();
    let state = model.shown_run().and_then(|view| Some(view.seen().run.node(node)?.state.label(view.seen_status())));
    let state = state.map(|state| format!(" ({state})")).unwrap_or_default();
    let name = model.shown_run().map_or_else(|| Plain::summary(node), |view| view.title_of(node));
    let title = Plain::line("why ").then(&name).then(&Plain::line(&state));
    let hints = [("why.go", "go there"), ("move.down", "down"), ("why.close", "close")];
    boxed_list(model, pen, &title, rows, ("the node is not in the run", selected), &hints);
}

/// Draws the list of breakpoints.
pub fn breakpoints(model: &Model, selected: usize, pen: &mut Pen<'_>) {
    let Some(view) = model.shown_run() else { return };
    let row = |name: &str, point: &Breakpoint, hits: u32| {
        let mark = Plain::line(pen.theme.glyph(Glyph::Breakpoint)).then(&Plain::line(&format!(" {name:<5}")));
        let hits = match hits {
            _ if point.disabled => "  disabled".to_owned(),
            0 => "  not hit yet".to_owned(),
            hits => format!("  hit {}", counted(hits as usize, "time")),
        };
        let said = sentence::row(&Plain::summary(&view.titled(&point.label())), Role::Text);
        [(mark, Role::Held)].into_iter().chain(said).chain([(Plain::line(&hits), Role::Dim)]).collect()
    };
    let (seen, run) = (view.seen(), &view.seen().run);
    let set = run.breakpoints().map(|(id, point)| row(&id.0.to_string(), point, seen.hits(id)));
    let planned = run.plan_breakpoints().map(|(node, point)| row("plan", &point, seen.plan_hits(&node)));
    let rows = set.chain(planned).collect();
    // One of the plan is changed in the plan alone.
    let all = run.breakpoints().count() + run.plan_breakpoints().count();
    let of_one = run.breakpoints().nth(selected.min(all.saturating_sub(1))).map(|(_, point)| {
        let toggle = if point.disabled { "enable" } else { "disable" };
        [("breaks.edit", "change"), ("breaks.toggle", toggle), ("breaks.remove", "remove")]
    });
    let of_one = of_one.into_iter().flatten();
    let hints: Vec<_> = [("breaks.add", "add")].into_iter().chain(of_one).chain([("breaks.close", "close")]).collect();
    let empty = "none: the run halts nowhere by itself";
    boxed_list(model, pen, &Plain::line("breakpoints of this run"), rows, (empty, selected), &hints);
}

/// Rows of the selected row, where it is longer than the list is wide.
const WHOLE: usize = 3;

/// A list over the screen, with its keys below; or why it has no rows. The selected row is whole.
fn boxed_list(
    model: &Model,
    pen: &mut Pen<'_>,
    title: &Plain,
    rows: Vec<Vec<(Plain, Role)>>,
    (empty, selected): (&str, usize),
    hints: &[(&str, &str)],
) {
    let selected = selected.min(rows.len().saturating_sub(1));
    let room = columns(pen).saturating_sub(2);
    let whole = |row: &Vec<(Plain, Role)>| row.iter().fold(Plain::default(), |line, (text, _)| line.then(text)).wrap_hanging(room);
    let longest = rows.iter().map(|row| whole(row).len().min(WHOLE)).max().unwrap_or(1);
    let inside = boxed_rows(pen, rows.len().max(1) + 1 + longest, title);
    let list = Rect { height: inside.height.saturating_sub(2), ..inside };
    if rows.is_empty() {
        pen.words(list.x, list.y, list.width, empty, Role::Dim);
    }
    let top = scrolled(0, selected, rows.len(), usize::from(list.height).saturating_sub(longest - 1));
    let mut y = list.y;
    for (at, row) in rows.iter().enumerate().skip(top) {
        let lines = if at == selected { whole(row) } else { Vec::new() };
        let area = |y: u16| Rect { x: list.x + 2, y, width: list.width.saturating_sub(2), height: 1 };
        if y >= list.bottom() {
            break;
        }
        // Its first row keeps its looks.
        let first = lines.first().map_or(usize::MAX, Plain::width);
        let cut = row.iter().scan(first, |left, (text, role)| {
            let text = if lines.len() > 1 { text.cut(*left) } else { text.clone() };
            *left = left.saturating_sub(text.width());
            Some((text, *role))
        });
        pen.pieces(area(y), &cut.collect::<Vec<_>>());
        if at == selected {
            pen.select(Rect { x: list.x, y, width: list.width, height: 1 }, true);
        }
        y += 1;
        for line in lines.into_iter().skip(1).take(WHOLE - 1) {
            if y < list.bottom() {
                pen.text(list.x + 2, y, list.width.saturating_sub(2), &line, Role::Text);
                y += 1;
            }
        }
    }
    keys(model, pen, last_row(inside), hints);
}

//! The graph: the boxes and lines that a window shows, with states, the taken way, and the selected box.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use ratatui::layout::Rect;

use super::{empty, graph_stages, pen::Pen, row};
use crate::console::model::{Focus, Model, RunView, Turns, texts};
use crate::console::theme::Role;
use crate::engine::{EdgeId, EdgeState, Time};
use crate::plan::drawing::{ArrowLabel, BoxBody, EdgeStroke, GraphDrawing, Pane, VisibleBox, Window};
use crate::plan::{NodeId, nest};
use crate::text::{Glyph, GlyphSet, Plain};

/// Draws the graph below its title.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    if area.width < 4 || area.height < 2 {
        return;
    }
    let focused = model.place.focus == Focus::Tree && model.dialogs.is_empty();
    let inside = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let drawing = &model.tree().drawing;
    let Some(chart) = drawing.chart().filter(|_| !model.plan().nodes.is_empty()) else {
        title(model, pen, area, focused, String::new());
        return empty::draw(model, now, pen, inside);
    };
    if let Some(stages) = drawing.stages() {
        let (above, below) = graph_stages::draw((model, now), (chart, stages), pen, inside, focused);
        return title(model, pen, area, focused, hidden([(above, "above"), (below, "below")]));
    }
    let blank = drawing.blank(inside.width);
    let pane = Rect { x: inside.x + blank, width: inside.width - blank, ..inside };
    let window = drawing.window(u32::from(pane.width), u32::from(pane.height));
    let states = States::new(model, chart);
    let sight = chart.view(window, &|pane, edge| states.line(pane, edge));
    let glyphs = pen.theme.glyphs();
    let selected = model.selected_id().and_then(|id| drawing.place(id)).map(|place| &chart.nodes()[place].id);
    let mut sheet = Sheet { pen, pane, window };
    for y in window.y..window.y + window.height {
        sheet.lines(y, |x| {
            let stroke = sight.stroke(x, y);
            stroke.line().map(|line| (stroke.symbol(glyphs), line))
        });
    }
    for ArrowLabel { x, y, text, line } in &sight.notes {
        sheet.put(*x, *y, text, if *line == EdgeStroke::Dead { Role::Dim } else { Role::Text });
    }
    let shown: Vec<&VisibleBox<'_>> = sight.boxes.iter().filter(|seen| is_whole(seen, window)).collect();
    for seen in &shown {
        let edge: String = (seen.area.x + 1..seen.area.x + seen.area.width - 1)
            .map(|x| sight.stroke(x, seen.area.y + seen.area.height - 1).on_edge().symbol(glyphs))
            .collect();
        let is_selected = selected == Some(&seen.node.id);
        NodeBox { model, now, states: &states, seen }.draw(&mut sheet, &edge, is_selected, focused);
    }
    let hidden = out_of_sight(chart, window, &shown.iter().map(|seen| &seen.node.id).collect());
    title(model, sheet.pen, area, focused, hidden);
}

/// The graph of a plan by stages, beside its tree and card.
pub fn beside(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let drawing = &model.tree().drawing;
    let Some((chart, stages)) = drawing.chart().zip(drawing.stages()).filter(|_| area.width > 4 && area.height > 1) else { return };
    let inside = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let (above, below) = graph_stages::draw((model, now), (chart, stages), pen, inside, false);
    title(model, pen, area, false, hidden([(above, "above"), (below, "below")]));
}

/// How many boxes are not in sight, and where they are.
fn out_of_sight(chart: &GraphDrawing, window: Window, shown: &BTreeSet<&NodeId>) -> String {
    let (mut above, mut below, mut beside) = (0, 0, 0);
    for (place, node) in chart.nodes().iter().enumerate() {
        let area = chart.area(place);
        match () {
            () if shown.contains(&node.id) => {}
            () if area.y < window.y => above += 1,
            () if area.y + area.height > window.y + window.height => below += 1,
            () => beside += 1,
        }
    }
    hidden([(above, "above"), (below, "below"), (beside, "beside")])
}

/// How many are where out of sight, in words; nothing where all are in sight.
fn hidden<const N: usize>(where_they_are: [(usize, &str); N]) -> String {
    let some = where_they_are.into_iter().filter(|(count, _)| *count > 0);
    let said: Vec<String> = some.map(|(count, word)| format!("{count} {word}")).collect();
    if said.is_empty() { String::new() } else { format!("    out of sight: {}", said.join(", ")) }
}

/// Whether a box is in the window with all that it says. One that is larger than the window, or has others in it, is shown as far as it fits.
fn is_whole(seen: &VisibleBox<'_>, window: Window) -> bool {
    let (x, y, width, height) = (seen.area.x, seen.area.y, seen.area.width, seen.area.height);
    let fits = width <= window.width && height <= window.height;
    let inside = x >= window.x && y >= window.y && x + width <= window.x + window.width && y + height <= window.y + window.height;
    inside || !fits || matches!(seen.node.body, BoxBody::Open(_))
}

/// From this width on the legend has room for the critical path.
const WIDE: u16 = 100;

fn title(model: &Model, pen: &mut Pen<'_>, area: Rect, focused: bool, hidden: String) {
    let role = if focused { Role::Title } else { Role::Dim };
    let by_stages = model.tree().drawing.stages().is_some();
    let what = if model.shown_run().is_some() { "graph of the run" } else { "graph of the plan" };
    let mut pieces = vec![(Plain::line(what), role)];
    if by_stages {
        pieces.push((Plain::line(", by stages"), Role::Dim));
    }
    let undrawn = model.tree().drawing.chart().filter(|_| !by_stages).map_or(0, GraphDrawing::cut);
    if undrawn > 0 {
        pieces.push((Plain::line(&format!("  {undrawn} edges without a line")), Role::Warning));
    }
    pieces.push((Plain::line(&hidden), Role::Dim));
    pen.title(area, &pieces);
    let path = || model.shown_run().filter(|_| area.width >= WIDE).map(|_| (Plain::line("critical path  "), Role::Title));
    let legend: Vec<(Plain, Role)> = match by_stages {
        true => path().into_iter().chain(graph_stages::legend(pen)).collect(),
        false if model.shown_run().is_some() => {
            let [taken, waiting, dead] = match pen.theme.glyphs() {
                GlyphSet::Unicode => ["━▼ ", " ─▽ ", " ┄× "],
                GlyphSet::Ascii => ["=V ", " -v ", " ./ "],
            };
            let lines = [(taken, "taken"), (waiting, "waits"), (dead, "not taken ")];
            let lines = lines.into_iter().flat_map(|(line, words)| [(Plain::line(line), Role::Text), (Plain::line(words), Role::Dim)]);
            path().into_iter().chain(lines).collect()
        }
        false => Vec::new(),
    };
    let width = |pieces: &[(Plain, Role)]| pieces.iter().map(|(text, _)| text.width()).sum::<usize>();
    if width(&pieces) + width(&legend) + 4 <= usize::from(area.width) {
        pen.pieces_right(Rect { width: area.width - 1, height: 1, ..area }, &legend);
    }
}

/// What the run says of boxes and edges; what was looked up stays known for the frame.
pub struct States<'a> {
    model: &'a Model,
    chart: &'a GraphDrawing,
    turns: RefCell<BTreeMap<NodeId, Option<Turns>>>,
    /// By the id of the source: what became of its ways out, in order.
    ways: RefCell<BTreeMap<NodeId, Vec<EdgeState>>>,
    /// Each node of the critical path with the one before it.
    path: BTreeMap<&'a NodeId, Option<&'a NodeId>>,
}

impl<'a> States<'a> {
    pub fn new(model: &'a Model, chart: &'a GraphDrawing) -> Self {
        let critical = model.shown_run().and_then(RunView::chart).map(|timeline| timeline.critical.as_slice()).unwrap_or_default();
        let before = std::iter::once(None).chain(critical.iter().map(Some));
        Self { model, chart, turns: RefCell::default(), ways: RefCell::default(), path: critical.iter().zip(before).collect() }
    }

    /// Whether a node is on the critical path.
    pub fn is_on_path(&self, id: &NodeId) -> bool {
        self.path.contains_key(id)
    }

    /// Whether an edge leads along the critical path.
    fn is_critical(&self, pane: &Pane, edge: usize) -> bool {
        let prefix = self.chart.owner(pane).map_or(Some(String::new()), |owner| self.turns(owner).map(|turns| turns.prefix));
        let Some((prefix, (from, to))) = prefix.zip(pane.ends(edge)) else { return false };
        let [from, to] = [from, to].map(|id| NodeId::new(format!("{prefix}{id}")));
        self.path.get(&to).is_some_and(|before| *before == Some(&from))
    }

    fn turns(&self, owner: &NodeId) -> Option<Turns> {
        if let Some(known) = self.turns.borrow().get(owner) {
            return known.clone();
        }
        let turns = self.model.turns(owner);
        self.turns.borrow_mut().insert(owner.clone(), turns.clone());
        turns
    }

    fn line(&self, pane: &Pane, edge: usize) -> EdgeStroke {
        let Some(view) = self.model.shown_run() else { return EdgeStroke::Plain };
        let state = match self.chart.owner(pane) {
            None => u32::try_from(edge).ok().map(|edge| view.seen().run.edge_state(EdgeId(edge))),
            Some(owner) => self.turns(owner).and_then(|turns| self.way(view, pane, edge, &turns)),
        };
        match state {
            Some(EdgeState::Taken) if self.is_critical(pane, edge) => EdgeStroke::Critical,
            Some(EdgeState::Taken) => EdgeStroke::Taken,
            Some(EdgeState::Dead) => EdgeStroke::Dead,
            Some(EdgeState::Undecided) | None => EdgeStroke::Waiting,
        }
    }

    fn way(&self, view: &RunView, pane: &Pane, edge: usize, turns: &Turns) -> Option<EdgeState> {
        let (source, nth) = pane.way_out(edge)?;
        let id = NodeId::new(format!("{}{source}", turns.prefix));
        if let Some(known) = self.ways.borrow().get(&id) {
            return known.get(nth).copied();
        }
        let ways: Vec<EdgeState> = view.seen().run.ways_out(&id).into_iter().map(|way| way.state).collect();
        let state = ways.get(nth).copied();
        self.ways.borrow_mut().insert(id, ways);
        state
    }
}

/// The part of a screen that shows a window of the drawing.
struct Sheet<'a, 'b> {
    pen: &'a mut Pen<'b>,
    pane: Rect,
    window: Window,
}

impl Sheet<'_, '_> {
    /// Text at a column and row of the drawing, as far as that is in the window.
    fn put(&mut self, x: u32, y: u32, text: &Plain, role: Role) {
        let Some(row) = y.checked_sub(self.window.y).filter(|row| *row < self.window.height) else { return };
        let hidden = self.window.x.saturating_sub(x);
        let from = (x + hidden) - self.window.x;
        if from >= self.window.width {
            return;
        }
        let shown = text.skip_columns(hidden as usize);
        let room = (self.window.width - from).min(u32::try_from(shown.width()).unwrap_or(u32::MAX));
        let (Ok(from), Ok(row), Ok(room)) = (u16::try_from(from), u16::try_from(row), u16::try_from(room)) else { return };
        // What goes on beyond the edge is cut, not shortened: it is not all there is.
        let shown = if usize::from(room) < shown.width() { shown.cut(usize::from(room)) } else { shown };
        self.pen.text(self.pane.x + from, self.pane.y + row, room, &shown, role);
    }

    /// A row of lines, in as few pieces as there are looks.
    fn lines<'s>(&mut self, y: u32, at: impl Fn(u32) -> Option<(&'s str, EdgeStroke)>) {
        let mut piece = String::new();
        let (mut start, mut look) = (0, None);
        let end = self.window.x + self.window.width;
        for x in self.window.x..=end {
            let cell = if x < end { at(x) } else { None };
            let role = cell.map(|(_, line)| line_role(line));
            if role != look {
                if let Some(role) = look {
                    self.put(start, y, &Plain::line(&piece), role);
                }
                piece.clear();
                (start, look) = (x, role);
            }
            piece.push_str(cell.map_or("", |(symbol, _)| symbol));
        }
    }

    /// The cells of a row of the drawing that are in the window.
    fn row(&self, x: u32, y: u32, width: u32) -> Rect {
        let (left, right) = (x.max(self.window.x), (x + width).min(self.window.x + self.window.width));
        let row = y.checked_sub(self.window.y).filter(|row| *row < self.window.height);
        let (Some(row), Some(width)) = (row, right.checked_sub(left)) else { return Rect::default() };
        let narrow = |value: u32| u16::try_from(value).unwrap_or(0);
        Rect { x: self.pane.x + narrow(left - self.window.x), y: self.pane.y + narrow(row), width: narrow(width), height: 1 }
    }
}

fn line_role(line: EdgeStroke) -> Role {
    match line {
        EdgeStroke::Critical => Role::Text,
        EdgeStroke::Plain | EdgeStroke::Waiting => Role::Border,
        EdgeStroke::Taken | EdgeStroke::Dead => Role::Dim,
    }
}

/// How a node is in the run; in a plan what validation says of it, or that it asks.
pub fn box_mark(model: &Model, id: &NodeId) -> Option<(Glyph, Role)> {
    if let Some(view) = model.shown_run() {
        return row::state_mark(view, id);
    }
    let finding = model.editor.review.of_node(id).next().map(|finding| {
        let (_, glyph, role) = texts::severity(finding.severity);
        (glyph, role)
    });
    let node = model.editor.addressed().node(id);
    let asks = node.is_some_and(|node| texts::gated(node, &model.session.catalog));
    finding.or(asks.then_some((Glyph::Gate, Role::Gate)))
}

/// One box being drawn.
struct NodeBox<'a> {
    model: &'a Model,
    now: Time,
    states: &'a States<'a>,
    seen: &'a VisibleBox<'a>,
}

impl NodeBox<'_> {
    fn draw(&self, sheet: &mut Sheet<'_, '_>, edge: &str, is_selected: bool, focused: bool) {
        let (node, area) = (self.seen.node, self.seen.area);
        let (last, right, inside) = (area.y + area.height - 1, area.x + area.width - 1, area.width as usize - 2);
        let border = if is_selected { Role::BorderFocused } else { Role::Border };
        sheet.put(area.x, area.y, &Plain::line(&format!("┌{}┐", "─".repeat(inside))), border);
        let window = sheet.window;
        for y in (area.y + 1).max(window.y)..last.min(window.y + window.height) {
            sheet.put(area.x, y, &Plain::line("│"), border);
            sheet.put(right, y, &Plain::line("│"), border);
        }
        sheet.put(area.x, last, &Plain::line(&format!("└{edge}┘")), border);
        let id = match self.seen_owner() {
            Some(turns) => NodeId::new(format!("{}{}", turns.prefix, nest::name(&node.id))),
            None => node.id.clone(),
        };
        let mark = box_mark(self.model, &id);
        match node.body {
            BoxBody::Open(_) => self.frame(sheet, mark, is_selected, focused),
            BoxBody::None | BoxBody::Folded(_) => self.inside(sheet, (&id, mark), is_selected, focused),
        }
    }

    /// The turn in which the box is.
    fn seen_owner(&self) -> Option<Turns> {
        crate::plan::nest::owner(&self.seen.node.id).and_then(|owner| self.states.turns(&NodeId::new(owner)))
    }

    /// What is in a box without an open body: its mark and title, and on the last row who does it and how long it took.
    fn inside(&self, sheet: &mut Sheet<'_, '_>, (id, mark): (&NodeId, Option<(Glyph, Role)>), is_selected: bool, focused: bool) {
        let (node, area) = (self.seen.node, self.seen.area);
        let (x, room) = (area.x + 2, area.width as usize - 4);
        if let Some((glyph, role)) = mark {
            sheet.put(x, area.y + 1, &Plain::line(sheet.pen.theme.glyph(glyph)), role);
        }
        let before = self.states.chart.mark(node);
        let at = |columns: usize| x + u32::try_from(columns).unwrap_or(0);
        if matches!(node.body, BoxBody::Folded(_)) {
            sheet.put(at(before - 2), area.y + 1, &Plain::line(sheet.pen.theme.glyph(Glyph::Folded)), Role::Text);
        }
        let role = if self.states.is_on_path(id) { Role::Title } else { Role::Text };
        for (y, words) in (area.y + 1..).zip(&node.rows) {
            sheet.put(at(before), y, &words.truncate(room.saturating_sub(before)), role);
        }
        let last = area.y + area.height - 2;
        let run = self.model.shown_run().and_then(|view| view.seen().run.node(id));
        let took = run.map(|node| row::took(node, self.now)).unwrap_or_default();
        let caption = node.caption.truncate(room);
        let gap = room.saturating_sub(caption.width() + took.width());
        sheet.put(x, last, &caption, Role::Dim);
        if gap > 0 && !took.is_empty() {
            sheet.put(at(caption.width() + gap), last, &took, Role::Dim);
        }
        if is_selected {
            let rows: Vec<Rect> = (area.y + 1..=last).map(|y| sheet.row(area.x + 1, y, area.width - 2)).collect();
            for (at, row) in rows.into_iter().enumerate() {
                if at == 0 { sheet.pen.select(row, focused) } else { sheet.pen.mark(row, focused) }
            }
        }
    }

    /// The upper edge of an open body: whose it is, and which turn is shown.
    fn frame(&self, sheet: &mut Sheet<'_, '_>, mark: Option<(Glyph, Role)>, is_selected: bool, focused: bool) {
        let (node, area) = (self.seen.node, self.seen.area);
        let head = mark.map_or(0, |(glyph, role)| {
            sheet.put(area.x + 1, area.y, &Plain::line(&format!(" {}", sheet.pen.theme.glyph(glyph))), role);
            2
        });
        let turn = match self.states.turns(&node.id).and_then(|turns| turns.of) {
            Some((at, count)) => format!("[{at}] of {count}"),
            None => String::new(),
        };
        let glyph = sheet.pen.theme.glyph(Glyph::Unfolded);
        let words = Plain::line(&format!(" {glyph} ")).then(&node.title).then(&Plain::line(&turn));
        let words = words.then(&Plain::line(": ")).then(&node.caption).then(&Plain::blank(1));
        let room = (area.width - 2).saturating_sub(head);
        let words = words.truncate(room as usize);
        sheet.put(area.x + 1 + head, area.y, &words, if is_selected { Role::Title } else { Role::Heading });
        if is_selected {
            let row = sheet.row(area.x + 1 + head, area.y, u32::try_from(words.width()).unwrap_or(0));
            sheet.pen.select(row, focused);
        }
    }
}

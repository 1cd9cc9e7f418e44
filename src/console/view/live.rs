//! What goes on in a run: who waits for a person, what failed and why, and what the nodes at work said last. On the rows that the tree
//! leaves free; on a wide terminal in a pane of its own, with what happened lately.

use ratatui::layout::Rect;

use super::pen::Pen;
use super::sentence;
use crate::console::model::{Model, Replay, RunView, ScreenLayout, StopKind, Tab, docs, log::LogRow};
use crate::console::theme::Role;
use crate::engine::{EventTone, GateId, NodeRun, StateGroup, arguments};
use crate::plan::{NodeId, nest};
use crate::text::{Glyph, Plain, offset};

/// Lines below the tree at most, and of them those that need a person.
const BELOW: usize = 8;
const NEEDED: usize = 5;
/// Those in a pane.
const NEEDED_IN_PANE: usize = 8;
/// Rows of what one of them says in a pane.
const SAID: usize = 2;
/// Lines of one node at work in a pane at least.
const OF_EACH: usize = 3;
/// Events of late in a pane at most, and how many of the log are looked through for them.
const LATELY: usize = 16;
const LOOKED_THROUGH: usize = 200;

/// One thing that goes on: its mark, whose it is, and what is to be said of it.
struct GoingOn {
    glyph: Glyph,
    role: Role,
    title: Plain,
    said: Plain,
    /// What is new is its end.
    grows: bool,
}

/// What waits for a person, halts or failed, in this order, the oldest first. What the card shows is not said again, nor that a node
/// failed whose owner did for that.
fn needed(view: &RunView, in_card: Option<&NodeId>, most: usize) -> Vec<GoingOn> {
    let run = &view.seen().run;
    let has_failed = |id: &str| run.node(&NodeId::new(id)).is_some_and(|node| node.state.has_failed());
    let told = |kind: StopKind| {
        view.stops().iter().filter(move |stop| stop.kind.is_like(kind) && Some(&stop.node) != in_card).filter_map(move |stop| {
            let (glyph, role, said) = match stop.kind {
                StopKind::Gate(gate) => (Glyph::Gate, Role::Gate, docs::asks(run.gate(gate)?.0)),
                StopKind::Halt => (Glyph::AtBreakpoint, Role::Held, Plain::line("halted")),
                StopKind::Failure if nest::owner(&stop.node).is_some_and(has_failed) => return None,
                StopKind::Failure => (Glyph::Failed, Role::Failed, failure(run.node(&stop.node)?)),
                StopKind::Stale => return None,
            };
            let title = view.title_of(&stop.node);
            // A question may be the title itself.
            let said = if said.as_str().starts_with(title.as_str()) { Plain::default() } else { said };
            Some(GoingOn { glyph, role, title, said, grows: false })
        })
    };
    let gates = told(StopKind::Gate(GateId(0)));
    gates.chain(told(StopKind::Halt)).chain(told(StopKind::Failure)).take(most).collect()
}

/// Why a node failed, on one line.
fn failure(node: &NodeRun) -> Plain {
    let first = node.error.as_ref().and_then(|error| error.message.lines().next()).unwrap_or_default();
    Plain::summary(first.trim_end_matches(':'))
}

/// Which nodes at work are told of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtWork {
    All,
    /// Those that said something.
    Saying,
}

/// What goes on, on so many lines at most: first what needs a person, then the nodes at work with what they said last.
fn going_on(model: &Model, in_card: Option<&NodeId>, (needs, most): (usize, usize), who: AtWork) -> Vec<GoingOn> {
    let Some(view) = model.shown_run() else { return Vec::new() };
    let run = &view.seen().run;
    let says = in_card.filter(|_| model.tab() == Tab::Output);
    let works = view.at_work().iter().filter(|id| Some(*id) != says).map(|id| {
        let (said, grows) = run.node(id).and_then(|node| last(view, id, node)).unwrap_or_default();
        GoingOn { glyph: Glyph::Running, role: Role::Running, title: view.title_of(id), said, grows }
    });
    let works = works.filter(|line| who == AtWork::All || !line.said.is_empty());
    needed(view, in_card, needs).into_iter().chain(works).take(most).collect()
}

/// What goes on, at the end of the rows that the tree leaves free. What the card of a node shows is not said again.
pub fn below(model: &Model, in_card: Option<&NodeId>, pen: &mut Pen<'_>, area: Rect) {
    let room = usize::from(area.height.saturating_sub(1)).min(BELOW);
    lines(going_on(model, in_card, (NEEDED.min(room), room), AtWork::Saying), pen, area);
}

/// Draws one line each, at the end of an area.
fn lines(lines: Vec<GoingOn>, pen: &mut Pen<'_>, area: Rect) {
    let wide = lines.iter().map(|line| line.title.width()).max().unwrap_or(0).min(usize::from(area.width) * 2 / 5);
    let top = area.bottom() - u16::try_from(lines.len()).unwrap_or(0);
    let beside = usize::from(area.width.saturating_sub(4)).saturating_sub(wide + 4);
    for (y, line) in (top..).zip(lines) {
        let pieces = [
            (Plain::line(pen.theme.glyph(line.glyph)), line.role),
            (Plain::blank(1).then(&line.title.truncate(wide).pad(wide)).then(&Plain::blank(2)), Role::Text),
            // Of what a model writes, its end is what is new.
            (if line.grows { tail(&line.said, beside) } else { line.said }, Role::Dim),
        ];
        pen.pieces(Rect { x: area.x + 3, y, width: area.width.saturating_sub(4), height: 1 }, &pieces);
    }
}

/// The end of a line, from the start of a word on.
fn tail(line: &Plain, columns: usize) -> Plain {
    let cut = line.truncate_start(columns);
    match cut.as_str().split_once(' ') {
        Some((_, words)) if cut != *line => Plain::line("… ").then(&Plain::line(words)),
        _ => cut,
    }
}

/// A pane that is filled from the top.
struct Filled<'a, 'b> {
    pen: &'a mut Pen<'b>,
    inside: Rect,
    y: u16,
}

impl Filled<'_, '_> {
    fn row(&mut self, pieces: &[(Plain, Role)]) {
        if self.y < self.inside.bottom() {
            self.pen.pieces(Rect { y: self.y, height: 1, ..self.inside }, pieces);
        }
        self.y += 1;
    }

    /// A mark, a title, and lines below it of which the last is the newest.
    fn entry(&mut self, (glyph, role): (Glyph, Role), title: Plain, lines: &[Plain]) {
        let mark = Plain::line(self.pen.theme.glyph(glyph)).then(&Plain::blank(1));
        self.row(&[(mark, role), (title, Role::Text)]);
        let newest = lines.len().saturating_sub(1);
        for (at, line) in lines.iter().enumerate() {
            self.row(&[(Plain::blank(2), Role::Text), (line.clone(), if at == newest { Role::Text } else { Role::Dim })]);
        }
    }

    fn left(&self) -> usize {
        usize::from(self.inside.bottom().saturating_sub(self.y))
    }
}

/// Draws what goes on where the tree leaves no room for it.
pub fn draw(model: &Model, view: &RunView, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let in_card = model.selected_id().filter(|_| !layout.detail.is_empty());
    match layout.live.x > layout.list.x {
        true => pane(view, in_card, pen, layout.live),
        false => {
            let rows = usize::from(layout.live.height);
            lines(going_on(model, in_card, (rows, rows), AtWork::All), pen, layout.live);
        }
    }
}

/// What needs a person, the nodes at work with the end of what they said, and what happened lately, one below the other. Since when
/// nodes work is on their rows of the tree.
fn pane(view: &RunView, in_card: Option<&NodeId>, pen: &mut Pen<'_>, area: Rect) {
    if area.width < 5 || area.height < 2 {
        return;
    }
    let run = &view.seen().run;
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 };
    let columns = usize::from(inside.width.saturating_sub(2)).max(1);
    let mut filled = Filled { pen, inside, y: inside.y };
    let needed = needed(view, in_card, NEEDED_IN_PANE);
    for line in &needed {
        let mut rows = if line.said.is_empty() { Vec::new() } else { line.said.wrap(columns) };
        rows.truncate(SAID);
        filled.entry((line.glyph, line.role), line.title.clone(), &rows);
    }
    filled.y += u16::from(!needed.is_empty());
    let at_work: Vec<(&NodeId, &NodeRun)> = view.at_work().iter().filter_map(|id| Some((id, run.node(id)?))).collect();
    let each = (filled.left() / at_work.len().max(1)).saturating_sub(2).clamp(OF_EACH, LATELY);
    for (id, node) in at_work {
        if filled.left() < 2 {
            return;
        }
        filled.entry((Glyph::Running, Role::Running), view.title_of(id), &ending(view, (id, node), columns, each));
        filled.y += 1;
    }
    lately(view, &mut filled);
}

/// What came out of nodes lately, what people said, and what went wrong: the newest first.
fn lately(view: &RunView, filled: &mut Filled<'_, '_>) {
    let most = filled.left().saturating_sub(1).min(LATELY);
    if view.log.is_filtered() || most < OF_EACH {
        return;
    }
    let until = view.replay().map_or(usize::MAX, Replay::at);
    let rows = view.log.rows();
    let rows = &rows[..rows.partition_point(|row| row.last() < until)];
    let tells = rows.iter().rev().take(LOOKED_THROUGH).filter_map(|row| match row {
        LogRow::Event(at) => view.journal().records().get(*at),
        LogRow::Stream(_) => None,
    });
    let run = &view.newest().run;
    let told = tells.map(|record| (record, record.event.describe(run))).filter(|(_, line)| is_news(line.tone));
    for (at, (record, line)) in told.take(most).enumerate() {
        if at == 0 {
            filled.row(&[(Plain::line("lately"), Role::Dim)]);
        }
        let when = offset(record.at.since(run.began())).pad_start(9).then(&Plain::blank(2));
        let title = line.node.as_ref().map(|node: &NodeId| view.title_of(node).then(&Plain::blank(2))).unwrap_or_default();
        let role = match line.tone {
            EventTone::State(state) if state.group() == StateGroup::Failed => Role::Failed,
            EventTone::Gate => Role::Gate,
            _ => Role::Dim,
        };
        let said = sentence::bare(&Plain::summary(&view.titled(line.what().as_str())));
        filled.row(&[(when, Role::Dim), (title, Role::Text), (said, role)]);
    }
}

/// Whether what has this tone is worth telling somebody who looked away.
fn is_news(tone: EventTone) -> bool {
    match tone {
        EventTone::State(state) => match state.group() {
            StateGroup::Waiting | StateGroup::Done | StateGroup::Failed | StateGroup::NotRun => true,
            StateGroup::Ahead | StateGroup::Working | StateGroup::Resting => false,
        },
        EventTone::Gate | EventTone::Error | EventTone::Warning | EventTone::Accent | EventTone::Run(_) => true,
        EventTone::Text | EventTone::Dim | EventTone::Code => false,
    }
}

/// The last rows of what a node streamed, else what it said last.
fn ending(view: &RunView, (id, node): (&NodeId, &NodeRun), columns: usize, most: usize) -> Vec<Plain> {
    let output = view.seen().transcript(id).map(|transcript| transcript.output.lines()).unwrap_or_default();
    let mut rows: Vec<Plain> = Vec::new();
    for line in output.iter().rev().filter(|line| !line.as_str().trim().is_empty()).take(most) {
        rows.splice(0..0, line.wrap(columns));
    }
    if rows.is_empty() {
        rows.extend(last(view, id, node).map(|(line, _)| line));
    }
    rows.split_off(rows.len().saturating_sub(most))
}

/// What a node said last, and whether a model writes it.
fn last(view: &RunView, id: &NodeId, node: &NodeRun) -> Option<(Plain, bool)> {
    let output = || view.seen().transcript(id)?.last_line().filter(|line| !line.is_empty()).cloned();
    // What a tool writes says more than that it was called.
    let is_tool = view.seen().run.node_doc(id).is_some_and(|of| of.kind.tool().is_some());
    let said = if is_tool { output().or_else(|| calls(node)) } else { calls(node).or_else(output) };
    Some((said?, !is_tool && calls(node).is_none()))
}

/// The tool that a node uses right now.
fn calls(node: &NodeRun) -> Option<Plain> {
    let (call, _) = node.lineage.tools.iter().rfind(|(_, report)| report.is_none())?;
    Some(Plain::line("calls ").then(&Plain::summary(&call.tool)).then(&Plain::blank(2)).then(&arguments(&call.args)))
}

//! One row of the tree: its state as a mark, what the node does in plain words, and against the right edge who does it, or in a run when it
//! worked and how long.

use ratatui::layout::Rect;

use super::lane::{Lane, Scale};
use super::pen::Pen;
use crate::console::model::{AROUND_TITLE, LANE, LEVELS, Model, RunView, TITLE, TreeRow, TreeRowKind, texts};
use crate::console::theme::{Role, of_node};
use crate::engine::{GateId, ImpactLine, Inside, Measure, NodeRun, StateGroup, Time, inside_ended};
use crate::plan::{Breakpoint, Node, NodeId, nest};
use crate::text::{Glyph, Plain, duration};

/// Columns of the rows, the same for all.
#[derive(Clone, Copy)]
pub struct Columns {
    /// The mark before the tree.
    mark: u16,
    /// Agent or tool, in a plan.
    worker: u16,
    /// How long it will take, in a plan.
    takes: u16,
    /// The lane of time, in a run.
    lane: u16,
    scale: Option<Scale>,
}

/// Columns of the work time.
const TIME: u16 = 6;
/// Columns of agent or tool at most.
const WORKER: u16 = 16;
/// Columns of the lane of time on a narrow terminal.
const SHORTER_LANE: u16 = 14;
/// From this width of the terminal on, the lane is wider; below the other there is none.
const WIDE: u16 = 100;
const NARROW: u16 = 70;
/// Below so many columns a lane says nothing.
const SHORT_LANE: u16 = 8;
/// Columns that a title keeps however much is said besides, and below which a text is left out rather than cut.
const CUT: u16 = 12;
/// Columns that a title should have at least.
const LEAST_TITLE: u16 = 20;

impl Columns {
    /// For rows of so many columns.
    pub fn of(model: &Model, now: Time, width: u16) -> Self {
        let mark = if model.deps_target().is_some() { 4 } else { 2 };
        let worker = WORKER.min(width.saturating_sub(LEAST_TITLE + mark + 4));
        let lane = match model.place.size.0 {
            wide if wide >= WIDE => LANE,
            narrow if narrow < NARROW => 0,
            _ => SHORTER_LANE,
        };
        // The lane, and in a plan the time, give way to the titles.
        let titles = u16::try_from(model.tree().widest().min(TITLE)).unwrap_or(0);
        let has_room = width > titles + AROUND_TITLE.0 + TIME;
        let takes = if has_room && model.editor.forecast.get().is_some() { TIME + 1 } else { 0 };
        let lane = lane.min(width.saturating_sub(titles + AROUND_TITLE.1 + 1));
        let lane = if lane < SHORT_LANE { 0 } else { lane };
        Self { mark, worker, takes, lane, scale: model.shown_run().map(|view| Scale::of(view, now)) }
    }
}

/// A text and how it looks.
type StyledText = (Plain, Role);

/// What a row says: the title, what must be known besides, and what is shown as far as there is room.
struct RowTexts {
    title: StyledText,
    must: Vec<StyledText>,
    may: Vec<StyledText>,
}

/// One row being drawn.
pub struct RowDrawing<'a> {
    pub model: &'a Model,
    pub now: Time,
    pub row: &'a TreeRow,
    pub node: &'a Node,
    pub columns: Columns,
    /// Positions of the nodes that the node whose dependencies are changed depends on.
    pub needs: &'a [usize],
    /// Whether each node comes after that one, so that depending on it would close a cycle.
    pub after: &'a [bool],
}

impl RowDrawing<'_> {
    /// Draws it on a line; the first column is left for the mark of the selected one.
    pub fn draw(&self, pen: &mut Pen<'_>, line: Rect) {
        let run = self.model.shown_run();
        if let TreeRowKind::Finished(count) = self.row.kind {
            let x = self
                .rails(pen, Rect { x: line.x + 1 + self.columns.mark, width: line.width.saturating_sub(2 + self.columns.mark), ..line });
            let words = format!("{} {count} done", pen.theme.glyph(Glyph::Folded));
            pen.words(x, line.y, line.right().saturating_sub(x), &words, Role::Dim);
            return;
        }
        let mark = match run {
            _ if self.model.deps_target().is_some() => self.dependency_mark(),
            Some(view) => state_mark(view, &self.node.id),
            None => self.plan_mark(),
        };
        if let Some((glyph, role)) = mark {
            pen.glyph(line.x + 1, line.y, self.columns.mark, glyph, role);
        }
        let inside = Rect { x: line.x + 1 + self.columns.mark, width: line.width.saturating_sub(2 + self.columns.mark), ..line };
        let right = match run {
            Some(view) => self.run_columns(view, pen, inside),
            None => self.plan_columns(pen, inside),
        };
        self.name(pen, Rect { width: right.saturating_sub(inside.x), ..inside });
    }

    /// The lines that lead to the row, what the node does, and what else it comes after.
    fn name(&self, pen: &mut Pen<'_>, area: Rect) {
        let mut x = self.rails(pen, area);
        let RowTexts { title, must, may } = self.said(pen);
        // What has to be known of the node is never lost in silence: the title is cut for it, and for nothing else.
        let needed: usize = must.iter().map(|(text, _)| text.width()).sum();
        let left = usize::from(area.right().saturating_sub(x));
        let title = (title.0.truncate(left.saturating_sub(needed).max(left.min(usize::from(CUT)))), title.1);
        let mut room = left.saturating_sub(title.0.width() + needed);
        let mut pieces: Vec<StyledText> = [title].into_iter().chain(must).collect();
        for (text, role) in may {
            if room < text.width().min(usize::from(CUT)) {
                break;
            }
            pieces.push((text.truncate(room), role));
            room = room.saturating_sub(text.width());
        }
        for (text, role) in pieces {
            let width = pen.text(x, area.y, area.right().saturating_sub(x), &text, role);
            self.found(pen, Rect { x, width, ..area }, &text);
            x += width;
        }
    }

    /// What the row says: the title, what must be known besides, and what may be where there is room.
    fn said(&self, pen: &Pen<'_>) -> RowTexts {
        let name = nest::name(&self.node.id);
        let entry = name.split_once(']').filter(|_| name.starts_with('[')).map(|(entry, _)| format!("{entry}] ")).unwrap_or_default();
        let title = match self.model.title_of(self.node) {
            Some(title) => Plain::line(&entry).then(&title),
            None => Plain::summary(name),
        };
        let run = self.model.shown_run().and_then(|view| view.seen().run.node(&self.node.id));
        let is_dropped = run.is_some_and(|node| node.state.group() == StateGroup::NotRun);
        let tree = self.model.tree();
        let is_dropped = is_dropped || tree.searches() && !tree.is_hit(self.row);
        let title = (title, if is_dropped { Role::Dim } else { self.reached(Role::Text) });
        let (mut said, mut may) = (Vec::new(), Vec::new());
        let piece = |text: String, role| (Plain::blank(2).then(&Plain::summary(&text)), role);
        let mut more = |text: String, role| said.push(piece(text, role));
        if let TreeRowKind::Folded(hidden) = self.row.kind {
            more(format!("{}{hidden}", pen.theme.glyph(Glyph::Folded)), Role::Accent);
            // What runs inside of it is counted below.
            let is_counted = run.is_some_and(|node| node.inside.nodes > 0);
            for (glyph, role, count) in self.hidden().into_iter().filter(|_| !is_counted) {
                more(format!("{} {count}", pen.theme.glyph(glyph)), role);
            }
        }
        // A search finds ids too.
        if tree.searches() && tree.is_hit(self.row) && *title.0.as_str() != *self.node.id {
            more(self.node.id.to_string(), Role::Dim);
        }
        let others: Vec<&str> = self.model.tree().others(self.row).map(|id| nest::name(id)).collect();
        let also = pen.theme.glyph(Glyph::Also);
        match others.as_slice() {
            [] => {}
            [one] => may.push(piece(format!("{also} {one}"), Role::Dim)),
            [one, rest @ ..] => may.push(piece(format!("{also} {one} and {} more", rest.len()), Role::Dim)),
        }
        if self.is_replied_to() {
            more("reply not sent".to_owned(), Role::Warning);
        }
        let all = self.model.shown_run().map_or(0, |view| view.seen().run.count_inside(&self.node.id));
        if let Some((text, role)) = run.and_then(|node| inside(node, all)) {
            if role == Role::Dim { may.push(piece(text, role)) } else { more(text, role) }
        }
        if let Some((node, mark)) =
            run.filter(|node| node.state.group() == StateGroup::Done).and_then(|node| Some((node, node.mark_label()?)))
        {
            more(mark, if node.mark.is_some() { Role::Warning } else { Role::Dim });
        }
        if let Some(note) = run.and_then(|node| node.lineage.notes.first()) {
            more(note.label.clone(), Role::Warning);
        }
        let edited = self.model.shown_run().and_then(|view| view.edited_payload(&self.node.id));
        if edited.is_some() {
            more("edited".to_owned(), Role::Warning);
        }
        // Without a title, what a tool is given tells more than an id.
        let bare = self.node.kind.tool().filter(|_| self.node.title().is_none());
        may.extend(bare.map(|work| piece(texts::arguments(work, edited, &self.model.plan().inputs).into_string(), Role::Dim)));
        RowTexts { title, must: said, may }
    }

    /// What a folded row hides that waits for a person or failed.
    fn hidden(&self) -> Vec<(Glyph, Role, usize)> {
        let Some(view) = self.model.shown_run() else { return Vec::new() };
        let run = &view.seen().run;
        let nodes = || {
            self.model.tree().hidden(self.row).filter_map(|index| self.model.plan().nodes.get(index)).filter_map(|node| run.node(&node.id))
        };
        let count = |group: StateGroup| nodes().filter(|node| node.state.group() == group).count();
        let both = [(Glyph::Gate, Role::Waiting, count(StateGroup::Waiting)), (Glyph::Failed, Role::Failed, count(StateGroup::Failed))];
        both.into_iter().filter(|(_, _, count)| *count > 0).collect()
    }

    /// Whether a reply was written for a gate of the node and not sent.
    fn is_replied_to(&self) -> bool {
        let Some(view) = self.model.shown_run() else { return false };
        let asks = |id: GateId| view.newest().run.gate(id).is_some_and(|(gate, _)| gate.node == self.node.id);
        self.model.inbox.drafts.keys().any(|key| key.run == view.id && asks(key.gate))
    }

    /// Marks what the search found in a text of the row.
    fn found(&self, pen: &mut Pen<'_>, area: Rect, text: &Plain) {
        let wanted = self.model.tree().filter.text().trim().to_lowercase();
        let at = text.as_str().to_lowercase().find(&wanted).filter(|_| !wanted.is_empty() && text.as_str().is_ascii());
        if let Some(at) = at {
            let (at, len) = (u16::try_from(at).unwrap_or(u16::MAX), u16::try_from(wanted.len()).unwrap_or(u16::MAX));
            let x = area.x.saturating_add(at);
            pen.wash(Rect { x, width: len.min(area.right().saturating_sub(x)), height: 1, ..area }, Role::Match);
        }
    }

    /// The lines that lead to the row. Gives the column behind them.
    fn rails(&self, pen: &mut Pen<'_>, area: Rect) -> u16 {
        let tree = self.model.tree();
        let levels = LEVELS.min(usize::from(area.width / 2) / 2);
        let (level, mut x) = (tree.level(self.row), area.x);
        if level > levels {
            x += pen.words(x, area.y, 6, &format!("{} ", level - levels), Role::Dim);
        }
        let ends = if self.row.inside { (Glyph::InsideBranch, Glyph::InsideLast) } else { (Glyph::TreeBranch, Glyph::TreeLast) };
        let (rails, is_branch) = tree.rails(self.row, levels);
        let rails = pen.rails(&rails, is_branch.then_some(ends));
        x + pen.text(x, area.y, area.right().saturating_sub(x), &rails, Role::Border)
    }

    /// Whether the node is one of the dependencies that are changed, as a mark.
    fn dependency_mark(&self) -> Option<(Glyph, Role)> {
        let target = self.model.deps_target()?;
        let glyph = match (*target == self.node.id, self.needs.contains(&self.row.index)) {
            (true, _) => Glyph::ArrowRight,
            (false, true) => Glyph::Checked,
            (false, false) if self.is_out_of_reach(target) => return None,
            (false, false) => Glyph::Unchecked,
        };
        Some((glyph, Role::Accent))
    }

    /// What validation says of the node as a mark; of a folded row also what it says of nodes inside.
    fn finding_mark(&self) -> Option<(Glyph, Role)> {
        let review = &self.model.editor.review;
        let inside = matches!(self.row.kind, TreeRowKind::Folded(_)).then(|| review.inside(&self.node.id)).into_iter().flatten();
        let worst = review.of_row(&self.node.id, self.row.index).chain(inside).min_by_key(|finding| finding.severity)?;
        let (_, glyph, role) = texts::severity(worst.severity);
        Some((glyph, role))
    }

    /// The mark before the node in the plan: an error, else a breakpoint, else a warning.
    fn plan_mark(&self) -> Option<(Glyph, Role)> {
        let breaks =
            self.node.policy.breakpoint.as_ref().is_some_and(|point| Breakpoint::written(point).is_ok_and(|point| point.is_some()));
        let breaks = breaks.then_some((Glyph::Breakpoint, Role::Held));
        let finding = self.finding_mark();
        if finding.is_some_and(|(glyph, _)| glyph == Glyph::Error) { finding } else { breaks.or(finding) }
    }

    /// Whether the node whose dependencies are changed can't depend on this one.
    fn is_out_of_reach(&self, target: &str) -> bool {
        *target != *self.node.id
            && (nest::prefix(target) != nest::prefix(&self.node.id) || self.after.get(self.row.index).is_some_and(|after| *after))
    }

    /// A role, or the dim one where the row can't be taken.
    fn reached(&self, role: Role) -> Role {
        match self.model.deps_target() {
            Some(target) if self.is_out_of_reach(target) => Role::Dim,
            Some(_) | None => role,
        }
    }

    /// Who does the node's work, and whether it asks a person. Gives the column where the title must end.
    fn plan_columns(&self, pen: &mut Pen<'_>, area: Rect) -> u16 {
        let gate = area.right().saturating_sub(2);
        if texts::gated(self.node, &self.model.session.catalog) {
            pen.glyph(gate, area.y, 1, Glyph::Gate, Role::Gate);
        }
        let takes = gate.saturating_sub(self.columns.takes);
        self.takes(pen, Rect { x: takes, width: gate.saturating_sub(takes), ..area });
        let x = takes.saturating_sub(self.columns.worker + 1);
        pen.text(x, area.y, self.columns.worker, &texts::worker(self.node), Role::Dim);
        x.saturating_sub(2)
    }

    /// How long it will take; `?` where that is not known.
    fn takes(&self, pen: &mut Pen<'_>, area: Rect) {
        let report = self.model.editor.forecast.get().filter(|_| area.width > 0);
        let Some(known) = report.and_then(|report| report.estimate.node(&self.node.id)) else { return };
        let time = Measure::Ms.figure_or_unknown(known.takes.ms.expected).pad_start(usize::from(area.width.saturating_sub(1)));
        pen.text(area.x, area.y, area.width, &time, Role::Dim);
    }

    /// When the node worked and how long, or what an action would make of it. Gives the column where the title must end.
    fn run_columns(&self, view: &RunView, pen: &mut Pen<'_>, area: Rect) -> u16 {
        let Some(node) = view.seen().run.node(&self.node.id) else { return area.right() };
        let time = area.right().saturating_sub(TIME);
        let x = time.saturating_sub(self.columns.lane + 1);
        let lane = Rect { x, width: self.columns.lane, ..area };
        if let Some((fate, may)) = self.model.proposal().and_then(|proposal| proposal.fate(&self.node.id)) {
            let word = Plain::line(&format!("{} {}{}", pen.theme.glyph(Glyph::ArrowRight), if may { "perhaps " } else { "" }, fate.word()));
            pen.text(x, area.y, area.right().saturating_sub(x), &word, texts::impact_role(ImpactLine::Nodes(fate)));
            return x.saturating_sub(1);
        }
        pen.text(time, area.y, TIME, &took(node, self.now).pad_start(usize::from(TIME)), Role::Dim);
        if let Some(scale) = self.columns.scale.filter(|_| lane.width > 0) {
            Lane { stretches: &view.seen().timeline.stretches(&self.node.id), scale, role: texts::lane_role(&node.state) }.draw(pen, lane);
        }
        x.saturating_sub(1)
    }
}

/// How a node of a run is, or what stands before it, as a mark.
pub fn state_mark(view: &RunView, id: &NodeId) -> Option<(Glyph, Role)> {
    let run = &view.seen().run;
    let node = run.node(id)?;
    let is_ahead = node.state.group() == StateGroup::Ahead;
    // A point that means every node is shown in the list alone.
    let is_break =
        || run.has_plan_breakpoint(id) || run.breakpoints().any(|(_, point)| !point.disabled && point.node.is_some() && point.means(id));
    Some(match of_node(&node.state, view.seen_status()) {
        waits if node.state.group() == StateGroup::Waiting => waits,
        _ if node.stale.is_some() => (Glyph::Stale, Role::Stale),
        _ if is_ahead && run.is_held(id) => (Glyph::Held, Role::Held),
        _ if run.kept(id).is_some() || run.held_calls(id).next().is_some() => (Glyph::AtBreakpoint, Role::Held),
        _ if is_ahead && is_break() => (Glyph::Breakpoint, Role::Held),
        state => state,
    })
}

/// How far what runs inside a node is, and whether something there needs a person.
pub fn inside(node: &NodeRun, all: u32) -> Option<(String, Role)> {
    let Inside { nodes, over, waiting, bad } = node.inside;
    let ended = inside_ended(over, all);
    let (words, role) = match (waiting, bad) {
        (0, 0) => (ended, Role::Dim),
        (0, bad) => (format!("{bad} of {all} failed"), Role::Failed),
        (waiting, _) => (format!("{waiting} of {all} waiting"), Role::Waiting),
    };
    (nodes > 0).then_some((words, role))
}

/// How long a node has worked, in whole seconds while it does.
pub fn took(node: &NodeRun, now: Time) -> Plain {
    match (node.work_ms(), node.work_ms_by(now)) {
        (Some(in_all), _) => duration(in_all),
        (None, Some(so_far)) if so_far >= 1000 => duration(so_far / 1000 * 1000),
        (None, _) => Plain::default(),
    }
}

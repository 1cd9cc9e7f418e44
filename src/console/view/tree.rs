//! The tree: one row for each node in sight, with its state in glyph, word and style, and what it says.

use ratatui::layout::Rect;

use super::pen::{Pen, Shown};
use super::{empty, request, sentence};
use crate::console::model::{Focus, LEVELS, Model, RunView, Standing, TreeRow, TreeRowKind, texts};
use crate::console::theme::{Role, of_node};
use crate::engine::{ImpactLine, Inside, NodeRun, NodeState, REHEARSED, Time, Totals, arguments};
use crate::plan::{Node, nest, tree::Orientation};
use crate::text::{Glyph, Plain, duration};

/// Draws the tree below its title.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    if area.width == 0 || area.height < 2 {
        return;
    }
    let focused = matches!(model.place.focus, Focus::Tree | Focus::Filter) && model.dialogs.is_empty();
    title(model, pen, area, focused, shown);
    let inside = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let tree = model.tree();
    if model.plan().nodes.is_empty() {
        return empty::draw(model, pen, inside);
    }
    if tree.rows().is_empty() {
        return pen.no_rows(inside, "no node matches");
    }
    let grid = Grid::of(model, inside.width.saturating_sub(2));
    let target = model.deps_target().and_then(|target| tree.graph().position(target));
    let needs: Vec<usize> = target.map(|target| tree.graph().predecessors(target).collect()).unwrap_or_default();
    let after = target.map(|target| tree.graph().descendants(target)).unwrap_or_default();
    pen.list(inside, (tree.top(), tree.rows().len()), Some(tree.selected()), focused, |pen, at, line| {
        let row = &tree.rows()[at];
        if let Some(node) = model.plan().nodes.get(row.index) {
            RowDrawing { model, now, row, node, grid, needs: &needs, after: &after }.draw(pen, line);
        }
    });
}

fn title(model: &Model, pen: &mut Pen<'_>, area: Rect, focused: bool, shown: &mut Shown) {
    let tree = model.tree();
    let role = if focused { Role::Title } else { Role::Dim };
    if let Some(target) = model.deps_target() {
        let words = Plain::line("what ").then(&Plain::summary(target)).then(&Plain::line(" depends on"));
        return pen.title(area, &[(words, Role::Title)], focused);
    }
    if model.place.focus == Focus::Filter || !tree.filter.is_empty() {
        pen.title(area, &[(Plain::line("search: ").then(&Plain::blank(24)), role)], focused);
        let line = Rect { x: area.x + 9, width: 24.min(area.width.saturating_sub(10)), height: 1, ..area };
        request::field(pen, line, &tree.filter, model.place.focus == Focus::Filter && model.dialogs.is_empty(), shown);
        return;
    }
    let mut words = vec![(Plain::line(if model.shown_run().is_some() { "run" } else { "plan" }), role)];
    if tree.orientation() == Orientation::Goal {
        words.push((Plain::line(", from the goal"), Role::Dim));
    }
    if tree.rows().len() > usize::from(area.height - 1) {
        words.push((Plain::line(&format!("  {} of {}", tree.selected() + 1, tree.rows().len())), Role::Dim));
    }
    let version = model.editor.version().filter(|_| model.shown_run().is_none());
    if let Some(version) = version.filter(|version| !version.origin.is_empty()) {
        words.push((Plain::line("  ").then(&sentence::bare(&version.origin)), Role::Dim));
    }
    pen.title(area, &words, focused);
}

/// Columns of the rows, the same for all.
#[derive(Clone, Copy)]
struct Grid {
    /// Marks, lines and ids.
    name: u16,
    /// Agent or tool.
    worker: u16,
}

impl Grid {
    fn of(model: &Model, width: u16) -> Self {
        let columns = model.tree().columns();
        let mark = mark_width(model);
        let needed = |columns: usize| u16::try_from(columns).unwrap_or(u16::MAX);
        let name = needed(columns.name).saturating_add(mark + 2).clamp(12, (width / 2).max(12));
        let worker = needed(columns.worker).clamp(4, (width / 4).max(10));
        // What a row says last is worth more than who does it.
        let beside = if model.shown_run().is_some() { STATE + TIME + 1 } else { 4 };
        let left = width.saturating_sub(name + beside);
        let room = left.saturating_sub(LAST);
        let worker = if room < NARROWEST { 0 } else { worker.min(room) };
        Self { name, worker }
    }
}

/// Columns of the state's word.
const STATE: u16 = 10;
/// Columns of the time.
const TIME: u16 = 8;
/// Columns that the last column should have at least.
const LAST: u16 = 20;
/// Fewer columns tell nothing of agent or tool.
const NARROWEST: u16 = 6;

/// Columns of an id that the lines of the tree leave room for, however deep they go.
const SHORTEST_ID: usize = 8;

/// Columns of the mark before the lines of the tree.
fn mark_width(model: &Model) -> u16 {
    if model.deps_target().is_some() { 4 } else { 2 }
}

/// One row being drawn.
struct RowDrawing<'a> {
    model: &'a Model,
    now: Time,
    row: &'a TreeRow,
    node: &'a Node,
    grid: Grid,
    /// Positions of the nodes that the node whose dependencies are changed depends on.
    needs: &'a [usize],
    /// Whether each node comes after that one, so that depending on it would close a cycle.
    after: &'a [bool],
}

impl RowDrawing<'_> {
    fn draw(&self, pen: &mut Pen<'_>, line: Rect) {
        let left = Rect { x: line.x + 2, width: line.width.saturating_sub(2), ..line };
        let run = self.model.shown_run();
        let mark = match run {
            _ if self.model.deps_target().is_some() => self.dependency_mark(),
            Some(view) => {
                self.steer_mark(view, pen, line);
                view.seen().run.node(&self.node.id).map(|node| of_node(&node.state, view.seen_status())).filter(|_| self.is_node())
            }
            None => self.finding_mark(),
        };
        if let Some((glyph, role)) = mark {
            pen.glyph(left.x, left.y, 3, glyph, role);
        }
        self.name(pen, Rect { x: left.x + mark_width(self.model), width: self.grid.name.saturating_sub(mark_width(self.model)), ..left });
        let rest = Rect { x: left.x + self.grid.name, width: left.width.saturating_sub(self.grid.name), ..line };
        match (self.row.kind, run) {
            (TreeRowKind::Reference, _) => {
                let words = if self.model.tree().comes_below(self.row) { "shown below" } else { "shown above" };
                let x = rest.x + if run.is_some() { 0 } else { 2 };
                pen.words(x, rest.y, rest.right().saturating_sub(x), words, Role::Dim);
            }
            (TreeRowKind::Leaf | TreeRowKind::Open | TreeRowKind::Folded(_), Some(view)) => self.run_columns(view, pen, rest),
            (TreeRowKind::Leaf | TreeRowKind::Open | TreeRowKind::Folded(_), None) => self.plan_columns(pen, rest),
        }
    }

    /// The lines that lead to the row, and the id.
    fn name(&self, pen: &mut Pen<'_>, area: Rect) {
        let mut x = self.rails(pen, area);
        let room = |x: u16| area.right().saturating_sub(x + 1);
        let role = if self.row.kind == TreeRowKind::Reference { Role::Dim } else { self.reached(Role::Text) };
        if self.row.kind == TreeRowKind::Reference {
            let arrow = if self.model.tree().comes_below(self.row) { Glyph::ArrowDown } else { Glyph::ArrowUp };
            x += pen.glyph(x, area.y, room(x), arrow, Role::Dim) + 1;
        }
        let fold = match self.row.kind {
            TreeRowKind::Folded(hidden) => Plain::line(&format!(" {}{hidden}", pen.theme.glyph(Glyph::Folded))),
            TreeRowKind::Leaf | TreeRowKind::Open | TreeRowKind::Reference => Plain::default(),
        };
        let folded = u16::try_from(fold.width()).unwrap_or(0);
        let space = room(x).saturating_sub(folded);
        let id = self.id().truncate_middle(usize::from(space));
        let width = pen.text(x, area.y, space, &id, role);
        self.found(pen, Rect { x, width, ..area }, &id);
        x += width;
        pen.text(x, area.y, room(x), &fold, Role::Accent);
    }

    /// The id as it is shown here: inside the row above, or whole in a list that shows no tree.
    fn id(&self) -> Plain {
        let whole = !self.model.tree().filter.text().trim().is_empty();
        Plain::summary(if whole { &self.node.id } else { nest::name(&self.node.id) })
    }

    /// Marks what the search found in the id.
    fn found(&self, pen: &mut Pen<'_>, area: Rect, id: &Plain) {
        let wanted = self.model.tree().filter.text().trim().to_lowercase();
        let at = id.as_str().to_lowercase().find(&wanted).filter(|_| !wanted.is_empty() && id.as_str().is_ascii());
        if let Some(at) = at {
            let (at, len) = (u16::try_from(at).unwrap_or(u16::MAX), u16::try_from(wanted.len()).unwrap_or(u16::MAX));
            let x = area.x.saturating_add(at);
            pen.wash(Rect { x, width: len.min(area.right().saturating_sub(x)), height: 1, ..area }, Role::Match);
        }
    }

    /// The lines that lead to the row. Gives the column behind them.
    fn rails(&self, pen: &mut Pen<'_>, area: Rect) -> u16 {
        let id = self.id().width().min(SHORTEST_ID) + 1;
        let levels = LEVELS.min(usize::from(area.width).saturating_sub(id) / 3);
        let mut x = area.x;
        if self.row.depth > levels {
            x += pen.words(x, area.y, 6, &format!("{}", self.row.depth - levels), Role::Dim);
        }
        let ends = if self.row.inside { (Glyph::InsideBranch, Glyph::InsideLast) } else { (Glyph::TreeBranch, Glyph::TreeLast) };
        let rails = pen.rails(&self.model.tree().rails(self.row, levels), ends);
        x + pen.text(x, area.y, area.right().saturating_sub(x), &rails, Role::Border)
    }

    /// Whether a breakpoint means the node, or a person holds it, as a mark before the state.
    fn steer_mark(&self, view: &RunView, pen: &mut Pen<'_>, line: Rect) {
        let (run, id) = (&view.seen().run, &self.node.id);
        if !self.is_node() {
            return;
        }
        // One that means every node is shown in the list alone.
        if run.breakpoints().any(|(_, point)| point.node.is_some() && point.means(id)) {
            pen.glyph(line.x + 1, line.y, 1, Glyph::Bullet, Role::Failed);
        } else if run.is_held(id) {
            pen.glyph(line.x + 1, line.y, 1, Glyph::Held, Role::Held);
        }
    }

    /// Whether the row is the node itself.
    fn is_node(&self) -> bool {
        self.row.kind != TreeRowKind::Reference
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
        let worst = review.of_node(&self.node.id).chain(inside).min_by_key(|finding| finding.severity).filter(|_| self.is_node())?;
        let (_, glyph, role) = texts::severity(worst.severity);
        Some((glyph, role))
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

    fn plan_columns(&self, pen: &mut Pen<'_>, rest: Rect) {
        if texts::gated(self.node, &self.model.session.catalog) {
            pen.glyph(rest.x, rest.y, 1, Glyph::Gate, Role::Gate);
        }
        pen.text(
            rest.x + 2,
            rest.y,
            self.grid.worker.min(rest.width.saturating_sub(2)),
            &texts::worker(self.node),
            self.reached(Role::Accent),
        );
        let from = rest.x + 4 + self.grid.worker;
        let does = texts::summary(self.node, &self.model.plan().inputs);
        pen.text(from, rest.y, rest.right().saturating_sub(from), &does, Role::Dim);
    }

    fn run_columns(&self, view: &RunView, pen: &mut Pen<'_>, rest: Rect) {
        let Some(node) = view.seen().run.node(&self.node.id) else { return };
        let (word, role) = match self.model.proposal().and_then(|proposal| proposal.fate(&self.node.id)) {
            // What an action would make of the node is shown in the place of what it is.
            Some(fate) => (
                Plain::line(pen.theme.glyph(Glyph::ArrowRight)).then(&Plain::line(fate.word())),
                texts::impact_role(ImpactLine::Nodes(fate)),
            ),
            None => (Plain::line(node.state.label(view.seen_status())), of_node(&node.state, view.seen_status()).1),
        };
        let mut x = rest.x + pen.text(rest.x, rest.y, rest.width.min(11), &word, role).max(9) + 1;
        let worker = self.grid.worker;
        pen.text(x, rest.y, worker.min(rest.right().saturating_sub(x)), &texts::worker(self.node), Role::Dim);
        x += worker + 1;
        if x + 6 > rest.right() {
            return;
        }
        pen.text(x, rest.y, 6, &took(node, self.now).pad_start(6), Role::Dim);
        x += 8;
        if view.seen().spent.tokens.total() > 0 && rest.right() > x + 30 {
            let spent = Totals::from(node.spent());
            let tokens = if spent.tokens == 0 { Plain::default() } else { spent.tokens_label().then(&Plain::line(" tok")) };
            pen.text(x - 1, rest.y, 9, &tokens.pad_start(9), Role::Dim);
            x += 10;
        }
        if node.stale.is_some() {
            x += stale(pen, x, rest.y, rest.right().saturating_sub(x)) + 2;
        }
        let marked = Standing::of(&node.state) == Standing::Done;
        if let Some(mark) = node.mark_label().filter(|_| marked) {
            let mark = Plain::line(&format!("{} {mark}", pen.theme.glyph(Glyph::Modified)));
            x += pen.text(x, rest.y, rest.right().saturating_sub(x), &mark, Role::Warning) + 2;
        }
        if let Some(said) = self.said(view, node) {
            let role = match node.inside {
                Inside { waiting: 1.., .. } => Role::Waiting,
                Inside { bad: 1.., .. } => Role::Failed,
                Inside { .. } => Role::Dim,
            };
            pen.pieces(Rect { x, width: rest.right().saturating_sub(x), ..rest }, &sentence::row(&said, role));
        }
    }

    /// What a breakpoint keeps, before which one.
    fn kept(&self, view: &RunView) -> Option<Plain> {
        let run = &view.seen().run;
        let kept = run.kept(&self.node.id)?.label()?;
        let reason = run.reason(&self.node.id);
        Some(Plain::summary(&format!("{kept}; {reason}")))
    }

    /// What the row says last: why its state is so, else its last line of output.
    fn said(&self, view: &RunView, node: &NodeRun) -> Option<Plain> {
        let reason =
            || Some(view.seen().run.reason(&self.node.id)).filter(|reason| !reason.is_empty()).map(|reason| Plain::summary(&reason));
        let output = || view.seen().transcript(&self.node.id).and_then(|transcript| transcript.last_line().cloned());
        match Standing::of(&node.state) {
            _ if node.state == NodeState::Rehearsed => {
                let text = texts::readable(node.result.as_deref()?);
                Some(Plain::summary(text.strip_prefix(REHEARSED).unwrap_or(&text).trim_start()))
            }
            Standing::Failed => node.error.as_ref().map(|error| Plain::summary(&error.message)).or_else(reason),
            Standing::Working => calls(node).or_else(|| inside(node)).or_else(output).or_else(reason),
            Standing::Done if node.inside.bad > 0 => inside(node),
            Standing::Done => output().or_else(reason),
            Standing::Ahead => self.kept(view).or_else(reason).or_else(output),
            Standing::Waiting | Standing::Dropped => reason().or_else(output),
        }
    }
}

/// How far what runs inside a node is, and whether something there needs a person.
fn inside(node: &NodeRun) -> Option<Plain> {
    let Inside { nodes, over, waiting, bad } = node.inside;
    let words = match (waiting, bad) {
        (0, 0) => format!("{over} of {nodes} inner nodes done"),
        (0, bad) => format!("{bad} failed inside, {over} of {nodes} done"),
        (waiting, _) => format!("{waiting} waiting inside, {over} of {nodes} done"),
    };
    (nodes > 0).then(|| Plain::line(&words))
}

/// Says that a result was made of earlier ones, in glyph, word and style. Gives the columns used.
pub(super) fn stale(pen: &mut Pen<'_>, x: u16, y: u16, width: u16) -> u16 {
    let mark = Plain::line(&format!("{} stale", pen.theme.glyph(Glyph::Stale)));
    pen.text(x, y, width, &mark, Role::Stale)
}

/// The tool that a node uses right now.
fn calls(node: &NodeRun) -> Option<Plain> {
    let (call, _) = node.lineage.tools.iter().rfind(|(_, report)| report.is_none())?;
    Some(Plain::line("calls ").then(&Plain::summary(&call.tool)).then(&Plain::blank(2)).then(&arguments(&call.args)))
}

/// How long a node has worked, in whole seconds while it does.
pub(super) fn took(node: &NodeRun, now: Time) -> Plain {
    match (node.work_ms(), node.work_ms_by(now)) {
        (Some(in_all), _) => duration(in_all),
        (None, Some(so_far)) => duration(so_far / 1000 * 1000),
        (None, None) => Plain::default(),
    }
}

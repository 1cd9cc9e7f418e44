//! The timeline: a bar a node against time, with what it waited for, what it did, and the critical path.

use ratatui::layout::Rect;

use super::doc;
use super::pen::{Pen, below};
use crate::console::model::{Model, ScreenLayout, docs};
use crate::console::theme::Role;
use crate::engine::{Bar, Doing, Run, Time, TimelineChart};
use crate::plan::NodeId;
use crate::text::{Glyph, Plain, duration};

/// Draws the bars and what the selected node did.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let area = layout.list;
    let Some(view) = model.shown_run() else {
        pen.title(area, &[(Plain::line("timeline"), Role::Title)]);
        return pen.no_rows(below(area), "No run is shown.");
    };
    let Some(chart) = view.chart() else { return };
    let fold = view.seen();
    let open = model.dialogs.is_empty();
    let wide = chart.bars.iter().map(|bar| view.title_of(&bar.node).width()).max().unwrap_or(0);
    let name = u16::try_from(wide).unwrap_or(u16::MAX).clamp(6, area.width / 3);
    let scale = ChartScale::new(chart, area, name);
    axis(&scale, pen, Rect { y: area.y + 1, height: 1, ..area });
    let selected = model.selected_id();
    let rows = Rect { y: area.y + 2, height: area.height.saturating_sub(3), ..area };
    let end = pen.out_of_sight(area, model.place.first_bar, chart.bars.len(), rows.height);
    let title = Rect { width: end.saturating_sub(area.x + 1), ..area };
    pen.title(title, &[(Plain::line("timeline  "), Role::Title), (chart.label(), Role::Text)]);
    pen.list(rows, (model.place.first_bar, chart.bars.len()), None, open, |pen, at, line| {
        let bar = &chart.bars[at];
        draw_bar(&scale, chart, (bar, &view.title_of(&bar.node)), name, pen, line);
        if is_stale(&fold.run, &bar.node) {
            pen.glyph(line.x + 1, line.y, 1, Glyph::Stale, Role::Stale);
        }
        if selected == Some(&bar.node) {
            pen.select(Rect { width: name + 4, ..line }, open);
        }
    });
    legend(chart, &fold.run, pen, Rect { y: area.bottom().saturating_sub(1), height: 1, ..area });
    let said = selected.map(|node| docs::stretches(&fold.run, chart, node)).unwrap_or_default();
    doc::beside(pen, layout.detail, "when it waited and worked", &said, 0);
}

fn is_stale(run: &Run, node: &NodeId) -> bool {
    run.node(node).is_some_and(|node| node.stale.is_some())
}

/// Time on columns.
struct ChartScale {
    start: Time,
    ms: u64,
    x: u16,
    width: u16,
}

/// Columns of the working time behind a bar.
const TOOK: u16 = 8;

impl ChartScale {
    fn new(chart: &TimelineChart, area: Rect, name: u16) -> Self {
        let x = area.x + name + 5;
        let width = area.right().saturating_sub(x + TOOK).max(1);
        Self { start: chart.start.unwrap_or(chart.end), ms: chart.makespan_ms.max(1), x, width }
    }

    /// Columns between two moments; one at least.
    fn columns(&self, from: Time, to: Time) -> std::ops::Range<u16> {
        let column = |at: Time| u16::try_from(at.since(self.start).saturating_mul(u64::from(self.width)) / self.ms).unwrap_or(u16::MAX);
        let from = column(from).min(self.width - 1);
        from..column(to).clamp(from + 1, self.width)
    }
}

/// Seconds between two ticks from ten on; below, 1, 2 and 5 of each unit.
const TICKS: [u64; 16] = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800];
/// Columns between two ticks at least.
const APART: u64 = 12;

fn axis(scale: &ChartScale, pen: &mut Pen<'_>, row: Rect) {
    let round = (0..4).flat_map(|power| [1, 2, 5].map(|first| first * 10_u64.pow(power)));
    let mut ticks = round.chain(TICKS.map(|seconds| seconds * 1_000));
    // The fewest that leave them apart.
    let tick = ticks.find(|tick| tick.saturating_mul(u64::from(scale.width)) / scale.ms >= APART).unwrap_or(scale.ms);
    for ms in (0..=scale.ms / tick.max(1)).map(|at| at * tick) {
        let words = match ms {
            0 => Plain::line("0"),
            // A round number of seconds is written as one.
            1_000..=9_999 if ms % 1_000 == 0 => Plain::line(&format!("{}s", ms / 1_000)),
            ms => duration(ms),
        };
        let wide = u16::try_from(words.width()).unwrap_or(0);
        let moment = scale.start.plus(ms);
        let at = scale.columns(moment, moment).start.min(scale.width.saturating_sub(wide));
        pen.text(scale.x + at, row.y, row.right().saturating_sub(scale.x + at), &words, Role::Dim);
    }
}

/// What is drawn over what, the last on top.
const ORDER: [Doing; 8] =
    [Doing::Inputs, Doing::Slot, Doing::Resting, Doing::Held, Doing::Gate, Doing::Unknown, Doing::Model, Doing::Working];

fn draw_bar(scale: &ChartScale, chart: &TimelineChart, (bar, title): (&Bar, &Plain), name: u16, pen: &mut Pen<'_>, line: Rect) {
    let role = if bar.critical { Role::Accent } else { Role::Text };
    if bar.critical {
        pen.glyph(line.x + 2, line.y, 1, Glyph::ArrowRight, Role::Accent);
    }
    pen.text(line.x + 4, line.y, name, title, role);
    for doing in ORDER {
        for stretch in bar.stretches.iter().filter(|stretch| stretch.doing == doing) {
            let columns = scale.columns(stretch.from, stretch.to.unwrap_or(chart.end));
            let looks = match doing {
                Doing::Working if bar.critical => Role::Accent,
                doing => docs::doing_role(doing),
            };
            for column in columns {
                pen.glyph(scale.x + column, line.y, 1, doing.glyph(), looks);
            }
        }
    }
    let worked = bar.worked(chart.end);
    if worked > 0 {
        let took = duration(worked);
        pen.pieces_right(Rect { width: line.width.saturating_sub(1), ..line }, &[(took, Role::Dim)]);
    }
}

/// What the marks mean that there are.
fn legend(chart: &TimelineChart, run: &Run, pen: &mut Pen<'_>, row: Rect) {
    let all = [
        (Doing::Working, Glyph::BarFull, "works"),
        (Doing::Inputs, Glyph::Pending, "waits for nodes"),
        (Doing::Slot, Glyph::Ready, "waits for a slot"),
        (Doing::Gate, Glyph::Gate, "gate"),
        (Doing::Held, Glyph::Held, "held"),
        (Doing::Resting, Glyph::Retrying, "retry"),
        (Doing::Model, Glyph::BarEmpty, "model"),
        (Doing::Unknown, Glyph::Unknown, "unknown"),
    ];
    let occurs = |doing: Doing| chart.bars.iter().flat_map(|bar| &bar.stretches).any(|stretch| stretch.doing == doing);
    let there = all.into_iter().filter(|(doing, ..)| occurs(*doing));
    let mut words: Vec<_> = there.map(|(doing, glyph, word)| (glyph, docs::doing_role(doing), word)).collect();
    if chart.bars.iter().any(|bar| bar.critical) {
        words.push((Glyph::ArrowRight, Role::Accent, "critical path"));
    }
    if chart.bars.iter().any(|bar| is_stale(run, &bar.node)) {
        words.push((Glyph::Stale, Role::Stale, "stale"));
    }
    let wide: usize = words.iter().map(|(_, _, word)| word.len() + 4).sum();
    let gap = if wide <= usize::from(row.width) { 2 } else { 1 };
    let mut x = row.x + 1;
    for (glyph, role, word) in words {
        let pieces = [(Plain::line(pen.theme.glyph(glyph)), role), (Plain::line(&format!(" {word}")), Role::Dim)];
        let width = u16::try_from(pieces.iter().map(|(text, _)| text.width()).sum::<usize>()).unwrap_or(u16::MAX);
        // What has no room is left out whole.
        if x.saturating_add(width) <= row.right() {
            x = pen.pieces(Rect { x, ..row }, &pieces) + gap;
        }
    }
}

//! `dagdeck show --timeline`: a run against time, as bars of text.

use super::{CliError, Io};
use crate::{
    engine::{Bar, Doing, Record, Time, Timeline, TimelineChart, elapsed, listed, work},
    text::{GlyphSet, Plain},
};
use serde_json::json;

/// Columns of the bars where no terminal says how many there are, and within which they stay in one that does.
const BAR_COLUMNS: usize = 50;
const BARS_WITHIN: (usize, usize) = (16, 100);
/// The most of a node's name.
const NAME_COLUMNS: usize = 24;

/// What stands beside name, bar and what it came after: the mark, the time, the gaps, the word `after`.
const BESIDE: usize = 26;

/// Shows a run against time, from its start to `until`.
pub(super) fn timeline(id: &str, records: &[Record], until: Time, as_json: bool, io: &mut Io<'_>) -> Result<(), CliError> {
    let (timeline, run) = Timeline::replay(records);
    let chart = timeline.chart(&run, until);
    if as_json {
        io.json(&json!({ "run": id, "timeline": chart }))?;
        return Ok(());
    }
    let width = chart.bars.iter().map(|bar| Plain::line(&bar.node).width()).max().unwrap_or(0).min(NAME_COLUMNS);
    let afters: Vec<String> = chart.bars.iter().map(|bar| bar.after.as_ref().map(|after| after.label()).unwrap_or_default()).collect();
    let after_width = afters.iter().map(|after| Plain::line(after).width()).max().unwrap_or(0);
    let room = |all: usize| all.saturating_sub(width + after_width + BESIDE).clamp(BARS_WITHIN.0, BARS_WITHIN.1);
    let columns = io.columns.map_or(BAR_COLUMNS, room);
    for (bar, after) in chart.bars.iter().zip(&afters) {
        let name = Plain::line(&bar.node).truncate_middle(width).pad(width);
        let mark = if bar.critical { '*' } else { ' ' };
        let worked = bar.worked(chart.end);
        let after = if after.is_empty() { String::new() } else { format!("  after {after}") };
        let line = format!("{mark} {name}  {}  {}{after}", drawn(bar, &chart, columns), work(worked).pad_start(12));
        io.line(Plain::line(&line).as_str().trim_end())?;
    }
    let totals = listed([elapsed(run.elapsed_ms(until)), chart.label()]);
    io.line(totals.as_str())?;
    let occurs = |doing: &Doing| chart.bars.iter().flat_map(|bar| &bar.stretches).any(|stretch| stretch.doing == *doing);
    let signs: Vec<String> = Doing::ALL.into_iter().filter(occurs).map(|doing| format!("{} {}", sign(doing), doing.label())).collect();
    io.say(&format!("* critical path  {}", signs.join("  ")));
    Ok(())
}

/// A bar: in each column what the node did longest then.
fn drawn(bar: &Bar, chart: &TimelineChart, columns: usize) -> String {
    let Some(start) = chart.start else { return String::new() };
    let all = chart.makespan_ms.max(1);
    let column = |at: Time| (at.since(start).saturating_mul(columns as u64) / all).min(columns as u64 - 1) as usize;
    let mut cells = vec![" "; columns];
    for stretch in &bar.stretches {
        let (from, to) = (column(stretch.from), column(stretch.to.unwrap_or(chart.end)));
        for cell in &mut cells[from..=to.max(from)] {
            // Work shows however short it is.
            if *cell != sign(Doing::Working) || stretch.doing == Doing::Working {
                *cell = sign(stretch.doing);
            }
        }
    }
    cells.into_iter().collect()
}

fn sign(doing: Doing) -> &'static str {
    GlyphSet::Ascii.get(doing.glyph())
}

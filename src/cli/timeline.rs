//! `dagdeck show --timeline`: a run against time, as bars of text.

use super::{Failure, Io};
use crate::{
    engine::{Bar, Chart, Doing, Record, Time, Timeline},
    text::{Plain, duration},
};
use serde_json::json;

/// Columns of the bars, and the most of a node's name.
const BAR_COLUMNS: u64 = 50;
const NAME_COLUMNS: usize = 24;

/// Shows a run against time: as it stands at its last event, where it goes on.
pub(super) fn timeline(id: &str, records: &[Record], as_json: bool, io: &mut Io<'_>) -> Result<(), Failure> {
    let (timeline, run) = Timeline::replay(records);
    let now = records.last().map_or(Time::default(), |record| record.at);
    let chart = timeline.chart(&run, now);
    if as_json {
        io.json(&json!({ "run": id, "timeline": chart }))?;
        return Ok(());
    }
    let width = chart.bars.iter().map(|bar| Plain::line(&bar.node).width()).max().unwrap_or(0).min(NAME_COLUMNS);
    for bar in &chart.bars {
        let name = Plain::line(&bar.node).truncate_middle(width).pad(width);
        let mark = if bar.critical { '*' } else { ' ' };
        let worked = bar.spent(Doing::Working, chart.end);
        let after = bar.after.as_ref().map(|after| format!("  after {}", after.words())).unwrap_or_default();
        let line = format!("{mark} {name}  {}  {}{after}", drawn(bar, &chart), duration(worked).pad_start(7));
        io.line(Plain::line(&line).as_str().trim_end())?;
    }
    io.line(&format!("{} in all, at least {} with this work", duration(chart.makespan_ms), duration(chart.bound_ms)))?;
    io.say("* critical path   . inputs   - slot   = held   ? gate   # work   ~ rest   ! unknown");
    Ok(())
}

/// A bar: in each column what the node did longest then.
fn drawn(bar: &Bar, chart: &Chart) -> String {
    let Some(start) = chart.start else { return String::new() };
    let all = chart.makespan_ms.max(1);
    let column = |at: Time| (at.since(start) * BAR_COLUMNS / all).min(BAR_COLUMNS - 1) as usize;
    let mut cells = vec![' '; BAR_COLUMNS as usize];
    for stretch in &bar.stretches {
        let (from, to) = (column(stretch.from), column(stretch.to.unwrap_or(chart.end)));
        for cell in &mut cells[from..=to.max(from)] {
            // Work shows however short it is.
            if *cell != '#' || stretch.doing == Doing::Working {
                *cell = sign(stretch.doing);
            }
        }
    }
    cells.into_iter().collect()
}

fn sign(doing: Doing) -> char {
    match doing {
        Doing::Inputs => '.',
        Doing::Slot => '-',
        Doing::Held => '=',
        Doing::Gate => '?',
        Doing::Working => '#',
        Doing::Resting => '~',
        Doing::Unknown => '!',
    }
}

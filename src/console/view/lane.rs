//! A lane of time: when one node waited and worked, as a line on the scale of the whole run.

use ratatui::layout::Rect;

use super::pen::Pen;
use crate::console::model::RunView;
use crate::console::theme::Role;
use crate::engine::{Doing, Stretch, Time};
use crate::text::Glyph;

/// Time on the columns of a lane. While the run goes on, it changes only when the run has become twice as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    start: Time,
    now: Time,
    ms: u64,
}

/// Milliseconds of the shortest scale of a run that goes on.
const SHORTEST: u64 = 8_000;

impl Scale {
    /// The scale of a run.
    pub fn of(view: &RunView, now: Time) -> Self {
        // Nothing is drawn while nothing works, so the time stands still then.
        let (run, now) = (&view.seen().run, if view.works() { now } else { view.seen().last });
        let elapsed = now.since(run.began()).max(1);
        let doubled = || std::iter::successors(Some(SHORTEST), |ms| ms.checked_mul(2)).find(|ms| *ms >= elapsed).unwrap_or(elapsed);
        Self { start: run.began(), now, ms: if run.outcome().is_some() { elapsed } else { doubled() } }
    }

    /// When it begins, and how long it is.
    pub fn span(self) -> (Time, u64) {
        (self.start, self.ms)
    }

    /// The columns between two moments, of so many; one at least.
    pub fn columns(self, from: Time, to: Time, width: u16) -> std::ops::Range<u16> {
        let column = |at: Time| u16::try_from(at.since(self.start).saturating_mul(u64::from(width)) / self.ms).unwrap_or(u16::MAX);
        let from = column(from).min(width.saturating_sub(1));
        from..column(to).clamp(from + 1, width.max(from + 1))
    }
}

/// One node's line.
pub struct Lane<'a> {
    pub stretches: &'a [Stretch],
    pub scale: Scale,
    /// How its work looks.
    pub role: Role,
}

/// How a while of doing something looks in a lane; nothing while its sources are not there.
pub fn looks(doing: Doing, work: Role) -> Option<(Glyph, Role)> {
    match doing {
        Doing::Inputs => None,
        Doing::Slot | Doing::Resting | Doing::Model => Some((Glyph::Pending, Role::Dim)),
        Doing::Held => Some((Glyph::LineWaits, Role::Held)),
        Doing::Gate | Doing::Unknown => Some((Glyph::LineWaits, Role::Waiting)),
        Doing::Working => Some((Glyph::LineHeavy, work)),
    }
}

impl Lane<'_> {
    /// Draws it; later stretches over earlier ones, work over all.
    pub fn draw(&self, pen: &mut Pen<'_>, area: Rect) {
        // What waits for a person now is seen, however little time went by since.
        let asks = |stretch: &&Stretch| stretch.to.is_none() && matches!(stretch.doing, Doing::Gate | Doing::Unknown);
        let asks: Vec<&Stretch> = self.stretches.iter().filter(asks).collect();
        let (work, waits): (Vec<&Stretch>, Vec<&Stretch>) = self.stretches.iter().partition(|stretch| stretch.doing == Doing::Working);
        let mut worked = 0;
        for stretch in waits.into_iter().chain(work).chain(asks) {
            let Some((glyph, role)) = looks(stretch.doing, self.role) else { continue };
            let mut columns = self.scale.columns(stretch.from, stretch.to.unwrap_or(self.scale.now), area.width);
            if stretch.doing == Doing::Working {
                worked = columns.end;
            } else if stretch.to.is_none() && columns.end <= worked {
                columns = worked.min(area.width.saturating_sub(1))..(worked + 1).min(area.width);
            }
            let tip = columns.end - 1;
            for column in columns {
                let works_on = stretch.doing == Doing::Working && stretch.to.is_none() && column == tip;
                pen.glyph(area.x + column, area.y, 1, if works_on { Glyph::LineTip } else { glyph }, role);
            }
        }
    }
}

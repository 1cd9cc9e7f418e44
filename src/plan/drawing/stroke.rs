//! `Stroke`: what lines leave in one cell, and the character for it. Lines of one source join where they meet; of two that only
//! cross, the one that runs down lies on top.

use crate::text::GlyphSet;

/// How an edge is drawn. Of edges that share a piece of line the last of these shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeStroke {
    /// It was not taken: dashed, ends in a cross.
    Dead,
    /// No run is shown.
    Plain,
    /// Not decided yet: ends in a hollow arrow.
    Waiting,
    /// It was taken: heavy.
    Taken,
    /// It was taken, and is on the critical path: heavy.
    Critical,
}

/// Arms of a cell: up, right, down, left.
pub(super) const UP: usize = 0;
pub(super) const RIGHT: usize = 1;
pub(super) const DOWN: usize = 2;
pub(super) const LEFT: usize = 3;

/// Lines of several sources run into one port.
const SEVERAL: u32 = u32::MAX;

/// What lines leave in one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stroke {
    arms: [Option<EdgeStroke>; 4],
    /// The sources of what runs across and of what runs down.
    across: Option<u32>,
    down: Option<u32>,
    arrow: Option<EdgeStroke>,
}

impl Stroke {
    /// Adds an arm that belongs to a source.
    pub(super) fn add(&mut self, arm: usize, line: EdgeStroke, source: u32) {
        let owner = if arm == UP || arm == DOWN { &mut self.down } else { &mut self.across };
        *owner = Some(if owner.is_some_and(|other| other != source) { SEVERAL } else { source });
        self.arms[arm] = self.arms[arm].max(Some(line));
    }

    /// Makes it the end of a line.
    pub(super) fn point(&mut self, line: EdgeStroke) {
        self.arrow = self.arrow.max(Some(line));
    }

    /// The same cell on the lower edge of a box.
    #[must_use]
    pub fn on_edge(mut self) -> Self {
        self.across = self.down;
        self.arms[LEFT] = Some(EdgeStroke::Plain);
        self.arms[RIGHT] = Some(EdgeStroke::Plain);
        self
    }

    /// How the cell's lines are drawn; `None` where there is none.
    pub fn line(&self) -> Option<EdgeStroke> {
        self.arrow.or_else(|| self.visible().into_iter().max().flatten())
    }

    fn visible(&self) -> [Option<EdgeStroke>; 4] {
        let [up, _, down, _] = self.arms;
        match (self.across, self.down) {
            (Some(across), Some(under)) if across != under && under != SEVERAL => [up, None, down, None],
            (Some(_) | None, Some(_) | None) => self.arms,
        }
    }

    /// The character of the cell; a space where there is no line.
    pub fn symbol(&self, glyphs: GlyphSet) -> &'static str {
        if let Some(line) = self.arrow {
            return arrow(line, glyphs);
        }
        let arms = self.visible();
        match glyphs {
            GlyphSet::Unicode => unicode(arms),
            GlyphSet::Ascii => ascii(arms),
        }
    }
}

fn arrow(line: EdgeStroke, glyphs: GlyphSet) -> &'static str {
    let (unicode, ascii) = match line {
        EdgeStroke::Dead => ("×", "/"),
        EdgeStroke::Plain => ("▼", "v"),
        EdgeStroke::Waiting => ("▽", "v"),
        EdgeStroke::Taken | EdgeStroke::Critical => ("▼", "V"),
    };
    match glyphs {
        GlyphSet::Unicode => unicode,
        GlyphSet::Ascii => ascii,
    }
}

/// Lines by their arms up, right, down and left, each absent, light or heavy.
const BOXES: &str = " ╴╸╷┐┑╻┒┓╶─╾┌┬┭┎┰┱╺╼━┍┮┯┏┲┳╵┘┙│┤┥╽┧┪└┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋";

fn unicode(arms: [Option<EdgeStroke>; 4]) -> &'static str {
    match arms {
        [None, right, None, left] if right.max(left) == Some(EdgeStroke::Dead) => return "┄",
        [up, None, down, None] if up.max(down) == Some(EdgeStroke::Dead) => return "┆",
        _ => {}
    }
    let weight = |arm: Option<EdgeStroke>| match arm {
        None => 0,
        Some(EdgeStroke::Dead | EdgeStroke::Plain | EdgeStroke::Waiting) => 1,
        Some(EdgeStroke::Taken | EdgeStroke::Critical) => 2,
    };
    let at = arms.into_iter().fold(0, |at, arm| at * 3 + weight(arm));
    // Every character but the first takes three bytes.
    if at == 0 { " " } else { BOXES.get(at * 3 - 2..at * 3 + 1).unwrap_or(" ") }
}

fn ascii(arms: [Option<EdgeStroke>; 4]) -> &'static str {
    let (across, down) = (arms[RIGHT].max(arms[LEFT]), arms[UP].max(arms[DOWN]));
    match (across, down) {
        (None, None) => " ",
        (Some(EdgeStroke::Dead), None) => ".",
        (Some(EdgeStroke::Plain | EdgeStroke::Waiting), None) => "-",
        (Some(EdgeStroke::Taken | EdgeStroke::Critical), None) => "=",
        (None, Some(EdgeStroke::Dead)) => ":",
        (None, Some(EdgeStroke::Plain | EdgeStroke::Waiting)) => "|",
        (None, Some(EdgeStroke::Taken | EdgeStroke::Critical)) => "#",
        (Some(across), Some(down)) => match across.max(down) {
            EdgeStroke::Dead => ".",
            EdgeStroke::Plain | EdgeStroke::Waiting => "+",
            EdgeStroke::Taken | EdgeStroke::Critical => "#",
        },
    }
}

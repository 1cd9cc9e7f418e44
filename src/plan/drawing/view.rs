//! What a window shows of a drawing: the lines in its cells, the boxes and the text that are at least partly in it.

use super::stroke::{DOWN, LEFT, RIGHT, UP};
use super::{Box, BoxBody, EdgeStroke, GraphDrawing, Pane, Stroke};
use crate::plan::layers::{Area, Band, LineSegment, SegmentDirection};
use crate::text::Plain;

/// The part of a drawing that is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First column of the drawing.
    pub x: u32,
    /// First row of the drawing.
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

impl Window {
    fn sees(&self, area: Area) -> bool {
        let right = area.x < self.x.saturating_add(self.width) && area.x + area.width > self.x;
        right && area.y < self.y.saturating_add(self.height) && area.y + area.height > self.y
    }
}

/// A box in view, in columns and rows of the whole drawing.
#[derive(Clone, Copy, Debug)]
pub struct VisibleBox<'a> {
    pub node: &'a Box,
    pub area: Area,
}

/// Words beside an arrow, in columns and rows of the whole drawing.
#[derive(Clone, Debug)]
pub struct ArrowLabel {
    pub x: u32,
    pub y: u32,
    /// What it says, cut to its room.
    pub text: Plain,
    /// How the edge is drawn.
    pub line: EdgeStroke,
}

/// What a window shows.
#[derive(Clone, Debug, Default)]
pub struct GraphView<'a> {
    window: Window,
    strokes: Vec<Stroke>,
    /// Frames come before what is in them.
    pub boxes: Vec<VisibleBox<'a>>,
    pub notes: Vec<ArrowLabel>,
}

impl GraphView<'_> {
    /// What lines leave in a cell of the drawing; nothing outside the window.
    pub fn stroke(&self, x: u32, y: u32) -> Stroke {
        self.at(x, y).map_or(Stroke::default(), |at| self.strokes[at])
    }

    fn at(&self, x: u32, y: u32) -> Option<usize> {
        let (x, y) = (x.checked_sub(self.window.x)?, y.checked_sub(self.window.y)?);
        let inside = x < self.window.width && y < self.window.height;
        inside.then(|| y as usize * self.window.width as usize + x as usize)
    }

    fn arm(&mut self, x: u32, y: u32, arm: usize, line: EdgeStroke, source: u32) {
        if let Some(at) = self.at(x, y) {
            self.strokes[at].add(arm, line, source);
        }
    }

    /// Draws a piece whose first cell is moved to a pane's place.
    fn piece(&mut self, piece: &LineSegment, (dx, dy): (u32, u32), line: EdgeStroke, source: u32) {
        let (x, y) = (piece.x + dx, piece.y + dy);
        match piece.way {
            SegmentDirection::Across => {
                let (first, last) = (x.max(self.window.x.saturating_sub(1)), (piece.end + dx).min(self.window.x + self.window.width));
                for x in first..last {
                    self.arm(x, y, RIGHT, line, source);
                    self.arm(x + 1, y, LEFT, line, source);
                }
            }
            SegmentDirection::Down | SegmentDirection::Into => {
                let (first, last) = (y.max(self.window.y.saturating_sub(1)), (piece.end + dy).min(self.window.y + self.window.height));
                for y in first..last {
                    self.arm(x, y, DOWN, line, source);
                    self.arm(x, y + 1, UP, line, source);
                }
                if let (SegmentDirection::Into, Some(at)) = (piece.way, self.at(x, piece.end + dy)) {
                    self.strokes[at].point(line);
                }
            }
        }
    }
}

impl GraphDrawing {
    /// What a window shows. `line` says how an edge of a pane is drawn, by its number in canonical order.
    pub fn view(&self, window: Window, line: &dyn Fn(&Pane, usize) -> EdgeStroke) -> GraphView<'_> {
        let cells = window.width as usize * window.height as usize;
        let mut view = GraphView { window, strokes: vec![Stroke::default(); cells], ..GraphView::default() };
        if !self.panes.is_empty() {
            self.look(0, line, &mut view);
        }
        view
    }

    fn look<'a>(&'a self, pane: usize, line: &dyn Fn(&Pane, usize) -> EdgeStroke, view: &mut GraphView<'a>) {
        let pane = &self.panes[pane];
        let (dx, dy) = pane.origin;
        let window = view.window;
        let rows = window.y.saturating_sub(dy)..(window.y + window.height).saturating_sub(dy);
        let columns = window.x.saturating_sub(dx)..(window.x + window.width).saturating_sub(dx);
        for band in pane.layers.bands_near(rows) {
            self.lines(pane, band, line, view);
            for at in pane.layers.boxes_near(band, columns.clone()) {
                let place = pane.first + *at as usize;
                let (node, area) = (&self.nodes[place], self.area(place));
                if !window.sees(area) {
                    continue;
                }
                view.boxes.push(VisibleBox { node, area });
                if let BoxBody::Open(inner) = node.body {
                    self.look(inner, line, view);
                }
            }
        }
    }

    fn lines(&self, pane: &Pane, band: &Band, line: &dyn Fn(&Pane, usize) -> EdgeStroke, view: &mut GraphView<'_>) {
        let (window, (dx, dy)) = (view.window, pane.origin);
        for piece in &band.pieces {
            let (width, height) = match piece.way {
                SegmentDirection::Across => (piece.end - piece.x + 1, 1),
                SegmentDirection::Down | SegmentDirection::Into => (1, piece.end - piece.y + 1),
            };
            if !window.sees(Area { x: piece.x + dx, y: piece.y + dy, width, height }) {
                continue;
            }
            let mut strongest = EdgeStroke::Dead;
            for tie in pane.layers.carried(piece) {
                strongest = strongest.max(line(pane, pane.edges[tie].0));
                if strongest == EdgeStroke::Critical {
                    break;
                }
            }
            let source = u32::try_from(pane.first).unwrap_or(u32::MAX).saturating_add(piece.source);
            view.piece(piece, pane.origin, strongest, source);
        }
        for room in &band.rooms {
            if !window.sees(Area { x: room.x + dx, y: room.y + dy, width: room.width, height: 1 }) {
                continue;
            }
            let mut text = Plain::default();
            let mut strongest = EdgeStroke::Dead;
            for tie in pane.layers.spoken(room) {
                let (number, said) = &pane.edges[tie];
                strongest = strongest.max(line(pane, *number));
                let between = if text.is_empty() || said.is_empty() { Plain::default() } else { Plain::line(" | ") };
                text = text.then(&between).then(said);
            }
            let text = text.truncate(room.width as usize);
            view.notes.push(ArrowLabel { x: room.x + dx, y: room.y + dy, text, line: strongest });
        }
    }
}

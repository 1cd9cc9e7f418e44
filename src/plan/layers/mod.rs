//! A directed graph laid out in layers on a grid of characters: where its boxes are and how its lines run. Pure geometry that knows
//! no plan: sizes and ties in, cells out. Every line runs downwards, across at most once between two layers, and lines of different
//! boxes cross but never run on one another, so that each can be followed. Deterministic, near-linear in boxes and ties.
//!
//! Ties of one box leave it as one trunk that sheds a branch at each target (`rank`), boxes are ordered so that few lines cross
//! (`order`), put in columns close to what they are tied to (`place`), and joined by lines in tracks between the layers (`route`).

mod order;
mod place;
mod rank;
mod route;
mod sketch;
#[cfg(test)]
mod tests;

pub use sketch::{Size, Sketch, Tie};

use rank::Web;
use std::ops::Range;

/// Some cells of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// Which way a piece of line runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentDirection {
    /// Along a row, from `x` to `end`.
    Across,
    /// Down a column, from `y` to `end`.
    Down,
    /// Down a column into a box: `end` is the row of its arrow.
    Into,
}

/// A straight piece of line, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineSegment {
    /// Column of its first cell.
    pub x: u32,
    /// Row of its first cell.
    pub y: u32,
    /// Row or column of its last cell.
    pub end: u32,
    /// Which way it runs.
    pub way: SegmentDirection,
    /// The box that its ties leave.
    pub source: u32,
    /// Its ties, as two pieces of `Layers::bundles`: those that end in the next layer, and those that go on.
    carries: [Range<u32>; 2],
}

/// Room for words beside an arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    /// The ties that have something to say there, as a piece of `Layers::bundles`.
    ties: Range<u32>,
}

/// One layer with the lines below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Band {
    pub top: u32,
    /// Its rows, lines included.
    pub rows: u32,
    /// Its boxes from left to right.
    pub boxes: Vec<u32>,
    /// The lines that begin in it.
    pub pieces: Vec<LineSegment>,
    pub rooms: Vec<Room>,
}

/// A graph laid out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    pub size: Size,
    /// Where each box is.
    pub boxes: Vec<Area>,
    /// The layer of each box.
    pub layer_of: Vec<u32>,
    /// From top to bottom.
    pub bands: Vec<Band>,
    /// Ties without a line, in order: those that close a cycle, and the longest where all together would be out of proportion.
    pub cut: Vec<usize>,
    /// Positions of the other ties, so sorted that what runs together is together.
    bundles: Vec<u32>,
}

impl Layers {
    /// Lays a graph out.
    pub fn new(sketch: &Sketch) -> Self {
        let mut web = Web::new(sketch);
        order::untangle(&mut web);
        let columns = place::columns(&web, sketch);
        route::route(web, sketch, columns)
    }

    /// The ties of a piece.
    pub fn carried<'a>(&'a self, piece: &LineSegment) -> impl Iterator<Item = usize> + use<'a> {
        let [ending, going_on] = &piece.carries;
        self.bundle(ending).chain(self.bundle(going_on))
    }

    /// The ties that have something to say in a room.
    pub fn spoken<'a>(&'a self, room: &Room) -> impl Iterator<Item = usize> + use<'a> {
        self.bundle(&room.ties)
    }

    fn bundle<'a>(&'a self, range: &Range<u32>) -> impl Iterator<Item = usize> + use<'a> {
        let ties = self.bundles.get(range.start as usize..range.end as usize).unwrap_or_default();
        ties.iter().map(|tie| *tie as usize)
    }

    /// The bands that have a cell among these rows, or just above or below them.
    pub fn bands_near(&self, rows: Range<u32>) -> &[Band] {
        let from = self.bands.partition_point(|band| band.top + band.rows < rows.start);
        let to = self.bands.partition_point(|band| band.top <= rows.end);
        &self.bands[from..to.max(from)]
    }

    /// The boxes of a band that have a cell among these columns, or just beside them.
    pub fn boxes_near<'a>(&'a self, band: &'a Band, columns: Range<u32>) -> &'a [u32] {
        let area = |at: &u32| self.boxes[*at as usize];
        let from = band.boxes.partition_point(|at| area(at).x + area(at).width < columns.start);
        let to = band.boxes.partition_point(|at| area(at).x <= columns.end);
        &band.boxes[from..to.max(from)]
    }
}

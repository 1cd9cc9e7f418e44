//! Lines between the layers. Each source has one line down to a track of its own, along which it reaches its targets. No column holds
//! the lines of two sources between the same two layers (targets shift their ports for that), so lines cross but never run together.

use super::{Area, Band, Layers, LineSegment, Room, SegmentDirection, rank::Web, sketch::Sketch};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet},
    ops::Range,
};

/// Cells between a box's corner and the first place where a line may enter.
const CORNER: u32 = 2;
/// Columns from one port of a box to the next, where there is room.
const STEP: u32 = 4;
/// Tracks whose order is improved so that fewer lines cross; more are left as they are.
const MENDED: usize = 48;
/// The least columns that words are worth.
const LEAST_ROOM: u32 = 4;
/// The most columns that words get.
const MOST_ROOM: u32 = 40;

/// The lines from one vertex to the next layer.
struct Net {
    vertex: u32,
    /// Where it comes from above.
    column: u32,
    /// Where it goes below, from left to right.
    ends: Vec<NetEnd>,
    track: Option<u32>,
}

/// One place where a net reaches the next layer.
struct NetEnd {
    column: u32,
    target: u32,
    /// Its ties: a piece of `Web::bundles`.
    ties: Range<u32>,
}

impl Net {
    fn span(&self) -> (u32, u32) {
        let first = self.ends.first().map_or(self.column, |end| end.column.min(self.column));
        let last = self.ends.last().map_or(self.column, |end| end.column.max(self.column));
        (first, last)
    }
}

struct Router<'a> {
    web: Web,
    sketch: &'a Sketch,
    /// The column of each vertex's line downwards.
    columns: Vec<u32>,
    /// Scratch: the place of each vertex among the nets of its layer.
    places: Vec<usize>,
    layers: Layers,
}

/// Draws the lines of a web whose vertices are in these columns.
pub(super) fn route(mut web: Web, sketch: &Sketch, columns: Vec<i64>) -> Layers {
    let columns: Vec<u32> = columns.into_iter().map(|column| u32::try_from(column).unwrap_or(0)).collect();
    let boxes = sketch.boxes.iter().zip(&columns).map(|(size, column)| {
        let x = column.saturating_sub(size.width.saturating_sub(1) / 2);
        Area { x, y: 0, width: size.width, height: size.height }
    });
    let layers = Layers {
        boxes: boxes.collect(),
        layer_of: web.layer[..web.boxes].to_vec(),
        cut: std::mem::take(&mut web.cut),
        ..Layers::default()
    };
    let depth = web.layers.len();
    let places = vec![0; columns.len()];
    let mut router = Router { web, sketch, columns, places, layers };
    let mut top = 0;
    for layer in 0..depth {
        top = router.band(layer, top);
    }
    let Router { web, mut layers, .. } = router;
    layers.bundles = web.bundles;
    layers.size.height = top;
    let boxes = layers.boxes.iter().map(|area| area.x + area.width);
    let lines = layers.bands.iter().flat_map(|band| &band.pieces).map(|piece| match piece.way {
        SegmentDirection::Across => piece.end + 1,
        SegmentDirection::Down | SegmentDirection::Into => piece.x + 1,
    });
    let words = layers.bands.iter().flat_map(|band| &band.rooms).map(|room| room.x + room.width);
    layers.size.width = boxes.chain(lines).chain(words).max().unwrap_or(0);
    layers
}

impl Router<'_> {
    /// One layer and the lines below it. Gives the row behind them.
    fn band(&mut self, layer: usize, top: u32) -> u32 {
        let boxes: Vec<u32> = self.web.layers[layer].iter().copied().filter(|vertex| !self.web.is_joint(*vertex)).collect();
        boxes.iter().for_each(|vertex| self.layers.boxes[*vertex as usize].y = top);
        let height = boxes.iter().map(|vertex| self.layers.boxes[*vertex as usize].height).max().unwrap_or(0);
        let bottom = top + height;
        let mut nets = self.nets(layer);
        let tracks = assign(&mut nets);
        let arrows = bottom + tracks;
        let mut pieces = Vec::new();
        nets.iter().for_each(|net| self.pieces(net, top, bottom, arrows, &mut pieces));
        let rows = if nets.is_empty() { height } else { height + tracks + 1 };
        let rooms = self.rooms(&nets, arrows);
        self.layers.bands.push(Band { top, rows, boxes, pieces, rooms });
        top + rows
    }

    /// The nets of a layer, with their places below.
    fn nets(&mut self, layer: usize) -> Vec<Net> {
        let sources: Vec<u32> =
            self.web.layers[layer].iter().copied().filter(|vertex| !self.web.down[*vertex as usize].is_empty()).collect();
        let mut nets: Vec<Net> = sources
            .iter()
            .map(|vertex| Net { vertex: *vertex, column: self.columns[*vertex as usize], ends: Vec::new(), track: None })
            .collect();
        // Columns rise from left to right, so those taken above are found by search.
        let above: Vec<(u32, u32)> = nets.iter().map(|net| (net.column, net.vertex)).collect();
        sources.iter().enumerate().for_each(|(place, vertex)| self.places[*vertex as usize] = place);
        let mut ports = Ports { above, taken: HashSet::new() };
        for target in self.web.layers.get(layer + 1).cloned().unwrap_or_default() {
            let mut from: Vec<(u32, u32)> =
                self.web.up[target as usize].iter().map(|source| (self.columns[*source as usize], *source)).collect();
            from.sort_unstable();
            let columns = if self.web.is_joint(target) {
                let column = ports.joint(self.columns[target as usize], from.first().copied().unwrap_or_default());
                self.columns[target as usize] = column;
                vec![column]
            } else {
                ports.enter(self.layers.boxes[target as usize], &from)
            };
            for ((_, source), column) in from.iter().zip(columns) {
                nets[self.places[*source as usize]].ends.push(NetEnd { column, target, ties: 0..0 });
            }
        }
        for net in &mut nets {
            net.ends.sort_by_key(|end| end.column);
            self.bundle(net);
        }
        nets
    }

    /// Sorts a net's ties as its ends are, and gives each end its own.
    fn bundle(&mut self, net: &mut Net) {
        let owner = self.web.owner[net.vertex as usize] as usize;
        let next = self.web.layer[net.vertex as usize] + 1;
        let all = self.web.first[owner]..self.web.first[owner + 1];
        let (boxes, layer, sketch) = (self.web.boxes, &self.web.layer, self.sketch);
        let layer_of = |tie: &u32| layer[sketch.ties[*tie as usize].to];
        let mine = &mut self.web.bundles[all.clone()];
        let from = mine.partition_point(|tie| layer_of(tie) < next);
        let to = mine.partition_point(|tie| layer_of(tie) <= next);
        let mut places: Vec<(usize, usize)> = net.ends.iter().enumerate().map(|(at, end)| (end.target as usize, at)).collect();
        places.sort_unstable();
        let place = |tie: &u32| {
            let target = sketch.ties[*tie as usize].to;
            places.binary_search_by_key(&target, |place| place.0).map_or(usize::MAX, |found| places[found].1)
        };
        mine[from..to].sort_by_key(|tie| (place(tie), *tie));
        let number = |at: usize| u32::try_from(all.start + at).unwrap_or(u32::MAX);
        for at in 0..net.ends.len() {
            let is_joint = net.ends[at].target as usize >= boxes;
            net.ends[at].ties = if is_joint {
                number(to)..number(mine.len())
            } else {
                let first = from + mine[from..to].partition_point(|tie| place(tie) < at);
                let last = from + mine[from..to].partition_point(|tie| place(tie) <= at);
                number(first)..number(last)
            };
        }
    }

    /// The straight pieces of a net.
    fn pieces(&self, net: &Net, top: u32, bottom: u32, arrows: u32, pieces: &mut Vec<LineSegment>) {
        let source = self.web.owner[net.vertex as usize];
        // A line begins on the lower edge of its box.
        let y = if self.web.is_joint(net.vertex) { top } else { top + self.sketch.boxes[net.vertex as usize].height.max(1) - 1 };
        let carry = |ends: &[NetEnd]| {
            let (own, on): (Vec<&NetEnd>, Vec<&NetEnd>) = ends.iter().partition(|end| !self.web.is_joint(end.target));
            let own = own.first().map_or(0, |end| end.ties.start)..own.last().map_or(0, |end| end.ties.end);
            [own, on.first().map_or(0..0, |end| end.ties.clone())]
        };
        let drop = |end: &NetEnd, y: u32| {
            let (way, last) =
                if self.web.is_joint(end.target) { (SegmentDirection::Down, arrows + 1) } else { (SegmentDirection::Into, arrows) };
            LineSegment { x: end.column, y, end: last, way, source, carries: carry(std::slice::from_ref(end)) }
        };
        let Some(track) = net.track else {
            pieces.extend(net.ends.iter().map(|end| drop(end, y)));
            return;
        };
        let row = bottom + track;
        pieces.push(LineSegment { x: net.column, y, end: row, way: SegmentDirection::Down, source, carries: carry(&net.ends) });
        let middle = net.ends.partition_point(|end| end.column < net.column);
        let across = |x: u32, end: u32, carries| LineSegment { x, y: row, end, way: SegmentDirection::Across, source, carries };
        for at in 0..net.ends.len() {
            let column = net.ends[at].column;
            if at < middle {
                let next = net.ends[..middle].get(at + 1).map_or(net.column, |next| next.column);
                pieces.push(across(column, next, carry(&net.ends[..=at])));
            } else if column > net.column {
                let before = net.ends[middle..at].last().map_or(net.column, |before| before.column);
                pieces.push(across(before, column, carry(&net.ends[at..])));
            }
            pieces.push(drop(&net.ends[at], row));
        }
    }

    /// Where words fit beside the arrows of a row.
    fn rooms(&self, nets: &[Net], row: u32) -> Vec<Room> {
        let mut ends: Vec<&NetEnd> = nets.iter().flat_map(|net| &net.ends).collect();
        ends.sort_by_key(|end| end.column);
        let mut rooms = Vec::new();
        // Behind the last cell that is taken.
        let mut free = 0;
        for (at, end) in ends.iter().enumerate() {
            let ties = self.web.bundles.get(end.ties.start as usize..end.ties.end as usize).unwrap_or_default();
            let labels = ties.iter().map(|tie| self.sketch.ties[*tie as usize].label).filter(|label| *label > 0);
            let wanted = labels.map(|label| label + 3).sum::<u32>().saturating_sub(3).min(MOST_ROOM);
            let left = end.column.saturating_sub(free + 2);
            let right = ends.get(at + 1).map_or(MOST_ROOM, |next| next.column.saturating_sub(end.column + 3));
            free = end.column + 1;
            if wanted == 0 || self.web.is_joint(end.target) {
                continue;
            }
            // The first of several lines into a box speaks on the outer side.
            let is_first = ends.get(at + 1).is_some_and(|next| next.target == end.target);
            let goes_left = left >= wanted && (is_first || right < wanted) || right < wanted && left > right;
            let width = wanted.min(if goes_left { left } else { right });
            if width < LEAST_ROOM.min(wanted) {
                continue;
            }
            let x = if goes_left { end.column - 1 - width } else { end.column + 2 };
            if !goes_left {
                free = x + width + 1;
            }
            rooms.push(Room { x, y: row, width, ties: end.ties.clone() });
        }
        rooms
    }
}

/// Columns between two layers.
struct Ports {
    /// Those of the lines that come from above, with their vertices, from left to right.
    above: Vec<(u32, u32)>,
    /// Those of the lines that go on below.
    taken: HashSet<u32>,
}

impl Ports {
    /// Whether a line of another source comes down in a column.
    fn is_others(&self, column: u32, source: u32) -> bool {
        self.above.binary_search_by_key(&column, |line| line.0).is_ok_and(|at| self.above[at].1 != source)
    }

    /// Whether a line of this source may go down in a column.
    fn is_free(&self, column: u32, source: u32) -> bool {
        !self.is_others(column, source) && !self.taken.contains(&column)
    }

    /// The column of a joint that would like to be here.
    fn joint(&mut self, wanted: u32, (from, source): (u32, u32)) -> u32 {
        let straight = if from.abs_diff(wanted) == 1 { from } else { wanted };
        let choices = [straight, wanted, wanted + 1, wanted.saturating_sub(1)];
        let column = choices.into_iter().find(|column| self.is_free(*column, source)).unwrap_or(wanted);
        self.taken.insert(column);
        column
    }

    /// The columns where lines from these sources, from left to right, enter a box.
    fn enter(&mut self, area: Area, from: &[(u32, u32)]) -> Vec<u32> {
        let (low, high) = (area.x + CORNER, (area.x + area.width).saturating_sub(1 + CORNER).max(area.x + CORNER));
        let gaps = u32::try_from(from.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let step = (high - low).checked_div(gaps).unwrap_or(0).min(STEP);
        let middle = area.x + (area.width - 1) / 2;
        let start = middle.saturating_sub(gaps.saturating_mul(step) / 2).max(low);
        let even = |at: usize| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX).saturating_mul(step)).min(high);
        let mut columns: Vec<u32> = Vec::with_capacity(from.len());
        for (at, (above, source)) in from.iter().enumerate() {
            // Straight down where that keeps the order, else at the next free place of its own.
            let after = columns.last().map_or(low, |last| last + 2);
            let before = if at + 1 == from.len() { high } else { even(at + 1).saturating_sub(2) };
            let is_straight = (after..=before).contains(above);
            let wanted = if is_straight { *above } else { even(at).max(after.min(high)) };
            let near = |allowed: &dyn Fn(u32) -> bool| (low..=high).filter(|column| allowed(*column)).min_by_key(|c| c.abs_diff(wanted));
            // Where there are more lines than places, lines share one.
            let free = near(&|column| self.is_free(column, *source)).or_else(|| near(&|column| !self.is_others(column, *source)));
            let column = free.unwrap_or(wanted.clamp(low, high));
            self.taken.insert(column);
            columns.push(column);
        }
        columns
    }
}

/// Gives a track to each net that needs one; nets share it where they keep apart. Gives how many tracks there are.
fn assign(nets: &mut [Net]) -> u32 {
    let mut wide: Vec<usize> = (0..nets.len()).filter(|at| nets[*at].span().0 < nets[*at].span().1).collect();
    wide.sort_by_key(|at| nets[*at].span());
    let mut ends: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let mut tracks = 0;
    for at in &wide {
        let (from, to) = nets[*at].span();
        let track = match ends.peek() {
            Some(Reverse((end, track))) if end + 1 < from => {
                let track = *track;
                ends.pop();
                track
            }
            Some(_) | None => {
                tracks += 1;
                tracks - 1
            }
        };
        nets[*at].track = Some(track);
        ends.push(Reverse((to, track)));
    }
    if wide.len() <= MENDED {
        improve(nets, &wide, tracks);
    }
    tracks
}

/// Swaps neighbouring tracks as long as that spares crossings.
fn improve(nets: &mut [Net], wide: &[usize], tracks: u32) {
    for _ in 0..tracks {
        let mut swapped = false;
        for upper in 0..tracks.saturating_sub(1) {
            let of = |track: u32| wide.iter().map(|at| &nets[*at]).filter(move |net| net.track == Some(track));
            let cost =
                |above: u32, below: u32| of(above).map(|above| of(below).map(|below| crossed(above, below)).sum::<usize>()).sum::<usize>();
            if cost(upper + 1, upper) < cost(upper, upper + 1) {
                swapped = true;
                for at in wide {
                    nets[*at].track = nets[*at].track.map(|track| match track {
                        track if track == upper => upper + 1,
                        track if track == upper + 1 => upper,
                        track => track,
                    });
                }
            }
        }
        if !swapped {
            return;
        }
    }
}

/// How often two nets cross when one runs above the other.
fn crossed(above: &Net, below: &Net) -> usize {
    let (left, right) = below.span();
    let drops = above.ends.iter().filter(|end| left < end.column && end.column < right).count();
    let (left, right) = above.span();
    drops + usize::from(left < below.column && below.column < right)
}

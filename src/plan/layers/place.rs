//! The columns of boxes and joints: as near to what they are tied to as their neighbours in the layer allow. Each layer is solved
//! exactly (least squares with least distances, by pooling), a few times down and up.

use super::{rank::Web, sketch::Sketch};

/// Blank columns between two boxes.
const BETWEEN_BOXES: i64 = 3;
/// Blank columns between a line and what is beside it.
const BESIDE_LINES: i64 = 2;
/// Times that the layers are gone through down and up.
const ROUNDS: usize = 4;
/// Columns of a label that boxes make room for.
const LABEL: u32 = 24;
/// How much straighter a line between two joints should be than one between boxes.
const STRAIGHT: f64 = 6.0;
/// How much a box keeps its place while joints are put above each other.
const FIRM: f64 = 60.0;
/// What nothing pulls keeps its place, but gives way.
const LOOSE: f64 = 0.02;

/// Room that a vertex takes to both sides of its column.
struct Breadth {
    left: i64,
    right: i64,
}

/// The column of each vertex's middle; the leftmost cell of all is in column 0.
pub(super) fn columns(web: &Web, sketch: &Sketch) -> Vec<i64> {
    let breadths = breadths(web, sketch);
    let offsets: Vec<Vec<i64>> = web.layers.iter().map(|layer| offsets(web, layer, &breadths)).collect();
    let mut columns = vec![0; web.layer.len()];
    for (layer, offsets) in web.layers.iter().zip(&offsets) {
        for (vertex, offset) in layer.iter().zip(offsets) {
            columns[*vertex as usize] = *offset;
        }
    }
    let depth = web.layers.len();
    for _ in 0..ROUNDS {
        (1..depth).for_each(|layer| settle(web, layer, &offsets[layer], &mut columns, Pull::Up));
        (0..depth.saturating_sub(1)).rev().for_each(|layer| settle(web, layer, &offsets[layer], &mut columns, Pull::Down));
    }
    (0..depth).for_each(|layer| settle(web, layer, &offsets[layer], &mut columns, Pull::Both));
    (1..depth).for_each(|layer| settle(web, layer, &offsets[layer], &mut columns, Pull::Up));
    // Lines that something pushes aside below are straightened up to where they begin.
    (0..depth).rev().for_each(|layer| settle(web, layer, &offsets[layer], &mut columns, Pull::Joints));
    let edge = web.layers.iter().filter_map(|layer| layer.first()).map(|first| columns[*first as usize] - breadths[*first as usize].left);
    let edge = edge.min().unwrap_or(0);
    columns.iter_mut().for_each(|column| *column -= edge);
    columns
}

fn breadths(web: &Web, sketch: &Sketch) -> Vec<Breadth> {
    let mut breadths: Vec<Breadth> = sketch
        .boxes
        .iter()
        .map(|size| {
            let left = i64::from(size.width.saturating_sub(1) / 2);
            Breadth { left, right: i64::from(size.width) - 1 - left }
        })
        .collect();
    // Words are to the right of the one line into a box, or to both sides of several.
    for tie in sketch.ties.iter().filter(|tie| tie.label > 0) {
        let words = i64::from(tie.label.min(LABEL)) + 2;
        let several = web.up[tie.to].len() > 1;
        let breadth = &mut breadths[tie.to];
        breadth.right = breadth.right.max(words);
        if several {
            breadth.left = breadth.left.max(words);
        }
    }
    breadths.resize_with(web.layer.len(), || Breadth { left: 0, right: 0 });
    breadths
}

/// The columns of a layer's vertices when it is packed to the left.
fn offsets(web: &Web, layer: &[u32], breadths: &[Breadth]) -> Vec<i64> {
    let mut offsets = Vec::with_capacity(layer.len());
    let mut before: Option<(u32, i64)> = None;
    for &vertex in layer {
        let breadth = &breadths[vertex as usize];
        let offset = match before {
            None => breadth.left,
            Some((left, column)) => {
                let blank = if web.is_joint(left) || web.is_joint(vertex) { BESIDE_LINES } else { BETWEEN_BOXES };
                column + breadths[left as usize].right + blank + 1 + breadth.left
            }
        };
        offsets.push(offset);
        before = Some((vertex, offset));
    }
    offsets
}

/// What pulls a vertex to its column.
#[derive(Clone, Copy)]
enum Pull {
    Up,
    Down,
    Both,
    /// Joints go above what follows, boxes stay.
    Joints,
}

/// Neighbours whose columns are wanted alike. The first and last cell of each run move as one.
struct Pool {
    weight: f64,
    /// Weighted sum of wanted columns, packing taken off.
    sum: f64,
    len: usize,
}

/// Puts the vertices of a layer where they are wanted, as far as the least distances allow.
fn settle(web: &Web, layer: usize, offsets: &[i64], columns: &mut [i64], pull: Pull) {
    let mut pools: Vec<Pool> = Vec::new();
    for (vertex, offset) in web.layers[layer].iter().zip(offsets) {
        let (wanted, weight) = wanted(web, *vertex, columns, pull);
        let mut pool = Pool { weight, sum: (wanted - *offset as f64) * weight, len: 1 };
        while let Some(left) = pools.pop_if(|left| left.sum / left.weight >= pool.sum / pool.weight) {
            pool = Pool { weight: pool.weight + left.weight, sum: pool.sum + left.sum, len: pool.len + left.len };
        }
        pools.push(pool);
    }
    let shifts = pools.iter().flat_map(|pool| std::iter::repeat_n((pool.sum / pool.weight).round() as i64, pool.len));
    for ((vertex, offset), shift) in web.layers[layer].iter().zip(offsets).zip(shifts) {
        columns[*vertex as usize] = offset + shift;
    }
}

/// The column where a vertex is wanted, and how much.
fn wanted(web: &Web, vertex: u32, columns: &[i64], pull: Pull) -> (f64, f64) {
    let (mut sum, mut weight) = (0.0, 0.0);
    let none: &[u32] = &[];
    let (up, down) = (web.up[vertex as usize].as_slice(), web.down[vertex as usize].as_slice());
    let near = match pull {
        Pull::Joints => {
            let here = columns[vertex as usize] as f64;
            return match down.iter().find(|below| web.is_joint(**below)) {
                Some(below) if web.is_joint(vertex) => (columns[*below as usize] as f64, 1.0),
                Some(_) | None => (here, if web.is_joint(vertex) { LOOSE } else { FIRM }),
            };
        }
        Pull::Up => [up, none],
        Pull::Down => [none, down],
        Pull::Both => [up, down],
    };
    for other in near.into_iter().flatten() {
        let pull = if web.is_joint(vertex) && web.is_joint(*other) { STRAIGHT } else { 1.0 };
        sum += columns[*other as usize] as f64 * pull;
        weight += pull;
    }
    if weight > 0.0 { (sum / weight, weight) } else { (columns[vertex as usize] as f64, LOOSE) }
}

//! Drawings of random graphs: nothing is on anything else, every line leads from its source to its target.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Boxes of several sizes with ties among them, those that close cycles included.
fn sketch(most: usize) -> impl Strategy<Value = Sketch> {
    let boxes = proptest::collection::vec((0..6_u32, 4..6_u32), 1..=most);
    boxes.prop_flat_map(|boxes| {
        let len = boxes.len();
        let tie = (0..len, 0..len, 0..20_u32, any::<bool>());
        proptest::collection::vec(tie, 0..len * 2).prop_map(move |ties| Sketch {
            boxes: boxes.iter().map(|(width, height)| Size { width: 9 + width * 2, height: *height }).collect(),
            ties: ties
                .into_iter()
                .map(|(a, b, label, forward)| {
                    let (from, to) = if forward || label > 2 { (a.min(b), a.max(b)) } else { (a, b) };
                    Tie { from, to, label: label.saturating_sub(10) }
                })
                .collect(),
        })
    })
}

/// The cells of a piece.
fn cells(piece: &LineSegment) -> Vec<(u32, u32)> {
    match piece.way {
        SegmentDirection::Across => (piece.x..=piece.end).map(|x| (x, piece.y)).collect(),
        SegmentDirection::Down | SegmentDirection::Into => (piece.y..=piece.end).map(|y| (piece.x, y)).collect(),
    }
}

fn overlap(a: Area, b: Area) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

fn pieces(layers: &Layers) -> impl Iterator<Item = &LineSegment> {
    layers.bands.iter().flat_map(|band| &band.pieces)
}

fn check(sketch: &Sketch) {
    let layers = Layers::new(sketch);
    for (a, area) in layers.boxes.iter().enumerate() {
        assert!(area.x + area.width <= layers.size.width && area.y + area.height <= layers.size.height);
        for other in &layers.boxes[a + 1..] {
            assert!(!overlap(*area, *other), "{area:?} {other:?}");
        }
        for piece in pieces(&layers) {
            let inside = cells(piece).into_iter().filter(|(x, y)| overlap(*area, Area { x: *x, y: *y, width: 1, height: 1 }));
            let begins = (piece.x, piece.y) == (piece.x, area.y + area.height - 1) && piece.source as usize == a;
            assert!(inside.count() <= usize::from(begins), "{piece:?} runs through {area:?}");
        }
    }
    for (tie, wanted) in sketch.ties.iter().enumerate().filter(|(tie, _)| !layers.cut.contains(tie)) {
        assert!(layers.boxes[wanted.from].y < layers.boxes[wanted.to].y);
        follow(&layers, tie, *wanted);
    }
    apart(&layers);
}

/// The pieces of a tie lead from its source to its target.
fn follow(layers: &Layers, tie: usize, wanted: Tie) {
    let mine: Vec<&LineSegment> = pieces(layers).filter(|piece| layers.carried(piece).any(|carried| carried == tie)).collect();
    assert!(mine.iter().all(|piece| piece.source as usize == wanted.from));
    let (from, to) = (layers.boxes[wanted.from], layers.boxes[wanted.to]);
    let start: Vec<(u32, u32)> = (from.x..from.x + from.width).map(|x| (x, from.y + from.height - 1)).collect();
    let mut reached: BTreeSet<(u32, u32)> = start.into_iter().collect();
    let mut left = mine;
    while let Some(at) = left.iter().position(|piece| cells(piece).iter().any(|cell| reached.contains(cell))) {
        reached.extend(cells(left.remove(at)));
    }
    assert!(left.is_empty(), "pieces of {wanted:?} hang together");
    let arrows = pieces(layers).filter(|piece| piece.way == SegmentDirection::Into && layers.carried(piece).any(|carried| carried == tie));
    let arrows: Vec<&LineSegment> = arrows.collect();
    assert_eq!(arrows.len(), 1, "{wanted:?} has one arrow");
    assert!(arrows[0].end + 1 == to.y && (to.x + 1..to.x + to.width - 1).contains(&arrows[0].x), "{wanted:?} ends above its target");
}

/// Lines of two sources have no cell in common that both run through in the same direction, but where they enter the same box.
fn apart(layers: &Layers) {
    let mut taken: BTreeMap<(u32, u32, bool), (u32, SegmentDirection)> = BTreeMap::new();
    for piece in pieces(layers) {
        let across = piece.way == SegmentDirection::Across;
        for (x, y) in cells(piece) {
            if let Some((source, way)) = taken.insert((x, y, across), (piece.source, piece.way)) {
                let entering = way == SegmentDirection::Into && piece.way == SegmentDirection::Into;
                assert!(source == piece.source || entering, "{piece:?} runs on a line of {source}");
            }
        }
    }
}

proptest! {
    #[test]
    fn boxes_and_lines_keep_apart_and_every_line_leads_from_its_source_to_its_target(sketch in sketch(14)) {
        check(&sketch);
    }
}

/// The same numbers each time, well spread.
fn spread(seed: usize) -> usize {
    let mut x = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from(x >> 33).unwrap()
}

#[test]
fn ten_thousand_boxes_are_laid_out_whatever_their_ties_are() {
    let boxes = vec![Size { width: 15, height: 4 }; 10_000];
    let tie = |from: usize, to: usize| Tie { from, to, label: 0 };
    let near = |to: usize| tie(to.saturating_sub(1 + spread(to) % 40), to);
    let chain = (1..10_000).map(|to| tie(to - 1, to)).chain((2..10_000).map(|to| tie(0, to)));
    let tree = (1..10_000).map(|to| tie(to / 10, to)).filter(|tie| tie.from != tie.to);
    let web = (1..10_000).flat_map(|to| [near(to), near(to), near(to * 7 % 10_000)]).filter(|tie| tie.from != tie.to);
    for ties in [chain.collect::<Vec<_>>(), tree.collect(), web.collect()] {
        let layers = Layers::new(&Sketch { boxes: boxes.clone(), ties });
        assert_eq!(layers.boxes.len(), 10_000);
        let joints: usize = layers.bands.iter().map(|band| band.pieces.len()).sum();
        assert!(joints < 1_000_000, "{joints} pieces");
    }
}

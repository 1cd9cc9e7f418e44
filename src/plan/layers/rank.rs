//! Which box is in which layer, and the web of what is tied to what from one layer to the next. A tie that spans several layers
//! runs through joints, one in each layer between; the ties of one source share them.

use super::sketch::Sketch;

/// Joints for each box and tie, above which the longest ties are cut: a drawing is no help when it is mostly lines.
const JOINTS_EACH: usize = 3;
/// Joints that any drawing may have.
const JOINTS_LEAST: usize = 4_000;

/// Boxes and joints by layers. Boxes come first, with their own positions.
#[derive(Debug, Default)]
pub(super) struct Web {
    /// How many vertices are boxes.
    pub boxes: usize,
    /// The layer of each vertex.
    pub layer: Vec<u32>,
    /// The box whose ties run through a joint; a box itself.
    pub owner: Vec<u32>,
    /// What is tied to a vertex in the next layer, each once.
    pub down: Vec<Vec<u32>>,
    /// What it is tied to in the layer before, each once.
    pub up: Vec<Vec<u32>>,
    /// Vertices of each layer, from left to right.
    pub layers: Vec<Vec<u32>>,
    /// Ties that are drawn, by source, then by the target's layer.
    pub bundles: Vec<u32>,
    /// Where the ties of each source begin in `bundles`; one more for the end.
    pub first: Vec<usize>,
    /// Ties that are not drawn.
    pub cut: Vec<usize>,
}

impl Web {
    pub fn new(sketch: &Sketch) -> Self {
        let boxes = sketch.boxes.len();
        let mut is_cut = closing(sketch);
        let layer = longest_paths(sketch, &is_cut);
        cut_longest(sketch, &layer, &mut is_cut);
        let mut web = Self { boxes, layer, owner: (0..).take(boxes).collect(), ..Self::default() };
        web.cut = (0..sketch.ties.len()).filter(|tie| is_cut[*tie]).collect();
        web.bundle(sketch, &is_cut);
        web.tie(sketch);
        web.fill();
        web
    }

    fn bundle(&mut self, sketch: &Sketch, is_cut: &[bool]) {
        let drawn = (0..).take(sketch.ties.len()).filter(|tie: &u32| !is_cut[*tie as usize]);
        self.bundles = drawn.collect();
        let layer = &self.layer;
        self.bundles.sort_by_key(|tie| {
            let tie = sketch.ties[*tie as usize];
            (tie.from, layer[tie.to])
        });
        let from = |tie: &u32| sketch.ties[*tie as usize].from;
        self.first = (0..=self.boxes).map(|source| self.bundles.partition_point(|tie| from(tie) < source)).collect();
    }

    fn tie(&mut self, sketch: &Sketch) {
        self.down = vec![Vec::new(); self.boxes];
        self.up = vec![Vec::new(); self.boxes];
        for source in (0..).take(self.boxes) {
            let mut here = source;
            for at in self.first[source as usize]..self.first[source as usize + 1] {
                let target = sketch.ties[self.bundles[at] as usize].to;
                while self.layer[here as usize] + 1 < self.layer[target] {
                    here = self.joint(here, source);
                }
                self.join(here, u32::try_from(target).unwrap_or(u32::MAX));
            }
        }
    }

    /// A joint of a source's trunk, below this vertex of it.
    fn joint(&mut self, above: u32, source: u32) -> u32 {
        let joint = u32::try_from(self.layer.len()).unwrap_or(u32::MAX);
        self.layer.push(self.layer[above as usize] + 1);
        self.owner.push(source);
        self.down.push(Vec::new());
        self.up.push(Vec::new());
        self.join(above, joint);
        joint
    }

    fn join(&mut self, from: u32, to: u32) {
        if !self.down[from as usize].contains(&to) {
            self.down[from as usize].push(to);
            self.up[to as usize].push(from);
        }
    }

    /// Puts vertices into their layers in the order in which a walk along the ties meets them, so that a tree has no crossings.
    fn fill(&mut self) {
        let layers = self.layer.iter().max().map_or(0, |last| *last as usize + 1);
        self.layers = vec![Vec::new(); layers];
        let mut met = vec![false; self.layer.len()];
        let roots = (0..).take(self.boxes).filter(|root: &u32| self.up[*root as usize].is_empty());
        let mut walk: Vec<u32> = roots.collect();
        walk.reverse();
        while let Some(vertex) = walk.pop() {
            if std::mem::replace(&mut met[vertex as usize], true) {
                continue;
            }
            self.layers[self.layer[vertex as usize] as usize].push(vertex);
            walk.extend(self.down[vertex as usize].iter().rev().filter(|below| !met[**below as usize]));
        }
    }

    pub fn is_joint(&self, vertex: u32) -> bool {
        vertex as usize >= self.boxes
    }
}

/// Positions of ties by their source.
fn by_source(sketch: &Sketch) -> Vec<Vec<usize>> {
    let mut by_source = vec![Vec::new(); sketch.boxes.len()];
    for (at, tie) in sketch.ties.iter().enumerate() {
        by_source[tie.from].push(at);
    }
    by_source
}

/// Ties that lead back to where a walk has come from. Without them there is no cycle.
fn closing(sketch: &Sketch) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum RankWalk {
        Ahead,
        Here,
        Behind,
    }
    let by_source = by_source(sketch);
    let mut cut = vec![false; sketch.ties.len()];
    let mut walk = vec![RankWalk::Ahead; sketch.boxes.len()];
    let mut fed = vec![false; sketch.boxes.len()];
    sketch.ties.iter().for_each(|tie| fed[tie.to] = true);
    // Sources first, so that only what hangs on a cycle alone begins in its middle.
    let (entries, rest): (Vec<usize>, Vec<usize>) = (0..sketch.boxes.len()).partition(|node| !fed[*node]);
    for root in entries.into_iter().chain(rest) {
        if walk[root] != RankWalk::Ahead {
            continue;
        }
        walk[root] = RankWalk::Here;
        let mut way = vec![(root, 0)];
        while let Some((node, next)) = way.last_mut() {
            let Some(&tie) = by_source[*node].get(*next) else {
                walk[*node] = RankWalk::Behind;
                way.pop();
                continue;
            };
            *next += 1;
            let to = sketch.ties[tie].to;
            match walk[to] {
                RankWalk::Here => cut[tie] = true,
                RankWalk::Behind => {}
                RankWalk::Ahead => {
                    walk[to] = RankWalk::Here;
                    way.push((to, 0));
                }
            }
        }
    }
    cut
}

/// The layer of each box: one more than the deepest of its sources.
fn longest_paths(sketch: &Sketch, cut: &[bool]) -> Vec<u32> {
    let by_source = by_source(sketch);
    let mut waits = vec![0_u32; sketch.boxes.len()];
    for (_, tie) in sketch.ties.iter().enumerate().filter(|(at, _)| !cut[*at]) {
        waits[tie.to] += 1;
    }
    let mut layer = vec![0; sketch.boxes.len()];
    let mut free: Vec<usize> = (0..sketch.boxes.len()).filter(|node| waits[*node] == 0).collect();
    while let Some(node) = free.pop() {
        for &at in by_source[node].iter().filter(|at| !cut[**at]) {
            let to = sketch.ties[at].to;
            layer[to] = layer[to].max(layer[node] + 1);
            waits[to] -= 1;
            if waits[to] == 0 {
                free.push(to);
            }
        }
    }
    layer
}

/// Cuts the longest ties where their joints would be too many.
fn cut_longest(sketch: &Sketch, layer: &[u32], cut: &mut [bool]) {
    let span = |at: usize| layer[sketch.ties[at].to].saturating_sub(layer[sketch.ties[at].from]) as usize;
    let mut reach = vec![0; sketch.boxes.len()];
    for at in (0..sketch.ties.len()).filter(|at| !cut[*at]) {
        let from = sketch.ties[at].from;
        reach[from] = span(at).max(reach[from]);
    }
    let longest = reach.iter().max().copied().unwrap_or(0);
    // How many trunks are longer than so many layers: each of them has a joint there.
    let mut longer = vec![0_usize; longest + 1];
    reach.iter().for_each(|reach| longer[*reach] += 1);
    let mut trunks = sketch.boxes.len() - longer.first().copied().unwrap_or(0);
    let mut left = (JOINTS_EACH * (sketch.boxes.len() + sketch.ties.len())).max(JOINTS_LEAST);
    let mut most = 1;
    for (length, ending) in longer.iter().enumerate().take(longest).skip(1) {
        trunks -= ending;
        let Some(rest) = left.checked_sub(trunks) else { break };
        left = rest;
        most = length + 1;
    }
    for (at, cut) in cut.iter_mut().enumerate() {
        *cut |= span(at) > most;
    }
}

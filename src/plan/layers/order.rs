//! The order of boxes and joints within their layers, so that few lines cross: each goes to the middle of what it is tied to, layer
//! by layer, down and up, as long as that helps.

use super::rank::Web;

/// Sweeps through all layers, at the most.
const SWEEPS: usize = 8;
/// Sweeps that may go by without fewer crossings.
const PATIENCE: usize = 3;

pub(super) fn untangle(web: &mut Web) {
    let mut places = vec![0; web.layer.len()];
    for layer in &web.layers {
        note(layer, &mut places);
    }
    let mut fewest = crossings(web, &places);
    let mut best = web.layers.clone();
    let mut waited = 0;
    for sweep in 0..SWEEPS {
        if fewest == 0 || waited == PATIENCE {
            break;
        }
        let depth = web.layers.len();
        for step in 1..depth {
            let layer = if sweep % 2 == 0 { step } else { depth - 1 - step };
            let ties = if sweep % 2 == 0 { &web.up } else { &web.down };
            sort(&mut web.layers[layer], ties, &places);
            note(&web.layers[layer], &mut places);
        }
        let now = crossings(web, &places);
        waited += 1;
        if now < fewest {
            (fewest, waited) = (now, 0);
            best.clone_from(&web.layers);
        }
    }
    web.layers = best;
}

fn note(layer: &[u32], places: &mut [u32]) {
    for (place, vertex) in (0..).zip(layer) {
        places[*vertex as usize] = place;
    }
}

/// Sorts a layer by the mean place of what each vertex is tied to; what is tied to nothing stays about where it is.
fn sort(layer: &mut Vec<u32>, ties: &[Vec<u32>], places: &[u32]) {
    let mean = |vertex: u32| {
        let near = &ties[vertex as usize];
        if near.is_empty() {
            return f64::from(places[vertex as usize]);
        }
        let sum: u64 = near.iter().map(|other| u64::from(places[*other as usize])).sum();
        // Places are far below 2^52, so nothing is lost.
        f64::from(u32::try_from(sum / near.len() as u64).unwrap_or(u32::MAX)) + (sum % near.len() as u64) as f64 / near.len() as f64
    };
    let mut keyed: Vec<(f64, u32)> = layer.iter().map(|vertex| (mean(*vertex), *vertex)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    *layer = keyed.into_iter().map(|(_, vertex)| vertex).collect();
}

/// How many pairs of lines cross, all layers together.
fn crossings(web: &Web, places: &[u32]) -> u64 {
    let mut all = 0;
    for pair in web.layers.windows(2) {
        let mut seen = FenwickTree::new(pair[1].len());
        for vertex in &pair[0] {
            let ends = &web.down[*vertex as usize];
            all += ends.iter().map(|end| seen.beyond(places[*end as usize])).sum::<u64>();
            ends.iter().for_each(|end| seen.add(places[*end as usize]));
        }
    }
    all
}

/// Counts by place (a Fenwick tree).
struct FenwickTree {
    sums: Vec<u32>,
    total: u64,
}

impl FenwickTree {
    fn new(places: usize) -> Self {
        Self { sums: vec![0; places + 1], total: 0 }
    }

    fn add(&mut self, place: u32) {
        self.total += 1;
        let mut at = place as usize + 1;
        while at < self.sums.len() {
            self.sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// How many are beyond a place.
    fn beyond(&self, place: u32) -> u64 {
        let mut at = place as usize + 1;
        let mut up_to = 0;
        while at > 0 {
            up_to += u64::from(self.sums[at]);
            at &= at - 1;
        }
        self.total - up_to
    }
}

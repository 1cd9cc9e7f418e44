//! `Spread`: how a figure was spread over past cases, by the size of their input. A new case falls between any two neighbours of the `n`
//! past ones, below all or above all with the same chance, `1 / (n + 1)`: so its bounds hold whatever the figures are spread like (Vovk,
//! Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005). Too few cases for that are taken as drawn from a bell curve of
//! logarithms, with Student's allowance for how few they are.

use super::FEWEST_CASES;

/// As many cases have one in ten on each side.
const ENOUGH: usize = 9;
/// As many cases tell how a figure grows with the size of the input.
const ENOUGH_TO_SCALE: usize = 16;
/// The share of what is spread that the size of the input has to account for.
const WORTH_SCALING: f64 = 0.1;

/// How a figure was spread.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    unit: f64,
    /// By so much the logarithm grows with that of the input's size.
    slope: f64,
    /// Logarithms without what the input accounts for, in order.
    rest: Vec<f64>,
}

impl Spread {
    /// None with too few cases. Each is the size of its input, and the figure.
    pub(super) fn of(cases: impl Iterator<Item = (f64, f64)>, unit: f64) -> Option<Self> {
        let cases: Vec<(f64, f64)> = cases.map(|(input, figure)| (input.ln_1p(), (figure / unit).ln_1p())).collect();
        if cases.len() < FEWEST_CASES {
            return None;
        }
        let slope = slope(&cases);
        let mut rest: Vec<f64> = cases.iter().map(|(input, figure)| figure - slope * input).collect();
        rest.sort_by(f64::total_cmp);
        Some(Self { unit, slope, rest })
    }

    /// A figure for an input of this size, drawn by numbers between 0 and 1.
    pub(super) fn draw(&self, input: f64, dice: &mut DrawDice) -> f64 {
        let rest = if self.rest.len() < ENOUGH { self.bell(dice) } else { self.between(dice.chance()) };
        (self.slope * input.ln_1p() + rest).exp_m1().max(0.0) * self.unit
    }

    fn between(&self, chance: f64) -> f64 {
        let at = chance * (self.rest.len() + 1) as f64;
        let whole = (at as usize).min(self.rest.len());
        let (first, last) = (self.rest[0], self.rest[self.rest.len() - 1]);
        match whole {
            // Beyond all that was seen it goes on as the outer tenth does.
            0 => first - (1.0 - at) * (self.rest[self.rest.len() / 10] - first),
            _ if whole == self.rest.len() => last + (at - whole as f64) * (last - self.rest[self.rest.len() - 1 - self.rest.len() / 10]),
            _ => self.rest[whole - 1] + (at - whole as f64) * (self.rest[whole] - self.rest[whole - 1]),
        }
    }

    fn bell(&self, dice: &mut DrawDice) -> f64 {
        let count = self.rest.len() as f64;
        let mean = self.rest.iter().sum::<f64>() / count;
        let deviation = (self.rest.iter().map(|rest| (rest - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        let freedom = self.rest.len() - 1;
        let squares: f64 = (0..freedom).map(|_| dice.bell().powi(2)).sum();
        let student = dice.bell() / (squares / freedom as f64).max(1e-3).sqrt();
        mean + student * deviation * (1.0 + 1.0 / count).sqrt()
    }
}

/// How the second number grows with the first, by least squares; nothing where that accounts for little.
fn slope(cases: &[(f64, f64)]) -> f64 {
    if cases.len() < ENOUGH_TO_SCALE {
        return 0.0;
    }
    let count = cases.len() as f64;
    let (x, y) = cases.iter().fold((0.0, 0.0), |(x, y), case| (x + case.0 / count, y + case.1 / count));
    let sums = cases.iter().fold((0.0, 0.0, 0.0), |(xx, xy, yy), case| {
        let (dx, dy) = (case.0 - x, case.1 - y);
        (xx + dx * dx, xy + dx * dy, yy + dy * dy)
    });
    let (xx, xy, yy) = sums;
    let accounted = if xx * yy > 0.0 { xy * xy / (xx * yy) } else { 0.0 };
    if accounted < WORTH_SCALING { 0.0 } else { (xy / xx).clamp(-0.5, 2.0) }
}

/// Numbers that look random and are the same each time, so that a plan has one estimate. By SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub(super) struct DrawDice(u64);

impl DrawDice {
    pub(super) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// Between 0 and 1.
    pub(super) fn chance(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of so many.
    pub(super) fn pick(&mut self, among: usize) -> usize {
        ((self.chance() * among as f64) as usize).min(among.saturating_sub(1))
    }

    /// By the bell curve.
    fn bell(&mut self) -> f64 {
        let (radius, turn) = (self.chance().max(1e-12), self.chance());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    }
}

/// The part of sorted figures below which this share of them is.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let below = at as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    Some(low + (at - below as f64) * (high - low))
}

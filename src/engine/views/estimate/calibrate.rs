//! `Calibration`: how earlier estimates did, and what that changes in the next one. Nodes of a run are not independent (a hard request makes
//! all of them dear), so that a sum of drawn nodes is spread too little: the bounds go to where 8 of 10 of the earlier runs were.

use super::{EstimateBand, Forecast, Measure, spread::quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fewer scores than this change nothing.
const ENOUGH: usize = 20;
/// A band is taken as at least this wide, as a share of its middle, where a score is made or used.
const NARROWEST: f64 = 0.02;
/// What runs that have nothing in common with their estimate count as at most.
const FARTHEST: f64 = 20.0;

/// Where one run was in its estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateScore {
    /// 0 at the middle of the band, -1 at its low end, 1 at its worst.
    pub place: f64,
    /// Whether it was inside the band that was shown.
    pub inside: bool,
}

/// Scores of earlier estimates, by what was estimated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    pub scores: BTreeMap<Measure, Vec<EstimateScore>>,
}

impl Calibration {
    /// What an estimate becomes by how earlier ones did.
    pub fn corrected(&self, raw: &Forecast) -> Forecast {
        Forecast::by(|measure| self.band(measure, raw.get(measure)))
    }

    fn band(&self, measure: Measure, raw: EstimateBand) -> EstimateBand {
        let scores = self.scores.get(&measure).map_or(&[][..], Vec::as_slice);
        let mut places: Vec<f64> = scores.iter().map(|score| score.place).collect();
        let Some(scale) = BandScale::of(measure, raw).filter(|_| places.len() >= ENOUGH) else { return raw };
        places.sort_by(f64::total_cmp);
        // The score to come falls between any two neighbours of the n that are there with the same chance.
        let count = places.len() as f64;
        let at = |share: f64| quantile(&places, (share * (count + 1.0) - 1.0) / (count - 1.0)).map(|place| scale.figure(place));
        EstimateBand { low: at(0.1).unwrap_or(raw.low), expected: at(0.5), worst: at(0.9) }
    }

    /// Where a run was that took so much; `raw` is its estimate as it comes out, without correction. None where that was not known.
    pub fn score(&self, measure: Measure, raw: &Forecast, took: f64) -> Option<EstimateScore> {
        let scale = BandScale::of(measure, raw.get(measure))?;
        Some(EstimateScore { place: scale.place(took), inside: self.band(measure, raw.get(measure)).holds(took) })
    }

    /// Of the newest `most` runs that were estimated, how many were inside: `(41, 50)`.
    pub fn inside(&self, measure: Measure, most: usize) -> (usize, usize) {
        let scores = self.scores.get(&measure).into_iter().flatten().take(most);
        scores.fold((0, 0), |(inside, all), score| (inside + usize::from(score.inside), all + 1))
    }
}

/// A band in logarithms.
struct BandScale {
    unit: f64,
    middle: f64,
    below: f64,
    above: f64,
}

impl BandScale {
    fn of(measure: Measure, raw: EstimateBand) -> Option<Self> {
        let unit = measure.unit();
        let log = |figure: f64| (figure / unit).ln_1p();
        let (low, middle, worst) = (log(raw.low), log(raw.expected?), log(raw.worst?));
        Some(Self { unit, middle, below: (middle - low).max(NARROWEST), above: (worst - middle).max(NARROWEST) })
    }

    fn place(&self, figure: f64) -> f64 {
        let beyond = (figure / self.unit).ln_1p() - self.middle;
        (beyond / if beyond < 0.0 { self.below } else { self.above }).clamp(-FARTHEST, FARTHEST)
    }

    fn figure(&self, place: f64) -> f64 {
        (self.middle + place * if place < 0.0 { self.below } else { self.above }).exp_m1().max(0.0) * self.unit
    }
}

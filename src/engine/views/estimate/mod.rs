//! `Estimate`: what a plan will take before it runs, from what its agents and tools took in past runs, else from what its limits allow. A
//! figure that nobody knows is absent, and never a guess.
//!
//! The run is drawn many times: each node takes what a past attempt of its worker took, scaled to the size of its input, and gives a result
//! of a size for those behind it. Of what the draws come to, low and worst are the bounds of the middle 8 of 10.

mod band;
mod calibrate;
mod cases;
mod drawing;
mod laid;
mod limits;
mod outcome;
mod schedule;
mod spread;

pub use band::{EstimateBand, Forecast, Measure};
pub use calibrate::{Calibration, EstimateScore};
pub use cases::{EstimateSources, FEWEST_CASES, PastCase, PastCases, PriceOf};
pub use outcome::{BrokenCap, Estimate, EstimateBasis, NodeEstimate};

use crate::plan::{Catalog, Plan};
use drawing::Drawing;
use laid::LaidPlan;

impl Estimate {
    /// What a plan will take here.
    pub fn of(plan: &Plan, sources: &EstimateSources<'_>) -> Self {
        let laid = LaidPlan::of(plan, sources);
        let draws = Drawing::of(&laid);
        let raw = draws.whole();
        let nodes = draws.nodes(&laid);
        let (critical_path, widest) = schedule::of(&laid, &nodes);
        let whole = sources.calibration.corrected(&raw);
        Self {
            broken_caps: limits::broken(plan, &whole, &nodes),
            whole,
            critical_path,
            widest,
            gates: limits::gates(plan, sources.catalog),
            has_branches: laid.has_branches(),
            nodes,
        }
    }

    /// The same by history alone, as it comes out before it is corrected by how earlier ones did.
    pub fn uncorrected(plan: &Plan, past: &dyn PastCases, model: Option<&str>) -> Forecast {
        let price = |_: &str, _: u64, _: u64| None::<f64>;
        let (catalog, calibration) = (Catalog::default(), Calibration::default());
        let laid = LaidPlan::of(plan, &EstimateSources { past, catalog: &catalog, model, price: &price, calibration: &calibration });
        Drawing::of(&laid).whole()
    }
}

//! Where estimates come from: past cases of workers, what plans may name, prices, and how earlier estimates did.

use super::Calibration;
use crate::engine::WorkerSort;
use crate::plan::Catalog;

/// Fewer past cases than this teach nothing.
pub const FEWEST_CASES: usize = 3;

/// What one generation of a node took in a past run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PastCase {
    pub input_tokens: u64,
    pub result_tokens: u64,
    pub tokens: u64,
    /// None where a price is unknown.
    pub cost_usd: Option<f64>,
    pub took_ms: u64,
    /// Calls of a model; of a loop or a map its passes.
    pub calls: u64,
    pub has_result: bool,
}

/// Where past cases come from.
pub trait PastCases {
    /// The newest cases of a worker with this model, or with any where none is named.
    fn cases(&self, sort: WorkerSort, worker: &str, model: Option<&str>) -> Vec<PastCase>;
}

/// What a model's tokens cost: prompt and answer, in US dollars; none where the price is unknown.
pub type PriceOf<'a> = &'a dyn Fn(&str, u64, u64) -> Option<f64>;

/// What estimates are made from.
#[derive(Clone, Copy)]
pub struct EstimateSources<'a> {
    pub past: &'a dyn PastCases,
    pub catalog: &'a Catalog,
    /// The model for agents that name none.
    pub model: Option<&'a str>,
    pub price: PriceOf<'a>,
    pub calibration: &'a Calibration,
}

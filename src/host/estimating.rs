//! What a plan will take here: by the history beside the journal, the cards, the models and their prices.

use super::{client::Problem, jobs::Kit, learned::EstimateReport, own_models::with_own_models};
use crate::engine::{Estimate, EstimateSources, Time, TokenUsage};
use crate::plan::Plan;
use crate::store::{RunHistory, Store};

/// The latest moment there is: all of the history counts.
const NOW: Time = Time(u64::MAX);

/// What a plan will take. `model` works for agents that name none.
///
/// # Errors
/// When the history can't be read.
pub(super) fn estimate(plan: &Plan, kit: &Kit, model: Option<&str>, store: &Store) -> Result<EstimateReport, Problem> {
    let history = RunHistory::open(store)?;
    let record = history.calibration(NOW)?;
    let (catalog, models) = (kit.catalog(model), kit.models());
    let mut plan = plan.clone();
    with_own_models(&mut plan, &models.config().by_agent, model);
    let price = |model: &str, prompt: u64, answer: u64| models.prices().cost(model, TokenUsage::of(prompt, answer));
    let sources = EstimateSources { past: &history.before(NOW), catalog: &catalog, model, price: &price, calibration: &record };
    Ok(EstimateReport { estimate: Estimate::of(&plan, &sources), record })
}

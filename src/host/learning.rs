//! Answers what clients ask of past runs, aside, so that reading much holds nobody up.

use super::{
    client::{Notice, Problem},
    estimating,
    learned::{LearnWish, LearnedNews, StatsReport},
    local::Shared,
    session::Listener,
};
use crate::engine::Time;
use crate::store::RunHistory;
use std::sync::Arc;

/// Answers a client, which may be gone by then.
pub(super) fn answer(shared: &Arc<Shared>, wish: LearnWish, listener: Listener) {
    let shared = shared.clone();
    tokio::task::spawn_blocking(move || {
        let learned = shared.learn(wish).map(Notice::LearnedNews);
        drop(listener.send(learned.unwrap_or_else(Notice::Problem)));
    });
}

impl Shared {
    fn learn(&self, wish: LearnWish) -> Result<LearnedNews, Problem> {
        match wish {
            LearnWish::Estimate { number, plan } => {
                let report = estimating::estimate(&plan, &self.kit, self.chosen().as_deref(), &self.store)?;
                Ok(LearnedNews::Estimate { number, report: Box::new(report) })
            }
            LearnWish::Stats => Ok(LearnedNews::Stats(self.stats()?)),
            LearnWish::Suggestion { id, turn } => {
                let said = self.turn_suggestion(&id, turn)?;
                Ok(LearnedNews::Turned(said, self.stats()?))
            }
        }
    }

    fn stats(&self) -> Result<StatsReport, Problem> {
        let history = RunHistory::open(&self.store)?;
        let (stats, record) = (history.stats(Time(0))?, history.calibration(Time(u64::MAX))?);
        let suggestions = self.suggestions(&history, &stats)?;
        Ok(StatsReport { stats, record, suggestions })
    }
}

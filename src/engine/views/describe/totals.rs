//! What something took, on one line: times, tokens, money.

use super::times::{elapsed, work};
use crate::engine::{ModelCall, Side, Spent, TimelineChart, Totals};
use crate::text::{Plain, cost, count, counted, duration};

impl Totals {
    /// `elapsed 6.1s, work 45ms, 1.2k tokens, $0.01`, without what is nothing.
    pub fn label(&self) -> Plain {
        let tokens = (self.tokens > 0).then(|| count(self.tokens).then(&Plain::line(" tokens")));
        let money = (self.cost_usd > 0.0).then(|| cost(self.cost_usd));
        listed([self.elapsed_ms.map(elapsed), self.work_ms.map(work), tokens, money].into_iter().flatten())
    }
}

impl Spent {
    /// `3 model calls, 1.2k tokens, $0.01`; empty without a model call.
    pub fn label(&self) -> Plain {
        if self.model_calls == 0 {
            return Plain::default();
        }
        let calls = Plain::line(&counted(self.model_calls as usize, "model call"));
        let totals = Totals { tokens: self.tokens.total(), cost_usd: self.cost_usd, ..Totals::default() }.label();
        listed([calls, totals].into_iter().filter(|part| !part.is_empty()))
    }
}

/// `3 model calls, ~1.2k tokens, $0.01`: `~` where not all was reported by the provider, `cost ?` where a price is unknown.
pub fn calls_label(calls: &[ModelCall]) -> Plain {
    let tokens = calls.iter().map(|call| call.usage.total()).sum();
    let mark = if calls.iter().any(|call| call.estimated) { "~" } else { "" };
    let money: Option<f64> = calls.iter().map(|call| call.cost_usd).sum();
    listed([
        Plain::line(&counted(calls.len(), "model call")),
        Plain::line(mark).then(&count(tokens)).then(&Plain::line(" tokens")),
        money.map_or_else(|| Plain::line("cost ?"), |money| Plain::line(mark).then(&cost(money))),
    ])
}

impl TimelineChart {
    /// `critical path 45ms`: so long the run takes with the same work and a slot for every node.
    pub fn label(&self) -> Plain {
        if self.start.is_none() {
            return Plain::line("not started");
        }
        Plain::line("critical path ").then(&duration(self.bound_ms))
    }
}

/// With commas between.
pub fn listed(parts: impl IntoIterator<Item = Plain>) -> Plain {
    parts.into_iter().reduce(|all, next| all.then(&Plain::line(", ")).then(&next)).unwrap_or_default()
}

impl Side {
    /// `succeeded (rehearsal), work 45ms, 1.2k tokens`
    pub fn label(&self) -> Plain {
        let mark = self.mark.as_ref().map(|mark| format!(" ({})", mark.label())).unwrap_or_default();
        let state = Plain::summary(&format!("{}{mark}", self.state));
        listed([state, self.took.label()].into_iter().filter(|part| !part.is_empty()))
    }
}

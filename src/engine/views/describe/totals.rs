//! What something took, on one line: times, tokens, money.

use super::times::{elapsed, work};
use crate::engine::{CachedResult, ModelCall, Side, Spent, TimelineChart, Totals, short_name};
use crate::text::{Plain, cost, count, counted, duration};

impl Totals {
    /// `elapsed 6.1s, work 45ms, 1.2k tokens, $0.01`, without what is nothing.
    pub fn label(&self) -> Plain {
        let tokens = (self.tokens > 0).then(|| self.tokens_label().then(&Plain::line(" tokens")));
        listed([self.elapsed_ms.map(elapsed), self.work_ms.map(work), tokens, self.money_label()].into_iter().flatten())
    }

    /// `1.2k`, or `~1.2k` where not all was reported by the provider.
    pub fn tokens_label(&self) -> Plain {
        self.approximately().then(&count(self.tokens))
    }

    /// `$0.01`, `~$0.01` where the tokens were not all reported, `cost ?` or `$0.01 + ?` where a price is unknown; nothing for nothing.
    pub fn money_label(&self) -> Option<Plain> {
        let known = (self.cost_usd > 0.0).then(|| self.approximately().then(&cost(self.cost_usd)));
        match (known, self.unpriced) {
            (known, false) => known,
            (Some(known), true) => Some(known.then(&Plain::line(" + ?"))),
            (None, true) => Some(Plain::line("cost ?")),
        }
    }

    fn approximately(&self) -> Plain {
        Plain::line(if self.estimated { "~" } else { "" })
    }
}

impl Spent {
    /// `3 model calls, 1.2k tokens, $0.01`; empty without a model call.
    pub fn label(&self) -> Plain {
        if self.model_calls == 0 {
            return Plain::default();
        }
        let calls = Plain::line(&counted(self.model_calls as usize, "model call"));
        listed([calls, Totals::from(*self).label()].into_iter().filter(|part| !part.is_empty()))
    }
}

impl CachedResult {
    /// ``from run `1a2b3c4d`, saves 3 model calls, 1.2k tokens, $0.01``
    pub fn message(&self) -> String {
        let from = format!("from run `{}`", short_name(&self.run.0));
        let saved = self.spent.label();
        if saved.is_empty() { from } else { format!("{from}, saves {saved}") }
    }
}

/// `3 model calls, ~1.2k tokens, $0.01`
pub fn calls_label(calls: &[ModelCall]) -> Plain {
    let mut spent = Spent::default();
    calls.iter().for_each(|call| spent.add(Spent::of(call)));
    spent.label()
}

impl TimelineChart {
    /// `critical path 45ms of work in 4.1s`: how long the nodes on it worked, and how long the run took.
    pub fn label(&self) -> Plain {
        if self.start.is_none() {
            return Plain::line("not started");
        }
        let all = Plain::line(" in ").then(&duration(self.makespan_ms));
        Plain::line("critical path ").then(&duration(self.critical_work_ms())).then(&Plain::line(" of work")).then(&all)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_was_counted_here_and_an_unknown_price_are_marked_in_every_sum() {
        let call = |cost_usd, estimated| ModelCall {
            model: "m".into(),
            provider: "p".into(),
            usage: crate::engine::TokenUsage::of(1_000, 200),
            estimated,
            cost_usd,
            duration_ms: 1,
            finish: "stop".into(),
            id: String::new(),
        };
        for (calls, expected) in [
            (vec![call(Some(0.5), false)], "1 model call, 1.2k tokens, $0.50"),
            (vec![call(Some(0.5), false), call(Some(0.5), true)], "2 model calls, ~2.4k tokens, ~$1.00"),
            (vec![call(None, false)], "1 model call, 1.2k tokens, cost ?"),
            (vec![call(None, true), call(Some(0.5), false)], "2 model calls, ~2.4k tokens, ~$0.50 + ?"),
            (vec![call(Some(0.0), false)], "1 model call, 1.2k tokens"),
        ] {
            assert_eq!(calls_label(&calls).as_str(), expected);
        }
    }
}

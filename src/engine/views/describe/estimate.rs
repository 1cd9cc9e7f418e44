//! Estimates in words: figures with their bounds, what they are made from, caps that the worst case breaks. What nobody knows is a `?`.

use crate::engine::{BrokenCap, Calibration, Estimate, EstimateBand, EstimateBasis, Forecast, Measure, NodeEstimate};
use crate::text::{Plain, cost, count, counted, duration};

/// The newest runs that the record tells of.
const TOLD: usize = 50;

impl Measure {
    /// What it is called in a table.
    pub fn label(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Usd => "cost",
            Self::Ms => "time",
            Self::ModelCalls => "model calls",
        }
    }

    /// `12k`, `$0.02`, `14s`
    pub fn figure(self, figure: f64) -> Plain {
        // Figures of estimates are not negative, and smaller than any limit of a whole number.
        let whole = figure.round().max(0.0) as u64;
        match self {
            Self::Tokens | Self::ModelCalls => count(whole),
            Self::Usd => cost(figure),
            Self::Ms => duration(whole),
        }
    }

    /// The same, or `?`.
    pub fn figure_or_unknown(self, figure: Option<f64>) -> Plain {
        figure.map_or_else(|| Plain::line("?"), |figure| self.figure(figure))
    }

    /// With its unit: `12k tokens`.
    fn with_unit(self, figure: f64) -> Plain {
        let unit = match self {
            Self::Tokens => " tokens",
            Self::ModelCalls => " model calls",
            Self::Usd | Self::Ms => "",
        };
        self.figure(figure).then(&Plain::line(unit))
    }
}

impl EstimateBand {
    /// `about 12k`, or `1.2k to 40k` where only the bounds are known, `at least 1.2k`, `?`.
    pub fn label(&self, measure: Measure) -> Plain {
        let figure = |figure: f64| measure.figure(figure);
        match (self.expected, self.worst) {
            (Some(expected), _) => Plain::line("about ").then(&figure(expected)),
            (None, Some(worst)) => figure(self.low).then(&Plain::line(" to ")).then(&figure(worst)),
            (None, None) if self.low > 0.0 => Plain::line("at least ").then(&figure(self.low)),
            (None, None) => Plain::line("?"),
        }
    }

    /// `about 12k (8.1k to 21k)`
    pub fn long_label(&self, measure: Measure) -> Plain {
        let label = self.label(measure);
        match self.worst.filter(|worst| self.expected.is_some() && measure.figure(self.low) != measure.figure(*worst)) {
            Some(worst) => {
                let (low, worst) = (measure.figure(self.low), measure.figure(worst));
                label.then(&Plain::line(" (")).then(&low).then(&Plain::line(" to ")).then(&worst).then(&Plain::line(")"))
            }
            None => label,
        }
    }

    /// Whether it says that nothing is taken.
    pub fn is_nothing(&self) -> bool {
        self.worst == Some(0.0)
    }
}

impl Forecast {
    /// For a header, the time first: `about 14s`, `about 12k tokens`, `about $0.02`. What is nothing is left out, and all where nothing is
    /// known.
    pub fn parts(&self) -> Vec<Plain> {
        self.parts_by(EstimateBand::label)
    }

    /// The same with their bounds, for a card.
    pub fn long_parts(&self) -> Vec<Plain> {
        self.parts_by(EstimateBand::long_label)
    }

    fn parts_by(&self, label: fn(&EstimateBand, Measure) -> Plain) -> Vec<Plain> {
        // Of what nobody knows at all nothing is shown.
        if [self.ms, self.tokens, self.usd].iter().all(|band| band.is_unknown() || band.is_nothing()) {
            return Vec::new();
        }
        let part = |measure: Measure, before: &str, after: &str| {
            let band = self.get(measure);
            let shown = Plain::line(if band.is_unknown() { before } else { "" }).then(&label(&band, measure)).then(&Plain::line(after));
            (!band.is_nothing()).then_some(shown)
        };
        [part(Measure::Ms, "time ", ""), part(Measure::Tokens, "", " tokens"), part(Measure::Usd, "cost ", "")]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl NodeEstimate {
    /// `from 34 attempts`, `from its prompt and its limits`
    pub fn basis_label(&self) -> String {
        let cases = self.cases.map(|cases| counted(cases, "attempt")).unwrap_or_default();
        match self.basis {
            EstimateBasis::History => format!("from {cases}"),
            EstimateBasis::OtherModels => format!("from {cases} with other models"),
            EstimateBasis::Limits => "from its prompt and its limits".to_owned(),
            EstimateBasis::Unknown => "nothing is known".to_owned(),
        }
    }
}

impl BrokenCap {
    /// `the worst case, 21k tokens, breaks the run's cap of 10k tokens`
    pub fn message(&self) -> Plain {
        let whose = self.node.as_ref().map_or_else(|| "the run's cap".to_owned(), |node| format!("the cap of `{node}`"));
        let (worst, cap) = (self.measure.with_unit(self.worst), self.measure.with_unit(self.cap));
        Plain::line("the worst case, ").then(&worst).then(&Plain::summary(&format!(", breaks {whose}: "))).then(&cap)
    }
}

impl Calibration {
    /// `of your last 50 runs 41 were inside the estimate of tokens, 38 of time`; nothing before a run was estimated.
    pub fn label(&self) -> Option<String> {
        let all = Measure::ALL.map(|measure| self.inside(measure, TOLD).1).into_iter().max().filter(|all| *all > 0)?;
        let inside = |measure: Measure| {
            let (inside, of) = self.inside(measure, TOLD);
            let of = if of < all { format!(" of {of}") } else { String::new() };
            (of.is_empty() || self.inside(measure, TOLD).1 > 0).then(|| format!("{inside}{of} for {}", measure.label()))
        };
        let parts: Vec<String> = [Measure::Tokens, Measure::Ms, Measure::Usd].into_iter().filter_map(inside).collect();
        Some(format!("of your last {} that could be estimated, inside the estimate were: {}", counted(all, "run"), parts.join(", ")))
    }
}

impl Estimate {
    /// What low and high mean.
    pub fn legend(&self) -> &'static str {
        match self.nodes.iter().any(|node| node.basis == EstimateBasis::Limits) {
            true => "low: at least its prompts; high: what its limits allow; waiting for people is not counted",
            false => "8 of 10 such runs stay between low and high; waiting for people is not counted",
        }
    }

    /// What it rests on, where not all of it is from past runs.
    pub fn caveat(&self) -> Option<String> {
        let other = self.nodes.iter().filter(|node| node.basis != EstimateBasis::History).count();
        let branches = self.has_branches.then_some("conditions decide which nodes run: all are thought to be as likely");
        let unknown = (other > 0).then(|| format!("{} without a similar past run", counted(other, "node")));
        match (unknown, branches) {
            (Some(unknown), Some(branches)) => Some(format!("{unknown}; {branches}")),
            (unknown, branches) => unknown.or(branches.map(str::to_owned)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_is_not_known_is_a_question_mark_and_never_a_zero() {
        let known = EstimateBand { low: 8_100.0, expected: Some(12_000.0), worst: Some(21_000.0) };
        let bounds = EstimateBand { low: 1_200.0, expected: None, worst: Some(40_000.0) };
        for (band, label) in [
            (known, "about 12k (8.1k to 21k)"),
            (bounds, "1.2k to 40k"),
            (EstimateBand { worst: None, ..bounds }, "at least 1.2k"),
            (EstimateBand::default(), "?"),
        ] {
            assert_eq!(band.long_label(Measure::Tokens).as_str(), label);
        }
        let parts = Forecast { tokens: known, ..Forecast::default() }.parts();
        assert_eq!(parts.iter().map(Plain::as_str).collect::<Vec<_>>(), ["time ?", "about 12k tokens", "cost ?"]);
        assert!(Forecast::default().parts().is_empty());
    }
}

//! `EstimateBand`: a figure that is not known yet: what it is at least, most likely, and at worst, each only where it is known.

use serde::{Deserialize, Serialize};
use std::ops::Add;

/// What is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Measure {
    Tokens,
    Usd,
    Ms,
    ModelCalls,
}

impl Measure {
    pub const ALL: [Self; 4] = [Self::Tokens, Self::Usd, Self::Ms, Self::ModelCalls];

    /// What makes one of it count: below that, differences are noise.
    pub(super) fn unit(self) -> f64 {
        match self {
            Self::Tokens | Self::Ms | Self::ModelCalls => 1.0,
            Self::Usd => 1e-6,
        }
    }
}

/// Bounds and the middle of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EstimateBand {
    pub low: f64,
    pub expected: Option<f64>,
    pub worst: Option<f64>,
}

impl EstimateBand {
    /// A figure that is known.
    pub(super) fn exactly(figure: f64) -> Self {
        Self { low: figure, expected: Some(figure), worst: Some(figure) }
    }

    /// The later of two moments, bound by bound.
    pub(super) fn later(self, other: Self) -> Self {
        let max = |a: Option<f64>, b: Option<f64>| Some(a?.max(b?));
        Self { low: self.low.max(other.low), expected: max(self.expected, other.expected), worst: max(self.worst, other.worst) }
    }

    /// Whether nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        self.low == 0.0 && self.expected.is_none() && self.worst.is_none()
    }

    /// Whether a figure is within it.
    pub fn holds(&self, figure: f64) -> bool {
        self.low <= figure && self.worst.is_some_and(|worst| figure <= worst)
    }
}

impl Add for EstimateBand {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        Self { low: self.low + other.low, expected: sum(self.expected, other.expected), worst: sum(self.worst, other.worst) }
    }
}

/// All that is estimated of a node or a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    pub tokens: EstimateBand,
    pub usd: EstimateBand,
    /// Time from start to end, without what is waited for people.
    pub ms: EstimateBand,
    pub model_calls: EstimateBand,
}

impl Forecast {
    pub(super) fn by(of: impl Fn(Measure) -> EstimateBand) -> Self {
        Self { tokens: of(Measure::Tokens), usd: of(Measure::Usd), ms: of(Measure::Ms), model_calls: of(Measure::ModelCalls) }
    }

    pub fn get(&self, measure: Measure) -> EstimateBand {
        match measure {
            Measure::Tokens => self.tokens,
            Measure::Usd => self.usd,
            Measure::Ms => self.ms,
            Measure::ModelCalls => self.model_calls,
        }
    }
}

//! `PlanForecast`: what the plan in the editor will take, as far as the host has said so of the plan as it is now.

use crate::host::client::EstimateReport;

/// An estimate, and of which state of the plan it is.
#[derive(Clone, Debug, Default)]
pub struct PlanForecast {
    /// The state of the plan; it changes with each edit.
    now: u64,
    /// The state that was asked about last.
    asked: u64,
    came: Option<(u64, Box<EstimateReport>)>,
}

impl PlanForecast {
    /// The plan, or what it is planned with, changed.
    pub fn changed(&mut self) {
        self.now += 1;
    }

    /// Past runs teach more than before.
    pub fn is_old(&mut self) {
        self.asked = 0;
    }

    /// The number to ask by, where the plan was not asked about as it is.
    pub fn to_ask(&mut self) -> Option<u64> {
        let is_new = self.asked != self.now;
        self.asked = self.now;
        is_new.then_some(self.now)
    }

    /// Takes in what the host says of the state of that number.
    pub fn came(&mut self, number: u64, report: Box<EstimateReport>) {
        self.came = Some((number, report));
    }

    /// What the plan will take as it is now.
    pub fn get(&self) -> Option<&EstimateReport> {
        self.came.as_ref().filter(|(number, _)| *number == self.now).map(|(_, report)| &**report)
    }
}

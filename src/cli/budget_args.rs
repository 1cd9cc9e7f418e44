//! The arguments about what a run may take.

use crate::plan::Budget;
use clap::Args;

#[derive(Clone, Debug, Default, Args)]
pub struct BudgetArgs {
    /// What the run may take: `$2`, `200k tokens`, `10 min`, `50 calls`, or several of these with commas between. It takes the place of the plan's own budget for what it names
    #[arg(long, value_name = "BUDGET", value_parser = Budget::parse)]
    pub budget: Vec<Budget>,
}

impl BudgetArgs {
    /// These caps alone.
    pub(super) fn own(&self) -> Budget {
        self.over(&Budget::default())
    }

    /// A plan's budget with these caps over it.
    pub(super) fn over(&self, plan: &Budget) -> Budget {
        self.budget.iter().fold(plan.clone(), |all, budget| all.overridden(budget))
    }
}

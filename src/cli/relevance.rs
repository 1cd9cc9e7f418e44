//! Which subcommands the chosen model matters to, and which the agents and settings of the workspace.

use super::{Cli, Subcommand};

impl Cli {
    /// Whether `--model` has an effect.
    pub(super) fn takes_model(&self) -> bool {
        self.subcommand.as_ref().is_none_or(Subcommand::takes_model)
    }
}

impl Subcommand {
    fn takes_model(&self) -> bool {
        let drives = matches!(self, Self::Release(_) | Self::Step(_) | Self::RunTo(_) | Self::Rerun(_) | Self::Retry(_) | Self::Rewind(_));
        let looks = matches!(
            self,
            Self::Console(_)
                | Self::Attach(_)
                | Self::Host(_)
                | Self::Models(_)
                | Self::Doctor(_)
                | Self::Branch(_)
                | Self::Estimate(_)
                | Self::Serve(_)
        );
        drives || looks || self.is_planned_or_run()
    }

    /// Whether cards and settings of the workspace matter to it, and it doesn't list them itself.
    pub(super) fn uses_settings(&self) -> bool {
        self.is_planned_or_run() || matches!(self, Self::Tools(_) | Self::Estimate(_) | Self::Serve(_))
    }

    /// Whether it makes, checks or runs a plan with all that is set up.
    fn is_planned_or_run(&self) -> bool {
        let plans = matches!(self, Self::Plan(_) | Self::Run(_) | Self::Validate(_));
        plans || matches!(self, Self::Resume(_) | Self::Approve(_) | Self::Reject(_) | Self::Answer(_) | Self::Replan(_))
    }
}

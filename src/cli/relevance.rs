//! Which subcommands the chosen model matters to, and which the agents and settings of the workspace.

use super::{Cli, Subcommand};

impl Cli {
    /// Whether `--model` has an effect.
    pub(super) fn takes_model(&self) -> bool {
        self.subcommand.as_ref().is_none_or(|subcommand| subcommand.relevant().0)
    }
}

impl Subcommand {
    /// Whether cards and settings of the workspace matter to it, and it doesn't list them itself.
    pub(super) fn uses_settings(&self) -> bool {
        self.relevant().1
    }

    /// Whether the chosen model matters to it, and whether the workspace's cards and settings do.
    fn relevant(&self) -> (bool, bool) {
        match self {
            Self::Plan(_) | Self::Run(_) | Self::Validate(_) | Self::Resume(_) | Self::Approve(_) | Self::Reject(_) | Self::Answer(_) => {
                (true, true)
            }
            Self::Console(_)
            | Self::Models(_)
            | Self::Doctor(_)
            | Self::Release(_)
            | Self::Step(_)
            | Self::RunTo(_)
            | Self::Rerun(_)
            | Self::Retry(_)
            | Self::Rewind(_)
            | Self::Branch(_) => (true, false),
            Self::Tools(_) => (false, true),
            Self::Cancel(_)
            | Self::Stop(_)
            | Self::Pause(_)
            | Self::Hold(_)
            | Self::Break(_)
            | Self::Skip(_)
            | Self::Override(_)
            | Self::Guide(_)
            | Self::Edit(_)
            | Self::Undo(_)
            | Self::Replay(_)
            | Self::Export(_)
            | Self::Import(_)
            | Self::Diff(_)
            | Self::Ls(_)
            | Self::Prune(_)
            | Self::Show(_)
            | Self::Why(_)
            | Self::Trace(_)
            | Self::Agents(_)
            | Self::Trust(_)
            | Self::Schema(_)
            | Self::Completions(_)
            | Self::Man => (false, false),
        }
    }
}

//! Exit codes and the errors that carry them.

use crate::engine::{Outcome, StopSignal};
use std::process::ExitCode;

/// How the program ends. Scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Succeeded, or the plan is valid.
    Success,
    /// Something went wrong, or what the command line names does not exist.
    Error,
    /// The command line is wrong.
    Usage,
    Invalid,
    /// The run ended as partial; or two plans differ.
    Partial,
    Failed,
    Cancelled,
    /// The run waits at a gate that no flag decides.
    Undecided,
    /// The run was only rehearsed; or it needs a model, none is set up, and nothing ran.
    Rehearsed,
    /// A signal stopped the run, which can be resumed.
    Signalled(StopSignal),
}

impl Exit {
    pub fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Error => 1,
            Self::Usage => 2,
            Self::Invalid => 3,
            Self::Partial => 4,
            Self::Failed => 5,
            Self::Cancelled => 6,
            Self::Undecided => 7,
            Self::Rehearsed => 8,
            // The shell's custom for a program that a signal ended.
            Self::Signalled(signal) => 128 + signal.number(),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded => Self::Success,
            Outcome::Partial => Self::Partial,
            Outcome::Rehearsed => Self::Rehearsed,
            Outcome::Failed => Self::Failed,
            Outcome::Cancelled => Self::Cancelled,
        }
    }
}

/// Why a subcommand could not do its work: what is wrong and where, then what to do.
#[derive(Debug, thiserror::Error)]
#[error("error: {message}{}", hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default())]
pub struct CliError {
    pub exit: Exit,
    /// The cause; starts in lower case.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl CliError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { exit: Exit::Error, message: message.into(), hint: None }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message) }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self { exit: Exit::Invalid, ..Self::new(message) }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<crate::host::client::Problem> for CliError {
    fn from(problem: crate::host::client::Problem) -> Self {
        Self { exit: Exit::Error, message: problem.message, hint: problem.hint }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::new(format!("can't write the output: {error}"))
    }
}

impl From<crate::store::StoreError> for CliError {
    fn from(error: crate::store::StoreError) -> Self {
        Self { hint: error.hint().map(Into::into), ..Self::new(error.to_string()) }
    }
}

//! What every subcommand gets: where it works, with which model, and how to reach the journal and the host.

use super::{CliError, Common, log};
use crate::{
    engine::REHEARSAL,
    host::{Folders, LocalHost, Survey, config::Config},
    models::{local, providers::LOCAL_SERVER},
    store::Store,
};
use std::{future::Future, path::Path, time::Duration};

/// How long threads that still read files may take when everything else is done.
const FAREWELL: Duration = Duration::from_secs(1);

/// Runs a subcommand on a runtime of its own, which ends with it.
pub(super) fn block_on<T>(subcommand: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(format!("can't start the runtime: {error}")))?;
    let ended = runtime.block_on(subcommand);
    // A thread that reads a pipe nobody writes to must not keep the program open.
    runtime.shutdown_timeout(FAREWELL);
    Ok(ended)
}

/// A word as a POSIX shell reads it.
fn for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./~+=:@%,".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Where a subcommand works, and with which model.
pub struct CliContext {
    pub places: Folders,
    /// The model named on the command line, or by a variable.
    pub model: Option<String>,
    /// It is named on the command line: runs that are let go on ask it too.
    is_picked: bool,
    /// The folders as they were named on the command line, for subcommands that are shown; each after a blank.
    pub flags: String,
}

impl CliContext {
    pub(super) fn find(common: &Common) -> Result<Self, CliError> {
        let mut places = Folders::find(Some(common.workspace.clone()), common.home.clone())?;
        if common.trust {
            places.settings.clone_from(&places.workspace);
        }
        let named =
            [("--home", common.home.as_deref()), ("--workspace", Some(common.workspace.as_path()).filter(|path| *path != Path::new(".")))];
        let flag = |(flag, path): (&str, Option<&Path>)| path.map(|path| format!(" {flag} {}", for_shell(&path.to_string_lossy())));
        let flags = named.into_iter().filter_map(flag).collect();
        let (model, is_picked) = (common.model.clone().or_else(|| env("DAGDECK_MODEL")), common.model.is_some());
        Ok(Self { places, model, is_picked, flags })
    }

    /// The same where nothing is to change.
    pub(super) fn rehearsing(&self) -> Self {
        Self { places: self.places.clone(), model: Some(REHEARSAL.to_owned()), is_picked: false, flags: self.flags.clone() }
    }

    /// Whether files count that the person has not trusted, in this process.
    pub(super) fn trusts_once(&self) -> bool {
        self.places.settings == self.places.workspace
    }

    /// The model that was named on the command line.
    pub(super) fn picked(&self) -> Option<&str> {
        self.model.as_deref().filter(|_| self.is_picked)
    }

    /// The configuration of user and project.
    ///
    /// # Errors
    /// When a file is there and can't be used; names file and line.
    pub fn config(&self) -> Result<Config, CliError> {
        let (user, project) = self.places.config_files();
        Config::load(user.as_deref(), &project).map_err(|error| CliError::new(error.to_string()).hint(error.hint))
    }

    /// The journal, for reading.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn store(&self) -> Result<Store, CliError> {
        Store::open_to_look(&self.places.home).map_err(CliError::from)
    }

    /// The agents, tools and models to plan with; works without a journal.
    ///
    /// # Errors
    /// When the configuration can't be used.
    pub fn survey(&self) -> Result<Survey, CliError> {
        Ok(Survey::new(&self.places, self.config()?, self.model.as_deref(), &env)?)
    }

    /// A host in this process, and the log that it writes.
    ///
    /// # Errors
    /// When the configuration or the journal can't be used.
    pub fn host(&self) -> Result<LocalHost, CliError> {
        Ok(self.begun(LocalHost::open(self.places.clone(), self.config()?, self.model.as_deref(), env)?))
    }

    /// The same, also where the journal can only be read.
    ///
    /// # Errors
    /// When the configuration can't be used, or the journal can't be read.
    pub fn host_to_look(&self) -> Result<LocalHost, CliError> {
        Ok(self.begun(LocalHost::open_to_look(self.places.clone(), self.config()?, self.model.as_deref(), env)?))
    }

    fn begun(&self, host: LocalHost) -> LocalHost {
        if self.is_picked {
            host.pick();
        }
        log::start(&self.places.home, env("DAGDECK_LOG").as_deref());
        host
    }
}

/// Looks an environment variable up; an empty one counts as absent. A model's server on this machine is looked for where the variable
/// that would name it is not set.
pub(super) fn env(name: &str) -> Option<String> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    if name == LOCAL_SERVER { value.or_else(local::find) } else { value }
}

//! `Places`: the three folders that dagdeck uses: the workspace, the home (state), the user's configuration.

use super::{client::Problem, trust::Trust};
use etcetera::BaseStrategy;
use std::path::PathBuf;

/// Where dagdeck works and keeps things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// What tools see; absolute, symlinks resolved.
    pub workspace: PathBuf,
    /// Where cards and settings of the workspace are read: the folder with what a person trusted of them, or the workspace itself.
    pub settings: PathBuf,
    /// The journal and other state.
    pub home: PathBuf,
    /// `config.toml`, `agents/`, `themes/` of the user; `None` when the system names no such place.
    pub config: Option<PathBuf>,
}

impl Folders {
    /// Finds them: the workspace is `workspace` or here, the home is `home`, `$DAGDECK_HOME`, or the platform's folder for state.
    ///
    /// # Errors
    /// When the workspace is no folder, or no place for the home is known.
    pub fn find(workspace: Option<PathBuf>, home: Option<PathBuf>) -> Result<Self, Problem> {
        let wanted = workspace.unwrap_or_else(|| PathBuf::from("."));
        let workspace = wanted.canonicalize().map_err(|error| {
            Problem::new(format!("the workspace `{}` can't be used: {error}", wanted.display())).hint("choose a folder with --workspace")
        })?;
        if !workspace.is_dir() {
            return Err(
                Problem::new(format!("the workspace `{}` is not a folder", wanted.display())).hint("choose a folder with --workspace")
            );
        }
        let system = etcetera::choose_base_strategy().ok();
        let given = home.or_else(|| std::env::var_os("DAGDECK_HOME").filter(|home| !home.is_empty()).map(PathBuf::from));
        let home = given
            .or_else(|| system.as_ref().map(|system| system.state_dir().unwrap_or_else(|| system.data_dir()).join("dagdeck")))
            .ok_or_else(|| {
                Problem::new("there is no folder for the journal: the system has no home folder")
                    .hint("choose one with --home or DAGDECK_HOME")
            })?;
        let trust = Trust::of(&home, &workspace);
        Ok(Self { settings: trust.folder().to_owned(), workspace, home, config: system.map(|system| system.config_dir().join("dagdeck")) })
    }

    /// What was trusted in the workspace; `None` where everything counts.
    pub fn trust(&self) -> Option<Trust> {
        (self.settings != self.workspace).then(|| Trust::of(&self.home, &self.workspace))
    }

    /// What was trusted in the workspace, whether or not everything counts now.
    pub fn kept_trust(&self) -> Trust {
        Trust::of(&self.home, &self.workspace)
    }

    /// The configuration files, the user's first; the project's narrows it.
    pub fn config_files(&self) -> (Option<PathBuf>, PathBuf) {
        (self.config.as_ref().map(|folder| folder.join("config.toml")), self.settings.join(".dagdeck").join("config.toml"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_that_is_not_there_is_named_with_the_flag() {
        let problem = Folders::find(Some("/nowhere/at/all".into()), Some("/h".into())).unwrap_err();
        assert!(problem.message.contains("`/nowhere/at/all`"));
        assert!(problem.hint.unwrap().contains("--workspace"));
    }

    #[test]
    fn a_given_home_is_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let places = Folders::find(Some(folder.path().to_path_buf()), Some("/h".into())).unwrap();
        assert_eq!(places.home, PathBuf::from("/h"));
        assert_eq!(places.workspace, folder.path().canonicalize().unwrap());
    }
}

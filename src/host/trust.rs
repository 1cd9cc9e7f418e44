//! `Trust`: what a workspace brings for dagdeck itself (cards, settings, plan templates) counts only as a person trusted it. The trusted
//! content is kept as a copy in the user's state folder, and settings are read from there: what changes in the workspace counts for
//! nothing until somebody trusts it again.

use super::client::Problem;
use crate::agents::{AgentRegistry, Card};
use crate::files;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use similar::{ChangeTag, TextDiff};
use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// Where a workspace has its settings.
const FOLDER: &str = ".dagdeck";

/// What was trusted in one workspace.
#[derive(Clone, Debug)]
pub struct Trust {
    workspace: PathBuf,
    /// Copies of trusted files, each at its own path.
    kept: PathBuf,
}

/// A file that counts only if it is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustItem {
    /// Relative to the workspace.
    pub path: String,
    pub state: TrustState,
    /// What it would change, one line each.
    pub changes: Vec<String>,
    /// Its content as it was listed: this is what gets trusted.
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustState {
    Trusted,
    /// It was never trusted.
    New,
    /// Other content was trusted; that one counts.
    Changed,
}

impl TrustState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::New => "new",
            Self::Changed => "changed",
        }
    }
}

impl Trust {
    pub fn of(home: &Path, workspace: &Path) -> Self {
        let name: String =
            Sha256::digest(workspace.as_os_str().as_encoded_bytes())[..12].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { workspace: workspace.to_owned(), kept: home.join("trust").join(name) }
    }

    /// The folder where settings of the workspace are read.
    pub fn folder(&self) -> &Path {
        &self.kept
    }

    /// Removes the copies of files that are gone from the workspace, which count no longer.
    pub(super) fn forget_gone(&self) {
        for path in self.paths(&self.kept) {
            if fs::symlink_metadata(self.workspace.join(&path)).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                // A copy that stays is offered again.
                let _ = fs::remove_file(self.kept.join(&path));
            }
        }
    }

    /// The files of the workspace that need trust, as they are now.
    pub fn items(&self) -> Vec<TrustItem> {
        self.forget_gone();
        self.paths(&self.workspace).into_iter().map(|path| self.item(path)).collect()
    }

    /// Those that don't count as they are, as problems.
    pub fn left_out(&self) -> Vec<Problem> {
        let problem = |item: TrustItem| {
            let TrustItem { path, state, .. } = item;
            let message = match state {
                TrustState::Trusted => return None,
                TrustState::New => format!("`{path}` is not trusted, so it is left out"),
                TrustState::Changed => format!("`{path}` changed since it was trusted, so its trusted content stays in use"),
            };
            Some(
                Problem::new(message)
                    .hint("look at it with `dagdeck trust`; `dagdeck trust FILE` trusts it, `--trust` uses it for this run"),
            )
        };
        self.items().into_iter().filter_map(problem).collect()
    }

    /// Trusts a file as it was listed.
    ///
    /// # Errors
    /// When there is no such file, or the copy can't be written.
    pub fn record(&self, item: &TrustItem) -> Result<(), Problem> {
        if !self.paths(&self.workspace).contains(&item.path) {
            return Err(Problem::new(format!("`{}` is no file that needs trust", item.path)));
        }
        let to = self.kept.join(&item.path);
        let write = || {
            DirBuilder::new().recursive(true).mode(0o700).create(to.parent().unwrap_or(&self.kept))?;
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&to)?.write_all(item.text.as_bytes())
        };
        write().map_err(|error: io::Error| Problem::new(format!("`{}` can't be written: {error}", to.display())))
    }

    /// Paths of files under a root that dagdeck would read, sorted.
    fn paths(&self, root: &Path) -> Vec<String> {
        let in_folder = |folder: &str| {
            let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
            let names = entries.filter(|entry| !entry.path().is_dir()).filter_map(|entry| entry.file_name().into_string().ok());
            let shown = names.filter(|name| !name.starts_with('.'));
            let mut paths: Vec<String> = shown.map(|name| format!("{folder}/{name}")).collect();
            paths.sort();
            paths
        };
        let config = format!("{FOLDER}/config.toml");
        let config = fs::symlink_metadata(root.join(&config)).is_ok().then_some(config);
        config.into_iter().chain(in_folder(&format!("{FOLDER}/agents"))).chain(in_folder(&format!("{FOLDER}/plans"))).collect()
    }

    fn item(&self, path: String) -> TrustItem {
        let kept = files::read_text(&self.kept.join(&path), files::DOCUMENT).ok();
        let text = match files::read_text(&self.workspace.join(&path), files::DOCUMENT) {
            Ok(text) => text,
            Err(error) => {
                return TrustItem { path, state: TrustState::New, changes: vec![format!("can't be read: {error}")], text: String::new() };
            }
        };
        let (state, changes) = match kept {
            Some(kept) if kept == text => (TrustState::Trusted, Vec::new()),
            Some(kept) => (TrustState::Changed, difference(&kept, &text)),
            None => (TrustState::New, Vec::new()),
        };
        let changes = meaning(&path, &text).into_iter().chain(changes).collect();
        TrustItem { path, state, changes, text }
    }
}

/// What a file would change, by its kind.
fn meaning(path: &str, text: &str) -> Vec<String> {
    if path.ends_with("config.toml") {
        return match text.parse::<toml::Table>() {
            Ok(table) => settings("", &toml::Value::Table(table)),
            Err(_) => vec!["is no configuration file".to_owned()],
        };
    }
    if !path.ends_with(".md") {
        return vec!["is a plan that requests may be answered with".to_owned()];
    }
    let Ok(card) = Card::parse(text, path, "project") else { return vec!["is no card that can be read".to_owned()] };
    let shipped = AgentRegistry::shipped().cards();
    let tools = |card: &Card| if card.tools.is_empty() { "no tools".to_owned() } else { format!("the tools {}", card.tools.join(", ")) };
    vec![match shipped.get(&card.name) {
        Some(own) => format!("replaces the shipped agent `{}`: it gets {} in place of {}", card.name, tools(&card), tools(own)),
        None => format!("adds the agent `{}` with {}", card.name, tools(&card)),
    }]
}

/// The settings of a table, one line each.
fn settings(path: &str, value: &toml::Value) -> Vec<String> {
    let toml::Value::Table(table) = value else { return vec![format!("sets `{path}` to {value}")] };
    let inner = |name: &String| if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
    table.iter().flat_map(|(name, value)| settings(&inner(name), value)).collect()
}

fn difference(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    let line = |change: similar::Change<&str>| match change.tag() {
        ChangeTag::Equal => None,
        ChangeTag::Delete => Some(format!("- {}", change.value().trim_end())),
        ChangeTag::Insert => Some(format!("+ {}", change.value().trim_end())),
    };
    diff.iter_all_changes().filter_map(line).collect()
}

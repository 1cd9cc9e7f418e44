//! `Trust`: what a workspace brings for dagdeck itself (cards, settings, plan templates) counts only as a person trusted it. The trusted
//! content is kept as a copy in the user's state folder, and settings are read from there: what changes in the workspace counts for
//! nothing until somebody trusts it again.

use super::{
    client::Problem,
    config::{SettingOwner, check_project},
    kept_rules::KeptRules,
    permission_log::{NamedPermission, PermissionLog},
};
use crate::agents::{AgentRegistry, Card};
use crate::files;
use crate::store::{LastingPermission, PermissionTurn};
use crate::text::hex;
use crate::tools::mcp::{MCP_FILE, McpEntry, NamedFiles};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use similar::{ChangeTag, TextDiff};
use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Where a workspace has its settings.
const FOLDER: &str = ".dagdeck";

/// Where the files are kept that commands of trusted MCP servers name, with their hashes.
const NAMED: &str = "mcp-files.json";

/// Where the hosts are kept that a person allowed, one a line.
const HOSTS: &str = "hosts";

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
    /// Its content as it was listed: this is what gets trusted. Absent where it can't be read or used.
    text: Option<String>,
    /// The workspace's files that its commands name, as they were when it was listed.
    #[serde(default)]
    named: NamedFiles,
}

impl TrustItem {
    /// Whether something in the workspace can count: what can't be read or used is left out, trusted or not.
    pub fn is_usable(&self) -> bool {
        self.text.is_some() || self.state == TrustState::Removed
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum TrustState {
    Trusted,
    /// It was never trusted.
    New,
    /// Other content was trusted; that one counts.
    Changed,
    /// It is gone; what was trusted of it counts until the person trusts its absence.
    Removed,
}

impl TrustState {
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl Trust {
    pub fn of(home: &Path, workspace: &Path) -> Self {
        let name = hex(&Sha256::digest(workspace.as_os_str().as_encoded_bytes())[..12]);
        Self { workspace: workspace.to_owned(), kept: home.join("trust").join(name) }
    }

    /// The folder where settings of the workspace are read.
    pub fn folder(&self) -> &Path {
        &self.kept
    }

    /// The files of the workspace that need trust, as they are now.
    pub fn items(&self) -> Vec<TrustItem> {
        let paths: BTreeSet<String> = self.paths(&self.workspace).into_iter().chain(self.paths(&self.kept)).collect();
        paths.into_iter().map(|path| self.item(path)).collect()
    }

    /// Those that don't count as they are, as problems.
    pub fn left_out(&self) -> Vec<Problem> {
        let problem = |item: TrustItem| {
            let TrustItem { path, state, .. } = item;
            let message = match state {
                TrustState::Trusted => return None,
                TrustState::New => format!("`{path}` is not trusted, so it is not used"),
                TrustState::Changed if self.has_kept_text(&path) => {
                    format!("a file that `{path}` names changed since it was trusted, so its server is not started")
                }
                TrustState::Changed => format!("`{path}` changed since it was trusted, so its trusted content stays in use"),
                TrustState::Removed => format!("`{path}` is gone, but its trusted content stays in use"),
            };
            Some(
                Problem::new(message)
                    .hint("look at it with `dagdeck trust`; `dagdeck trust FILE` trusts it, `--trust` uses it for this run"),
            )
        };
        self.items().into_iter().filter_map(problem).collect()
    }

    /// Trusts a file as it was listed, once that is on record; of one that is gone, that it is gone.
    ///
    /// # Errors
    /// When it can't be trusted, or the record or the copy can't be written.
    pub fn record(&self, item: &TrustItem, log: &PermissionLog<'_>) -> Result<(), Problem> {
        if item.state == TrustState::Removed {
            return self.revoke(&item.path, log);
        }
        self.may_record(item)?;
        let sha256 = item.text.as_ref().map(|text| hex(&Sha256::digest(text)));
        let permission = LastingPermission::File { path: item.path.clone(), sha256 };
        log.write(&self.workspace, PermissionTurn::Given, NamedPermission::alone(permission, item.changes.join("; ")))?;
        if item.path == MCP_FILE {
            self.write(NAMED, &serde_json::to_string(&item.named).unwrap_or_default())?;
        }
        item.text.as_ref().map_or(Ok(()), |text| self.write(&item.path, text))
    }

    /// Whether a file can be trusted as it was listed.
    ///
    /// # Errors
    /// When there is no such file, or it can't be used.
    pub fn may_record(&self, item: &TrustItem) -> Result<(), Problem> {
        if item.state == TrustState::Removed || item.text.is_some() && self.paths(&self.workspace).contains(&item.path) {
            return Ok(());
        }
        if item.text.is_some() {
            return Err(Problem::new(format!("`{}` is not a file that needs trust", item.path)));
        }
        let why = item.changes.first().map_or("it can't be read", String::as_str);
        Err(Problem::new(format!("`{}` can't be trusted: {why}", item.path)).hint("`dagdeck trust` lists everything in it"))
    }

    /// What a person saved from inside dagdeck is trusted by that act, where it needs trust at all.
    ///
    /// # Errors
    /// When the copy can't be written.
    pub fn saved(&self, file: &Path, log: &PermissionLog<'_>) -> Result<(), Problem> {
        let file = file.canonicalize().ok();
        let path = file.as_ref().and_then(|file| file.strip_prefix(&self.workspace).ok()).and_then(Path::to_str);
        match path.filter(|path| self.paths(&self.workspace).iter().any(|known| known == path)) {
            Some(path) => self.record(&self.item(path.to_owned()), log),
            None => Ok(()),
        }
    }

    /// What was trusted of a file, or a host that was allowed, counts no longer.
    ///
    /// # Errors
    /// When there is no such file or host, or the folder can't be written.
    pub fn revoke(&self, name: &str, log: &PermissionLog<'_>) -> Result<(), Problem> {
        let ended = |permission| -> Result<(), Problem> {
            Ok(log.write(&self.workspace, PermissionTurn::Ended, NamedPermission::alone(permission, String::new()))?)
        };
        let mut hosts = self.hosts();
        if let Some(at) = hosts.iter().position(|host| host == name) {
            hosts.remove(at);
            self.write(HOSTS, &hosts.join("\n"))?;
            return ended(LastingPermission::Host(name.to_owned()));
        }
        let kept = self.kept.join(name);
        if !self.paths(&self.kept).iter().any(|path| path == name) {
            return Err(Problem::new(format!("`{name}` is neither a trusted file nor an allowed host")).hint("`dagdeck trust` lists them"));
        }
        fs::remove_file(&kept).map_err(|error| Problem::new(format!("`{}` can't be removed: {error}", kept.display())))?;
        ended(LastingPermission::File { path: name.to_owned(), sha256: None })
    }

    /// The trusted file of MCP servers, with the files that its commands name as they were trusted.
    pub(super) fn kept_servers(&self) -> Option<(String, NamedFiles)> {
        let text = files::read_text(&self.kept.join(MCP_FILE), files::DOCUMENT).ok()?;
        Some((text, self.kept_named()))
    }

    fn kept_named(&self) -> NamedFiles {
        let kept = files::read_text(&self.kept.join(NAMED), files::DOCUMENT).unwrap_or_default();
        serde_json::from_str(&kept).unwrap_or_default()
    }

    /// Whether a file of the workspace is as it was trusted, whatever it names.
    fn has_kept_text(&self, path: &str) -> bool {
        let read = |root: &Path| files::read_text(&root.join(path), files::DOCUMENT).ok();
        read(&self.workspace).is_some_and(|text| read(&self.kept) == Some(text))
    }

    /// What people said at gates for more than one call.
    pub fn rules(&self) -> KeptRules {
        KeptRules::new(self.kept.clone(), self.workspace.clone())
    }

    /// Hosts with ports that private data of this workspace may be sent to.
    pub fn hosts(&self) -> Vec<String> {
        let kept = files::read_text(&self.kept.join(HOSTS), files::DOCUMENT).unwrap_or_default();
        kept.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// Lets private data of this workspace be sent to a host from now on, once that is on record.
    ///
    /// # Errors
    /// When it is not a host with a port, or the record or the list can't be written.
    pub fn allow_host(&self, host: &str, log: &PermissionLog<'_>) -> Result<(), Problem> {
        let is_name = |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || "/*?@".contains(c));
        let is_server = host.strip_prefix("mcp:").is_some_and(is_name);
        let parts = host.rsplit_once(':').filter(|(name, port)| is_name(name) && port.parse::<u16>().is_ok());
        if parts.is_none() && !is_server {
            let problem = Problem::new(format!("`{}` is not a host with a port", host.escape_debug()));
            return Err(
                problem.hint("write it as in `--host example.com:443`; a pattern is not allowed, because the permission is permanent")
            );
        }
        let permission = LastingPermission::Host(host.to_owned());
        log.write(&self.workspace, PermissionTurn::Given, NamedPermission::alone(permission, String::new()))?;
        let hosts: BTreeSet<String> = self.hosts().into_iter().chain([host.to_owned()]).collect();
        self.write(HOSTS, &hosts.into_iter().collect::<Vec<_>>().join("\n"))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Problem> {
        let to = self.kept.join(path);
        let write = || {
            files::private_folder(to.parent().unwrap_or(&self.kept))?;
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&to)?.write_all(text.as_bytes())
        };
        write().map_err(|error: io::Error| Problem::new(format!("`{}` can't be written: {error}", to.display())))
    }

    /// Paths of files under a root that dagdeck would read, sorted.
    fn paths(&self, root: &Path) -> Vec<String> {
        let in_folder = |folder: &str, ending: &str| {
            let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
            let names = entries.filter(|entry| !entry.path().is_dir()).filter_map(|entry| entry.file_name().into_string().ok());
            let shown = names.filter(|name| !name.starts_with('.') && name.ends_with(ending));
            let mut paths: Vec<String> = shown.map(|name| format!("{folder}/{name}")).collect();
            paths.sort();
            paths
        };
        let config = format!("{FOLDER}/config.toml");
        let top = [config, MCP_FILE.to_owned()].into_iter().filter(|file| fs::symlink_metadata(root.join(file)).is_ok());
        top.chain(in_folder(&format!("{FOLDER}/agents"), ".md")).chain(in_folder(&format!("{FOLDER}/plans"), ".toml")).collect()
    }

    fn item(&self, path: String) -> TrustItem {
        let kept = files::read_text(&self.kept.join(&path), files::DOCUMENT).ok();
        let text = match files::read_text(&self.workspace.join(&path), files::DOCUMENT) {
            Ok(text) => text,
            Err(error) if kept.is_some() && error.kind() == io::ErrorKind::NotFound => {
                let changes = meaning(&path, &kept.unwrap_or_default()).into_iter().map(|change| format!("no longer {change}")).collect();
                return TrustItem { path, state: TrustState::Removed, changes, text: None, named: NamedFiles::default() };
            }
            Err(error) => {
                let state = if kept.is_some() { TrustState::Changed } else { TrustState::New };
                return TrustItem {
                    path,
                    state,
                    changes: vec![format!("can't be read: {error}")],
                    text: None,
                    named: NamedFiles::default(),
                };
            }
        };
        let named = if path == MCP_FILE { NamedFiles::of_text(&self.workspace, &text) } else { NamedFiles::default() };
        let renamed = if path == MCP_FILE { named.changed_since(&self.kept_named()) } else { Vec::new() };
        let (state, changes) = match kept {
            Some(kept) if kept == text && !renamed.is_empty() => {
                (TrustState::Changed, renamed.iter().map(|file| format!("`{file}`, which it names, changed")).collect())
            }
            Some(kept) if kept == text => (TrustState::Trusted, Vec::new()),
            Some(kept) => (TrustState::Changed, difference(&kept, &text)),
            None => (TrustState::New, Vec::new()),
        };
        let faults = faults(&path, &text);
        let is_usable = faults.is_empty();
        let would = |change: String| if is_usable { change } else { format!("besides, it {change}") };
        let means: Vec<String> = meaning(&path, &text).into_iter().map(would).collect();
        let changes = faults.into_iter().chain(means).chain(changes).collect();
        TrustItem { path, state, changes, text: is_usable.then_some(text), named }
    }
}

/// Why a file can't be used at all: settings that a project may not have would only stop dagdeck.
fn faults(path: &str, text: &str) -> Vec<String> {
    if path == MCP_FILE {
        return McpEntry::read(text).err().iter().map(ToString::to_string).collect();
    }
    if path.ends_with(".md") {
        return Card::parse(text, path, "project").err().iter().map(ToString::to_string).collect();
    }
    if !path.ends_with("config.toml") {
        return Vec::new();
    }
    check_project(Path::new(path), text).iter().map(ToString::to_string).collect()
}

/// What a file would change, by its kind.
fn meaning(path: &str, text: &str) -> Vec<String> {
    if path == MCP_FILE {
        return McpEntry::read(text).unwrap_or_default().iter().flat_map(McpEntry::meaning).collect();
    }
    if path.ends_with("config.toml") {
        return match text.parse::<toml::Table>() {
            Ok(table) => settings(&[], &toml::Value::Table(table)),
            // The fault says it.
            Err(_) => Vec::new(),
        };
    }
    if !path.ends_with(".md") {
        return vec!["plan template: requests may be planned with it".to_owned()];
    }
    // The fault says it.
    let Ok(card) = Card::parse(text, path, "project") else { return Vec::new() };
    let shipped = AgentRegistry::shipped().cards();
    let tools = |card: &Card| if card.tools.is_empty() { "no tools".to_owned() } else { format!("the tools {}", card.tools.join(", ")) };
    let place = card.service.as_ref().map(|service| {
        let token = service.token_env.as_ref().map(|name| format!(" with the value of {name}")).unwrap_or_default();
        format!("sends what the agent `{}` gets to {}{token}", card.name, service.url)
    });
    let agent = match shipped.get(&card.name) {
        Some(own) => format!("replaces the shipped agent `{}`: it gets {} in place of {}", card.name, tools(&card), tools(own)),
        None => format!("adds the agent `{}` with {}", card.name, tools(&card)),
    };
    [agent].into_iter().chain(place).collect()
}

/// The settings of a table that a project may have, one line each.
fn settings(path: &[&str], value: &toml::Value) -> Vec<String> {
    if let toml::Value::Table(table) = value {
        return table.iter().flat_map(|(name, value)| settings(&[path, &[name.as_str()]].concat(), value)).collect();
    }
    if SettingOwner::of(path) != SettingOwner::Project {
        return Vec::new();
    }
    let widens = path.first() == Some(&"permissions") && value.as_str() == Some("allow");
    let note = if widens { ", which allows nothing: a project can only restrict" } else { "" };
    vec![format!("sets `{}` to {value}{note}", path.join("."))]
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

//! `Config`: what `config.toml` says, the user's with the project's over it.
//!
//! A project's file comes with whatever was cloned, so it may choose looks and models' names and narrow what is allowed; it can't
//! allow more, run a command, change what a key does, or say where keys and prompts go.

use super::cache_config::CacheConfig;
use crate::files;
use crate::models::config::ModelsConfig;
use crate::plan::{
    Verdict, WrittenBudget,
    limits::{AgentLimits, MOST_ITERATIONS, SLOTS, WARN_USD},
    validate::nearest,
};
use crate::tools::{Permission, PermissionConfig, ToolsConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::LazyLock,
};
use toml::{Table, Value};

/// Largest file in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Default, Deserialize)]
struct ProjectSettings {
    may_set: Vec<String>,
}

/// What a project's file may set, from `project.toml`. It may set nothing where that can't be read; a test reads it.
static PROJECT: LazyLock<ProjectSettings> = LazyLock::new(|| toml::from_str(include_str!("project.toml")).unwrap_or_default());

/// Whose file may have a setting, or a table of settings.
#[derive(PartialEq, Eq)]
pub(super) enum SettingOwner {
    Project,
    /// The project may have some settings of the table.
    Mixed,
    User,
}

impl SettingOwner {
    pub fn of(path: &[&str]) -> Self {
        let path = format!("{}.", path.join("."));
        let mut allowed = PROJECT.may_set.iter().map(|setting| format!("{setting}."));
        if allowed.clone().any(|setting| path.starts_with(&setting)) {
            Self::Project
        } else if allowed.any(|setting| setting.starts_with(&path)) {
            Self::Mixed
        } else {
            Self::User
        }
    }
}

/// Everything that can be configured. Absent settings have working defaults; unknown ones are errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub models: ModelsConfig,
    pub permissions: PermissionConfig,
    pub tools: ToolsConfig,
    pub limits: LimitsConfig,
    pub cache: CacheConfig,
    pub console: ConsoleConfig,
}

/// How the console looks, and its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsoleConfig {
    /// Name or file of a theme. Without it: the terminal's own colours.
    pub theme: Option<String>,
    /// Draw with ASCII characters only.
    pub ascii: bool,
    /// Change the screen only when something happens: times of what runs don't count up by themselves.
    pub reduced_motion: bool,
    /// Take clicks, which select, and the wheel, which scrolls. Selecting text then needs the terminal's own key for it, often shift.
    pub mouse: bool,
    /// Key or keys of a command, in place of its usual ones; an empty list removes them. `?` in the console lists the commands.
    pub keys: BTreeMap<String, Keys>,
}

/// Keys of one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Keys {
    One(String),
    Several(Vec<String>),
}

impl Keys {
    /// The keys as a list.
    pub fn list(self) -> Vec<String> {
        match self {
            Self::One(key) => vec![key],
            Self::Several(keys) => keys,
        }
    }
}

/// How much runs at once, and the limits of agents whose plan and card say nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Nodes of one run that work at the same time.
    pub slots: u32,
    /// Most tokens of earlier results in an agent's prompt; never more than 15 % of the node's own limit, else 40 % of the model's window.
    pub context_tokens: Option<u64>,
    /// Seconds that an agent works, without what it waits for.
    pub timeout_s: f64,
    /// Tokens that an agent's model writes. A node's or card's own limit counts prompts too.
    pub tokens: u64,
    /// Turns of an agent, 1 to 20.
    pub iterations: u32,
    /// What all your runs together may take in a calendar day of local time: `$5`, `2M tokens`, `500 calls`, or several of these with commas between.
    pub day: Option<WrittenBudget>,
    /// US dollars from which on a run warns once of what it costs.
    pub warn_usd: f64,
}

impl LimitsConfig {
    /// The limits of an agent whose plan and card say nothing.
    pub fn agents(&self) -> AgentLimits {
        AgentLimits { timeout_s: self.timeout_s, tokens: self.tokens, iterations: self.iterations }
    }

    /// The setting that can't be, and what it may be.
    fn fault(&self) -> Option<(&'static str, String)> {
        if !(self.timeout_s.is_finite() && self.timeout_s > 0.0) {
            return Some(("timeout_s", format!("{} is no time: write seconds above 0", self.timeout_s)));
        }
        if self.tokens == 0 {
            return Some(("tokens", "an agent needs some tokens: write a number above 0".to_owned()));
        }
        if self.day.as_ref().is_some_and(|day| day.0.seconds.is_some()) {
            return Some(("day", "a day is capped in money, tokens and calls, not in time".to_owned()));
        }
        if !(self.warn_usd.is_finite() && self.warn_usd > 0.0) {
            return Some(("warn_usd", format!("{} is no amount: write US dollars above 0", self.warn_usd)));
        }
        let iterations = 1..=MOST_ITERATIONS;
        (!iterations.contains(&self.iterations)).then(|| ("iterations", format!("write a number from 1 to {MOST_ITERATIONS}")))
    }
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let AgentLimits { timeout_s, tokens, iterations } = AgentLimits::default();
        Self { slots: SLOTS, context_tokens: None, timeout_s, tokens, iterations, day: None, warn_usd: WARN_USD }
    }
}

/// A file that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {message}", file.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ConfigError {
    pub file: PathBuf,
    /// From 1.
    pub line: Option<usize>,
    pub message: String,
    pub hint: String,
}

impl Config {
    /// Reads the user's file, if there is one, and the project's over it, if there is one.
    ///
    /// # Errors
    /// The first thing that is wrong, with file and line.
    pub fn load(user: Option<&Path>, project: &Path) -> Result<Self, ConfigError> {
        let folder = user.and_then(Path::parent);
        let user = user.map(read).transpose()?.flatten();
        let project = read(project)?;
        if let Some(fault) = project.as_ref().and_then(|source| project_faults(source).into_iter().next()) {
            return Err(fault);
        }
        let parsed = |source: &Option<ConfigFile>| source.as_ref().map(ConfigFile::config).transpose();
        let (user_config, project_config) = (parsed(&user)?.unwrap_or_default(), parsed(&project)?);
        let Some((over, narrower)) = project.zip(project_config) else { return Ok(user_config.settled(folder)) };
        let mut table = user.map(|source| source.table).unwrap_or_default();
        merge(&mut table, over.table.clone());
        let mut config: Self = Value::Table(table).try_into().map_err(|error: toml::de::Error| over.fault(&error))?;
        config.permissions = narrowed(user_config.permissions, &narrower.permissions, &over.table);
        Ok(config.settled(folder))
    }

    /// `[permissions]` is a table of its own; the tools take it with the rest of their settings. Files of keys are named from the folder
    /// of the user's file.
    fn settled(mut self, folder: Option<&Path>) -> Self {
        self.tools.permissions = self.permissions.clone();
        if let Some(folder) = folder {
            for file in self.models.providers.values_mut().filter_map(|provider| provider.api_key_file.as_mut()) {
                *file = folder.join(&*file).to_string_lossy().into_owned();
            }
        }
        self
    }
}

/// One file as read.
struct ConfigFile {
    file: PathBuf,
    text: String,
    table: Table,
}

impl ConfigFile {
    fn config(&self) -> Result<Config, ConfigError> {
        let config: Config = toml::from_str(&self.text).map_err(|error| self.fault(&error))?;
        if let Err(error) = Permission::new(&config.permissions) {
            let hint = "fix the list; docs/tools.md says what rules can be about".to_owned();
            return Err(ConfigError { file: self.file.clone(), line: self.line_of("permissions"), message: error.to_string(), hint });
        }
        let faults = [("limits", config.limits.fault()), ("cache", config.cache.fault())];
        let found = faults.into_iter().find_map(|(table, fault)| fault.map(|(setting, why)| (table, setting, why)));
        let Some((table, setting, why)) = found else { return Ok(config) };
        let line = self.text.lines().position(|line| line.trim_start().starts_with(setting)).map(|index| index + 1);
        let hint = "fix the line, or remove it to get the default".to_owned();
        Err(ConfigError { file: self.file.clone(), line, message: format!("`{setting}` of [{table}]: {why}"), hint })
    }

    fn fault(&self, error: &toml::de::Error) -> ConfigError {
        fault(&self.file, &self.text, error)
    }

    /// The first line with a name.
    fn line_of(&self, name: &str) -> Option<usize> {
        self.text.lines().position(|line| line.contains(name)).map(|index| index + 1)
    }
}

fn read(file: &Path) -> Result<Option<ConfigFile>, ConfigError> {
    let unreadable = |cause: String| ConfigError {
        file: file.to_path_buf(),
        line: None,
        message: format!("the file can't be read: {cause}"),
        hint: "check the file's permissions, or remove it".into(),
    };
    let text = match files::read_text(file, MAX_BYTES) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let table = toml::from_str(&text).map_err(|error| fault(file, &text, &error))?;
    Ok(Some(ConfigFile { file: file.to_path_buf(), text, table }))
}

fn fault(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let start = error.span().map(|span| span.start.min(text.len()));
    let line = start.and_then(|start| text.get(..start)).map(|before| before.matches('\n').count() + 1);
    let setting = line.and_then(|line| text.lines().nth(line - 1)).and_then(|line| line.split_once('=')).map(|(setting, _)| setting.trim());
    let cause = error.message().trim_end().replace('\n', ", ");
    let of_setting = || setting.map_or_else(|| cause.clone(), |setting| format!("`{}`: {cause}", setting.escape_debug()));
    let (message, hint) = unknown_setting(&cause).unwrap_or_else(|| {
        (of_setting(), "fix the line, or remove it to get the default; docs/configuration.md lists all settings".into())
    });
    ConfigError { file: file.to_path_buf(), line, message, hint }
}

/// What the reader's complaint of an unknown setting says to people: "unknown field `them`, expected one of `theme`, `ascii`".
fn unknown_setting(cause: &str) -> Option<(String, String)> {
    let mut quoted = cause.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let hint = match nearest(unknown, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the settings here are: {}", known.join(", ")),
    };
    Some((format!("there is no setting `{}` here", unknown.escape_debug()), hint))
}

/// Everything that keeps a text from being the settings of a project, each with its line.
pub(super) fn check_project(file: &Path, text: &str) -> Vec<ConfigError> {
    match toml::from_str(text) {
        Ok(table) => project_faults(&ConfigFile { file: file.to_path_buf(), text: text.to_owned(), table }),
        Err(error) => vec![fault(file, text, &error)],
    }
}

fn project_faults(source: &ConfigFile) -> Vec<ConfigError> {
    // A setting that doesn't exist has words of its own.
    let unknown = source.config().err();
    let refused = user_only(&source.table, &[]).into_iter().map(|(setting, value)| ConfigError {
        file: source.file.clone(),
        line: source.line_of(setting.last().copied().unwrap_or_default()),
        message: format!("a project can't set `{}` (to {})", setting.join("."), brief(value)),
        hint: "move it to your own configuration file; a project can only restrict what is allowed".into(),
    });
    unknown.into_iter().chain(theme_file(source)).chain(refused).collect()
}

/// The settings of a table that only the user's own file may have.
fn user_only<'t>(table: &'t Table, path: &[&'t str]) -> Vec<(Vec<&'t str>, &'t Value)> {
    let refused = table.iter().flat_map(|(name, value)| {
        let path = [path, &[name.as_str()]].concat();
        match (SettingOwner::of(&path), value) {
            (SettingOwner::Project, _) => Vec::new(),
            (SettingOwner::Mixed, Value::Table(inner)) => user_only(inner, &path),
            // What is no table has words of its own.
            (SettingOwner::Mixed, _) => Vec::new(),
            (SettingOwner::User, _) => vec![(path, value)],
        }
    });
    refused.collect()
}

/// A value in one line.
fn brief(value: &Value) -> String {
    match value {
        Value::Table(table) => {
            let entries = table.iter().map(|(name, value)| format!("{name} = {}", brief(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

/// A theme decides what can be read on the screen, a question too. A project may name one of the person's themes; a file of its own could
/// change after somebody trusted the settings.
fn theme_file(source: &ConfigFile) -> Option<ConfigError> {
    let theme = source.table.get("console").and_then(|console| console.get("theme")).and_then(Value::as_str);
    theme.filter(|theme| is_file(theme)).map(|theme| ConfigError {
        file: source.file.clone(),
        line: source.line_of("theme"),
        message: format!("a project can't set `console.theme` to the file `{}`", theme.escape_debug()),
        hint: "name a theme, as in `theme = \"dark\"`; your own configuration file may name any file".into(),
    })
}

fn is_file(theme: &str) -> bool {
    theme.contains('/') || theme.ends_with(".toml")
}

fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(more)) => merge(inner, more),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// The stricter of both, for what the project's file says at all.
fn narrowed(user: PermissionConfig, project: &PermissionConfig, project_table: &Table) -> PermissionConfig {
    let permissions = project_table.get("permissions").and_then(Value::as_table);
    let stricter = |key: &str, own: Verdict, other: Verdict| {
        if permissions.is_some_and(|table| table.contains_key(key)) { own.max(other) } else { own }
    };
    PermissionConfig {
        read: stricter("read", user.read, project.read),
        network: stricter("network", user.network, project.network),
        write: stricter("write", user.write, project.write),
        execute: stricter("execute", user.execute, project.execute),
        allow: user.allow,
        ask: [user.ask, project.ask.clone()].concat(),
        deny: [user.deny, project.deny.clone()].concat(),
        rules: user.rules,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn load(user: &str, project: &str) -> Result<Config, ConfigError> {
        let folder = TempDir::new().unwrap();
        let (own, theirs) = (folder.path().join("user.toml"), folder.path().join("project.toml"));
        std::fs::write(&own, user).unwrap();
        std::fs::write(&theirs, project).unwrap();
        Config::load(Some(&own), &theirs)
    }

    #[test]
    fn without_files_the_defaults_hold() {
        let folder = TempDir::new().unwrap();
        let config = Config::load(None, &folder.path().join("none.toml")).unwrap();
        assert_eq!(config, Config::default());
        assert_eq!(config.limits.slots, 16);
    }

    #[test]
    fn the_projects_file_goes_over_the_users_key_by_key() {
        let config = load("[console]\ntheme = \"dark\"\nascii = true\n[limits]\nslots = 4", "[console]\ntheme = \"light\"").unwrap();
        assert_eq!((config.console.theme.as_deref(), config.console.ascii, config.limits.slots), (Some("light"), true, 4));
    }

    #[test]
    fn limits_of_agents_are_taken_as_far_as_they_can_be() {
        let limits = load("[limits]\ntimeout_s = 300\niterations = 8", "").unwrap().limits.agents();
        assert_eq!(limits, AgentLimits { timeout_s: 300.0, iterations: 8, ..AgentLimits::default() });
        for (text, setting) in
            [("timeout_s = 0", "timeout_s"), ("timeout_s = nan", "timeout_s"), ("iterations = 21", "iterations"), ("tokens = 0", "tokens")]
        {
            let error = load(&format!("[limits]\n{text}"), "").unwrap_err();
            assert!(error.line == Some(2) && error.message.starts_with(&format!("`{setting}` of [limits]")), "{error}");
        }
    }

    #[test]
    fn a_fault_names_file_line_and_key() {
        let error = load("[limits]\nslots = \"many\"\n", "").unwrap_err();
        assert_eq!((error.line, error.message.starts_with("`slots`: ")), (Some(2), true), "{error}");
        let error = load("", "\n[console]\nthem = \"x\"\n").unwrap_err();
        assert!(error.file.ends_with("project.toml") && error.line == Some(3) && error.message.contains("`them`"), "{error}");
        assert_eq!(error.hint, "did you mean `theme`?");
        assert!(load("[limits]\nqqq = 1", "").unwrap_err().hint.starts_with("the settings here are: slots, "));
        let error = load("[limits\n", "").unwrap_err();
        assert_eq!(error.line, Some(1), "{error}");
    }

    #[test]
    fn a_file_of_a_key_is_named_from_the_folder_of_the_users_file() {
        let config =
            load("[models.providers.openai]\napi_key_file = \"keys/openai\"\n[models.providers.x]\napi_key_file = \"/k\"", "").unwrap();
        let file = |name: &str| config.models.providers[name].api_key_file.clone().unwrap();
        assert!(Path::new(&file("openai")).is_absolute() && file("openai").ends_with("/keys/openai"));
        assert_eq!(file("x"), "/k");
    }

    #[test]
    fn a_project_can_narrow_permissions_and_never_widen_them() {
        let config = load(
            "[permissions]\nnetwork = \"ask\"\nallow = [\"write_file\"]",
            "[permissions]\nnetwork = \"allow\"\nwrite = \"deny\"\ndeny = [\"run_*\"]",
        )
        .unwrap();
        let permissions = config.tools.permissions;
        assert_eq!((permissions.network, permissions.write), (Verdict::Ask, Verdict::Deny));
        assert_eq!((permissions.allow, permissions.deny), (vec!["write_file".to_owned()], vec!["run_*".to_owned()]));
    }

    #[test]
    fn a_project_can_not_run_commands_or_say_where_keys_go() {
        for text in [
            "[models]\napi_key_command = \"x\"",
            "[models]\nbase_url = \"http://x\"",
            "[models]\nproviders.x.base_url = \"http://x\"",
            "[permissions]\nallow = [\"*\"]",
        ] {
            let error = load("", text).unwrap_err();
            assert_eq!(error.line, Some(2));
            assert!(error.message.contains("a project can't set"), "{error}");
            assert!(load(text, "").is_ok());
        }
    }

    #[test]
    fn a_project_can_not_put_a_decision_on_another_key() {
        let error = load("", "[console.keys]\napprove = \"j\"").unwrap_err();
        assert!(error.message.contains("a project can't set `console.keys`"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_small_text_is_an_error_and_nothing_to_wait_for() {
        let folder = TempDir::new().unwrap();
        let pipe = folder.path().join("config.toml");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0).unwrap();
        assert!(Config::load(None, &pipe).unwrap_err().message.contains("not a regular file"));
        let huge = folder.path().join("huge.toml");
        std::fs::write(&huge, "#".repeat(2 << 20)).unwrap();
        assert!(Config::load(None, &huge).unwrap_err().message.contains("larger than 1 MiB"));
    }

    #[test]
    fn keys_are_one_or_a_list() {
        let config = load("[console.keys]\nquit = \"ctrl-q\"\nhelp = [\"?\", \"f1\"]", "").unwrap();
        assert_eq!(config.console.keys["quit"], Keys::One("ctrl-q".into()));
        assert_eq!(config.console.keys["help"], Keys::Several(vec!["?".into(), "f1".into()]));
    }
}

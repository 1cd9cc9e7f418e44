//! What the configuration allows, asks about or denies. Lists of globs come before the tool's risk; among the lists deny beats ask
//! beats allow, so that a narrow ban or question holds against a wide permission.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Assessment, GlobError, Globs};
use crate::plan::{Risk, Verdict};

/// What tools may do. Lists of tools come before the kind of call; `deny` beats `ask`, and `ask` beats `allow`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionConfig {
    /// Calls that only read files of the workspace.
    pub read: Verdict,
    /// Calls that reach public addresses.
    pub network: Verdict,
    /// Calls that change files.
    pub write: Verdict,
    /// Calls that run programs or reach private addresses, and calls with unknown effects.
    pub execute: Verdict,
    /// Tools that run without asking. `*` matches any text.
    pub allow: Vec<String>,
    /// Tools that ask before each call.
    pub ask: Vec<String>,
    /// Tools that never run.
    pub deny: Vec<String>,
}

impl Default for PermissionConfig {
    fn default() -> Self {
        Self {
            read: Verdict::Allow,
            network: Verdict::Allow,
            write: Verdict::Ask,
            execute: Verdict::Ask,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
        }
    }
}

/// A list of the configuration that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`permissions.{list}`: {error}")]
pub struct PermissionError {
    /// `allow`, `ask` or `deny`.
    pub list: &'static str,
    pub error: GlobError,
}

/// The configuration, ready to judge calls.
#[derive(Clone, Debug)]
pub struct Permission {
    config: PermissionConfig,
    /// In order of precedence.
    rules: [PermissionRule; 3],
}

#[derive(Clone, Debug)]
struct PermissionRule {
    verdict: Verdict,
    /// The setting's name.
    list: &'static str,
    globs: Globs,
}

impl Permission {
    /// Compiles the lists.
    ///
    /// # Errors
    /// A text that is not a valid pattern.
    pub fn new(config: &PermissionConfig) -> Result<Self, PermissionError> {
        let rule = |verdict, list, globs: &[String]| {
            let globs = Globs::new(globs).map_err(|error| PermissionError { list, error })?;
            Ok(PermissionRule { verdict, list, globs })
        };
        Ok(Self {
            rules: [
                rule(Verdict::Deny, "deny", &config.deny)?,
                rule(Verdict::Ask, "ask", &config.ask)?,
                rule(Verdict::Allow, "allow", &config.allow)?,
            ],
            config: config.clone(),
        })
    }

    /// What is done with a call of `tool`, and why. A rule that asks or denies means it by each of its `aliases` too.
    pub fn verdict(&self, tool: &str, aliases: &[&str], assessment: &Assessment) -> (Verdict, String) {
        for PermissionRule { verdict, list, globs } in &self.rules {
            let others = if *verdict == Verdict::Allow { &[] } else { aliases };
            if let Some(glob) = globs.find(tool).or_else(|| others.iter().find_map(|name| globs.find(name))) {
                return (*verdict, format!("`permissions.{list}` has `{glob}`; {}", assessment.why));
            }
        }
        (self.by_risk(assessment.risk), assessment.why.clone())
    }

    fn by_risk(&self, risk: Risk) -> Verdict {
        match risk {
            Risk::Read => self.config.read,
            Risk::Network => self.config.network,
            Risk::Write => self.config.write,
            Risk::Execute => self.config.execute,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(config: PermissionConfig, tool: &str, risk: Risk) -> Verdict {
        let assessment = Assessment::local(risk, "it does things");
        Permission::new(&config).unwrap().verdict(tool, &[], &assessment).0
    }

    #[test]
    fn without_configuration_reading_runs_and_changing_asks() {
        let by_risk = |risk| verdict(PermissionConfig::default(), "any", risk);
        assert_eq!(
            [Risk::Read, Risk::Network, Risk::Write, Risk::Execute].map(by_risk),
            [Verdict::Allow, Verdict::Allow, Verdict::Ask, Verdict::Ask]
        );
    }

    #[test]
    fn deny_beats_ask_beats_allow_beats_the_risk() {
        let config = PermissionConfig {
            allow: vec!["*".into()],
            ask: vec!["github:*".into()],
            deny: vec!["github:delete_*".into()],
            ..PermissionConfig::default()
        };
        assert_eq!(verdict(config.clone(), "run_command", Risk::Execute), Verdict::Allow);
        assert_eq!(verdict(config.clone(), "github:create_issue", Risk::Write), Verdict::Ask);
        assert_eq!(verdict(config, "github:delete_repo", Risk::Read), Verdict::Deny);
    }

    #[test]
    fn the_reason_names_the_glob_that_decided() {
        let config = PermissionConfig { deny: vec!["write_*".into()], ..PermissionConfig::default() };
        let assessment = Assessment::local(Risk::Write, "writes `a.txt`");
        let (_, why) = Permission::new(&config).unwrap().verdict("write_file", &[], &assessment);
        assert_eq!(why, "`permissions.deny` has `write_*`; writes `a.txt`");
    }

    #[test]
    fn a_bad_glob_is_named_with_its_list() {
        let config = PermissionConfig { ask: vec!["a[".into()], ..PermissionConfig::default() };
        let error = Permission::new(&config).unwrap_err();
        assert!(error.to_string().starts_with("`permissions.ask`: `a[` is not a valid pattern"), "{error}");
    }
}

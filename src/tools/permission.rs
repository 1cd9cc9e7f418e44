//! What the configuration allows, asks about or denies. Lists of globs come before the tool's risk; among the lists deny beats ask
//! beats allow, so that a narrow ban or question holds against a wide permission.

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use super::Assessment;
use crate::plan::{Risk, Verdict};

/// `[permissions]` of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionConfig {
    /// Calls that only read.
    pub read: Verdict,
    /// Calls that reach public addresses.
    pub network: Verdict,
    /// Calls that change files or other state.
    pub write: Verdict,
    /// Calls that run programs, reach private addresses, or of which nobody knows what they do.
    pub execute: Verdict,
    /// Globs of tools that run without asking.
    pub allow: Vec<String>,
    /// Globs of tools that ask.
    pub ask: Vec<String>,
    /// Globs of tools that never run.
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
#[error("`permissions.{list}` holds `{glob}`, which is no glob: {cause}")]
pub struct PermissionError {
    /// `allow`, `ask` or `deny`.
    pub list: &'static str,
    /// The text.
    pub glob: String,
    /// What is wrong with it.
    pub cause: String,
}

/// The configuration, ready to judge calls.
#[derive(Clone, Debug)]
pub struct Permission {
    config: PermissionConfig,
    /// In order of precedence.
    lists: [(Verdict, RuleGlobs); 3],
}

#[derive(Clone, Debug)]
struct RuleGlobs {
    name: &'static str,
    globs: Vec<String>,
    set: GlobSet,
}

impl Permission {
    /// Compiles the lists.
    ///
    /// # Errors
    /// A text that is no glob.
    pub fn new(config: &PermissionConfig) -> Result<Self, PermissionError> {
        Ok(Self {
            lists: [
                (Verdict::Deny, RuleGlobs::new("deny", &config.deny)?),
                (Verdict::Ask, RuleGlobs::new("ask", &config.ask)?),
                (Verdict::Allow, RuleGlobs::new("allow", &config.allow)?),
            ],
            config: config.clone(),
        })
    }

    /// What is done with a call of `tool`, and why, in words.
    pub fn verdict(&self, tool: &str, assessment: &Assessment) -> (Verdict, String) {
        for (verdict, list) in &self.lists {
            if let Some(glob) = list.find(tool) {
                return (*verdict, format!("`permissions.{}` has `{glob}`; {}", list.name, assessment.why));
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

impl RuleGlobs {
    fn new(name: &'static str, globs: &[String]) -> Result<Self, PermissionError> {
        let error =
            |glob: &str, cause: globset::Error| PermissionError { list: name, glob: glob.to_owned(), cause: cause.kind().to_string() };
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            set.add(Glob::new(glob).map_err(|cause| error(glob, cause))?);
        }
        Ok(Self { name, globs: globs.to_vec(), set: set.build().map_err(|cause| error("", cause))? })
    }

    fn find(&self, tool: &str) -> Option<&str> {
        self.set.matches(tool).first().and_then(|index| self.globs.get(*index)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(config: PermissionConfig, tool: &str, risk: Risk) -> Verdict {
        let assessment = Assessment { risk, why: "it does things".into() };
        Permission::new(&config).unwrap().verdict(tool, &assessment).0
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
        let assessment = Assessment { risk: Risk::Write, why: "writes `a.txt`".into() };
        let (_, why) = Permission::new(&config).unwrap().verdict("write_file", &assessment);
        assert_eq!(why, "`permissions.deny` has `write_*`; writes `a.txt`");
    }

    #[test]
    fn a_bad_glob_is_named_with_its_list() {
        let config = PermissionConfig { ask: vec!["a[".into()], ..PermissionConfig::default() };
        let error = Permission::new(&config).unwrap_err();
        assert_eq!((error.list, error.glob.as_str()), ("ask", "a["));
    }
}

//! `CallRule`: what is done with calls of a tool whose arguments are as a person wrote.

use super::{GlobError, Globs, plain_command};
use crate::plan::{SHELL_TOOL, Verdict};
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A rule for calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallRule {
    /// The tool, as in `write_file` or `github:create_issue`; `*` matches any text.
    pub tool: String,
    /// What is done with such a call.
    pub verdict: Verdict,
    /// By argument, what it has to be: a path or any text, where `*` stays within one part of a path and `**` doesn't; of an address its host;
    /// of `run_command` a whole command, or the beginning of one with ` *` at its end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
}

impl CallRule {
    /// Whether its patterns can be used.
    ///
    /// # Errors
    /// The first that can't.
    pub fn check(&self) -> Result<(), RuleError> {
        ReadyRule::new(self).map(drop)
    }

    /// Whether a call is what it is about; a rule that can't be used is about none.
    pub fn covers(&self, tool: &str, args: &Value) -> bool {
        ReadyRule::new(self).is_ok_and(|rule| rule.covers([tool].into_iter(), Some(args)))
    }

    /// The tool and the patterns of arguments.
    pub fn label(&self) -> String {
        let args: Vec<String> = self.args.iter().map(|(name, pattern)| format!(" {name}={pattern}")).collect();
        format!("{}{}", self.tool, args.concat())
    }
}

/// A rule, ready to be compared with calls.
#[derive(Clone, Debug)]
pub(super) struct ReadyRule {
    pub(super) rule: CallRule,
    tool: Globs,
    args: Vec<(String, ArgumentPattern)>,
}

#[derive(Clone, Debug)]
enum ArgumentPattern {
    Command(String),
    Text(String, GlobMatcher),
}

/// Why a rule can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("{0}")]
    Glob(#[from] GlobError),
    #[error("`{0}` is not one plain command, so it covers nothing")]
    NotPlain(String),
    #[error("a command can't be asked about or denied by its text: a shell has many ways to write it")]
    Evadable,
}

impl ReadyRule {
    /// # Errors
    /// A pattern that can't be used.
    pub(super) fn new(rule: &CallRule) -> Result<Self, RuleError> {
        let tool = Globs::new(std::slice::from_ref(&rule.tool))?;
        let args = rule.args.iter().map(|(name, pattern)| {
            if name == "command" && tool.find(SHELL_TOOL).is_some() {
                return match rule.verdict {
                    Verdict::Allow if plain_command::is_pattern(pattern) => Ok((name.clone(), ArgumentPattern::Command(pattern.clone()))),
                    Verdict::Allow => Err(RuleError::NotPlain(pattern.clone())),
                    Verdict::Ask | Verdict::Deny => Err(RuleError::Evadable),
                };
            }
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            let glob = glob.map_err(|cause| GlobError { glob: pattern.clone(), cause: cause.kind().to_string() })?;
            Ok((name.clone(), ArgumentPattern::Text(pattern.clone(), glob.compile_matcher())))
        });
        let args = args.collect::<Result<_, RuleError>>()?;
        Ok(Self { rule: rule.clone(), tool, args })
    }

    /// Whether a tool of one of these names, called with these arguments, is what the rule is about. Without arguments: whether it is whatever
    /// they are.
    pub(super) fn covers<'a>(&self, mut names: impl Iterator<Item = &'a str>, args: Option<&Value>) -> bool {
        let fits =
            |(name, pattern): &(String, ArgumentPattern)| args.and_then(|args| args.get(name)).is_some_and(|value| pattern.covers(value));
        names.any(|name| self.tool.find(name).is_some()) && self.args.iter().all(fits)
    }

    /// How exactly it says what it is about: more is more exact.
    pub(super) fn precision(&self) -> Precision {
        if self.args.is_empty() { Precision::of_name(&self.rule.tool) } else { Precision::Arguments }
    }
}

/// How exactly a rule says what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    Pattern,
    Tool,
    Arguments,
}

impl Precision {
    /// Of a name, or a pattern of names.
    pub(super) fn of_name(name: &str) -> Self {
        if name.contains(['*', '?', '[', '{']) { Self::Pattern } else { Self::Tool }
    }
}

impl ArgumentPattern {
    fn covers(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Command(pattern), Value::String(command)) => plain_command::covers(pattern, command),
            (Self::Text(pattern, glob), Value::String(text)) => match reqwest::Url::parse(text).ok().filter(|_| text.contains("://")) {
                Some(url) if !pattern.contains('/') => is_host(glob, &url),
                Some(_) => text == pattern,
                None => path(text).is_some_and(|path| glob.is_match(path)),
            },
            (Self::Text(pattern, _), Value::Bool(_) | Value::Number(_)) => {
                let text = value.to_string();
                text == *pattern
            }
            (Self::Text(..), Value::Null | Value::Array(_) | Value::Object(_)) => false,
            (Self::Command(_), _) => false,
        }
    }
}

/// Whether a pattern means the host of an address, or its host with the port. An address with a name before an `@` is covered by nothing.
fn is_host(glob: &GlobMatcher, url: &reqwest::Url) -> bool {
    let Some(host) = url.host_str().filter(|_| url.username().is_empty() && url.password().is_none()) else { return false };
    let port = url.port_or_known_default().map(|port| format!("{host}:{port}"));
    glob.is_match(host) || port.is_some_and(|place| glob.is_match(place))
}

/// A path without parts that mean nothing; nothing where it goes up, since links decide where that leads.
fn path(text: &str) -> Option<String> {
    if text.split('/').any(|part| part == "..") {
        return None;
    }
    let start = if text.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    Some(start.to_owned() + &parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn covers(pattern: (&str, &str), args: Value) -> bool {
        let rule = CallRule { tool: "t".into(), verdict: Verdict::Allow, args: [(pattern.0.to_owned(), pattern.1.to_owned())].into() };
        ReadyRule::new(&rule).unwrap().covers(["t"].into_iter(), Some(&args))
    }

    #[test]
    fn a_path_is_covered_where_it_leads_and_nowhere_else() {
        for inside in ["src/a.rs", "./src/a.rs", "src//b/c.rs"] {
            assert!(covers(("path", "src/**"), json!({"path": inside})), "{inside}");
        }
        for outside in ["src/../a", "/src/a", "srcs/a", "a/src/b", "src/..", ""] {
            assert!(!covers(("path", "src/**"), json!({"path": outside})), "{outside}");
        }
        assert!(covers(("path", "*.md"), json!({"path": "a.md"})) && !covers(("path", "*.md"), json!({"path": "a/b.md"})));
        assert!(!covers(("path", "**"), json!({"other": "a"})) && !covers(("path", "**"), json!({"path": null})));
        assert!(covers(("all", "true"), json!({"all": true})) && !covers(("all", "*"), json!({"all": true})));
    }

    #[test]
    fn an_address_is_covered_by_its_host_alone() {
        for url in ["https://docs.example.com/a?b", "https://docs.example.com:443/"] {
            assert!(covers(("url", "*.example.com"), json!({"url": url})), "{url}");
        }
        for url in [
            "https://example.com.evil.net/",
            "https://evil.net/docs.example.com",
            "https://docs.example.com@evil.net/",
            "https://a@docs.example.com/",
        ] {
            assert!(!covers(("url", "*.example.com"), json!({"url": url})), "{url}");
        }
        assert!(covers(("url", "example.com:8080"), json!({"url": "http://example.com:8080/a"})));
        assert!(!covers(("url", "https://example.com/*"), json!({"url": "https://example.com/a"})), "only the address itself");
    }

    #[test]
    fn a_rule_that_covers_nothing_or_can_be_evaded_is_refused() {
        let rule = |verdict, command: &str| {
            let args = [("command".to_owned(), command.to_owned())].into();
            ReadyRule::new(&CallRule { tool: SHELL_TOOL.into(), verdict, args }).map(drop)
        };
        assert_eq!(rule(Verdict::Allow, "git log *"), Ok(()));
        assert_eq!(rule(Verdict::Allow, "git log | head"), Err(RuleError::NotPlain("git log | head".into())));
        assert_eq!(rule(Verdict::Deny, "rm *"), Err(RuleError::Evadable));
    }
}

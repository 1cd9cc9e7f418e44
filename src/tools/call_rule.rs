//! `CallRule`: what is done with calls of a tool whose arguments are as a person wrote.

use super::{GlobError, Globs, Workspace, git_rule, plain_command};
use crate::plan::{SHELL_TOOL, Verdict};
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

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
    pub fn covers(&self, tool: &str, args: CallArguments<'_>) -> bool {
        ReadyRule::new(self).is_ok_and(|rule| rule.covers([tool].into_iter(), Some(args)))
    }

    /// The tool and the patterns of arguments.
    pub fn label(&self) -> String {
        let args: Vec<String> = self.args.iter().map(|(name, pattern)| format!(" {name}={pattern}")).collect();
        format!("{}{}", self.tool, args.concat())
    }
}

/// The arguments of a call, and the workspace that tells where a path in them leads.
#[derive(Clone, Copy)]
pub struct CallArguments<'a> {
    pub values: &'a Value,
    pub workspace: &'a Path,
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
    pub(super) fn covers<'a>(&self, names: impl Iterator<Item = &'a str>, args: Option<CallArguments<'_>>) -> bool {
        let names: Vec<&str> = names.collect();
        let counts_lines = args.is_some_and(|args| args.values.get("count_lines") == Some(&Value::Bool(true)));
        let lists = names.contains(&LISTS) && self.rule.tool != LISTS && !counts_lines;
        let fits = |(name, pattern): &(String, ArgumentPattern)| {
            let value = args.and_then(|args| Some((args.values.get(name)?, args.workspace)));
            value.is_some_and(|(value, workspace)| pattern.covers(value, self.rule.verdict, workspace, lists))
        };
        names.iter().any(|name| self.tool.find(name).is_some()) && self.args.iter().all(fits)
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
    /// A rule that allows covers a value if all of it fits, by what is written and by where it leads. One that asks or denies covers it if any
    /// of it may reach what is meant.
    fn covers(&self, value: &Value, verdict: Verdict, workspace: &Path, lists: bool) -> bool {
        match (self, value) {
            (Self::Command(pattern), Value::String(command)) => {
                plain_command::covers(pattern, command) && (!git_rule::is_git(command) || git_rule::is_usual(workspace))
            }
            (Self::Text(pattern, _), Value::Bool(_) | Value::Number(_)) => {
                let text = value.to_string();
                text == *pattern
            }
            (Self::Text(pattern, glob), Value::String(_) | Value::Array(_) | Value::Object(_)) => {
                let texts = texts(value);
                let target = PatternTarget { pattern, glob, workspace, lists };
                match verdict {
                    Verdict::Allow => !texts.is_empty() && texts.iter().all(|text| target.is_kept_to(text)),
                    Verdict::Ask | Verdict::Deny => texts.iter().any(|text| target.is_reached(text)),
                }
            }
            (Self::Text(..), Value::Null) | (Self::Command(_), _) => false,
        }
    }
}

/// The texts of a value, such as the paths of a list.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// What a pattern is about, in a workspace.
struct PatternTarget<'a> {
    pattern: &'a str,
    glob: &'a GlobMatcher,
    workspace: &'a Path,
    /// The call only lists a folder, so that what is denied of one file in it stays untouched.
    lists: bool,
}

/// The tool that shows names without reading what they name.
const LISTS: &str = "list_directory";

/// At how many files it is looked whether one of them is meant; among more of them one may be.
const MOST_FILES: usize = 10_000;

impl PatternTarget<'_> {
    /// Whether a text is and leads to nothing else than what is meant.
    fn is_kept_to(&self, text: &str) -> bool {
        match address(text) {
            Some(url) if !self.pattern.contains('/') => is_host(self.glob, &url) && url.username().is_empty() && url.password().is_none(),
            Some(_) => text == self.pattern,
            None => {
                let leads = self.leads(text).is_none_or(|(_, leads)| self.glob.is_match(leads));
                path(text).is_some_and(|path| self.glob.is_match(path)) && leads
            }
        }
    }

    /// Whether a text may lead to what is meant: as a link, by `..`, as a folder or a pattern with it inside.
    fn is_reached(&self, text: &str) -> bool {
        if let Some(url) = address(text) {
            return [text, url.as_str()].into_iter().any(|text| self.glob.is_match(text)) || is_host(self.glob, &url);
        }
        if self.glob.is_match(text) || path(text).is_some_and(|path| self.glob.is_match(path)) {
            return true;
        }
        let written = text.contains(['*', '?', '[', '{']).then(|| GlobBuilder::new(text).literal_separator(true).build().ok()).flatten();
        if let Some(written) = written.map(|glob| glob.compile_matcher()) {
            return self.is_among(PathBuf::new(), |path| written.is_match(path));
        }
        let Some((workspace, leads)) = self.leads(text) else { return false };
        let is_one = !self.pattern.contains(['*', '?', '[', '{']);
        if self.lists && is_one {
            return self.glob.is_match(&leads);
        }
        self.glob.is_match(&leads) || workspace.root().join(&leads).is_dir() && self.is_among(leads, |_| true)
    }

    /// Where a path leads in the workspace.
    fn leads(&self, text: &str) -> Option<(Workspace, PathBuf)> {
        let workspace = Workspace::new(self.workspace).ok()?;
        let at = workspace.locate(text).ok()?;
        Some((workspace, at.path().to_owned()))
    }

    /// Whether what is meant is among the files below a folder of the workspace.
    fn is_among(&self, folder: PathBuf, is_one: impl Fn(&Path) -> bool) -> bool {
        let (mut folders, mut seen) = (vec![folder], 0);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.workspace.join(&folder)).into_iter().flatten().flatten() {
                let path = folder.join(entry.file_name());
                seen += 1;
                if seen > MOST_FILES || self.glob.is_match(&path) && is_one(&path) {
                    return true;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                }
            }
        }
        false
    }
}

fn address(text: &str) -> Option<reqwest::Url> {
    reqwest::Url::parse(text).ok().filter(|_| text.contains("://"))
}

/// Whether a pattern means the host of an address, or its host with the port.
fn is_host(glob: &GlobMatcher, url: &reqwest::Url) -> bool {
    let Some(host) = url.host_str().map(|host| host.trim_end_matches('.')) else { return false };
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
        covers_in(Path::new("/nowhere"), Verdict::Allow, pattern, &args)
    }

    fn covers_in(workspace: &Path, verdict: Verdict, pattern: (&str, &str), values: &Value) -> bool {
        let rule = CallRule { tool: "t".into(), verdict, args: [(pattern.0.to_owned(), pattern.1.to_owned())].into() };
        ReadyRule::new(&rule).unwrap().covers(["t"].into_iter(), Some(CallArguments { values, workspace }))
    }

    #[cfg(unix)]
    #[test]
    fn a_rule_that_allows_goes_by_where_a_path_leads_and_one_that_denies_by_all_that_may_lead_there() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("docs/deep")).unwrap();
        fs::create_dir_all(root.join("kept/empty")).unwrap();
        fs::write(root.join("kept/key"), "k").unwrap();
        symlink("..", root.join("docs/up")).unwrap();
        symlink("../kept/key", root.join("docs/link")).unwrap();
        symlink("docs", root.join("papers")).unwrap();
        let path = |value: Value| json!({ "path": value });
        let allows = |value| covers_in(root, Verdict::Allow, ("path", "docs/**"), &path(value));
        for inside in [json!("docs/a"), json!("docs/deep/a"), json!(["docs/a", {"path": "./docs/b"}])] {
            assert!(allows(inside.clone()), "{inside}");
        }
        for outside in [json!("docs/up/a"), json!("docs/link"), json!("papers/a"), json!(["docs/a", "a"]), json!([]), json!({"path": null})]
        {
            assert!(!allows(outside.clone()), "{outside}");
        }
        let denies = |value| covers_in(root, Verdict::Deny, ("path", "kept/*"), &path(value));
        let absolute = root.join("kept/key");
        for reached in [
            json!("kept/key"),
            json!("docs/link"),
            json!("docs/up/kept/key"),
            json!("docs/../kept/key"),
            json!("./kept//new"),
            json!("."),
            json!("kept"),
            json!(["docs/a", "kept/key"]),
            json!([{"path": "kept/key"}]),
            json!(absolute),
            json!("k*/k??"),
            json!("**"),
        ] {
            assert!(denies(reached.clone()), "{reached}");
        }
        for other in [json!("docs/a"), json!("docs/deep"), json!("kept/empty/a"), json!("*.md"), json!("k"), json!([]), json!(7)] {
            assert!(!denies(other.clone()), "{other}");
        }
    }

    #[test]
    fn a_folder_is_listed_though_one_file_in_it_is_denied_but_neither_searched_nor_counted() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("kept")).unwrap();
        fs::write(folder.path().join("kept/key"), "k").unwrap();
        let denied = |(tool, pattern): (&str, &str), called: &str, values: Value| {
            let rule = CallRule { tool: tool.into(), verdict: Verdict::Deny, args: [("path".to_owned(), pattern.to_owned())].into() };
            let args = CallArguments { values: &values, workspace: folder.path() };
            ReadyRule::new(&rule).unwrap().covers([called].into_iter(), Some(args))
        };
        let one = ("*", "kept/key");
        assert!(!denied(one, LISTS, json!({"path": "kept"})) && !denied(one, LISTS, json!({"path": ".", "recursive": true})));
        assert!(denied(one, LISTS, json!({"path": "kept", "count_lines": true})));
        assert!(denied(one, "search_files", json!({"path": "kept"})) && denied(one, LISTS, json!({"path": "kept/key"})));
        assert!(denied(("*", "kept/*"), LISTS, json!({"path": "kept"})), "all of it is denied");
        assert!(denied((LISTS, "kept/key"), LISTS, json!({"path": "kept"})), "listing it is what is denied");
    }

    #[test]
    fn a_host_is_denied_in_each_of_its_spellings() {
        let denies = |url: &str| covers_in(Path::new("/nowhere"), Verdict::Deny, ("url", "*.example.com"), &json!({ "url": url }));
        for url in ["https://docs.example.com/", "https://a:b@docs.example.com/", "HTTPS://DOCS.Example.com./x"] {
            assert!(denies(url), "{url}");
        }
        assert!(!denies("https://example.com.evil.net/"));
        let pattern = ("url", "https://example.com/*");
        assert!(covers_in(Path::new("/nowhere"), Verdict::Deny, pattern, &json!({"url": "https://EXAMPLE.com:443/a"})));
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

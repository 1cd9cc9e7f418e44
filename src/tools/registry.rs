//! `ToolRegistry`: the tools by name, their argument schemas compiled once, other names for them, and what is allowed. `Toolbox` adds the
//! tools of MCP servers.

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use super::{Assessment, CallArguments, JudgedTool, Permission, PermissionError, Tool, ToolContext, ToolError, ToolsConfig, builtin};
use crate::engine::Outgoing;
use crate::plan::{ArgumentChecks, Risk, ToolInfo, Verdict};

/// Names that models and documents of other programs use.
const ALIASES: [(&str, &str); 11] = [
    ("serper_web_search", "web_search"),
    ("code_execution", "run_javascript"),
    ("list_files", "list_directory"),
    ("ls", "list_directory"),
    ("grep", "search_files"),
    ("cat", "read_file"),
    ("create_directory", "make_directory"),
    ("mkdir", "make_directory"),
    ("rename_file", "move_file"),
    ("remove_file", "delete_file"),
    ("query_csv", "query_data"),
];

/// The tools that plans may use at one moment.
#[derive(Clone)]
pub struct ToolRegistry {
    tools: BTreeMap<String, Arc<RegisteredTool>>,
    aliases: BTreeMap<String, String>,
    permission: Permission,
}

struct RegisteredTool {
    tool: Arc<dyn Tool>,
    info: ToolInfo,
    /// Whether neither plans nor models name it.
    is_hidden: bool,
    /// Made when it is needed first; why it can't be made otherwise.
    schema: OnceLock<Result<Validator, String>>,
}

impl RegisteredTool {
    fn schema(&self) -> Result<&Validator, ToolError> {
        let made = self.schema.get_or_init(|| jsonschema::validator_for(&self.info.input_schema).map_err(|cause| cause.to_string()));
        let unusable = |cause: &String| ToolError::refused(format!("the schema of tool `{}` can't be used: {cause}", self.info.name));
        made.as_ref().map_err(unusable)
    }
}

/// What is to be done with one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What is done with it.
    pub verdict: Verdict,
    /// What it can do.
    pub risk: Risk,
    pub why: String,
    /// What it would send out.
    pub leaves: Option<Outgoing>,
}

impl ToolRegistry {
    /// The built-in tools under a configuration.
    ///
    /// # Errors
    /// A permission list that can't be read.
    pub fn builtin(config: &ToolsConfig) -> Result<Self, PermissionError> {
        let mut registry = Self::empty(config)?;
        for tool in builtin::all(config) {
            registry.add(tool);
        }
        Ok(registry)
    }

    /// No tools yet.
    ///
    /// # Errors
    /// A permission list that can't be read.
    pub fn empty(config: &ToolsConfig) -> Result<Self, PermissionError> {
        let mut aliases: BTreeMap<String, String> = ALIASES.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        aliases.extend(config.aliases.clone());
        Ok(Self { tools: BTreeMap::new(), aliases, permission: Permission::new(&config.permissions)? })
    }

    /// Adds a tool, in place of one of the same name.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        self.register(tool, false);
    }

    /// Adds a tool that neither plans nor models name.
    pub(super) fn add_hidden(&mut self, tool: Arc<dyn Tool>) {
        self.register(tool, true);
    }

    fn register(&mut self, tool: Arc<dyn Tool>, is_hidden: bool) {
        let mut info = tool.info().clone();
        let assessment = Assessment::local(info.risk, String::new());
        info.verdict = self.verdict(&*tool, &assessment, None).0;
        self.tools.insert(info.name.clone(), Arc::new(RegisteredTool { tool, info, is_hidden, schema: OnceLock::new() }));
    }

    /// What the rules say of a call, and why. What they allow asks where the tool has a reason to.
    fn verdict(&self, tool: &dyn Tool, assessment: &Assessment, args: Option<CallArguments<'_>>) -> (Verdict, String) {
        let name = &tool.info().name;
        let call = JudgedTool { name, aliases: &self.aliases_of(name), args };
        match (self.permission.verdict(&call, assessment), tool.asks_because()) {
            ((Verdict::Allow, why), Some(reason)) => (Verdict::Ask, format!("{reason}; {why}")),
            (judged, _) => judged,
        }
    }

    /// The name that a tool is registered under, whichever of its names is given.
    pub fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        if self.tools.contains_key(name) { name } else { self.aliases.get(name).map_or(name, String::as_str) }
    }

    /// A tool by any of its names.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.entry(name).map(|entry| &entry.tool)
    }

    /// A tool's description by any of its names, with the configuration's verdict.
    pub fn info(&self, name: &str) -> Option<&ToolInfo> {
        self.entry(name).map(|entry| &entry.info)
    }

    /// The descriptions of all that plans and models may name, sorted by name, with the configuration's verdicts.
    pub fn infos(&self) -> Vec<ToolInfo> {
        self.tools.values().filter(|entry| !entry.is_hidden).map(|entry| entry.info.clone()).collect()
    }

    /// The rule that applies to a tool where its arguments are not looked at, in words.
    pub fn rule_of(&self, name: &str) -> Option<String> {
        let entry = self.entry(name)?;
        let (risk, verdict): (&str, &str) = (entry.info.risk.into(), entry.info.verdict.into());
        let assessment = Assessment::local(entry.info.risk, format!("its risk is {risk}, where `permissions.{risk}` says {verdict}"));
        Some(self.verdict(&*entry.tool, &assessment, None).1)
    }

    /// Whether a tool can work by the configuration.
    pub fn is_configured(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|entry| entry.tool.is_configured())
    }

    /// Tools whose results tell of this computer, and that send out what they are given.
    pub fn senders(&self) -> BTreeSet<String> {
        self.tools.values().filter(|entry| entry.tool.sends()).map(|entry| entry.info.name.clone()).collect()
    }

    /// What tools say of arguments before they run.
    pub fn checks(&self) -> ArgumentChecks {
        self.tools.iter().filter_map(|(name, entry)| Some((name.clone(), entry.tool.argument_check()?))).collect()
    }

    /// Other names and the tools that they mean, sorted.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.aliases.iter().map(|(from, to)| (from.as_str(), to.as_str()))
    }

    fn aliases_of(&self, tool: &str) -> Vec<&str> {
        self.aliases().filter(|(_, meant)| *meant == tool).map(|(alias, _)| alias).collect()
    }

    /// Checks a call before it is decided.
    ///
    /// # Errors
    /// An unknown tool or wrong arguments, in words that a model can correct its call by.
    pub fn check(&self, name: &str, args: &Value) -> Result<(), ToolError> {
        let entry = self.entry(name).ok_or_else(|| self.unknown(name))?;
        let problems: Vec<String> = entry.schema()?.iter_errors(args).take(5).map(|error| fault(&error)).collect();
        if problems.is_empty() {
            return entry.tool.refusal(args).map_or(Ok(()), Err);
        }
        Err(ToolError::refused(format!("wrong arguments for `{}`: {}", entry.info.name, problems.join("; ")))
            .hint(format!("expected: {}", signature(&entry.info.input_schema))))
    }

    /// What is to be done with a call whose arguments were checked.
    ///
    /// # Errors
    /// An unknown tool.
    pub fn judge(&self, name: &str, args: &Value, context: &ToolContext) -> Result<Judgement, ToolError> {
        let entry = self.entry(name).ok_or_else(|| self.unknown(name))?;
        let assessment = entry.tool.assess(args, context);
        let args = CallArguments { values: args, workspace: &context.workspace };
        let (verdict, why) = self.verdict(&*entry.tool, &assessment, Some(args));
        Ok(Judgement { verdict, risk: assessment.risk, why, leaves: assessment.leaves })
    }

    fn entry(&self, name: &str) -> Option<&RegisteredTool> {
        self.tools.get(self.canonical(name)).map(|entry| &**entry)
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names: Vec<&str> = self.tools.values().filter(|entry| !entry.is_hidden).map(|entry| entry.info.name.as_str()).collect();
        ToolError::refused(format!("there is no tool `{}`", name.escape_debug())).hint(format!("there are: {}", names.join(", ")))
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// One problem in words.
fn fault(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
    let subject = if place.is_empty() { "the whole".to_owned() } else { format!("`{place}`") };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            if place.is_empty() { format!("`{name}` is missing") } else { format!("`{place}.{name}` is missing") }
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => format!("`{}` is not known", unexpected.join("`, `")),
        ValidationErrorKind::Type { .. } => format!("{subject} has the wrong type: {error}"),
        _ => format!("{subject}: {error}"),
    }
}

/// The parameters of a tool in one line: `path (string, required), limit (integer)`.
fn signature(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty()) else {
        return "no arguments".into();
    };
    let is_required = |name: &str| required(schema).any(|other| other == name);
    let parameter = |(name, schema): (&String, &Value)| {
        let kind = match &schema["type"] {
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect::<Vec<_>>().join(" or "),
            _ => "any".into(),
        };
        if is_required(name) { format!("{name} ({kind}, required)") } else { format!("{name} ({kind})") }
    };
    properties.iter().map(parameter).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::PermissionConfig;
    use serde_json::json;

    fn registry() -> ToolRegistry {
        ToolRegistry::builtin(&ToolsConfig::default()).unwrap()
    }

    #[test]
    fn every_built_in_tool_is_there_with_a_schema_that_compiles() {
        let registry = registry();
        assert_eq!(registry.tools.len(), builtin::all(&ToolsConfig::default()).len());
        for info in registry.infos() {
            assert_eq!(info.input_schema["type"], "object", "{}", info.name);
            assert!(!info.description.is_empty());
            let text = info.input_schema.to_string();
            assert!(!text.contains("$schema") && !text.contains("$defs") && !text.contains("\"format\""), "{}: {text}", info.name);
        }
    }

    #[test]
    fn descriptions_are_sorted_and_carry_the_verdict() {
        let infos = registry().infos();
        assert!(infos.is_sorted_by_key(|info| info.name.clone()));
        let verdict = |name: &str| infos.iter().find(|info| info.name == name).unwrap().verdict;
        assert_eq!((verdict("read_file"), verdict("write_file"), verdict("run_command")), (Verdict::Allow, Verdict::Ask, Verdict::Ask));
    }

    #[test]
    fn a_tool_answers_to_its_other_names() {
        let registry = registry();
        assert_eq!(registry.get("serper_web_search").unwrap().info().name, "web_search");
        for (name, tool) in ALIASES {
            assert_eq!(registry.get(name).map(|tool| tool.info().name.as_str()), Some(tool), "{name}");
        }
        let own = ToolsConfig { aliases: BTreeMap::from([("open".into(), "read_file".into())]), ..ToolsConfig::default() };
        assert_eq!(ToolRegistry::builtin(&own).unwrap().canonical("open"), "read_file");
    }

    #[test]
    fn wrong_arguments_are_listed_so_that_a_model_can_correct_them() {
        let error = registry().check("read_file", &json!({"file": "a"})).unwrap_err();
        assert_eq!(error.message, "wrong arguments for `read_file`: `file` is not known; `path` is missing");
        assert!(error.hint.unwrap().starts_with("expected: path (string, required), "));
        let error = registry().check("read_file", &json!({"path": 3})).unwrap_err();
        assert!(error.message.contains("`path` has the wrong type: 3 is not of type \"string\""), "{error}");
        assert!(registry().check("read_file", &json!("a")).is_err());
        assert!(registry().check("read_file", &json!({"path": "a", "last": null})).is_ok());
    }

    #[test]
    fn an_unknown_tool_is_an_error_with_those_that_exist() {
        let error = registry().check("raed_file", &json!({})).unwrap_err();
        assert_eq!(error.message, "there is no tool `raed_file`");
        assert!(error.hint.unwrap().contains("read_file"));
    }

    #[test]
    fn a_rule_that_asks_or_denies_means_a_tool_by_its_aliases_and_one_that_allows_does_not() {
        let verdict = |permissions: PermissionConfig| {
            let aliases = BTreeMap::from([("save".into(), "write_file".into())]);
            let registry = ToolRegistry::builtin(&ToolsConfig { permissions, aliases, ..ToolsConfig::default() }).unwrap();
            registry.info("save").unwrap().verdict
        };
        let usual = PermissionConfig { write: Verdict::Allow, ..PermissionConfig::default() };
        assert_eq!(verdict(PermissionConfig { ask: vec!["save".into()], ..usual.clone() }), Verdict::Ask);
        assert_eq!(verdict(PermissionConfig { deny: vec!["sa*".into()], ..usual }), Verdict::Deny);
        assert_eq!(verdict(PermissionConfig { allow: vec!["save".into()], ..PermissionConfig::default() }), Verdict::Ask);
    }

    #[test]
    fn a_call_is_judged_by_its_own_arguments() {
        let config = ToolsConfig {
            permissions: PermissionConfig { deny: vec!["run_*".into()], ..PermissionConfig::default() },
            ..ToolsConfig::default()
        };
        let registry = ToolRegistry::builtin(&config).unwrap();
        let context = ToolContext::of(std::env::temp_dir());
        assert_eq!(registry.judge("run_command", &json!({"command": "ls"}), &context).unwrap().verdict, Verdict::Deny);
        let judged = registry.judge("write_file", &json!({"path": "a.txt", "content": "x"}), &context).unwrap();
        assert_eq!((judged.verdict, judged.why.as_str()), (Verdict::Ask, "writes `a.txt`"));
    }
}

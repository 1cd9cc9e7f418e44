//! `Card`: one agent as a file: YAML front matter and a system prompt as Markdown. A card says what an agent is, never which model runs it.

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use crate::plan::{AgentInfo, AgentKind, Approve, Catalog, Risk, ToolInfo, Verdict, is_agent_name, limits::MOST_ITERATIONS};
use crate::tools::ServiceAddress;

#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Unique; what plans name.
    pub name: String,
    /// What it does; shown to planners.
    pub description: String,
    /// What an objective looks like, with `{placeholders}`; shown to planners.
    pub objective_template: String,
    pub kind: CardKind,
    /// Globs of tools that it may use.
    pub tools: Vec<String>,
    /// Gates that the card asks for.
    pub approve: Option<Approve>,
    /// Whether its work is worth nothing without its tools, so that a server which refuses tools isn't asked without.
    pub needs_tools: bool,
    /// Limits that hold where the plan says nothing.
    pub limits: CardLimits,
    pub prompt: String,
    /// Where it came from, for people.
    pub origin: String,
    /// Whether it may only use tools without side effects (an inline card without a tool list).
    pub harmless_only: bool,
    /// Where it works, if it is a service.
    pub service: Option<ServiceAddress>,
}

/// How an agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardKind {
    /// A model with a prompt and tools, in a loop until it answers.
    Llm,
    /// Reasons in several steps: questions, steps, critique, answer.
    DeepReasoner,
    /// A service at an address, which gets the objective and gives the result.
    Service,
    /// A model writes the agent that the objective needs, and a person decides on it first.
    Dynamic,
    /// A person answers.
    Human,
}

/// Whether a node that needs no card says which tools it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolList {
    Given,
    /// It doesn't: it gets only tools without side effects.
    Open,
}

/// Limits of a card; a node's policy comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CardLimits {
    /// Turns of the agent loop, 1 to 20.
    pub max_iterations: Option<u32>,
    /// Prompt and answer tokens together.
    pub max_tokens: Option<u64>,
}

/// A card that can't be used, and where it is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {message}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct CardError {
    /// The file as people know it.
    pub file: String,
    /// From 1, when one line is to blame.
    pub line: Option<u64>,
    /// What is wrong, lower-case start.
    pub message: String,
    pub hint: Option<String>,
}

/// Longest card file that is read.
pub(super) const MAX_BYTES: u64 = 256 * 1024;

/// Keys that belong to the execution of a plan and not to a card.
const MODEL_KEYS: [&str; 8] = ["model", "models", "provider", "temperature", "top_p", "max_tokens", "seed", "model_settings"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    name: String,
    description: String,
    #[serde(default)]
    objective_template: String,
    #[serde(rename = "type", default = "llm")]
    kind: String,
    class: Option<String>,
    service_url: Option<String>,
    token_env: Option<String>,
    risk: Option<ServiceRisk>,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    needs_tools: bool,
    approve: Option<Approve>,
    #[serde(default)]
    limits: CardLimits,
}

/// What the work of a service can do to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ServiceRisk {
    Read,
    Network,
    Write,
    Execute,
    /// As `Execute`, but a request that comes again with the same key has no second effect.
    Repeatable,
}

fn llm() -> String {
    "llm".to_owned()
}

impl Card {
    /// Reads a card file's text. `file` is for messages, `origin` for people.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line.
    pub fn parse(text: &str, file: &str, origin: &str) -> Result<Self, CardError> {
        let (front, body) = split(text).map_err(|message| {
            fault(file, Some(1), message)
                .hint("a card opens with a line `---`, then `name:` and `description:`, then a line `---`, then the system prompt")
        })?;
        if let Some((line, key)) = top_level_keys(front).find(|(_, key)| MODEL_KEYS.contains(key)) {
            return Err(fault(
                file,
                Some(line),
                format!("a card can't set `{key}`: model settings belong to the execution, not to the agent"),
            )
            .hint("remove the line; choose the model with `--model`, in the console, or in a node's policy"));
        }
        let fields: Front = serde_saphyr::from_str(front).map_err(|error| yaml_fault(file, &error))?;
        let line = |key: &str| top_level_keys(front).find(|(_, found)| *found == key).map(|(line, _)| line);
        if !is_agent_name(&fields.name) {
            return Err(fault(file, line("name"), format!("`{}` can't be an agent's name", fields.name))
                .hint("use 1 to 64 letters, digits, `_` and `-`"));
        }
        if fields.description.trim().is_empty() {
            return Err(fault(file, line("description"), "the description is empty")
                .hint("write one sentence on what the agent does; planners choose agents by it"));
        }
        if let Some(bad) = fields.tools.iter().find(|glob| Glob::new(glob).is_err()) {
            return Err(
                fault(file, line("tools"), format!("`{bad}` is not a pattern for tools")).hint("for example `read_file` or `github:*`")
            );
        }
        check_limits(&fields.limits).map_err(|message| fault(file, line("limits"), message))?;
        let kind = kind(&fields).map_err(|(key, message, hint)| fault(file, line(key).or(line("type")), message).hint(hint))?;
        let service = service(&fields).map_err(|(key, message, hint)| fault(file, line(key).or(line("type")), message).hint(hint))?;
        let prompt = body.trim().to_owned();
        if matches!(kind, CardKind::Llm | CardKind::Dynamic) && prompt.is_empty() {
            return Err(fault(file, None, "the card has no system prompt").hint("write it below the second `---`"));
        }
        Ok(Self {
            name: fields.name,
            description: fields.description.trim().to_owned(),
            objective_template: fields.objective_template.trim().to_owned(),
            kind,
            tools: fields.tools,
            approve: fields.approve,
            limits: fields.limits,
            prompt,
            origin: origin.to_owned(),
            needs_tools: fields.needs_tools,
            harmless_only: false,
            service,
        })
    }

    /// A card for a node that has a role and a goal instead of an agent's name. The goal is what the node is asked to do; `beside`
    /// is a goal that is beside an objective of its own.
    pub fn inline(role: &str, beside: Option<&str>, tools: ToolList) -> Self {
        let goal = beside.map(|goal| format!("\n\nYour goal: {goal}")).unwrap_or_default();
        Self {
            name: "inline".to_owned(),
            description: role.to_owned(),
            objective_template: String::new(),
            kind: CardKind::Llm,
            tools: vec!["*".to_owned()],
            approve: None,
            limits: CardLimits::default(),
            prompt: format!(
                "You are a specialized agent. Your role: {role}.{goal}\n\nWork efficiently and stay with what you are asked. When it is done, \
                 hand in your final output with the tool `return_result`."
            ),
            origin: "the plan".to_owned(),
            needs_tools: false,
            harmless_only: tools == ToolList::Open,
            service: None,
        }
    }

    /// The public side of the card.
    pub fn info(&self) -> AgentInfo {
        AgentInfo {
            name: self.name.clone(),
            description: self.description.clone(),
            objective_template: self.objective_template.clone(),
            kind: match self.kind {
                CardKind::Llm => AgentKind::Llm,
                CardKind::DeepReasoner => AgentKind::Class,
                CardKind::Service => AgentKind::Service,
                CardKind::Dynamic => AgentKind::Dynamic,
                CardKind::Human => AgentKind::Human,
            },
            tools: self.tools.clone(),
            origin: self.origin.clone(),
            approve: self.approve,
            prompt_tokens: super::tokens::of_text(&self.prompt),
            max_tokens: self.limits.max_tokens,
        }
    }

    /// The tools that this card may use out of those there are, narrowed by a node's globs. Denied tools are not offered.
    pub fn narrow(&self, catalog: &Catalog, node: Option<&[String]>) -> Vec<ToolInfo> {
        let own = globs(&self.tools, catalog);
        let node = node.map(|node| globs(node, catalog));
        catalog
            .tools
            .iter()
            .filter(|tool| own.is_match(&tool.name) && node.as_ref().is_none_or(|set| set.is_match(&tool.name)))
            .filter(|tool| tool.verdict != Verdict::Deny)
            .filter(|tool| !self.harmless_only || tool.risk <= Risk::Network)
            .cloned()
            .collect()
    }
}

impl CardError {
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

pub(super) fn fault(file: &str, line: Option<u64>, message: impl Into<String>) -> CardError {
    CardError { file: file.to_owned(), line, message: message.into(), hint: None }
}

/// A set of tool patterns, where a tool may have any of its names; patterns that are none match nothing.
fn globs(patterns: &[String], catalog: &Catalog) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|pattern| Glob::new(catalog.canonical(pattern)).ok()) {
        set.add(glob);
    }
    set.build().unwrap_or_default()
}

fn kind(front: &Front) -> Result<CardKind, (&'static str, String, &'static str)> {
    match (front.kind.as_str(), front.class.as_deref()) {
        ("llm", None) => Ok(CardKind::Llm),
        ("human", None) => Ok(CardKind::Human),
        ("service", None) => Ok(CardKind::Service),
        ("dynamic", None) => Ok(CardKind::Dynamic),
        ("llm" | "human" | "service" | "dynamic", Some(_)) => {
            Err(("class", "`class` only goes with `type: class`".to_owned(), "remove `class`, or write `type: class`"))
        }
        ("class", Some("deep_reasoner")) => Ok(CardKind::DeepReasoner),
        ("class", Some(other)) => Err(("class", format!("there is no class `{other}`"), "the built-in class is `deep_reasoner`")),
        ("class", None) => Err(("type", "a card of `type: class` needs a class".to_owned(), "add `class: deep_reasoner`")),
        (other, _) => Err(("type", format!("there is no type `{other}`"), "use `llm`, `class`, `service`, `dynamic` or `human`")),
    }
}

/// The address of a card that has one.
fn service(front: &Front) -> Result<Option<ServiceAddress>, (&'static str, String, &'static str)> {
    let fields = [("service_url", front.service_url.is_some()), ("token_env", front.token_env.is_some()), ("risk", front.risk.is_some())];
    match (front.kind.as_str(), &front.service_url) {
        ("service", Some(url)) => {
            let url = ServiceAddress::parse(url)
                .map_err(|why| ("service_url", why.to_string(), "for example `service_url: http://localhost:8003`"))?;
            let is_idempotent = front.risk == Some(ServiceRisk::Repeatable);
            let risk = match front.risk {
                Some(ServiceRisk::Read) => Risk::Read,
                Some(ServiceRisk::Network) => Risk::Network,
                Some(ServiceRisk::Write) => Risk::Write,
                Some(ServiceRisk::Execute | ServiceRisk::Repeatable) | None => Risk::Execute,
            };
            Ok(Some(ServiceAddress { url, token_env: front.token_env.clone(), risk, is_idempotent }))
        }
        ("service", None) => {
            Err(("type", "a card of `type: service` needs an address".to_owned(), "add `service_url: http://localhost:8003`"))
        }
        _ => match fields.into_iter().find(|(_, is_there)| *is_there) {
            Some((key, _)) => Err((key, format!("`{key}` only goes with `type: service`"), "remove it, or write `type: service`")),
            None => Ok(None),
        },
    }
}

fn check_limits(limits: &CardLimits) -> Result<(), String> {
    if limits.max_iterations.is_some_and(|n| !(1..=MOST_ITERATIONS).contains(&n)) {
        return Err(format!("`max_iterations` must be 1 to {MOST_ITERATIONS}"));
    }
    if limits.max_tokens == Some(0) {
        return Err("`max_tokens` must be 1 or more".to_owned());
    }
    Ok(())
}

/// Front matter and body.
fn split(text: &str) -> Result<(&str, &str), &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err("the card doesn't open with `---`");
    }
    let start = first.len();
    let mut end = start;
    for line in lines {
        if line.trim_end() == "---" {
            return Ok((&text[start..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err("the front matter has no closing `---`")
}

/// Keys at the left margin of the front matter, with their line in the file.
fn top_level_keys(front: &str) -> impl Iterator<Item = (u64, &str)> {
    front.lines().zip(2u64..).filter_map(|(line, number)| {
        let (key, _) = line.split_once(':')?;
        let key = key.trim_end().trim_matches(['"', '\'']);
        (!line.starts_with([' ', '\t', '#', '-'])).then_some((number, key))
    })
}

fn yaml_fault(file: &str, error: &serde_saphyr::Error) -> CardError {
    // The front matter starts on the file's second line.
    let line = error.location().map(|at| at.line() + 1);
    let message = error.without_snippet().to_string();
    let message = message.lines().next().unwrap_or("this is not YAML").trim();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // The place within the front matter is given by the file's own line.
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    fault(file, line, message).hint("write it as YAML; `dagdeck agents` lists the shipped cards as examples")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> Result<Card, CardError> {
        Card::parse(text, "agents/x.md", "project")
    }

    fn tool(name: &str, risk: Risk, verdict: Verdict) -> ToolInfo {
        ToolInfo { name: name.into(), description: String::new(), input_schema: json!({}), risk, verdict, reach: None }
    }

    #[test]
    fn a_card_is_front_matter_and_a_prompt() {
        let card = parse(
            "---\nname: reviewer\ndescription: Reviews code\nobjective_template: Review {path}\ntype: llm\ntools: [read_file, 'github:*']\napprove: after\nlimits:\n  max_iterations: 7\n---\n\nYou review.\n",
        )
        .unwrap();
        assert_eq!(card.name, "reviewer");
        assert_eq!(card.kind, CardKind::Llm);
        assert_eq!(card.tools, ["read_file", "github:*"]);
        assert_eq!(card.approve, Some(Approve::After));
        assert_eq!(card.limits.max_iterations, Some(7));
        assert_eq!(card.prompt, "You review.");
        assert_eq!(card.info().kind, AgentKind::Llm);
    }

    #[test]
    fn a_service_has_an_address_and_no_other_card_has() {
        let card =
            parse("---\nname: x\ndescription: d\ntype: service\nservice_url: http://localhost:8003\ntoken_env: TOKEN\n---\n").unwrap();
        let service = card.service.clone().unwrap();
        assert_eq!(
            (service.place().as_str(), service.token_env.as_deref(), service.risk),
            ("localhost:8003", Some("TOKEN"), Risk::Execute)
        );
        assert_eq!((card.kind, card.info().kind), (CardKind::Service, AgentKind::Service));
        for (front, message) in [
            ("type: service", "needs an address"),
            ("type: service\nservice_url: ftp://a", "neither an `http` nor an `https` address"),
            ("type: llm\nservice_url: http://a", "`service_url` only goes with `type: service`"),
            ("risk: read", "`risk` only goes with `type: service`"),
            ("risk: repeatable", "`risk` only goes with `type: service`"),
            ("type: service\nservice_url: http://a\nclass: deep_reasoner", "`class` only goes with"),
            ("type: robot", "there is no type `robot`"),
        ] {
            let error = parse(&format!("---\nname: x\ndescription: d\n{front}\n---\nYou.\n")).unwrap_err();
            assert!(error.message.contains(message), "{front}: {error}");
        }
        assert!(parse("---\nname: x\ndescription: d\ntype: dynamic\n---\n").unwrap_err().message.contains("no system prompt"));
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_are_read() {
        let card = parse("\u{feff}---\r\nname: a\r\ndescription: b\r\n---\r\nPrompt.\r\n").unwrap();
        assert_eq!((card.name.as_str(), card.prompt.as_str()), ("a", "Prompt."));
    }

    #[test]
    fn a_card_that_names_a_model_is_refused_with_its_line() {
        let error = parse("---\nname: a\ndescription: b\nmodel: big\n---\nx").unwrap_err();
        assert_eq!(error.to_string(), "agents/x.md:4: a card can't set `model`: model settings belong to the execution, not to the agent");
        assert!(error.hint.is_some());
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let error = parse("---\nname: a\ndescription: b\nflavour: sweet\n---\nx").unwrap_err();
        assert_eq!(error.line, Some(4), "{error}");
        assert!(error.message.contains("flavour"), "{error}");
        assert!(!error.message.contains('\n'));
    }

    #[test]
    fn broken_yaml_is_named_with_its_line() {
        let error = parse("---\nname: a\ndescription: [b\n---\nx").unwrap_err();
        assert!(error.line.is_some_and(|line| line >= 3), "{error}");
    }

    #[test]
    fn a_missing_field_is_named() {
        let error = parse("---\nname: a\n---\nx").unwrap_err();
        assert!(error.message.contains("description"), "{error}");
    }

    #[test]
    fn text_without_front_matter_is_refused() {
        assert_eq!(parse("You are helpful.").unwrap_err().line, Some(1));
        assert!(parse("---\nname: a\n").unwrap_err().message.contains("closing"));
        assert!(parse("").is_err());
    }

    #[test]
    fn limits_out_of_bounds_are_refused() {
        let error = parse("---\nname: a\ndescription: b\nlimits:\n  max_iterations: 21\n---\nx").unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (Some(4), "`max_iterations` must be 1 to 20"));
    }

    #[test]
    fn a_node_can_only_narrow_its_cards_tools() {
        let card = parse("---\nname: a\ndescription: b\ntools: ['read_*', 'github:*']\n---\nx").unwrap();
        let tools = vec![
            tool("read_file", Risk::Read, Verdict::Allow),
            tool("read_mail", Risk::Read, Verdict::Deny),
            tool("write_file", Risk::Write, Verdict::Ask),
            tool("github:issues", Risk::Execute, Verdict::Ask),
        ];
        let catalog = Catalog { tools, aliases: [("cat".into(), "read_file".into())].into(), ..Catalog::default() };
        let names = |node: Option<&[String]>| card.narrow(&catalog, node).into_iter().map(|t| t.name).collect::<Vec<_>>();
        assert_eq!(names(None), ["read_file", "github:issues"]);
        assert_eq!(names(Some(&["*".into()])), ["read_file", "github:issues"]);
        assert_eq!(names(Some(&["read_file".into(), "write_file".into()])), ["read_file"]);
        assert_eq!(names(Some(&["cat".into()])), ["read_file"]);
        assert!(names(Some(&[])).is_empty());
    }

    #[test]
    fn an_inline_card_without_a_tool_list_gets_no_tools_with_side_effects() {
        let tools = vec![tool("read_file", Risk::Read, Verdict::Allow), tool("write_file", Risk::Write, Verdict::Allow)];
        let catalog = Catalog { tools, ..Catalog::default() };
        assert_eq!(Card::inline("a clerk", None, ToolList::Open).narrow(&catalog, None).len(), 1);
        assert_eq!(Card::inline("a clerk", None, ToolList::Given).narrow(&catalog, Some(&["*".into()])).len(), 2);
    }
}

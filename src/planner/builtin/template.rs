//! `Template`: a plan with slots, as a TOML file. It says which requests it fits, what it takes out of them, and the nodes.
//! The format is described in `docs/plan-templates.md`. Those shipped are in `plans/`; a project's and a user's come before them.

use crate::files;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, io, path::Path};

use super::form::{self, FormPart};
use super::shipped::SHIPPED;
use crate::plan::{AgentNode, Catalog, NodeKind, Verdict, dialect};

/// A plan with slots.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Unique; a file in a nearer place with the same name comes first.
    pub name: String,
    /// What it does, for people.
    pub description: String,
    /// How people word it, in the same form as operations: `translate {file} to {language:word}`.
    pub forms: Vec<String>,
    /// Requests that fit, for people and tests.
    #[serde(default)]
    pub examples: Vec<String>,
    /// The plan's nodes in native form; `if` and `unless` name a slot that has to be filled, or empty, for the node to be there.
    pub nodes: Vec<Map<String, Value>>,
    #[serde(skip)]
    pub(super) parsed: Vec<Vec<FormPart>>,
}

/// A template file that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {message}")]
pub struct TemplateError {
    /// The file as people know it.
    pub file: String,
    /// What is wrong, with line and column where they are known.
    pub message: String,
}

/// Longest template file that is read.
const MAX_BYTES: u64 = 256 * 1024;

impl Template {
    /// Reads a template file's text.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str, file: &str) -> Result<Self, TemplateError> {
        let wrong = |message: String| TemplateError { file: file.to_owned(), message };
        let mut template: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
            wrong(format!("line {line}: {}", error.message()))
        })?;
        template.parsed = template.forms.iter().map(|form| form::parse(form)).collect::<Result<_, _>>().map_err(&wrong)?;
        if template.parsed.is_empty() {
            return Err(wrong("`forms` is empty, so the template would fit nothing".to_owned()));
        }
        if template.nodes.is_empty() {
            return Err(wrong("the template has no `[[nodes]]`".to_owned()));
        }
        let mut slots = Vec::new();
        template.parsed.iter().for_each(|form| form::typed_slots(form, &mut slots));
        for key in template.nodes.iter().flat_map(|node| [node.get("if"), node.get("unless")]).flatten() {
            if key.as_str().is_none_or(|slot| !slots.iter().any(|(known, _)| known == slot)) {
                return Err(wrong(format!("a node uses the slot {key}, which no form has")));
            }
        }
        for (at, node) in template.nodes.iter().enumerate() {
            let node = dialect::node_from_value(bare(node), &format!("nodes[{at}]")).map_err(|error| wrong(error.to_string()))?;
            if node.kind == NodeKind::Agent(AgentNode::default()) {
                return Err(wrong(format!("`{}` has no kind: say what it does, by `tool`, `agent` or `code`", node.id)));
            }
        }
        Ok(template)
    }

    /// The shipped templates with those of the user and the project over them, and the files that can't be used.
    pub fn load(workspace: &Path, user_config: Option<&Path>) -> (Vec<Self>, Vec<TemplateError>) {
        let mut problems = Vec::new();
        let mut by_name: BTreeMap<String, Self> = Self::shipped().into_iter().map(|template| (template.name.clone(), template)).collect();
        let places = user_config.map(|config| config.join("plans")).into_iter().chain([workspace.join(".dagdeck").join("plans")]);
        for folder in places {
            match read_folder(&folder) {
                Ok(read) => {
                    for one in read {
                        match one {
                            Ok(template) => drop(by_name.insert(template.name.clone(), template)),
                            Err(problem) => problems.push(problem),
                        }
                    }
                }
                Err(error) => {
                    problems.push(TemplateError { file: folder.display().to_string(), message: format!("can't be read: {error}") })
                }
            }
        }
        (by_name.into_values().collect(), problems)
    }

    /// The shipped templates, sorted by name.
    pub fn shipped() -> Vec<Self> {
        SHIPPED.iter().filter_map(|(file, text)| Self::parse(text, file).ok()).collect()
    }

    /// Whether all tools and agents of the plan are there to be used.
    pub(super) fn is_usable(&self, catalog: &Catalog) -> bool {
        self.nodes.iter().all(|node| {
            let name = |key: &str| node.get(key).and_then(Value::as_str);
            name("tool").is_none_or(|name| catalog.tool(name).is_some_and(|tool| tool.verdict != Verdict::Deny))
                && name("agent").is_none_or(|name| catalog.agents.iter().any(|agent| agent.name == name))
        })
    }

    /// The nodes for these inputs: those that aren't wanted are left out, and so are references to them in `depends_on`.
    pub(super) fn nodes(&self, inputs: &Map<String, Value>) -> Vec<Value> {
        let wanted = |node: &Map<String, Value>| {
            let filled = |key: &str| node.get(key).and_then(Value::as_str).map(|slot| inputs.contains_key(slot));
            filled("if") != Some(false) && filled("unless") != Some(true)
        };
        let (kept, left_out): (Vec<_>, Vec<_>) = self.nodes.iter().partition(|node| wanted(node));
        // Two nodes may share an id, one for each state of a slot.
        let stays = |id: &Value| kept.iter().any(|node| node.get("id") == Some(id));
        let gone: Vec<&Value> = left_out.iter().filter_map(|node| node.get("id")).filter(|id| !stays(id)).collect();
        let clean = |node: &Map<String, Value>| {
            let mut node = bare(node);
            if let Some(Value::Array(sources)) = node.get_mut("depends_on") {
                sources.retain(|source| !gone.contains(&source));
            }
            node
        };
        // Values go straight into the nodes, so that two templates of one request never share an input.
        let fill = |mut node: Value| {
            fill(&mut node, inputs);
            node
        };
        kept.iter().map(|node| fill(clean(node))).collect()
    }
}

/// Puts the values of slots in the place of `{{inputs.slot}}`.
fn fill(value: &mut Value, inputs: &Map<String, Value>) {
    match value {
        Value::String(text) => {
            for (name, input) in inputs {
                let said = input.as_str().map_or_else(|| input.to_string(), super::lower::literal);
                *text = text.replace(&format!("{{{{inputs.{name}}}}}"), &said);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| fill(value, inputs)),
        Value::Object(map) => map.values_mut().for_each(|value| fill(value, inputs)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The node without what only a template knows.
fn bare(node: &Map<String, Value>) -> Value {
    Value::Object(
        node.iter().filter(|(key, _)| !matches!(key.as_str(), "if" | "unless")).map(|(key, value)| (key.clone(), value.clone())).collect(),
    )
}

fn read_folder(folder: &Path) -> io::Result<Vec<Result<Template, TemplateError>>> {
    Ok(files::with_ending(folder, "toml")?.iter().map(|path| read_file(path)).collect())
}

fn read_file(path: &Path) -> Result<Template, TemplateError> {
    let file = path.display().to_string();
    let words = |error: io::Error| TemplateError { file: file.clone(), message: format!("can't be read: {error}") };
    Template::parse(&files::read_text(path, MAX_BYTES).map_err(words)?, &file)
}

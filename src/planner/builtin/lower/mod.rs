//! From the tree to a plan: few nodes, each with a title; a person is asked before every effect.

mod each;
mod order;
mod query;
mod tables;

use crate::planner::builtin::slots::{SlotValue, SlotValues};
use serde_json::{Map, Value, json};

use super::{
    facts::WorkspaceFacts,
    rows::{self, Row},
    template::Template,
    tree::{Clause, Condition, Operation, Query, Step, Target},
};
use crate::plan::{Catalog, RESERVED_IDS};
use order::StepOrder;

pub(super) use order::has_effect;

/// What a node gave, as later nodes name it.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub id: String,
    pub shape: ResultShape,
    /// The log whose lines it holds.
    pub log: Option<String>,
    /// What separates the cells of the table that it was.
    pub separator: char,
}

impl Given {
    pub fn new(id: String, shape: ResultShape) -> Self {
        Self { id, shape, log: None, separator: ',' }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultShape {
    Value,
    /// Text with a line end.
    Text,
    /// A list of rows or of values.
    Rows,
    /// The answer of `query_data`.
    Table,
    /// One cell of such an answer.
    Cell,
}

pub(super) struct Lowering<'a> {
    pub facts: &'a WorkspaceFacts,
    pub catalog: &'a Catalog,
    pub templates: &'a [Template],
    pub request: &'a str,
    pub nodes: Vec<Value>,
    pub edges: Vec<Value>,
    /// What a step waits for: those of its nodes that wait for nothing else.
    after: Vec<String>,
}

impl<'a> Lowering<'a> {
    pub fn new(facts: &'a WorkspaceFacts, catalog: &'a Catalog, templates: &'a [Template], request: &'a str) -> Self {
        Self { facts, catalog, templates, request, nodes: Vec::new(), edges: Vec::new(), after: Vec::new() }
    }

    /// Nodes for steps, which wait for each other where it matters.
    pub fn steps(&mut self, steps: &[Step]) {
        let mut unwritten: Vec<Given> = Vec::new();
        let mut order = StepOrder::new(self.request);
        for step in steps {
            let (first, before) = (self.nodes.len(), order.before(step));
            self.after.clone_from(&before);
            match step {
                Step::Do(Clause { operation: Operation::Previous, target: Some(target) }) => {
                    let last = std::mem::take(&mut unwritten);
                    self.write(&last, target);
                }
                Step::Do(clause) => {
                    let given = match &clause.operation {
                        Operation::Row { name, slots } if clause.target.is_some() => self.named_row(name, slots, Say::Elsewhere),
                        Operation::Query(query) => match clause.target.as_ref().filter(|target| self.stays_as_written(query, target)) {
                            Some(target) => self.rows_as_written(query, target),
                            None => Some(self.query(query)),
                        },
                        operation => self.operation(operation),
                    };
                    match (&clause.target, given) {
                        (Some(target), Some(given)) => self.write(&[given], target),
                        (None, Some(given)) => unwritten.push(given),
                        (_, None) => {}
                    }
                }
                Step::If { condition, then, otherwise } => self.branch(condition, then, otherwise),
                Step::Unknown(text) => {
                    let text = super::slots::quoted(text);
                    let ask = json!({ "text": format!("What is meant by {text}?") });
                    self.add("ask", json!({ "title": format!("ask about {text}"), "ask": ask }));
                }
            }
            order::wait(&mut self.nodes[first..], &before);
            order.push(step, &self.nodes[first..], &self.edges);
        }
        self.after.clear();
        // Entries of a log are shown as they are written there.
        for given in unwritten {
            if let Some(log) = &given.log {
                self.log_lines(&given.id, log, &format!("show the lines of {log}"));
            }
        }
    }

    /// Adds a node under a free id. A node without dependencies waits for what its step waits for.
    pub fn add(&mut self, name: &str, mut node: Value) -> String {
        let taken = |id: &str| self.nodes.iter().any(|node| node["id"] == id) || RESERVED_IDS.contains(&id);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let id = std::iter::once(name.to_owned()).chain(numbered).find(|id| !taken(id)).unwrap_or_default();
        if node.get("depends_on").is_none() && !self.after.is_empty() {
            node["depends_on"] = json!(self.after);
        }
        let mut whole = Map::from_iter([("id".to_owned(), json!(id))]);
        if let Value::Object(fields) = node {
            whole.extend(fields.into_iter().filter(|(key, _)| key != "id"));
        }
        self.nodes.push(Value::Object(whole));
        id
    }

    fn finals(&self) -> Vec<String> {
        let ids = self.nodes.iter().filter_map(|node| node["id"].as_str());
        let followed = |id: &str| {
            self.nodes.iter().any(|node| node["depends_on"].as_array().is_some_and(|sources| sources.iter().any(|source| source == id)))
                || self.edges.iter().any(|edge| edge["from"] == id)
        };
        ids.filter(|id| !followed(id)).map(str::to_owned).collect()
    }

    fn operation(&mut self, operation: &Operation) -> Option<Given> {
        match operation {
            Operation::Query(query) => Some(self.query(query)),
            Operation::Row { name, slots } => self.named_row(name, slots, Say::Words),
            Operation::OnFiles { query, row, target } => {
                self.on_files(operation, query, row, target.as_deref());
                None
            }
            Operation::Agent(text) => Some(self.agent(text)),
            Operation::Previous => None,
        }
    }

    fn named_row(&mut self, name: &str, slots: &SlotValues, say: Say) -> Option<Given> {
        if let Some(row) = rows::row(name) { self.row(row, slots, say) } else { self.template(name, slots) }
    }

    fn row(&mut self, row: &Row, slots: &SlotValues, say: Say) -> Option<Given> {
        let title = row.title(slots);
        if row.name == "convert" || row.name == "convert_to" {
            return self.convert(slots, &title);
        }
        if let Some((name, SlotValue::Paths(paths))) = slots.iter().find(|(_, slot)| matches!(slot, SlotValue::Paths(_)))
            && !row.args.values().any(Value::is_array)
        {
            return self.row_of_each(row, slots, (name, paths), say);
        }
        let mut sources: Vec<(String, String)> = Vec::new();
        for read in &row.reads {
            let path = slot(slots, read)?.value();
            let id = self.add("read_file", json!({ "title": format!("read {}", path.as_str().unwrap_or_default()), "tool": "read_file", "args": { "path": escape(&path) } }));
            sources.push((read.clone(), id));
        }
        if let Some(tool) = &row.tool {
            let mut args: Map<String, Value> =
                row.args.iter().filter_map(|(key, value)| Some((key.clone(), filled(value, slots)?))).collect();
            let paths = match args.get("path") {
                Some(Value::Array(paths)) => paths.clone(),
                path => path.cloned().into_iter().collect(),
            };
            let is_folder = paths.iter().filter_map(Value::as_str).any(|path| self.facts.is_folder(path));
            if row.name == "delete" && is_folder {
                args.insert("recursive".into(), json!(true));
            }
            let mut node = json!({ "title": title, "tool": tool, "args": args });
            if row.needs.effect {
                node["approve"] = json!("before");
            }
            let id = self.add(if row.code.is_some() { tool } else { &row.name }, node);
            if row.code.is_none() {
                return (!row.needs.effect).then_some(Given::new(id, ResultShape::Value));
            }
            sources.push(("result".into(), id));
        }
        let code = filled_code(row.code.as_ref()?, slots);
        let consts: String = sources.iter().map(|(name, id)| format!("const {name} = deps.{id}.output;\n")).collect();
        let code = match (row.needs.truth, say) {
            (true, Say::Words | Say::Elsewhere) => {
                let (yes, no) = row.needs.say.clone().unwrap_or_else(|| ("yes".into(), "no".into()));
                format!("{consts}const holds = (() => {{ {code} }})();\nreturn holds ? {} : {};", json!(yes), json!(no))
            }
            _ => format!("{consts}{code}"),
        };
        let depends: Vec<&String> = sources.iter().map(|(_, id)| id).collect();
        let mut node = json!({ "title": title, "code": code });
        if !depends.is_empty() {
            node["depends_on"] = json!(depends);
        }
        let id = self.add(&row.name, node);
        if say == Say::Elsewhere && row.writes.is_some() {
            return Some(Given::new(id, ResultShape::Text));
        }
        if let Some(path) = row.writes.as_ref().and_then(|writes| slot(slots, writes)).map(SlotValue::value) {
            let args = json!({ "path": escape(&path), "content": format!("{{{{{id}.result}}}}") });
            let node = json!({ "title": format!("write {}", path.as_str().unwrap_or_default()), "tool": "write_file", "args": args, "approve": "before", "depends_on": [id] });
            self.add("write_file", node);
            return None;
        }
        Some(Given::new(id, if row.rows { ResultShape::Rows } else { ResultShape::Value }))
    }

    /// Rows of a data file in another format.
    fn convert(&mut self, slots: &SlotValues, title: &str) -> Option<Given> {
        let Some(SlotValue::Path(file)) = slot(slots, "file") else { return None };
        let format = match (slot(slots, "format"), slot(slots, "target")) {
            (Some(SlotValue::Choice(format)), _) => (*format).to_owned(),
            (_, Some(SlotValue::Path(target))) => target.rsplit('.').next()?.to_owned(),
            _ => return None,
        };
        let found = self.query(&Query::rows(super::tree::Source::Table(file.clone())));
        let given = self.formatted(&found, &format, title);
        match slot(slots, "target") {
            Some(SlotValue::Path(target)) => {
                self.write(&[given], &Target { path: target.clone(), append: false });
                None
            }
            _ => Some(given),
        }
    }

    fn template(&mut self, name: &str, slots: &SlotValues) -> Option<Given> {
        let template = self.templates.iter().find(|template| template.name == name)?;
        let mut inputs: Map<String, Value> = slots.iter().map(|(name, slot)| (name.clone(), slot.value())).collect();
        inputs.insert("request".into(), json!(self.request));
        let mut renamed: Vec<(String, String)> = Vec::new();
        let mut last = None;
        for mut node in template.nodes(&inputs) {
            let id = node["id"].as_str().unwrap_or(name).to_owned();
            follow(&mut node, &renamed);
            let added = self.add(&id, node);
            if added != id {
                renamed.push((id, added.clone()));
            }
            last = Some(added);
        }
        Some(Given::new(last?, ResultShape::Value))
    }

    fn agent(&mut self, text: &str) -> Given {
        let verb = text.split_whitespace().next().unwrap_or_default().to_lowercase();
        let wanted = super::lists::choices("cards").find(|(word, _)| *word == verb).map_or("writer", |(_, card)| card);
        let files: Vec<String> = super::words::words(text)
            .iter()
            .filter_map(|word| self.facts.spelled(&word.text))
            .filter(|path| !self.facts.is_folder(path))
            .collect();
        let reads: Vec<String> = files
            .iter()
            .map(|path| {
                self.add("read_file", json!({ "title": format!("read {path}"), "tool": "read_file", "args": { "path": literal(path) } }))
            })
            .collect();
        let mut node = match self.catalog.agents.iter().find(|agent| agent.name == wanted) {
            Some(card) => json!({ "title": format!("{text} (needs a model)"), "agent": card.name, "objective": literal(text) }),
            None => json!({ "title": format!("{text} (needs a model)"), "role": "a careful generalist", "goal": literal(text) }),
        };
        let sources = if reads.is_empty() { self.finals() } else { reads };
        if !sources.is_empty() {
            node["depends_on"] = json!(sources);
        }
        Given::new(self.add(&verb, node), ResultShape::Value)
    }

    /// Writes results to a file in the format that its name asks for.
    fn write(&mut self, given: &[Given], target: &Target) {
        let ending = target.path.rsplit('.').next().unwrap_or_default().to_lowercase();
        let parts: Vec<String> = given
            .iter()
            .map(|given| match given.shape {
                ResultShape::Value | ResultShape::Text => format!("{{{{{}.result}}}}", given.id),
                ResultShape::Cell | ResultShape::Rows | ResultShape::Table => {
                    let text = self.formatted(given, &ending, &format!("make the text of {}", target.path));
                    format!("{{{{{}.result}}}}", text.id)
                }
            })
            .collect();
        let sources: Vec<String> = parts.iter().map(|part| part.trim_matches(['{', '}']).trim_end_matches(".result").to_owned()).collect();
        let (tool, action) = if target.append { ("append_file", "append to") } else { ("write_file", "write") };
        // One value gets a line of its own; a text of rows ends with one already.
        let content = match (given, &parts[..]) {
            ([Given { shape: ResultShape::Value, .. }], [only]) => format!("{only}\n"),
            (_, [only]) => only.clone(),
            _ => parts.join("\n"),
        };
        let node = json!({
            "title": format!("{action} {}", target.path), "tool": tool, "args": { "path": literal(&target.path), "content": content }, "approve": "before", "depends_on": sources,
        });
        self.add(tool, node);
    }

    fn branch(&mut self, condition: &Condition, then: &[Step], otherwise: &[Step]) {
        let given = match &condition.operation {
            Operation::Row { name, slots } => rows::row(name).and_then(|row| self.row(row, slots, Say::Truth)),
            operation => self.operation(operation),
        };
        let Some(given) = given else { return };
        let path = match given.shape {
            ResultShape::Cell => format!("{}.result.rows.0.{}", given.id, query::VALUE),
            _ => format!("{}.result", given.id),
        };
        let test = match condition.test {
            Some((comparison, number)) => format!("{path} {} {number}", comparison.sign()),
            None => format!("{path} == true or {path} == 'yes'"),
        };
        let (yes, no) = if condition.not { ("no", "yes") } else { ("yes", "no") };
        let decide = self.add("decide", json!({ "title": format!("decide whether {condition}"), "decide": format!("'{yes}' if ({test}) else '{no}'"), "depends_on": [given.id] }));
        for (label, steps) in [("yes", then), ("no", otherwise)] {
            let first = self.nodes.len();
            if steps.is_empty() {
                self.add("nothing_to_do", json!({ "title": "say that nothing is to be done", "value": format!("nothing was done: {condition} is not true"), "depends_on": [] }));
            } else {
                self.steps(steps);
            }
            self.lead_to(&decide, label, label == "no", first);
        }
    }

    /// The plan of the reading that a person picks at `ask`.
    pub fn readings(&mut self, ask: &str, readings: &[(String, Vec<Step>)]) {
        let all = readings.len();
        let picked = |(at, (said, _)): (usize, &(String, Vec<Step>))| {
            let number = at + 1;
            if number == all { format!("'{number}'") } else { format!("'{number}' if {ask}.result.answer == {} else ", json!(said)) }
        };
        let expression: String = readings.iter().enumerate().map(picked).collect();
        let decide = self.add("decide", json!({ "title": "go on with what is meant", "decide": expression, "depends_on": [ask] }));
        for (at, (_, steps)) in readings.iter().enumerate() {
            let first = self.nodes.len();
            self.steps(steps);
            self.lead_to(&decide, &(at + 1).to_string(), at + 1 == all, first);
        }
    }

    /// Lets the nodes from `first` on that wait for nothing follow a decision. It leads to one node: to several by one before them.
    fn lead_to(&mut self, decide: &str, label: &str, is_default: bool, first: usize) {
        let waits = |node: &Value| node["depends_on"].as_array().is_some_and(|sources| !sources.is_empty());
        if self.nodes[first..].iter().filter(|node| !waits(node)).count() > 1 {
            let start = self.add("go_on", json!({ "title": "go on", "value": label, "depends_on": [] }));
            self.nodes[first..].rotate_right(1);
            for node in self.nodes[first + 1..].iter_mut().filter(|node| !waits(node)) {
                node["depends_on"] = json!([start]);
            }
        }
        for node in &mut self.nodes[first..] {
            if waits(node) {
                continue;
            }
            let mut edge = json!({ "from": decide, "to": node["id"], "when": label });
            if let Some(fields) = node.as_object_mut() {
                fields.remove("depends_on");
            }
            if is_default && !self.edges.iter().any(|edge| edge["from"] == decide && edge["default"] == true) {
                edge["default"] = json!(true);
            }
            self.edges.push(edge);
        }
    }
}

/// Lets a node of a template follow those that got another id.
fn follow(value: &mut Value, renamed: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (old, new) in renamed {
                if text == old {
                    text.clone_from(new);
                }
                *text =
                    text.replace(&format!("{{{{{old}"), &format!("{{{{{new}")).replace(&format!("deps.{old}."), &format!("deps.{new}."));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| follow(value, renamed)),
        Value::Object(map) => map.iter_mut().filter(|(key, _)| *key != "id").for_each(|(_, value)| follow(value, renamed)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// How an answer of yes or no is given.
#[derive(Clone, Copy, PartialEq)]
enum Say {
    Words,
    Truth,
    /// In words, and what would be written to a file is given.
    Elsewhere,
}

fn slot<'s>(slots: &'s SlotValues, name: &str) -> Option<&'s SlotValue> {
    slots.iter().find(|(known, _)| known == name).map(|(_, slot)| slot)
}

/// An argument with its slots filled; none when it names one that isn't there. A list leaves such entries out.
fn filled(value: &Value, slots: &SlotValues) -> Option<Value> {
    match value {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).filter(|name| !name.contains('}')) {
                if let Some(name) = name.strip_suffix(".folder") {
                    let path = slot(slots, name)?.value();
                    let path = path.as_str()?.to_owned();
                    return Some(json!(path.rsplit_once('/').map_or(".", |(folder, _)| folder)));
                }
                return Some(escape(&slot(slots, name)?.value()));
            }
            let mut text = text.clone();
            for (name, slot) in slots {
                if let (true, SlotValue::Path(path)) = (text.contains(&format!("{{{name}.table}}")), slot) {
                    // Two files of one stem get their folders in their names.
                    let all = slots.iter().filter_map(|(_, slot)| if let SlotValue::Path(path) = slot { Some(path.clone()) } else { None });
                    let all: Vec<String> = all.collect();
                    let tables = crate::tools::tables::names(&all);
                    let table = all.iter().position(|other| other == path).map_or("", |at| tables[at].as_str());
                    text = text.replace(&format!("{{{name}.table}}"), table);
                }
                if let SlotValue::Path(path) = slot {
                    let (folder, file) = path.rsplit_once('/').map_or(("", path.as_str()), |(folder, file)| (&path[..=folder.len()], file));
                    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
                    text = text.replace(&format!("{{{name}.stem}}"), &format!("{folder}{stem}"));
                }
                let value = match escape(&slot.value()) {
                    Value::String(value) => value,
                    value => value.to_string(),
                };
                text = text.replace(&format!("{{{name}.shell}}"), &format!("'{}'", value.replace('\'', "'\\''")));
                text = text.replace(&format!("{{{name}}}"), value.trim_end_matches('/'));
            }
            Some(json!(text))
        }
        Value::Array(list) => {
            let flat = |value: Value| if let Value::Array(list) = value { list } else { vec![value] };
            let list: Vec<Value> = list.iter().filter_map(|value| filled(value, slots)).flat_map(flat).collect();
            Some(if let [only] = &list[..] { only.clone() } else { Value::Array(list) })
        }
        other => Some(other.clone()),
    }
}

/// Code with its slots as literals.
fn filled_code(code: &str, slots: &SlotValues) -> String {
    slots.iter().fold(code.trim_end().to_owned(), |code, (name, slot)| code.replace(&format!("{{{name}}}"), &slot.value().to_string()))
}

/// Words of the request in arguments are no references.
fn escape(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(literal(text)),
        other => other.clone(),
    }
}

pub(super) fn literal(text: &str) -> String {
    text.replace("{{", "\\{{").replace("$OUTPUT[", "$OUTPUT [")
}

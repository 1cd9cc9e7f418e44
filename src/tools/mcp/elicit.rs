//! What a server asks of people in the middle of a call, as a question with a form, and the reply as the server wants it. It gets only what
//! a person sent, and only what fits the form that it asked for.

use super::scope::CallScope;
use crate::plan::{Field, FieldKind, schema_faults, value_text};
use crate::tools::CallQuestion;
use jsonschema::Validator;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};

/// Longest label of a field, in characters.
const LABEL: usize = 300;

/// What a schema says of a value beside its type.
const LIMITS: [&str; 7] = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "format"];

/// A form as a server asks for it.
struct AskedForm {
    lines: Vec<AskedField>,
    validator: Option<Validator>,
}

/// One property of the form.
struct AskedField {
    field: Field,
    /// What people choose from, each with the value that the server knows it by.
    choices: Vec<(String, String)>,
    /// More than one may be chosen.
    takes_several: bool,
}

/// Asks people, until they refuse or their reply fits.
pub(super) async fn reply(request: ElicitRequestParams, scope: &CallScope<'_>) -> ElicitResult {
    match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = json!(requested_schema);
            let order = requested_schema.property_order.unwrap_or_default();
            fill_in(&message, AskedForm::of(&schema, &order), scope).await
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let text = format!("{message}\nIt wants you to open this address, which dagdeck doesn't do for you: {url}");
            choose(&text, ["I opened it", "no"], scope).await
        }
        _ => ElicitResult::new(ElicitationAction::Decline),
    }
}

/// Only the first option is a yes.
async fn choose(text: &str, options: [&str; 2], scope: &CallScope<'_>) -> ElicitResult {
    let options = options.map(str::to_owned);
    let question = CallQuestion { options: options.to_vec(), ..question(text, scope) };
    let is_yes = scope.ask(question).await.is_ok_and(|answer| answer == options[0].as_str());
    ElicitResult::new(if is_yes { ElicitationAction::Accept } else { ElicitationAction::Decline })
}

async fn fill_in(message: &str, mut form: AskedForm, scope: &CallScope<'_>) -> ElicitResult {
    if form.lines.is_empty() {
        let chosen = choose(message, ["yes", "no"], scope).await;
        let is_yes = chosen.action == ElicitationAction::Accept;
        return if is_yes { chosen.with_content(json!({})) } else { chosen };
    }
    let mut text = message.to_owned();
    loop {
        let fields = form.lines.iter().map(|line| line.field.clone()).collect();
        let Ok(answer) = scope.ask(CallQuestion { fields, ..question(&text, scope) }).await else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let content = form.content(&answer);
        let Some(faults) = form.validator.as_ref().and_then(|validator| schema_faults(validator, &content, 3)) else {
            return ElicitResult::new(ElicitationAction::Accept).with_content(content);
        };
        text = format!("{message}\nYour last reply was not sent, because it doesn't fit: {faults}");
        form.preset(&answer);
    }
}

fn question(text: &str, scope: &CallScope<'_>) -> CallQuestion {
    let text = format!("the MCP server `{}` asks in a call of `{}`: {text}{}", scope.server, scope.tool, scope.doubt());
    let payload = json!({"server": scope.server, "tool": scope.tool, "reply goes to": scope.place, "question": scope.next_number()});
    CallQuestion { text, payload, ..CallQuestion::default() }
}

impl AskedForm {
    fn of(schema: &Value, order: &[String]) -> Self {
        let nothing = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&nothing);
        let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let place = |name: &String| order.iter().position(|other| other == name).unwrap_or(order.len());
        let mut lines: Vec<AskedField> =
            properties.iter().map(|(name, property)| AskedField::of(name, property, !required.contains(&name.as_str()))).collect();
        lines.sort_by_key(|line| place(&line.field.name));
        let validator = jsonschema::options().should_validate_formats(true).build(schema).ok();
        Self { lines, validator }
    }

    /// The reply of a person as the server wants it; what was left out stays so.
    fn content(&self, answer: &Value) -> Value {
        let given = |line: &AskedField| {
            let value = answer.get(&line.field.name).filter(|value| !value.is_null())?;
            Some((line.field.name.clone(), line.meant(value)))
        };
        Value::Object(self.lines.iter().filter_map(given).collect())
    }

    /// Begins with what was written before.
    fn preset(&mut self, answer: &Value) {
        for line in &mut self.lines {
            let written = answer.get(&line.field.name).filter(|value| !value.is_null()).cloned();
            line.field.default = written.or(line.field.default.take());
        }
    }
}

impl AskedField {
    fn of(name: &str, property: &Value, optional: bool) -> Self {
        let takes_several = property["type"] == "array";
        let choices = choices(if takes_several { &property["items"] } else { property });
        let kind = match property["type"].as_str() {
            Some("number" | "integer") => FieldKind::Number,
            Some("boolean") => FieldKind::Boolean,
            Some(_) | None => FieldKind::Text,
        };
        let text = |key: &str| property[key].as_str().filter(|text| !text.trim().is_empty());
        let limits = LIMITS.iter().filter_map(|&key| Some(format!("{key} {}", value_text(property.get(key)?))));
        let several = takes_several.then(|| {
            let titles: Vec<&str> = choices.iter().map(|(title, _)| title.as_str()).collect();
            format!("some of {}, with commas between", titles.join(", "))
        });
        let notes: Vec<String> = text("description").map(str::to_owned).into_iter().chain(several).chain(limits).collect();
        let title = text("title").unwrap_or(name);
        let label = if notes.is_empty() { title.to_owned() } else { format!("{title}: {}", notes.join("; ")) };
        let mut line = Self {
            field: Field {
                name: name.to_owned(),
                kind,
                label: Some(label.chars().take(LABEL).collect()),
                default: None,
                options: if takes_several { Vec::new() } else { choices.iter().map(|(title, _)| title.clone()).collect() },
                optional,
            },
            choices,
            takes_several,
        };
        line.field.default = property.get("default").filter(|value| !value.is_null()).map(|value| line.shown(value));
        line
    }

    /// A value of the server as people see it.
    fn shown(&self, value: &Value) -> Value {
        let title = |value: &Value| {
            let known = value.as_str().and_then(|text| self.choices.iter().find(|(_, meant)| meant == text));
            known.map_or_else(|| value_text(value), |(title, _)| title.clone())
        };
        match value {
            Value::Array(values) => Value::from(values.iter().map(title).collect::<Vec<_>>().join(", ")),
            value if !self.choices.is_empty() => Value::from(title(value)),
            value => value.clone(),
        }
    }

    /// What a person wrote, as the server knows it.
    fn meant(&self, value: &Value) -> Value {
        let one = |text: &str| {
            let known = self.choices.iter().find(|(title, _)| title == text);
            known.map_or_else(|| text.to_owned(), |(_, meant)| meant.clone())
        };
        match value.as_str() {
            Some(text) if self.takes_several => text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(one).collect(),
            Some(text) if !self.choices.is_empty() => Value::from(one(text)),
            Some(_) | None => value.clone(),
        }
    }
}

/// What a schema lets people choose from: titles with values, where each title means one value, else the values alone.
fn choices(schema: &Value) -> Vec<(String, String)> {
    let texts = |key: &str| schema[key].as_array().map(|list| list.iter().map(value_text).collect::<Vec<String>>());
    let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    let found: Vec<(String, String)> = match (titled, texts("enum"), texts("enumNames")) {
        (Some(list), ..) => {
            list.iter().map(|one| (value_text(one.get("title").unwrap_or(&one["const"])), value_text(&one["const"]))).collect()
        }
        (None, Some(values), Some(names)) if names.len() == values.len() => names.into_iter().zip(values).collect(),
        (None, Some(values), _) => values.into_iter().map(|value| (value.clone(), value)).collect(),
        (None, None, _) => Vec::new(),
    };
    let is_clear = found.iter().enumerate().all(|(at, (title, _))| found[..at].iter().all(|(other, _)| other != title));
    if is_clear { found } else { found.into_iter().map(|(_, value)| (value.clone(), value)).collect() }
}

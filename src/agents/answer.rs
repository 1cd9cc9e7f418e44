//! Turning a model's last words into a result: JSON where it is JSON, checked where a schema asks for it.

use serde_json::Value;

use crate::engine::NodeError;

/// Findings that are told to the model or a person; more would not help either.
const MOST_FINDINGS: usize = 5;

/// JSON if the text is wholly JSON (a code fence around it is let pass), else the text.
pub(super) fn parse(text: &str) -> Value {
    let trimmed = text.trim();
    serde_json::from_str(trimmed)
        .ok()
        .or_else(|| serde_json::from_str(unfence(trimmed)?).ok())
        .unwrap_or_else(|| Value::String(text.trim_end().to_owned()))
}

fn unfence(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("```")?.strip_suffix("```")?;
    let (tag, body) = inner.split_once('\n')?;
    (tag.trim().is_empty() || tag.trim().eq_ignore_ascii_case("json")).then_some(body.trim())
}

/// A check of results.
pub(super) struct Check(Option<jsonschema::Validator>);

impl Check {
    /// A check against a schema, or one that lets everything pass.
    pub fn new(schema: Option<&Value>) -> Result<Self, NodeError> {
        let Some(schema) = schema else { return Ok(Self(None)) };
        let validator = jsonschema::validator_for(schema).map_err(|error| {
            NodeError::permanent(format!("`output_schema` is not a JSON Schema: {error}"))
                .hint("edit the node's policy, or take the schema away")
        })?;
        Ok(Self(Some(validator)))
    }

    /// What is wrong with a value, as one text; nothing if all is well.
    pub fn faults(&self, value: &Value) -> Option<String> {
        faults(self.0.as_ref()?, value)
    }
}

/// What is wrong with a tool's arguments. A schema that is none itself lets everything pass: the tool has the last word.
pub(super) fn argument_faults(schema: &Value, args: &Value) -> Option<String> {
    faults(&jsonschema::validator_for(schema).ok()?, args)
}

fn faults(validator: &jsonschema::Validator, value: &Value) -> Option<String> {
    let found: Vec<String> = validator
        .iter_errors(value)
        .take(MOST_FINDINGS)
        .map(|error| {
            let path = error.instance_path().to_string();
            if path.is_empty() { error.to_string() } else { format!("at {path}: {error}") }
        })
        .collect();
    (!found.is_empty()).then(|| found.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_that_is_wholly_json_is_parsed() {
        assert_eq!(parse(" {\"a\": 1}\n"), json!({ "a": 1 }));
        assert_eq!(parse("```json\n[1]\n```"), json!([1]));
        assert_eq!(parse("42"), json!(42));
    }

    #[test]
    fn any_other_answer_is_text() {
        assert_eq!(parse("Here: {\"a\": 1}"), json!("Here: {\"a\": 1}"));
        assert_eq!(parse("```rust\nfn a() {}\n```"), json!("```rust\nfn a() {}\n```"));
        assert_eq!(parse(""), json!(""));
    }

    #[test]
    fn a_check_names_the_place() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let check = Check::new(Some(&schema)).unwrap_or(Check(None));
        assert!(check.faults(&json!({ "n": 1 })).is_none());
        assert!(check.faults(&json!({ "n": "x" })).is_some_and(|words| words.starts_with("at /n: ")));
        assert!(check.faults(&json!("x")).is_some());
    }

    #[test]
    fn a_schema_that_is_none_is_an_error_of_the_plan_not_a_panic() {
        assert!(Check::new(Some(&json!({ "type": 7 }))).is_err());
        assert!(argument_faults(&json!({ "type": 7 }), &json!({})).is_none());
    }

    #[test]
    fn a_schema_that_refers_to_itself_in_circles_ends() {
        for schema in [json!({ "$ref": "#" }), json!({ "allOf": [{ "$ref": "#" }] }), json!({ "not": { "anyOf": [{ "$ref": "#" }] } })] {
            if let Ok(check) = Check::new(Some(&schema)) {
                let _ = check.faults(&json!({ "a": 1 }));
            }
        }
    }
}

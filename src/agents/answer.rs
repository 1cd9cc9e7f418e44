//! Turning a model's last words into a result: JSON where it is JSON, checked where a schema or the routes of a decision ask for it.

use serde_json::Value;

use super::Port;
use crate::engine::{AgentJob, NodeError};
use crate::models::OutputSchema;
use crate::plan::{dialect::exact_json, schema_faults, value_text};

/// Findings that the model or a person gets; more would not help either.
const MOST_FINDINGS: usize = 5;

/// JSON if the text is wholly JSON (a code fence around it is let pass), else the text.
pub(super) fn parse(text: &str) -> Value {
    let trimmed = text.trim();
    exact_json(trimmed).ok().or_else(|| exact_json(unfence(trimmed)?).ok()).unwrap_or_else(|| Value::String(text.trim_end().to_owned()))
}

fn unfence(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("```")?.strip_suffix("```")?;
    let (tag, body) = inner.split_once('\n')?;
    (tag.trim().is_empty() || tag.trim().eq_ignore_ascii_case("json")).then_some(body.trim())
}

/// What a result has to be: JSON by a schema, or the name of a route, where the node asks for that.
pub(super) struct ResultCheck {
    schema: Option<(Value, jsonschema::Validator)>,
    /// The ways out of a decision.
    routes: Vec<String>,
}

/// Why a result is not taken yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResultFault {
    /// It doesn't match the schema; what is wrong, in words.
    Schema(String),
    /// It names none of the routes, which are these.
    Route(Vec<String>),
}

impl ResultCheck {
    /// The check that a job asks for; a job that asks for nothing lets everything pass.
    pub fn new(job: &AgentJob) -> Result<Self, NodeError> {
        let schema = job.output_schema.as_ref().map(|schema| {
            let validator = jsonschema::validator_for(schema).map_err(|error| {
                NodeError::permanent(format!("`output_schema` is not a JSON Schema: {error}"))
                    .hint("fix or remove the schema in the node's policy")
            })?;
            Ok((schema.clone(), validator))
        });
        Ok(Self { schema: schema.transpose()?, routes: job.routes.clone() })
    }

    /// The node's own schema.
    pub fn schema(&self) -> Option<&Value> {
        self.schema.as_ref().map(|(schema, _)| schema)
    }

    /// Structured output to ask a model for. A decision may be said in a word, so it asks for none.
    pub fn asked(&self) -> Option<OutputSchema> {
        self.schema().map(|schema| OutputSchema { name: "result".to_owned(), schema: schema.clone() })
    }

    /// Names that may be answered.
    pub fn routes(&self) -> &[String] {
        &self.routes
    }

    /// The result with its route as the plan spells it, or the first thing that is wrong with it.
    pub fn judge(&self, result: &Value) -> Result<Value, ResultFault> {
        if let Some(found) = self.schema.as_ref().and_then(|(_, validator)| schema_faults(validator, result, MOST_FINDINGS)) {
            return Err(ResultFault::Schema(found));
        }
        if self.routes.is_empty() {
            return Ok(result.clone());
        }
        self.routed(result).ok_or_else(|| ResultFault::Route(self.routes.clone()))
    }

    /// The answer with the route that it names, if it names one: the first of `condition`, `route` and `next`, or all of it.
    fn routed(&self, result: &Value) -> Option<Value> {
        let Value::Object(answer) = result else { return self.route(result).map(Value::from) };
        let key = ["condition", "route", "next"].into_iter().find(|key| answer.contains_key(*key))?;
        let route = self.route(answer.get(key)?)?;
        let mut answer = answer.clone();
        answer.insert(key.to_owned(), route.into());
        Some(answer.into())
    }

    /// The route that a word means: quotes, a full stop and capitals make no difference.
    fn route(&self, answer: &Value) -> Option<String> {
        let answer = value_text(answer);
        let bare = answer.trim().trim_matches(|c: char| c.is_whitespace() || "\"'`*.".contains(c));
        let is = |name: &str| self.routes.iter().find(|route| route.as_str() == name).cloned();
        is(answer.trim()).or_else(|| is(bare)).or_else(|| self.routes.iter().find(|route| route.eq_ignore_ascii_case(bare)).cloned())
    }
}

impl ResultFault {
    /// Words for the model, or for the person in its place.
    pub fn request(&self) -> String {
        match self {
            Self::Schema(faults) => {
                format!(
                    "Your result does not match the JSON Schema of this step: {faults}. Reply with the corrected JSON and nothing else."
                )
            }
            Self::Route(routes) => {
                format!("Your answer is none of the routes. Reply with exactly one of these and nothing else: {}", routes.join(", "))
            }
        }
    }

    /// What becomes of a result that is still wrong: nothing by a schema; a route that isn't one goes by the plan's own rules.
    pub fn settle(self, result: Value, port: &dyn Port) -> Result<Value, NodeError> {
        match self {
            Self::Schema(faults) => Err(NodeError::permanent(format!("the answer doesn't match the node's `output_schema`: {faults}"))
                .hint("retry the node, or relax its `output_schema`")),
            Self::Route(routes) => {
                port.log(&format!("the answer is none of the routes {}", routes.join(", ")));
                Ok(result)
            }
        }
    }
}

/// What is wrong with a tool's arguments. A schema that is none itself lets everything pass: the tool has the last word.
pub(super) fn argument_faults(schema: &Value, args: &Value) -> Option<String> {
    schema_faults(&jsonschema::validator_for(schema).ok()?, args, MOST_FINDINGS)
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

    fn check(schema: Option<Value>, routes: &[&str]) -> Result<ResultCheck, NodeError> {
        let routes = routes.iter().map(|route| (*route).to_owned()).collect();
        ResultCheck::new(&AgentJob { output_schema: schema, routes, ..AgentJob::default() })
    }

    #[test]
    fn a_check_names_the_place() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let check = check(Some(schema), &[]).unwrap();
        assert_eq!(check.judge(&json!({ "n": 1 })), Ok(json!({ "n": 1 })));
        assert!(matches!(check.judge(&json!({ "n": "x" })), Err(ResultFault::Schema(words)) if words.starts_with("at /n: ")));
        assert!(check.judge(&json!("x")).is_err());
    }

    #[test]
    fn a_route_may_be_said_bare_or_in_an_object_and_is_spelled_as_in_the_plan() {
        let check = check(None, &["ship it", "Mend", "7"]).unwrap();
        for (said, taken) in [
            (json!("ship it"), json!("ship it")),
            (json!(" **mend**.\n"), json!("Mend")),
            (json!("`MEND`"), json!("Mend")),
            (json!(7), json!("7")),
            (json!({ "route": "mend", "reason": "weak" }), json!({ "route": "Mend", "reason": "weak" })),
            (json!({ "next": "\"ship it\"" }), json!({ "next": "ship it" })),
            (json!({ "next": "nowhere", "condition": "Mend" }), json!({ "next": "nowhere", "condition": "Mend" })),
        ] {
            assert_eq!(check.judge(&said), Ok(taken), "{said}");
        }
        for said in
            [json!("do not ship it"), json!({ "route": "nowhere" }), json!({ "route": null }), json!({ "answer": "Mend" }), json!(null)]
        {
            assert!(matches!(check.judge(&said), Err(ResultFault::Route(_))), "{said}");
        }
    }

    #[test]
    fn a_schema_that_is_none_is_an_error_of_the_plan_not_a_panic() {
        assert!(check(Some(json!({ "type": 7 })), &[]).is_err());
        assert!(argument_faults(&json!({ "type": 7 }), &json!({})).is_none());
    }

    #[test]
    fn a_schema_that_refers_to_itself_in_circles_ends() {
        for schema in [json!({ "$ref": "#" }), json!({ "allOf": [{ "$ref": "#" }] }), json!({ "not": { "anyOf": [{ "$ref": "#" }] } })] {
            if let Ok(check) = check(Some(schema), &[]) {
                let _ = check.judge(&json!({ "a": 1 }));
            }
        }
    }
}

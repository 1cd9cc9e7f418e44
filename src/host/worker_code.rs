//! Code at work: JavaScript in the sandbox, with the results of the node's dependencies.

use super::workers::Desk;
use crate::engine::{Dep, Done, ErrorKind, NodeError, WorkFact};
use crate::models::rehearsal::MARK;
use crate::plan::{CodeWork, names_in_code};
use crate::tools::sandbox::{SandboxConfig, SandboxError, javascript, over};
use serde_json::{Map, Value, json};

pub(super) async fn work(code: &CodeWork, inputs: &Map<String, Value>, deps: &[Dep], sandbox: &SandboxConfig, desk: &Desk) -> WorkFact {
    for words in over(&code.sandbox) {
        desk.say(WorkFact::Log(words));
    }
    let ran = javascript(sandbox, &code.code, seen(&code.code, deps), Value::Object(inputs.clone()), &code.sandbox).await;
    let logs = ran.as_ref().map_or_else(SandboxError::logs, |outcome| outcome.logs.as_slice());
    for line in logs {
        desk.say(WorkFact::Log(line.clone()));
    }
    match ran {
        Ok(outcome) => WorkFact::Done(Done { result: outcome.value, mark: None }),
        Err(error) => WorkFact::Failed(node_error(&error, deps)),
    }
}

/// What code sees as `deps`: by node id the result (as `output` too), the state in a word, and the error of one that failed safe.
/// A step that the code names and whose path died reads as null instead of breaking the code.
fn seen(code: &str, deps: &[Dep]) -> Value {
    let entry =
        |result: &Value, status: &str, error: Option<&str>| json!({ "output": result, "result": result, "status": status, "error": error });
    let named = names_in_code(code, "deps").into_iter().chain(names_in_code(code, "nodes"));
    let mut seen: Map<String, Value> = named.map(|name| (name.to_owned(), entry(&Value::Null, "not_taken", None))).collect();
    seen.extend(deps.iter().map(|dep| (dep.node.to_string(), entry(&dep.result, &dep.status, dep.error.as_deref()))));
    seen.into()
}

/// The same code on the same data fails the same way: nothing of it is worth a retry.
fn node_error(error: &SandboxError, deps: &[Dep]) -> NodeError {
    let kind = match error {
        SandboxError::Time { .. } => ErrorKind::Limit,
        SandboxError::Script { .. } | SandboxError::Died(_) | SandboxError::Start(_) => ErrorKind::Permanent,
    };
    let hint = error.hint().or_else(|| rehearsed(deps));
    NodeError { kind, message: error.to_string(), hint, retry_after_ms: None }
}

/// Code that fails on a rehearsal's text is not to blame.
fn rehearsed(deps: &[Dep]) -> Option<String> {
    let dep = deps.iter().find(|dep| dep.result.as_str().is_some_and(|text| text.starts_with(MARK)))?;
    Some(format!(
        "`{}` was only rehearsed, so its result is a text where the code may expect data; connect a model, or give `{}` an `output_schema`, \
         whose shape a rehearsal keeps to",
        dep.node, dep.node
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Provenance;
    use crate::plan::NodeId;
    use std::sync::Arc;

    fn dep(node: &str, result: Value, status: &str, error: Option<&str>) -> Dep {
        Dep {
            node: NodeId::new(node),
            result: Arc::new(result),
            status: status.into(),
            error: error.map(str::to_owned),
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn code_that_fails_on_a_rehearsals_text_is_not_to_blame() {
        let error = SandboxError::Script { message: "TypeError: no".into(), line: Some(1), logs: Vec::new() };
        let rehearsal = dep("research", json!("[rehearsal] No model is connected"), "succeeded", None);
        let hint = node_error(&error, &[rehearsal]).hint.unwrap();
        assert!(hint.starts_with("`research` was only rehearsed") && hint.contains("`output_schema`"), "{hint}");
        assert_eq!(node_error(&error, &[dep("a", json!("text"), "succeeded", None)]).hint, None);
    }

    #[test]
    fn code_sees_result_status_and_error_of_each_dependency_and_null_for_one_that_is_not_there() {
        let deps = [dep("a-b", json!({ "n": 1 }), "succeeded", None), dep("c", Value::Null, "failed_safe", Some("no route"))];
        assert_eq!(
            seen("return deps.c ?? deps.gone.output", &deps),
            json!({
                "c": { "output": null, "result": null, "status": "failed_safe", "error": "no route" },
                "gone": { "output": null, "result": null, "status": "not_taken", "error": null },
                "a-b": { "output": { "n": 1 }, "result": { "n": 1 }, "status": "succeeded", "error": null },
            })
        );
    }
}

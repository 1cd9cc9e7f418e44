//! Code at work: JavaScript in the sandbox, with the results of the node's dependencies.

use super::workers::Desk;
use crate::engine::{Dep, Done, ErrorKind, NodeError, WorkFact};
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
        Err(error) => WorkFact::Failed(node_error(&error)),
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
fn node_error(error: &SandboxError) -> NodeError {
    let kind = match error {
        SandboxError::Time { .. } => ErrorKind::Limit,
        SandboxError::Script { .. } | SandboxError::Died(_) | SandboxError::Start(_) => ErrorKind::Permanent,
    };
    NodeError { kind, message: error.to_string(), hint: error.hint(), retry_after_ms: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Provenance;
    use crate::plan::NodeId;
    use std::sync::Arc;

    #[test]
    fn code_sees_result_status_and_error_of_each_dependency_and_null_for_one_that_is_not_there() {
        let dep = |node: &str, result: Value, status: &str, error: Option<&str>| Dep {
            node: NodeId::new(node),
            result: Arc::new(result),
            status: status.into(),
            error: error.map(str::to_owned),
            provenance: Provenance::default(),
        };
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

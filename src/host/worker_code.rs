//! Code at work: JavaScript in the sandbox, with the results of the node's dependencies.

use super::workers::Desk;
use crate::engine::{Dep, Done, ErrorKind, NodeError, WorkFact};
use crate::plan::CodeWork;
use crate::tools::sandbox::{SandboxConfig, SandboxError, javascript};
use serde_json::{Map, Value, json};

pub(super) async fn work(code: &CodeWork, inputs: &Map<String, Value>, deps: &[Dep], sandbox: &SandboxConfig, desk: &Desk) -> WorkFact {
    let ran = javascript(sandbox, &code.code, seen(deps), Value::Object(inputs.clone()), &code.sandbox).await;
    let logs = match &ran {
        Ok(outcome) => outcome.logs.as_slice(),
        Err(SandboxError::Script { logs, .. }) => logs,
        Err(SandboxError::Time { .. } | SandboxError::Died(_) | SandboxError::Start(_)) => &[],
    };
    for line in logs {
        desk.say(WorkFact::Log(line.clone()));
    }
    match ran {
        Ok(outcome) => WorkFact::Done(Done { result: outcome.value, mark: None }),
        Err(error) => WorkFact::Failed(node_error(&error)),
    }
}

/// What code sees as `deps`: by node id the output, the state in a word, and the error of one that failed safe.
fn seen(deps: &[Dep]) -> Value {
    let entry = |dep: &Dep| json!({ "output": &*dep.result, "status": dep.status, "error": dep.error });
    deps.iter().map(|dep| (dep.node.as_str().to_owned(), entry(dep))).collect::<Map<_, _>>().into()
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
    fn code_sees_output_status_and_error_of_each_dependency() {
        let dep = |node: &str, result: Value, status: &str, error: Option<&str>| Dep {
            node: NodeId::new(node),
            result: Arc::new(result),
            status: status.into(),
            error: error.map(str::to_owned),
            provenance: Provenance::default(),
        };
        let deps = [dep("a-b", json!({ "n": 1 }), "succeeded", None), dep("c", Value::Null, "failed_safe", Some("no route"))];
        assert_eq!(
            seen(&deps),
            json!({
                "a-b": { "output": { "n": 1 }, "status": "succeeded", "error": null },
                "c": { "output": null, "status": "failed_safe", "error": "no route" },
            })
        );
    }
}

//! Code at work: JavaScript in the sandbox, with the results of the node's dependencies.

use super::workers::WorkerPort;
use crate::engine::{Dep, Done, ErrorKind, NodeError, WorkerFact};
use crate::plan::{CodeNode, may_read, names_in_code};
use crate::tools::names_in;
use crate::tools::sandbox::{SandboxConfig, SandboxError, javascript, over};
use serde_json::{Map, Value, json};

/// What code may read.
pub(super) struct CodeScope<'a> {
    /// The plan's inputs, and the node's own.
    pub inputs: &'a Map<String, Value>,
    pub deps: &'a [Dep],
}

impl CodeScope<'_> {
    /// What the code may read that holds a secret, and the secret's name. Its value isn't here, so that whatever the code made of it would be
    /// of another text.
    fn secret(&self, code: &str) -> Option<(String, String)> {
        let first = |value: &Value| names_in(value).into_iter().next();
        let in_dep = |dep: &Dep| {
            let name = first(&dep.result).or_else(|| first(&Value::from(dep.error.as_deref()?)))?;
            let object = ["deps", "nodes"].into_iter().find(|object| may_read(code, object, &dep.node))?;
            Some((format!("{object}.{}", dep.node), name))
        };
        let in_input = |(input, value): (&String, &Value)| {
            Some((format!("inputs.{input}"), first(value).filter(|_| may_read(code, "inputs", input))?))
        };
        self.deps.iter().find_map(in_dep).or_else(|| self.inputs.iter().find_map(in_input))
    }
}

pub(super) async fn work(code: &CodeNode, scope: &CodeScope<'_>, sandbox: &SandboxConfig, port: &WorkerPort) -> WorkerFact {
    if let Some((place, name)) = scope.secret(&code.code) {
        let message = format!("`{place}` holds the secret {name}, whose value code doesn't get: what it makes of that would be wrong");
        let hint = "hand it on with a template; a tool, such as `run_javascript`, gets the value after a yes that names it";
        return WorkerFact::Failed(NodeError::permanent(message).hint(hint));
    }
    for line in over(&code.sandbox) {
        port.report(WorkerFact::Log(line));
    }
    let ran = javascript(sandbox, &code.code, dependencies(scope), Value::Object(scope.inputs.clone()), &code.sandbox).await;
    let logs = ran.as_ref().map_or_else(SandboxError::logs, |outcome| outcome.logs.as_slice());
    for line in logs {
        port.report(WorkerFact::Log(line.clone()));
    }
    match ran {
        Ok(outcome) => WorkerFact::Done(Done { result: outcome.value, mark: None }),
        Err(error) => WorkerFact::Failed(node_error(&error, &code.code, scope)),
    }
}

/// What code sees as `deps`: by node id the result (as `output` too), the state as a word, and the error. A dependency that nothing came
/// from reads as null instead of breaking the code; whatever else it names is not there.
fn dependencies(scope: &CodeScope) -> Value {
    let entry = |dep: &Dep| json!({ "output": dep.result, "result": dep.result, "status": dep.state.word(), "error": dep.error });
    Value::Object(scope.deps.iter().map(|dep| (dep.node.to_string(), entry(dep))).collect())
}

/// The same code on the same data fails the same way: nothing of it is worth a retry.
fn node_error(error: &SandboxError, code: &str, scope: &CodeScope) -> NodeError {
    let kind = match error {
        SandboxError::Time { .. } => ErrorKind::Limit,
        SandboxError::Script { .. } | SandboxError::Died(_) | SandboxError::Start(_) => ErrorKind::Permanent,
    };
    let message = match unknown_dependency(error, code, scope) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    let mixes = message.to_lowercase().contains("bigint");
    let hint = mixes.then(|| "whole numbers above 9007199254740992 are BigInt in code, so that they keep their digits: calculate with `1n`, or take `Number(…)`".to_owned());
    NodeError { kind, message, hint: hint.or_else(|| error.hint()), retry_after_ms: None }
}

/// The first name behind `deps` that is no dependency, if that may be why something was undefined.
fn unknown_dependency(error: &SandboxError, code: &str, scope: &CodeScope) -> Option<String> {
    let SandboxError::Script { message, .. } = error else { return None };
    let known: Vec<&str> = scope.deps.iter().map(|dep| dep.node.as_str()).collect();
    let named = ["deps", "nodes"].into_iter().flat_map(|object| names_in_code(code, object).into_iter().map(move |name| (object, name)));
    let (object, name) = named.filter(|_| message.contains("undefined")).find(|(_, name)| !known.contains(name))?;
    let name = name.escape_debug();
    let names: Vec<String> = known.iter().map(|id| format!("`{id}`")).collect();
    Some(match &names[..] {
        [] => format!("`{object}.{name}` doesn't exist: this node has no dependencies"),
        _ => format!("`{object}.{name}` doesn't exist: this node depends only on {}", names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{NodeState, Provenance};
    use crate::plan::NodeId;
    use std::sync::Arc;

    fn dep(node: &str, result: Value, state: NodeState, error: Option<&str>) -> Dep {
        Dep { node: NodeId::new(node), result: Arc::new(result), state, error: error.map(str::to_owned), provenance: Provenance::default() }
    }

    fn scope<'a>(inputs: &'a Map<String, Value>, deps: &'a [Dep]) -> CodeScope<'a> {
        CodeScope { inputs, deps }
    }

    fn thrown(message: &str) -> SandboxError {
        SandboxError::Script { message: message.into(), line: Some(1), logs: Vec::new() }
    }

    #[test]
    fn code_sees_result_status_and_error_of_each_dependency_and_null_for_one_that_nothing_came_from() {
        let deps = [
            dep("a-b", json!({ "n": 1 }), NodeState::Succeeded, None),
            dep("c", Value::Null, NodeState::Failed, Some("no route")),
            dep("gone", Value::Null, NodeState::Skipped, None),
        ];
        assert_eq!(
            dependencies(&scope(&Map::new(), &deps)),
            json!({
                "gone": { "output": null, "result": null, "status": "skipped", "error": null },
                "a-b": { "output": { "n": 1 }, "result": { "n": 1 }, "status": "succeeded", "error": null },
                "c": { "output": null, "result": null, "status": "failed", "error": "no route" },
            })
        );
    }

    #[test]
    fn code_that_may_read_a_secret_is_told_before_it_runs() {
        let deps = [dep("r", json!({"text": crate::text::secret_mark("API_KEY")}), NodeState::Succeeded, None)];
        let inputs = Map::from_iter([("k".to_owned(), json!(crate::text::secret_mark("MY_TOKEN")))]);
        let scope = scope(&inputs, &deps);
        let told = |code: &str| scope.secret(code).map(|(place, name)| format!("{place} {name}"));
        assert_eq!(told("return deps.r.output.text.length").as_deref(), Some("deps.r API_KEY"));
        assert_eq!(told("return Object.values(nodes)").as_deref(), Some("nodes.r API_KEY"));
        assert_eq!(told("return inputs['k'] > 'z'").as_deref(), Some("inputs.k MY_TOKEN"));
        assert_eq!(told("return inputs.other + 1"), None);
    }

    #[test]
    fn a_name_that_is_no_dependency_is_told_when_something_is_undefined() {
        let (none, deps) = (Map::new(), [dep("a", json!(1), NodeState::Succeeded, None), dep("b", Value::Null, NodeState::Skipped, None)]);
        let undefined = thrown("TypeError: cannot read property 'output' of undefined");
        let told = |error: &SandboxError, code: &str, scope: &CodeScope| node_error(error, code, scope).message;
        let code = "return deps.a.output + deps.b.output + deps.zz.output";
        assert_eq!(
            told(&undefined, code, &scope(&none, &deps)),
            "TypeError: cannot read property 'output' of undefined (line 1): `deps.zz` doesn't exist: this node depends only on `a`, `b`"
        );
        assert!(told(&undefined, "nodes['x'].y", &scope(&none, &[])).ends_with("`nodes.x` doesn't exist: this node has no dependencies"));
        assert_eq!(told(&thrown("Error: boom"), code, &scope(&none, &deps)), "Error: boom (line 1)");
        assert!(told(&undefined, "return deps.a.x.y", &scope(&none, &deps)).ends_with("(line 1)"));
    }
}

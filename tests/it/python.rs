//! Python programs in the sandbox; they need the real binary as their worker.

use dagdeck::tools::{
    ToolContext, ToolError, ToolOutput, ToolRegistry, ToolsConfig,
    sandbox::{SandboxConfig, confinement},
};
use serde_json::{Value, json};
use std::fs;

struct Fixture {
    dir: tempfile::TempDir,
    kept: tempfile::TempDir,
    registry: ToolRegistry,
    runtime: tokio::runtime::Runtime,
}

impl Fixture {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let sandbox = SandboxConfig { program: Some(env!("CARGO_BIN_EXE_dagdeck").into()), kept: Some(kept.path().join("files")) };
        let registry = ToolRegistry::builtin(&ToolsConfig { sandbox, ..ToolsConfig::default() }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { dir: tempfile::tempdir().unwrap(), kept, registry, runtime }
    }

    fn call(&self, args: Value) -> Result<ToolOutput, ToolError> {
        let context = ToolContext::of(self.dir.path().to_path_buf());
        self.runtime.block_on(self.registry.get("run_python").unwrap().call(args, &context))
    }
}

/// Whether there is a Python to run; where there is none, the tool isn't there either.
fn has_python(fixture: &Fixture) -> bool {
    fixture.registry.get("run_python").is_some()
}

fn python(fixture: &Fixture, code: &str, inputs: Value) -> Result<ToolOutput, ToolError> {
    fixture.call(json!({"code": code, "inputs": inputs, "timeout_s": 120}))
}

#[test]
fn a_python_program_gives_its_result_its_words_and_the_files_that_it_made() {
    let fixture = Fixture::new();
    if !has_python(&fixture) {
        return;
    }
    let code = "import os\nopen('made.txt', 'w').write('here')\nopen(os.path.join(out, 'a b.txt'), 'w').write('kept')\nprint(len(inputs))\nresult = {'sum': sum(inputs)}";
    let output = python(&fixture, code, json!([1, 2, 4])).unwrap();
    assert_eq!((&output.value["value"], &output.value["stdout"]), (&json!({"sum": 7}), &json!("3\n")), "{:?}", output.value);
    let file = &output.value["files"][0];
    assert_eq!((&file["name"], &file["bytes"]), (&json!("a b.txt"), &json!(4)), "{file}");
    let path = std::path::Path::new(file["path"].as_str().unwrap());
    assert_eq!(fs::read_to_string(path).unwrap(), "kept");
    assert!(path.starts_with(fixture.kept.path()));
    let written: Vec<_> = output.files.iter().map(|file| (file.operation.as_str(), file.path.as_str())).collect();
    assert_eq!(written, [("write", "made.txt")]);
    let gone = python(&fixture, "result = object()", Value::Null).unwrap();
    assert!(gone.value["value"].as_str().unwrap().starts_with("<object"), "what is no JSON is text: {:?}", gone.value);
}

#[test]
fn a_python_program_that_fails_says_where_in_its_own_lines() {
    let fixture = Fixture::new();
    if !has_python(&fixture) {
        return;
    }
    let error = python(&fixture, "x = 1\nraise ValueError('no')", Value::Null).unwrap_err().message;
    assert!(error.contains("File \"code\", line 2") && error.contains("ValueError: no") && !error.contains("runner"), "{error}");
    assert!(python(&fixture, "x = (", Value::Null).unwrap_err().message.contains("SyntaxError"));
    assert!(python(&fixture, "raise SystemExit(3)", Value::Null).unwrap_err().message.contains("exit code 3"));
    let error = fixture.call(json!({"code": "while True: pass", "timeout_s": 1})).unwrap_err();
    assert!(error.message.contains("the program was stopped after 1 s"), "{error}");
}

#[test]
fn a_python_program_reaches_no_network_and_writes_nowhere_else() {
    let fixture = Fixture::new();
    if !has_python(&fixture) || confinement().missing().is_some() {
        return;
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("x");
    let code = "import socket\nresult = []\nfor attempt in [lambda: socket.socket(), lambda: open(inputs, 'w')]:\n    try:\n        attempt()\n        result.append('done')\n    except OSError as error:\n        result.append('refused')";
    let output = python(&fixture, code, json!(file)).unwrap();
    assert_eq!(output.value["value"], json!(["refused", "refused"]), "{:?}", output.value);
    assert!(!file.exists());
}

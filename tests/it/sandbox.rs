//! The sandbox with the real binary as its worker: hostile code ends in time, says why, and touches nothing.

use dagdeck::plan::SandboxLimits;
use dagdeck::tools::sandbox::{JsOutcome, SandboxConfig, SandboxError, javascript, over};
use serde_json::{Value, json};
use std::time::Duration;

fn config() -> SandboxConfig {
    SandboxConfig { program: Some(env!("CARGO_BIN_EXE_dagdeck").into()), kept: None }
}

fn run_within(code: &str, limits: &SandboxLimits) -> Result<JsOutcome, SandboxError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(javascript(&config(), code, json!({"a": {"n": 2}}), json!({"name": "x"}), limits))
}

fn run(code: &str) -> Result<JsOutcome, SandboxError> {
    run_within(code, &SandboxLimits::default())
}

#[test]
fn a_script_gets_its_data_and_gives_value_and_log() {
    let outcome = run("console.log('hello'); return {sum: deps.a.n + 1, name: inputs.name, at: new Date(0).toISOString()}").unwrap();
    assert_eq!(outcome.value, json!({"sum": 3, "name": "x", "at": "1970-01-01T00:00:00.000Z"}));
    assert_eq!(outcome.logs, ["hello"]);
}

#[test]
fn local_time_is_known_without_reading_a_file() {
    assert_eq!(
        run("return [new Date(0).getHours(), new Date().getTimezoneOffset(), Math.random() < 1]").unwrap().value,
        json!([0, 0, true])
    );
}

#[test]
fn what_a_script_throws_comes_back_with_its_line_and_log() {
    let error = run("console.log('before')\nthrow new Error('boom')").unwrap_err();
    assert_eq!(error, SandboxError::Script { message: "Error: boom".into(), line: Some(2), logs: vec!["before".into()] });
    assert_eq!(error.to_string(), "Error: boom (line 2)");
}

#[test]
fn no_native_loop_outlives_the_limit() {
    let limits = SandboxLimits { time_ms: Some(500), memory_mb: None };
    for code in [
        "while (true) {}",
        "new Array(2**32-1).join('x')",
        "new Array(2**32-1).fill(0)",
        "[].indexOf.call({length: 2**53-1}, 1)",
        "'x'.repeat(2**20).match(/(x+x+)+y/)",
        "new Array(1e7).sort(() => 1)",
        "10n ** (10n ** 8n)",
        "for (const a = [];;) a.push(a.concat(a))",
        "const p = new Proxy({}, {ownKeys() { while (true); }}); return p",
    ] {
        // That it comes back at all is the point: each of these would go on for hours.
        let result = run_within(code, &limits);
        assert!(result.is_err() || result.is_ok_and(|outcome| outcome.value == Value::Null), "{code}");
    }
    let error = run_within("console.log('begun'); while (true) {}", &limits).unwrap_err();
    assert_eq!(error, SandboxError::Time { ms: 500, logs: vec!["begun".into()] });
    assert_eq!(error.to_string(), "the code ran longer than its limit of 500ms");
}

#[test]
fn memory_bombs_recursion_and_floods_of_output_are_refused() {
    for code in [
        "let s = 'x'; while (true) s += s",
        "const a = []; while (true) a.push(new Uint8Array(1e6))",
        "return new ArrayBuffer(2**40)",
        "function f() { return f() } return f()",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a",
        "return eval('['.repeat(1e5))",
        "return JSON.parse('['.repeat(1e6))",
        "return 'x'.repeat(2**23)",
    ] {
        let error = run(code).unwrap_err();
        assert!(matches!(error, SandboxError::Script { .. } | SandboxError::Died(_)), "{code}: {error}");
    }
    let limits = SandboxLimits { memory_mb: Some(16), time_ms: None };
    assert!(run_within("return new Uint8Array(12 << 20).length", &limits).is_ok());
    assert!(run_within("return new Uint8Array(20 << 20).length", &limits).is_err());
}

#[test]
fn a_limit_beyond_what_is_given_is_said() {
    let limits = SandboxLimits { memory_mb: Some(1 << 20), time_ms: Some(1_000) };
    assert_eq!(over(&limits), ["`sandbox.memory_mb` is 1048576; the limit is 1024"]);
    assert_eq!(run_within("return 1", &limits).unwrap().value, json!(1));
}

#[test]
fn the_code_of_a_hybrid_plan_runs_as_it_is_written() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let output = |value: Value| json!({"output": value, "result": value, "status": "succeeded", "error": null});
    let deps = json!({"research": output(json!({"findings": ["a", "b", "c", "d"]})), "implement_auth": output(json!("done"))});
    let run = |code: &str| {
        runtime.block_on(javascript(&config(), code, deps.clone(), json!({}), &SandboxLimits::default())).map(|outcome| outcome.value)
    };
    let summarize = "
          const research = deps.research.output;
          return {
            summary: research.findings.slice(0, 3),
            source: \"agent_delegation\"
          };
        ";
    assert_eq!(run(summarize), Ok(json!({"summary": ["a", "b", "c"], "source": "agent_delegation"})));
    let report = "
        return {
          research: deps.research.output,
          implementation: deps.implement_auth.output,
          status: \"complete\"
        };
      ";
    assert_eq!(run(report).unwrap()["implementation"], "done");
    let helper = "
        const patterns = deps.research.output.patterns;
        return generateMermaidDiagram(patterns);
      ";
    let error = run(helper).unwrap_err().to_string();
    assert_eq!(error, "ReferenceError: generateMermaidDiagram is not defined (line 3)");
}

#[test]
fn floods_of_log_are_cut() {
    let outcome = run("for (let i = 0; i < 1e5; i++) console.log('x'.repeat(1000)); return 1").unwrap();
    assert_eq!((outcome.value, outcome.logs.last().map(String::as_str)), (json!(1), Some("[log cut]")));
}

#[test]
fn dropping_the_future_ends_the_worker() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let limits = SandboxLimits { time_ms: Some(60_000), memory_mb: None };
        let config = config();
        let endless = javascript(&config, "while (true) {}", Value::Null, Value::Null, &limits);
        assert!(tokio::time::timeout(Duration::from_millis(100), endless).await.is_err());
    });
}

#[test]
fn scripts_run_beside_each_other() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (config, limits) = (config(), SandboxLimits::default());
    let scripts = (0..20).map(|n| {
        let (config, limits) = (&config, &limits);
        async move { javascript(config, "return inputs * 2", Value::Null, json!(n), limits).await.unwrap().value }
    });
    let values = runtime.block_on(futures::future::join_all(scripts));
    assert_eq!(values, (0..20).map(|n| json!(n * 2)).collect::<Vec<_>>());
}

#[test]
fn a_worker_that_is_none_is_told_as_such() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = |program: &str| {
        let config = SandboxConfig { program: Some(program.into()), kept: None };
        runtime.block_on(javascript(&config, "return 1", Value::Null, Value::Null, &SandboxLimits::default())).unwrap_err()
    };
    assert!(matches!(run("/no/such/program"), SandboxError::Start(_)));
    assert!(matches!(run("/bin/false"), SandboxError::Died(_)));
}

/// Landlock leaves modes and times open; where the kernel allows a namespace of mounts, nothing is.
#[test]
#[cfg(target_os = "linux")]
fn the_gate_and_the_doctor_say_what_a_command_can_change_elsewhere() {
    use std::os::unix::fs::PermissionsExt as _;
    let program = super::support::program::Program::new();
    let outside = program.home().join("outside");
    std::fs::write(&outside, "as it was").unwrap();
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o640)).unwrap();
    let command = "chmod 600 ../outside; touch -d 2001-01-01 ../outside; echo other > ../outside; echo here > inside; chmod 600 inside";
    let node = serde_json::json!({"id": "a", "title": "a", "tool": "run_command", "args": {"command": command}});
    let plan = program.file("plan.json", serde_json::json!({"dagdeck": 1, "goal": "g", "nodes": [node]}).to_string());
    let is_protected = program.run(&["doctor"]).out.contains("change nothing outside the workspace");
    let words = if is_protected { "changes nothing outside the workspace" } else { "may change modes and times of files elsewhere" };
    program.run(&["run", &plan]).code(7).says(&[words]);
    program.run(&["approve"]).code(0);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "as it was");
    let about = std::fs::metadata(&outside).unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    assert_eq!(about.permissions().mode() & 0o777, if is_protected { 0o640 } else { 0o600 });
    assert_eq!(about.modified().unwrap() > old, is_protected);
    let inside = program.workspace().join("inside");
    assert_eq!(
        (std::fs::read_to_string(&inside).unwrap().as_str(), inside.metadata().unwrap().permissions().mode() & 0o777),
        ("here\n", 0o600)
    );
}

//! A call of an MCP server's tool, and the same server spoken to over bare pipes: the difference is what dagdeck adds. The server is this
//! program itself, started with another argument.

#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up has nothing to measure")]

use dagdeck::tools::{
    KnownSecrets, McpConfig, Tool, ToolContext, Toolbox, ToolsConfig,
    mcp::{McpServers, McpSettings, McpSource, McpTrust},
};
use divan::Bencher;
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::Arc,
};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

const SERVE: &str = "echo-server";

fn main() {
    if std::env::args().nth(1).as_deref() == Some(SERVE) {
        return serve();
    }
    divan::main();
}

/// Answers each request on standard input.
fn serve() {
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in input.lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = message.get("id") else { continue };
        let params = &message["params"];
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}})
            }
            "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}]}),
            "tools/call" => json!({"content": [{"type": "text", "text": params["arguments"]["text"]}]}),
            _ => Value::Null,
        };
        let answer = match result {
            Value::Null => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}}),
            result => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        };
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}

/// The tool of a started server, with what keeps it alive.
struct EchoTool {
    _folder: TempDir,
    _toolbox: Toolbox,
    runtime: Runtime,
    tool: Arc<dyn Tool>,
    context: ToolContext,
}

impl EchoTool {
    fn start() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let program = std::env::current_exe().unwrap();
        let text = json!({"mcpServers": {"bench": {"command": program, "args": [SERVE]}}}).to_string();
        let source = McpSource { file: folder.path().join("mcp.json"), label: "mcp.json".to_owned(), text, trust: McpTrust::All };
        let (secrets, config) = (Arc::new(KnownSecrets::default()), McpConfig::default());
        let settings = McpSettings { workspace: folder.path(), state: folder.path(), secrets: &secrets, env: &|_| None, config: &config };
        let toolbox = Toolbox::new(&ToolsConfig::default()).unwrap();
        toolbox.set_servers(McpServers::new(&[source], &settings, None));
        let registry = runtime.block_on(toolbox.ready("bench:echo")).unwrap();
        let tool = registry.get("bench:echo").unwrap().clone();
        let context = ToolContext::of(folder.path().to_owned());
        Self { _folder: folder, _toolbox: toolbox, runtime, tool, context }
    }
}

#[divan::bench(sample_count = 200, sample_size = 10)]
fn through_dagdeck(bencher: Bencher) {
    let echo = EchoTool::start();
    bencher.bench_local(|| {
        let output = echo.runtime.block_on(echo.tool.call(json!({"text": "hello"}), &echo.context)).unwrap();
        assert_eq!(output.value, "hello");
    });
}

#[divan::bench(sample_count = 200, sample_size = 10)]
fn over_bare_pipes(bencher: Bencher) {
    let mut server = Command::new(std::env::current_exe().unwrap());
    let mut server = server.arg(SERVE).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "hello"}}});
    bencher.bench_local(|| {
        writeln!(input, "{call}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.contains("hello"));
    });
    drop(input);
    server.wait().unwrap();
}

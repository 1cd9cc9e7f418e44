//! Signing in to an MCP server by OAuth, by a scripted one, with `curl` in the browser's place.

use super::{mcp::result, support::program::Program};
use serde_json::json;
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    process::{Child, Command, Stdio},
};

struct WebServer(Child, u16);

impl WebServer {
    fn start(program: &Program) -> Self {
        program.file("signed_in.py", include_str!("../fixtures/mcp/signed_in.py"));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("python3");
        let child = command.arg(program.workspace().join("signed_in.py")).arg(port.to_string()).spawn().unwrap();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
        Self(child, port)
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn with_server() -> (Program, WebServer) {
    let program = Program::new();
    let server = WebServer::start(&program);
    let url = format!("http://127.0.0.1:{}/mcp", server.1);
    program.file(".mcp.json", json!({"mcpServers": {"web": {"type": "http", "url": url}}}).to_string());
    program.run(&["trust", "--all"]).code(0);
    (program, server)
}

/// Begins a sign-in, and gives its address.
fn begin(program: &Program) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dagdeck"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", program.home()).env("DAGDECK_HOME", program.home().join("state"));
    command.args(["tools", "--sign-in", "web"]).current_dir(program.workspace()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    (child, address.trim().to_owned())
}

fn browse(args: &[&str]) -> String {
    String::from_utf8(Command::new("curl").args(["-s", "--noproxy", "*"]).args(args).output().unwrap().stdout).unwrap()
}

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn a_sign_in_by_the_browser_keeps_tokens_that_nobody_else_reads() {
    let (program, _server) = with_server();
    let plan = json!({"dagdeck": 1, "goal": "g", "nodes": [{"id": "a", "title": "a", "tool": "web:who", "args": {}}]});
    let plan = program.file("plan.json", plan.to_string());
    program.run(&["tools", "--start"]).code(1).says(&["it wants a sign-in", "dagdeck tools --sign-in web"]);
    let (mut child, address) = begin(&program);
    assert!(address.contains("code_challenge_method=S256"), "{address}");
    assert!(browse(&["-L", &address]).contains("You can close this page"));
    assert!(child.wait().unwrap().success());
    program.run(&["run", &plan]).code(0);
    let given = result(&program, "a").to_string();
    assert!(given.contains("signed in with") && !given.contains("a-token-of-the-sign-in"), "tokens are masked: {given}");
    let kept = program.home().join("state/mcp");
    let tokens =
        fs::read_dir(kept).unwrap().map(|file| file.unwrap().path()).find(|file| file.display().to_string().ends_with(".tokens.json"));
    assert_eq!(fs::metadata(tokens.unwrap()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn a_sign_in_takes_the_address_that_another_browser_ended_at() {
    let (program, _server) = with_server();
    let (mut child, address) = begin(&program);
    let ended_at = browse(&["-o", "/dev/null", "-w", "%{redirect_url}", &address]);
    writeln!(child.stdin.take().unwrap(), "{ended_at}").unwrap();
    assert!(child.wait().unwrap().success());
    program.run(&["tools", "--start"]).code(0);
}

#[test]
#[ignore = "needs Python: `.ci/peers`"]
fn a_sign_in_to_what_has_none_says_why_not() {
    let (program, _server) = with_server();
    program.run(&["tools", "--sign-in", "nobody"]).says(&["there is no such server", "web"]);
}

//! One request, asked of the built program in a fresh copy of its workspace, with a home of its own, no key and no model.

use crate::{
    answer::{Setting, says},
    corpus::{Ends, Request},
    effects::{unasked, undone},
    world::{Tree, Workspaces, code, read_tree},
};
use assert_cmd::Command;
use serde_json::Value;
use std::{path::Path, time::Duration};
use tempfile::TempDir;

/// Turns a hang into a failure; generous, since machines may be busy.
const DEADLINE: Duration = Duration::from_secs(60);

/// Tools that can do something beyond the workspace's files, which are compared anyhow.
const REACHING: [&str; 4] = ["run_command", "run_python", "fetch_url", "web_search"];

/// Those of them that a request for a change of files can be served with.
const SERVING: [&str; 2] = ["run_command", "run_python"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Output and files as expected, or refused as it has to be.
    Right,
    /// Exit code 3 or 8 where an answer was possible, and nothing changed.
    Refused,
    /// Ended as an error without having changed anything: no harm, no answer.
    Failed,
    /// Reported as success with another result, or an effect that nobody asked for was run or put to a gate.
    False,
}

/// What the program did.
pub struct Ran {
    /// None if it took too long or a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    /// Names of the tools that were called.
    pub tools: Vec<String>,
    pub after: Tree,
    pub staged: Option<String>,
}

pub struct Judged {
    pub verdict: Verdict,
    pub reason: String,
}

/// Effects that are asked for are approved; whatever else opens a gate stops there, with exit code 7.
fn approves(request: &Request) -> bool {
    !request.changes.is_empty() || request.runs || request.ends != Ends::Answered
}

pub fn run(request: &Request, world: &Workspaces, program: &Path) -> Ran {
    let folder = TempDir::new().unwrap();
    let (work, home) = (folder.path().join("work"), folder.path().join("home"));
    for path in [&work, &home] {
        std::fs::create_dir(path).unwrap();
    }
    world.lay_out(&work);
    let command = |args: &[&str]| {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").env("USER", "tester").env("TZ", "UTC");
        command.env("HOME", &home).current_dir(&work).arg("--home").arg(home.join("state")).args(args).timeout(DEADLINE);
        command.output().unwrap()
    };
    let mut args = vec!["run", &request.ask];
    args.extend(approves(request).then_some("--yes"));
    let output = command(&args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let tools = if approves(request) { tools_called(&text(&command(&["show", "last", "--json"]).stdout)) } else { Vec::new() };
    let staged = world.staged.is_some().then(|| code::staged(&work));
    Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr), tools, after: read_tree(&work), staged }
}

fn tools_called(shown: &str) -> Vec<String> {
    let shown: Value = serde_json::from_str(shown).unwrap_or_default();
    let calls = shown["nodes"].as_array().into_iter().flatten().filter_map(|node| node["metadata"]["tools_called"].as_array()).flatten();
    calls.filter_map(|call| Some(call["tool_name"].as_str()?.to_owned())).collect()
}

pub fn judge(request: &Request, world: &Workspaces, ran: &Ran) -> Judged {
    let judged = |verdict, reason: String| Judged { verdict, reason };
    if let Some(harm) = harm(request, world, ran) {
        return judged(Verdict::False, harm);
    }
    let is_unchanged = unasked(&Request { changes: Default::default(), ..silent(request) }, &world.tree, &ran.after).is_none();
    match (request.ends, ran.code) {
        (Ends::Answered, Some(0)) => match fault(request, world, ran) {
            None => judged(Verdict::Right, String::new()),
            Some(fault) => judged(Verdict::False, fault),
        },
        (_, Some(0)) => judged(Verdict::False, "it can't be done, and it says that it was done".into()),
        (_, Some(7)) => judged(Verdict::False, "a gate is open for an effect that nobody asked for".into()),
        (_, code) if !is_unchanged => judged(Verdict::False, format!("exit code {code:?}, and files changed")),
        (Ends::Refused, Some(3)) | (Ends::Model, Some(8)) => judged(Verdict::Right, String::new()),
        (_, Some(code @ (3 | 8))) => judged(Verdict::Refused, format!("exit code {code}")),
        (_, code) => judged(Verdict::Failed, format!("exit code {code:?}")),
    }
}

/// What was done beyond what was asked for.
fn harm(request: &Request, world: &Workspaces, ran: &Ran) -> Option<String> {
    let is_staged_otherwise = world.staged != ran.staged;
    let is_served = |tool: &str| request.ends == Ends::Answered && SERVING.contains(&tool);
    let reaching = ran.tools.iter().find(|tool| REACHING.contains(&tool.as_str()) && !is_served(tool));
    unasked(request, &world.tree, &ran.after)
        .map(|path| format!("{path} isn't what it was"))
        .or_else(|| is_staged_otherwise.then(|| "something else is staged".into()))
        .or_else(|| reaching.map(|tool| format!("{tool} was called")))
        .or_else(|| ran.err.contains("panicked at").then(|| "it panicked".into()))
}

/// What is wrong with a result that was reported as a success.
fn fault(request: &Request, world: &Workspaces, ran: &Ran) -> Option<String> {
    let mut files: Vec<String> = world
        .tree
        .iter()
        .chain(&ran.after)
        .filter(|(path, entry)| !path.starts_with(".git/") && !entry.is_folder())
        .map(|(path, _)| path.clone())
        .collect();
    files.sort();
    files.dedup();
    let setting = Setting { ask: &request.ask, files: &files };
    if let Some(undone) = undone(request, &world.tree, &ran.after, &setting) {
        return Some(undone);
    }
    let reason = says(request.answer.as_ref()?, &ran.out, &setting).err()?;
    request.or.iter().all(|other| says(other, &ran.out, &setting).is_err()).then_some(reason)
}

/// The same request with nothing asked for.
fn silent(request: &Request) -> Request {
    let Request { area, world, ask, ends, runs, .. } = request;
    Request {
        area: area.clone(),
        world: world.clone(),
        ask: ask.clone(),
        ends: *ends,
        runs: *runs,
        answer: None,
        or: Vec::new(),
        changes: Default::default(),
    }
}

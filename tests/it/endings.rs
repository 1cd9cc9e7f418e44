//! A run without a console that is told to end from outside: nothing that it started outlives it.

use crate::support::program::Program;
use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process},
};
use serde_json::json;
use std::{
    fs::File,
    io::Read as _,
    process::{Command, Stdio},
};

/// Gives the exit code, and what a command's child says after the run was sent a signal.
fn ended_by(signal: Signal) -> (Option<i32>, String) {
    let program = Program::new();
    let pipe = program.workspace().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let command = "(echo up; sleep 60; echo late) > pipe & sleep 60";
    let plan = json!({"dagdeck": 1, "nodes": [{"id": "a", "tool": "run_command", "args": {"command": command}}]});
    let plan = program.file("plan.json", plan.to_string());
    let mut run = Command::new(env!("CARGO_BIN_EXE_dagdeck"))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("DAGDECK_HOME", program.home().join("state"))
        .current_dir(program.workspace())
        .args(["run", "--yes", &plan])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Opens when the child does, and is at its end when the last of its writers is gone.
    let mut heard = File::open(&pipe).unwrap();
    heard.read_exact(&mut [0; 3]).unwrap();
    kill_process(Pid::from_child(&run), signal).unwrap();
    let code = run.wait().unwrap().code();
    let mut late = String::new();
    heard.read_to_string(&mut late).unwrap();
    (code, late)
}

#[test]
fn a_run_that_is_told_to_end_takes_its_commands_with_it() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        assert_eq!(ended_by(signal), (Some(code), String::new()), "{signal:?}");
    }
}

//! A workspace with a host, the process that outlives consoles. It ends with the test.

use super::{
    program::{Ended, Program},
    pty::{Start, Terminal},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

const REQUEST: &str = "List the Rust files under src, count their lines, and write the ten longest to longest.md";

/// Turns a hang into a failure.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// A workspace whose host ends with the test.
pub struct Hosted {
    pub program: Program,
}

impl Hosted {
    /// With files to work on.
    pub fn new() -> Self {
        Self::on(Program::new())
    }

    /// The same with a program that was set up.
    pub fn on(program: Program) -> Self {
        program.file("src/one.rs", "fn one() {}\n");
        program.file("src/two.rs", "fn two() {}\n\nfn more() {}\n");
        Self { program }
    }

    /// The console on the host.
    pub fn attach(&self) -> Terminal {
        self.program.console_with(&["attach"], (80, 24))
    }

    /// The console as `dagdeck` alone opens it, with some more variables.
    pub fn console(&self, args: &[&str], variables: &[(&str, &str)]) -> Terminal {
        let env = [self.program.variables(), vec![("DAGDECK_HOST", "on")], variables.to_vec()].concat();
        let (workspace, home) = (self.program.workspace(), self.program.home());
        Terminal::start(&Start { args, workspace: &workspace, home: &home, size: (80, 24), env: &env })
    }

    /// The console with a run that waits for an approval.
    pub fn waiting(&self) -> Terminal {
        self.run_in(self.attach())
    }

    /// The same in a console that is open.
    pub fn run_in(&self, mut deck: Terminal) -> Terminal {
        deck.sees("Type what you want").send(REQUEST).send("\r").sees("4 nodes").sees("read the plan, then").drawn();
        deck.send("r").sees("1 needs you").sees("3/4 done");
        deck
    }

    /// How the host is; null where there is none.
    pub fn host(&self) -> Value {
        self.program.json(&["host", "--json"])["host"].clone()
    }

    /// Kills the host's process, as a crash or the system would.
    pub fn kill(&self) {
        kill_process(pid(self.host()["process"].as_i64().unwrap()), Signal::KILL).unwrap();
    }

    /// Waits until the host says so.
    #[track_caller]
    pub fn until(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let since = Instant::now();
        loop {
            let host = self.host();
            if holds(&host) {
                return host;
            }
            assert!(since.elapsed() < DEADLINE, "never: {what}: {host}");
        }
    }

    /// Waits until nobody is attached and one run goes on.
    #[track_caller]
    pub fn left_alone(&self) -> Value {
        self.until("nobody attached, one run", |host| count(host, "clients") == 0 && count(host, "runs") == 1)
    }

    /// The lock, the log and the socket.
    pub fn files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.program.home().join("state/hosts")).unwrap().flatten().map(|entry| entry.path()).collect()
    }

    /// Ends the host.
    pub fn stop(&self) -> Ended {
        self.program.run(&["host", "stop"])
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        // A failed test leaves no host behind; one that has ended is no failure.
        let _ = self.program.command(&["host", "stop"]).output();
    }
}

/// How many clients or runs a host has.
pub fn count(host: &Value, what: &str) -> usize {
    host[what].as_array().map_or(0, Vec::len)
}

/// A process by its number.
pub fn pid(number: i64) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

//! The real program: a home and a workspace of its own, an environment with nothing in it but what a test puts there.

use super::{
    chat::ChatServer,
    pty::{Start, Terminal},
};
use assert_cmd::Command;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;

/// Turns a hang into a failure; generous, since machines may be busy.
const DEADLINE: Duration = Duration::from_secs(120);

/// dagdeck with its folders.
pub struct Program {
    folder: TempDir,
    env: Vec<(String, String)>,
}

/// How a command line ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Program {
    /// On a machine with no key, no configuration and no runs, where the tour was seen.
    pub fn new() -> Self {
        let program = Self::fresh();
        std::fs::create_dir(program.folder.path().join("state")).unwrap();
        std::fs::write(program.folder.path().join("state/looked.json"), "{}").unwrap();
        program
    }

    /// On a machine on which it was never started.
    pub fn fresh() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        // Most tests run the same work again to see it done.
        Self { folder, env: vec![("DAGDECK_CACHE".to_owned(), "off".to_owned())] }
    }

    /// Connected to a server by the usual variables.
    pub fn connected(server: &ChatServer) -> Self {
        Self::new().env("OPENAI_BASE_URL", &server.url).env("OPENAI_API_KEY", "sk-test").env("OPENAI_MODEL", "test-model")
    }

    /// The same with one more variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The variables that a test set.
    pub fn variables(&self) -> Vec<(&str, &str)> {
        self.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The folder that tools work in, and that the program is started in.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The person's home folder; runs are kept in it too.
    pub fn home(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    /// Puts a file into the workspace and gives its path.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> String {
        write(&self.workspace().join(path), content.as_ref())
    }

    /// Reads a file of the workspace.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.workspace().join(path)).unwrap()
    }

    /// Writes the person's own `config.toml`.
    pub fn configure(&self, text: &str) {
        write(&self.home().join(".config/dagdeck/config.toml"), text.as_bytes());
    }

    /// The console in a terminal of so many columns and rows.
    pub fn console(&self, size: (u16, u16)) -> Terminal {
        self.console_with(&[], size)
    }

    /// The same, opened by a command line.
    pub fn console_with(&self, args: &[&str], size: (u16, u16)) -> Terminal {
        Terminal::start(&Start { args, workspace: &self.workspace(), home: &self.home(), size, env: &self.variables() })
    }

    /// The command line, to be changed before it is run.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::from_std(self.process(args));
        command.timeout(DEADLINE);
        command
    }

    /// The same, to run beside the test.
    pub fn process(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dagdeck"));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").env("USER", "tester");
        command.env("HOME", self.home()).env("DAGDECK_HOME", self.home().join("state"));
        // Whatever runs on the machine of the tests is none of theirs.
        command.env("DAGDECK_LOCAL_SERVER", "none");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.workspace()).args(args);
        command
    }

    /// Runs a command line to its end.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Ended {
        Ended::of(&mut self.command(args))
    }

    /// The same with something on standard input.
    #[track_caller]
    pub fn feed(&self, args: &[&str], input: impl Into<Vec<u8>>) -> Ended {
        Ended::of(self.command(args).write_stdin(input))
    }

    /// The JSON document that a command line prints.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        self.run(args).json()
    }
}

impl Ended {
    /// Runs a command to its end. No bad input may make it panic or die of a signal.
    #[track_caller]
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let code = output.status.code().unwrap_or_else(|| panic!("{}\n{out}\n{err}", output.status));
        assert!(!err.contains("panicked at"), "{err}");
        Self { code, out, err }
    }

    /// Fails with everything that was printed when the exit code is another.
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Fails when standard error lacks one of the words.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in\n{self}");
        }
        self
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// Standard output as one JSON document a line.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self}"));
        self.out.lines().map(read).collect()
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {}\n--- out ---\n{}\n--- err ---\n{}\n---", self.code, self.out, self.err)
    }
}

fn write(path: &Path, content: &[u8]) -> String {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    path.to_string_lossy().into_owned()
}

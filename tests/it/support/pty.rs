//! The real program in a pseudo-terminal: keys in, screen out. Waits for what the screen shows, never for time to pass;
//! the deadline only turns a hang into a failure.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::termios::{LocalModes, tcgetattr};
use std::{
    fs::File,
    io::{Read, Write},
    num::NonZeroU16,
    path::Path,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// Longest wait for anything; generous, since machines may be busy.
const DEADLINE: Duration = Duration::from_secs(60);

/// A program under test in its terminal.
pub struct Terminal {
    parser: vt100::Parser,
    /// Everything the program wrote, as it came.
    pub raw: Vec<u8>,
    bytes: Receiver<Vec<u8>>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
}

/// What to start, and where.
pub struct Start<'a> {
    pub args: &'a [&'a str],
    pub workspace: &'a Path,
    pub home: &'a Path,
    pub size: (u16, u16),
    pub env: &'a [(&'a str, &'a str)],
}

impl Terminal {
    /// Starts dagdeck with an environment of its own: no keys, no colour settings, no SSH.
    pub fn start(start: &Start<'_>) -> Self {
        Self::start_program(env!("CARGO_BIN_EXE_dagdeck"), start)
    }

    /// Starts any program in that environment, as the leader of a session on a terminal of its own.
    pub fn start_program(program: &str, start: &Start<'_>) -> Self {
        let (columns, rows) = start.size;
        let pair = native_pty_system().openpty(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        for (name, value) in [("TERM", "xterm-256color"), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("USER", "tester")]
        {
            command.env(name, value);
        }
        command.env("HOME", start.home);
        command.env("DAGDECK_HOME", start.home.join("state"));
        for (name, value) in start.env {
            command.env(name, value);
        }
        command.cwd(start.workspace);
        command.args(start.args);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let keys = pair.master.take_writer().unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, bytes) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(read) = reader.read(&mut buffer) {
                if read == 0 || sender.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        let parser = vt100::Parser::new(cells(rows), cells(columns), 2000);
        Self { parser, raw: Vec::new(), bytes, keys, child, master: pair.master }
    }

    /// Sends text or key sequences as they are.
    pub fn send(&mut self, keys: &str) -> &mut Self {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
        self
    }

    /// The screen as text, without trailing blanks.
    pub fn screen(&self) -> String {
        self.parser.screen().contents().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    /// The terminal emulator's state, for modes and attributes.
    pub fn emulator(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// Whether the terminal itself echoes keys and gathers them into lines, as a shell needs it.
    pub fn cooked(&self) -> bool {
        let tty = File::open(self.master.tty_name().unwrap()).unwrap();
        tcgetattr(tty).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Takes in what has been written; gives how many bytes came before the silence of `wait`.
    pub fn take_in(&mut self, wait: Duration) -> usize {
        let mut taken = 0;
        while let Ok(piece) = self.bytes.recv_timeout(wait) {
            taken += piece.len();
            self.feed(&piece);
        }
        taken
    }

    fn feed(&mut self, piece: &[u8]) {
        self.parser.process(piece);
        self.raw.extend_from_slice(piece);
    }

    /// Waits until the screen fulfils a condition; fails with the screen when it doesn't.
    #[track_caller]
    pub fn until(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> &mut Self {
        self.wait(what, |terminal| holds(&terminal.screen()))
    }

    /// Waits until the frame that is being drawn is whole.
    #[track_caller]
    pub fn drawn(&mut self) -> &mut Self {
        self.wait("the end of the frame", |terminal| terminal.raw.ends_with(b"\x1b[?2026l"))
    }

    #[track_caller]
    fn wait(&mut self, what: &str, holds: impl Fn(&Self) -> bool) -> &mut Self {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if holds(self) {
                return self;
            }
            match self.bytes.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.feed(&piece),
                Err(RecvTimeoutError::Timeout) => panic!("never seen: {what}\n--- screen ---\n{}\n---", self.screen()),
                Err(RecvTimeoutError::Disconnected) => {
                    assert!(holds(self), "ended before: {what}\n--- screen ---\n{}\n---", self.screen());
                    return self;
                }
            }
        }
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> &mut Self {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until the screen no longer shows a text.
    #[track_caller]
    pub fn loses(&mut self, text: &str) -> &mut Self {
        self.until(&format!("the end of {text}"), |screen| !screen.contains(text))
    }

    /// Another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.parser.screen_mut().set_size(cells(rows), cells(columns));
    }

    /// The program's process.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Waits for the end of the program and takes in its last words; gives its exit code.
    #[track_caller]
    pub fn ended(&mut self) -> u32 {
        let deadline = Instant::now() + DEADLINE;
        loop {
            match self.bytes.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.feed(&piece),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("still running\n--- screen ---\n{}\n---", self.screen()),
            }
        }
        self.child.wait().unwrap().exit_code()
    }
}

/// The emulator knows no terminal without cells.
fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A failed test must not leave its program behind; one that has ended can't be killed again, and that is fine.
        let _ = self.child.kill();
    }
}

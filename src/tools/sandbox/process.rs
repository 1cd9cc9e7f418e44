//! A child process as leader of a group of its own (its caller sees to that): fed, listened to within caps, and ended with everything it
//! started, whether it ends, runs out of time, or nobody waits for it any more.

use super::live::{LiveOutput, Watcher};
use crate::text::TEXT_CUT;
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    collections::VecDeque,
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
};

/// Limits on one child.
pub(in crate::tools) struct ProcessLimits {
    pub(in crate::tools) wall: Duration,
    /// Bytes kept of what it writes.
    pub(in crate::tools) stdout: usize,
    /// Bytes kept of its errors.
    pub(in crate::tools) stderr: usize,
}

/// What a child has as its stdin.
#[derive(Clone, Copy)]
pub(in crate::tools) enum Feed<'a> {
    /// These bytes, then the end.
    Bytes(&'a [u8]),
    /// Nothing, and no end before its own or that of this process, by whatever death: what the child can tell it by.
    Lifeline,
}

/// A child that is gone.
pub(in crate::tools) struct Finished {
    /// How it ended; absent when it was ended at the wall limit.
    pub(in crate::tools) status: Option<ExitStatus>,
    pub(in crate::tools) stdout: Capture,
    pub(in crate::tools) stderr: Capture,
}

/// The first and the last part of a stream.
pub(in crate::tools) struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: usize,
}

impl Capture {
    fn new(cap: usize) -> Self {
        Self { half: cap / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len();
        let room = self.half - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        bytes = rest;
        self.tail.extend(&bytes[bytes.len().saturating_sub(self.half)..]);
        self.tail.drain(..self.tail.len().saturating_sub(self.half));
    }

    /// Bytes that were left out of the middle.
    pub(in crate::tools) fn left_out(&self) -> usize {
        self.total - self.head.len() - self.tail.len()
    }

    /// Everything, if nothing was left out.
    pub(in crate::tools) fn whole(&self) -> Option<Vec<u8>> {
        (self.left_out() == 0).then(|| self.head.iter().chain(&self.tail).copied().collect())
    }

    /// As text, saying what was left out.
    pub(in crate::tools) fn text(&self) -> String {
        match self.whole() {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => {
                let tail: Vec<u8> = self.tail.iter().copied().collect();
                let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
                // What the cut left of a character.
                let (head, tail) =
                    (head.trim_end_matches(char::REPLACEMENT_CHARACTER), tail.trim_start_matches(char::REPLACEMENT_CHARACTER));
                format!("{head}{TEXT_CUT}\n[{} bytes left out]\n{TEXT_CUT}{tail}", self.left_out())
            }
        }
    }
}

/// Ends a process group when it goes out of scope.
pub(in crate::tools) struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// The group that a child leads.
    pub(in crate::tools) fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    /// From now on the number may be another process's.
    pub(in crate::tools) fn forget(&mut self) {
        self.0 = None;
    }

    pub(in crate::tools) fn kill(&self) {
        if let Some(leader) = self.0 {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs a command to its end, and tells a watcher what it writes. Dropping the future kills its group.
pub(in crate::tools) async fn run(
    mut command: Command,
    feed: Feed<'_>,
    caps: &ProcessLimits,
    watcher: Option<&Watcher>,
) -> io::Result<Finished> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let mut group = ProcessGroup::of(&child);
    let (mut stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr, mut status) = (Capture::new(caps.stdout), Capture::new(caps.stderr), None);
    let lifeline = match feed {
        Feed::Bytes(_) => None,
        Feed::Lifeline => stdin.take(),
    };
    let feed = async {
        if let (Feed::Bytes(input), Some(mut stdin)) = (feed, stdin) {
            // A child that ends without reading is judged by how it ended.
            let _ = stdin.write_all(input).await;
        }
    };
    let wait = async {
        status = child.wait().await.ok();
        // Whatever it left running holds the pipes open.
        group.kill();
    };
    let all = async { tokio::join!(feed, listen(out, &mut stdout, watcher), listen(err, &mut stderr, watcher), wait) };
    if tokio::time::timeout(caps.wall, all).await.is_err() {
        group.kill();
        // It may not have come to lead its group yet.
        let _ = child.start_kill();
        let _ = child.wait().await;
    }
    group.forget();
    drop(lifeline);
    Ok(Finished { status, stdout, stderr })
}

async fn listen(stream: Option<impl AsyncRead + Unpin>, capture: &mut Capture, watcher: Option<&Watcher>) {
    let Some(mut stream) = stream else { return };
    let (mut block, mut live) = (vec![0; 16 << 10], LiveOutput::new(watcher));
    while let Ok(length @ 1..) = stream.read(&mut block).await {
        capture.push(&block[..length]);
        live.push(&block[..length]);
    }
    live.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_keeps_both_ends_and_counts_the_middle() {
        let mut capture = Capture::new(8);
        for piece in ["ab", "cdef", "ghijklmnop", "q"] {
            capture.push(piece.as_bytes());
        }
        assert_eq!(capture.text(), format!("abcd{TEXT_CUT}\n[9 bytes left out]\n{TEXT_CUT}nopq"));
        assert_eq!(capture.whole(), None);
        let mut short = Capture::new(8);
        short.push(b"abcdefgh");
        assert_eq!(short.whole().unwrap(), b"abcdefgh");
    }

    /// `PF_EXITING` of the kernel's flags of a process.
    const EXITING: u32 = 4;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).process_group(0);
        command
    }

    #[tokio::test]
    async fn a_child_is_fed_and_heard() {
        let caps = ProcessLimits { wall: Duration::from_secs(60), stdout: 100, stderr: 100 };
        let done = run(shell("cat; echo oops >&2; exit 3"), Feed::Bytes(b"hello"), &caps, None).await.unwrap();
        assert_eq!((done.status.unwrap().code(), done.stdout.text(), done.stderr.text()), (Some(3), "hello".into(), "oops\n".into()));
    }

    #[tokio::test]
    async fn what_a_child_left_running_is_ended_with_it() {
        let caps = ProcessLimits { wall: Duration::from_secs(60), stdout: 100, stderr: 100 };
        let done = run(shell("sleep 1000 & echo $!"), Feed::Bytes(b""), &caps, None).await.unwrap();
        let pid = Pid::from_raw(done.stdout.text().trim().parse().unwrap()).unwrap();
        // Its pipe was closed, so it is dead or about to be: such a process is marked as exiting until it is collected.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        let state: Vec<&str> = stat.rsplit_once(") ").map_or_else(Vec::new, |(_, fields)| fields.split(' ').collect());
        let ended = state.first().is_none_or(|state| matches!(*state, "Z" | "X"));
        assert!(ended || state[6].parse::<u32>().unwrap() & EXITING != 0, "{stat}");
    }

    #[tokio::test]
    async fn at_the_wall_limit_what_was_heard_so_far_is_kept() {
        // A busy machine may need longer than the first limits until the shell says its first word.
        for wall in [300, 3_000, 30_000] {
            let caps = ProcessLimits { wall: Duration::from_millis(wall), stdout: 100, stderr: 100 };
            let done = run(shell("echo early; sleep 1000"), Feed::Bytes(b""), &caps, None).await.unwrap();
            assert_eq!(done.status, None);
            if done.stdout.text() == "early\n" {
                return;
            }
        }
        panic!("nothing was heard");
    }
}

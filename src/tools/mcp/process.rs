//! `ServerProcess`: a server's program, in a process group of its own that ends with it, with the environment that commands get and what
//! its entry gives it. What it writes beside the protocol is its log.

use super::log::ServerLog;
use crate::tools::sandbox::{ProcessGroup, plain_environment};
use std::{
    collections::BTreeMap,
    path::Path,
    pin::Pin,
    process::{ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader, ReadBuf},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::watch,
};

/// How long a server may take to end by itself once its input is closed.
const FAREWELL: Duration = Duration::from_millis(800);

/// Bytes that a server may send without being asked for anything.
const UNASKED: usize = 64 << 20;

/// A program under way; dropping it ends its group.
pub(super) struct ServerProcess {
    group: Arc<Mutex<ProcessGroup>>,
    ended: watch::Receiver<Option<Option<ExitStatus>>>,
    allowance: Arc<AtomicUsize>,
}

/// Its standard output, which ends when the server sends too much unasked.
pub(super) struct MeteredOutput {
    output: ChildStdout,
    allowance: Arc<AtomicUsize>,
}

impl ServerProcess {
    pub(super) fn start(
        command: &str,
        args: &[String],
        env: &BTreeMap<String, String>,
        folder: &Path,
        log: &Arc<ServerLog>,
    ) -> std::io::Result<(Self, MeteredOutput, ChildStdin)> {
        let mut program = Command::new(if command.contains('/') { folder.join(command) } else { command.into() });
        program.args(args).env_clear().envs(plain_environment()).env("TERM", "dumb").env("NO_COLOR", "1").envs(env).current_dir(folder);
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
        let mut child = program.spawn()?;
        let group = Arc::new(Mutex::new(ProcessGroup::of(&child)));
        let missing = || std::io::Error::other("it has no pipes");
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdin, output, stderr) = (stdin.ok_or_else(missing)?, stdout.ok_or_else(missing)?, stderr.ok_or_else(missing)?);
        let allowance = Arc::new(AtomicUsize::new(UNASKED));
        let (sender, ended) = watch::channel(None);
        tokio::spawn(collect(child, group.clone(), sender));
        tokio::spawn(listen(stderr, log.clone()));
        Ok((Self { group, ended, allowance: allowance.clone() }, MeteredOutput { output, allowance }, stdin))
    }

    /// Something was asked, so more may come.
    pub(super) fn asked(&self) {
        self.allowance.store(UNASKED, Ordering::Relaxed);
    }

    /// How it ended, in words, if it did or does at once.
    pub(super) async fn end(&self) -> Option<String> {
        if self.allowance.load(Ordering::Relaxed) == 0 {
            return Some(format!("it sent more than {} MiB unasked", UNASKED >> 20));
        }
        let mut ended = self.ended.clone();
        let status = tokio::time::timeout(FAREWELL, ended.wait_for(Option::is_some)).await.ok()?.ok()?.flatten();
        Some(status.map_or_else(|| "it ended".to_owned(), |status| format!("it ended with {status}")))
    }

    /// Lets it end by itself for a moment, then ends its whole group.
    pub(super) async fn stop(&self) {
        let mut ended = self.ended.clone();
        let _ = tokio::time::timeout(FAREWELL, ended.wait_for(Option::is_some)).await;
        self.kill();
    }

    fn kill(&self) {
        self.group.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end of a program, and ends what it left running.
async fn collect(mut child: Child, group: Arc<Mutex<ProcessGroup>>, ended: watch::Sender<Option<Option<ExitStatus>>>) {
    let status = child.wait().await.ok();
    let mut group = group.lock().unwrap_or_else(PoisonError::into_inner);
    group.kill();
    // From now on the number may be another process's.
    group.forget();
    drop(group);
    ended.send_replace(Some(status));
}

async fn listen(stderr: ChildStderr, log: Arc<ServerLog>) {
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end must not fill the memory.
        let mut piece = tokio::io::AsyncReadExt::take(&mut lines, 4 << 10);
        match piece.read_until(b'\n', &mut line).await {
            Ok(1..) => log.line(&String::from_utf8_lossy(&line)),
            Ok(0) | Err(_) => return,
        }
    }
}

impl AsyncRead for MeteredOutput {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        if self.allowance.load(Ordering::Relaxed) == 0 {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.output).poll_read(context, buffer);
        let read = buffer.filled().len() - before;
        let _ = self.allowance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(read)));
        polled
    }
}

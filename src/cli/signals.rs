//! The signals that ask a program to end.

use crate::engine::StopSignal;
use tokio::signal::unix::{SignalKind, signal};

/// Waits for Ctrl-C, a request to terminate, or the end of the terminal, unless that is meant not to matter (`nohup`).
pub(super) async fn end_signal() -> StopSignal {
    async fn received(kind: SignalKind) {
        match signal(kind) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            // Without a handler of ours the system handles the signal.
            Err(_) => std::future::pending().await,
        }
    }
    let hang_up = async { if hang_ups_are_ignored() { std::future::pending().await } else { received(SignalKind::hangup()).await } };
    tokio::select! {
        () = received(SignalKind::interrupt()) => StopSignal::Interrupt,
        () = received(SignalKind::terminate()) => StopSignal::Terminate,
        () = hang_up => StopSignal::HangUp,
    }
}

/// Whether the program was started with hang-ups ignored; known on Linux only.
fn hang_ups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

//! Signals as events: those that end the program, and the one that says it was stopped and goes on.

use crate::engine::StopSignal;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signalled {
    Stop(StopSignal),
    /// The process was stopped and goes on; the shell has had the terminal in between.
    Continued,
}

/// The signals that are listened to. While this lives they no longer kill the process by themselves.
pub(super) struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    continued: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            continued: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// The next one. Nothing is lost when this is dropped before it is done.
    pub(super) async fn next(&mut self) -> Signalled {
        tokio::select! {
            Some(()) = self.terminate.recv() => Signalled::Stop(StopSignal::Terminate),
            Some(()) = self.hang_up.recv() => Signalled::Stop(StopSignal::HangUp),
            Some(()) = self.interrupt.recv() => Signalled::Stop(StopSignal::Interrupt),
            Some(()) = self.continued.recv() => Signalled::Continued,
            else => std::future::pending().await,
        }
    }

    /// Waits until the process goes on after having been stopped.
    pub(super) async fn continued(&mut self) {
        self.continued.recv().await;
    }

    /// Forgets a ctrl-c that was meant for a child on the same terminal.
    pub(super) fn forget_interrupt(&mut self) -> io::Result<()> {
        self.interrupt = signal(SignalKind::interrupt())?;
        Ok(())
    }
}

//! A panic of the console gives the terminal back before its message is printed. A panic of another thread is only logged
//! while the console has the terminal: its task's owner learns of it, and text in the middle of the screen helps nobody.

use std::panic;
use std::sync::Mutex;

use super::modes::{Modes, Tty};
use super::writer::TerminalWriter;

/// The terminal that a panic has to give back; one at a time.
static HELD: Mutex<Option<(Modes, TerminalWriter)>> = Mutex::new(None);

/// Names the terminal to give back, and puts the hook before the one that is there.
/// The thread that calls this is the one whose panics end the console.
pub(super) fn guard(modes: &Modes, writer: &TerminalWriter) {
    let first = hold().replace((modes.clone(), writer.clone())).is_none();
    if !first {
        return;
    }
    let console = std::thread::current().id();
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let held = hold().clone();
        match held {
            Some((modes, writer)) if modes.any() => {
                if std::thread::current().id() != console {
                    tracing::error!(panic = %info, "a task panicked");
                    return;
                }
                // The panic is the error to tell; the terminal is restored as far as it can be.
                let _ = modes.leave(&mut Tty::new(&writer));
                print(info);
            }
            _ => print(info),
        }
    }));
}

fn hold() -> std::sync::MutexGuard<'static, Option<(Modes, TerminalWriter)>> {
    HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

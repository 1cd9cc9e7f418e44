//! The terminal's modes: entered in order, left in reverse. Leaving runs every step, whatever fails, and keeps the first
//! error; a second leaving does nothing, so that exit, panic and drop may all do it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::queue;
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen};

use super::writer::TerminalWriter;

/// How long leaving may take when the terminal takes no output.
const PATIENCE: Duration = Duration::from_millis(300);

/// One thing that the terminal does differently while the console has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Keys come one by one, unechoed.
    Raw,
    /// The window's title is kept on the terminal's own stack.
    Title,
    /// The scrollback stays as it is.
    AlternateScreen,
    /// Pasted text is kept apart from typed text.
    BracketedPaste,
    /// The cursor shows only in text fields.
    HiddenCursor,
    /// Clicks and the wheel come to the console. Only when asked for: selecting text is the terminal's else.
    Mouse,
}

impl Mode {
    /// In the order of entering; the mouse comes last.
    const ALL: [Self; 5] = [Self::Raw, Self::Title, Self::AlternateScreen, Self::BracketedPaste, Self::HiddenCursor];
}

/// Whatever can be put into a mode.
pub(super) trait Device {
    /// Puts it into a mode.
    fn enter(&mut self, mode: Mode) -> io::Result<()>;
    /// Takes it out again.
    fn leave(&mut self, mode: Mode) -> io::Result<()>;
}

/// The modes that are on, shared by all that may have to end them.
#[derive(Clone, Debug, Default)]
pub(super) struct Modes {
    on: Arc<Mutex<Vec<Mode>>>,
    mouse: bool,
}

impl Modes {
    /// The usual ones, with the mouse where it is wanted.
    pub(super) fn new(mouse: bool) -> Self {
        Self { mouse, ..Self::default() }
    }

    /// Enters every mode. What was entered before a failure is left again.
    pub(super) fn enter(&self, device: &mut impl Device) -> io::Result<()> {
        for mode in Mode::ALL.into_iter().chain(self.mouse.then_some(Mode::Mouse)) {
            if let Err(error) = device.enter(mode) {
                // The failure that is reported is the first one; that of cleaning up would hide it.
                let _ = self.leave(device);
                return Err(error);
            }
            self.lock().push(mode);
        }
        Ok(())
    }

    /// Leaves every mode that is on, the last first.
    pub(super) fn leave(&self, device: &mut impl Device) -> io::Result<()> {
        let on = std::mem::take(&mut *self.lock());
        let mut first = Ok(());
        for mode in on.into_iter().rev() {
            let left = device.leave(mode);
            first = first.and(left);
        }
        first
    }

    /// Whether the terminal is in our hands.
    pub(super) fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Mode>> {
        self.on.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Tty {
    writer: TerminalWriter,
    deadline: Instant,
}

impl Tty {
    /// The terminal behind a writer, for one round of entering or leaving.
    pub(super) fn new(writer: &TerminalWriter) -> Self {
        Self { writer: writer.clone(), deadline: Instant::now() + PATIENCE }
    }
}

impl Device for Tty {
    fn enter(&mut self, mode: Mode) -> io::Result<()> {
        if mode == Mode::Raw {
            return crossterm::terminal::enable_raw_mode();
        }
        self.writer.write(enter_bytes(mode)?, self.deadline)
    }

    fn leave(&mut self, mode: Mode) -> io::Result<()> {
        if mode == Mode::Raw {
            return crossterm::terminal::disable_raw_mode();
        }
        self.writer.write(leave_bytes(mode)?, self.deadline)
    }
}

fn enter_bytes(mode: Mode) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match mode {
        Mode::Raw => {}
        Mode::Title => bytes.extend(b"\x1b[22;0t"),
        Mode::AlternateScreen => queue!(bytes, EnterAlternateScreen)?,
        Mode::BracketedPaste => queue!(bytes, EnableBracketedPaste)?,
        Mode::HiddenCursor => queue!(bytes, Hide)?,
        Mode::Mouse => bytes.extend(b"\x1b[?1000h\x1b[?1006h"),
    }
    Ok(bytes)
}

fn leave_bytes(mode: Mode) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match mode {
        Mode::Raw => {}
        Mode::Title => bytes.extend(b"\x1b[23;0t"),
        Mode::AlternateScreen => queue!(bytes, LeaveAlternateScreen)?,
        Mode::BracketedPaste => queue!(bytes, DisableBracketedPaste)?,
        // First of all steps: a frame may have been cut off in the middle.
        Mode::HiddenCursor => queue!(bytes, EndSynchronizedUpdate, SetAttribute(Attribute::Reset), Show)?,
        Mode::Mouse => bytes.extend(b"\x1b[?1006l\x1b[?1000l"),
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records what is done; fails where asked to.
    #[derive(Default)]
    struct Fake {
        done: Vec<(bool, Mode)>,
        broken: Vec<(bool, Mode)>,
    }

    impl Fake {
        fn step(&mut self, step: (bool, Mode)) -> io::Result<()> {
            self.done.push(step);
            if self.broken.contains(&step) { Err(io::Error::other(format!("{step:?}"))) } else { Ok(()) }
        }
    }

    impl Device for Fake {
        fn enter(&mut self, mode: Mode) -> io::Result<()> {
            self.step((true, mode))
        }

        fn leave(&mut self, mode: Mode) -> io::Result<()> {
            self.step((false, mode))
        }
    }

    fn left() -> Vec<(bool, Mode)> {
        Mode::ALL.into_iter().rev().map(|mode| (false, mode)).collect()
    }

    #[test]
    fn the_terminal_is_restored_even_if_one_restoring_step_fails() {
        let (modes, mut device) = (Modes::default(), Fake::default());
        modes.enter(&mut device).unwrap();
        device.done.clear();
        device.broken = vec![(false, Mode::BracketedPaste), (false, Mode::Title)];
        let error = modes.leave(&mut device).unwrap_err();
        assert_eq!(error.to_string(), "(false, BracketedPaste)");
        assert_eq!(device.done, left());
    }

    #[test]
    fn the_mouse_is_taken_only_where_it_is_asked_for_and_given_back_first() {
        for (mouse, taken) in [(false, None), (true, Some(Mode::Mouse))] {
            let (modes, mut device) = (Modes::new(mouse), Fake::default());
            modes.enter(&mut device).unwrap();
            assert_eq!(device.done.iter().find(|(_, mode)| *mode == Mode::Mouse).map(|(_, mode)| *mode), taken);
            device.done.clear();
            modes.leave(&mut device).unwrap();
            assert_eq!(device.done.first(), Some(&(false, taken.unwrap_or(Mode::HiddenCursor))));
        }
    }

    #[test]
    fn leaving_twice_leaves_once() {
        let (modes, mut device) = (Modes::default(), Fake::default());
        modes.enter(&mut device).unwrap();
        assert!(modes.any());
        modes.leave(&mut device).unwrap();
        device.done.clear();
        modes.clone().leave(&mut device).unwrap();
        assert!(device.done.is_empty() && !modes.any());
    }

    #[test]
    fn a_mode_that_can_not_be_entered_takes_the_others_back() {
        let (modes, mut device) = (Modes::default(), Fake::default());
        device.broken = vec![(true, Mode::BracketedPaste)];
        assert_eq!(modes.enter(&mut device).unwrap_err().to_string(), "(true, BracketedPaste)");
        assert_eq!(device.done[4..], left()[2..]);
    }

    #[test]
    fn a_terminal_that_was_entered_and_left_is_as_it_was() {
        let bytes = |mode: fn(Mode) -> io::Result<Vec<u8>>| Mode::ALL.into_iter().flat_map(move |each| mode(each).unwrap());
        let mut screen = vt100::Parser::new(3.try_into().unwrap(), 10.try_into().unwrap(), 0);
        screen.process(b"before");
        screen.process(&bytes(enter_bytes).collect::<Vec<_>>());
        assert!(screen.screen().alternate_screen() && screen.screen().hide_cursor() && screen.screen().bracketed_paste());
        screen.process(b"\x1b[?2026h\x1b[1;31mhalf a frame");
        screen.process(&bytes(leave_bytes).collect::<Vec<_>>());
        let after = screen.screen();
        assert!(!after.alternate_screen() && !after.hide_cursor() && !after.bracketed_paste() && !after.bold());
        assert_eq!(after.contents(), "before");
    }
}

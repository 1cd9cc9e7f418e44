//! `Term`: the console's hold on the terminal, from opening to the farewell in the scrollback.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::time::{Duration, Instant};

use crossterm::event::{Event as Input, KeyEventKind, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Size;
use rustix::process::Signal;
use tokio::sync::mpsc::UnboundedReceiver;

use super::canvas::Canvas;
use super::clipboard::{self, ClipboardRoute, CopyReport};
use super::keyboard::{Arrived, Keyboard};
use super::modes::{Modes, Tty};
use super::signals::{Signalled, Signals};
use super::writer::{Taken, TerminalWriter};
use super::{EditorError, FrameId, Limiter, MouseAct, TerminalClock, TerminalEvent, child, panic};
use crate::engine::Time;
use crate::text::Plain;

/// How long a stop signal may need to reach the whole process group. An orphaned group is never stopped by it.
const STOPPING: Duration = Duration::from_millis(100);
/// How long the thread that reads keys may need to let go of the terminal.
const LETTING_GO: Duration = Duration::from_millis(20);
/// How long the farewell may take.
const WORDS: Duration = Duration::from_millis(300);

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawResult {
    /// The terminal shows exactly this already: what the frame holds may be counted as seen now.
    Unchanged,
    /// It is on its way; `Event::Flushed` tells when the terminal has taken it.
    Sent(FrameId),
    /// The terminal is still taking the last frame; another `Event::FrameDue` follows.
    Busy,
}

/// Frames: whether one is wanted, under way, and how often they may come.
struct FramePacing {
    wanted: bool,
    under_way: Option<FrameId>,
    last: FrameId,
    limiter: Limiter,
}

/// The terminal in the console's hands. Dropping it gives the terminal back.
pub struct Term {
    canvas: Canvas,
    modes: Modes,
    writer: TerminalWriter,
    taken: UnboundedReceiver<Taken>,
    keyboard: Keyboard,
    signals: Signals,
    pace: FramePacing,
    clock: TerminalClock,
    title: Plain,
    route: ClipboardRoute,
}

/// One of the things that `Term::next` waits for.
enum TerminalWakeup {
    Signal(Signalled),
    Taken(Option<Taken>),
    Due,
    Input(Option<io::Result<Arrived>>),
}

impl Term {
    /// Takes the terminal. Needs a tokio runtime; call it on the thread that will run the console's loop (a panic there
    /// gives the terminal back). `out` writes to the terminal; `mouse` takes clicks and the wheel; `var` looks an environment variable up.
    pub fn open(out: Box<dyn Write + Send>, mouse: bool, var: impl Fn(&str) -> Option<String>) -> io::Result<Self> {
        if !io::stdin().is_terminal() && File::open("/dev/tty").is_err() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no terminal to read keys from"));
        }
        let (width, height) = crossterm::terminal::size()?;
        let canvas = Canvas::new(Size::new(width, height))?;
        let signals = Signals::listen()?;
        let (writer, taken) = TerminalWriter::spawn(out)?;
        let modes = Modes::new(mouse);
        panic::guard(&modes, &writer);
        modes.enter(&mut Tty::new(&writer))?;
        let pace = FramePacing { wanted: true, under_way: None, last: FrameId(0), limiter: Limiter::detect(&var) };
        let route = if var("TMUX").is_some_and(|value| !value.is_empty()) { ClipboardRoute::Tmux } else { ClipboardRoute::Direct };
        let (mut keyboard, clock) = (Keyboard::default(), TerminalClock::start());
        keyboard.take();
        Ok(Self { canvas, modes, writer, taken, keyboard, signals, pace, clock, title: Plain::default(), route })
    }

    /// This moment, by the clock that stamps events.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Columns and rows of the next frame.
    pub fn size(&self) -> (u16, u16) {
        let size = self.canvas.size();
        (size.width, size.height)
    }

    /// Asks for a frame. Asking often costs nothing: one frame shows it all.
    pub fn request_frame(&mut self) {
        self.pace.wanted = true;
    }

    /// Paints all of the next frame, for a terminal that somebody has written over, and asks for it.
    pub fn repaint(&mut self) -> io::Result<()> {
        self.request_frame();
        self.canvas.repaint()
    }

    /// What happens next. Nothing is lost when this is dropped before it is done, so it fits a `select!`.
    pub async fn next(&mut self) -> TerminalEvent {
        loop {
            let due = due(self.pace.due_in(self.clock.now()));
            let happened = tokio::select! {
                biased;
                signal = self.signals.next() => TerminalWakeup::Signal(signal),
                taken = self.taken.recv() => TerminalWakeup::Taken(taken),
                () = due => TerminalWakeup::Due,
                input = self.keyboard.next() => TerminalWakeup::Input(input),
            };
            let event = match happened {
                TerminalWakeup::Signal(Signalled::Stop(stop)) => Some(TerminalEvent::Stop(stop)),
                TerminalWakeup::Signal(Signalled::Continued) => Some(self.retake()),
                TerminalWakeup::Taken(taken) => Some(self.note_taken(taken)),
                TerminalWakeup::Due => {
                    self.pace.wanted = false;
                    Some(TerminalEvent::FrameDue)
                }
                TerminalWakeup::Input(input) => self.note_input(input),
            };
            if let Some(event) = event {
                return event;
            }
        }
    }

    /// Draws a frame; nothing is written if it looks like the last one.
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<DrawResult> {
        if self.pace.under_way.is_some() {
            self.pace.wanted = true;
            return Ok(DrawResult::Busy);
        }
        let bytes = self.canvas.compose(view)?;
        if bytes.is_empty() {
            return Ok(DrawResult::Unchanged);
        }
        let frame = FrameId(self.pace.last.0 + 1);
        self.writer.frame(frame, bytes)?;
        self.pace.last = frame;
        self.pace.under_way = Some(frame);
        Ok(DrawResult::Sent(frame))
    }

    /// Sets the window's title, if it is another one.
    pub fn set_title(&mut self, title: &Plain) {
        if self.title != *title {
            self.title = title.clone();
            self.writer.aside(format!("\x1b]0;{title}\x07").into_bytes());
        }
    }

    pub fn bell(&self) {
        self.writer.aside(vec![7]);
    }

    /// Copies lines to the clipboard of the operator's own machine, and tells how much of them went.
    pub fn copy(&self, lines: &[Plain]) -> CopyReport {
        let (bytes, copied) = clipboard::copy(lines, self.route);
        self.writer.aside(bytes);
        copied
    }

    /// Gives the terminal back to the shell and stops, as ctrl-z does; returns when the shell says go on, with the event
    /// that says what the terminal is like now.
    pub async fn suspend(&mut self) -> TerminalEvent {
        if let Err(error) = self.hand_over().await {
            tracing::warn!(%error, "the terminal could not be restored completely");
        }
        // The whole group, as the terminal itself does it: a wrapper that waits for us has to stop as well.
        if let Err(error) = rustix::process::kill_current_process_group(Signal::TSTP) {
            tracing::warn!(%error, "can't stop");
        }
        // The first wait is for a group that nobody can stop, and passes while we are stopped; the second then finds the
        // signal that we go on, so that it isn't taken for another stop later.
        for _ in 0..2 {
            if tokio::time::timeout(STOPPING, self.signals.continued()).await.is_ok() {
                break;
            }
        }
        child::discard_input();
        self.retake()
    }

    /// Lets the operator edit a text in their own editor, on this terminal. The text comes back, or why not; then the
    /// event that says what the terminal is like now.
    pub async fn edit(
        &mut self,
        text: &str,
        suffix: &str,
        var: impl Fn(&str) -> Option<String>,
    ) -> (Result<String, EditorError>, TerminalEvent) {
        let edited = match self.hand_over().await {
            Ok(()) => child::edit(&child::editor_command(var), text, suffix).await,
            Err(error) => Err(error.into()),
        };
        child::discard_input();
        let forgotten = self.signals.forget_interrupt();
        let event = self.retake();
        (forgotten.map_err(EditorError::from).and(edited), event)
    }

    /// Gives the terminal back for good, and leaves a few words in the scrollback.
    pub fn close(mut self, farewell: &[Plain]) -> io::Result<()> {
        self.keyboard.release();
        let left = self.modes.leave(&mut Tty::new(&self.writer));
        let words: String = farewell.iter().map(|line| format!("{line}\n")).collect();
        left.and(self.writer.write(words.into_bytes(), Instant::now() + WORDS))
    }

    /// Stops reading keys and leaves every mode, for somebody else to use the terminal.
    async fn hand_over(&mut self) -> io::Result<()> {
        self.keyboard.release();
        tokio::time::sleep(LETTING_GO).await;
        self.modes.leave(&mut Tty::new(&self.writer))
    }

    /// Takes the terminal again, as if it were new: somebody else has had it.
    fn retake(&mut self) -> TerminalEvent {
        // After an unforeseen stop our modes count as on while the shell has taken them off: leaving settles that.
        let _ = self.modes.leave(&mut Tty::new(&self.writer));
        let taken = self.modes.enter(&mut Tty::new(&self.writer)).and_then(|()| crossterm::terminal::size());
        let painted = taken.and_then(|(width, height)| {
            self.canvas.resize(Size::new(width, height));
            self.canvas.repaint().map(|()| TerminalEvent::Resized { width, height })
        });
        self.keyboard.take();
        self.title = Plain::default();
        self.pace.wanted = true;
        painted.unwrap_or_else(|error| TerminalEvent::Lost(error.to_string()))
    }

    fn note_taken(&mut self, taken: Option<Taken>) -> TerminalEvent {
        self.pace.under_way = None;
        let at = self.clock.now();
        self.pace.limiter.drew(at.0);
        match taken {
            Some((frame, Ok(()))) => TerminalEvent::Flushed { frame, at },
            Some((_, Err(error))) => TerminalEvent::Lost(error.to_string()),
            None => TerminalEvent::Lost("the terminal's writer has ended".to_owned()),
        }
    }

    fn note_input(&mut self, input: Option<io::Result<Arrived>>) -> Option<TerminalEvent> {
        let at = self.clock.now();
        match input {
            Some(Ok(Arrived::Burst(keys))) => Some(TerminalEvent::Burst { keys, at }),
            Some(Ok(Arrived::Text(text))) => Some(TerminalEvent::TypedAtOnce { text, at }),
            Some(Ok(Arrived::Input(Input::Key(key)))) => match key.kind {
                KeyEventKind::Press | KeyEventKind::Repeat => Some(TerminalEvent::Key { key, at }),
                KeyEventKind::Release => None,
            },
            Some(Ok(Arrived::Input(Input::Paste(text)))) => Some(TerminalEvent::Paste { text, at }),
            Some(Ok(Arrived::Input(Input::Resize(width, height)))) => {
                self.canvas.resize(Size::new(width, height));
                self.pace.wanted = true;
                // Also at the size of the last frame: the terminal may have had another one in between, and lost text by it.
                let painted = self.canvas.repaint().map(|()| TerminalEvent::Resized { width, height });
                Some(painted.unwrap_or_else(|error| TerminalEvent::Lost(error.to_string())))
            }
            Some(Ok(Arrived::Input(Input::Mouse(mouse)))) => {
                let what = match mouse.kind {
                    MouseEventKind::Down(MouseButton::Left) => MouseAct::Click,
                    MouseEventKind::ScrollUp => MouseAct::WheelUp,
                    MouseEventKind::ScrollDown => MouseAct::WheelDown,
                    _ => return None,
                };
                Some(TerminalEvent::Mouse { what, place: (mouse.column, mouse.row), at })
            }
            Some(Ok(Arrived::Input(Input::FocusGained | Input::FocusLost))) => None,
            Some(Err(error)) => Some(TerminalEvent::Lost(error.to_string())),
            None => Some(TerminalEvent::Lost("the terminal sends no more input".to_owned())),
        }
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.keyboard.release();
        // Nobody is left to tell; after `close` there is nothing to do.
        let _ = self.modes.leave(&mut Tty::new(&self.writer));
    }
}

impl FramePacing {
    /// Milliseconds until a frame may be drawn; `None` while none is wanted or the terminal is still busy.
    fn due_in(&self, now: Time) -> Option<u64> {
        (self.wanted && self.under_way.is_none()).then(|| self.limiter.wait(now.0))
    }
}

/// Done after so many milliseconds, or never.
async fn due(wait: Option<u64>) {
    match wait {
        Some(0) => {}
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_waits_for_the_terminal_to_have_taken_the_last_one() {
        let mut pace = FramePacing { wanted: false, under_way: None, last: FrameId(0), limiter: Limiter::per_second(10) };
        assert_eq!(pace.due_in(Time(5)), None);
        pace.wanted = true;
        assert_eq!(pace.due_in(Time(5)), Some(0));
        pace.under_way = Some(FrameId(1));
        assert_eq!(pace.due_in(Time(900)), None);
        pace.under_way = None;
        pace.limiter.drew(1_000);
        assert_eq!(pace.due_in(Time(1_040)), Some(60));
    }
}

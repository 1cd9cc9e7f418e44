//! The loop that connects model, terminal and host: one message at a time into `update`, its actions out, frames when they are due.
//! The only part of the console that waits for anything.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use jiff::tz::TimeZone;

use super::model::{Focus, GateShown, Key, Keymap, Look, Model, PlanOrigin};
use super::term::{DrawResult, FrameId, Term, TerminalEvent};
use super::theme::{Depth, Theme};
use super::tour::Tour;
use super::update::{ConsoleEffect, Msg, Parting, actions, next_wake, prepare, update};
use super::{theme, view};
use crate::engine::{RunId, RunStatus, Time};
use crate::host::client::{Client, Connection, Notice, Request};
use crate::plan::Plan;
use crate::text::{GlyphSet, Plain};

/// How the console is to look, which keys it takes, and what it begins with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Theme name or path; the default theme where absent.
    pub theme: Option<String>,
    /// The person's own themes.
    pub themes: Option<PathBuf>,
    pub ascii: bool,
    /// Clicks select, and the wheel scrolls.
    pub mouse: bool,
    /// Nothing changes on the screen by itself.
    pub reduced_motion: bool,
    /// The person's own keys by command id, over the usual ones; none unbinds a command.
    pub keys: BTreeMap<String, Vec<String>>,
    /// Flags that name the same folders in the shell, each after a blank.
    pub flags: String,
    /// What it begins with; the empty request line where absent.
    pub open: Option<Opened>,
}

/// What the console begins with.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A request, typed in and sent at once.
    Request(String),
    /// A plan, in the editor.
    Plan {
        plan: Box<Plan>,
        /// Where it was read; absent for stdin.
        file: Option<String>,
    },
    /// A run of the journal, as it is.
    Run(RunId),
}

/// Runs the console until the person leaves, and says what becomes of runs that go on. `out` writes to the terminal; `var` looks an environment variable up.
///
/// # Errors
/// When the terminal can't be taken, or was lost.
pub async fn run<V>(client: &dyn Client, options: Options, out: Box<dyn Write + Send>, var: V) -> io::Result<Parting>
where
    V: Fn(&str) -> Option<String> + Send + Sync,
{
    let depth = Depth::detect(&var);
    let look = look(&options, depth).map_err(io::Error::other)?;
    let term = Term::open(out, options.mouse, &var)?;
    let model = Model::new(look, term.size());
    let (connection, shown, tours) = (client.connect(), VecDeque::new(), options.open.is_none() && !options.reduced_motion);
    let console = Console { model, term, connection, shown, options, depth, var, host_gone: false, tour: None, tours };
    console.run().await
}

/// Why the console can't begin.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    #[error(transparent)]
    Theme(#[from] theme::ThemeError),
    #[error("{}", .0.join("; "))]
    Keys(Vec<String>),
}

/// Whether the console can begin with these: its theme is there and its keys mean something.
///
/// # Errors
/// When something is wrong with the theme or the keys.
pub fn check(options: &Options) -> Result<(), LookError> {
    look(options, Depth::Ansi16).map(drop)
}

fn look(options: &Options, depth: Depth) -> Result<Look, LookError> {
    let name = options.theme.clone().unwrap_or_else(|| "terminal".to_owned());
    let glyphs = if options.ascii { GlyphSet::Ascii } else { GlyphSet::Unicode };
    let theme = load(options, &name, depth)?.with_glyphs(glyphs);
    let (keymap, problems) = Keymap::with(&options.keys);
    if !problems.is_empty() {
        return Err(LookError::Keys(problems));
    }
    let themes = theme::shipped().into_iter().map(|(name, about)| (name.to_owned(), about)).collect();
    let look = Look::new(theme, &name, themes, keymap);
    Ok(Look { reduced_motion: options.reduced_motion, zone: TimeZone::system(), ..look })
}

fn load(options: &Options, name: &str, depth: Depth) -> Result<Theme, theme::ThemeError> {
    theme::load(name, options.themes.as_deref(), depth)
}

/// The console while it runs.
struct Console<V> {
    model: Model,
    term: Term,
    connection: Connection,
    /// Gates of frames that the terminal has not taken yet.
    shown: VecDeque<(FrameId, Vec<GateShown>)>,
    options: Options,
    depth: Depth,
    var: V,
    host_gone: bool,
    /// The tour, while it is shown in the place of everything.
    tour: Option<Tour>,
    /// Whether the first start ever shows it.
    tours: bool,
}

/// Whether the loop goes on with what a step gave, or ends with lines for the scrollback and what becomes of runs that are not over.
type Next<T = ()> = ControlFlow<(Vec<Plain>, Parting), T>;

enum ConsoleWakeup {
    Terminal(TerminalEvent),
    Host(Option<Notice>),
    Woke,
}

impl<V: Fn(&str) -> Option<String> + Send + Sync> Console<V> {
    async fn run(mut self) -> io::Result<Parting> {
        match self.options.open.take() {
            None => {}
            Some(Opened::Plan { plan, file }) => {
                actions::plan::open(&mut self.model, *plan, file.map_or(PlanOrigin::Stdin, PlanOrigin::File));
            }
            Some(Opened::Request(request)) => {
                self.model.request.field.set(&request);
                if let Ok(submit) = Key::parse("enter").map(Msg::Key) {
                    // A request that is sent leaves nothing.
                    let _ = self.take(submit, self.term.now()).await?;
                }
            }
            Some(Opened::Run(run)) => {
                self.model.place.focus = Focus::Tree;
                // A host that is gone is known by the end of its notices.
                let _ = self.connection.requests.send(Request::OpenRun(run));
            }
        }
        self.term.request_frame();
        loop {
            let happened = self.happens().await;
            let next = match happened {
                ConsoleWakeup::Terminal(event) => self.terminal(event).await?,
                ConsoleWakeup::Host(notice) => self.host(notice).await?,
                ConsoleWakeup::Woke => {
                    let now = self.term.now();
                    if let Some(tour) = &mut self.tour {
                        tour.tick(now);
                        self.term.request_frame();
                    }
                    self.take(Msg::Tick, now).await?
                }
            };
            if let Next::Break((summary, parting)) = next {
                let shell = format!("  dagdeck{} ", self.options.flags);
                let lines = summary.iter().map(|line| Plain::line(&line.as_str().replacen("  dagdeck ", &shell, 1)));
                return self.term.close(&lines.collect::<Vec<_>>()).map(|()| parting);
            }
        }
    }

    async fn happens(&mut self) -> ConsoleWakeup {
        let now = self.term.now();
        let tour = self.tour.as_ref().and_then(|tour| tour.due(now));
        let wake = next_wake(&self.model, now).into_iter().chain(tour).min().map(|at| Duration::from_millis(at.since(now)));
        tokio::select! {
            biased;
            event = self.term.next() => ConsoleWakeup::Terminal(event),
            notice = self.connection.notices.recv(), if !self.host_gone => ConsoleWakeup::Host(notice),
            () = tokio::time::sleep(wake.unwrap_or_default()), if wake.is_some() => ConsoleWakeup::Woke,
        }
    }

    async fn terminal(&mut self, event: TerminalEvent) -> io::Result<Next> {
        // Whatever a person does ends the tour, and is done.
        if event.is_of_person() && self.tour.take().is_some() {
            self.term.request_frame();
        }
        self.tour.take_if(|_| !Tour::fits(self.term.size()));
        match event {
            TerminalEvent::Key { key, at } => self.take(Msg::Key(Key::of(&key)), at).await,
            TerminalEvent::Mouse { what, place, at } => self.take(Msg::Mouse(what, place), at).await,
            TerminalEvent::Burst { keys, at } => self.take(Msg::Burst(keys), at).await,
            TerminalEvent::TypedAtOnce { text, at } => self.take(Msg::TypedAtOnce(text), at).await,
            TerminalEvent::Paste { text, at } => self.take(Msg::Paste(text), at).await,
            TerminalEvent::Resized { width, height } => self.take(Msg::Resize(width, height), self.term.now()).await,
            TerminalEvent::FrameDue => self.draw().await,
            TerminalEvent::Flushed { frame, at } => self.flushed(frame, at).await,
            TerminalEvent::Stop(signal) => {
                Ok(Next::Break((actions::app::summary(&self.model, self.term.now(), RunStatus::Interrupted), Parting::Interrupted(signal))))
            }
            TerminalEvent::Lost(why) => Err(io::Error::other(why)),
        }
    }

    /// Takes in all notices that are there, then asks for one frame.
    async fn host(&mut self, first: Option<Notice>) -> io::Result<Next> {
        let mut next = first;
        loop {
            let is_first = matches!(&next, Some(Notice::Hello(hello)) if hello.is_first);
            if is_first && self.tours && self.model.request.field.is_empty() && self.model.dialogs.is_empty() {
                self.tour = Tour::new(self.model.look.clone(), self.term.size(), self.term.now());
            }
            let msg = match next {
                Some(notice) => Msg::Notice(Box::new(notice)),
                None => {
                    self.host_gone = true;
                    Msg::HostGone
                }
            };
            let taken = self.take(msg, self.term.now()).await?;
            match self.connection.notices.try_recv() {
                Ok(notice) if taken.is_continue() => next = Some(notice),
                Ok(_) | Err(_) => return Ok(taken),
            }
        }
    }

    async fn draw(&mut self) -> io::Result<Next> {
        let now = self.term.now();
        let mut shown = view::Shown::default();
        if let Some(tour) = &mut self.tour {
            if let DrawResult::Sent(frame) = self.term.draw(|frame| tour.draw(now, frame.buffer_mut()))? {
                self.shown.push_back((frame, Vec::new()));
            }
            return Ok(Next::Continue(()));
        }
        prepare(&mut self.model, now);
        let model = &self.model;
        let drawn = self.term.draw(|frame| {
            shown = view::draw(model, now, frame.buffer_mut());
            if let Some(cursor) = shown.cursor {
                frame.set_cursor_position(cursor);
            }
        })?;
        match drawn {
            DrawResult::Unchanged => self.take(Msg::FrameFlushed(shown.gates), now).await,
            DrawResult::Sent(frame) => {
                self.shown.push_back((frame, shown.gates));
                Ok(Next::Continue(()))
            }
            DrawResult::Busy => Ok(Next::Continue(())),
        }
    }

    async fn flushed(&mut self, frame: FrameId, at: Time) -> io::Result<Next> {
        let mut gates = Vec::new();
        while self.shown.front().is_some_and(|(id, _)| *id <= frame) {
            if let Some((id, shown)) = self.shown.pop_front()
                && id == frame
            {
                gates = shown;
            }
        }
        self.take(Msg::FrameFlushed(gates), at).await
    }

    /// Works on a message, does what it asks for, and works on what that leads to.
    async fn take(&mut self, msg: Msg, now: Time) -> io::Result<Next> {
        let mut waiting = VecDeque::from([(msg, now)]);
        while let Some((msg, now)) = waiting.pop_front() {
            for effect in update(&mut self.model, msg, now) {
                match self.act(effect).await? {
                    Next::Continue(said) => waiting.extend(said.map(|msg| (msg, self.term.now()))),
                    Next::Break(farewell) => return Ok(Next::Break(farewell)),
                }
            }
        }
        Ok(Next::Continue(()))
    }

    /// Does what was asked of the world, and says what that led to.
    async fn act(&mut self, effect: ConsoleEffect) -> io::Result<Next<Option<Msg>>> {
        match effect {
            ConsoleEffect::Send(request) => {
                if self.connection.requests.send(request).is_err() && !self.host_gone {
                    self.host_gone = true;
                    return Ok(Next::Continue(Some(Msg::HostGone)));
                }
            }
            ConsoleEffect::Frame => self.term.request_frame(),
            ConsoleEffect::Repaint => self.term.repaint()?,
            ConsoleEffect::Copy(text) => {
                let copied = self.term.copy(&Plain::block(&text));
                if copied.bytes < copied.of {
                    let words = format!("copied the first {} of {} bytes: terminals take no more", copied.bytes, copied.of);
                    self.model.status = Some(super::model::Status::warn(&words));
                } else if copied.by_tmux {
                    let words = "sent to tmux: it reaches the clipboard where tmux has `set-clipboard on`";
                    self.model.status = Some(super::model::Status::note(words));
                }
            }
            ConsoleEffect::OpenEditor { text, suffix, then } => {
                let (edited, event) = self.term.edit(&text, suffix, &self.var).await;
                let edited = Msg::Edited { then, before: text, text: edited.map_err(|error| error.to_string()) };
                return self.retaken(event, Some(edited));
            }
            ConsoleEffect::UseTheme(name) => {
                let theme = load(&self.options, &name, self.depth).map(Box::new).map_err(|error| error.to_string());
                return Ok(Next::Continue(Some(Msg::Themed { name, theme })));
            }
            ConsoleEffect::Attention { waiting, ring } => {
                let title = if waiting == 0 { "dagdeck".to_owned() } else { format!("({waiting}) dagdeck") };
                self.term.set_title(&Plain::line(&title));
                if ring {
                    self.term.bell();
                }
            }
            ConsoleEffect::Tour => {
                self.tour = Tour::new(self.model.look.clone(), self.term.size(), self.term.now());
                if self.tour.is_none() {
                    self.model.status = Some(super::model::Status::warn("the tour needs 72 columns and 24 rows"));
                }
                self.term.request_frame();
            }
            ConsoleEffect::Suspend => {
                let event = self.term.suspend().await;
                return self.retaken(event, None);
            }
            ConsoleEffect::Quit { summary, parting } => return Ok(Next::Break((summary, parting))),
        }
        Ok(Next::Continue(None))
    }

    /// Goes on after somebody else had the terminal.
    fn retaken(&mut self, event: TerminalEvent, msg: Option<Msg>) -> io::Result<Next<Option<Msg>>> {
        match event {
            TerminalEvent::Lost(why) => return Err(io::Error::other(why)),
            TerminalEvent::Stop(signal) => return Ok(Next::Break((Vec::new(), Parting::Interrupted(signal)))),
            TerminalEvent::Resized { width, height } => self.model.place.size = (width, height),
            _ => {}
        }
        Ok(Next::Continue(msg))
    }
}

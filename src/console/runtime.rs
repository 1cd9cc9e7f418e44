//! The loop that connects model, terminal and host: one message at a time into `update`, its actions out, frames when they are due.
//! The only part of the console that waits for anything.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use super::{
    model::{Focus, GateShown, Key, Keymap, Look, Model},
    term::{DrawResult, FrameId, Term, TerminalEvent},
    theme::{self, Depth, Theme},
    update::{ConsoleEffect, Msg, Parting, actions, next_wake, prepare, update},
    view,
};
use crate::engine::{RunId, Time};
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
    /// ASCII only.
    pub ascii: bool,
    /// The person's own keys by command id, over the usual ones; none unbinds a command.
    pub keys: BTreeMap<String, Vec<String>>,
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
        /// The plan.
        plan: Box<Plan>,
        /// Where it comes from, for people.
        origin: String,
    },
    /// A run of the journal, as it stands.
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
    let (look, problems) = look(&options, depth).map_err(io::Error::other)?;
    let term = Term::open(out, &var)?;
    let mut model = Model::new(look, term.size());
    if let Some(problem) = problems.first() {
        model.status = Some(super::model::Status::warn(problem));
    }
    let console = Console { model, term, connection: client.connect(), shown: VecDeque::new(), options, depth, var, host_gone: false };
    console.run().await
}

fn look(options: &Options, depth: Depth) -> Result<(Look, Vec<String>), String> {
    let name = options.theme.clone().unwrap_or_else(|| "terminal".to_owned());
    let glyphs = if options.ascii { GlyphSet::Ascii } else { GlyphSet::Unicode };
    let theme = load(options, &name, depth)?.with_glyphs(glyphs);
    let (keymap, problems) = Keymap::with(&options.keys);
    let themes = theme::shipped().into_iter().map(|(name, _)| name.to_owned()).collect();
    Ok((Look { theme, name, themes, keymap }, problems))
}

fn load(options: &Options, name: &str, depth: Depth) -> Result<Theme, String> {
    theme::load(name, options.themes.as_deref(), depth).map_err(|error| error.to_string())
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
}

/// Whether the loop goes on.
enum LoopContinues {
    Go,
    Leave(Vec<Plain>, Parting),
}

/// What happened first.
enum ConsoleWakeup {
    Terminal(TerminalEvent),
    Host(Option<Notice>),
    Woke,
}

impl<V: Fn(&str) -> Option<String> + Send + Sync> Console<V> {
    async fn run(mut self) -> io::Result<Parting> {
        match self.options.open.take() {
            None => {}
            Some(Opened::Plan { plan, origin }) => actions::plan::open(&mut self.model, *plan, &origin),
            Some(Opened::Request(request)) => {
                self.model.request.field.set(&request);
                if let Ok(submit) = Key::parse("enter").map(Msg::Key) {
                    self.take(submit, self.term.now()).await?;
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
                ConsoleWakeup::Woke => self.take(Msg::Tick, self.term.now()).await?,
            };
            if let LoopContinues::Leave(summary, parting) = next {
                return self.term.close(&summary).map(|()| parting);
            }
        }
    }

    async fn happens(&mut self) -> ConsoleWakeup {
        let now = self.term.now();
        let wake = next_wake(&self.model, now).map(|at| Duration::from_millis(at.since(now)));
        let sleep = async {
            match wake {
                Some(wake) => tokio::time::sleep(wake).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            event = self.term.next() => ConsoleWakeup::Terminal(event),
            notice = self.connection.notices.recv(), if !self.host_gone => ConsoleWakeup::Host(notice),
            () = sleep => ConsoleWakeup::Woke,
        }
    }

    async fn terminal(&mut self, event: TerminalEvent) -> io::Result<LoopContinues> {
        match event {
            TerminalEvent::Key { key, at } => self.take(Msg::Key(Key::of(&key)), at).await,
            TerminalEvent::Burst { at } => self.take(Msg::Burst, at).await,
            TerminalEvent::TypedAtOnce { text, at } => self.take(Msg::TypedAtOnce(text), at).await,
            TerminalEvent::Paste { text, at } => self.take(Msg::Paste(text), at).await,
            TerminalEvent::Resized { width, height } => self.take(Msg::Resize(width, height), self.term.now()).await,
            TerminalEvent::FrameDue => self.draw().await,
            TerminalEvent::Flushed { frame, at } => self.flushed(frame, at).await,
            TerminalEvent::Stop(signal) => {
                Ok(LoopContinues::Leave(actions::app::summary(&self.model, self.term.now(), "interrupted"), Parting::Interrupted(signal)))
            }
            TerminalEvent::Lost(why) => Err(io::Error::other(why)),
        }
    }

    /// Takes in all notices that are there, then asks for one frame.
    async fn host(&mut self, first: Option<Notice>) -> io::Result<LoopContinues> {
        let mut next = first;
        loop {
            let msg = match next {
                Some(notice) => Msg::Notice(Box::new(notice)),
                None => {
                    self.host_gone = true;
                    Msg::HostGone
                }
            };
            if let LoopContinues::Leave(summary, parting) = self.take(msg, self.term.now()).await? {
                return Ok(LoopContinues::Leave(summary, parting));
            }
            match self.connection.notices.try_recv() {
                Ok(notice) => next = Some(notice),
                Err(_) => return Ok(LoopContinues::Go),
            }
        }
    }

    async fn draw(&mut self) -> io::Result<LoopContinues> {
        let now = self.term.now();
        let mut shown = view::Shown::default();
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
                Ok(LoopContinues::Go)
            }
            DrawResult::Busy => Ok(LoopContinues::Go),
        }
    }

    async fn flushed(&mut self, frame: FrameId, at: Time) -> io::Result<LoopContinues> {
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
    async fn take(&mut self, msg: Msg, now: Time) -> io::Result<LoopContinues> {
        let mut waiting = VecDeque::from([(msg, now)]);
        while let Some((msg, now)) = waiting.pop_front() {
            for action in update(&mut self.model, msg, now) {
                match self.act(action).await {
                    Acted::Done => {}
                    Acted::Says(said) => waiting.extend(said.into_iter().map(|msg| (msg, self.term.now()))),
                    Acted::Leaves(summary, parting) => return Ok(LoopContinues::Leave(summary, parting)),
                    Acted::Lost(why) => return Err(io::Error::other(why)),
                }
            }
        }
        Ok(LoopContinues::Go)
    }

    async fn act(&mut self, action: ConsoleEffect) -> Acted {
        match action {
            ConsoleEffect::Send(request) => return self.send(request),
            ConsoleEffect::Frame => self.term.request_frame(),
            ConsoleEffect::Repaint => {
                if let Err(error) = self.term.repaint() {
                    return Acted::Lost(error.to_string());
                }
            }
            ConsoleEffect::Copy(text) => {
                let copied = self.term.copy(&Plain::block(&text));
                if copied.bytes < copied.of {
                    let words = format!("copied the first {} of {} bytes: terminals take no more", copied.bytes, copied.of);
                    self.model.status = Some(super::model::Status::warn(&words));
                }
            }
            ConsoleEffect::OpenEditor { text, suffix, then } => {
                let (edited, event) = self.term.edit(&text, suffix, &self.var).await;
                return after(event, Some(Msg::Edited { then, before: text, text: edited.map_err(|error| error.to_string()) }));
            }
            ConsoleEffect::UseTheme(name) => {
                let theme = load(&self.options, &name, self.depth).map(Box::new);
                return Acted::Says(vec![Msg::Themed { name, theme }]);
            }
            ConsoleEffect::Attention { waiting, ring } => {
                let title = if waiting == 0 { "dagdeck".to_owned() } else { format!("({waiting}) dagdeck") };
                self.term.set_title(&Plain::line(&title));
                if ring {
                    self.term.bell();
                }
            }
            ConsoleEffect::Suspend => {
                let event = self.term.suspend().await;
                return after(event, None);
            }
            ConsoleEffect::Quit { summary, parting } => return Acted::Leaves(summary, parting),
        }
        Acted::Done
    }

    fn send(&mut self, request: Request) -> Acted {
        if self.connection.requests.send(request).is_err() && !self.host_gone {
            self.host_gone = true;
            return Acted::Says(vec![Msg::HostGone]);
        }
        Acted::Done
    }
}

/// What an action led to.
enum Acted {
    Done,
    Says(Vec<Msg>),
    Leaves(Vec<Plain>, Parting),
    Lost(String),
}

/// Goes on after somebody else had the terminal.
fn after(event: TerminalEvent, msg: Option<Msg>) -> Acted {
    let mut said = Vec::new();
    match event {
        TerminalEvent::Resized { width, height } => said.push(Msg::Resize(width, height)),
        TerminalEvent::Lost(why) => return Acted::Lost(why),
        TerminalEvent::Stop(signal) => return Acted::Leaves(Vec::new(), Parting::Interrupted(signal)),
        TerminalEvent::Key { .. }
        | TerminalEvent::Burst { .. }
        | TerminalEvent::TypedAtOnce { .. }
        | TerminalEvent::Paste { .. }
        | TerminalEvent::FrameDue
        | TerminalEvent::Flushed { .. } => {}
    }
    said.extend(msg);
    Acted::Says(said)
}

//! Update: what a message changes in the model, and what it asks of the world. Pure: time comes in with the message.

mod acted;
pub mod actions;
mod ends;
mod keys;
mod mouse;
mod notices;
mod palette;
mod turn;

use super::commands::help;
use super::model::{Dialog, EditThen, GateShown, HelpDialog, Key, Model, PlanScreen, Replay, RunView, Screen, Status, docs, scrolled};
use super::term::MouseAct;
use super::theme::{Role, Theme};
use crate::{engine::Time, host::client::Notice};

pub use turn::{ConsoleEffect, NextCommand, Parting, TOO_FAST, UpdateTurn};

#[derive(Clone, Debug)]
pub enum Msg {
    Key(Key),
    /// The mouse did this at a column and row.
    Mouse(MouseAct, (u16, u16)),
    /// Several keys came at once; they follow.
    Burst(usize),
    /// Text came at once, without the brackets of a paste.
    TypedAtOnce(String),
    Paste(String),
    /// The terminal has another size.
    Resize(u16, u16),
    /// The host says something.
    Notice(Box<Notice>),
    /// The host is gone.
    HostGone,
    /// A frame that showed these gates has reached the terminal.
    FrameFlushed(Vec<GateShown>),
    /// The moment that `next_wake` asked for has come.
    Tick,
    /// The outside editor has ended.
    Edited {
        /// What the text was for.
        then: EditThen,
        /// The text as it was given.
        before: String,
        /// The text, or why there is none.
        text: Result<String, String>,
    },
    /// The theme asked for, or why it can't be had.
    Themed {
        name: String,
        theme: Result<Box<Theme>, String>,
    },
}

/// Takes in one message.
pub fn update(model: &mut Model, msg: Msg, now: Time) -> Vec<ConsoleEffect> {
    let mut turn =
        UpdateTurn { now, key: None, quiet: model.safety.quiet(now), in_burst: model.safety.in_burst(), effects: Vec::new(), next: None };
    let mut frame = true;
    if matches!(msg, Msg::Tick | Msg::Notice(_)) {
        model.status.take_if(|status| status.until().is_some_and(|until| until <= now));
    }
    match msg {
        Msg::Key(key) => keys::key(model, &mut turn, key),
        Msg::Mouse(what, place) => mouse::mouse(model, &turn, what, place),
        Msg::Burst(keys) => model.safety.burst(keys, now),
        Msg::TypedAtOnce(text) => keys::typed_at_once(model, &mut turn, &text),
        Msg::Paste(text) => keys::paste(model, &mut turn, &text),
        Msg::Resize(width, height) => {
            model.place.size = (width, height);
            // What was said of what had no room may be so no more.
            model.status.take_if(|status| status.role == Role::Warning);
        }
        Msg::Notice(notice) => notices::notice(model, &mut turn, *notice),
        Msg::HostGone => model.status = Some(Status::bad("the host has ended: the screen shows the last known state")),
        Msg::FrameFlushed(shown) => {
            // A frame says what was seen before it.
            let said = (model.gate_is_faced(), model.unseen_lines());
            model.safety.flushed(shown);
            frame = said != (model.gate_is_faced(), model.unseen_lines());
        }
        Msg::Tick => actions::replay::tick(model, now),
        Msg::Edited { then, before, text } => actions::dialogs::edited(model, &mut turn, &then, &before, text),
        Msg::Themed { name, theme } => actions::app::themed(model, name, theme.map(|theme| *theme)),
    }
    actions::past::read_on(model, &mut turn);
    actions::learning::ask(model, &mut turn);
    if let Some(status) = &mut model.status {
        status.since = status.since.or(Some(now));
    }
    actions::app::look_at_theme(model, &mut turn);
    settle(model);
    if frame {
        turn.effects.push(ConsoleEffect::Frame);
    }
    actions::rules::reshaped(model, &mut turn);
    turn.effects
}

/// Works out what only a frame needs, right before one is drawn.
pub fn prepare(model: &mut Model, now: Time) {
    if let PlanScreen::Run(id) = &model.place.shown
        && let Some(run) = model.runs.get_mut(id)
    {
        run.grow();
        if model.place.screen == Screen::Trace {
            run.refresh_trace();
        }
        if model.place.screen == Screen::Cost {
            run.refresh_cost();
        }
        if matches!(model.place.screen, Screen::Timeline | Screen::Graph) {
            run.refresh_chart(now);
        }
    }
    if model.place.screen == Screen::Runs {
        model.runs.look();
    }
    if model.place.screen == Screen::Versus {
        model.runs.refresh_versus();
        if let Some(versus) = &mut model.runs.versus {
            versus.look(docs::versus);
        }
    }
    actions::act::refresh(model);
    settle(model);
}

/// Keeps what is selected in sight.
fn settle(model: &mut Model) {
    if let Some(Dialog::Help(help)) = model.dialogs.last() {
        let groups = help::groups(model, help);
        let size = model.place.size;
        if let Some(Dialog::Help(help)) = model.dialogs.last_mut() {
            help.groups = groups;
            help.page = help.page.min(help.pages(HelpDialog::room(size)).len().saturating_sub(1));
        }
    }
    let layout = model.layout();
    let rows = layout.list_rows();
    model.with_tree(|tree, _| tree.settle(rows));
    if model.place.screen == Screen::Graph {
        model.refresh_drawing();
        let pane = (layout.list.width, layout.list.height.saturating_sub(1));
        // What has room without the card keeps its form beside it.
        let screen = (model.place.size.0, layout.footer.y.saturating_sub(layout.list.y + 1));
        model.with_tree(|tree, _| {
            let selected = tree.node().cloned();
            tree.drawing.settle(selected.as_ref(), pane, screen);
        });
    }
    if model.place.screen == Screen::Plan && model.shown_run().is_none() && !layout.live.is_empty() {
        model.refresh_drawing();
        model.with_tree(|tree, _| {
            let selected = tree.node().cloned();
            tree.drawing.settle_stages(selected.as_ref(), (layout.live.width, layout.live.height.saturating_sub(1)));
        });
    }
    if let Some(view) = model.shown_run_mut() {
        view.log.settle(rows);
    }
    if model.place.screen == Screen::Timeline
        && let Some(chart) = model.shown_run().and_then(RunView::chart)
    {
        let at = model.selected_id().and_then(|id| chart.bars.iter().position(|bar| bar.node == *id)).unwrap_or(0);
        model.place.first_bar = scrolled(model.place.first_bar, at, chart.bars.len(), rows.saturating_sub(3));
    }
    // Above the rows of two runs is which they are.
    let rows_of_list = rows.saturating_sub(if model.place.screen == Screen::Versus { 2 } else { 0 });
    if let Some((place, len)) = model.list_mut() {
        place.settle(len, rows_of_list);
    }
    let inbox = &mut model.inbox;
    if let Some(place) = inbox.place() {
        inbox.top = scrolled(inbox.top, place, inbox.gates.len(), rows);
    }
}

/// When something on the screen changes by itself, if it does: a gate becomes ready for keys, a second of elapsed time goes by while
/// something runs and is in sight, or a replay plays there.
pub fn next_wake(model: &Model, now: Time) -> Option<Time> {
    let active = model.gate_is_faced().then(|| model.safety.quiet_from()).filter(|at| *at > now);
    let in_sight = model.place.screen.shows_stage();
    let ticks = match &model.place.shown {
        PlanScreen::Run(id) => model.runs.get(id).is_some_and(|run| run.works()),
        PlanScreen::Plan => model.request.planning.is_some(),
    };
    let second = (ticks && in_sight && !model.look.reduced_motion).then(|| Time((now.0 / 1000 + 1) * 1000));
    let plays = model.replay().filter(|_| in_sight).and_then(Replay::due);
    let said = model.status.as_ref().and_then(|status| status.until()).filter(|at| *at > now);
    // Ages are told in minutes.
    let ages = model.at_start() || model.place.screen == Screen::Inbox && !model.inbox.gates.is_empty() || model.card_gate().is_some();
    let minute = ages.then(|| Time((now.0 / 60_000 + 1) * 60_000));
    [active, second, plays, said, minute].into_iter().flatten().min()
}

//! Replay: the shown run as it was after any of its events. Steps by event, by node, by time; plays; searches. Nobody is called.

use super::super::UpdateTurn;
use crate::console::model::{Dialog, LineDialog, LineThen, Model, Replay, RunView, Status, TextField, log};
use crate::engine::{Event, NodeFact, Record, Time};
use crate::text::Plain;

/// Milliseconds of a step by time.
const STEP_MS: u64 = 10_000;

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplayDirection {
    Back,
    Forward,
}

/// Begins a replay at the last event, or ends it.
pub fn toggle(model: &mut Model, turn: &mut UpdateTurn) {
    if model.replay().is_some() {
        return last(model, turn);
    }
    go(model, |_, _| {});
    let key = |id: &str| model.hint(id);
    let words = format!(
        "replay: {} and {} step by event, {} returns to now; nothing is called",
        key("replay.back"),
        key("replay.forward"),
        key("replay.last")
    );
    model.status = Some(Status::note(&words));
}

/// Changes the replay of the shown run, which stops playing by itself, and shows where it led.
fn go(model: &mut Model, change: impl FnOnce(&mut Replay, &[Record])) {
    let Some(view) = model.shown_run_mut() else { return };
    view.with_replay(|replay, records| {
        replay.stop();
        change(replay, records);
    });
    arrived(view);
}

fn arrived(view: &mut RunView) {
    view.grow();
    if let Some(at) = view.replay().map(Replay::at) {
        view.log.follow = false;
        view.log.select_event(at.saturating_sub(1));
    }
}

/// Shows the run after so many of its events, and selects the node that the last of them is about.
pub fn to(model: &mut Model, at: usize) {
    go(model, |replay, records| replay.seek(records, at));
    select(model);
}

/// Selects the node of the event that is looked at.
fn select(model: &mut Model) {
    let node = model.shown_run().and_then(|view| {
        let record = view.journal().records().get(view.replay()?.at().checked_sub(1)?)?;
        record.event.about(&view.seen().run)
    });
    if let Some(node) = node {
        model.with_tree(|tree, plan| {
            tree.reveal(plan, &node);
        });
    }
}

/// One event back.
pub fn back(model: &mut Model, _: &mut UpdateTurn) {
    step(model, ReplayDirection::Back, |_| true);
}

/// One event forward.
pub fn forward(model: &mut Model, _: &mut UpdateTurn) {
    step(model, ReplayDirection::Forward, |_| true);
}

/// Back to where a node started or ended.
pub fn node_back(model: &mut Model, _: &mut UpdateTurn) {
    step(model, ReplayDirection::Back, begins_or_ends);
    select(model);
}

/// On to where a node starts or ends.
pub fn node_forward(model: &mut Model, _: &mut UpdateTurn) {
    step(model, ReplayDirection::Forward, begins_or_ends);
    select(model);
}

fn begins_or_ends(record: &Record) -> bool {
    matches!(
        record.event,
        Event::Node {
            fact: NodeFact::Started { .. }
                | NodeFact::Completed { .. }
                | NodeFact::Failed { .. }
                | NodeFact::Skipped { .. }
                | NodeFact::Passed { .. }
                | NodeFact::Cancelled { .. }
                | NodeFact::Unknown { .. },
            ..
        }
    )
}

/// To the next event that is looked for, or says that there is none.
fn step(model: &mut Model, way: ReplayDirection, wanted: impl Fn(&Record) -> bool) {
    let Some((at, records)) = place(model) else { return };
    let found = match way {
        ReplayDirection::Back => records[..at.saturating_sub(1)].iter().rposition(wanted),
        ReplayDirection::Forward => records[at..].iter().position(wanted).map(|found| at + found),
    };
    match found {
        Some(found) => go(model, |replay, records| replay.seek(records, found + 1)),
        None => end(model, way),
    }
}

/// How many events are folded, and all events.
fn place(model: &Model) -> Option<(usize, &[Record])> {
    let view = model.shown_run()?;
    Some((view.replay()?.at(), view.journal().records()))
}

fn end(model: &mut Model, way: ReplayDirection) {
    let now = model.hint("replay.last");
    model.status = Some(Status::note(&match way {
        ReplayDirection::Back => "there is none before".to_owned(),
        ReplayDirection::Forward => format!("there is none after; press {now} to return to now"),
    }));
}

/// The run as it was ten seconds before.
pub fn time_back(model: &mut Model, _: &mut UpdateTurn) {
    let Some((at, records)) = place(model) else { return };
    let Some(now) = at.checked_sub(1).and_then(|last| records.get(last)).map(|record| record.at) else { return };
    let before = Time(now.0.saturating_sub(STEP_MS));
    // At least one event back, so that the key always moves.
    let to = records.partition_point(|record| record.at <= before).min(at.saturating_sub(1));
    if to == 0 && at <= 1 {
        return end(model, ReplayDirection::Back);
    }
    go(model, |replay, records| replay.seek(records, to));
}

/// The run as it was ten seconds later.
pub fn time_forward(model: &mut Model, _: &mut UpdateTurn) {
    let Some((at, records)) = place(model) else { return };
    let Some(now) = at.checked_sub(1).and_then(|last| records.get(last)).map(|record| record.at) else { return };
    let to = records.partition_point(|record| record.at <= now.plus(STEP_MS)).max(at + 1);
    if at >= records.len() {
        return end(model, ReplayDirection::Forward);
    }
    go(model, |replay, records| replay.seek(records, to));
}

/// Plays, or stops. From the end it plays from the beginning.
pub fn play(model: &mut Model, turn: &mut UpdateTurn) {
    let now = turn.now;
    let Some(view) = model.shown_run_mut() else { return };
    view.with_replay(|replay, records| {
        if replay.plays() {
            return replay.stop();
        }
        if replay.at() >= records.len() {
            replay.seek(records, 1);
        }
        replay.play(records, now);
    });
    arrived(view);
}

/// Plays faster.
pub fn faster(model: &mut Model, turn: &mut UpdateTurn) {
    change_speed(model, turn, 1);
}

/// Plays slower.
pub fn slower(model: &mut Model, turn: &mut UpdateTurn) {
    change_speed(model, turn, -1);
}

fn change_speed(model: &mut Model, turn: &mut UpdateTurn, by: isize) {
    let now = turn.now;
    if let Some(view) = model.shown_run_mut() {
        view.with_replay(|replay, records| {
            replay.change_speed(by);
            if replay.plays() {
                replay.play(records, now);
            }
        });
    }
}

/// The moment for which a playing replay asked has come.
pub fn tick(model: &mut Model, now: Time) {
    let Some(view) = model.shown_run_mut() else { return };
    if view.replay().and_then(Replay::due).is_none_or(|due| due > now) {
        return;
    }
    let mut ended = false;
    view.with_replay(|replay, records| ended = replay.tick(records, now));
    arrived(view);
    if ended {
        let now = model.hint("replay.last");
        model.status = Some(Status::note(&format!("this is the last event so far; press {now} to return to now")));
    }
}

/// Asks what to search for.
pub fn find(model: &mut Model, _: &mut UpdateTurn) {
    let wanted = model.replay().map(|replay| replay.wanted.clone()).unwrap_or_default();
    model.dialogs.push(Dialog::Line(LineDialog {
        title: Plain::line("search for an event"),
        field: TextField::offering(&wanted),
        note: Some(Plain::line("words, node:ID, kind:node, gate, tool, model, text, action or run")),
        then: LineThen::FindEvent,
    }));
}

/// What to search for was typed.
pub fn found(model: &mut Model, wanted: &str) {
    if wanted.trim().is_empty() {
        return;
    }
    if let Some(view) = model.shown_run_mut() {
        view.with_replay(|replay, _| wanted.clone_into(&mut replay.wanted));
    }
    search(model, ReplayDirection::Forward);
}

/// The next event that the search finds.
pub fn next(model: &mut Model, _: &mut UpdateTurn) {
    search(model, ReplayDirection::Forward);
}

/// The event before that the search finds.
pub fn previous(model: &mut Model, _: &mut UpdateTurn) {
    search(model, ReplayDirection::Back);
}

/// Goes on behind the end from the other one.
fn search(model: &mut Model, way: ReplayDirection) {
    let Some(view) = model.shown_run() else { return };
    let Some(replay) = view.replay() else { return };
    let (at, records) = (replay.at(), view.journal().records());
    let wanted = log::EventFilter::parse(&replay.wanted);
    let hits = |record: &Record| wanted.lets(record, view.newest());
    let found = match way {
        ReplayDirection::Forward => {
            let after = records[at..].iter().position(hits).map(|found| at + found);
            after.or_else(|| records[..at].iter().position(hits))
        }
        ReplayDirection::Back => {
            let here = at.saturating_sub(1);
            records[..here].iter().rposition(hits).or_else(|| records[here..].iter().rposition(hits).map(|found| here + found))
        }
    };
    match found {
        Some(found) => {
            let wanted = replay.wanted.clone();
            let (which, all) = records
                .iter()
                .enumerate()
                .filter(|(_, record)| hits(record))
                .fold((0, 0), |(which, all), (at, _)| (which + usize::from(at <= found), all + 1));
            to(model, found + 1);
            model.status = Some(Status::note(&match all {
                1 => format!("the only event with `{wanted}`"),
                _ => format!("{which} of {all} events with `{wanted}`"),
            }));
        }
        None => model.status = Some(Status::warn(&format!("no event with `{}`", replay.wanted))),
    }
}

/// To the first event.
pub fn first(model: &mut Model, _: &mut UpdateTurn) {
    go(model, |replay, records| replay.seek(records, 1));
}

/// Ends the replay: the run is shown as it is now.
pub fn last(model: &mut Model, _: &mut UpdateTurn) {
    leave(model);
}

/// Ends the replay of the shown run. Says whether there was one.
pub fn leave(model: &mut Model) -> bool {
    let Some(view) = model.shown_run_mut() else { return false };
    let was = end_of(view);
    if was {
        let goes_on = view.goes_on();
        model.status = Some(Status::note(if goes_on { "back to now" } else { "back to the end of the run" }));
    }
    was
}

/// Shows a run as it is now. Says whether it was shown as it was.
pub fn end_of(view: &mut RunView) -> bool {
    let was = view.end_replay();
    if was {
        view.grow();
        view.log.follow = true;
        view.log.select(usize::MAX);
    }
    was
}

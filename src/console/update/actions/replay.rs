//! Replay: the shown run as it was after any of its events. Steps by event, by node, by time; plays; searches. Nobody is called.

use super::super::UpdateTurn;
use crate::console::model::{Dialog, LineThen, Model, Replay, RunView, Status, TextField, log};
use crate::engine::{EventTrait, Record, Time};

/// Milliseconds of a step by time.
const STEP_MS: u64 = 10_000;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReplayDirection {
    Back,
    Forward,
}

/// Begins a replay at the last event, or ends it.
pub fn toggle(model: &mut Model, _: &mut UpdateTurn) {
    if model.replay().is_some() {
        leave(model);
        return;
    }
    go(model, |_, _| {});
    let key = |id: &str| model.hint(id);
    let (play, first, back) = (key("replay.play"), key("replay.first"), key("replay.back"));
    let words = format!("replay, nothing is called: {play} plays it, {first} goes to the start, {back} steps back");
    model.status = Some(Status::note(&words));
}

/// Changes the replay of the shown run, which stops playing by itself, and shows where it led.
pub fn go(model: &mut Model, change: impl FnOnce(&mut Replay, &[Record])) {
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
        model.reveal(&node);
    }
}

/// To where a node starts or ends next, or did before.
pub fn step_by_node(model: &mut Model, way: ReplayDirection) {
    step(model, way, |record| record.event.has(EventTrait::StartsOrEndsNode));
    select(model);
}

/// To the next event that is looked for, or says that there is none.
pub fn step(model: &mut Model, way: ReplayDirection, wanted: impl Fn(&Record) -> bool) {
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
        ReplayDirection::Back => "nothing earlier".to_owned(),
        ReplayDirection::Forward => format!("nothing later; press {now} to leave the replay"),
    }));
}

/// The run as it was ten seconds before or after, at least one event away, so that the key always moves.
pub fn step_by_time(model: &mut Model, way: ReplayDirection) {
    let Some((at, records)) = place(model) else { return };
    let Some(now) = at.checked_sub(1).and_then(|last| records.get(last)).map(|record| record.at) else { return };
    let (to, is_end) = match way {
        ReplayDirection::Back => {
            let before = Time(now.0.saturating_sub(STEP_MS));
            let to = records.partition_point(|record| record.at <= before).min(at.saturating_sub(1));
            (to, to == 0 && at <= 1)
        }
        ReplayDirection::Forward => {
            let to = records.partition_point(|record| record.at <= now.plus(STEP_MS)).max(at + 1);
            (to, at >= records.len())
        }
    };
    if is_end {
        return end(model, way);
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

/// Plays faster, or slower.
pub fn change_speed(model: &mut Model, turn: &mut UpdateTurn, by: isize) {
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
        model.status = Some(Status::note(&format!("this is the last event so far; press {now} to leave the replay")));
    }
}

/// Asks what to search for.
pub fn find(model: &mut Model, _: &mut UpdateTurn) {
    let wanted = model.replay().map(|replay| replay.wanted.clone()).unwrap_or_default();
    let note = "words, node:ID, kind:node, gate, tool, model, text, action or run";
    model.dialogs.push(Dialog::line("search for an event", TextField::offering(&wanted), note, LineThen::FindEvent));
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

/// To the next event that the search finds, or the one before; behind the end it goes on from the other one.
pub fn search(model: &mut Model, way: ReplayDirection) {
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

/// Ends the replay of the shown run. Says whether there was one.
pub fn leave(model: &mut Model) -> bool {
    let Some(view) = model.shown_run_mut() else { return false };
    let was = end_of(view);
    if was {
        let goes_on = view.goes_on();
        model.status = Some(Status::note(if goes_on { "the run as it is now" } else { "the run at its end" }));
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

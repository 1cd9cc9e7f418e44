//! The first rows: what is shown, where and with which model; how far it is, what of it needs somebody, and what it took.

use jiff::tz::TimeZone;
use ratatui::layout::Rect;

use super::pen::Pen;
use crate::console::model::{Model, PlanScreen, RunView, Screen, StopKind, texts};
use crate::console::theme::Role;
use crate::engine::{CountedNodes, GateId, NodeCounts, RunStatus, Time, Totals, elapsed};
use crate::host::client::Driver;
use crate::text::{Glyph, Plain, began, cost, count, counted, duration, stopwatch};

/// Texts one after the other with how they look.
type Pieces = Vec<(Plain, Role)>;

/// What the rows say: the right side gives way to the left, its last piece first.
#[derive(Default)]
struct Header {
    title: Pieces,
    state: Pieces,
    /// How much is done, as a bar.
    bar: Pieces,
    /// The same in numbers.
    counts: Pieces,
    took: Pieces,
}

/// Draws the first rows: two, or on a low screen the first with the counts in it.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let Header { title, state, bar, counts, took } = place(model, now, pen);
    // By weight: the time stands at the right edge, and what comes and goes is on its left.
    let took: Pieces = took.iter().take(1).cloned().chain(elsewhere(model, pen)).chain(took.iter().skip(1).cloned()).collect();
    if area.height < 2 {
        let trimmed = |(text, role): (Plain, Role)| (Plain::line(text.as_str().trim()), role);
        return row(pen, area, title, state.into_iter().chain(counts).map(trimmed).chain(took).chain(around(model)).collect());
    }
    row(pen, area, title, around(model));
    figures(pen, Rect { y: area.y + 1, ..area }, [state, bar, counts].concat(), took);
}

/// Columns between two texts of a row.
const GAP: usize = 2;

/// The least columns of a goal.
const GOAL: usize = 24;
/// Pieces of the right side that a goal is cut for.
const FIRST: usize = 2;

fn width(pieces: &[(Plain, Role)]) -> usize {
    pieces.iter().map(|(text, _)| text.width()).sum()
}

/// Draws one row. Of the right side, which is in order of weight, as much as leaves the left side its room.
fn row(pen: &mut Pen<'_>, area: Rect, left: Pieces, mut right: Pieces) {
    let all = usize::from(area.width).saturating_sub(2);
    let side = |right: &Pieces| right.iter().map(|(text, _)| text.width() + GAP).sum::<usize>();
    // The first pieces of the right side stand while a goal has the least room left.
    let is_titled = left.iter().any(|(_, role)| *role == Role::Title);
    let goal = GOAL.min(all / 3);
    let least = |pieces: usize| if is_titled && pieces <= FIRST { width(&left).min(goal) } else { width(&left) };
    while least(right.len()) + side(&right) > all && right.pop().is_some() {}
    let spaced: Pieces = right.into_iter().flat_map(|(text, role)| [(Plain::blank(GAP), Role::Text), (text, role)]).collect();
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), height: 1, ..area };
    let end = pen.pieces_right(inside, &spaced);
    pen.pieces(Rect { width: end.saturating_sub(inside.x), ..inside }, &left);
}

/// Draws the second row: what counts up stands at the right edge and never moves; it and the bar go before the last of the counts.
fn figures(pen: &mut Pen<'_>, area: Rect, mut left: Pieces, mut right: Pieces) {
    let all = usize::from(area.width).saturating_sub(2);
    let side = |right: &Pieces| right.iter().map(|(text, _)| text.width() + GAP).sum::<usize>();
    while width(&left) + side(&right) > all && right.len() > 1 && right.pop().is_some() {}
    while width(&left) + side(&right) > all && left.len() > LEAST && left.pop().is_some() {}
    right.reverse();
    let spaced: Pieces = right.into_iter().flat_map(|(text, role)| [(Plain::blank(GAP), Role::Text), (text, role)]).collect();
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), height: 1, ..area };
    let end = pen.pieces_right(inside, &spaced);
    pen.pieces(Rect { width: end.saturating_sub(inside.x), ..inside }, &left);
}

/// Pieces of the second row's left side that stand whatever else has no room: the state and the bar.
const LEAST: usize = 4;

/// The model, the folder, and which of several runs is shown.
fn around(model: &Model) -> Pieces {
    let mut right = Vec::new();
    let going_on = model.runs.going_on().count();
    let shown = usize::from(model.shown_run().is_some_and(RunView::goes_on));
    let key = model.hint("stage.next");
    if let (PlanScreen::Run(id), all @ 2..) = (&model.place.shown, model.runs.open.len()) {
        let at = model.runs.number(id).unwrap_or(1);
        right.push((Plain::line(&format!("run {at} of {all} ({key})")), Role::Dim));
    } else if let Some(run) = model.runs.going_on().next().filter(|_| going_on > shown) {
        let words = match going_on {
            1 => format!("1 run is {} ({key})", run.status().word()),
            many => format!("{many} open runs ({key})"),
        };
        right.push((Plain::line(&words), texts::status_role(run.status())));
    }
    // A run keeps its own.
    let own = model.shown_run().and_then(|view| view.model(model.session.is_picked));
    let (label, lacks) = own.map_or_else(|| (model.session.model_label(), model.session.lacks_model()), |own| (own, false));
    right.push(match lacks {
        true => (label.then(&Plain::line(&format!(" ({})", model.hint("app.model")))), Role::Dim),
        false => (label.truncate(24), Role::Dim),
    });
    right.push((model.session.workspace.truncate_start(28), Role::Dim));
    right
}

/// Gates that are not of the run on the screen.
fn elsewhere(model: &Model, pen: &Pen<'_>) -> Option<(Plain, Role)> {
    // A replay shows what was; what waits, waits now.
    let shown = model.shown_run().filter(|view| view.replay().is_none() && model.place.screen.shows_stage());
    let others = model.inbox.gates.iter().filter(|gate| shown.is_none_or(|view| view.id != gate.run)).count();
    let mark = pen.theme.glyph(Glyph::Gate);
    let whose = match (shown.is_some(), model.replay().is_some()) {
        (true, _) => "in other runs",
        (false, true) => "waiting now",
        (false, false) => "waiting",
    };
    // The inbox lists them itself.
    let is_told = others > 0 && model.place.screen != Screen::Inbox;
    is_told.then(|| (Plain::line(&format!("{mark} {} {whose}", counted(others, "gate"))), Role::Gate))
}

fn place(model: &Model, now: Time, pen: &Pen<'_>) -> Header {
    let named = |words: &str| Header { title: vec![(Plain::line(words), Role::Title)], ..Header::default() };
    match (model.place.screen, &model.place.shown) {
        (Screen::Inbox, _) => named("Inbox"),
        (Screen::Compare, _) => {
            let goal = model.editor.plan().headline();
            Header { title: vec![(Plain::line("Compare  ").then(&goal), Role::Title)], ..Header::default() }
        }
        (Screen::Versus, _) => named("Differences between two runs"),
        (Screen::Stats, _) => named("Statistics"),
        (Screen::Runs, _) => named("Runs"),
        (Screen::Inventory, _) => named("Agents and tools"),
        (Screen::Plan | Screen::Graph | Screen::Log | Screen::Timeline | Screen::Trace | Screen::Cost, PlanScreen::Plan) => {
            plan(model, now, pen)
        }
        (Screen::Plan | Screen::Graph | Screen::Log | Screen::Timeline | Screen::Trace | Screen::Cost, PlanScreen::Run(id)) => {
            let goes_on = !model.runs.is_imported(id);
            model.runs.get(id).map(|view| run((view, goes_on), (now, &model.look.zone), pen)).unwrap_or_default()
        }
    }
}

/// A count in as many columns as it takes when it counts all, so that what follows doesn't move.
fn steady(count: &Plain, all: u32) -> Plain {
    let digits = count.as_str().bytes().take_while(u8::is_ascii_digit).count();
    let most = all.to_string().len().max(digits);
    count.pad_start(count.width() + most - digits)
}

/// A word for the state, in a column of its own.
fn state(word: &str, role: Role) -> (Plain, Role) {
    (Plain::blank(2).then(&Plain::line(word).pad(word.len().max(12))).then(&Plain::blank(2)), role)
}

fn titled(pen: &Pen<'_>, glyph: Glyph, role: Role, goal: Plain) -> Pieces {
    vec![(Plain::line(pen.theme.glyph(glyph)).then(&Plain::blank(1)), role), (goal, Role::Title)]
}

fn plan(model: &Model, now: Time, pen: &Pen<'_>) -> Header {
    let plan = model.editor.plan();
    let mut header = Header { title: titled(pen, Glyph::Ready, Role::Dim, plan.headline()), ..Header::default() };
    if plan.nodes.is_empty() {
        header.title = vec![(Plain::line("dagdeck"), Role::Title)];
    }
    if let Some(planning) = &model.request.planning {
        header.state = vec![state("planning", Role::Running), (planning.progress.clone(), Role::Text)];
        let seconds = now.since(planning.since) / 1000;
        if seconds > 0 {
            header.took = vec![(duration(seconds * 1000), Role::Dim)];
        }
        return header;
    }
    if plan.nodes.is_empty() {
        return header;
    }
    let errors = model.editor.review.errors();
    let warnings = model.editor.findings().len() - errors;
    // As the rows show them, those inside of others too.
    let asks = model.editor.shown().nodes.iter().filter(|node| texts::gated(node, &model.session.catalog)).count();
    header.state = vec![state("plan", Role::Dim), (Plain::line(&counted(plan.nodes.len(), "node")), Role::Text)];
    let some = [
        (asks, format!("{asks} {} you ({})", if asks == 1 { "asks" } else { "ask" }, pen.theme.glyph(Glyph::Gate)), Role::Text),
        (errors, counted(errors, "error"), Role::Error),
        (warnings, counted(warnings, "warning"), Role::Warning),
    ];
    let some = some.into_iter().filter(|(count, _, _)| *count > 0);
    header.state.extend(some.map(|(_, words, role)| (Plain::blank(GAP).then(&Plain::line(&words)), role)));
    header.took = estimate(model);
    header
}

/// What the plan will take; red where the worst case breaks a cap.
fn estimate(model: &Model) -> Pieces {
    let Some(report) = model.editor.forecast.get() else { return Vec::new() };
    let role = if report.estimate.broken_caps.is_empty() { Role::Dim } else { Role::Error };
    report.estimate.whole.parts().into_iter().map(|part| (part, role)).collect()
}

/// Columns of the bar, and on a narrow terminal.
const BAR: (usize, usize) = (24, 16);

/// `goes_on`: whether its gates can be replied to, here or elsewhere.
fn run((view, goes_on): (&RunView, bool), (now, zone): (Time, &TimeZone), pen: &Pen<'_>) -> Header {
    let status = match view.seen_status() {
        RunStatus::Waiting if !goes_on => RunStatus::NotUnderWay,
        status => status,
    };
    let counts = view.seen().run.counts(status);
    let role = texts::status_role(status);
    let stops = |is: fn(StopKind) -> bool| view.stops().iter().filter(|stop| is(stop.kind)).count();
    let gates = stops(|kind| matches!(kind, StopKind::Gate(_)));
    // Where somebody is waited for, that is the loudest word of the screen.
    let needs = goes_on && gates > 0 && matches!(status, RunStatus::Running | RunStatus::Waiting);
    let halts = stops(|kind| kind == StopKind::Halt);
    let (glyph, loud) = match (needs, halts) {
        (true, _) => (Glyph::Gate, Role::Gate),
        (false, 1..) => (Glyph::AtBreakpoint, Role::Held),
        (false, 0) => (status.glyph(), role),
    };
    let mut header = Header { title: titled(pen, glyph, loud, view.goal()), ..Header::default() };
    match view.replay() {
        Some(replay) => {
            let at = Plain::line(&format!("  replay {}/{}  ", replay.at(), view.journal().len()));
            header.state.extend([(at, Role::Badge), (Plain::blank(1).then(&Plain::line(status.word())).then(&Plain::blank(2)), role)]);
        }
        None => {
            let word = match status {
                _ if needs => StopKind::Gate(GateId(0)).counted(gates),
                RunStatus::Running if halts > 0 => counted(halts, "halt"),
                status => status.word().to_owned(),
            };
            header.state.push(state(&word, loud));
            header.bar = bar(counts, loud, pen);
        }
    }
    // A run that is paused says so, and who is waited for beside it.
    let waits = goes_on && gates > 0 && !needs && status.is_timed() && view.replay().is_none();
    let is_told = |what: CountedNodes| what == CountedNodes::Waiting && needs && view.replay().is_none();
    let all = counts.all;
    let counts = counts.parts().into_iter().filter(|(what, _)| !is_told(*what));
    header.counts.extend(counts.map(|(what, count)| match what {
        CountedNodes::Waiting if waits => (Plain::blank(GAP).then(&Plain::line(&StopKind::Gate(GateId(0)).counted(gates))), Role::Gate),
        what => (Plain::blank(GAP).then(&steady(&count, all)), texts::count_role(what)),
    }));
    if halts > 0 && (needs || status != RunStatus::Running || view.replay().is_some()) {
        // Where somebody is waited for goes before what is over.
        let at = header.counts.len().min(1);
        header.counts.insert(at, (Plain::blank(GAP).then(&Plain::line(&counted(halts, "halt"))), Role::Held));
    }
    if view.replay().is_none() && view.newest().run.outcome().is_some() {
        let wrote = view.newest().run.changes().files_label();
        header.counts.extend((!wrote.is_empty()).then(|| (Plain::blank(GAP).then(&wrote), Role::Dim)));
    }
    match &view.driver {
        Driver::Here => {}
        Driver::Elsewhere(who) => header.counts.push((Plain::line("  under way in ").then(&Plain::summary(who)), Role::Dim)),
        // Actions open one that is over again: of that there is no more to say than how it ended.
        Driver::Nobody if view.newest().run.outcome().is_some() => {}
        Driver::Nobody if matches!(status, RunStatus::NotUnderWay | RunStatus::Interrupted) => {}
        Driver::Nobody => header.counts.push((Plain::line("  not under way"), Role::Dim)),
    }
    header.took = took(view, now, zone);
    header
}

fn took(view: &RunView, now: Time, zone: &TimeZone) -> Pieces {
    let mut took = Vec::new();
    if view.replay().is_none() {
        let (ms, run) = (view.elapsed_ms(now), &view.newest().run);
        let time = match view.works() {
            true => stopwatch(ms),
            // Nothing is drawn while all of it waits, so a number would soon be false.
            false if view.status().is_timed() => Plain::line("began ").then(&began(run.began().0, now.0, zone)),
            false => elapsed(ms),
        };
        took.push((time, Role::Dim));
    }
    let spent = Totals::from(view.seen().spent);
    let budget = view.seen().run.budget().cloned().unwrap_or_default();
    let account = view.seen().run.account();
    let of = |cap: Option<Plain>| cap.map_or_else(Plain::default, |cap| Plain::line(" of ").then(&cap));
    // Of what is capped, how near it is to its cap is seen.
    let near = |used: f64, cap: Option<f64>| if cap.is_some_and(|cap| used >= cap * NEAR) { Role::Warning } else { Role::Dim };
    if spent.tokens > 0 {
        let label = spent.tokens_label().then(&of(budget.tokens.map(count))).then(&Plain::line(" tokens"));
        took.push((label, near(account.used.tokens as f64, budget.tokens.map(|cap| cap as f64))));
    }
    took.extend(spent.money_label().map(|money| (money.then(&of(budget.usd.map(cost))), near(account.used.usd(), budget.usd))));
    if let Some(cap) = budget.model_calls.filter(|_| account.used.calls > 0) {
        let label = count(account.used.calls).then(&of(Some(count(cap)))).then(&Plain::line(" calls"));
        took.push((label, near(account.used.calls as f64, Some(cap as f64))));
    }
    took
}

/// The part of a cap from which on what is used is a warning.
const NEAR: f64 = 0.8;

/// How much is done, as a bar.
fn bar(counts: NodeCounts, role: Role, pen: &Pen<'_>) -> Pieces {
    let columns = if pen.buffer.area.width < 100 { BAR.1 } else { BAR.0 };
    let done = counts.done as usize * columns / counts.all.max(1) as usize;
    let line = |glyph: Glyph, columns: usize| Plain::line(&pen.theme.glyph(glyph).repeat(columns));
    let tip = usize::from(done < columns && done > 0);
    let rest = columns - done - tip;
    vec![(line(Glyph::LineHeavy, done).then(&line(Glyph::LineTip, tip)), role), (line(Glyph::LineHorizontal, rest), Role::Border)]
}

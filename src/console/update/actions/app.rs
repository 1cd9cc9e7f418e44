//! The program as a whole: screens, panes, palette, help, model, theme, leaving.

use super::super::{ConsoleEffect, Parting, TOO_FAST, UpdateTurn};
use crate::console::model::{
    Confirm, Confirmed, Dialog, Focus, HelpDialog, LineThen, Look, Model, Pick, PickItem, PickThen, PlanScreen, ReplyDraft, RunView,
    Screen, SetupChoice, Status, TextField, TypedAs, around, contexts, texts,
};
use crate::console::theme::Theme;
use crate::engine::{Action, ActionTarget, Command, OPERATOR, REHEARSAL, RunStatus, Time, elapsed};
use crate::host::client::{ModelList, ModelStatus, Request, TrustItem};
use crate::text::Plain;

/// Most runs that the farewell tells of.
const SUMMARY_RUNS: usize = 4;

pub fn help(model: &mut Model, _: &mut UpdateTurn) {
    if !matches!(model.dialogs.last(), Some(Dialog::Help(_))) {
        model.dialogs.push(Dialog::Help(HelpDialog::new(contexts(model))));
    }
}

pub fn back(model: &mut Model, _: &mut UpdateTurn) {
    if model.place.focus == Focus::Inspector && matches!(model.place.screen, Screen::Plan | Screen::Graph) {
        model.place.focus = Focus::Tree;
    } else if model.place.screen != Screen::Plan {
        model.go(Screen::Plan);
    } else if !model.tree().filter.is_empty() {
        super::tree::clear_filter(model);
    } else if super::replay::leave(model) {
        // The run as it is now is one step before leaving it.
    } else {
        let (next, quit) = (model.hint("stage.next"), model.hint("app.quit"));
        let to = match (&model.place.shown, model.runs.open.is_empty()) {
            (PlanScreen::Plan, true) => String::new(),
            (PlanScreen::Plan, false) => format!("{next} goes to the run, "),
            (PlanScreen::Run(_), _) => format!("{next} goes on to the next run or the plan, "),
        };
        model.status = Some(Status::note(&format!("nothing to close: {to}{quit} quits")));
    }
}

/// All gates. Opened at the selected node's gate, else where it was left, else at the oldest.
pub fn inbox_screen(model: &mut Model, turn: &mut UpdateTurn) {
    let mut here = model.node_gates();
    here.extend(model.selected_nodes_gate().filter(|_| here.is_empty()));
    model.place.screen = Screen::Inbox;
    if let Some(first) = here.first().filter(|_| model.inbox.selected.as_ref().is_none_or(|key| !here.contains(key))) {
        model.inbox.select(Some(first.clone()));
    } else if model.inbox.place().is_none() {
        let oldest = model.inbox.gates.first().cloned();
        model.inbox.select(oldest);
    }
    turn.send(Request::ListRuns);
    turn.effects.push(ConsoleEffect::Attention { waiting: model.inbox.gates.len(), ring: false });
}

/// Runs of now and before.
pub fn runs_screen(model: &mut Model, turn: &mut UpdateTurn) {
    model.place.screen = Screen::Runs;
    if let PlanScreen::Run(shown) = &model.place.shown
        && let Some(at) = model.runs.listing.iter().position(|summary| summary.run == *shown)
    {
        model.runs.place.selected = at;
    }
    turn.send(Request::ListRuns);
}

/// The panes of the Plan screen, in the order of going through them.
const PANES: [Focus; 3] = [Focus::Tree, Focus::Inspector, Focus::Request];

/// To the pane so many further.
pub fn focus(model: &mut Model, by: isize) {
    // The graph and a replay have no request line.
    let shown = if model.place.screen == Screen::Graph || model.replay().is_some() { &PANES[..2] } else { &PANES };
    if !matches!(model.place.screen, Screen::Plan | Screen::Graph) {
        return model.go(Screen::Plan);
    }
    model.place.focus = around(shown, model.place.focus, by);
}

/// Which model is used, and how to use another one.
pub fn model(model: &mut Model, turn: &mut UpdateTurn) {
    match &model.session.model {
        Some(ModelStatus::Absent { .. } | ModelStatus::Broken { .. }) => super::setup::begin(model, turn),
        Some(ModelStatus::Rehearsal | ModelStatus::Operator | ModelStatus::Connected { .. }) | None => {
            model.status = Some(Status::note("looking for models"));
            turn.send(Request::ListModels);
        }
    }
}

/// The models on offer came.
pub fn models(model: &mut Model, list: &ModelList) {
    if model.types() {
        return;
    }
    model.status = None;
    let why = list.why.as_deref().unwrap_or("in use");
    let detail = |name: &String| match name.as_str() {
        _ if Some(name) == list.used.as_ref() => why,
        OPERATOR => "you answer in the model's place",
        REHEARSAL => "nodes that need a model or would change something only show it",
        _ => "",
    };
    let listed = list.names.iter().map(|name| PickItem::new(PickThen::Model(name.clone()), name, detail(name)));
    let other = PickItem::new(PickThen::OtherModel, "another name …", "servers know models that they don't list");
    let set_up =
        PickItem::new(PickThen::SetUp(SetupChoice::Begin), "set up a model …", "another provider, server or key; makes it the default");
    let used = list.used.as_ref().map(|used| format!("In use: {used} ({why})."));
    let broken = list.usual_problem.iter().chain(&list.problems).map(|problem| format!("{}.", problem.message.trim_end_matches('.')));
    let note = used.into_iter().chain(broken).collect::<Vec<_>>().join(" ");
    let unlisted = list.used.iter().filter(|used| !list.names.contains(used));
    let unlisted = unlisted.map(|name| PickItem::new(PickThen::Model(name.clone()), name, why));
    let mut dialog = Dialog::noted_pick("model", &note, unlisted.chain(listed).chain([other, set_up]).collect());
    if let Dialog::Pick(pick) = &mut dialog {
        let is_used = |item: &PickItem| matches!(&item.then, PickThen::Model(name) if Some(name) == list.used.as_ref());
        pick.selected = pick.items.iter().position(is_used).unwrap_or_default();
        pick.otherwise = Some((TypedAs::Model, Plain::line(super::setup::UNLISTED)));
    }
    model.dialogs.push(dialog);
}

/// Asks for the name of a model that isn't listed.
pub fn ask_model(model: &mut Model) {
    let note = "as its server knows it; the next plan and run use it";
    model.dialogs.push(Dialog::line("name of the model", TextField::line(""), note, LineThen::ModelName));
}

/// The name of a model was typed.
pub fn named_model(model: &Model, turn: &mut UpdateTurn, name: &str) {
    if !name.is_empty() {
        use_model(model, turn, name.to_owned());
    }
}

/// Has plans, new runs and the run on the screen ask a model.
pub fn use_model(model: &Model, turn: &mut UpdateTurn, name: String) {
    let run = model.shown_run().map(|view| view.id.clone());
    turn.send(Request::UseModel { model: name, run });
}

/// Asks which files of the workspace count only if they are trusted.
pub fn trust(_: &mut Model, turn: &mut UpdateTurn) {
    turn.send(Request::ListTrust);
}

/// Files that are not trusted came.
pub fn untrusted(model: &mut Model, items: Vec<TrustItem>) {
    if items.is_empty() {
        model.status = Some(Status::note("nothing in this workspace waits to be trusted"));
        return;
    }
    let item = |item: TrustItem| {
        let more = item.changes.len().checked_sub(2).map(|rest| format!("; {} more", rest + 1)).unwrap_or_default();
        let detail = format!("{}: {}{more}", item.state.word(), item.changes.first().map_or("", String::as_str));
        let path = item.path.clone();
        PickItem::new(PickThen::Trust(Box::new(item)), &path, &detail)
    };
    model.dialogs.push(Dialog::pick("files to trust", items.into_iter().map(item).collect()));
}

/// Asks whether a file is trusted, with all that it would change.
pub fn ask_trust(model: &mut Model, item: Box<TrustItem>) {
    let head = Plain::line(&format!("trust {} as it is now?", item.path));
    let lines = [head].into_iter().chain(item.changes.iter().map(|change| Plain::line(change))).collect();
    model.dialogs.push(Dialog::confirm(lines, Confirmed::Trust(item)));
}

pub fn theme(model: &mut Model, _: &mut UpdateTurn) {
    let Look { name: used, themes, .. } = &model.look;
    let item = |(name, about): &(String, String)| {
        let detail = if name == used { format!("in use: {about}") } else { about.clone() };
        PickItem::new(PickThen::Theme(name.clone()), name, &detail)
    };
    let mut pick = Pick::new("theme", themes.iter().map(item).collect());
    pick.selected = themes.iter().position(|(name, _)| name == used).unwrap_or(0);
    model.dialogs.push(Dialog::Pick(pick));
}

/// Asks for the theme that is marked in a list of them, to look at it, and else for the one in use.
pub fn look_at_theme(model: &mut Model, turn: &mut UpdateTurn) {
    let marked = match model.dialogs.last() {
        Some(Dialog::Pick(pick)) => pick.marked(),
        _ => None,
    };
    let wanted = match marked.map(|item| &item.then) {
        Some(PickThen::Theme(name)) => name.clone(),
        _ => model.look.name.clone(),
    };
    if wanted != model.look.asked {
        model.look.asked.clone_from(&wanted);
        turn.effects.push(ConsoleEffect::UseTheme(wanted));
    }
}

/// The theme that was asked for, or why it can't be had.
pub fn themed(model: &mut Model, name: String, theme: Result<Theme, String>) {
    match theme {
        Ok(theme) => {
            let glyphs = model.look.theme.glyphs();
            model.look.theme = theme.with_glyphs(glyphs);
            model.look.drawn = name;
        }
        Err(error) => model.status = Some(Status::bad(&error)),
    }
}

/// Keeps the theme that was picked, where it could be had.
pub fn keep_theme(model: &mut Model, turn: &mut UpdateTurn, name: String) {
    if model.look.drawn == name {
        model.status = Some(Status::good(&format!("theme {name}")));
        turn.send(Request::KeepTheme(name.clone()));
        model.look.name = name;
    } else {
        turn.effects.push(ConsoleEffect::UseTheme(name));
    }
}

/// Leaves; asks first while runs have not ended that end by it. A yes keeps them: it is pressed by habit.
pub fn quit(model: &mut Model, turn: &mut UpdateTurn) {
    if matches!(model.dialogs.last(), Some(Dialog::Confirm(Confirm { then: Confirmed::Leave, .. }))) {
        return;
    }
    let going_on: Vec<Plain> = model.runs.going_on().filter(|_| !model.session.runs_go_on).map(under_way).collect();
    let unsent = unsent(model);
    if going_on.is_empty() && unsent.is_empty() {
        return leave(model, turn);
    }
    if going_on.is_empty() {
        if !matches!(model.dialogs.last(), Some(Dialog::Confirm(_))) {
            let lines = unsent.into_iter().chain([Plain::line("Quit and lose it?")]).collect();
            model.dialogs.push(Dialog::confirm(lines, Confirmed::Leave));
        }
        return;
    }
    let count = going_on.len();
    let works = model.runs.going_on().any(|run| run.counts().running > 0);
    let (run, them) = if count == 1 { ("A run".to_owned(), "it") } else { (format!("{count} runs"), "them") };
    let head = match (works, count) {
        (true, 1) => format!("{run} is under way:"),
        (true, _) => format!("{run} are under way:"),
        (false, 1) => format!("{run} waits, and nothing runs now:"),
        (false, _) => format!("{run} wait, and nothing runs now:"),
    };
    let mut lines = vec![Plain::line(&head)];
    lines.extend(going_on);
    lines.push(Plain::default());
    let (cancel, resume) = (model.hint("confirm.cancel_runs"), model.hint("run.resume"));
    if works {
        lines.push(Plain::line(&format!("Quit? Nodes that run now are interrupted; {resume} resumes {them} later.")));
        lines.push(Plain::line("If one may have had an effect, you are asked what to do with it."));
    } else if count == 1 {
        lines.push(Plain::line(&format!("Quit? It stays as it is; {resume} resumes it later.")));
    } else {
        lines.push(Plain::line(&format!("Quit? They stay as they are; {resume} resumes them later.")));
    }
    lines.push(Plain::line(&format!("{cancel} cancels {them} for good before it quits.")));
    if !unsent.is_empty() {
        lines.push(Plain::line("Either also loses this:"));
        lines.extend(unsent);
    }
    model.dialogs.push(Dialog::confirm(lines, Confirmed::Leave));
}

/// Cancels all runs that go on, and leaves.
pub fn cancel_runs(model: &mut Model, turn: &mut UpdateTurn) {
    if turn.in_burst {
        return model.status = Some(Status::warn(TOO_FAST));
    }
    let runs: Vec<_> = model.runs.going_on().map(|run| run.id.clone()).collect();
    for run in runs {
        turn.send(Request::Command { run, command: Command::act(Action::Cancel { target: ActionTarget::Run }) });
    }
    turn.effects.push(ConsoleEffect::Quit { summary: summary(model, turn.now, RunStatus::Cancelled), parting: Parting::Cancels });
}

/// What a person wrote that is in no file, run or reply, so that leaving loses it.
fn unsent(model: &Model) -> Vec<Plain> {
    let mut lost = Vec::new();
    if model.editor.compare.would_be_lost(model.editor.plan()) {
        let save = model.hint("confirm.save");
        lost.push(Plain::line(&format!("The plan has changes that are neither saved nor run ({save} saves them).")));
    }
    for (key, draft) in &model.inbox.drafts {
        let Some((gate, _)) = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate)) else { continue };
        let what = match draft {
            ReplyDraft::Words(words) => format!("your rejection: {words}"),
            ReplyDraft::Answer(answer) => format!("your answer: {}", texts::result(answer)),
            ReplyDraft::Payload(_) => "what it asks about, as you edited it".to_owned(),
        };
        lost.push(Plain::summary(&format!("Not sent to {}: {what}", gate.node)));
    }
    for dialog in model.dialogs.iter().filter(|dialog| dialog.is_written()) {
        lost.push(Plain::line("The text that you are writing: ").then(&dialog.title()));
    }
    if !model.request.field.is_empty() {
        lost.push(Plain::summary(&format!("Your request, not sent: {}", model.request.field.text())));
    }
    lost
}

/// Leaves, with runs as they are.
pub fn leave(model: &mut Model, turn: &mut UpdateTurn) {
    turn.effects.push(ConsoleEffect::Quit { summary: summary(model, turn.now, RunStatus::Interrupted), parting: Parting::Leaves });
}

fn under_way(run: &RunView) -> Plain {
    Plain::line("  ").then(&run.goal()).then(&Plain::line(&format!(": {}, {}", run.status().word(), run.counts().label())))
}

/// What happened while the console was open: a line for each of the latest live runs, with one for how to read more, or to come back to
/// it. `left` is the word for runs that end by leaving, where the host ends with the console.
pub fn summary(model: &Model, now: Time, left: RunStatus) -> Vec<Plain> {
    let live: Vec<&RunView> = model.runs.open.iter().filter(|run| run.driver.is_here()).collect();
    let earlier = live.len().saturating_sub(SUMMARY_RUNS);
    let mut lines = Vec::new();
    if earlier > 0 {
        lines.push(Plain::line(&format!("{earlier} earlier: dagdeck ls")));
    }
    for run in &live[earlier..] {
        let status = if model.session.runs_go_on { run.status() } else { status_when_left(run, left) };
        lines.push(run_line(run, now, status, model.place.size.0));
        let next = match status {
            _ if model.session.runs_go_on && run.goes_on() => "attach",
            RunStatus::Paused | RunStatus::Interrupted | RunStatus::NotUnderWay => "resume",
            _ => "show",
        };
        lines.push(Plain::line(&format!("  dagdeck {next} {}", texts::run_name(&run.id))));
    }
    lines
}

fn status_when_left(run: &RunView, left: RunStatus) -> RunStatus {
    match run.goes_on() {
        true if left != RunStatus::Interrupted => left,
        true if run.frozen.is_none() => run.newest().run.status_without_driver(),
        true | false => run.status(),
    }
}

/// A run on one line of so many columns.
fn run_line(run: &RunView, now: Time, status: RunStatus, width: u16) -> Plain {
    let end = Plain::blank(2).then(&run.newest().run.counts(status).label()).then(&Plain::line(", ")).then(&elapsed(run.elapsed_ms(now)));
    let word = Plain::line(status.word()).pad(12);
    let room = usize::from(width).saturating_sub(word.width() + end.width());
    word.then(&run.goal().truncate(room)).then(&end)
}

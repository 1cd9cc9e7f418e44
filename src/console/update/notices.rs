//! What the host says: how each notice changes the model.

use super::acted::{acted, run_to};
use super::ends::{ended, is_last_step, show_end};
use super::{ConsoleEffect, UpdateTurn, actions};
use crate::console::model::{
    Focus, GateKey, Model, PlanOrigin, PlanScreen, ReplyDraft, RunView, Screen, Scroll, Status, StopKind, Tab, TreeView, TypedLine,
    Version, docs, stops, texts,
};
use crate::console::theme::Role;
use crate::engine::{Action, Event, NodeFact, NodeState, Outcome, Pace, Record, RunId, calls_label};
use crate::host::client::{Driver, MadePlan, ModelStatus, Notice, PlanningId, Problem, Request};
use crate::plan::{Catalog, Node, NodeId};
use crate::text::{Plain, bytes, counted};

/// Takes in a notice.
pub fn notice(model: &mut Model, turn: &mut UpdateTurn, notice: Notice) {
    match notice {
        Notice::Hello(hello) => {
            hello.requests.iter().for_each(|request| model.request.typed.keep(TypedLine::Request, request));
            model.runs.looked = hello.looked;
            model.session.greet(hello);
            turn.send(Request::ListRuns);
        }
        Notice::Catalog { catalog, problems } => catalog_came(model, turn, *catalog, &problems),
        Notice::Model(status) => {
            let words = match &status {
                ModelStatus::Absent { .. } => "no model is set up".to_owned(),
                ModelStatus::Broken { why, .. } => why.clone(),
                ModelStatus::Rehearsal => "rehearsing: nothing is sent to a model, and nothing is changed".to_owned(),
                ModelStatus::Operator => "you answer instead of a model".to_owned(),
                ModelStatus::Connected { model, provider } => format!("model {model} at {provider}"),
            };
            (model.session.model, model.session.is_picked) = (Some(status), true);
            model.status = Some(Status::note(&words));
        }
        Notice::PlanProgress { id, text } => plan_progress(model, id, &text),
        Notice::PlanNode { id, node } => plan_node(model, id, *node),
        Notice::PlanReady { id, made } => plan_ready(model, id, *made),
        Notice::PlanFailed { id, problem } => plan_failed(model, id, &problem),
        Notice::RunOpened { run, records, driver } => run_opened(model, turn, run, &records, driver),
        Notice::Events { run, records } => events(model, turn, &run, &records),
        Notice::Runs(listing) => actions::branch::listed(model, listing),
        Notice::ThemeKept { theme, file } => model.status = Some(Status::good(&format!("theme {theme}, kept in {file}"))),
        Notice::KeysKept { command, file } => actions::own_keys::kept(model, &command, &file),
        past @ (Notice::RunPeeked { .. } | Notice::RunsFound { .. }) => actions::past::heard(model, past),
        Notice::RunWeighed { run, bytes } => actions::branch::ask_delete(model, turn, &run, bytes),
        Notice::RunDeleted { run, bytes } => forget(model, turn, &run, bytes),
        Notice::Preview { run, gate, preview } => {
            if let Some(view) = model.runs.get_mut(&run) {
                view.previews.insert(gate, preview);
            }
            actions::gates::refresh_doc(model, &GateKey { run, gate });
        }
        Notice::PlanRead { path, plan } => actions::compare::with(model, &path, *plan),
        Notice::PlanSaved { path, plan } => actions::save::saved(model, &path, &plan),
        Notice::TextSaved(path) => model.status = Some(Status::good(&format!("saved to {path}"))),
        Notice::TextThere { path, text } => actions::save::text_is_there(model, path, text),
        Notice::RunGone(run) => gone(model, turn, &run),
        Notice::PlanThere { path, plan, form, has_comments } => actions::save::is_there(model, path, (plan, form), has_comments),
        Notice::Models(list) => actions::app::models(model, &list),
        Notice::Providers(offers) => actions::setup::providers(model, offers),
        Notice::SetUp { id, news } => actions::setup::news(model, turn, id, news),
        Notice::Prompts(prompts) => model.session.prompts = prompts,
        Notice::PromptText(text) => actions::prompts::came(model, turn, &text),
        Notice::Trust(items) => actions::app::untrusted(model, items),
        Notice::Problem(problem) => {
            // It may say that the run which is awaited can't be opened.
            (model.runs.awaited, model.runs.searching, model.runs.is_starting) = (None, None, false);
            model.status = Some(bad(&problem));
        }
        Notice::Driver { run, driver } => {
            model.runs.get_mut(&run).into_iter().for_each(|view| view.driver = driver.clone());
            actions::branch::forget_interrupted(model, &run);
        }
        Notice::Frozen { run, problem } => frozen(model, &run, problem),
        Notice::LearnedNews(learned) => actions::learning::heard(model, learned),
        of_tools => actions::inventory::heard(model, turn, of_tools),
    }
}

/// What plans may name is another, and so may be what the screen of agents and tools shows.
fn catalog_came(model: &mut Model, turn: &mut UpdateTurn, catalog: Catalog, problems: &[Problem]) {
    model.session.offer(catalog);
    if let Some(problem) = problems.first() {
        let more = problems.len() - 1;
        let also = if more > 0 { format!("; {more} more") } else { String::new() };
        model.status = Some(bad(&Problem { message: format!("{}{also}", problem.message), ..problem.clone() }));
    }
    model.editor.refresh(&model.session.catalog);
    if model.place.screen == Screen::Inventory {
        turn.send(Request::ListInventory);
    }
    actions::run::start_asked(model, turn);
}

fn frozen(model: &mut Model, run: &RunId, problem: Problem) {
    model.status = Some(bad(&problem));
    if let Some(view) = model.runs.get_mut(run) {
        view.frozen = Some(problem);
    }
}

fn bad(problem: &Problem) -> Status {
    match &problem.hint {
        Some(hint) => Status::bad(&format!("{} · {hint}", problem.message)),
        None => Status::bad(&problem.message),
    }
}

fn plan_progress(model: &mut Model, id: PlanningId, text: &str) {
    let number = model.request.rivals.number(id);
    if let Some(planning) = model.request.planning.as_mut().filter(|planning| planning.id == id || number.is_some()) {
        let which = number.map(|number| format!("plan {number}: ")).unwrap_or_default();
        planning.progress = Plain::summary(&format!("{which}{text}"));
    }
}

fn plan_node(model: &mut Model, id: PlanningId, node: Node) {
    let Some(planning) = model.request.planning.as_ref().filter(|planning| planning.id == id) else { return };
    model.editor.stream(&planning.text, node);
}

fn plan_ready(model: &mut Model, id: PlanningId, made: MadePlan) {
    if model.request.rivals.number(id).is_some() {
        return rival_came(model, id, Some(made));
    }
    if model.request.planning.take_if(|planning| planning.id == id).is_some() {
        take_plan(model, made);
    }
}

/// One of several plans came, or failed. With the last one they can be chosen from.
fn rival_came(model: &mut Model, id: PlanningId, made: Option<MadePlan>) {
    if model.request.rivals.came(id, made) {
        model.request.planning = None;
        if !model.request.rivals.made.is_empty() && !model.types() {
            actions::request::choose_rival(model);
        }
    }
}

/// A plan that was made goes into the editor. The plan that was there, changed, is shown by what changed.
pub fn take_plan(model: &mut Model, made: MadePlan) {
    let MadePlan { plan, origin, mut remarks, calls, changes } = made;
    model.session.planned_by(&calls);
    model.inspector.scroll = Scroll::Start;
    if !calls.is_empty() {
        remarks.insert(0, format!("planning took {}", calls_label(&calls)));
    }
    model.editor.complete(Version { plan: Box::new(plan), origin: PlanOrigin::Planner(origin), planning: calls, goes_on: changes });
    if changes {
        model.editor.compare_with_before();
    }
    model.editor.compare_again();
    model.editor.refresh(&model.session.catalog);
    let run = model.hint("plan.run");
    let findings = model.hint("plan.findings");
    let count = counted(model.editor.plan().nodes.len(), "node");
    if changes && !model.types() && model.place.shown == PlanScreen::Plan {
        actions::compare::with_version(model);
        remarks.insert(0, "this is what changed; press esc for the tree".to_owned());
    }
    // The error that is shown says it already.
    let is_said = |part: &str| model.editor.findings().first().is_some_and(|finding| finding.message.contains(part));
    remarks.retain(|remark| !remark.strip_prefix("not understood: ").is_some_and(is_said));
    if model.editor.review.errors() > 0 {
        remarks.retain(|remark| !remark.starts_with("the plan can't run yet: "));
    }
    let remarks: String = remarks.iter().map(|remark| format!(" · {remark}")).collect();
    model.status = Some(match model.editor.review.errors() {
        0 => Status::good(&format!("{count}: read the plan, then press {run} to run it{remarks}")),
        1 if model.editor.review.is_not_understood() => {
            let error = model.editor.findings().iter().find(|finding| finding.is_error());
            let message = error.and_then(|error| error.message.split(';').next()).unwrap_or_default().to_owned();
            let rewrite = model.hint("request.focus");
            Status::warn(&format!("{message}: {rewrite} opens your request again, to say it in other words{remarks}"))
        }
        1 => {
            let error = model.editor.findings().iter().find(|finding| finding.is_error());
            let message = error.map(|error| error.message.as_str()).unwrap_or_default();
            Status::warn(&format!("{message} ({findings} shows the error){remarks}"))
        }
        errors => Status::warn(&format!("{count}, {}: fix before you run; press {findings} to see{remarks}", counted(errors, "error"))),
    });
}

fn plan_failed(model: &mut Model, id: PlanningId, problem: &Problem) {
    if model.request.rivals.number(id).is_some() {
        model.status = Some(bad(problem));
        return rival_came(model, id, None);
    }
    let Some(planning) = model.request.planning.take_if(|planning| planning.id == id) else { return };
    model.editor.settle();
    model.editor.refresh(&model.session.catalog);
    model.status = Some(bad(problem));
    if model.request.field.is_empty() {
        model.request.field.set(planning.text.as_str());
    }
}

fn run_opened(model: &mut Model, turn: &mut UpdateTurn, id: RunId, records: &[Record], driver: Driver) {
    let live = driver.is_here();
    let was_shown = model.place.shown == PlanScreen::Run(id.clone());
    let mut view = RunView::new(id.clone(), driver);
    view.apply(records);
    view.grow();
    let is_new = model.runs.get(&id).is_none();
    model.runs.is_starting &= !(is_new && live);
    let known = match model.runs.get_mut(&id) {
        Some(known) => {
            view.tree = std::mem::take(&mut known.tree);
            view.with_tree(TreeView::rebuild);
            std::mem::replace(known, view).journal().len()
        }
        None => {
            model.runs.open.push(view);
            records.len()
        }
    };
    let waiting = model.inbox.gates.len();
    gates_changed(model, turn, waiting);
    if live {
        ask_previews(model, turn, &id);
        // It is there now, and a short one may have ended already.
        let end = model
            .runs
            .get(&id)
            .and_then(|view| view.newest().run.outcome().map(|(outcome, reason)| ended(view, outcome, &reason.message())));
        model.status = end;
    }
    for record in records.get(known..).unwrap_or_default() {
        report(model, &id, &record.event);
    }
    if actions::branch::opened(model, &id) || was_shown {
        return;
    }
    actions::branch::say_interrupted(model, &id);
    if !model.dialogs.is_empty() && model.place.shown != PlanScreen::Run(id.clone()) {
        // What lies open is about what is shown.
        let (at, next, previous) = (model.runs.number(&id).unwrap_or(1), model.hint("stage.next"), model.hint("stage.previous"));
        return model.status = Some(Status::note(&format!("run {at} is open: press {next} or {previous} to see it")));
    }
    model.place.shown = PlanScreen::Run(id.clone());
    (model.editor.deps, model.inspector.scroll) = (None, Scroll::Start);
    if !model.types() {
        if model.place.screen != Screen::Graph {
            model.place.screen = Screen::Plan;
        }
        model.place.focus = Focus::Tree;
    }
    let outcome = model.shown_run().and_then(|view| view.newest().run.outcome()).map(|(outcome, _)| outcome);
    if let Some(outcome) = outcome.filter(|_| is_new) {
        show_end(model, &id, outcome);
    }
}

/// Asks what the payloads of a run's open gates would do: those as somebody edited them, where somebody did.
fn ask_previews(model: &Model, turn: &mut UpdateTurn, id: &RunId) {
    let Some(view) = model.runs.get(id) else { return };
    for gate in view.newest().run.open_gates() {
        let key = GateKey { run: id.clone(), gate: gate.id };
        let payload = ReplyDraft::payload(model.inbox.drafts.get(&key), gate);
        turn.send(Request::Preview { run: id.clone(), gate: gate.id, payload: payload.clone() });
    }
}

fn events(model: &mut Model, turn: &mut UpdateTurn, id: &RunId, records: &[Record]) {
    let waiting = model.inbox.gates.len();
    let Some(view) = model.runs.get_mut(id) else { return };
    let (gates, own) = (view.apply(records), view.driver.is_here());
    // What comes is in the journal, so that it can be written again.
    view.frozen = None;
    actions::branch::forget_interrupted(model, id);
    actions::rules::decided(model, turn, id, records);
    // Of several gates that open at once, the last tells of all.
    let opens = |record: &Record| matches!(record.event, Event::ApprovalRequired { .. });
    let last = records.iter().rposition(opens);
    // Gates of a run that another process drives are answered there.
    for (at, record) in records.iter().enumerate().filter(|_| own) {
        if !opens(record) || last == Some(at) {
            report(model, id, &record.event);
        }
        if let Event::ApprovalRequired { gate } = &record.event {
            turn.send(Request::Preview { run: id.clone(), gate: gate.id, payload: gate.payload.clone() });
        }
    }
    let settled = records.iter().any(|record| matches!(record.event, Event::RunEnded { .. }));
    if gates || settled {
        gates_changed(model, turn, waiting);
    }
    if settled {
        turn.send(Request::ListRuns);
    }
}

/// What a person should hear of an event besides what the screens show anyway. Of a run that isn't shown the number is given,
/// and no keys: those act on the shown one.
fn report(model: &mut Model, id: &RunId, event: &Event) {
    let shown = model.place.shown == PlanScreen::Run(id.clone());
    let key = |command: &str| model.look.keymap.hint(command).filter(|_| shown);
    let status = if let Event::RunEnded { outcome, reason } = event {
        if shown {
            show_end(model, id, *outcome);
        }
        let Some(view) = model.runs.get(id) else { return };
        // Where the screen says that it succeeded, and shows what came out, nothing is left to say.
        if *outcome == Outcome::Succeeded && shown && model.place.screen == Screen::Plan {
            return model.status = None;
        }
        let status = ended(view, *outcome, &reason.message());
        // The card of what failed says so, with the ways on.
        let is_at_failure = shown && model.selected_id().and_then(|node| view.newest().state(node)).is_some_and(NodeState::has_failed);
        if is_at_failure && model.place.screen == Screen::Plan && model.tab() == Tab::Output && !model.layout().detail.is_empty() {
            // What the person just did stays said: the selection has gone to the failure.
            return drop(model.status.take_if(|status| status.role != Role::Success));
        }
        // So it does where the selection stays at what they replied to.
        let said = model.status.take().filter(|said| shown && said.role == Role::Success);
        let is_ahead = shown && model.place.screen == Screen::Plan && view.stops().iter().any(|stop| stop.kind == StopKind::Failure);
        let way = is_ahead.then(|| format!(" ({} goes there)", model.hint("tree.attention")));
        let text = status.text.then(&Plain::line(&way.unwrap_or_default()));
        Status { text: said.map_or_else(|| text.clone(), |said| said.text.then(&Plain::line(" · ")).then(&text)), ..status }
    } else if let Event::Acted { action, nodes, .. } = event {
        if shown {
            follow_step(model, action, nodes);
        }
        // Whether it can still be undone changes by the moment: the hints say so.
        acted(model, id, action, nodes)
    } else if let Event::Undone { action: undone, .. } = event {
        let records = model.runs.get(id).map(|view| view.journal().records()).unwrap_or_default();
        let action = records.iter().rev().filter(|record| record.seq == *undone).find_map(|record| {
            let Event::Acted { action, .. } = &record.event else { return None };
            Some(action.label())
        });
        Status::good(&format!("undid: {}", action.unwrap_or_default()))
    } else if let Event::Node { node_id, fact: NodeFact::Completed { .. } | NodeFact::Failed { .. }, .. } = event
        && stepped(model, id)
    {
        let state = model.runs.get(id).and_then(|view| view.newest().state(node_id));
        let word = state.map_or("", NodeState::word);
        // Beside the node that was stepped others end that were under way.
        let said = if is_last_step(model, id, node_id) { format!("ran `{node_id}` ({word})") } else { format!("`{node_id}`: {word}") };
        let halted = run_to(model, id).map(|node| format!("; paused before `{node}`")).unwrap_or_default();
        Status::good(&format!("{said}{halted}"))
    } else if let Event::Node { node_id, fact: NodeFact::BreakHit { reason, .. }, .. } = event {
        let go = key("act.pause").map(|go| format!("; press {go} to resume")).unwrap_or_default();
        Status::warn(&format!("`{node_id}` halted: {reason}{go}"))
    } else if let Event::Node { node_id, fact: NodeFact::CallHeld { held, .. }, .. } = event {
        let go = key("act.step").map(|step| format!("; press {step} to release it")).unwrap_or_default();
        // Of several the one that goes next, as beside the tree.
        let mut calls = model.runs.get(id).into_iter().flat_map(|view| view.newest().run.held_calls(node_id));
        let held = calls.next().unwrap_or(held);
        let which = texts::first_of(1 + calls.count());
        Status::warn(&format!("`{node_id}` is about to call {}{which}: {}{go}", held.next.label(), held.reason))
    } else if let Event::Refused { what, why, .. } = event {
        Status::bad(&format!("{what}: {why}"))
    } else if let Event::ApprovalRequired { .. } = event {
        let Some(status) = gate_opened(model, id, key("tree.attention")) else { return };
        status
    } else {
        return;
    };
    let status = match model.runs.get(id) {
        Some(view) => Status { text: Plain::line(&view.titled(status.text.as_str())), ..status },
        None => status,
    };
    model.status = Some(if shown { status } else { of_another(model, id, status) });
}

/// What is said where a gate opened; nothing where the card says it.
fn gate_opened(model: &mut Model, id: &RunId, way: Option<String>) -> Option<Status> {
    let view = model.runs.get(id)?;
    // The one that the key leads to, as the inbox does: the oldest.
    let mut gates = view.newest().run.open_gates();
    let oldest = gates.next()?;
    let more = Some(gates.count()).filter(|more| *more > 0).map(|more| format!(", {more} more wait")).unwrap_or_default();
    if more.is_empty() && model.card_gate().is_some_and(|key| key.run == *id && key.gate == oldest.id) {
        model.status = None;
        return None;
    }
    let way = way.filter(|_| model.place.screen != Screen::Inbox);
    let way = way.and_then(|key| Some((key, actions::tree::presses_to(model, &stops(view.newest()), oldest.id)?)));
    let way = way.map(|(key, times)| match times {
        1 => format!(" ({key} goes there)"),
        times => format!(" ({key} goes there, pressed {times} times)"),
    });
    let way = way.unwrap_or_default();
    // What is asked may be long; it is in the card.
    let room = (usize::from(model.place.size.0) * 2).saturating_sub(more.len() + way.len() + 2);
    Some(Status::warn(&format!("{}{more}{way}", docs::gate_title(view, oldest).truncate(room).as_str())))
}

/// Goes to the node that was stepped, unless a gate or something that is open would be left by it.
fn follow_step(model: &mut Model, action: &Action, nodes: &[NodeId]) {
    let is_free = model.dialogs.is_empty() && model.replay().is_none() && model.place.focus == Focus::Tree && model.card_gate().is_none();
    if let (Action::Step { .. }, [node, ..], true) = (action, nodes, is_free) {
        if let Some(view) = model.shown_run_mut() {
            view.grow();
        }
        model.reveal(node);
    }
}

/// Whether the run pauses after each node, so that the end of one is news.
fn stepped(model: &Model, id: &RunId) -> bool {
    model.runs.get(id).is_some_and(|view| view.newest().run.pace() != Pace::Going)
}

/// What is said of a run that isn't shown.
fn of_another(model: &Model, id: &RunId, status: Status) -> Status {
    let at = model.runs.number(id).unwrap_or(1);
    Status { text: Plain::line(&format!("run {at}: ")).then(&status.text), ..status }
}

/// Closes a run that somebody else deleted.
fn gone(model: &mut Model, turn: &mut UpdateTurn, run: &RunId) {
    forget(model, turn, run, 0);
    model.runs.awaited = None;
    model.status = Some(Status::warn(&format!("run {} is no more: it was deleted elsewhere", texts::run_name(run))));
}

/// Closes a run that is no more.
fn forget(model: &mut Model, turn: &mut UpdateTurn, run: &RunId, freed: u64) {
    let waiting = model.inbox.gates.len();
    model.runs.open.retain(|view| view.id != *run);
    if model.runs.versus.as_ref().is_some_and(|versus| versus.sides.iter().any(|(id, _)| id == run)) {
        model.runs.versus = None;
    }
    if model.place.shown == PlanScreen::Run(run.clone()) {
        model.place.shown = PlanScreen::Plan;
    }
    model.status = Some(Status::good(&format!("deleted; {} are free for other runs", bytes(freed))));
    gates_changed(model, turn, waiting);
}

/// Gates opened or closed: the inbox, the texts, the title. The focus and the selection stay where they are.
fn gates_changed(model: &mut Model, turn: &mut UpdateTurn, before: usize) {
    model.inbox.refresh(&model.runs.open);
    let fresh: Vec<GateKey> = model.inbox.gates.iter().filter(|key| model.inbox.doc(key).is_none()).cloned().collect();
    let ring = !fresh.is_empty();
    for key in fresh {
        actions::gates::refresh_doc(model, &key);
    }
    let waiting = model.inbox.gates.len();
    if ring || waiting != before {
        turn.effects.push(ConsoleEffect::Attention { waiting, ring });
    }
}

//! Deciding gates. `decide` is the only place from which a decision leaves the console; it holds the rules of keystroke safety.

use serde_json::Value;

use super::super::{
    ConsoleEffect, TOO_FAST, UpdateTurn,
    actions::{failures, inspector::copy_text},
};
use crate::console::model::{
    Asked, Asks, Dialog, EditThen, FormDialog, FormThen, GATE_FRAME, GateKey, Intent, LineThen, Model, MoveBy, Pick, PickItem, PickThen,
    PlanScreen, Reading, ReplyDraft, RuleProposal, Screen, Status, TextField, docs, options_to_pick, texts,
};
use crate::engine::{Action, Command, Gate, GateKind, GateQuestion, GateReply, OPTION, Time, form_has_option};
use crate::host::client::Request;
use crate::plan::{Field, FieldKind, NodeId, PYTHON_TOOL, SHELL_TOOL, value_text};
use crate::text::{Plain, counted};

/// Replies to the selected gate. A rejection without words asks for them first. The key of another reply than the one that waits
/// to be confirmed cancels that one, and decides nothing: it asks for the words of a rejection, so that no word becomes a key.
pub(in crate::console::update) fn reply(model: &mut Model, turn: &mut UpdateTurn, intent: Intent) {
    let is_written = matches!(model.selected_draft(), Some(ReplyDraft::Words(_)));
    let asks_words = intent == Intent::Reject && !is_written;
    if model.inbox.asked.take_if(|asked| asked.intent != intent).is_some() && !asks_words {
        return model.status = Some(Status::note("cancelled: nothing was sent. The keys reply again"));
    }
    let Some((key, gate)) = model.selected_gate() else { return };
    if !asks_words {
        return decide(model, turn, intent);
    }
    if let Some(why) = kept_first(model, "gate.reject") {
        return model.status = Some(Status::warn(&why));
    }
    let (keep, send) = (model.hint("line.keep"), model.hint("gate.reject"));
    let node = &gate.node;
    let then = match (goes_to_agent(model, key, gate), &gate.kind) {
        (true, GateKind::Question { cap: Some(_), .. }) => format!("nothing is added to the budget, and {node} returns what it has"),
        (true, GateKind::Question { .. }) => format!("{node} goes on without an answer and reads your reason"),
        (true, _) => format!("the call doesn't happen; {node} reads your reason and goes on"),
        (false, GateKind::Failure { .. }) => "the node stays failed, and nodes that need it don't run".to_owned(),
        (false, _) => "the node is cancelled, and nodes that need it don't run".to_owned(),
    };
    let back = model.makers(node).first().and_then(|maker| Some(model.shown_run()?.title_of(maker)));
    let back = back.map(|maker| format!(". Or {} sends it back to `{}` with your words", model.hint("gate.back"), maker.as_str()));
    let then = format!("{then}{}", back.unwrap_or_default());
    let title = model.runs.get(&key.run).map(|view| view.title_of(node).into_string()).unwrap_or_else(|| node.to_string());
    let (title, note) = (format!("reject {title}: why?"), format!("{send} again, after {keep}, rejects {node} with this reason; {then}"));
    let line = Dialog::line(&title, TextField::line(""), &note, LineThen::Reject(key.clone()));
    model.dialogs.push(line);
}

/// Why a reply of another kind can't be written: it would take the place of one that a person wrote.
fn kept_first(model: &Model, id: &str) -> Option<String> {
    let (_, gate) = model.selected_gate()?;
    let (what, send) = match (model.selected_draft()?, id) {
        (draft, "gate.reject") if is_no(draft) => return None,
        (ReplyDraft::Words(_), "gate.edit") => ("you wrote a reason to reject", "gate.reject"),
        (ReplyDraft::Payload(_), "gate.reject") => ("you edited what it asks about", "gate.approve"),
        (ReplyDraft::Answer(_), "gate.reject") if options_to_pick(gate).is_none() => ("you wrote an answer", "gate.approve"),
        (ReplyDraft::Words(_) | ReplyDraft::Payload(_) | ReplyDraft::Answer(_), _) => return None,
    };
    Some(format!("{what}: {} sends it, {} discards it", model.hint(send), model.hint("gate.drop")))
}

/// Whether a rejection reaches an agent that goes on. A node that is nothing but what was asked about ends with it.
fn goes_to_agent(model: &Model, key: &GateKey, gate: &Gate) -> bool {
    let asks_inside = match &gate.kind {
        GateKind::Permission { .. } => true,
        GateKind::Question { call, .. } => call.is_some(),
        GateKind::Approval | GateKind::Review | GateKind::UnknownEffect { .. } | GateKind::Failure { .. } | GateKind::Replan { .. } => {
            false
        }
    };
    let run = model.runs.get(&key.run);
    let node = run.and_then(|view| view.plan().nodes.iter().find(|node| node.id == gate.node));
    asks_inside && node.is_some_and(|node| node.kind.tool().is_none())
}

/// Sends a reply, if this key may decide: its gate is selected, was drawn as it is now, no text field has the focus, no key came
/// for a while, and it is neither Enter nor Space. What was not wholly shown, and what is broad, is asked once more.
fn decide(model: &mut Model, turn: &mut UpdateTurn, intent: Intent) {
    if let Err(why) = may_decide(model, turn) {
        return model.status = Some(Status::warn(why));
    }
    let Some((key, gate)) = model.selected_gate() else { return };
    let Some(revision) = model.inbox.doc(key).map(|doc| doc.revision) else { return };
    let decision = match reply_of(gate, model.inbox.drafts.get(key), intent) {
        Ok(reply) => reply,
        Err(why) => return model.status = Some(Status::warn(why)),
    };
    let asked = Asked { key: key.clone(), revision, intent };
    if let Some(question) = once_more(model, key, gate, revision, (intent, turn.now))
        && model.inbox.asked.as_ref() != Some(&asked)
    {
        model.status = Some(Status::warn(&question));
        model.inbox.asked = Some(asked);
        return;
    }
    let sent = sent(intent, &decision, &gate.node);
    let sent = Status::good(&model.runs.get(&key.run).map_or_else(|| sent.clone(), |view| view.titled(&sent)));
    let takes_rule = matches!(intent, Intent::Approve | Intent::Reject)
        && model.runs.get(&key.run).is_some_and(|view| view.newest().run.takes_rule(gate));
    let proposal = takes_rule.then(|| RuleProposal::Awaited(key.clone()));
    let (run, hash) = (key.run.clone(), gate.hash.clone());
    let host = gate.host().filter(|_| intent == Intent::ApproveAlways).map(str::to_owned);
    let request = match (intent, &host) {
        (Intent::ApproveAlways, None) => Request::ApproveAlways { run, gate: gate.id, hash },
        (_, _) => Request::Command { run, command: Command::decide(gate.id, decision, hash) },
    };
    turn.send(request);
    host.into_iter().for_each(|host| turn.send(Request::AllowHost(host)));
    model.inbox.asked = None;
    model.inbox.proposal = proposal;
    model.status = Some(sent);
}

fn may_decide(model: &Model, turn: &UpdateTurn) -> Result<(), &'static str> {
    let Some(key) = turn.key else { return Err("reply with the key of that reply, where the gate is shown") };
    if key.never_decides() {
        return Err("this key never replies to a gate");
    }
    if !model.gate_is_faced() {
        return Err("the gate was not in sight as it is now: enter opens it; read it, then press again");
    }
    if !turn.quiet {
        return Err(TOO_FAST);
    }
    Ok(())
}

/// What must be asked once more before this decision, if anything.
fn once_more(model: &Model, key: &GateKey, gate: &Gate, revision: u64, (intent, now): (Intent, Time)) -> Option<String> {
    match intent {
        Intent::Approve if !model.safety.whole(key, revision) => {
            let (down, up) = (model.hint("move.detail_down"), model.hint("move.detail_up"));
            let does = if gate.kind.wants_answer() { "send your reply" } else { "approve" };
            Some(format!(
                "you have not seen all of it: scroll with {down} and {up}, or press {} again to {does}",
                model.hint("gate.approve")
            ))
        }
        Intent::ApproveAlways => {
            let tool = gate.tool.as_deref().unwrap_or_default();
            let then = match gate.host() {
                Some(host) => format!("private data of this workspace may then always be sent to {host}"),
                None if tool == SHELL_TOOL => "this same command then always runs in this workspace".to_owned(),
                None if tool == PYTHON_TOOL => "this same program then always runs in this workspace".to_owned(),
                None => format!("{tool} then always runs in this workspace, whatever its arguments"),
            };
            let unseen = if model.safety.whole(key, revision) { "" } else { "you have not seen all of it; " };
            Some(format!("{unseen}{then}: press {} again to approve that", model.hint("gate.allow_host")))
        }
        Intent::CancelBranch => {
            let ends = model.runs.get(&key.run).map(|run| run.newest().run.branch(&gate.node).0).unwrap_or_default();
            let names: Vec<&str> = ends.iter().take(6).map(|id| id.as_str()).collect();
            let more = if ends.len() > names.len() { ", …" } else { "" };
            Some(format!(
                "this ends {} ({}{more}): press {} again to cancel them",
                counted(ends.len(), "node"),
                names.join(", "),
                model.hint("gate.cancel_branch")
            ))
        }
        Intent::Skip => {
            let action = Action::Skip { node: gate.node.clone() };
            let impact = model.runs.get(&key.run).map(|run| run.newest().run.impact(&action, now)).unwrap_or_default();
            let changes: Vec<String> = impact.lines().into_iter().map(|(_, line)| line.into_string()).collect();
            let lost = changes.into_iter().map(|line| line.replacen(": ", " ", 1)).collect::<Vec<_>>().join("; ");
            Some(format!("{lost}. Press {} again to skip it", model.hint("gate.skip")))
        }
        Intent::Approve | Intent::Reject => None,
    }
}

fn reply_of(gate: &Gate, draft: Option<&ReplyDraft>, intent: Intent) -> Result<GateReply, &'static str> {
    let asks = gate.kind.wants_answer();
    match (intent, draft) {
        (Intent::Approve, Some(ReplyDraft::Words(_))) => {
            Err("you wrote a reason to reject: send it with the key that rejects, or discard it first")
        }
        (Intent::Approve, Some(ReplyDraft::Answer(value))) => Ok(GateReply::Answer { value: value.clone() }),
        (Intent::Approve, Some(ReplyDraft::Payload(payload))) => Ok(GateReply::Modify { payload: payload.clone() }),
        (Intent::Approve, None) if asks => Err("this is a question: write the answer, then send it with this key"),
        (Intent::Approve | Intent::ApproveAlways, None) => Ok(GateReply::Approve),
        (Intent::ApproveAlways, Some(_)) => Err("you have a draft: discard it first, or approve this call alone"),
        (Intent::Reject, Some(ReplyDraft::Words(message))) => Ok(GateReply::Reject { message: message.clone() }),
        (Intent::Reject, Some(ReplyDraft::Answer(_) | ReplyDraft::Payload(_)) | None) => Ok(GateReply::Reject { message: String::new() }),
        (Intent::Skip, _) => Ok(GateReply::Skip),
        (Intent::CancelBranch, _) => Ok(GateReply::CancelBranch),
    }
}

fn sent(intent: Intent, reply: &GateReply, node: &NodeId) -> String {
    match (intent, reply) {
        (Intent::Approve, GateReply::Answer { value }) => format!("answered `{node}`: {}", Plain::summary(&value_text(value))),
        (Intent::Approve, GateReply::Modify { .. }) => format!("approved `{node}` with your changes"),
        (Intent::Approve, _) => format!("approved `{node}`"),
        (Intent::ApproveAlways, _) => format!("approved `{node}`, and its like from now on"),
        (Intent::Reject, _) => format!("rejected `{node}`"),
        (Intent::Skip, _) => format!("skipped `{node}`"),
        (Intent::CancelBranch, _) => format!("cancelled the branch of `{node}`"),
    }
}

/// Edits the payload, writes the answer, or picks the next of a few. Nothing is decided by it.
pub fn edit(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(why) = kept_first(model, "gate.edit") {
        return model.status = Some(Status::warn(&why));
    }
    let Some((key, gate)) = model.selected_gate() else { return };
    let (key, draft) = (key.clone(), model.inbox.drafts.get(key));
    let dialog = match gate.kind.question() {
        Some(GateQuestion { text, options, fields }) if !fields.is_empty() => {
            let lines = form_lines(&options, fields, written(draft));
            Dialog::Form(FormDialog { title: Plain::summary(text), fields: lines, focus: 0, note: None, then: FormThen::Reply(key) })
        }
        Some(GateQuestion { text, .. }) if matches!(gate.kind, GateKind::Failure { .. }) => failures::choices(&key, gate, text),
        Some(GateQuestion { text, options, .. }) if !options.is_empty() => {
            let items = options.iter().map(|option| PickItem::new(PickThen::Answer(key.clone(), option.clone()), option, "")).collect();
            let mut pick = Pick::new(text, items);
            pick.selected = written(draft).and_then(|answer| options.iter().position(|option| answer == option.as_str())).unwrap_or(0);
            Dialog::Pick(pick)
        }
        Some(GateQuestion { text, .. }) => {
            let before = written(draft).map(texts::result).unwrap_or_default();
            Dialog::editor(text, &before, EditThen::Answer(key))
        }
        None => return failures::edit_payload(model, key),
    };
    model.dialogs.push(dialog);
}

/// Edits one part of a payload as the text that it is, or all of it.
pub fn edit_part(model: &mut Model, key: GateKey, part: Option<String>) {
    let Some((gate, _)) = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate)) else { return };
    let payload = ReplyDraft::payload(model.inbox.drafts.get(&key), gate);
    let text = part_text(payload, part.as_deref());
    let what = part.as_deref().unwrap_or("what it asks about");
    let (title, then) = (format!("{what}, of {}; nothing is sent yet", gate.node), EditThen::Payload(key, part));
    model.dialogs.push(Dialog::editor(&title, &text, then));
}

/// A part of a payload to edit: a text as it is, anything else as JSON.
fn part_text(payload: &Value, part: Option<&str>) -> String {
    let value = part.map_or(payload, |part| &payload[part]);
    value.as_str().map_or_else(|| texts::pretty(value), str::to_owned)
}

/// A payload with one part written anew. What was a text stays one.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn payload_with(model: &Model, key: &GateKey, part: Option<&str>, text: &str) -> Result<Value, String> {
    let gate = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate));
    let (gate, _) = gate.ok_or("the gate has closed; your text was not sent")?;
    let mut payload = ReplyDraft::payload(model.inbox.drafts.get(key), gate).clone();
    let place = match part {
        Some(part) => &mut payload[part],
        None => &mut payload,
    };
    *place = match place.as_str() {
        // The editor's last line has an end; what was one line, such as a path, has none.
        Some(before) if !before.contains('\n') => Value::from(text.trim_end_matches('\n')),
        Some(_) => Value::from(text),
        None => texts::parse(text)?,
    };
    Ok(payload)
}

/// The answer that was written before.
fn written(draft: Option<&ReplyDraft>) -> Option<&Value> {
    match draft {
        Some(ReplyDraft::Answer(value)) => Some(value),
        Some(ReplyDraft::Payload(_) | ReplyDraft::Words(_)) | None => None,
    }
}

/// The lines of a form, filled in with what was written before, else with the presets.
pub fn form_lines(options: &[String], fields: &[Field], written: Option<&Value>) -> Vec<(Asks, TextField)> {
    let line = |value: Option<&Value>| TextField::line(&value.map(texts::result).unwrap_or_default());
    let before = |name: &str| written.and_then(|answer| answer.get(name));
    let option = form_has_option(options, fields).then(|| (Asks::Option(options.to_vec()), line(before(OPTION))));
    let fields = fields.iter().map(|field| (Asks::Field(field.clone()), line(before(&field.name).or(field.default.as_ref()))));
    option.into_iter().chain(fields).collect()
}

/// A form as JSON to fill in: with what was written before, else with the presets.
fn form_text(options: &[String], fields: &[Field], written: Option<&Value>) -> String {
    let option = form_has_option(options, fields).then(|| (OPTION.to_owned(), Value::from(options.join(" | "))));
    let fields = fields.iter().map(|field| (field.name.clone(), field.default.clone().unwrap_or_else(|| blank(field))));
    texts::pretty(written.unwrap_or(&Value::Object(option.into_iter().chain(fields).collect())))
}

fn blank(field: &Field) -> Value {
    match field.kind {
        _ if field.optional => Value::Null,
        FieldKind::Text => Value::from(field.options.join(" | ")),
        FieldKind::Number => Value::from(0),
        FieldKind::Boolean => Value::Bool(false),
    }
}

/// The one text of several lines among the parts of a payload, or its only part where that is a text.
fn main_part(parts: &serde_json::Map<String, Value>) -> Option<String> {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| parts.len() == 1 || text.contains('\n'));
    let mut texts = parts.iter().filter(|(_, value)| is_text(value));
    let (name, _) = texts.next()?;
    texts.next().is_none().then(|| name.clone())
}

/// Edits the payload, or writes the answer, outside.
pub fn edit_outside(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(why) = kept_first(model, "gate.edit") {
        return model.status = Some(Status::warn(&why));
    }
    let Some((key, gate)) = model.selected_gate() else { return };
    let draft = model.inbox.drafts.get(key);
    let key = key.clone();
    let (text, suffix, then) = match gate.kind.question() {
        Some(GateQuestion { options, fields, .. }) if !fields.is_empty() => {
            (form_text(&options, fields, written(draft)), ".json", EditThen::FormAnswer(key))
        }
        Some(_) => (written(draft).map(texts::result).unwrap_or_default(), ".md", EditThen::Answer(key)),
        None => {
            let payload = ReplyDraft::payload(draft, gate);
            let part = payload.as_object().and_then(main_part);
            let suffix = if part.is_some() || payload.is_string() { ".txt" } else { ".json" };
            (part_text(payload, part.as_deref()), suffix, EditThen::Payload(key, part))
        }
    };
    turn.effects.push(ConsoleEffect::OpenEditor { text, suffix, then });
}

/// Keeps what was written for a gate. The preview of its effect is asked for again, and it must be looked at again.
pub fn keep_draft(model: &mut Model, turn: &mut UpdateTurn, key: &GateKey, draft: ReplyDraft) {
    if !model.inbox.gates.contains(key) {
        return model.status = Some(Status::warn("the gate has closed; your draft was not sent"));
    }
    let (word, command) = match &draft {
        ReplyDraft::Payload(payload) => {
            if let Some(view) = model.runs.get_mut(&key.run) {
                view.previews.remove(&key.gate);
            }
            turn.send(Request::Preview { run: key.run.clone(), gate: key.gate, payload: payload.clone() });
            ("to approve it as edited", "gate.approve")
        }
        ReplyDraft::Answer(_) => ("to send your reply", "gate.approve"),
        ReplyDraft::Words(_) => ("again to reject with this reason", "gate.reject"),
    };
    let hint = model.look.keymap.hint(command).unwrap_or_default();
    let but =
        if is_no(&draft) { format!("; the run goes on with it, {} stops it instead", model.hint("gate.reject")) } else { String::new() };
    model.status = Some(Status::note(&format!("not sent yet: press {hint} {word}{but}")));
    model.inbox.drafts.insert(key.clone(), draft);
    model.inbox.scroll = 0;
    refresh_doc(model, key);
}

/// Whether an answer is a bare no, which stops nothing.
fn is_no(draft: &ReplyDraft) -> bool {
    let ReplyDraft::Answer(value) = draft else { return false };
    let word = value.as_str().map(|text| text.trim().trim_end_matches(['.', '!']).to_lowercase());
    *value == Value::Bool(false)
        || word.is_some_and(|word| ["no", "n", "nope", "stop", "don't", "do not", "cancel"].contains(&word.as_str()))
}

/// Checks a form and gives the answer.
///
/// # Errors
/// Which field is wrong, in words.
pub fn form_answer(form: &FormDialog) -> Result<Value, String> {
    let mut answer = serde_json::Map::new();
    for (asks, typed) in &form.fields {
        let text = typed.text();
        let text = text.trim();
        let field = match asks {
            Asks::Option(options) => {
                answer.insert(OPTION.to_owned(), Value::String(option_meant(options, text)?));
                continue;
            }
            Asks::Field(field) => field,
        };
        if text.is_empty() && field.optional {
            continue;
        }
        let label = field.label.as_deref().unwrap_or(&field.name);
        let value = match field.kind {
            FieldKind::Text if !field.options.is_empty() => {
                Value::String(option_meant(&field.options, text).map_err(|message| format!("`{label}`: {message}"))?)
            }
            FieldKind::Text => Value::String(text.to_owned()),
            FieldKind::Number => {
                serde_json::from_str::<serde_json::Number>(text).map(Value::Number).map_err(|_| format!("`{label}` must be a number"))?
            }
            FieldKind::Boolean => match text.to_lowercase().as_str() {
                "y" | "yes" | "true" => Value::Bool(true),
                "n" | "no" | "false" => Value::Bool(false),
                _ => return Err(format!("`{label}` must be yes or no")),
            },
        };
        answer.insert(field.name.clone(), value);
    }
    Ok(Value::Object(answer))
}

/// The option that begins as it was typed, where only one does.
fn option_meant(options: &[String], typed: &str) -> Result<String, String> {
    let begins = |option: &&String| !typed.is_empty() && option.to_lowercase().starts_with(&typed.to_lowercase());
    let mut meant = options.iter().filter(begins);
    match (options.iter().find(|option| *option == typed), meant.next(), meant.next()) {
        (Some(option), _, _) | (None, Some(option), None) => Ok(option.clone()),
        (None, _, _) => Err(format!("type one of: {}", options.join(", "))),
    }
}

/// Forgets what was written for the selected gate.
pub fn drop_draft(model: &mut Model, turn: &mut UpdateTurn) {
    let Some((key, gate)) = model.selected_gate() else { return };
    let request = Request::Preview { run: key.run.clone(), gate: gate.id, payload: gate.payload.clone() };
    let key = key.clone();
    if matches!(model.inbox.drafts.remove(&key), Some(ReplyDraft::Payload(_))) {
        turn.send(request);
    }
    refresh_doc(model, &key);
    model.status = Some(Status::note("draft discarded"));
}

/// Makes a gate's text again from what is known now.
pub fn refresh_doc(model: &mut Model, key: &GateKey) {
    let Some(view) = model.runs.get(&key.run) else { return };
    let Some((gate, _)) = view.newest().run.gate(key.gate) else { return };
    let doc = docs::gate_doc(gate, view.previews.get(&key.gate), model.inbox.drafts.get(key));
    model.inbox.set_doc(key.clone(), doc);
}

/// Shows the selected gate's node in its run.
pub fn to_node(model: &mut Model, _: &mut UpdateTurn) {
    let Some((key, gate)) = model.selected_gate() else { return };
    let (run, node) = (key.run.clone(), gate.node.clone());
    model.place.shown = PlanScreen::Run(run);
    model.go(Screen::Plan);
    // Rows of a run that wasn't shown are those of when it was shown last.
    if let Some(view) = model.shown_run_mut() {
        view.grow();
    }
    model.reveal(&node);
}

/// Asks whether to drive the run of the selected gate on, so that it can be replied to.
pub fn go_on(model: &mut Model, _: &mut UpdateTurn) {
    let Some(run) = model.inbox.selected.as_ref().and_then(|key| model.runs.get(&key.run)) else { return };
    let (id, goal) = (run.id.clone(), run.goal());
    super::branch::ask_resume(model, id, &goal);
}

/// Ends the replay of the gate's run, so that it can be decided.
pub fn now(model: &mut Model, _: &mut UpdateTurn) {
    let Some(run) = model.selected_gate().map(|(key, _)| key.run.clone()) else { return };
    if let Some(view) = model.runs.get_mut(&run) {
        super::replay::end_of(view);
        model.status = Some(Status::note("the run as it is now"));
    }
}

pub fn copy(model: &mut Model, turn: &mut UpdateTurn) {
    let Some((key, gate)) = model.selected_gate() else { return };
    let text = texts::result(ReplyDraft::payload(model.inbox.drafts.get(key), gate));
    copy_text(model, turn, text);
}

/// Moves through the text of the gate that has the card.
pub fn scroll(model: &mut Model, by: MoveBy) {
    let area = model.layout().detail;
    let columns = usize::from(area.width.saturating_sub(4));
    let Some((key, text)) = model.card_gate().and_then(|key| Some((key.clone(), model.inbox.doc(&key)?))) else { return };
    let gate = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate));
    let title = gate.map_or(1, |(gate, _)| (docs::asks(gate).width() + 2).div_ceil(columns.max(1)));
    let frame = GATE_FRAME + u16::from(area.x > 0) + u16::try_from(title).unwrap_or(1).clamp(1, 5) - 1;
    let rows = usize::from(area.height.saturating_sub(frame));
    let last = text.doc.last_page(columns, rows.max(1)) + 1;
    model.inbox.scroll = by.from(model.inbox.scroll.min(last), last);
}

/// The payload alone, without borders.
pub fn zoom(model: &mut Model, _: &mut UpdateTurn) {
    model.dialogs.push(Dialog::reader(Reading::Gate, model.inbox.scroll));
}

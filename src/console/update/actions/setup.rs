//! Setting up a model from nothing: provider, key, model, a try, the default. Each step lies over the one before, so that esc goes one
//! step back. What fails says why and offers the ways on.

use super::super::UpdateTurn;
use crate::console::model::{
    Dialog, LineThen, Model, PickItem, PickThen, ReaderDialog, Reading, SetupChoice, SetupDraft, SetupLine, Status, TextField, TypedAs,
};
use crate::engine::{OPERATOR, REHEARSAL};
use crate::host::client::{
    KeptModel, ModelOffer, ModelSetup, ModelStatus, ProviderOffer, Request, SetupFailure, SetupFault, SetupKey, SetupNews, SetupStep,
};
use crate::text::{Plain, cost, count, duration, thousands};

/// What is said where no listed model matches.
pub const UNLISTED: &str = "no listed model matches; enter takes this name as it is";
/// The title of the first step.
const WHERE: &str = "set up a model: where is it?";
/// The title where a step failed.
const FAILED: &str = "that didn't work";

/// The title while the host is asked: an answer that comes later is nobody's.
const ASKING: &str = "asking";

/// Asks which providers there are.
pub fn begin(model: &mut Model, turn: &mut UpdateTurn) {
    model.status = Some(Status::note("looking for providers"));
    turn.send(Request::ListProviders);
}

pub fn providers(model: &mut Model, offers: Vec<ProviderOffer>) {
    if model.types() && !matches!(model.dialogs.last(), Some(Dialog::Pick(_))) {
        return;
    }
    model.status = None;
    let detail = |offer: &ProviderOffer| match (&offer.key_variable, &offer.address) {
        _ if offer.is_found => "runs on this machine".to_owned(),
        (Some(variable), _) if offer.has_key => format!("{variable} is set"),
        (_, Some(address)) => address.clone(),
        (_, None) => "at an address of yours".to_owned(),
    };
    let item = |offer: &ProviderOffer| choice(SetupChoice::Provider(offer.name.clone()), &offer.title, &detail(offer));
    let mut items: Vec<PickItem> = offers.iter().map(item).collect();
    items.push(choice(SetupChoice::OtherServer, "another server …", "any server with an OpenAI-compatible API, by its address"));
    items.extend(without_model());
    let note = match &model.session.model {
        Some(ModelStatus::Broken { why, .. }) => format!("The model that is configured can't be used: {why}."),
        Some(ModelStatus::Absent { .. }) | None => "No model is set up.".to_owned(),
        Some(ModelStatus::Connected { model, provider }) => format!("In use now: {model} at {provider}."),
        Some(ModelStatus::Operator) => "You answer in the model's place now.".to_owned(),
        Some(ModelStatus::Rehearsal) => "Plans are rehearsed now.".to_owned(),
    };
    model.setup = SetupDraft { offers, below: model.dialogs.len(), asked: model.setup.asked, ..SetupDraft::default() };
    let mut dialog = Dialog::noted_pick(WHERE, &format!("{note} Choose, or type an address."), items);
    if let Dialog::Pick(pick) = &mut dialog {
        let words = Plain::line("not in the list: enter takes it as the address of a server");
        pick.otherwise = Some((TypedAs::Address, words));
    }
    model.dialogs.push(dialog);
}

fn choice(choice: SetupChoice, label: &str, detail: &str) -> PickItem {
    PickItem::new(PickThen::SetUp(choice), label, detail)
}

/// The ways to do without a model.
fn without_model() -> [PickItem; 2] {
    [
        PickItem::new(PickThen::Model(OPERATOR.to_owned()), OPERATOR, "you answer in the model's place"),
        PickItem::new(PickThen::Model(REHEARSAL.to_owned()), REHEARSAL, "nodes that need a model or would change something only show it"),
    ]
}

/// Goes on by what was chosen.
pub fn chosen(model: &mut Model, turn: &mut UpdateTurn, chosen: SetupChoice) {
    match chosen {
        SetupChoice::Begin => {
            model.dialogs.pop();
            begin(model, turn);
        }
        SetupChoice::Provider(name) => {
            model.setup.setup = ModelSetup { provider: name, ..ModelSetup::default() };
            match model.setup.provider() {
                Some(provider) if provider.address.is_none() => ask(model, SetupLine::Address),
                Some(provider) if provider.is_local => step(model, turn, SetupStep::Look),
                Some(_) | None => ask(model, SetupLine::Key),
            }
        }
        SetupChoice::OtherServer => {
            model.setup.setup = ModelSetup::default();
            ask(model, SetupLine::Address);
        }
        SetupChoice::OtherKey => ask(model, SetupLine::Key),
        SetupChoice::OtherAddress => ask(model, SetupLine::Address),
        SetupChoice::OtherModel => ask(model, SetupLine::Model),
        SetupChoice::Window => ask(model, SetupLine::Window),
        SetupChoice::Price => ask(model, SetupLine::Price),
        SetupChoice::Model(offer) => with_model(model, turn, offer.name),
        SetupChoice::Again => {
            if let Some(again) = model.setup.asked.1 {
                model.dialogs.pop();
                step(model, turn, again);
            }
        }
        SetupChoice::Keep => step(model, turn, SetupStep::Keep),
    }
}

/// Takes what was typed and is none of the lines: a provider's address, or the name of a model that isn't listed.
pub fn typed_otherwise(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Pick(pick)) = model.dialogs.last() else { return };
    let Some((meaning, _)) = pick.otherwise.clone() else { return };
    let text = pick.query.text().trim().to_owned();
    match meaning {
        TypedAs::Address => typed_address(model, turn, &text),
        TypedAs::Model if text.contains("://") => {
            model.status = Some(Status::warn("that is an address: `set up a model …` takes it"));
        }
        TypedAs::Model => {
            model.dialogs.pop();
            super::app::use_model(model, turn, text);
        }
        TypedAs::SetUpModel => with_model(model, turn, text),
    }
}

fn typed_address(model: &mut Model, turn: &mut UpdateTurn, address: &str) {
    if !address.contains(['.', ':', '/']) || address.contains(char::is_whitespace) {
        return model.status =
            Some(Status::warn("no provider has this name: choose one, or type an address such as http://localhost:8080/v1"));
    }
    model.setup.setup = ModelSetup::default();
    // An address that is typed here is never wrong by its form alone: the host says what is.
    let _ = typed(model, turn, SetupLine::Address, address);
}

fn is_titled(dialog: &Dialog, title: &str) -> bool {
    matches!(dialog, Dialog::Pick(pick) if pick.title.as_str() == title)
}

/// The variable that holds the provider's key, where it is set.
fn usual_key(model: &Model) -> Option<String> {
    model.setup.provider().filter(|provider| provider.has_key)?.key_variable.clone()
}

fn ask(model: &mut Model, line: SetupLine) {
    let setup = &model.setup.setup;
    let known = setup.address.clone().unwrap_or_default();
    let key = format!("key for {}", model.setup.server());
    let nothing = usual_key(model).map_or_else(|| "no key".to_owned(), |name| format!("the one in {name}"));
    let about_key = format!(
        "Type or paste it. It is not shown, and is kept in a file that only you can read. $NAME reads it from a variable, !COMMAND from what \
         a command prints. An empty line takes {nothing}."
    );
    let (title, note, field) = match line {
        SetupLine::Address => ("address of the server", "such as http://localhost:8080/v1", TextField::line(&known)),
        SetupLine::Key => (key.as_str(), about_key.as_str(), TextField::hidden()),
        SetupLine::Model => ("name of the model", "as its server knows it; it need not be listed", TextField::line(&setup.model)),
        SetupLine::Window => ("tokens that the model takes in", "prompt and answer together, such as 128000", TextField::line("")),
        SetupLine::Price => {
            ("price of the model", "US dollars per million tokens of prompts and of answers: 0.15, 0.6", TextField::line(""))
        }
    };
    model.dialogs.push(Dialog::line(title, field, note, LineThen::SetUp(line)));
}

/// Takes what was typed.
///
/// # Errors
/// When it can't be that.
pub fn typed(model: &mut Model, turn: &mut UpdateTurn, line: SetupLine, text: &str) -> Result<(), String> {
    if text.is_empty() && line != SetupLine::Key {
        return Err("type it, or go back with esc".to_owned());
    }
    match line {
        SetupLine::Address => {
            let before = model.setup.setup.address.replace(text.to_owned());
            let stays = before.is_some_and(|before| host_of(&before) == host_of(text));
            match model.setup.setup.key.clone() {
                SetupKey::None => ask(model, SetupLine::Key),
                known if stays => with_key(model, turn, known),
                // A key is for the server that it was given for.
                _ => {
                    model.setup.setup.key = SetupKey::None;
                    ask(model, SetupLine::Key);
                }
            }
        }
        SetupLine::Key => {
            let key = SetupKey::read(text, usual_key(model).as_deref());
            with_key(model, turn, key);
        }
        SetupLine::Model => with_model(model, turn, text.to_owned()),
        SetupLine::Window => {
            let window = text.replace(['_', ',', ' '], "").parse().ok().filter(|window| *window > 0);
            model.setup.setup.window = Some(window.ok_or("write a whole number, such as 128000")?);
            show_trial(model);
        }
        SetupLine::Price => {
            model.setup.setup.price = Some(crate::host::client::read_price(text).map_err(|error| error.to_string())?);
            show_trial(model);
        }
    }
    Ok(())
}

/// Host and port of an address as it was typed.
fn host_of(address: &str) -> &str {
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    address.split('/').next().unwrap_or(address)
}

fn with_key(model: &mut Model, turn: &mut UpdateTurn, key: SetupKey) {
    model.setup.setup.key = key;
    // A model that is named already needs no list.
    let next = if model.setup.setup.model.is_empty() { SetupStep::Look } else { SetupStep::Try };
    step(model, turn, next);
}

fn with_model(model: &mut Model, turn: &mut UpdateTurn, name: String) {
    let setup = &mut model.setup.setup;
    (setup.model, setup.window, setup.price) = (name, None, None);
    step(model, turn, SetupStep::Try);
}

/// Has the host take a step. Until it has, the screen says what is waited for.
fn step(model: &mut Model, turn: &mut UpdateTurn, step: SetupStep) {
    let server = model.setup.server();
    let words = match step {
        SetupStep::Look => format!("{server} is asked for its models. Esc goes back."),
        SetupStep::Try => format!("{} at {server} is asked to answer with one word. Esc goes back.", model.setup.setup.model),
        SetupStep::Keep => "The settings are written.".to_owned(),
    };
    model.dialogs.push(Dialog::reader(Reading::Words { title: Plain::line(ASKING), lines: vec![Plain::line(&words)] }, 0));
    let id = model.setup.number(step);
    turn.send(Request::SetUp { id, step, setup: Box::new(model.setup.setup.clone()) });
}

/// A step was taken, or failed. Nobody waits for an answer that comes after esc.
pub fn news(model: &mut Model, turn: &mut UpdateTurn, id: u64, news: SetupNews) {
    let waits = |dialog: &Dialog| matches!(dialog, Dialog::Reader(ReaderDialog { what: Reading::Words { title, .. }, .. }) if title.as_str() == ASKING);
    if id != model.setup.asked.0 || !model.dialogs.last().is_some_and(waits) {
        return;
    }
    model.dialogs.pop();
    if !matches!(news, SetupNews::Failed(_)) {
        // What failed before is over.
        model.dialogs.retain(|dialog| !is_titled(dialog, FAILED));
    }
    match news {
        SetupNews::Models(offers) => choose_model(model, offers),
        SetupNews::Answered(trial) => {
            model.setup.trial = Some(trial);
            push_trial(model);
        }
        SetupNews::Kept(kept) => kept_model(model, turn, &kept),
        SetupNews::Failed(failure) => failed(model, &failure),
    }
}

fn choose_model(model: &mut Model, offers: Vec<ModelOffer>) {
    let other = choice(SetupChoice::OtherModel, "another name …", "servers know models that they don't list");
    let item = |offer: ModelOffer| {
        let (name, detail) = (offer.name.clone(), offer.detail());
        choice(SetupChoice::Model(offer), &name, &detail)
    };
    let items = offers.into_iter().map(item).chain([other]).collect();
    let title = format!("model of {}", model.setup.server());
    let mut dialog = Dialog::pick(&title, items);
    if let Dialog::Pick(pick) = &mut dialog {
        pick.otherwise = Some((TypedAs::SetUpModel, Plain::line(UNLISTED)));
    }
    model.dialogs.push(dialog);
}

/// What the model answered, and what can be done with it. Replaces the one that was shown before a figure was typed.
fn show_trial(model: &mut Model) {
    model.dialogs.pop();
    push_trial(model);
}

fn push_trial(model: &mut Model) {
    let Some(trial) = &model.setup.trial else { return };
    let setup = &model.setup.setup;
    let paid = trial.cost_usd.map(|usd| format!(", {}", cost(usd))).unwrap_or_default();
    let note =
        format!("{} at {} answered in {}: {} tokens{paid}. It works.", trial.answered, trial.host, duration(trial.ms), count(trial.tokens));
    let unpriced = match trial.cost_usd {
        Some(_) => "not needed: what a call costs is known",
        None => "not known; without it, what it costs shows as ?",
    };
    let window = setup.window.or(trial.offer.window).map(|window| format!("{} tokens", thousands(window)));
    let price = setup.price.or(trial.offer.price).map(|(prompt, answer)| format!("${prompt} and ${answer} per million tokens"));
    let items = vec![
        choice(SetupChoice::Keep, "make it the default", &format!("writes {}", trial.files.join(" and "))),
        choice(SetupChoice::Window, "its window …", &window.unwrap_or_else(|| "not known".to_owned())),
        choice(SetupChoice::Price, "its price …", &price.unwrap_or_else(|| unpriced.to_owned())),
    ];
    let title = format!("{} answers", setup.model);
    model.dialogs.push(Dialog::noted_pick(&title, &note, items));
}

fn kept_model(model: &mut Model, turn: &mut UpdateTurn, kept: &KeptModel) {
    leave(model);
    let mut here = "";
    if model.shown_run().is_some() {
        super::app::use_model(model, turn, kept.model.clone());
        here = ", and in this run for what starts from here on";
    }
    let words = format!("{} is the default now: it answers from the next plan and run on{here}.", kept.model);
    let mut lines = vec![Plain::line(&words)];
    lines.extend(kept.files.iter().map(|file| Plain::line(&format!("wrote {file}"))));
    lines.extend(kept.overruled.iter().map(|overruled| Plain::line(&format!("but {overruled}"))));
    model.dialogs.push(Dialog::reader(Reading::Words { title: Plain::line("the model is set up"), lines }, 0));
}

/// Ends setting up: its dialogs go, and a key that was typed.
pub fn leave(model: &mut Model) {
    if !model.setup.offers.is_empty() {
        model.dialogs.truncate(model.setup.below);
    }
    model.setup = SetupDraft { asked: model.setup.asked, ..SetupDraft::default() };
}

fn failed(model: &mut Model, failure: &SetupFailure) {
    let setup = &model.setup.setup;
    let key = match setup.key {
        SetupKey::None => choice(SetupChoice::OtherKey, "give a key", "none was given"),
        SetupKey::Typed(_) => choice(SetupChoice::OtherKey, "give another key", "the one that you typed is not kept"),
        SetupKey::Variable(_) | SetupKey::Command(_) => choice(SetupChoice::OtherKey, "give another key", ""),
    };
    let now = format!("it is {}", setup.address.as_deref().unwrap_or("the usual one"));
    let address = choice(SetupChoice::OtherAddress, "change the address", &now);
    let name = choice(SetupChoice::OtherModel, "name the model …", "as its server knows it; it need not be listed");
    let again = choice(SetupChoice::Again, "try again", "the same once more");
    let mut ways = match failure.fault {
        SetupFault::Key => vec![key, again, address],
        SetupFault::Address => vec![address, again, key],
        SetupFault::Model => vec![name, key, again],
        SetupFault::List => vec![name, address, key, again],
        SetupFault::Other => vec![again, name, key, address],
    };
    ways.push(choice(SetupChoice::Begin, "another provider", "from the start"));
    ways.extend(without_model());
    model.dialogs.push(Dialog::noted_pick(FAILED, &failure.message, ways));
}

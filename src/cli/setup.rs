//! `dagdeck models setup`: sets up a model from nothing. What isn't given is asked where a person sits at the terminal; a key is never
//! shown while it is typed.

use super::{CliContext, CliError, Exit, Io, ModelsAction, ModelsArgs, SetupArgs, context::env, list};
use crate::{
    host::{
        SetUp,
        client::{
            KeptModel, ModelOffer, ModelSetup, ModelTrial, ProviderOffer, SetupFailure, SetupFault, SetupKey, SetupNews, SetupStep,
            TypedKey, read_price,
        },
    },
    text::{Plain, cost, duration},
};
use rustix::termios::{LocalModes, OptionalActions, isatty, tcgetattr, tcsetattr};
use serde_json::json;
use std::sync::Arc;

/// Models that are listed at once.
const LISTED: usize = 40;

/// Lists the models, or sets one up.
///
/// # Errors
/// When the settings can't be used; what else `setup` says.
pub async fn models(args: &ModelsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    match &args.action {
        Some(ModelsAction::Setup(args)) => setup(args, place, io).await,
        None => list::models(&args.list, place, io).await,
    }
}

/// Sets a model up, tries it, and makes it the default.
///
/// # Errors
/// When something is missing that nobody can be asked for, the model can't be asked, or the settings can't be written.
async fn setup(args: &SetupArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let set_up = place.survey()?.set_up(&place.places, Arc::new(env));
    let asks = isatty(std::io::stdin()) && !args.key_stdin;
    let offers = set_up.providers();
    let mut dialog = SetupDialog { args, set_up, offers, asks, io };
    let mut setup = dialog.server()?;
    setup.key = dialog.key(&setup)?;
    let (trial, kept) = dialog.finish(setup).await?;
    if args.json {
        io.json(&json!({"default": kept.model, "answered": trial.answered, "files": kept.files, "overruled": kept.overruled}))?;
        return Ok(Exit::Success);
    }
    io.line(&format!("default: {}", Plain::line(&kept.model)))?;
    kept.files.iter().for_each(|file| io.say(&format!("wrote {file}")));
    if let Some(overruled) = &kept.overruled {
        io.say(overruled);
    }
    Ok(Exit::Success)
}

struct SetupDialog<'a, 'io> {
    args: &'a SetupArgs,
    set_up: SetUp,
    offers: Vec<ProviderOffer>,
    /// A person can be asked.
    asks: bool,
    io: &'a mut Io<'io>,
}

impl SetupDialog<'_, '_> {
    /// The server that is named, or chosen from the list.
    fn server(&mut self) -> Result<ModelSetup, CliError> {
        let named = match &self.args.server {
            Some(named) => named.clone(),
            None => {
                let lines: Vec<String> = self.offers.iter().map(provider_line).collect();
                self.choice("providers:", &lines, "a number, or the address of another server", "the provider or the address of a server")?
            }
        };
        let by_number = named.parse::<usize>().ok().and_then(|number| self.offers.get(number.checked_sub(1)?));
        let Some(offer) = by_number.or_else(|| self.offers.iter().find(|offer| offer.name == named)).cloned() else {
            return Ok(ModelSetup { address: Some(named), ..ModelSetup::default() });
        };
        let mut setup = ModelSetup { provider: offer.name, address: self.args.address.clone(), ..ModelSetup::default() };
        if setup.address.is_none() && offer.address.is_none() {
            setup.address = Some(self.line(&format!("address of your {}: ", offer.title), "its address (--address)")?);
        }
        Ok(setup)
    }

    fn key(&mut self, setup: &ModelSetup) -> Result<SetupKey, CliError> {
        if self.args.key_stdin {
            return Ok(SetupKey::Typed(TypedKey::new(&self.read_line()?)));
        }
        if let Some(line) = &self.args.key_command {
            return Ok(SetupKey::Command(line.clone()));
        }
        if let Some(variable) = &self.args.key_env {
            return Ok(SetupKey::Variable(variable.clone()));
        }
        let offer = self.offers.iter().find(|offer| offer.name == setup.provider);
        let usual = offer.filter(|offer| offer.has_key).and_then(|offer| offer.key_variable.clone());
        if !self.asks || offer.is_some_and(|offer| offer.is_local) {
            return Ok(usual.map_or(SetupKey::None, SetupKey::Variable));
        }
        self.ask_key(usual)
    }

    fn ask_key(&mut self, usual: Option<String>) -> Result<SetupKey, CliError> {
        let enter = usual.as_ref().map_or_else(|| "none".to_owned(), |variable| format!("the one in {variable}"));
        self.say_open(&format!("key, not shown ($NAME takes a variable's, !COMMAND what a command prints, enter {enter}): "));
        let typed = hidden(|| self.read_line())?;
        self.io.say("");
        Ok(SetupKey::read(&typed, usual.as_deref()))
    }

    /// Chooses the model, tries it and keeps it; what is wrong is asked for again.
    async fn finish(&mut self, mut setup: ModelSetup) -> Result<(ModelTrial, KeptModel), CliError> {
        setup.model = self.args.name.clone().unwrap_or_default();
        loop {
            let step = if setup.model.is_empty() { SetupStep::Look } else { SetupStep::Try };
            match self.set_up.step(step, &setup).await {
                SetupNews::Models(models) => setup.model = self.model(&models)?,
                SetupNews::Answered(trial) => {
                    let paid = trial.cost_usd.map(|usd| format!(", {}", cost(usd))).unwrap_or_default();
                    let took = duration(trial.ms);
                    self.io.say(&format!("{} at {} answered in {took} ({} tokens{paid})", trial.answered, trial.host, trial.tokens));
                    self.figures(&mut setup, &trial.offer)?;
                    match self.set_up.step(SetupStep::Keep, &setup).await {
                        SetupNews::Kept(kept) => return Ok((trial, kept)),
                        SetupNews::Failed(failure) => return Err(CliError::new(failure.message)),
                        SetupNews::Models(_) | SetupNews::Answered(_) => {}
                    }
                }
                SetupNews::Failed(failure) => self.mend(&mut setup, failure)?,
                SetupNews::Kept(_) => {}
            }
        }
    }

    /// Asks again for what was wrong.
    fn mend(&mut self, setup: &mut ModelSetup, failure: SetupFailure) -> Result<(), CliError> {
        if !self.asks {
            let hint = match failure.fault {
                SetupFault::Key => "give another key: --key-stdin, --key-command or --key-env",
                SetupFault::Address => "give the address of a server that runs, or the name of a provider",
                SetupFault::Model => "name another model",
                SetupFault::List => "name the model: `dagdeck models setup SERVER MODEL`",
                SetupFault::Other => "try again, or take another provider; `--model operator` answers in a model's place",
            };
            return Err(CliError::new(failure.message).hint(hint));
        }
        self.io.say(&failure.message);
        match failure.fault {
            SetupFault::Key => setup.key = self.ask_key(None)?,
            SetupFault::Address => setup.address = Some(self.line("address (ctrl-c leaves): ", "the address")?),
            SetupFault::Model | SetupFault::List => setup.model = self.line("name of the model (ctrl-c leaves): ", "the model")?,
            SetupFault::Other => drop(self.line("enter tries again (ctrl-c leaves) ", "another try")?),
        }
        Ok(())
    }

    fn model(&mut self, models: &[ModelOffer]) -> Result<String, CliError> {
        let mut lines: Vec<String> =
            models.iter().take(LISTED).map(|offer| format!("{:<32} {}", offer.name, offer.detail()).trim_end().to_owned()).collect();
        if models.len() > LISTED {
            lines.push(format!("… and {} more, which can be named", models.len() - LISTED));
        }
        let shown = models.len().min(LISTED);
        let named = self.choice("models:", &lines, "a number, or a model's name", "a model: `dagdeck models setup SERVER MODEL`")?;
        let by_number = named.parse::<usize>().ok().filter(|number| (1..=shown).contains(number));
        Ok(by_number.map_or(named, |number| models[number - 1].name.clone()))
    }

    /// What the table doesn't know may be given.
    fn figures(&mut self, setup: &mut ModelSetup, offer: &ModelOffer) -> Result<(), CliError> {
        (setup.window, setup.price) = (self.args.window, self.args.price);
        if self.asks && setup.window.is_none() && offer.window.is_none() {
            setup.window = self.line_or_none("tokens that it takes in (enter: unknown): ")?.parse().ok();
        }
        let is_local = self.offers.iter().any(|other| other.name == setup.provider && other.is_local);
        if self.asks && setup.price.is_none() && offer.price.is_none() && !is_local {
            let typed = self.line_or_none("US dollars per million tokens of prompts and of answers, as 0.15,0.6 (enter: unknown): ")?;
            setup.price = read_price(&typed).ok();
        }
        Ok(())
    }

    /// One of a numbered list, or what else is typed.
    fn choice(&mut self, title: &str, lines: &[String], ask: &str, missing: &str) -> Result<String, CliError> {
        if !self.asks {
            let listed = lines.join("\n");
            return Err(CliError::new(format!("this is no terminal to ask in: name {missing}")).hint(format!("{title}\n{listed}")));
        }
        self.io.say(title);
        for (at, line) in lines.iter().enumerate() {
            self.io.say(&format!("{:>3}  {line}", at + 1));
        }
        self.line(&format!("{ask}: "), missing)
    }

    /// A line that somebody has to type.
    fn line(&mut self, ask: &str, missing: &str) -> Result<String, CliError> {
        if !self.asks {
            return Err(CliError::new(format!("this is no terminal to ask in: give {missing}")));
        }
        self.line_or_none(ask)
    }

    fn line_or_none(&mut self, ask: &str) -> Result<String, CliError> {
        self.say_open(ask);
        Ok(self.read_line()?.trim().to_owned())
    }

    /// Asks without ending the line.
    fn say_open(&mut self, ask: &str) {
        // When standard error is closed, nobody reads this.
        let _ = write!(self.io.err, "{}", Plain::line(ask));
        let _ = self.io.err.flush();
    }

    fn read_line(&mut self) -> Result<String, CliError> {
        let (mut bytes, mut byte) = (Vec::new(), [0]);
        while self.io.stdin.read(&mut byte)? == 1 && byte[0] != b'\n' {
            bytes.push(byte[0]);
        }
        if bytes.is_empty() && byte[0] != b'\n' {
            return Err(CliError::new("the input ended before the model was set up"));
        }
        String::from_utf8(bytes).map_err(|_| CliError::new("what was typed is not text"))
    }
}

fn provider_line(offer: &ProviderOffer) -> String {
    let key = offer.key_variable.as_ref().filter(|_| offer.has_key).map(|name| format!("{name} is set"));
    let found = offer.is_found.then(|| "runs on this machine".to_owned());
    let address = offer.address.clone().unwrap_or_else(|| "at an address of yours".to_owned());
    format!("{:<12} {}", offer.name, found.or(key).unwrap_or(address))
}

/// Reads with the terminal's echo off.
fn hidden(read: impl FnOnce() -> Result<String, CliError>) -> Result<String, CliError> {
    let terminal = std::io::stdin();
    let Ok(before) = tcgetattr(&terminal) else { return read() };
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Now, &silent).map_err(std::io::Error::from)?;
    let typed = read();
    tcsetattr(&terminal, OptionalActions::Now, &before).map_err(std::io::Error::from)?;
    typed
}

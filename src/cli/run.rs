//! `dagdeck run`: runs a plan or a request without the console. Flags decide gates; a gate that no flag decides stays open.

use super::{CliContext, CliError, Exit, Io, RunArgs, detach, headless, named, rivals, source, validate};
use crate::host::{
    DetachedRun, Flags, LocalHost, NewRun,
    client::{ModelStatus, PlanWish},
};
use crate::plan::dialect::{Syntax, keep_digits};
use crate::plan::{Plan, that_need_model};
use crate::text::{Plain, counted};
use serde_json::{Map, Value};

/// The file in the state folder for the last plan that was made of a request and can't run.
const WRONG_PLAN: &str = "wrong-plan.json";

/// Runs a plan file, or plans and runs a request.
///
/// # Errors
/// When there is no usable plan, or the journal can't be written.
pub async fn run(args: &RunArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if args.detach {
        detach::check(place)?;
    }
    let mut inputs = inputs(&args.given.set, io)?;
    let private_inputs = read_inputs(&args.given.set_file, &mut inputs, io)?;
    let flags = headless::flags(&args.gates)?;
    let host = if args.rehearse { place.rehearsing().host()? } else { place.host()? };
    let mut document = match args.among.rivals {
        None => {
            let after = named::earlier_run(args.after.as_deref(), &host, place)?;
            let wish = PlanWish { after, budget: args.caps.own(), ..PlanWish::default() };
            source::plan_or_request(&args.what, wish, &host, io).await?
        }
        Some(_) if source::is_path(&args.what) => {
            return Err(CliError::usage("`--rivals` makes plans of a request, and this is a file").hint("write the request in quotes"));
        }
        Some(count) => {
            let rivals = rivals::ask(&host, (&args.what, args.caps.own()), count, io).await?;
            source::PlanDocument::made(rivals::pick(rivals, args.among.pick, io)?)
        }
    };
    let left_out = source::settle(&mut document.plan, args.partial, args.reading)?;
    warn_of_unread(&inputs, &document.plan, io);
    document.plan.inputs.extend(inputs);
    document.plan.budget = args.caps.over(&document.plan.budget);
    // What came from stdin as words was not typed here: a plan that did is the plan's own text.
    let private_request = args.what == "-" && document.text.is_empty();
    let mut findings = host.findings(&document.plan);
    if source::verdict(&findings) == Exit::Invalid {
        findings.retain(|finding| finding.is_error());
        for placed in document.place(findings) {
            io.say(&validate::placed_line(&placed));
        }
        let made = (!document.planning.is_empty()).then(|| place.places.home.join(WRONG_PLAN));
        let kept = made.filter(|file| std::fs::write(file, serde_json::to_string_pretty(&document.plan).unwrap_or_default()).is_ok());
        let hint = match kept {
            Some(file) => {
                format!(
                    "the plan is in {0}: `dagdeck validate {0}` lists every finding, and `dagdeck console {0}` opens it",
                    file.display()
                )
            }
            // What was typed is no file.
            None if document.text.is_empty() => "say the request in other words; nothing of it was done".to_owned(),
            None => format!("`dagdeck validate {}` lists the errors and how to fix each", Plain::line(&args.what)),
        };
        return Err(CliError::invalid("the plan has errors, so nothing was run").hint(hint));
    }
    check_model(&document.plan, &host)?;
    validate::warn(&document, findings, io);
    headless::warn_of_unmatched(&flags, &document.plan, &host.catalog(), io);
    let new = NewRun {
        plan: document.plan,
        private_inputs,
        private_request,
        planning: document.planning,
        caching: args.cache.caching(),
        ..NewRun::default()
    };
    let say_left_out = |io: &mut Io<'_>| left_out.iter().for_each(|part| io.say(&format!("left out of this run: {}", Plain::line(part))));
    if args.detach {
        say_left_out(io);
        let new = NewRun { model: host.chosen_model(), ..new };
        return detach::start(&DetachedRun { new, flags }, args.json, place, io).await;
    }
    let exit = attended(new, &flags, &host, args.json, io).await?;
    say_left_out(io);
    Ok(exit)
}

/// Runs it in this process, to its end or to where it waits for a person, and prints how it ended.
async fn attended(new: NewRun, flags: &Flags, host: &LocalHost, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let mut stop = headless::signals();
    let ended = {
        let mut printer = headless::Printer { json: as_json, io: &mut *io };
        let ended = host.run_headless(new, flags, &mut stop, &mut |record| printer.print(record)).await?;
        headless::cancel_if_asked(ended, host, &mut stop, &mut printer).await?
    };
    headless::finish(&ended, as_json, io)
}

/// Warns of inputs that nothing in the plan reads.
fn warn_of_unread(inputs: &Map<String, Value>, plan: &Plan, io: &mut Io<'_>) {
    let read = serde_json::to_string(plan).unwrap_or_default();
    let is_in_name = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    let reads = |name: &str| read.split(|letter| !is_in_name(letter)).any(|word| word == name);
    for name in inputs.keys().filter(|name| !reads(name)) {
        io.say(&format!("warning: the plan has no input `{name}`, and nothing in it reads one"));
    }
}

/// Refuses a plan that needs a model which nobody can ask.
fn check_model(plan: &Plan, host: &LocalHost) -> Result<(), CliError> {
    let catalog = host.catalog();
    let nodes = that_need_model(plan, &catalog);
    let Some(first) = nodes.first() else { return Ok(()) };
    let (exit, why, how) = match host.model() {
        ModelStatus::Connected { .. } | ModelStatus::Operator | ModelStatus::Rehearsal => return Ok(()),
        ModelStatus::Broken { why, how } => (Exit::Error, why, how),
        ModelStatus::Absent { how } => {
            let how = format!("`--rehearse` shows what the run would do, `--model operator` lets you answer in its place; {how}");
            (Exit::Rehearsed, "no model is set up, so nothing ran".to_owned(), how)
        }
    };
    let needs = match nodes.len() {
        1 => format!("node `{first}` needs a model"),
        count => format!("node `{first}` and {} need a model", counted(count - 1, "other node")),
    };
    Err(CliError { exit, ..CliError::new(format!("{needs}: {why}")).hint(how) })
}

/// `name=value` pairs; a value is JSON if it parses, otherwise text.
pub(super) fn inputs(pairs: &[String], io: &mut Io<'_>) -> Result<Map<String, Value>, CliError> {
    let mut inputs = Map::new();
    for pair in pairs {
        let (name, text) = named_value("--set", "NAME=VALUE", pair)?;
        let value = input(name, text, io);
        let read_as = value.to_string();
        if value.is_number() && read_as != text.trim() {
            io.say(&Plain::line(&format!("note: `{name}` is the number {value}; `--set '{name}=\"{text}\"'` makes it text")).into_string());
        }
        inputs.insert(name.to_owned(), value);
    }
    Ok(inputs)
}

/// Adds the inputs of `name=file` pairs; gives their names.
fn read_inputs(pairs: &[String], inputs: &mut Map<String, Value>, io: &mut Io<'_>) -> Result<Vec<String>, CliError> {
    let mut names = Vec::new();
    for pair in pairs {
        let (name, file) = named_value("--set-file", "NAME=FILE", pair)?;
        let text = io.read(file)?;
        inputs.insert(name.to_string(), input(name, &text, io));
        names.push(name.to_string());
    }
    Ok(names)
}

fn named_value<'a>(flag: &str, form: &str, pair: &'a str) -> Result<(&'a str, &'a str), CliError> {
    let usage = || CliError::usage(format!("`{flag} {pair}` has no name or no value")).hint(format!("write `{flag} {form}`"));
    pair.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(usage)
}

/// JSON if it parses, otherwise text. A number of more digits than are kept stays text, which is said.
fn input(name: &str, text: &str, io: &mut Io<'_>) -> Value {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return Value::from(text) };
    if let Some(number) = keep_digits(&mut value, text, Syntax::Json).first() {
        let within = if value.is_string() { format!("`{name}`") } else { format!("in `{name}`, {number}") };
        io.say(&Plain::line(&format!("note: {within} is text: a number keeps fewer digits than {number} has")).into_string());
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::KnownSecrets;
    use serde_json::json;

    fn set(pairs: &[&str]) -> Result<Map<String, Value>, CliError> {
        let (mut out, mut err, mut stdin) = (Vec::new(), Vec::new(), std::io::empty());
        let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
        inputs(&pairs, &mut Io { out: &mut out, err: &mut err, stdin: &mut stdin, columns: None, secrets: KnownSecrets::default() })
    }

    #[test]
    fn inputs_are_json_where_they_parse_and_text_elsewhere() {
        let inputs = set(&["n=3", "name=Ada L", "list=[1]", "eq=a=b", "account=12345678901234567890123"]).unwrap();
        let account = "12345678901234567890123";
        assert_eq!(Value::Object(inputs), json!({"n": 3, "name": "Ada L", "list": [1], "eq": "a=b", "account": account}));
    }

    #[test]
    fn an_input_without_a_value_is_a_usage_error() {
        assert_eq!(set(&["x"]).unwrap_err().exit, Exit::Usage);
    }
}

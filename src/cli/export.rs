//! `dagdeck export`: a plan in another format, with what that format can't express; or a whole run as a file.

use super::{
    CliContext, CliError, Exit, ExportArgs, Io,
    ls::short,
    source::{self, PlanDocument},
};
use crate::{
    engine::Run,
    files::beside,
    plan::{
        Catalog, Dialect, Plan,
        dialect::{self, Format, Syntax},
        drawing,
    },
    store::{RunFilter, Secrets, write_run},
    text::{GlyphSet, Plain, SECRET_START, has_key, secret_names, without_marks},
    tools::{KnownSecrets, workspace_variables},
};
use std::{collections::BTreeSet, path::Path};

/// Writes a whole run to one file that only the user can read: to a temporary file first, so that no half file is left.
fn run_file(run: &str, file: &str, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let store = place.store()?;
    let id = store.resolve(run, RunFilter::Workspace(&place.places.workspace))?;
    let secrets = Secrets::of_process().and(workspace_variables(&place.places.workspace));
    let written = write_run(&store.records(&id)?, &secrets)
        .map_err(|error| CliError::new(format!("the run can't be written without its secrets: {error}")))?;
    if file == "-" {
        io.out.write_all(written.text.as_bytes())?;
    } else {
        put(file, &written.text)?;
    }
    let redacted = match written.redacted {
        0 => "no secrets were found".to_owned(),
        1 => "1 secret was removed".to_owned(),
        count => format!("{count} secrets were removed"),
    };
    io.say(&format!("run {}: {} events; {redacted}; check the file before you share it", short(&id.0), written.events));
    Ok(Exit::Success)
}

fn put(file: &str, text: &str) -> Result<(), CliError> {
    let path = Path::new(file);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(CliError::new(format!("can't write `{file}`: there is no folder `{}`", folder.display())));
    }
    beside::write_private(path, text.as_bytes()).map_err(|error| CliError::new(format!("can't write `{file}`: {error}")))
}

/// Writes the plan of a file or a run in another format.
///
/// # Errors
/// When the plan can't be read.
pub fn export(args: &ExportArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if let Some(file) = &args.run_file {
        return run_file(&args.what, file, place, io);
    }
    if args.yaml && args.format.is_drawing() {
        let message = format!("`{}` is a drawing; `--yaml` works for documents only", args.format.name());
        return Err(CliError::usage(message).hint("remove `--yaml`, or choose another `--format`"));
    }
    if args.ascii && args.format != Format::Text {
        let message = format!("`--ascii` works with `--format text` only, not with `{}`", args.format.name());
        return Err(CliError::usage(message).hint("add `--format text`, or remove `--ascii`"));
    }
    let document = document_of(&args.what, place, io)?;
    let plan = &document.plan;
    if let Format::Document(dialect) = args.format {
        leaves_something(plan, dialect)?;
    }
    let syntax = if args.yaml { Syntax::Yaml } else { Syntax::Json };
    // Only these two need to know the tools, and listing them takes time.
    let asks = matches!(args.format, Format::Document(Dialect::Tools | Dialect::Hybrid));
    let catalog = if asks { place.survey()?.catalog() } else { Catalog::default() };
    let mut written = dialect::write_as(plan, args.format, syntax, &catalog);
    if args.ascii {
        written.text = drawing::text(plan, GlyphSet::Ascii);
    }
    io.out.write_all(written.text.as_bytes())?;
    if written.text.contains(SECRET_START) || written.text.contains("\\ufdd0") {
        io.say("note: the plan has the marks of secrets in place of their values: to run it as a plan of its own, write values there");
    }
    say_keys(&written.text, place, io);
    if !written.lost.is_empty() {
        io.say(&format!("the {} format doesn't hold all of the plan:", args.format.name()));
    }
    for loss in &written.lost {
        let (path, reason) = document.in_own_terms(&loss.path, &loss.reason);
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        io.say(&format!("  {}", Plain::line(&(place + &reason))));
    }
    Ok(Exit::Success)
}

/// Says which secrets a plan that was written has as they are.
pub(super) fn say_keys(text: &str, place: &CliContext, io: &mut Io<'_>) {
    let mut masked = without_marks(text).into_owned();
    KnownSecrets::of_process(&place.places.workspace).mask_text(&mut masked);
    let names: BTreeSet<String> = secret_names(&masked).map(|name| Plain::line(name).into_string()).collect();
    let what = match (names.is_empty(), has_key(text)) {
        (false, _) => format!("the value of {}", names.into_iter().collect::<Vec<_>>().join(", ")),
        (true, true) => "what looks like a key".to_owned(),
        (true, false) => return,
    };
    io.say(&format!("note: the plan has {what}, written out as it is; look at it before you share it"));
}

/// An empty document is no export.
fn leaves_something(plan: &Plan, dialect: Dialect) -> Result<(), CliError> {
    let mut held = plan.nodes.iter().filter(|node| dialect.holds(&node.kind));
    if plan.nodes.is_empty() || held.next().is_some() {
        return Ok(());
    }
    let holds_all = |other: &Dialect| *other != Dialect::Native && plan.nodes.iter().all(|node| other.holds(&node.kind));
    let other = Dialect::ALL.into_iter().find(holds_all).unwrap_or_default();
    let message = format!("the {} format can't hold any node of this plan, so nothing would be written", dialect.name());
    Err(CliError::new(message).hint(format!("use `--format {}`, which holds them all", other.name())))
}

pub(super) fn plan_of(what: &str, place: &CliContext, io: &mut Io<'_>) -> Result<Plan, CliError> {
    document_of(what, place, io).map(|document| document.plan)
}

/// A file's plan with its text, or a run's plan.
fn document_of(what: &str, place: &CliContext, io: &mut Io<'_>) -> Result<PlanDocument, CliError> {
    if source::is_path(what) {
        return PlanDocument::open(what, io);
    }
    let store = place.store()?;
    let id = store
        .resolve(what, RunFilter::Workspace(&place.places.workspace))
        .map_err(|error| CliError::from(error).hint("name a plan file, `-` for stdin, or a run from `dagdeck ls`"))?;
    let run = Run::replay(&store.records(&id)?);
    let private = run.settings().map(|settings| settings.private_inputs.clone()).unwrap_or_default();
    let mut plan = run.plan().cloned();
    for name in private {
        if let Some(value) = plan.as_mut().and_then(|plan| plan.inputs.get_mut(&name)) {
            *value = serde_json::Value::Null;
            let name = Plain::line(&name);
            io.say(&format!("not exported: the input {name}, which was read from a file; give it with `--set-file {name}=FILE`"));
        }
    }
    plan.map(PlanDocument::unwritten).ok_or_else(|| CliError::new(format!("run `{}` has no plan in its journal", short(&id.0))))
}

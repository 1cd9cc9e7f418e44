//! `dagdeck export`: a plan in another form, with what that form can't express.

use super::{
    CliContext, CliError, Exit, ExportArgs, Io,
    ls::short,
    source::{self, PlanDocument},
};
use crate::{
    engine::Run,
    plan::{
        Catalog, Plan, chart,
        dialect::{self, Format, Syntax},
    },
    store::{RunFilter, Secrets, write_run},
    text::{GlyphSet, Plain},
};
use std::{io::Write, path::Path};

/// Writes a whole run into one file, beside it first and then in its place, readable for the user alone.
fn run_file(run: &str, file: &str, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let store = place.store()?;
    let id = store.resolve(run, RunFilter::Workspace(&place.places.workspace))?;
    let secrets = Secrets::of_environment(
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    );
    let written = write_run(&store.records(&id)?, &secrets)
        .map_err(|error| CliError::new(format!("the run can't be written without its secrets: {error}")))?;
    if file == "-" {
        io.out.write_all(written.text.as_bytes())?;
    } else {
        put(file, &written.text)?;
    }
    let redacted = match written.redacted {
        0 => "no secrets were found in them".to_owned(),
        1 => "one secret was taken out".to_owned(),
        count => format!("{count} secrets were taken out"),
    };
    io.say(&format!("run {}: {} events; {redacted}; look through the file before you give it away", short(&id.0), written.events));
    Ok(Exit::Success)
}

fn put(file: &str, text: &str) -> Result<(), CliError> {
    let path = Path::new(file);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(CliError::new(format!("can't write `{file}`: there is no folder `{}`", folder.display())));
    }
    let written = || {
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        beside.write_all(text.as_bytes())?;
        beside.as_file().sync_all()?;
        beside.persist(path).map(drop).map_err(|fault| fault.error)
    };
    written().map_err(|error: std::io::Error| CliError::new(format!("can't write `{file}`: {error}")))
}

/// Writes a plan file's or a run's plan in another form.
///
/// # Errors
/// When the plan can't be read.
pub fn export(args: &ExportArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if let Some(file) = &args.run_file {
        return run_file(&args.what, file, place, io);
    }
    if args.yaml && args.format.is_picture() {
        let words = format!("`{}` is a picture, and `--yaml` is for documents", args.format.name());
        return Err(CliError::usage(words).hint("leave one of `--yaml` and `--format` out"));
    }
    if args.ascii && args.format != Format::Text {
        let words = format!("`--ascii` is for the form `text`, and this is `{}`", args.format.name());
        return Err(CliError::usage(words).hint("add `--format text`, or leave `--ascii` out"));
    }
    let document = document_of(&args.what, place, io)?;
    let plan = &document.plan;
    if args.ascii {
        io.out.write_all(chart::text(plan, GlyphSet::Ascii).as_bytes())?;
        return Ok(Exit::Success);
    }
    let syntax = if args.yaml { Syntax::Yaml } else { Syntax::Json };
    // Only these two write the text for a tool differently, and asking what tools there are takes time.
    let asks = matches!(args.format, Format::Tools | Format::Hybrid);
    let catalog = if asks { place.survey()?.catalog() } else { Catalog::default() };
    let written = dialect::write_as(plan, args.format, syntax, &catalog);
    io.out.write_all(written.text.as_bytes())?;
    for loss in &written.lost {
        let (path, reason) = document.told(&loss.path, &loss.reason);
        io.say(&format!("left out `{}`: {}", Plain::line(&path), Plain::line(&reason)));
    }
    Ok(Exit::Success)
}

pub(super) fn plan_of(what: &str, place: &CliContext, io: &mut Io<'_>) -> Result<Plan, CliError> {
    document_of(what, place, io).map(|document| document.plan)
}

/// A file's plan with its text, or a run's plan.
fn document_of(what: &str, place: &CliContext, io: &mut Io<'_>) -> Result<PlanDocument, CliError> {
    if source::is_path(what) || std::path::Path::new(what).is_file() {
        return PlanDocument::open(what, io);
    }
    let store = place.store()?;
    let id = store
        .resolve(what, RunFilter::Workspace(&place.places.workspace))
        .map_err(|error| CliError::from(error).hint("name a plan file, `-` for stdin, or a run as `dagdeck ls` lists it"))?;
    let run = Run::replay(&store.records(&id)?);
    run.plan()
        .cloned()
        .map(PlanDocument::unwritten)
        .ok_or_else(|| CliError::new(format!("run `{}` has no plan in its journal", short(&id.0))))
}

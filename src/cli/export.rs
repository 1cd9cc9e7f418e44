//! `dagdeck export`: a plan in another form, with what that form can't express.

use super::{
    Exit, ExportArgs, Failure, Io, Place,
    source::{self, Document},
};
use crate::{
    engine::Run,
    plan::{
        Catalog, Plan, chart,
        dialect::{self, Format, Syntax},
    },
    store::Scope,
    text::{GlyphSet, Plain},
};

/// Writes a plan file's or a run's plan in another form.
///
/// # Errors
/// When the plan can't be read.
pub fn export(args: &ExportArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    if args.yaml && args.format.is_picture() {
        let words = format!("`{}` is a picture, and `--yaml` is for documents", args.format.name());
        return Err(Failure::usage(words).hint("leave one of `--yaml` and `--format` out"));
    }
    let document = document_of(&args.what, place, io)?;
    let plan = &document.plan;
    if args.ascii && args.format == Format::Text {
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

pub(super) fn plan_of(what: &str, place: &Place, io: &mut Io<'_>) -> Result<Plan, Failure> {
    document_of(what, place, io).map(|document| document.plan)
}

/// A file's plan with its text, or a run's plan.
fn document_of(what: &str, place: &Place, io: &mut Io<'_>) -> Result<Document, Failure> {
    if source::is_path(what) || std::path::Path::new(what).is_file() {
        return Document::open(what, io);
    }
    let store = place.store()?;
    let id = store
        .resolve(what, Scope::Workspace(&place.places.workspace))
        .map_err(|error| Failure::from(error).hint("name a plan file, `-` for stdin, or a run as `dagdeck ls` lists it"))?;
    let run = Run::replay(&store.records(&id)?);
    run.plan().cloned().map(Document::unwritten).ok_or_else(|| Failure::new(format!("run `{}` has no plan in its journal", id.0)))
}

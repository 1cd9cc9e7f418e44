//! `dagdeck schema`, `completions`, `man`: documents about dagdeck itself.

use super::{Cli, CliError, CompletionsArgs, Exit, Io, SchemaArgs, SchemaDocument};
use crate::plan::validate::codes;
use clap::CommandFactory;
use serde_json::json;

/// # Errors
/// When the output can't be written.
pub fn schema(args: &SchemaArgs, io: &mut Io<'_>) -> Result<Exit, CliError> {
    match args.document {
        SchemaDocument::Plan => io.json(&crate::plan::schema())?,
        SchemaDocument::Findings => {
            let rows = codes().iter().map(|row| json!({"code": row.code, "severity": row.severity, "words": row.description}));
            io.json(&rows.collect())?;
        }
    }
    Ok(Exit::Success)
}

/// # Errors
/// When the output can't be written.
pub fn completions(args: &CompletionsArgs, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dagdeck", &mut text);
    io.out.write_all(&text)?;
    Ok(Exit::Success)
}

/// # Errors
/// When the output can't be written.
pub fn man(io: &mut Io<'_>) -> Result<Exit, CliError> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut text)?;
    io.out.write_all(&text)?;
    Ok(Exit::Success)
}

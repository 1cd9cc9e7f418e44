//! `dagdeck doctor`: what is configured, what is missing, and how to fix it.

use super::{CliContext, CliError, Exit, Io, ListArgs, console::settings, context::env};
use crate::{
    console::runtime,
    host::{DoctorCheck, Health, examine},
    text::Plain,
};
use serde_json::json;

/// Checks everything that dagdeck needs or can use. What is merely absent is not an error.
///
/// # Errors
/// When the output can't be written.
pub async fn doctor(args: &ListArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let mut checks = examine(&place.places, place.model.as_deref(), &env).await;
    checks.extend(look(place));
    let broken = checks.iter().any(|check| check.health == Health::Broken);
    let exit = if broken { Exit::Error } else { Exit::Success };
    if args.json {
        io.json(&json!(checks))?;
        return Ok(exit);
    }
    for check in &checks {
        let health = match check.health {
            Health::Fine => "ok",
            Health::Absent => "absent",
            Health::Broken => "BROKEN",
        };
        io.line(&format!("{health:<7} {:<14} {}", check.name, Plain::line(&check.found)))?;
        if let Some(remedy) = &check.remedy {
            io.line(&format!("{:22}  hint: {}", "", Plain::line(remedy)))?;
        }
    }
    Ok(exit)
}

/// What keeps the console from beginning, if the configuration could be read at all.
fn look(place: &CliContext) -> Option<DoctorCheck> {
    let found = runtime::check(&settings(place.config().ok()?.console, place)).err()?.to_string();
    let remedy = Some("correct `[console]` in config.toml; docs/keys.md lists the commands".to_owned());
    Some(DoctorCheck { name: "console", health: Health::Broken, found, remedy })
}

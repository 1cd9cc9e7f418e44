//! `dagdeck run --detach`: has the host run a plan, and leaves it there.

use super::{CliContext, CliError, Exit, Io, host, ls::short};
use crate::host::{
    DetachedRun,
    socket::{HostAnswer, HostPlace, Opening, call_with},
};
use serde_json::json;

/// Whether a run can be left to the host; asked before anything is planned.
pub(super) fn check(place: &CliContext) -> Result<(), CliError> {
    if place.trusts_once() {
        return Err(
            CliError::usage("`--trust` holds for one process, and the host is another one").hint("`dagdeck trust` trusts files for good")
        );
    }
    Ok(())
}

/// Starts the run in the host, which is started where none runs, and prints its id.
///
/// # Errors
/// When the host can't be reached, or refuses the run.
pub(super) async fn start(run: &DetachedRun, as_json: bool, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if let Some(news) = host::reach(place).await?.news {
        io.say(&CliError::from(news).to_string().replacen("error: ", "warning: ", 1));
    }
    let run = match call_with(&HostPlace::of(&place.places).socket, Opening::Start, run).await {
        Ok(HostAnswer::Started(run)) => run,
        Ok(answer) => return Err(host::refused(answer)),
        Err(error) => return Err(host::unreached(&error)),
    };
    if as_json {
        io.json_line(&json!({ "run": run }))?;
        return Ok(Exit::Success);
    }
    io.line(&run.0)?;
    let name = short(&run.0);
    io.say(&format!("run {name} goes on without this terminal"));
    io.say(&format!(
        "hint: `dagdeck attach {name}` opens it, `dagdeck logs -f {name}` follows it, `dagdeck wait {name}` waits for its end"
    ));
    Ok(Exit::Success)
}

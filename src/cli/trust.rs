//! `dagdeck trust`: what the workspace brings for dagdeck itself, what each file would change, and which are trusted; and the hosts that
//! private data of the workspace may be sent to.

use super::{CliContext, CliError, Exit, Io, TrustArgs, permissions::by_user};
use crate::host::{Trust, TrustItem, TrustState};
use crate::text::Plain;
use crate::tools::unknown_secrets;
use serde_json::json;

/// Lists the files that count only if they are trusted, and the allowed hosts; or changes what is trusted.
///
/// # Errors
/// When a file is none of them, or its copy can't be written.
pub fn trust(args: &TrustArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let trust = Trust::of(&place.places.home, &place.places.workspace);
    let items = trust.items();
    let named = |item: &TrustItem, file: &str| file.trim_start_matches("./") == item.path;
    if let Some(unknown) = args.files.iter().find(|file| !items.iter().any(|item| named(item, file))) {
        if !place.places.workspace.join(unknown).exists() {
            return Err(CliError::new(format!("there is no `{unknown}` in this workspace")).hint("`dagdeck trust` lists what is there"));
        }
        return Err(CliError::new(format!("`{unknown}` is not one of the files that need trust")).hint("`dagdeck trust` lists them"));
    }
    let wanted = |item: &&TrustItem| args.all || args.files.iter().any(|file| named(item, file));
    let wanted: Vec<&TrustItem> = items.iter().filter(wanted).filter(|item| item.state != TrustState::Trusted).collect();
    // All or none: a file that can't be trusted leaves no part of the others behind.
    wanted.iter().try_for_each(|item| trust.may_record(item))?;
    let lists = !args.all && args.files.is_empty() && args.host.is_empty() && args.revoke.is_empty();
    if lists {
        return list(&items, &trust.hosts(), args.json, io);
    }
    let store = place.store()?;
    let log = by_user(&store);
    for item in wanted {
        trust.record(item, &log)?;
        io.say(&format!("trusted {}", Plain::line(&item.path)));
    }
    for host in &args.host {
        trust.allow_host(host, &log)?;
        io.say(&format!("private data of this workspace may be sent to {}", Plain::line(host)));
    }
    for name in &args.revoke {
        trust.revoke(name.trim_start_matches("./"), &log)?;
        io.say(&format!("revoked {}", Plain::line(name)));
    }
    Ok(Exit::Success)
}

fn list(items: &[TrustItem], hosts: &[String], as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if as_json {
        let hosts = hosts.iter().map(|host| json!({"host": host, "state": "allowed"}));
        io.json(&items.iter().map(|item| json!(item)).chain(hosts).collect())?;
        return Ok(Exit::Success);
    }
    if items.is_empty() && hosts.is_empty() {
        io.say("this workspace brings nothing that needs trust");
    }
    for item in items {
        io.line(&format!("{:<7}  {}", item.state.word(), Plain::line(&item.path)))?;
        for change in &item.changes {
            io.line(&format!("         {}", Plain::line(change)))?;
        }
    }
    for host in hosts {
        io.line(&format!("allowed  {}\n         private data of this workspace may be sent there", Plain::line(host)))?;
    }
    Ok(Exit::Success)
}

/// Says what is left out of a run, or what `--trust` lets in, and which secrets would not be hidden.
pub(super) fn announce(place: &CliContext, io: &mut Io<'_>) {
    if let Some(problem) = unknown_secrets(&place.places.workspace) {
        io.say(&format!("warning: {}", Plain::line(&problem)));
    }
    let trust = Trust::of(&place.places.home, &place.places.workspace);
    if place.places.settings == place.places.workspace {
        for item in trust.items().iter().filter(|item| item.state != TrustState::Trusted) {
            let begin = if item.is_usable() { "trusted for this run" } else { "warning: not used" };
            io.say(&format!("{begin}: {} ({})", Plain::line(&item.path), Plain::line(&item.changes.join("; "))));
        }
        return;
    }
    let mut left_out = trust.left_out();
    let hint = left_out.last_mut().and_then(|problem| problem.hint.take());
    for problem in left_out {
        io.say(&format!("warning: {}", Plain::line(&problem.message)));
    }
    if let Some(hint) = hint {
        io.say(&format!("hint: {}", Plain::line(&hint)));
    }
}

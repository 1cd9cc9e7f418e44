//! `dagdeck.log` in the state folder gets what went wrong inside: the screen belongs to the console, and stdout to data. `DAGDECK_LOG`
//! sets the level: `off`, `error`, `warn` (the default), `info`, `debug`, `trace`.

use std::{fs::OpenOptions, io, path::Path, sync::Mutex};
use tracing::Subscriber;
use tracing_subscriber::{filter::LevelFilter, filter::Targets, fmt, prelude::*};

/// A longer log starts again from empty.
const MAX_LENGTH: u64 = 1 << 20;

/// Starts the log, once in a process. A log that can't be written is no reason to stop.
pub(super) fn start(home: &Path, level: Option<&str>) {
    if let Ok(log) = log(home, level) {
        drop(log.try_init());
    }
}

fn log(home: &Path, level: Option<&str>) -> io::Result<impl Subscriber + Send + Sync> {
    let level = level.and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::WARN);
    let path = home.join("dagdeck.log");
    let is_long = path.metadata().is_ok_and(|log| log.len() > MAX_LENGTH);
    let mut options = OpenOptions::new();
    options.create(true).write(true).append(!is_long).truncate(is_long);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let lines = fmt::layer().with_writer(Mutex::new(options.open(path)?)).with_ansi(false);
    // Only our own messages: those of other crates may contain headers and keys.
    Ok(tracing_subscriber::registry().with(lines).with(Targets::new().with_target("dagdeck", level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_words_reach_the_file_from_the_level_that_was_asked_for() {
        let home = tempfile::tempdir().unwrap();
        tracing::subscriber::with_default(log(home.path(), Some("info")).unwrap(), || {
            tracing::info!(node = "a", "told");
            tracing::debug!("not told");
            tracing::error!(target: "another_crate", "not told");
        });
        let log = std::fs::read_to_string(home.path().join("dagdeck.log")).unwrap();
        assert!(log.contains("told node=\"a\"") && !log.contains("not told"), "{log}");
    }
}

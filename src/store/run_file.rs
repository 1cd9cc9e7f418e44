//! A run as one portable file: JSON lines, of which the first says what the file is, how many events follow and their checksum.
//! Secrets are taken out on the way. Reading tells file and line of whatever is wrong, and gives all or nothing.

use super::{Secrets, Store};
use crate::engine::{Event, Record, Run, RunId, short_name};
use crate::text::{hex, safe_json};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

/// The version of the format that this program writes.
pub const RUN_FILE_VERSION: u32 = 2;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RunFileHeader {
    /// The version of the format.
    dagdeck_run: u32,
    /// The program that wrote it.
    dagdeck: String,
    /// The version of the journal that the events come from.
    journal: i64,
    run: RunId,
    goal: String,
    /// Events that follow, one a line.
    events: u64,
    /// Secrets that were taken out.
    redacted: u64,
    /// SHA-256 of all that follows, in hex.
    sha256: String,
}

/// A run as it is written into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    pub text: String,
    pub events: u64,
    /// Secrets that were taken out.
    pub redacted: u64,
}

/// A run as it was read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRun {
    pub run: RunId,
    pub records: Vec<Record>,
    /// Secrets that were taken out when it was written.
    pub redacted: u64,
    /// The program that wrote it.
    pub dagdeck: String,
}

/// Why a file is no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: {message}")]
pub struct RunFileError {
    /// The file, as people call it.
    pub name: String,
    pub line: usize,
    pub message: String,
    pub hint: Option<String>,
}

/// Writes a run's events.
///
/// # Errors
/// When an event without its secrets is none any more.
pub fn write_run(records: &[Record], secrets: &Secrets) -> Result<RunFile, serde_json::Error> {
    let (mut body, mut redacted) = (String::new(), 0);
    for record in records {
        let mut value = serde_json::to_value(record)?;
        redacted += secrets.clean(&mut value);
        let line = safe_json(&value.to_string()).into_owned();
        serde_json::from_str::<Record>(&line)?;
        body.push_str(&line);
        body.push('\n');
    }
    let run = Run::replay(records);
    let mut goal = serde_json::Value::from(run.plan().map_or("", |plan| plan.goal.as_str()));
    secrets.clean(&mut goal);
    let header = RunFileHeader {
        dagdeck_run: RUN_FILE_VERSION,
        dagdeck: env!("CARGO_PKG_VERSION").to_owned(),
        journal: Store::version(),
        run: run.id().cloned().unwrap_or_else(|| RunId(String::new())),
        goal: goal.as_str().unwrap_or_default().to_owned(),
        events: records.len() as u64,
        redacted,
        sha256: checksum(&body),
    };
    Ok(RunFile { text: format!("{}\n{body}", safe_json(&serde_json::to_string(&header)?)), events: header.events, redacted })
}

/// Reads a run; `name` is the file, as people call it.
///
/// # Errors
/// When the text is no run file, one of a newer dagdeck, cut off, or changed.
pub fn read_run(text: &str, name: &str) -> Result<ReadRun, RunFileError> {
    let wrong = |line: usize, message: String| RunFileError { name: name.to_owned(), line, message, hint: None };
    let (first, body) = text.split_once('\n').unwrap_or((text, ""));
    let header = header_of(first).map_err(|(message, hint)| RunFileError { hint: Some(hint.to_owned()), ..wrong(1, message) })?;
    let mut records = Vec::new();
    for (at, line) in body.lines().enumerate() {
        let record = serde_json::from_str::<Record>(line).map_err(|error| {
            let last = at + 1 == body.lines().count() && !body.ends_with('\n');
            let message =
                if last { "the file is cut off in the middle of an event".to_owned() } else { format!("this is not an event: {error}") };
            wrong(at + 2, message)
        })?;
        if record.seq != at as u64 + 1 {
            return Err(wrong(at + 2, format!("this is event {}, but event {} should be here", record.seq, at + 1)));
        }
        records.push(record);
    }
    let there = records.len() as u64;
    if there < header.events {
        return Err(wrong(records.len() + 1, format!("the file is cut off: {there} of {} events are there", header.events)));
    }
    if checksum(body) != header.sha256 {
        return Err(wrong(1, "the file was changed after it was written: its checksum differs".to_owned()));
    }
    match records.first().map(|record| &record.event) {
        Some(Event::RunCreated { run, .. }) if *run == header.run => {}
        Some(_) | None => return Err(wrong(2, format!("the first event does not create the run `{}`", header.run.0))),
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let begins = header.run.0.starts_with(|c: char| c.is_ascii_alphanumeric()) && header.run.0 != "last";
    if !begins || header.run.0.len() > 64 || !header.run.0.chars().all(plain) {
        return Err(wrong(1, "the run's id is not a valid id".to_owned()));
    }
    Ok(ReadRun { run: header.run, records, redacted: header.redacted, dagdeck: header.dagdeck })
}

/// Puts a run whose journal can't be written into a new file of this folder that only the user can read.
///
/// # Errors
/// When the folder can't be written either.
pub fn rescue(records: &[Record], folder: &Path) -> std::io::Result<PathBuf> {
    let name = format!("dagdeck-run-{}-", Run::replay(records).id().map_or("", |run| short_name(&run.0)));
    let mut file = tempfile::Builder::new().prefix(&name).suffix(".jsonl").tempfile_in(folder)?;
    file.write_all(write_run(records, &Secrets::of_process())?.text.as_bytes())?;
    Ok(file.keep()?.1)
}

/// What the first line says, or what is wrong with it, and a way out.
fn header_of(line: &str) -> Result<RunFileHeader, (String, &'static str)> {
    const HINT: &str = "`dagdeck export RUN --run-file FILE` writes one";
    if line.trim().is_empty() {
        return Err(("the file is empty".to_owned(), HINT));
    }
    let foreign = || ("this is not a run file".to_owned(), HINT);
    let value = serde_json::from_str::<serde_json::Value>(line).map_err(|_| foreign())?;
    let version = value.get("dagdeck_run").and_then(serde_json::Value::as_u64).ok_or_else(foreign)?;
    if version > u64::from(RUN_FILE_VERSION) {
        let message = format!("this was written by a newer dagdeck (run file {version}, this one knows {RUN_FILE_VERSION})");
        return Err((message, "update dagdeck"));
    }
    serde_json::from_value(value).map_err(|error| (format!("the first line is not the first line of a run file: {error}"), HINT))
}

fn checksum(body: &str) -> String {
    hex(&Sha256::digest(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Actor, Command, Input, RunSettings, Time};
    use crate::plan::Plan;
    use serde_json::json;

    fn records() -> Vec<Record> {
        let plan: Plan = serde_json::from_value(json!({
            "goal": "use sk-abcdefghijklmnop1234", "nodes": [{"id": "a", "value": "password=letmein"}]
        }))
        .unwrap();
        let by = Actor { who: "anna".into(), via: "cli".into() };
        let mut run = Run::default();
        let create =
            Input::Create { run: RunId("r-1".into()), plan: Box::new(plan), settings: Box::new(RunSettings::default()), by: by.clone() };
        run.steps(&[create, Input::Command { command: Command::Start, by }], Time(5)).records
    }

    #[test]
    fn a_run_reads_back_as_it_was_but_for_its_secrets() {
        let records = records();
        let file = write_run(&records, &Secrets::default()).unwrap();
        assert!(!file.text.contains("letmein") && !file.text.contains("sk-abc"), "{}", file.text);
        assert_eq!((file.events, file.redacted), (records.len() as u64, 3));
        let read = read_run(&file.text, "run.jsonl").unwrap();
        assert_eq!((read.run.0.as_str(), read.redacted), ("r-1", 3));
        assert_eq!(read.records.len(), records.len());
        assert_eq!(Run::replay(&read.records).outcome(), Run::replay(&records).outcome());
        assert_eq!(write_run(&read.records, &Secrets::default()).unwrap().redacted, 0);
    }

    #[test]
    fn a_file_that_is_no_run_is_told_with_file_and_line() {
        let whole = write_run(&records(), &Secrets::default()).unwrap().text;
        let error = |text: &str| read_run(text, "f").unwrap_err().to_string();
        assert_eq!(error(""), "f:1: the file is empty");
        assert_eq!(error("{\"nodes\": []}\n"), "f:1: this is not a run file");
        assert_eq!(error("\u{0}\u{1}"), "f:1: this is not a run file");
        assert_eq!(error("{\"dagdeck_run\": 3}"), "f:1: this was written by a newer dagdeck (run file 3, this one knows 2)");
        assert!(error("{\"dagdeck_run\": 2}").starts_with("f:1: the first line is not the first line of a run file"));
        let events = whole.lines().count() - 1;
        let short: String = whole.lines().take(events).map(|line| format!("{line}\n")).collect();
        assert_eq!(error(&short), format!("f:{events}: the file is cut off: {} of {events} events are there", events - 1));
        assert_eq!(error(&whole[..whole.len() - 9]), format!("f:{}: the file is cut off in the middle of an event", events + 1));
        assert!(error(&whole.replacen("\"run_started\"", "\"run_begun\"", 1)).starts_with("f:3: this is not an event: "));
        assert_eq!(
            error(&whole.replacen("\"at\":5", "\"at\":6", 1)),
            "f:1: the file was changed after it was written: its checksum differs"
        );
        assert_eq!(error(&whole.replacen("\"seq\":2", "\"seq\":4", 1)), "f:3: this is event 4, but event 2 should be here");
    }
}

//! `RunDriver`: which process does what the shell asks of a run: this one, or the host that has the run under way.

use super::{
    CliContext, CliError,
    follow::{AtGates, Followed, follow},
    host,
    ls::short,
};
use crate::{
    engine::{Command, Event, Record, Run, RunId, Time},
    host::{
        Flags, Headless, HeadlessEnd, LocalHost, RunOrder, RunWatch,
        socket::{HostAnswer, HostPlace, Opening, call, call_with},
    },
    store::Store,
    text::Plain,
};
use std::path::PathBuf;

/// Who drives a run, with a host of this process, which also shows what gates would do.
pub(super) struct RunDriver {
    pub(super) host: LocalHost,
    other: Option<OtherProcess>,
}

/// A host that has the run under way.
struct OtherProcess {
    socket: PathBuf,
    home: PathBuf,
}

impl RunDriver {
    /// For a dry run a journal that can be read is enough.
    ///
    /// # Errors
    /// When nobody may drive the run whom this process can reach. This comes before any message about what an action would change.
    pub(super) async fn of((run, state): (&RunId, &Run), dry_run: bool, place: &CliContext) -> Result<Self, CliError> {
        let host = if dry_run { place.host_to_look()? } else { place.host()? };
        let Err(problem) = host.may_drive(run, state) else { return Ok(Self { host, other: None }) };
        let socket = HostPlace::of(&place.places).socket;
        match call(&socket, Opening::Status).await {
            Ok(HostAnswer::Status(report)) if report.runs.contains(run) => {
                Ok(Self { host, other: Some(OtherProcess { socket, home: place.places.home.clone() }) })
            }
            Ok(_) | Err(_) => Err(problem.into()),
        }
    }

    pub(super) fn is_other_process(&self) -> bool {
        self.other.is_some()
    }

    /// The run as an action finds it: what is under way stays so only in another process.
    pub(super) fn state(&self, stored: &Run, now: Time) -> Run {
        if self.is_other_process() { stored.clone() } else { stored.without_driver(now) }
    }

    /// Has the other process carry commands out. Returns what is in the journal since, with the run after it.
    ///
    /// # Errors
    /// When it can't be reached, or a command is refused.
    pub(super) async fn order(&self, run: &RunId, commands: Vec<Command>, flags: &Flags) -> Result<(Vec<Record>, Run), CliError> {
        let Some(OtherProcess { socket, home }) = &self.other else { return Err(CliError::new("no other process drives the run")) };
        let order = RunOrder { run: run.clone(), commands, flags: flags.clone() };
        let records = match call_with(socket, Opening::Order, &order).await {
            Ok(HostAnswer::Ordered(records)) => records,
            Ok(answer) => return Err(host::refused(answer)),
            Err(error) => return Err(host::unreached(&error)),
        };
        let refused = records.iter().find_map(|record| {
            let Event::Refused { what, why, by } = &record.event else { return None };
            (by.via == "cli").then(|| format!("refused: {}: {}", Plain::line(what), Plain::line(why)))
        });
        match refused {
            Some(message) => Err(CliError::new(message)),
            None => Ok((records, Run::replay(&Store::open_to_look(home)?.records(run)?))),
        }
    }

    /// Follows the run in the other process until it is over, or waits for people.
    ///
    /// # Errors
    /// When the other process ends before.
    pub(super) async fn follow(&self, run: &RunId, sink: &mut (dyn FnMut(&Record) + Send)) -> Result<Headless, CliError> {
        let Some(OtherProcess { home, .. }) = &self.other else { return Err(CliError::new("no other process drives the run")) };
        let mut watch = RunWatch::open(Store::open_to_look(home)?, home, run.clone())?;
        match follow(&mut watch, AtGates::Ends, sink).await? {
            Followed::Signalled(signal) => {
                Ok(Headless { run: run.clone(), end: HeadlessEnd::Stopped(signal), state: watch.state().clone() })
            }
            Followed::Left if watch.state().outcome().is_none() && !watch.state().is_parked() => {
                let hint = format!("`dagdeck resume {}` resumes the run", short(&run.0));
                Err(CliError::new("the host ended before the run did").hint(hint))
            }
            Followed::Over | Followed::AtGates | Followed::Left => Ok(self.host.verdict(run.clone(), watch.state().clone()).await),
        }
    }
}

//! What a shell has a host in another process do: start a run that goes on without it, and send commands to one that goes on.

use super::{
    client::{Notice, Problem},
    gates::{self, TurnedAway},
    headless::{Flags, VIA},
    local::LocalHost,
    new_run::NewRun,
    session::{Order, RunSession},
};
use crate::engine::{Command, Record, RunId};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// A run to start, with the flags that decide its gates. A gate that none decides waits for a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DetachedRun {
    pub new: NewRun,
    pub flags: Flags,
}

/// Commands to a run that goes on in the host, with flags that decide its gates from then on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunOrder {
    pub run: RunId,
    pub commands: Vec<Command>,
    pub flags: Flags,
}

impl LocalHost {
    /// Starts a run that goes on without whoever asked for it.
    ///
    /// # Errors
    /// When a flag is not a valid pattern, the plan is refused, or the journal can't be written.
    pub(super) async fn start_detached(&self, DetachedRun { new, flags }: DetachedRun) -> Result<RunId, Problem> {
        flags.check()?;
        let (listener, notices) = mpsc::unbounded_channel();
        let session = self.shared().start(new, self.shared().actor(VIA), Some(listener)).await?;
        let run = session.run.clone();
        self.decide_by(&flags, session, notices)?;
        Ok(run)
    }

    /// Sends commands to a run that goes on here; returns what is in the journal since, the commands included.
    ///
    /// # Errors
    /// When it doesn't go on here, a flag is not a valid pattern, or a reply is no longer for what was shown.
    pub(super) async fn order(&self, RunOrder { run, commands, flags }: RunOrder) -> Result<Vec<Record>, Problem> {
        flags.check()?;
        let session = self.shared().session(&run).ok_or_else(|| Problem::new("the run doesn't go on in the host any more"))?;
        let known = self.so_far(&session).await?.last().map_or(0, |record| record.seq);
        for command in &commands {
            gates::check(&self.shared().kit, &session, command).await.map_err(|refused| match refused {
                TurnedAway::Refused(problem) => problem,
                TurnedAway::Changed(..) => Problem::new("nothing was approved: what it would do changed since it was shown"),
            })?;
        }
        let by = self.shared().actor(VIA);
        for command in commands {
            session.command(command, by.clone());
        }
        if flags != Flags::default() {
            let (listener, notices) = mpsc::unbounded_channel();
            session.order(Order::Attach(listener));
            // What was started before is not of these commands.
            self.decide_by(&flags, session.since(known), notices)?;
        }
        // Orders are taken in turns: what comes back the second time is after the turn of the commands, and committed.
        self.so_far(&session).await?;
        let mut records = self.so_far(&session).await?;
        records.retain(|record| record.seq > known);
        Ok(records)
    }

    /// The events of a run that may end meanwhile.
    async fn so_far(&self, session: &RunSession) -> Result<Vec<Record>, Problem> {
        let (listener, mut notices) = mpsc::unbounded_channel();
        if session.order(Order::Attach(listener))
            && let Some(Notice::RunOpened { records, .. }) = notices.recv().await
        {
            return Ok(records);
        }
        session.ended().await;
        Ok(self.shared().store.records(&session.run)?)
    }
}

//! Which agents worked in a workspace, by all runs that the journal has of it.

use super::{Store, StoreError, row::unsigned};
use crate::engine::Time;
use rusqlite::{Row, params};
use std::{collections::BTreeMap, path::Path};

/// The work of an agent at one node.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentUse {
    pub agent: String,
    pub began: Time,
    /// Why the node failed, if it did.
    pub error: Option<String>,
}

/// What a branch copied from the run that it left is counted there.
const USES: &str = "SELECT run, json ->> '$.node_id', json ->> '$.generation', kind, at, json ->> '$.job.agent', json ->> '$.error.message' \
     FROM runs JOIN events ON events.run = runs.id \
     WHERE workspace = ?1 AND kind IN ('node_started', 'node_failed') AND seq > ifnull(parent_seq, 0) \
     ORDER BY created, run, seq";

impl Store {
    /// The work of agents in a workspace, a node's attempts as one, in the order in which it began.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn agent_uses(&self, workspace: &Path) -> Result<Vec<AgentUse>, StoreError> {
        let db = self.lock();
        let read = || -> rusqlite::Result<Vec<AgentUse>> {
            let mut events = db.prepare_cached(USES)?;
            let mut rows = events.query(params![workspace.display().to_string()])?;
            let (mut uses, mut of) = (Vec::<AgentUse>::new(), BTreeMap::<_, usize>::new());
            while let Some(row) = rows.next()? {
                let node: (String, Option<String>, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(2)?);
                if row.get::<_, String>(3)? == "node_failed" {
                    if let Some(at) = of.get(&node) {
                        uses[*at].error = row.get(6)?;
                    }
                } else if let Some(agent) = row.get::<_, Option<String>>(5)?
                    && !of.contains_key(&node)
                {
                    of.insert(node, uses.len());
                    uses.push(AgentUse { agent, began: at(row)?, error: None });
                }
            }
            Ok(uses)
        };
        read().map_err(|error| self.wrap(&error))
    }
}

fn at(row: &Row<'_>) -> rusqlite::Result<Time> {
    Ok(Time(unsigned(row.get(4)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Actor, AgentJob, Event, Job, NodeError, NodeFact, Record, RunId, RunSettings};
    use crate::plan::{NodeId, Plan};
    use crate::store::{Durability, Journal as _};
    use serde_json::json;

    fn by() -> Actor {
        Actor { who: "ann".into(), via: "cli".into() }
    }

    fn created(workspace: &str) -> Event {
        let settings = RunSettings { host: json!({ "workspace": workspace }), ..RunSettings::default() };
        Event::RunCreated { run: RunId("r".into()), plan: Box::new(Plan::default()), settings: Box::new(settings), by: by() }
    }

    async fn append(store: &Store, run: &str, events: Vec<Event>) {
        let record = |(event, seq)| Record { seq, at: Time(1000 + seq), more: false, event };
        let records: Vec<Record> = events.into_iter().zip(1..).map(record).collect();
        store.append(&RunId(run.into()), &records, Durability::Process).await.unwrap();
    }

    #[tokio::test]
    async fn the_work_of_agents_is_counted_over_all_runs_of_a_workspace_and_once_where_a_branch_copied_it() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).unwrap();
        let fact = |node: &str, fact| Event::Node { node_id: NodeId::new(node), generation: 1, fact };
        let started = |agent: &str, attempt| {
            let job = Job::Agent(AgentJob { agent: Some(agent.into()), ..AgentJob::default() });
            fact(agent, NodeFact::Started { attempt, job: Box::new(job), private: false })
        };
        let failed = |node: &str| fact(node, NodeFact::Failed { error: NodeError::permanent("no tape"), safe: false, result: None });
        let code = fact("code", NodeFact::Started { attempt: 1, job: Box::new(Job::Inline { work: "merge".into() }), private: false });
        let worked = vec![created("/w"), started("writer", 1), started("writer", 2), code, failed("code"), failed("writer")];
        append(&store, "one", worked.clone()).await;
        let branched = Event::Branched { from: RunId("one".into()), from_seq: 6, by: by() };
        append(&store, "two", worked.into_iter().chain([branched, started("reader", 1)]).collect()).await;
        append(&store, "three", vec![created("/elsewhere"), started("writer", 1)]).await;
        let uses = store.agent_uses(Path::new("/w")).unwrap();
        let found: Vec<_> = uses.iter().map(|found| (found.agent.as_str(), found.began.0, found.error.as_deref())).collect();
        assert_eq!(found, [("writer", 1002, Some("no tape")), ("reader", 1008, None)]);
    }
}

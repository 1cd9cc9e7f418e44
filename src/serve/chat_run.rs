//! `ChatRun`: one chat on its way from a request to the output of a run. It plans, starts, follows and, where the client has left, cancels;
//! what the client is to hear goes out as `ChatPart`s. It replies to no gate.

use super::{
    chat_request::{AGENT, ChatWish, PLANNER},
    http_error::HttpError,
};
use crate::engine::{Action, ActionTarget, Command, Event, NodeFact, NodeState, Outcome, Record, Run, RunId, TokenUsage};
use crate::host::client::{Connection, Driver, MadePlan, ModelStatus, Notice, PlanWish, PlanningId, Problem, Request};
use crate::plan::{Approve, Catalog, NodeId, NodeKind, Plan, dialect, that_need_model};
use crate::planner::builtin::OpenRequest;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use tokio::sync::mpsc;

/// What a client hears of its chat.
#[derive(Debug)]
pub(super) enum ChatPart {
    /// Text of the answer.
    Text(String),
    /// What goes on, for `orchestration`.
    Progress(Value),
    Refused(HttpError),
    /// The last part. A run that waits for a person ends a chat that isn't streamed.
    Ended {
        progress: Value,
        usage: TokenUsage,
    },
}

pub(super) struct ChatRun {
    wish: ChatWish,
    connection: Connection,
    parts: mpsc::Sender<ChatPart>,
    run: Run,
    /// Once it was asked to start.
    is_started: bool,
    id: Option<RunId>,
    /// The node whose text is the answer, as it comes.
    speaks: Option<NodeId>,
    streamed: String,
    /// The last state of each node that the client knows.
    known: HashMap<NodeId, NodeState>,
}

/// How following a run ends early.
enum Cut {
    Refused(HttpError),
    ClientLeft,
}

impl From<HttpError> for Cut {
    fn from(error: HttpError) -> Self {
        Self::Refused(error)
    }
}

impl ChatRun {
    pub(super) fn new(wish: ChatWish, connection: Connection, parts: mpsc::Sender<ChatPart>) -> Self {
        let (run, streamed, known) = (Run::default(), String::new(), HashMap::new());
        Self { wish, connection, parts, run, is_started: false, id: None, speaks: None, streamed, known }
    }

    /// Goes on until the run is over, or the client has left and the run is cancelled.
    pub(super) async fn work(mut self) {
        let parts = self.parts.clone();
        let ended = tokio::select! {
            ended = self.go() => ended,
            () = parts.closed() => Err(Cut::ClientLeft),
        };
        match ended {
            Ok(()) => {}
            // A client that has left needs no error.
            Err(Cut::Refused(error)) => drop(parts.send(ChatPart::Refused(error)).await),
            Err(Cut::ClientLeft) if self.is_started && !self.wish.options.detach => self.cancel().await,
            Err(Cut::ClientLeft) => {}
        }
    }

    async fn go(&mut self) -> Result<(), Cut> {
        let (catalog, model) = self.greeting().await?;
        let (plan, planning) = self.plan(&catalog, &model).await?;
        check_model(&plan, &catalog, &model)?;
        let start = Request::Start { plan: Box::new(plan), inputs: Map::new(), first: Vec::new(), model: None, planning };
        self.ask(start)?;
        self.is_started = true;
        loop {
            match self.notice().await? {
                Notice::RunOpened { run, records, driver: Driver::Here } => {
                    self.id = Some(run);
                    self.take(&records).await?;
                }
                Notice::Events { run, records } if self.id.as_ref() == Some(&run) => self.take(&records).await?,
                Notice::Problem(problem) if self.id.is_none() => return Err(HttpError::refused("plan_refused", &problem).into()),
                Notice::Frozen { problem, .. } => return Err(HttpError::refused("journal_failed", &problem).into()),
                _ => {}
            }
            if self.run.outcome().is_some() || (!self.wish.streams && self.run.is_parked()) {
                return self.end().await;
            }
        }
    }

    fn ask(&self, request: Request) -> Result<(), Cut> {
        self.connection.requests.send(request).map_err(|_| HttpError::host_is_gone().into())
    }

    async fn notice(&mut self) -> Result<Notice, Cut> {
        self.connection.notices.recv().await.ok_or_else(|| HttpError::host_is_gone().into())
    }

    async fn tell(&self, part: ChatPart) -> Result<(), Cut> {
        self.parts.send(part).await.map_err(|_| Cut::ClientLeft)
    }

    async fn greeting(&mut self) -> Result<(Catalog, ModelStatus), Cut> {
        let mut model = None;
        loop {
            match (self.notice().await?, &model) {
                (Notice::Hello(hello), _) => model = Some(hello.model),
                (Notice::Catalog { catalog, .. }, Some(model)) => return Ok((*catalog, model.clone())),
                _ => {}
            }
        }
    }

    async fn plan(&mut self, catalog: &Catalog, model: &ModelStatus) -> Result<(Plan, Vec<crate::engine::ModelCall>), Cut> {
        let earlier = &self.wish.earlier;
        let with_earlier = if earlier.is_empty() {
            self.wish.request.clone()
        } else {
            format!("{}\n\nThe conversation so far, as context:\n{earlier}", self.wish.request)
        };
        if let Some(agent) = self.wish.model.strip_prefix(AGENT) {
            let is_known = catalog.agents.iter().any(|known| known.name == agent);
            return if is_known { Ok((one_agent(agent, &self.wish.request, &with_earlier)?, Vec::new())) } else { Err(self.no_model()) };
        }
        if self.wish.model != PLANNER {
            return Err(self.no_model());
        }
        let reads_all = matches!(model, ModelStatus::Connected { .. });
        if !earlier.is_empty() && !reads_all {
            let remark = "the earlier messages were not read: without a model, a request is planned by its own words alone";
            self.tell(ChatPart::Progress(json!({"remark": remark}))).await?;
        }
        let text = if reads_all { with_earlier } else { self.wish.request.clone() };
        self.ask(Request::Plan { id: PlanningId(1), wish: PlanWish::new(text) })?;
        let made = self.made().await?;
        let open = OpenRequest::of(&made.plan);
        if !open.is_empty() {
            let problem =
                Problem::new(format!("nothing was run: {}", open.messages().join("\n"))).hint("say it in other words, or set up a model");
            return Err(HttpError::refused("request_not_understood", &problem).into());
        }
        Ok((made.plan, made.calls))
    }

    fn no_model(&self) -> Cut {
        HttpError::new(404, "model_not_found", format!("there is no model `{}`; /v1/models lists them", self.wish.model)).into()
    }

    async fn made(&mut self) -> Result<Box<MadePlan>, Cut> {
        loop {
            match self.notice().await? {
                Notice::PlanReady { made, .. } => return Ok(made),
                Notice::PlanProgress { text, .. } => self.tell(ChatPart::Progress(json!({"status": "planning", "remark": text}))).await?,
                Notice::PlanFailed { problem, .. } | Notice::Problem(problem) => {
                    return Err(HttpError::refused("planning_failed", &problem).into());
                }
                _ => {}
            }
        }
    }

    async fn take(&mut self, records: &[Record]) -> Result<(), Cut> {
        for record in records {
            self.run.evolve(record);
            if let Event::RunCreated { .. } = &record.event {
                self.speaks = speaker(&self.run);
                self.progress(json!({"status": "running"})).await?;
            }
            if let Event::Node { node_id, fact: NodeFact::Output { text }, .. } = &record.event {
                self.text(node_id, text).await?;
            }
            if let Event::ApprovalRequired { gate } = &record.event {
                let asks = gate.asks();
                self.progress(json!({"node_id": gate.node, "status": "waiting", "gate": gate, "asks": asks})).await?;
            }
            if let Some(node) = record.event.node() {
                self.node(node).await?;
            }
        }
        Ok(())
    }

    /// A node is in another state than the client knows.
    async fn node(&mut self, id: &NodeId) -> Result<(), Cut> {
        let Some(state) = self.run.node(id).map(|node| node.state) else { return Ok(()) };
        if self.known.insert(id.clone(), state) == Some(state) {
            return Ok(());
        }
        let agent = self.run.plan().and_then(|plan| agent_of(plan, id));
        self.progress(json!({"node_id": id, "agent": agent, "status": state.word()})).await
    }

    async fn text(&mut self, node: &NodeId, text: &str) -> Result<(), Cut> {
        if self.speaks.as_ref() == Some(node) {
            self.streamed.push_str(text);
            return self.tell(ChatPart::Text(text.to_owned())).await;
        }
        if self.wish.options.all_text {
            return self.progress(json!({"node_id": node, "text": text})).await;
        }
        Ok(())
    }

    /// With the session that the run's own routes name.
    async fn progress(&self, mut progress: Value) -> Result<(), Cut> {
        progress["session_id"] = json!(self.id);
        self.tell(ChatPart::Progress(progress)).await
    }

    async fn end(&mut self) -> Result<(), Cut> {
        let reason = self.run.outcome().map(|(outcome, reason)| (outcome, reason.message()));
        if let Some((outcome @ (Outcome::Failed | Outcome::Cancelled), why)) = &reason {
            let code = if *outcome == Outcome::Failed { "run_failed" } else { "run_cancelled" };
            let session = self.id.as_ref().map_or("", |id| id.0.as_str());
            return Err(HttpError::refused(code, &Problem::new(format!("run {session} {}: {why}", outcome.word()))).into());
        }
        let rest = if reason.is_some() { rest(&self.streamed, &output(&self.run)) } else { self.waits() };
        if !rest.is_empty() {
            self.tell(ChatPart::Text(rest)).await?;
        }
        let gates: Vec<_> = self.run.open_gates().collect();
        let mut progress = json!({"session_id": self.id, "status": self.run.status(), "gates": gates});
        progress["reason"] = json!(reason.map(|(_, why)| why));
        progress["ignored"] = json!(self.wish.ignored);
        let mut usage = TokenUsage::default();
        self.run.nodes().for_each(|(_, node)| usage.add(node.spent().tokens));
        self.run.settings().into_iter().for_each(|settings| usage.add(settings.planning_spent().tokens));
        self.tell(ChatPart::Ended { progress, usage }).await
    }

    /// What a run that waits has to say to people.
    fn waits(&self) -> String {
        let session = self.id.as_ref().map_or("", |id| id.0.as_str());
        let asks = self.run.open_gates().map(|gate| format!("\n- {}: {}", gate.node, gate.asks())).collect::<String>();
        format!("The run waits for a person.{asks}\nReply at /v1/orchestration/{session}/respond.")
    }

    /// The client has left: its run is cancelled, and followed until it is over.
    async fn cancel(&mut self) {
        let mut asked = false;
        loop {
            if let Some(run) = self.id.clone().filter(|_| !asked) {
                asked = true;
                let action = Box::new(Action::Cancel { target: ActionTarget::Run });
                let command = Command::Act { action, why: "the client left".to_owned() };
                if self.ask(Request::Command { run, command }).is_err() {
                    return;
                }
            }
            match self.notice().await {
                Ok(Notice::RunOpened { run, records, driver: Driver::Here }) => {
                    self.id = Some(run);
                    records.iter().for_each(|record| self.run.evolve(record));
                }
                Ok(Notice::Events { run, records }) if self.id.as_ref() == Some(&run) => {
                    records.iter().for_each(|record| self.run.evolve(record));
                }
                // It was not started, or can't be cancelled any more.
                Ok(Notice::Problem(_) | Notice::Frozen { .. } | Notice::RunGone(_)) | Err(_) => return,
                Ok(_) => {}
            }
            if self.run.outcome().is_some() {
                return;
            }
        }
    }
}

/// Refuses a plan that needs a model which nobody can ask.
fn check_model(plan: &Plan, catalog: &Catalog, model: &ModelStatus) -> Result<(), HttpError> {
    let nodes = that_need_model(plan, catalog);
    let Some(first) = nodes.first() else { return Ok(()) };
    let (why, how) = match model {
        ModelStatus::Connected { .. } | ModelStatus::Operator | ModelStatus::Rehearsal => return Ok(()),
        ModelStatus::Broken { why, how } => (why.as_str(), how),
        ModelStatus::Absent { how } => ("no model is set up, so nothing ran", how),
    };
    Err(HttpError::refused("model_required", &Problem::new(format!("node `{first}` needs a model: {why}")).hint(how)))
}

/// A plan of one agent. The messages are an input, so that nothing in it reads as a reference.
fn one_agent(agent: &str, goal: &str, request: &str) -> Result<Plan, HttpError> {
    let node = json!({"id": "answer", "agent": agent, "objective": "{{inputs.request}}"});
    let plan = json!({"dagdeck": 1, "goal": goal, "inputs": {"request": request}, "nodes": [node]});
    dialect::read(&plan.to_string(), "the request").map(|(plan, _)| plan).map_err(|error| HttpError::wrong(error.to_string()))
}

fn agent_of<'p>(plan: &'p Plan, id: &NodeId) -> Option<&'p str> {
    match &plan.nodes.iter().find(|node| node.id == *id)?.kind {
        NodeKind::Agent(work) => work.agent.as_deref(),
        _ => None,
    }
}

/// The node whose text is the answer as it comes: the only final one, an agent whose result nobody reviews first.
fn speaker(run: &Run) -> Option<NodeId> {
    let plan = run.plan()?;
    let mut finals = plan.nodes.iter().filter(|node| run.is_final(&node.id));
    let (Some(only), None) = (finals.next(), finals.next()) else { return None };
    let agent = agent_of(plan, &only.id)?;
    let card = run.settings()?.catalog.agents.iter().find(|card| card.name == agent)?.approve;
    let mut gates = [only.policy.approve, plan.defaults.approve, card].into_iter().flatten();
    let is_reviewed = gates.any(|approve| matches!(approve, Approve::After | Approve::Both));
    (!is_reviewed).then(|| only.id.clone())
}

/// The results of the final nodes; several with their names.
fn output(run: &Run) -> String {
    let results = run.nodes().filter(|(id, _)| run.is_final(id)).filter_map(|(id, node)| Some((id, node.result_text()?)));
    let results: Vec<_> = results.collect();
    match &results[..] {
        [(_, only)] => only.clone(),
        several => several.iter().map(|(id, text)| format!("## {id}\n\n{text}")).collect::<Vec<_>>().join("\n\n"),
    }
}

/// What of the output was not streamed. A text that turned out otherwise is followed by the output.
fn rest(streamed: &str, output: &str) -> String {
    match output.strip_prefix(streamed) {
        Some(rest) => rest.to_owned(),
        None if streamed.trim_end().ends_with(output.trim()) => String::new(),
        None => format!("\n\n{output}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_output_only_what_was_not_said_yet_follows() {
        assert_eq!(rest("", "all of it"), "all of it");
        assert_eq!(rest("all of", "all of it"), " it");
        assert_eq!(rest("I look it up.\nall of it\n", "all of it"), "", "what came before a call was streamed too");
        assert_eq!(rest("a first try", "all of it"), "\n\nall of it");
    }
}

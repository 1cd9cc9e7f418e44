//! What follows from the state alone: the agenda, slots given back, starts, and the end of the run. One step at a time.

use super::end::plan_error;
use crate::engine::gate::PLAN_ASKS;
use crate::engine::run::{Decider, Starts};
use crate::engine::{
    BadEnd, Cause, ErrorKind, Event, GateKind, LostChoice, Mark, NodeError, NodeFact, NodeState, Outcome, SkippedBy, StateGroup, Time,
    ends::PlanEnd,
    flow::Phase,
    graph::{NodeIx, tool_of, verdict},
    inner_run::{InnerRunIx, MOST_NODES},
    state::EndKind,
};
use crate::plan::{Approve, Dialect, Node, NodeKind, Verdict};
use serde_json::{Value, json};

impl Decider<'_> {
    /// The next step that the state calls for; none when nothing follows.
    pub(in crate::engine) fn follow(&self, now: Time, starts: Starts) -> Vec<Event> {
        let begun = self.progress.started || self.progress.cancelled_by.is_some();
        if !begun || self.progress.outcome.is_some() {
            return Vec::new();
        }
        if let Some(&ix) = self.agenda.first() {
            return self.follow_node(ix, now);
        }
        if starts == Starts::Now
            && self.queue.has_slot()
            && let Some(&(_, ix)) = self.queue.resuming.first()
        {
            return self.deliver_answers(ix, now);
        }
        if starts == Starts::Now {
            let deferred = self.follow_deferred(now);
            if !deferred.is_empty() {
                return deferred;
            }
        }
        if starts == Starts::Now
            && let Some(ix) = self.next_start()
        {
            return self.follow_queue(ix);
        }
        let over = self.replan().is_none() && self.inner_runs.first().is_none_or(|inner| inner.unfinished == 0);
        if over { vec![self.settle()] } else { Vec::new() }
    }

    fn follow_node(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        crate::engine::touch();
        match self.flows[ix].phase {
            Phase::Joined { go: true } => self.follow_join(ix),
            Phase::Joined { go: false } => self.skip(ix, SkippedBy::Plan, self.dead_reason(ix)),
            Phase::Asking => match self.payload(ix) {
                Ok(payload) => vec![self.gate_event(ix, GateKind::Approval, payload, self.before_reason(ix), now)],
                Err(message) => self.fail(ix, plan_error(message), None),
            },
            Phase::Answered(gate) => self.follow_answer(ix, gate, now),
            Phase::Stuck => self.follow_stuck(ix, now),
            Phase::Lost => vec![self.lost_question(ix, now)],
            Phase::Working => self.deliver_answers(ix, now),
            Phase::Inline => self.follow_inline(ix, now),
            Phase::Bodies => self.follow_bodies(ix, now),
            Phase::Freed => self.follow_freed(ix, now),
            Phase::Inputs
            | Phase::Inside
            | Phase::Replanning
            | Phase::AtGate(_)
            | Phase::Queued
            | Phase::Locked(_)
            | Phase::Resting
            | Phase::Held
            | Phase::Ended => Vec::new(),
        }
    }

    /// Asks what became of a node, with the call that was under way when its process ended, or with all that it was to do.
    fn lost_question(&self, ix: NodeIx, now: Time) -> Event {
        let calls = self.nodes[ix].lineage.tools.iter().filter(|(_, report)| report.is_none()).map(|(call, _)| call);
        // One that was under way in several attempts is one question.
        let mut calls: Vec<Value> = calls.map(|call| json!({"tool": call.tool, "arguments": call.args})).collect();
        calls.dedup();
        let tools: Vec<String> = calls.iter().filter_map(|call| Some(format!("`{}`", call["tool"].as_str()?))).collect();
        let id = self.id_of(ix);
        let text = match tools.len() {
            0 => format!("`{id}` may have had its effect. Choose: {}", LostChoice::labels(" / ")),
            _ => format!("The call of {} in `{id}` may have had its effect. Choose: {}", tools.join(" and "), LostChoice::labels(" / ")),
        };
        let payload = match calls.len() {
            0 => self.payload(ix).unwrap_or_default(),
            1 => calls.into_iter().next().unwrap_or_default(),
            _ => Value::Array(calls),
        };
        self.gate_event(ix, GateKind::UnknownEffect { text }, payload, self.nodes[ix].reason.message(), now)
    }

    /// Guards of a node whose inputs are there.
    fn follow_join(&self, ix: NodeIx) -> Vec<Event> {
        let Some(node) = self.doc(ix) else { return Vec::new() };
        let policy = self.policy(ix);
        if let Some(when) = policy.and_then(|policy| policy.get(|policy| policy.when.as_ref())) {
            match self.holds(when, ix, None) {
                Ok(true) => {}
                Ok(false) => return self.skip(ix, SkippedBy::Plan, Cause::Condition { when: when.clone() }),
                Err(message) => return self.fail(ix, plan_error(message), None),
            }
        }
        let is_entry = self.inner_of(ix).is_some_and(|inner| inner.plan.dialect == Dialect::Workflow && inner.entry() == Some(ix));
        if let Some(skip_if) = policy.and_then(|policy| policy.get(|policy| policy.skip_if.as_ref())).filter(|_| !is_entry) {
            match self.holds(skip_if, ix, None) {
                Ok(true) if self.reads_rehearsed(ix, skip_if) => {}
                Ok(true) => return self.pass(ix, Cause::SkipIf { condition: skip_if.clone() }),
                Ok(false) => {}
                Err(message) => return self.fail(ix, plan_error(message), None),
            }
        }
        match self.denied(node) {
            Some(error) => self.fail(ix, error, None),
            None => vec![self.break_before(ix).unwrap_or_else(|| self.ready_event(ix))],
        }
    }

    fn denied(&self, node: &Node) -> Option<NodeError> {
        let tool = tool_of(node)?;
        match verdict(&self.settings()?.catalog, tool) {
            Verdict::Deny => {
                let error = NodeError::new(ErrorKind::Rejected, format!("`{tool}` is denied by the permission rules"));
                Some(error.hint("allow it in the configuration, or take another tool"))
            }
            Verdict::Allow | Verdict::Ask => None,
        }
    }

    /// Why its join can't be satisfied, by the source that closed it.
    pub(super) fn dead_reason(&self, ix: NodeIx) -> Cause {
        let Some(edge) = self.closed_by(ix) else {
            return self.inner_of(ix).and_then(|inner| inner.entry()).map_or(Cause::None, |entry| Cause::Walk { entry: self.id_of(entry) });
        };
        let source = self.graph.link(edge).from;
        let node = self.id_of(source);
        let state = &self.nodes[source].state;
        match state.end() {
            EndKind::Gives | EndKind::HandsOn => {
                let (took, needs) = self.other_way(edge);
                Cause::OtherWay { node, took, needs, rehearsed: *state == NodeState::Rehearsed }
            }
            EndKind::Closes => Cause::Source { node, state: *state },
            EndKind::Open => Cause::DeadEdge { node },
        }
    }

    pub(super) fn before_reason(&self, ix: NodeIx) -> String {
        let asked = self.policy(ix).and_then(|policy| policy.get(|policy| policy.approve));
        let tool = self.doc(ix).and_then(tool_of);
        // A gate shows the real tool, whatever the plan calls it.
        let own = tool.map(|tool| self.tool_name(tool));
        let alias = tool.zip(own).filter(|(tool, own)| tool != own);
        match (asked, own) {
            (Some(Approve::Before | Approve::Both), _) => {
                let alias = alias.map(|(tool, own)| format!("; `{tool}` is another name of the tool `{own}`")).unwrap_or_default();
                format!("{PLAN_ASKS} before this node starts{alias}")
            }
            (Some(Approve::Never | Approve::After) | None, Some(own)) => {
                let alias = alias.map(|(tool, _)| format!(", which the plan calls `{tool}`,")).unwrap_or_default();
                format!("`{own}`{alias} asks before it runs")
            }
            (Some(Approve::Never | Approve::After) | None, None) => "its card asks before it starts".to_string(),
        }
    }

    /// The best node in line: it starts, or waits for a lock.
    fn follow_queue(&self, ix: NodeIx) -> Vec<Event> {
        crate::engine::touch();
        // One that was set since the node waited in line.
        if let Some(hit) = self.break_before(ix) {
            return vec![hit];
        }
        self.start(ix)
    }

    /// The start of a node that has a slot, unless it waits for a lock.
    pub(super) fn start(&self, ix: NodeIx) -> Vec<Event> {
        if let Some((lock, holder)) = self.queue.taken(&self.graph.nodes[ix].locks) {
            let reason = Cause::Lock { lock: self.graph.locks[lock as usize].clone(), holder: self.id_of(holder) };
            return vec![self.fact(ix, NodeFact::Held { reason })];
        }
        if self.nodes_inside() >= MOST_NODES && self.doc(ix).is_some_and(|node| node.kind.is_composite()) {
            return self.fail(ix, self.too_many(0), None);
        }
        let job = match self.job(ix) {
            Ok(job) => job,
            Err(message) => return self.fail(ix, plan_error(message), None),
        };
        let attempt = self.nodes[ix].attempt + 1;
        let stage = (attempt == 1 && self.is_stage(ix)).then(|| Event::StageStarted { node_id: self.id_of(ix) });
        let fact = NodeFact::Started { attempt, job: Box::new(job), private: self.is_reached(ix) };
        [self.fact(ix, fact)].into_iter().chain(stage).collect()
    }

    /// Work that the engine does itself.
    fn follow_inline(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        let Some(node) = self.doc(ix) else { return Vec::new() };
        let rehearsed = self.nodes[ix].lineage.rehearsed;
        let value = match self.approved_payload(ix) {
            Some(payload) => Ok(payload.clone()),
            None if rehearsed => self.rehearsed_value(ix, node),
            None => self.value(ix, node),
        };
        let value = match value {
            Ok(value) => value,
            Err(message) => return self.fail(ix, plan_error(message), None),
        };
        let (NodeKind::Approval(ask), false) = (&node.kind, rehearsed) else { return self.finish(ix, value, None, now) };
        let text = value.as_str().unwrap_or(&ask.text).to_string();
        let shown = self.deps(ix).into_iter().map(|dep| (dep.node.to_string(), (*dep.result).clone()));
        let payload = serde_json::Value::Object(shown.collect());
        let kind = GateKind::Question {
            text: text.clone(),
            options: ask.options.clone(),
            fields: ask.fields.clone(),
            call: None,
            within: None,
            cap: None,
        };
        vec![self.gate_event(ix, kind, payload, text, now)]
    }

    /// How the run ended: by its final nodes, and by what went wrong.
    fn settle(&self) -> Event {
        let end = self.plan_end(InnerRunIx(0));
        let why = self.went_wrong(&end);
        let (outcome, reason) = match (&self.progress.cancelled_by, &self.progress.stopped_by) {
            (Some(by), _) => (Outcome::Cancelled, Cause::Cancelled { by: by.who.clone(), why: self.progress.cancelled_why.clone() }),
            (None, Some(by)) if end.failed > 0 => (Outcome::Cancelled, Cause::RunStopped { by: by.clone() }),
            (None, _) if end.has_failed() => (Outcome::Failed, Cause::NoEnd { why: Box::new(why) }),
            (None, _) if end.is_partial() => (Outcome::Partial, why),
            (None, _) if end.rehearsed > 0 => (Outcome::Rehearsed, Cause::Rehearsed),
            (None, _) if end.had_nothing_due() => (Outcome::Succeeded, Cause::NothingDue),
            (None, Some(by)) => (Outcome::Succeeded, Cause::RunStopped { by: by.clone() }),
            (None, None) => {
                let mut early = self.own_nodes().filter(|(_, node)| node.mark.as_ref().is_some_and(Mark::is_early));
                let first = early.next().map(|(id, node)| (id.clone(), node.mark.clone()));
                let more = early.count() as u64;
                (Outcome::Succeeded, first.map_or(Cause::Done, |(node, mark)| Cause::EndedEarly { node, mark, more }))
            }
        };
        Event::RunEnded { outcome, reason }
    }

    /// What kept a plan from ending well.
    pub(super) fn went_wrong(&self, end: &PlanEnd) -> Cause {
        match (end.failed, end.stopped_at, end.unmet) {
            (0, Some(stage), _) => Cause::WalkStopped { node: self.id_of(stage) },
            (0, None, Some(node)) => Cause::Unmet { node: self.id_of(node) },
            (0, None, None) => Cause::Forgone,
            (nodes, _, _) => Cause::Bad {
                nodes,
                named: end.bad.iter().map(|&ix| self.id_of(ix)).collect(),
                ends: end.bad.iter().map(|&ix| self.bad_end(ix)).collect(),
            },
        }
    }

    fn bad_end(&self, ix: NodeIx) -> BadEnd {
        let node = &self.nodes[ix];
        match (node.state.group(), &node.reason) {
            (StateGroup::Done, _) => BadEnd::InPart,
            (_, Cause::Rejected { by, .. }) => BadEnd::Rejected { by: by.clone() },
            (StateGroup::Failed, _) if node.state == NodeState::FailedSafe => BadEnd::FailedSafe,
            (StateGroup::Failed, _) => BadEnd::Failed,
            _ => BadEnd::Cancelled,
        }
    }
}

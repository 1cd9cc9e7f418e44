//! Breakpoints: which one keeps a node at a moment, and why. Conditions are judged here and nowhere else; what they say goes into an event.

use crate::engine::run::Decider;
use crate::engine::{
    BreakId, Cause, Event, HeldAt, Job, Mark, NodeError, NodeFact,
    graph::{NodeIx, tool_of},
};
use crate::plan::{Breakpoint, Facts, Holds, Moment};
use serde_json::Value;

/// What waits at a breakpoint, as far as conditions read it.
#[derive(Clone, Debug, Default)]
pub(super) struct BreakpointFacts {
    pub tool: Option<String>,
    pub args: Option<Value>,
    pub model: Option<String>,
    pub output: Option<Value>,
    pub error: Option<String>,
}

/// The breakpoint that keeps something.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    /// Absent: the plan's own.
    pub point: Option<BreakId>,
    pub reason: Cause,
}

impl Decider<'_> {
    /// Keeps a node before its start, unless it has met a breakpoint there already.
    pub(super) fn break_before(&self, ix: NodeIx) -> Option<Event> {
        self.break_at(ix, Moment::Before, HeldAt::Start, || match self.job(ix) {
            Ok(Job::Agent(job)) => BreakpointFacts { model: job.model, ..BreakpointFacts::default() },
            Ok(Job::Tool { tool, args }) => BreakpointFacts { tool: Some(tool), args: Some(args), ..BreakpointFacts::default() },
            // References that lead nowhere fail the node when it starts.
            Ok(Job::Code { .. } | Job::Inline { .. } | Job::Inside { .. }) | Err(_) => BreakpointFacts::default(),
        })
    }

    /// Keeps a result from being used.
    pub(super) fn break_after(&self, ix: NodeIx, result: &Value, mark: Option<&Mark>) -> Option<Event> {
        let kept = HeldAt::Result { result: result.clone(), mark: mark.cloned() };
        self.break_at(ix, Moment::After, kept, || BreakpointFacts { output: Some(result.clone()), ..self.seen_so_far(ix) })
    }

    /// Keeps a failure from being used.
    pub(super) fn break_on_failure(&self, ix: NodeIx, error: &NodeError, result: Option<&Value>) -> Option<Event> {
        let kept = HeldAt::Failure { error: error.clone(), result: result.cloned() };
        self.break_at(ix, Moment::Failure, kept, || BreakpointFacts {
            output: result.cloned(),
            error: Some(error.message.clone()),
            ..self.seen_so_far(ix)
        })
    }

    fn break_at(&self, ix: NodeIx, at: Moment, kept: HeldAt, seen: impl Fn() -> BreakpointFacts) -> Option<Event> {
        if self.flows[ix].halt.met.contains(&at) {
            return None;
        }
        let Hit { point, reason } = self.hit(ix, at, seen)?;
        Some(self.fact(ix, NodeFact::BreakHit { point, moment: at, kept: Box::new(kept), reason }))
    }

    /// The first breakpoint that means a node at a moment and whose condition holds: the plan's own, then people's in their order.
    pub(super) fn hit(&self, ix: NodeIx, at: Moment, seen: impl Fn() -> BreakpointFacts) -> Option<Hit> {
        crate::engine::touch();
        let own = self.plan_breakpoint(ix);
        if own.is_none() && self.steer.points.is_empty() {
            return None;
        }
        let id = self.id_of(ix);
        let judge = |number: Option<BreakId>, point: &Breakpoint| {
            if point.disabled || point.at != at || !point.means(&id) {
                return None;
            }
            let is_made_up = || self.nodes[ix].lineage.rehearsed || at == Moment::Before && self.rehearses(ix);
            if point.reads_data() && is_made_up() {
                return None;
            }
            let unjudged = match point.holds(|| self.facts(ix, at, seen())) {
                Holds::Yes => None,
                Holds::No => return None,
                Holds::Unjudged(why) => Some(why),
            };
            Some(Hit { point: number, reason: Cause::Breakpoint { point: number, label: point.label(), unjudged } })
        };
        own.and_then(|point| judge(None, &point)).or_else(|| self.breakpoints().find_map(|(number, point)| judge(Some(number), point)))
    }

    fn facts(&self, ix: NodeIx, at: Moment, seen: BreakpointFacts) -> Facts {
        let node = &self.nodes[ix];
        let first_use = seen.tool.as_ref().map(|tool| !self.steer.used.contains(self.tool_name(tool)));
        let attempt = match at {
            Moment::Before => node.attempt + 1,
            Moment::After | Moment::Failure | Moment::Call => node.attempt,
        };
        let text = |text: Option<String>| text.map_or(Value::Null, Value::from);
        Facts::new([
            ("node", Value::from(self.id_of(ix).as_str())),
            ("tool", text(seen.tool)),
            ("model", text(seen.model)),
            ("args", seen.args.unwrap_or_default()),
            ("output", seen.output.unwrap_or_default()),
            ("error", text(seen.error)),
            ("cost_usd", Value::from(node.lineage.spent.cost_usd)),
            ("tokens", Value::from(node.lineage.spent.tokens.total())),
            ("attempt", Value::from(attempt)),
            ("first_use", first_use.map_or(Value::Null, Value::from)),
        ])
    }

    /// What a node that has been at work used: its own tool with the arguments that it was called with, and the model asked last.
    pub(super) fn seen_so_far(&self, ix: NodeIx) -> BreakpointFacts {
        let lineage = &self.nodes[ix].lineage;
        let tool = self.doc(ix).and_then(tool_of).map(str::to_string);
        let args = tool.as_ref().and_then(|_| lineage.tools.last()).map(|(call, _)| call.args.clone());
        BreakpointFacts { tool, args, model: lineage.model.clone(), ..BreakpointFacts::default() }
    }

    /// Why there is nothing to change or remove.
    pub(super) fn no_such_break(&self, point: BreakId) -> Option<String> {
        (!self.steer.points.contains_key(&point)).then(|| format!("there is no breakpoint {}", point.0))
    }

    /// Why a breakpoint can't be set.
    pub(super) fn break_refusal(&self, point: &Breakpoint) -> Option<String> {
        if let Err(error) = point.check() {
            return Some(error.to_string());
        }
        let node = point.node.as_deref().filter(|node| !node.contains(['*', '/']) && self.graph.find(node).is_none())?;
        Some(format!("there is no node `{node}`; `*` matches any part of an id"))
    }
}

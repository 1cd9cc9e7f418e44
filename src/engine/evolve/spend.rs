//! The part of `evolve` about what calls take: reserved when they start, settled when they end, given back when nobody makes them any more.

use crate::engine::{
    Account, BudgetScope, CapAmount, CapQuestion, Cause, FailedTry, GateId, ModelCall, NextCall, Reservation, Spent, Time,
    budget::{more, price},
    flow::{HeldAmount, ModelTries, Worker},
    graph::NodeIx,
    inner_run::InnerRunIx,
    run::{DeferredCall, RunState},
};
use crate::plan::Budget;
use serde_json::Value;
use std::sync::Arc;

impl HeldAmount {
    /// What a failed try took: as its provider reported, else all that was reserved for it.
    pub(in crate::engine) fn taken_by(&self, failed: &FailedTry) -> CapAmount {
        match failed.usage {
            // A rate that refuses it lets the same request go later.
            Some(usage) => self.need.amount(usage, u64::from(!failed.refused || usage.total() > 0)),
            None => self.taken_unheard(),
        }
    }

    /// What a call took that nobody heard the end of.
    fn taken_unheard(&self) -> CapAmount {
        if self.sent { self.reserved } else { CapAmount::default() }
    }

    /// What a call took beside what its failed tries did. One whose provider reports nothing took all that was reserved.
    fn taken_by_end(&self, call: &ModelCall) -> CapAmount {
        if call.estimated {
            return self.taken_unheard();
        }
        let all = CapAmount::of(call.usage, call.cost_usd);
        let nano_usd = if call.cost_usd.is_none() { self.need.amount(call.usage, 1).nano_usd } else { all.nano_usd };
        CapAmount { nano_usd, calls: self.reserved.calls, ..all }.minus(CapAmount { calls: 0, ..self.failed })
    }

    /// Tokens that a provider reports beyond what was asked of it.
    pub(in crate::engine) fn beyond(&self, call: &ModelCall) -> u64 {
        if call.estimated { 0 } else { self.taken_by_end(call).tokens.saturating_sub(self.reserved.tokens) }
    }
}

impl RunState {
    /// Changes what a node, those around it and the run have taken and keep.
    fn book(&mut self, ix: NodeIx, change: impl Fn(&mut Account)) {
        let mut next = Some(ix);
        while let Some(at) = next {
            change(&mut self.flows[at].account);
            next = self.inner_of(at).and_then(|inner| inner.owner);
        }
        change(&mut self.progress.spending.account);
    }

    /// An event happened then. The run's clock runs while a worker has a slot, and only then.
    pub(super) fn happened(&mut self, at: Time) {
        self.progress.last = at;
        if self.queue.busy == 0 {
            self.stop_clock(at);
        } else {
            self.progress.spending.working.get_or_insert(at);
        }
    }

    pub(super) fn stop_clock(&mut self, at: Time) {
        let spending = &mut self.progress.spending;
        if let Some(since) = spending.working.take() {
            spending.worked_ms += at.since(since);
        }
    }

    /// Keeps what a call that starts may take. The last turn behind it stays kept until its attempt is over.
    pub(super) fn reserve(&mut self, ix: NodeIx, call: &str, reservation: Option<&Reservation>) {
        let Some(&Reservation { need, call: reserved, last, .. }) = reservation else { return };
        let Some(worker) = &mut self.flows[ix].worker else { return };
        let inner = worker.models.get(call).is_some_and(|call| call.inner);
        let before = if inner { worker.kept } else { std::mem::replace(&mut worker.kept, last) };
        let kept = worker.kept;
        if let Some(tries) = worker.models.get_mut(call) {
            tries.held = Some(HeldAmount { need, reserved, failed: CapAmount::default(), sent: false });
        }
        self.book(ix, |account| {
            account.reserved = account.reserved.plus(reserved);
            account.kept = account.kept.minus(before).plus(kept);
        });
    }

    /// A try failed: what it took is taken, and the next one keeps what is said.
    pub(super) fn try_failed(&mut self, ix: NodeIx, call: &str, failed: &FailedTry, next: Option<CapAmount>) {
        // What is sent otherwise goes on with what was reserved.
        if failed.otherwise.is_some() {
            return;
        }
        let held = self.flows[ix].worker.as_mut().and_then(|worker| worker.models.get_mut(call)?.held.as_mut());
        let Some(held) = held else { return };
        let (taken, before, next) = (held.taken_by(failed), held.reserved, next.unwrap_or_default());
        (held.reserved, held.sent) = (next, false);
        if failed.usage.is_some() {
            held.failed = held.failed.plus(taken);
        }
        self.book(ix, |account| {
            account.used = account.used.plus(taken);
            account.reserved = account.reserved.minus(before).plus(next);
        });
    }

    /// What a call that ended took, beside what its failed tries did.
    pub(in crate::engine) fn taken_by_call(&self, ix: NodeIx, call: &ModelCall) -> CapAmount {
        let held = self.flows[ix].worker.as_ref().and_then(|worker| worker.models.get(&call.id)?.held.as_ref());
        held.map_or_else(|| CapAmount::of(call.usage, call.cost_usd), |held| held.taken_by_end(call))
    }

    /// A call ended: what it took is taken, the rest of what was kept for it is free.
    pub(super) fn settle(&mut self, ix: NodeIx, call: &ModelCall) {
        let taken = self.taken_by_call(ix, call);
        let tries = self.flows[ix].worker.as_mut().and_then(|worker| worker.models.get_mut(&call.id));
        let held = tries.and_then(|tries| {
            tries.unheard = None;
            tries.held.take()
        });
        let reserved = held.map_or(CapAmount::default(), |held| held.reserved);
        self.book(ix, |account| {
            account.used = account.used.plus(taken);
            account.reserved = account.reserved.minus(reserved);
        });
    }

    /// Nobody hears of these calls any more: those that were sent took what was reserved, the others nothing.
    pub(super) fn drop_calls<'a>(&mut self, ix: NodeIx, calls: impl IntoIterator<Item = &'a ModelTries>) {
        for call in calls {
            if let Some(unheard) = &call.unheard {
                self.nodes[ix].lineage.spent.add(Spent::of(unheard));
            }
            let Some(held) = &call.held else { continue };
            let (taken, reserved) = (held.taken_unheard(), held.reserved);
            self.book(ix, |account| {
                account.used = account.used.plus(taken);
                account.reserved = account.reserved.minus(reserved);
            });
        }
    }

    /// The attempt is over: its calls are, and no last turn is kept for it.
    pub(super) fn drop_spending(&mut self, ix: NodeIx, worker: &Worker) {
        self.drop_calls(ix, worker.models.values());
        let kept = worker.kept;
        if kept != CapAmount::default() {
            self.book(ix, |account| account.kept = account.kept.minus(kept));
        }
        self.progress.spending.waiting.retain(|deferred| deferred.node != ix);
    }

    /// What was under way in the run that this one leaves is that one's to pay.
    pub(super) fn forget_spending(&mut self) {
        for flow in self.flows.iter_mut() {
            flow.account.reserved = CapAmount::default();
            flow.account.kept = CapAmount::default();
            if let Some(worker) = &mut flow.worker {
                worker.kept = CapAmount::default();
                worker.models.values_mut().for_each(|call| (call.held, call.unheard) = (None, None));
            }
        }
    }

    /// A call waits for others to settle.
    pub(super) fn defer(&mut self, call: DeferredCall, why: &Cause, at: Time) {
        self.begin_model(call.node, &call.call, &call.model, Some(why.clone()), at);
        self.deliver(call.node, &call.call);
        self.progress.spending.waiting.push(call);
    }

    /// A gate asks for more of a budget.
    pub(super) fn ask_for_more(&mut self, ix: NodeIx, call: &str, cap: &CapQuestion, gate: GateId) {
        let is_known = self.flows[ix].worker.as_ref().is_some_and(|worker| worker.pending.iter().any(|pending| pending.call == call));
        if !self.undefer(ix, call) && !is_known {
            self.count_call(ix, self.call_name(&NextCall::Model { model: cap.model.clone() }));
        }
        let (call, model) = (call.to_owned(), cap.model.clone());
        self.progress.spending.waiting.push(DeferredCall { node: ix, call, model, need: cap.need, last: false, gate: Some(gate) });
    }

    /// A person added to a budget, or said what a model costs.
    pub(super) fn answered_cap(&mut self, cap: &CapQuestion, value: &Value) {
        if cap.wants_price {
            self.progress.spending.prices.insert(cap.model.clone(), price(value).unwrap_or_default());
        } else {
            self.raise(&cap.scope, &more(value).unwrap_or_default());
        }
    }

    fn raise(&mut self, scope: &BudgetScope, more: &Budget) {
        let (BudgetScope::Node { node } | BudgetScope::Branch { node }) = scope else {
            if let Some(inner) = self.inner_runs.slot_mut(InnerRunIx(0)) {
                Arc::make_mut(&mut inner.plan).budget.raise(more);
            }
            return;
        };
        let Some(ix) = self.graph.find(node) else { return };
        let (home, doc) = (self.graph.nodes[ix].home, self.graph.nodes[ix].doc as usize);
        let Some(inner) = self.inner_runs.slot_mut(home) else { return };
        let plan = Arc::make_mut(&mut inner.plan);
        let default = plan.defaults.budget.clone();
        let Some(node) = plan.nodes.get_mut(doc) else { return };
        if let (BudgetScope::Branch { .. }, Some(budget)) = (scope, &mut node.policy.branch_budget) {
            budget.raise(more);
            return;
        }
        if !node.kind.is_composite() && node.policy.budget.is_none() {
            node.policy.budget = default;
        }
        if let Some(budget) = &mut node.policy.budget {
            budget.raise(more);
        }
        if let Some(body) = node.kind.body_mut() {
            body.budget.raise(more);
        }
    }

    /// It waits no more; says whether it did.
    pub(super) fn undefer(&mut self, ix: NodeIx, call: &str) -> bool {
        let waiting = &mut self.progress.spending.waiting;
        let before = waiting.len();
        waiting.retain(|deferred| deferred.node != ix || deferred.call != call);
        waiting.len() < before
    }
}

//! Who may call a model under caps: as much is reserved as the call takes at most, before it is made, out of every cap that it counts for.
//! So calls at once, inside nodes and of tools can't pass a cap together. One that fits once others have settled waits for them; at the
//! cap an agent gets a last turn, for which room is kept as long as it works.

use crate::engine::run::Decider;
use crate::engine::{
    Account, Action, ActionTarget, Actor, BudgetScope, CallNeed, CapAmount, CapQuestion, Cause, Event, FailedTry, GateId, GateKind,
    GateReply, Reservation, Time,
    budget::{CapRoom, figures, more, nano_usd, price},
    flow::HeldAmount,
    graph::NodeIx,
    inner_run::InnerRun,
    run::{DeferredCall, GateEnd, RunState},
};
use crate::plan::Budget;
use crate::text::{counted, thousands};
use serde_json::{Value, json};

/// A budget that a node's calls count for.
pub(super) struct Capped<'a> {
    whose: Whose,
    budget: &'a Budget,
    account: Account,
    /// Nodes at work that may call models at the same cost.
    sharers: u64,
}

/// Whose a budget is.
#[derive(Clone, Copy, Debug)]
enum Whose {
    Run,
    Node(NodeIx),
    Branch(NodeIx),
}

/// What caps leave to a node.
struct CapsLeft<'a> {
    caps: Vec<Capped<'a>>,
    /// Now, with what is kept for its own last turn.
    now: CapRoom,
    /// Once every call under way has settled, has taken nothing and was the last of its node.
    then: CapRoom,
    sharers: u64,
}

/// Whether a model call may be made.
pub(super) enum Grant {
    /// No cap counts it.
    Uncapped,
    /// So much is kept for it.
    Reserved(Box<Reservation>),
    /// It fits once others have given back what they don't take.
    Later(Cause),
    /// It doesn't fit: people are asked for more.
    Ask(Box<AskedCap>),
    /// It doesn't fit.
    Never(String),
}

/// What people are asked where a budget doesn't hold a call.
pub(super) struct AskedCap {
    cap: CapQuestion,
    text: String,
    figures: Value,
}

/// What becomes of a call that a budget doesn't hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtCap {
    Ask,
    /// What there is is handed back.
    HandBack,
}

impl RunState {
    /// The budgets that count what a node's calls take: its own, those of the nodes that it is inside of, the run's.
    fn caps_of(&self, ix: NodeIx) -> Vec<Capped<'_>> {
        let sharers = u64::from(self.queue.busy);
        let mut caps = Vec::new();
        if let Some(budget) = self.policy(ix).and_then(|policy| policy.get(|policy| policy.budget.as_ref())) {
            caps.push(Capped { whose: Whose::Node(ix), budget, account: self.flows[ix].account, sharers: 1 });
        }
        for owner in self.owners(ix) {
            let Some(doc) = self.doc(owner) else { continue };
            for budget in doc.policy.budget.iter().chain(doc.kind.body().map(|body| &body.budget)) {
                caps.push(Capped { whose: Whose::Node(owner), budget, account: self.flows[owner].account, sharers });
            }
        }
        if self.graph.caps_branches {
            [ix].into_iter().chain(self.owners(ix)).for_each(|at| caps.extend(self.branch_caps(at, sharers)));
        }
        if let Some(plan) = self.plan() {
            caps.push(Capped { whose: Whose::Run, budget: &plan.budget, account: self.progress.spending.account, sharers });
        }
        caps.retain(|capped| CapRoom::is_capped(capped.budget));
        caps
    }

    /// The budgets of branches that a node is in, in its own plan.
    fn branch_caps(&self, ix: NodeIx, sharers: u64) -> Vec<Capped<'_>> {
        let roots = self.inner_of(ix).into_iter().flat_map(InnerRun::nodes);
        let capped = roots.filter_map(|root| {
            let budget = self.doc(root)?.policy.branch_budget.as_ref()?;
            let branch = self.branch_of(root).own;
            let account = branch.iter().fold(Account::default(), |all, node| all.plus(self.flows[*node].account));
            branch.contains(&ix).then_some(Capped { whose: Whose::Branch(root), budget, account, sharers })
        });
        capped.collect()
    }
}

impl Decider<'_> {
    /// What caps leave to a node that gives back `back` first, and takes `taken`.
    fn caps_left(&self, ix: NodeIx, taken: CapAmount, back: CapAmount) -> Option<CapsLeft<'_>> {
        let caps = self.caps_of(ix);
        if caps.is_empty() {
            return None;
        }
        let kept = self.flows[ix].worker.as_ref().map_or(CapAmount::default(), |worker| worker.kept);
        let (mut now, mut then, mut sharers) = (CapRoom::default(), CapRoom::default(), 1);
        for capped in &caps {
            let Account { used, reserved, kept: all } = capped.account;
            let settled = used.plus(taken).plus(all.minus(kept));
            // As long as a call is under way, its node may end and need no last turn.
            let ends = reserved != CapAmount::default();
            then = then.and(CapRoom::left(capped.budget, if ends { used.plus(taken) } else { settled }));
            now = now.and(CapRoom::left(capped.budget, settled.plus(reserved.minus(back))));
            sharers = sharers.max(capped.sharers);
        }
        Some(CapsLeft { caps, now, then, sharers })
    }

    /// Whether a call that takes so much may be made.
    pub(super) fn grant(&self, ix: NodeIx, model: &str, need: Option<&CallNeed>, at_cap: AtCap) -> Grant {
        let Some(need) = need else { return Grant::Uncapped };
        let Some(left) = self.caps_left(ix, CapAmount::default(), CapAmount::default()) else { return Grant::Uncapped };
        let inner = self.flows[ix].worker.as_ref().is_some_and(|worker| worker.calls > 0);
        let mut need = *need;
        if !inner {
            need.prompt =
                self.unheard(ix).iter().fold(need.prompt, |prompt, text| prompt.saturating_add(text.len() as u64 + AROUND_GUIDANCE));
        }
        need.price = need.price.or_else(|| self.progress.spending.prices.get(model).copied());
        let last = if inner { CapAmount::default() } else { need.last_turn() };
        let stops = !inner && self.flows[ix].drive.stopped_by.is_some();
        if let Some(capped) = left.caps.iter().find(|capped| capped.budget.usd.is_some() && need.price.is_none()) {
            let at_cap = if stops { AtCap::HandBack } else { at_cap };
            return self.unpriced(self.scope(capped.whose), model, need, at_cap);
        }
        let answer = |room: CapRoom| room.without(last)?.answer(&need, left.sharers);
        let goes_on = !stops && at_cap == AtCap::Ask;
        if let Some(answer) = answer(left.now).filter(|_| goes_on) {
            return Grant::Reserved(Box::new(Reservation { need, call: need.turn(answer), last, at_cap: false }));
        }
        let last_turn = |room: CapRoom| room.last_turn(&need).filter(|_| !inner && !goes_on);
        let waits =
            if goes_on { answer(left.then).is_some() } else { !stops && last_turn(left.now).is_none() && last_turn(left.then).is_some() };
        if waits {
            let tight = left.caps.iter().find(|capped| capped.account.reserved != CapAmount::default());
            return Grant::Later(Cause::BudgetReserved { scope: self.scope(tight.map_or(Whose::Run, |capped| capped.whose)) });
        }
        let Some(tight) = self.tight(&left.caps, need.turn(need.least).plus(last)) else { return Grant::Uncapped };
        match last_turn(left.now) {
            Some(call) => Grant::Reserved(Box::new(Reservation { need, call, last: CapAmount::default(), at_cap: !stops })),
            None if goes_on => Grant::Ask(Box::new(self.asked_cap(tight, need, last))),
            None => Grant::Never(self.reached(tight, need.turn(need.least).plus(last))),
        }
    }

    /// The gate that asks for more of a budget, for a call of an agent or of a tool at work.
    pub(super) fn cap_gate(&self, ix: NodeIx, call: String, model: String, asked: AskedCap, now: Time) -> Event {
        let AskedCap { cap, text, figures } = asked;
        let under_way = self.nodes[ix].lineage.tools.iter().rev().find(|(_, report)| report.is_none()).map(|(call, _)| call.id.clone());
        let within = under_way.filter(|_| self.flows[ix].worker.as_ref().is_some_and(|worker| worker.calls > 0));
        let cap = Some(Box::new(CapQuestion { model, ..cap }));
        let kind = GateKind::Question { text: text.clone(), options: Vec::new(), fields: Vec::new(), call: Some(call), within, cap };
        self.gate_event(ix, kind, figures, text, now)
    }

    /// What a reply to that gate comes to: more makes the call fit, or asks again; a no hands back what there is.
    pub(super) fn cap_reply(&self, ix: NodeIx, cap: &CapQuestion, reply: &GateReply, call: &str, now: Time) -> Event {
        let at_cap = if matches!(reply, GateReply::Reject { .. }) { AtCap::HandBack } else { AtCap::Ask };
        self.model_event(ix, (call, &cap.model), Some(&cap.need), at_cap, now)
    }

    /// A node that is to stop waits for no reply.
    pub(super) fn deliver_cap(&self, ix: NodeIx, gate: GateId, call: &str, now: Time) -> Vec<Event> {
        let Some(cap) = self.gate_run(gate).and_then(|run| run.gate.kind.cap()) else { return Vec::new() };
        let is_open = self.gate_run(gate).is_some_and(|run| run.end == GateEnd::Open);
        let void = is_open.then(|| Event::GateVoided { gate, reason: Cause::NodeStopping });
        void.into_iter().chain([self.model_event(ix, (call, &cap.model), Some(&cap.need), AtCap::HandBack, now)]).collect()
    }

    pub(super) fn is_cap_question(&self, gate: GateId) -> bool {
        self.gate_run(gate).is_some_and(|run| run.gate.kind.cap().is_some())
    }

    fn asked_cap(&self, tight: &Capped<'_>, need: CallNeed, last: CapAmount) -> AskedCap {
        let scope = self.scope(tight.whose);
        let wants = need.turn(need.least).plus(last);
        let text = format!(
            "{}. Add how much, as in {}? A rejection makes it return what it has",
            sentence(&self.reached(tight, wants)),
            tight.budget.examples()
        );
        let account = tight.account;
        let shown = |amount: CapAmount| amounts(tight.budget, amount);
        let figures = json!({
            "budget": tight.budget.label(),
            "used": shown(account.used),
            "reserved": shown(account.reserved.plus(account.kept)),
            "left": shown(left(tight.budget, account)),
            "next call": format!("up to {}", shown(wants)),
        });
        AskedCap { cap: CapQuestion { scope, model: String::new(), need, wants_price: false }, text, figures }
    }

    /// A cap in money counts nothing whose price is unknown: people say it once.
    fn unpriced(&self, scope: BudgetScope, model: &str, need: CallNeed, at_cap: AtCap) -> Grant {
        let unknown = format!("the price of `{model}` is unknown, and the budget of {} is in dollars", scope.label());
        if at_cap == AtCap::HandBack {
            return Grant::Never(format!("{unknown}: set it in [models.prices] of your settings"));
        }
        let asks = "What does a million tokens cost, of prompts and of answers, as in `0.15, 0.6`? `0` counts them as nothing";
        let text = format!("{}. {asks}", sentence(&unknown));
        let cap = CapQuestion { scope, model: String::new(), need, wants_price: true };
        Grant::Ask(Box::new(AskedCap { cap, text, figures: Value::Null }))
    }

    /// The time of the run is up: agents return what they have, and nothing more starts.
    pub(super) fn decide_time_up(&self, now: Time) -> Vec<Event> {
        let stop = Action::Stop { target: ActionTarget::Run };
        let is_up = self.time_is_up().is_some_and(|at| at <= now) && self.action_refusal(&stop).is_none();
        let by = Actor { who: "the budget".to_owned(), via: "rule".to_owned() };
        let label = self.budget().map(Budget::label).unwrap_or_default();
        if is_up { self.decide_act(&stop, &format!("its time is up: {label}"), &by) } else { Vec::new() }
    }

    /// What is reserved for a model call, where a cap counts it.
    pub(super) fn held_amount(&self, ix: NodeIx, call: &str) -> Option<&HeldAmount> {
        self.flows[ix].worker.as_ref()?.models.get(call)?.held.as_ref()
    }

    /// What is reserved for the try after a failed one; none where that doesn't fit.
    pub(super) fn next_reservation(&self, ix: NodeIx, held: &HeldAmount, failed: &FailedTry) -> Option<CapAmount> {
        let Some(left) = self.caps_left(ix, held.taken_by(failed), held.reserved) else { return Some(held.reserved) };
        let kept = self.flows[ix].worker.as_ref().map_or(CapAmount::default(), |worker| worker.kept);
        let answer = left.now.without(kept)?.answer(&held.need, left.sharers)?;
        Some(held.need.turn(answer))
    }

    /// The first of the calls that wait for others to settle, or for more, about which something can be decided now.
    pub(super) fn follow_deferred(&self, now: Time) -> Vec<Event> {
        for DeferredCall { node, call, model, need, last, gate } in &self.progress.spending.waiting {
            let at_cap = if *last { AtCap::HandBack } else { AtCap::Ask };
            let grant = self.grant(*node, model, Some(need), at_cap);
            let event = || self.model_event(*node, (call, model), Some(need), at_cap, now);
            match (grant, gate) {
                (Grant::Later(_), None) => {}
                (_, None) => return vec![event()],
                (Grant::Uncapped | Grant::Reserved(_), Some(gate)) if self.gates.open.contains(gate) => {
                    return vec![Event::GateVoided { gate: *gate, reason: Cause::BudgetRaised }, event()];
                }
                (_, Some(_)) => {}
            }
        }
        Vec::new()
    }

    fn scope(&self, whose: Whose) -> BudgetScope {
        match whose {
            Whose::Run => BudgetScope::Run,
            Whose::Node(ix) => BudgetScope::Node { node: self.id_of(ix) },
            Whose::Branch(ix) => BudgetScope::Branch { node: self.id_of(ix) },
        }
    }

    /// The budget that doesn't hold so much.
    fn tight<'c>(&self, caps: &'c [Capped<'c>], wants: CapAmount) -> Option<&'c Capped<'c>> {
        caps.iter().find(|capped| room(capped).without(wants).is_none()).or(caps.first())
    }

    fn reached(&self, tight: &Capped<'_>, wants: CapAmount) -> String {
        format!("the budget of {} is used up: {}", self.scope(tight.whose).label(), figures(tight.budget, tight.account, wants))
    }
}

impl RunState {
    /// Why an answer to a gate about a budget can't be taken; `None` where it can.
    pub(in crate::engine) fn cap_misfit(&self, cap: &CapQuestion, value: &Value) -> Option<String> {
        if cap.wants_price { price(value).err() } else { self.raise_misfit(&cap.scope, value) }
    }

    fn raise_misfit(&self, scope: &BudgetScope, value: &Value) -> Option<String> {
        let more = match more(value) {
            Ok(more) => more,
            Err(why) => return Some(why),
        };
        let budgets: Vec<&Budget> = match scope {
            BudgetScope::Run => self.budget().into_iter().collect(),
            BudgetScope::Node { node } => {
                let ix = self.graph.find(node)?;
                let own = self.policy(ix).and_then(|policy| policy.get(|policy| policy.budget.as_ref()));
                own.into_iter().chain(self.doc(ix).and_then(|node| node.kind.body()).map(|body| &body.budget)).collect()
            }
            BudgetScope::Branch { node } => self.doc(self.graph.find(node)?)?.policy.branch_budget.iter().collect(),
        };
        let adds = budgets.iter().any(|budget| (*budget).clone().raise(&more));
        let examples = budgets.first().map_or_else(String::new, |budget| budget.examples());
        (!adds).then(|| format!("that is not what the budget of {} counts: say how much to add, as in {examples}", scope.label()))
    }
}

/// Bytes around what people wrote, where an agent reads it.
const AROUND_GUIDANCE: u64 = 120;

/// What a budget has left beside what is taken and kept.
fn room(capped: &Capped<'_>) -> CapRoom {
    let Account { used, reserved, kept } = capped.account;
    CapRoom::left(capped.budget, used.plus(reserved).plus(kept))
}

fn left(budget: &Budget, account: Account) -> CapAmount {
    let cap = CapAmount {
        tokens: budget.tokens.unwrap_or_default(),
        nano_usd: budget.usd.map(nano_usd).unwrap_or_default(),
        calls: budget.model_calls.unwrap_or_default(),
    };
    cap.minus(account.used).minus(account.reserved).minus(account.kept)
}

/// An amount, as far as a budget counts it.
fn amounts(budget: &Budget, amount: CapAmount) -> String {
    let tokens = budget.tokens.map(|_| format!("{} tokens", thousands(amount.tokens)));
    let usd = budget.usd.map(|_| format!("${:.4}", amount.usd()));
    let calls = budget.model_calls.map(|_| counted(usize::try_from(amount.calls).unwrap_or(usize::MAX), "call"));
    tokens.into_iter().chain(usd).chain(calls).collect::<Vec<_>>().join(", ")
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

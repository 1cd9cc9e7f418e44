//! Caps hold, whatever happens: random plans, calls, failures, cancels, edits and ends of the process, against a server that counts by
//! itself what it was sent.

use super::kit::*;
use crate::engine::*;
use crate::plan::{edit::Edit, *};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// What the server charges for a token, in billionths of a dollar.
const PRICE: TokenPrice = TokenPrice { prompt: 100, answer: 700 };

/// One thing that happens: to which node, what, and by how much.
#[derive(Clone, Copy, Debug)]
struct CapHappening {
    node: usize,
    what: u8,
    much: u64,
}

fn happening() -> impl Strategy<Value = CapHappening> {
    (0..6_usize, 0..24_u8, 0..=100_u64).prop_map(|(node, what, much)| CapHappening { node, what, much })
}

/// A call as its worker knows it.
#[derive(Clone, Copy, Debug)]
struct ServedCall {
    need: CallNeed,
    granted: Option<u64>,
    /// What the server took for the try under way.
    sent: Option<TokenUsage>,
    /// What it reported of tries that failed.
    lost: TokenUsage,
}

struct CapRig {
    world: World,
    /// Calls of attempts at work, by node and attempt.
    calls: BTreeMap<(String, u32, u32), (String, ServedCall)>,
    made: u32,
    /// What the server counted.
    served: CapAmount,
    /// The highest that the run's caps ever were.
    most: Budget,
}

impl CapRig {
    fn attempt(&self, id: &str) -> (String, u32, u32) {
        (id.to_owned(), self.world.node(id).generation, self.world.node(id).attempt)
    }

    /// Takes in what the engine answered: calls that may go, and those that were refused.
    fn hear(&mut self) {
        for effect in std::mem::take(&mut self.world.effects) {
            let Effect::Answer { node, generation, attempt, call, answer } = effect else { continue };
            let Some((_, known)) = self.calls.get_mut(&(node.to_string(), generation, attempt)).filter(|(id, _)| *id == call) else {
                continue;
            };
            match answer {
                Answer::Go { granted, .. } => known.granted = Some(granted.map_or(u64::MAX, |granted| granted.tokens)),
                Answer::Again { tokens, .. } => known.granted = Some(tokens.unwrap_or(u64::MAX)),
                _ => {
                    self.calls.remove(&(node.to_string(), generation, attempt));
                }
            }
        }
    }

    fn fact(&mut self, id: &str, fact: WorkerFact) {
        self.world.fact(id, fact);
        self.hear();
    }

    fn step(&mut self, id: &str, CapHappening { what, much, .. }: CapHappening) {
        let key = self.attempt(id);
        let is_working = ["running", "held", "stopping"].contains(&self.world.state(id)) && key.2 > 0;
        let open = self.calls.get(&key).cloned();
        match (what, open) {
            (0..=5, None) if is_working => self.ask(id, key, much),
            (0..=7, Some((call, known))) if known.sent.is_none() && known.granted.is_some() => self.send(id, key, (call, known), much),
            (8..=12, Some((call, known))) => self.settle(id, key, (call, known), what),
            (13, None) if is_working => self.fact(id, WorkerFact::Done(Done { result: json!(1), mark: None })),
            (14, _) if much < 40 => {
                self.world.act(Action::Cancel { target: on(id) });
            }
            (15, _) => self.crash(),
            (16, _) if self.most.tokens.is_some() => self.cap(much),
            (17, _) => {
                self.world.act(Action::Rerun { node: id.into(), scope: RerunReach::Alone });
            }
            (20..=22, _) => self.reply(much),
            (19, _) => {
                self.world.act(Action::Stop { target: on(id) });
            }
            (18, None) if is_working => {
                self.world.fail(id, ErrorKind::Transient);
                self.world.now += 60_000;
                self.world.due(id, TimerKind::Retry);
            }
            _ => {}
        }
        self.hear();
    }

    fn ask(&mut self, id: &str, key: (String, u32, u32), much: u64) {
        let need = CallNeed { prompt: 50 + much * 10, least: 64, most: 3_000, last: 200 + much, price: Some(PRICE) };
        self.made += 1;
        let call = format!("c{}", self.made);
        self.calls.insert(key, (call.clone(), ServedCall { need, granted: None, sent: None, lost: TokenUsage::default() }));
        self.fact(id, WorkerFact::ModelAsked { call, model: "m".into(), need: Some(need) });
    }

    /// The server takes the prompt as it is, and answers no longer than it may: it is a provider that keeps to its own cap.
    fn send(&mut self, id: &str, key: (String, u32, u32), (call, mut known): (String, ServedCall), much: u64) {
        let granted = known.granted.unwrap_or_default().min(known.need.prompt + known.need.most);
        let prompt = known.need.prompt.min(granted.saturating_sub(1));
        let usage = TokenUsage::of(prompt * (100 - much / 2) / 100, (granted - prompt) * much / 100);
        let nano_usd = usage.prompt * PRICE.prompt + usage.completion * PRICE.answer;
        self.served = self.served.plus(CapAmount { tokens: usage.total(), nano_usd, calls: 1 });
        known.sent = Some(usage);
        self.calls.insert(key, (call.clone(), known));
        self.fact(id, WorkerFact::ModelSent { call, unheard: None });
    }

    fn settle(&mut self, id: &str, key: (String, u32, u32), (call, mut known): (String, ServedCall), what: u8) {
        let Some(usage) = known.sent else { return };
        let report = |usage: TokenUsage, estimated: bool| {
            let cost_usd = (!estimated).then(|| (usage.prompt * PRICE.prompt + usage.completion * PRICE.answer) as f64 / 1e9);
            let (id, model, provider) = (call.clone(), "m".to_owned(), "p".to_owned());
            WorkerFact::ModelCalled(ModelCall { id, model, provider, usage, cost_usd, estimated, ..ModelCall::default() })
        };
        let mut total = usage;
        total.add(known.lost);
        match what {
            8 | 9 => {
                self.calls.remove(&key);
                self.fact(id, report(total, false));
            }
            10 => {
                self.calls.remove(&key);
                self.fact(id, report(TokenUsage::of(1, 1), true));
            }
            _ => {
                let reported = (what == 11).then_some(usage);
                known.lost.add(reported.unwrap_or_default());
                (known.sent, known.granted) = (None, None);
                self.calls.insert(key, (call.clone(), known));
                let (verdict, message) = (TryVerdict::Again, "cut".to_owned());
                let failed = FailedTry { message, verdict, refused: false, otherwise: None, usage: reported };
                self.fact(id, WorkerFact::ModelTryFailed { call, failed });
            }
        }
    }

    fn crash(&mut self) {
        if self.world.outcome().is_none() {
            self.calls.clear();
            self.world.effects.clear();
            self.world.step(Input::Recover { by: me() });
        }
    }

    /// Replies to the oldest gate: adds to the budget that it is about, or has what there is handed back.
    fn reply(&mut self, much: u64) {
        let Some(gate) = self.world.run.open_gates().next().cloned() else { return };
        if much < 50 {
            self.world.decide(gate.id.0, reject(""));
            return;
        }
        let more = Budget { tokens: Some(much * 10), usd: Some(0.001), seconds: None, model_calls: Some(1) };
        if gate.kind.cap().is_some_and(|cap| cap.scope == BudgetScope::Run) {
            self.most.raise(&more);
        }
        self.world.decide(gate.id.0, GateReply::Answer { value: more.written().into() });
    }

    /// Another cap of tokens, higher or lower.
    fn cap(&mut self, much: u64) {
        let tokens = Some(500 + much * 100);
        let Some(budget) = self.world.run.budget().map(|budget| Budget { tokens, ..budget.clone() }) else { return };
        self.world.act(Action::Edit { edits: vec![Edit::SetBudget { budget: budget.clone() }] });
        self.most.tokens = self.most.tokens.max(budget.tokens);
    }

    fn is_capped(&self) -> bool {
        self.most != Budget::default()
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let Account { used, reserved, kept } = self.world.run.account();
        let open: u64 = self.calls.values().filter_map(|(_, call)| call.sent).map(TokenUsage::total).sum();
        if self.is_capped() {
            prop_assert!(self.served.tokens <= used.tokens + open, "what is used is what the server took, or more");
            prop_assert!(open <= reserved.tokens);
        }
        let within = |cap: Option<u64>, taken: u64| cap.is_none_or(|cap| taken <= cap);
        prop_assert!(within(self.most.tokens, self.served.tokens), "{} of {:?} tokens", self.served.tokens, self.most.tokens);
        prop_assert!(within(self.most.tokens, used.tokens + reserved.tokens + kept.tokens));
        prop_assert!(within(self.most.model_calls, self.served.calls), "{} of {:?} calls", self.served.calls, self.most.model_calls);
        let nano = self.most.usd.map(|usd| (usd * 1e9).round() as u64 + u64::from(self.made));
        prop_assert!(within(nano, self.served.nano_usd), "{} of {nano:?}", self.served.nano_usd);
        Ok(())
    }
}

fn is_over(node: &NodeRun) -> bool {
    matches!(node.state.group(), StateGroup::Done | StateGroup::Failed | StateGroup::NotRun)
}

const IDS: [&str; 6] = ["a", "b", "c", "in/x", "in/y", "d"];

fn capped_plan(budget: &Budget, of_inner: Option<u64>, of_a: Option<u64>) -> Plan {
    let agent = |id: &str, deps: &[&str], cap: Option<u64>| {
        let mut node = json!({"id": id, "agent": "worker", "objective": "do it", "depends_on": deps, "retry": {"attempts": 4}});
        if let Some(cap) = cap {
            node["budget"] = json!({ "tokens": cap });
        }
        node
    };
    let mut outer = json!({"id": "in", "plan": {"nodes": [agent("x", &[], None), agent("y", &[], None)]}});
    if let Some(cap) = of_inner {
        outer["budget"] = json!({ "tokens": cap });
    }
    let nodes = [agent("a", &[], of_a), agent("b", &[], None), agent("c", &[], None), outer, agent("d", &["a"], None)];
    let mut plan: Plan = serde_json::from_value(json!({"goal": "g", "nodes": nodes})).unwrap();
    plan.budget.clone_from(budget);
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_run_takes_more_than_its_caps_whatever_happens_and_keeps_nothing_at_its_end(
        tokens in prop::option::of(500_u64..20_000),
        millicents in prop::option::of(50_u64..2_000),
        model_calls in prop::option::of(1_u64..20),
        of_inner in prop::option::of(500_u64..5_000),
        of_a in prop::option::of(500_u64..5_000),
        happenings in prop::collection::vec(happening(), 0..120),
    ) {
        let budget = Budget { tokens, usd: millicents.map(|n| n as f64 / 1e5), seconds: None, model_calls };
        let world = World::new(capped_plan(&budget, of_inner, of_a));
        let mut rig = CapRig { world, calls: BTreeMap::new(), made: 0, served: CapAmount::default(), most: budget };
        for happening in happenings {
            let id = IDS[happening.node];
            if rig.world.run.node(&id.into()).is_some() {
                rig.step(id, happening);
                rig.calls.retain(|(node, generation, attempt), _| {
                    let node = rig.world.run.node(&node.as_str().into());
                    node.is_some_and(|now| (now.generation, now.attempt) == (*generation, *attempt) && !is_over(now))
                });
                rig.check()?;
            }
        }
        rig.world.act(Action::Cancel { target: ActionTarget::Run });
        let Account { used, reserved, kept } = rig.world.run.account();
        prop_assert_eq!((reserved, kept), (CapAmount::default(), CapAmount::default()));
        prop_assert!(!rig.is_capped() || rig.served.tokens <= used.tokens);
    }
}

//! Breakpoints over random plans: set, conditional, added and removed while the run goes, through steps, failures and crashes. Each event is
//! judged by the breakpoints that were set when it happened: none is met twice, none is missed.

use super::{
    breaking::point,
    kept::check,
    properties::{Draw, Player, build, drawn},
};
use crate::engine::Mark;
use crate::engine::*;
use crate::plan::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A breakpoint as drawn: its moment, the nodes that it means, its condition.
type Spot = (usize, usize, usize);

fn spot() -> impl Strategy<Value = Spot> {
    (0..4_usize, 0..16_usize, 0..5_usize)
}

fn set(player: &mut Player, (at, node, when): Spot) {
    let glob = ["**", "n*", "n*/**", "n*[*]/b"].get(node).map_or_else(|| format!("n{}", node - 4), ToString::to_string);
    let when = [Some("attempt == 1"), Some("attempt == 2")].get(when).copied().flatten();
    player.world.act(point(Moment::ALL[at], Some(&glob), when));
}

/// What a node's calls have come to.
#[derive(Default)]
struct Calls {
    /// How many of each name the attempt has made.
    made: BTreeMap<String, u32>,
    /// Held now: id, name, and which of that name.
    held: Vec<(String, String, u32)>,
    /// Those that an attempt broke off at.
    stood: Vec<(String, u32)>,
    /// So many of each name were released.
    passed: BTreeMap<String, u32>,
}

impl Calls {
    fn count(&mut self, name: &str) -> u32 {
        let made = self.made.entry(name.to_string()).or_default();
        *made += 1;
        *made
    }

    /// Whether an attempt that broke off had come to this call, and somebody released it.
    fn went(&self, name: &str, nth: u32) -> bool {
        self.passed.get(name).is_some_and(|&passed| nth <= passed)
    }

    fn pass(&mut self, (name, nth): (String, u32)) {
        let passed = self.passed.entry(name).or_default();
        *passed = nth.max(*passed);
    }

    fn let_one_go(&mut self) {
        if !self.held.is_empty() {
            let (_, name, nth) = self.held.remove(0);
            self.pass((name, nth));
        } else if !self.stood.is_empty() {
            let stood = self.stood.remove(0);
            self.pass(stood);
        }
    }

    fn let_all_go(&mut self) {
        while !self.held.is_empty() || !self.stood.is_empty() {
            self.let_one_go();
        }
    }

    fn break_off(&mut self) {
        self.stood.extend(self.held.drain(..).map(|(_, name, nth)| (name, nth)));
        self.made.clear();
    }
}

/// Reads a journal, with the run as it was before each event.
#[derive(Default)]
struct ConditionReader {
    run: Run,
    met: BTreeSet<(NodeId, u32, Moment)>,
    /// Ends of nodes that wait for a reply: their moment is over.
    returned: BTreeSet<(NodeId, u32)>,
    calls: BTreeMap<NodeId, Calls>,
    /// Calls that were ever held.
    held: BTreeSet<String>,
    /// A tool call that was just proposed, and whether it must be held.
    proposed: Option<(String, bool)>,
}

impl ConditionReader {
    /// Whether one of the breakpoints that are set means a node at a moment of an attempt.
    fn is_meant(&self, at: Moment, id: &NodeId, attempt: u32) -> bool {
        self.run.breakpoints().any(|(_, point)| point.at == at && point.means(id) && holds(point, attempt))
    }

    fn attempt(&self, id: &NodeId) -> u32 {
        self.run.node(id).map_or(0, |node| node.attempt)
    }

    fn read(&mut self, record: &Record) {
        if let Some((call, held)) = self.proposed.take() {
            let is_held = matches!(&record.event, Event::Node { fact: NodeFact::CallHeld { held, .. }, .. } if held.call == call);
            assert!(is_held || !held, "{call} goes past its breakpoint: {:?}", record.event);
        }
        self.read_node(&record.event);
        self.read_call(&record.event);
        self.run.evolve(record);
    }

    fn read_node(&mut self, event: &Event) {
        let (id, generation, at, attempt) = match event {
            Event::Node { node_id, generation, fact: NodeFact::BreakHit { moment: at, point, .. } } => {
                assert!(self.met.insert((node_id.clone(), *generation, *at)), "`{node_id}` meets {at:?} twice");
                let attempt = self.attempt(node_id) + u32::from(*at == Moment::Before);
                assert!(self.is_meant(*at, node_id, attempt));
                assert!(self.run.breakpoints().any(|(id, set)| Some(id) == *point && set.means(node_id)), "{point:?} is set");
                return;
            }
            // A step goes over it.
            Event::Node { fact: NodeFact::Started { .. }, .. } if self.run.pace() != Pace::Going => return,
            Event::Node { node_id, generation, fact: NodeFact::Started { attempt, .. } } => (node_id, generation, Moment::Before, *attempt),
            // What a person says in a node's place is no result of its work.
            Event::Node { fact: NodeFact::Completed { mark: Some(Mark::Overridden), .. }, .. } => return,
            Event::Node { node_id, generation, fact: NodeFact::Completed { .. } | NodeFact::Failed { .. } }
                if self.returned.contains(&(node_id.clone(), *generation)) =>
            {
                return;
            }
            // Somebody says what becomes of it: what is set meanwhile comes too late.
            Event::Node { node_id, generation, fact: NodeFact::EndKept { kept, .. } } => {
                if !self.returned.insert((node_id.clone(), *generation)) {
                    return;
                }
                let at = if matches!(**kept, HeldAt::Failure { .. }) { Moment::Failure } else { Moment::After };
                (node_id, generation, at, self.attempt(node_id))
            }
            Event::Node { node_id, generation, fact: NodeFact::Returned { .. } } => {
                if !self.returned.insert((node_id.clone(), *generation)) {
                    return;
                }
                (node_id, generation, Moment::After, self.attempt(node_id))
            }
            Event::Node { node_id, generation, fact: NodeFact::Completed { .. } } => {
                (node_id, generation, Moment::After, self.attempt(node_id))
            }
            Event::Node { node_id, generation, fact: NodeFact::Failed { .. } } => {
                (node_id, generation, Moment::Failure, self.attempt(node_id))
            }
            _ => return,
        };
        if self.is_meant(at, id, attempt) {
            assert!(self.met.contains(&(id.clone(), *generation, at)), "`{id}` goes past its breakpoint {at:?}");
        }
    }

    /// Whether a call must be held: a breakpoint means it, nobody released it before, and its node is not to stop.
    fn must_hold(&self, id: &NodeId, name: &str, nth: u32) -> bool {
        let stops = self.run.graph.find(id).is_some_and(|ix| self.run.is_wrapping_up(ix));
        let went = self.calls.get(id).is_some_and(|calls| calls.went(name, nth));
        !went && !stops && self.is_meant(Moment::Call, id, self.attempt(id))
    }

    fn read_call(&mut self, event: &Event) {
        if let Event::Acted { action, nodes, .. } = event {
            return self.read_verb(action, nodes);
        }
        let Some(id) = event.node() else { return };
        let was_held = matches!(event, Event::Node { fact: NodeFact::ModelStarted { call, .. }, .. } if self.held.contains(call));
        let calls = self.calls.entry(id.clone()).or_default();
        match event {
            Event::Node { fact: NodeFact::Started { .. }, .. } => calls.made.clear(),
            Event::Node { fact: NodeFact::Interrupted { .. } | NodeFact::Unknown { .. }, .. } => calls.break_off(),
            Event::Node { fact: NodeFact::Retrying { .. }, .. } => *calls = Calls::default(),
            Event::Node { fact: NodeFact::ToolProposed { call }, .. } => {
                let name = format!("{} {}", call.tool, call.args);
                let nth = calls.count(&name);
                self.proposed = Some((call.id.clone(), self.must_hold(id, &name, nth)));
            }
            Event::Node { fact: NodeFact::CallHeld { held, point }, .. } => {
                let (name, nth) = match &held.next {
                    NextCall::Model { model } => (model.clone(), calls.count(model)),
                    NextCall::Tool { tool, args, .. } => {
                        let name = format!("{tool} {args}");
                        let nth = calls.made.get(&name).copied().unwrap_or(0);
                        (name, nth)
                    }
                };
                assert!(!calls.went(&name, nth), "{} was let go before", held.call);
                assert!(self.held.insert(held.call.clone()), "{} is held twice", held.call);
                calls.stood.retain(|stood| *stood != (name.clone(), nth));
                calls.held.push((held.call.clone(), name.clone(), nth));
                assert!(point.is_none() || self.must_hold(id, &name, nth), "no breakpoint means {}", held.call);
            }
            Event::Node { fact: NodeFact::ModelStarted { call, model, .. }, .. } if !was_held => {
                let nth = calls.count(model);
                assert!(!self.must_hold(id, model, nth), "{call} goes past its breakpoint");
            }
            Event::Node {
                fact: NodeFact::ModelStarted { call, .. } | NodeFact::ToolStarted { call: ToolCall { id: call, .. }, .. },
                ..
            } => {
                assert!(!calls.held.iter().any(|(held, ..)| held == call), "{call} was let go by nobody");
            }
            _ => {}
        }
    }

    fn read_verb(&mut self, action: &Action, nodes: &[NodeId]) {
        for id in nodes {
            let at_start = self.run.kept(id).is_some();
            let Some(calls) = self.calls.get_mut(id) else { continue };
            match action {
                Action::Release { .. } | Action::Resume => calls.let_all_go(),
                Action::Step { .. } if !at_start => calls.let_one_go(),
                // What is held is refused.
                Action::Stop { .. } => calls.held.clear(),
                _ => {}
            }
        }
    }
}

fn holds(point: &Breakpoint, attempt: u32) -> bool {
    point.when.as_deref().is_none_or(|when| when == format!("attempt == {attempt}"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_breakpoint_is_met_twice_and_none_is_missed(
        nodes in prop::collection::vec(drawn(), 1..12),
        slots in 1_u32..4,
        spots in prop::collection::vec(spot(), 0..4),
        draws in prop::collection::vec((any::<Draw>(), any::<u8>(), 0..12_u32, spot()), 0..60),
        dialect in 0..10_usize,
    ) {
        let mut player = Player::created(build(&nodes, Dialect::ALL.get(dialect).copied().unwrap_or_default()), slots);
        spots.into_iter().for_each(|spot| set(&mut player, spot));
        player.world.command(Command::Start);
        player.take_effects();
        for (draw, drive, change, spot) in draws {
            match change {
                0 | 1 => set(&mut player, spot),
                2 => drop(player.world.act(Action::Unbreak { point: BreakId(u32::try_from(spot.1).unwrap()) })),
                3 => player.crash(),
                // What was held is released, and its attempt breaks off.
                4 => {
                    player.drive(3);
                    player.crash();
                }
                5 | 6 => player.ask_model(draw.1),
                _ => {}
            }
            player.take_effects();
            player.play(draw);
            player.drive(drive);
        }
        player.finish();
        check(&player.world);
        let mut reader = ConditionReader::default();
        player.world.records.iter().for_each(|record| reader.read(record));
        assert_eq!(reader.run, player.world.run);
    }
}

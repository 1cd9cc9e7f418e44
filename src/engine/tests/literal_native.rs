//! Joins, conditions, routes, causes and outcomes of native plans word by word: a slow interpreter of the rules that knows nothing of the
//! engine, and random plans that both run, in any order. Every node ends in the same state, the run in the same outcome, and what
//! validation says about joins comes true.

use super::kit::*;
use crate::engine::*;
use crate::plan::*;
use crate::plan::{
    dialect::read,
    validate::{Code, FixKind, validate},
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ANSWERS: [&str; 3] = ["'left'", "'right'", "'n1'"];

/// One node as drawn.
#[derive(Clone, Debug)]
struct DrawnNative {
    kind: u8,
    join: u8,
    guard: u8,
    /// What its agent gives: a number, a failure, a failure that is safe.
    gives: u8,
    route: u8,
    /// Earlier nodes that lead to it, by which kind of edge.
    sources: Vec<(u8, u8)>,
}

fn drawn() -> impl Strategy<Value = Vec<DrawnNative>> {
    let sources = prop::collection::vec((any::<u8>(), any::<u8>()), 0..4);
    let node = (any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), sources);
    prop::collection::vec(
        node.prop_map(|(kind, join, guard, gives, route, sources)| DrawnNative { kind, join, guard, gives, route, sources }),
        2..9,
    )
}

/// The document, as a person writes it.
fn document(drawn: &[DrawnNative]) -> Value {
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for (at, drawn) in drawn.iter().enumerate() {
        let mut node = match drawn.kind % 8 {
            0 | 1 => json!({"decide": ANSWERS[usize::from(drawn.gives % 3)]}),
            2 => json!({"merge": true}),
            _ => json!({"agent": "worker", "objective": "do it"}),
        };
        node["id"] = json!(format!("n{at}"));
        let mut seen = BTreeSet::new();
        let mut depends_on = Vec::new();
        for (source, kind) in drawn.sources.iter().filter(|_| at > 0) {
            let from = usize::from(*source) % at;
            if !seen.insert(from) {
                continue;
            }
            let (from, to) = (format!("n{from}"), format!("n{at}"));
            match kind % 7 {
                0 | 1 => depends_on.push(from),
                2 => edges.push(json!({"from": from, "to": to, "when": format!("{from}.n > 3")})),
                3 => edges.push(json!({"from": from, "to": to, "when": format!("{from}.n <= 3")})),
                4 => edges.push(json!({"from": from, "to": to, "when": "left"})),
                5 => edges.push(json!({"from": from, "to": to, "default": true})),
                _ => edges.push(json!({"from": from, "to": to})),
            }
        }
        let join = ["all", "settled", "any", "always"].get(usize::from(drawn.join % 8));
        // With `any` a guard is asked when the first edge is taken, whatever the others have given by then.
        if let Some(source) = seen.first().filter(|_| join != Some(&"any")) {
            match drawn.guard % 8 {
                0 => node["when"] = json!(format!("n{source}.n > 3")),
                1 => node["when"] = json!(format!("n{source}.n <= 3")),
                2 if drawn.kind % 8 > 1 => node["skip_if"] = json!(format!("n{source}.n > 3")),
                _ => {}
            }
        }
        if let Some(join) = join {
            node["join"] = json!(join);
        }
        if drawn.route.is_multiple_of(5) && drawn.kind % 8 > 1 {
            node["route"] = json!("first");
        }
        // Of a decision whose answer names no edge nobody knows where to go on, safe or not.
        if drawn.gives % 8 == 7 && drawn.kind % 8 > 1 {
            node["on_failure"] = json!("safe");
        }
        node["depends_on"] = json!(depends_on);
        nodes.push(node);
    }
    json!({"dagdeck": 1, "goal": "test", "nodes": nodes, "edges": edges})
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    Routed,
    Unmet,
    Broken,
}

/// One edge as the rules see it.
#[derive(Clone, Debug)]
struct LiteralLine {
    from: usize,
    to: usize,
    when: Option<String>,
    default: bool,
    taken: bool,
}

#[derive(Clone, Debug, Default)]
struct Ended {
    state: &'static str,
    /// Its result's `n`.
    n: Option<u64>,
    why: Option<Why>,
    /// It needed a branch that was not taken, by a condition that stood in the way of that branch alone.
    plainly_unmet: bool,
    /// It is skipped by one condition.
    plainly_routed: bool,
}

/// The rules, one node after the other.
struct LiteralRun<'a> {
    document: &'a Value,
    drawn: &'a [DrawnNative],
    /// In edge order: those of `edges`, then those of `depends_on` in node order.
    lines: Vec<LiteralLine>,
    ends: Vec<Ended>,
}

impl<'a> LiteralRun<'a> {
    fn run(document: &'a Value, drawn: &'a [DrawnNative]) -> Self {
        let number = |id: &Value| id.as_str().unwrap()[1..].parse::<usize>().unwrap();
        let line = |from, to| LiteralLine { from, to, when: None, default: false, taken: false };
        let written = document["edges"].as_array().unwrap().iter().map(|edge| LiteralLine {
            when: edge["when"].as_str().map(str::to_owned),
            default: edge["default"] == true,
            ..line(number(&edge["from"]), number(&edge["to"]))
        });
        let plain = document["nodes"].as_array().unwrap().iter().enumerate();
        let plain = plain.flat_map(|(to, node)| node["depends_on"].as_array().unwrap().iter().map(move |from| line(number(from), to)));
        let mut literal = Self { document, drawn, lines: written.chain(plain).collect(), ends: vec![Ended::default(); drawn.len()] };
        for at in 0..drawn.len() {
            literal.ends[at] = literal.end(at);
            literal.leave(at);
        }
        literal
    }

    fn node(&self, at: usize) -> &'a Value {
        &self.document["nodes"][at]
    }

    fn decides(&self, at: usize) -> bool {
        self.node(at).get("decide").is_some()
    }

    fn is_conditional(&self, line: &LiteralLine) -> bool {
        line.when.is_some() || line.default || self.decides(line.from)
    }

    /// `n3.n > 3` or `n3.n <= 3`; what is missing is neither.
    fn holds(&self, condition: &str) -> bool {
        let (path, is_more) = condition.split_once(" > ").map_or((condition.split_once(" <= "), false), |more| (Some(more), true));
        let Some((path, _)) = path else { return false };
        let source: usize = path[1..].trim_end_matches(".n").parse().unwrap();
        self.ends[source].n.is_some_and(|n| (n > 3) == is_more)
    }

    fn end(&self, at: usize) -> Ended {
        let node = self.node(at);
        let incoming: Vec<&LiteralLine> = self.lines.iter().filter(|line| line.to == at).collect();
        let join = node["join"].as_str().or(node.get("merge").map(|_| "settled"));
        let (conditional, plain): (Vec<&LiteralLine>, Vec<&LiteralLine>) =
            incoming.iter().copied().partition(|line| self.is_conditional(line));
        let is_open = incoming.is_empty()
            || match join {
                Some("all") => incoming.iter().all(|line| line.taken),
                Some("settled" | "any") => incoming.iter().any(|line| line.taken),
                Some(_) => true,
                None => plain.iter().all(|line| line.taken) && (conditional.is_empty() || incoming.iter().any(|line| line.taken)),
            };
        if !is_open {
            return self.closed(&incoming, join);
        }
        if node["when"].as_str().is_some_and(|when| !self.holds(when)) {
            return Ended { state: "skipped", why: Some(Why::Routed), plainly_routed: true, ..Ended::default() };
        }
        if node["skip_if"].as_str().is_some_and(|condition| self.holds(condition)) {
            return Ended { state: "passed", ..Ended::default() };
        }
        self.worked(at)
    }

    /// A node that its join keeps from running: the worst of what its dead edges bring.
    fn closed(&self, incoming: &[&LiteralLine], join: Option<&str>) -> Ended {
        let got_another = incoming.iter().any(|line| line.taken);
        let needs = |line: &LiteralLine| matches!(join, None | Some("all")) && !self.is_conditional(line);
        let mut ended = Ended { state: "skipped", ..Ended::default() };
        for line in incoming.iter().filter(|line| !line.taken) {
            let source = &self.ends[line.from];
            let why = match (source.state, source.why) {
                ("failed", _) => Why::Broken,
                (_, Some(Why::Routed)) if needs(line) && got_another => Why::Unmet,
                (_, Some(why)) => why,
                (_, None) => Why::Routed,
            };
            let is_needed = incoming.len() == 1 || join == Some("all") || needs(line);
            ended.why = ended.why.max(Some(why));
            ended.plainly_unmet |= why == Why::Unmet && source.why == Some(Why::Routed) && source.plainly_routed;
            ended.plainly_routed |= is_needed && (source.why.is_none() || source.plainly_routed);
        }
        ended
    }

    fn worked(&self, at: usize) -> Ended {
        let drawn = &self.drawn[at];
        match drawn.kind % 8 {
            0 | 1 if self.named(at).is_none() && self.lines.iter().any(|line| line.from == at) => {
                Ended { state: "failed", ..Ended::default() }
            }
            0..=2 => Ended { state: "succeeded", ..Ended::default() },
            _ => match drawn.gives % 8 {
                6 => Ended { state: "failed", ..Ended::default() },
                7 => Ended { state: "failed_safe", ..Ended::default() },
                n => Ended { state: "succeeded", n: Some(n.into()), ..Ended::default() },
            },
        }
    }

    /// The edge that a decision's answer names: by label or target; else the default.
    fn named(&self, at: usize) -> Option<usize> {
        let answer = self.node(at)["decide"].as_str()?.trim_matches('\'');
        let out: Vec<usize> = (0..self.lines.len()).filter(|line| self.lines[*line].from == at).collect();
        let is_named = |line: &&usize| {
            let line = &self.lines[**line];
            line.when.as_deref() == Some(answer) || format!("n{}", line.to) == answer
        };
        let default = || out.iter().find(|line| self.lines[**line].default);
        if out.len() == 1 { Some(out[0]) } else { out.iter().find(is_named).or_else(default).copied() }
    }

    /// Which edges a node takes as it ends.
    fn leave(&mut self, at: usize) {
        let out: Vec<usize> = (0..self.lines.len()).filter(|line| self.lines[*line].from == at).collect();
        let taken = match self.ends[at].state {
            "failed" | "skipped" => Vec::new(),
            _ if self.decides(at) => self.named(at).into_iter().collect(),
            _ => {
                let open = |line: &usize| match &self.lines[*line].when {
                    Some(when) => self.holds(when),
                    None => !self.lines[*line].default,
                };
                let mut open: Vec<usize> = out.iter().copied().filter(open).collect();
                let none_holds = open.iter().all(|line| self.lines[*line].when.is_none());
                let default = out.iter().copied().find(|line| self.lines[*line].default);
                if self.node(at)["route"] == "first" {
                    open.truncate(1);
                    if open.is_empty() { default.into_iter().collect() } else { open }
                } else {
                    open.extend(default.filter(|_| none_holds));
                    open
                }
            }
        };
        taken.into_iter().for_each(|line| self.lines[line].taken = true);
    }

    fn outcome(&self) -> Outcome {
        let is_final = |at: &usize| self.lines.iter().all(|line| line.from != *at);
        let finals: Vec<&Ended> = (0..self.ends.len()).filter(is_final).map(|at| &self.ends[at]).collect();
        let well = |end: &&Ended| matches!(end.state, "succeeded" | "passed");
        let badly = |end: &&Ended| !well(end) && end.why != Some(Why::Routed);
        if !finals.iter().any(well) && finals.iter().any(badly) {
            Outcome::Failed
        } else if finals.iter().any(badly) || self.ends.iter().any(|end| end.state == "failed" || end.why == Some(Why::Unmet)) {
            Outcome::Partial
        } else {
            Outcome::Succeeded
        }
    }
}

/// What the engine makes of the document, with its nodes ending in an order that is drawn.
fn engine(plan: &Plan, drawn: &[DrawnNative], mut picks: impl Iterator<Item = usize>) -> World {
    let mut world = World::new(plan.clone());
    loop {
        let running: Vec<String> = (0..drawn.len()).map(|at| format!("n{at}")).filter(|id| world.state(id) == "running").collect();
        let Some(id) = running.get(picks.next().unwrap_or(0) % running.len().max(1)) else { return world };
        match drawn[id[1..].parse::<usize>().unwrap()].gives % 8 {
            6 | 7 => drop(world.fail(id, ErrorKind::Permanent)),
            n => drop(world.done(id, json!({ "n": n }))),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_native_plans_end_as_the_rules_say_and_as_validation_warned(
        drawn in drawn(), picks in prop::collection::vec(any::<usize>(), 12),
    ) {
        let document = document(&drawn);
        let (plan, _) = read(&document.to_string(), "random").unwrap();
        let literal = LiteralRun::run(&document, &drawn);
        let world = engine(&plan, &drawn, picks.into_iter());
        let states: Vec<&str> = (0..drawn.len()).map(|at| world.state(&format!("n{at}"))).collect();
        let wanted: Vec<&str> = literal.ends.iter().map(|end| end.state).collect();
        prop_assert_eq!(states, wanted, "{}", document);
        prop_assert_eq!(world.outcome(), Some(literal.outcome()), "{}\n{:?}", document, literal.ends);

        let findings = validate(&plan, &settings().catalog);
        let joins: Vec<_> = findings.iter().filter(|finding| finding.code == Code::Alternatives).collect();
        for (at, end) in literal.ends.iter().enumerate() {
            let id = format!("n{at}");
            let warned = joins.iter().find(|finding| finding.node.as_deref() == Some(&*id)).and_then(|finding| finding.fix.as_ref());
            prop_assert!(!end.plainly_unmet || warned.is_some(), "{} was not warned of: {}", id, document);
            let is_never = warned.is_some_and(|fix| fix.kind == FixKind::Safe);
            prop_assert!(!is_never || end.state == "skipped", "{} ran: {}", id, document);
        }
    }
}

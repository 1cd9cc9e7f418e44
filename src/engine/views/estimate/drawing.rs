//! `Drawing`: a plan's run, drawn many times: which nodes run, what each takes, when each ends, and what that comes to.

use super::{
    EstimateBand, Forecast, Measure, NodeEstimate,
    laid::{LaidNode, LaidPlan, LaidWork, Passes, PastWork},
    spread::{DrawDice, quantile},
};
use crate::plan::{Join, NodeId};
use std::collections::HashMap;

/// How often a small plan is drawn, and a large one.
const DRAWS: (usize, usize) = (300, 40);
/// Nodes that are drawn in all, about.
const WORK: usize = 60_000;
/// The shares of draws below the low bound, the middle and the worst.
const SHARES: [f64; 3] = [0.1, 0.5, 0.9];
/// The most throws that one figure takes.
const MOST_THROWS: usize = 24;
/// The most passes of a plan inside that are drawn one by one.
const MOST_PASSES: u32 = 50;

/// What was drawn.
pub(super) struct Drawing {
    whole: Vec<TakenBands>,
    /// By node: what it took in each draw that it ran in.
    nodes: HashMap<NodeId, Vec<[EstimateBand; 4]>>,
    goes_round: bool,
}

/// What a run came to, by `Measure::ALL`; its time is when its last node ends.
type TakenBands = [EstimateBand; 4];

/// The place of the time among the measures.
const TIME: usize = 2;

/// A plan, drawn once.
struct PlanDraw {
    taken: TakenBands,
    /// Tokens of the results of its final nodes.
    result: f64,
    has_result: bool,
}

/// A node, drawn once.
struct NodeDraw {
    /// Whether its edges may be taken.
    alive: bool,
    result: f64,
    end: EstimateBand,
}

impl Drawing {
    pub(super) fn of(laid: &LaidPlan<'_>) -> Self {
        let draws = (WORK / laid.size().max(1)).clamp(DRAWS.1, DRAWS.0);
        let (mut dice, mut nodes) = (DrawDice::new(), HashMap::new());
        let whole = (0..draws).map(|_| draw(laid, 0.0, &mut dice, &mut nodes).taken).collect();
        Self { whole, nodes, goes_round: laid.goes_round }
    }

    /// What the whole run takes. How often a walk goes round is not known.
    pub(super) fn whole(&self) -> Forecast {
        let whole = forecast(&self.whole);
        if !self.goes_round {
            return whole;
        }
        Forecast::by(|measure| EstimateBand { low: whole.get(measure).low, expected: None, worst: None })
    }

    /// What each node takes that takes anything, once.
    pub(super) fn nodes(&self, laid: &LaidPlan<'_>) -> Vec<NodeEstimate> {
        let estimate = |node: &LaidNode<'_>| {
            if let LaidWork::Nothing = node.work {
                return None;
            }
            Some(NodeEstimate {
                node: node.address.clone(),
                basis: node.basis,
                cases: node.cases,
                prompt_tokens: node.prompt_tokens,
                takes: self.nodes.get(&node.address).map(|draws| forecast(draws)).unwrap_or_default(),
            })
        };
        laid.all().into_iter().filter_map(estimate).collect()
    }
}

/// The bounds of what was drawn. A bound that is unknown in one draw is unknown.
fn forecast(draws: &[TakenBands]) -> Forecast {
    let sorted = |at: usize, bound: fn(&EstimateBand) -> Option<f64>| {
        let mut figures = draws.iter().map(|taken| bound(&taken[at])).collect::<Option<Vec<f64>>>()?;
        figures.sort_by(f64::total_cmp);
        Some(figures)
    };
    let band = |at: usize| EstimateBand {
        low: sorted(at, |band| Some(band.low)).and_then(|figures| quantile(&figures, SHARES[0])).unwrap_or_default(),
        expected: sorted(at, |band| band.expected).and_then(|figures| quantile(&figures, SHARES[1])),
        worst: sorted(at, |band| band.worst).and_then(|figures| quantile(&figures, SHARES[2])),
    };
    Forecast { tokens: band(0), usd: band(1), ms: band(TIME), model_calls: band(3) }
}

fn draw(laid: &LaidPlan<'_>, input: f64, dice: &mut DrawDice, nodes: &mut HashMap<NodeId, Vec<TakenBands>>) -> PlanDraw {
    let mut drawn: Vec<Option<NodeDraw>> = laid.nodes.iter().map(|_| None).collect();
    let mut taken_edges = vec![false; laid.graph.links().len()];
    let mut taken = [EstimateBand::exactly(0.0); 4];
    for &at in &laid.order {
        let Some((given, start)) = starts(laid, at, &drawn, &taken_edges) else { continue };
        let node = &laid.nodes[at];
        let policy = &node.node.policy;
        // Nobody knows what conditions will say.
        if policy.when.is_some() && dice.chance() < 0.5 {
            continue;
        }
        let passed = policy.skip_if.is_some() && dice.chance() < 0.5;
        let own = node.own_tokens as f64 + given + if laid.graph.incoming(at).next().is_none() { input } else { 0.0 };
        let (took, result, has_result) =
            if passed { ([EstimateBand::exactly(0.0); 4], 0.0, true) } else { draw_node(&node.work, own, given, dice, nodes) };
        if !passed {
            nodes.entry(node.address.clone()).or_default().push(took);
        }
        let end = start + took[TIME];
        for measure in [0, 1, 3] {
            taken[measure] = taken[measure] + took[measure];
        }
        taken[TIME] = taken[TIME].later(end);
        let alive = has_result || laid.fails_safe(node.node);
        drawn[at] = Some(NodeDraw { alive, result, end });
        if alive {
            leave(laid, at, &mut taken_edges, dice);
        }
    }
    let finals: Vec<&NodeDraw> = laid.graph.final_nodes().filter_map(|at| drawn[at].as_ref()).collect();
    PlanDraw {
        taken,
        result: finals.iter().map(|node| node.result).sum(),
        has_result: laid.nodes.is_empty() || finals.iter().any(|node| node.alive),
    }
}

/// Whether a node starts: the tokens that its sources give it, and when the last of them ended.
fn starts(laid: &LaidPlan<'_>, at: usize, drawn: &[Option<NodeDraw>], taken: &[bool]) -> Option<(f64, EstimateBand)> {
    let incoming: Vec<usize> = laid.graph.incoming(at).collect();
    let is_taken = |link: &usize| taken[*link];
    let any = incoming.iter().any(is_taken);
    let plain_all = incoming.iter().filter(|link| !laid.is_conditional(**link)).all(is_taken);
    let mut conditional = incoming.iter().filter(|link| laid.is_conditional(**link)).peekable();
    let go = match laid.join(laid.nodes[at].node) {
        _ if incoming.is_empty() => true,
        Some(Join::Always) => true,
        Some(Join::Any | Join::Settled) => any,
        Some(Join::All) => incoming.iter().all(is_taken),
        None if laid.plan.dialect.walks() => any,
        // Conditional edges are alternatives.
        None => plain_all && (conditional.peek().is_none() || conditional.any(is_taken)),
    };
    let sources = incoming.iter().filter(|link| taken[**link]).filter_map(|&link| drawn[laid.graph.links()[link].from?].as_ref());
    go.then(|| sources.fold((0.0, EstimateBand::exactly(0.0)), |(given, start), source| (given + source.result, start.later(source.end))))
}

/// Takes the edges out of a node. Which of several is taken, and what conditions say, nobody knows.
fn leave(laid: &LaidPlan<'_>, at: usize, taken: &mut [bool], dice: &mut DrawDice) {
    let outgoing: Vec<usize> = laid.graph.outgoing(at).collect();
    if laid.takes_one(laid.nodes[at].node) && !outgoing.is_empty() {
        taken[outgoing[dice.pick(outgoing.len())]] = true;
        return;
    }
    for link in outgoing {
        taken[link] = !laid.is_conditional(link) || dice.chance() < 0.5;
    }
}

/// What a node takes, the tokens of its result, and whether it has one.
fn draw_node(
    work: &LaidWork<'_>,
    own: f64,
    given: f64,
    dice: &mut DrawDice,
    nodes: &mut HashMap<NodeId, Vec<TakenBands>>,
) -> (TakenBands, f64, bool) {
    match work {
        LaidWork::Nothing => ([EstimateBand::exactly(0.0); 4], given, true),
        LaidWork::Past(past) => draw_past(past, own, dice),
        LaidWork::Bounds(bounds) => (Measure::ALL.map(|measure| bounds.get(measure)), 0.0, true),
        LaidWork::Unread => ([EstimateBand::default(); 4], 0.0, true),
        LaidWork::Inside { passes, body } => draw_inside(passes, body, own, dice, nodes),
    }
}

fn draw_past(past: &PastWork, own: f64, dice: &mut DrawDice) -> (TakenBands, f64, bool) {
    // What takes more tokens takes more money and time, too: one throw for all.
    let throw = dice.clone();
    let mut at = 0;
    let took = Measure::ALL.map(|_| {
        let spread = past.spread(at);
        at += 1;
        spread.map_or_else(EstimateBand::default, |spread| EstimateBand::exactly(spread.draw(own, &mut throw.clone())))
    });
    let result = past.result().map_or(0.0, |spread| spread.draw(own, &mut throw.clone()));
    // Past the throws that a bell curve takes.
    for _ in 0..MOST_THROWS {
        dice.chance();
    }
    (took, result, dice.chance() < past.success)
}

fn draw_inside(
    passes: &Passes,
    body: &LaidPlan<'_>,
    own: f64,
    dice: &mut DrawDice,
    nodes: &mut HashMap<NodeId, Vec<TakenBands>>,
) -> (TakenBands, f64, bool) {
    let times = match passes {
        Passes::Times(times) => *times,
        Passes::Past(spread) => spread.draw(0.0, dice).round() as u32,
        Passes::Between(least, most) => {
            let one = draw(body, own, dice, nodes);
            let scaled = |band: EstimateBand| EstimateBand {
                low: band.low * f64::from(*least),
                expected: None,
                worst: most.and_then(|most| Some(band.worst? * f64::from(most))),
            };
            return (one.taken.map(scaled), one.result, one.has_result);
        }
    };
    let (mut taken, mut result, mut has_result) = ([EstimateBand::exactly(0.0); 4], 0.0, times == 0);
    for _ in 0..times.min(MOST_PASSES) {
        let one = draw(body, own, dice, nodes);
        for (sum, took) in taken.iter_mut().zip(one.taken) {
            *sum = *sum + took;
        }
        result += one.result;
        has_result |= one.has_result;
    }
    let more = f64::from(times.max(1)) / f64::from(times.clamp(1, MOST_PASSES));
    let scaled = |band: EstimateBand| EstimateBand {
        low: band.low * more,
        expected: band.expected.map(|figure| figure * more),
        worst: band.worst.map(|figure| figure * more),
    };
    (taken.map(scaled), result * more, has_result)
}

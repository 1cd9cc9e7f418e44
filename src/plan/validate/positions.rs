//! Names by position, such as `Step_4`, `<node-1>` and `0`: from where they count, and how sure that is. One counting holds for all of a
//! plan's names, in its order and in its texts: from 0 if any of them is 0, else from 1. It is sure if each name leads to an earlier node,
//! so that what is a guess stays one when other names are replaced.

use super::check::{PlanCheck, PositionCounting};
use super::finding::FixKind;
use super::foreign;
use super::structure::position_in;
use crate::plan::{Edge, NodeId, NodeText, Root, node_texts};

/// The most names of texts that are looked at.
const MOST_NAMES: usize = 1000;

/// A name by position in a text.
pub(super) struct PositionInText {
    pub number: usize,
    /// The node whose text it is.
    pub reader: usize,
    /// Where its spelling counts from in the systems that it comes from.
    pub usual: Option<usize>,
}

pub(super) fn counting(check: &mut PlanCheck) -> PositionCounting {
    let address = check.around.outer.as_ref().map(|outer| outer.address.clone()).unwrap_or_default();
    if let Some(known) = check.stock.countings.get(&address) {
        return *known;
    }
    let counting = PositionNames::of(check).counting();
    check.stock.countings.insert(address, counting);
    counting
}

/// Every name by position that no node has.
struct PositionNames<'c, 'a> {
    check: &'c PlanCheck<'a>,
    /// Edges of which an end is such a name.
    order: Vec<Edge>,
    texts: Vec<PositionInText>,
}

impl<'c, 'a> PositionNames<'c, 'a> {
    fn of(check: &'c PlanCheck<'a>) -> Self {
        let is_lost = |id: &NodeId| check.graph.position(id).is_none() && position_in(id).is_some();
        let order = check.plan.all_edges().filter(|edge| is_lost(&edge.from) || is_lost(&edge.to)).collect();
        let mut texts = Vec::new();
        for (reader, node) in check.plan.nodes.iter().enumerate() {
            let mut lost = |text: NodeText<'_>| {
                for path in text.paths(check) {
                    let (Root::Node(name) | Root::Entry(name) | Root::Unknown(name)) = &path.root else { continue };
                    if let Some(number) = position_in(name).filter(|_| check.graph.position(name).is_none()) {
                        texts.push(PositionInText { number, reader, usual: None });
                    }
                }
            };
            node_texts(node, |_, text| match text {
                NodeText::Code(_) => {}
                text => lost(text),
            });
        }
        texts.extend(foreign::positional(check));
        texts.truncate(MOST_NAMES);
        Self { check, order, texts }
    }

    fn counting(&self) -> PositionCounting {
        let is_zero = |id: &NodeId| self.number(id) == Some(0);
        let is_own_zero = |usual: Option<usize>| self.texts.iter().any(|name| name.number == 0 && name.usual == usual);
        let in_order = self.order.iter().any(|edge| is_zero(&edge.from) || is_zero(&edge.to)) || is_own_zero(None);
        let has_zero = in_order || is_own_zero(Some(0)) || is_own_zero(Some(1));
        let base = usize::from(!has_zero);
        let fits = [self.fits(0), self.fits(1)];
        let only = match fits {
            [true, false] => Some(0),
            [false, true] => Some(1),
            [true, true] | [false, false] => None,
        };
        let kind = if fits[base] { FixKind::Safe } else { FixKind::Guess };
        let order = (if fits[base] { base } else { only.filter(|_| !has_zero).unwrap_or(base) }, kind);
        // Where a spelling usually counts otherwise, something else has to tell that it doesn't here.
        let is_told = |usual: usize| if base == 1 { only == Some(1) } else { in_order || is_own_zero(Some(usual)) };
        let is_there = |usual: usize| self.texts.iter().any(|name| name.usual == Some(usual));
        // One spelling alone would be replaced, and what is left would count anew.
        let is_sure = fits[base] && [0, 1].into_iter().all(|usual| !is_there(usual) || usual == base || is_told(usual));
        let texts = [0, 1].map(|usual| match only {
            _ if is_sure => (base, true),
            Some(only) => (only, false),
            None => (self.nearest(usual), false),
        });
        PositionCounting { order, texts }
    }

    /// The position that a name says which no node has.
    fn number(&self, id: &NodeId) -> Option<usize> {
        position_in(id).filter(|_| self.check.graph.position(id).is_none())
    }

    fn at(&self, id: &NodeId, base: usize) -> Option<usize> {
        let count = self.check.plan.nodes.len();
        self.check.graph.position(id).or_else(|| self.number(id)?.checked_sub(base).filter(|at| *at < count))
    }

    /// Whether every name leads to an earlier node, and to none that stands beside it by its id.
    fn fits(&self, base: usize) -> bool {
        let leads = |edge: &Edge| self.at(&edge.from, base).zip(self.at(&edge.to, base)).is_some_and(|(from, to)| from < to);
        let is_double = |edge: &Edge| {
            let meant = self.number(&edge.from).and_then(|_| self.at(&edge.from, base));
            let to = self.at(&edge.to, base);
            meant.zip(to).is_some_and(|(meant, to)| self.check.plan.nodes[to].depends_on.contains(self.check.graph.id(meant)))
        };
        let is_earlier = |name: &PositionInText| name.number.checked_sub(base).is_some_and(|from| from < name.reader);
        self.order.iter().all(|edge| leads(edge) && !is_double(edge)) && self.texts.iter().all(is_earlier)
    }

    /// From where a spelling seems to count that both countings fit, or none: where its names lead to what has run by then.
    fn nearest(&self, usual: usize) -> usize {
        let own = || self.texts.iter().filter(|name| name.usual == Some(usual));
        let leads = |base: usize, is_ordered: bool| {
            let mut own = own();
            own.all(|name| {
                let from = name.number.checked_sub(base).filter(|from| *from < name.reader);
                from.is_some_and(|from| !is_ordered || self.check.graph.descendants(from)[name.reader])
            })
        };
        let all = [(usual, true), (1 - usual, true), (usual, false), (1 - usual, false)];
        let found = all.into_iter().find(|(base, is_ordered)| leads(*base, *is_ordered)).map(|(base, _)| base);
        found.unwrap_or(if own().any(|name| name.number == 0) { 0 } else { usual })
    }
}

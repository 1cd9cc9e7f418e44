//! `Runs`: the runs that are open, the list of all as a tree of branches, and two of them side by side.

use std::collections::BTreeMap;

use super::{CompareScreen, PeekedRun, RunView, list::ListCursor};
use crate::engine::{Action, RunId, Time};
use crate::host::client::RunSummary;

/// The runs that are open, and the list of all.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Open runs in order of opening.
    pub open: Vec<RunView>,
    /// All runs as the host last listed them: newest first, branches below the run that they left.
    pub listing: Vec<RunSummary>,
    /// How deep each line of the list is.
    pub depths: Vec<usize>,
    pub place: ListCursor,
    /// Those that the start names.
    pub latest: LatestRuns,
    /// What was read of the selected line.
    pub peeked: PeekedRun,
    /// What the host searches past runs for now: one search at a time, however fast one types.
    pub searching: Option<String>,
    /// Two runs side by side.
    pub versus: Option<CompareScreen>,
    /// A run that is being opened to be compared with another one: that one, then the one that is opened.
    pub awaited: Option<(RunId, RunId)>,
    /// When a console of this workspace was last left.
    pub looked: Option<Time>,
    /// A run was asked for that is not open yet: one press starts one run.
    pub is_starting: bool,
    /// What comes first in a run of the plan that was asked for before its agents and tools were known: it starts once they are.
    pub asked: Option<Vec<Action>>,
}

/// What the start and the inbox say of the list: places in it, and how many there are. Worked out when the list comes, so that no frame goes through it.
#[derive(Clone, Debug, Default)]
pub struct LatestRuns {
    /// Those that are not over.
    pub open: (Vec<usize>, usize),
    pub ended: (Vec<usize>, usize),
    /// Those that ended are only the ones that ended since the last look.
    pub is_news: bool,
    /// Which of those named is selected.
    pub selected: usize,
    /// How many wait for somebody and are not driven here.
    pub wait_elsewhere: usize,
}

/// Runs of a kind that the start names.
const NAMED: usize = 3;

impl LatestRuns {
    /// How many are named.
    pub fn count(&self) -> usize {
        self.open.0.len() + self.ended.0.len()
    }

    /// The place in the list of one of them.
    pub fn place(&self, nth: usize) -> Option<usize> {
        self.named().nth(nth)
    }

    /// The places of all of them, in order.
    pub fn named(&self) -> impl Iterator<Item = usize> {
        self.open.0.iter().chain(&self.ended.0).copied()
    }

    fn of(listing: &[RunSummary], looked: Option<Time>) -> Self {
        let mut latest = Self::default();
        for (at, run) in listing.iter().enumerate() {
            let (places, all) = if run.outcome.is_none() && run.imported.is_none() { &mut latest.open } else { &mut latest.ended };
            *all += 1;
            latest.wait_elsewhere += usize::from(!run.driver.is_here() && run.imported.is_none() && !run.waiting.is_empty());
            places.push(at);
        }
        // What ended while nobody looked is news, and goes before what is known.
        let is_new = |at: &usize| looked.zip(listing[*at].finished()).is_some_and(|(looked, finished)| finished > looked);
        let (places, all) = &mut latest.ended;
        places.sort_by_key(|at| std::cmp::Reverse(listing[*at].finished()));
        if places.iter().any(is_new) {
            places.retain(is_new);
            (*all, latest.is_news) = (places.len(), true);
        }
        latest.open.0.truncate(NAMED);
        latest.ended.0.truncate(NAMED);
        latest
    }
}

impl Runs {
    pub fn get(&self, id: &RunId) -> Option<&RunView> {
        self.open.iter().find(|run| run.id == *id)
    }

    /// The number of an open run, from 1, by which people know it.
    pub fn number(&self, id: &RunId) -> Option<usize> {
        self.open.iter().position(|run| run.id == *id).map(|at| at + 1)
    }

    pub fn get_mut(&mut self, id: &RunId) -> Option<&mut RunView> {
        self.open.iter_mut().find(|run| run.id == *id)
    }

    /// The selected line of the list.
    pub fn selected(&self) -> Option<&RunSummary> {
        self.listing.get(self.place.selected)
    }

    /// Whether a run came from a run file: it is only looked at, and goes on in a branch.
    pub fn is_imported(&self, id: &RunId) -> bool {
        self.listing.iter().any(|summary| summary.run == *id && summary.imported.is_some())
    }

    /// Runs that go on in the host.
    pub fn going_on(&self) -> impl Iterator<Item = &RunView> {
        self.open.iter().filter(|run| run.goes_on())
    }

    /// For each level down to a line of the list, whether a further run of that level follows below it.
    pub fn rails(&self, at: usize) -> Vec<bool> {
        let mut undecided = self.depths.get(at).copied().unwrap_or_default();
        let mut rails = vec![false; undecided];
        for &below in self.depths.iter().skip(at + 1).take_while(|below| **below > 0) {
            if below <= undecided {
                rails[below - 1] = true;
                undecided = below - 1;
            }
        }
        rails
    }

    /// Takes in the selected run as it is now, where it is open.
    pub fn look(&mut self) {
        let Some(run) = self.selected().map(|summary| summary.run.clone()) else { return };
        let Some(view) = self.open.iter().find(|view| view.id == run) else { return };
        self.peeked.look(view);
    }

    /// Compares the two runs that are side by side again, where one of them went on since.
    pub fn refresh_versus(&mut self) {
        let Some(mut versus) = self.versus.take() else { return };
        if let [Some(left), Some(right)] = versus.sides.each_ref().map(|(id, _)| self.get(id)) {
            versus.refresh(left, right);
        }
        self.versus = Some(versus);
    }

    /// Takes in the list of all, newest first. The selection stays on its run.
    pub fn list(&mut self, listing: Vec<RunSummary>) {
        let selected = self.selected().map(|summary| summary.run.clone());
        let known: BTreeMap<&RunId, usize> = listing.iter().enumerate().map(|(at, summary)| (&summary.run, at)).collect();
        let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut next: Vec<(usize, usize)> = Vec::new();
        for (at, summary) in listing.iter().enumerate() {
            match summary.parent.as_ref().and_then(|parent| known.get(&parent.run)).filter(|parent| **parent != at) {
                Some(parent) => below.entry(*parent).or_default().push(at),
                None => next.push((at, 0)),
            }
        }
        next.reverse();
        let mut order = Vec::with_capacity(listing.len());
        while let Some((at, depth)) = next.pop() {
            order.push((at, depth));
            next.extend(below.remove(&at).into_iter().flatten().rev().map(|child| (child, depth + 1)));
        }
        self.depths = order.iter().map(|(_, depth)| *depth).collect();
        self.listing = order.iter().filter_map(|(at, _)| listing.get(*at).cloned()).collect();
        let named = self.latest.selected;
        self.latest = LatestRuns::of(&self.listing, self.looked);
        self.latest.selected = named.min(self.latest.count().saturating_sub(1));
        let place = selected.and_then(|selected| self.listing.iter().position(|summary| summary.run == selected));
        self.place.selected = place.unwrap_or(self.place.selected);
    }
}

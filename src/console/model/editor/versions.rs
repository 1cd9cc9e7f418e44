//! `Versions`: which plans came one after the other, from whom, and which of them the edited plan goes back to. It follows undo and
//! redo, so that origin and comparison always speak of the plan that is there.

use crate::{engine::ModelCall, plan::Plan, text::Plain};

/// The plans that came, in order.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// Each with the number of edits that can be undone right after it came; these numbers go up.
    all: Vec<(usize, Version)>,
}

/// A plan as it came.
#[derive(Clone, Debug, Default)]
pub struct Version {
    pub plan: Box<Plan>,
    pub origin: PlanOrigin,
    /// What planning took, until a run counts it.
    pub planning: Vec<ModelCall>,
    /// It is the plan before, changed.
    pub goes_on: bool,
}

/// Who made a plan, or where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlanOrigin {
    /// The person who edits it.
    #[default]
    Person,
    /// A planner, by its name.
    Planner(String),
    File(String),
    Stdin,
    /// A run; the file of the plan that it ran, where that is known.
    Run(Option<String>),
}

impl PlanOrigin {
    /// Beside the plan; empty where the person made it.
    pub fn label(&self) -> Plain {
        match self {
            Self::Person => Plain::default(),
            Self::Planner(name) => Plain::summary(&format!("by {name}")),
            Self::File(file) => Plain::summary(&format!("from {file}")),
            Self::Stdin => Plain::line("from stdin"),
            Self::Run(Some(file)) => Plain::summary(&format!("from a run of {file}")),
            Self::Run(None) => Plain::line("from a run"),
        }
    }

    /// The file that the plan belongs to.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::File(file) | Self::Run(Some(file)) => Some(file),
            Self::Person | Self::Planner(_) | Self::Stdin | Self::Run(None) => None,
        }
    }
}

impl Versions {
    /// The version that the plan goes back to while so many edits can be undone.
    pub fn at(&self, edits: usize) -> Option<&Version> {
        self.all.iter().rev().find(|(since, _)| *since <= edits).map(|(_, version)| version)
    }

    /// What came after so many edits can't be done again any more.
    pub fn forget_after(&mut self, edits: usize) {
        self.all.retain(|(since, _)| *since <= edits);
    }

    /// The version that the plan goes back to is this plan from now on.
    pub fn rebase(&mut self, edits: usize, plan: Plan) {
        if let Some((_, version)) = self.all.iter_mut().rev().find(|(since, _)| *since <= edits) {
            *version.plan = plan;
        }
    }

    /// The version that the plan goes back to is in that file now. Who planned it stays known.
    pub fn saved(&mut self, edits: usize, file: &str) {
        let version = self.all.iter_mut().rev().find(|(since, _)| *since <= edits);
        if let Some((_, version)) = version.filter(|(_, version)| !matches!(version.origin, PlanOrigin::Planner(_))) {
            version.origin = PlanOrigin::File(file.to_owned());
        }
    }

    /// What planning of that version took, with those that it goes on from; it is asked for once.
    pub fn take_planning(&mut self, edits: usize) -> Vec<ModelCall> {
        let mut planning = Vec::new();
        for (_, version) in self.all.iter_mut().rev().skip_while(|(since, _)| *since > edits) {
            planning.splice(0..0, std::mem::take(&mut version.planning));
            if !version.goes_on {
                break;
            }
        }
        planning
    }

    /// A version came by the edit with that number. Number 0 is a plan that nothing leads back from.
    pub fn push(&mut self, since: usize, version: Version) {
        self.all.retain(|(earlier, _)| *earlier < since);
        self.all.push((since, version));
    }
}

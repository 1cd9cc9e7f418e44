//! Each cause in a sentence, lower-case and without a full stop. Nowhere else.

use crate::engine::{BadEnd, Cause, Mark, NodeState};
use crate::plan::NodeId;
use crate::text::clock;

impl Cause {
    /// What it waits for, where it goes on by itself.
    pub(in crate::engine) fn short_wait(&self) -> Option<String> {
        if let Self::ModelRate { until, .. } = self {
            return Some(format!("rate limit until {}", clock(until.0)));
        }
        if let Self::NextTry { until, .. } = self {
            return Some(format!("tries again at {}", clock(until.0)));
        }
        if let Self::BudgetReserved { .. } = self {
            return Some("waits for its budget".to_owned());
        }
        let words = if let Self::ModelSlot { .. } | Self::NoSlot = self { "waits for a slot" } else { "waits for first words" };
        (self.is_model_wait() || *self == Self::NoSlot).then(|| words.to_owned())
    }

    /// Empty where the state says it all.
    pub fn message(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Rehearsed => "what needs a model or would change something was only rehearsed".to_string(),
            Self::Text { text } => text.clone(),
            Self::Lock { lock, holder } => format!("waits for lock `{lock}`, which `{holder}` holds"),
            Self::NoSlot => "answered; waits for a slot to go on".to_string(),
            Self::ModelSlot { provider } => format!("waits for a free slot at {provider}"),
            Self::ModelRate { provider, until } => format!("waits for the rate limit of {provider}, until {}", clock(until.0)),
            Self::NextTry { until, failed } => format!("asks the model again at {}: {failed}", clock(until.0)),
            Self::BudgetReserved { scope } => reserved(&scope.label()),
            Self::BudgetRaised => "its budget holds the call by now".to_string(),
            Self::FirstWords => "waits for the model to begin its answer".to_string(),
            Self::Held { by } => format!("held by {by}"),
            Self::HeldInside { by } => format!("held by {by}: nothing more inside starts"),
            Self::Breakpoint { point, label, unjudged } => {
                let name = point.map_or_else(|| "the plan's breakpoint".to_string(), |point| format!("breakpoint {}", point.0));
                let unjudged = unjudged.as_ref().map(|why| format!("; its condition has no value here: {why}")).unwrap_or_default();
                format!("{name} {label}{unjudged}")
            }
            Self::SteppingThrough { node } => format!("stepping through `{node}`"),
            Self::AboutToCall { call, cause } => format!("about to call {call}: {}", cause.message()),
            Self::Condition { when } => format!("its condition doesn't hold: {when}"),
            Self::SkipIf { condition } => format!("passed through: {condition}"),
            Self::Walk { entry } => format!("this plan starts at `{entry}` only"),
            Self::OtherWay { node, took, needs, rehearsed } => other_way(node, took, needs.as_deref(), *rehearsed),
            Self::Source { node, state: NodeState::Failed } => format!("`{node}` failed"),
            Self::Source { node, state } => format!("`{node}` was {}", state.word()),
            Self::DeadEdge { node } => format!("the edge from `{node}` is dead"),
            Self::Skipped { by, why } => because(format!("skipped by {by}"), why),
            Self::Cancelled { by, why } => because(format!("cancelled by {by}"), why),
            Self::RunCancelled { by, why } => because(format!("the run was cancelled by {by}"), why),
            Self::Stopped { by } => format!("stopped by {by}"),
            Self::Stopping { by } => format!("stopped by {by}; it returns what it has"),
            Self::WorkerStopped => "its worker was stopped".to_string(),
            Self::Rejected { message, by } => because(rejected(by), if by.ends_with(&format!("({message})")) { "" } else { message }),
            Self::PartOf { node } => format!("cancelled with `{node}`, which it is a part of"),
            Self::Branch { node } => format!("cancelled with the branch at `{node}`"),
            Self::DriverEnded => "the process that ran it ended".to_string(),
            Self::BranchedOff => "the run branched off while it was at work".to_string(),
            Self::Doubt { after } => format!("{}; nobody knows whether its call was made", after.message()),
            Self::Unanswered => "nobody decided what to do with it".to_string(),
            Self::HasResult => "the node has its result".to_string(),
            Self::HasFailed => "the node failed".to_string(),
            Self::AttemptOver => "the attempt has ended".to_string(),
            Self::NodeStopping => "the node is to stop".to_string(),
            Self::RunsAgain { action } => format!("the node runs again ({action})"),
            Self::Overridden => "its result was overridden".to_string(),
            Self::Edited => "the plan was edited, so it asks again".to_string(),
            Self::Feedback { node, to } => format!("the result of `{node}` was rejected with feedback to `{to}`"),
            Self::Undone => "the action that led to it was undone".to_string(),
            Self::Outdated { node } => format!("made of an earlier result of `{node}`"),
            Self::Done => "every node that had to run is done".to_string(),
            Self::RunStopped { by } => format!("stopped by {by}; what was done by then is kept"),
            Self::EndedEarly { node, mark, more } => ended_early(node, mark.as_ref(), *more),
            Self::NothingDue => "no node had to run".to_string(),
            Self::Bad { nodes, named, ends } if !ends.is_empty() => bad_ends(*nodes, named, ends),
            Self::Bad { nodes: 1, named, .. } if named.is_empty() => "one node failed or was cancelled".to_string(),
            Self::Bad { nodes, named, .. } if named.is_empty() => format!("{nodes} nodes failed or were cancelled"),
            Self::Bad { nodes, named, .. } => {
                let names: Vec<String> = named.iter().map(|node| format!("`{node}`")).collect();
                let more = *nodes as usize - names.len().min(*nodes as usize);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let were = if *nodes == 1 { "was" } else { "were" };
                format!("{}{more} failed or {were} cancelled", names.join(", "))
            }
            Self::Forgone => "a person skipped what had to run".to_string(),
            Self::WalkStopped { node } => format!("the run stopped at `{node}`, which is not a terminal stage"),
            Self::Unmet { node } => format!("`{node}` needs a branch that was not taken"),
            Self::NoEnd { why } => format!("{why}, so the run has no output"),
        }
    }
}

/// What a person gave as the reason, behind what they did.
fn because(done: String, why: &str) -> String {
    if why.is_empty() { done } else { format!("{done}: {why}") }
}

fn ended_early(node: &NodeId, mark: Option<&Mark>, more: u64) -> String {
    let how = match mark {
        Some(Mark::BudgetExhausted) => "used up its limit",
        Some(Mark::Cut) => "got an answer that was cut off",
        Some(Mark::RepeatedCall | Mark::RepeatedWords) => "was ended because it repeated itself",
        _ => "was stopped early",
    };
    let others = if more > 0 { format!("; so it is with {more} more") } else { String::new() };
    format!("`{node}` {how}; its result is what it had by then{others}")
}

fn reserved(whose: &str) -> String {
    format!("waits until calls under way give back what they don't use of the budget of {whose}")
}

fn rejected(by: &str) -> String {
    if by.is_empty() { "rejected".to_string() } else { format!("rejected by {by}") }
}

impl BadEnd {
    fn message(&self) -> String {
        match self {
            Self::Failed => "failed".to_string(),
            Self::FailedSafe => "failed safely".to_string(),
            Self::Cancelled => "was cancelled".to_string(),
            Self::Rejected { by } => format!("was {}", rejected(by)),
            Self::InPart => "succeeded only in part".to_string(),
        }
    }
}

/// How the nodes ended, each end once with its nodes.
fn bad_ends(nodes: u32, named: &[NodeId], ends: &[BadEnd]) -> String {
    let mut groups: Vec<(&BadEnd, Vec<String>)> = Vec::new();
    for (node, end) in named.iter().zip(ends) {
        let node = format!("`{node}`");
        match groups.iter_mut().find(|(known, _)| *known == end) {
            Some((_, nodes)) => nodes.push(node),
            None => groups.push((end, vec![node])),
        }
    }
    let more = nodes as usize - named.len().min(nodes as usize);
    let more = (more > 0).then(|| format!("{more} more didn't end well"));
    groups.iter().map(|(end, nodes)| format!("{} {}", nodes.join(", "), end.message())).chain(more).collect::<Vec<_>>().join("; ")
}

/// What a source took instead of the edge to this node, and what that edge needs.
fn other_way(node: &NodeId, took: &[String], needs: Option<&str>, is_rehearsed: bool) -> String {
    let chose = took.iter().map(|way| format!("`{way}`")).collect::<Vec<_>>().join(" and ");
    let way = match (chose.is_empty(), needs) {
        (true, None) => format!("`{node}` led elsewhere"),
        (true, Some(needs)) => format!("`{node}` led elsewhere; this node needs `{needs}`"),
        (false, None) => format!("`{node}` chose {chose}, not this node"),
        (false, Some(needs)) => format!("`{node}` chose {chose}; this node needs `{needs}`"),
    };
    if is_rehearsed { format!("{way} (rehearsed: nobody knows what it would choose)") } else { way }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message())
    }
}

//! What an event is about, and what it means to those who keep, undo, mark or print events. The rows, one for each event, are in
//! `Event::traits`; whoever looks for some of the events asks here, so that no other place lists them.

use super::GateId;
use crate::plan::NodeId;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic<'a> {
    /// The run as a whole.
    Run,
    /// A question to people, and its answer.
    Gate(GateId),
    /// What people ask of the run.
    Action,
    /// The state of a node.
    Node(&'a NodeId),
    /// What a node at work calls: models, tools, people.
    Call(&'a NodeId),
    /// What a node at work writes and looks at. Its state stays.
    Text(&'a NodeId),
}

/// What a person looks for in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMark {
    Gate,
    /// A node failed, or nobody knows what became of it.
    Failure,
    /// A person did something.
    Action,
    /// A breakpoint was met, or a call was held.
    Break,
}

/// What holds for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTrait {
    Marked(SearchMark),
    /// A person who follows the run on a plain terminal reads it.
    Printed,
    /// Of what is printed: its head says enough.
    Brief,
    /// It tells a person nothing; only who asks for it sees it.
    Unlisted,
    /// It must outlive a loss of power before anything follows from it.
    Durable,
    /// The world may have to do something about it.
    HasEffects,
    /// Another process drives the run from here on: what was at work has ended, and timers are set anew.
    ChangesDriver,
    /// A worker that is at the node has nothing to do any more.
    EndsWork,
    /// A person changed the course of the run.
    Steers,
    /// Other gates are open after it.
    ChangesGates,
    /// Other nodes may be in the plan after it.
    ChangesNodes,
    /// The run is over by it.
    EndsRun,
    /// An attempt is over without a result.
    LosesAttempt,
    /// A node begins or ends.
    StartsOrEndsNode,
    /// It decides about the edges out of a node.
    DecidesEdges,
    /// The node takes locks by it, or waits for them.
    AsksForLocks,
    /// The node goes on with what others left.
    ReadsOthers,
    /// It says what work did, and how people drive the node has no part in it.
    Reports,
    /// It says who asked, allowed, refused or changed what, or that a call ran: the audit keeps it.
    Audited,
}

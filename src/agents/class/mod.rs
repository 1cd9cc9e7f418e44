//! Agents that are built in: their way of working is code, their words are still a card's.

pub(super) mod deep_reasoner;

//! Tests of the engine, through one driver: a plan in, inputs, then states, events and effects out.

mod again;
mod again_properties;
mod asking;
mod bodies;
mod breaking;
mod breaking_properties;
mod budget_properties;
mod budgets;
mod caching;
mod cases;
mod choosing;
mod decisions;
mod driving;
mod ends;
mod expenses;
mod explaining;
mod failing;
mod impacts;
mod kept;
mod kit;
mod literal;
mod literal_native;
mod live;
mod privacy;
mod properties;
mod recover;
mod rehearsing;
mod replanning;
mod routing;
mod rules;
mod steering;
mod tries;
mod undoing;
mod views;
mod walks;
mod wire;
mod work;

use std::cell::Cell;

thread_local! {
    /// Nodes and edges looked at by this test.
    pub(super) static TOUCHES: Cell<u64> = const { Cell::new(0) };
}

//! The terminal device: modes, frames, events, signals. Nothing else of the console touches it.

mod limiter;

pub use limiter::Limiter;

//! OpenAI's chat completions, as the many servers speak them that copy it.

mod assemble;
mod think;
mod wire;

pub(super) use assemble::Chunks;
pub(super) use wire::request_body;

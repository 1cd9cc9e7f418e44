//! Code at work.
use super::workers::Desk;
use crate::engine::{Dep, NodeError, WorkFact};
use crate::plan::CodeWork;
use crate::tools::sandbox::SandboxConfig;
use serde_json::{Map, Value};
pub(super) async fn work(
    _code: &CodeWork,
    _inputs: &Map<String, Value>,
    _deps: &[Dep],
    _sandbox: &SandboxConfig,
    _desk: &Desk,
) -> WorkFact {
    WorkFact::Failed(NodeError::permanent("no sandbox is connected"))
}

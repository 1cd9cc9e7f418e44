//! Planning.
use super::{
    client::{Notice, PlanningId, Problem},
    local::Shared,
    session::Listener,
};
use std::sync::Arc;
pub(super) async fn plan(_shared: Arc<Shared>, id: PlanningId, _text: String, listener: Listener) {
    let _ = listener.send(Notice::PlanFailed { id, problem: Problem { message: "no planner is connected".into(), hint: None } });
}

//! Gates with real tools: what was shown is what happens.

use super::client::{Notice, Request};
use super::host_tests::{Bed, Seat, copy_plan, plan, state};
use crate::engine::{Command, Gate, GateReply, NodeState, Outcome, Preview, Run};
use crate::plan::NodeId;
use serde_json::json;

#[tokio::test]
async fn a_gate_is_previewed_edited_checked_again_and_approved() {
    let bed = Bed::new(&[("in.txt", "hello"), ("out.txt", "old\n")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    let gate = seat.gate().await;
    seat.ask(Request::Preview { run: seat.id.clone().unwrap(), gate: gate.id, payload: gate.payload.clone() });
    let preview = seat.until(|_, notice| if let Notice::Preview { preview, .. } = notice { Some(preview.clone()) } else { None }).await;
    let wanted = Preview::Diff { path: "out.txt".into(), before: Some("old\n".into()), after: "copied".into() };
    assert_eq!(preview, wanted);

    seat.decide(&gate, GateReply::Modify { payload: json!({ "path": "out.txt", "contents": "x" }) });
    assert!(seat.problem().await.message.contains("`contents` is not known"));
    assert_eq!(bed.read("out.txt").as_deref(), Some("old\n"));

    seat.decide(&gate, GateReply::Modify { payload: json!({ "path": "out.txt", "content": "edited" }) });
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(bed.read("out.txt").as_deref(), Some("edited"));
}

#[tokio::test]
async fn an_approval_of_a_picture_that_has_changed_does_nothing_but_show_the_new_one() {
    let bed = Bed::new(&[("in.txt", "hello"), ("out.txt", "old\n")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    let gate = seat.gate().await;
    let picture = |_: &Run, notice: &Notice| if let Notice::Preview { preview, .. } = notice { Some(preview.clone()) } else { None };
    seat.ask(Request::Preview { run: seat.id.clone().unwrap(), gate: gate.id, payload: gate.payload.clone() });
    seat.until(picture).await;
    std::fs::write(bed.path("out.txt"), "somebody's work\n").unwrap();

    seat.decide(&gate, GateReply::Approve);
    let now = seat.until(picture).await;
    assert_eq!(now, Preview::Diff { path: "out.txt".into(), before: Some("somebody's work\n".into()), after: "copied".into() });
    assert!(seat.problem().await.message.contains("changed since you last saw it"));
    assert_eq!(bed.read("out.txt").as_deref(), Some("somebody's work\n"));

    seat.decide(&gate, GateReply::Approve);
    assert_eq!(seat.end().await, Outcome::Succeeded);
    assert_eq!(bed.read("out.txt").as_deref(), Some("copied"));
}

#[tokio::test]
async fn a_file_that_changes_between_approval_and_write_is_not_written_over() {
    let bed = Bed::new(&[("in.txt", "hello"), ("out.txt", "old\n")]);
    let mut seat = Seat::take(&bed);
    seat.start(copy_plan());
    let gate = seat.gate().await;
    let run = seat.id.clone().unwrap();
    seat.ask(Request::Preview { run: run.clone(), gate: gate.id, payload: gate.payload.clone() });
    seat.until(|_, notice| matches!(notice, Notice::Preview { .. }).then_some(())).await;
    std::fs::write(bed.path("out.txt"), "somebody's work\n").unwrap();

    // Straight to the run, as an approval that was on its way before the file changed.
    let approve = Command::decide(gate.id, GateReply::Approve, gate.hash.clone());
    let shared = bed.host.shared();
    assert!(shared.session(&run).unwrap().command(approve, shared.actor("console")));
    assert_ne!(seat.end().await, Outcome::Succeeded);
    assert_eq!(bed.read("out.txt").as_deref(), Some("somebody's work\n"));
    let error = seat.run.node(&NodeId::new("write")).unwrap().error.clone().unwrap();
    assert!(error.message.contains("changed since the approval"), "{}", error.message);
}

#[tokio::test]
async fn a_rejected_gate_leaves_the_world_alone_and_the_other_branch_goes_on() {
    let bed = Bed::new(&[("in.txt", "hello")]);
    let mut seat = Seat::take(&bed);
    let mut nodes = serde_json::to_value(copy_plan()).unwrap()["nodes"].clone();
    nodes.as_array_mut().unwrap().push(json!({ "id": "clock", "tool": "current_time", "args": {} }));
    seat.start(plan(nodes));
    let gate = seat.gate().await;
    seat.decide(&gate, GateReply::Reject { message: "not this file".into() });
    assert_eq!(seat.end().await, Outcome::Partial);
    assert_eq!(bed.read("out.txt"), None);
    assert_eq!((state(&seat.run, "write"), state(&seat.run, "clock")), (NodeState::Cancelled, NodeState::Succeeded));
}

/// Case 5, with real tools.
#[tokio::test]
async fn two_gates_in_parallel_branches_answered_in_either_order_go_on_by_themselves_and_nothing_else_stops() {
    let write = |id: &str| json!({ "id": id, "tool": "write_file", "args": { "path": id, "content": "x" } });
    let read = |id: &str, path: &str, on: &str| json!({ "id": id, "tool": "read_file", "args": { "path": path }, "depends_on": [on] });
    let nodes = json!([
        write("a"), write("b"), read("a2", "a", "a"), read("b2", "b", "b"),
        { "id": "c", "tool": "current_time", "args": {} }, read("c2", "in.txt", "c"),
    ]);
    for order in [["a", "b"], ["b", "a"]] {
        let bed = Bed::new(&[("in.txt", "hello")]);
        let mut seat = Seat::take(&bed);
        seat.start(plan(nodes.clone()));
        let both = seat.until(|run, _| {
            let open: Vec<Gate> = run.open_gates().cloned().collect();
            (open.len() == 2 && state(run, "c2") == NodeState::Succeeded).then_some(open)
        });
        let gates = both.await;
        for id in order {
            let gate = gates.iter().find(|gate| gate.node.as_str() == id).unwrap();
            seat.decide(gate, GateReply::Approve);
            seat.until(|run, _| (state(run, &format!("{id}2")) == NodeState::Succeeded).then_some(())).await;
            assert_eq!(bed.read(id).as_deref(), Some("x"));
        }
        // The last answer may have ended the run in one batch with its node.
        if seat.run.outcome().is_none() {
            seat.end().await;
        }
        assert_eq!(seat.run.outcome().unwrap().0, Outcome::Succeeded);
    }
}

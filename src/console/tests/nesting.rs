//! Plans inside of plans in the console: shown, folded, edited, run, decided.

use serde_json::json;

use super::{
    super::update::{ConsoleEffect, Msg},
    Deck,
};
use crate::console::model::{Dialog, Lines, TextField};
use crate::host::client::{Notice, Request, There};
use crate::plan::{Dialect, NodeId, Plan, dialect};

/// A gather step, a map whose body asks before it writes, and a report.
fn nested() -> Plan {
    serde_json::from_value(json!({"goal": "fix all files", "nodes": [
        {"id": "find", "tool": "read_file", "args": {"path": "list"}},
        {"id": "each", "depends_on": ["find"], "over": "['a', 'b']", "body": {"nodes": [
            {"id": "look", "agent": "writer", "objective": "look at {{item}}", "budget": {"tokens": 9000}},
            {"id": "save", "tool": "write_file", "args": {"path": "{{item}}", "content": "{{look}}"}, "depends_on": ["look"]}
        ]}},
        {"id": "report", "value": "{{each}}", "depends_on": ["each"]}
    ]}))
    .unwrap()
}

fn planned() -> Deck {
    let mut deck = Deck::new(100, 24);
    deck.plan = nested();
    deck.type_text("fix all files");
    deck.keys("enter");
    deck
}

fn rows(deck: &mut Deck) -> Vec<String> {
    deck.flush();
    deck.model.tree().rows().iter().map(|row| format!("{}{}", " ".repeat(row.depth), row.node)).collect()
}

#[test]
fn nodes_inside_stand_below_their_owner_before_what_needs_it() {
    let mut deck = planned();
    assert_eq!(rows(&mut deck), ["find", " each", "  each/look", "   each/save", "  report"]);
    insta::assert_snapshot!(deck.screen());
    deck.select("each");
    deck.keys("h");
    assert_eq!(rows(&mut deck), ["find", " each", "  report"], "folding hides what is inside, and nothing else");
}

#[test]
fn nodes_inside_are_edited_where_they_stand_and_undone() {
    let mut deck = planned();
    let depends = |deck: &Deck, id: &str| {
        deck.model.editor.addressed().node(&NodeId::new(id)).map(|node| node.depends_on.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    deck.select("each/save");
    deck.keys("D");
    deck.select("each/look");
    deck.keys("space");
    assert_eq!(depends(&deck, "each/save"), Some(vec![]));
    deck.select("find");
    deck.keys("space");
    assert!(deck.sees("are not in the same plan"), "{}", deck.screen());
    deck.keys("esc u");
    assert_eq!(depends(&deck, "each/save"), Some(vec!["each/look".to_owned()]));
    deck.select("each/look");
    deck.keys("R 2 enter");
    assert_eq!(depends(&deck, "each/save"), Some(vec!["each/look2".to_owned()]));
    let body = deck.model.editor.plan().nodes[1].kind.body().unwrap();
    assert_eq!(body.nodes[1].depends_on, [NodeId::new("look2")]);
    deck.keys("a");
    deck.type_text("merge");
    deck.keys("enter");
    assert_eq!(depends(&deck, "each/merge"), Some(vec!["each/look2".to_owned()]));
    deck.keys("u u");
    assert_eq!(*deck.model.editor.plan(), nested());
}

#[test]
fn a_gate_inside_shows_on_the_folded_owner_and_is_decided_in_the_inbox() {
    let mut deck = planned();
    deck.send(Msg::Resize(130, 24));
    deck.keys("r");
    deck.done("find", json!("a\nb"));
    assert_eq!(rows(&mut deck), ["find", " each", "  each[0]/look", "   each[0]/save", "  each[1]/look", "   each[1]/save", "  report"]);
    deck.done("each[0]/look", json!("fine"));
    deck.select("each");
    deck.keys("h");
    assert!(deck.sees("1 of 4 waiting"), "{}", deck.screen());
    insta::assert_snapshot!(deck.screen());
    deck.keys("i");
    assert!(deck.sees("each[0]/save"), "{}", deck.screen());
    deck.keys("a");
    assert_eq!(deck.engine().open_gates().count(), 0, "{}", deck.screen());
    deck.done("each[0]/save", json!("saved"));
    assert_eq!(deck.engine().node(&NodeId::new("each")).unwrap().inside.over, 2);
}

#[test]
fn each_kind_of_node_is_added_and_a_new_body_has_a_step_to_begin_with() {
    let mut deck = planned();
    for (kind, id) in [("subplan", "plan"), ("map", "map"), ("loop", "loop")] {
        deck.select("find");
        deck.keys("a");
        deck.type_text(kind);
        deck.keys("enter");
        if id != "plan" {
            deck.keys("ctrl-s");
        }
        let node = deck.model.editor.addressed().node(&NodeId::new(id)).unwrap_or_else(|| panic!("no {id}"));
        assert_eq!(node.depends_on, [NodeId::new("find")]);
        assert!(deck.model.editor.addressed().node(&NodeId::new(format!("{id}/step"))).is_some());
    }
    deck.keys("a");
    deck.type_text("decision by");
    deck.keys("enter enter ctrl-s");
    let decider = deck.model.editor.plan().nodes.last().unwrap();
    assert!(decider.kind.is_decision() && decider.kind.agent().is_some(), "{decider:?}");
}

#[test]
fn a_node_and_an_edge_are_edited_whole() {
    let mut deck = planned();
    let write = |deck: &mut Deck, text: &str| {
        let Some(Dialog::Editor(editor)) = deck.model.dialogs.last_mut() else { panic!("no dialog") };
        editor.field = TextField::new(Lines::Many, text);
        deck.keys("ctrl-s");
    };
    deck.select("each/look");
    deck.keys("S");
    assert!(deck.sees("look at {{item}}"), "{}", deck.screen());
    write(&mut deck, r#"{"id": "other", "agent": "researcher"}"#);
    assert!(deck.sees("keep the id look: "), "{}", deck.screen());
    write(&mut deck, r#"{"id": "look", "agent": "researcher", "objective": "o", "max_iterations": 3}"#);
    let body = |deck: &Deck| deck.model.editor.plan().nodes[1].kind.body().unwrap().clone();
    assert_eq!(body(&deck).nodes[0].policy.max_iterations, Some(3));
    deck.select("each/save");
    deck.keys("L");
    write(&mut deck, r#"{"from": "look", "to": "save", "when": "look", "context": ["text"]}"#);
    assert_eq!(body(&deck).edges[0].context.as_deref(), Some(&["text".to_owned()][..]));
    assert!(body(&deck).nodes[1].depends_on.is_empty());
    assert!(deck.sees("o when look"), "{}", deck.screen());
}

#[test]
fn a_decision_tells_why_this_way() {
    let mut deck = Deck::new(120, 24);
    deck.plan = serde_json::from_value(json!({"goal": "g", "nodes": [
        {"id": "which", "decide": "'left'"}, {"id": "a", "value": 1}, {"id": "b", "value": 2}
    ], "edges": [{"from": "which", "to": "a", "when": "left"}, {"from": "which", "to": "b", "default": true}]}))
    .unwrap();
    deck.type_text("go left");
    deck.keys("enter r");
    deck.select("which");
    deck.keys("[");
    let screen = deck.screen();
    for words in ["a when left  taken", "b by default  not taken", "why this route the answer names `left`"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
}

#[test]
fn findings_inside_are_marked_at_their_node_and_fixed_one_by_one_or_all() {
    let mut deck = Deck::new(100, 24);
    deck.plan = nested();
    let body = deck.plan.nodes[1].kind.body_mut().unwrap();
    body.nodes[0].policy.max_iterations = Some(40);
    body.nodes[1].depends_on.push(NodeId::new("lok"));
    deck.type_text("fix all files");
    deck.keys("enter");
    assert_eq!(deck.model.editor.review.errors(), 2);
    deck.keys("F");
    assert!(deck.sees("each/look") && deck.sees("each/save"), "{}", deck.screen());
    deck.keys("f");
    assert_eq!(deck.model.editor.review.errors(), 1);
    deck.keys("A");
    assert_eq!(deck.model.editor.review.errors(), 1, "a guess is taken one at a time");
    deck.keys("f");
    assert_eq!(deck.model.editor.findings(), []);
    assert!(deck.model.dialogs.is_empty());
    deck.keys("u u");
    assert_eq!(deck.model.editor.review.errors(), 2);
}

#[test]
fn a_folded_owner_tells_of_failures_inside_and_is_found_by_the_key_for_what_needs_a_person() {
    let mut deck = planned();
    deck.send(Msg::Resize(150, 24));
    deck.keys("r");
    deck.done("find", json!("a\nb"));
    deck.fact("each[0]/look", crate::engine::WorkerFact::Failed(crate::engine::NodeError::permanent("it broke")));
    deck.done("each[1]/look", json!("fine"));
    deck.keys("i x enter");
    deck.keys("1");
    deck.select("each");
    deck.keys("h g");
    assert!(deck.sees("1 of 4 failed") || deck.sees("1 of 4 waiting"), "{}", deck.screen());
    deck.keys(".");
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("each[1]/save"), "the run waits for its gate");
    deck.keys(".");
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("each[0]/look"));
}

#[test]
fn a_finding_of_an_edge_is_shown_where_the_edge_leads() {
    let mut deck = planned();
    deck.select("each/save");
    deck.keys("C");
    deck.type_text("look ===");
    deck.keys("enter");
    assert!(deck.sees("edge from each/look"), "{}", deck.screen());
    deck.select("find");
    deck.keys("F");
    assert!(deck.sees("each/look to each/save"), "{}", deck.screen());
    deck.keys("enter");
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("each/save"));
}

#[test]
fn a_changed_plan_is_saved_or_left_only_when_the_person_says_so() {
    let mut deck = planned();
    deck.keys("q");
    assert!(matches!(deck.asked.pop(), Some(ConsoleEffect::Quit { .. })), "nothing changed");
    deck.select("report");
    deck.keys("d q");
    assert!(deck.sees("neither saved nor run"), "{}", deck.screen());
    deck.keys("esc ctrl-s");
    deck.keys("enter");
    let Some(ConsoleEffect::Send(Request::SavePlan { path, plan, form, there: There::Stays })) = deck.asked.pop() else {
        panic!("{:?}", deck.asked)
    };
    assert_eq!(path, "plan.json");
    for has_comments in [true, false] {
        deck.notice(Notice::PlanThere { path: path.clone(), plan: plan.clone(), form, has_comments });
        assert!(deck.sees("There is already a file plan.json"), "{}", deck.screen());
        assert_eq!(deck.sees("Its comments and other words will be lost"), has_comments, "{}", deck.screen());
        deck.keys(if has_comments { "n" } else { "y" });
    }
    let Some(ConsoleEffect::Send(Request::SavePlan { path, plan, there: There::IsReplaced, .. })) = deck.asked.pop() else {
        panic!("{:?}", deck.asked)
    };
    deck.notice(Notice::PlanSaved { path, plan });
    deck.keys("q");
    assert!(matches!(deck.asked.pop(), Some(ConsoleEffect::Quit { .. })), "it is saved");
}

#[test]
fn a_form_that_cannot_hold_the_plan_is_told_before_saving_with_the_choice_of_form() {
    for (typed, form) in [("", Dialect::Native), ("tools", Dialect::Tools)] {
        let mut deck = Deck::new(100, 24);
        deck.plan = dialect::read(r#"{"dag": [{"id": "a", "tool": "calculator", "query": "1 + 1"}]}"#, "-").unwrap().0;
        deck.plan.nodes[0].policy.timeout_s = Some(3.0);
        deck.type_text("count");
        deck.keys("enter ctrl-s enter");
        assert!(deck.sees("save in which form") && deck.sees("tools leaves out"), "{}", deck.screen());
        assert!(!deck.asked.iter().any(|asked| matches!(asked, ConsoleEffect::Send(Request::SavePlan { .. }))), "nothing is written yet");
        if !typed.is_empty() {
            deck.keys("ctrl-u");
            deck.type_text(typed);
        }
        deck.keys("enter");
        let Some(ConsoleEffect::Send(Request::SavePlan { form: sent, .. })) = deck.asked.pop() else { panic!("{:?}", deck.asked) };
        assert_eq!(sent, form);
    }
}

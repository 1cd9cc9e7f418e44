//! Changing a plan by keys.

use super::Deck;
use crate::console::model::{Dialog, Lines, TextField, TreeRowKind};
use crate::plan::{NodeId, NodeKind, ToolInput, ToolNode};

fn depends(deck: &Deck, id: &str) -> Vec<String> {
    deck.model.editor.addressed().node(&NodeId::new(id)).unwrap().depends_on.iter().map(ToString::to_string).collect()
}

#[test]
fn dependencies_are_taken_and_given_back_in_place() {
    let mut deck = Deck::planned(80, 24);
    deck.select("write");
    deck.keys("D");
    deck.select("list");
    deck.keys("space");
    assert_eq!(depends(&deck, "write"), ["count", "scan", "list"]);
    deck.select("list");
    deck.keys("space esc u u u");
    assert_eq!(depends(&deck, "write"), ["count", "scan"]);
    assert_eq!(deck.model.selected_id().unwrap().as_str(), "write");
}

#[test]
fn a_cycle_is_refused_with_the_cycle_spelled_out() {
    let mut deck = Deck::planned(80, 24);
    deck.select("list");
    deck.keys("D");
    deck.select("write");
    deck.keys("space");
    let status = deck.model.status.clone().unwrap();
    assert!(status.text.as_str().contains("list → count → write → list"), "{status:?}");
    assert_eq!(depends(&deck, "list"), Vec::<String>::new());
}

#[test]
fn a_node_is_added_below_the_selected_one_and_undone() {
    let mut deck = Deck::planned(80, 24);
    deck.select("list");
    deck.keys("a");
    deck.type_text("tool");
    deck.keys("enter");
    deck.type_text("read");
    deck.keys("enter");
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::Editor(_))), "{}", deck.screen());
    deck.keys("ctrl-s");
    assert_eq!(depends(&deck, "read_file"), ["list"]);
    deck.keys("u");
    assert!(deck.model.editor.addressed().node(&NodeId::new("read_file")).is_none());
    deck.keys("U");
    assert_eq!(depends(&deck, "read_file"), ["list"]);
}

#[test]
fn a_text_has_as_many_lines_as_are_typed() {
    let mut deck = Deck::planned(80, 24);
    deck.select("count");
    deck.keys("e");
    assert!(deck.sees("enter new line"), "{}", deck.screen());
    deck.keys("end enter");
    deck.type_text("one");
    deck.keys("alt-enter ctrl-j");
    deck.type_text("three");
    let Some(Dialog::Editor(editor)) = deck.model.dialogs.last() else { panic!("{}", deck.screen()) };
    let (before, text) = (editor.before.clone(), editor.field.text());
    let (first, rest) = before.split_once('\n').map_or((before.as_str(), String::new()), |(first, rest)| (first, format!("\n{rest}")));
    assert_eq!(text, format!("{first}\none\n\nthree{rest}"));
    deck.keys("ctrl-s");
    assert!(deck.model.dialogs.is_empty(), "{}", deck.screen());
    deck.keys("e");
    assert!(deck.sees("three"), "{}", deck.screen());
}

#[test]
fn a_rename_takes_references_with_it() {
    let mut deck = Deck::planned(80, 24);
    deck.select("count");
    deck.keys("R");
    deck.keys("2 enter");
    assert_eq!(depends(&deck, "write"), ["count2", "scan"]);
    let write = deck.model.editor.addressed().node(&NodeId::new("write")).unwrap();
    assert!(crate::console::model::texts::text(write).contains("{{count2}}"));
    assert_eq!(deck.model.selected_id().unwrap().as_str(), "count2");
}

#[test]
fn arguments_that_are_no_json_stay_in_the_editor_with_the_reason() {
    let mut deck = Deck::planned(80, 24);
    deck.select("write");
    deck.keys("e home");
    deck.type_text("oops");
    deck.keys("ctrl-s");
    assert!(deck.sees("not valid JSON"), "{}", deck.screen());
    deck.keys("esc y");
    assert!(deck.model.dialogs.is_empty());
}

#[test]
fn findings_show_at_the_node_and_in_a_list_with_a_fix_to_apply() {
    let mut deck = Deck::new(100, 30);
    deck.plan.nodes[3].depends_on[0] = NodeId::new("cuont");
    deck.type_text("x");
    deck.keys("enter");
    assert!(deck.model.editor.review.errors() > 0);
    deck.keys("r");
    assert!(deck.sees("Run: 2 errors; press F to see"), "{}", deck.screen());
    deck.keys("F");
    assert!(deck.sees("fix:"), "{}", deck.screen());
    deck.keys("f");
    assert_eq!(depends(&deck, "write"), ["count", "scan"]);
}

#[test]
fn a_node_with_several_parents_appears_once_and_names_the_others() {
    let mut deck = Deck::planned(80, 24);
    let own = deck.model.tree().rows().iter().filter(|row| row.node.as_str() == "write").count();
    assert_eq!(own, 1);
    assert!(deck.sees("write  + count"), "{}", deck.screen());
}

#[test]
fn folding_and_searching_keep_the_selection() {
    let mut deck = Deck::planned(80, 24);
    deck.select("list");
    deck.keys("h");
    assert!(deck.model.tree().rows().iter().any(|row| matches!(row.kind, TreeRowKind::Folded(_))));
    deck.keys("l /");
    deck.type_text("scan");
    deck.keys("enter");
    assert_eq!((deck.model.tree().hit(), deck.model.tree().rows().len()), ((Some(0), 1), 4), "the tree stays whole");
    assert_eq!(deck.model.selected_id().unwrap().as_str(), "scan");
    deck.keys("esc");
    assert!(deck.model.tree().rows().len() > 3);
    assert_eq!(deck.model.selected_id().unwrap().as_str(), "scan");
}

#[test]
fn every_command_says_why_it_cannot_be_used() {
    let mut deck = Deck::new(80, 24);
    deck.keys("esc :");
    deck.type_text("run");
    assert!(deck.sees("not now:"), "{}", deck.screen());
}

#[test]
fn a_new_plan_takes_the_place_of_the_old_one_and_undo_brings_it_back() {
    let mut deck = Deck::planned(80, 24);
    deck.plan.nodes.truncate(1);
    deck.keys("n");
    deck.type_text("another");
    deck.keys("enter");
    assert_eq!(deck.model.editor.plan().nodes.len(), 1);
    deck.keys("u");
    assert_eq!(deck.model.editor.plan().nodes.len(), 4);
}

#[test]
fn a_plan_file_opens_in_the_tree_ready_to_run() {
    let mut deck = Deck::new(80, 24);
    crate::console::update::actions::plan::open(
        &mut deck.model,
        super::plan(),
        crate::console::model::PlanOrigin::File("plan.json".into()),
    );
    assert!(deck.sees("from plan.json"), "{}", deck.screen());
    deck.keys("r");
    assert!(deck.model.shown_run().is_some(), "{}", deck.screen());
}

#[test]
fn the_inputs_of_a_plan_are_seen_where_nodes_name_them_and_are_changed_in_one_place() {
    let mut deck = Deck::new(100, 30);
    deck.plan.inputs.insert("glob".into(), "*.rs".into());
    let NodeKind::Tool(ToolNode { input: ToolInput::Args(args), .. }) = &mut deck.plan.nodes[0].kind else { panic!() };
    args.insert("path".into(), "{{inputs.glob}}".into());
    deck.type_text("x");
    deck.keys("enter");
    deck.select("list");
    assert!(deck.sees("glob: *.rs") && deck.sees("press I to change them"), "{}", deck.screen());
    deck.keys("I");
    let Some(Dialog::Editor(editor)) = deck.model.dialogs.last_mut() else { panic!() };
    editor.field = TextField::new(Lines::Many, "{\"glob\": \"*.md\"}");
    deck.keys("ctrl-s");
    assert!(deck.sees("path: *.md") && deck.sees("glob: *.md"), "{}", deck.screen());
    deck.keys("u");
}

#[test]
fn the_goal_is_changed_and_undone() {
    let mut deck = Deck::planned(80, 24);
    let before = deck.model.plan().goal.clone();
    deck.keys("O");
    deck.type_text(" soon");
    deck.keys("enter");
    assert_eq!(deck.model.plan().goal, format!("{before} soon"));
    deck.keys("u");
    assert_eq!(deck.model.plan().goal, before);
}

#[test]
fn a_node_that_is_brought_back_is_selected() {
    let mut deck = Deck::planned(100, 30);
    deck.select("count");
    deck.keys("d");
    assert_ne!(deck.model.selected_id(), Some(&"count".into()));
    deck.keys("u");
    assert_eq!(deck.model.selected_id(), Some(&"count".into()));
}

#[test]
fn a_long_list_says_what_of_it_is_in_sight_and_is_paged_through() {
    let mut deck = Deck::running(80, 24);
    deck.keys(":");
    let marked = |deck: &Deck| match deck.model.dialogs.last() {
        Some(Dialog::Pick(pick)) => (pick.selected, pick.lines()),
        other => panic!("{other:?}"),
    };
    let all = marked(&deck).1;
    assert!(deck.sees(&format!(" 1-10 of {all}")), "{}", deck.screen());
    deck.keys("end");
    assert_eq!(marked(&deck).0, all - 1);
    assert!(deck.sees(&format!("-{all} of {all}")), "{}", deck.screen());
    deck.keys("home pagedown");
    let page = marked(&deck).0;
    assert!(page > 1 && page <= 10, "{page}");
    deck.keys("pagedown pageup");
    assert_eq!(marked(&deck).0, page);
    deck.type_text("breakpoints");
    assert!(!deck.sees(&format!(" of {all}")), "{}", deck.screen());
}

#[test]
fn the_editor_of_a_result_says_in_a_narrow_terminal_what_the_text_is_taken_as() {
    let mut deck = Deck::running(80, 24);
    deck.select("scan");
    deck.keys("m");
    deck.type_text("override the result");
    deck.keys("enter");
    assert!(deck.sees("read as JSON if it looks like JSON, else as text"), "{}", deck.screen());
}

#[test]
fn control_with_home_and_end_goes_to_the_ends_of_the_whole_text() {
    let mut field = TextField::new(Lines::Many, "one\ntwo\nthree");
    for (key, at) in [("ctrl-home", (0, 0)), ("ctrl-end", (2, 5)), ("home", (2, 0))] {
        field.key(super::Key::parse(key).unwrap());
        assert_eq!(field.cursor(), at, "{key}");
    }
}

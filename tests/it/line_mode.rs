//! The console as lines: what is typed into it through a pipe, and what it says.

use super::support::program::Program;

const STAFF: &str = "name,start\nann,2020\nbob,2019\n";

#[test]
fn a_request_is_planned_run_approved_and_its_output_saved_by_lines() {
    let program = Program::new();
    program.file("staff.csv", STAFF);
    let lines = "Sort staff.csv by start and write it to sorted.csv\nrun\n1 approve\nsave answer.txt\nquit\n";
    let out = program.feed(&["--plain"], lines).code(0).out;
    for words in
        ["planning: Sort staff.csv", "asks you", "gate 1, write_file: may it start?", "1 reject WHY", "succeeded", "saved to answer.txt"]
    {
        assert!(out.contains(words), "`{words}` is not in\n{out}");
    }
    assert!(program.read("sorted.csv").starts_with("name,start\nbob"), "{out}");
    assert!(!out.contains('\u{1b}'), "no control characters: {out:?}");
}

#[test]
fn nothing_is_decided_by_a_reply_to_another_question_or_by_no_reply() {
    let program = Program::new();
    program.file("staff.csv", STAFF);
    let lines =
        "Sort staff.csv by start and write it to sorted.csv\nrun\n2 approve\napprove 2\nreject too long\n1 skip\nno\n1 frobnicate\n";
    let out = program.feed(&["console", "--plain"], lines).code(7).out;
    for words in ["no gate 2 is open", "say which gate: `reject 1`", "did not skip write_file", "not a reply to gate 1", "`dagdeck resume"]
    {
        assert!(out.contains(words), "`{words}` is not in\n{out}");
    }
    assert!(!program.workspace().join("sorted.csv").exists(), "{out}");
    // What is left open goes on later, with a rejection.
    let out = program.feed(&["console", "--plain", "--run", "last"], "resume\nreject 1 not today\n").out;
    assert!(out.contains("gate 1, write_file") && !program.workspace().join("sorted.csv").exists(), "{out}");
}

#[test]
fn a_request_that_is_not_understood_runs_nothing() {
    let program = Program::new();
    let out = program.feed(&["--plain"], "open deadbeef\nFrobnicate the quux\nrun\n").out;
    assert!(out.contains("`runs` lists them") && !out.contains("planning: open"), "{out}");
    assert!(out.contains("not understood") && out.contains("It can't run like this"), "{out}");
    program.feed(&["--plain", "ls"], "").code(2).says(&["`--plain` is for the console"]);
}

#[test]
fn words_that_mean_something_elsewhere_are_no_request_and_leave_the_run_open() {
    let program = Program::new();
    program.file("staff.csv", STAFF);
    let lines = "Sort staff.csv by start\nyes\nsave out.txt\nwhy sort\nrun\nyes\nwhy nobody\nsave out.txt\nquit\n";
    let out = program.feed(&["--plain"], lines).code(0).out;
    assert_eq!(out.matches("planning: ").count(), 1, "{out}");
    for words in ["nothing waits for a yes", "nothing to save", "the run has no node nobody", "saved to out.txt"] {
        assert!(out.contains(words), "`{words}` is not in\n{out}");
    }
    let id = out.lines().find_map(|line| line.strip_prefix("run ")).expect("the run is named").to_owned();
    let lines = format!("Sort staff.csv by start\nrun\nopen {id}\nquit\n");
    assert!(!program.feed(&["--plain"], lines).out.contains("planning: open"), "{id}");
}

#[test]
fn a_result_is_shown_as_it_was_printed_and_alone_for_a_file() {
    let program = Program::new();
    program.file("staff.csv", STAFF);
    let ran = program.run(&["run", "List the rows of staff.csv sorted by start"]).code(0).out;
    assert_eq!(program.run(&["show", "last", "--result"]).code(0).out, ran);
    assert!(program.run(&["show", "last"]).code(0).out.ends_with(&ran));
}

#[test]
fn a_lone_word_at_an_open_gate_is_no_request_and_another_request_says_how_to_go_back() {
    let program = Program::new();
    program.file("staff.csv", STAFF);
    let lines = "Sort staff.csv by start and write it to sorted.csv\nrun\na\nhelp me\n";
    let out = program.feed(&["--plain"], lines).out;
    assert!(out.contains("not understood: a;") && !out.contains("planning: a"), "{out}");
    assert!(out.contains("planning: help me") && out.contains("goes on: `open "), "{out}");
    let (preview, reply) = (out.find("gate 1, preview:"), out.find("reply with `1 approve`"));
    assert!(preview.is_some() && preview < reply, "what it would do stands before what can be replied: {out}");
}

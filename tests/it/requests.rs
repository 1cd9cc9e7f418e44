//! Requests from their words to their effect, without a model: the built-in planner and real tools.

use super::support::program::Program;

const DEMO: &str = "List the Rust files under src, count their lines, and write the ten longest to longest.md";

fn sources() -> Program {
    let program = Program::new();
    (1..=12).for_each(|n| drop(program.file(&format!("src/deep/f{n}.rs"), "x\n".repeat(n))));
    program.file("src/notes.txt", "long\nlong\nlong\n");
    program
}

fn data() -> Program {
    let program = Program::new();
    program.file("sales.csv", "region,product,revenue\nNorth,A,10.5\nSouth,B,20\nNorth,C,5\n");
    program.file(
        "app.log",
        "2026-01-01T10:00:00Z INFO web: up\n2026-01-01T10:00:01Z ERROR db: timeout\n2026-01-01T11:00:00Z ERROR web: timeout\n",
    );
    program.file("package.json", r#"{"dependencies":{"react":"19.0.0"}}"#);
    program.file("a.txt", "one\ntwo\nthree\n");
    program.file("b.txt", "one\n2\n");
    program.file("src/x.rs", "// TODO: finish\nfn main() {}\n");
    program
}

#[test]
fn the_first_request_lists_counts_and_writes_the_ten_longest() {
    let program = sources();
    program.run(&["run", "--yes", DEMO]).code(0);
    let report = program.read("longest.md");
    assert!(report.starts_with("| path | lines |\n| --- | --- |\n| src/deep/f12.rs | 12 |\n"), "{report}");
    assert!(report.ends_with("| src/deep/f3.rs | 3 |\n") && !report.contains("notes.txt"), "{report}");
}

#[test]
fn the_first_request_writes_nothing_before_somebody_approves() {
    let program = sources();
    program.run(&["run", DEMO]).code(7).says(&["gate at write_file"]);
    assert!(!program.workspace().join("longest.md").exists());
    let shown = program.json(&["show", "last", "--json"]);
    assert!(shown["gates"][0].to_string().contains("src/deep/f12.rs"), "the exact content can be seen: {shown}");
}

#[test]
fn questions_about_files_text_tables_and_logs_print_their_answer() {
    let program = data();
    for (request, answer) in [
        ("How many Rust files are under src?", "1\n"),
        ("how many lines does a.txt have?", "3\n"),
        ("show the last 2 lines of a.txt", "two\nthree\n"),
        ("count the words in a.txt", "3\n"),
        ("which files contain \"main\"?", "src/x.rs\n"),
        (
            "list the TODO comments in src",
            "| path     | line | text            |\n| -------- | ---: | --------------- |\n| src/x.rs |    1 | // TODO: finish |\n",
        ),
        (
            "total revenue by region in sales.csv",
            "| region | total_revenue |\n| ------ | ------------: |\n| North  |          15.5 |\n| South  |            20 |\n",
        ),
        ("what is the average revenue for North in sales.csv?", "7.75\n"),
        ("how many rows of sales.csv have revenue greater than 6?", "2\n"),
        ("How many errors are in app.log?", "2\n"),
        (
            "count the errors in app.log by component",
            "| component | count |\n| --------- | ----: |\n| db        |     1 |\n| web       |     1 |\n",
        ),
        ("Get dependencies.react from package.json", "19.0.0\n"),
        ("is package.json valid JSON?", "yes, it is valid\n"),
        ("list the lines of a.txt that are not in b.txt", "two\nthree\n"),
        ("Calculate (3 + 4) * 12.5", "87.5\n"),
        ("What is 15% of 240?", "36\n"),
        ("which date is 90 days after 2026-11-23?", "2027-02-21\n"),
        ("how many days are between 2024-02-28 and 2024-03-01?", "2\n"),
    ] {
        assert_eq!(program.run(&["run", request]).code(0).out, answer, "{request}");
    }
}

#[test]
fn requests_that_change_something_do_so_once_approved() {
    let program = data();
    for request in [
        "Convert sales.csv to JSON and save it as sales.json",
        "In b.txt replace \"one\" with \"1\"",
        "append \"four\" to a.txt",
        "copy b.txt to old/b.txt",
        "create a file hello.txt with the text \"hello\"",
        "write the errors in app.log to errors.log",
        "if a.txt has more than 3 lines, delete b.txt, otherwise delete hello.txt",
    ] {
        program.run(&["run", "--yes", request]).code(0);
    }
    assert!(program.read("sales.json").contains("\"region\": \"South\""));
    assert_eq!(program.read("old/b.txt"), "1\n2\n");
    assert_eq!(program.read("a.txt"), "one\ntwo\nthree\nfour\n");
    assert_eq!(program.read("errors.log"), "2026-01-01T10:00:01Z ERROR db: timeout\n2026-01-01T11:00:00Z ERROR web: timeout\n");
    assert!(!program.workspace().join("b.txt").exists() && program.workspace().join("hello.txt").exists());
}

#[test]
fn rows_that_are_saved_stay_as_they_are_written() {
    let program = Program::new();
    program.file("plants.csv", "code,name,price\n010,\"Fern, small\",12.50\n\n002,Rose,8.0\n007,\"two\nlines\",15\n");
    program.run(&["run", "--yes", "sort plants.csv by price, largest first, and save it to sorted.csv"]).code(0);
    assert_eq!(program.read("sorted.csv"), "code,name,price\n007,\"two\nlines\",15\n010,\"Fern, small\",12.50\n002,Rose,8.0\n");
}

#[test]
fn of_files_that_come_first_together_none_is_deleted() {
    let program = Program::new();
    program.file("photos/a.jpg", "same");
    program.file("photos/b.jpg", "same");
    program.run(&["run", "--yes", "delete the largest file in photos"]).code(5).says(&["2 files come first together"]);
    assert!(program.workspace().join("photos/a.jpg").exists() && program.workspace().join("photos/b.jpg").exists());
}

#[test]
fn a_clause_that_names_no_files_seeks_in_those_before_or_nowhere() {
    let program = data();
    let out = program.run(&["run", "read b.txt and count the lines that contain \"one\""]).code(0).out;
    assert!(out.ends_with("1\n"), "{out}");
    program.run(&["run", "list the files in src and search for main"]).code(3).says(&["not understood"]);
    program.run(&["run", "sort sales.csv by revenue and write it back"]).code(3).says(&["not understood: \"write it back\""]);
}

#[test]
fn what_is_not_understood_is_reported_and_nothing_runs() {
    let program = data();
    for (request, says) in [
        ("list the rows of sales.csv by moonlight", "not understood: \"by moonlight\""),
        ("delete nothere.txt", "there is no nothere.txt here"),
        ("list the Rust files under nosuch", "there is no nosuch here"),
        ("überprüfe alles", "not understood"),
        ("delete a.tx", "not understood"),
        ("delete the last file", "not understood"),
        ("delete files and folders in src", "not understood"),
        ("delete a.txt unless it rains", "not understood"),
        ("total revenue for region Nrth in sales.csv", "not understood"),
        ("create a file a.txt with the text \"x\"", "a.txt is there already"),
        ("replace \"zero\" with \"0\" in a.txt", "does not occur in a.txt"),
        ("how many days are between 04/05/24 and 2024-06-01?", "several ways"),
    ] {
        program.run(&["run", "--yes", request]).code(3).says(&[says, "nothing was run"]);
    }
    assert_eq!(program.read("a.txt"), "one\ntwo\nthree\n");
    assert!(program.json(&["ls", "--json"]).as_array().unwrap().is_empty());
}

#[test]
fn with_partial_what_was_understood_runs_alone() {
    let program = data();
    let request = "create a file one.txt with the text \"1\". Paint it blue. create a file two.txt with the text \"2\"";
    program.run(&["run", "--yes", request]).code(3);
    program
        .run(&["run", "--yes", "--partial", request])
        .code(0)
        .says(&["left out of this run: not understood", "as it may depend on that"]);
    assert_eq!(program.read("one.txt"), "1");
    assert!(!program.workspace().join("two.txt").exists(), "what follows a part that isn't understood may depend on it");
}

#[test]
fn a_result_without_any_text_is_said_to_be_empty() {
    let program = data();
    program.run(&["run", "show the lines of a.txt that contain zebra"]).code(0).says(&["is an empty text"]);
}

#[test]
fn files_that_git_ignores_are_listed_and_what_tools_fill_is_said() {
    let program = Program::new();
    for (path, text) in [(".gitignore", "*.tmp\nbuild/\n"), ("a.tmp", "x"), ("b.txt", "y"), ("build/big.txt", "zzz")] {
        program.file(path, text);
    }
    let listed = program.run(&["run", "list the files"]).code(0).says(&["left out, as git ignores them: build"]);
    assert_eq!(listed.out, "a.tmp\nb.txt\n");
    program.run(&["run", "--yes", "delete all tmp files"]).code(0);
    assert!(!program.workspace().join("a.tmp").exists());
}

#[test]
fn an_effect_on_no_file_is_no_success() {
    let program = data();
    let ran = program.run(&["run", "--yes", "delete all tmp files"]).says(&["there are no such files"]);
    assert_ne!(ran.code, 0, "{ran}");
}

#[test]
fn several_files_are_changed_and_asked_about_at_once() {
    let program = data();
    program.file("c.txt", "one one\n");
    program.run(&["run", "--yes", "replace one with 1 in all txt files"]).code(0);
    assert_eq!(
        (program.read("a.txt"), program.read("b.txt"), program.read("c.txt")),
        ("1\ntwo\nthree\n".into(), "1\n2\n".into(), "1 1\n".into())
    );
    let counted = program.run(&["run", "count the words of a.txt, b.txt and c.txt"]).code(0);
    assert!(counted.out.contains("(total) |     7"), "{counted}");
}

#[test]
fn shares_are_of_the_amount_and_slips_change_nothing() {
    let program = data();
    for (request, answer) in [
        ("1450 minus 15%", "1232.5\n"),
        ("200 plus 10%", "220\n"),
        ("what is 20% off 89.90?", "71.92\n"),
        ("what is 15% of 1450", "217.5\n"),
    ] {
        assert_eq!(program.run(&["run", request]).code(0).out, answer, "{request}");
    }
    for request in ["delete all fiels in src", "list the links in a.txt and the lies"] {
        assert_ne!(program.run(&["run", "--yes", request]).code, 0, "{request}");
    }
    assert!(program.workspace().join("src/x.rs").exists());
}

//! The judge's own judgement, on answers in many forms.

use crate::{
    answer::{Setting, says},
    corpus::{Answer, Cell, Request},
    judge::{Ran, Verdict, judge},
    world::{Entry, Workspaces},
};

fn answer(text: &str) -> Answer {
    toml::from_str(text).unwrap()
}

fn judged(expected: &str, ask: &str, text: &str) -> bool {
    let files: Vec<String> = ["notes/a.txt", "notes/b.md", "old/a.txt", "deep/er/c.rs", "notes/broken.json"].map(String::from).to_vec();
    says(&answer(expected), text, &Setting { ask, files: &files }).is_ok()
}

#[test]
fn numbers_are_read_by_value() {
    let right = |text: &str| judged("numbers = [1234.5]\nnever = [1300]", "the sum of the 12 rows?", text);
    for text in [
        "1234.5",
        "1,234.50",
        "The sum of 12 rows is **1234.50** EUR.",
        "| sum |\n| --- |\n| 1234.5 |",
        "{\"sum\": 1234.5}",
        "sum: 1234.50, rows: 30",
    ] {
        assert!(right(text), "{text}");
    }
    for text in ["", "1234", "12345", "1300 or 1234.5", "1234.5 7 9", "2024-1234.5", "sum of 12 rows"] {
        assert!(!right(text), "{text}");
    }
    assert!(
        judged("numbers = [0]", "how many?", "No entries.")
            && judged("numbers = [33.33]", "?", "33.3333 %")
            && !judged("numbers = [33]", "?", "33.3")
    );
    assert!(
        judged("rows = [[\"a\", 1]]\nform = \"json\"", "", "[{\"x\": \"a\", \"y\": 1}]")
            && !judged("rows = [[\"a\", 1]]\nform = \"json\"", "", "a,1")
    );
    assert!(
        judged("rows = [[\"a\", 1]]\nform = \"yaml\"", "", "a: 1")
            && judged("rows = [[\"a b\"], [\"c\"]]", "", "{\"code\": 0, \"out\": \"a b\\nc\\n\"}")
    );
    assert!(!judged("numbers = [5]", "?", &format!("5 {}", "word ".repeat(60))), "buried");
}

#[test]
fn rows_are_read_in_every_form() {
    let right = |text: &str| judged("rows = [[\"North\", 12], [\"South\", 7.5]]", "", text);
    for text in [
        "North: 12\nSouth: 7.5",
        "region,sum\nSouth,7.50\nNorth,12.00",
        "| region | sum |\n| --- | ---: |\n| North | 12 |\n| South | 7.5 |\n\n2 rows",
        "[{\"region\": \"North\", \"sum\": 12}, {\"region\": \"South\", \"sum\": 7.5}]",
        "{\"North\": 12, \"South\": 7.5}",
        "{\"region\":\"North\",\"sum\":12}\n{\"region\":\"South\",\"sum\":7.5}",
        "- North (12)\n- South (7.5)",
        "North 12 and South 7.5",
        "## North\n\n12\n\n## South\n\n7.5",
    ] {
        assert!(right(text), "{text}");
    }
    assert!(judged("rows = [[\"a b\"], [\"c\"]]", "", "{\"path\": \"x\", \"lines\": [\"a b\", \"c\"]}"));
    for text in [
        "North: 12",
        "North: 7.5\nSouth: 12",
        "North: 12\nEast: 3\nSouth: 7.5",
        "region,sum\nNorth,12\nSouth,7.5\nEast,3",
        "[{\"region\": \"North\", \"sum\": 12}, {\"region\": \"East\", \"sum\": 1}, {\"region\": \"South\", \"sum\": 7.5}]",
        "Northern: 12\nSouth: 7.5",
    ] {
        assert!(!right(text), "{text}");
    }
    let order = |text: &str| judged("rows = [[\"b\"], [\"a\"]]\nordered = true", "", text);
    assert!(order("b\na") && !order("a\nb") && order("1. b\n2. a"));
    assert!(
        judged("rows = [[\"a\", 1]]\nmay = [[9]]", "", "a 1\n 9\n") && !judged("rows = [[\"Ann\"]]\nnever = [\"Bob\"]", "", "Ann\nBob")
    );
}

#[test]
fn files_are_named_by_path_or_by_a_name_of_their_own() {
    let right = |text: &str| judged("files = [\"notes/a.txt\"]", "which file in notes?", text);
    for text in ["notes/a.txt", "./notes/a.txt  12 B", "`notes/a.txt`", "notes/a.txt:3: the line", "[\"notes/a.txt\"]"] {
        assert!(right(text), "{text}");
    }
    for text in ["notes/b.md", "notes/a.txt\nold/a.txt", "notes/a.txt and b.md", "notes/a.txt2"] {
        assert!(!right(text), "{text}");
    }
    assert!(judged("files = [\"deep/er/c.rs\"]", "", "c.rs"));
    let order = |text: &str| judged("files = [\"notes/b.md\", \"old/a.txt\"]\nordered = true", "", text);
    assert!(order("notes/b.md, old/a.txt") && !order("old/a.txt, notes/b.md"));
}

#[test]
fn yes_and_no_have_many_words() {
    for text in ["yes", "settings.json is valid JSON", "The files are identical.", "true", "No differences.", "valid: no errors"] {
        assert!(judged("yes = true", "", text) && !judged("yes = false", "", text), "{text}");
    }
    assert!(!judged("yes = false", "", "notes/broken.json is valid") && judged("yes = true", "", "broken.json is valid"), "a name");
    for text in ["no", "invalid: line 3", "They differ.", "false", "not valid", "There are no duplicates.", "0"] {
        assert!(judged("yes = false", "", text) && !judged("yes = true", "", text), "{text}");
    }
}

#[test]
fn cells_are_texts_or_numbers() {
    let row = answer("rows = [[\"00417\", 3, 2.5]]").rows.remove(0);
    assert_eq!(row, [Cell::Text("00417".into()), Cell::Number(3.0), Cell::Number(2.5)]);
    assert!(judged("rows = [[\"00417\"]]", "", "| 00417 |") && !judged("rows = [[\"00417\"]]", "", "| 417 |"));
}

#[test]
fn effects_are_right_only_as_they_were_asked_for() {
    let world = Workspaces::named("desk");
    let request: Request =
        toml::from_str("area = \"\"\nin = \"desk\"\nask = \"delete temp/a.tmp\"\n[changes]\n\"temp/a.tmp\" = \"gone\"").unwrap();
    let verdict = |code: i32, gone: &[&str], tools: &[&str]| {
        let mut after = world.tree.clone();
        after.retain(|path, _| !gone.contains(&path.as_str()));
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        judge(&request, &world, &Ran { code: Some(code), out: String::new(), err: String::new(), tools, after, staged: None }).verdict
    };
    assert_eq!(verdict(0, &["temp/a.tmp"], &["delete_file"]), Verdict::Right);
    assert_eq!(verdict(0, &[], &[]), Verdict::False, "nothing was done");
    assert_eq!(verdict(0, &["temp/a.tmp", "temp/b.tmp"], &[]), Verdict::False, "too much was done");
    assert_eq!(verdict(0, &["temp/a.tmp"], &["fetch_url"]), Verdict::False, "something else was done");
    assert_eq!(verdict(3, &[], &[]), Verdict::Refused);
    assert_eq!(verdict(3, &["temp/a.tmp"], &[]), Verdict::False, "refused, and done all the same");
    assert_eq!(verdict(7, &[], &[]), Verdict::False, "a gate for something else");
    assert_eq!(verdict(5, &[], &[]), Verdict::Failed);
}

#[test]
fn what_git_has_staged_counts_and_the_times_in_its_index_do_not() {
    let world = Workspaces::named("code");
    let request: Request = toml::from_str("area = \"\"\nin = \"code\"\nask = \"which branch?\"\nanswer = { text = \"main\" }").unwrap();
    let verdict = |path: &str, staged: Option<String>| {
        let mut after = world.tree.clone();
        after.insert(path.to_owned(), Entry::File(b"another".to_vec()));
        let ran = Ran { code: Some(0), out: "main\n".into(), err: String::new(), tools: Vec::new(), after, staged };
        judge(&request, &world, &ran).verdict
    };
    assert_eq!(verdict(".git/index", world.staged.clone()), Verdict::Right);
    assert_eq!(verdict(".git/index", Some(String::new())), Verdict::False);
    assert_eq!(verdict(".git/HEAD", world.staged.clone()), Verdict::False);
}

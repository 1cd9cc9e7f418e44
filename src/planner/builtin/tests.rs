//! The compiler as people use it: requests in, sentences and plans out.

use super::*;
use crate::agents::AgentRegistry;
use crate::plan::{Node, Risk, ToolInfo, Verdict, is_legal_id};
use std::{fs, path::Path};
use tempfile::TempDir;

struct Quiet(Vec<Node>);

impl PlanSink for Quiet {
    fn progress(&mut self, _text: &str) {}

    fn node(&mut self, node: Node) {
        self.0.push(node);
    }
}

fn catalog() -> Catalog {
    let tool = |name: &str| ToolInfo {
        name: name.into(),
        description: String::new(),
        input_schema: json!({ "type": "object" }),
        risk: Risk::Read,
        verdict: Verdict::Allow,
        reach: None,
    };
    let names = ["fetch_url", "list_directory", "read_file", "run_command", "search_files", "write_file"];
    let agents = AgentRegistry::open(Path::new("/nonexistent"), None).cards().infos();
    Catalog { agents, tools: names.into_iter().map(tool).collect(), ..Catalog::default() }
}

fn workspace() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in [
        ("src/main.rs", "fn main() {}\n"),
        ("src/deep/lib.rs", "// TODO: x\n"),
        ("notes.txt", "one two\nthree error\n\nfour ERROR\n"),
        ("README.md", "# Hi\n"),
        ("a.txt", "a\n"),
        ("b.txt", "b\n"),
        ("old.tmp", ""),
        ("sales.csv", "region,product,revenue,units\nNorth,A,10.5,1\nSouth,B,20,2\nNorth,B,5,3\n"),
        ("app.log", "2026-01-01T10:00:00Z INFO web: start\n2026-01-01T10:00:01Z ERROR db: timeout\n"),
        ("package.json", r#"{"name":"x"}"#),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn planned(request: &str) -> Planned {
    planned_in(workspace().path(), request)
}

pub(super) fn planned_in(folder: &Path, request: &str) -> Planned {
    let mut sink = Quiet(Vec::new());
    let planned = plan(request, WorkspaceFacts::look(folder), &catalog(), &Template::shipped(), &mut sink);
    assert_eq!(sink.0, planned.plan.nodes, "what is streamed is what is planned");
    planned
}

/// What a request is read as, or what is open.
fn said(request: &str) -> String {
    let plan = planned(request).plan;
    let open = OpenRequest::of(&plan);
    if open.is_empty() { plan.metadata["understood"].as_str().unwrap().to_owned() } else { open.messages().join("; ") }
}

const READ: &[(&str, &str)] = &[
    ("1450 minus 15%", "calculate 1450 less 15% of it"),
    ("how much is 349.90 plus 8.1% VAT?", "calculate 349.9 and 8.1% of it more"),
    ("what is 15% of 1450", "calculate 15% of 1450"),
    ("what day of the week is 24 December 2026?", "say which day of the week \"2026-12-24\" is"),
    ("2 weeks before 2026-12-19", "say which date is 2 weeks before \"2026-12-19\""),
    ("replace one with 1 in all txt files", "replace one with 1 in notes.txt"),
    ("count the words of a.txt and b.txt", "count the words of a.txt and b.txt"),
    ("for each txt file, count the words", "count the words of a.txt , b.txt and notes.txt"),
    ("delete the files older than 2020", "delete the files where modified less than \"2020-01-01\""),
    ("delete line 3 of notes.txt", "delete line 3 of notes.txt"),
    ("which txt files don't mention \"two\"?", "list the *.txt files that do not contain \"two\""),
    ("in which file is the function main defined?", "find where main is defined"),
    ("can you show lines 2 to 3 of notes.txt for me please", "list the lines of notes.txt, lines 2 to 3"),
    ("How many Rust files are in src?", "count the *.rs files under src"),
    ("list the 3 largest files", "list the 3 largest files"),
    (
        "List the Rust files under src, count their lines and show the ten longest",
        "list the 10 longest *.rs files under src with their lines",
    ),
    ("show files in src larger than 2 KB", "list the files under src where size more than 2000"),
    ("how many lines of code are in src", "count the lines of the files under src"),
    ("list all files except those in src", "list the files except src/"),
    ("show lines 2 to 3 of notes.txt", "list the lines of notes.txt, lines 2 to 3"),
    ("print the last line of notes.txt", "list the lines of notes.txt, last 1"),
    ("which files contain \"main\"?", "list the files that contain \"main\""),
    ("find TODO comments in src", "list the matches of \"TODO\" in files under src"),
    ("what is the total revenue per region in sales.csv?", "total revenue of the rows of sales.csv for each region"),
    (
        "which region has the highest total revenue in sales.csv",
        "total revenue of the rows of sales.csv for each region, sorted by revenue descending, top 1",
    ),
    (
        "show rows of sales.csv where region is north and units are at least 2",
        "list the rows of sales.csv where region is \"North\" and units at least 2",
    ),
    ("how many different products are in sales.csv?", "count the distinct product of sales.csv"),
    (
        "List the Rust files under src, count their lines, and write the ten longest to longest.md",
        "list the 10 longest *.rs files under src with their lines, and write it to longest.md",
    ),
    ("how many units does each region have in sales.csv", "total units of the rows of sales.csv for each region"),
    ("How many lines does app.log have?", "count the lines of app.log"),
    ("Show the last 5 lines of app.log", "list the lines of app.log, last 5"),
    (
        "total revenue by region in sales.csv, highest first",
        "total revenue of the rows of sales.csv for each region, sorted by revenue descending",
    ),
    ("sort sales.csv by revenue descending", "list the rows of sales.csv, sorted by revenue descending"),
    ("count the errors in app.log by component", "count the rows of app.log where level is \"ERROR\" for each component"),
    ("delete all .tmp files", "delete the *.tmp files"),
    ("delete the largest file in src", "delete the largest file under src"),
    ("list the files in src and delete them", "list the files under src, then delete the files under src"),
    ("delete the rows of sales.csv with region North", "delete the rows of sales.csv where region is \"North\""),
    ("sales.csv: how many rows from the North?", "count the rows of sales.csv where region is \"North\""),
    ("list the tmp files, do not delete them", "list the *.tmp files"),
    ("list all files called a.txt", "list the files where name is \"a.txt\""),
    ("show notes.txt in reverse order", "list the lines of notes.txt, in reverse"),
    ("rows of sales.csv where units > revenue", "list the rows of sales.csv where units more than revenue"),
    ("rename a.txt to c.txt", "rename a.txt to c.txt"),
    ("count the words in notes.txt and save it to count.txt", "count the words of notes.txt, and write it to count.txt"),
    (
        "if a.txt exists, delete b.txt, otherwise create the folder x",
        "if check whether a.txt exists, delete b.txt, otherwise create the folder x",
    ),
    ("what is 17 * 23?", "calculate 17 * 23"),
];

#[test]
fn requests_are_said_back_as_their_operations_with_every_value() {
    let wrong: Vec<_> =
        READ.iter().map(|(request, sentence)| (*sentence, said(request))).filter(|(sentence, said)| sentence != said).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_tree_printed_and_read_again_is_the_same_tree() {
    let changed: Vec<_> =
        READ.iter().map(|(_, sentence)| (*sentence, said(sentence))).filter(|(sentence, again)| sentence != again).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn a_word_that_carries_meaning_is_used_or_reported() {
    // Each is understood without the word in front of it.
    for (word, request) in [
        ("not", "list the files that are not large"),
        ("only", "list only the rows of sales.csv that shine"),
        ("without", "list the rows of sales.csv without wings"),
        ("last", "list the last rows of sales.csv that shine"),
        ("or", "delete a.txt or b.txt"),
        ("unless", "delete a.txt unless b.txt is blue"),
        ("until", "list the files until tomorrow"),
        ("3", "delete a.txt 3"),
        ("quoted", "count the rows of sales.csv \"quoted\""),
        ("by", "list the rows of sales.csv by moonlight"),
    ] {
        let plan = planned(request).plan;
        let open = OpenRequest::of(&plan);
        assert!(!open.is_empty(), "{word}: {request} was read as {}", plan.metadata["understood"]);
    }
}

#[test]
fn readings_that_give_different_plans_are_a_choice() {
    for request in ["which product has the highest units in sales.csv", "what day of the week is 04/05/24"] {
        let mut plan = planned(request).plan;
        let open = OpenRequest::of(&plan);
        assert!(open.readings.len() == 2, "{request}: {open:?}");
        assert!(!open.pick(&mut plan, 0) && !open.pick(&mut plan, 3) && open.pick(&mut plan, 2));
        assert!(OpenRequest::of(&plan).is_empty() && plan.metadata["understood"] == open.readings[1], "{request}");
        let ways: Vec<_> = plan.edges.iter().map(|edge| (edge.from.as_str(), edge.default)).collect();
        assert_eq!(ways, [("decide", false), ("decide", true)], "{request}: what was not picked doesn't run");
    }
}

#[test]
fn what_could_mean_something_else_runs_nothing() {
    for request in [
        "list the sales for each region",
        "show the last sales of each region",
        "regions with more than 4 units in sales.csv",
        "show the first and the last sales of North in sales.csv",
        "count the sales and average their revenue per region",
        "rows of sales.csv from North or with A",
        "sort sales.csv by region and units descending",
        "show notes.txt without three lines",
        "how many errors and infos are in app.log",
        "for each region the product with the highest revenue in sales.csv",
        "duplicate lines in notes.txt, ignoring case",
        "which is the largest folder",
        "count the files for each folder, how many folders",
        "total size of each folder",
        "list the folder src and its fatal errors",
        "sort sales.csv by product, longest first",
        "sort the first 2 rows of sales.csv by units",
        "replace the date with tomorrow in notes.txt",
        "which files contain errors",
        "create a folder named the end",
        "delete the files called notes",
        "run echo hi twice",
        "1.200,50 + 1",
        "which product sold the most in sales.csv",
        "what is the revenue of the North in sales.csv",
        "errors in app.log that mention timeout failed",
        "average units per revenue in sales.csv",
        "errors and infos per app in app.log",
        "how many products of sales.csv were sold",
        "average units per region in sales.csv, oldest region first",
        "errors in app.log per component, newest first",
    ] {
        let plan = planned(request).plan;
        assert!(!OpenRequest::of(&plan).is_empty(), "{request} was read as {}", plan.metadata["understood"]);
    }
}

#[test]
fn one_or_the_other_is_as_what_was_said_before_it() {
    for (request, sentence) in [
        ("rows of sales.csv from North or South", "list the rows of sales.csv where region is \"North\" or \"South\""),
        (
            "rows of sales.csv not from North or South",
            "list the rows of sales.csv where not region is \"North\" and not region is \"South\"",
        ),
        (
            "how many rows of sales.csv except those from North and South",
            "count the rows of sales.csv where not region is \"North\" and not region is \"South\"",
        ),
    ] {
        assert_eq!(said(request), sentence);
    }
}

#[test]
fn what_would_be_understood_without_the_words_that_are_not_is_said() {
    assert_eq!(
        planned("list the rows of sales.csv by moonlight").remarks,
        ["without \"by moonlight\" it would be: list the rows of sales.csv"]
    );
}

#[test]
fn the_clause_that_is_not_understood_is_named_and_a_long_one_ends() {
    let part = |request: &str| OpenRequest::of(&planned(request).plan).not_understood;
    assert_eq!(part("rename a.txt to c.txt and add a line about fish to it"), ["add a line about fish to it"]);
    assert_eq!(part("count the lines of a.txt, then paint the fence"), ["paint the fence"]);
    let long =
        "list the files with red, green and blue hair and those of the moon, and of the sun, and count what is over and under, or not";
    assert!(!part(long).is_empty());
}

#[test]
fn slips_are_read_in_own_words_only_and_said() {
    let planned = planned("cuont the lines of notes.txt");
    assert_eq!(planned.remarks, ["read cuont as count"]);
    // What could be a word of its own is asked about, and so is every guess that would change something.
    for request in ["count the worlds of notes.txt", "delete all flies", "delte a.txt"] {
        let plan = super::tests::planned(request).plan;
        assert!(!OpenRequest::of(&plan).is_empty(), "{request} was read as {}", plan.metadata["understood"]);
    }
    assert!(!OpenRequest::of(&super::tests::planned("count the lines of notess.txt").plan).is_empty());
    assert!(!OpenRequest::of(&super::tests::planned("total revenue for Nort in sales.csv").plan).is_empty());
}

#[test]
fn every_plan_is_sound_and_every_node_has_a_title() {
    for (request, _) in READ {
        let plan = planned(request).plan;
        for (at, node) in plan.nodes.iter().enumerate() {
            assert!(is_legal_id(&node.id) && dialect::node_to_value(node)["title"].is_string(), "{request}: {}", node.id);
            assert!(
                node.depends_on.iter().all(|source| plan.nodes[..at].iter().any(|before| before.id == *source)),
                "{request}: {}",
                node.id
            );
        }
    }
}

#[test]
fn every_example_of_every_template_finds_it() {
    let mut wrong = Vec::new();
    for template in Template::shipped() {
        for example in &template.examples {
            let sentence = said(example);
            if !sentence.starts_with(&template.name.replace('_', " ")) {
                wrong.push(format!("{example}: {sentence}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/plans")).unwrap().count();
    assert_eq!(Template::shipped().len(), files);
}

#[test]
fn steps_wait_for_each_other_where_files_meet_or_the_request_says_then() {
    let waits = |request: &str, later: &str, before: &str| {
        let plan = planned(request).plan;
        let node = |tool: &str| plan.nodes.iter().find(|node| dialect::node_to_value(node)["tool"] == tool).unwrap();
        let mut waiting = vec![node(later).id.clone()];
        while let Some(id) = waiting.pop() {
            if id == node(before).id {
                return true;
            }
            waiting.extend(plan.nodes.iter().filter(|node| node.id == id).flat_map(|node| node.depends_on.clone()));
        }
        false
    };
    for (request, later, before, holds) in [
        ("write \"x\" to c.txt and count the lines of a.txt", "read_file", "write_file", false),
        ("write \"x\" to c.txt, then count the lines of a.txt", "read_file", "write_file", true),
        ("write \"x\" to a.txt and count the lines of a.txt", "read_file", "write_file", true),
        ("create the folder x and write \"x\" to c.txt", "write_file", "make_directory", false),
        ("count the lines of a.txt and delete a.txt", "delete_file", "read_file", true),
        ("count the lines of b.txt and delete a.txt", "delete_file", "read_file", false),
        ("list the files in src and delete README.md", "delete_file", "list_directory", false),
        ("list the files and delete README.md", "delete_file", "list_directory", true),
        ("run `make` and count the lines of a.txt", "read_file", "run_command", true),
    ] {
        assert_eq!(waits(request, later, before), holds, "{request}");
    }
}

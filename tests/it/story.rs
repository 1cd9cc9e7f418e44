//! The main job with the real program, from the first key to the last, at 80x24 and without a key: plan, change, run, decide, see.

use super::support::{program::Program, pty::Terminal};

const REQUEST: &str = "List the Rust files under src, count their lines, and write the ten longest to longest.md";

/// Lines of each Rust file under `src`; twelve of them, so that two are left out.
const LINES: [(&str, usize); 12] = [
    ("src/a.rs", 3),
    ("src/b.rs", 60),
    ("src/c.rs", 7),
    ("src/deep/d.rs", 44),
    ("src/deep/er/e.rs", 12),
    ("src/f.rs", 120),
    ("src/g.rs", 31),
    ("src/h.rs", 5),
    ("src/i.rs", 18),
    ("src/j.rs", 25),
    ("src/k.rs", 90),
    ("src/l.rs", 9),
];

const LINE: &str = "let x = 1;\n";

const ESC: &str = "\x1b";
const ENTER: &str = "\r";
const TAKE: &str = "\x13";
const BACKSPACE: &str = "\x7f";

/// A fresh machine with a workspace that holds more than what is asked for.
fn machine() -> Program {
    let program = Program::new();
    for (path, lines) in LINES {
        program.file(path, LINE.repeat(lines));
    }
    program.file("src/notes.txt", "no Rust\n".repeat(500));
    program.file("other.rs", "// not under src\n".repeat(400));
    program.file("notes.md", "one two three\ntwo three\n");
    program
}

/// What the operator does: each key waits until the screen shows what it did.
impl Terminal {
    /// The row that the cursor stands on.
    fn row(&self) -> String {
        self.screen().lines().find(|line| line.starts_with('▶')).unwrap_or_default().to_owned()
    }

    /// Moves down the tree from its first row to a node's own row, which its card names.
    #[track_caller]
    fn goes_to(&mut self, id: &str) -> &mut Self {
        let card = format!("{id} · ");
        self.send("g").until("the first row", |screen| screen.lines().nth(3).is_some_and(|line| line.starts_with('▶')));
        while !self.screen().contains(&card) {
            let before = self.row();
            self.send("j").until(&format!("the next row, on the way to {id}"), |screen| !screen.lines().any(|line| line == before));
        }
        self
    }

    /// Decides the gate that the inbox shows, once keys decide there.
    #[track_caller]
    fn decides(&mut self, key: &str) -> &mut Self {
        self.sees("keys active").send(key)
    }
}

#[test]
fn the_main_job_from_the_first_key_to_the_last() {
    let program = machine();
    let mut deck = program.console((80, 24));
    a_request_becomes_a_plan(&mut deck);
    arguments_are_changed(&mut deck);
    a_node_is_added_and_its_findings_are_fixed(&mut deck);
    a_dependency_is_taken_away_and_put_back(&mut deck);
    a_cycle_is_refused(&mut deck);
    changes_are_undone_and_done_again(&mut deck);
    the_write_waits_until_it_is_approved(&mut deck, &program);
    a_branch_is_cancelled_and_the_rest_finishes(&mut deck);
    the_terminal_is_given_back(&mut deck);
    the_journal_tells_of_both_runs(&program);
}

fn a_request_becomes_a_plan(deck: &mut Terminal) {
    deck.sees("Type what you want done").send(REQUEST).sees("longest to longest.md").send(ENTER);
    deck.sees("4 nodes").sees("read the plan, then");
    for row in ["list the *.rs files", "10 longest", "make the text of longest.md", "write longest.md"] {
        assert!(deck.screen().contains(row), "{row}\n{}", deck.screen());
    }
    assert!(deck.row().contains("list the *.rs files"), "{}", deck.screen());
    deck.send("j").sees("rank · ").send("G").sees("write_file · ").sees("asks you").send("g").sees("list_files · ");
}

fn arguments_are_changed(deck: &mut Terminal) {
    deck.goes_to("list_files").send("e").sees("arguments of list_files").send("\"").send(TAKE).sees("not valid JSON");
    deck.send(BACKSPACE).sees("\"path\": \"src\"");
    deck.send(TAKE).loses("ctrl-s").sees("path     src");
}

fn a_node_is_added_and_its_findings_are_fixed(deck: &mut Terminal) {
    deck.send("a").sees("what kind?").send("agent").send(ENTER).sees("┌ agent").send("writer").send(ENTER);
    deck.sees("objective of writer").send("Tell in one sentence what {{report}} says").send(TAKE).loses("ctrl-s");
    deck.sees("1 error").sees("✗ └ Tell in one sentence").sees("depend on it (unordered-reference)");
    deck.send("r").sees("Run: ");
    deck.send("F").sees("findings: 1 of 1").sees("fix: make writer depend on report").send("f");
    deck.loses("findings:").sees("needs    list the *.rs files under src, make the text");
}

fn a_dependency_is_taken_away_and_put_back(deck: &mut Terminal) {
    deck.goes_to("writer").send("D").sees("what writer depends on").goes_to("report");
    deck.send(" ").sees("writer no longer depends on report").until("the mark gone", |screen| screen.contains("▶[ ] │ make the text"));
    deck.sees("1 error");
    deck.send(" ").sees("writer depends on report").until("the mark", |screen| screen.contains("▶[✓] │ make the text"));
    deck.send(ENTER).loses("what writer depends on").loses("1 error");
}

fn a_cycle_is_refused(deck: &mut Terminal) {
    deck.goes_to("list_files").send("D").sees("what list_files depends on").goes_to("write_file").send(" ");
    deck.sees("this would create a cycle:").until("the whole cycle", |screen| {
        let words: Vec<&str> = screen.split_whitespace().collect();
        words.join(" ").contains("list_files → rank → report → write_file → list_files")
    });
    deck.send("D").loses("what list_files depends on");
}

fn changes_are_undone_and_done_again(deck: &mut Terminal) {
    deck.goes_to("rank").send("d").sees("deleted rank").sees("4 nodes");
    deck.send("u").sees("undone").sees("5 nodes").sees("make the text");
    deck.send("U").sees("redone").sees("4 nodes");
    // Back to the plan as the planner made it, and forward again to the plan as it is wanted.
    deck.send(&"u".repeat(6)).sees("4 nodes").loses("writer").sees("10 longest");
    deck.send(&"U".repeat(5)).sees("5 nodes").sees("10 longest").sees("writer").loses("error");
}

fn the_write_waits_until_it_is_approved(deck: &mut Terminal, program: &Program) {
    deck.send("r").sees("a model is needed, and none is set up").send(ESC).loses("none is set up");
    deck.goes_to("writer").send("d").sees("4 nodes");
    deck.send("r").sees("1 needs you").sees("3/4 done");
    let row = deck.screen().lines().find(|line| line.contains("write longest.md")).unwrap_or_default().to_owned();
    assert!(row.contains("◆"), "{row}");
    assert!(!program.workspace().join("longest.md").exists());

    deck.goes_to("write_file").send("o").sees("1 open gate").sees("new file longest.md").sees("+ | path | lines |");
    deck.sees("+ | src/f.rs | 120 |");
    assert!(!program.workspace().join("longest.md").exists());
    deck.decides("a").loses("1 open gate").sees("approved by tester");

    let mut longest = LINES.to_vec();
    longest.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
    let report = program.read("longest.md");
    let rows: Vec<&str> = report.lines().filter(|line| line.contains(".rs |")).collect();
    let expected: Vec<String> = longest.iter().take(10).map(|(path, lines)| format!("| {path} | {lines} |")).collect();
    assert_eq!(rows, expected);
    deck.send(ESC).sees("   succeeded  ").sees("4/4 done");
}

fn a_branch_is_cancelled_and_the_rest_finishes(deck: &mut Terminal) {
    deck.send("n").send("Count the words in notes.md").send(ENTER).sees("2 nodes");
    deck.send("a").sees("what kind?").send("tool").send(ENTER).sees("┌ tool").send("run_command").send(ENTER);
    deck.sees("command of run_command").send("sleep 600").sees("sleep 600");
    deck.send(TAKE).loses("ctrl-s").goes_to("count_words").send("p").sees("count_words asks you: before").send("r").sees("2 need you");

    deck.goes_to("run_command").send("o").sees("$ sleep 600").decides("a").sees("approved run_command").sees("1 open gate");
    deck.send(ESC).sees("1 running").goes_to("run_command").send("|").sees("Cancel the branch at “run_command”?");
    deck.sees("cancels in its work: run_command")
        .send("y")
        .until("the row cancelled", |screen| screen.lines().any(|line| line.contains("run_command · ") && line.contains("cancelled")));

    deck.goes_to("count_words")
        .send("o")
        .sees("count the words of notes.md: may it start?")
        .sees("because the plan asks")
        .decides("a")
        .loses("1 open gate");
    deck.send(ESC).sees("partial").sees("2/3 done");
}

fn the_terminal_is_given_back(deck: &mut Terminal) {
    deck.send("q");
    assert_eq!(deck.ended(), 0, "{}", deck.screen());
    let screen = deck.emulator();
    assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste(), "{}", deck.screen());
    assert!(deck.cooked());
    let lines: Vec<String> = deck.screen().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4, "{}", deck.screen());
    assert!(lines[0].starts_with("succeeded") && lines[0].contains("4/4 done"), "{lines:?}");
    assert!(lines[2].starts_with("partial") && lines[2].contains("2/3 done"), "{lines:?}");
    assert!(lines[1].starts_with("  dagdeck show ") && lines[3].starts_with("  dagdeck show "), "{lines:?}");
}

fn the_journal_tells_of_both_runs(program: &Program) {
    let listed = program.run(&["ls"]).code(0).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines[0].contains("partial") && lines[0].contains("Count the words"), "{listed}");
    assert!(lines[1].contains("succeeded") && lines[1].contains("List the Rust files"), "{listed}");

    let shown = program.run(&["show", "last"]).code(0).out;
    assert!(shown.contains("run_command  cancelled") && shown.contains("gate 1 at "), "{shown}");
    let last = program.json(&["show", "last", "--json"]);
    assert_eq!(last["status"], "partial");
    let runs = program.json(&["ls", "--json"]);
    let first = program.json(&["show", runs[1]["run"].as_str().unwrap(), "--json"]);
    assert_eq!((&first["status"], &first["goal"]), (&"succeeded".into(), &REQUEST.into()));
    let states: Vec<&str> = first["nodes"].as_array().unwrap().iter().filter_map(|node| node["state"].as_str()).collect();
    assert_eq!(states, ["succeeded"; 4]);
    assert_eq!(first["gates"][0]["node_id"], "write_file");
    assert_eq!(first["gates"][0]["by"]["who"], "tester");
    assert_eq!(first["gates"][0]["payload"]["content"].as_str().unwrap(), program.read("longest.md"));
}

#[test]
fn text_pasted_without_brackets_is_text_and_decides_nothing() {
    let program = Program::new();
    let plan =
        r#"{"dagdeck": 1, "goal": "one file", "nodes": [{"id": "w", "tool": "write_file", "args": {"path": "o.txt", "content": "x"}}]}"#;
    let file = program.file("plan.json", plan);
    program.run(&["run", &file]).code(7);
    let mut deck = program.console_with(&["console", "--run", "last"], (80, 24));
    deck.sees("waiting").send("!").sees("Resume this run?").send("y").loses("Resume this run?").send("i").sees("keys active");
    deck.send("approve it now").sees("you can't paste here").sees("keys active");
    assert!(!program.workspace().join("o.txt").exists());
}

//! Faults that users of comparable programs met, none of which the real program may have. Those of the engine and of the console
//! alone stand beside them.

use super::support::{
    chat::{ChatServer, Reply},
    program::Program,
    pty::Terminal,
};
use serde_json::{Value, json};

/// Sequences that set the clipboard, the title and the screen, with ESC and as C1 controls, and text that runs backwards.
const HOSTILE: &str = "\u{1b}]52;c;aGk=\u{7}\u{1b}]0;owned\u{7}\u{1b}[2J\u{9d}0;owned\u{9c}\u{9b}2J\u{202e}drawkcab\u{2066}\u{200f}\u{8}";

fn text(text: impl ToString) -> Reply {
    Reply::Text(text.to_string())
}

fn write(path: &str) -> (String, Value) {
    ("write_file".into(), json!({ "path": path, "content": "hello" }))
}

/// Runs one agent that may write files.
fn run_agent(program: &Program, flags: &[&str], exit: i32) -> Value {
    program.file(".dagdeck/agents/clerk.md", "---\nname: clerk\ndescription: writes files\ntools: [write_file, edit_file]\n---\nWrite.\n");
    program.run(&["trust", "--all"]);
    let node = json!({ "id": "answer", "agent": "clerk", "objective": "Write it.", "max_iterations": 8 });
    let plan = program.file("plan.json", json!({ "dagdeck": 1, "goal": "test", "nodes": [node] }).to_string());
    program.run(&[&["run", &plan], flags].concat()).code(exit);
    program.json(&["show", "last", "--json"])
}

/// What a request tells the model of its calls, in order.
fn told(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    messages.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// Case 1.
#[test]
fn text_typed_while_an_approval_arrives_goes_into_the_text_field_all_of_it_and_nothing_is_decided() {
    let nodes = json!([
        { "id": "first", "agent": "writer", "objective": "Say it", "depends_on": [] },
        { "id": "save", "tool": "write_file", "args": { "path": "out.txt", "content": "{{first}}" }, "depends_on": ["first"] },
    ]);
    let server = ChatServer::start(vec![text(json!({ "nodes": nodes })), Reply::Held("half of it".into(), " and the rest".into())]);
    let program = Program::connected(&server);
    let mut deck = program.console((80, 24));
    deck.sees("Type what you want").send("say it and save it\r").sees("read the plan, then").send("r").sees("half of it");
    deck.send("n").send("axes, a sax").sees("axes, a sax");
    server.release();
    deck.send(" yXesaa");
    deck.sees("1 needs you").sees("axes, a sax yXesaa");
    deck.send("ax sax").sees("axes, a sax yXesaaax sax");
    let shown = program.json(&["show", "last", "--json"]);
    assert_eq!((&shown["status"], &shown["gates"][0]["decision"]), (&json!("waiting"), &Value::Null), "{shown}");
    assert!(!program.workspace().join("out.txt").exists());
}

/// Case 3.
#[test]
fn a_rejected_call_never_runs_by_no_route() {
    let again = || Reply::Calls(vec![write("out.txt"), write("out.txt")]);
    let server = ChatServer::start(vec![again(), again(), text("Given up.")]);
    let program = Program::connected(&server);
    let shown = run_agent(&program, &["--yes", "--deny", "write_file"], 0);
    assert!(!program.workspace().join("out.txt").exists());
    let tools = &shown["nodes"][0]["metadata"]["tools_called"];
    assert_eq!(tools, &json!([]), "no call has begun");
    assert_eq!(told(&server.requests()[2]).len(), 4, "each proposal has its answer");
}

/// Case 4.
#[test]
fn an_approved_call_runs_and_its_real_result_not_the_approval_goes_to_the_model() {
    let server = ChatServer::start(vec![Reply::Calls(vec![write("out.txt")]), text("Written.")]);
    let program = Program::connected(&server);
    let shown = run_agent(&program, &["--approve", "write_file"], 0);
    assert_eq!(program.read("out.txt"), "hello");
    let [result] = told(&server.requests()[1]).try_into().unwrap();
    assert!(result.contains("out.txt") && result.contains('5') && !result.contains("approve"), "the report of the write: {result}");
    assert_eq!(shown["gates"][0]["decision"], json!({ "decision": "approve" }));
}

/// Case 6.
#[test]
fn rejecting_one_call_of_a_batch_leaves_its_approved_siblings() {
    let edit = ("edit_file".into(), json!({ "path": "kept.txt", "old_string": "as it was", "new_string": "changed" }));
    let server = ChatServer::start(vec![Reply::Calls(vec![write("a.txt"), edit, write("b.txt")]), text("Done.")]);
    let program = Program::connected(&server);
    program.file("kept.txt", "as it was");
    run_agent(&program, &["--approve", "write_file", "--deny", "edit_file"], 0);
    assert_eq!(
        (program.read("a.txt"), program.read("b.txt"), program.read("kept.txt")),
        ("hello".into(), "hello".into(), "as it was".into())
    );
    let told = told(&server.requests()[1]);
    assert!(
        told[0].contains("a.txt") && told[1].contains("rejected") && told[2].contains("b.txt"),
        "each call has its own answer: {told:?}"
    );
}

/// Case 7.
#[test]
fn a_call_proposed_again_after_its_rejection_is_capped_not_endless() {
    let server = ChatServer::start(vec![Reply::Calls(vec![write("out.txt")])]);
    let program = Program::connected(&server);
    let shown = run_agent(&program, &["--deny", "write_file"], 5);
    assert_eq!(shown["gates"].as_array().unwrap().len(), 2, "from the third time nobody is asked: {shown}");
    assert!(server.requests().len() <= 8, "{}", server.requests().len());
    assert!(told(server.requests().last().unwrap()).last().unwrap().contains("not made: `write_file` was called"));
    assert!(!program.workspace().join("out.txt").exists());
}

/// What was printed behind the console's last frame.
fn farewell(deck: &Terminal) -> String {
    let raw = String::from_utf8_lossy(&deck.raw).into_owned();
    raw.rsplit_once("\x1b[?1049l").unwrap().1.to_owned()
}

/// Case 14.
#[test]
fn leaving_prints_a_short_summary_not_every_buffer() {
    let plan = json!({ "nodes": [{ "id": "answer", "agent": "writer", "objective": "Say it", "depends_on": [] }] });
    let long: String = (0..500).map(|line| format!("streamed line {line}\n")).collect();
    let program = Program::connected(&ChatServer::start(vec![text(plan), text(&long)]));
    let mut deck = program.console((80, 24));
    deck.sees("Type what you want").send("say a lot\r").sees("read the plan, then").send("r").sees("succeeded").send("q");
    assert_eq!(deck.ended(), 0);
    let farewell = farewell(&deck);
    assert!(farewell.contains("say a lot") && farewell.contains("dagdeck show "), "{farewell:?}");
    assert!(farewell.trim().lines().count() <= 3 && !farewell.contains("streamed line"), "{farewell:?}");
}

fn is_dangerous(c: char) -> bool {
    c.is_control() && c != '\n' || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Case 17: what is printed.
#[test]
fn escapes_and_bidi_in_ids_arguments_and_results_are_printed_escaped() {
    let program = Program::new();
    let nodes = json!([
        { "id": "a", "value": HOSTILE, "notes": HOSTILE },
        { "id": "b", "value": { HOSTILE: [HOSTILE] } },
        { "id": "c", "tool": "read_file", "args": { "path": HOSTILE } },
        { "id": "d", "tool": "write_file", "args": { "path": HOSTILE, "content": HOSTILE } },
    ]);
    let good = program.file("good.json", json!({ "dagdeck": 1, "goal": HOSTILE, "nodes": nodes }).to_string());
    let wrong = json!([{ "id": HOSTILE, "agent": HOSTILE }, { "id": "x", "tool": HOSTILE, "depends_on": [HOSTILE], "when": HOSTILE }]);
    let wrong = program.file("wrong.json", json!({ "dagdeck": 1, "goal": HOSTILE, "nodes": wrong, HOSTILE: 1 }).to_string());
    let broken = program.file("broken.json", HOSTILE);
    let lists: [&[&str]; 6] = [&["--deny", "*"], &["--yes"], &["--json", "--yes"], &[], &["--json"], &["--format", "orchestration"]];
    let [deny, yes, json_yes, none, json, orchestration] = lists;
    let verbs: Vec<Vec<&str>> = [("run", &good, deny), ("run", &good, yes), ("run", &good, json_yes), ("run", &good, none)]
        .into_iter()
        .chain([&good, &wrong, &broken].into_iter().flat_map(|file| {
            [
                ("run", file, json),
                ("validate", file, none),
                ("validate", file, json),
                ("export", file, none),
                ("export", file, orchestration),
            ]
        }))
        .map(|(verb, file, flags)| [&[verb, file.as_str()], flags].concat())
        .chain(["mermaid", "dot", "tree", "text"].map(|format| vec!["export", &good, "--format", format]))
        .chain([vec!["ls"], vec!["ls", "--json"], vec!["show", "last"], vec!["show", "last", "--json"], vec!["show", "last", HOSTILE]])
        .chain(["a", "b", "c", "d"].map(|node| vec!["show", "last", node]))
        .collect();
    let mut seen = 0;
    for args in verbs {
        let ended = program.run(&args);
        let printed = ended.out.clone() + &ended.err;
        assert!(!printed.contains(is_dangerous), "{args:?}\n{printed:?}");
        seen += usize::from(printed.contains("drawkcab"));
    }
    assert!(seen > 15, "the hostile text was there to be seen, {seen} times");
}

/// Case 17: what is sent to the terminal.
#[test]
fn escapes_and_bidi_in_titles_arguments_and_results_are_shown_escaped_never_sent() {
    let nodes = json!([
        { "id": "say", "agent": "writer", "objective": HOSTILE, "depends_on": [] },
        { "id": "save", "tool": "write_file", "args": { "path": "out.txt", "content": HOSTILE }, "depends_on": ["say"] },
    ]);
    let server = ChatServer::start(vec![text(json!({ "goal": HOSTILE, "nodes": nodes })), text(format!("said {HOSTILE} so"))]);
    let program = Program::connected(&server);
    let mut deck = program.console((120, 40));
    deck.sees("Type what you want").send("say it\r").sees("read the plan, then").sees("drawkcab").send("r").sees("1 needs you");
    deck.send("i").sees("keys active").sees("drawkcab").send("a").sees("approved by").send("1").sees("2/2 done");
    deck.send("g").sees("said ").send("z").loses("2/2 done").sees("said ").send("z").sees("2/2 done").send("q");
    assert_eq!(deck.ended(), 0);
    assert_eq!(program.read("out.txt"), HOSTILE, "the file has what was approved, byte for byte");
    let raw = String::from_utf8_lossy(&deck.raw).into_owned();
    assert!(!raw.contains("\x1b]52") && !raw.contains("\x1b]0;owned") && !raw.contains("\x1b[2J\u{9d}"), "no sequence of another author");
    let bare: Vec<char> = raw.chars().filter(|c| matches!(c, '\u{80}'..='\u{9f}' | '\u{200f}' | '\u{202e}' | '\u{2066}')).collect();
    assert!(bare.is_empty(), "{bare:?}");
}

/// Case 23.
#[test]
fn the_selection_is_visible_under_no_color_and_nothing_has_a_colour() {
    let program = Program::new().env("NO_COLOR", "1");
    program.file("notes.md", "one two\n");
    let mut deck = program.console((80, 24));
    deck.sees("Type what you want").send("Count the words in notes.md\r").sees("read the plan, then");
    let screen = deck.emulator();
    let is_marked = |row: &u16| screen.cell(*row, 0).is_some_and(|cell| cell.contents() == "▶");
    let rows: Vec<u16> = (0..24).filter(is_marked).collect();
    assert_eq!(rows.len(), 1, "one row is selected, and looks so\n{}", deck.screen());
    assert!(screen.cell(rows[0], 3).is_some_and(vt100::Cell::bold), "{}", deck.screen());
    let coloured = (0..24).flat_map(|row| (0..80).filter_map(move |column| screen.cell(row, column)));
    assert!(coloured.into_iter().all(|cell| (cell.fgcolor(), cell.bgcolor()) == (vt100::Color::Default, vt100::Color::Default)));
    assert!((0..80).filter_map(|column| screen.cell(0, column)).any(vt100::Cell::bold), "and bold is not lost with colour");
}

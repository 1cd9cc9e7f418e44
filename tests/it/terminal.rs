//! The real program and its terminal: what it leaves behind, however it ends; suspend, resize, paste, silence, colours.

use super::support::{
    program::Program,
    pty::{Start, Terminal},
};
use dagdeck::console::term::{Term, TerminalEvent};
use ratatui::widgets::Paragraph;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::time::{Duration, Instant};

const CTRL_Z: &str = "\x1a";
const REQUEST: &str = "List the Rust files under src, count their lines, and write the ten longest to longest.md";

/// Silence after which everything that was asked for has been drawn.
const SETTLED: Duration = Duration::from_secs(1);
/// How long the program is watched while nothing happens.
const WATCHED: Duration = Duration::from_secs(3);

fn machine() -> Program {
    let program = Program::new();
    program.file("src/one.rs", "fn one() {}\n");
    program.file("src/two.rs", "fn two() {}\n\nfn more() {}\n");
    program
}

/// The console with a plan in it that nobody has touched.
fn planned(program: &Program, size: (u16, u16)) -> Terminal {
    let mut deck = program.console(size);
    deck.sees("Type what you want").send(REQUEST).send("\r").sees("4 nodes").sees("read the plan, then").drawn();
    deck
}

/// The console with a run that waits for an approval.
fn waiting(program: &Program) -> Terminal {
    let mut deck = planned(program, (80, 24));
    deck.send("r").sees("1 needs you").sees("3/4 done");
    deck
}

fn signal(deck: &Terminal, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(deck.pid()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Fails when the program left anything of its own in the terminal but words.
#[track_caller]
fn given_back(deck: &Terminal) {
    let screen = deck.emulator();
    assert!(!screen.alternate_screen(), "still on the alternate screen");
    assert!(!screen.hide_cursor(), "the cursor is hidden");
    assert!(!screen.bracketed_paste(), "pasted text is still bracketed");
    assert!(!screen.application_cursor() && !screen.application_keypad(), "keys are still the program's");
    assert_eq!((screen.fgcolor(), screen.bgcolor()), (vt100::Color::Default, vt100::Color::Default));
    assert!(!screen.bold() && !screen.inverse() && !screen.underline(), "text is still styled");
    assert!(deck.cooked(), "the terminal is still raw");
}

#[test]
fn the_first_frame_comes_in_well_under_a_second() {
    let program = machine();
    let first_frame = || {
        let start = Instant::now();
        let mut deck = program.console((80, 24));
        deck.sees("Type what you want");
        start.elapsed().saturating_sub(queued(deck.pid()))
    };
    // One quick start is enough: a busy disk slows many of them, never all.
    let starts: Vec<Duration> = (0..30).map(|_| first_frame()).take_while(|took| *took >= Duration::from_secs(1)).collect();
    assert!(starts.len() < 30, "{starts:?}");
}

#[test]
fn a_signal_to_end_leaves_the_terminal_clean_and_the_journal_whole() {
    for ending in [Signal::TERM, Signal::HUP, Signal::INT] {
        let program = machine();
        let mut deck = waiting(&program);
        signal(&deck, ending);
        deck.ended();
        given_back(&deck);
        assert!(deck.screen().contains("dagdeck show "), "{}", deck.screen());
        journal_is_whole(&program);
    }
}

#[test]
fn a_program_that_is_killed_leaves_the_journal_whole() {
    let program = machine();
    let mut deck = waiting(&program);
    signal(&deck, Signal::KILL);
    deck.ended();
    journal_is_whole(&program);
}

#[track_caller]
fn journal_is_whole(program: &Program) {
    let shown = program.json(&["show", "last", "--json"]);
    let states: Vec<&str> = shown["nodes"].as_array().unwrap().iter().filter_map(|node| node["state"].as_str()).collect();
    assert_eq!(states[..3], ["succeeded"; 3], "{shown}");
    assert_eq!(shown["gates"][0]["node_id"], "write_file");
    assert!(!program.workspace().join("longest.md").exists());
}

/// Set in the process that panics: the test runs itself again, in a terminal.
const PANICS: &str = "DAGDECK_TEST_PANICS";

#[test]
fn a_panic_gives_the_terminal_back_before_its_message() {
    if std::env::var_os(PANICS).is_some() {
        return panic_while_drawing();
    }
    let program = machine();
    let test = std::env::current_exe().unwrap();
    let args = ["--exact", "--nocapture", "terminal::a_panic_gives_the_terminal_back_before_its_message"];
    let env = [(PANICS, "1")];
    let start = Start { args: &args, workspace: &program.workspace(), home: &program.home(), size: (80, 24), env: &env };
    let mut deck = Terminal::start_program(test.to_str().unwrap(), &start);
    assert_ne!(deck.ended(), 0);
    given_back(&deck);
    assert!(String::from_utf8_lossy(&deck.raw).contains("a-frame-of-the-console"));
    assert!(deck.screen().contains("on purpose") && !deck.screen().contains("a-frame-of-the-console"), "{}", deck.screen());
}

fn panic_while_drawing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut term = Term::open(Box::new(std::io::stdout()), false, |_| None).unwrap();
        loop {
            match term.next().await {
                TerminalEvent::FrameDue => {
                    term.draw(|frame| frame.render_widget(Paragraph::new("a-frame-of-the-console"), frame.area())).unwrap();
                }
                TerminalEvent::Flushed { .. } => panic!("on purpose"),
                _ => {}
            }
        }
    });
}

#[test]
fn a_suspended_console_leaves_the_shell_alone_and_comes_back_as_it_was() {
    let program = machine();
    let (workspace, home) = (program.workspace(), program.home());
    let env = [("DAGDECK", env!("CARGO_BIN_EXE_dagdeck"))];
    let start = Start { args: &["-i"], workspace: &workspace, home: &home, size: (80, 24), env: &env };
    let mut shell = Terminal::start_program("sh", &start);
    shell.send("\"$DAGDECK\"\r").sees("Type what you want").send(REQUEST).send("\r").sees("read the plan, then").send("G");
    shell.sees("write_file · ").loses("read the plan, then").drawn();
    let before = shell.screen();

    for stops in 1..=2 {
        // Keys are the shell's from when it says so; until then the console may still take them.
        shell.send(CTRL_Z).until("the shell", |screen| screen.matches("Stopped").count() == stops);
        // The shell works as ever: it echoes, and takes whole lines.
        shell.send("echo $((40 + 2)) times\r").sees("42 times");
        assert!(!shell.emulator().alternate_screen() && !shell.emulator().hide_cursor());
        shell.send("fg\r").until("the screen as it was", |screen| screen == before);
        assert!(shell.emulator().alternate_screen() && shell.emulator().hide_cursor());
    }
    // What is typed before the shell asks again is the leaving console's, which drops it.
    shell.send("q").until("the shell", |screen| screen.trim_end().ends_with(['#', '$']));
    shell.send("echo $((50 + 5)) is the end; exit\r").sees("55 is the end");
    shell.ended();
    assert!(!shell.emulator().alternate_screen() && !shell.emulator().hide_cursor());
}

#[test]
fn an_editor_borrows_the_terminal_and_gives_it_back() {
    let program = machine().env("EDITOR", "printf 'the editor is here\\n'; sed -i s/10/3/");
    let mut deck = planned(&program, (80, 24));
    deck.send("\x05").sees("u undo").send("r").sees("1 needs you").send("G").sees("write_file · ");
    assert!(String::from_utf8_lossy(&deck.raw).contains("the editor is here"));
    assert!(!deck.screen().contains("the editor is here"), "{}", deck.screen());
    let shown = program.json(&["show", "last", "--json"]);
    assert_eq!(shown["nodes"][0]["state"], json!("succeeded"));
}

#[test]
fn another_size_is_drawn_as_if_it_had_always_been_so() {
    let program = machine();
    // What the plan will take comes a moment after the plan.
    let calm = |size: (u16, u16)| {
        let mut deck = planned(&program, size);
        deck.send("jk").until("no message", |screen| !screen.contains("read the plan"));
        deck.until("what it takes", |screen| size.1 < 24 || screen.contains("takes  ")).drawn();
        deck
    };
    let mut deck = calm((80, 24));
    for size in [(120, 40), (200, 50), (40, 10), (80, 24)] {
        let fresh = calm(size).screen();
        deck.resize(size.0, size.1);
        deck.until(&format!("the screen of a fresh start at {size:?}"), |screen| screen == fresh);
        // There and back again before anything can be drawn: the terminal has lost text all the same.
        deck.resize(20, 5);
        deck.resize(size.0, size.1);
        deck.until(&format!("the same screen at {size:?}"), |screen| screen == fresh);
    }
}

#[test]
fn no_size_is_too_small() {
    let program = machine();
    let mut deck = planned(&program, (80, 24));
    // Whatever is open: the tree alone, and what lies over it.
    any_size(deck.send("gj").sees("rank · "));
    for (keys, opened) in [("?", "such as break"), (":", "┌ Commands"), ("gje", "code of rank"), ("ga", "what kind?")] {
        any_size(deck.send(keys).sees(opened));
        deck.send("\x1b").until("the tree alone", |screen| !screen.contains('┌') && screen.contains("? help"));
    }
}

/// Takes the terminal through sizes in which nothing or something odd fits, and back.
#[track_caller]
fn any_size(deck: &mut Terminal) {
    for (columns, rows) in [(20, 5), (39, 10), (40, 9), (5, 2), (1, 1)] {
        deck.resize(columns, rows);
        // Keys work as ever, also where nothing shows.
        deck.send("\x1b[B").until("a sentence", |screen| !screen.contains("4 nodes"));
    }
    deck.resize(20, 5);
    deck.sees("dagdeck needs 40");
    for (columns, rows) in [(40, 10), (300, 12), (41, 100), (80, 24)] {
        deck.resize(columns, rows);
        // What stands at the right edge says that it was drawn at this size.
        let edge = usize::from(columns).saturating_sub(2)..=usize::from(columns);
        deck.until("a screen", |screen| screen.lines().any(|line| edge.contains(&line.trim_end().chars().count())));
    }
}

#[test]
fn nothing_is_written_and_nobody_wakes_while_nothing_happens() {
    let program = machine();
    let mut deck = program.console((80, 24));
    deck.sees("Type what you want");
    silent(&mut deck, "an empty console");
    deck.send(REQUEST).send("\r").sees("read the plan, then");
    silent(&mut deck, "a plan");
    deck.send("r").sees("1 needs you").sees("3/4 done");
    silent(&mut deck, "a run that waits");
    deck.send("2").sees("keys active");
    silent(&mut deck, "an open gate");
}

/// Fails when anything is written, or any thread of the program wakes up, while nothing happens.
#[track_caller]
fn silent(deck: &mut Terminal, what: &str) {
    // A busy machine draws late what was asked for before, but not in each of several watches.
    let watch = |_| {
        deck.take_in(SETTLED);
        let before = wake_ups(deck.pid());
        (deck.take_in(WATCHED), wake_ups(deck.pid()).saturating_sub(before))
    };
    let watched: Vec<(usize, u64)> = (0..5).map(watch).take_while(|(written, woken)| *written > 0 || *woken > 2).collect();
    assert!(watched.len() < 5, "{what} writes bytes and wakes up: {watched:?}\n{}", deck.screen());
}

/// How long the program's first thread was ready to go on and got no processor; zero where the system doesn't tell.
fn queued(pid: u32) -> Duration {
    let told = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    Duration::from_nanos(told.split_whitespace().nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// How often the program's threads have waited for something and gone on; zero where the system doesn't tell.
fn wake_ups(pid: u32) -> u64 {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let waits = |status: String| {
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?;
        line.split_whitespace().last()?.parse::<u64>().ok()
    };
    threads.flatten().filter_map(|thread| waits(std::fs::read_to_string(thread.path().join("status")).ok()?)).sum()
}

#[test]
fn the_first_start_shows_the_tour_once_and_the_key_that_ends_it_is_taken() {
    let program = Program::fresh();
    let mut deck = program.console((80, 24));
    deck.sees("any key ends it").sees("Sum the sal").send("x").loses("any key ends it").sees("┃ x");
    assert!(!deck.screen().contains("sales"), "{}", deck.screen());
    drop(deck);
    let mut deck = program.console((80, 24));
    deck.sees("Type what you want");
    assert!(!deck.screen().contains("any key ends it"), "{}", deck.screen());
}

#[test]
fn pasted_text_is_text_and_never_keys() {
    let program = machine();
    let mut deck = program.console((80, 24));
    deck.sees("Type what you want").send("\x1b[200~first line\nsecond line\rthird\x1b[201~").sees("third");
    assert!(deck.screen().contains("┃ first line") && deck.screen().contains("Type what you want"), "{}", deck.screen());

    let mut deck = planned(&program, (80, 24));
    deck.send("\x1b[200~d\nr\nq\ny\n\x1b[201~").sees("press n for a new request");
    assert!(deck.screen().contains("4 nodes"), "{}", deck.screen());
    // In the inbox a pasted key decides nothing, not even long after the last one.
    deck.send("r").sees("1 needs you").send("GJJ2").sees("1 open gate").send("JJ").sees("new file longest.md").sees("keys active");
    deck.send("\x1b[200~a\x1b[201~").sees("press n for a new request");
    deck.sees("keys active").send("q").sees("A run waits, and nothing runs now");
}

#[test]
fn without_colour_no_colour_is_written_and_the_selection_still_shows() {
    let program = machine().env("NO_COLOR", "1");
    let mut deck = waiting(&program);
    deck.send("2").sees("keys active").send("?").sees("such as break").send("\x1b").loses("such as break");
    let colours: Vec<String> = styles(&deck.raw).into_iter().filter(|style| is_colour(style)).collect();
    assert_eq!(colours, Vec::<String>::new());
    let screen = deck.emulator();
    let marked = (0..24).any(|row| (0..80).any(|column| screen.cell(row, column).is_some_and(|cell| cell.inverse() || cell.bold())));
    assert!(marked, "nothing stands out without colour");
}

#[test]
fn with_colour_only_the_terminals_own_sixteen_are_used_by_default() {
    let program = machine();
    let deck = waiting(&program);
    let styles = styles(&deck.raw);
    assert!(styles.iter().any(|style| is_colour(style)), "no colour at all");
    let other: Vec<&String> = styles.iter().filter(|style| style.contains("38;2") || style.contains("48;2")).collect();
    assert!(other.is_empty(), "{other:?}");
}

/// The parameters of all `SGR` sequences.
fn styles(raw: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(raw);
    let parameters = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':')?;
        rest[end..].starts_with('m').then(|| rest[..end].to_owned())
    };
    text.split("\x1b[").skip(1).filter_map(parameters).collect()
}

/// Whether a style sets a colour; back to the terminal's own colours is none.
fn is_colour(style: &str) -> bool {
    let sets = |code: u32| matches!(code, 30..=38 | 40..=48 | 58 | 90..=97 | 100..=107);
    style.split([';', ':']).filter_map(|code| code.parse().ok()).any(sets)
}

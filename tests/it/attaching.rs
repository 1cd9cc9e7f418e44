//! The host, the process that outlives consoles: a console that ends in whatever way leaves its runs going on, and another one finds them.

use super::support::{
    hosted::{DEADLINE, Hosted, count, pid},
    program::Program,
    pty::Terminal,
};
use rustix::process::{Signal, kill_process};
use serde_json::Value;
use std::{path::Path, time::Instant};

fn signal(deck: &Terminal, signal: Signal) {
    kill_process(pid(deck.pid().into()), signal).unwrap();
}

#[test]
fn a_console_that_ends_in_whatever_way_leaves_its_run_going_on() {
    let hosted = Hosted::new();
    let mut deck = hosted.waiting();
    let process = hosted.host()["process"].clone();
    for ending in [Signal::TERM, Signal::HUP, Signal::INT, Signal::KILL] {
        signal(&deck, ending);
        deck.ended();
        hosted.left_alone();
        deck = hosted.attach();
        deck.sees("1 needs you").sees("3/4 done");
    }
    // Its window is closed.
    drop(deck);
    assert_eq!(hosted.left_alone()["process"], process);
    let mut deck = hosted.attach();
    deck.sees("1 needs you").send("i").sees("keys active").send("a").sees("no open gate").send("1").sees("4/4 done").send("q");
    assert_eq!(deck.ended(), 0);
    assert!(hosted.program.read("longest.md").contains("two.rs"));
    let shown = hosted.program.json(&["show", "last", "--json"]);
    assert_eq!(shown["interrupted_by"], Value::Null, "nobody stopped it");
    assert!(shown["nodes"].as_array().unwrap().iter().all(|node| node["attempts"] == 1), "nothing ran twice: {shown}");
}

#[test]
fn quitting_asks_nothing_and_says_how_to_come_back() {
    let hosted = Hosted::new();
    let mut deck = hosted.waiting();
    deck.send("q");
    assert_eq!(deck.ended(), 0);
    let last = deck.screen();
    assert!(last.contains("dagdeck attach ") && last.contains("waiting"), "{last}");
    let ended = hosted.stop().code(0);
    assert!(ended.err.contains("dagdeck resume "), "{ended}");
    assert_eq!(hosted.host(), Value::Null);
    hosted.stop().code(0).says(&["no host runs"]);
}

#[test]
fn two_consoles_show_the_same_run_and_a_reply_of_one_is_seen_by_the_other() {
    let hosted = Hosted::new();
    let mut one = hosted.waiting();
    let mut other = hosted.attach();
    other.sees("1 needs you").sees("3/4 done");
    hosted.until("two clients", |host| count(host, "clients") == 2);
    other.send("i").sees("keys active").send("a");
    one.sees("4/4 done");
    other.send("1").sees("4/4 done");
}

#[test]
fn a_host_that_is_killed_loses_nothing_and_the_next_one_goes_on() {
    let hosted = Hosted::new();
    let mut deck = hosted.waiting();
    let before = hosted.program.json(&["show", "last", "--json"])["nodes"].clone();
    let process = hosted.host()["process"].clone();
    hosted.kill();
    deck.sees("the host has ended").send("q");
    deck.ended();
    let after = hosted.program.json(&["show", "last", "--json"]);
    assert_eq!(after["nodes"], before);
    let mut deck = hosted.program.console_with(&["attach", "last"], (80, 24));
    deck.sees("3/4 done");
    assert_ne!(hosted.host()["process"], process);
    drop(deck);
    hosted.stop();
    hosted.program.run(&["approve", "last"]).code(0);
    assert!(hosted.program.read("longest.md").contains("two.rs"));
}

#[test]
fn a_restart_goes_on_with_the_runs_in_another_process() {
    let hosted = Hosted::new();
    drop(hosted.waiting());
    let before = hosted.left_alone();
    hosted.program.run(&["host", "restart"]).code(0).says(&["1 run goes on in it"]);
    let after = hosted.until("one run", |host| count(host, "runs") == 1);
    assert_eq!(after["runs"], before["runs"]);
    assert_ne!(after["process"], before["process"]);
    let mut deck = hosted.attach();
    deck.sees("1 needs you").send("i").sees("keys active").send("a").sees("no open gate").send("1").sees("4/4 done");
}

#[test]
fn a_host_ends_by_itself_when_nothing_runs_and_nobody_is_attached() {
    let hosted = Hosted::on(Program::new().env("DAGDECK_HOST_IDLE_MS", "2000"));
    let mut deck = hosted.waiting();
    deck.send("i").sees("keys active").send("a").sees("no open gate").send("1").sees("4/4 done").send("q");
    deck.ended();
    let since = Instant::now();
    // Asking the host would keep it.
    while hosted.files().iter().any(|file| file.extension().is_some_and(|kind| kind == "sock")) {
        assert!(since.elapsed() < DEADLINE, "it is still there");
        std::thread::yield_now();
    }
}

#[test]
fn only_one_of_many_consoles_at_once_starts_the_host() {
    let hosted = Hosted::new();
    let mut decks: Vec<Terminal> = (0..5).map(|_| hosted.attach()).collect();
    decks.iter_mut().for_each(|deck| {
        deck.sees("Type what you want");
    });
    hosted.until("five clients", |host| count(host, "clients") == 5);
}

#[test]
fn nobody_else_may_use_the_socket_of_a_host() {
    use std::os::unix::fs::PermissionsExt;
    let hosted = Hosted::new();
    let mut deck = hosted.attach();
    deck.sees("Type what you want");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&hosted.program.home().join("state/hosts")), 0o700);
    let files = hosted.files();
    assert_eq!(files.len(), 3, "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[test]
fn where_the_variable_says_so_the_console_opens_on_the_host_unless_a_flag_says_otherwise() {
    let hosted = Hosted::new();
    let mut deck = hosted.run_in(hosted.console(&[], &[]));
    assert_eq!(count(&hosted.host(), "clients"), 1);
    deck.send("q");
    assert_eq!(deck.ended(), 0);
    hosted.left_alone();
    hosted.stop().code(0);
    let mut deck = hosted.run_in(hosted.console(&["--no-host"], &[]));
    assert_eq!(hosted.host(), Value::Null);
    deck.send("q").sees("A run waits, and nothing runs now").send("y");
    assert_eq!(deck.ended(), 0);
    hosted.program.run(&["--no-host", "ls"]).code(2);
}

#[test]
fn a_console_with_other_settings_is_told_while_the_host_has_something_to_do() {
    let hosted = Hosted::new();
    let deck = hosted.run_in(hosted.console(&[], &[]));
    let process = hosted.host()["process"].clone();
    let key = [("TAVILY_API_KEY", "tvly-quiet-and-private")];
    let mut other = hosted.console(&[], &key);
    other.sees("other settings than yours: TAVILY_API_KEY");
    assert_eq!(hosted.host()["process"], process, "the run goes on in it");
    assert!(!hosted.host().to_string().contains("quiet-and-private"));
    drop((deck, other));
    hosted.left_alone();
    hosted.program.run(&["cancel", "last"]).code(0);
    hosted.until("nothing runs", |host| count(host, "runs") == 0);
    let mut other = hosted.console(&[], &key);
    other.sees("Type what you want");
    assert_ne!(hosted.until("one client", |host| count(host, "clients") == 1)["process"], process, "an idle one is replaced");
    assert!(!other.screen().contains("other settings"), "{}", other.screen());
}

#[test]
fn where_no_host_can_be_the_console_says_so_and_works_alone() {
    let hosted = Hosted::new();
    std::os::unix::fs::symlink("/tmp", hosted.program.home().join("state/hosts")).unwrap();
    let mut deck = hosted.console(&[], &[]);
    deck.sees("Type what you want").send("\x03");
    assert_eq!(deck.ended(), 0);
    let screen = deck.screen();
    assert!(screen.contains("warning: runs end with this console") && screen.contains("isn't a folder of your own"), "{screen}");
}

#[test]
fn what_may_not_cross_to_another_process_is_refused() {
    let hosted = Hosted::new();
    hosted.program.run(&["attach"]).code(2).says(&["needs a terminal"]);
    let mut deck = hosted.program.console_with(&["attach", "--trust"], (80, 24));
    assert_eq!(deck.ended(), 2);
    assert!(deck.screen().contains("`--trust` holds for one process"), "{}", deck.screen());
    assert_eq!(hosted.host(), Value::Null);
}

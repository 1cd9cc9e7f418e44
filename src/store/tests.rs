//! The journal against a real disk: what is committed stays, what fails is not half-written, what is wrong is said.

use super::{
    row::Headline,
    schema::{self, Tuning},
    writer::{Append, StoreWriter},
    *,
};
use crate::engine::{Action, Actor, Cause, Event, Gate, GateId, GateKind, GateReply, NodeFact, Outcome, Record, RunId, RunSettings, Time};
use crate::plan::{NodeId, Plan};
use serde_json::{Value, json};
use std::{path::Path, time::Duration};
use tempfile::TempDir;

fn created(workspace: &str, goal: &str) -> Event {
    Event::RunCreated {
        run: RunId("r".into()),
        plan: Box::new(Plan { goal: goal.into(), ..Plan::default() }),
        settings: Box::new(RunSettings { host: json!({ "workspace": workspace }), ..RunSettings::default() }),
        by: Actor { who: "ann".into(), via: "console".into() },
    }
}

fn records(from: u64, events: Vec<Event>) -> Vec<Record> {
    events.into_iter().zip(from..).map(|(event, seq)| Record { seq, at: Time(1000 + seq), more: seq.is_multiple_of(3), event }).collect()
}

fn gate(id: u32, node: &str) -> Event {
    Event::ApprovalRequired {
        gate: Box::new(Gate {
            id: GateId(id),
            node: NodeId::new(node),
            generation: 1,
            tool: None,
            kind: GateKind::Approval,
            payload: Value::Null,
            hash: String::new(),
            why: String::new(),
            opened: Time(0),
        }),
    }
}

fn output(text: &str) -> Event {
    Event::Node { node_id: NodeId::new("a"), generation: 1, fact: NodeFact::Output { text: text.into() } }
}

async fn append(store: &Store, run: &str, records: &[Record]) -> Result<(), StoreError> {
    store.append(&RunId(run.into()), records, Durability::Process).await
}

#[tokio::test]
async fn what_was_appended_is_there_after_reopening_in_order_and_equal() {
    let home = TempDir::new().unwrap();
    let mut all = records(1, vec![created("/w", "greet"), Event::RunStarted, gate(1, "a"), output("hé\u{1b}[31m\n")]);
    {
        let store = Store::open(home.path()).unwrap();
        append(&store, "run-1", &all).await.unwrap();
        let end = records(5, vec![Event::RunEnded { outcome: Outcome::Partial, reason: "x".into() }]);
        store.append(&RunId("run-1".into()), &end, Durability::Power).await.unwrap();
        all.extend(end);
    }
    let store = Store::open(home.path()).unwrap();
    assert_eq!(store.records(&RunId("run-1".into())).unwrap(), all);
    let row = &store.runs(RunFilter::Workspace(Path::new("/w"))).unwrap()[0];
    assert_eq!(
        (row.goal.as_str(), row.created, row.finished(), row.outcome),
        ("greet", Time(1001), Some(Time(1005)), Some(Outcome::Partial))
    );
    assert!(store.runs(RunFilter::Workspace(Path::new("/elsewhere"))).unwrap().is_empty());
}

#[tokio::test]
async fn a_run_that_a_verb_opened_again_is_listed_as_going_on_until_it_ends_anew() {
    let home = TempDir::new().unwrap();
    let by = || Actor { who: "ann".into(), via: "cli".into() };
    let store = Store::open(home.path()).unwrap();
    let headline = || {
        let row = store.runs(RunFilter::All).unwrap().remove(0);
        (row.outcome, row.finished())
    };
    let settled = |outcome| Event::RunEnded { outcome, reason: Cause::None };
    append(&store, "one", &records(1, vec![created("/w", "g"), Event::RunStarted, settled(Outcome::Failed)])).await.unwrap();
    assert_eq!(headline(), (Some(Outcome::Failed), Some(Time(1003))));
    let action = Action::Retry { node: "a".into() };
    let acted = Event::Acted { action: Box::new(action), nodes: vec!["a".into()], by: by(), why: String::new() };
    append(&store, "one", &records(4, vec![Event::RunReopened { by: by() }, acted])).await.unwrap();
    assert_eq!(headline(), (None, None));
    let again = Store::open(home.path()).unwrap();
    assert_eq!(again.runs(RunFilter::All).unwrap()[0].outcome, None, "after opening the journal anew too");
    append(&store, "one", &records(6, vec![settled(Outcome::Succeeded)])).await.unwrap();
    assert_eq!(headline(), (Some(Outcome::Succeeded), Some(Time(1006))));
    let row = store.runs(RunFilter::All).unwrap().remove(0);
    assert_eq!(row.over_ms, 1, "the time in which it was over is no part of its elapsed time");
    // An end and a new beginning within one transaction: the last one counts.
    let both = vec![Event::RunReopened { by: by() }, settled(Outcome::Partial), Event::RunReopened { by: by() }];
    append(&store, "one", &records(7, both)).await.unwrap();
    assert_eq!(headline(), (None, None));
}

#[tokio::test]
async fn runs_are_found_by_goal_state_and_results_and_the_line_that_has_the_words_is_told() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    let result = |value: Value| {
        let completed = json!({"type": "node_completed", "node_id": "a", "generation": 1, "result": value});
        serde_json::from_value::<Event>(completed).unwrap()
    };
    let ended = Event::RunEnded { outcome: Outcome::Failed, reason: Cause::None };
    append(&store, "run-1", &records(1, vec![created("/w", "Sales of May"), Event::RunStarted, ended])).await.unwrap();
    let log = json!({"stdout": "all well\nDisk \"C\" is full\nround 2 was full too", "rows": [["ada", 104]]});
    append(&store, "run-2", &records(1, vec![created("/w", "look at the log"), Event::RunStarted, result(log)])).await.unwrap();
    append(&store, "run-3", &records(1, vec![created("/elsewhere", "disk full")])).await.unwrap();
    let search = |words: &str| {
        let found = store.search(RunFilter::Workspace(Path::new("/w")), words, 10).unwrap();
        found.into_iter().map(|found| (found.row.run.0, found.line)).collect::<Vec<_>>()
    };
    let names = |words: &str| search(words).into_iter().map(|(run, _)| run).collect::<Vec<_>>();
    assert_eq!(names("SALES may"), ["run-1"]);
    assert_eq!(names("failed"), ["run-1"]);
    assert_eq!(search("disk FULL"), [("run-2".to_owned(), Some("Disk \"C\" is full".to_owned()))]);
    assert_eq!(search("\"C\""), [("run-2".to_owned(), Some("Disk \"C\" is full".to_owned()))]);
    assert_eq!(search("well round"), [("run-2".to_owned(), Some("all well … round 2 was full too".to_owned()))]);
    assert_eq!(search("104"), [("run-2".to_owned(), Some("104".to_owned()))]);
    assert_eq!(names(""), ["run-2", "run-1"], "all of this workspace, newest first");
    assert_eq!(names("nothing has this"), Vec::<String>::new());
    assert_eq!(store.search(RunFilter::All, "", 2).unwrap().len(), 2, "so many at most");
}

#[tokio::test]
async fn many_runs_append_at_once_and_each_keeps_its_order() {
    let home = TempDir::new().unwrap();
    let store = std::sync::Arc::new(Store::open(home.path()).unwrap());
    let tasks: Vec<_> = (0..20)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let run = format!("run-{n:02}");
                append(&store, &run, &records(1, vec![created("/w", "g")])).await.unwrap();
                for seq in 2..30 {
                    append(&store, &run, &records(seq, vec![output(&format!("{seq}"))])).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    for n in 0..20 {
        let seqs: Vec<u64> = store.records(&RunId(format!("run-{n:02}"))).unwrap().iter().map(|record| record.seq).collect();
        assert_eq!(seqs, (1..30).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_second_writer_of_one_run_is_refused_and_its_neighbours_are_not() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    append(&store, "one", &records(1, vec![created("/w", "g"), Event::RunStarted])).await.unwrap();
    let (late_records, fine_records) = (records(2, vec![output("late")]), records(3, vec![output("fine")]));
    let (late, fine) = tokio::join!(append(&store, "one", &late_records), append(&store, "one", &fine_records));
    assert_eq!(late, Err(StoreError::Conflict { run: "one".into() }));
    assert_eq!(fine, Ok(()));
    assert_eq!(store.records(&RunId("one".into())).unwrap().len(), 3);
}

#[tokio::test]
async fn an_append_is_all_or_nothing() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    append(&store, "one", &records(1, vec![created("/w", "g")])).await.unwrap();
    let mut torn = records(2, vec![output("a"), output("b")]);
    torn[1].seq = 1;
    assert!(append(&store, "one", &torn).await.is_err());
    assert_eq!(store.records(&RunId("one".into())).unwrap().len(), 1);
}

#[tokio::test]
async fn an_open_run_lists_the_nodes_of_its_open_gates_oldest_first() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    let by = Actor { who: "ann".into(), via: "cli".into() };
    let events = vec![
        created("/w", "g"),
        gate(1, "write"),
        gate(2, "send"),
        gate(3, "post"),
        Event::GateDecided { gate: GateId(1), decision: GateReply::Approve, by, message: String::new() },
        Event::GateVoided { gate: GateId(3), reason: Cause::None },
    ];
    append(&store, "one", &records(1, events)).await.unwrap();
    assert_eq!(store.runs(RunFilter::All).unwrap()[0].waiting, [NodeId::new("send")]);
}

#[tokio::test]
async fn a_run_is_found_by_last_by_its_beginning_and_by_its_end() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    assert_eq!(store.resolve("last", RunFilter::All), Err(StoreError::NoRuns { elsewhere: None }));
    for (at, id) in ["0190-aa", "0190-ab", "0190-ab-more"].iter().enumerate() {
        let mut first = records(1, vec![created(if at == 0 { "/old" } else { "/new" }, "g")]);
        first[0].at = Time(at as u64);
        append(&store, id, &first).await.unwrap();
    }
    let find = |name: &str| store.resolve(name, RunFilter::All).map(|run| run.0);
    assert_eq!(find("last"), Ok("0190-ab-more".into()));
    assert_eq!(store.resolve("last", RunFilter::Workspace(Path::new("/old"))), Ok(RunId("0190-aa".into())));
    assert_eq!(find("0190-aa"), Ok("0190-aa".into()));
    assert_eq!(find("0190-ab"), Ok("0190-ab".into()), "a whole name fits alone");
    assert_eq!(find("more"), Ok("0190-ab-more".into()));
    assert_eq!(find("%"), Err(StoreError::NoSuchRun { name: "%".into() }));
    assert_eq!(find(""), Err(StoreError::NoSuchRun { name: String::new() }));
    assert!(matches!(find("0190"), Err(StoreError::Ambiguous { matches, .. }) if matches.len() == 3));
}

#[tokio::test]
async fn a_full_disk_is_named_and_leaves_nothing_half_written() {
    let home = TempDir::new().unwrap();
    let tuning = Tuning { max_pages: Some(40), ..Tuning::default() };
    let store = Store::open_with(home.path(), tuning).unwrap();
    append(&store, "one", &records(1, vec![created("/w", "g")])).await.unwrap();
    let flood = records(2, (0..50).map(|_| output(&"x".repeat(8000))).collect());
    let error = append(&store, "one", &flood).await.unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert_eq!(store.records(&RunId("one".into())).unwrap().len(), 1);
    append(&store, "one", &records(2, vec![output("small")])).await.unwrap();
}

#[tokio::test]
async fn a_journal_that_can_no_longer_be_written_is_named_and_stays_as_it_was() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    let first = records(1, vec![created("/w", "g")]);
    append(&store, "one", &first).await.unwrap();
    let path = store.path().to_path_buf();
    // What a file system that was mounted anew for reading answers, SQLite answers here.
    let writer = StoreWriter::start(schema::open_to_look(&path, Tuning::default()).unwrap(), path).unwrap();
    let (ack, answer) = tokio::sync::oneshot::channel();
    let headlines = vec![Headline::Settled { outcome: "failed", finished: 2 }];
    writer.send(Append { run: "one".into(), rows: Vec::new(), headlines, audit: Vec::new(), durability: Durability::Power, ack }).unwrap();
    let error = answer.await.unwrap().unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert_eq!(store.records(&RunId("one".into())).unwrap(), first);
}

#[tokio::test]
async fn a_locked_journal_is_named_and_works_again_once_it_is_free() {
    let home = TempDir::new().unwrap();
    let tuning = Tuning { patience: Duration::ZERO, ..Tuning::default() };
    let store = Store::open_with(home.path(), tuning).unwrap();
    let other = rusqlite::Connection::open(store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = records(1, vec![created("/w", "g")]);
    assert!(matches!(append(&store, "one", &first).await, Err(StoreError::Locked { .. })));
    other.execute_batch("ROLLBACK").unwrap();
    append(&store, "one", &first).await.unwrap();
}

#[test]
fn programs_that_make_the_journal_at_the_same_moment_all_open_it() {
    for _ in 0..5 {
        let home = TempDir::new().unwrap();
        let start = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            let open = || {
                start.wait();
                Store::open(home.path()).map(drop)
            };
            let opened: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
            opened.into_iter().for_each(|opened| opened.join().unwrap().unwrap());
        });
    }
}

#[tokio::test]
async fn two_programs_write_their_own_runs_into_one_journal() {
    let home = TempDir::new().unwrap();
    let (here, there) = (Store::open(home.path()).unwrap(), Store::open(home.path()).unwrap());
    let write = async |store: &Store, run: &str| {
        append(store, run, &records(1, vec![created("/w", run)])).await.unwrap();
        for seq in 2..40 {
            append(store, run, &records(seq, vec![output("text")])).await.unwrap();
        }
    };
    tokio::join!(write(&here, "one"), write(&there, "two"));
    for run in ["one", "two"] {
        let kept = here.records(&RunId(run.into())).unwrap();
        assert_eq!(kept, there.records(&RunId(run.into())).unwrap());
        assert!(kept.iter().map(|record| record.seq).eq(1..40));
    }
}

#[test]
fn a_file_that_is_no_database_is_named_with_a_way_out() {
    let home = TempDir::new().unwrap();
    std::fs::write(Store::file(home.path()), "this is not a database, whatever its name says\n".repeat(50)).unwrap();
    let error = Store::open(home.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("journal.db") && error.hint().is_some());
}

#[tokio::test]
async fn an_event_that_can_not_be_read_is_named_by_run_and_number() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    append(&store, "one", &records(1, vec![created("/w", "g"), Event::RunStarted])).await.unwrap();
    let other = rusqlite::Connection::open(store.path()).unwrap();
    other.execute("UPDATE events SET json = '{\"type\":\"unheard_of\"}' WHERE seq = 2", []).unwrap();
    let error = store.records(&RunId("one".into())).unwrap_err().to_string();
    assert!(error.contains("event 2") && error.contains("`one`"), "{error}");
}

#[test]
fn a_journal_of_a_newer_version_is_left_alone() {
    let home = TempDir::new().unwrap();
    let path = Store::open(home.path()).unwrap().path().to_path_buf();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(home.path()).unwrap_err();
    assert_eq!(error, StoreError::Newer { path, found: 99, known: Store::version() });
}

#[cfg(unix)]
#[test]
fn files_and_folder_belong_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = TempDir::new().unwrap();
    let inner = home.path().join("state/dagdeck");
    let store = Store::open(&inner).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&inner), mode(store.path()), mode(&inner.join("journal.db-wal"))), (0o700, 0o600, 0o600));
}

#[tokio::test]
async fn a_deleted_run_is_in_no_byte_of_the_journal_and_its_space_comes_back() {
    let home = TempDir::new().unwrap();
    let (gone, kept) = (RunId("run-1".into()), RunId("run-2".into()));
    let words = "told to nobody ".repeat(9_000);
    let store = Store::open(home.path()).unwrap();
    append(&store, "run-1", &records(1, vec![created("/w", "greet"), output(&words)])).await.unwrap();
    append(&store, "run-2", &records(1, vec![created("/w", "wave"), output("kept")])).await.unwrap();
    assert!(store.size(&gone).unwrap() > words.len() as u64 && store.size(&kept).unwrap() < 10_000);
    store.delete(std::slice::from_ref(&gone), &Actor { who: "ann".into(), via: "cli".into() }, Time(9)).unwrap();
    assert_eq!(store.records(&gone), Err(StoreError::NoSuchRun { name: "run-1".into() }));
    assert_eq!(store.runs(RunFilter::All).unwrap().len(), 1);
    // What is open isn't made shorter under whoever writes there.
    let other = Store::open(home.path()).unwrap();
    assert!(!store.compact().unwrap());
    append(&other, "run-2", &records(3, vec![output("more")])).await.unwrap();
    assert!(other.compact().unwrap());
    let file = std::fs::read(Store::file(home.path())).unwrap();
    assert!(file.len() < words.len(), "{}", file.len());
    assert!(!file.windows(14).any(|part| part == b"told to nobody"));
    assert_eq!(Store::open(home.path()).unwrap().records(&kept).unwrap().len(), 3);
}

#[tokio::test]
async fn a_run_that_a_process_drives_is_not_deleted_and_neither_are_those_named_with_it() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    for run in ["run-1", "run-2"] {
        append(&store, run, &records(1, vec![created("/w", "greet")])).await.unwrap();
    }
    let runs = ["run-1", "run-2"].map(|run| RunId(run.into()));
    let by = Actor { who: "ann".into(), via: "console".into() };
    let owned = store.own(&runs[1], &by).unwrap();
    assert!(matches!(store.delete(&runs, &by, Time(5)), Err(StoreError::Driven { .. })));
    assert_eq!(store.runs(RunFilter::All).unwrap().len(), 2);
    drop(owned);
    store.delete(&runs, &by, Time(5)).unwrap();
    assert!(store.runs(RunFilter::All).unwrap().is_empty());
    let audit = store.audit().unwrap();
    let [first, second, deleted @ ..] = &audit.rows[..] else { panic!("{audit:?}") };
    assert_eq!([first.entry.run.as_ref(), second.entry.run.as_ref()], [Some(&runs[0]), Some(&runs[1])], "what was created stays on record");
    assert_eq!(deleted.iter().map(|row| &row.entry.fact).collect::<Vec<_>>(), [&AuditFact::RunDeleted { by: by.clone() }; 2]);
}

#[tokio::test]
async fn the_audit_is_whole_until_one_byte_of_it_is_another() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    let by = || Actor { who: "ann".into(), via: "cli".into() };
    let yes = Event::GateDecided { gate: GateId(1), decision: GateReply::Approve, by: by(), message: String::new() };
    append(&store, "one", &records(1, vec![created("/w", "g"), gate(1, "a"), output("not in the audit"), yes.clone()])).await.unwrap();
    let audit = store.audit().unwrap();
    assert_eq!((audit.rows.len(), audit.all), (3, 3));
    assert_eq!((audit.rows[2].number, &audit.rows[2].entry.fact), (3, &AuditFact::Event(yes.clone())));

    // A branch keeps what was decided in the run that it leaves out of its own audit.
    let branched = Event::Branched { from: RunId("one".into()), from_seq: 4, by: by() };
    append(&store, "two", &records(1, vec![created("/w", "g"), gate(1, "a"), output(""), yes, branched.clone()])).await.unwrap();
    let audit = store.audit().unwrap();
    assert_eq!(audit.rows[3..].iter().map(|row| &row.entry.fact).collect::<Vec<_>>(), [&AuditFact::Event(branched)], "gate 1 was answered");

    let db = rusqlite::Connection::open(store.path()).unwrap();
    let whole = |change: &str, undo: &str| {
        db.execute(change, []).unwrap();
        let audit = store.audit().unwrap();
        db.execute(undo, []).unwrap();
        assert_eq!(store.audit().unwrap().rows.len(), 4, "{undo}");
        (audit.rows.len(), audit.all)
    };
    for (change, undo) in [("ann", "bnn"), ("approve", "skip_it")] {
        let swap = |from: &str, to: &str| format!("UPDATE audit SET json = replace(json, '{from}', '{to}') WHERE number = 3");
        assert_eq!(whole(&swap(change, undo), &swap(undo, change)), (2, 4), "{change}");
    }
    assert_eq!(whole("UPDATE audit SET number = 9 WHERE number = 3", "UPDATE audit SET number = 3 WHERE number = 9"), (2, 4));
    let hash = &audit.rows[1].hash;
    let other = "0".repeat(hash.len());
    let set = |hash: &str| format!("UPDATE audit SET hash = '{hash}' WHERE number = 2");
    assert_eq!(whole(&set(&other), &set(hash)), (1, 4));
    db.execute("DELETE FROM audit WHERE number = 2", []).unwrap();
    assert_eq!(store.audit().unwrap().rows.len(), 1);
}

/// Numbers that look random and are the same each time.
struct SeededDice(u64);

impl SeededDice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

#[tokio::test]
async fn the_audit_of_a_thousand_random_runs_verifies_until_any_byte_of_it_is_another() {
    let home = TempDir::new().unwrap();
    let store = Store::open(home.path()).unwrap();
    let mut dice = SeededDice(7);
    let by = |who: usize| Actor { who: format!("person {who}"), via: "cli".into() };
    for run in 0..1_000 {
        let mut events = vec![created("/w", &format!("goal {}", dice.below(9)))];
        for number in 1..=u32::try_from(dice.below(4)).unwrap() {
            events.push(gate(number, ["a", "b", "ü"][dice.below(3)]));
            let decision = match dice.below(4) {
                0 => GateReply::Approve,
                1 => GateReply::Modify { payload: json!({"n": dice.below(100)}) },
                2 => GateReply::Reject { message: "no, \"never\"".into() },
                _ => continue,
            };
            events.push(Event::GateDecided { gate: GateId(number), decision, by: by(dice.below(5)), message: String::new() });
            events.push(output("not in the audit"));
        }
        append(&store, &format!("run {run}"), &records(1, events)).await.unwrap();
        if run % 20 == 0 {
            let turn = [PermissionTurn::Given, PermissionTurn::Ended][dice.below(2)];
            let permission = match dice.below(3) {
                0 => LastingPermission::Rule { number: run, tool: "write_file".into(), scope: "project".into() },
                1 => LastingPermission::Host("example.com:443".into()),
                _ => LastingPermission::File { path: ".mcp.json".into(), sha256: None },
            };
            let (workspace, what, gate) = ("/w".into(), "allow \"ü\"".into(), (run % 3 == 0).then_some(GateId(1)));
            let change = PermissionChange { workspace, turn, permission, what, gate, by: by(dice.below(5)) };
            let of = RunId(format!("run {run}"));
            store.permission_changed((run % 40 == 0).then_some(&of), change, Time(8)).unwrap();
        }
    }
    let audit = store.audit().unwrap();
    assert!(audit.all > 1_500 && audit.rows.len() == audit.all, "{} of {}", audit.rows.len(), audit.all);
    store.delete(&[RunId("run 5".into())], &by(1), Time(9)).unwrap();
    let all = store.audit().unwrap().all;
    assert_eq!((store.audit().unwrap().rows.len(), all), (audit.all + 1, audit.all + 1), "what was pruned stays");

    let db = rusqlite::Connection::open(store.path()).unwrap();
    for _ in 0..60 {
        let number = i64::try_from(1 + dice.below(all)).unwrap();
        let column = ["json", "hash"][dice.below(2)];
        let text: String = db.query_row(&format!("SELECT {column} FROM audit WHERE number = ?1"), [number], |row| row.get(0)).unwrap();
        let letters: Vec<(usize, char)> = text.char_indices().collect();
        let (at, letter) = letters[dice.below(letters.len())];
        let other = if letter == '0' { '1' } else { '0' };
        let changed = format!("{}{other}{}", &text[..at], &text[at + letter.len_utf8()..]);
        let put = format!("UPDATE audit SET {column} = ?1 WHERE number = ?2");
        db.execute(&put, rusqlite::params![changed, number]).unwrap();
        let whole = store.audit().unwrap().rows.len();
        assert_eq!(i64::try_from(whole).unwrap(), number - 1, "{column} of {number}, letter {at}");
        db.execute(&put, rusqlite::params![text, number]).unwrap();
    }
    assert_eq!(store.audit().unwrap().rows.len(), all);
}

//! Tools that need the real binary as their worker: commands and scripts, confined.

use super::support::program::Program;
use dagdeck::engine::Preview;
use dagdeck::plan::Verdict;
use dagdeck::tools::{
    ToolContext, ToolError, ToolOutput, ToolRegistry, ToolsConfig,
    sandbox::{SandboxConfig, confinement},
};
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};

/// How long what the commands of these tests start would go on by itself.
const SLEEP: Duration = Duration::from_secs(1000);

struct Fixture {
    dir: tempfile::TempDir,
    registry: ToolRegistry,
    runtime: tokio::runtime::Runtime,
}

impl Fixture {
    fn new() -> Self {
        Self::with(ToolsConfig::default())
    }

    fn with(config: ToolsConfig) -> Self {
        let sandbox = SandboxConfig { program: Some(env!("CARGO_BIN_EXE_dagdeck").into()), kept: None };
        let registry = ToolRegistry::builtin(&ToolsConfig { sandbox, ..config }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { dir: tempfile::tempdir().unwrap(), registry, runtime }
    }

    fn context(&self) -> ToolContext {
        ToolContext::of(self.dir.path().to_path_buf())
    }

    fn call(&self, tool: &str, args: Value) -> Result<ToolOutput, ToolError> {
        self.registry.check(tool, &args)?;
        self.runtime.block_on(self.registry.get(tool).unwrap().call(args, &self.context()))
    }

    /// Output of a command that may fail.
    fn shell(&self, command: &str) -> Value {
        self.call("run_command", json!({"command": command, "allow_failure": true})).unwrap().value
    }

    fn stdout(&self, command: &str) -> String {
        self.shell(command)["stdout"].as_str().unwrap().trim().to_owned()
    }
}

#[test]
fn files_are_queried_as_tables_in_the_sandbox() {
    let fixture = Fixture::new();
    let write = |path: &str, text: &str| {
        let path = fixture.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("north/sales.csv", "region,amount\nN,1.5\nN,2\n");
    write("south/sales.csv", "region,amount\nS,4\n");
    write(".gitignore", "*.log\n");
    write("app.log", "2024-05-04 12:00:00 ERROR [db] down\n2024-05-04 12:00:01 INFO [db] up\n");
    let query = |args: Value| fixture.call("query_data", args);
    let sql = "SELECT region, sum(amount) AS total FROM (SELECT * FROM north_sales UNION ALL SELECT * FROM south_sales) GROUP BY 1";
    let output = query(json!({"sql": sql, "files": "*/sales.csv"})).unwrap();
    assert_eq!(output.value["rows"], json!([{"region": "N", "total": 3.5}, {"region": "S", "total": 4}]));
    let read: Vec<_> = output.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((read, output.sources[0].query.as_deref()), (vec!["north/sales.csv", "south/sales.csv"], Some(sql)));
    let log = query(json!({"sql": "SELECT component, message FROM app WHERE level = 'ERROR'", "files": ["*.log"]})).unwrap();
    assert_eq!(log.value["rows"], json!([{"component": "db", "message": "down"}]));
    let lines = query(json!({"sql": "SELECT count(*) AS n FROM app", "files": [{"path": "app.log"}], "file_format": "lines"})).unwrap();
    assert_eq!(lines.value["rows"], json!([{"n": 2}]));
    for (args, message) in [
        (json!({"sql": "SELECT 1", "files": "*.tsv"}), "no file matches `*.tsv`"),
        (json!({"sql": "SELECT 1", "files": "ghost.csv"}), "there is no file `ghost.csv`"),
        (json!({"sql": "SELECT 1", "files": "../x.csv"}), "leads outside the workspace"),
        (json!({"sql": "SELECT 1", "files": []}), "0 files are meant"),
        (json!({"sql": "DROP TABLE app", "files": "app.log"}), "only reading"),
    ] {
        let error = query(args).unwrap_err();
        assert!(error.message.contains(message) && error.nothing_began, "{error}");
    }
}

#[test]
fn a_query_that_fills_the_memory_is_ended() {
    let fixture = Fixture::new();
    fs::write(fixture.dir.path().join("t.csv"), "a\n1\n").unwrap();
    let sql = "WITH RECURSIVE n(i, x) AS (SELECT 1, randomblob(1000000) UNION ALL SELECT i + 1, randomblob(1000000) FROM n WHERE i < 3000) \
               SELECT count(DISTINCT x) AS n FROM n";
    let error = fixture.call("query_data", json!({"sql": sql, "files": "t.csv"})).unwrap_err();
    assert_eq!(error.message, "the query needs too much memory");
}

/// Runs git as a person would, whose settings play no part.
fn git(fixture: &Fixture, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.args([
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.org",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "commit.gpgsign=false",
    ]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_AUTHOR_DATE", "2024-05-04T12:00:00+0200").args(args);
    let done = command.current_dir(fixture.dir.path()).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with two commits, a change and a new file.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    let write = |path: &str, text: &str| fs::write(fixture.dir.path().join(path), text).unwrap();
    write("a.txt", "one\ntwo\n");
    write("b.txt", "b\n");
    git(&fixture, &["init", "-q"]);
    git(&fixture, &["add", "."]);
    git(&fixture, &["commit", "-qm", "Begin\n\nWith a body."]);
    write("a.txt", "one\nTWO\n");
    git(&fixture, &["commit", "-qam", "Shout", "--author", "Bob <bob@example.org>"]);
    write("b.txt", "b\nmore\n");
    write("new file.txt", "x\n");
    fixture
}

#[test]
fn a_repository_is_read_as_data() {
    let fixture = repository();
    let ask = |args: Value| fixture.call("git", args).unwrap().value;
    let status = ask(json!({"command": "status"}));
    let files = json!([
        {"path": "b.txt", "status": "modified", "staged": false},
        {"path": "new file.txt", "status": "untracked", "staged": false},
    ]);
    assert_eq!((&status["branch"], &status["clean"], &status["files"]), (&json!("main"), &json!(false), &files));
    let log = ask(json!({"command": "log"}));
    assert_eq!((log.as_array().unwrap().len(), &log[0]["subject"], &log[0]["author"]), (2, &json!("Shout"), &json!("Bob")));
    assert_eq!((&log[1]["date"], &log[1]["email"]), (&json!("2024-05-04T12:00:00+02:00"), &json!("ann@example.org")));
    let subjects = |args: Value| ask(args).as_array().unwrap().iter().map(|commit| commit["subject"].clone()).collect::<Vec<_>>();
    assert_eq!(subjects(json!({"command": "log", "author": "ANN"})), ["Begin"]);
    assert_eq!(subjects(json!({"command": "log", "limit": 1})), ["Shout"]);
    assert_eq!(subjects(json!({"command": "log", "message": "shou", "path": "a.txt"})), ["Shout"]);
    assert_eq!(subjects(json!({"command": "log", "revision": "HEAD~1..HEAD"})), ["Shout"]);
    assert_eq!(subjects(json!({"command": "log", "until": "2001-01-01"})), Vec::<Value>::new());
    let show = ask(json!({"command": "show", "revision": "HEAD"}));
    assert_eq!(show["files"], json!([{"path": "a.txt", "status": "modified", "added": 1, "removed": 1}]));
    assert!(show["diff"].as_str().unwrap().contains("-two\n+TWO"));
    assert_eq!(ask(json!({"command": "show", "revision": "HEAD~1"}))["body"], "With a body.");
    assert_eq!(ask(json!({"command": "show", "revision": "HEAD~1:a.txt"}))["text"], "one\ntwo\n");
    let diff = ask(json!({"command": "diff"}));
    assert_eq!(diff["files"], json!([{"path": "b.txt", "status": "modified", "added": 1, "removed": 0}]));
    assert_eq!(ask(json!({"command": "diff", "staged": true})), json!({"files": [], "diff": ""}));
    let blame = ask(json!({"command": "blame", "path": "a.txt"}));
    let lines: Vec<_> =
        blame.as_array().unwrap().iter().map(|line| (line["line"].as_u64().unwrap(), line["author"].as_str().unwrap())).collect();
    assert_eq!((lines, &blame[1]["text"]), (vec![(1, "Ann"), (2, "Bob")], &json!("TWO")));
    let branches = ask(json!({"command": "branches"}));
    assert_eq!((branches.as_array().unwrap().len(), &branches[0]["name"], &branches[0]["current"]), (1, &json!("main"), &json!(true)));
}

#[test]
fn questions_that_make_no_sense_to_a_repository_are_refused() {
    let fixture = repository();
    let refused = |args: Value| fixture.call("git", args).unwrap_err().message;
    assert!(refused(json!({"command": "log", "revision": "--output=x"})).contains("is no revision"));
    assert!(refused(json!({"command": "show", "revision": "ghost"})).contains("ghost"));
    assert!(refused(json!({"command": "blame"})).contains("`path` is missing"));
    assert!(refused(json!({"command": "diff", "path": "../x"})).contains("outside"));
    assert!(refused(json!({"command": "commit"})).contains("wrong arguments"));
    assert_eq!(Fixture::new().call("git", json!({"command": "log"})).unwrap_err().message, "the workspace is no git repository");
    let elsewhere = Fixture::new();
    fs::write(elsewhere.dir.path().join(".git"), format!("gitdir: {}\n", fixture.dir.path().join(".git").display())).unwrap();
    assert!(elsewhere.call("git", json!({"command": "log"})).unwrap_err().message.contains("outside the workspace"));
    git(&fixture, &["worktree", "add", "-q", "tree"]);
    let tree = Fixture::new();
    let context = ToolContext::of(fixture.dir.path().join("tree"));
    let call = tree.registry.get("git").unwrap().call(json!({"command": "status"}), &context);
    assert_eq!(tree.runtime.block_on(call).unwrap().value["branch"], "tree");
}

#[test]
fn what_the_settings_of_a_repository_would_start_never_runs() {
    let fixture = repository();
    let folder = fixture.dir.path();
    let marker = folder.join("ran");
    let script = folder.join("evil.sh");
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", marker.display())).unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let evil = script.to_str().unwrap();
    let shell = format!("!{evil}");
    for (name, value) in [
        ("core.fsmonitor", evil),
        ("core.pager", evil),
        ("core.editor", evil),
        ("core.sshCommand", evil),
        ("core.hooksPath", folder.join("hooks").to_str().unwrap()),
        ("core.alternateRefsCommand", evil),
        ("pager.log", evil),
        ("pager.status", evil),
        ("diff.external", evil),
        ("diff.evil.textconv", evil),
        ("diff.evil.command", evil),
        ("filter.evil.clean", evil),
        ("filter.evil.smudge", evil),
        ("filter.evil.process", evil),
        ("gpg.program", evil),
        ("log.showSignature", "true"),
        ("credential.helper", &shell),
        ("alias.log", &shell),
        ("alias.status", &shell),
        ("interactive.diffFilter", evil),
        ("core.worktree", "/"),
    ] {
        fs::write(folder.join(".git/config"), {
            let mut text = fs::read_to_string(folder.join(".git/config")).unwrap();
            let (section, key) = name.rsplit_once('.').unwrap();
            let section = section.split_once('.').map_or(section.to_owned(), |(one, two)| format!("{one} \"{two}\""));
            text.push_str(&format!("[{section}]\n\t{key} = {value}\n"));
            text
        })
        .unwrap();
    }
    fs::write(folder.join(".gitattributes"), "* diff=evil filter=evil\n").unwrap();
    fs::create_dir_all(folder.join("hooks")).unwrap();
    for hook in ["post-index-change", "fsmonitor-watchman", "reference-transaction"] {
        fs::copy(&script, folder.join("hooks").join(hook)).unwrap();
        fs::copy(&script, folder.join(".git/hooks").join(hook)).unwrap();
    }
    // Times that git can't trust make it look into the files.
    fs::write(folder.join("a.txt"), "one\nTWO\n").unwrap();
    fs::write(folder.join("b.txt"), "changed\n").unwrap();
    for args in [
        json!({"command": "status"}),
        json!({"command": "log"}),
        json!({"command": "show"}),
        json!({"command": "show", "revision": "HEAD:a.txt"}),
        json!({"command": "diff"}),
        json!({"command": "diff", "revision": "HEAD~1"}),
        json!({"command": "diff", "staged": true}),
        json!({"command": "blame", "path": "a.txt"}),
        json!({"command": "branches"}),
    ] {
        let answer = fixture.call("git", args.clone());
        assert!(!marker.exists(), "{args}: {}", fs::read_to_string(&marker).unwrap());
        assert!(answer.is_ok(), "{args}: {}", answer.unwrap_err());
    }
    let status = fixture.call("git", json!({"command": "status"})).unwrap().value;
    assert!(status["files"].as_array().unwrap().iter().any(|file| file["path"] == "b.txt"), "its own work tree, not /: {status}");
    // The test would see it: a person's git starts them.
    let _ = std::process::Command::new("git").args(["status"]).current_dir(folder).output();
    assert!(marker.exists());
}

#[test]
fn a_command_runs_in_the_workspace_and_gives_its_output() {
    let fixture = Fixture::new();
    fs::write(fixture.dir.path().join("a.txt"), "hello\n").unwrap();
    let value = fixture.call("run_command", json!({"command": "cat a.txt; echo oops >&2; echo x > made"})).unwrap().value;
    assert_eq!((&value["exit_code"], &value["stdout"], &value["stderr"]), (&json!(0), &json!("hello\n"), &json!("oops\n")));
    assert_eq!(fs::read_to_string(fixture.dir.path().join("made")).unwrap(), "x\n");
    assert_eq!(value.get("note").is_none(), confinement().missing().is_none());
}

#[test]
fn a_command_that_fails_is_an_error_with_its_last_words() {
    let fixture = Fixture::new();
    let error = fixture.call("run_command", json!({"command": "echo why >&2; exit 3"})).unwrap_err();
    assert_eq!(error.message, "the command failed with exit code 3:\nwhy");
    assert!(!error.nothing_began && !error.transient);
    assert_eq!(fixture.shell("exit 3")["exit_code"], 3);
    assert_eq!(fixture.shell("kill -9 $$")["exit_code"], 137);
}

#[test]
fn a_command_sees_no_keys() {
    let fixture = Fixture::new();
    let known = ["PATH", "HOME", "TMPDIR", "TERM", "NO_COLOR", "PWD", "OLDPWD", "_", "SHLVL"];
    let passed = ["USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "GOPATH", "GOROOT", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV"];
    for line in fixture.stdout("env").lines() {
        let name = line.split('=').next().unwrap();
        let fine = known.contains(&name) || passed.contains(&name) || name.starts_with("LC_") || name.ends_with("_HOME");
        assert!(fine, "{name}");
    }
}

#[test]
fn a_command_has_a_scratch_directory_that_is_gone_afterwards() {
    let fixture = Fixture::new();
    let scratch = fixture.stdout("touch \"$TMPDIR/x\" && echo \"$TMPDIR\"");
    assert!(scratch.contains("dagdeck-") && !std::path::Path::new(&scratch).exists(), "{scratch}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_has_no_network_and_can_not_leave_its_group() {
    let fixture = Fixture::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected'");
    assert_eq!(fixture.stdout(&connect), "");
    let mut open = ToolsConfig::default();
    open.command.network = true;
    assert_eq!(Fixture::with(open).stdout(&connect), "connected");
    assert_ne!(fixture.shell("setsid true")["exit_code"], 0);
    // Pipelines and children work as ever.
    assert_eq!(fixture.stdout("seq 1 100 | sort -n | tail -1 | xargs echo last"), "last 100");
}

#[test]
#[cfg(target_os = "linux")]
fn files_outside_the_workspace_are_safe_or_the_result_says_that_they_are_not() {
    let fixture = Fixture::new();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("file");
    let value = fixture.shell(&format!("echo x > {}", target.display()));
    if confinement().files {
        assert!(!target.exists());
        assert_ne!(value["exit_code"], 0);
    } else {
        assert!(value["note"].as_str().unwrap().contains("no Landlock"));
    }
}

#[test]
fn a_command_is_ended_in_time_with_all_its_children() {
    let fixture = Fixture::new();
    let start = Instant::now();
    // A busy machine may need more than a second until the shell says its first word.
    let ended = |timeout_s: u64| {
        let args = json!({"command": "echo early; sleep 1000 & sleep 1000", "timeout_s": timeout_s});
        fixture.call("run_command", args).unwrap_err().message == format!("the command was stopped after {timeout_s} s:\nearly")
    };
    assert!([1, 10, 60].into_iter().any(ended));
    let value = fixture.shell("sleep 1000 & echo done");
    assert_eq!(value["stdout"], "done\n");
    assert!(start.elapsed() < SLEEP);
}

#[test]
fn floods_of_output_keep_their_ends() {
    let text = Fixture::new().stdout("echo first; yes | head -c 3000000; echo last");
    assert!(text.len() < 70_000 && text.starts_with("first") && text.ends_with("last") && text.contains("bytes left out"));
}

#[test]
fn a_command_asks_and_shows_what_will_run() {
    let fixture = Fixture::new();
    let args = json!({"command": "cargo test"});
    let judged = fixture.registry.judge("run_command", &args, &fixture.context()).unwrap();
    assert_eq!((judged.verdict, judged.why.as_str()), (Verdict::Ask, "runs `cargo test`"));
    let Some(Preview::Text(text)) = fixture.registry.get("run_command").unwrap().preview(&args, &fixture.context()) else { panic!() };
    assert!(text.starts_with("$ cargo test\n\nwithout network"), "{text}");
}

#[test]
fn an_agents_script_gives_value_and_logs_or_its_error() {
    let fixture = Fixture::new();
    let code = "console.log('n', inputs.n); return inputs.n * 2";
    let output = fixture.call("run_javascript", json!({"code": code, "inputs": {"n": 21}})).unwrap();
    assert_eq!(output.value, json!({"value": 42, "logs": ["n 21"]}));
    let error = fixture.call("run_javascript", json!({"code": "console.log('here')\nreturn nothing"})).unwrap_err();
    assert_eq!(error.message, "ReferenceError: nothing is not defined (line 2); it logged before: here");
    let error = fixture.call("run_javascript", json!({"code": "while (true) {}", "time_ms": 200})).unwrap_err();
    assert_eq!((error.message.as_str(), error.hint.is_some()), ("the code ran longer than its limit of 200ms", true));
}

#[test]
fn hostile_pages_become_some_text_in_time() {
    use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};
    let fixture = Fixture::new();
    for page in ["<div>".repeat(300_000), "<b><i>".repeat(100_000), "<table><tr><td>".repeat(50_000), "<a href='".repeat(50_000)] {
        let server = fixture.runtime.block_on(async {
            let server = MockServer::start().await;
            let answer = ResponseTemplate::new(200).set_body_raw(format!("<p>hello</p>{page}"), "text/html");
            Mock::given(any()).respond_with(answer).mount(&server).await;
            server
        });
        let text = fixture.call("fetch_url", json!({"url": server.uri()})).unwrap().value;
        assert!(text.as_str().unwrap().contains("hello"));
    }
}

/// A variable of this very process, as a key is one of dagdeck's.
#[cfg(target_os = "linux")]
#[test]
fn a_command_can_not_read_the_keys_out_of_the_process_that_started_it() {
    if confinement().missing().is_some() {
        return;
    }
    let fixture = Fixture::new();
    let own = std::process::id();
    assert!(fs::read(format!("/proc/{own}/environ")).unwrap().starts_with(b""));
    for file in ["environ", "maps", "mem"] {
        let value = fixture.shell(&format!("head -c 1 /proc/{own}/{file}"));
        assert_ne!(value["exit_code"], 0, "{file}: {value}");
    }
    assert_eq!(fixture.stdout(&format!("kill -0 {own} && echo signalled; true")), "");
}

#[test]
fn a_command_that_ends_the_process_that_watches_over_it_ends_with_all_it_started() {
    let start = Instant::now();
    let value = Fixture::new().shell("sleep 1000 & kill -9 $PPID; sleep 1000");
    assert_eq!(value["exit_code"], 137);
    assert!(start.elapsed() < SLEEP);
}

#[test]
fn a_command_reads_nothing_and_its_signals_stay_signals() {
    let fixture = Fixture::new();
    assert_eq!(fixture.stdout("cat; echo end"), "end");
    let error = fixture.call("run_command", json!({"command": "kill -TERM $$"})).unwrap_err();
    assert_eq!(error.message, "the command failed with signal 15");
}

#[test]
fn a_command_has_no_terminal_to_write_to() {
    let fixture = Fixture::new();
    let value = fixture.shell("(printf '\\033]0;x\\007' > /dev/tty) 2>&1; ps -o tty= -p $$ 2>/dev/null");
    let said = value["stdout"].as_str().unwrap();
    assert!(said.contains("/dev/tty") && (said.trim_end().ends_with('?') || !said.contains("pts")), "{said}");
    // A session of its own, led by the process that watches over the shell: parent, group and session in `stat`, behind the name.
    let ids = fixture.stdout("read -r line < /proc/$$/stat; set -- ${line##*) }; echo $2 $3 $4");
    let ids: Vec<&str> = ids.split_whitespace().collect();
    assert!(ids.iter().all(|id| *id == ids[2]), "{ids:?}");
}

#[test]
fn a_result_in_a_command_is_data_that_no_shell_runs() {
    let program = Program::new();
    program.file("in.txt", "'; touch ran; echo '$(touch ran)`touch ran`\\");
    let commands = [("single", "echo '{{read}}'"), ("double", "echo \"{{read}}\""), ("bare", "echo {{read}}")];
    let shells =
        commands.map(|(id, command)| json!({"id": id, "tool": "run_command", "args": {"command": command}, "depends_on": ["read"]}));
    let nodes: Vec<_> = [json!({"id": "read", "tool": "read_file", "args": {"path": "in.txt"}})].into_iter().chain(shells).collect();
    let plan = program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string());
    let out = program.run(&["run", &plan, "--yes"]).code(0).out;
    assert_eq!(out.matches("'; touch ran; echo '$(touch ran)`touch ran`").count(), 3, "{out}");
    assert!(!program.workspace().join("ran").exists());
}

//! A developer's repository: sources in several languages, nine commits by three people, a branch, a tag, and work in progress.

use super::{Entry, Workspaces, read_tree};
use std::{fs, path::Path, process::Command};

const ADA: &str = "Ada Stone";
const BEN: &str = "Ben Ruiz";
const CHIDI: &str = "Chidi Okoye";

const MAIN: &str = "//! Entry point.

mod net;
mod util;

use util::strings::parse_line;

fn main() {
    // TODO: read the address from the command line
    let client = net::client::Client::new(\"localhost\", 8080);
    for line in client.lines() {
        println!(\"{:?}\", parse_line(&line));
    }
}
";

const NET: &str = "//! Network code.

pub mod client;
";

const CLIENT: &str = "//! A client that keeps one connection.

use crate::util::strings::parse_line_fast;

pub struct Client {
    host: String,
    port: u16,
}

impl Client {
    pub fn new(host: &str, port: u16) -> Self {
        Self { host: host.into(), port }
    }

    // FIXME: reconnect after a timeout
    pub fn lines(&self) -> Vec<String> {
        vec![format!(\"{}:{}\", self.host, self.port)]
    }

    pub fn parsed(&self) -> Vec<(String, String)> {
        self.lines().iter().map(|line| parse_line_fast(line)).collect()
    }
}
";

const UTIL: &str = "pub mod strings;
";

const STRINGS: &str = "//! Helpers for text.

/// Splits a line at its first colon.
pub fn parse_line(line: &str) -> (String, String) {
    let (left, right) = line.split_once(':').unwrap_or((line, \"\"));
    (left.to_string(), right.to_string())
}

// TODO: measure whether this is faster at all
pub fn parse_line_fast(line: &str) -> (String, String) {
    parse_line(line)
}

pub fn shout(text: &str) -> String {
    text.to_uppercase()
}
";

const TEST: &str = "#[test]
fn a_line_is_split() {
    assert_eq!(demo::parse_line(\"a:b\").0, \"a\");
}

#[test]
fn mastodon_is_no_todo() {
    assert!(!\"mastodon\".is_empty());
}
";

const APP: &str = "import { render } from './render';

// TODO: show errors
export function start(root: HTMLElement): void {
  render(root, 'hello');
}
";

const RENDER: &str = "export function render(root: HTMLElement, text: string): void {
  root.textContent = text;
}
";

const REPORT: &str = "import sys


def total(rows):
    return sum(rows)


def main():
    # todo later: read rows from a file
    print(total([1, 2, 3]), file=sys.stdout)


if __name__ == '__main__':
    main()
";

const README: &str = "# demo

Reads lines from a server.

## Build

    cargo build

## Usage

Start it with `demo HOST PORT`. See [the guide](docs/guide.md).

## License

MIT
";

const CHANGELOG: &str = "# Changelog

## 0.2.0

- a client that keeps its connection
- faster parse_line

## 0.1.0

- first release
";

const GUIDE: &str = "# Guide

## Install

Needs Rust 1.80.

## Timeouts

A timeout ends the connection.
";

const PACKAGE: &str = r#"{
  "name": "demo-web",
  "version": "1.4.2",
  "private": true,
  "scripts": {"build": "tsc", "test": "vitest run", "lint": "eslint ."},
  "dependencies": {"lit": "3.1.0", "zod": "3.22.4"},
  "devDependencies": {"typescript": "5.4.2", "vitest": "1.3.1", "eslint": "8.57.0"}
}
"#;

const CARGO: &str = "[package]
name = \"demo\"
version = \"0.2.0\"
edition = \"2021\"

[dependencies]
";

/// Who, when (2024, UTC), subject, and the files with their text as of that commit.
type Commit = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const COMMITS: [Commit; 9] = [
    (ADA, "2024-01-08T09:00:00", "Start the project", &[("README.md", "# demo\n"), ("Cargo.toml", CARGO), (".gitignore", "build/\n")]),
    (ADA, "2024-01-10T15:30:00", "Add text helpers", &[("src/util/mod.rs", UTIL), ("src/util/strings.rs", "pub fn shout() {}\n")]),
    (
        BEN,
        "2024-01-19T11:10:00",
        "Add the web page",
        &[("web/app.ts", APP), ("web/render.ts", RENDER), ("web/index.html", "<p>demo</p>\n"), ("package.json", PACKAGE)],
    ),
    (BEN, "2024-02-02T10:00:00", "Fix the spelling in the page", &[("web/index.html", "<p>demo page</p>\n")]),
    (CHIDI, "2024-02-14T16:45:00", "Add a report script", &[("tools/report.py", REPORT), ("docs/guide.md", GUIDE)]),
    (ADA, "2024-02-20T08:20:00", "Write the client", &[("src/net/mod.rs", NET), ("src/net/client.rs", CLIENT), ("src/main.rs", MAIN)]),
    (ADA, "2024-03-01T13:00:00", "Fix parse_line for lines without a colon", &[("src/util/strings.rs", STRINGS), ("tests/basic.rs", TEST)]),
    (CHIDI, "2024-03-05T17:05:00", "Describe build and usage", &[("README.md", README), ("CHANGELOG.md", CHANGELOG)]),
    (BEN, "2024-03-07T09:40:00", "Drop the unused font", &[("web/style.css", "body { margin: 0 }\np { color: teal }\n")]),
];

/// Nothing of the machine's own settings reaches git.
fn git(root: &Path, args: &[&str], who: &str, when: &str) -> String {
    let mail = format!("{}@example.com", who.split(' ').next().unwrap_or_default().to_lowercase());
    let mut command = Command::new("git");
    command.current_dir(root).args(["-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main", "-c", "gc.auto=0"]).args(args);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", root).env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), who)
            .env(format!("GIT_{role}_EMAIL"), &mail)
            .env(format!("GIT_{role}_DATE"), format!("{when}+0000"));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What is staged, file by file; the index itself also holds times, which reading refreshes.
pub fn staged(root: &Path) -> String {
    git(root, &["ls-files", "--stage"], ADA, "2024-03-08T10:00:00")
}

/// Made by git in a folder of its own, then kept as bytes.
pub fn world() -> Workspaces {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let act = |args: &[&str]| {
        git(root, args, ADA, "2024-03-08T10:00:00");
    };
    act(&["init", "-q", "--template="]);
    for (index, (who, when, subject, files)) in COMMITS.iter().enumerate() {
        files.iter().for_each(|(path, text)| write(path, text));
        git(root, &["add", "-A"], who, when);
        git(root, &["commit", "-q", "-m", subject], who, when);
        match index {
            1 => act(&["tag", "v0.1.0"]),
            6 => act(&["branch", "feature/cache"]),
            _ => {}
        }
    }
    write("web/style.css", "body { margin: 0 }\np { color: navy }\n");
    write("docs/api.md", "# API\n\n`parse_line(line)` returns two parts.\n");
    act(&["add", "docs/api.md"]);
    write("scratch.txt", "try this later\n");
    write("build/out.txt", "built\n");
    let tree = read_tree(root);
    let sources = tree.keys().filter(|path| !path.starts_with(".git/") && tree[*path] != Entry::Folder);
    let ages = sources.enumerate().map(|(index, path)| (path.clone(), (index as u64 * 37 + 5) % 101)).collect();
    Workspaces { tree, ages, staged: Some(staged(root)) }
}

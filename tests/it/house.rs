//! Reads the source and checks the rules of the house: which room may import which, what pure rooms may not touch, how long files may be.
//! Each message says what to do.

mod shape;
mod words;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Rooms from the ground up; a room may use those before it.
const FLOORS: [&str; 11] = ["text", "files", "plan", "engine", "models", "tools", "agents", "planner", "store", "host", "serve"];

/// What stands on top of the host; neither sees the other, except that `cli` opens the console.
const ROOFS: [&str; 2] = ["console", "cli"];

/// One source file with its room.
struct Source {
    path: PathBuf,
    room: String,
    text: String,
}

impl Source {
    /// Lines of code with their numbers, without line comments and without the file's test modules.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests_begin = self.text.find("#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        self.text[..tests_begin]
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    fn is_test(&self) -> bool {
        self.path.components().any(|part| part.as_os_str() == "tests")
            || self.path.file_stem().is_some_and(|stem| stem == "tests" || stem.to_string_lossy().ends_with("_tests"))
    }

    /// The paths of imports in a group, `use crate::{…}`, one by one, which a line alone doesn't show.
    fn grouped_imports(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        let mut open: Option<(usize, String)> = None;
        for (number, line) in self.code() {
            match &mut open {
                Some((_, group)) => group.push_str(line.trim()),
                None if line.contains("use crate::{") => open = Some((number, line.trim().to_owned())),
                None => {}
            }
            if let Some((begin, group)) = open.take_if(|(_, group)| group.ends_with(';')) {
                let tree = group.trim_end_matches(';').split_once("use ").unwrap().1;
                found.extend(shape::arrows::expand(tree).into_iter().map(|(path, _)| (begin, path.join("::"))));
            }
        }
        found
    }

    fn under(&self, folder: &str) -> bool {
        self.path.starts_with(Path::new("src").join(folder))
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    collect_ending(folder, "rs", found);
}

fn collect_ending(folder: &Path, wanted: &str, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect_ending(&path, wanted, found);
        } else if path.extension().is_some_and(|ending| ending == wanted) {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    collect(&root().join("src"), &mut paths);
    paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(root()).unwrap().to_path_buf();
            let room = path.components().nth(1).unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_string();
            Source { path, room, text }
        })
        .collect()
}

/// Fails with one line per fault: file, line, what is wrong, what to do.
fn report(faults: &[String]) {
    assert!(faults.is_empty(), "{} fault(s):\n{}", faults.len(), faults.join("\n"));
}

fn faults(applies: impl Fn(&Source) -> bool, wrong: impl Fn(&Source, &str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test() && applies(source)) {
        let lines = source.code().map(|(number, line)| (number, line.to_owned()));
        for (number, line) in lines.chain(source.grouped_imports()) {
            if let Some(words) = wrong(source, &line) {
                found.push(format!("{}:{number}: {words}\n    {}", source.path.display(), line.trim()));
            }
        }
    }
    found
}

/// Rooms named by `crate::room` in a line.
fn rooms_named(line: &str) -> Vec<String> {
    line.match_indices("crate::")
        .map(|(at, found)| {
            line[at + found.len()..].chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '_').collect::<String>()
        })
        .filter(|room| !room.is_empty())
        .collect()
}

#[test]
fn imports_run_one_way() {
    let floor = |room: &str| FLOORS.iter().position(|name| *name == room);
    report(&faults(
        |source| floor(&source.room).is_some(),
        |source, line| {
            let own = floor(&source.room)?;
            let wrong = rooms_named(line)
                .into_iter()
                .find(|room| ROOFS.contains(&room.as_str()) || floor(room).is_some_and(|other| other > own))?;
            Some(format!("`{}` may not use `{wrong}`; move the shared part down, or pass it in", source.room))
        },
    ));
}

#[test]
fn console_sees_only_text_plan_engine_and_the_client_protocol() {
    report(&faults(
        |source| source.room == "console",
        |_, line| {
            let room =
                rooms_named(line).into_iter().find(|room| !["text", "files", "plan", "engine", "console", "host"].contains(&room.as_str()));
            if let Some(room) = room {
                return Some(format!("console may not use `{room}`; ask the host by `host::client::Request`"));
            }
            let beyond = line.contains("crate::host::") && !line.contains("crate::host::client");
            beyond.then(|| "console may use `host::client` only".to_string())
        },
    ));
}

#[test]
fn pure_rooms_touch_no_runtime_clock_file_or_socket() {
    const BANNED: [&str; 10] =
        ["tokio", "std::fs", "crate::files", "std::net", "std::env", "std::process", "SystemTime", "Instant::now", "std::thread", "rand::"];
    let pure = |source: &Source| {
        ["text", "plan", "engine", "console/commands", "console/model", "console/update", "console/view", "console/widget"]
            .iter()
            .any(|folder| source.under(folder))
    };
    report(&faults(pure, |_, line| {
        let banned = BANNED.iter().find(|banned| line.contains(**banned))?;
        Some(format!("`{banned}` in a pure room; bring it in with the input"))
    }));
}

#[test]
fn nothing_iterates_over_unordered_maps_in_pure_rooms() {
    let pure = |source: &Source| ["text", "plan", "engine"].iter().any(|folder| source.under(folder));
    report(&faults(pure, |_, line| {
        let iterates = [".keys()", ".values()", ".drain()"].iter().any(|call| line.contains(call));
        (iterates && line.contains("HashMap")).then(|| "iteration over an unordered map; use IndexMap or BTreeMap".to_string())
    }));
}

#[test]
fn imports_in_a_group_are_seen() {
    let text = "use crate::{\n    engine::{Run, views::Trace},\n    host,\n};\n";
    let source = Source { path: "src/plan/x.rs".into(), room: "plan".into(), text: text.into() };
    let paths = ["crate::engine::Run", "crate::engine::views::Trace", "crate::host"];
    assert_eq!(source.grouped_imports(), paths.map(|path| (1, path.to_owned())));
}

#[test]
fn colours_live_in_the_theme_only() {
    report(&faults(
        |source| source.room == "console" && !source.under("console/theme"),
        |_, line| {
            let named = line.contains("Color::") || line.contains("Stylize");
            named.then(|| "colour outside `console/theme`; name a role instead".to_string())
        },
    ));
}

#[test]
fn keys_live_in_the_keymap_only() {
    report(&faults(
        |source| source.room == "console" && (source.under("console/update") || source.under("console/view")),
        |_, line| line.contains("KeyCode::").then(|| "key literal outside the keymap; name a command instead".to_string()),
    ));
}

#[test]
fn only_plain_text_is_drawn() {
    report(&faults(
        |source| source.under("console/view"),
        |_, line| {
            let raw = ["Span::raw(", "Line::raw(", "Text::raw("].iter().find(|call| line.contains(**call))?;
            Some(format!("`{raw}…)` in a view; draw `text::Plain` through the theme's roles"))
        },
    ));
}

#[test]
fn sql_lives_in_the_store_and_in_query_data_only() {
    report(&faults(
        |source| source.room != "store" && !source.under("tools/builtin/query_data"),
        |_, line| line.contains("rusqlite").then(|| "SQL outside `store` and `query_data`; add a method there".to_string()),
    ));
}

#[test]
fn an_error_that_leaves_its_room_has_a_type() {
    let leaves = |line: &str| ["pub fn ", "pub async fn ", "pub const fn "].iter().any(|begin| line.trim_start().starts_with(begin));
    report(&faults(
        |source| !ROOFS.contains(&source.room.as_str()),
        |_, line| {
            let is_text = leaves(line) && line.contains("Result<") && line.contains(", String> {") || line.contains("type Err = String");
            is_text.then(|| "its error is a bare text; give it a type with thiserror, or keep the function in its room".to_string())
        },
    ));
}

#[test]
fn exceptions_to_lints_are_expected_with_a_reason() {
    report(&faults(|_| true, |_, line| line.contains("#[allow(").then(|| "use `#[expect(…, reason = \"…\")]`".to_string())));
}

#[test]
fn only_tests_with_real_programs_are_ignored() {
    let mut paths = Vec::new();
    collect(&root().join("src"), &mut paths);
    collect(&root().join("tests/it"), &mut paths);
    let ignores = |line: &str| line.trim_start().strip_prefix("#[").is_some_and(|attribute| attribute.trim_start().starts_with("ignore"));
    let ignored = paths.iter().filter(|path| fs::read_to_string(path).unwrap().lines().any(ignores));
    report(
        &ignored
            .map(|path| format!("{}: an ignored test; tests that need real programs stand in tests/peers", path.display()))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn nothing_is_left_to_do() {
    report(&faults(
        |_| true,
        |_, line| {
            let left = ["TODO", "FIXME", "todo!(", "unimplemented!("].iter().find(|word| line.contains(**word))?;
            Some(format!("`{left}`: finish it, or take it out"))
        },
    ));
}

#[test]
fn files_are_under_500_lines_and_open_with_what_they_own() {
    let mut found = Vec::new();
    let mut tests = Vec::new();
    ["tests", "benches"].iter().for_each(|folder| collect(&root().join(folder), &mut tests));
    for path in tests {
        let length = fs::read_to_string(&path).unwrap().lines().count();
        if length >= 500 {
            found.push(format!("{}: {length} lines; split it by topic", path.display()));
        }
    }
    for source in sources() {
        let tests_begin = source.text.find("#[cfg(test)]\nmod tests {").filter(|_| !source.is_test()).unwrap_or(source.text.len());
        let length = source.text[..tests_begin].lines().count();
        if length >= 500 {
            found.push(format!("{}: {length} lines; split it by what its parts own", source.path.display()));
        }
        let opens = source.text.starts_with("//!") || source.text.starts_with("#![doc");
        if !opens {
            found.push(format!("{}:1: open with `//!`: what the file owns, what it refuses, its contract", source.path.display()));
        }
    }
    report(&found);
}

#[test]
fn main_is_under_80_lines() {
    let lines = fs::read_to_string(root().join("src/main.rs")).unwrap().lines().count();
    assert!(lines < 80, "src/main.rs has {lines} lines; move what it does into `cli`");
}

#[test]
fn top_level_holds_only_what_belongs_there() {
    const FIXED: [&str; 10] = ["Cargo.toml", "Cargo.lock", "LICENSE", "README.md", "src", "themes", "agents", "tests", "plans", "benches"];
    let found: Vec<String> = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().to_string())
        .filter(|name| !name.starts_with('.') && name != "docs" && name != "target" && !FIXED.contains(&name.as_str()))
        .map(|name| format!("{name}: not a top-level entry of this project"))
        .collect();
    report(&found);
}

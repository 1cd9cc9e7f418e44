//! `list_directory`: entries of a directory as a list of objects, so that plans can sort, filter and count them. Leaves out what
//! `.gitignore` and its like leave out. Never follows links.

use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use super::{AbandonFlag, FileTool, access, describe};
use crate::plan::{Risk, ToolReach};
use crate::tools::walk::{Seen, walk};
use crate::tools::{Assessment, Tool, ToolError, ToolOutput, Workspace};

/// Most entries of one answer.
const CAP: usize = 10_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDirectoryArgs {
    /// Directory, relative to the workspace. Default: the workspace.
    path: Option<String>,
    /// Include everything below. Default: false.
    #[serde(default)]
    recursive: bool,
    /// How deep to go when recursive; 1 is the directory itself. Default: no limit.
    #[schemars(range(min = 1))]
    max_depth: Option<usize>,
    /// Only names that match, such as `*.rs`; with a slash, paths below the directory, such as `src/**/*.rs`.
    glob: Option<String>,
    /// Count the lines of text files. Default: false.
    #[serde(default)]
    count_lines: bool,
    /// Include hidden and ignored files. Default: false.
    #[serde(default)]
    all: bool,
    /// Include ignored files, but not the folders that tools fill, such as `node_modules` and `target`. Default: false.
    #[serde(default)]
    ignored: bool,
}

pub(super) fn tool() -> impl Tool {
    let description = "List a directory of the workspace. Gives a list of {path, type, size, modified}, with `lines` when they are counted, sorted by path; a folder that can't be read has an `error`.";
    FileTool {
        info: describe::<ListDirectoryArgs>("list_directory", description, Risk::Read, ToolReach::Private),
        assess: |args| Assessment::read(format!("lists `{}`", args["path"].as_str().unwrap_or("."))),
        work: list,
        preview: None,
    }
}

/// Matches names, or whole paths when the pattern has a slash.
pub(super) struct Pattern {
    matcher: GlobMatcher,
    whole: bool,
}

impl Pattern {
    pub(super) fn new(glob: &str) -> Result<Self, ToolError> {
        let matcher = GlobBuilder::new(glob)
            .literal_separator(true)
            .build()
            .map_err(|cause| ToolError::refused(format!("`{}` is not a valid pattern: {}", glob.escape_debug(), cause.kind())))?
            .compile_matcher();
        Ok(Self { matcher, whole: glob.contains('/') })
    }

    pub(super) fn matches(&self, relative: &Path) -> bool {
        if self.whole { self.matcher.is_match(relative) } else { relative.file_name().is_some_and(|name| self.matcher.is_match(name)) }
    }
}

fn list(workspace: &Workspace, args: &ListDirectoryArgs, stop: &AbandonFlag) -> Result<ToolOutput, ToolError> {
    let at = workspace.locate(args.path.as_deref().unwrap_or("."))?;
    let directory = workspace.absolute(&at);
    let shown = at.display();
    if !directory.is_dir() {
        let what = if directory.exists() { "is not a directory" } else { "does not exist" };
        return Err(ToolError::refused(format!("`{shown}` {what}")));
    }
    let pattern = args.glob.as_deref().map(Pattern::new).transpose()?;
    let depth = if args.recursive { args.max_depth } else { Some(1) };
    let mut entries = Vec::new();
    let mut unread: Vec<(PathBuf, String)> = Vec::new();
    for entry in walk(&directory, Seen::of(args.all, args.ignored), depth) {
        stop.check()?;
        let entry = match entry {
            Ok(entry) if entry.depth() > 0 => entry,
            Ok(_) => continue,
            Err(error) => {
                unread.extend(unreadable(&error));
                continue;
            }
        };
        let below = entry.path().strip_prefix(&directory).unwrap_or(entry.path());
        if pattern.as_ref().is_some_and(|pattern| !pattern.matches(below)) {
            continue;
        }
        if entries.len() == CAP {
            return Err(ToolError::refused(format!("`{shown}` has more than {CAP} entries"))
                .hint("narrow it with `glob`, `max_depth` or a directory further down"));
        }
        entries.push(describe_entry(workspace, &entry, args.count_lines));
    }
    for (path, why) in unread {
        if path == directory {
            return Err(ToolError::failed(format!("`{shown}` can't be listed: {why}")));
        }
        say_unread(&mut entries, workspace, &path, &why);
    }
    Ok(ToolOutput::of(Value::Array(entries), vec![access(shown, "search", None)]))
}

/// The folder that an error of a walk is about, and why it can't be read.
fn unreadable(error: &ignore::Error) -> Option<(PathBuf, String)> {
    match error {
        ignore::Error::WithPath { path, err } => Some((path.clone(), err.io_error().map_or_else(|| err.to_string(), ToString::to_string))),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => unreadable(err),
        ignore::Error::Partial(all) => all.iter().find_map(unreadable),
        _ => None,
    }
}

/// Marks the entry of a folder that can't be read; one that the pattern left out is listed for that.
fn say_unread(entries: &mut Vec<Value>, workspace: &Workspace, path: &Path, why: &str) {
    let shown = path.strip_prefix(workspace.root()).unwrap_or(path).to_string_lossy().into_owned();
    let unread = Value::from(format!("can't be read: {why}"));
    match entries.iter_mut().find(|entry| entry["path"] == shown.as_str()) {
        Some(entry) => entry["error"] = unread,
        None => entries.push(json!({"path": shown, "type": "directory", "error": unread})),
    }
}

fn describe_entry(workspace: &Workspace, entry: &ignore::DirEntry, count_lines: bool) -> Value {
    let path = entry.path().strip_prefix(workspace.root()).unwrap_or(entry.path()).to_string_lossy().into_owned();
    let kind = entry.file_type();
    let is_file = kind.is_some_and(|kind| kind.is_file());
    let word = match kind {
        Some(kind) if kind.is_dir() => "directory",
        Some(kind) if kind.is_symlink() => "symlink",
        Some(kind) if kind.is_file() => "file",
        _ => "other",
    };
    let mut fields = Map::new();
    let found = entry.metadata().ok();
    if is_file && let Some(found) = &found {
        fields.insert("size".into(), found.len().into());
    }
    if let Some(time) = found.and_then(|found| jiff::Timestamp::try_from(found.modified().ok()?).ok()) {
        fields.insert("modified".into(), time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into());
    }
    if is_file
        && count_lines
        && let Some(lines) = workspace.locate(&path).ok().and_then(|at| lines(workspace.open(&at).ok()?))
    {
        fields.insert("lines".into(), lines.into());
    }
    fields.insert("path".into(), path.into());
    fields.insert("type".into(), word.into());
    Value::Object(fields)
}

/// Lines of a text file; a last line without an end counts. None for binary files.
fn lines(file: std::fs::File) -> Option<u64> {
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let (mut count, mut last, mut first_block) = (0, b'\n', true);
    loop {
        let block = reader.fill_buf().ok()?;
        let Some(end) = block.last() else { break };
        if first_block && block.contains(&0) {
            return None;
        }
        first_block = false;
        last = *end;
        count += block.iter().filter(|byte| **byte == b'\n').count() as u64;
        let length = block.len();
        reader.consume(length);
    }
    Some(count + u64::from(last != b'\n'))
}

#[cfg(test)]
mod tests {
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::{Value, json};

    /// A listing without its times, which a test can't know.
    fn timeless(mut value: Value) -> Value {
        for entry in value.as_array_mut().unwrap() {
            let time = entry.as_object_mut().unwrap().remove("modified").unwrap();
            assert!(time.as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{time}");
        }
        value
    }

    fn paths(value: &Value) -> Vec<&str> {
        value.as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect()
    }

    fn fixture() -> Fixture {
        let files = [
            ("src/main.rs", "a\nb\n"),
            ("src/deep/lib.rs", "a\nb\nc"),
            ("src/empty.rs", ""),
            ("README.md", "x"),
            ("target/out.rs", "x"),
            (".gitignore", "target\n"),
            (".git/config", "x"),
        ];
        Fixture::new(&files)
    }

    #[test]
    fn a_directory_is_listed_without_what_is_ignored() {
        let output = fixture().call("list_directory", json!({})).unwrap();
        assert_eq!(timeless(output.value), json!([{"size": 1, "path": "README.md", "type": "file"}, {"path": "src", "type": "directory"}]));
        assert_eq!((output.files[0].path.as_str(), output.files[0].operation.as_str()), (".", "search"));
    }

    #[test]
    fn files_below_are_found_by_glob_with_their_lines_counted() {
        let args = json!({"path": "src", "recursive": true, "glob": "*.rs", "count_lines": true});
        let output = fixture().call("list_directory", args).unwrap();
        let found: Vec<(&str, u64)> = output
            .value
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (entry["path"].as_str().unwrap(), entry["lines"].as_u64().unwrap()))
            .collect();
        assert_eq!(found, [("src/deep/lib.rs", 3), ("src/empty.rs", 0), ("src/main.rs", 2)]);
    }

    #[test]
    fn depth_and_paths_with_slashes_narrow_a_listing() {
        let fixture = fixture();
        let list = |args| fixture.call("list_directory", args).unwrap().value;
        assert_eq!(paths(&list(json!({"recursive": true, "max_depth": 2, "glob": "*.rs"}))), ["src/empty.rs", "src/main.rs"]);
        assert_eq!(paths(&list(json!({"recursive": true, "glob": "src/*/*.rs"}))), ["src/deep/lib.rs"]);
        assert_eq!(paths(&list(json!({"recursive": true, "all": true, "glob": "*.rs", "path": "target"}))), ["target/out.rs"]);
    }

    #[test]
    fn the_inside_of_a_repository_never_shows_and_links_are_not_followed() {
        let fixture = fixture();
        std::os::unix::fs::symlink("/", fixture.path().join("root")).unwrap();
        let output = fixture.call("list_directory", json!({"recursive": true, "all": true, "count_lines": true})).unwrap();
        assert!(!paths(&output.value).iter().any(|path| path.starts_with(".git/") || path.starts_with("root/")));
        assert!(fixture.call("list_directory", json!({"path": "root/etc"})).is_err());
    }

    #[test]
    fn binary_files_have_no_lines() {
        let fixture = Fixture::new(&[("bin", "a\0\n")]);
        let output = fixture.call("list_directory", json!({"count_lines": true})).unwrap();
        assert_eq!(timeless(output.value), json!([{"size": 3, "path": "bin", "type": "file"}]));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_can_not_be_read_is_listed_with_its_error_whatever_the_pattern_is() {
        use std::{fs, os::unix::fs::PermissionsExt as _};
        let fixture = fixture();
        let closed = fixture.path().join("src/deep");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // Whoever may read everything sees nothing of this.
        if fs::read_dir(&closed).is_err() {
            for args in [json!({"recursive": true}), json!({"recursive": true, "glob": "*.rs"})] {
                let listed = fixture.call("list_directory", args).unwrap().value;
                let entry = listed.as_array().unwrap().iter().find(|entry| entry["path"] == "src/deep").unwrap();
                assert!(entry["error"].as_str().unwrap().starts_with("can't be read: "), "{entry}");
            }
            assert!(fixture.call("list_directory", json!({"path": "src/deep"})).unwrap_err().message.contains("can't be listed"));
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn an_error_of_a_walk_names_its_folder() {
        let error = ignore::Error::WithDepth {
            depth: 1,
            err: Box::new(ignore::Error::WithPath {
                path: "/w/closed".into(),
                err: Box::new(ignore::Error::Io(std::io::ErrorKind::PermissionDenied.into())),
            }),
        };
        let (path, why) = super::unreadable(&error).unwrap();
        assert_eq!((path, why.as_str()), ("/w/closed".into(), "permission denied"));
    }

    #[test]
    fn what_can_not_be_listed_is_an_error() {
        let fixture = fixture();
        let refused = |args| fixture.call("list_directory", args).unwrap_err().message;
        assert_eq!(refused(json!({"path": "nowhere"})), "`nowhere` does not exist");
        assert_eq!(refused(json!({"path": "README.md"})), "`README.md` is not a directory");
        assert!(refused(json!({"glob": "a["})).starts_with("`a[` is not a valid pattern"));
    }
}

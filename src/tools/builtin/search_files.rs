//! `search_files`: lines that match, by regular expression or literally, in files that version control would see.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;

use super::{AbandonFlag, FileTool, access, beginning, describe, list_directory};
use crate::engine::DataSource;
use crate::plan::{Risk, ToolReach};
use crate::text::counted;
use crate::tools::walk::{Seen, walk};
use crate::tools::{Assessment, Tool, ToolError, ToolOutput, Workspace};

/// Longest shown part of a line in characters.
const LINE: usize = 400;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchFilesArgs {
    /// Regular expression (Rust syntax), or plain text with `literal`.
    #[schemars(length(min = 1))]
    pattern: String,
    /// Take the pattern as plain text. Default: false.
    #[serde(default)]
    literal: bool,
    /// Don't tell upper from lower case. Default: false.
    #[serde(default)]
    ignore_case: bool,
    /// Directory or file, relative to the workspace. Default: the workspace.
    path: Option<String>,
    /// Only files whose name matches, such as `*.rs`; with a slash, whose path matches.
    glob: Option<String>,
    /// Search ignored files, too, but not the folders that tools fill, such as `node_modules` and `target`. Default: false.
    #[serde(default)]
    ignored: bool,
    /// Most lines to give. Default: 200.
    #[schemars(range(min = 1, max = 2000))]
    max_results: Option<usize>,
}

pub(super) fn tool() -> impl Tool {
    let description =
        "Search the text of files in the workspace. Gives {matches: [{path, line, text}], truncated}, sorted by path and line.";
    FileTool {
        info: describe::<SearchFilesArgs>("search_files", description, Risk::Read, ToolReach::Private),
        assess: |args| Assessment::read(format!("searches `{}`", args["path"].as_str().unwrap_or("."))),
        work: search,
        preview: None,
    }
}

fn search(workspace: &Workspace, args: &SearchFilesArgs, stop: &AbandonFlag) -> Result<ToolOutput, ToolError> {
    let at = workspace.locate(args.path.as_deref().unwrap_or("."))?;
    let start = workspace.absolute(&at);
    if !start.exists() {
        return Err(ToolError::refused(format!("`{}` does not exist", at.display())));
    }
    if !start.is_file() && !start.is_dir() {
        return Err(ToolError::refused(format!("`{}` is neither a file nor a directory", at.display())));
    }
    let pattern = args.glob.as_deref().map(list_directory::Pattern::new).transpose()?;
    let mut hunt = Hunt {
        matcher: matcher(args)?,
        // A file without line ends must not fill the memory.
        searcher: SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).heap_limit(Some(8 << 20)).build(),
        limit: args.max_results.unwrap_or(200),
        found: Vec::new(),
        truncated: false,
        searched: 0,
        passed: Vec::new(),
        binary: Vec::new(),
    };
    for entry in walk(&start, Seen::of(false, args.ignored), None) {
        stop.check()?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                hunt.passed.push(error.to_string());
                continue;
            }
        };
        let below = entry.path().strip_prefix(&start).unwrap_or(entry.path());
        let wanted = pattern.as_ref().is_none_or(|pattern| entry.depth() == 0 || pattern.matches(below));
        if wanted && entry.file_type().is_some_and(|kind| kind.is_file()) {
            hunt.file(workspace, &entry.path().strip_prefix(workspace.root()).unwrap_or(entry.path()).to_string_lossy());
        }
        if hunt.truncated {
            break;
        }
    }
    let mut files = vec![access(at.display(), "search", None)];
    let mut seen: Vec<&str> = hunt.found.iter().filter_map(|found| found["path"].as_str()).collect();
    seen.dedup();
    files.extend(seen.iter().map(|path| access((*path).to_owned(), "read", None)));
    let mut value = json!({"matches": hunt.found, "truncated": hunt.truncated});
    let notes = [("could not be searched", &hunt.passed), ("of binary data, not searched to the end", &hunt.binary)];
    let mut notes: Vec<String> = notes.into_iter().filter_map(|(what, paths)| passed_over(what, paths)).collect();
    if hunt.searched == 0 {
        notes.push("no file was searched".to_owned());
    }
    if !notes.is_empty() {
        value["notes"] = json!(notes);
    }
    Ok(ToolOutput {
        sources: vec![DataSource { kind: "file".into(), identifier: at.display(), query: Some(args.pattern.clone()) }],
        value,
        files,
    })
}

/// How many files, with the first of them.
fn passed_over(what: &str, files: &[String]) -> Option<String> {
    let first = files.first()?;
    Some(format!("{} {what}, such as {first}", counted(files.len(), "file")))
}

fn matcher(args: &SearchFilesArgs) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .size_limit(4 << 20)
        .dfa_size_limit(16 << 20)
        .line_terminator(Some(b'\n'))
        .build(&args.pattern)
        .map_err(|cause| ToolError::refused(format!("the pattern can't be used: {cause}")).hint("set `literal` to search for plain text"))
}

struct Hunt {
    matcher: RegexMatcher,
    searcher: Searcher,
    limit: usize,
    found: Vec<Value>,
    truncated: bool,
    searched: usize,
    /// Files that could not be searched, each with the reason.
    passed: Vec<String>,
    /// Files that are no text from some byte on.
    binary: Vec<String>,
}

impl Hunt {
    /// Adds the matches of one file.
    fn file(&mut self, workspace: &Workspace, path: &str) {
        let file = match workspace.locate(path).and_then(|at| workspace.open(&at)) {
            Ok(file) => file,
            Err(error) => return self.passed.push(error.message),
        };
        let mut matches = FileMatches { path, found: &mut self.found, limit: self.limit, truncated: false, is_binary: false };
        let searched = self.searcher.search_file(&self.matcher, &file, &mut matches);
        self.truncated = matches.truncated;
        self.searched += 1;
        if matches.is_binary {
            self.binary.push(format!("`{path}`"));
        }
        if let Err(error) = searched {
            // The searcher has no kind of error of its own for this.
            let is_long = error.to_string().contains("allocation limit");
            let reason = if is_long { "a line is longer than 8 MiB".to_owned() } else { error.to_string() };
            self.passed.push(format!("`{path}`: {reason}"));
        }
    }
}

/// The matches of one file, as they are found.
struct FileMatches<'a> {
    path: &'a str,
    found: &'a mut Vec<Value>,
    limit: usize,
    truncated: bool,
    is_binary: bool,
}

impl Sink for FileMatches<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.truncated = self.found.len() == self.limit;
        if !self.truncated {
            let text = String::from_utf8_lossy(found.bytes());
            let text = beginning(text.trim_end_matches(['\r', '\n']), LINE);
            self.found.push(json!({"path": self.path, "line": found.line_number(), "text": text}));
        }
        Ok(!self.truncated)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::json;

    fn fixture() -> Fixture {
        Fixture::new(&[
            ("src/a.rs", "fn main() {}\nlet a = 1;\n"),
            ("src/b.txt", "fn x\r\n"),
            ("ignored", "fn y"),
            (".gitignore", "ignored"),
            ("bin", "fn z\0"),
        ])
    }

    #[test]
    fn matching_lines_come_with_path_and_number() {
        let output = fixture().call("search_files", json!({"pattern": "^fn \\w+"})).unwrap();
        let expected = json!([{"path": "src/a.rs", "line": 1, "text": "fn main() {}"}, {"path": "src/b.txt", "line": 1, "text": "fn x"}]);
        assert_eq!([&output.value["matches"], &output.value["truncated"]], [&expected, &json!(false)]);
        assert_eq!(output.sources[0].query.as_deref(), Some("^fn \\w+"));
    }

    #[test]
    fn a_search_is_narrowed_by_glob_case_and_place() {
        let fixture = fixture();
        let count = |args| fixture.call("search_files", args).unwrap().value["matches"].as_array().unwrap().len();
        assert_eq!(count(json!({"pattern": "FN", "ignore_case": true, "glob": "*.rs"})), 1);
        assert_eq!(count(json!({"pattern": "main() {", "literal": true})), 1);
        assert_eq!(count(json!({"pattern": "fn", "path": "src/b.txt"})), 1);
        assert_eq!(count(json!({"pattern": "nothing"})), 0);
    }

    #[test]
    fn results_beyond_the_limit_are_said_to_be_cut() {
        let fixture = Fixture::new(&[("a", &"x\n".repeat(10))]);
        let search = |limit| fixture.call("search_files", json!({"pattern": "x", "max_results": limit})).unwrap().value;
        assert_eq!((search(9)["matches"].as_array().unwrap().len(), search(9)["truncated"] == true), (9, true));
        assert_eq!((search(10)["matches"].as_array().unwrap().len(), search(10)["truncated"] == true), (10, false));
    }

    #[test]
    fn what_could_not_be_searched_is_said() {
        let fixture = Fixture::new(&[("a", "fn a"), ("bin", "fn z\0"), ("long", &"a".repeat(20 << 20))]);
        let value = fixture.call("search_files", json!({"pattern": "fn"})).unwrap().value;
        assert_eq!(value["matches"], json!([{"path": "a", "line": 1, "text": "fn a"}]));
        let notes: Vec<&str> = value["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
        assert_eq!(notes[0], "1 file could not be searched, such as `long`: a line is longer than 8 MiB");
        assert_eq!(notes[1], "1 file of binary data, not searched to the end, such as `bin`");
        let none = fixture.call("search_files", json!({"pattern": "fn", "glob": "*.rs"})).unwrap().value;
        assert_eq!(none["notes"], json!(["no file was searched"]));
    }

    #[test]
    fn hostile_patterns_and_files_are_survived() {
        let fixture = Fixture::new(&[("long", &"a".repeat(20 << 20))]);
        for pattern in ["(a+)+$", "(", "a{1000}{1000}{1000}", "\\n"] {
            let _ = fixture.call("search_files", json!({"pattern": pattern}));
        }
        let error = fixture.call("search_files", json!({"pattern": "("})).unwrap_err();
        assert!(error.hint.unwrap().contains("literal"));
    }
}

//! `append_file`: text at the end of a file, on lines of its own unless the call wants it exact. The file is written whole, as `write_file` does.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{FileTool, access, describe, write_file};
use crate::plan::{Risk, ToolReach};
use crate::tools::{Assessment, Located, Tool, ToolError, ToolOutput, Workspace};

/// Largest file in bytes.
const CAP: u64 = 64 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AppendFileArgs {
    /// File, relative to the workspace. It is made if it isn't there.
    path: String,
    /// Text to add; it gets lines of its own. Anything that isn't text is written as JSON.
    #[schemars(extend("type" = ["string", "object", "array", "number", "boolean"]))]
    content: Value,
    /// Add the text exactly as it is, without line ends before and after it. Default: false.
    #[serde(default)]
    exact: bool,
}

pub(super) fn tool() -> impl Tool {
    let description = "Add text at the end of a file of the workspace, on lines of its own. Gives {path, bytes, created}.";
    FileTool {
        info: describe::<AppendFileArgs>("append_file", description, Risk::Write, ToolReach::Private),
        assess: |args| Assessment::local(Risk::Write, format!("adds to `{}`", args["path"].as_str().unwrap_or_default())),
        work: |workspace, args, _| append(workspace, args),
        preview: Some(|context, args| {
            write_file::preview(context, &args.path, |before| {
                let before = before.unwrap_or_default();
                Ok(format!("{before}{}", added(before.as_bytes(), args)))
            })
        }),
    }
}

fn append(workspace: &Workspace, args: &AppendFileArgs) -> Result<ToolOutput, ToolError> {
    let at: Located = workspace.locate_for_writing(&args.path)?;
    let shown = at.display();
    let _changing = workspace.changing()?;
    let created = workspace.kind(&at).is_none();
    let known = if created { Some(Vec::new()) } else { workspace.read(&at, CAP)? };
    let mut bytes = known.ok_or_else(|| ToolError::refused(format!("`{shown}` is longer than 64 MiB")))?;
    let text = added(&bytes, args);
    bytes.extend_from_slice(text.as_bytes());
    workspace.write(&at, &bytes)?;
    let value = json!({"path": shown, "bytes": text.len(), "created": created});
    Ok(ToolOutput::of(value, vec![access(shown, "write", Some(&text))]))
}

/// What is added to a file that holds `before`.
fn added(before: &[u8], args: &AppendFileArgs) -> String {
    let text = write_file::text(&args.content);
    if args.exact || text.is_empty() {
        return text;
    }
    let first = before.iter().position(|byte| *byte == b'\n');
    let end = if first.is_some_and(|at| at > 0 && before[at - 1] == b'\r') { "\r\n" } else { "\n" };
    let start = if before.is_empty() || before.ends_with(b"\n") { "" } else { end };
    let stop = if text.ends_with('\n') { "" } else { end };
    format!("{start}{text}{stop}")
}

#[cfg(test)]
mod tests {
    use crate::engine::Preview;
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::json;

    #[test]
    fn nodes_that_append_to_one_file_at_the_same_time_lose_no_text() {
        let fixture = Fixture::new(&[]);
        std::thread::scope(|threads| {
            for node in 0..8 {
                let root = fixture.path();
                threads.spawn(move || {
                    let workspace = super::Workspace::new(root).unwrap();
                    for line in 0..10 {
                        let args = serde_json::from_value(json!({"path": "log.txt", "content": format!("{node} {line}")})).unwrap();
                        super::append(&workspace, &args).unwrap();
                    }
                });
            }
        });
        assert_eq!(fixture.read("log.txt").lines().count(), 80);
    }

    #[test]
    fn text_gets_lines_of_its_own_with_the_line_ends_of_the_file() {
        let fixture = Fixture::new(&[("a", "one\ntwo"), ("b", "one\r\n")]);
        let append = |path: &str, content| fixture.call("append_file", json!({"path": path, "content": content})).unwrap().value;
        assert_eq!(append("a", json!("three")), json!({"path": "a", "bytes": 7, "created": false}));
        append("a", json!("four\n"));
        append("b", json!("two"));
        assert_eq!(append("c/new", json!({"x": 1}))["created"], true);
        assert_eq!((fixture.read("a").as_str(), fixture.read("b").as_str()), ("one\ntwo\nthree\nfour\n", "one\r\ntwo\r\n"));
        assert_eq!(fixture.read("c/new"), "{\n  \"x\": 1\n}\n");
        fixture.call("append_file", json!({"path": "a", "content": "x", "exact": true})).unwrap();
        assert!(fixture.read("a").ends_with("four\nx"));
    }

    #[test]
    fn the_preview_is_the_difference() {
        let fixture = Fixture::new(&[("a", "one")]);
        let args = json!({"path": "a", "content": "two"});
        let shown = fixture.registry.get("append_file").unwrap().preview(&args, &fixture.context).unwrap();
        assert_eq!(shown, Preview::Diff { path: "a".into(), before: Some("one".into()), after: "one\ntwo\n".into() });
        assert!(fixture.call("append_file", json!({"path": ".git/x", "content": ""})).unwrap_err().nothing_began);
    }

    #[test]
    fn bytes_that_are_no_text_stay_as_they_are() {
        let fixture = Fixture::new(&[]);
        std::fs::write(fixture.path().join("latin"), b"caf\xe9").unwrap();
        fixture.call("append_file", json!({"path": "latin", "content": "x"})).unwrap();
        assert_eq!(std::fs::read(fixture.path().join("latin")).unwrap(), b"caf\xe9\nx\n");
    }
}

//! `write_file`: a whole file, all of it or nothing.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{FileTool, access, decode, describe};
use crate::engine::Preview;
use crate::plan::{Risk, ToolReach};
use crate::tools::{Assessment, Located, Tool, ToolContext, ToolError, ToolOutput, Workspace};

/// Longest text that a preview shows in bytes.
const SHOWN: u64 = 1 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteFileArgs {
    /// File, relative to the workspace. Directories are made as needed.
    path: String,
    /// The whole new text. Anything that isn't text is written as JSON.
    #[schemars(extend("type" = ["string", "object", "array", "number", "boolean"]))]
    content: Value,
}

pub(super) fn tool() -> impl Tool {
    let description = "Write a whole file of the workspace. Replaces the file if it exists. To change a part, use edit_file.";
    FileTool {
        info: describe::<WriteFileArgs>("write_file", description, Risk::Write, ToolReach::Private),
        assess: |args| Assessment::local(Risk::Write, format!("writes `{}`", args["path"].as_str().unwrap_or_default())),
        work: |workspace, args, _| write(workspace, args),
        preview: Some(|context, args| {
            preview(context, &args.path, |_| {
                let workspace = Workspace::new(&context.workspace)?;
                loses_nothing(&workspace, &workspace.locate_for_writing(&args.path)?, text(&args.content))
            })
        }),
    }
}

fn write(workspace: &Workspace, args: &WriteFileArgs) -> Result<ToolOutput, ToolError> {
    let at = workspace.locate_for_writing(&args.path)?;
    let text = loses_nothing(workspace, &at, text(&args.content))?;
    let created = !workspace.absolute(&at).exists();
    workspace.write(&at, text.as_bytes())?;
    let value = json!({"path": at.display(), "bytes": text.len(), "created": created});
    Ok(ToolOutput::of(value, vec![access(at.display(), "write", Some(&text))]))
}

/// Longest file that is compared with what was read of it.
const COMPARED: u64 = 64 << 20;

/// A text, unless it is what was read of a file that is no UTF-8: writing that back would lose characters which no difference shows.
fn loses_nothing(workspace: &Workspace, at: &Located, text: String) -> Result<String, ToolError> {
    let is_file = workspace.absolute(at).symlink_metadata().is_ok_and(|found| found.is_file());
    if text.contains(char::REPLACEMENT_CHARACTER)
        && is_file
        && workspace.read(at, COMPARED)?.is_none_or(|bytes| std::str::from_utf8(&bytes).is_err())
    {
        let message =
            format!("`{}` is not UTF-8 text: this would write `\u{fffd}` in place of characters that were read from it", at.display());
        return Err(ToolError::refused(message).hint("convert the file first, such as with `iconv`, or write another file"));
    }
    Ok(text)
}

/// The text that a value is written as.
pub(super) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        other => format!("{other:#}\n"),
    }
}

/// The difference that a write would make, or why it would be refused. `after` gives the new text from the old.
pub(super) fn preview(context: &ToolContext, path: &str, after: impl FnOnce(Option<&str>) -> Result<String, ToolError>) -> Preview {
    let attempt = || {
        let workspace = Workspace::new(&context.workspace)?;
        let at = workspace.locate_for_writing(path)?;
        let before = match workspace.absolute(&at).symlink_metadata() {
            Ok(_) => Some(current(&workspace, &at)?),
            Err(_) => None,
        };
        Ok(Preview::Diff { path: at.display(), after: after(before.as_deref())?, before })
    };
    attempt().unwrap_or_else(|error: ToolError| Preview::Text(format!("this would be refused: {error}")))
}

/// The text of a file as it is now.
pub(super) fn current(workspace: &Workspace, at: &Located) -> Result<String, ToolError> {
    let shown = at.display();
    let Some(bytes) = workspace.read(at, SHOWN)? else {
        return Ok(format!("({shown} is longer than 1 MiB; the old text is not shown)\n"));
    };
    Ok(decode(bytes, &shown).unwrap_or_else(|_| format!("({shown} is a binary file)\n")))
}

#[cfg(test)]
mod tests {
    use crate::engine::Preview;
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::{Value, json};

    fn preview(fixture: &Fixture, args: Value) -> Preview {
        fixture.registry.get("write_file").unwrap().preview(&args, &fixture.context).unwrap()
    }

    #[test]
    fn a_file_is_made_and_written_over() {
        let fixture = Fixture::new(&[]);
        let first = fixture.call("write_file", json!({"path": "out/a.md", "content": "one"})).unwrap();
        assert_eq!(first.value, json!({"path": "out/a.md", "bytes": 3, "created": true}));
        assert_eq!((first.files[0].operation.as_str(), first.files[0].content_preview.as_deref()), ("write", Some("one")));
        let second = fixture.call("write_file", json!({"path": "out/a.md", "content": "two"})).unwrap();
        assert_eq!(second.value["created"], false);
        assert_eq!(fixture.read("out/a.md"), "two");
    }

    #[test]
    fn what_is_no_text_is_written_as_json() {
        let fixture = Fixture::new(&[]);
        fixture.call("write_file", json!({"path": "a.json", "content": {"a": [1]}})).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&fixture.read("a.json")).unwrap(), json!({"a": [1]}));
    }

    #[test]
    fn nothing_is_written_outside_and_nothing_began() {
        let fixture = Fixture::new(&[]);
        for path in ["../evil", "/tmp/evil", ".git/config", "."] {
            assert!(fixture.call("write_file", json!({"path": path, "content": "x"})).unwrap_err().nothing_began, "{path}");
        }
    }

    #[test]
    fn the_preview_is_the_exact_difference_and_has_no_effect() {
        let fixture = Fixture::new(&[("a.txt", "old\n")]);
        let args = json!({"path": "a.txt", "content": "new\n"});
        let expected = Preview::Diff { path: "a.txt".into(), before: Some("old\n".into()), after: "new\n".into() };
        assert_eq!(preview(&fixture, args), expected);
        assert_eq!(fixture.read("a.txt"), "old\n");
        let new = preview(&fixture, json!({"path": "b/c.txt", "content": "x"}));
        assert_eq!(new, Preview::Diff { path: "b/c.txt".into(), before: None, after: "x".into() });
        assert!(!fixture.path().join("b").exists());
    }

    #[test]
    fn the_preview_says_when_a_write_would_be_refused() {
        let fixture = Fixture::new(&[]);
        let refused = preview(&fixture, json!({"path": "../x", "content": "x"}));
        assert_eq!(refused, Preview::Text("this would be refused: `../x` leads outside the workspace".into()));
    }

    #[test]
    fn what_was_read_of_a_file_that_is_no_utf_8_is_not_written_over_it() {
        let fixture = Fixture::new(&[("a", "")]);
        std::fs::write(fixture.path().join("a"), b"M\xfcller\nx\n").unwrap();
        let read = fixture.call("read_file", json!({"path": "a"})).unwrap().value;
        let args = json!({"path": "a", "content": read.as_str().unwrap().replace('x', "y")});
        let error = fixture.call("write_file", args.clone()).unwrap_err();
        assert!(error.message.starts_with("`a` is not UTF-8 text"), "{error}");
        assert!(matches!(preview(&fixture, args.clone()), Preview::Text(text) if text.contains("would be refused")));
        assert_eq!(std::fs::read(fixture.path().join("a")).unwrap(), b"M\xfcller\nx\n");
        fixture.call("write_file", json!({"path": "a", "content": "Miller"})).unwrap();
        fixture.call("write_file", json!({"path": "b", "content": read})).unwrap();
    }
}

//! `edit_file`: replaces an exact text of a file that occurs once, or every occurrence of it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{FileTool, access, describe, write_file};
use crate::plan::{Risk, ToolReach};
use crate::tools::{Assessment, Tool, ToolError, ToolOutput, Workspace};

/// Largest file in bytes.
const CAP: u64 = 16 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditFileArgs {
    /// File, relative to the workspace.
    path: String,
    /// Text to replace, exactly as in the file, with enough around it to occur only once.
    #[schemars(length(min = 1))]
    old_string: String,
    /// Text to put in its place.
    new_string: String,
    /// Replace every occurrence. Default: false.
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn tool() -> impl Tool {
    let description =
        "Change a part of a text file of the workspace: replaces `old_string`, which must occur exactly once, by `new_string`.";
    FileTool {
        info: describe::<EditFileArgs>("edit_file", description, Risk::Write, ToolReach::Private),
        assess: |args| Assessment::local(Risk::Write, format!("changes `{}`", args["path"].as_str().unwrap_or_default())),
        work: |workspace, args, _| edit(workspace, args),
        preview: Some(|context, args| {
            write_file::preview(context, &args.path, |before| {
                let before = before.ok_or_else(|| ToolError::refused(format!("there is no file `{}`", args.path)))?;
                replace(before, args).map(|(after, _)| after)
            })
        }),
    }
}

fn edit(workspace: &Workspace, args: &EditFileArgs) -> Result<ToolOutput, ToolError> {
    let at = workspace.locate_for_writing(&args.path)?;
    let shown = at.display();
    let _changing = workspace.changing()?;
    let bytes = workspace.read(&at, CAP)?.ok_or_else(|| ToolError::refused(format!("`{shown}` is longer than 16 MiB")))?;
    // Replacing bytes that are no text would damage them on the way back.
    let before = String::from_utf8(bytes).map_err(|_| ToolError::refused(format!("`{shown}` is not UTF-8 text")))?;
    let (after, replacements) = replace(&before, args)?;
    workspace.write(&at, after.as_bytes())?;
    let value = json!({"path": shown, "replacements": replacements});
    Ok(ToolOutput::of(value, vec![access(shown.clone(), "read", Some(&before)), access(shown, "write", Some(&after))]))
}

/// The new text and the number of replacements.
fn replace(before: &str, args: &EditFileArgs) -> Result<(String, usize), ToolError> {
    let path = &args.path;
    if args.old_string == args.new_string {
        return Err(ToolError::refused("`old_string` and `new_string` are the same"));
    }
    match (before.matches(&args.old_string).count(), args.replace_all) {
        (0, _) => Err(ToolError::refused(format!("`old_string` does not occur in `{path}`"))
            .hint("read the file again: spaces, tabs and line ends must match exactly")),
        (found @ 2.., false) => Err(ToolError::refused(format!("`old_string` occurs {found} times in `{path}`"))
            .hint("give more of the text around it, or set `replace_all`")),
        (found, _) => Ok((before.replace(&args.old_string, &args.new_string), found)),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Preview;
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::json;

    #[test]
    fn one_occurrence_is_replaced() {
        let fixture = Fixture::new(&[("a.txt", "one two three")]);
        let args = json!({"path": "a.txt", "old_string": "two", "new_string": "2"});
        let preview = fixture.registry.get("edit_file").unwrap().preview(&args, &fixture.context).unwrap();
        let expected = Preview::Diff { path: "a.txt".into(), before: Some("one two three".into()), after: "one 2 three".into() };
        assert_eq!(preview, expected);
        assert_eq!(fixture.call("edit_file", args).unwrap().value, json!({"path": "a.txt", "replacements": 1}));
        assert_eq!(fixture.read("a.txt"), "one 2 three");
    }

    #[test]
    fn text_that_is_missing_or_occurs_twice_changes_nothing() {
        let fixture = Fixture::new(&[("a.txt", "x x")]);
        let edit = |old: &str, new: &str| {
            fixture.call("edit_file", json!({"path": "a.txt", "old_string": old, "new_string": new})).unwrap_err().message
        };
        assert_eq!(edit("y", "z"), "`old_string` does not occur in `a.txt`");
        assert_eq!(edit("x", "z"), "`old_string` occurs 2 times in `a.txt`");
        assert_eq!(edit("x", "x"), "`old_string` and `new_string` are the same");
        assert!(edit("", "z").starts_with("wrong arguments"));
        assert_eq!(fixture.read("a.txt"), "x x");
    }

    #[test]
    fn every_occurrence_is_replaced_on_demand() {
        let fixture = Fixture::new(&[("a.txt", "x x")]);
        let args = json!({"path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true});
        assert_eq!(fixture.call("edit_file", args).unwrap().value["replacements"], 2);
        assert_eq!(fixture.read("a.txt"), "y y");
    }

    #[test]
    fn a_file_that_is_not_text_is_left_alone() {
        let fixture = Fixture::new(&[]);
        std::fs::write(fixture.path().join("latin"), b"caf\xe9 x").unwrap();
        let args = json!({"path": "latin", "old_string": "x", "new_string": "y"});
        assert_eq!(fixture.call("edit_file", args).unwrap_err().message, "`latin` is not UTF-8 text");
    }
}

//! `read_file`: text of a file, whole or some lines of it. Never cut silently: what is too large is refused with the way to read a part.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

use super::{FileTool, access, decode, describe};
use crate::engine::DataSource;
use crate::plan::{Risk, ToolReach};
use crate::tools::{Assessment, Tool, ToolError, ToolOutput, Workspace};

/// Longest text in bytes.
const CAP: u64 = 1 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFileArgs {
    /// File, relative to the workspace.
    path: String,
    /// First line to read, counted from 1. Default: the first.
    #[schemars(range(min = 1))]
    from: Option<u64>,
    /// Last line to read. Default: the last.
    #[schemars(range(min = 1))]
    to: Option<u64>,
    /// Read only so many lines at the end.
    #[schemars(range(min = 1))]
    last: Option<usize>,
}

pub(super) fn tool() -> impl Tool {
    let description =
        "Read a text file of the workspace. Gives its text. Files over 1 MiB must be read in parts by `from`, `to` or `last`.";
    FileTool {
        info: describe::<ReadFileArgs>("read_file", description, Risk::Read, ToolReach::Private),
        assess: |args| Assessment::read(format!("reads `{}`", args["path"].as_str().unwrap_or_default())),
        work: |workspace, args, _| read(workspace, args),
        preview: None,
    }
}

fn read(workspace: &Workspace, args: &ReadFileArgs) -> Result<ToolOutput, ToolError> {
    let at = workspace.locate(&args.path)?;
    let shown = at.display();
    let file = workspace.open(&at)?;
    let failed = |cause: std::io::Error| ToolError::failed(format!("`{shown}` can't be read: {cause}"));
    let bytes = match (args.from, args.to, args.last) {
        (None, None, None) => {
            let mut bytes = Vec::new();
            file.take(CAP + 1).read_to_end(&mut bytes).map_err(failed)?;
            bytes
        }
        (None, None, Some(count)) => last(file, count).map_err(failed)?,
        (_, _, Some(_)) => return Err(ToolError::refused("`last` can't be combined with `from` or `to`")),
        (from, to, None) => {
            let (from, to) = (from.unwrap_or(1), to.unwrap_or(u64::MAX));
            if from > to {
                return Err(ToolError::refused(format!("`from` is {from} and `to` is {to}: the first line is after the last one")));
            }
            lines(file, from, to - from + 1).map_err(failed)?
        }
    };
    // A binary file is named as such, however large it is.
    let size = bytes.len() as u64;
    let text = decode(bytes, &shown)?;
    if size > CAP {
        return Err(ToolError::refused(format!("`{shown}` is longer than 1 MiB")).hint("read a part of it with `from`, `to` or `last`"));
    }
    Ok(ToolOutput {
        files: vec![access(shown.clone(), "read", Some(&text))],
        sources: vec![DataSource { kind: "file".into(), identifier: shown, query: None }],
        value: Value::from(text),
    })
}

/// Bytes of some lines; stops past the cap.
fn lines(file: std::fs::File, from: u64, count: u64) -> std::io::Result<Vec<u8>> {
    let mut reader = BufReader::new(file);
    let mut skipped = 1;
    while skipped < from && reader.skip_until(b'\n')? > 0 {
        skipped += 1;
    }
    let mut bytes = Vec::new();
    for _ in 0..count {
        let room = (CAP + 1).saturating_sub(bytes.len() as u64);
        if room == 0 || reader.by_ref().take(room).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// Bytes of the last lines; more than the cap when they begin further up.
fn last(mut file: std::fs::File, count: usize) -> std::io::Result<Vec<u8>> {
    let start = file.metadata()?.len().saturating_sub(CAP + 1);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(CAP + 1).read_to_end(&mut bytes)?;
    let ends = bytes.iter().enumerate().rev().skip(usize::from(bytes.ends_with(b"\n"))).filter(|(_, byte)| **byte == b'\n');
    let first = ends.map(|(at, _)| at + 1).nth(count - 1);
    Ok(first.map_or(bytes.clone(), |at| bytes.split_off(at)))
}

#[cfg(test)]
mod tests {
    use crate::text::TEXT_CUT;
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::json;

    #[test]
    fn a_file_is_read_whole_or_by_lines_with_its_lineage() {
        let fixture = Fixture::new(&[("src/a.txt", "one\ntwo\nthree")]);
        let output = fixture.call("read_file", json!({"path": "src/a.txt"})).unwrap();
        assert_eq!(output.value, json!("one\ntwo\nthree"));
        assert_eq!((output.files[0].path.as_str(), output.files[0].operation.as_str()), ("src/a.txt", "read"));
        let part = |args| fixture.call("read_file", args).unwrap().value;
        assert_eq!(part(json!({"path": "src/a.txt", "from": 2, "to": 2})), json!("two\n"));
        assert_eq!(part(json!({"path": "src/a.txt", "from": 3})), json!("three"));
        assert_eq!(part(json!({"path": "src/a.txt", "to": 2})), json!("one\ntwo\n"));
        assert_eq!(part(json!({"path": "src/a.txt", "from": 9})), json!(""));
        assert_eq!(part(json!({"path": "src/a.txt", "last": 2})), json!("two\nthree"));
        assert_eq!(part(json!({"path": "src/a.txt", "last": 9})), json!("one\ntwo\nthree"));
        let wrong = |args| fixture.call("read_file", args).unwrap_err().message;
        assert_eq!(
            wrong(json!({"path": "src/a.txt", "from": 3, "to": 2})),
            "`from` is 3 and `to` is 2: the first line is after the last one"
        );
        assert!(wrong(json!({"path": "src/a.txt", "from": 3, "last": 2})).contains("can't be combined"));
    }

    #[test]
    fn the_preview_has_a_hundred_characters() {
        let fixture = Fixture::new(&[("a", &"ä".repeat(500))]);
        let output = fixture.call("read_file", json!({"path": "a"})).unwrap();
        assert_eq!(output.files[0].content_preview.as_ref().unwrap(), &format!("{}{TEXT_CUT}", "ä".repeat(100)));
    }

    #[test]
    fn binary_huge_and_foreign_files_are_refused_with_a_way_out() {
        let fixture = Fixture::new(&[("bin", "a\0b"), ("huge", &"line\n".repeat(300_000))]);
        let refused = |path: &str| fixture.call("read_file", json!({"path": path})).unwrap_err();
        assert_eq!(refused("bin").message, "`bin` is a binary file");
        assert!(refused("huge").hint.unwrap().contains("`from`"));
        assert!(refused("../x").message.contains("outside the workspace"));
        let part = fixture.call("read_file", json!({"path": "huge", "from": 299_999})).unwrap();
        assert_eq!(part.value, json!("line\nline\n"));
        let end = fixture.call("read_file", json!({"path": "huge", "last": 2})).unwrap();
        assert_eq!(end.value, json!("line\nline\n"));
        assert!(fixture.call("read_file", json!({"path": "huge", "from": 1})).is_err());
        assert!(fixture.call("read_file", json!({"path": "huge", "last": 299_000})).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let fixture = Fixture::new(&[]);
        std::fs::write(fixture.path().join("latin"), b"caf\xe9").unwrap();
        assert_eq!(fixture.call("read_file", json!({"path": "latin"})).unwrap().value, json!("caf\u{fffd}"));
    }
}

//! `delete_file`: files, links and folders go. What a folder holds goes only when the call says so; a link goes itself, never what it leads to.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    AbandonFlag, FileTool, arguments, describe,
    paths::{Amount, Paths, listed, paths_schema, touched},
};
use crate::plan::{Risk, ToolReach};
use crate::text::bytes;
use crate::tools::{Assessment, Entry, EntryKind, Located, Tool, ToolError, ToolOutput, Workspace};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteFileArgs {
    /// File or directory, relative to the workspace; or a list of them.
    #[schemars(schema_with = "paths_schema")]
    path: Paths,
    /// Delete directories with all that is in them. Default: false.
    #[serde(default)]
    recursive: bool,
}

pub(super) fn tool() -> impl Tool {
    let description = "Delete files and directories of the workspace. A directory that isn't empty needs `recursive`. \
                     Gives {deleted: [path], files, directories, bytes}.";
    FileTool {
        info: describe::<DeleteFileArgs>("delete_file", description, Risk::Write, ToolReach::Private),
        assess: |args| {
            let paths = arguments::<DeleteFileArgs>(args.clone()).map(|args| args.path.label()).unwrap_or_default();
            Assessment::local(Risk::Write, format!("deletes {paths}"))
        },
        work: delete,
        preview: Some(|context, args| {
            listed(context, |workspace| {
                let doomed = doomed(workspace, args)?;
                let entries = || doomed.iter().flat_map(|(_, entries)| entries);
                let line = |entry: &Entry| match entry.kind {
                    EntryKind::File => format!("- {}  ({})", entry.at.display(), bytes(entry.bytes)),
                    EntryKind::Directory => format!("- {}/", entry.at.display()),
                    EntryKind::Link => format!("- {}  (link)", entry.at.display()),
                };
                Ok((format!("delete {}", Amount::of(entries()).label()), entries().map(line).collect()))
            })
        }),
    }
}

fn delete(workspace: &Workspace, args: &DeleteFileArgs, stop: &AbandonFlag) -> Result<ToolOutput, ToolError> {
    let doomed = doomed(workspace, args)?;
    for (at, _) in &doomed {
        stop.check()?;
        workspace.remove(at)?;
    }
    let amount = Amount::of(doomed.iter().flat_map(|(_, entries)| entries));
    let deleted: Vec<String> = doomed.iter().map(|(at, _)| at.display()).collect();
    let value = json!({"deleted": deleted, "files": amount.files, "directories": amount.directories, "bytes": amount.bytes});
    Ok(ToolOutput::of(value, doomed.iter().flat_map(|(_, entries)| touched(entries, "delete")).collect()))
}

/// What goes, with all below it, checked; a path below another one goes with that.
fn doomed(workspace: &Workspace, args: &DeleteFileArgs) -> Result<Vec<(Located, Vec<Entry>)>, ToolError> {
    let mut all = Vec::new();
    for path in args.path.all() {
        let at = workspace.locate_entry(path)?;
        let entries = workspace.entries(&at)?;
        if entries.len() > 1 && !args.recursive {
            let amount = Amount::of(entries.iter().skip(1)).label();
            return Err(ToolError::refused(format!("`{}` is not empty: it holds {amount}", at.display()))
                .hint("set `recursive` to delete it with all that is in it"));
        }
        all.push((at, entries));
    }
    let places: Vec<Located> = all.iter().map(|(at, _)| at.clone()).collect();
    let covered = |nth: usize, at: &Located| {
        let above = |(other, place): (usize, &Located)| workspace.is_within(at, place) && (place != at || other < nth);
        places.iter().enumerate().any(above)
    };
    let mut nth = 0..;
    all.retain(|(at, _)| !covered(nth.next().unwrap_or_default(), at));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use crate::engine::Preview;
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::{Value, json};
    use std::{fs, os::unix::fs::symlink};

    fn fixture() -> Fixture {
        Fixture::new(&[
            ("a.txt", "one"),
            ("tmp/b.txt", "three"),
            ("tmp/in/c.txt", "x"),
            ("repo/.git/config", "x"),
            (".dagdeck/config.toml", ""),
        ])
    }

    fn preview(fixture: &Fixture, args: &Value) -> Preview {
        fixture.registry.get("delete_file").unwrap().preview(args, &fixture.context).unwrap()
    }

    #[test]
    fn a_file_is_deleted_and_the_lineage_says_so() {
        let fixture = fixture();
        let output = fixture.call("delete_file", json!({"path": "a.txt"})).unwrap();
        assert_eq!(output.value, json!({"deleted": ["a.txt"], "files": 1, "directories": 0, "bytes": 3}));
        assert_eq!((output.files[0].path.as_str(), output.files[0].operation.as_str()), ("a.txt", "delete"));
        assert!(!fixture.path().join("a.txt").exists());
    }

    #[test]
    fn a_folder_that_is_not_empty_goes_only_when_the_call_says_so() {
        let fixture = fixture();
        let error = fixture.call("delete_file", json!({"path": "tmp"})).unwrap_err();
        assert_eq!(error.message, "`tmp` is not empty: it holds 2 files (6 B) and 1 directory");
        let args = json!({"path": ["tmp", "tmp/b.txt", "a.txt", "a.txt"], "recursive": true});
        let shown = "delete 3 files (9 B) and 2 directories\n- tmp/\n- tmp/b.txt  (5 B)\n- tmp/in/\n- tmp/in/c.txt  (1 B)\n- a.txt  (3 B)";
        assert_eq!(preview(&fixture, &args), Preview::Text(shown.into()));
        assert_eq!(fixture.call("delete_file", args).unwrap().value["deleted"], json!(["tmp", "a.txt"]));
        assert!(!fixture.path().join("tmp").exists());
    }

    #[test]
    fn one_wrong_path_and_nothing_is_deleted() {
        let fixture = fixture();
        for path in ["ghost", ".", "./", "tmp/..", "../x", "repo", "repo/.git", ".dagdeck", ".dagdeck/config.toml", "/etc/hostname"] {
            let error = fixture.call("delete_file", json!({"path": ["a.txt", path], "recursive": true})).unwrap_err();
            assert!(error.nothing_began, "{path}");
        }
        assert_eq!(fixture.read("a.txt"), "one");
        assert_eq!(fixture.call("delete_file", json!({"path": []})).unwrap().value["files"], 0);
    }

    #[test]
    fn a_link_goes_and_what_it_leads_to_stays() {
        let fixture = fixture();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        symlink(outside.path(), fixture.path().join("tmp/away")).unwrap();
        symlink("a.txt", fixture.path().join("near")).unwrap();
        symlink("nowhere", fixture.path().join("broken")).unwrap();
        fixture.call("delete_file", json!({"path": ["near", "broken", "tmp"], "recursive": true})).unwrap();
        assert!(fixture.path().join("a.txt").exists() && outside.path().join("kept").exists());
        assert!(!fixture.path().join("tmp").exists());
    }
}

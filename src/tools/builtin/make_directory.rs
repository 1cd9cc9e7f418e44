//! `make_directory`: folders, with those above them. One that is there already is no error.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    FileTool, access, arguments, describe,
    paths::{Paths, listed, paths_schema},
};
use crate::plan::{Risk, ToolReach};
use crate::tools::{Assessment, EntryKind, Located, Tool, ToolError, ToolOutput, Workspace};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MakeDirectoryArgs {
    /// Directory, relative to the workspace; or a list of them. Those above are made as needed.
    #[schemars(schema_with = "paths_schema")]
    path: Paths,
}

pub(super) fn tool() -> impl Tool {
    let description = "Make directories in the workspace. Gives {created: [path]}: those that were not there.";
    FileTool {
        info: describe::<MakeDirectoryArgs>("make_directory", description, Risk::Write, ToolReach::Private),
        assess: |args| {
            let paths = arguments::<MakeDirectoryArgs>(args.clone()).map(|args| args.path.label()).unwrap_or_default();
            Assessment::local(Risk::Write, format!("makes {paths}"))
        },
        work: |workspace, args, _| make(workspace, args),
        preview: Some(|context, args| {
            listed(context, |workspace| {
                let line = |at: &Located| {
                    let there = if workspace.kind(at).is_some() { "  (is there already)" } else { "" };
                    format!("+ {}/{there}", at.display())
                };
                Ok(("make directories".into(), places(workspace, args)?.iter().map(line).collect()))
            })
        }),
    }
}

fn make(workspace: &Workspace, args: &MakeDirectoryArgs) -> Result<ToolOutput, ToolError> {
    let mut created = Vec::new();
    for at in places(workspace, args)? {
        created.extend(workspace.make(&at)?.iter().map(Located::display));
    }
    let files = created.iter().map(|path| access(path.clone(), "write", None)).collect();
    Ok(ToolOutput::of(json!({"created": created}), files))
}

fn places(workspace: &Workspace, args: &MakeDirectoryArgs) -> Result<Vec<Located>, ToolError> {
    let place = |path: &str| {
        let at = workspace.locate_for_writing(path)?;
        match workspace.kind(&at) {
            None | Some(EntryKind::Directory) => Ok(at),
            Some(_) => Err(ToolError::refused(format!("`{}` is there already, and is not a directory", at.display()))),
        }
    };
    args.path.all().into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use crate::engine::Preview;
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::json;

    #[test]
    fn folders_are_made_with_those_above_and_a_second_time_is_no_error() {
        let fixture = Fixture::new(&[("a.txt", "x")]);
        let args = json!({"path": ["out/deep", "out/other"]});
        let shown = fixture.registry.get("make_directory").unwrap().preview(&args, &fixture.context).unwrap();
        assert_eq!(shown, Preview::Text("make directories\n+ out/deep/\n+ out/other/".into()));
        assert!(!fixture.path().join("out").exists());
        assert_eq!(fixture.call("make_directory", args.clone()).unwrap().value, json!({"created": ["out", "out/deep", "out/other"]}));
        assert_eq!(fixture.call("make_directory", args).unwrap().value, json!({"created": []}));
        for path in ["a.txt", "../x", ".git/x", "a.txt/b", "."] {
            assert!(fixture.call("make_directory", json!({"path": ["new", path]})).is_err(), "{path}");
        }
    }
}

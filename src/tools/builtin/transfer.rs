//! `move_file` and `copy_file`: files and folders get another place, or a second one. Every source and target is checked before the first
//! effect; a target that is there is replaced only on demand, a folder never.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    AbandonFlag, FileTool, access, arguments, describe,
    paths::{Amount, Paths, listed, paths_schema, touched},
};
use crate::engine::Preview;
use crate::plan::{Risk, ToolReach};
use crate::tools::{Assessment, Entry, EntryKind, Existing, Located, Tool, ToolContext, ToolError, ToolOutput, Workspace};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TransferArgs {
    /// File or directory, relative to the workspace; or a list of them.
    #[schemars(schema_with = "paths_schema")]
    source: Paths,
    /// New path. If it is a directory or ends with `/`, or if there are several sources: the directory that they go into.
    target: String,
    /// Replace a file that is at the target. Default: false.
    #[serde(default)]
    overwrite: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum TransferKind {
    Move,
    Copy,
}

pub(super) fn moving() -> impl Tool {
    let description = "Move or rename files and directories of the workspace. Gives {moved: [{source, target, overwritten}], files}.";
    FileTool {
        info: describe::<TransferArgs>("move_file", description, Risk::Write, ToolReach::Private),
        assess: |args| TransferKind::Move.assess(args),
        work: |workspace, args, stop| TransferKind::Move.transfer(workspace, args, stop),
        preview: Some(|context, args| TransferKind::Move.preview(context, args)),
    }
}

pub(super) fn copying() -> impl Tool {
    let description =
        "Copy files, and directories with all below them, in the workspace. Gives {copied: [{source, target, overwritten}], files, bytes}.";
    FileTool {
        info: describe::<TransferArgs>("copy_file", description, Risk::Write, ToolReach::Private),
        assess: |args| TransferKind::Copy.assess(args),
        work: |workspace, args, stop| TransferKind::Copy.transfer(workspace, args, stop),
        preview: Some(|context, args| TransferKind::Copy.preview(context, args)),
    }
}

impl TransferKind {
    /// What it does, what it is asked to do, and how a file is touched by it.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Move => ("moves", "move", "move"),
            Self::Copy => ("copies", "copy", "read"),
        }
    }

    fn assess(self, args: &Value) -> Assessment {
        let source = arguments::<TransferArgs>(args.clone()).map(|args| args.source.label()).unwrap_or_default();
        Assessment::local(Risk::Write, format!("{} {source} to `{}`", self.words().0, args["target"].as_str().unwrap_or_default()))
    }

    fn transfer(self, workspace: &Workspace, args: &TransferArgs, stop: &AbandonFlag) -> Result<ToolOutput, ToolError> {
        let steps = steps(workspace, self, args)?;
        let mut output = ToolOutput::default();
        for step in &steps {
            stop.check()?;
            step.run(workspace, self)?;
            output.files.extend(touched(&step.entries, self.words().2));
            output.files.push(access(step.target.display(), "write", None));
        }
        let amount = Amount::of(steps.iter().flat_map(|step| &step.entries));
        let done: Vec<Value> = steps.iter().map(TransferStep::report).collect();
        output.value = match self {
            Self::Move => json!({"moved": done, "files": amount.files}),
            Self::Copy => json!({"copied": done, "files": amount.files, "bytes": amount.bytes}),
        };
        Ok(output)
    }

    fn preview(self, context: &ToolContext, args: &TransferArgs) -> Preview {
        listed(context, |workspace| {
            let steps = steps(workspace, self, args)?;
            let amount = Amount::of(steps.iter().flat_map(|step| &step.entries));
            let lines = steps.iter().map(|step| {
                let replaced = if step.overwritten { "  (replaces the file that is there)" } else { "" };
                format!("{} → {}{replaced}", step.source.display(), step.target.display())
            });
            Ok((format!("{} {}", self.words().1, amount.label()), lines.collect()))
        })
    }
}

/// One source on its way.
struct TransferStep {
    source: Located,
    target: Located,
    /// The source with all below it.
    entries: Vec<Entry>,
    overwritten: bool,
}

impl TransferStep {
    fn run(&self, workspace: &Workspace, kind: TransferKind) -> Result<(), ToolError> {
        let existing = if self.overwritten { Existing::Replace } else { Existing::Refuse };
        match kind {
            TransferKind::Move => workspace.rename(&self.source, &self.target, existing),
            TransferKind::Copy => workspace.copy(&self.source, &self.target, existing),
        }
    }

    fn report(&self) -> Value {
        json!({"source": self.source.display(), "target": self.target.display(), "overwritten": self.overwritten})
    }
}

/// All that is to be done, checked.
fn steps(workspace: &Workspace, kind: TransferKind, args: &TransferArgs) -> Result<Vec<TransferStep>, ToolError> {
    let sources = args.source.all();
    // The workspace itself is a folder to go into.
    let target = workspace.locate(&args.target)?;
    let into = args.target.ends_with('/') || sources.len() > 1 || workspace.kind(&target) == Some(EntryKind::Directory);
    let mut steps: Vec<TransferStep> = Vec::new();
    for source in sources {
        let source = match kind {
            TransferKind::Move => workspace.locate_entry(source)?,
            TransferKind::Copy => workspace.locate_for_writing(source)?,
        };
        let place = if into { workspace.inside(&target, &source) } else { target.clone() };
        let step = step(workspace, source, &place, args.overwrite)?;
        let clash = |other: &TransferStep| {
            other.target == step.target
                || workspace.is_within(&other.source, &step.source)
                || workspace.is_within(&step.source, &other.source)
        };
        if let Some(other) = steps.iter().find(|other| clash(other)) {
            let (one, two) = (other.source.display(), step.source.display());
            return Err(ToolError::refused(format!("`{one}` and `{two}` can't both go to `{}`", target.display())));
        }
        steps.push(step);
    }
    Ok(steps)
}

fn step(workspace: &Workspace, source: Located, place: &Located, overwrite: bool) -> Result<TransferStep, ToolError> {
    let target = workspace.locate_entry(&place.display())?;
    let entries = workspace.entries(&source)?;
    let (from, to) = (source.display(), target.display());
    if source == target {
        return Err(ToolError::refused(format!("`{from}` is the source and the target")));
    }
    if workspace.is_within(&target, &source) {
        return Err(ToolError::refused(format!("`{to}` is inside `{from}`")));
    }
    let is_folder = workspace.kind(&source) == Some(EntryKind::Directory);
    match workspace.kind(&target) {
        Some(EntryKind::Directory) => Err(ToolError::refused(format!("`{to}` is there already, and directories are not replaced"))
            .hint("delete it first, or choose another name")),
        Some(_) if is_folder => Err(ToolError::refused(format!("`{to}` is a file, and `{from}` is a directory"))),
        Some(_) if !overwrite => Err(ToolError::refused(format!("`{to}` is there already")).hint("set `overwrite` to replace it")),
        existing => Ok(TransferStep { source, target, entries, overwritten: existing.is_some() }),
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Preview;
    use crate::tools::builtin::fixture::Fixture;
    use serde_json::{Value, json};
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    fn fixture() -> Fixture {
        Fixture::new(&[("a.txt", "one"), ("b.txt", "two"), ("docs/deep/c.md", "three"), ("repo/.git/config", "x"), ("old/a.txt", "before")])
    }

    fn preview(fixture: &Fixture, tool: &str, args: &Value) -> String {
        match fixture.registry.get(tool).unwrap().preview(args, &fixture.context).unwrap() {
            Preview::Text(text) => text,
            Preview::Diff { .. } => unreachable!("a list of what moves"),
        }
    }

    #[test]
    fn a_file_is_moved_with_its_mode_and_new_folders_are_made() {
        let fixture = fixture();
        fs::set_permissions(fixture.path().join("a.txt"), fs::Permissions::from_mode(0o750)).unwrap();
        let args = json!({"source": "a.txt", "target": "new/place/b.txt"});
        assert_eq!(preview(&fixture, "move_file", &args), "move 1 file (3 B)\na.txt → new/place/b.txt");
        let output = fixture.call("move_file", args).unwrap();
        let expected = json!({"moved": [{"source": "a.txt", "target": "new/place/b.txt", "overwritten": false}], "files": 1});
        assert_eq!(output.value, expected);
        let touched: Vec<_> = output.files.iter().map(|file| (file.operation.as_str(), file.path.as_str())).collect();
        assert_eq!(touched, [("move", "a.txt"), ("write", "new/place/b.txt")]);
        assert!(!fixture.path().join("a.txt").exists());
        let mode = fs::metadata(fixture.path().join("new/place/b.txt")).unwrap().permissions().mode();
        assert_eq!((fixture.read("new/place/b.txt").as_str(), mode & 0o777), ("one", 0o750));
    }

    #[test]
    fn a_folder_is_copied_with_all_below_and_its_links_as_links() {
        let fixture = fixture();
        symlink("deep/c.md", fixture.path().join("docs/link")).unwrap();
        fs::set_permissions(fixture.path().join("docs/deep/c.md"), fs::Permissions::from_mode(0o640)).unwrap();
        let output = fixture.call("copy_file", json!({"source": "docs", "target": "copy"})).unwrap().value;
        assert_eq!((&output["files"], &output["bytes"]), (&json!(2), &json!(5)));
        assert_eq!(fixture.read("copy/link"), "three");
        assert!(fixture.path().join("copy/link").symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::metadata(fixture.path().join("copy/deep/c.md")).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fixture.read("docs/deep/c.md"), "three");
        assert!(fs::read_dir(fixture.path()).unwrap().all(|entry| !entry.unwrap().file_name().to_string_lossy().ends_with(".tmp")));
    }

    #[test]
    fn what_is_at_the_target_is_replaced_only_on_demand() {
        let fixture = fixture();
        for tool in ["copy_file", "move_file"] {
            let args = json!({"source": "b.txt", "target": "a.txt"});
            let error = fixture.call(tool, args.clone()).unwrap_err();
            assert_eq!((error.message.as_str(), error.nothing_began), ("`a.txt` is there already", true));
            assert_eq!(preview(&fixture, tool, &args), "this would be refused: `a.txt` is there already");
            let args = json!({"source": "b.txt", "target": "a.txt", "overwrite": true});
            assert!(preview(&fixture, tool, &args).ends_with("b.txt → a.txt  (replaces the file that is there)"));
            fixture.call(tool, args).unwrap();
            assert_eq!(fixture.read("a.txt"), "two");
        }
        assert!(!fixture.path().join("b.txt").exists());
    }

    #[test]
    fn a_target_that_is_a_folder_takes_the_sources_inside() {
        let fixture = fixture();
        fixture.call("move_file", json!({"source": "b.txt", "target": "old"})).unwrap();
        assert_eq!(fixture.read("old/b.txt"), "two");
        fixture.call("copy_file", json!({"source": [{"path": "a.txt", "size": 3}, "old/b.txt"], "target": "fresh"})).unwrap();
        assert_eq!((fixture.read("fresh/a.txt").as_str(), fixture.read("fresh/b.txt").as_str()), ("one", "two"));
        fixture.call("move_file", json!({"source": "fresh/b.txt", "target": "."})).unwrap();
        assert_eq!(fixture.read("b.txt"), "two");
        assert_eq!(fixture.call("move_file", json!({"source": [], "target": "old"})).unwrap().value, json!({"moved": [], "files": 0}));
    }

    #[test]
    fn one_wrong_source_and_nothing_moves() {
        let fixture = fixture();
        let refused = |args: Value| {
            let error = fixture.call("move_file", args).unwrap_err();
            assert!(error.nothing_began);
            error.message
        };
        assert_eq!(refused(json!({"source": ["b.txt", "ghost"], "target": "new"})), "there is no file `ghost`");
        assert_eq!(refused(json!({"source": ["b.txt", "a.txt"], "target": "old"})), "`old/a.txt` is there already");
        assert_eq!(refused(json!({"source": ["a.txt", "old/a.txt"], "target": "new"})), "`a.txt` and `old/a.txt` can't both go to `new`");
        assert_eq!(refused(json!({"source": "docs", "target": "docs/deep"})), "`docs/deep/docs` is inside `docs`");
        assert_eq!(refused(json!({"source": "a.txt", "target": "./a.txt"})), "`a.txt` is the source and the target");
        assert_eq!(refused(json!({"source": "docs", "target": "a.txt"})), "`a.txt` is a file, and `docs` is a directory");
        assert!(refused(json!({"source": "repo", "target": "moved"})).contains("`repo/.git` is there"));
        assert!(refused(json!({"source": "a.txt", "target": "repo/.git/x"})).contains(".git"));
        assert!(refused(json!({"source": "a.txt", "target": "../x"})).contains("outside"));
        assert!(refused(json!({"source": ".", "target": "x"})).contains("the workspace itself"));
        assert_eq!((fixture.read("a.txt").as_str(), fixture.read("b.txt").as_str()), ("one", "two"));
        assert!(!fixture.path().join("new").exists());
    }

    #[test]
    fn a_link_that_leaves_is_moved_itself_and_never_copied_through() {
        let fixture = fixture();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        symlink(outside.path(), fixture.path().join("link")).unwrap();
        assert!(fixture.call("copy_file", json!({"source": "link/secret", "target": "x"})).is_err());
        assert!(fixture.call("move_file", json!({"source": "a.txt", "target": "link/x"})).is_err());
        fixture.call("move_file", json!({"source": "link", "target": "other"})).unwrap();
        assert!(fixture.path().join("other").symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}

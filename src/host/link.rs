//! Reads the plans that a plan names by file (`plan: "sub.yaml"`), so that everything after this sees them in their places. A path is
//! relative to the folder of the file that names it, and stays inside the folder of the first one: a plan can't read what stands elsewhere.

use crate::plan::{
    Plan, PlanWork, Work,
    dialect::{self, ReadError},
    native::MAX_DEPTH,
};
use std::path::{Component, Path, PathBuf};

/// The largest file that is read as a plan, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Loads every plan that `plan` names by file, at any depth. `folder` is that of the plan's own file.
///
/// # Errors
/// The first file that can't be read or is no plan; plans loaded until then stay.
pub fn link(plan: &mut Plan, folder: &Path) -> Result<(), ReadError> {
    within(plan, folder, Path::new(""), 0)
}

/// `at` is the folder, inside `root`, of the file that `plan` stands in.
fn within(plan: &mut Plan, root: &Path, at: &Path, depth: usize) -> Result<(), ReadError> {
    for (i, node) in plan.nodes.iter_mut().enumerate() {
        if let Work::Plan(PlanWork::File { path, loaded }) = &mut node.work {
            let fail =
                |message: String| ReadError { origin: path.clone(), at: None, path: format!("nodes[{i}].plan"), shape: None, message };
            if depth >= MAX_DEPTH {
                return Err(fail(format!("plans can stand {MAX_DEPTH} deep in each other, no deeper; does a plan name itself?")));
            }
            let file = inside(&at.join(path.as_str())).ok_or_else(|| fail("a plan's file must stand in the folder of the plan".into()))?;
            if loaded.is_none() {
                let text = read(root, &file).map_err(fail)?;
                let (body, _) = dialect::read(&text, path)?;
                *loaded = Some(Box::new(body));
            }
            if let Some(body) = loaded {
                within(body, root, file.parent().unwrap_or(Path::new("")), depth + 1)?;
            }
        } else if let Some(body) = node.work.body_mut() {
            within(body, root, at, depth)?;
        }
    }
    Ok(())
}

/// The path without `.` and `..`; `None` when it leads out.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

/// The plan in a file, with those that it names.
pub(super) fn open(file: &Path) -> Result<Plan, String> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Err("is no file".into()) };
    let text = read(folder, Path::new(name))?;
    let (mut plan, _) = dialect::read(&text, &name.to_string_lossy()).map_err(|error| error.to_string())?;
    link(&mut plan, folder).map_err(|error| error.to_string())?;
    Ok(plan)
}

fn read(root: &Path, file: &Path) -> Result<String, String> {
    let told = |error: std::io::Error| format!("can't be read: {error}");
    let whole = root.join(file).canonicalize().map_err(told)?;
    let root = root.canonicalize().map_err(told)?;
    if !whole.starts_with(&root) {
        return Err("a plan's file must stand in the folder of the plan, and this is a link that leads out".into());
    }
    let known = std::fs::metadata(&whole).map_err(told)?;
    if !known.is_file() {
        return Err("is no file".into());
    }
    if known.len() > MOST_BYTES {
        return Err(format!("is larger than {} MiB, which no plan is", MOST_BYTES >> 20));
    }
    std::fs::read_to_string(&whole).map_err(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        folder
    }

    fn linked(folder: &tempfile::TempDir, plan: &str) -> Result<Plan, String> {
        let (mut plan, _) = dialect::read(plan, "plan.json").unwrap();
        link(&mut plan, folder.path()).map(|()| plan).map_err(|error| error.to_string())
    }

    #[test]
    fn a_plan_in_a_file_is_read_relative_to_the_file_that_names_it() {
        let folder = folder(&[
            ("sub/a.json", r#"{"nodes": [{"id": "b", "plan": "deep/c.json"}]}"#),
            ("sub/deep/c.json", r#"{"nodes": [{"id": "d", "value": 1}]}"#),
        ]);
        let plan = linked(&folder, r#"{"nodes": [{"id": "a", "plan": "sub/a.json"}]}"#).unwrap();
        let flat = crate::plan::nest::outline(&plan);
        assert_eq!(flat.nodes.iter().map(|node| node.id.as_str()).collect::<Vec<_>>(), ["a", "a/b", "a/b/d"]);
        let written = serde_json::to_value(&plan).unwrap();
        assert_eq!(written["nodes"][0]["plan"], "sub/a.json", "what was loaded is not written");
    }

    #[test]
    fn a_file_that_is_no_plan_leads_out_or_names_itself_is_told() {
        let folder = folder(&[("self.json", r#"{"nodes": [{"id": "a", "plan": "self.json"}]}"#), ("bad.json", "{\n  \"nodes\": 3}")]);
        let error = |path: &str| linked(&folder, &format!(r#"{{"nodes": [{{"id": "a", "plan": "{path}"}}]}}"#)).unwrap_err();
        assert!(error("none.json").starts_with("none.json: `nodes[0].plan`: can't be read"), "{}", error("none.json"));
        assert_eq!(error("../x.json"), "../x.json: `nodes[0].plan`: a plan's file must stand in the folder of the plan");
        assert_eq!(error("/etc/passwd"), "/etc/passwd: `nodes[0].plan`: a plan's file must stand in the folder of the plan");
        assert_eq!(error("bad.json"), "bad.json:2:12: `nodes`: must be a list, not a number");
        assert!(error("self.json").ends_with("does a plan name itself?"));
    }
}

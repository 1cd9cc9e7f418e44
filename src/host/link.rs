//! Reads the plans that a plan names by file (`plan: "sub.yaml"`), so that everything after this sees them in their places. A path is
//! relative to the folder of the file that names it, and stays inside the folder of the first one: a plan can't read what stands elsewhere.

use crate::files;
use crate::plan::{
    Dialect, NodeKind, Plan, SubplanNode, dialect,
    native::{MAX_DEPTH, MAX_NODES},
};
use std::collections::{HashMap, hash_map::Entry};
use std::path::{Component, Path, PathBuf};

/// A file that a plan names, as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// The native place of the node that names it, from the outermost plan on: `nodes[2]`.
    pub place: String,
    /// Where it stands, from the folder of the outermost plan on.
    pub file: PathBuf,
    /// What stands in it.
    pub text: String,
    /// The form that it is in.
    pub shape: Dialect,
}

/// Loads every plan that `plan` names by file, at any depth, and gives the files that were read. `origin` is the plan's own file, as people
/// call it, and `folder` where it is. A node whose file can't be read or is no plan says so, for validation to tell; the others are loaded.
pub fn link(plan: &mut Plan, origin: &str, folder: &Path) -> Vec<Linked> {
    let own = Path::new(origin).file_name().map(PathBuf::from);
    let mut linker = Linker {
        root: folder,
        open: own.into_iter().collect(),
        linked: Vec::new(),
        read: HashMap::new(),
        sizes: HashMap::new(),
        nodes: 0,
        is_full: false,
    };
    linker.within(plan, "");
    linker.linked
}

struct Linker<'r> {
    root: &'r Path,
    /// Files that are being read, each of which names the next one; the paths are those inside of `root`.
    open: Vec<PathBuf>,
    linked: Vec<Linked>,
    /// What was read of each file by the name that a plan gave it: one that is named many times is read once.
    read: HashMap<(PathBuf, String), (String, Plan, Dialect)>,
    /// How many nodes the plan of each file has with those that it names in turn; nothing while that is counted.
    sizes: HashMap<PathBuf, Option<usize>>,
    /// Nodes of all plans so far: a file that is named in several places counts in each.
    nodes: usize,
    /// They were too many, which is reported once; what is named after that is not read.
    is_full: bool,
}

impl Linker<'_> {
    /// `place` is what comes before the places of the plan's nodes, from the outermost plan on.
    fn within(&mut self, plan: &mut Plan, place: &str) {
        self.nodes += plan.nodes.len();
        for (i, node) in plan.nodes.iter_mut().enumerate() {
            let whole = format!("{place}nodes[{i}]");
            let field = if matches!(node.kind, NodeKind::Subplan(_)) { "plan" } else { "body" };
            if self.is_full {
                return;
            }
            if let NodeKind::Subplan(SubplanNode::File { path, loaded }) = &mut node.kind {
                let problem = self.file(path, loaded, &whole).err();
                dialect::note_unread(node, problem);
            } else if let Some(body) = node.kind.body_mut() {
                self.within(body, &format!("{whole}.{field}."));
            }
        }
    }

    /// `place` is the node that names the file.
    fn file(&mut self, path: &str, loaded: &mut Option<Box<Plan>>, place: &str) -> Result<(), String> {
        let folder = self.open.last().and_then(|file| file.parent()).unwrap_or(Path::new(""));
        let file = inside(&folder.join(path)).ok_or_else(|| format!("{path}: the file must be in the same folder as the plan"))?;
        if self.open.last() == Some(&file) {
            return Err("the plan contains itself".into());
        }
        if let Some(first) = self.open.iter().position(|open| *open == file) {
            let names = self.open[first..].iter().chain([&file]).map(|file| file.display().to_string());
            return Err(format!("the plan contains itself: {}", names.collect::<Vec<_>>().join(" → ")));
        }
        if self.open.len() > MAX_DEPTH {
            return Err(format!("plans can be nested {MAX_DEPTH} deep at most"));
        }
        if loaded.is_none() {
            let (text, body, shape) = self.parsed(&file, path)?.clone();
            // Before any of it is there: a few small files may stand for more than fits into memory.
            if self.nodes.saturating_add(self.size(&file, path, 0)) > MAX_NODES {
                self.is_full = true;
                return Err(format!("{path}: with the plans in its files the plan has more than {MAX_NODES} nodes"));
            }
            *loaded = Some(Box::new(body));
            self.linked.push(Linked { place: place.to_owned(), file: file.clone(), text, shape });
        }
        let Some(body) = loaded else { return Ok(()) };
        self.open.push(file);
        self.within(body, &format!("{place}.plan."));
        self.open.pop();
        Ok(())
    }
}

impl Linker<'_> {
    /// What a file says, read once.
    fn parsed(&mut self, file: &Path, path: &str) -> Result<&(String, Plan, Dialect), String> {
        match self.read.entry((file.to_owned(), path.to_owned())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let text = read(self.root, file).map_err(|message| format!("{path}: {message}"))?;
                let (body, shape) = dialect::read(&text, path).map_err(|error| error.to_string())?;
                Ok(new.insert((text, body, shape)))
            }
        }
    }

    /// How many nodes a file's plan has with all that it names. What can't be read has none.
    fn size(&mut self, file: &Path, path: &str, depth: usize) -> usize {
        if let Some(known) = self.sizes.get(file) {
            return known.unwrap_or_default();
        }
        let Ok((_, body, _)) = self.parsed(file, path) else { return 0 };
        let (mut nodes, mut names) = (0, Vec::new());
        count(body, &mut nodes, &mut names);
        self.sizes.insert(file.to_owned(), None);
        for name in names.iter().filter(|_| depth < MAX_DEPTH) {
            let inner = inside(&file.parent().unwrap_or(Path::new("")).join(name));
            nodes = nodes.saturating_add(inner.map_or(0, |inner| self.size(&inner, name, depth + 1)));
        }
        self.sizes.insert(file.to_owned(), Some(nodes));
        nodes
    }
}

/// The nodes of a plan and of the bodies in it, and the files that they name.
fn count(plan: &Plan, nodes: &mut usize, names: &mut Vec<String>) {
    *nodes += plan.nodes.len();
    for node in &plan.nodes {
        match &node.kind {
            NodeKind::Subplan(SubplanNode::File { path, .. }) => names.push(path.clone()),
            kind => kind.body().into_iter().for_each(|body| count(body, nodes, names)),
        }
    }
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
    let name = name.to_string_lossy();
    let (mut plan, _) = dialect::read(&text, &name).map_err(|error| error.to_string())?;
    link(&mut plan, &name, folder);
    Ok(plan)
}

fn read(root: &Path, file: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("can't be read: {error}");
    let whole = root.join(file).canonicalize().map_err(unreadable)?;
    let root = root.canonicalize().map_err(unreadable)?;
    if !whole.starts_with(&root) {
        return Err("the file must be in the same folder as the plan, but it is a link to somewhere else".into());
    }
    files::read_text(&whole, files::DOCUMENT).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Catalog;
    use crate::plan::validate::{Code, validate};

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        folder
    }

    fn linked(folder: &tempfile::TempDir, plan: &str) -> Plan {
        let (mut plan, _) = dialect::read(plan, "plan.json").unwrap();
        link(&mut plan, "plan.json", folder.path());
        plan
    }

    fn told(plan: &Plan) -> Vec<String> {
        let errors = validate(plan, &Catalog::default()).into_iter().filter(|finding| finding.code == Code::WrongShape);
        errors.map(|finding| format!("{}: {}", finding.path, finding.message)).collect()
    }

    #[test]
    fn a_plan_in_a_file_is_read_relative_to_the_file_that_names_it() {
        let folder = folder(&[
            ("sub/a.json", r#"{"nodes": [{"id": "b", "plan": "deep/c.json"}]}"#),
            ("sub/deep/c.json", r#"{"nodes": [{"id": "d", "value": 1}]}"#),
        ]);
        let plan = linked(&folder, r#"{"nodes": [{"id": "a", "plan": "sub/a.json"}]}"#);
        let flat = crate::plan::nest::outline(&plan);
        assert_eq!(flat.nodes.iter().map(|node| node.id.as_str()).collect::<Vec<_>>(), ["a", "a/b", "a/b/d"]);
        let written = serde_json::to_value(&plan).unwrap();
        assert_eq!(written["nodes"][0]["plan"], "sub/a.json", "what was loaded is not written");
    }

    #[test]
    fn a_file_that_is_no_plan_leads_out_or_names_itself_is_told() {
        let folder = folder(&[
            ("self.json", r#"{"nodes": [{"id": "a", "plan": "self.json"}]}"#),
            ("sub/back.json", r#"{"nodes": [{"id": "a", "plan": "../plan.json"}]}"#),
            ("bad.json", "{\n  \"nodes\": 3}"),
            ("sub/far.json", r#"{"nodes": [{"id": "a", "value": 1}, {"id": "b", "plan": "none.json"}]}"#),
        ]);
        let error = |path: &str| told(&linked(&folder, &format!(r#"{{"nodes": [{{"id": "a", "plan": "{path}"}}]}}"#))).join("; ");
        assert!(error("none.json").starts_with("nodes[0].plan: none.json: can't be read"), "{}", error("none.json"));
        let outside = "the file must be in the same folder as the plan";
        assert_eq!(error("../x.json"), format!("nodes[0].plan: ../x.json: {outside}"));
        assert_eq!(error("/etc/passwd"), format!("nodes[0].plan: /etc/passwd: {outside}"));
        assert_eq!(error("bad.json"), "nodes[0].plan: bad.json:2:12: `nodes`: must be a list, not a number");
        let itself = "the plan contains itself";
        assert_eq!(error("self.json"), format!("nodes[0].plan.nodes[0].plan: in `self.json`: {itself}"));
        assert_eq!(error("plan.json"), format!("nodes[0].plan: {itself}"));
        let way = "the plan contains itself: plan.json → sub/back.json → plan.json";
        assert_eq!(error("sub/back.json"), format!("nodes[0].plan.nodes[0].plan: in `sub/back.json`: {way}"));
        let far = error("sub/far.json");
        assert!(far.starts_with("nodes[0].plan.nodes[1].plan: in `sub/far.json`: none.json: can't be read"), "{far}");
    }

    #[test]
    fn files_that_stand_for_too_many_nodes_are_refused_before_any_of_them_is_there() {
        let tenfold = |next: &str| {
            let node = |at: usize| format!(r#"{{"id": "n{at}", "plan": "{next}"}}"#);
            format!(r#"{{"nodes": [{}]}}"#, (0..10).map(node).collect::<Vec<_>>().join(", "))
        };
        let mut files: Vec<(String, String)> = (1..8).map(|at| (format!("f{at}.json"), tenfold(&format!("f{}.json", at + 1)))).collect();
        files.push(("f8.json".into(), r#"{"nodes": [{"id": "last", "value": 1}]}"#.into()));
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let folder = folder(&files);
        let plan = linked(&folder, &tenfold("f1.json"));
        assert!(told(&plan).iter().any(|told| told.contains("more than 100000 nodes")), "{:?}", told(&plan));
        assert!(plan.nodes.iter().all(|node| node.kind.body().is_none()));
        let plan = linked(&folder, &tenfold("f5.json"));
        assert_eq!(crate::plan::nest::outline(&plan).nodes.len(), 10 + 100 + 1_000 + 10_000 + 10_000);
    }

    #[test]
    fn a_file_that_can_not_be_used_hides_no_other_finding() {
        let folder = folder(&[("good.json", r#"{"nodes": [{"id": "x", "value": 1}]}"#)]);
        let plan = linked(
            &folder,
            r#"{"nodes": [{"id": "a", "plan": "nope.json"}, {"id": "b", "plan": "good.json"}, {"id": "c", "plan": "../x"}]}"#,
        );
        assert_eq!(told(&plan).len(), 2, "{:?}", told(&plan));
        assert!(plan.nodes[1].kind.body().is_some());
    }
}

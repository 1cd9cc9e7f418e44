//! What validation says of every plan in `tests/fixtures/plans`, against a catalog that stands beside them: `findings.expect.json` of each
//! dialect lists the code and the node of each finding, or the place if it is about no node.

use dagdeck::plan::dialect::read;
use dagdeck::plan::validate::{FixKind, Severity, codes, fixes, validate};
use dagdeck::plan::{Catalog, Plan};
use serde_json::{Map, Value};
use std::{fs, path::Path, path::PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

fn catalog() -> Catalog {
    serde_json::from_str(&fs::read_to_string(Path::new(ROOT).join("catalog.json")).unwrap()).unwrap()
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// Every plan that can be read, by dialect and file.
fn plans() -> Vec<(PathBuf, Vec<(String, Plan)>)> {
    let folders = sorted(&Path::new(ROOT).join("plans"));
    let plans = folders.into_iter().map(|folder| {
        let files = sorted(&folder).into_iter().filter_map(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let is_plan = !name.ends_with(".expect.json") && !name.starts_with("wrong_");
            is_plan.then(|| (name.clone(), read(&fs::read_to_string(&file).unwrap(), &name).unwrap().0))
        });
        let files: Vec<_> = files.collect();
        (folder, files)
    });
    plans.collect()
}

#[test]
fn every_fixture_has_the_findings_that_are_expected() {
    let catalog = catalog();
    for (folder, plans) in plans() {
        let mut table = Map::new();
        for (name, plan) in plans {
            let findings = validate(&plan, &catalog);
            let lines = findings.iter().map(|finding| {
                let place = finding.node.as_ref().filter(|_| finding.edge.is_none()).map_or(finding.path.as_str(), |node| node.as_str());
                Value::from(format!("{} {place}", finding.code))
            });
            table.insert(name, lines.collect());
        }
        let found = Value::Object(table);
        if std::env::var_os("WRITE_FINDINGS").is_some() {
            fs::write(folder.join("findings.expect.json"), serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
        }
        let expected: Value =
            serde_json::from_str(&fs::read_to_string(folder.join("findings.expect.json")).unwrap_or("{}".into())).unwrap();
        assert_eq!(found, expected, "{}\n{}", folder.display(), serde_json::to_string_pretty(&found).unwrap());
    }
}

#[test]
fn every_finding_of_a_fixture_tells_itself_and_mending_makes_it_no_worse() {
    let catalog = catalog();
    for (folder, plans) in plans() {
        for (name, plan) in plans {
            let place = folder.join(name);
            let errors = |plan: &Plan| validate(plan, &catalog).iter().filter(|finding| finding.severity == Severity::Error).count();
            for finding in validate(&plan, &catalog) {
                let row = codes().iter().find(|row| row.code == finding.code).unwrap();
                assert_eq!(row.severity, finding.severity);
                assert!(!finding.message.is_empty() && !finding.message.ends_with('.'), "{}: {finding:?}", place.display());
            }
            let mut mended = plan.clone();
            for fix in fixes(&plan, &catalog, FixKind::Guess) {
                fix.1.edit.apply(&mut mended).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
            }
            assert!(errors(&mended) <= errors(&plan), "{}", place.display());
        }
    }
}

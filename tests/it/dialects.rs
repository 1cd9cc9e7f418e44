//! Every plan in `tests/fixtures/plans`: a right one reads, and writing its own dialect gives an equal document, in JSON and YAML, also
//! by way of the native form; a wrong one gives the error that its sidecar `<name>.expect.json` tells, with place and words.

use dagdeck::plan::dialect::{Format, Syntax, read, write, write_as};
use serde_json::Value;
use std::{fs, path::Path, path::PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/plans");

/// One plan: its dialect's name, its file's name, its text, and what its sidecar tells.
struct Fixture {
    dialect: String,
    name: String,
    text: String,
    expect: Option<Value>,
}

fn fixtures() -> Vec<Fixture> {
    let mut fixtures = Vec::new();
    for folder in sorted(Path::new(ROOT)) {
        for file in sorted(&folder).into_iter().filter(|file| !file.to_string_lossy().ends_with(".expect.json")) {
            let sidecar = fs::read_to_string(file.with_extension("expect.json")).ok();
            fixtures.push(Fixture {
                dialect: folder.file_name().unwrap().to_string_lossy().into_owned(),
                name: file.file_name().unwrap().to_string_lossy().into_owned(),
                text: fs::read_to_string(&file).unwrap(),
                expect: sidecar.map(|text| serde_json::from_str(&text).unwrap()),
            });
        }
    }
    fixtures
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

impl Fixture {
    fn place(&self) -> String {
        format!("{}/{}", self.dialect, self.name)
    }

    fn error(&self) -> Option<&str> {
        self.expect.as_ref()?.get("error")?.as_str()
    }
}

/// The document as the reader of another program would see it: whole numbers are the same with and without a point.
fn document(text: &str, name: &str) -> Value {
    let value = if name.ends_with(".json") { serde_json::from_str(text).unwrap() } else { serde_saphyr::from_str(text).unwrap() };
    plain(value)
}

fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(list) => list.into_iter().map(plain).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, plain(value))).collect(),
        other => other,
    }
}

#[test]
fn every_dialect_has_ten_fixtures_beside_the_seeds_own() {
    let fixtures = fixtures();
    for format in Format::ALL.into_iter().filter(|format| !format.is_picture()) {
        let of = fixtures.iter().filter(|fixture| fixture.dialect == format.name() && !fixture.name.starts_with("seed_"));
        assert!(of.count() >= 10, "{}", format.name());
    }
}

#[test]
fn a_right_plan_is_read_and_written_back_equal() {
    let mut unequal = Vec::new();
    for fixture in fixtures().iter().filter(|fixture| fixture.error().is_none()) {
        let place = fixture.place();
        let format: Format = fixture.dialect.parse().unwrap();
        let (plan, shape) = read(&fixture.text, &fixture.name).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(shape.name(), fixture.dialect, "{place}");
        let mut expected = document(&fixture.text, &fixture.name);
        if format == Format::Native {
            // A native document always tells its version.
            expected.as_object_mut().unwrap().entry("dagdeck").or_insert(Value::from(1.0));
        }
        let json = write(&plan, format);
        let yaml = write_as(&plan, format, Syntax::Yaml).text;
        let native = write(&plan, Format::Native);
        let again = |text: &str, name: &str| read(text, name).map(|(plan, _)| plan);
        for (way, equal) in [
            ("as JSON", document(&json.text, "x.json") == expected),
            ("losing nothing", json.lost.is_empty() && native.lost.is_empty()),
            ("as YAML", document(&yaml, "x.yaml") == expected),
            ("by way of YAML", again(&yaml, "x.yaml").as_ref() == Ok(&plan)),
            ("by way of native", again(&native.text, "x.json").as_ref() == Ok(&plan)),
        ] {
            if !equal {
                unequal.push(format!("{place} {way}: {:?}\n{}\n{}", json.lost, json.text, native.text));
            }
        }
    }
    assert!(unequal.is_empty(), "{}", unequal.join("\n"));
}

#[test]
fn a_wrong_plan_is_refused_with_its_place() {
    for fixture in fixtures() {
        let place = fixture.place();
        let found = read(&fixture.text, &fixture.name).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), fixture.error(), "{place}");
        assert_eq!(fixture.name.starts_with("wrong_"), found.is_some(), "{place} is called what it is");
    }
}

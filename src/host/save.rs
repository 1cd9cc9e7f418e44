//! Writes a plan into a file, whole or not at all.

use super::client::There;
use crate::files::{DOCUMENT, beside, read_text};
use crate::plan::{
    Catalog, Dialect, Plan,
    dialect::{Format, Syntax, write_as},
};
use std::{io::Result, path::Path};

/// What became of a plan that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saved {
    /// It is in the file now.
    Written,
    /// There is such a file, which stayed as it was.
    IsThere { has_comments: bool },
}

/// Writes a plan in a form; a file's ending tells JSON from YAML. What a plan names by file stays a name, and what the form can't hold is
/// left out: whoever asks has said so.
pub(super) fn plan(plan: &Plan, form: Dialect, file: &Path, there: There) -> Result<Saved> {
    let syntax = match file.extension().and_then(|ending| ending.to_str()) {
        Some("yaml" | "yml") => Syntax::Yaml,
        Some(_) | None => Syntax::Json,
    };
    // In its own dialect a plan has its tools' arguments as they are.
    let text = write_as(plan, Format::Document(form), syntax, &Catalog::default()).text;
    match self::text(&text, file, there)? {
        true => Ok(Saved::Written),
        false => Ok(Saved::IsThere { has_comments: read_text(file, DOCUMENT).is_ok_and(|text| syntax.has_comments(&text)) }),
    }
}

/// Writes a text into a file, whole or not at all; says whether it was written.
pub(super) fn text(text: &str, file: &Path, there: There) -> Result<bool> {
    match there {
        There::Stays => beside::write_open(file, text.as_bytes()),
        There::IsReplaced => beside::write(file, text.as_bytes()).map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::dialect::read;

    #[test]
    fn a_plan_is_written_in_its_own_form_and_no_file_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (doc, _) = read(r#"{"dag": [{"id": "a", "tool": "calculator", "query": "1 + 1", "dependencies": []}]}"#, "-").unwrap();
        let json = folder.path().join("plan.json");
        assert_eq!(plan(&doc, Dialect::Tools, &json, There::Stays).unwrap(), Saved::Written);
        let written = std::fs::read_to_string(&json).unwrap();
        assert_eq!(read(&written, "-").unwrap().0, doc);
        assert!(written.contains("\"dag\""), "{written}");
        let mut edited = doc.clone();
        edited.nodes[0].policy.timeout_s = Some(3.0);
        assert_eq!(plan(&edited, Dialect::Native, &json, There::Stays).unwrap(), Saved::IsThere { has_comments: false });
        assert_eq!(std::fs::read_to_string(&json).unwrap(), written);
        assert_eq!(plan(&edited, Dialect::Native, &json, There::IsReplaced).unwrap(), Saved::Written);
        assert_eq!(
            read(&std::fs::read_to_string(&json).unwrap(), "-").unwrap().0,
            edited,
            "the native form keeps what the other can't hold"
        );
        let yaml = folder.path().join("plan.yaml");
        std::fs::write(&yaml, "# why\ndag: []\n").unwrap();
        assert_eq!(plan(&doc, Dialect::Tools, &yaml, There::Stays).unwrap(), Saved::IsThere { has_comments: true });
        plan(&doc, Dialect::Tools, &yaml, There::IsReplaced).unwrap();
        assert!(std::fs::read_to_string(&yaml).unwrap().starts_with("dag:"));
        assert!(plan(&doc, Dialect::Tools, &folder.path().join("none/plan.json"), There::Stays).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside");
    }
}

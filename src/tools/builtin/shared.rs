//! What the built-in tools share: their description from the type of their arguments, reading arguments, and blocking work.

use crate::engine::FileAccess;
use crate::plan::{Risk, ToolInfo, ToolReach, Verdict};
use crate::text::TEXT_CUT;
use crate::tools::ToolError;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A program on the path.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let is_program = |path: &PathBuf| path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(is_program)
}

/// A tool's description; the schema comes from the type that its arguments are read into.
pub(super) fn describe<Args: JsonSchema>(name: &str, description: &str, risk: Risk, reach: ToolReach) -> ToolInfo {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let mut input_schema = generator.into_root_schema_for::<Args>().to_value();
    plain(&mut input_schema);
    if let Some(schema) = input_schema.as_object_mut() {
        schema.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    ToolInfo { name: name.into(), description: description.into(), input_schema, risk, verdict: Verdict::Ask, reach: Some(reach) }
}

/// Takes out of a schema what providers of models stumble over and nobody needs.
pub(super) fn plain(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            // A parameter of such a name would be an object, not text.
            fields.retain(|key, value| !(value.is_string() && matches!(key.as_str(), "$schema" | "title" | "format")));
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// Reads checked arguments.
pub(super) fn arguments<Args: DeserializeOwned>(args: Value) -> Result<Args, ToolError> {
    serde_json::from_value(args).map_err(|cause| ToolError::refused(format!("wrong arguments: {cause}")))
}

/// Tells work on a thread that nobody waits for it any more.
#[derive(Clone, Default)]
pub(super) struct AbandonFlag(Arc<AtomicBool>);

impl AbandonFlag {
    pub(super) fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails once the work was given up.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.requested() { Err(ToolError::failed("cancelled")) } else { Ok(()) }
    }
}

/// Runs blocking work beside the event loop; `AbandonFlag` is requested when the future is dropped.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&AbandonFlag) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    struct OnDrop(AbandonFlag);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AbandonFlag::default();
    let _guard = OnDrop(stop.clone());
    tokio::task::spawn_blocking(move || work(&stop))
        .await
        .unwrap_or_else(|cause| Err(ToolError::failed(format!("the tool failed because of a bug: {cause}")).hint("please report this")))
}

/// The first 100 characters, for lineage.
pub(super) fn preview(text: &str) -> String {
    beginning(text, 100)
}

/// At most so many characters, with the mark of a cut.
pub(super) fn beginning(text: &str, most: usize) -> String {
    text.char_indices().nth(most).map_or_else(|| text.to_owned(), |(end, _)| format!("{}{TEXT_CUT}", &text[..end]))
}

/// One touch of a file.
pub(super) fn access(path: String, operation: &str, content: Option<&str>) -> FileAccess {
    FileAccess { path, operation: operation.into(), content_preview: content.map(preview) }
}

/// Text of a file, unless it is binary. Bytes that are no UTF-8 are replaced.
pub(super) fn decode(bytes: Vec<u8>, shown: &str) -> Result<String, ToolError> {
    if bytes.iter().take(8192).any(|byte| *byte == 0) {
        return Err(ToolError::refused(format!("`{shown}` is a binary file")));
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()))
}

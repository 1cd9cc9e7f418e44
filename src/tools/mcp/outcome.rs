//! What a server gave, as a result: structured content as it is, else text; images and other data as files of the state folder with a
//! note in their place. Nothing of it is an instruction.

use crate::{
    files::{self, beside},
    text::{bytes, hex},
    tools::{ToolError, ToolOutput, sandbox::Watcher},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use jsonschema::Validator;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Largest result in bytes.
const MOST: usize = 4 << 20;

/// The result of a call; `files` is the folder for what is no text. What a server says beside a structured result goes to the watcher; where
/// there is none, as in a call of an agent, it is part of the result.
pub(super) fn output(
    result: CallToolResult,
    schema: Option<&Validator>,
    files: &Path,
    watcher: Option<&Watcher>,
) -> Result<ToolOutput, ToolError> {
    if result.is_error == Some(true) {
        let text = text_of(&result.content, files);
        return Err(ToolError::failed(if text.trim().is_empty() { "the tool failed and didn't say why".to_owned() } else { text }));
    }
    let value = match result.structured_content {
        Some(value) => {
            if let Some(error) = schema.and_then(|schema| schema.iter_errors(&value).next()) {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
                return Err(ToolError::failed(format!("the result is not what the tool promises{place}: {error}")));
            }
            let text = text_beside(&value, &result.content, files);
            match watcher {
                _ if text.trim().is_empty() => value,
                Some(watcher) => {
                    text.lines().for_each(|line| watcher(line, false));
                    value
                }
                None => json!({"result": value, "text": text}),
            }
        }
        None if schema.is_some() && result.content.is_empty() => {
            return Err(ToolError::failed("the tool promises a structured result and gave none"));
        }
        None => Value::from(text_of(&result.content, files)),
    };
    Ok(ToolOutput { value: within_limit(value)?, ..ToolOutput::default() })
}

/// What was read of a resource: the text of a single one as it is.
pub(super) fn resource(contents: &[ResourceContents], files: &Path) -> Result<Value, ToolError> {
    within_limit(match contents {
        [ResourceContents::TextResourceContents { text, .. }] => Value::from(text.as_str()),
        several => Value::from(several.iter().map(|one| contained(one, files)).collect::<Vec<_>>().join("\n")),
    })
}

fn within_limit(value: Value) -> Result<Value, ToolError> {
    let size = value.as_str().map_or_else(|| value.to_string().len(), str::len);
    if size > MOST {
        let message = format!("the result has {}; the limit is {}", bytes(size as u64), bytes(MOST as u64));
        return Err(ToolError::failed(message).hint("ask the tool for less"));
    }
    Ok(value)
}

/// What is said beside a structured result. Servers repeat the result there, for programs that can't read it.
fn text_beside(value: &Value, content: &[ContentBlock], files: &Path) -> String {
    let has_text = |text: &str| value.as_object().is_some_and(|fields| fields.values().any(|field| field.as_str() == Some(text)));
    let repeats = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => has_text(&text.text) || serde_json::from_str::<Value>(&text.text).is_ok_and(|same| same == *value),
        _ => false,
    };
    let rest: Vec<ContentBlock> = content.iter().filter(|block| !repeats(block)).cloned().collect();
    text_of(&rest, files)
}

fn text_of(content: &[ContentBlock], files: &Path) -> String {
    let parts: Vec<String> = content.iter().map(|block| part(block, files)).collect();
    parts.join("\n")
}

/// One piece of content as text.
pub(super) fn part(block: &ContentBlock, files: &Path) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => kept(&image.data, Some(&image.mime_type), files),
        ContentBlock::Audio(audio) => kept(&audio.data, Some(&audio.mime_type), files),
        ContentBlock::Resource(embedded) => contained(&embedded.resource, files),
        ContentBlock::ResourceLink(link) => {
            let size = link.size.map(|size| format!(", {}", bytes(size))).unwrap_or_default();
            let kind = link.mime_type.as_ref().map(|kind| format!(", {kind}")).unwrap_or_default();
            format!("[resource {}: {}{kind}{size}]", link.name, link.uri)
        }
        _ => "[content of an unknown kind]".to_owned(),
    }
}

fn contained(resource: &ResourceContents, files: &Path) -> String {
    match resource {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
        ResourceContents::BlobResourceContents { uri, blob, mime_type, .. } => {
            format!("[{uri}] {}", kept(blob, mime_type.as_deref(), files))
        }
        _ => "[a resource of an unknown kind]".to_owned(),
    }
}

/// Data as a file, called by its content, with a note of type and size.
fn kept(data: &str, kind: Option<&str>, folder: &Path) -> String {
    let kind = kind.unwrap_or("data");
    let Ok(data) = BASE64_STANDARD.decode(data.trim()) else { return format!("[{kind}, which can't be read]") };
    let ending: String = kind.rsplit(['/', '+']).next().unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let file = folder.join(format!("{}.{ending}", hex(&Sha256::digest(&data)[..12])));
    let size = bytes(data.len() as u64);
    match files::private_folder(folder).and_then(|()| beside::write_private(&file, &data)) {
        Ok(()) => format!("[{kind}, {size}, kept as {}]", file.display()),
        Err(error) => format!("[{kind}, {size}, which can't be kept: {error}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    fn given(result: Value, schema: Option<Value>) -> Result<Value, String> {
        let folder = tempfile::tempdir().unwrap();
        let schema = schema.map(|schema| jsonschema::validator_for(&schema).unwrap());
        let result = serde_json::from_value(result).unwrap();
        output(result, schema.as_ref(), folder.path(), None).map(|output| output.value).map_err(|error| error.message)
    }

    #[test]
    fn text_stays_text_and_structured_content_keeps_its_type() {
        assert_eq!(given(json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}), None), Ok(json!("a\nb")));
        let structured = json!({"content": [{"type": "text", "text": "{\"n\":1}"}], "structuredContent": {"n": 1}});
        assert_eq!(given(structured.clone(), None), Ok(json!({"n": 1})));
        let schema = json!({"type": "object", "properties": {"n": {"type": "string"}}});
        assert!(given(structured, Some(schema)).unwrap_err().starts_with("the result is not what the tool promises at `/n`"));
    }

    #[test]
    fn text_beside_a_structured_result_reaches_who_can_read_it() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let said = json!({"content": [text("{\"n\": 1, \"s\": \"two\"}"), text("two"), text("and more")], "structuredContent": {"n": 1, "s": "two"}});
        assert_eq!(given(said.clone(), None), Ok(json!({"result": {"n": 1, "s": "two"}, "text": "and more"})));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = seen.clone();
        let watcher: Box<Watcher> = Box::new(move |line, _| into.lock().unwrap().push(line.to_owned()));
        let folder = tempfile::tempdir().unwrap();
        let output = output(serde_json::from_value(said).unwrap(), None, folder.path(), Some(&*watcher)).unwrap();
        assert_eq!((output.value, seen.lock().unwrap().clone()), (json!({"n": 1, "s": "two"}), vec!["and more".to_owned()]));
    }

    #[test]
    fn an_error_of_the_tool_is_its_words() {
        let result = json!({"content": [{"type": "text", "text": "no such file"}], "isError": true});
        assert_eq!(given(result, None), Err("no such file".to_owned()));
    }

    #[test]
    fn an_image_is_a_file_and_a_note_with_type_and_size() {
        let folder = tempfile::tempdir().unwrap();
        let result = json!({"content": [{"type": "image", "data": "AAECAw==", "mimeType": "image/png"}]});
        let given = output(serde_json::from_value(result).unwrap(), None, folder.path(), None).unwrap();
        let note = given.value.as_str().unwrap().to_owned();
        assert!(note.starts_with("[image/png, 4 B, kept as "), "{note}");
        let file = note.trim_end_matches(']').rsplit("kept as ").next().unwrap();
        assert_eq!(std::fs::read(file).unwrap(), [0, 1, 2, 3]);
    }
}

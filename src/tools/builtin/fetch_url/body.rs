//! The body of an answer: read within a cap, decoded, made readable.

use reqwest::{Response, header};
use serde_json::Value;

use crate::models::http;
use crate::plan::dialect::exact_json;
use crate::text::TEXT_CUT;
use crate::tools::{
    FetchConfig, ToolError,
    sandbox::{self, SandboxConfig},
};

/// Reads an answer as text, or as data when it is JSON.
pub(super) async fn read(response: Response, config: &FetchConfig, sandbox: &SandboxConfig, max_chars: usize) -> Result<Value, ToolError> {
    let kind = content_type(&response);
    let Some(format) = BodyFormat::of(&kind) else {
        return Err(ToolError::failed(format!("`{}` gives `{}`, which is not text", response.url(), kind.escape_debug())));
    };
    let (bytes, whole) = bytes(response, config.max_bytes).await?;
    let text = decode(bytes, &kind);
    if format == BodyFormat::Json
        && whole
        && let Ok(data) = exact_json(&text)
        && text.len() <= max_chars
    {
        return Ok(data);
    }
    let text = if format == BodyFormat::Html { sandbox::html_text(sandbox, text).await } else { text };
    Ok(Value::from(cut(text, max_chars, whole)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyFormat {
    Html,
    Json,
    Text,
}

impl BodyFormat {
    fn of(kind: &str) -> Option<Self> {
        let name = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match name.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            name if name == "application/json" || name.ends_with("+json") => Some(Self::Json),
            "" | "application/xml" | "application/javascript" | "application/yaml" | "application/x-yaml" | "application/toml" => {
                Some(Self::Text)
            }
            "application/x-ndjson" | "application/x-sh" | "application/sql" => Some(Self::Text),
            name if name.starts_with("text/") || name.ends_with("+xml") => Some(Self::Text),
            _ => None,
        }
    }
}

fn content_type(response: &Response) -> String {
    response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// The body up to the cap, and whether that is all of it.
async fn bytes(mut response: Response, cap: usize) -> Result<(Vec<u8>, bool), ToolError> {
    let mut bytes = Vec::new();
    loop {
        let piece = response.chunk().await;
        let piece = piece.map_err(|cause| {
            ToolError::failed(format!("the connection closed during the answer: {}", http::causes(&cause.without_url()))).transient()
        })?;
        let Some(piece) = piece else { return Ok((bytes, true)) };
        let room = cap - bytes.len();
        bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            return Ok((bytes, false));
        }
    }
}

fn decode(bytes: Vec<u8>, kind: &str) -> String {
    let kind = kind.to_ascii_lowercase();
    let latin =
        ["charset=iso-8859-1", "charset=windows-1252", "charset=latin1", "charset=\"iso-8859-1\""].iter().any(|name| kind.contains(name));
    if latin {
        return bytes.into_iter().map(char::from).collect();
    }
    String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

/// The text within its limit; what is missing is said.
fn cut(text: String, max_chars: usize, whole: bool) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}{TEXT_CUT}\n[cut after {max_chars} characters]", &text[..end]),
        None if !whole => format!("{}{TEXT_CUT}\n[cut: the page is too long]", text.trim_end_matches(char::REPLACEMENT_CHARACTER)),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_marked() {
        assert_eq!(cut("äöü".into(), 2, true), format!("äö{TEXT_CUT}\n[cut after 2 characters]"));
        assert_eq!(cut("äöü".into(), 3, true), "äöü");
        assert!(cut("a".into(), 3, false).contains("the page is too long"));
    }

    #[test]
    fn kinds_of_content_are_told_apart() {
        assert_eq!(BodyFormat::of("text/HTML; charset=utf-8"), Some(BodyFormat::Html));
        assert_eq!(BodyFormat::of("application/ld+json"), Some(BodyFormat::Json));
        assert_eq!(BodyFormat::of("text/csv"), Some(BodyFormat::Text));
        assert_eq!(BodyFormat::of("image/svg+xml"), Some(BodyFormat::Text));
        assert_eq!(BodyFormat::of("image/png"), None);
        assert_eq!(decode(b"caf\xe9".to_vec(), "text/plain; charset=ISO-8859-1"), "café");
    }
}

//! What a server says went wrong, read from any of the usual shapes.

use serde_json::Value;

/// What a server says went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaint {
    pub message: String,
    /// `code`, or else `type`, as text.
    pub code: String,
    /// The parameter it complains about.
    pub param: String,
}

impl Complaint {
    /// All of it, in lower case, to look for words in.
    pub fn text(&self) -> String {
        format!("{} {} {}", self.message, self.code, self.param).to_lowercase()
    }

    /// Reads an error in any of the usual shapes: `{error: {message, code}}`, `{error: text}`, `{message}`, `{detail}`, the inner
    /// object alone.
    pub fn of(value: &Value) -> Option<Self> {
        // Google's servers wrap it in a list.
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let inner = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        if let Value::String(message) = inner {
            return Some(Self { message: message.clone(), ..Self::default() });
        }
        let field = |names: &[&str]| {
            names.iter().find_map(|name| match inner.get(name) {
                Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
                Some(value @ (Value::Number(_) | Value::Array(_) | Value::Object(_))) => Some(value.to_string()),
                Some(Value::String(_) | Value::Null | Value::Bool(_)) | None => None,
            })
        };
        let mut message = field(&["message", "detail", "msg", "error"])?;
        // OpenRouter says here what its upstream said; the message is then "Provider returned error".
        if let Some(raw) = inner.pointer("/metadata/raw").and_then(Value::as_str).filter(|raw| !raw.trim().is_empty()) {
            message = format!("{message}: {raw}");
        }
        Some(Self { message, code: field(&["code", "type"]).unwrap_or_default(), param: field(&["param"]).unwrap_or_default() })
    }
}

/// Whether an event without choices is an error in a shape of its own (`{object: "error", message}`, `{detail}`).
pub fn is_error(event: &str) -> bool {
    serde_json::from_str(event).is_ok_and(|value: Value| Complaint::of(&value).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn complaints_are_read_in_every_shape() {
        let complaint = |value: Value| Complaint::of(&value).map(|c| (c.message, c.code));
        let some = |message: &str, code: &str| Some((message.to_owned(), code.to_owned()));
        assert_eq!(complaint(json!({"error": {"message": "m", "code": "c"}})), some("m", "c"));
        assert_eq!(complaint(json!({"error": {"message": "m", "code": 500, "type": null}})), some("m", "500"));
        assert_eq!(complaint(json!({"error": {"message": "m", "code": null, "type": "t"}})), some("m", "t"));
        assert_eq!(complaint(json!({"error": "m"})), some("m", ""));
        assert_eq!(complaint(json!([{"error": {"code": 400, "message": "m"}}])), some("m", "400"));
        assert_eq!(complaint(json!({"object": "error", "message": "m"})), some("m", ""));
        assert_eq!(complaint(json!({"detail": [{"msg": "m"}]})), some("[{\"msg\":\"m\"}]", ""));
        let passed_on = json!({"message": "Provider returned error", "code": 429, "metadata": {"raw": "m is busy", "provider_name": "P"}});
        assert_eq!(complaint(json!({"error": passed_on})), some("Provider returned error: m is busy", "429"));
        assert_eq!(complaint(json!({"choices": []})), None);
        assert_eq!(complaint(json!([1])), None);
    }
}

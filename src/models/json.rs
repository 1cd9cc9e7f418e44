//! JSON in the answers of models: bare, in a code fence, or with words around it.

use serde_json::Value;

/// The JSON object or array in a model's answer, as text; `None` when there is none that is complete.
pub fn find(answer: &str) -> Option<&str> {
    let answer = answer.trim();
    if is_json(answer) {
        return Some(answer);
    }
    for (start, _) in answer.match_indices(['{', '[']).take(TRIES) {
        let mut values = serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Value>();
        match values.next() {
            // `[1]` in a sentence is a footnote; an answer is an object, or an array of objects.
            Some(Ok(value)) if value.is_object() || value.as_array().is_some_and(|items| items.iter().any(Value::is_object)) => {
                return Some(&answer[start..start + values.byte_offset()]);
            }
            // The answer is cut: what is inside it is not the answer.
            Some(Err(error)) if error.is_eof() => return None,
            Some(Ok(_) | Err(_)) | None => {}
        }
    }
    None
}

/// Asks in words for an answer in JSON, where nothing else holds a model to it.
pub fn instruction(schema: &Value) -> String {
    format!("Answer with one JSON object and nothing else: no explanation, no code fence. It must satisfy this JSON Schema:\n{schema}")
}

/// Braces in prose that are tried as the start of JSON, so that a hostile answer can't cost the square of its length.
const TRIES: usize = 64;

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_bare_fenced_and_between_words() {
        assert_eq!(find(" {\"a\": 1}\n\n \n"), Some("{\"a\": 1}"));
        assert_eq!(find("[1, 2]"), Some("[1, 2]"));
        assert_eq!(find("```json\n{\"a\": 1}\n```"), Some("{\"a\": 1}"));
        assert_eq!(find("As said [1], here {you} are: {\"a\": {\"b\": \"}\"}} Enjoy!"), Some("{\"a\": {\"b\": \"}\"}}"));
    }

    #[test]
    fn cut_json_and_prose_are_not_json() {
        for text in ["", "hello", "{\"a\": 1", "{\"a\": [{\"b\": 1}", "```json\n{\"a\": [1,\n```", "see [1]"] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}

//! References to resources of servers in an objective: `@server:uri`, as in `@notes:note://plan`. What a node gave is never read for them.

/// A resource that a text refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceRef<'a> {
    /// As it is in the text.
    pub text: &'a str,
    pub server: &'a str,
    pub uri: &'a str,
}

/// What may stand around a reference, and ends none.
const AROUND: [char; 12] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`'];

/// The references of a text, each once, in order. An `@` in the middle of a word begins none, and an address has a scheme.
pub fn resource_refs(text: &str) -> Vec<ResourceRef<'_>> {
    let words = text.split_whitespace().map(|word| word.trim_start_matches(['(', '[', '{', '"', '\'', '`']));
    let mut found: Vec<ResourceRef<'_>> = Vec::new();
    for word in words.filter(|word| word.starts_with('@')) {
        let whole = word.trim_end_matches(AROUND);
        let Some((server, uri)) = whole[1..].split_once(':') else { continue };
        let has_scheme = uri.split_once("://").is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty());
        if has_scheme && !server.is_empty() && found.iter().all(|known| known.text != whole) {
            found.push(ResourceRef { text: whole, server, uri });
        }
    }
    found
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_a_server_and_an_address_with_a_scheme() {
        let text = "Compare @notes:note://a (and \"@my-files:file:///b c.txt\") with @notes:note://a. Ask @anna: or me@notes:x://y, @x:y, @z:://q.";
        let found: Vec<(&str, &str)> = resource_refs(text).into_iter().map(|one| (one.server, one.uri)).collect();
        assert_eq!(found, [("notes", "note://a"), ("my-files", "file:///b")]);
    }
}

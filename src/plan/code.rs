//! What code reads by name: `deps.id`, `deps["id"]` and the same behind `inputs`. A scan, not a parser: code may build names as it
//! runs. Comments and methods that are called (`deps.hasOwnProperty(…)`) don't count.

use std::ops::Range;

/// Names that are behind an object such as `deps` in code, in order, each once.
pub fn names_in_code<'a>(code: &'a str, object: &'a str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for name in uses(code, object).flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether code may read a name behind an object: it says it, or uses the object in another way.
pub fn may_read(code: &str, object: &str, name: &str) -> bool {
    uses(code, object).any(|used| used.is_none_or(|used| used == name))
}

/// Every use of an object in code, with the name behind it where it is written there.
fn uses<'a>(code: &'a str, object: &'a str) -> impl Iterator<Item = Option<&'a str>> {
    let comments = comments(code);
    code.match_indices(object).filter_map(move |(at, _)| {
        let before = comments.partition_point(|comment| comment.start <= at);
        let is_comment = before.checked_sub(1).is_some_and(|last| comments[last].contains(&at));
        if is_comment || code[..at].ends_with(is_identifier) {
            return None;
        }
        let rest = &code[at + object.len()..];
        let name = bracketed(rest).or_else(|| dotted(rest)).filter(|name| !name.is_empty() && !code[..at].ends_with('.'));
        (name.is_some() || !rest.starts_with(is_identifier)).then_some(name)
    })
}

/// Whether a character can be in a name of JavaScript.
pub(super) fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Where comments are, in order. What looks like one inside of quotes, or behind a backslash as in `/\//`, is none.
fn comments(code: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut quote = None;
    let mut at = 0;
    while let Some(c) = code[at..].chars().next() {
        let rest = &code[at..];
        let mut length = c.len_utf8();
        match (quote, c) {
            (_, '\\') => length += rest[length..].chars().next().map_or(0, char::len_utf8),
            (Some(open), _) if c == open || (c == '\n' && open != '`') => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '/') if rest.starts_with("//") => length = rest.find('\n').unwrap_or(rest.len()),
            (None, '/') if rest.starts_with("/*") => length = rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            _ => {}
        }
        if c == '/' && length > 1 {
            found.push(at..at + length);
        }
        at += length;
    }
    found
}

fn dotted(rest: &str) -> Option<&str> {
    let name = rest.strip_prefix('.').or_else(|| rest.strip_prefix("?."))?;
    let (name, behind) = name.split_at(name.find(|c: char| !is_identifier(c)).unwrap_or(name.len()));
    (!behind.starts_with('(')).then_some(name)
}

fn bracketed(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix("?.").unwrap_or(rest).strip_prefix('[')?;
    let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let (name, behind) = inside[1..].split_once(quote)?;
    (behind.starts_with(']') && !name.contains("${")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{may_read, names_in_code};

    #[test]
    fn names_are_found_however_they_are_written() {
        let code =
            "deps.a.output + deps['b-2'].x + deps?.c + deps?.[\"d\"] + deps.a + deps[key] + deps[`${e}`] + xdeps.f + o.deps.g + deps";
        assert_eq!(names_in_code(code, "deps"), ["a", "b-2", "c", "d"]);
        assert_eq!(names_in_code("const { x } = inputs; inputs.größe", "inputs"), ["größe"]);
    }

    #[test]
    fn an_object_that_is_used_without_a_name_may_be_read_whole() {
        assert!(may_read("return deps.a", "deps", "a") && !may_read("return deps.a + depsOf + o", "deps", "b"));
        for code in ["return deps", "const {b} = deps", "return deps[key]", "return globalThis.deps.b", "Object.keys(deps)"] {
            assert!(may_read(code, "deps", "b"), "{code}");
        }
        assert!(!may_read("return 1 // deps", "deps", "b"));
    }

    #[test]
    fn comments_and_methods_hold_no_names() {
        let code = "// deps.a\nreturn deps.b /* deps.c\ndeps.d */ + 'http://' + deps.e + deps.hasOwnProperty('f') // deps.g";
        assert_eq!(names_in_code(code, "deps"), ["b", "e"]);
        let code = "return /\\/\\//.test(deps.a) || `${deps.b} // ${deps.c}` || 'it\\'s // ' + deps.d; /* deps.e";
        assert_eq!(names_in_code(code, "deps"), ["a", "b", "c", "d"]);
    }
}

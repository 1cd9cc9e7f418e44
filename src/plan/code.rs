//! What code reads by name: `deps.id`, `deps["id"]` and the same behind `inputs`. A scan for people's eyes, not a parser: code may
//! build names as it runs, and a name in a comment counts.

/// Names that stand behind an object such as `deps` in code, in order, each once.
pub fn names_in_code<'a>(code: &'a str, object: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(object) {
        if code[..at].ends_with(|c: char| is_identifier(c) || c == '.') {
            continue;
        }
        let rest = &code[at + object.len()..];
        if let Some(name) = bracketed(rest).or_else(|| dotted(rest)).filter(|name| !name.is_empty() && !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// Whether a character can stand in a name of JavaScript.
pub(super) fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn dotted(rest: &str) -> Option<&str> {
    let name = rest.strip_prefix('.').or_else(|| rest.strip_prefix("?."))?;
    Some(&name[..name.find(|c: char| !is_identifier(c)).unwrap_or(name.len())])
}

fn bracketed(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix("?.").unwrap_or(rest).strip_prefix('[')?;
    let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let (name, behind) = inside[1..].split_once(quote)?;
    (behind.starts_with(']') && !name.contains("${")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::names_in_code;

    #[test]
    fn names_are_found_however_they_are_written() {
        let code =
            "deps.a.output + deps['b-2'].x + deps?.c + deps?.[\"d\"] + deps.a + deps[key] + deps[`${e}`] + xdeps.f + o.deps.g + deps";
        assert_eq!(names_in_code(code, "deps"), ["a", "b-2", "c", "d"]);
        assert_eq!(names_in_code("const { x } = inputs; inputs.größe", "inputs"), ["größe"]);
    }
}

//! Values inside a shell command: each is put in as data, quoted for its place, so that no shell runs any of it.
//! The places are those of the POSIX shell's command language, section 2.2 (Quoting).

/// Where in a command a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShellPlace {
    Bare,
    SingleQuotes,
    DoubleQuotes,
    /// No quoting makes a value safe here; in words, for people.
    Unsafe(&'static str),
}

/// A value as it is put in behind this beginning of a command.
///
/// # Errors
/// Where it would stand, if no quoting makes it safe there.
pub(super) fn quoted(before: &str, value: &str) -> Result<String, &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+".contains(c);
    Ok(match place_behind(before) {
        ShellPlace::Unsafe(place) => return Err(place),
        ShellPlace::Bare if !value.is_empty() && value.chars().all(plain) => value.to_owned(),
        ShellPlace::Bare => format!("'{}'", value.replace('\'', r"'\''")),
        ShellPlace::SingleQuotes => value.replace('\'', r"'\''"),
        ShellPlace::DoubleQuotes => {
            let special = |c| matches!(c, '\\' | '"' | '$' | '`');
            value.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
        }
    })
}

fn place_behind(before: &str) -> ShellPlace {
    // What each bracket or double quote that is open is in; `(` and `"` alternate freely.
    let mut open: Vec<char> = Vec::new();
    let mut word_starts = true;
    let mut chars = before.chars().peekable();
    while let Some(c) = chars.next() {
        let in_double = open.last() == Some(&'"');
        let starts = std::mem::replace(&mut word_starts, c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')'));
        match c {
            '\\' if chars.next().is_none() => return ShellPlace::Unsafe("behind a backslash"),
            '`' => return ShellPlace::Unsafe("behind a backtick"),
            '"' if in_double => drop(open.pop()),
            '"' => open.push('"'),
            '\'' if !in_double && !skips_to(&mut chars, '\'') => return ShellPlace::SingleQuotes,
            '$' if chars.peek() == Some(&'(') => {
                chars.next();
                open.push('(');
                word_starts = true;
            }
            '$' if chars.peek() == Some(&'{') && !skips_to(&mut chars, '}') => return ShellPlace::Unsafe("in `${…}`"),
            '$' if chars.peek() == Some(&'\'') && !in_double => return ShellPlace::Unsafe("behind `$'`"),
            '(' if !in_double => open.push('('),
            ')' if !in_double => drop(open.pop()),
            '<' if !in_double && chars.peek() == Some(&'<') => return ShellPlace::Unsafe("behind `<<`"),
            '#' if starts && !in_double => {
                if !skips_to(&mut chars, '\n') {
                    return ShellPlace::Unsafe("in a comment");
                }
                word_starts = true;
            }
            'c' if starts && !in_double && open.contains(&'(') && chars.clone().take(3).eq("ase".chars()) => {
                return ShellPlace::Unsafe("behind `case` in brackets");
            }
            _ => {}
        }
    }
    if open.last() == Some(&'"') { ShellPlace::DoubleQuotes } else { ShellPlace::Bare }
}

/// Passes over everything up to a character; false where it isn't there.
fn skips_to(chars: &mut impl Iterator<Item = char>, end: char) -> bool {
    chars.any(|c| c == end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    #[test]
    fn a_value_is_quoted_for_where_it_stands() {
        for (before, value, wanted) in [
            ("echo ", "a b", Ok("'a b'")),
            ("cat ", "src/a-b.rs", Ok("src/a-b.rs")),
            ("echo ", "", Ok("''")),
            ("echo '", "it's", Ok(r"it'\''s")),
            ("echo \"", "$(x) \"`", Ok(r#"\$(x) \"\`"#)),
            ("echo \"$(ls ", "a b", Ok("'a b'")),
            ("echo \"$(ls)", "$x", Ok("\\$x")),
            ("echo 'a' \"b\" # it's\necho ", "x y", Ok("'x y'")),
            ("cat <<EOF\n", "x", Err("behind `<<`")),
            ("echo `", "x", Err("behind a backtick")),
            ("ls # ", "x", Err("in a comment")),
            ("echo ${x:-", "x", Err("in `${…}`")),
        ] {
            assert_eq!(quoted(before, value), wanted.map(str::to_owned), "{before}");
        }
    }

    proptest! {
        #[test]
        fn a_shell_gets_each_value_as_it_is(value in r#"[a-z '"$`\\;&|<>()#*\n!~-]{0,12}"#, at in 0..6_usize) {
            let (before, after) = [
                ("printf %s ", ""), ("printf %s '", "'"), ("printf %s \"", "\""), ("printf %s \"$(printf %s ", "; printf .)\""),
                ("(printf %s ", ")"), ("x='a' # b\nprintf %s ", ""),
            ][at];
            let command = format!("{before}{}{after}", quoted(before, &value).unwrap());
            let out = Command::new("sh").args(["-c", &command]).output().unwrap();
            let end = if at == 3 { "." } else { "" };
            prop_assert_eq!(String::from_utf8(out.stdout).unwrap(), format!("{value}{end}"), "{}", command);
        }
    }
}

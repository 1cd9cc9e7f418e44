//! `EnvFile`: the variables of a workspace's `.env`, however they are written, and which of its lines are not understood.

use crate::files;
use std::{collections::HashMap, fmt::Write as _, io::ErrorKind, path::Path};

/// The largest `.env` in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// So many bytes may all values have that are made of other ones.
const MOST_MADE: usize = 4 << 20;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EnvFile {
    pub(super) variables: Vec<EnvVariable>,
    /// Numbers of the lines that are no variable, no comment and not empty.
    unclear: Vec<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct EnvVariable {
    pub(super) name: String,
    pub(super) value: String,
    /// How else the file's text has the value: readers of `.env` don't agree on escapes and variables.
    pub(super) spellings: Vec<String>,
}

impl EnvFile {
    /// Reads it as it is now. One that tools can't read either has no variables.
    ///
    /// # Errors
    /// What to tell when tools can read it and this can't.
    pub(super) fn read(workspace: &Path) -> Result<Self, Option<String>> {
        let bytes = files::read_bytes(&workspace.join(".env"), MOST_BYTES).map_err(|error| {
            let is_told = !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
            is_told.then(|| format!("the secrets in `.env` are not known, so they are not hidden: {error}"))
        })?;
        Ok(match utf16(&bytes) {
            Some(text) => {
                let mut file = Self::of(&text);
                // As tools give the bytes of such a file.
                for variable in &mut file.variables {
                    let spaced: String = variable.value.trim().chars().flat_map(|c| [c, '\0']).collect();
                    variable.spellings.push(spaced.trim_end_matches('\0').to_owned());
                }
                file
            }
            // Tools give bytes that are no text in the same way.
            None => Self::of(&String::from_utf8_lossy(&bytes)),
        })
    }

    /// Which lines may hold secrets that are not known.
    pub(super) fn not_understood(&self) -> Option<String> {
        let (first, more) = self.unclear.split_first()?;
        let mut lines = format!("line {first}");
        if !more.is_empty() {
            let _ = write!(lines, " and {} more", more.len());
        }
        Some(format!("`.env`: {lines} can't be read as `NAME=value`, so a secret there is not hidden"))
    }

    /// `NAME=value` or `NAME: value`, perhaps behind `export`, perhaps in quotes, which may hold several lines; `$NAME` and `${NAME}` in a
    /// value mean a variable above it.
    fn of(text: &str) -> Self {
        let mut file = Self::default();
        let mut known = HashMap::new();
        let mut made = 0;
        let (mut rest, mut number, mut counted) = (text.trim_start_matches('\u{feff}'), 1, text);
        while !rest.is_empty() {
            let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
            let Some((name, value)) = variable(line) else {
                if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
                    number += counted[..counted.len() - rest.len()].matches('\n').count();
                    counted = rest;
                    file.unclear.push(number);
                }
                rest = behind;
                continue;
            };
            let from = &rest[line.len() - value.len()..];
            let quote = value.chars().next().filter(|c| "\"'`".contains(*c));
            let (written, next) = match quote.and_then(|quote| quoted(&from[1..], quote)) {
                Some(quoted) => quoted,
                None => (value.split_once(" #").or_else(|| value.split_once("\t#")).map_or(value, |(value, _)| value).trim(), behind),
            };
            // A quote that nothing closes belongs to the value for some readers only.
            let inner = quote.and_then(|quote| written.strip_prefix(quote)).unwrap_or(written);
            let plain = unescaped(inner);
            let expanded = expanded(&plain, &known, MOST_MADE - made);
            made += if expanded == plain { 0 } else { expanded.len() };
            known.insert(name, expanded.clone());
            // What has the value in it, such as its quotes, is no spelling of its own: they stay where they are.
            let is_own = |spelling: &&str| !spelling.contains(&expanded);
            let spellings = [written, inner, value.trim(), &plain].into_iter().filter(is_own).map(str::to_owned).collect();
            file.variables.push(EnvVariable { name: name.to_owned(), value: expanded, spellings });
            rest = next;
        }
        file
    }
}

/// A value with the variables above it in the place of their names, if that is no longer than `most`.
fn expanded(value: &str, known: &HashMap<&str, String>, most: usize) -> String {
    if !value.contains('$') {
        return value.to_owned();
    }
    let mut pieces = value.split('$');
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let bare = piece.find(|c| !is_name(c)).unwrap_or(piece.len());
        let (name, behind) = piece.strip_prefix('{').and_then(|inside| inside.split_once('}')).unwrap_or((&piece[..bare], &piece[bare..]));
        match known.get(name) {
            Some(value) => whole.extend([value.as_str(), behind]),
            None => whole.extend(["$", piece]),
        }
        if whole.len() > most {
            return value.to_owned();
        }
    }
    whole
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Name and value of a line.
fn variable(line: &str) -> Option<(&str, &str)> {
    let start = line.trim_start();
    let (name, value) = start.strip_prefix("export ").unwrap_or(start).split_once(['=', ':'])?;
    let name = name.trim().trim_matches(['"', '\'']);
    let is_named = !name.is_empty() && name.chars().all(|c| is_name(c) || matches!(c, '-' | '.'));
    is_named.then_some((name, value.trim_start()))
}

/// What is before the closing quote, and the lines behind it. With more text behind the quote, it is another one's.
fn quoted(text: &str, quote: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let (end, _) = text.char_indices().find(|(_, c)| {
        let closes = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        closes
    })?;
    let (line, next) = text[end + 1..].split_once('\n').unwrap_or((&text[end + 1..], ""));
    let closes = !text[..end].contains('\n') || matches!(line.trim_start().chars().next(), None | Some('#' | ','));
    closes.then_some((&text[..end], next))
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match if c == '\\' { chars.next() } else { None } {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some(escaped) => plain.push(escaped),
            None => plain.push(c),
        }
    }
    plain
}

/// The text of UTF-16, told by its mark or by the zeros of its first character.
fn utf16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] | [1..=255, 0, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] | [0, 1..=255, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    Some(String::from_utf16_lossy(&units).trim_start_matches('\u{feff}').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(file: &EnvFile) -> Vec<(&str, &str)> {
        file.variables.iter().map(|variable| (variable.name.as_str(), variable.value.as_str())).collect()
    }

    #[test]
    fn the_variables_of_an_env_file_are_read_however_they_are_written() {
        let text = "# X_KEY=no\nA_KEY=one=two\nexport B_TOKEN=\"with space\"\n C = 'x' \nJ_KEY=commented # prod\nQ_KEY=\"quoted\" # c\n\
            R_SECRET=\"es\\\"c\"\nZ_KEY=\"a\nb\"\nW_KEY=w\\ w\nK_KEY=`tick`\nY_KEY: in yaml\n\"T_KEY\": \"in json\",\n\
            E_KEY=${C}-$K_KEY-$NONE\nOPEN_KEY=\"open\nN_KEY=\"next\"\n";
        let file = EnvFile::of(text);
        let wanted = [
            ("A_KEY", "one=two"),
            ("B_TOKEN", "with space"),
            ("C", "x"),
            ("J_KEY", "commented"),
            ("Q_KEY", "quoted"),
            ("R_SECRET", "es\"c"),
            ("Z_KEY", "a\nb"),
            ("W_KEY", "w w"),
            ("K_KEY", "tick"),
            ("Y_KEY", "in yaml"),
            ("T_KEY", "in json"),
            ("E_KEY", "x-tick-$NONE"),
            ("OPEN_KEY", "open"),
            ("N_KEY", "next"),
        ];
        assert_eq!((pairs(&file), file.not_understood()), (wanted.to_vec(), None));
    }

    #[test]
    fn lines_that_are_no_variables_are_told_by_their_number() {
        let file = EnvFile::of("A_KEY=value\n\n# note\nsetenv B_KEY value\nC_KEY value\n");
        assert_eq!(file.unclear, [4, 5]);
        let told = file.not_understood().unwrap();
        assert_eq!(told, "`.env`: line 4 and 1 more can't be read as `NAME=value`, so a secret there is not hidden");
    }

    #[test]
    fn an_env_file_in_utf_16_is_read() {
        for (mark, bytes) in
            [(vec![0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), (vec![], u16::to_le_bytes), (vec![0xfe, 0xff], u16::to_be_bytes)]
        {
            let folder = tempfile::tempdir().unwrap();
            let text: Vec<u8> = "A_KEY=välue\r\n".encode_utf16().flat_map(bytes).collect();
            std::fs::write(folder.path().join(".env"), [mark, text].concat()).unwrap();
            let file = EnvFile::read(folder.path()).unwrap();
            assert_eq!(pairs(&file), [("A_KEY", "välue")]);
            assert!(file.variables[0].spellings.contains(&"v\0ä\0l\0u\0e".to_owned()));
        }
    }
}

//! Whether a command is one plain command, and what a rule's pattern covers of it. A shell has many ways to do more than its first words say:
//! whatever isn't plain is covered by no pattern.

/// Options by which programs write files, or run other programs, where a pattern lets more words follow. Git takes the beginning of a long
/// option for the whole, so each of these covers its beginnings too.
const REACHING: [&str; 23] = [
    "--compress-program",
    "--config",
    "--config-env",
    "--exec",
    "--exec-path",
    "--ext-diff",
    "--files0-from",
    "--in-place",
    "--open-files-in-pager",
    "--output",
    "--output-directory",
    "--pager",
    "--receive-pack",
    "--rsh",
    "--textconv",
    "--to-command",
    "--upload-pack",
    "--use-compress-program",
    "-delete",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
];

/// Programs whose further words are programs themselves: more words after these are never covered.
const RUNNERS: [&str; 24] = [
    "awk", "bash", "busybox", "dash", "dc", "ed", "env", "ex", "gawk", "lua", "mawk", "node", "perl", "php", "python", "python3", "ruby",
    "sed", "sh", "ssh", "tar", "vim", "xargs", "zsh",
];

/// The words of one plain command: no operator, substitution, redirect, assignment, glob, quote, comment or second line.
fn words(command: &str) -> Option<Vec<&str>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./:,+=@%^".contains(c);
    if !command.chars().all(is_plain) {
        return None;
    }
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    // An assignment before the command changes what it does.
    words.first().filter(|first| !first.contains('=')).is_some().then_some(words)
}

/// Whether a pattern covers a command: the same words, or, where the pattern ends in ` *`, more words without options that write or run.
pub(super) fn covers(pattern: &str, command: &str) -> bool {
    let (pattern, is_open) = pattern.strip_suffix(" *").map_or((pattern, false), |start| (start, true));
    let (Some(pattern), Some(command)) = (words(pattern), words(command)) else { return false };
    let Some(rest) = command.strip_prefix(&pattern[..]) else { return false };
    let runs_words = || command.first().and_then(|first| first.rsplit('/').next()).is_some_and(|name| RUNNERS.contains(&name));
    rest.is_empty() || is_open && !runs_words() && !rest.iter().any(|word| reaches(word))
}

/// Whether a pattern can cover any command.
pub(super) fn is_pattern(pattern: &str) -> bool {
    words(pattern.strip_suffix(" *").unwrap_or(pattern)).is_some()
}

fn reaches(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    // Letters of several short options may stand in one word.
    let is_short = |letter: char| name.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter));
    let is_begun = |option: &&str| name.len() > 2 && name.starts_with('-') && option.starts_with(name);
    // `-c` sets what a program is configured to run, `-o` and `-O` where it writes, `-f…` of find writes too.
    ['c', 'o', 'O'].into_iter().any(is_short) || name.starts_with("-fprint") || name == "-fls" || REACHING.iter().any(is_begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_the_same_words_and_more_only_where_it_says_so() {
        assert!(covers("cargo test", "cargo  test "));
        assert!(!covers("cargo test", "cargo test --lib") && covers("cargo test *", "cargo test --lib"));
        assert!(covers("git log *", "git log") && covers("git log *", "git log --oneline -n 3 src/main.rs"));
        assert!(!covers("git log *", "git logs") && !covers("git log *", "git -P log"));
    }

    #[test]
    fn nothing_that_does_more_than_one_plain_command_is_covered() {
        for more in [
            "; rm a", "&& rm a", "| sh", "> a", "< a", "$(rm a)", "`rm a`", "$HOME", "\"a\"", "'a'", "*.rs", "a?", "[a]", "~", "{a,b}",
            "# a", "\nrm a", "\rrm", "\\", "!", "&", "(a)", "\u{a0}a", "a\tb",
        ] {
            assert!(!covers("git log *", &format!("git log {more}")), "{more:?}");
            assert!(!covers("git log", &format!("git log{more}")), "{more:?}");
        }
        assert!(!covers("git log *", "GIT_PAGER=x git log") && !covers("A=1 git", "A=1 git") && !covers("", "") && !covers("*", "ls"));
    }

    #[test]
    fn options_that_write_or_run_are_not_covered_however_they_are_spelled() {
        for option in [
            "--output=a",
            "--output a",
            "--outp a",
            "-c core.pager=x",
            "-ccore.pager=x",
            "--ext-diff",
            "--ext",
            "--textconv",
            "-oa",
            "--config-e x",
        ] {
            assert!(!covers("git log *", &format!("git log {option}")), "{option}");
        }
        assert!(!covers("find *", "find . -delete") && !covers("find *", "find . -exec rm a") && !covers("find *", "find . -fprintf a b"));
        assert!(!covers("sort *", "sort -uoa b") && !covers("sort *", "sort --compress-program=./x a") && covers("sort *", "sort -un a"));
        assert!(!covers("sed -n *", "sed -n 1e./x a") && !covers("/bin/sed *", "/bin/sed p a") && covers("sed -n p a", "sed -n p a"));
        assert!(covers("git log --output *", "git log --output"), "what a person wrote is what they meant");
    }
}

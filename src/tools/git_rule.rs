//! Whether a repository keeps to what a rule for a `git` command means: a repository's own settings and hooks can have git run any program,
//! so a rule covers git only where there are none but the usual ones. Settings of the user are the user's own.

use std::fs;
use std::path::Path;

/// The settings that `git init`, `git clone` and `git branch` write, and others that name no program: section, then keys.
const USUAL: [(&str, &[&str]); 6] = [
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
        ],
    ),
    ("remote", &["url", "pushurl", "fetch", "tagopt", "prune"]),
    ("branch", &["remote", "merge", "rebase", "description"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("extensions", &["objectformat", "refstorage"]),
];

/// Whether a command, by its first word, is git's.
pub(super) fn is_git(command: &str) -> bool {
    command.split_whitespace().next().and_then(|first| first.rsplit('/').next()) == Some("git")
}

/// Whether the repository that git finds from a folder upwards has only usual settings and no hook; so has a folder without one.
pub(super) fn is_usual(workspace: &Path) -> bool {
    for folder in workspace.ancestors() {
        // A folder that is itself laid out like a repository is one to git.
        if folder.join("HEAD").exists() && folder.join("objects").exists() {
            return false;
        }
        let git = folder.join(".git");
        if fs::symlink_metadata(&git).is_ok() {
            let has_other = ["config.worktree", "commondir"].iter().any(|name| git.join(name).exists());
            return !has_other
                && fs::read_to_string(git.join("config")).is_ok_and(|text| has_usual(&text))
                && !has_hooks(&git.join("hooks"));
        }
    }
    true
}

fn has_usual(config: &str) -> bool {
    let mut section = String::new();
    config.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).all(|line| {
        if let Some(head) = line.strip_prefix('[') {
            section = head.split([' ', ']', '.']).next().unwrap_or_default().to_ascii_lowercase();
            return head.ends_with(']') && head.matches(']').count() == 1;
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
        let known = USUAL.iter().find(|(name, _)| *name == section);
        // A value that goes on in the next line could hide what that line is.
        !line.ends_with('\\') && known.is_some_and(|(_, keys)| keys.contains(&key.as_str()))
    })
}

/// Whether there is a hook, or what is there can't be told. Samples don't run.
fn has_hooks(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => !entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".sample"))),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempdir;

    const CLONED: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://a.example/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n# mine\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn settings_by_which_git_runs_a_program_are_not_usual() {
        assert!(has_usual(CLONED) && has_usual("[core]\n\tfilemode = true\n"));
        for more in [
            "[diff \"x\"]\n\ttextconv = ./run",
            "[core]\n\tpager = ./run",
            "[core] fsmonitor = ./run",
            "[core]\n\thooksPath = ./hooks",
            "[log]\n\tshowSignature = true",
            "[gpg]\n\tprogram = ./run",
            "[include]\n\tpath = more",
            "[includeIf \"gitdir:a\"]\n\tpath = more",
            "[alias]\n\tlog = !./run",
            "[user]\n\tname = a\\\n\temail = b",
            "[remote \"origin\"]\n\tuploadpack = ./run",
            "fsmonitor = ./run",
        ] {
            assert!(!has_usual(&format!("{CLONED}{more}\n")), "{more}");
        }
    }

    #[test]
    fn a_repository_with_a_hook_or_in_a_form_that_is_not_looked_into_is_not_usual() {
        let folder = tempdir().unwrap();
        let git = folder.path().join(".git");
        assert!(is_usual(folder.path()));
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("config"), CLONED).unwrap();
        fs::write(git.join("hooks/pre-commit.sample"), "").unwrap();
        fs::create_dir(folder.path().join("inside")).unwrap();
        assert!(is_usual(folder.path()) && is_usual(&folder.path().join("inside")));
        fs::write(git.join("hooks/post-index-change"), "").unwrap();
        assert!(!is_usual(folder.path()) && !is_usual(&folder.path().join("inside")));
        fs::remove_dir_all(&git).unwrap();
        fs::write(&git, "gitdir: ../elsewhere\n").unwrap();
        assert!(!is_usual(folder.path()));
        fs::remove_file(&git).unwrap();
        fs::write(folder.path().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir(folder.path().join("objects")).unwrap();
        assert!(!is_usual(folder.path()));
    }

    #[test]
    fn git_is_known_by_its_name() {
        assert!(is_git("git log") && is_git(" /usr/bin/git log") && !is_git("gitk") && !is_git("echo git"));
    }
}

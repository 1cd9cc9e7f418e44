//! One run of git: its own environment and settings over those of the repository, in a process that writes nothing, reaches no network and
//! can start no other program. Only a repository of the workspace is opened, whatever its files refer to.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::files;
use crate::tools::builtin::shared::program;
use crate::tools::{
    ToolError, Workspace,
    sandbox::{self, Confined, ConfinedCommand, Feed, ProcessLimits, SandboxConfig},
};

/// Longest answer in bytes.
const OUTPUT: usize = 2 << 20;
/// Largest file that names a repository, in bytes.
const POINTER_BYTES: u64 = 64 << 10;
/// Longest time in seconds.
const TIME_S: u64 = 30;

/// Settings that hold over the repository's own: nothing is started, nothing is read elsewhere, and the form of the answers is fixed.
const SETTINGS: [&str; 20] = [
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "core.preloadIndex=false",
    "credential.helper=",
    "protocol.allow=never",
    "log.showSignature=false",
    "log.follow=false",
    "gpg.program=/dev/null",
    "submodule.recurse=false",
    "mailmap.file=",
    "mailmap.blob=",
    "blame.ignoreRevsFile=",
    "diff.orderFile=/dev/null",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "color.ui=false",
];

const ENVIRONMENT: [(&str, &str); 9] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("LC_ALL", "C.UTF-8"),
];

/// The program.
pub(super) struct GitProcess {
    program: PathBuf,
    sandbox: SandboxConfig,
}

/// The repository that a workspace is.
pub(super) struct Repository<'g> {
    process: &'g GitProcess,
    root: PathBuf,
    git: PathBuf,
    common: PathBuf,
}

impl GitProcess {
    /// The program on the path.
    pub(super) fn find(sandbox: SandboxConfig) -> Option<Self> {
        Some(Self { program: program("git")?, sandbox })
    }

    /// The repository whose top is the workspace.
    pub(super) fn open(&self, workspace: &Workspace) -> Result<Repository<'_>, ToolError> {
        let root = workspace.root().to_path_buf();
        let dot = root.join(".git");
        let kind = dot.symlink_metadata().map_err(|_| no_repository(&root))?.file_type();
        let elsewhere = || ToolError::refused("`.git` refers to a repository outside the workspace");
        let real = |path: PathBuf| path.canonicalize().map_err(|_| elsewhere());
        let (git, common) = if kind.is_dir() {
            (dot.clone(), dot)
        } else if kind.is_file() {
            let text = files::read_text(&dot, POINTER_BYTES).unwrap_or_default();
            let git = real(root.join(text.strip_prefix("gitdir:").unwrap_or_default().trim()))?;
            let line = |name: &str| files::read_text(&git.join(name), POINTER_BYTES).map(|text| git.join(text.trim()));
            // A work tree beside the repository's own: the repository must know of it.
            let is_known = git.starts_with(&root) || line("gitdir").is_ok_and(|back| back.canonicalize().is_ok_and(|back| back == dot));
            if !is_known {
                return Err(elsewhere());
            }
            let common = line("commondir").map_or_else(|_| Ok(git.clone()), real)?;
            (git, common)
        } else {
            return Err(elsewhere());
        };
        Ok(Repository { process: self, root, git, common })
    }
}

fn no_repository(root: &Path) -> ToolError {
    let error = ToolError::refused("the workspace is no git repository");
    match root.ancestors().skip(1).find(|above| above.join(".git").exists()) {
        Some(above) => error.hint(format!("it is inside the repository `{0}`: start dagdeck with `--workspace {0}`", above.display())),
        None => error,
    }
}

impl Repository<'_> {
    /// What git writes to stdout.
    ///
    /// # Errors
    /// In git's words.
    pub(super) async fn run(&self, args: &[String]) -> Result<Vec<u8>, ToolError> {
        let program = [self.process.program.to_string_lossy().into_owned(), "--no-pager".into()];
        let settings = SETTINGS.iter().flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()]);
        let confined = Confined {
            command: ConfinedCommand::Alone(program.into_iter().chain(settings).chain(args.iter().cloned()).collect()),
            writable: Vec::new(),
            network: false,
            memory_mb: 2048,
            cpu_s: TIME_S,
            // It changes nothing, and can start nothing.
            mounts: false,
        };
        let failed = |cause: String| ToolError::failed(format!("git can't be started: {cause}"));
        let mut command = sandbox::wrap(&self.process.sandbox, &confined).map_err(|cause| failed(cause.to_string()))?;
        command.env_clear().envs(ENVIRONMENT).envs(std::env::var_os("TZ").map(|zone| ("TZ", zone)));
        command.env("GIT_DIR", &self.git).env("GIT_COMMON_DIR", &self.common).env("GIT_WORK_TREE", &self.root).current_dir(&self.root);
        let caps = ProcessLimits { wall: Duration::from_secs(TIME_S), stdout: OUTPUT * 2, stderr: 16 << 10 };
        let done = sandbox::run(command, Feed::Lifeline, &caps, None).await.map_err(|cause| failed(cause.to_string()))?;
        let Some(status) = done.status else {
            return Err(ToolError::refused(format!("git was stopped after {TIME_S} s")).hint("narrow it with `path`, `since` or `limit`"));
        };
        if !status.success() {
            let text = done.stderr.text();
            let line = text.lines().find(|line| line.starts_with("fatal: ")).or_else(|| text.lines().next()).unwrap_or("no message");
            return Err(ToolError::refused(format!("git: {}", line.trim_start_matches("fatal: ").trim_start_matches("error: "))));
        }
        done.stdout.whole().filter(|bytes| bytes.len() <= OUTPUT).ok_or_else(|| {
            ToolError::refused("the answer is larger than 2 MiB").hint("narrow it with `path`, `revision`, `since` or `limit`")
        })
    }
}

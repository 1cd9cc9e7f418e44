//! Limits that a worker sets on itself: resource limits everywhere, and on Linux a system call filter and, for commands, Landlock.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::job::{QUERY_TIME_MS, SandboxJob};

/// What this computer can confine commands with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Files outside the workspace can be protected from writing (Landlock).
    pub files: bool,
    /// The network can be cut off (seccomp).
    pub network: bool,
}

impl Confinement {
    /// What is missing, in words for a person.
    pub fn missing(self) -> Option<String> {
        let files = "this kernel has no Landlock, so files outside the workspace are not protected from commands";
        let network = "this system has no seccomp, so commands are not cut off from the network";
        match (self.files, self.network) {
            (true, true) => None,
            (false, true) => Some(files.into()),
            (true, false) => Some(network.into()),
            (false, false) => Some(format!("{files}; {network}")),
        }
    }
}

/// What this computer can confine commands with.
pub fn confinement() -> Confinement {
    platform::confinement()
}

/// Confines a worker that runs code in-process: no file, no socket, no child.
pub(super) fn worker(job: &SandboxJob) -> Result<(), String> {
    let (memory_mb, time_ms) = match job {
        SandboxJob::Javascript { memory_mb, time_ms, .. } => (*memory_mb, *time_ms),
        SandboxJob::Query(_) => (1_024, QUERY_TIME_MS),
        SandboxJob::Html { .. } => (512, 3_000),
    };
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    // At the lower of both limits the signal says why; at the higher one it would be the signal of every other kill.
    let cpu_s = time_ms.div_ceil(1_000) + 1;
    limit_softly(Resource::Cpu, cpu_s, cpu_s + 1)?;
    // The engine has a limit of its own; this one is for what it doesn't count.
    limit(Resource::Data, (memory_mb + 256) << 20)?;
    platform::filter_worker()
}

/// Limits of a command.
pub(super) struct CommandLimits<'a> {
    /// Directories that may be written to.
    pub(super) writable: &'a [std::path::PathBuf],
    /// Whether the network may be used.
    pub(super) network: bool,
    /// Memory of one process in MiB.
    pub(super) memory_mb: u64,
    /// Processor time of one process in seconds.
    pub(super) cpu_s: u64,
}

/// Confines this process and what it will become.
pub(super) fn command(limits: &CommandLimits<'_>) -> Result<(), String> {
    limit(Resource::Core, 0)?;
    limit(Resource::Cpu, limits.cpu_s)?;
    limit(Resource::Data, limits.memory_mb << 20)?;
    limit(Resource::Fsize, 4 << 30)?;
    // Counted over all processes of the user, so it can only stop an explosion.
    limit(Resource::Nproc, 8192)?;
    platform::drop_privileges()?;
    platform::protect_files(limits.writable)?;
    platform::filter_command(limits.network)
}

/// Puts this process into a namespace where all directories but these are read-only: also what Landlock leaves open, such as modes and times.
pub(super) fn mounts(writable: &[std::path::PathBuf]) -> Result<(), String> {
    platform::protect_mounts(writable)
}

/// Keeps this process, and what it becomes, from starting another one; threads are free.
pub(super) fn alone() -> Result<(), String> {
    platform::forbid_children()
}

/// Lowers a limit for good; never raises one that is lower already.
fn limit(resource: Resource, value: u64) -> Result<(), String> {
    limit_softly(resource, value, value)
}

/// Lowers a limit to `value`, and what it may be raised to again to `maximum`.
fn limit_softly(resource: Resource, value: u64, maximum: u64) -> Result<(), String> {
    let now = getrlimit(resource);
    let lower = |now: Option<u64>, value: u64| Some(now.map_or(value, |now| now.min(value)));
    let new = Rlimit { current: lower(now.current.or(now.maximum), value), maximum: lower(now.maximum, maximum) };
    setrlimit(resource, new).map_err(|cause| format!("{resource:?} can't be limited: {cause}"))
}

#[cfg(target_os = "linux")]
mod platform {
    use landlock::{
        ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, Scope,
        path_beneath_rules,
    };
    use rustix::mount::{MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount};
    use rustix::process::{getgid, getuid};
    use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags, capabilities, set_capabilities};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, apply_filter_all_threads,
    };
    use std::{collections::BTreeMap, path::PathBuf};

    use super::Confinement;

    /// Newest rules used; older kernels get what they know of them.
    const LANDLOCK: ABI = ABI::V6;

    /// Pushes input into a terminal; its type differs between C libraries.
    const TIOCSTI: u64 = 0x5412;

    macro_rules! system_calls {
        ($($call:ident)*) => { [$(libc::$call),*] };
    }

    /// All that a worker needs once its job is read: memory, time, its pipes, its end.
    const WORKER: &[i64] = &system_calls![
        SYS_read SYS_write SYS_writev SYS_close SYS_fstat SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_madvise SYS_brk
        SYS_futex SYS_clock_gettime SYS_clock_getres SYS_gettimeofday SYS_getrandom SYS_sigaltstack SYS_rt_sigaction
        SYS_rt_sigprocmask SYS_rt_sigreturn SYS_restart_syscall SYS_sched_yield SYS_sched_getaffinity SYS_getpid SYS_gettid
        SYS_rseq SYS_membarrier SYS_set_robust_list SYS_nanosleep SYS_exit SYS_exit_group
    ];

    /// What a command is kept from: leaving its process group, other processes' insides, the kernel's own affairs.
    const COMMAND: &[i64] = &system_calls![
        SYS_setsid SYS_setpgid SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_pidfd_getfd SYS_unshare SYS_setns
        SYS_mount SYS_umount2 SYS_pivot_root SYS_move_mount SYS_open_tree SYS_fsopen SYS_fsmount SYS_open_by_handle_at SYS_bpf
        SYS_perf_event_open SYS_userfaultfd SYS_add_key SYS_request_key SYS_keyctl SYS_init_module SYS_finit_module
        SYS_delete_module SYS_kexec_load SYS_reboot SYS_swapon SYS_swapoff SYS_io_uring_setup
    ];

    pub(super) fn confinement() -> Confinement {
        let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::from_all(ABI::V1));
        Confinement {
            files: rules.and_then(Ruleset::create).is_ok(),
            network: seccompiler::TargetArch::try_from(std::env::consts::ARCH).is_ok(),
        }
    }

    pub(super) fn filter_worker() -> Result<(), String> {
        let rules = WORKER.iter().map(|call| (*call, Vec::new())).collect();
        apply(rules, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow)
    }

    pub(super) fn filter_command(network: bool) -> Result<(), String> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = COMMAND.iter().map(|call| (*call, Vec::new())).collect();
        if !network {
            // Local sockets too: behind one may sit a daemon that does anything. Pairs of sockets within the group still work.
            rules.insert(libc::SYS_socket, Vec::new());
        }
        // Pushing input into the terminal that dagdeck was started from.
        let push = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, TIOCSTI);
        let rule = push.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|cause| cause.to_string())?;
        rules.insert(libc::SYS_ioctl, vec![rule]);
        // In a namespace of users a process has all powers over it.
        let users = SeccompCmpOp::MaskedEq(libc::CLONE_NEWUSER as u64);
        let namespace = SeccompCondition::new(0, SeccompCmpArgLen::Dword, users, libc::CLONE_NEWUSER as u64);
        let rule = namespace.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|cause| cause.to_string())?;
        rules.insert(libc::SYS_clone, vec![rule]);
        apply(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32))?;
        forbid_clone3()
    }

    /// Its flags are behind a pointer. Without it the C library goes by the older call.
    fn forbid_clone3() -> Result<(), String> {
        let newer = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        apply(newer, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32))
    }

    pub(super) fn forbid_children() -> Result<(), String> {
        let all = || SeccompCmpOp::MaskedEq(libc::CLONE_THREAD as u64);
        let no_thread = SeccompCondition::new(0, SeccompCmpArgLen::Dword, all(), 0);
        let rule = no_thread.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|cause| cause.to_string())?;
        let mut rules = BTreeMap::from([(libc::SYS_clone, vec![rule])]);
        #[cfg(target_arch = "x86_64")]
        rules.extend([(libc::SYS_fork, Vec::new()), (libc::SYS_vfork, Vec::new())]);
        apply(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32))?;
        forbid_clone3()
    }

    fn apply(rules: BTreeMap<i64, Vec<SeccompRule>>, otherwise: SeccompAction, matched: SeccompAction) -> Result<(), String> {
        let filter = || {
            let filter = SeccompFilter::new(rules, otherwise, matched, std::env::consts::ARCH.try_into()?)?;
            BpfProgram::try_from(filter)
        };
        let program = filter().map_err(|cause| cause.to_string())?;
        apply_filter_all_threads(&program).map_err(|cause| cause.to_string())
    }

    /// What is left of the superuser's powers is what ordinary work on files needs. Above all the powers to look into other
    /// processes go, which Landlock doesn't withhold from their holder: dagdeck's environment holds the keys.
    pub(super) fn drop_privileges() -> Result<(), String> {
        const KEPT: CapabilitySet = CapabilitySet::CHOWN
            .union(CapabilitySet::DAC_OVERRIDE)
            .union(CapabilitySet::FOWNER)
            .union(CapabilitySet::FSETID)
            .union(CapabilitySet::SETUID)
            .union(CapabilitySet::SETGID)
            .union(CapabilitySet::KILL);
        let failed = |cause: rustix::io::Errno| format!("privileges can't be dropped: {cause}");
        let now = capabilities(None).map_err(failed)?;
        let less = CapabilitySets { effective: now.effective & KEPT, permitted: now.permitted & KEPT, inheritable: CapabilitySet::empty() };
        // The filters below forbid new privileges, so no program brings any back.
        set_capabilities(None, less).map_err(failed)
    }

    pub(super) fn protect_mounts(writable: &[PathBuf]) -> Result<(), String> {
        let writable: Vec<PathBuf> =
            writable.iter().map(|folder| folder.canonicalize()).collect::<Result<_, _>>().map_err(|cause| failed("a directory", &cause))?;
        enter_namespace().map_err(|cause| failed("a namespace", &cause))?;
        let all = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", all).map_err(|cause| failed("`/`", &cause))?;
        for folder in &writable {
            mount_bind_recursive(folder, folder).map_err(|cause| failed("a directory", &cause))?;
        }
        let known = std::fs::read_to_string("/proc/self/mountinfo").map_err(|cause| failed("the list of mounts", &cause))?;
        let open = known
            .lines()
            .filter_map(mount)
            .filter(|(place, flags)| !flags.contains(MountFlags::RDONLY) && !writable.iter().any(|folder| place.starts_with(folder)));
        for (place, flags) in open {
            let read_only = MountFlags::BIND | MountFlags::RDONLY | flags;
            mount_remount(&place, read_only, "").map_err(|cause| failed(&format!("`{}`", place.display()), &cause))?;
        }
        // The working directory is still the one behind the mounts as they were.
        std::env::current_dir().and_then(std::env::set_current_dir).map_err(|cause| failed("the working directory", &cause))
    }

    fn failed(what: &str, cause: &dyn std::fmt::Display) -> String {
        format!("{what}: {cause}")
    }

    /// The superuser's own namespace of mounts; of others one in which they may change it, with the same user and group.
    #[expect(deprecated, reason = "files stay shared, so that the reason for which it is deprecated doesn't hold")]
    fn enter_namespace() -> std::io::Result<()> {
        use rustix::thread::unshare;
        if unshare(UnshareFlags::NEWNS).is_ok() {
            return Ok(());
        }
        let (user, group) = (getuid().as_raw(), getgid().as_raw());
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
    }

    /// A line of the list of mounts: the place, and the flags that a change of it has to keep.
    fn mount(line: &str) -> Option<(PathBuf, MountFlags)> {
        let mut fields = line.split(' ').skip(4);
        let (place, options) = (fields.next()?, fields.next()?);
        let flag = |option: &str| match option {
            "ro" => MountFlags::RDONLY,
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            "nosymfollow" => MountFlags::NOSYMFOLLOW,
            _ => MountFlags::empty(),
        };
        let flags = options.split(',').map(flag).fold(MountFlags::empty(), MountFlags::union);
        // What would end a field is written as its number.
        let place = ["\\040", "\\011", "\\012", "\\134"]
            .iter()
            .zip([" ", "\t", "\n", "\\"])
            .fold(place.to_owned(), |place, (number, letter)| place.replace(number, letter));
        Some((PathBuf::from(place), flags))
    }

    /// Everything may be read and run; only these directories and the harmless devices may be written to.
    pub(super) fn protect_files(writable: &[PathBuf]) -> Result<(), String> {
        let devices = ["/dev/null", "/dev/zero", "/dev/full"].map(PathBuf::from);
        let rules = || {
            Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(LANDLOCK))?
                .scope(Scope::from_all(LANDLOCK))?
                .create()?
                .add_rules(path_beneath_rules(["/"], AccessFs::from_read(LANDLOCK)))?
                .add_rules(path_beneath_rules(writable, AccessFs::from_all(LANDLOCK)))?
                .add_rules(path_beneath_rules(devices, AccessFs::from_file(LANDLOCK)))?
                .restrict_self()
        };
        rules().map(|_| ()).map_err(|cause: landlock::RulesetError| cause.to_string())
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::path::PathBuf;

    use super::Confinement;

    pub(super) fn confinement() -> Confinement {
        Confinement { files: false, network: false }
    }

    pub(super) fn protect_mounts(_writable: &[PathBuf]) -> Result<(), String> {
        Err("this system has no namespaces of mounts".to_owned())
    }

    pub(super) fn filter_worker() -> Result<(), String> {
        Ok(())
    }

    pub(super) fn filter_command(_network: bool) -> Result<(), String> {
        Ok(())
    }

    pub(super) fn forbid_children() -> Result<(), String> {
        Ok(())
    }

    pub(super) fn drop_privileges() -> Result<(), String> {
        Ok(())
    }

    pub(super) fn protect_files(_writable: &[PathBuf]) -> Result<(), String> {
        Ok(())
    }
}

//! Which system calls a confined command may make.
//!
//! All but a list. Calls that programs try and can do without answer "not permitted"; `clone3` and
//! `openat2`, whose flags a filter cannot see, answer "not there", so that programs use others.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter, sock_filter,
};

/// Never needed, and each a way out, around or into something.
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    OPEN_TREE_ATTR,
    // The kernel's wide surfaces.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_open_by_handle_at,
    // Keys.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_settimeofday,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Too new for the C library's list; the same number everywhere.
const OPEN_TREE_ATTR: i64 = 467;

/// What reaches programs of the same user where there is no namespace around it.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// What changes a file without opening it for writing, which Landlock lets pass.
const CHANGING: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    FILE_SETATTR,
];

/// Too new for the C library's list; the same numbers everywhere.
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

/// Calls that set the mode of a file, and which argument that is.
const MODES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// Calls that may make a file, with the arguments that say so and give it its mode.
const MAKING: &[(i64, u8, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
    (libc::SYS_openat, 2, 3),
];

/// Flags of `open` without which the mode means nothing.
const MAKES: &[i32] = &[libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// A program with one of these runs with the rights of whoever owns it.
const BORROWED_RIGHTS: &[u64] = &[0o4000, 0o2000];

/// Flags of `clone` that make namespaces.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Typing into a terminal for somebody else.
const TERMINAL: &[u64] = &[0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];

/// Above this are the numbers of a second way to make every call on x86.
const SECOND_NUMBERS: u32 = 0x4000_0000;

/// What a command may do with sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Nothing.
    None,
    /// TCP and UDP, in a network of its own.
    Own,
}

/// What a command may do with files, where nothing but Landlock is in its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// Reads them.
    Read,
    /// Writes some of them, which takes calls that cannot be told apart by where they lead.
    Written,
}

/// The filters, compiled.
#[derive(Debug)]
pub(crate) struct Filters {
    none: BpfProgram,
    own: BpfProgram,
    shared: BpfProgram,
    changing: BpfProgram,
    lending: BpfProgram,
    not_there: BpfProgram,
}

impl Filters {
    /// Compiles them.
    pub(crate) fn compile() -> Result<Self, seccompiler::Error> {
        // The mode of a file that `openat2` makes cannot be seen, either.
        let not_there =
            BTreeMap::from([(libc::SYS_clone3, Vec::new()), (libc::SYS_openat2, Vec::new())]);
        let mut lending = Rules::new();
        modes(&mut lending)?;
        Ok(Self {
            none: program(rules(Sockets::None)?, libc::EPERM)?,
            own: program(rules(Sockets::Own)?, libc::EPERM)?,
            shared: program(all(SHARED), libc::EPERM)?,
            changing: program(all(CHANGING), libc::EPERM)?,
            lending: program(lending, libc::EPERM)?,
            not_there: program(not_there, libc::ENOSYS)?,
        })
    }

    /// Applies them to this process, for good.
    pub(crate) fn apply(&self, sockets: Sockets) -> Result<(), seccompiler::Error> {
        if cfg!(target_arch = "x86_64") {
            apply_filter(&second_numbers())?;
        }
        apply_filter(&self.not_there)?;
        apply_filter(match sockets {
            Sockets::None => &self.none,
            Sockets::Own => &self.own,
        })
    }

    /// Applies them to this process, and also refuses what namespaces would have stopped.
    pub(crate) fn apply_alone(&self, files: Files) -> Result<(), seccompiler::Error> {
        apply_filter(&self.shared)?;
        apply_filter(match files {
            Files::Read => &self.changing,
            Files::Written => &self.lending,
        })?;
        self.apply(Sockets::None)
    }
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refuses whatever matches; what belongs to another architecture ends the process.
fn program(rules: Rules, error: i32) -> Result<BpfProgram, seccompiler::Error> {
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let target = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, refuse, target)?.try_into()?)
}

fn all(calls: &[i64]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn rules(sockets: Sockets) -> Result<Rules, seccompiler::Error> {
    let mut rules = all(REFUSED);
    let mut clone = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        clone.push(rule(vec![is(0, SeccompCmpOp::MaskedEq(flag), flag)?])?);
    }
    rules.insert(libc::SYS_clone, clone);
    let mut ioctl = Vec::new();
    for request in TERMINAL {
        ioctl.push(rule(vec![is(1, SeccompCmpOp::Eq, *request)?])?);
    }
    rules.insert(libc::SYS_ioctl, ioctl);
    // Who can write nowhere leaves nothing behind, and every rule takes time.
    if sockets == Sockets::Own {
        modes(&mut rules)?;
    }
    rules.insert(libc::SYS_socketpair, socket_pairs()?);
    rules.insert(
        libc::SYS_socket,
        match sockets {
            Sockets::None => Vec::new(),
            Sockets::Own => own_sockets()?,
        },
    );
    Ok(rules)
}

/// Nobody leaves a program behind that runs with its owner's rights.
fn modes(rules: &mut Rules) -> Result<(), seccompiler::Error> {
    let has = |argument: u8, bits: u64| is(argument, SeccompCmpOp::MaskedEq(bits), bits);
    for (call, mode) in MODES {
        let mut refused = Vec::new();
        for bit in BORROWED_RIGHTS {
            refused.push(rule(vec![has(*mode, *bit)?])?);
        }
        rules.insert(*call, refused);
    }
    for (call, flags, mode) in MAKING {
        let mut refused = Vec::new();
        for bit in BORROWED_RIGHTS {
            for flag in MAKES {
                let flag = u64::from(flag.unsigned_abs());
                refused.push(rule(vec![has(*mode, *bit)?, has(*flags, flag)?])?);
            }
        }
        rules.insert(*call, refused);
    }
    Ok(())
}

/// Only those of the internet, and none that make their own packets.
fn own_sockets() -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let not = |family: i32| is(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()));
    let mut rules = vec![rule(vec![not(libc::AF_INET)?, not(libc::AF_INET6)?])?];
    rules.extend(kinds_but(&[libc::SOCK_STREAM, libc::SOCK_DGRAM])?);
    Ok(rules)
}

/// One that keeps no connection could be pointed at any socket of the machine later.
fn socket_pairs() -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let not = is(0, SeccompCmpOp::Ne, u64::from(libc::AF_UNIX.unsigned_abs()))?;
    let mut rules = vec![rule(vec![not])?];
    rules.extend(kinds_but(&[libc::SOCK_STREAM, libc::SOCK_SEQPACKET])?);
    Ok(rules)
}

/// Matches every kind of socket but these.
fn kinds_but(allowed: &[i32]) -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let others = (0..16).filter(|kind| !allowed.contains(kind));
    others
        .map(|kind| rule(vec![is(1, SeccompCmpOp::MaskedEq(0xf), u64::from(kind.unsigned_abs()))?]))
        .collect()
}

fn is(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)?)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, seccompiler::Error> {
    Ok(SeccompRule::new(conditions)?)
}

/// Refuses every call made by its second number.
fn second_numbers() -> BpfProgram {
    let load = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let if_at_least = sock_filter { code: 0x35, jt: 0, jf: 1, k: SECOND_NUMBERS };
    let answer = |k| sock_filter { code: 0x06, jt: 0, jf: 0, k };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    vec![load, if_at_least, answer(refuse), answer(libc::SECCOMP_RET_ALLOW)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiles() {
        let filters = Filters::compile().unwrap();
        assert!(filters.own.len() > filters.none.len());
    }
}

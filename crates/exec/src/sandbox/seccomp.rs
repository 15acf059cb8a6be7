//! The system call filter of both Linux back ends, as a classic BPF program. It shuts what neither mounts nor
//! Landlock can: kinds of sockets, the kernel's keyrings, new user namespaces, typing into a terminal, and calls
//! that no server needs and that have broken sandboxes before. Node and Python run under it.

use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

/// What of the network a server may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sockets {
    /// Sockets of the internet families.
    pub internet: bool,
    /// Unix sockets with a name. Pairs are always there: node talks to its children over them.
    pub unix: bool,
}

#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the system call filter is written for x86_64 and aarch64");

/// Calls that are refused as if permission were missing.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_reboot,
    libc::SYS_syslog,
];

/// Calls that are refused as if the kernel did not know them, so that programs take the older way: io_uring opens
/// sockets past any filter, and clone3 hides its flags from one.
const UNKNOWN: &[libc::c_long] =
    &[libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_clone3];

const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The lower half of an argument; both machines are little-endian.
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

const NEW_USER_NAMESPACE: u32 = 0x1000_0000;
const SOCKET_KIND: u32 = 0xf;
/// Terminal requests that type on behalf of the user.
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;

/// The filter for a choice of sockets.
pub(crate) fn filter(sockets: Sockets) -> Vec<sock_filter> {
    let mut code = Vec::new();
    load(&mut code, ARCHITECTURE);
    code.push(jump(BPF_JEQ, ARCH, 1, 0));
    code.push(refuse(libc::EPERM));
    load(&mut code, NUMBER);
    #[cfg(target_arch = "x86_64")]
    {
        // Numbers from here on are the same calls under another name (x32).
        code.push(jump(libc::BPF_JGE, 0x4000_0000, 0, 1));
        code.push(refuse(libc::EPERM));
    }
    for (calls, errno) in [(REFUSED, libc::EPERM), (UNKNOWN, libc::ENOSYS)] {
        for call in calls {
            code.push(jump(BPF_JEQ, number(*call), 0, 1));
            code.push(refuse(errno));
        }
    }
    block(&mut code, libc::SYS_socket, &families(sockets));
    block(&mut code, libc::SYS_socketpair, &pairs());
    block(&mut code, libc::SYS_ioctl, &requests());
    block(&mut code, libc::SYS_unshare, &no_user_namespace());
    block(&mut code, libc::SYS_clone, &no_user_namespace());
    code.push(allow());
    code
}

/// Only these families: whatever else a kernel knows leads out of the sandbox or into odd corners.
fn families(sockets: Sockets) -> Vec<sock_filter> {
    let mut open = vec![libc::AF_NETLINK];
    if sockets.internet {
        open.extend([libc::AF_INET, libc::AF_INET6]);
    }
    if sockets.unix {
        open.push(libc::AF_UNIX);
    }
    let mut code = Vec::new();
    load(&mut code, argument(0));
    for family in open {
        code.push(jump(BPF_JEQ, family.unsigned_abs(), 0, 1));
        code.push(allow());
    }
    code.push(refuse(libc::EACCES));
    code
}

/// A pair of datagram sockets could be connected anew, to a socket outside.
fn pairs() -> Vec<sock_filter> {
    let mut code = Vec::new();
    load(&mut code, argument(1));
    code.push(statement(BPF_ALU | BPF_AND | BPF_K, SOCKET_KIND));
    code.push(jump(BPF_JEQ, libc::SOCK_DGRAM.unsigned_abs(), 0, 1));
    code.push(refuse(libc::EACCES));
    code.push(allow());
    code
}

fn requests() -> Vec<sock_filter> {
    let mut code = Vec::new();
    load(&mut code, argument(1));
    for request in [TIOCSTI, TIOCLINUX] {
        code.push(jump(BPF_JEQ, request, 0, 1));
        code.push(refuse(libc::EPERM));
    }
    code.push(allow());
    code
}

fn no_user_namespace() -> Vec<sock_filter> {
    let mut code = Vec::new();
    load(&mut code, argument(0));
    code.push(statement(BPF_ALU | BPF_AND | BPF_K, NEW_USER_NAMESPACE));
    code.push(jump(BPF_JEQ, NEW_USER_NAMESPACE, 0, 1));
    code.push(refuse(libc::EPERM));
    code.push(allow());
    code
}

/// A part that is passed over unless the number loaded is `call`'s; it must end in a verdict.
fn block(code: &mut Vec<sock_filter>, call: libc::c_long, body: &[sock_filter]) {
    let length = u8::try_from(body.len()).unwrap_or(u8::MAX);
    code.push(jump(BPF_JEQ, number(call), 0, length));
    code.extend_from_slice(body);
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn load(code: &mut Vec<sock_filter>, offset: u32) {
    code.push(statement(BPF_LD | BPF_W | BPF_ABS, offset));
}

fn allow() -> sock_filter {
    statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW)
}

fn refuse(errno: libc::c_int) -> sock_filter {
    statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | errno.unsigned_abs())
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or(u16::MAX), jt: 0, jf: 0, k }
}

fn jump(test: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { jt, jf, ..statement(BPF_JMP | test | BPF_K, k) }
}

/// The filter as bubblewrap reads it.
pub(crate) fn bytes(filter: &[sock_filter]) -> Vec<u8> {
    let one = |step: &sock_filter| {
        let mut bytes = [0; 8];
        bytes[..2].copy_from_slice(&step.code.to_ne_bytes());
        bytes[2] = step.jt;
        bytes[3] = step.jf;
        bytes[4..].copy_from_slice(&step.k.to_ne_bytes());
        bytes
    };
    filter.iter().flat_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program as the kernel would, over one call.
    fn verdict(filter: &[sock_filter], arch: u32, call: libc::c_long, arguments: [u64; 6]) -> u32 {
        let mut frame = Vec::new();
        frame.extend(u32::try_from(call).unwrap().to_ne_bytes());
        frame.extend(arch.to_ne_bytes());
        frame.extend(0_u64.to_ne_bytes());
        arguments.iter().for_each(|argument| frame.extend(argument.to_ne_bytes()));
        let (mut at, mut register) = (0_usize, 0_u32);
        loop {
            let step = filter[at];
            let code = u32::from(step.code);
            at += 1;
            match code {
                code if code == BPF_LD | BPF_W | BPF_ABS => {
                    let offset = usize::try_from(step.k).unwrap();
                    register = u32::from_ne_bytes(frame[offset..offset + 4].try_into().unwrap());
                }
                code if code == BPF_ALU | BPF_AND | BPF_K => register &= step.k,
                code if code == BPF_RET | BPF_K => return step.k,
                _ => {
                    let holds = if code == BPF_JMP | libc::BPF_JGE | BPF_K {
                        register >= step.k
                    } else {
                        register == step.k
                    };
                    at += usize::from(if holds { step.jt } else { step.jf });
                }
            }
        }
    }

    const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;

    fn of(sockets: Sockets, call: libc::c_long, first: [i64; 2]) -> u32 {
        let [one, two] = first.map(i64::cast_unsigned);
        verdict(&filter(sockets), ARCH, call, [one, two, 0, 0, 0, 0])
    }

    fn errno(code: libc::c_int) -> u32 {
        libc::SECCOMP_RET_ERRNO | code.unsigned_abs()
    }

    #[test]
    fn families_follow_the_choice() {
        let socket = |internet, unix, family: libc::c_int| {
            of(Sockets { internet, unix }, libc::SYS_socket, [family.into(), 1]) == ALLOWED
        };
        assert!(socket(true, false, libc::AF_INET) && socket(true, false, libc::AF_INET6));
        assert!(!socket(false, true, libc::AF_INET) && !socket(false, true, libc::AF_INET6));
        assert!(socket(false, true, libc::AF_UNIX) && !socket(true, false, libc::AF_UNIX));
        assert!(socket(false, false, libc::AF_NETLINK));
        assert!(!socket(true, true, libc::AF_VSOCK) && !socket(true, true, libc::AF_ALG));
    }

    #[test]
    fn flags_and_upper_halves_hide_nothing() {
        let none = Sockets { internet: false, unix: false };
        let dgram = i64::from(libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        assert_eq!(of(none, libc::SYS_socketpair, [1, dgram]), errno(libc::EACCES));
        assert_eq!(of(none, libc::SYS_socketpair, [1, i64::from(libc::SOCK_STREAM)]), ALLOWED);
        // The kernel takes the lower half of a family and of a request.
        assert_eq!(
            of(none, libc::SYS_socket, [(1 << 32) | i64::from(libc::AF_INET), 1]),
            errno(libc::EACCES)
        );
        assert_eq!(of(none, libc::SYS_ioctl, [0, (1 << 32) | i64::from(TIOCSTI)]), errno(libc::EPERM));
        assert_eq!(of(none, libc::SYS_ioctl, [0, 0x5413]), ALLOWED);
    }

    #[test]
    fn calls_fall_through_to_their_own_verdict() {
        let all = Sockets { internet: true, unix: true };
        for call in REFUSED {
            assert_eq!(of(all, *call, [0, 0]), errno(libc::EPERM), "{call}");
        }
        for call in UNKNOWN {
            assert_eq!(of(all, *call, [0, 0]), errno(libc::ENOSYS), "{call}");
        }
        for call in
            [libc::SYS_read, libc::SYS_execve, libc::SYS_ptrace, libc::SYS_connect, libc::SYS_exit_group]
        {
            assert_eq!(of(all, call, [0, 0]), ALLOWED, "{call}");
        }
        for call in [libc::SYS_clone, libc::SYS_unshare] {
            assert_eq!(of(all, call, [i64::from(NEW_USER_NAMESPACE | 0x11), 0]), errno(libc::EPERM));
            assert_eq!(of(all, call, [0x11, 0]), ALLOWED);
        }
    }

    #[test]
    fn calls_of_another_machine_are_refused() {
        let filter = filter(Sockets { internet: true, unix: true });
        assert_eq!(verdict(&filter, 0x4000_0003, libc::SYS_read, [0; 6]), errno(libc::EPERM));
    }

    #[test]
    fn the_bytes_are_those_of_the_kernels_structure() {
        let step = sock_filter { code: 0x0102, jt: 3, jf: 4, k: 0x0506_0708 };
        let mut expected = 0x0102_u16.to_ne_bytes().to_vec();
        expected.extend([3, 4]);
        expected.extend(0x0506_0708_u32.to_ne_bytes());
        assert_eq!(bytes(&[step]), expected);
    }
}

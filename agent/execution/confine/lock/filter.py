"""Build the filter of a command that is held to its rating: writing by name, sockets and signals are asked about, the rest is refused.

Reading, and what is done to files that are open for writing, goes past it at full speed. Standard library only.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache

from agent.execution import system_calls
from agent.execution.confine import call_filter
from agent.execution.confine.call_filter import (
    AF_INET,
    AF_INET6,
    AF_NETLINK,
    AF_UNIX,
    DATAGRAM,
    RAW,
    SOCKET_KIND,
    STREAM,
)
from agent.execution.system_calls import (
    ALLOW,
    AND,
    ANY_BIT,
    ASK,
    AT_LEAST,
    EQUAL,
    LOAD,
    Instruction,
    answered,
    any_of,
    flagged,
    high,
    low,
    never,
    opening,
    refuse,
    unless_any,
    with_argument,
)  # fmt: skip

_KNOWN = 463  # calls of later kernels may do what nobody here has heard of
_LATER_READS = (464, 465, 468)  # getxattrat, listxattrat, file_getattr
_BY_NAME = (
    "creat", "truncate", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "link", "linkat",
    "symlink", "symlinkat", "mknod", "mknodat", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat",
    "utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
)  # fmt: skip
_ANSWERED = (*_BY_NAME, "connect", "bind", "ptrace", "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_NEVER = (
    "pidfd_getfd", "bpf", "perf_event_open", "userfaultfd", "swapon", "swapoff", "reboot", "sethostname", "setdomainname",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "acct", "settimeofday", "clock_settime", "adjtimex",
    "clock_adjtime", "quotactl", "quotactl_fd", "vhangup", "iopl", "ioperm",
)  # fmt: skip
_NETLINK_USERSOCK = 2
_NETWORKS = (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, 17)
"""Families of sockets that a right to the network means: the last is the packets of its own links (AF_PACKET), no other machine's host."""
_EXCLUSIVE = 2  # LOCK_EX
_SET_FLAGS, _ASYNC = 4, 0o20000  # F_SETFL, O_ASYNC
_WRITING = (
    os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | (getattr(os, "O_TMPFILE", 0) & ~getattr(os, "O_DIRECTORY", 0))
)

# Requests (`ioctl`): most of those that change a file, a device or a terminal need no right to write.
_DIRECTION, _HANDS_OVER, _TYPE = 0xC0000000, 0x40000000, 0xFF00
_TERMINAL = 0x5400
_TRIM = 0xC0185879  # FITRIM
_POLICY = 0x800C6613  # FS_IOC_SET_ENCRYPTION_POLICY, whose number says that it reads
_SEND_SIGNALS = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP
_READ_TERMINAL = (
    # TCGETS, TCGETA, TIOCSCTTY, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCGWINSZ, TIOCMGET, TIOCGSOFTCAR, FIONREAD, TIOCGSERIAL
    0x5401, 0x5405, 0x540E, 0x540F, 0x5410, 0x5411, 0x5413, 0x5415, 0x5419, 0x541B, 0x541E,
    # TIOCPKT, FIONBIO, TIOCNOTTY, TIOCGETD, TIOCGSID, TIOCGRS485, TCGETX, TIOCGPTPEER, FIONCLEX, FIOCLEX
    0x5420, 0x5421, 0x5422, 0x5424, 0x5429, 0x542E, 0x5432, 0x5441, 0x5450, 0x5451,
    # TIOCGLCKTRMIOS, TIOCGICOUNT, FIOQSIZE, TCGETS2, TIOCGPTN, TIOCSPTLCK, TIOCGDEV, TIOCSIG, TIOCGPKT, TIOCGPTLCK, TIOCGEXCL
    0x5456, 0x545D, 0x5460, 0x802C542A, 0x80045430, 0x40045431, 0x80045432, 0x40045436, 0x80045438, 0x80045439, 0x80045440,
)  # fmt: skip
"""They read, or concern only the process itself, its session, or the other side of a terminal that it has made."""
_SOCKETS_AND_NAMESPACES = (0x8900, 0x8B00, 0xB700)  # what changes interfaces needs a right that is given up
_READ = (
    0x1, 0x2,  # FIBMAP, FIGETBSZ
    0x301, 0x302, 0x304, 0x305, 0x307, 0x308, 0x309, 0x30A, 0x30B, 0x30C, 0x30D, 0x30E, 0x30F, 0x310, 0x31A,  # HDIO_GET…
    0x125E, 0x1260, 0x1263, 0x1265, 0x1267, 0x1268, 0x1278, 0x1279, 0x127A, 0x127B, 0x127C, 0x127E,  # BLK…GET
    0x2282, 0x5382, 0x5386,  # SG_GET_VERSION_NUM, SCSI_IOCTL_GET_IDLUN, …_GET_BUS_NUMBER
    0x4B31, 0x4B33, 0x4B3B, 0x4B44, 0x5601, 0x5603,  # KDGETLED, KDGKBTYPE, KDGETMODE, KDGKBMODE, VT_GETMODE, VT_GETSTATE
    0x4C03, 0x4C05,  # LOOP_GET_STATUS
    0x5305, 0x5306, 0x5325, 0x5326, 0x5327, 0x5331,  # CDROMREADTOC…, CDROM_…_STATUS, CDROM_GET_CAPABILITY
)  # fmt: skip
_READ_AS_ASKED = (
    # FIEMAP, PAGEMAP_SCAN, PROCMAP_QUERY, FS_IOC_GET_ENCRYPTION_POLICY_EX, …_KEY_STATUS, …_VERITY, GETFSMAP, FS…BULKSTAT, FSINUMBERS
    0xC020660B, 0xC0606610, 0xC0686611, 0xC0096616, 0xC080661A, 0xC0046686, 0xC0286687, 0xC0C0583B, 0xC0205865, 0xC0205866, 0xC0205867,
    # BTRFS_IOC_… TREE_SEARCH, INO_LOOKUP, SPACE_INFO, DEV_INFO, INO_PATHS, LOGICAL_INO, GET_DEV_STATS, GET_SUBVOL_ROOTREF, INO_LOOKUP_USER
    0xD0009411, 0xC0709411, 0xD0009412, 0xC0109414, 0xD000941E, 0xC0389423, 0xC0389424, 0xC038943B, 0xC4089434, 0xD000943D, 0xD000943E,
    0xC0101282,  # BLKREPORTZONE
    0xC0484E41, 0xC0504E47,  # NVME_IOCTL_ADMIN_CMD: without a right that is given up the kernel lets it only identify
    0xC0505510, 0xC1105511, 0xC4C85512, 0xC1205531,  # SNDRV_CTL_IOCTL_… ELEM_LIST, ELEM_INFO, ELEM_READ, PCM_INFO
    0xC100B405, 0xC048B402, 0xC040FF0B, 0xC048FF0B, 0xC050FF0B,  # GPIO_…_GET_LINEINFO, PIDFD_GET_INFO
)  # fmt: skip
"""Numbers that say both ways: to fill in what is asked, or to change it."""


def program(*, network: bool) -> list[Instruction]:
    """The filter. `network`: it may be used. Raises OSError (ENOSYS)."""
    lines = opening()
    for later in _LATER_READS:
        lines += [(EQUAL, 0, 1, later), ALLOW]
    lines += [(AT_LEAST, 0, 1, _KNOWN), refuse(errno.ENOSYS)]
    # What they want stands behind a pointer; everybody falls back.
    lines += never(("io_uring_setup", "clone3", "openat2"), errno.ENOSYS)
    lines += flagged("open", 1, _WRITING, ASK) + flagged("openat", 2, _WRITING, ASK) + answered(_ANSWERED, ASK)
    lines += never((*call_filter.MOUNTS, *_NEVER), errno.EPERM) + call_filter.namespaces()
    lines += with_argument("pidfd_send_signal", 1, unless_any((0,), refuse(errno.EPERM)))
    lines += call_filter.untouched() + call_filter.unowned()
    # Who has a terminal tell of its input makes the kernel send signals to those in its foreground.
    tells = [(EQUAL, 0, 3, _SET_FLAGS), (LOAD, 0, 0, low(2)), (ANY_BIT, 0, 1, _ASYNC), refuse(errno.EPERM)]
    lines += with_argument("fcntl", 1, tells)
    lines += flagged("flock", 1, _EXCLUSIVE, ASK)
    lines += call_filter.shared_memory() + _requests() + _sockets(network=network)
    lines += with_argument("syslog", 0, [(AT_LEAST, 0, 2, 4), (AT_LEAST, 1, 0, 9), refuse(errno.EPERM)])
    return [*lines, ALLOW]


@cache
def _for_all(*, network: bool) -> tuple[bytes, bytes]:
    """Build what all commands have in common of the filter: what stands before and after the number of the group."""
    *lines, last = program(network=network)
    code = system_calls.packed([*lines, *any_of("setpgid", 1, (0,), refuse(errno.EPERM)), last])
    end = (len(lines) + 3) * system_calls.INSTRUCTION_SIZE  # of the comparison, whose number stands at its end
    return code[: end - 4], code[end:]


def apart(group: int, *, network: bool) -> bytes:
    """The filter, packed, of a command that may not join one group of processes: that of its guardian, whom a signal to its own would end.

    Quick in a process that was forked from one that has called it.
    """
    before, after = _for_all(network=network)
    return before + group.to_bytes(4, sys.byteorder) + after


def nothing_sent() -> list[Instruction]:
    """A second filter, over sockets that only ask the kernel: what they would send by an address goes nowhere. Raises OSError (ENOSYS)."""
    no = refuse(errno.EACCES)
    # Without an address it goes where the socket is connected; an address is a pointer of two halves.
    nowhere = [(EQUAL, 0, 2, 0), (LOAD, 0, 0, high(4)), (EQUAL, 1, 0, 0), no]
    sent = never(("sendmsg", "sendmmsg", "listen"), errno.EACCES)
    return [*opening(), *sent, *with_argument("sendto", 4, nowhere), ALLOW]


def _requests() -> list[Instruction]:
    """Refuse what changes something; ask about what changes a terminal, which may be its own.

    The number of a request says which way data goes; many old ones say nothing, so of those only known readers pass.
    """
    no = refuse(errno.EPERM)
    again = (LOAD, 0, 0, low(1))
    lines = any_of("ioctl", 1, (*call_filter.TYPE_INTO_TERMINAL, _TRIM, _POLICY, *_SEND_SIGNALS), no)
    terminal = [again, *unless_any(_READ_TERMINAL, ASK)]
    lines += with_argument("ioctl", 1, [(AND, 0, 0, _TYPE), (EQUAL, 0, len(terminal), _TERMINAL), *terminal])
    handing = [(AND, 0, 0, _DIRECTION | _TYPE), (EQUAL, 3, 0, _HANDS_OVER | _TERMINAL)]
    lines += with_argument("ioctl", 1, [*handing, (AND, 0, 0, _DIRECTION), (EQUAL, 0, 1, _HANDS_OVER), no])
    asked = [again, *unless_any(_READ_AS_ASKED, no)]
    both = [(AND, 0, 0, _TYPE), (EQUAL, len(asked) + 3, 0, _TERMINAL), again, (AND, 0, 0, _DIRECTION)]
    lines += with_argument("ioctl", 1, [*both, (EQUAL, 0, len(asked), _DIRECTION), *asked])
    reads = [again, *unless_any(_READ, no)]
    types = (_TERMINAL, *_SOCKETS_AND_NAMESPACES)
    known = [(EQUAL, len(reads) + len(types) - place - 1, 0, kind) for place, kind in enumerate(types)]
    silent = [again, (AND, 0, 0, _TYPE), *known, *reads]
    return lines + with_argument("ioctl", 1, [(AND, 0, 0, _DIRECTION), (EQUAL, 0, len(silent), 0), *silent])


def _sockets(*, network: bool) -> list[Instruction]:
    """A socket that could reach something is asked about when it is made, or when it is connected."""
    of_kind = [(LOAD, 0, 0, low(1)), (AND, 0, 0, SOCKET_KIND)]
    lines = call_filter.no_datagram_pairs()
    # What one program may send to another by netlink without any right.
    between = [(EQUAL, 0, 3, AF_NETLINK), (LOAD, 0, 0, low(2)), (EQUAL, 0, 1, _NETLINK_USERSOCK), refuse(errno.EACCES)]
    lines += with_argument("socket", 0, between)
    if network:
        # What is sent to the name of a Unix socket without connecting goes past `connect`.
        local = [(EQUAL, 0, 5, AF_UNIX), *of_kind, (EQUAL, 1, 0, DATAGRAM), (EQUAL, 0, 1, RAW), ASK]
        return lines + with_argument("socket", 0, local) + with_argument("socket", 0, unless_any(_NETWORKS, ASK))
    stream = [(EQUAL, 0, 4, AF_UNIX), *of_kind, (EQUAL, 0, 1, STREAM), ALLOW]
    return lines + with_argument("socket", 0, [(EQUAL, 0, 1, AF_NETLINK), ALLOW, *stream, ASK])

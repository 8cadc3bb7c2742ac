"""Filter the requests that change a file, a device or a terminal, most of which need no right to write. Standard library only.

The number of a request says which way data goes; many old ones say nothing, so of those only known readers pass.
"""

from __future__ import annotations

import errno

from agent.execution.confine import call_filter
from agent.execution.confine.call_tests import AND, ASK, EQUAL, LOAD, refuse, with_argument
from agent.execution.kernel import Instruction

_ARGUMENT = 16 + 8 * 1
_DIRECTION, _HANDS_OVER, _TYPE = 0xC0000000, 0x40000000, 0xFF00
_TERMINAL = 0x5400
_TRIM = 0xC0185879  # FITRIM
_POLICY = 0x800C6613  # FS_IOC_SET_ENCRYPTION_POLICY, whose number says that it reads
_SEND_SIGNALS = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP
_READ_TERMINAL = (
    # TCGETS, TCGETA, TIOCSCTTY, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCGWINSZ, TIOCMGET, TIOCGSOFTCAR, FIONREAD, TIOCGSERIAL
    0x5401, 0x5405, 0x540E, 0x540F, 0x5410, 0x5411, 0x5413, 0x5415, 0x5419, 0x541B, 0x541E,
    # TIOCPKT, FIONBIO, TIOCNOTTY, TIOCGETD, TIOCGSID, TIOCGRS485, TCGETX, TIOCGPTPEER, FIONCLEX, FIOCLEX, FIOASYNC
    0x5420, 0x5421, 0x5422, 0x5424, 0x5429, 0x542E, 0x5432, 0x5441, 0x5450, 0x5451, 0x5452,
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


def filtered() -> list[Instruction]:
    """Refuse what changes something; ask about what changes a terminal, which may be its own."""
    no = refuse(errno.EPERM)
    lines: list[Instruction] = []
    for request in (*call_filter.TYPE_INTO_TERMINAL, _TRIM, _POLICY, *_SEND_SIGNALS):
        lines += with_argument("ioctl", 1, [(EQUAL, 0, 1, request), no])
    terminal = _unless(_READ_TERMINAL, ASK)
    lines += with_argument("ioctl", 1, [(AND, 0, 0, _TYPE), (EQUAL, 0, len(terminal), _TERMINAL), *terminal])
    handing = [(AND, 0, 0, _DIRECTION | _TYPE), (EQUAL, 3, 0, _HANDS_OVER | _TERMINAL)]
    lines += with_argument("ioctl", 1, [*handing, (AND, 0, 0, _DIRECTION), (EQUAL, 0, 1, _HANDS_OVER), no])
    asked = _unless(_READ_AS_ASKED, no)
    both = [(AND, 0, 0, _TYPE), (EQUAL, len(asked) + 3, 0, _TERMINAL), (LOAD, 0, 0, _ARGUMENT), (AND, 0, 0, _DIRECTION)]
    lines += with_argument("ioctl", 1, [*both, (EQUAL, 0, len(asked), _DIRECTION), *asked])
    reads = _unless(_READ, no)
    types = (_TERMINAL, *_SOCKETS_AND_NAMESPACES)
    known = [(EQUAL, len(reads) + len(types) - place - 1, 0, kind) for place, kind in enumerate(types)]
    silent = [(LOAD, 0, 0, _ARGUMENT), (AND, 0, 0, _TYPE), *known, *reads]
    return lines + with_argument("ioctl", 1, [(AND, 0, 0, _DIRECTION), (EQUAL, 0, len(silent), 0), *silent])


def _unless(requests: tuple[int, ...], answer: Instruction) -> list[Instruction]:
    """`answer` unless it is one of these."""
    tests = [(EQUAL, len(requests) - place, 0, request) for place, request in enumerate(requests)]
    return [(LOAD, 0, 0, _ARGUMENT), *tests, answer]

"""Say of a command why it cannot be held, by the programs in it: they gain other rights, or read only with one that nothing held has."""

from __future__ import annotations

import os

from agent.execution.confine.confiner import gains_rights
from agent.protocol.decisions import RiskReport

_GAINS_RIGHTS = frozenset({"sudo", "su", "doas", "pkexec", "crontab", "at", "atq", "batch", "chage", "passwd", "run0"})
_ONLY_WITH_RIGHTS = frozenset(
    (
        "iptables", "iptables-save", "iptables-legacy", "iptables-nft", "ip6tables", "ip6tables-save", "ip6tables-legacy", "ip6tables-nft",
        "ebtables", "arptables", "nft", "ipset", "conntrack", "ipvsadm", "wg", "lvs", "pvs", "vgs", "lvdisplay", "pvdisplay", "vgdisplay",
        "lvscan", "pvscan", "vgscan", "dmsetup", "cryptsetup", "multipath", "smartctl", "auditctl", "quota", "repquota", "bpftool",
    )
)  # fmt: skip
"""Programs that the kernel lets read only with the right to change."""


def reason_against(report: RiskReport, *, root: bool) -> str:
    """Why its programs cannot do held what they do otherwise; "" where they can. `root`: who loses rights by it, and needs none."""
    runs = [(os.path.basename(run.words[0]), *run.words[1:]) for run in report.programs if run.words and not run.remote]
    if root:
        return next((f"{words[0]} reads only with the right to change" for words in runs if _needs_right(words)), "")
    gaining = [via for run in report.programs if run.elevated for via in run.via if via != "chroot"]
    gaining += [words[0] for words in runs if words[0] in _GAINS_RIGHTS]
    if not gaining and not gains_rights(report):
        return ""
    return f"{gaining[0] if gaining else 'it'} needs other rights than yours, and what is held never gets them"


def _needs_right(words: tuple[str, ...]) -> bool:
    operands = [word for word in words[1:] if not word.startswith("-")]
    return words[0] in _ONLY_WITH_RIGHTS or (
        words[0] == "ip" and bool(operands and operands[0]) and "xfrm".startswith(operands[0])
    )

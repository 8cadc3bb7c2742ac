"""Prepare the lock of one run: from the rights of a command to what its process may touch, and whether this machine can hold it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Mapping

from agent.execution.confine.confiner import gains_rights
from agent.execution.confine.ladder import Trial, tried
from agent.execution.confine.lock.plan import LockPlan, temporary
from agent.execution.confine.plan import WriteFolders
from agent.execution.process_tree.helper import Helper
from agent.protocol.approvals import Rights
from agent.protocol.decisions import RiskReport
from agent.risk.tables.names import members

_POINTER = re.compile(r"gitdir: (.+)\n?")
LOOKED_FOR = tuple(
    {
        os.fsencode(one[1:].split("/")[0].split(":")[0].lower())
        for table in ("settings.files", "folder.files")
        for entries in members(table).values()
        for one in entries
        if one[0] == "^"
    }
    | {b"node_modules", b"package.json"}
)
"""The topmost names of paths that programs obey in the folders above theirs: in a temporary folder all below would obey them."""


class Holder:
    """Finds out once whether a command can be held here, and prepares plans. Thread-safe; methods may take some milliseconds."""

    def __init__(self, helper: Helper, write_folders: WriteFolders) -> None:
        self._helper = helper
        self._write_folders = write_folders
        self._lock = threading.Lock()
        self._trial: Trial | None = None

    @property
    def knows(self) -> bool:
        """Tell whether the other methods can answer at once."""
        return self._trial is not None and self._trial.tried

    @property
    def trial(self) -> Trial:
        """Tell whether holding works here, found by doing it."""
        with self._lock:
            if self._trial is None or not self._trial.tried:
                self._trial = self._tried()
            return self._trial

    def unheld(self, report: RiskReport) -> str:
        """Say why `report`'s command cannot be held to its rating; "" where it can."""
        if not self.trial.works:
            return self.trial.reason
        return reason_against(report, root=self.trial.sudo)

    def plan(self, rights: Rights, env: Mapping[str, str], files: Iterable[str]) -> LockPlan:
        """Plan what a process with these rights may touch. `files`: paths of single files that our own lines in its shell write."""
        protected = (*self._write_folders.protected, "/etc/agent-shell")
        return LockPlan(
            write=tuple(os.fsencode(_place(path)) for path in rights.write),
            repositories=tuple(os.fsencode(path) for folder in rights.repositories for path in _insides(folder)),
            founded=tuple(path for folder in rights.founded if not os.path.lexists(path := _repository(folder))),
            files=tuple((status.st_dev, status.st_ino) for status in map(os.stat, files)),
            temporary=temporary(env.get("TMPDIR")),
            private=tuple(os.fsencode(_place(path)) for path in rights.private),
            protected=tuple(os.fsencode(os.path.realpath(path)) for path in protected),
            looked_for=LOOKED_FOR,
            network=rights.network,
            interfaces=rights.interfaces,
            services=rights.services,
        )

    def _tried(self) -> Trial:
        return tried(
            self._helper,
            lambda folder: LockPlan(write=(folder,), temporary=()).encoded(),
            missing="nothing by which a command could be held to its rating",
        )


def _place(path: str) -> str:
    """The real place of something new: the name itself is not followed, for it is what the rating named."""
    head, name = os.path.split(path.rstrip("/"))
    return os.path.join(os.path.realpath(head), name) if name else os.path.realpath(path)


def _repository(folder: str) -> bytes:
    return os.fsencode(os.path.join(os.path.realpath(folder), ".git"))


def _insides(folder: str) -> list[str]:
    """The folders in which the repository of a working folder keeps what it records; none where there is no repository."""
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return [os.path.realpath(git)]
        if os.path.isfile(git):
            return _pointed(folder, git)
        if os.path.dirname(folder) == folder:
            return []
        folder = os.path.dirname(folder)


def _pointed(folder: str, git: str) -> list[str]:
    """The folder that a file `.git` names, and the repository that a linked working tree shares."""
    try:
        with open(git, encoding="utf-8", errors="surrogateescape") as file:
            said = _POINTER.fullmatch(file.read(4096))
        if said is None:
            return []
        own = os.path.realpath(os.path.join(folder, said[1]))
        with open(os.path.join(own, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
            return [os.path.realpath(os.path.join(own, file.read(4096).strip()))]
    except FileNotFoundError:
        return [own]
    except OSError:
        return []


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
    """Say why its programs cannot do held what they do otherwise; "" where they can. `root`: who loses rights by it, and needs none."""
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
    asks_transforms = words[0] == "ip" and bool(operands and operands[0]) and "xfrm".startswith(operands[0])
    return words[0] in _ONLY_WITH_RIGHTS or asks_transforms

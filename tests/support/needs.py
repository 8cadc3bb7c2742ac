"""Names the programs that tests need: where one is missing its tests are skipped, and the end of a run says for lack of what.

Run as a script it prints the Debian packages of those that are missing, for `make test-tools`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable

import pytest

# Program -> the Debian package that brings it, "" for what apt does not have or what is a system's own choice.
PACKAGES = {
    "apt-get": "", "busybox": "busybox-static", "cargo": "", "cc": "gcc", "chattr": "e2fsprogs", "chromium": "chromium",
    "cmake": "cmake", "curl": "curl", "docker": "", "fish": "fish", "gcc": "gcc", "git": "git", "gpg": "gnupg", "gunzip": "gzip",
    "gzip": "gzip", "ip": "iproute2", "java": "", "jq": "jq", "killall": "psmisc", "kubectl": "", "less": "less", "ln": "coreutils",
    "make": "make", "man": "man-db", "mkfs.ext4": "e2fsprogs", "node": "nodejs", "npm": "", "openssl": "openssl", "perl": "perl", "pip": "",
    "postgres": "postgresql", "ps": "procps", "psql": "postgresql-client", "rustc": "", "sh": "dash", "scp": "openssh-client",
    "setpriv": "util-linux", "sqlite3": "sqlite3", "ssh": "openssh-client", "ssh-add": "openssh-client", "ssh-keygen": "openssh-client",
    "systemctl": "", "terraform": "", "unshare": "util-linux", "unzip": "unzip", "vim": "vim",
    "wget": "wget", "yq": "", "zip": "zip", "zsh": "zsh",
}  # fmt: skip
_REASON = re.compile(r"needs ([\w.+-]+)")


def missing(*programs: str, path: str | None = None) -> list[str]:
    """Those of `programs` that are not on `path`. All have to stand in the table, so that somebody can install them."""
    assert all(program in PACKAGES for program in programs), f"tests/support/needs.py has to know {programs}"
    return [program for program in programs if shutil.which(program, path=path) is None]


def needs(*programs: str, path: str | None = None) -> None:
    """Skip the test where one of `programs` is missing."""
    for program in missing(*programs, path=path):
        pytest.skip(f"needs {program}")


def needing(*programs: str) -> pytest.MarkDecorator:
    """Mark what is skipped where one of `programs` is missing."""
    lacks = missing(*programs)
    return pytest.mark.skipif(bool(lacks), reason=f"needs {lacks[0]}" if lacks else "")


def summary(reasons: Iterable[str]) -> list[str]:
    """Lines that account for each skipped test, given why it was: what it lacked, and what else there was."""
    programs, others = Counter[str](), Counter[str]()
    for reason in reasons:
        reason = reason.removeprefix("Skipped: ")
        found = _REASON.fullmatch(reason)
        if found and found[1] in PACKAGES:
            programs[found[1]] += 1
        elif reason.startswith(("only root", "needs root")):
            others["only root can do it"] += 1
        else:
            others[reason.partition("\n")[0][:80]] += 1
    lines = []
    if programs:
        hint = (
            "; `make test-tools` installs them where apt has them" if any(PACKAGES[name] for name in programs) else ""
        )
        lines.append(f"skipped for lack of: {_counted(programs)}{hint}")
    if others:
        lines.append(f"skipped for other reasons: {_counted(others)}")
    return lines


def _counted(found: Counter[str]) -> str:
    return ", ".join(f"{name} ({count} test{'s' * (count != 1)})" for name, count in found.most_common())


def wanted() -> list[str]:
    """The packages of the programs that are missing here."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    return sorted({PACKAGES[program] for program in missing(*PACKAGES, path=path)} - {""})


if __name__ == "__main__":
    print(*wanted())

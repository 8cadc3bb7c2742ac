"""Decide whether a program may be asked for its `--help`, and read what it says.

That runs it, so it has to be one of the system's own, in a folder of the system, that is known to us: with `--help` rated as harmless, and
without it not as more than medium, should it not know the option.
"""

from __future__ import annotations

import os
import re
import stat

from agent.protocol.decisions import Level, RiskContext
from agent.risk.paths.search_path import STANDARD_FOLDERS
from agent.risk.tables.store import program as table_of

_OVERSTRUCK = re.compile(".\b")
_STYLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def may_be_asked(name: str, path: str) -> bool:
    """Tell whether `path --help` may run, for the program that is called `name`."""
    from agent.risk.classifier import classify

    if table_of(name) is None or not _is_systems_own(path):
        return False
    context = RiskContext()
    asked, bare = classify(f"{name} --help", context), classify(name, context)
    return asked.level is Level.LOW and asked.parse == "ok" and bare.level is not Level.HIGH


def _is_systems_own(path: str) -> bool:
    """Tell whether only the system's administrator could have put it there."""
    real = os.path.realpath(path)
    if os.path.dirname(path) not in STANDARD_FOLDERS or not real.startswith(("/usr/", "/bin/", "/sbin/")):
        return False
    try:
        facts = [os.lstat(each) for each in (real, os.path.dirname(real), os.path.dirname(path))]
    except OSError:
        return False
    owned = all(fact.st_uid == 0 and not fact.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for fact in facts)
    return owned and stat.S_ISREG(facts[0].st_mode)


def said(output: str) -> str:
    """Return what a program printed, without the marks of a terminal."""
    return _STYLE.sub("", _OVERSTRUCK.sub("", output)).strip()

"""Suggest how to install a program that is missing here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol


class HasPrograms(Protocol):
    @property
    def present(self) -> Callable[[str], bool]: ...

    @property
    def is_root(self) -> bool: ...


def install_advice(program: str, around: HasPrograms) -> str:
    """Say how a missing program can be had."""
    from agent.planner.offline.fixing.programs import tables

    if program == "sudo":
        return "As root it works without `sudo`." if around.is_root else "It needs the rights of root: try `su -`."
    table = tables()
    for other in table["swap"].get(program, ()):
        if around.present(other.split()[0]):
            return f"`{other}` is here, and does much the same."
    package = table["package"].get(program, program)
    if not re.fullmatch(r"[\w.+-]{1,60}", package):
        return "Check the spelling."
    for manager, install in table["install"].items():
        if around.present(manager):
            plain = install.removeprefix("sudo ")
            if around.is_root or plain == install or around.present("sudo"):
                return f"If you want it: `{plain if around.is_root else install} {package}`."
            return f"If you want it: `{plain} {package}` as root."
    return "No package manager that I know is here to install it with."

"""Find the folders of the program and make them private; find entries of PATH by which a working folder would choose what runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import AnyStr

PRIVATE_FOLDER = 0o700


def make_folder(path: AnyStr) -> None:
    """Make the folder with mode 0700, and each of its parents that is missing: `os.makedirs` would leave those open.

    What is there already stays as it is. Raises OSError.
    """
    missing: list[AnyStr] = []
    while not os.path.isdir(path):
        missing.append(path)
        parent = os.path.dirname(path)
        if parent == path or not parent:
            break
        path = parent
    for each in reversed(missing):
        try:
            os.mkdir(each, PRIVATE_FOLDER)
        except FileExistsError:
            if not os.path.isdir(each):
                raise
            continue  # another process was quicker
        os.chmod(each, PRIVATE_FOLDER)  # a strict umask may have taken our own rights


def checkout_root() -> str | None:
    """The folder of `agent_shell.py` when this runs from a checkout, else None (installed)."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    inside = os.path.isfile(os.path.join(root, "agent_shell.py")) and os.path.isdir(os.path.join(root, "sessions"))
    return root if inside else None


def xdg(environ: Mapping[str, str], variable: str, default: str) -> str:
    """Return the folder that a variable of the XDG rules names, else `default` in the home folder."""
    value = environ.get(variable, "")
    if os.path.isabs(value):  # the XDG rules say: relative values are invalid and ignored
        return value
    home = environ.get("HOME") or os.path.expanduser("~")
    if not os.path.isabs(home):  # what is private would lie wherever we were started, so nothing is kept
        home = os.devnull
    return os.path.join(home, default)


def config_dir(environ: Mapping[str, str]) -> str:
    """`$XDG_CONFIG_HOME/agent-shell`."""
    return os.path.join(xdg(environ, "XDG_CONFIG_HOME", ".config"), "agent-shell")


def state_dir(environ: Mapping[str, str]) -> str:
    """`$XDG_STATE_HOME/agent-shell`: history and, for an installed program, session logs."""
    return os.path.join(xdg(environ, "XDG_STATE_HOME", os.path.join(".local", "state")), "agent-shell")


def cache_dir(environ: Mapping[str, str]) -> str:
    """`$XDG_CACHE_HOME/agent-shell`: what can be made anew at any time."""
    return os.path.join(xdg(environ, "XDG_CACHE_HOME", ".cache"), "agent-shell")


def default_session_dir(environ: Mapping[str, str]) -> str:
    """The checkout's `sessions/`, else the state folder's; never the working folder."""
    root = checkout_root()
    return os.path.join(root, "sessions") if root else os.path.join(state_dir(environ), "sessions")


def follows_folder(path: str) -> bool:
    """Tell whether a PATH has entries that mean another place in each folder (`.`, nothing, `node_modules/.bin`)."""
    return any(not entry.startswith("/") for entry in path.split(":"))


def without_relative(path: str) -> str:
    """A PATH without entries that a working folder could fill."""
    return ":".join(entry for entry in path.split(":") if entry.startswith("/"))

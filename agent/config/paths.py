"""Find the folders of the program, and entries of PATH by which a working folder would choose what runs."""

from __future__ import annotations

import os


def checkout_root() -> str | None:
    """The folder of `agent_shell.py` when this runs from a checkout, else None (installed)."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    inside = os.path.isfile(os.path.join(root, "agent_shell.py")) and os.path.isdir(os.path.join(root, "sessions"))
    return root if inside else None


def _xdg(environ: dict[str, str], variable: str, default: str) -> str:
    value = environ.get(variable, "")
    if os.path.isabs(value):  # the XDG rules say: relative values are invalid and ignored
        return value
    home = environ.get("HOME") or os.path.expanduser("~")
    if not os.path.isabs(home):  # what is private would lie wherever we were started, so nothing is kept
        home = os.devnull
    return os.path.join(home, default)


def config_dir(environ: dict[str, str]) -> str:
    """`$XDG_CONFIG_HOME/agent-shell`."""
    return os.path.join(_xdg(environ, "XDG_CONFIG_HOME", ".config"), "agent-shell")


def state_dir(environ: dict[str, str]) -> str:
    """`$XDG_STATE_HOME/agent-shell`: history and, for an installed program, session logs."""
    return os.path.join(_xdg(environ, "XDG_STATE_HOME", os.path.join(".local", "state")), "agent-shell")


def cache_dir(environ: dict[str, str]) -> str:
    """`$XDG_CACHE_HOME/agent-shell`: what can be made anew at any time."""
    return os.path.join(_xdg(environ, "XDG_CACHE_HOME", ".cache"), "agent-shell")


def default_session_dir(environ: dict[str, str]) -> str:
    """The checkout's `sessions/`, else the state folder's; never the working folder."""
    root = checkout_root()
    return os.path.join(root, "sessions") if root else os.path.join(state_dir(environ), "sessions")


def follows_folder(path: str) -> bool:
    """Tell whether a PATH has entries that mean another place in each folder (`.`, nothing, `node_modules/.bin`)."""
    return any(not entry.startswith("/") for entry in path.split(":"))


def without_relative(path: str) -> str:
    """A PATH without entries that a working folder could fill."""
    return ":".join(entry for entry in path.split(":") if entry.startswith("/"))

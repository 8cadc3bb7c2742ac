"""Find what is installed here and whose it is: by looking at the search path and where its links point, never by running anything."""

from __future__ import annotations

import os
import shutil

GNU, BSD, BUSYBOX = "gnu", "bsd", "busybox"
# Where docker looks for its plugins, besides the person's own folder.
_DOCKER_PLUGINS = (
    "~/.docker/cli-plugins", "/usr/local/lib/docker/cli-plugins", "/usr/local/libexec/docker/cli-plugins",
    "/usr/lib/docker/cli-plugins", "/usr/libexec/docker/cli-plugins", "/opt/homebrew/lib/docker/cli-plugins",
)  # fmt: skip
# Collections that put many programs into one; what they know is what busybox knows.
_COLLECTIONS = ("busybox", "toybox")
_GNU_FOLDERS = ("gnubin", "coreutils", "findutils", "gnu-sed", "diffutils")


def on_path(name: str) -> bool:
    """Tell whether a program is installed. "docker compose" asks for that plugin of docker."""
    program, _, plugin = name.partition(" ")
    if not plugin:
        return shutil.which(name) is not None
    wanted = f"{program}-{plugin}"
    return any(os.access(os.path.join(os.path.expanduser(folder), wanted), os.X_OK) for folder in _DOCKER_PLUGINS)


def is_mac(system: str) -> bool:
    """Tell whether a system of that name is macOS."""
    return "darwin" in system.lower() or "macos" in system.lower()


def usual_flavour(program: str, system: str) -> str:
    """Tell whose programs a system has if nobody changed that."""
    return BSD if is_mac(system) or "bsd" in system.lower() else GNU


def flavour_of(program: str, system: str) -> str:
    """Tell whose `program` is: "gnu", "bsd" or "busybox" (toybox too). `system` is the name of the operating system."""
    found = shutil.which(program)
    if found is None:
        return usual_flavour(program, system)
    parts = os.path.realpath(found).split(os.sep)
    if parts[-1].startswith(_COLLECTIONS):
        return BUSYBOX
    if any(_is_same_file(found, shutil.which(collection)) for collection in _COLLECTIONS):
        return BUSYBOX  # a hard link
    if parts[-1] == f"g{program}" or any(folder in _GNU_FOLDERS for folder in parts[:-1]):
        return GNU
    return usual_flavour(program, system)


def _is_same_file(path: str, other: str | None) -> bool:
    try:
        return other is not None and os.path.samefile(path, other)
    except OSError:
        return False

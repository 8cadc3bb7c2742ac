"""Find what is installed here and whose it is: by looking at the search path and where its links point, never by running anything."""

from __future__ import annotations

import glob
import os
import re
import shutil

from agent.planner.facts.regular_file import beginning

GNU, BSD, BUSYBOX = "gnu", "bsd", "busybox"
# Where docker looks for its plugins, besides the person's own folder.
_DOCKER_PLUGINS = (
    "~/.docker/cli-plugins", "/usr/local/lib/docker/cli-plugins", "/usr/local/libexec/docker/cli-plugins",
    "/usr/lib/docker/cli-plugins", "/usr/libexec/docker/cli-plugins", "/opt/homebrew/lib/docker/cli-plugins",
)  # fmt: skip
# Collections that put many programs into one; what they know is what busybox knows.
_COLLECTIONS = ("busybox", "toybox")
_GNU_FOLDERS = ("gnubin", "coreutils", "findutils", "gnu-sed", "diffutils")
_ADMINISTRATION = "/usr/local/sbin:/usr/sbin:/sbin"


def on_path(name: str) -> bool:
    """Tell whether a program is installed. "docker compose" asks for that plugin of docker, "python3 yaml" for a module of that Python,
    "yq script" for the one of two programs called yq that is written in Python."""
    program, _, plugin = name.partition(" ")
    # sudo looks in the administrator's folders, which the PATH of others may leave out.
    found = shutil.which(program) or shutil.which(program, path=_ADMINISTRATION)
    if not plugin or found is None:
        return found is not None
    if program == "python3":
        return any(os.path.exists(os.path.join(folder, plugin)) for folder in _module_folders(found))
    if plugin == "script":
        return beginning(os.path.realpath(found), 2) == b"#!"
    wanted = f"{program}-{plugin}"
    return any(os.access(os.path.join(os.path.expanduser(folder), wanted), os.X_OK) for folder in _DOCKER_PLUGINS)


def _module_folders(python: str) -> list[str]:
    """List where a Python looks for modules that do not come with it; a virtual environment may look nowhere else."""
    bases = [os.path.dirname(os.path.dirname(python))]
    settings = beginning(os.path.join(bases[0], "pyvenv.cfg"), 4096).decode("utf-8", "replace")
    if not settings or re.search(r"(?im)^include-system-site-packages\s*=\s*true", settings):
        bases += [os.path.dirname(os.path.dirname(os.path.realpath(python))), os.path.expanduser("~/.local")]
    kinds = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages")
    return [found for each in bases for kind in kinds for found in glob.glob(os.path.join(glob.escape(each), kind))]


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

"""What planner and classifier may know about this machine: nothing secret, in bounded time, without running project code."""

from __future__ import annotations

import os
import stat
from datetime import date

from agent.planner.git_facts import git_summary, workspace_of
from agent.protocol.decisions import RiskContext
from agent.protocol.messages import EnvironmentFacts
from agent.protocol.ports import Processes

MAX_WORDS = 64  # words of a command that are looked up
MAX_COMMAND_CHARS = 20_000

# Tools whose absence changes which command is right; what every system has is not worth telling.
_TOOLS = (
    "apt-get brew cargo cmake curl dnf docker fd fdfind ffmpeg file gcc gh git go htop ip java jq kubectl lsof make mysql nc node "
    "npm openssl pacman perl pip pip3 psql python3 rg rsync ruby rustc sqlite3 ss ssh strace sudo systemctl tar tmux tree unzip "
    "uv wget xz yarn zip zstd"
)
TOOLS = tuple(_TOOLS.split())


class SystemFacts:
    """The facts port. Without `processes` nothing is asked of git."""

    def __init__(self, processes: Processes | None = None) -> None:
        self._processes = processes
        self._tools: tuple[str, tuple[str, ...]] | None = None
        self._os = ""

    async def environment(self, cwd: str) -> EnvironmentFacts:
        """Facts for a goal's message."""
        return EnvironmentFacts(
            os=self._os_name(),
            shell=_shell_name(),
            cwd=cwd,
            home=os.path.expanduser("~"),
            git=await git_summary(self._processes, cwd) if self._processes is not None else "",
            is_root=os.geteuid() == 0,
            tools=self._present_tools(),
            date=date.today().isoformat(),
        )

    def risk_context(self, command: str, cwd: str) -> RiskContext:
        """Facts for a rating: whose machine, which workspace, and what the command's paths are right now."""
        home = os.path.expanduser("~")
        return RiskContext(
            cwd=cwd,
            home=home,
            workspace=workspace_of(cwd, home),
            is_root=os.geteuid() == 0,
            facts=path_facts(command, cwd, home),
        )

    def _present_tools(self) -> tuple[str, ...]:
        from shutil import which

        path = os.environ.get("PATH", "")
        if self._tools is None or self._tools[0] != path:
            self._tools = (path, tuple(name for name in TOOLS if which(name)))
        return self._tools[1]

    def _os_name(self) -> str:
        if not self._os:
            uname = os.uname()
            self._os = f"{_distribution() or uname.sysname} ({uname.sysname} {uname.release}, {uname.machine})"
        return self._os


def path_facts(command: str, cwd: str, home: str) -> dict[str, tuple[str, ...]]:
    """What the paths named in `command` are: missing, dir, file, link, mount, other. Keys are absolute.

    Words are split without being evaluated: patterns, variables and substitutions are left out, and so is all beyond a bound.
    """
    facts: dict[str, tuple[str, ...]] = {}
    for word in _words(command[:MAX_COMMAND_CHARS])[:MAX_WORDS]:
        path = _as_path(word, cwd, home)
        if path and path not in facts and (kinds := _kinds(path)):
            facts[path] = kinds
    return facts


def _words(command: str) -> list[str]:
    import shlex

    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # an open quote: still worth a look
        return command.replace('"', " ").replace("'", " ").split()


def _as_path(word: str, cwd: str, home: str) -> str:
    """The absolute path that `word` may name, "" for what is no path."""
    if "=" in word:
        word = word.split("=", 1)[1]  # --file=x, of=/dev/y, NAME=value
    if not word or word[0] in "-|&;<>()" or any(char in word for char in "*?[$`\0\n{}"):
        return ""
    if word == "~" or word.startswith("~/"):
        word = home + word[1:]
    return os.path.normpath(os.path.join(cwd or "/", word))


def _kinds(path: str) -> tuple[str, ...]:
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ("missing",)
    except (OSError, ValueError):
        return ()
    if stat.S_ISLNK(found.st_mode):
        return ("link",)
    if stat.S_ISDIR(found.st_mode):
        return ("dir", "mount") if _is_mount(path, found) else ("dir",)
    return ("file",) if stat.S_ISREG(found.st_mode) else ("other",)


def _is_mount(path: str, found: os.stat_result) -> bool:
    try:
        above = os.lstat(os.path.dirname(path))
    except OSError:
        return False
    return found.st_dev != above.st_dev or found.st_ino == above.st_ino


def _shell_name() -> str:
    from shutil import which

    return "bash" if which("bash") else "sh"


def _distribution() -> str:
    """The system's own name for itself, "" where it has none."""
    try:
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            lines = file.read(16_384).splitlines()
    except OSError:
        return ""
    for line in lines:
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip().strip("\"'")[:80]
    return ""

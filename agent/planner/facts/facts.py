"""Collect facts about this machine for planner and classifier: nothing secret, in bounded time, without running project code."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date

from msgspec.structs import replace

from agent.planner.facts.git_facts import git_summary, workspace_of
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.execution import Processes
from agent.protocol.messages import EnvironmentFacts

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
        from shutil import which

        return EnvironmentFacts(
            os=self._os_name(),
            shell="bash" if which("bash") else "sh",
            cwd=cwd,
            home=os.path.expanduser("~"),
            git=await git_summary(self._processes, cwd) if self._processes is not None else "",
            is_root=os.geteuid() == 0,
            tools=self._present_tools(),
            date=date.today().isoformat(),
        )

    def risk_context(self, command: str, cwd: str) -> RiskContext:
        """Facts for a rating: whose machine, which workspace, and what the command's paths are right now."""
        return risk_context(command, cwd)

    def context_of(self, rate: Callable[[RiskContext], RiskReport], cwd: str) -> RiskContext:
        """The same for what is no command: facts of the paths that its rating names."""
        return context_of(rate, cwd)

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


def risk_context(command: str, cwd: str) -> RiskContext:
    """Collect what a rating of `command` in the folder `cwd` needs to know of this machine."""
    from agent.planner.facts.path_facts import without_facts

    return context_of(lambda context: without_facts(command, context), cwd)


def context_of(rate: Callable[[RiskContext], RiskReport], cwd: str) -> RiskContext:
    """Collect what is known of this machine in the folder `cwd`, with facts of what `rate` names in a context without any."""
    from agent.planner.facts.code_files import identities
    from agent.planner.facts.path_facts import facts_of

    home = os.path.expanduser("~")
    context = RiskContext(
        cwd=cwd, home=home if home.startswith("/") else "", workspace=workspace_of(cwd, home), is_root=os.geteuid() == 0
    )
    report = rate(context)
    facts = facts_of(report, context)
    return replace(context, facts=facts, files=identities(report, cwd, facts))


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

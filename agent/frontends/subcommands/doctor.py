"""`agent-shell doctor`: what works here, and what to do about the rest."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Literal

from agent.config.paths import state_dir
from agent.emitters.console import complain, print_rows, say
from agent.emitters.paint import paint
from agent.emitters.streams import sink_of
from agent.frontends.services import Services
from agent.protocol.errors import CoreError
from agent.protocol.outcomes import ExitCode
from agent.text.shown import shown_line

State = Literal["ok", "note", "broken"]
_STYLES = {"ok": "green", "note": "yellow", "broken": "red"}


@dataclass(frozen=True)
class Check:
    """One row. `note`: works, with something to know; `broken`: something the product needs does not work."""

    check: str
    state: State
    found: str
    advice: str = ""


async def run_doctor(services: Services, *, json_output: bool) -> int:
    """Print every check; exit code 1 where something is broken."""
    try:
        checks = [await check(services) for check in CHECKS]
        checks[-1:-1] = await _execution(services)
    finally:
        await services.shutdown()
    out = sink_of(sys.stdout)
    if json_output:
        print_rows([asdict(check) for check in checks], json=True, out=out)
    else:
        say(page(checks, columns=out.size()[0] if out.is_tty else 0, color=out.color), out)
        for warning in services.loaded.warnings:
            complain(f"agent-shell: {shown_line(warning)}", style="yellow")
    return ExitCode.FAILED if any(check.state == "broken" for check in checks) else ExitCode.DONE


def page(checks: list[Check], *, columns: int, color: bool) -> str:
    """The checks for a person: what to do stands below what was found, so that no width cuts it off. 0 columns: no wrapping."""
    width = max(len(check.check) for check in checks)
    lines = []
    for check in checks:
        state = paint(f"{check.state:<6}", _STYLES[check.state], color=color)
        lines.append(f"{state}  {check.check:<{width}}  {check.found}")
        indent = " " * (width + 10)
        advice = f"{indent}→ {check.advice}" if check.advice else ""
        lines += (
            textwrap.wrap(advice, max(columns, width + 40), subsequent_indent=indent + "  ") if columns else [advice]
        )
    return "\n".join(line for line in lines if line)


async def _planner(services: Services) -> Check:
    try:
        planner = services.engine.app.make_planner(None, None)
    except CoreError as error:
        return Check("planner", "broken", error.message, error.hint)
    model = f", model {planner.model}" if planner.model else ""
    if planner.name == "offline":
        advice = "set OPENROUTER_API_KEY (or another provider's key) or run Ollama for goals beyond the recipes"
        return Check("planner", "note", "offline: works without key and network", advice)
    return Check("planner", "ok", shown_line(planner.name + model))


async def _keys(services: Services) -> Check:
    """Check which keys are there; never says what they are."""
    try:
        from agent.providers.catalog import load_catalog

        names = [entry.key_variable for entry in load_catalog().entries.values() if entry.key_variable]
    except (ImportError, CoreError) as error:
        return Check("keys", "broken", f"the provider catalogue cannot be read: {error}")
    own = services.settings.api_key_env
    names = list(dict.fromkeys(([own] if own else []) + names))
    present = [name for name in names if services.loaded.has_key(name)]
    if present:
        return Check("keys", "ok", f"set: {', '.join(present)}")
    return Check(
        "keys", "note", "none", "none is needed offline; for a model, put a key into your environment, .env or vault"
    )


async def _local_servers(services: Services) -> Check:
    try:
        from agent.providers.discover import discover

        servers = await discover()
    except Exception as error:  # a probe of other people's servers says what it met and never ends the report
        return Check("local models", "note", f"could not look: {type(error).__name__}")
    if not servers:
        return Check(
            "local models", "note", "no server found", "start Ollama, llama.cpp or LM Studio to use a local model"
        )
    found = ", ".join(f"{server.provider} ({len(server.models)} models)" for server in servers)
    return Check("local models", "ok", found, "`agent-shell models` lists them, `models use NAME` uses one")


async def _bash(services: Services) -> Check:
    path = shutil.which("bash")
    if path is None:
        return Check(
            "bash", "note", "not found", "commands run with sh; directory and variables are not kept between them"
        )
    code, text = await services.processes.capture((path, "--version"))
    first = text.split("\n")[0] if code == 0 else "does not start"
    return Check("bash", "ok" if code == 0 else "broken", shown_line(f"{path}: {first}", 100))


async def _git(services: Services) -> Check:
    path = shutil.which("git")
    if path is None:
        return Check("git", "note", "not found", "facts about repositories are left out")
    code, text = await services.processes.capture((path, "--version"))
    return Check("git", "ok" if code == 0 else "note", shown_line(text.strip() or "does not start", 100))


async def _parser(services: Services) -> Check:
    """The classifier on a command whose level is known: import, grammar and rules at once."""
    try:
        report, harmless = services.rate("rm -rf /", "/"), services.rate("ls -l", "/")
    except Exception as error:  # whatever is broken in there, every command is then rated high
        return Check(
            "risk",
            "broken",
            f"{type(error).__name__}: {shown_line(str(error), 100)}",
            "reinstall; until then all is rated high",
        )
    if report.level.value != "high" or harmless.level.value != "low":
        # A classifier that cannot load its rules rates everything high, so both ends are tried.
        found = f"rates `rm -rf /` {report.level.value} and `ls -l` {harmless.level.value}"
        return Check("risk", "broken", found, "reinstall agent-shell")
    return Check("risk", "ok", "bash grammar and rules load; `rm -rf /` is high, `ls` low")


async def _policy(services: Services) -> Check:
    """Every policy file that counts in the working folder, and what is wrong with one."""
    files = services.policy(services.settings.cwd or os.getcwd()).files
    broken = [file.error for file in files if file.error]
    if broken:
        return Check(
            "policy", "broken", shown_line(broken[0], 300), "fix or remove the file; until then nothing runs unasked"
        )
    if not files:
        return Check("policy", "ok", f"no rules; yours would be in {shown_line(services.policy_path)}")
    found = ", ".join(f"{file.path} ({len(file.rules) + len(file.patterns)} rules)" for file in files)
    return Check("policy", "ok", shown_line(found, 300))


async def _sessions(services: Services) -> Check:
    if not services.settings.persist:
        return Check("sessions", "note", "not kept (--no-persist)")
    folder = place = services.loaded.session_dir
    while not os.path.exists(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    if not os.path.isdir(place) or not os.access(place, os.W_OK | os.X_OK):
        return Check("sessions", "broken", f"{shown_line(folder)} cannot be written", "choose another --session-dir")
    free = shutil.disk_usage(place).free
    if free < 10_000_000:
        return Check("sessions", "broken", f"{shown_line(folder)}: the disk is nearly full", "free some space")
    from agent.recording.permissions import find_loose

    if loose := find_loose(os.path.abspath(folder), state_dir(services.loaded.environ)):
        found = f"{shown_line(folder)}: {len(loose):,} path{'s' * (len(loose) != 1)} can be used by others"
        return Check(
            "sessions", "note", found, "`agent-shell sessions permissions` lists them, --repair makes them private"
        )
    return Check("sessions", "ok", shown_line(folder))


async def _terminal(services: Services) -> Check:
    term = os.environ.get("TERM", "")
    both = sys.stdin.isatty() and sys.stdout.isatty()
    if not both:
        return Check("terminal", "note", "not a terminal", "nothing can be confirmed here; the REPL needs a terminal")
    if term in ("", "dumb", "unknown"):
        return Check("terminal", "note", f"TERM={term or '(unset)'}", "questions and lines instead of an editor")
    colours = "no colour (NO_COLOR)" if os.environ.get("NO_COLOR") else "colour"
    encoding = (sys.stdout.encoding or "").lower()
    if encoding != "utf-8":
        return Check("terminal", "note", f"TERM={shown_line(term)}, encoding {encoding}", "set LANG to a UTF-8 locale")
    return Check("terminal", "ok", f"TERM={shown_line(term)}, {colours}, UTF-8")


async def _supervisor(services: Services) -> Check:
    """Tell whether commands can be supervised: the helper that ends whole process trees needs Linux's sub-reaper."""
    if not sys.platform.startswith("linux"):
        return Check("supervisor", "note", sys.platform, "process trees are ended by process group only")
    readable = os.access("/proc/self/stat", os.R_OK)
    if not readable:
        return Check("supervisor", "broken", "/proc is not mounted", "mount /proc; orphans cannot be found without it")
    return Check("supervisor", "ok", "sub-reaper and /proc are there: nothing is left behind")


async def _execution(services: Services) -> list[Check]:
    """Check what can be confined, rehearsed, taken back and limited here, each by doing it."""
    rows = await services.diagnose()
    return [Check(row.name, row.state, shown_line(row.found, 400), shown_line(row.advice, 400)) for row in rows]


async def _root(services: Services) -> Check:
    if services.is_root:
        return Check("user", "note", "root", "allowed, with stricter rating; an ordinary user is safer")
    return Check("user", "ok", "not root")


CHECKS: tuple[Callable[[Services], Awaitable[Check]], ...] = (
    _planner,
    _keys,
    _local_servers,
    _bash,
    _git,
    _parser,
    _policy,
    _sessions,
    _terminal,
    _supervisor,
    _root,
)

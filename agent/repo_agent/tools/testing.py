"""Run a command, or the tests of the repository, for a model: by the gate as any other; of the tests it is told how many passed."""

from __future__ import annotations

import json
import os
import re
import shlex
from functools import partial
from typing import Any

from agent.planner.facts.git_facts import HARDENED
from agent.planner.untrusted import clip
from agent.protocol.errors import IoError
from agent.protocol.messages import CommandItem
from agent.protocol.ports import ToolResult
from agent.repo_agent.root import root_of, text_in
from agent.repo_agent.test_runner import OWN_SCRIPT, counted, runner_words
from agent.repo_agent.test_settings import test_setup
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Doors, Workplace, tree_of
from agent.text.sizes import seconds
from agent.tools.root import refused

_MOST_TOKENS = 1_500
"""Of each stream: the result has to be read whole."""
_END = re.compile(r'"passed": (\d{1,9}|null), "total": (\d{1,9}|null)\}\s*\Z')
_KEYS = frozenset(("ok", "exit_code", "stdout", "stderr", "passed", "total"))
_OWN_PYTHON = ".venv/bin/python"
_NOT_FOUND = 127


class RunTests(Arguments, frozen=True):
    pass


async def run_tests(arguments: RunTests, place: Workplace, doors: Doors) -> ToolResult:
    """Run them as the repository's files say, and return one JSON object."""
    root = root_of(place.root)
    python, before = await _python(place)
    words = runner_words(partial(text_in, root), python)
    place.progress.untestable = not words
    if not words:
        return ToolResult(content=_json(_result(2, "", "nothing in the repository says how its tests are run")))
    command = shlex.join((*(before if words[0] == python else ()), *words))
    try:
        tree = await tree_of(place.repository)
    except IoError as error:
        return refused(_json(_result(_NOT_FOUND, "", error.terminal_message())))
    item = await doors.run(command, reason="run the tests of the repository")
    if item.outcome != "ran" or item.exit_code is None:
        return refused(_json(_result(_NOT_FOUND, "", item.remark or f"they were not run ({item.outcome})")))
    told = _told(item) if words[-1] == OWN_SCRIPT else None
    if (
        told is None and words[-1] == OWN_SCRIPT and (end := _END.search(item.stdout))
    ):  # of a long object only its ends are kept
        numbers = (None if each == "null" else int(each) for each in end.groups())
        told = _result(item.exit_code, item.stdout, item.stderr) | dict(zip(("passed", "total"), numbers, strict=True))
    result = told or _result(item.exit_code, item.stdout, item.stderr)
    if None not in (result["passed"], result["total"]) and result["passed"] != result["total"]:
        result["ok"] = False  # whatever the exit code says: the repository can set it
    if item.timed_out:
        limit = f"the tests took longer than a command may, and were ended after {seconds(item.duration)}; --command-timeout sets the limit"
        result |= {"ok": False, "stderr": "\n".join(filter(None, (result["stderr"], limit)))}
    place.progress.test_setup = await test_setup(place, tree.files)
    place.progress.tested(ok=bool(result["ok"]), passed=result["passed"], total=result["total"], tree=tree)
    return ToolResult(content=_json(result), is_error=not result["ok"])


async def _python(place: Workplace) -> tuple[str, tuple[str, ...]]:
    """Find the interpreter that has what the repository needs, and the words before it.

    A worktree has none of its own, nor has a copy: that of the repository is taken, which must not import the code that is checked out
    there.
    """
    ask = (*HARDENED, "rev-parse", "--path-format=absolute", "--git-common-dir")
    code, text = await place.processes.capture(ask, cwd=place.root)
    main = os.path.dirname(text.rstrip("\n")) if code == 0 else place.root
    for folder in dict.fromkeys((place.root, place.original or main)):
        own = os.path.join(folder, _OWN_PYTHON)
        if os.access(own, os.X_OK):
            return own, () if folder == place.root else ("env", f"PYTHONPATH={place.root}/src:{place.root}")
    return "python3", ()


def _told(item: CommandItem) -> dict[str, Any] | None:
    """Return what a script of the repository's own printed, where that is such an object. It cannot call a failure a success."""
    try:
        told = json.loads(item.stdout)
    except ValueError:
        return None
    if not isinstance(told, dict) or not told.keys() >= _KEYS:
        return None
    numbers = [told[key] if type(told[key]) is int else None for key in ("passed", "total")]
    code = item.exit_code or (told["exit_code"] if type(told["exit_code"]) is int else 1)
    ok = told["ok"] is True and code == 0
    return {
        **_result(code, str(told["stdout"]), str(told["stderr"])),
        "ok": ok,
        "passed": numbers[0],
        "total": numbers[1],
    }


def _result(code: int, out: str, err: str) -> dict[str, Any]:
    counts = counted(out) or counted(err)
    return {
        "ok": code == 0,
        "exit_code": code,
        "stdout": clip(out, _MOST_TOKENS),
        "stderr": clip(err, _MOST_TOKENS),
        "passed": counts.passed if counts else None,
        "total": counts.total if counts else None,
    }


def _json(result: dict[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False)


TESTING = (ToolDefinition("run_tests", RunTests, Effect.RUNS, run_tests),)


class RunCommand(Arguments, frozen=True):
    command: str
    reason: str = ""


async def run_command(arguments: RunCommand, place: Workplace, doors: Doors) -> ToolResult:
    """Return what it printed, how it ended, and which files differ from before."""
    if not arguments.command.strip():
        return refused("`command` must be a non-empty string")
    before = await _states(place)
    item = await doors.run(arguments.command, reason=arguments.reason)
    if item.outcome != "ran" or item.exit_code is None:
        return refused(item.remark or f"it was not run ({item.outcome})")
    if item.level != "low":  # it may have changed a file: the tests have to see that
        place.progress.changed("?")
    ended = "ended at its time limit, " if item.timed_out else "interrupted, " if item.interrupted else ""
    parts = [f"{ended}exit code {item.exit_code}"]
    for name, text, dropped in (
        ("stdout", item.stdout, item.stdout_dropped),
        ("stderr", item.stderr, item.stderr_dropped),
    ):
        if text:
            cut = f", {dropped:,} bytes in the middle were not kept" if dropped else ""
            parts.append(f"{name}{cut}:\n{text}")
    written = await _written(before, place)
    return ToolResult(content="\n".join(parts), is_error=item.exit_code != 0, files_written=written)


async def _states(place: Workplace) -> dict[str, object] | None:
    """Return the commit, by "", and what tells of every file that differs from it whether it was changed again; None: it is not known."""
    try:
        states: dict[str, object] = {"": await place.repository.head()}
        for change in await place.repository.changes():
            try:
                info = os.lstat(os.path.join(place.root, change.path))
                states[change.path] = (info.st_ino, info.st_ctime_ns, info.st_size)
            except OSError:
                states[change.path] = None
    except IoError:
        return None
    return states


async def _written(before: dict[str, object] | None, place: Workplace) -> tuple[str, ...]:
    """Return the files that a command changed; where that is not known, it is anything."""
    after = await _states(place)
    if before is None or after is None:
        return (".",)
    gone = object()
    written = {path for path in {*before, *after} - {""} if before.get(path, gone) != after.get(path, gone)}
    if before[""] != after[""]:
        commits = (str(before[""]), str(after[""]))
        words = (*HARDENED, "diff-tree", "-r", "--name-only", "--no-renames", "-z", *commits)
        code, text = await place.processes.capture(words, cwd=place.root)
        written |= {"."} if code else {*text.split("\0")} - {""}
    return tuple(sorted(written))


COMMANDS = (ToolDefinition("run_command", RunCommand, Effect.RUNS, run_command),)

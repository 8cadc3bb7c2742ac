"""What is right: the same output and the same files.

Strictly to the byte; or, leniently, the same lines or words in whatever order and spelling of paths.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from msgspec import structs

from benchmarks.nl2sh_fixtures import FIXTURES
from benchmarks.nl2sh_sandbox import HOME, Outcome, prepare, run_inside
from benchmarks.nl2sh_tasks import Task

NOTHING = Outcome()


@dataclass(frozen=True)
class Judgement:
    """Whether a command did what one of the accepted commands does; `why` is for what was not run."""

    strict: bool = False
    lenient: bool = False
    ours: Outcome = NOTHING
    reference: Outcome = NOTHING
    why: str = ""


class Judge:
    """Runs commands of tasks in throw-away copies of their worlds; fixtures are built once, and what is accepted is run once."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._homes: dict[tuple[str, str], str] = {}
        self._outcomes: dict[tuple[Task, str], Outcome] = {}

    def home(self, task: Task) -> str:
        """The world as it is before any command, outside of all sandboxes: to be looked at only. Raises SetupBroken."""
        key = (task.fixture, task.setup)
        if key not in self._homes:
            base = self.home(replace(task, setup="")) if task.setup else ""
            home = os.path.join(tempfile.mkdtemp(dir=self._folder), "home")
            if task.setup:
                prepare(task.setup, base=base, cwd=task.fixture, target=home)
            else:
                FIXTURES[task.fixture](home)
            self._homes[key] = home
        return self._homes[key]

    def run(self, task: Task, command: str) -> Outcome:
        """What `command` does in the task's world."""
        return run_inside(command, base=self.home(task), cwd=task.fixture, times=task.times)

    def accepted(self, task: Task, command: str) -> Outcome:
        """The same for a command of the task itself, remembered."""
        key = (task, command)
        if key not in self._outcomes:
            self._outcomes[key] = self.run(task, command)
        return self._outcomes[key]

    def judge(self, task: Task, command: str) -> Judgement:
        """Compare with each accepted command; the first that it equals counts."""
        refusal = not_to_be_run(command, self.home(task), task.fixture)
        reference = self.accepted(task, task.reference)
        if refusal:
            return Judgement(reference=reference, why=refusal)
        ours = reference if command == task.reference else self.run(task, command)
        strict = lenient = False
        for accepted in task.accepted:
            wanted = self.accepted(task, accepted)
            strict = strict or same(ours, wanted)
            lenient = lenient or nearly_same(ours, wanted, task.fixture)
            if strict:
                break
        return Judgement(strict=strict, lenient=lenient or strict, ours=ours, reference=reference)


@contextmanager
def judging() -> Iterator[Judge]:
    """A judge whose fixtures go when it does."""
    with tempfile.TemporaryDirectory(prefix="nl2sh-") as folder:
        yield Judge(folder)


def not_to_be_run(command: str, home: str, cwd: str) -> str:
    """Why the classifier keeps a command from being run even in a sandbox; "" where it may be. It sees the task's own world."""
    from agent.planner.facts.path_facts import path_facts
    from agent.protocol.decisions import Level, RiskContext
    from agent.risk.classifier import classify

    place = os.path.join(home, cwd)
    command = command.replace(HOME, home)
    context = RiskContext(cwd=place, home=home, workspace=place)
    report = classify(command, structs.replace(context, facts=path_facts(command, context)))
    if report.level == Level.HIGH:
        return "rated high: " + "; ".join(finding.reason for finding in report.findings[:2])
    if re.search(r"(^|[\s;|&(])(sudo|doas|pkexec|su)\s", command):
        return "asks for more rights"
    return ""


def same(ours: Outcome, wanted: Outcome) -> bool:
    """Byte for byte, but for blanks at the end of the output; and every path the same."""
    if ours.timed_out or ours.cut or ours.changed != wanted.changed:
        return False
    return ours.stdout.rstrip() == wanted.stdout.rstrip()


def nearly_same(ours: Outcome, wanted: Outcome, cwd: str) -> bool:
    """Every path the same; of the output, the same lines in any order, or the same words in any."""
    if ours.timed_out or ours.cut or ours.changed != wanted.changed:
        return False
    mine, theirs = _plain_lines(ours.stdout, cwd), _plain_lines(wanted.stdout, cwd)
    return sorted(mine) == sorted(theirs) or sorted(" ".join(mine).split()) == sorted(" ".join(theirs).split())


def _plain_lines(output: str, cwd: str) -> list[str]:
    """Lines with single blanks and plain paths, without empty ones."""
    output = re.sub(rf"(?<![\w/.]){re.escape(HOME)}/{re.escape(cwd)}/", "", output)
    output = re.sub(r"(?<![\w/.])\./(?=\S)", "", output)
    return [line for line in (" ".join(line.split()) for line in output.splitlines()) if line]

"""What is to become of the lines of one file: shown, or changed in the file itself.

A sentence is "remove the blank lines from notes.txt" or "notes.txt without blank lines": with an order in it the file is changed, with a
description of what is wanted the result is shown.
"""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.asked import words as w
from agent.planner.offline.grammar.asked.changing import Heard, Step
from agent.planner.offline.grammar.asked.columns import Columns, columns_of
from agent.planner.offline.grammar.asked.edit_rules import RULES
from agent.planner.offline.grammar.asked.subject import MARK, Subject
from agent.planner.offline.values import quote_path

_compiled: dict[int, re.Pattern[str]] = {}
_ORDER_OF_DOING = re.compile(r"(?i)(?:show|print|display|give me|output|list)\b")


def edited(subject: Subject) -> str:
    """The command for a change of the lines of a file; "" where none is asked for."""
    core = re.sub(rf" *{MARK} *", f" {MARK} ", subject.said)
    leading = core.lstrip().startswith(MARK)
    core = re.sub(rf"\s*{MARK}\s*", " ", core).strip(" ,:;.")
    core = re.sub(r"\s+([,;])", r"\1", _outside_quotes(core))
    shown = subject.shown or _ORDER_OF_DOING.match(core) is not None
    core = re.sub(rf"(?i)\A(?:{w.ASK}) (?=\S)", "", core) if shown else core
    core = re.sub(r"(?i)\A(?:but |with (?=each |every |all |the ))", "", core).strip(" ,:;.")
    columns = columns_of(subject.text, subject.path)
    steps = _steps(core, subject, columns)
    if not steps:
        return ""
    ordered = any(done for _, done in steps) and not leading
    return _command([step for step, _ in steps], subject, inplace=subject.inplace or (ordered and not shown))


def _outside_quotes(text: str) -> str:
    """A sentence with commas for its colons; what is quoted stays as it is."""
    return re.sub(rf"({w.QUOTED})|: ", lambda found: found[1] or ", ", text)


def _steps(core: str, subject: Subject, columns: Columns) -> list[tuple[Step, bool]]:
    """One change, or two that are joined by "and"."""
    one = _step(core, subject, columns)
    if one is not None:
        return [one]
    for joint in re.finditer(r",? and (?:also |then )?|, (?:then |with )?", core):
        first, second = _step(core[: joint.start()], subject, columns), _step(core[joint.end() :], subject, columns)
        if first is not None and second is not None:
            return [first, second]
    return []


def _step(said: str, subject: Subject, columns: Columns) -> tuple[Step, bool] | None:
    low = said.lower()
    for number, (beginnings, source, make) in enumerate(RULES):
        if not any(beginning in low for beginning in beginnings.split()):
            continue
        if number not in _compiled:
            _compiled[number] = re.compile(source, re.IGNORECASE)
        match = _compiled[number].fullmatch(said.strip(" ,:;()"))
        if match is not None and match[0]:
            step = make(Heard(match, subject, columns))
            if step is not None:
                groups = match.groupdict()
                return step, bool(groups.get("do") or groups.get("do2"))
    return None


def _command(steps: list[Step], subject: Subject, *, inplace: bool) -> str:
    path = quote_path(subject.path)
    if all(step.script for step in steps):
        script = ";".join(step.script for step in steps)
        extended = "-E " if any(step.extended for step in steps) else ""
        if inplace and not subject.sink:
            return f"sed -i {extended}{shlex.quote(script)} {path}"
        return _sent(f"sed {extended}{shlex.quote(script)} {path}", subject)
    if inplace:
        return ""  # what sed cannot do is not done in the file
    parts = []
    for at, step in enumerate(steps):
        command = step.command or f"sed {'-E ' if step.extended else ''}{shlex.quote(step.script)}"
        if at:
            parts.append(command)
        elif step.feeds:
            parts.append(f"{command} < {path}")
        elif " | " in command:
            head, _, tail = command.partition(" | ")
            parts.append(f"{head} {path} | {tail}")
        else:
            parts.append(f"{command} {path}")
    return _sent(" | ".join(parts), subject)


def _sent(command: str, subject: Subject) -> str:
    return f"{command} > {quote_path(subject.sink)}" if subject.sink else command

"""`agent-shell sessions judge`: what today's rules say of everything that was ever proposed or run."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import structs

from agent.audit.queries.choosing import listed
from agent.emitters.console import complain, print_rows, say
from agent.emitters.streams import Sink, sink_of
from agent.frontends.session_naming import find_session, session_folder
from agent.protocol.errors import ConfigError, InvalidRequest
from agent.protocol.outcomes import ExitCode
from agent.text.shown import shown_line

if TYPE_CHECKING:
    import argparse

    from agent.audit.reclassify.judgements import Judgement
    from agent.audit.reclassify.ruling import Judge
    from agent.audit.reclassify.texts import Text, Trouble
    from agent.frontends.services import Services
    from agent.policy.files import Sources
    from agent.recording.reader import SessionFile

_MOST_JOBS = 64
_BREATH = 64
"""Judgements between two looks at whether we are to stop."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sessions", nargs="*", metavar="ID", help="which sessions: ids, log files or folders of logs; default: all"
    )
    parser.add_argument(
        "--policy", metavar="FILE", help="use this policy file instead of yours (--safety-policy still counts)"
    )
    parser.add_argument(
        "--approve",
        dest="as_approve",
        choices=("ask", "low", "medium"),
        help="as if this had been allowed to run unasked; default: what counted then",
    )
    parser.add_argument("--only", choices=("changed", "stricter", "looser"), help="leave out the others")
    parser.add_argument(
        "--facts", action="store_true", help="look at the disk as it is today, not at what was known then"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="rating processes; default: one per processor")


async def run(services: Services, options: argparse.Namespace) -> int:
    """Judge, and print a line a text (`--json`) or what has changed. Raises CoreError."""
    from agent.audit.reclassify.judgements import judgements
    from agent.audit.reclassify.texts import Trouble
    from agent.audit.reclassify.workers import cores

    if options.jobs is not None and not 1 <= options.jobs <= _MOST_JOBS:
        raise InvalidRequest(f"--jobs takes a number from 1 to {_MOST_JOBS}")
    sessions = _chosen(services, options.sessions)
    judge = _judge(services, options)
    trouble = Trouble()
    found = judgements(_texts(sessions, trouble), judge, jobs=options.jobs or cores())
    out = sink_of(sys.stdout)
    if services.settings.json:
        await _told(found, options.only, out)
    else:
        from agent.frontends.sessions.judge_report import Report

        report = Report(options.only)
        async for judgement in _breathing(found):
            report.add(judgement)
        say(report.summary(len(sessions)), out)
        for heading, rows in report.tables():
            say(f"\n{heading}", out)
            print_rows(rows, json=False, out=out)
        for note in report.notes():
            complain(f"agent-shell: {note}")
    if trouble.lines:
        lines = "1 line" if trouble.lines == 1 else f"{trouble.lines:,} lines"
        complain(
            f"agent-shell: {lines} could not be read, the first is {shown_line(trouble.first, 300)}", style="yellow"
        )
    return ExitCode.DONE


def _chosen(services: Services, wanted: list[str]) -> list[SessionFile]:
    """The sessions that were named, each once; all where none was."""
    if not wanted:
        return listed(session_folder(services))
    found: dict[str, SessionFile] = {}
    for name in wanted:
        here = listed(name) if os.path.isdir(name) else [find_session(services, name)]
        found |= {session.path: session for session in here}
    return list(found.values())


def _texts(sessions: Iterable[SessionFile], trouble: Trouble) -> Iterator[Text]:
    from agent.audit.reclassify.texts import read_texts

    for session in sessions:
        yield from read_texts(session.files, trouble)


def _judge(services: Services, options: argparse.Namespace) -> Judge:
    from agent.audit.reclassify.ruling import Judge
    from agent.policy.files import policy_sources

    sources = policy_sources(services.settings, services.loaded.environ)
    if options.policy is not None:
        sources = _given(sources, options.policy)
    from agent.planner.facts.facts import context_of

    judge = Judge(
        sources,
        approve=options.as_approve,
        facts_of=context_of if options.facts else None,
        projects=options.facts and options.policy is None,
    )
    for file in judge.policy().files:
        if file.error and options.policy is not None:
            raise ConfigError(f"--policy: {file.error}", hint="fix the file, or judge without it")
        if file.error:
            complain(
                f"agent-shell: {shown_line(file.error, 500)}; until this is fixed, nothing runs unasked", style="yellow"
            )
    return judge


def _given(sources: Sources, path: str) -> Sources:
    """The file that was named, in place of the person's own and the site's."""
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(path):
        raise ConfigError(f"--policy: {shown_line(path, 300)} does not exist")
    return structs.replace(sources, user=path, site="")


async def _breathing(found: Iterator[Judgement]) -> Any:
    """The same, with a look at whether Ctrl-C was pressed now and then."""
    count = 0
    try:
        for judgement in found:
            yield judgement
            count += 1
            if count % _BREATH == 0:
                await asyncio.sleep(0)
    finally:
        found.close()  # type: ignore[attr-defined]  # a generator: its workers end with it


async def _told(found: Iterator[Judgement], only: str | None, out: Sink) -> None:
    from agent.frontends.sessions.judge_report import is_wanted, row_of

    rows = []
    async for judgement in _breathing(found):
        if is_wanted(judgement, only):
            rows.append(row_of(judgement))
        if len(rows) >= _BREATH:
            print_rows(rows, json=True, out=out)
            rows = []
    print_rows(rows, json=True, out=out)

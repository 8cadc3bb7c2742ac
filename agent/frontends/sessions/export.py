"""`agent-shell sessions export`: a session, or the goals of a time from several, in another form."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from agent.audit.queries.choosing import listed
from agent.audit.queries.stories import is_within, records, story, within
from agent.audit.story.model import GoalStory, Item
from agent.emitters.export.formats import FORMATS, Source, export
from agent.emitters.streams import sink_of
from agent.frontends.session_naming import HELP, OWN_HELP, find_session, is_outside, session_folder
from agent.frontends.sessions.shared import heads_of
from agent.protocol.errors import InvalidRequest, IoError
from agent.protocol.records import Record
from agent.text.shown import shown_line
from agent.text.times import add_times

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services
    from agent.recording.integrity.verify import Checked
    from agent.recording.reader import BadLine, SessionFile

_CHUNK = 65_536  # bytes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = "; ".join(f"{name}: {chosen.about}" for name, chosen in FORMATS.items())
    parser.add_argument("--format", choices=tuple(FORMATS), help=about)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write there, readable by you alone; - is standard output"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE where it exists")
    parser.add_argument("--own", dest="own_goals", action="store_true", help=OWN_HELP)
    add_times(parser, until=True)
    parser.add_argument("session", nargs="*", metavar="ID", help=f"{HELP}; several are told one after the other")


async def run(services: Services, options: argparse.Namespace) -> int:
    """Write it; the exit code. Raises CoreError, EmitError."""
    name = options.format or ("json" if services.settings.json else "")
    if not name:
        raise InvalidRequest("no format was given", hint=f"add --format {'|'.join(FORMATS)}")
    chosen = _chosen(services, options)
    beside = listed(session_folder(services))
    own = options.own_goals or len(chosen) > 1  # what a branch took over is told where it is from
    since, until = options.since or 0, options.until or 0
    outside = [one for one in chosen if is_outside(services, one)]

    def items() -> Iterator[Item]:
        for one in chosen:
            yield from within(story(one, None if one in outside else beside, thorough=True, own=own), since, until)

    def lines() -> Iterator[Record | BadLine]:
        for one in chosen:
            for line in records(one, own=own):
                if not isinstance(line, Record) or is_within(line.time, since, until):
                    yield line

    source = Source(
        session=chosen[0],
        more=tuple(chosen[1:]),
        items=items,
        lines=lines,
        outside=bool(outside),
        verify=lambda: _verified(services, chosen),
    )
    pieces = _chunks(export(name, source))
    if options.output in (None, "-"):
        out = sink_of(sys.stdout)
        for piece in pieces:
            out.write(piece)
            await asyncio.sleep(0)  # where Ctrl-C gets through
        return 0
    with private_file(options.output, force=options.force, program=FORMATS[name].program) as file:
        for piece in pieces:
            file.write(piece)
            await asyncio.sleep(0)
    return 0


def _chosen(services: Services, options: argparse.Namespace) -> list[SessionFile]:
    """The sessions that are named; with a time and no name those that were open then; else the newest. Raises CoreError."""
    if options.session or not (options.since or options.until):
        named = [find_session(services, name) for name in options.session or [None]]
        return list({one.path: one for one in named}.values())
    since, until = options.since or 0, options.until or 0
    then = [
        one
        for one in listed(session_folder(services))
        if one.modified * 1_000_000 >= since
        and any(isinstance(item, GoalStory) for item in within(story(one, None, own=True), since, until))
    ]
    if not then:
        raise InvalidRequest("no goal was recorded in that time", hint="`agent-shell sessions list --goals` lists them")
    return then


def _verified(services: Services, sessions: list[SessionFile]) -> Checked:
    """Check the logs: of several the first that is not whole."""
    from agent.recording.integrity.verify import verify_or_say

    checks = [verify_or_say(session, heads_of(services)) for session in sessions]
    return next((check for check in checks if check.problems), checks[0])


def _chunks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _CHUNK:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


@contextmanager
def private_file(path: str, *, force: bool, program: bool = False) -> Iterator[BinaryIO]:
    """A file under `path` with all that is written while this lasts, or nothing: it is written beside and put into its place at the end.

    Readable by this user alone; `force`: a regular file that is there is replaced. Raises CoreError.
    """
    target = os.path.abspath(os.path.expanduser(path))
    _check_target(target, force=force)
    beside = f"{target}.{os.getpid()}.part"
    try:
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                yield file
                os.fchmod(file.fileno(), 0o700 if program else 0o600)
            _put(beside, target, force=force)
        except BaseException:
            if os.path.lexists(beside):
                os.unlink(beside)
            raise
    except FileExistsError:
        raise _exists(target) from None
    except OSError as error:
        raise IoError(f"cannot write {shown_line(target)}: {error.strerror or error}") from error


def _put(beside: str, target: str, *, force: bool) -> None:
    """Give the finished file its name; FileExistsError where somebody was quicker and it is not to be replaced."""
    if not force:
        try:
            os.link(beside, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: a moment in which somebody could be quicker is left
            if os.path.lexists(target):
                raise FileExistsError(target) from None
        else:
            os.unlink(beside)
            return
    os.replace(beside, target)


def _check_target(target: str, *, force: bool) -> None:
    try:
        info = os.lstat(target)
    except OSError:
        return
    if not force:
        raise _exists(target)
    if not stat.S_ISREG(info.st_mode):
        raise InvalidRequest(f"{shown_line(target)} is not a regular file", hint="choose another name")


def _exists(target: str) -> InvalidRequest:
    return InvalidRequest(
        f"{shown_line(target)} exists already", hint="choose another name, or add --force to replace it"
    )

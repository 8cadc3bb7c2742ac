"""`agent-shell sessions show`: the story of a session as a person reads it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent.audit.queries.choosing import goal_number, listed
from agent.audit.queries.stories import story
from agent.audit.story.model import GoalStory, Item
from agent.audit.story.objects import as_json, goal_object
from agent.emitters.streams import Sink, sink_of
from agent.frontends.session_naming import HELP, OWN_HELP, find_session, is_outside, session_folder
from agent.frontends.sessions.dispatch import turn

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services
    from agent.recording.reader import SessionFile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--full", action="store_true", help="whole outputs, findings, diffs and planner replies")
    parser.add_argument("--goal", type=int, metavar="N", help="only the Nth goal; -1 is the last one")
    parser.add_argument("--own", dest="own_goals", action="store_true", help=OWN_HELP)
    parser.add_argument("--no-pager", action="store_true", help="print, however long it is")
    parser.add_argument("session", nargs="?", metavar="ID", help=HELP)


def needs_loop(services: Services, options: argparse.Namespace) -> bool:
    """Only a pager is waited for."""
    from agent.frontends.external_programs import pager_words

    return sys.stdout.isatty() and not options.no_pager and bool(pager_words(services.loaded.environ))


async def run(services: Services, options: argparse.Namespace) -> int:
    """Show it; the exit code. Raises CoreError, EmitError."""
    known = listed(session_folder(services))
    session = find_session(services, options.session, known)
    out = sink_of(sys.stdout)
    outside = is_outside(services, session)
    beside = None if outside else known
    number = goal_number(session, options.goal, own=options.own_goals, beside=beside)
    if services.settings.json:
        await _objects(session, story(session, beside, own=options.own_goals), number, out)
        return 0

    def lines() -> Iterator[str]:
        from agent.emitters.story_text import StoryText

        text = StoryText(color=out.color, columns=out.size()[0] if out.is_tty else 100, full=options.full, only=number)
        if not number:
            yield from text.place(session, outside=outside)
        yield from text.lines(story(session, beside, own=options.own_goals))

    from agent.frontends.sessions.pager import show_lines

    await show_lines(lines, out, services.processes, services.loaded.environ, pager=not options.no_pager)
    return 0


def story_text(services: Services, path: str | None) -> str:
    """The story of the session whose log begins at `path`, without colours. Raises CoreError."""
    from agent.emitters.story_text import StoryText

    session = find_session(services, path)
    text = StoryText(color=False, columns=100, full=False, only=0)
    return "\n".join([*text.place(session, outside=False), *text.lines(story(session, None, own=False))])


async def _objects(session: SessionFile, items: Iterable[Item], wanted: int, out: Sink) -> None:
    """One object a goal (or part of a long one), a line each."""
    from agent.text.shown import inert_json

    number = 0
    for item in items:
        number += isinstance(item, GoalStory) and item.part == 1
        if wanted and number > wanted:
            return
        if isinstance(item, GoalStory) and wanted in (0, number):
            row = {"session": session.session_id, **goal_object(item, number)}
            out.write(inert_json(as_json(row).decode()).encode() + b"\n")
            await turn()  # where Ctrl-C gets through

"""`agent-shell sessions prune`: old logs make room; a tombstone stays in the place of each."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.audit.queries.choosing import listed
from agent.audit.retention import Chosen, Survey, Wish, choose, is_in_use, prune, remove_tombstone, survey
from agent.emitters.console import complain, print_rows, say
from agent.emitters.streams import sink_of
from agent.frontends.session_naming import session_folder
from agent.frontends.sessions.shared import agreed, forget, heads_of, signer_of
from agent.protocol.errors import CoreError, InvalidRequest
from agent.protocol.outcomes import ExitCode, GoalStatus
from agent.recording.envelope import SystemClock
from agent.text.shown import shown_line
from agent.text.sizes import bytes_in, counted
from agent.text.times import age_of

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services

_LISTED = 40


def _size(text: str) -> int:
    import argparse

    try:
        return bytes_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--older-than", metavar="AGE", type=age_of, help="sessions with no event since: 90d, 12h, 6 months"
    )
    parser.add_argument(
        "--keep-size", metavar="SIZE", type=_size, help="the oldest, until all logs take no more than this: 2GB"
    )
    parser.add_argument(
        "--status",
        action="append",
        choices=[status.value for status in GoalStatus],
        metavar="STATUS",
        help="only sessions of which every goal ended so; may be given again",
    )
    parser.add_argument(
        "--tombstones-older-than", metavar="AGE", type=age_of, help="remove tombstones that are older, for good"
    )
    parser.add_argument("--dry-run", action="store_true", help="list what would be removed; remove nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--force", action="store_true", help="prune logs that do not verify, too")


async def run(services: Services, options: argparse.Namespace) -> int:
    """0 done or nothing to do, 1 where something could not be removed, 6 not wanted. Raises CoreError, EmitError."""
    wish = Wish(older_than=options.older_than, keep_size=options.keep_size, statuses=frozenset(options.status or ()))
    buried_before = options.tombstones_older_than
    if wish == Wish() and buried_before is None:
        raise InvalidRequest(
            "name the sessions to remove",
            hint="--older-than 90d, --keep-size 2GB or --status completed; --dry-run only lists them",
        )
    now = time.time()
    surveys = [survey(session) for session in listed(session_folder(services))]
    chosen = choose(surveys, wish, now=now) if wish != Wish() else []
    in_use = [each for each in chosen if is_in_use(each.survey.session)]
    chosen = [each for each in chosen if each not in in_use]
    old = [
        each for each in surveys if each.tombstone and buried_before is not None and each.ended < now - buried_before
    ]
    rows = [_Row(each.survey, each.reason) for each in chosen] + [_Row(each, "an old tombstone") for each in old]
    as_json = services.settings.json
    if not as_json:
        _tell(rows, in_use, _undos(services, chosen))
    code = ExitCode.DONE
    if rows and not options.dry_run:
        otherwise = "--yes removes without asking, --dry-run only lists"
        question = f"remove {counted(len(rows), 'session')}?"
        if not (
            options.yes
            or await agreed(question, can_ask=not as_json, otherwise=otherwise, declined="nothing was removed")
        ):
            return ExitCode.DECLINED
        code = _remove(services, rows, chosen, old, force=options.force)
    if as_json:
        in_use_rows = [_Row(each.survey, "it is being written", "in-use") for each in in_use]
        print_rows((row.as_json() for row in [*rows, *in_use_rows]), json=True, out=sink_of(sys.stdout))
    elif rows:
        done = sum(row.state in ("pruned", "removed") for row in rows)
        say("nothing was removed" if options.dry_run else f"{done:,} of {len(rows):,} removed")
    return code


@dataclass
class _Row:
    """One session and what became of it: would go, pruned, removed (a tombstone), failed, in-use."""

    found: Survey
    reason: str
    state: str = "would go"

    def as_json(self) -> dict[str, Any]:
        found = self.found
        return {
            "session": found.session.session_id,
            "path": found.session.path,
            "state": self.state,
            "reason": self.reason,
            "began": found.began,
            "ended": found.last,
            "bytes": found.session.size,
            "goals": found.goals,
            "undo_ids": list(found.undo_ids),
        }


def _remove(services: Services, rows: list[_Row], chosen: list[Chosen], old: list[Survey], *, force: bool) -> int:
    heads, signer = heads_of(services), signer_of(services)
    forget(services, (each.survey.session.path for each in chosen))
    failed = False
    work: list[Callable[[], None]] = [
        lambda each=each: prune(each, heads, now=SystemClock().now(), force=force, signer=signer)  # type: ignore[misc]
        for each in chosen
    ]
    work += [lambda each=each: remove_tombstone(each, heads) for each in old]  # type: ignore[misc]
    for row, act in zip(rows, work, strict=True):
        try:
            act()
            row.state = "removed" if row.found.tombstone else "pruned"
        except CoreError as error:
            row.state, row.reason, failed = "failed", " ".join(error.message.split()), True
            complain(f"agent-shell: {shown_line(row.found.session.session_id, 80)} stays: {shown_line(error.message)}")
            if error.hint:
                complain(f"  {error.hint}")
    return ExitCode.FAILED if failed else ExitCode.DONE


def _tell(rows: Sequence[_Row], in_use: Sequence[Chosen], undos: int) -> None:
    table = [
        {"session": shown_line(row.found.session.session_id, 64), "ended": row.found.last[:16].replace("T", " ")}
        | {"goals": row.found.goals, "bytes": f"{row.found.session.size:,}", "why": row.reason}
        for row in rows[:_LISTED]
    ]
    print_rows(table, json=False, out=sink_of(sys.stdout))
    if len(rows) > _LISTED:
        say(f"and {len(rows) - _LISTED:,} more")
    size = sum(row.found.session.size for row in rows)
    say(f"{counted(len(rows), 'session')}, {counted(size, 'byte')}" if rows else "nothing to remove")
    if undos:
        say(
            f"{undos:,} of their runs can still be undone: `agent-shell undo --list`; that stays so, but the log of them goes"
        )
    for each in in_use:
        complain(
            f"agent-shell: {shown_line(each.survey.session.session_id, 80)} stays: it is being written", style="yellow"
        )


def _undos(services: Services, chosen: Sequence[Chosen]) -> int:
    """Count runs of these sessions that the undo store still has. What a crash left open stays so: there is no log to record its end in."""
    ids = {undo_id for each in chosen for undo_id in each.survey.undo_ids}
    try:
        return len(ids & services.undo().ids()) if ids else 0
    except (CoreError, OSError):
        return 0

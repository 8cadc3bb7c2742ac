"""`agent-shell sessions verify`: whether the logs are what was written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agent.audit.queries.choosing import listed
from agent.emitters.console import print_rows
from agent.emitters.paint import paint
from agent.emitters.streams import Sink, sink_of
from agent.frontends.session_naming import find_session, is_outside, session_folder
from agent.frontends.sessions.shared import heads_of
from agent.recording.integrity.heads import head_path
from agent.recording.integrity.verify import Checked, Signatures, lost_logs, verify_folder, verify_or_say
from agent.text.shown import shown
from agent.text.sizes import counted

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--heads",
        metavar="DIR",
        help="heads kept elsewhere, instead of those in the state folder; see docs/integrity.md",
    )
    parser.add_argument(
        "--public-key", metavar="PATH", help="check signatures, too: each log must have one of this key"
    )
    parser.add_argument(
        "--make-key",
        metavar="PATH",
        help="make a key to sign with (or `keyring`), print its public half, and check nothing",
    )
    parser.add_argument(
        "sessions", nargs="*", metavar="ID", help="which sessions: an id or the beginning of it; default: all"
    )


async def run(services: Services, options: argparse.Namespace) -> int:
    """Check them; 0 if nothing was touched, else 1. Raises CoreError, EmitError."""
    out = sink_of(sys.stdout)
    if options.make_key:
        from agent.recording.integrity.signing import make_key

        out.write(make_key(options.make_key))
        return 0
    heads = os.path.abspath(options.heads) if options.heads else heads_of(services)
    signatures = None
    if options.public_key:
        from agent.recording.integrity.signing import signatures_with

        signatures = signatures_with(options.public_key, heads)
    found = _checked(services, options.sessions, heads, signatures)
    if services.settings.json:
        return _print_json(found, out)
    return _print_text(found, out, heads)


def _checked(services: Services, wanted: list[str], heads: str, signatures: Signatures | None) -> Iterator[Checked]:
    if not wanted:
        yield from verify_folder(session_folder(services), heads, signatures)
    folder = session_folder(services)
    for session in [find_session(services, each) for each in wanted]:
        checked = verify_or_say(session, heads, signatures)
        yield checked
        if not is_outside(services, session):  # another log of the same id may stand in its place
            here = [each for each in listed(folder) if each.session_id == session.session_id]
            seen = [verify_or_say(each, heads) if each.path != session.path else checked for each in here]
            yield from lost_logs(folder, heads, seen, session.session_id)


def _print_json(found: Iterable[Checked], out: Sink) -> int:
    touched = False

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal touched
        for checked in found:
            touched = touched or not checked.sound
            told = (
                "state", "sound", "events", "bytes", "files", "path", "log", "end", "signed", "note", "problems", "more_problems",
            )  # fmt: skip
            yield {"session": checked.session_id, **{name: getattr(checked, name) for name in told}}

    print_rows(rows(), json=True, out=out)
    return int(touched)


def _print_text(found: Iterable[Checked], out: Sink, heads: str) -> int:
    sessions = events = touched = 0
    for checked in found:
        sessions += 1
        events += checked.events
        if checked.note:
            text = f"{checked.session_id}: {checked.note}; nothing was touched"
            out.write(f"{shown(text)}\n".encode("utf-8", "replace"))
        if not checked.sound:
            touched += 1
            out.write(_told(checked, out, heads).encode("utf-8", "replace"))
    verdict = paint(f"{touched:,} cannot be trusted", "red", color=out.color) if touched else "whole"
    out.write(f"{counted(sessions, 'session')}, {counted(events, 'event')}: {verdict}\n".encode())
    return int(touched > 0)


def _told(checked: Checked, out: Sink, heads: str) -> str:
    lines = [paint(shown(f"{checked.session_id}: {checked.state}"), "red", color=out.color)]
    for each in checked.problems:
        place = f"{each.file}:{each.line}" if each.line else each.file
        lines.append(f"  {shown(place)}: {shown(each.text)}")
    if checked.more_problems:
        lines.append(f"  and {checked.more_problems:,} more")
    if checked.state == "gone":
        lines.append(
            f"  if you removed it yourself, remove what is known of it, too: {shown(head_path(heads, checked.session_id))}"
        )
    return "\n".join(lines) + "\n"

"""`agent-shell sessions scrub`: secrets in logs that are already written, also those that only the person knows."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from agent.audit.queries.choosing import listed
from agent.audit.scrubbing import Found, find_secrets, scrub
from agent.emitters.console import complain, complain_about, print_rows, say
from agent.emitters.streams import sink_of
from agent.frontends.session_naming import HELP, find_session, session_folder
from agent.frontends.sessions.shared import agreed, forget, heads_of, signer_of
from agent.protocol.errors import CoreError, InvalidRequest, IoError
from agent.protocol.outcomes import ExitCode
from agent.recording.envelope import SystemClock
from agent.recording.integrity.verify import verify_or_say
from agent.recording.interview_turns import with_branches
from agent.redaction.key import folder_key
from agent.redaction.known_values import MIN_KNOWN
from agent.redaction.redactor import SecretRedactor, secrets_in
from agent.text.shown import shown_line
from agent.text.sizes import counted

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services
    from agent.recording.integrity.log_proof import Signer
    from agent.recording.reader import SessionFile

_MOST_GIVEN = 1 << 20  # bytes of values on standard input
_SHOWN_PLACES = 10
GIVEN = "given"
"""The kind in the labels of values that were given on standard input."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only show what kinds of secrets are where")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--force", action="store_true", help="scrub logs that do not verify, too")
    parser.add_argument(
        "--value-from-env", action="append", metavar="NAME", help="look for the value of this variable, too"
    )
    parser.add_argument(
        "--stdin", action="store_true", help="look for the values on standard input, too: one a line, or one key file"
    )
    parser.add_argument("sessions", nargs="*", metavar="ID", help=f"{HELP.partition(';')[0]}; default: all")


async def run(services: Services, options: argparse.Namespace) -> int:
    """0 done or nothing found, 1 where something is left, 6 not wanted. Raises CoreError, EmitError."""
    sessions = [find_session(services, each) for each in options.sessions] or listed(session_folder(services))
    if not sessions:
        if not services.settings.json:
            _sum_up([], dry_run=options.dry_run)
        return ExitCode.DONE
    redactor = _redactor(services, options)
    heads = heads_of(services)
    rows = [_looked_through(session, heads, redactor) for session in sessions]
    holding = [row for row in rows if row.found and row.found.lines]
    as_json = services.settings.json
    if not as_json:
        for row in rows:
            row.tell()
    code = ExitCode.FAILED if any(row.trouble for row in rows) else ExitCode.DONE
    if holding and not options.dry_run:
        question = f"replace what was found in {counted(len(holding), 'session')}?"
        otherwise = "--yes scrubs without asking, --dry-run only looks"
        can_ask = not (as_json or options.stdin)
        if not (
            options.yes or await agreed(question, can_ask=can_ask, otherwise=otherwise, declined="nothing was changed")
        ):
            return ExitCode.DECLINED
        signer = signer_of(services)
        forget(services, with_branches([row.session for row in holding], listed(session_folder(services))))
        for row in holding:
            row.scrub(heads, redactor, force=options.force, signer=signer)
        code = ExitCode.FAILED if any(row.trouble for row in rows) else ExitCode.DONE
    if as_json:
        print_rows((row.as_json() for row in rows), json=True, out=sink_of(sys.stdout))
    else:
        _sum_up(rows, dry_run=options.dry_run)
    return code


@dataclass
class _Row:
    """One session on its way: looked through, perhaps scrubbed. `trouble`: why it is not as it should be, in words."""

    session: SessionFile
    found: Found | None = None
    proven: bool = True
    scrubbed: bool = False
    trouble: str = ""

    def tell(self) -> None:
        """Tell a person what was found; never a value."""
        if self.trouble:
            complain(f"agent-shell: {shown_line(self.session.session_id, 80)}: {self.trouble}")
        if not self.found or not self.found.lines:
            return
        doubt = "" if self.proven else " (the log does not verify)"
        say(f"{shown_line(self.session.session_id, 80)}: {_counted(self.found.secrets)}{doubt}")
        for place in self.found.places[:_SHOWN_PLACES]:
            where = " ".join(filter(None, (place.time[:19].replace("T", " "), place.type, place.field)))
            name = os.path.basename(place.file)
            say(f"  {shown_line(name, 90)}:{place.line}  {shown_line(where, 120)}  {', '.join(place.kinds)}")
        more = len(self.found.places) - _SHOWN_PLACES + self.found.more_places
        if more > 0:
            say(f"  and {counted(more, 'more place')}")

    def scrub(self, heads: str, redactor: SecretRedactor, *, force: bool, signer: Signer | None) -> None:
        """Rewrite the log, and look through it once more."""
        assert self.found is not None
        try:
            scrub(self.found, heads, redactor, now=SystemClock().now(), force=force, signer=signer)
            self.scrubbed = True
            if find_secrets(self.session, redactor).lines:
                self.trouble = "something that looks like a secret is left; see it with --dry-run"
        except CoreError as error:
            self.trouble = error.message
            complain_about(error)
        except OSError as error:
            self.trouble = f"it cannot be read: {error.strerror or error}"
        else:
            if self.trouble:
                complain(f"agent-shell: {shown_line(self.session.session_id, 80)}: {self.trouble}")

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        found = self.found
        state = (
            "failed" if self.trouble else "scrubbed" if self.scrubbed else "found" if found and found.lines else "clean"
        )
        row: dict[str, Any] = {"session": self.session.session_id, "path": self.session.path, "state": state}
        if found:
            places = [{**msgspec.to_builtins(place), "file": os.path.basename(place.file)} for place in found.places]
            row |= {"secrets": found.secrets, "lines": found.lines, "proven": self.proven}
            row |= {"places": places, "more_places": found.more_places}
        return row | ({"reason": self.trouble} if self.trouble else {})


def _looked_through(session: SessionFile, heads: str, redactor: SecretRedactor) -> _Row:
    row = _Row(session)
    try:
        row.found = find_secrets(session, redactor)
        if row.found.lines:
            row.proven = verify_or_say(session, heads).sound
    except OSError as error:
        row.trouble = f"it cannot be read: {error.strerror or error}"
    return row


def _redactor(services: Services, options: argparse.Namespace) -> SecretRedactor:
    """With the folder's key, so that a label here is the same as in all its logs."""
    loaded = services.loaded
    redactor = SecretRedactor(
        {**secrets_in(loaded.environ), **loaded.secrets},
        key=folder_key(session_folder(services)),
        personal=services.settings.redact == "pii",
    )
    for name in options.value_from_env or ():
        if name not in loaded.environ:
            raise InvalidRequest(
                f"there is no variable {shown_line(name, 80)}", hint="export it, or give the value with --stdin"
            )
        _add(redactor, name, loaded.environ[name])
    if options.stdin:
        for value in _given_values():
            _add(redactor, GIVEN, value)
    return redactor


def _add(redactor: SecretRedactor, name: str, value: str) -> None:
    if len(value.strip()) < MIN_KNOWN:
        raise InvalidRequest(
            f"a value of {shown_line(name, 80)} has under {MIN_KNOWN} characters: it would be found in ordinary text",
            hint="give a longer part of the secret",
        )
    redactor.add_known(name, value)


def _given_values() -> list[str]:
    """The lines of standard input, or all of it where it is a key file. Never an argument: those can be seen by everybody."""
    if sys.stdin.isatty():
        from getpass import getpass

        try:
            return [getpass("the value to look for (not shown): ")]
        except EOFError:
            raise InvalidRequest("no value was given") from None
    try:
        data = sys.stdin.buffer.read(_MOST_GIVEN + 1)
    except OSError as error:
        raise IoError(f"cannot read standard input: {error.strerror or error}") from error
    if len(data) > _MOST_GIVEN:
        raise InvalidRequest("standard input holds more than 1 MiB", hint="give the values alone, one a line")
    text = data.decode("utf-8", "replace")
    values = [text] if "-----BEGIN" in text else [line for line in text.splitlines() if line.strip()]
    if not values:
        raise InvalidRequest(
            "standard input holds no value", hint="give one a line: agent-shell sessions scrub --stdin <file"
        )
    return values


def _sum_up(rows: list[_Row], *, dry_run: bool) -> None:
    holding = [row for row in rows if row.found and row.found.lines]
    scrubbed = [row for row in rows if row.scrubbed]
    looked = f"{counted(len(rows), 'session')} looked through"
    if not holding:
        say(f"{looked}: nothing found")
    elif dry_run:
        say(f"{looked}: {len(holding):,} with secrets; nothing was changed")
    else:
        say(f"{looked}: {len(scrubbed):,} of {len(holding):,} scrubbed")


def _counted(kinds: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())

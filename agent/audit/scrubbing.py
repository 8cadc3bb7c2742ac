"""Find secrets in logs that are already written, and rewrite a log without them. No value ever leaves this module."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, structs

from agent.protocol.errors import RecordingError
from agent.protocol.events.session import LogContinued, LogRepaired, LogRotated, LogScrubbed, SessionPruned
from agent.protocol.records import Record
from agent.recording.bounds import CLOSED_FIELDS, MAX_LINE, map_text
from agent.recording.chained_lines import raw_lines
from agent.recording.integrity.heads import belongs_elsewhere
from agent.recording.integrity.log_proof import Signer
from agent.recording.integrity.rewriting import Rewritten, rewrite_session
from agent.recording.reader import SessionFile
from agent.redaction.redactor import SecretRedactor
from agent.text.lazy_pattern import lazily

MOST_PLACES = 200
"""Places of a session that are told one by one; the rest are counted."""

_OURS = (LogRepaired, LogRotated, LogContinued, LogScrubbed, SessionPruned)
_OUR_TYPES = ("log.repaired", "log.rotated", "log.continued", "log.scrubbed", "session.pruned")
_ENVELOPE = frozenset(("v", "seq", "time", "session", "run", "goal_id", "prev", "type"))
_DEEPEST = 200
_ITEM, _KEY = "[]", " (a key)"  # steps of a way that are no keys


class Place(Struct, frozen=True, kw_only=True):
    """A place with secrets: `line` counts from 1 in `file`; `field` is the way to the text, `kinds` how many of each kind."""

    file: str
    line: int
    seq: int = 0
    time: str = ""
    type: str = ""
    field: str = ""
    kinds: dict[str, int]


class Found(Struct, kw_only=True):
    """The secrets of one session. `lines`: how many of them hold secrets; `seqs`: the records among these."""

    session: SessionFile
    secrets: dict[str, int] = {}
    lines: int = 0
    places: list[Place] = []
    more_places: int = 0
    seqs: set[int] = set()


def find_secrets(session: SessionFile, redactor: SecretRedactor) -> Found:
    """Every secret in a session, through all its files, also in lines that are no records. Raises OSError."""
    found = Found(session=session)
    counted: Counter[str] = Counter()
    for path in session.files:
        for number, line in enumerate(raw_lines(path, MAX_LINE), 1):
            here = list(_places(line, path, number, redactor))
            found.lines += bool(here)
            for place in here:
                counted.update(place.kinds)
                if place.seq:
                    found.seqs.add(place.seq)
            room = max(MOST_PLACES - len(found.places), 0)
            found.places += here[:room]
            found.more_places += len(here[room:])
    found.secrets = dict(counted.most_common())
    return found


def scrub(
    found: Found, heads: str, redactor: SecretRedactor, *, now: str, force: bool = False, signer: Signer | None = None
) -> Rewritten:
    """Replace what `find_secrets` found, and say so in the chain. Nothing of the old text stays on disk under any name.

    A log that does not verify is rewritten with `force` only. Raises RecordingError, IoError.
    """
    counted: Counter[str] = Counter()

    def change_text(name: str, text: str) -> str:
        new = _redacted(redactor, name, text)
        if new != text:
            counted.update(_new_labels(text, new))
        return new

    def change(record: Record) -> Record:
        event = record.event if isinstance(record.event, _OURS) else map_text(record.event, change_text)
        extras = map_text(record.extras, change_text)
        if event is record.event and extras is record.extras and record.seq not in found.seqs:
            return record
        # a secret may stand where decoding does not see it, such as in a key that stands twice: it is written anew without it
        return structs.replace(record, event=event, extras=extras)

    def torn(data: bytes) -> bytes:
        text = data.decode("utf-8", "surrogateescape")
        new = change_text("", text)
        return data if new == text else new.encode("utf-8", "surrogateescape")

    def note(done: Rewritten) -> LogScrubbed:
        if not done.before.sound and not force:
            raise RecordingError(
                f"the log of {found.session.session_id} does not verify, so what it says cannot be trusted",
                hint="`sessions verify` says what is wrong; --force scrubs it all the same",
            )
        session = found.session
        if not force and belongs_elsewhere(heads, session.session_id, done.before.log, os.path.dirname(session.path)):
            raise RecordingError(
                f"{session.path} is a copy, or was moved: what is known of its end belongs to a log in another folder,"
                " which would not verify any more",
                hint="scrub that one; --force scrubs this one all the same",
            )
        return LogScrubbed(
            secrets=dict(counted) or found.secrets,
            lines=done.changed,
            first_line=done.first_line,
            before=done.before.end.hash,
            proven=done.before.sound,
        )

    return rewrite_session(found.session, heads, change, note=note, now=now, torn=torn, signer=signer)


def _redacted(redactor: SecretRedactor, name: str, text: str) -> str:
    return redactor.redact_field(name, text) if name else redactor.redact(text)


def _places(line: bytes, path: str, number: int, redactor: SecretRedactor) -> Iterator[Place]:
    try:
        data = msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        text = line.decode("utf-8", "surrogateescape")
        if kinds := _kinds(redactor, "", text):
            yield Place(file=path, line=number, kinds=kinds)
        return
    if data.get("type") in _OUR_TYPES:
        return
    seq = data.get("seq")
    place = Place(
        file=path,
        line=number,
        seq=seq if type(seq) is int else 0,
        time=redactor.redact(str(data.get("time", "")))[:40],
        type=redactor.redact(str(data.get("type", "")))[:60],
        kinds={},
    )
    anything = False
    for key, value in data.items():
        if key in _ENVELOPE:
            continue
        for way, name, text in _texts(value, key, (key,), 0):
            if kinds := _kinds(redactor, name, text):
                anything = True
                yield structs.replace(place, field=_way(way, redactor), kinds=kinds)
    if not anything and (kinds := redactor.known_in(line.decode("utf-8", "surrogateescape"))):
        yield structs.replace(place, kinds=kinds)  # in a key that stands twice, or in words that are taken for ours


def _way(keys: tuple[str, ...], redactor: SecretRedactor) -> str:
    """The way to a text, in words."""
    return "".join(
        key if key in (_ITEM, _KEY) else f"{'.' if place else ''}{_step(redactor, key)}"
        for place, key in enumerate(keys)
    )


def _step(redactor: SecretRedactor, key: str) -> str:
    """A key as a step of the way to a text; one that may be a secret itself is not named."""
    return key if len(key) <= 32 and key.isidentifier() and redactor.redact(key) == key else "…"


def _texts(value: Any, name: str, way: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """(way, name, text) of every text in `value` that may hold anything."""
    if isinstance(value, str):
        if depth or name not in CLOSED_FIELDS:
            yield way, name, value
    elif depth > _DEEPEST:
        return
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*way, _KEY), "", key
            yield from _texts(item, key, (*way, key), depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, name, way if way[-1] == _ITEM else (*way, _ITEM), depth + 1)


def _kinds(redactor: SecretRedactor, name: str, text: str) -> dict[str, int]:
    new = _redacted(redactor, name, text)
    return dict(_new_labels(text, new)) if new != text else {}


def _new_labels(old: str, new: str) -> Counter[str]:
    labels = Counter(_LABEL.findall(new))
    labels.subtract(_LABEL.findall(old))
    return +labels or Counter({"secret": 1})


_LABEL = lazily(r"\[redacted:([A-Za-z0-9_.-]{1,64}):[0-9a-f]{4}\]")

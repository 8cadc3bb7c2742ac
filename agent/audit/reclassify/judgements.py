"""Then against now, for a stream of texts: in order, in constant memory, and with equal cases ruled on once."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct, structs

from agent.audit.reclassify.ruling import Judge, Ruling
from agent.audit.reclassify.texts import Case, Text, Then
from agent.audit.reclassify.workers import Workers

Change = Literal["stricter", "looser", "same", "unrated"]
"""`unrated`: nobody had rated it then, so there is nothing to compare with."""

_STRICTNESS = {"allow": 0, "ask": 1, "type": 2, "refuse": 3}
_LEVELS = {"low": 0, "medium": 1, "high": 2}

_LABEL = "[redacted:"
_BATCH = 256
_HERE = 2
"""Batches that are worked on before other processes are worth their start."""
_MOST_WAITING = 16_384
_MOST_HELD = 64 * 1024 * 1024
"""Bytes of texts that wait, about; a batch is given away at a tenth of it."""
_MOST_KNOWN = 60_000
"""Rulings that are remembered, twice over: the older half is forgotten as a whole."""


class Judgement(Struct, frozen=True):
    """One text, then and now."""

    text: Text
    now: Ruling

    @property
    def change(self) -> Change:
        """What today says, against what was said then: first the verdict counts, then the level."""
        then, now = self.text.then, self.now
        if then.verdict not in _STRICTNESS:
            return "unrated"
        before = (_STRICTNESS[then.verdict], _LEVELS.get(then.level, 0))
        after = (_STRICTNESS[now.verdict], _LEVELS[now.level])
        return "stricter" if after > before else "looser" if after < before else "same"

    @property
    def redacted(self) -> bool:
        """It held a secret then: what is judged has a label in its place, which may make a difference by itself."""
        return _LABEL in self.text.case.text

    @property
    def refused_now(self) -> bool:
        """It ran, and would be refused."""
        return self.text.then.ran and self.now.verdict == "refuse"

    @property
    def unasked_now(self) -> bool:
        """Somebody was asked, or it was refused; and it would run unasked."""
        return self.now.verdict == "allow" and self.text.then.verdict in ("ask", "type", "refuse")


class Slot(Struct):
    """A text that waits for its ruling; several may wait for the same one."""

    text: Text
    key: bytes
    size: int
    now: Ruling | None = None


def judgements(texts: Iterable[Text], judge: Judge, *, jobs: int) -> Iterator[Judgement]:
    """Every text with today's ruling, in the order of `texts`. Raises OtherError where a worker is lost."""
    workers = Workers(lambda batch: _ruled(judge, batch), jobs)
    try:
        yield from _Stream(workers, by_session=judge.by_session).over(texts)
    finally:
        workers.close()


def _ruled(judge: Judge, batch: bytes) -> bytes:
    return msgspec.msgpack.encode([judge.rule(case) for case in msgspec.msgpack.decode(batch, type=list[Case])])


class _Stream:
    def __init__(self, workers: Workers, *, by_session: bool) -> None:
        self._workers = workers
        self._by_session = by_session
        self._queue: deque[Slot] = deque()
        self._known: dict[bytes, Ruling] = {}
        self._older: dict[bytes, Ruling] = {}
        self._asked: dict[bytes, Ruling | None] = {}
        self._batch: list[tuple[bytes, Case]] = []
        self._given: dict[int, list[bytes]] = {}
        self._tickets = 0
        self._held = 0
        self._in_batch = 0

    def over(self, texts: Iterable[Text]) -> Iterator[Judgement]:
        for text in texts:
            self._add(text)
            if len(self._batch) >= _BATCH or self._in_batch > _MOST_HELD // 10:
                self._give()
                self._take(wait=self._workers.under_way > 2 * self._workers.jobs)
            yield from self._ready()
            while len(self._queue) >= _MOST_WAITING or self._held > _MOST_HELD:
                self._give()
                self._take(wait=True)
                yield from self._ready()
        self._give()
        while self._queue:
            self._take(wait=True)
            yield from self._ready()

    def _add(self, text: Text) -> None:
        case = text.case if self._by_session else structs.replace(text.case, session="")
        packed = msgspec.msgpack.encode(case)
        key = hashlib.blake2b(packed, digest_size=16).digest()
        now = self._known.get(key) or self._older.get(key)
        self._queue.append(Slot(text, key, len(packed), now))
        self._held += len(packed)
        if now is None and key not in self._asked:
            self._asked[key] = None
            self._batch.append((key, case))
            self._in_batch += len(packed)

    def _give(self) -> None:
        if not self._batch:
            return
        self._tickets += 1
        self._given[self._tickets] = [key for key, _ in self._batch]
        batch = msgspec.msgpack.encode([case for _, case in self._batch])
        self._workers.give(self._tickets, batch, here=self._tickets <= _HERE)
        self._batch, self._in_batch = [], 0

    def _take(self, *, wait: bool) -> None:
        for ticket, answer in self._workers.take(wait=wait):
            rulings = msgspec.msgpack.decode(answer, type=list[Ruling])
            for key, ruling in zip(self._given.pop(ticket), rulings, strict=True):
                self._asked[key] = ruling
                self._remember(key, ruling)

    def _remember(self, key: bytes, ruling: Ruling) -> None:
        if len(self._known) >= _MOST_KNOWN:
            self._older, self._known = self._known, {}
        self._known[key] = ruling

    def _settle_first(self) -> None:
        first = self._queue[0]
        first.now = first.now or self._asked.get(first.key) or self._known.get(first.key) or self._older.get(first.key)

    def _ready(self) -> Iterator[Judgement]:
        while self._queue:
            self._settle_first()
            slot = self._queue[0]
            if slot.now is None:
                return
            self._queue.popleft()
            self._held -= slot.size
            self._asked.pop(slot.key, None)
            yield Judgement(slot.text, slot.now)


__all__ = ["Change", "Judgement", "Then", "judgements"]

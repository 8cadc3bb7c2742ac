"""Judge a stream of recorded texts anew and hold that against what was said then: in order, in constant memory, equal cases once."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct, structs

from agent.audit.reclassify.ruling import Judge, Ruling
from agent.audit.reclassify.texts import Case, Text
from agent.audit.reclassify.workers import Workers
from agent.protocol.records import LABEL
from agent.struct_types import built

Change = Literal["stricter", "looser", "same", "unrated"]
"""`unrated`: nobody had rated it then, so there is nothing to compare with."""

_STRICTNESS = {"allow": 0, "ask": 1, "type": 2, "refuse": 3}
_LEVELS = {"low": 0, "medium": 1, "high": 2}

_BATCH = 256
_HERE = 2
"""Batches that are worked on before other processes are worth their start."""
_MOST_TEXTS = 4_096
_MOST_HELD = 64 * 1024 * 1024
"""Texts of a batch, and bytes of all that wait, about; a batch is given away at a tenth of them."""
_MOST_KNOWN = 60_000
"""Rulings that are remembered, twice over: the older half is forgotten as a whole."""


class Judgement(Struct, frozen=True):
    """One text, then and now."""

    text: Text
    now: Ruling

    @property
    def change(self) -> Change:
        """Compare what today says with what was said then: first the verdict counts, then the level."""
        then, now = self.text.then, self.now
        if then.verdict not in _STRICTNESS:
            return "unrated"
        before = (_STRICTNESS[then.verdict], _LEVELS.get(then.level, 0))
        after = (_STRICTNESS[now.verdict], _LEVELS[now.level])
        return "stricter" if after > before else "looser" if after < before else "same"

    @property
    def redacted(self) -> bool:
        """It held a secret then: what is judged has a label in its place, which may make a difference by itself."""
        return LABEL in self.text.case.text

    @property
    def refused_now(self) -> bool:
        """It ran, and would be refused."""
        return self.text.then.ran and self.now.verdict == "refuse"

    @property
    def unasked_now(self) -> bool:
        """Somebody was asked, or it was refused; and it would run unasked."""
        return self.now.verdict == "allow" and self.text.then.verdict in ("ask", "type", "refuse")


class _Batch(Struct):
    """Texts that follow each other, each with the place of its ruling, and the cases that nobody asked about before."""

    number: int
    texts: list[tuple[Text, list[Ruling]]] = []
    cases: dict[bytes, Case] = {}
    size: int = 0


def judgements(texts: Iterable[Text], judge: Judge, *, jobs: int) -> Iterator[Judgement]:
    """Every text with today's ruling, in the order of `texts`. Raises OtherError where a worker is lost."""
    workers = Workers(lambda batch: _ruled(judge, batch), jobs)
    try:
        yield from _Stream(workers, by_session=judge.by_session).over(texts)
    finally:
        workers.close()


def _ruled(judge: Judge, batch: bytes) -> bytes:
    return msgspec.msgpack.encode([judge.rule(case) for case in msgspec.msgpack.decode(batch, type=built(list[Case]))])


class _Stream:
    def __init__(self, workers: Workers, *, by_session: bool) -> None:
        self._workers = workers
        self._by_session = by_session
        self._known: dict[bytes, Ruling] = {}
        self._older: dict[bytes, Ruling] = {}
        self._asked: dict[bytes, list[Ruling]] = {}
        self._batch = _Batch(1)
        self._given: deque[_Batch] = deque()
        self._answers: dict[int, bytes] = {}
        self._held = 0

    def over(self, texts: Iterable[Text]) -> Iterator[Judgement]:
        for text in texts:
            self._add(text)
            batch = self._batch
            if len(batch.cases) >= _BATCH or len(batch.texts) >= _MOST_TEXTS or batch.size > _MOST_HELD // 10:
                self._give()
            while self._given and self._is_answered(
                wait=len(self._given) > 2 * self._workers.jobs or self._held > _MOST_HELD
            ):
                yield from self._first()
        self._give()
        while self._given and self._is_answered(wait=True):
            yield from self._first()

    def _add(self, text: Text) -> None:
        case = text.case if self._by_session else structs.replace(text.case, session="")
        packed = msgspec.msgpack.encode(case)
        key = hashlib.blake2b(packed, digest_size=16).digest()
        now = self._known.get(key) or self._older.get(key)
        if now is None and key not in self._asked:
            self._asked[key] = []
            self._batch.cases[key] = case
        self._batch.texts.append((text, self._asked[key] if now is None else [now]))
        self._batch.size += len(packed)

    def _give(self) -> None:
        batch, self._batch = self._batch, _Batch(self._batch.number + 1)
        cases = msgspec.msgpack.encode(list(batch.cases.values()))
        self._workers.give(batch.number, cases, here=batch.number <= _HERE or not batch.cases)
        self._given.append(batch)
        self._held += batch.size

    def _is_answered(self, *, wait: bool) -> bool:
        """Tell whether the first batch is; with `wait` it will be."""
        first = self._given[0].number
        while first not in self._answers:
            self._answers.update(self._workers.take(wait=wait))
            if not wait:
                break
        return first in self._answers

    def _first(self) -> Iterator[Judgement]:
        batch = self._given.popleft()
        self._held -= batch.size
        rulings = msgspec.msgpack.decode(self._answers.pop(batch.number), type=built(list[Ruling]))
        for key, ruling in zip(batch.cases, rulings, strict=True):
            self._asked.pop(key).append(ruling)
            if len(self._known) >= _MOST_KNOWN:
                self._older, self._known = self._known, {}
            self._known[key] = ruling
        for text, place in batch.texts:
            yield Judgement(text, place[0])

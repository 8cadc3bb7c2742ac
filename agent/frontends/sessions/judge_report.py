"""Tell judgements in rows to programs, and counted and grouped to people. Bounded, however many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import structs

from agent.audit.reclassify.judgements import Judgement
from agent.text.sizes import counted

_MOST_GROUPS = 2_000
_MOST_SHOWN = 50
_MOST_TEXT = 400
"""Characters of a command that a group keeps; the table shows fewer."""

REFUSED = "would be refused now, and ran then"
UNASKED = "would run unasked now, and was asked for or refused then"
STRICTER = "stricter than then"
LOOSER = "looser than then"


def is_wanted(judgement: Judgement, only: str | None) -> bool:
    """Tell whether `--only` leaves it in."""
    change = judgement.change
    return only is None or change == only or (only == "changed" and change in ("stricter", "looser"))


def row_of(judgement: Judgement) -> dict[str, Any]:
    """The JSON shape of a judgement; keys are a contract."""
    text = judgement.text
    return {
        "session": text.session,
        "time": text.time,
        "goal_id": text.goal_id,
        "command_id": text.command_id,
        "stage": text.stage,
        "command": text.case.text,
        "cwd": text.case.cwd,
        "origin": text.case.origin,
        "change": judgement.change,
        "refused_now": judgement.refused_now,
        "unasked_now": judgement.unasked_now,
        "redacted": judgement.redacted,
        "then": structs.asdict(text.then),
        "now": structs.asdict(judgement.now),
    }


class Report:
    """Tells a person what `sessions judge` found."""

    def __init__(self, only: str | None = None) -> None:
        self._only = only
        self._changes: Counter[str] = Counter()
        self._facts: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._groups: dict[str, dict[tuple[str, ...], dict[str, Any]]] = {}  # rows of equal changes of one text
        self._labels = 0

    def add(self, judgement: Judgement) -> None:
        """Count it, and keep it where something has changed."""
        self._changes[judgement.change] += 1
        self._labels += judgement.redacted and judgement.change in ("stricter", "looser")
        self._facts[judgement.now.facts] += 1
        if judgement.change == "same" and not judgement.refused_now and not judgement.unasked_now:
            return
        if not is_wanted(judgement, self._only):
            return
        kind = _kind(judgement)
        if not kind:
            return
        self._kinds[kind] += 1
        text, now, then = judgement.text, judgement.now, judgement.text.then
        key = (text.case.text[:_MOST_TEXT], then.level, then.verdict, now.level, now.verdict, now.rule)
        groups = self._groups.setdefault(kind, {})
        if (group := groups.get(key)) is not None:
            group |= {"times": group["times"] + 1, "session": text.session}
        elif len(groups) < _MOST_GROUPS:
            groups[key] = {
                "times": 1,
                "then": f"{then.level or '-'}/{then.verdict or '-'}",
                "now": f"{now.level}/{now.verdict}",
                "by rule": now.rule,
                "decided": _decided(judgement),
                "session": text.session,
                "command": text.case.text[:_MOST_TEXT],
            }

    def summary(self, sessions: int) -> str:
        """One line: how many of each."""
        total = sum(self._changes.values())
        if not total:
            return f"no commands in {counted(sessions, 'session')}"
        parts = [f"{self._changes[name]:,} {name}" for name in ("stricter", "looser", "same")]
        if self._changes["unrated"]:
            parts.append(f"{self._changes['unrated']:,} not rated then")
        return f"{counted(total, 'command')} in {counted(sessions, 'session')}: {', '.join(parts)}"

    def tables(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """(heading, rows), what matters most first."""
        for kind in (REFUSED, UNASKED, STRICTER, LOOSER):
            rows = sorted(self._groups.get(kind, {}).values(), key=lambda row: -row["times"])[:_MOST_SHOWN]
            if not rows:
                continue
            rest = self._kinds[kind] - sum(row["times"] for row in rows)
            more = f", {rest:,} of them not shown (--json tells all)" if rest else ""
            yield f"{counted(self._kinds[kind], 'command')} {kind}{more}", rows

    def notes(self) -> list[str]:
        """List what must be known to read it right."""
        told = (
            (self._facts["none"], "judged by text and folder alone: the log does not say what was known of files then"),
            (
                self._facts["part"],
                "judged without what earlier commands had defined in the shell: it was too long to be kept",
            ),
            (self._labels, "of those that changed held a secret then, and were judged with its label"),
        )
        notes = [f"{counted(count, 'command')} {words}" for count, words in told if count]
        if self._facts["today"]:
            notes.append("judged with what the disk says today, which is not what it said then")
        return notes


def _kind(judgement: Judgement) -> str:
    if judgement.refused_now and judgement.change != "same":
        return REFUSED
    if judgement.unasked_now:
        return UNASKED
    return {"stricter": STRICTER, "looser": LOOSER}.get(judgement.change, "")


def _decided(judgement: Judgement) -> str:
    then = judgement.text.then
    what = "ran" if then.ran else then.decision or "open"
    return f"{what}, {then.by}" if then.by else what

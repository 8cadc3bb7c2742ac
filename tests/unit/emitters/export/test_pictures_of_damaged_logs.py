"""Logs that somebody has edited: values of other types and sizes, lines gone and shuffled. Whatever can be read can be pictured."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec

from agent.audit.story.goal import stories
from agent.emitters.export.asciicast import asciicast
from agent.emitters.export.html_report import html_report
from agent.protocol.records import Record, decode, encode
from tests.support.each import each
from tests.support.pictured_session import hostile, pictured
from tests.support.tries import sampled, some

VALUES: list[Any] = [
    10**30, -(10**30), 1e308, 2**63, -1, 0, "x" * 50, "", [], {}, None, True, 1.5, "\x1b[2J", [[[[]]]], {"a": {"b": 1}},
]  # fmt: skip
LINES = [json.loads(encode(record)) for record in [*pictured(), *hostile()]]


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*above, key)
        yield from places(item, (*above, key))


def damaged(seed: int) -> Iterator[Record]:
    chance = random.Random(seed)
    lines = []
    for line in LINES:
        changed = json.loads(json.dumps(line))
        if chance.random() < 0.3:
            *way, last = chance.choice(list(places(changed)))
            target = changed
            for key in way:
                target = target[key]
            target[last] = chance.choice(VALUES)
        if chance.random() < 0.05:
            changed["args"] = json.loads('{"a":' + "[" * 400 + "]" * 400 + "}")
        if chance.random() > 0.05:
            lines.append(changed)
    if chance.random() < 0.3:
        chance.shuffle(lines)
    for line in lines:
        try:
            yield decode(json.dumps(line))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue


@sampled
@each("seed", some(range(25), 3))
def test_what_can_be_read_can_be_pictured(seed: int) -> None:
    records = list(damaged(seed))
    for line in asciicast(records):
        json.loads(line)
    page = b"".join(html_report(stories(records))).decode()
    assert page.endswith("</html>\n")
    assert page.count("<section") == page.count("</section>")
    assert page.count("<details") == page.count("</details>")
    assert page.count("<pre") == page.count("</pre>")

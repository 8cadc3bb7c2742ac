"""Logs that were cut, shuffled, doubled or rewritten: there is always a story, and it can always be shown and exported."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent.audit.queries.stories import undone_states
from agent.audit.story.goal import stories
from agent.emitters.export.formats import Source, export
from agent.emitters.story_text import StoryText
from agent.protocol.records import encode
from agent.recording.reader import SessionFile, read_session
from tests.support.pictured_session import hostile, pictured

STRANGE: tuple[Any, ...] = (
    None, True, -1, 2**53, 1e300, "", "\x1b[2J\u202e", "x" * 5_000, [], {}, [[]], {"a": {"b": []}}, [{"command": 7}], "2026-99-99T",
)  # fmt: skip


def mutated(rng: random.Random) -> bytes:
    """The lines of a log with some of them changed, in the wrong place, twice or not at all."""
    lines = [encode(record) for record in (*pictured(), *hostile())]
    for _ in range(rng.randint(1, 30)):
        place = rng.randrange(len(lines))
        match rng.randrange(5):
            case 0:
                del lines[place]
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[place])
            case 2:
                other = rng.randrange(len(lines))
                lines[place], lines[other] = lines[other], lines[place]
            case 3:
                lines[place] = lines[place][: rng.randrange(len(lines[place]))] + b"\n"
            case _:
                lines[place] = _changed(lines[place], rng)
    return b"".join(lines)


def _changed(line: bytes, rng: random.Random) -> bytes:
    try:
        data = json.loads(line)
    except ValueError:
        return line
    inner = rng.choice([data, *(value for value in data.values() if isinstance(value, dict) and value)])
    inner[rng.choice(sorted(inner))] = rng.choice(STRANGE)
    return json.dumps(data).encode() + b"\n"


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(40))
def test_there_is_always_a_story(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "2026-03-14-a.jsonl"
    path.write_bytes(mutated(random.Random(seed)))
    session = SessionFile(str(path), "a", "2026-03-14", path.stat().st_size, 0.0, (str(path),))
    known = undone_states(session, thorough=True)
    source = Source(
        session=session, items=lambda: stories(read_session(session), undone=known), lines=lambda: read_session(session)
    )
    for full in (False, True):
        shown = "".join(StoryText(color=False, full=full).lines(source.items()))
        assert "\x1b" not in shown
    made = {name: b"".join(export(name, source)) for name in ("markdown", "json", "sh")}
    assert json.loads(made["json"])["format"] == "agent-shell-session"
    assert made["markdown"].startswith(b"# Session a\n")
    assert subprocess.run(["bash", "-n"], input=made["sh"], capture_output=True, check=False).stderr == b""

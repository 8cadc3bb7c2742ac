"""Read the recorded sessions as a visitor sees them: preview, commit and undo in half a minute."""

from __future__ import annotations

import json
from pathlib import Path

import pyte
import pytest

from tests.support.record_demo import ROOT, STORIES

DEMOS = ROOT / "docs/demo"


def played(path: Path) -> tuple[float, list[str]]:
    """The seconds that a recording takes, and each screen that stood at the end of an output."""
    header, *events = [json.loads(line) for line in path.read_text().splitlines()]
    screen = pyte.Screen(header["width"], header["height"])
    stream = pyte.Stream(screen)
    screens = []
    for _, _, text in events:
        stream.feed(text.replace("\x1b[6n", ""))
        screens.append("\n".join(screen.display))
    return events[-1][0], screens


def test_preview_commit_and_undo_take_half_a_minute() -> None:
    seconds, screens = played(DEMOS / "preview.cast")
    assert seconds <= 30
    whole = iter(screens)  # each of them later than the one before
    for words in ("would rename 2 files", "2 renamed", "taken back: 2 changes", "Not isolated: "):
        assert any(words in each for each in whole), words


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_the_readme_shows_every_recording(story) -> None:
    assert f"(docs/demo/{story.name}.svg)" in (ROOT / "README.md").read_text()
    assert (DEMOS / f"{story.name}.svg").exists() and (DEMOS / f"{story.name}.cast").exists()

"""Journals whose files were damaged: said, never a crash, never a path that is not theirs, and never a newer file lost."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.execution.journal.intent import Intent
from agent.execution.journal.records import Entry
from agent.protocol.errors import CoreError, UndoConflict, UndoFailed
from tests.support.journal_case import Rehearsed
from tests.support.overlay_world import FAITHFUL, OverlayWorld, why_not

COMMAND = "echo 1 >> a; echo 2 >> b; rm -r d; mkdir n; chmod 600 c; mv m m2"
JUNK: tuple[Any, ...] = (None, [], {}, "x", "../../x", "/a\0b", -1, 10**30, True, 1.5)


@pytest.fixture(scope="module")
def world() -> Iterator[OverlayWorld]:
    if reason := why_not(FAITHFUL):
        pytest.skip(reason)
    made = OverlayWorld(FAITHFUL)
    yield made
    made.close()


def committed(world: OverlayWorld) -> tuple[Rehearsed, Path]:
    """A committed rehearsal, and the folder of its entry."""
    state = Path(tempfile.mkdtemp(prefix="state-", dir=world.base))
    case = Rehearsed(world, "echo 1 > a; echo 1 > b; ln b b2; mkdir d; touch d/x c m", COMMAND, state)
    return case, Path(str(case.state)) / "undo" / "journals" / case.commit().undo_id


def instead(path: Path, make: Callable[[Path], object]) -> None:
    """Something else by that name."""
    path.unlink()
    make(path)


def change(name: str, how: Callable[[Any], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        found = json.loads((folder / name).read_bytes())
        how(found)
        (folder / name).write_text(json.dumps(found))

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "intent.json").write_bytes(b""),
        lambda folder: (folder / "intent.json").write_bytes((folder / "intent.json").read_bytes()[:-40]),
        lambda folder: (folder / "intent.json").unlink(),
        change("intent.json", lambda found: found["actions"][0].update(path="a/../../etc/passwd")),
        change("intent.json", lambda found: found["actions"][0].update(path="/tmp/../etc/passwd")),
        change("intent.json", lambda found: found["actions"][0].pop("slot", None) or found["actions"][0].pop("old", None)),
        change("intent.json", lambda found: found["folders"][0].__setitem__(3, "soon")),
        change("record.json", lambda found: found.update(undo_id="../../x")),
        change("record.json", lambda found: found.update(held_bytes=[])),
        # What others could have put there, while the folder was theirs to write in.
        lambda folder: (folder / "intent.json").chmod(0o666),
        lambda folder: (folder / "record.json").chmod(0o620),
        lambda folder: instead(folder / "record.json", os.mkfifo),
        lambda folder: instead(folder / "intent.json", os.mkfifo),
        lambda folder: instead(folder / "intent.json", lambda path: os.symlink("/dev/zero", path)),
        lambda folder: instead(folder / "record.json", os.mkdir),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_broken_and_touches_nothing(
    world: OverlayWorld, damage: Callable[[Path], object]
) -> None:
    case, folder = committed(world)
    damage(folder)
    (entry,) = case.journals.entries()
    assert (entry.undo_id, entry.state) == (folder.name, "broken")
    with pytest.raises(UndoFailed):
        case.journals.turn(folder.name)
    assert (Path(str(world.lower)) / "a").read_text() == "1\n1\n"


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "left.json").unlink(),
        lambda folder: (folder / "left.json").write_bytes(b"[1, 2]"),
        change("left.json", lambda found: found.update(mark=[])),
        change("left.json", lambda found: found.update(facts=7)),
    ],
)
def test_nothing_newer_is_lost_where_it_is_not_known_how_files_were_left(
    world: OverlayWorld, damage: Callable[[Path], object]
) -> None:
    case, folder = committed(world)
    file = Path(str(world.lower)) / "a"
    file.write_text("newer\n")
    damage(folder)
    with pytest.raises(UndoConflict):
        case.journals.turn(folder.name)
    assert file.read_text() == "newer\n"
    case.journals.turn(folder.name, over=case.journals.conflicts(folder.name))
    assert file.read_text() == "1\n"


def damaged(value: Any, dice: random.Random) -> Any:
    """`value` with one thing in it that is something else."""
    if isinstance(value, list) and value and dice.random() < 0.8:
        at = dice.randrange(len(value))
        return [*value[:at], damaged(value[at], dice), *value[at + 1 :]]
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        return {**value, key: damaged(value[key], dice)}
    return dice.choice(JUNK)


@pytest.mark.parametrize("name", ["record.json", "intent.json", "left.json"])
def test_whatever_stands_there_is_an_error_in_words(world: OverlayWorld, name: str) -> None:
    case, folder = committed(world)
    whole = json.loads((folder / name).read_bytes())
    record = (folder / "record.json").read_bytes()
    for seed in range(60):
        (folder / "record.json").write_bytes(record)
        (folder / name).write_text(json.dumps(damaged(whole, random.Random(seed))))
        assert folder.is_dir()
        for ask in (case.journals.changes, case.journals.conflicts):
            case.journals.entries()
            try:
                ask(folder.name)
            except CoreError:
                pass
    assert (Path(str(world.lower)) / "a").read_text() == "1\n1\n"


def test_what_was_written_is_read_as_it_was(world: OverlayWorld) -> None:
    _, folder = committed(world)
    for kind, name in ((Intent, "intent.json"), (Entry, "record.json")):
        data = (folder / name).read_bytes()
        assert kind.decode(data).encode() == data

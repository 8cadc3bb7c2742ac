"""Types go the way imports go: import-linter leaves out what is imported for types alone, and this does not."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# To parse every module takes seconds.
_IMPORTED = re.compile(r"^ *from (agent\.[\w.]+) import ", re.MULTILINE)


def _layers() -> dict[str, int]:
    """Each room with the height of its layer, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["type"] == "layers")
    return {room.strip(): height for height, rooms in enumerate(reversed(layers)) for room in rooms.split("|")}


def test_no_room_names_types_of_a_room_above_it() -> None:
    heights = _layers()
    upwards = [
        f"{path.relative_to(ROOT)} -> {module}"
        for path in sorted((ROOT / "agent").rglob("*.py"))
        for module in _IMPORTED.findall(path.read_text())
        if heights[module.split(".")[1]] > heights[path.relative_to(ROOT / "agent").parts[0].removesuffix(".py")]
    ]
    assert heights["cli"] > heights["engine"] > heights["commands"] > heights["protocol"]
    assert upwards == []

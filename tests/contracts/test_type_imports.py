"""Types go the way imports go: import-linter leaves out what is imported for types alone, and this does not."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _layers() -> dict[str, int]:
    """Each room with the height of its layer, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["type"] == "layers")
    return {room.strip(): height for height, rooms in enumerate(reversed(layers)) for room in rooms.split("|")}


def test_no_room_names_types_of_a_room_above_it() -> None:
    heights = _layers()
    upwards = [
        f"{path.relative_to(ROOT)} -> {node.module}"
        for path in sorted((ROOT / "agent").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("agent.")
        and heights[(node.module or "").split(".")[1]]
        > heights[path.relative_to(ROOT / "agent").parts[0].removesuffix(".py")]
    ]
    assert heights["cli"] > heights["engine"] > heights["commands"] > heights["protocol"]
    assert upwards == []

"""Write docs/recipes.md: what the offline planner can do."""

from __future__ import annotations

from agent.planner.offline.recipe_files import RecipeEntry, load_entries

_HEADER = """# What the offline planner can do

Generated from `agent/planner/offline/recipes/` by `make docs`; do not edit.
Each line shows one goal and the command that comes out; words, order and filters may differ (see [offline.md](offline.md)).
"""


def render_catalog() -> str:
    """Markdown with one table for each area."""
    areas: dict[str, list[RecipeEntry]] = {}
    for area, entry in load_entries():
        areas.setdefault(area, []).append(entry)
    parts = [_HEADER, f"{sum(map(len, areas.values()))} recipes in {len(areas)} areas.\n"]
    for area, entries in areas.items():
        rows = [_row(entry) for entry in entries]
        parts.append("\n".join([f"## {area}", "", "| what | goal | command |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _row(entry: RecipeEntry) -> str:
    example = entry.examples[0]
    return f"| {_cell(entry.title)} | {_cell(example.goal)} | `{_cell(example.command.strip())}` |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

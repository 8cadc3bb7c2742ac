"""Write docs/recipes.md: what the offline planner can do."""

from __future__ import annotations

from agent.planner.offline.recipe_files import RecipeEntry, load_entries

_HEADER = """# What the offline planner can do

Generated from `agent/planner/offline/recipes/` by `make docs`; do not edit.
Each line shows one goal and the command that comes out; words, order and filters may differ (see [offline.md](offline.md)).
"""
OWN_EXAMPLE = """[[recipe]]
phrasings = ["note down <what:rest>", "remember that! <what:rest>"]
command = "echo <what> >> ~/notes.txt"
"""
_OWN = f"""## Your own

Put them in `~/.config/agent-shell/recipes/NAME.toml`; they are read with the first goal, and come before those below.

```toml
{OWN_EXAMPLE}```

Now `note down buy milk` proposes `echo 'buy milk' >> ~/notes.txt`, rated and confirmed like any command.

- `phrasings`: what you say. `a|b` is either word, `[word]` may be left out, `to!` has to be said though it is a small word,
  `<name:type>` is a value. Words may come in any order and form. Types are those of the shipped recipes, among them `text`,
  `rest` (all that follows), `file`, `dir`, `path`, `host`, `port`, `number`, `count`, `url`; `<file>` is short for `<file:file>`.
- `command`: what is proposed. A value is put in as one shell word, so it stands outside of quotes; `<file.stem>` is its name
  without the ending.
- `title`, `reason`, `defaults`, `needs` (programs without which it is not offered), `also` (other commands for the same) and
  what else is in `agent/planner/offline/recipes/` may be given.

What is wrong with a recipe is said once, with file and line; the others count. A file that others can write is left out.
"""


def render_catalog() -> str:
    """Markdown with one table for each area."""
    areas: dict[str, list[RecipeEntry]] = {}
    for area, entry in load_entries():
        areas.setdefault(area, []).append(entry)
    parts = [_HEADER, f"{sum(map(len, areas.values()))} recipes in {len(areas)} areas.\n", _OWN]
    for area, entries in areas.items():
        rows = [_row(entry) for entry in entries]
        parts.append("\n".join([f"## {area}", "", "| what | goal | command |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _row(entry: RecipeEntry) -> str:
    example = entry.examples[0]
    return f"| {_cell(entry.title)} | {_cell(example.goal)} | `{_cell(example.command.strip())}` |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

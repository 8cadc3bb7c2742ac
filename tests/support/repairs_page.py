"""Write docs/repairs.md: the errors that the offline planner knows."""

from __future__ import annotations

import re

from agent.planner.offline.diagnosing import Rule, load_rules
from agent.planner.offline.fixes import FIXES
from agent.planner.offline.recipe_files import read_toml

_HEADER = """# The errors that the offline planner knows

Generated from `agent/planner/offline/repairs/` by `make docs`; do not edit.
What a failed command said is explained in these words; where a correction is safe it is proposed, and goes through the gate like any
command. How to add one: [offline.md](offline.md#add-a-repair-rule).
"""


def render_repairs() -> str:
    """Markdown with one table for each group of rules, and one for exit codes."""
    groups: dict[str, list[Rule]] = {}
    rules = load_rules()
    for rule in rules:
        groups.setdefault(rule.id.split(".")[0], []).append(rule)
    exits = read_toml("repairs", "exits.toml")["exit"]
    correcting = sum(bool(rule.fix or rule.command or rule.edit) for rule in rules)
    parts = [_HEADER, f"{len(rules)} rules, {correcting} of them with a correction; {len(exits)} exit codes.\n"]
    for group in sorted(groups):
        rows = [f"| `{rule.id}` | {_cell(rule.says)} | {_correction(rule)} |" for rule in groups[group]]
        parts.append("\n".join([f"## {group}", "", "| rule | explanation | correction |", "|---|---|---|", *rows, ""]))
    rows = [
        f"| {entry['code']} | {_cell(', '.join(entry.get('programs', ['any'])))} | {_cell(entry['says'])} |"
        for entry in exits
    ]
    parts.append("\n".join(["## Exit codes", "", "| code | of | meaning |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _correction(rule: Rule) -> str:
    if rule.command:
        return f"`{_cell(rule.command)}`"
    if rule.edit:
        return f"the command with `{_cell(rule.edit[1])}`"
    if rule.fix:
        return _cell(re.split(r"(?<=[.:;]) ", (FIXES[rule.fix].__doc__ or "").strip())[0].rstrip(".:;"))
    return ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

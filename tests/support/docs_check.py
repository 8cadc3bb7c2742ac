"""Generated pages are fresh, links lead somewhere, and the README's commands exist. `--write` regenerates the pages."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from agent.cli.arguments import build_parser
from agent.cli.sub_commands import ALL, GOAL, SUB_COMMANDS
from agent.commands.registry import definitions
from agent.config.session_actions import ACTIONS
from agent.config.table import SETTINGS
from agent.conversation.registry.loading import configuration_schema
from agent.protocol.events.known import KnownEvent, event_schema
from tests.support.messages_page import messages_page
from tests.support.recipes_page import render_catalog
from tests.support.repairs_page import render_repairs
from tests.support.settings_page import env_example, settings_page
from tests.support.traceability_page import traceability_page, unknown_ids

ROOT = Path(__file__).resolve().parents[2]


def commands_page() -> str:
    """docs/commands.md from the command table."""
    lines = [
        "# Commands of the REPL",
        "",
        "Generated from `agent/commands/` by `make docs`. `:` and `.` both work as prefix; a line is a command only if a",
        "known name follows, and `:word` that is none is said. `!command` runs your own command through the gate, `!!command` keeps it",
        "from the planner.",
        "",
        "| command | what it does | for example |",
        "|---|---|---|",
        *(
            f"| `{each.usage.replace('|', chr(92) + '|')}` | {each.help} | {', '.join(f'`{one}`' for one in each.examples)} |"
            for each in definitions()
        ),
    ]
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    """docs/cli.md from the tables of sub-commands and of actions of `sessions`: each parser as it is built."""
    pages = [("", "")]
    for name in SUB_COMMANDS:
        pages += [(name, ""), *((name, action) for action in (ACTIONS if name == "sessions" else ()))]
    lines = [
        "# The command line",
        "",
        "Generated from `agent/cli/sub_commands.py` and `agent/config/session_actions.py` by `make docs`. Where it says *settings*, every",
        "one of [settings](settings.md) is an option, too; others name those that they take. Options may stand before the name of a",
        "sub-command; what stands behind `--` is words. Errors are on stderr and begin `agent-shell: ` (at the prompt `error: `).",
        "Exit codes: 0 done · 1 failed · 2 usage · 3 configuration · 4 planner or",
        "provider · 5 refused by policy · 6 declined, skipped, or nobody there to confirm · 7 not understood · 124 time-out · 130",
        "cancelled.",
    ]
    for sub, action in pages:
        row = SUB_COMMANDS[sub] if sub else GOAL
        usage, help_line, examples = ACTIONS[action] if action else (row.usage, row.help, row.examples)
        name = f"agent-shell {sub} {action}".rstrip()
        lines += ["", f"## `{name}`", "", f"`{name} {usage}`: {help_line.rstrip('.')}.", ""]
        lines += ["```sh", *(line.strip() for line in examples.splitlines()), "```", ""] if examples else []
        lines += [
            *_options(build_parser(sub, action), {each.name for each in SETTINGS} if row.settings == ALL else set())
        ]
    return "\n".join(lines).rstrip() + "\n"


def _options(parser: ArgumentParser, left_out: set[str]) -> list[str]:
    """A table of the parser's options and words."""
    rows = ["| option | what it does |", "|---|---|"]
    for each in parser._actions:
        if each.dest in left_out or each.dest == "help":
            continue
        choices = "\\|".join(map(str, each.choices or ()))
        value = "" if each.nargs == 0 else str(each.metavar or choices or each.dest.upper())
        names = ", ".join(each.option_strings)
        rows.append(f"| `{f'{names} {value}'.strip()}` | {(each.help or '').replace('|', chr(92) + '|')} |")
    return [*rows, *(["| *settings* | |"] if left_out else [])]


def events_page() -> str:
    """docs/events.md from the event types."""
    lines = [
        "# Events",
        "",
        "Generated from `agent/protocol/events/` by `make docs`. Every event is one flat JSON object a line: the envelope",
        "(`v`, `seq`, `time`, `session`, `run`, `goal_id`, in the log `prev`), `type`, and the fields below. The log, `--json` and",
        "the tests see the same events; `assistant.delta` is not logged. As a JSON Schema: [events.schema.json](events.schema.json);",
        "what `prev` is for: [integrity](integrity.md). A reader has to expect fields and types that it does not know.",
        "",
        "| type | fields | meaning |",
        "|---|---|---|",
    ]
    for kind in KnownEvent.__args__:
        fields = ", ".join(f"`{name}`" for name in kind.__struct_encode_fields__)
        doc = " ".join((kind.__doc__ or "").split()) if kind.__doc__ and "Event" not in kind.__doc__[:8] else ""
        lines.append(f"| `{kind.__struct_config__.tag}` | {fields} | {doc.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def events_schema() -> str:
    """docs/events.schema.json from the event types."""
    return json.dumps(event_schema(), indent=1, ensure_ascii=False) + "\n"


def interview_schema() -> str:
    """docs/interviews.schema.json from the types of an engine's configuration."""
    return json.dumps(configuration_schema(), indent=1, ensure_ascii=False) + "\n"


def effects_page() -> str:
    """docs/effects.md from the table of levels."""
    rows = tomllib.loads((ROOT / "agent/risk/tables/knowledge/levels.toml").read_text())
    lines = [
        "# Effects and their levels",
        "",
        "Generated from `agent/risk/tables/knowledge/levels.toml` by `make docs`. L, M and H are low, medium and high; `M/H` is",
        "medium, and high when it is recursive; `*` stands for every scope that is not named. [Risk](risk.md) says what the words mean.",
        "",
        "| effect | a person reads | level | can be taken back | safer |",
        "|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        level = row.get("level") or ", ".join(f"{scope} {cell}" for scope, cell in row["scopes"].items())
        back = "yes" if row.get("reversible", True) else "no"
        cells = (
            f"`{name}`",
            row["reason"].replace("{targets}", "…"),
            level.replace("*", "\\*"),
            back,
            row.get("safer", ""),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


GENERATED: dict[str, Callable[[], str]] = {
    ".env.example": env_example,
    "docs/settings.md": settings_page,
    "docs/cli.md": cli_page,
    "docs/commands.md": commands_page,
    "docs/events.md": events_page,
    "docs/events.schema.json": events_schema,
    "docs/interviews.schema.json": interview_schema,
    "docs/recipes.md": render_catalog,
    "docs/repairs.md": render_repairs,
    "docs/effects.md": effects_page,
    "docs/messages.md": messages_page,
    "docs/traceability.md": traceability_page,
}


def problems() -> list[str]:
    """Everything that is wrong with the documents, one line each."""
    found = unknown_ids()
    for name, render in GENERATED.items():
        path = ROOT / name
        if not path.exists() or path.read_text() != render():
            found.append(f"{name} is not what the code says; run: make docs")
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        found += _dead_links(page)
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in sorted(set(re.findall(r"\bmake ([a-z-]+)", readme))):
        if f"\n{target}:" not in makefile:
            found.append(f"README.md names `make {target}`, which does not exist")
    return found


def _dead_links(page: Path) -> list[str]:
    found = []
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" not in target and not (page.parent / target).exists():
            found.append(f"{page.relative_to(ROOT)} links to {target}, which does not exist")
    return found


def main() -> int:
    if "--write" in sys.argv[1:]:
        for name, render in GENERATED.items():
            (ROOT / name).write_text(render())
        return 0
    found = problems()
    print("\n".join(found) or "documents agree with the code")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

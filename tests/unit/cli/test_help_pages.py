"""Help: examples come first, and every example is a command line that parses."""

from __future__ import annotations

import shlex

from agent.cli.arguments import build_parser
from agent.cli.sub_commands import GOAL, SUB_COMMANDS
from agent.config.session_actions import ACTIONS
from tests.support.each import each

EXAMPLES = {
    "": GOAL.examples,
    **{name: row.examples for name, row in SUB_COMMANDS.items() if name != "sessions"},
    **{f"sessions {name}": examples for name, (_, _, examples) in ACTIONS.items()},
}


@each("name", sorted(EXAMPLES))
def test_examples_stand_before_the_options(name: str) -> None:
    page = build_parser(*name.split()).format_help()
    assert 0 < page.index("examples:") < page.index("options:")


@each(("name", "line"), [(name, line) for name in EXAMPLES for line in EXAMPLES[name].splitlines()])
def test_every_example_parses(name: str, line: str) -> None:
    typed = line.strip().split("   ")[0].split("  ")[0].split(" > ")[0]
    words = shlex.split(typed)
    words = words[words.index("agent-shell") :]
    words = words[: words.index("|")] if "|" in words else words
    assert words.pop(0) == "agent-shell"
    sub = words.pop(0) if words and words[0] in SUB_COMMANDS else ""
    action = words.pop(0) if sub == "sessions" else ""
    assert f"{sub} {action}".rstrip() == name or not name
    build_parser(sub, action).parse_intermixed_args(words)

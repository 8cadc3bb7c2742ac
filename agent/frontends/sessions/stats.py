"""`agent-shell sessions stats`: goals a day, failures, changed proposals, time, cost and risk, as plots in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from agent.emitters.console import print_rows
from agent.emitters.streams import sink_of
from agent.frontends.sessions.charts import knows_blocks
from agent.frontends.sessions.shared import LEVELS, add_conditions, asking, conditions_of, say
from agent.text.times import iso

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_conditions(parser, of_rows=False)
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")


def needs_loop(services: Services, options: argparse.Namespace) -> bool:
    """It waits for nothing."""
    return False


async def run(services: Services, options: argparse.Namespace) -> int:
    """Print the figures: one object with `--json`, plots otherwise."""
    wanted = conditions_of(options)
    with asking(services, options) as queries:
        found = queries.figures(wanted)
    out = sink_of(sys.stdout)
    if services.settings.json:
        print_rows([_for_programs(found)], json=True, out=out)
        return 0
    if not found["total"]["goals"]:
        say("no goals are recorded" + (" that fit" if wanted.are_any else " yet"))
        return 0
    from agent.frontends.sessions.stats_view import stats_lines

    environ = services.loaded.environ
    blocks = not options.ascii and knows_blocks(environ, getattr(sys.stdout, "encoding", "") or "")
    columns = out.size()[0] if out.is_tty else 80
    text = "\n".join(stats_lines(found, columns=columns, blocks=blocks, color=out.color))
    out.write((text + "\n").encode("utf-8", "replace"))
    return 0


def _for_programs(found: dict[str, Any]) -> dict[str, Any]:
    total = found["total"]
    return {
        **found,
        "total": {**total, "first": iso(total["first"] or 0), "last": iso(total["last"] or 0)},
        "statuses": dict(found["statuses"]),
        "risks": {("none", *LEVELS)[rank or 0]: count for rank, count in found["risks"]},
        "commands": [{**row, "risk": ("", *LEVELS)[row["risk"]]} for row in found["commands"]],
    }

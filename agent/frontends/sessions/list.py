"""`agent-shell sessions list`: what was recorded, what was written last first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from msgspec import structs

from agent.emitters.console import print_rows
from agent.emitters.streams import sink_of
from agent.frontends.session_naming import session_folder
from agent.frontends.sessions.shared import (
    Cell,
    Column,
    add_conditions,
    asking,
    conditions_of,
    limit_asked,
    money,
    print_table,
    risk_style,
    say,
    status_style,
    took,
)
from agent.frontends.wrapping import short_folder
from agent.text.shown import shown_line
from agent.text.sizes import counted
from agent.text.times import absolute, ago, iso

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services

_COMMON = (
    Column("status", "STATUS"),
    Column("risk", "RISK", drop=2),
    Column("time", "TIME", drop=5, right=True),
    Column("cost", "COST", drop=7, right=True),
    Column("where", "WHERE", drop=6),
    Column("goal", "GOAL", flexible=True),
)
_WHEN = (Column("when", "WHEN", drop=1), Column("ago", "", drop=4), Column("session", "SESSION"))
_OF_SESSIONS = (*_WHEN, Column("goals", "GOALS", drop=3, right=True), *_COMMON)
_OF_GOALS = (*_WHEN, *_COMMON)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--goals", action="store_true", help="one row per goal instead of per session")
    parser.add_argument("--all", action="store_true", help="also sessions in which nothing was asked for")
    add_conditions(parser)


def needs_loop(services: Services, options: argparse.Namespace) -> bool:
    """It waits for nothing."""
    return False


async def run(services: Services, options: argparse.Namespace) -> int:
    """Print one row a session, what was written last first; or one a goal, the newest first."""
    json = services.settings.json
    limit = limit_asked(options, json=json)
    wanted = conditions_of(options, statuses=tuple(options.status))
    hides = not (json or options.all or options.goals)
    wanted = structs.replace(wanted, with_goals=hides)
    with asking(services, options) as queries:
        found = queries.goals(wanted, limit) if options.goals else queries.sessions(wanted, limit)
        empty = queries.without_goals(wanted) if hides else 0
    more = bool(limit) and len(found) > limit
    found = found[:limit] if limit else found
    out = sink_of(sys.stdout)
    if json:
        print_rows((_for_programs(row) for row in found), json=True, out=out)
        return 0
    hidden = (
        f"{counted(empty, 'empty session')} not shown; --all shows {'it' if empty == 1 else 'them'}" if empty else ""
    )
    if not found and hidden:
        say(hidden)
        return 0
    if not found:
        nothing = f"nothing is recorded in {shown_line(session_folder(services))} yet"
        say("no recorded session matches" if wanted.are_any else nothing)
        return 0
    home = services.loaded.environ.get("HOME", "")
    print_table([_for_people(row, home) for row in found], _OF_GOALS if options.goals else _OF_SESSIONS, out)
    if more:
        say(f"older ones are not shown: --limit {limit * 5}, or --limit 0 for all")
    if hidden:
        say(hidden)
    return 0


def _for_programs(row: dict[str, Any]) -> dict[str, Any]:
    times: dict[str, Any] = {name: iso(row[name]) for name in ("began", "ended") if name in row}
    if "written" in row:
        times["written"] = iso(int(row["written"] * 1e6))
    return {**row, **times}


def _goal(row: dict[str, Any]) -> Cell:
    text = " · ".join(filter(None, (row.get("name"), row["goal"])))
    if not text and row.get("goals") == 0 and not row["status"]:
        return Cell("no goals" if row.get("frontend") else "an empty log", "dim")
    return Cell(shown_line(text or "", 200))


def _for_people(row: dict[str, Any], home: str) -> dict[str, Cell]:
    at = row.get("ended", row["began"])  # of a session its latest time: they come in that order
    failed, stopped = row.get("failed", 0), row.get("stopped", 0)
    status, style = row["status"], status_style(row["status"])
    if (
        (failed or stopped)
        and row["goals"] > 1
        and status != "running"
        and (failed, stopped, style) != (0, 1, "yellow")
    ):
        status, style = (f"{failed} failed", "red") if failed else (f"{stopped} stopped", "yellow")
    return {
        "when": Cell(absolute(at)),
        "ago": Cell(ago(at), "dim"),
        "session": Cell(shown_line(row["session"], 64), "cyan"),
        "goals": Cell(f"{row['goals']:,}" if "goals" in row else ""),
        "status": Cell(shown_line(status.replace("_", " "), 24), style),
        "risk": Cell(row["risk"], risk_style(row["risk"])),
        "time": Cell(took(row["duration"] or 0.0)),
        "cost": Cell(money(row["cost"])),
        "where": Cell(short_folder(row["cwd"] or "", home), "dim"),
        "goal": _goal(row),
    }

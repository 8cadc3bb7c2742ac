"""`agent-shell sessions permissions`: who else can read the logs, their heads, index and keys; repaired with a word."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from agent.config.paths import state_dir
from agent.emitters.console import complain, print_rows, say
from agent.emitters.streams import sink_of
from agent.frontends.session_naming import session_folder
from agent.protocol.outcomes import ExitCode
from agent.recording.permissions import Loose, find_loose, repair
from agent.text.shown import shown_name

if TYPE_CHECKING:
    import argparse

    from agent.frontends.services import Services


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Tell whether to repair what is found."""
    parser.add_argument("--repair", action="store_true", help="take others' rights away from what is yours")


async def run(services: Services, options: argparse.Namespace) -> int:
    """0 where all is private (or was made so), 1 where something is not. Raises CoreError, EmitError."""
    keys = (
        (services.settings.sign_key,) if services.settings.sign_key and services.settings.sign_key != "keyring" else ()
    )
    found = find_loose(session_folder(services), state_dir(services.loaded.environ), keys)
    left = 0
    rows = []
    for each in found:
        why = repair(each) if options.repair and each.can_repair else "not asked to" if each.can_repair else each.found
        left += bool(why)
        rows.append(_row(each, why if options.repair else "", repaired=options.repair and not why))
    if services.settings.json:
        print_rows(rows, json=True, out=sink_of(sys.stdout))
    else:
        _tell(found, rows, repaired=options.repair)
    return ExitCode.FAILED if left else ExitCode.DONE


def _row(loose: Loose, why: str, *, repaired: bool) -> dict[str, object]:
    row: dict[str, object] = {"path": loose.path, "kind": loose.kind, "mode": f"{loose.mode:04o}", "found": loose.found}
    return row | {"repaired": repaired} | ({"reason": why} if why else {})


def _tell(found: list[Loose], rows: list[dict[str, object]], *, repaired: bool) -> None:
    if not found:
        say("logs, heads, index and keys are readable by you alone")
        return
    for loose, row in zip(found, rows, strict=True):
        state = "repaired: " if row["repaired"] else ""
        reason = f" ({row['reason']})" if row.get("reason") and row["reason"] != loose.found else ""
        say(f"{state}{loose.mode:04o}  {loose.kind}  {shown_name(loose.path)}  {loose.found}{reason}")
    if not repaired and any(each.can_repair for each in found):
        complain("agent-shell: `agent-shell sessions permissions --repair` takes others' rights away")
    if any(not each.can_repair for each in found):
        complain(
            f"agent-shell: symbolic links, hard links and what is not yours stay as they are (you are user {os.geteuid()})"
        )

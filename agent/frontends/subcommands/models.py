"""`agent-shell models`: which models are here, which one is used, and using another."""

from __future__ import annotations

import sys
from typing import Any

from agent.config.load import Loaded
from agent.emitters.console import complain, complain_about, print_rows, say
from agent.emitters.streams import sink_of
from agent.protocol.errors import CoreError, InvalidRequest
from agent.protocol.outcomes import ExitCode
from agent.providers.choosing import CASCADE_HINT, NOTHING_HERE, meant, model_rows, use_model
from agent.providers.local.memory import in_words

_COLUMNS = ("use", "size", "parameters", "quantisation", "context", "state", "name")


async def run_models(
    loaded: Loaded, *, action: str, name: str, json_output: bool, ports: dict[str, int] | None = None
) -> int:
    """list, show or use; the exit code. `ports` replaces the usual ports of servers."""
    try:
        if action == "show":
            return _show(loaded, json_output=json_output)
        if action == "use" and not name:
            raise InvalidRequest("which model? `agent-shell models` lists what is here")
        if action == "use":
            return _use(loaded, *await meant(loaded, name, ports))
        return _list(await model_rows(loaded, ports), json_output=json_output)
    except CoreError as error:
        complain_about(error)
        return error.exit_code


def _list(rows: list[dict[str, Any]], *, json_output: bool) -> int:
    out = sink_of(sys.stdout)
    if json_output:
        print_rows(rows, json=True, out=out)
        return ExitCode.DONE
    if not rows:
        say(NOTHING_HERE)
        return ExitCode.DONE
    shown = [
        row | {"use": ("* " if row["used"] else "  ") + row["use"], "size": size_text(row.get("size"))} for row in rows
    ]
    print_rows(shown, json=False, out=out, columns=_COLUMNS)
    complain("to use one: agent-shell models use NAME   (back: agent-shell models use offline)")
    return ExitCode.DONE


def size_text(size: int | None) -> str:
    """Bytes in words, "" where they are not known."""
    return in_words(size) if size else ""


def _show(loaded: Loaded, *, json_output: bool) -> int:
    """Show what is configured, and where that was said."""
    told = ("planner", "model", "base_url", "cascade", "examples", "models_dir")
    rows = {row["setting"]: row | {"value": row["value"] or ""} for row in loaded.rows()}
    print_rows([rows[name] for name in told], json=json_output, out=sink_of(sys.stdout))
    return ExitCode.DONE


def _use(loaded: Loaded, planner: str, model: str) -> int:
    written, warnings = use_model(loaded, loaded.config_path, planner, model)
    for line in written:
        say(line)
    for line in warnings:
        complain(f"agent-shell: {line}", style="yellow")
    if planner not in ("offline", "auto") and not loaded.settings.cascade:
        complain(CASCADE_HINT)
    return ExitCode.DONE

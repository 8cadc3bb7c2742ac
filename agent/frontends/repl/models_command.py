"""`:models` lists the models that are here, `:models use NAME` plans with one: in this session at once, and from now on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent.protocol.commands import SetModel
from agent.protocol.errors import InvalidRequest
from agent.text.shown import shown_line

if TYPE_CHECKING:
    from agent.frontends.session_controller import SessionController

_MARK = "*"
_LEAVES = "what you ask leaves this machine from now on: it goes to {name}"


async def run_models_command(
    controller: SessionController,
    argument: str,
    show: Callable[[str], Awaitable[None]],
    ports: dict[str, int] | None = None,
) -> None:
    """Do `:models [use NAME]`; `ports` replaces the usual ports of servers. Raises CoreError."""
    word, _, name = argument.partition(" ")
    name = name.strip()
    if not word:
        await show(await _list(controller, ports))
    elif word == "use" and name:
        await _use(controller, name, ports)
    else:
        raise InvalidRequest(
            "say which model, as in `:models use NAME`" if word == "use" else f":models has no {shown_line(word, 40)}",
            hint="`:models` lists what is here",
        )


async def _list(controller: SessionController, ports: dict[str, int] | None) -> str:
    """One line for each model, the one that this session asks marked; then how to change it."""
    from agent.frontends.subcommands.models import NOTHING_HERE, model_rows

    planner = controller.ctx.planner
    asked = f"this session asks {shown_line(planner.name, 40)} {shown_line(planner.model, 100)}".rstrip()
    rows = await model_rows(controller.services.loaded, ports)
    if not rows:
        return f"{NOTHING_HERE}\n{asked}"
    words = _words(rows)
    controller.listed_models = (*(word for word in words if word.isprintable()), "offline")
    lines = [
        _cells(row, word, _is_asked(row, planner.name, planner.model)) for row, word in zip(rows, words, strict=True)
    ]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([*table, f"{asked}; another one: `:models use NAME`, back: `:models use offline`"])


def _words(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is typed for each: of a file its name, where nothing else is called so."""
    names = [row["name"] for row in rows]
    return [row["name"] if row["kind"] == "file" and names.count(row["name"]) == 1 else row["use"] for row in rows]


def _cells(row: Mapping[str, Any], word: str, is_asked: bool) -> tuple[str, ...]:
    from agent.frontends.subcommands.models import size_text

    details = (row.get("parameters"), row.get("quantisation"))
    return (
        f"{_MARK if is_asked else ' '} {shown_line(word, 120)}",
        size_text(row.get("size")),
        shown_line(" ".join(str(each) for each in details if each), 40),
        shown_line(row["state"] or "", 120),
    )


def _is_asked(row: Mapping[str, Any], planner: str, model: str) -> bool:
    return bool(row["provider"] == planner and model in (row["name"], row["use"]))


async def _use(controller: SessionController, name: str, ports: dict[str, int] | None) -> None:
    """The file first: where it cannot be written, everything stays as it was."""
    from agent.frontends.subcommands.models import CASCADE_HINT, meant, use_model

    services = controller.services
    if not controller.interactive:  # it says who is told what a person types
        raise InvalidRequest(
            "another model is chosen by a person at a terminal", hint="or with `agent-shell models use NAME`"
        )
    planner, model = await meant(services.loaded, name, ports)
    written, warnings = use_model(services.loaded, planner, model, wins="wins at the next start")
    for line in (*written, *warnings):
        controller.tell(line)
    if planner not in ("offline", "auto") and not services.loaded.settings.cascade:
        controller.tell(CASCADE_HINT)
    chosen, stays_here = services.plan_with(planner, model)
    await controller.send(None, SetModel(chosen))
    if not stays_here:
        controller.tell(_LEAVES.format(name=shown_line(controller.ctx.planner.name, 40)))

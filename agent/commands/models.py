"""`:model` shows or changes the model of this session; `:models` lists those that are here, and plans with one from now on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.commands.context import Change, CommandContext, CommandServices, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.commands import SetModel
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
from agent.protocol.ports import Planner, Redactor
from agent.text.shown import shown_line

_MARK = "*"
_LEAVES = "what you ask leaves this machine from now on: it goes to {name}"


async def model(context: CommandContext, arguments: SetModel | str) -> DispatchOutcome:
    """Another model of the same planner (`name`), or of another one (`planner:name`). Raises NotFound, ConfigError."""
    if isinstance(arguments, SetModel):
        return set_model(context, arguments)
    planner = context.session.planner
    context.tell(f"planner {planner.name}, model {planner.model or 'none'}")
    return DispatchOutcome()


def set_model(context: CommandContext, command: SetModel) -> DispatchOutcome:
    """Raises NotFound, ConfigError."""
    planner = planner_of(context, command.model)
    text = f"model: {planner.model or planner.name}"
    return DispatchOutcome(text, {"planner": planner.name, "model": planner.model}, changes=to_planner(planner))


def planner_of(context: CommandContext, model: str) -> Planner:
    """The planner that asks `name`, or `planner:name`. Raises NotFound, ConfigError."""
    return planner_with(context.app.make_planner, model, context.session.redactor)


def planner_with(make: Callable[..., Planner], model: str, redactor: Redactor) -> Planner:
    """The same with `make`. Raises NotFound, ConfigError."""
    planner_name, separator, name = model.partition(":")
    known = separator and planner_name.replace("-", "_").isidentifier()
    try:
        planner = make(planner_name, name or None, redactor) if known else None
    except NotFound:
        planner = None  # model names may contain colons themselves ("llama3:8b")
    return planner or make(None, model, redactor)


def to_planner(planner: Planner) -> tuple[Change, ...]:
    return Change("planner", planner.name, {"planner": planner}), Change("model", planner.model)


async def models(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`:models [use NAME]`. Raises CoreError."""
    name = arguments.partition(" ")[2].strip()
    if name:
        return await _use(context, name)
    await context.person.show(await _list(context))
    return DispatchOutcome()


async def _list(context: CommandContext) -> str:
    """One line for each model, the one that this session asks marked; then how to change it."""
    from agent.providers.choosing import NOTHING_HERE, model_rows

    loaded, planner = context.services.loaded, context.session.planner
    assert loaded is not None, "`_usable` has seen to it"
    asked = f"this session asks {shown_line(planner.name, 40)} {shown_line(planner.model, 100)}".rstrip()
    rows = await model_rows(loaded)
    if not rows:
        return f"{NOTHING_HERE}\n{asked}"
    words = _words(rows)
    context.services.listed["models"] = (*(word for word in words if word.isprintable()), "offline")
    lines = [
        _cells(row, word, _is_asked(row, planner.name, planner.model)) for row, word in zip(rows, words, strict=True)
    ]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([*table, f"{asked}; another one: `:models use NAME`, back: `:models use offline`"])


def _words(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """List what is typed for each: of a file its name, where nothing else is called so."""
    names = [row["name"] for row in rows]
    return [row["name"] if row["kind"] == "file" and names.count(row["name"]) == 1 else row["use"] for row in rows]


def _cells(row: Mapping[str, Any], word: str, is_asked: bool) -> tuple[str, ...]:
    from agent.providers.local.memory import in_words

    details = (row.get("parameters"), row.get("quantisation"))
    return (
        f"{_MARK if is_asked else ' '} {shown_line(word, 120)}",
        in_words(row["size"]) if row.get("size") else "",
        shown_line(" ".join(str(each) for each in details if each), 40),
        shown_line(row["state"] or "", 120),
    )


def _is_asked(row: Mapping[str, Any], planner: str, model: str) -> bool:
    return bool(row["provider"] == planner and model in (row["name"], row["use"]))


async def _use(context: CommandContext, name: str) -> DispatchOutcome:
    """The file first: where it cannot be written, everything stays as it was."""
    from agent.providers.choosing import CASCADE_HINT, meant, use_model

    services = context.services
    loaded = services.loaded
    assert loaded is not None, "`_usable` has seen to it"
    if not context.interactive:  # it says who is told what a person types
        raise InvalidRequest(
            "another model is chosen by a person at a terminal", hint="or with `agent-shell models use NAME`"
        )
    planner, name = await meant(loaded, name)
    written, warnings = await asyncio.to_thread(
        use_model, loaded, context.app.config_path, planner, name, wins="wins at the next start"
    )
    for line in (*written, *warnings):
        context.tell(line)
    if planner not in ("offline", "auto") and not loaded.settings.cascade:
        context.tell(CASCADE_HINT)
    chosen, stays_here = services.plan_with(planner, name)
    done = set_model(context, SetModel(chosen))
    if not stays_here:
        context.tell(_LEAVES.format(name=shown_line(done.data["planner"], 40)))
    return done


def _usable(context: CommandContext, arguments: str) -> None:
    if context.services.loaded is None:
        raise InvalidState(expected="settings to choose a model in", found="none")


def _nothing_or_use(rest: str) -> str:
    word, _, name = rest.partition(" ")
    if rest and (word != "use" or not name.strip()):
        raise InvalidRequest(
            "name a model, as in `:models use NAME`" if word == "use" else f":models has no {shown_line(word, 40)}",
            hint="`:models` lists what is here",
        )
    return rest


def _listed(services: CommandServices) -> tuple[str, ...]:
    return tuple(f"use {name}" for name in services.listed.get("models", ()))


COMMANDS = (
    Definition(
        names=("model",),
        arguments="[NAME]",
        help="show or change the model",
        examples=(":model", ":model ollama:qwen2.5-coder:1.5b"),
        read=lambda rest: SetModel(rest) if rest else "",
        core=(SetModel,),
        handle=model,
        complete=lambda services: services.model_names(),
        line=(":model, :models", "change the model; list them; :authenticate: a key"),
    ),
    Definition(
        names=("models",),
        arguments="[use NAME]",
        help="models on this machine; plan with one from now on",
        examples=(":models", ":models use offline"),
        read=_nothing_or_use,
        handle=models,
        usable=_usable,
        choices=("use",),
        complete=_listed,
    ),
)

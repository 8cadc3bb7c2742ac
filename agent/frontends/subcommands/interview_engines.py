"""`agent-shell interview engines|lint|graph|simulate`: list the engines, check one, draw it, have simulated people go through it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from agent.conversation.authoring.graph import drawing, mermaid
from agent.conversation.authoring.lint import lint_engine
from agent.conversation.framework.state.ports import Complete
from agent.conversation.framework.talk.techniques import library
from agent.conversation.registry.loading import Engine
from agent.conversation.registry.registry import engine_id, registry
from agent.conversation.simulation.interview import FormLeads, Leader, ModelLeads, ScriptLeads, held
from agent.conversation.simulation.outcome import row
from agent.conversation.simulation.people import Person, facts_of, people, person_named
from agent.conversation.simulation.person import PlayedPerson, SimulatedPerson
from agent.emitters.console import complain, print_rows, say
from agent.emitters.streams import sink_of
from agent.frontends.services import Services
from agent.protocol.errors import CoreError, InvalidRequest
from agent.protocol.messages import ChatMessage
from agent.protocol.outcomes import ExitCode
from agent.protocol.ports import Completer, ModelRequest
from agent.text.shown import shown


def run_engines(*, json_output: bool) -> int:
    """List the engines, a row each."""
    rows = []
    for each in registry().ids():
        try:
            config = registry().load(each).config
            rows.append({"engine": each, "version": config.version, "about": config.description})
        except CoreError as error:
            rows.append({"engine": each, "version": "?", "about": error.message})
    print_rows(rows, json=json_output, out=sink_of(sys.stdout))
    return ExitCode.DONE


def run_lint(named: str, *, json_output: bool) -> int:
    """Print what is wrong with an engine, a line each; exit code 1 where something is. Raises CoreError."""
    known = registry()
    engine = known.load(engine_id(named))
    told = known.validate(engine.config)
    found = [("error", each) for each in told.errors] + [("warning", each) for each in told.warnings]
    if told.valid:
        linted = lint_engine(engine.config, techniques=library(), others=known.configurations())
        found += [("warning", each) for each in linted]
    out = sink_of(sys.stdout)
    if json_output:
        print_rows([{"level": level, "text": text} for level, text in found], json=True, out=out)
    elif found:
        for level, text in found:
            say(shown(f"{level}: {text}"), out)
    else:
        say(shown(f"{engine.config.engine_id}: nothing to mend"), out)
    return ExitCode.DONE if told.valid else ExitCode.FAILED


def run_graph(named: str, *, as_mermaid: bool) -> int:
    """Draw the phases of an engine. Raises CoreError."""
    config = registry().load(engine_id(named)).config
    say(shown(mermaid(config) if as_mermaid else drawing(config).rstrip()), sink_of(sys.stdout))
    return ExitCode.DONE


async def run_simulation(services: Services, named: str, *, person: str, turns: int, led_by: str) -> int:
    """Print a row for each person and leader, a JSON object a line with `--json`. Raises CoreError."""
    try:
        if turns < 1:
            raise InvalidRequest("an interview has at least one turn", hint="--turns 20")
        engine = registry().get(engine_id(named))
        persons = (person_named(person),) if person else people()
        asking = _model(services) if led_by == "model" else None
        rows = []
        for manner in persons:
            for who, leader in _interviews(engine, manner, led_by, asking):
                outcome = await held(engine, who, leader, turns=turns)
                rows.append(to_builtins(outcome) if services.settings.json else row(outcome))
        print_rows(rows, json=services.settings.json, out=sink_of(sys.stdout))
        return ExitCode.DONE
    finally:
        await services.shutdown()


def _interviews(
    engine: Engine, manner: Person, led_by: str, asking: tuple[Complete, int] | None
) -> Iterator[tuple[SimulatedPerson, Leader]]:
    """Yield the person anew for each who leads."""
    facts = facts_of(engine)
    if asking is not None:
        yield PlayedPerson(engine.config, facts, manner, asking[0]), ModelLeads(*asking)
        return
    if led_by in ("", "form"):
        yield SimulatedPerson(engine.config, facts, manner), FormLeads()
    if led_by in ("", "script"):
        yield SimulatedPerson(engine.config, facts, manner), ScriptLeads(f"{engine.config.engine_id} {manner.name}")


def _model(services: Services) -> tuple[Complete, int]:
    """The call of the configured model, and how much it takes. Raises InvalidRequest where it is none."""
    app = services.engine.app
    planner = app.make_planner(None, None)
    if not isinstance(planner, Completer) or planner.name in ("offline", "cascade"):
        raise InvalidRequest(f"the {planner.name} planner is no model", hint="choose one with --planner and --model")
    model: Completer = planner

    async def nothing(text: str, /, *, thought: bool = False) -> None:
        """Nobody reads along."""

    async def tell(text: str) -> None:
        complain(text)

    async def complete(prompt: str, schema: dict[str, Any] | None) -> str:
        message = ChatMessage(role="user", content=app.redactor.redact(prompt))
        return (await model.complete(ModelRequest(messages=(message,), schema=schema), nothing, tell)).text

    return complete, model.context_tokens

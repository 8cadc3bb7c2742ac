"""`agent-shell interview engines|lint|graph`: list the engines, check one, draw its phases."""

from __future__ import annotations

import sys

from agent.conversation.authoring.graph import drawing, mermaid
from agent.conversation.authoring.lint import lint_engine
from agent.conversation.framework.talk.techniques import library
from agent.conversation.shipped import engine_id, registry
from agent.emitters.console import print_rows, say
from agent.emitters.streams import sink_of
from agent.protocol.errors import CoreError
from agent.protocol.outcomes import ExitCode
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

"""Run each sub-command: build what it needs and call its front end. What one needs is imported when it is run.

Each function takes the options of its command line and gives the exit code. They raise CoreError, EmitError, ClientDisconnected.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # what type checkers take for true
if TYPE_CHECKING:
    import argparse
    from collections.abc import Coroutine
    from typing import Any, TextIO

    from agent.config.load import Loaded
    from agent.frontends.services import Services


def _loaded(options: argparse.Namespace) -> Loaded:
    """Settings of this process, with what the command line says. Raises ConfigError."""
    from agent.app.composition import load
    from agent.config.table import BY_NAME

    return load({name: value for name, value in vars(options).items() if name in BY_NAME and value is not None})


def _services(options: argparse.Namespace, *, strict: bool = True) -> Services:
    from agent.app.composition import build_services

    return build_services(_loaded(options), strict=strict)


def _in_a_loop(work: Coroutine[Any, Any, int]) -> int:
    import asyncio

    return asyncio.run(work)


def _command(words: list[str]) -> str:
    """One word is a command line; several were one in the person's shell, and are quoted back into one. Raises InvalidRequest for none."""
    import shlex

    from agent.protocol.errors import InvalidRequest

    command = words[0] if len(words) == 1 else shlex.join(words)
    if not command.strip():  # no session is opened for that
        raise InvalidRequest("the command is empty")
    return command


def _columns(stream: TextIO) -> int:
    """Columns of the terminal that `stream` is, 0 where it is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 0


def _line(stream: TextIO, text: str) -> None:
    stream.write(text + "\n")


def goal(options: argparse.Namespace) -> int:
    """One goal, goals from standard input, or the REPL."""
    services = _services(options)
    if options.words:
        from agent.frontends.one_shot import run_goal

        goal = " ".join(options.words)
        return _in_a_loop(run_goal(services, goal, as_command=_command(options.words) if goal.strip() else ""))
    if not sys.stdin.isatty() or services.settings.json:
        from agent.frontends.one_shot import run_lines

        return _in_a_loop(run_lines(services))
    from agent.app.composition import leave_terminal
    from agent.frontends.repl.repl import run_repl

    code = _in_a_loop(run_repl(services))
    sys.stdout.flush()
    leave_terminal()
    return code


def plan(options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.plan import run_plan

    return _in_a_loop(run_plan(_services(options), goal=" ".join(options.words), batch=options.batch))


def risk(options: argparse.Namespace) -> int:
    from agent.app.composition import held, undo_words
    from agent.frontends.subcommands.risk import run_risk

    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]  # real streams here
    return run_risk(
        command=" ".join(options.words) if options.words else None,
        json_output=bool(options.json),
        explain=options.explain,
        policy=options.policy,
        cwd=options.cwd,
        batch=options.batch,
        stdin=sys.stdin,
        write=lambda line: _line(sys.stdout, line),
        warn=lambda line: _line(sys.stderr, f"agent-shell: {line}"),
        width=_columns(sys.stdout),
        held=held(options) if options.policy or options.safety_policy else None,
        undo_words=undo_words,
    )


def execute(options: argparse.Namespace) -> int:
    from agent.frontends.one_shot import exec_command

    return _in_a_loop(exec_command(_services(options), _command(options.words), via_rehearsal=options.via_rehearsal))


def rehearse(options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.rehearse import run_rehearse

    return _in_a_loop(run_rehearse(_services(options), _command(options.words), network=options.network))


def undo(options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.undo import run_undo

    services = _services(options)
    return _in_a_loop(run_undo(services, wanted=options.id or "", listing=options.list, sure=options.yes))


def sessions(options: argparse.Namespace) -> int:
    from agent.frontends.sessions.dispatch import run_action

    return run_action(options.action, _services(options), options)


def doctor(options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.doctor import run_doctor

    return _in_a_loop(run_doctor(_services(options, strict=False), json_output=bool(options.json)))


def models(options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.models import run_models

    return _in_a_loop(
        run_models(_loaded(options), action=options.action, name=options.name, json_output=bool(options.json))
    )


def library(kind: str, options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.config import open_in_editor
    from agent.frontends.subcommands.library import run_library

    services = _services(options)
    entries = services.engine.app.services.library().of(kind)

    def edit(path: str) -> None:
        open_in_editor(path, services.loaded.environ)

    action, name, sure = options.action, options.name, options.yes
    return _in_a_loop(run_library(services, entries, action=action, name=name, sure=sure, edit=edit))


def vault(options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.prompt_commands import run_vault

    if options.action != "run":
        options.persist = False  # nothing happens that a log is for
    command = _command(options.words) if options.action == "run" and options.words else " ".join(options.words)
    return _in_a_loop(run_vault(_services(options), action=options.action, name=options.name, rest=command))


def policy(options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.prompt_commands import run_policy

    words = _command(options.words) if options.action == "allow" and options.words else " ".join(options.words)
    return _in_a_loop(run_policy(_services(options), action=options.action, rest=words, sure=options.yes))


def config(options: argparse.Namespace) -> int:
    from agent.frontends.subcommands.config import run_config

    return _in_a_loop(run_config(_loaded(options), action=options.action, json_output=bool(options.json)))


def interview(options: argparse.Namespace) -> int:
    """Hold an interview; or do what stands in the place of an engine."""
    from agent.conversation.registry.registry import DEFAULT

    about = " ".join(options.words)
    if options.action in ("engines", "lint", "graph"):
        from agent.frontends.subcommands import interview_engines

        if options.action == "graph":
            return interview_engines.run_graph(about or DEFAULT, as_mermaid=options.mermaid)
        if options.action == "lint":
            return interview_engines.run_lint(about or DEFAULT, json_output=bool(options.json))
        return interview_engines.run_engines(json_output=bool(options.json))
    if options.action == "simulate":
        from agent.frontends.subcommands.interview_engines import run_simulation

        simulation = run_simulation(
            _services(options), about or DEFAULT, person=options.person, turns=options.turns, led_by=options.led_by
        )
        return _in_a_loop(simulation)
    if options.action == "worker":
        from agent.frontends.subcommands.interview import run_worker

        return _in_a_loop(run_worker(_services(options), options.words))
    from agent.frontends.subcommands.interview import run_export, run_interview

    if options.action == "export":
        return run_export(_services(options), options.words, options.resume)
    held = run_interview(
        _services(options), options.action or DEFAULT, about, options.resume, turn=options.turn, branch=options.branch
    )
    return _in_a_loop(held)


def repository(options: argparse.Namespace) -> int:
    """`work lint`, or cycles of the repo agent."""
    if options.action == "lint":
        from agent.frontends.subcommands.work import run_lint

        return run_lint(options.file, json_output=bool(options.json))
    from msgspec import structs

    from agent.app.composition import build_services
    from agent.frontends.subcommands.work import run_work
    from agent.repo_agent.modes import WorkOptions

    loaded = _loaded(options)
    given = WorkOptions(
        mode=options.mode,
        one_plan=options.one_plan,
        task=options.task,
        cycles=options.cycles,
        cost=options.max_cost,
        seconds=options.max_time,
        grants=frozenset(options.grant),
        ask=options.ask,
        answer=options.answer,
        dry_run=options.rehearsed or loaded.settings.dry_run,
    )
    # What a dry run is here: the work is done where it is thrown away.
    loaded = structs.replace(loaded, settings=structs.replace(loaded.settings, dry_run=False))
    return _in_a_loop(run_work(build_services(loaded), given))

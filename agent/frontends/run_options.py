"""From settings to the knobs of one run."""

from __future__ import annotations

from typing import Literal, cast

from msgspec.structs import replace

from agent.config.settings import Settings
from agent.protocol.cancel import CancellationToken
from agent.protocol.decisions import Confinement
from agent.protocol.requests import Approval, ApproveMode, Limits, RunOptions


def run_options(
    settings: Settings,
    *,
    frontend: Literal["cli", "repl"],
    interactive: bool,
    cancel: CancellationToken,
    stdout_is_tty: bool = True,
) -> RunOptions:
    """The options of one goal: the front end's factory, with limits and approval as configured."""
    options = (
        RunOptions.repl_turn()
        if frontend == "repl"
        else RunOptions.cli(code_mode=settings.code, stdout_is_tty=stdout_is_tty)
    )
    if settings.auto_continue:
        options = replace(options, auto_continue=True)
    if not settings.stream:
        options = replace(options, stream=False)
    limits = Limits(
        max_steps=settings.max_steps,
        time_budget=settings.time_budget,
        token_budget=settings.token_budget,
        command_timeout=settings.command_timeout,
    )
    approval = Approval(
        mode=cast(ApproveMode, settings.approve),
        safety_off=settings.safety_off,
        dry_run=settings.dry_run,
        interactive=interactive,
        confine=cast(Confinement, settings.confine),
    )
    return replace(options, cancel=cancel, limits=limits, approval=approval)

"""From settings to run options."""

from __future__ import annotations

from agent.config.settings import Settings
from agent.frontends.session_controller import run_options
from agent.protocol.cancel import CancellationToken
from agent.protocol.requests import Approval, Limits, RunOptions


def test_defaults_are_the_factories() -> None:
    token = CancellationToken()
    repl = run_options(Settings(), frontend="repl", interactive=True, cancel=token)
    assert repl == RunOptions(
        auto_continue=True,
        compress_session=True,
        autoname_session=True,
        apply_prelude=True,
        with_embeddings=True,
        cancel=token,
    )
    cli = run_options(Settings(), frontend="cli", interactive=False, cancel=token)
    assert cli.close_session
    assert cli.approval == Approval(interactive=False)


def test_settings_reach_limits_and_approval() -> None:
    settings = Settings(
        max_steps=3, time_budget=9.0, token_budget=100, command_timeout=5.0, approve="low", safety_off=True, dry_run=True,
        stream=False, auto_continue=True, code=True,
    )  # fmt: skip
    token = CancellationToken()
    options = run_options(settings, frontend="cli", interactive=True, cancel=token, stdout_is_tty=False)
    assert options.limits == Limits(max_steps=3, time_budget=9.0, token_budget=100, command_timeout=5.0)
    assert options.approval == Approval(mode="low", safety_off=True, dry_run=True, interactive=True)
    assert (options.stream, options.auto_continue, options.code_only, options.extract_code) == (False, True, True, True)
    assert options.cancel is token

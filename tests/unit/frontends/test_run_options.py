"""From settings to run options."""

from __future__ import annotations

from agent.config.settings import Settings
from agent.frontends.session_controller import run_options
from agent.protocol.execution import CancellationToken
from agent.protocol.requests import Limits, RunOptions


def test_defaults_are_the_factories() -> None:
    token = CancellationToken()
    repl = run_options(Settings(), frontend="repl", cancel=token)
    assert repl == RunOptions(
        auto_continue=True,
        compress_session=True,
        autoname_session=True,
        apply_prelude=True,
        with_embeddings=True,
        cancel=token,
    )
    cli = run_options(Settings(), frontend="cli", cancel=token)
    assert cli.close_session


def test_settings_reach_the_limits() -> None:
    settings = Settings(
        max_steps=3, time_budget=9.0, token_budget=100, command_timeout=5.0, stream=False, auto_continue=True, code=True,
    )  # fmt: skip
    token = CancellationToken()
    options = run_options(settings, frontend="cli", cancel=token, stdout_is_tty=False)
    assert options.limits == Limits(max_steps=3, time_budget=9.0, token_budget=100, command_timeout=5.0)
    assert (options.stream, options.auto_continue, options.code_only, options.extract_code) == (False, True, True, True)
    assert options.cancel is token

"""Build the emitter of a process: for its terminal or its standard output, with the telemetry file beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from agent.app.lazy_ports import built_late
from agent.config.settings import Settings
from agent.protocol.errors import ConfigError

if TYPE_CHECKING:
    from agent.protocol.ports import Emitter


def make_emitter(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    at_prompt: bool = False,
    interview: Callable[[], bool] | None = None,
) -> Emitter:
    """The emitter for stdout and stderr, and for the telemetry file where one is asked for. `at_prompt`: of the REPL; `interview`: of one,
    as the terminal's emitter has it.
    """
    file = _private_append(settings.telemetry_file) if settings.telemetry_file is not None else None
    streams = (sys.stdout, sys.stderr)
    if at_prompt:  # nothing is shown by it before the first line is typed
        return built_late(lambda: _emitter(settings, environ, streams, file, at_prompt=True, interview=interview))
    return _emitter(settings, environ, streams, file, at_prompt=False, interview=interview)


def _emitter(
    settings: Settings,
    environ: Mapping[str, str],
    streams: tuple[TextIO, TextIO],
    telemetry: Any,
    *,
    at_prompt: bool,
    interview: Callable[[], bool] | None,
) -> Emitter:
    emitter: Emitter
    if settings.json:
        from agent.emitters.streams import JsonlEmitter

        emitter = JsonlEmitter(streams[0].buffer)
    else:
        from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions

        options = TerminalEmitterOptions(
            highlight=settings.highlight,
            verbose_tool_calls=settings.verbose,
            show_spinner=settings.spinner,
            at_prompt=at_prompt,
            notify=settings.notify,
            environ=environ,
            interview=interview,
        )
        emitter = TerminalEmitter(options, *streams)
    if telemetry is None:
        return emitter
    from agent.emitters.telemetry import TelemetryEmitter
    from agent.engine.plain_emitters import FanOut

    return FanOut(emitter, TelemetryEmitter(telemetry.fileno(), text=settings.telemetry_text, owner=telemetry))


def _private_append(path: str) -> Any:
    """A file that only its owner can read, opened for appending."""
    try:
        # Without waiting: a named pipe that nobody reads is an error, not a reason to hang.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        raise ConfigError(f"cannot write --telemetry-file {path}: {error.strerror}") from None
    return os.fdopen(fd, "ab", buffering=0)

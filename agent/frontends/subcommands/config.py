"""`agent-shell config`: settings, where each came from, and the file to change them in."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from agent.config.load import Loaded
from agent.config.paths import config_dir
from agent.config.write_user import begin_file
from agent.emitters.console import complain, complain_about, print_rows, say
from agent.emitters.streams import sink_of
from agent.protocol.errors import ConfigError, CoreError
from agent.protocol.outcomes import ExitCode


def config_rows(loaded: Loaded) -> list[dict[str, Any]]:
    """Each setting, and the names of secrets in `.env` files."""
    secrets = ({"setting": name, "value": "(set, not shown)", "from": ".env"} for name in sorted(loaded.secrets))
    return [*loaded.rows(), *secrets]


async def run_config(loaded: Loaded, *, action: str, json_output: bool) -> int:
    """show, path or edit; the exit code."""
    try:
        if action == "path":
            say(loaded.config_path)
            policy = os.path.join(config_dir(loaded.environ), "policy.toml")
            if os.path.lexists(policy):
                say(policy)
            return ExitCode.DONE
        if action == "edit":
            _edit(loaded)
        rows = config_rows(loaded)
        if sys.stdout.isatty() and not json_output:  # what somebody has set stands last, where it is seen
            rows.sort(key=lambda row: row["from"] != "default")
        print_rows(rows, json=json_output, out=sink_of(sys.stdout))
        for warning in loaded.warnings:
            complain(f"agent-shell: {warning}", style="yellow")
        return ExitCode.DONE
    except CoreError as error:
        complain_about(error)
        return error.exit_code


def _edit(loaded: Loaded) -> NoReturn:
    """Open the file in the person's editor; it is created (0600) with a few commented lines."""
    path = loaded.config_path
    if sys.stdin.isatty():
        try:
            begin_file(path)
        except OSError as error:
            raise ConfigError(f"cannot create {path}: {error.strerror}") from None
    open_in_editor(path, loaded.environ)


def open_in_editor(path: str, environ: dict[str, str]) -> NoReturn:
    """Open it in the person's editor. Raises ConfigError where that is not possible."""
    from agent.frontends.external_programs import editor_words

    if not sys.stdin.isatty():
        raise ConfigError("editing needs a terminal", hint=f"the file is {path}")
    words = editor_words(environ)
    if not words:
        raise ConfigError("no editor found", hint="set EDITOR")
    # The editor takes this process's place: there is nothing left for us to do.
    os.execvp(words[0], (*words, path))  # noqa: S606  # no child process: the person's own editor instead of us

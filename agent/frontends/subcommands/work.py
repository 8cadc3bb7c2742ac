"""`agent-shell work`: the tasks of a repository. `lint` checks its TASKS.md."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

from agent.emitters.console import complain_about, print_rows, say
from agent.emitters.streams import sink_of
from agent.protocol.errors import IoError
from agent.protocol.outcomes import ExitCode
from agent.repo_agent.task_file import TaskFile, read_tasks
from agent.repo_agent.task_lint import lint
from agent.text.shown import shown_line
from agent.text.sizes import counted

_MOST_BYTES = 16 * 1024 * 1024


def run_lint(path: str, *, json_output: bool) -> int:
    """Print the mistakes of a file, a line each, or what could be worked on; exit code 1 where there are any."""
    try:
        file = read_tasks(_text(path))
    except IoError as error:
        complain_about(error)
        return error.exit_code
    problems, out = lint(file), sink_of(sys.stdout)
    if json_output:
        print_rows([asdict(each) for each in problems], json=True, out=out)
    elif problems:
        for each in problems:
            say(shown_line(f"{path}:{each.line}: {each.text}"), out)
    else:
        say(shown_line(f"{path}: {_summary(file)}"), out)
    return ExitCode.FAILED if problems else ExitCode.DONE


def _summary(file: TaskFile) -> str:
    features = sum(len(each.features) for each in file.tasks)
    able = ", ".join(each.name for each in file.eligible)
    next_ones = f"next: {able}" if able else "none can be worked on now"
    return f"{counted(len(file.tasks), 'task')}, {counted(features, 'feature')}; {next_ones}"


def _text(path: str) -> str:
    """Read it as UTF-8, what is none of it kept. Raises IoError."""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise IoError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > _MOST_BYTES:
        raise IoError(f"{path} is larger than {_MOST_BYTES >> 20} MiB")
    return data.decode("utf-8", "surrogateescape")

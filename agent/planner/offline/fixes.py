"""The corrections that a rule may name in `fix`: those that look around before they propose anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from agent.planner.offline.fixing import files, paths, programs, projects, repository
from agent.planner.offline.fixing.failure import Failure, Fix

__all__ = ["FIXES", "fill"]

_VALUE_LIMIT = 200


def fill(template: str, command: str, caught: dict[str, str]) -> str:
    """A template with <command> as it is and everything caught from output quoted; "" if something is missing or no plain value."""
    missing = False

    def one(match: re.Match[str]) -> str:
        nonlocal missing
        if match[1] == "command":
            return command
        value = caught.get(match[1], "")
        # What a program printed is hostile: it may become an argument, never an option.
        missing = missing or not value or value.startswith("-") or not value.isprintable() or len(value) > _VALUE_LIMIT
        return shlex.quote(value)

    text = re.sub(r"<(\w+)>", one, template)
    return "" if missing else text


FIXES: dict[str, Callable[[Failure], Fix]] = {
    "nearest_path": paths.nearest_path,
    "nearest_given_path": paths.nearest_given_path,
    "nearest_test": paths.nearest_test,
    "parent_or_nearest": paths.parent_or_nearest,
    "folder_with_spaces": paths.folder_with_spaces,
    "choice": programs.choice,
    "node_script": projects.node_script,
    "make_parent": paths.make_parent,
    "make_folder": paths.make_folder,
    "make_folder_or_nearest": paths.make_folder_or_nearest,
    "option_or_dash": programs.option_or_dash,
    "is_folder": paths.is_folder,
    "what_is_there": paths.what_is_there,
    "quote_pattern": paths.quote_pattern,
    "quote_caught": paths.quote_caught,
    "other_program": programs.other_program,
    "suggested": programs.suggested,
    "nearest_option": programs.nearest_option,
    "nearest_branch": repository.nearest_branch,
    "nearest_branch_or_path": repository.nearest_branch_or_path,
    "set_upstream": repository.set_upstream,
    "nearest_script": projects.nearest_script,
    "nearest_target": projects.nearest_target,
    "python_environment": projects.python_environment,
    "package_of_module": projects.package_of_module,
    "make_executable": files.make_executable,
    "with_interpreter": files.with_interpreter,
    "unix_line_ends": files.unix_line_ends,
    "close_key": files.close_key,
    "gnu_date": files.gnu_date,
    "who_has_port": files.who_has_port,
    "what_is_it": files.what_is_it,
}

"""Declare what a sub-command, or an action of `sessions`, takes: the settings of its row, and its own arguments."""

from __future__ import annotations

TYPE_CHECKING = False  # what type checkers take for true; `typing` is not needed to run
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any

_OF_ACTION = {
    "judge": frozenset(("safety_policy",)),
    "replay": frozenset(("safety_policy", "redact")),
    "scrub": frozenset(("redact",)),
}


def declare(
    parser: argparse.ArgumentParser,
    settings: frozenset[str],
    add: Callable[[argparse.ArgumentParser], None],
    action: str = "",
) -> None:
    """Add `settings` ("*": all) and what `add` adds; of an action what its module adds instead."""
    _add_settings(parser, settings | _OF_ACTION.get(action, frozenset()))
    if action:
        from agent.frontends.sessions.dispatch import action as module_of

        module_of(action).add_arguments(parser)
    else:
        add(parser)


def _add_settings(parser: argparse.ArgumentParser, wanted: frozenset[str]) -> None:
    from agent.config.table import SETTINGS

    titles = {"planner": "planner", "files": "files", "safety": "safety", "run": "this run", "screen": "screen"}
    given = [setting for setting in SETTINGS if setting.flag is not None and ("*" in wanted or setting.name in wanted)]
    used = {setting.group for setting in given}
    groups = {name: parser.add_argument_group(title) for name, title in titles.items() if name in used}
    for setting in given:
        assert setting.flag is not None
        names = [name for name in (setting.short, setting.flag) if name]
        keywords: dict[str, Any] = {"dest": setting.name, "help": setting.help, "default": None}
        if setting.kind == "bool":
            keywords |= {"action": "store_const", "const": not setting.inverted}
        elif setting.kind == "texts":
            keywords |= {"action": "append", "metavar": setting.metavar}
        elif setting.choices:
            keywords["choices"] = setting.choices
            if setting.metavar:  # too many to stand in braces: the help names them
                keywords["metavar"] = setting.metavar
        else:
            keywords["metavar"] = setting.metavar or setting.name.upper()
        groups[setting.group].add_argument(*names, **keywords)
        if setting.off_flag:
            groups[setting.group].add_argument(
                setting.off_flag,
                dest=setting.name,
                action="store_const",
                const="off",
                default=None,
                help=f"{setting.flag} off",
            )

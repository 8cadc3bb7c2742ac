"""Declare what a sub-command, or an action of `sessions`, takes: the settings of its row, and arguments of its own."""

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


def add_goal(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="GOAL", help="the goal, in plain words")


def add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--batch", metavar="FILE", help='a file of {"goal": …} lines, - for standard input')
    add_goal(parser)


def add_risk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--explain", action="store_true", help="what each part means")
    parser.add_argument("--policy", action="store_true", help="what policy says here, and which rule decided")
    parser.add_argument("--safety-policy", metavar="PATH", help="patterns that raise risk (JSON, YAML or TOML)")
    parser.add_argument("--cwd", metavar="DIR", help="judge as if in this folder, with the facts found there")
    parser.add_argument("--batch", metavar="FILE", help='a file of {"command": …} lines, - for standard input')
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="the command, quoted")


def add_exec(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--via-rehearsal", action="store_true", help="rehearse it first, then commit that")
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="the command, quoted")


def add_rehearse(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--network", action="store_true", help="let it use the network")
    parser.add_argument(
        "--timeout", dest="command_timeout", metavar="SECONDS", help="end it after this long", default=None
    )
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="the command, quoted")


def add_undo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--list", action="store_true", help="what can be taken back")
    parser.add_argument("--yes", action="store_true", help="do not ask; what was changed since stops it")
    parser.add_argument("id", nargs="?", metavar="ID", help="which run, or the beginning of its id")


def add_sessions(parser: argparse.ArgumentParser) -> None:
    from agent.config.session_actions import ACTIONS

    parser.add_argument("action", metavar="ACTION", choices=tuple(ACTIONS), help="what to do")


def add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object per check")


def add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("list", "show", "use"), default="list", help="what to do")
    parser.add_argument(
        "name", nargs="?", default="", metavar="NAME", help="a model as the list names it, a GGUF file, or offline"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per model")


def add_library(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=("list", "show", "edit", "save", "delete"), default="list", help="what to do"
    )
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="one that the list names, or a new one")
    parser.add_argument("--yes", action="store_true", help="delete it without asking")


def add_vault(parser: argparse.ArgumentParser) -> None:
    from agent.commands.vault import VERBS

    parser.add_argument("action", nargs="?", choices=VERBS, default="list", help="what to do")
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="a secret")
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="of `run`: the command, behind --")


def add_work(parser: argparse.ArgumentParser) -> None:
    def at_least(kind: type, least: float) -> Callable[[str], float]:
        def number(text: str) -> float:
            value = kind(text)
            if not least <= value < float("inf"):
                raise ValueError(text)
            return float(value) if kind is float else value

        number.__name__ = "number"  # as argparse names it where it is none
        return number

    whole, some = at_least(int, 1), at_least(float, 0.000001)
    add = parser.add_argument
    add("action", nargs="?", choices=("lint",), help="check the tasks; nothing is worked on")
    add("file", nargs="?", default="TASKS.md", metavar="FILE", help="of lint: the tasks (TASKS.md)")
    add("--mode", choices=("single", "continuous"), default="single", help="one task, or one after the other (single)")
    add("--one-plan", action="store_true", help="carry out one reply of the model, and end")
    add("--repo", dest="cwd", metavar="DIR", help="the repository (this folder)")
    add("--task", type=whole, metavar="N", help="this task (the first that can be worked on)")
    add("--cycles", type=whole, default=0, metavar="N", help="at most so many tasks")
    add("--max-cost", type=some, metavar="USD", help="end when the model's calls have cost this much")
    add("--max-time", type=some, metavar="SECONDS", help="end after this long")
    add(
        "--grant", action="append", choices=("push", "pull-request"), default=[], help="do not ask about it in this run"
    )
    add(
        "--ask",
        choices=("each", "changes"),
        default="changes",
        help="ask about each call, or what changes something (changes)",
    )
    add("--answer", default="", metavar="TEXT", help="the answer to the question that the last run ended with")
    add(
        "--dry-run",
        dest="rehearsed",
        action="store_true",
        help="in a worktree that is thrown away; nothing is published",
    )


def add_interview(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "action",
        nargs="?",
        default="",
        metavar="ENGINE",
        help="who asks: an engine, or its folder; or one of the words above",
    )
    add(
        "words",
        nargs="*",
        metavar="WORDS",
        help="what you want, to begin with; of lint, graph, simulate, export and worker: their subject",
    )
    add("--resume", metavar="ID", help="go on with that interview; last: the newest")
    add("--turn", type=int, metavar="N", help="of --resume: go on from where it was after turn N")
    add("--branch", action="store_true", help="of --resume: in a new session, the other stays as it is")
    add("--mermaid", action="store_true", help="of graph: as Mermaid, for a page")
    add("--person", metavar="NAME", default="", help="of simulate: that person alone, as terse or hostile")
    add("--turns", type=int, metavar="N", default=120, help="of simulate: the most turns of an interview (120)")
    add(
        "--led-by",
        choices=("form", "script", "model"),
        default="",
        help="of simulate: by the form, by a script in the place of a model, or by your model, which plays the person, too",
    )


def add_policy(parser: argparse.ArgumentParser) -> None:
    actions = ("list", "show", "allow", "ask", "deny", "forget")
    parser.add_argument("action", nargs="?", choices=actions, default="list", help="what to do")
    parser.add_argument(
        "words", nargs="*", metavar="WORDS", help="what the rule is about, or its name; options behind --"
    )
    parser.add_argument("--yes", action="store_true", help="write the rule without asking")


def add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("show", "path", "edit"), default="show", help="what to do")
    parser.add_argument("--json", action="store_true", default=None, help="one JSON object per setting")


def add_completions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="whose script")

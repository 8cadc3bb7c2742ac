"""Read the words of a command line: its sub-command, which options there are, what help says, and what was meant by a typo."""

from __future__ import annotations

import sys
from collections.abc import Collection

_SHORTEST = 3
_LONG = 7


def split(arguments: list[str], names: Collection[str]) -> tuple[list[str], str, list[str]]:
    """The options in front, which of `names` comes after them, and what stands behind it.

    The first word decides, and words behind `--` are a goal's: where it is none of `names`, the name is "" and all of `arguments` stands
    behind it. Options that do not exist are taken along, with a value where only that explains the name that follows: whoever
    parses them can then say for which command they are not.
    """
    if not arguments or not arguments[0].startswith("-"):  # nearly always: no need to know any option
        found = bool(arguments) and arguments[0] in names
        return ([], arguments[0], arguments[1:]) if found else ([], "", arguments)
    valued, plain = _options()
    place = 0
    while place < len(arguments):
        word = arguments[place]
        if word in names:
            return arguments[:place], word, arguments[place + 1 :]
        if word in ("--", "-", "-V", "--version") or not word.startswith("-"):
            break
        place += 1
        if word in plain or (word.startswith("--") and "=" in word):
            continue
        following = arguments[place : place + 2]
        if word in valued:
            if not following or following[0].startswith("-"):
                break  # its value is missing: the parser says so
            place += 1
        elif len(following) == 2 and following[0] not in names and following[1] in names:
            place += 1
    return [], "", arguments


def meant(words: list[str], names: Collection[str]) -> str:
    """The sub-command that a line of one word misspells, or of two where an action of it follows; "" for a goal."""
    word, *behind = words
    if len(behind) > 1 or not word.isalpha() or len(word) < _SHORTEST:
        return ""
    from agent.text.fuzzy import within_slips

    found = within_slips(word.lower(), (*names, "help", "version"), 1 if len(word) < _LONG else 2)
    near = sorted(found, key=lambda name: (found[name], name))
    if behind:
        from agent.config.session_actions import ACTIONS

        near = [name for name in near if name == "sessions" and behind[0] in ACTIONS]
    if not near:
        return ""
    from shutil import which

    return near[0] if behind or not which(word) else ""  # a program of that name is a command of the person's own


def is_option(word: str) -> bool:
    """Tell whether it is an option of the program itself."""
    return any(word in options for options in _options())


def _options() -> tuple[set[str], set[str]]:
    """The options of the program itself that take a value, and those that take none."""
    from agent.config.table import SETTINGS

    valued, plain = set[str](), {"-h", "--help"}
    for setting in SETTINGS:
        if setting.flag is not None:
            kind = plain if setting.kind == "bool" else valued
            kind.update(name for name in (setting.flag, setting.short) if name)
        if setting.off_flag:
            plain.add(setting.off_flag)
    return valued, plain


TYPE_CHECKING = False  # what type checkers take for true; `typing` is not needed to run
if TYPE_CHECKING:
    import argparse
    from typing import NoReturn


def build_parser(sub: str = "", action: str = "") -> argparse.ArgumentParser:
    """The parser of the program itself (`sub` empty), of one sub-command, or of one `action` of `sessions`."""
    import argparse

    from agent.cli.declaring import declare
    from agent.cli.sub_commands import GOAL, SUB_COMMANDS

    row = SUB_COMMANDS[sub] if sub else GOAL
    about, text, examples = _actions()[action] if action else (row.usage, row.help, row.examples)
    program = f"agent-shell {sub} {action}".rstrip()
    usage, epilog = f"{program} {about}", ""
    if not sub:
        usage += f"\n       {program} [options] SUB-COMMAND ..."
        epilog = _listing(
            "sub-commands (each has --help; options that it knows can stand before its name)",
            {name: each.help for name, each in SUB_COMMANDS.items()},
        )
    elif sub == "sessions" and not action:
        epilog = _listing("actions (each has --help)", {name: line for name, (_, line, _) in _actions().items()})
    text = text[:1].upper() + text[1:].removesuffix(".") + "."
    parser = argparse.ArgumentParser(
        prog=program,
        usage=usage,
        description=f"{text}\n\nexamples:\n{examples}" if examples else text,
        epilog=epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    declare(parser, row.settings, row.add, action)
    if sub in ("sessions", "roles", "agents", "macros", "rag"):
        parser._option_string_actions["--json"].help = "JSON on stdout, one object a line"
    if not sub:
        parser.add_argument("-V", "--version", action="store_true", help="print the version")
    return parser


def _listing(title: str, lines: dict[str, str]) -> str:
    return "\n".join([f"{title}:", *(f"  {name:<12} {text}" for name, text in lines.items())])


def _actions() -> dict[str, tuple[str, str, str]]:
    from agent.config.session_actions import ACTIONS

    return ACTIONS


def parse(sub: str, arguments: list[str], before: list[str] | None = None) -> argparse.Namespace:
    """The options of one command line. What comes after `--` is words, whatever it looks like.

    `before`: options that stand before the name of the sub-command. They count as if they stood behind it, where both the program
    and the sub-command know them.
    argparse cannot be left to it: its intermixed parsing takes options behind `--` for options.
    """
    from agent.cli.sub_commands import SUB_COMMANDS

    before = before or []
    action = ""
    if sub == "sessions":
        between, action, arguments = split(arguments, _actions())
        before = [*before, *between]
    parser = build_parser(sub, action)
    if action:
        parser.set_defaults(action=action)
    _hint_at_typos(parser)
    _check_before(parser, before)
    arguments = [*before, *arguments]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    rest = arguments[end + 1 :]
    # For words with a dash argparse sees stand-ins without one, and places them as it places other words.
    given = [f"\0{number}" if word.startswith("-") else word for number, word in enumerate(rest)]
    stand_ins = dict(zip(given, rest, strict=True))
    parser.stand_ins = stand_ins  # type: ignore[attr-defined]
    last = parser._option_string_actions.get(arguments[end - 1]) if rest and end else None
    if last is not None and last.nargs is None:
        parser.error(f"argument {'/'.join(last.option_strings)}: expected one argument")
    options = parser.parse_intermixed_args([*arguments[:end], *given])
    for name, value in vars(options).items():
        if isinstance(value, list):
            setattr(options, name, [stand_ins.get(each, each) for each in value])
        elif isinstance(value, str):
            setattr(options, name, stand_ins.get(value, value))
    if sub and (needed := SUB_COMMANDS[sub].words_needed) and not options.words:
        parser.error(needed)
    return options


def _check_before(parser: argparse.ArgumentParser, before: list[str]) -> None:
    """Tell whether all options before a sub-command are such that program and sub-command have in common; else an error says what to do."""
    for option in (word.partition("=")[0] for word in before if word.startswith("-")):
        known = option in parser._option_string_actions
        if not known:
            parser.error(f"`{parser.prog}` does not take {option}" if is_option(option) else f"{_UNKNOWN}{option}")
        if not is_option(option):
            parser.error(f"`{parser.prog}` comes before its option {option}")


_UNKNOWN = "unrecognized arguments: "  # as argparse says it


def _hint_at_typos(parser: argparse.ArgumentParser) -> None:
    """Errors begin as all others do, and tell of an option that is not known, but nearly, which one was meant."""

    def error(message: str) -> NoReturn:
        for stand_in, word in reversed(getattr(parser, "stand_ins", {}).items()):
            message = message.replace(repr(stand_in), repr(word)).replace(stand_in, word)
        told, _, choice = message.partition(": invalid choice: '")
        if choice:
            from agent.text.fuzzy import most_alike

            choices = [str(each) for action in parser._actions for each in action.choices or ()]
            wrong = choice.partition("'")[0]
            near = most_alike(wrong, choices)
            message = f"{told}: there is no '{wrong}' (did you mean {near[0]}?)" if near else message
        unknown = message.removeprefix(_UNKNOWN).split(" ")[0]
        if unknown != message and unknown.startswith("-"):
            from agent.text.fuzzy import most_alike

            known = [name for action in parser._actions for name in action.option_strings]
            near = most_alike(unknown.partition("=")[0], known, least=0.7)
            message += f" (did you mean {near[0]}?)" if near else ""
        parser.print_usage(sys.stderr)
        parser.exit(2, f"agent-shell: {message}\n")

    parser.error = error  # type: ignore[method-assign]

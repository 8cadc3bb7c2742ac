"""Read the words of a command line: which options there are, what help says, and what was meant by a typo."""

from __future__ import annotations

from agent.cli.sub_command import is_option, split

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
    """An option that is not known, but nearly: which one was meant."""
    complain = parser.error

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
        complain(message)

    parser.error = error  # type: ignore[method-assign]

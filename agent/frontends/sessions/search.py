"""`agent-shell sessions search`: find goals by words, patterns and how they went."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from agent.emitters.console import print_rows
from agent.emitters.paint import cell_width, cut_to_width, paint
from agent.emitters.streams import Sink, sink_of
from agent.frontends.sessions.shared import (
    LEVELS,
    add_conditions,
    asking,
    conditions_of,
    limit_asked,
    risk_style,
    say,
    status_style,
)
from agent.frontends.wrapping import short_folder
from agent.protocol.errors import InvalidRequest
from agent.text.shown import shown, shown_line
from agent.text.times import absolute, ago, iso

if TYPE_CHECKING:
    from agent.audit.queries.search import Found, Hit, HitCommand
    from agent.frontends.services import Services
    from agent.policy.linear_regex import LinearPattern

SECONDS = 10.0
_COMMANDS_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORDS",
        help="all of them, each a word or its beginning, upper or lower case; quote a phrase",
    )
    parser.add_argument("--regex", metavar="RE", help="one line must match this (RE2's syntax)")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="--regex in either case")
    parser.add_argument(
        "--risk",
        metavar="L",
        type=_levels,
        default=(),
        help="of the command: low, medium, high, or several: medium,high",
    )
    parser.add_argument(
        "--exit", metavar="N", type=_exit, dest="exit_code", help="exit code of the command, or nonzero"
    )
    parser.add_argument("--edited", action="store_true", help="the proposal was changed before it ran")
    parser.add_argument(
        "--by", choices=("person", "policy", "approve-mode", "nobody"), help="who decided about the command"
    )
    add_conditions(parser)


def _levels(text: str) -> tuple[str, ...]:
    levels = tuple(word.strip() for word in text.split(",") if word.strip())
    if not levels or any(level not in LEVELS for level in levels):
        raise argparse.ArgumentTypeError(
            f"{text[:60]!r} is not a level; write low, medium, high, or several: medium,high"
        )
    return levels


def _exit(text: str) -> int | str:
    if text == "nonzero" or re.fullmatch(r"-?\d{1,9}", text, re.ASCII):
        return text if text == "nonzero" else int(text)
    raise argparse.ArgumentTypeError(f"{text[:60]!r} is not an exit code; write a number, or nonzero")


async def run(services: Services, options: argparse.Namespace) -> int:
    """Print the hits, newest first; 1 where there are none. Raises InvalidRequest."""
    json = services.settings.json
    words = tuple(stripped for word in options.words if (stripped := word.strip()))
    wanted = conditions_of(
        options,
        statuses=tuple(options.status),
        risks=options.risk,
        exit_code=options.exit_code,
        edited=options.edited,
        by=options.by or "",
    )
    if not words and options.regex is None and not wanted.are_any:
        raise InvalidRequest("nothing to look for", hint="give words, --regex, or a condition such as --exit nonzero")
    pattern = None if options.regex is None else _pattern(options.regex, ignore_case=options.ignore_case)
    limit = limit_asked(options, json=json)
    with asking(services, options) as queries:
        found = queries.search(words, wanted, pattern=pattern, limit=limit, seconds=SECONDS, numbered=not json)
    out = sink_of(sys.stdout)
    if json:
        print_rows((_for_programs(hit) for hit in found.hits), json=True, out=out)
    else:
        _print(found, out, services.loaded.environ.get("HOME", ""))
    _say_what_is_missing(found, limit)
    return 0 if found.hits else 1


def _pattern(text: str, *, ignore_case: bool) -> LinearPattern:
    """The pattern, to be tried line by line. Raises InvalidRequest."""
    from agent.policy.linear_regex import LinearPattern

    try:
        return LinearPattern(text, "im" if ignore_case else "m")
    except ValueError as error:
        raise InvalidRequest(f"--regex {shown_line(text, 80)}: {shown_line(str(error), 120)}") from None


def _say_what_is_missing(found: Found, limit: int) -> None:
    if found.late:
        say(
            f"stopped after {SECONDS:.0f} seconds; older sessions were not looked at: narrow it with words, --since or --cwd"
        )
    elif not found.hits:
        say("nothing found")
    if found.more:
        say(f"older hits are not shown: --limit {limit * 5}, or --limit 0 for all")


def _for_programs(hit: Hit) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(hit)
    row |= {"time": iso(row.pop("at")), "show": _how_to_show(hit)}
    del row["number"]
    return row


def _how_to_show(hit: Hit) -> str:
    """Numbers of the index count the goals of one log; those of `show` also what a branch took over, unless it is told not to."""
    if hit.number < 2:
        return f"agent-shell sessions show {hit.session}"
    from agent.audit.queries.stories import is_branch

    own = " --own" if is_branch(hit.path) else ""
    return f"agent-shell sessions show{own} --goal {hit.number} {hit.session}"


def _print(found: Found, out: Sink, home: str) -> None:
    columns = out.size()[0] if out.is_tty else 0
    for number, hit in enumerate(found.hits):
        lines = [""] if number else []
        lines += _heading(hit, out, home, columns)
        lines += _commands(hit, out, columns)
        if hit.field in ("message", "output"):
            lines.append("  " + paint("│ ", "dim", color=out.color) + _marked(hit, out, columns - 4 if columns else 0))
        lines.append(paint(f"  {shown_line(_how_to_show(hit), 200)}", "dim", color=out.color))
        out.write(("\n".join(lines) + "\n").encode("utf-8", "replace"))


def _heading(hit: Hit, out: Sink, home: str, columns: int) -> list[str]:
    color = out.color
    parts = [
        paint(shown_line(hit.session, 64), "cyan", color=color),
        f"{absolute(hit.at)}" + (f" ({past})" if (past := ago(hit.at)) else ""),
        paint(shown_line(hit.status.replace("_", " "), 40), status_style(hit.status) or "dim", color=color),
        paint(hit.risk, risk_style(hit.risk) or "dim", color=color) if hit.risk else "",
        paint(short_folder(hit.cwd, home), "dim", color=color),
    ]
    lines = ["  ".join(part for part in parts if part)]
    if _is_own(hit):
        return lines  # the goal is the command
    if hit.field == "goal":
        return [*lines, f"  {_marked(hit, out, columns - 2 if columns else 0)}"]
    return [*lines, f"  {cut_to_width(shown_line(hit.goal, 300), columns - 2 if columns else 400)}"]


def _is_own(hit: Hit) -> bool:
    return len(hit.commands) == 1 and hit.commands[0].proposed == hit.goal


def _commands(hit: Hit, out: Sink, columns: int) -> list[str]:
    """Those that were matched; where none was, all that meet the conditions."""
    chosen = [command for command in hit.commands if command.matched] or list(hit.commands)
    marked = hit.field == "command" or (hit.field == "goal" and _is_own(hit))
    lines = []
    for command in chosen[:_COMMANDS_SHOWN]:
        text = command.run or command.proposed
        note = _note(command)
        room = max(20, columns - 4 - len(note) - 3) if columns else 400
        shown = cut_to_width(shown_line(text, 400), room)
        if marked and hit.match.strip() == text.strip():
            shown = _marked(hit, out, room)
        line = f"  {paint('$', 'dim', color=out.color)} {shown}"
        lines.append(f"{line}  {paint(note, 'dim', color=out.color)}" if note else line)
    if len(chosen) > _COMMANDS_SHOWN:
        lines.append(paint(f"    and {len(chosen) - _COMMANDS_SHOWN} more commands", "dim", color=out.color))
    return lines


def _note(command: HitCommand) -> str:
    """Note what is worth knowing of one command, in a few words."""
    parts = []
    if command.outcome != "ran":
        parts.append(f"{command.outcome.replace('_', ' ')}, not run")
    elif command.exit_code:
        parts.append(f"exit {command.exit_code}")
    if command.edited:
        parts.append("edited")
    if command.by and command.by != "approve-mode":
        parts.append(f"by {command.by}")
    return shown_line(" · ".join(parts), 80)


def _marked(hit: Hit, out: Sink, room: int) -> str:
    """The matched line, made safe, with its matches in colour, cut to `room` columns (0: not cut)."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    for start, end in hit.spans:
        if start > at:
            pieces.append((hit.match[at:start], False))
        if end > max(start, at):
            pieces.append((hit.match[max(start, at) : end], True))
        at = max(at, end)
    pieces.append((hit.match[at:], False))
    line = ""
    left = room
    for text, is_match in pieces:
        piece = shown(text).replace("\n", " ").replace("\t", " ")
        if room:
            piece = cut_to_width(piece, left) if left > 0 else ""
            left -= cell_width(piece)
        line += paint(piece, "yellow", color=out.color) if is_match else piece
    return line

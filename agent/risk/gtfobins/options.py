"""Judge the options by which programs that are meant for something else run commands, load code or open shells.

Which options those are, and what stands in them, is in `knowledge/_ways.toml`.
"""

from __future__ import annotations

from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING

from agent.risk.invocations.open_places import raise_open
from agent.risk.reader.words import Invocation, Word
from agent.risk.tables.options import split_args
from agent.risk.tables.store import WRAPPERS, Program, ways_of
from agent.risk.tables.store import program as find_program

if TYPE_CHECKING:
    from agent.risk.gtfobins.general import Kind
    from agent.risk.shell.walk import Walker

_BEGINNINGS = "=+!:@"  # an option that ends so is the beginning of an operand, or of the option's value
_MAX_VALUES = 30
_SCRIPTS = ("file", "own", "path", "settings")  # which lie where their owner works
_SHELLS = ("inner", "opened", "shell-of-its-own")  # of programs whose business that is


def judge_gtfobins(walker: Walker, name: str, invocation: Invocation) -> None:
    """Findings for what `name` is told to run, besides what its table and handler say."""
    ways = ways_of(name) or (ways_of(name.rstrip("0123456789.").removesuffix("-")) if name[-1:].isdigit() else ())
    if not ways:
        return
    walker.work.spend(len(ways) * len(invocation.words) / 16)
    left = _MAX_VALUES
    table = find_program(name)
    words = own_words(invocation.words, table, ways)
    if any(kind == "known" for _, kind in ways):
        from agent.risk.gtfobins.loaders import judge_unlisted

        judge_unlisted(walker, invocation, table, ways)
        ways = tuple(way for way in ways if way[1] != "known")
    for option, kind in ways:
        for word in _values(words, option, table):
            if not left:
                reason = "is told to run more than can be checked"
                walker.add("run-opaque", [], invocation.place, reason=reason)
                return
            left -= 1
            _take(walker, invocation, kind, word)


def own_words(words: list[Word], table: Program | None, ways: tuple[tuple[str, str], ...]) -> list[Word]:
    """The words up to the command that a wrapper runs, whose options are not the wrapper's."""
    if table is None or table.style != "posix" or not table.handler.startswith(WRAPPERS):
        return words
    from agent.risk.gtfobins.loaders import with_values

    rest = split_args(words[1:], with_values(table, ways)).rest
    return words[: len(words) - len(rest)]


def _values(words: list[Word], option: str, table: Program | None) -> list[Word]:
    """List the values of `option`: the next word, or what follows it in the same one. No option: the program itself."""
    if not option:
        return words[:1]
    found: list[Word] = []
    dashed = option[0] == "-"
    for index, word in enumerate(words):
        if index == 0 or (dashed and word.text[:1] != "-"):
            continue
        if dashed and word.text == "--" and table is not None and table.reader:
            break  # what follows is searched for, or read
        rest = _given(word.text, option, table)
        if rest == "":
            passed = index + 2 < len(words) and words[index - 1].text == words[index + 1].text
            at = index + (2 if passed and dashed else 1)  # `-Xclang -load -Xclang FILE`
            found.append(words[at] if at < len(words) else word.part(""))
        elif rest is not None:
            found.append(word.part(rest))
    return found


def _given(text: str, option: str, table: Program | None) -> str | None:
    """Cut off what follows `option` in the same word: "" where the value is the next word, None where it is another option."""
    if text == option and option[-1] != "=":
        return ""
    if len(option) == 3 and option[1] == option[2] and text.startswith(option):  # zip's `-TTcommand`
        return text[3:]
    if option[-1] not in _BEGINNINGS and option[0] == "-" and len(option) > 2:
        name, equals, value = text.partition("=")
        same = name[:1] == "-" and name.lstrip("-") == option.lstrip("-")
        if not same and not (name[:2] == "--" and _abbreviates(name, option, table)):
            return None
        return (value or None) if equals else ""
    if option[-1] in _BEGINNINGS or (len(option) == 2 and option[0] == "-"):
        behind = _behind(text, option, table)
        return text[behind:] if behind >= 0 else None
    return None


def _abbreviates(text: str, option: str, table: Program | None) -> bool:
    """Tell whether `text` is the option, or the beginning of it that is no other option's name."""
    if text == option:
        return True
    return len(text) > 3 and option.startswith(text) and (table is None or text not in table.longs)


def _behind(text: str, option: str, table: Program | None) -> int:
    """Find the value behind an option in the same word, also at the end of a cluster (`-Nesc`); -1 for none."""
    short = len(option) == 2 and option[0] == "-"
    whole_words = short and table is not None and table.style == "long"
    if text.startswith(option) and len(text) > len(option):
        return -1 if whole_words and text[2].isalpha() else len(option)
    if not short or whole_words or text[:1] != "-" or text[1:2] == "-":
        return -1
    at = text.find(option[1], 2)
    before, rest = text[1:at], text[at + 1 :]
    valued = table is not None and any(
        f"-{letter}" in table.value and f"-{letter}" not in table.singles for letter in before
    )
    value = not rest[:1].isalpha() or not rest.replace("-", "").isalnum()  # `-Nesc`: only letters are more options
    return at + 1 if at > 0 and before.isalpha() and not valued and value else -1


def _take(walker: Walker, invocation: Invocation, kind: str, word: Word) -> None:
    before = len(walker.findings)
    _judge(walker, invocation, kind, word)
    if kind not in _SCRIPTS:
        raise_open(walker, None, before)
    if kind not in _SHELLS and not walker.suspecting and any(f.rule == "run.shell" for f in walker.findings[before:]):
        name = invocation.words[0].text.rpartition("/")[2]
        reason = f"has {name} open a shell, in which nothing is checked"
        walker.add("shell-escape", [], invocation.place, reason=reason)


def _judge(walker: Walker, invocation: Invocation, kind: str, word: Word) -> None:
    from agent.risk.gtfobins.effects import EFFECTS, add_effect

    if kind in EFFECTS:
        add_effect(walker, invocation, word, kind)
    elif (judge := kinds().get(kind)) is not None:
        judge(walker, invocation, word)
    else:  # a language
        from agent.risk.gtfobins.general import runs
        from agent.risk.inline import code as inline_code

        inline_code.judge(walker, invocation, word.text, kind, word.taint)
        runs(walker, invocation, word)


@lru_cache(maxsize=1)
def kinds() -> dict[str, Kind]:
    """Each kind with its judge: the function of that name (`_` for a dash) in a module of this room, but for a few."""
    from agent.risk.gtfobins import debuggers, file_systems, general, languages, loaders, macros, nix, programs, readers
    from agent.risk.invocations.shown_secrets import environments

    found: dict[str, Kind] = {
        "sh": general.shell_text, "inner": general.shell_text, "lib": general.library, "run": general.runs, "environments": environments,
    }  # fmt: skip
    for module in (debuggers, file_systems, general, languages, loaders, macros, nix, programs, readers):
        for name, judge in vars(module).items():
            if isinstance(judge, FunctionType) and judge.__module__ == module.__name__:
                found.setdefault(name.replace("_", "-"), judge)
    return found

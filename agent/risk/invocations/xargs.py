"""Unwrap xargs and parallel: the command gets what comes in, at its end or in place of {}."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.invocations.environment import judge_environment
from agent.risk.reader.words import NUL, UNKNOWN, Invocation, Output, Word, decode_printf, join_taint, one_word
from agent.risk.tables.options import Args, split_args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_MAX_APPENDED = 50


def xargs(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """xargs and parallel: the command gets what comes in, at its end or in place of {}."""
    args = _with_marks(invocation.words[1:], table) if table.name == "xargs" else args
    stdin = invocation.stdin or (None, "input")
    files = args.values("-a", "--arg-file")
    text, taint = stdin
    walker.add("read", files, invocation.place, invocation=invocation)
    if files:
        text, taint = None, "file"
    words = list(args.rest)
    if table.name == "parallel" and any(word.text in (":::", "::::") for word in words):
        cut = next(index for index, word in enumerate(words) if word.text in (":::", "::::"))
        text, words = "\n".join(word.text for word in words[cut + 1 :]), words[:cut]
    by_line = table.name == "parallel" or args.has("-I", "-i", "--replace", "-d", "--delimiter")
    mark_between = args.value("-d", "--delimiter")
    delimiter = decode_printf(mark_between.text) if mark_between is not None and mark_between.known else ""
    items = _items(text, taint, invocation, by_line=by_line, whole=args.has("-0", "--null"), delimiter=delimiter)
    if not words:
        if table.name == "parallel":  # every line is a command
            return feed_lines(walker, invocation, text, taint)
        return text, taint
    mark = args.value("-I", "--replace")
    most = args.value("-n", "--max-args")
    if mark is not None or table.name == "parallel" or (most is not None and most.text == "1"):
        items = [one_word(item) for item in items]
    placeholder = (
        mark.text if mark is not None else "{}" if args.has("-i", "--replace", "-I") or table.name == "parallel" else ""
    )
    if table.name == "parallel" and len(words) == 1 and " " in words[0].text:
        return walker.script(words[0].text.replace("{}", UNKNOWN), invocation.place, invocation)
    filled = bool(placeholder) and any(placeholder in word.text for word in words)
    words = _filled(words, placeholder, items, taint) if filled else words + items
    inner = invocation.inner(words, table.name)
    for slot in args.values("--process-slot-var"):  # a variable whose value is the number of the process
        given = [(slot.text, slot.part("0"))]
        judge_environment(walker, given, invocation.place)
        inner.environment = [*inner.environment, *given]
    if table.name != "xargs" or not (files or args.has("-o", "--open-tty")):
        inner.stdin = ("", "")
    return inner


def _filled(words: list[Word], placeholder: str, items: list[Word], taint: str) -> list[Word]:
    """The words with what comes in where the placeholder stands."""
    filling = items[0].text if items else UNKNOWN
    if "all" in taint.split() and UNKNOWN not in filling:
        filling = f"{filling.rstrip('/')}/{UNKNOWN}"  # a name below the folder, which may be code
    replaced: list[Word] = []
    for word in words:
        if word.text == placeholder:
            replaced.extend(items)
        elif placeholder in word.text:
            part = word.part(word.text.replace(placeholder, filling))
            part.taint = join_taint(word.taint, taint or "input")
            replaced.append(part)
        else:
            replaced.append(word)
    return replaced


_ATTACHED = {"-i": "--replace", "-e": "--eof", "-l": "--max-lines"}


def _with_marks(words: list[Word], table: Program) -> Args:
    """`-iX` as `--replace=X`: options whose value stands at them or nowhere, unlike those that the table knows."""
    written: list[Word] = []
    for index, word in enumerate(words):
        text = word.text
        if text[:1] != "-" or text == "-":
            written.extend(words[index:])
            break
        at = next((place for place, letter in enumerate(text[1:], 1) if f"-{letter}" in _ATTACHED), 0)
        if text[1:2] == "-" or not at or any(f"-{letter}" in table.value for letter in text[1:at]):
            written.append(word)
            continue
        value = text[at + 1 :]
        written.extend([word.part(text[:at])] if at > 1 else [])
        written.append(word.part(f"{_ATTACHED[f'-{text[at]}']}={value}" if value else f"-{text[at]}"))
    return split_args(written, table)


def parallel(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Invocation | Output:
    """GNU parallel: `--dry-run` only prints the commands."""
    return xargs(walker, invocation, table, args) if args.names.isdisjoint(table.dry) else (None, "cmd")


def _items(
    text: str | None, taint: str, invocation: Invocation, *, by_line: bool, whole: bool, delimiter: str
) -> list[Word]:
    if text is None:
        return [Word(UNKNOWN, *invocation.place, taint=join_taint("input", taint))]
    if "\0" in text and "found" not in taint:
        return [Word(UNKNOWN, *invocation.place, taint=join_taint("input", taint))]
    if whole and "found" not in taint:
        pieces = [piece for piece in text.split(NUL) if piece]
    elif delimiter:
        pieces = [piece.rstrip("\n") for piece in text.split(delimiter)]
    else:
        pieces = text.splitlines() if by_line else text.split()
    if len(pieces) > _MAX_APPENDED:
        pieces[_MAX_APPENDED:] = [UNKNOWN]
    if "all" in taint.split():  # find without a test: the folder itself, as after its -exec
        pieces = [piece.removesuffix(f"/{UNKNOWN}") or "/" for piece in pieces]
    return [Word(piece, *invocation.place, taint=taint) for piece in pieces]


def feed_lines(walker: Walker, invocation: Invocation, text: str | None, taint: str) -> Output:
    if text is None or UNKNOWN in text:
        walker.add("run-remote" if "net" in taint else "run-opaque", [], invocation.place)
        return None, taint
    return walker.script(text, invocation.place, invocation)

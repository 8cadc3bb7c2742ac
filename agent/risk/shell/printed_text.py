"""Compute the text that echo, printf, tr, rev and decoders print, as far as it can be known."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.risk.reader.words import NUL, UNKNOWN, Invocation, Output, Word, decode_printf, join_taint, taint_of
from agent.risk.tables.options import Args

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


Special = Callable[["Walker", Invocation, Args], Output]
_MAX_TEXT = 20_000


def echo(walker: Walker, invocation: Invocation, args: Args) -> Output:
    words = invocation.words[1:]
    interpret = newline = False
    while words and re.fullmatch(r"-[neE]+", words[0].text):
        interpret = interpret or "e" in words[0].text
        newline = newline or "n" in words[0].text
        words = words[1:]
    text = " ".join(word.text for word in words)
    if interpret:
        text = decode_printf(text)
    return text + ("" if newline else "\n"), _names_of(words)


def _names_of(words: list[Word]) -> str:
    """The taint of words that are printed: a wildcard among them prints the names of files."""
    taint = taint_of(words)
    return join_taint(taint, "glob") if any(word.glob for word in words) else taint


def printf(walker: Walker, invocation: Invocation, args: Args) -> Output:
    words = invocation.words[1:]
    if words and words[0].text.startswith("-v"):
        return "", ""
    return formatted(words)


def formatted(words: list[Word]) -> Output:
    """Format the words as `printf` does."""
    if words and words[0].text == "--":
        words = words[1:]
    if not words:
        return "", ""
    taint = _names_of(words)
    values = [word.text for word in words[1:]]
    template = decode_printf(words[0].text)
    pieces: list[str] = []
    while len(pieces) < 50:
        piece, taken = _fill(template, values)
        pieces.append(piece)
        values = values[taken:]
        if not values or not taken:
            break
    return "".join(pieces), taint


def _fill(template: str, values: list[str]) -> tuple[str, int]:
    """The template with `values` filled in, and how many it took."""
    rest = iter(values)
    taken = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal taken
        if match.group(1) == "%":
            return "%"
        taken += 1
        value = next(rest, "")
        if match.group(1) in "diouxXeEfgG" and not value.isdigit():
            return "1"
        return decode_printf(value) if match.group(1) == "b" else value

    return re.sub(r"%[-+ #0]*\d*(?:\.\d+)?([%bcdiouxXeEfgGsq])", fill, template), taken


def decoding(options: tuple[str, ...], decode: Callable[[str], bytes]) -> Special:
    """Make a program that writes text in another form, and with one of `options` turns it back."""

    def output(walker: Walker, invocation: Invocation, args: Args) -> Output:
        text, taint = invocation.stdin or (None, "")
        if not args.has(*options):
            return None, taint
        taint = join_taint("opaque", taint)
        if text is None or UNKNOWN in text:
            return None, taint
        try:
            return decode(text).decode("utf-8", "replace"), taint
        except ValueError:  # binascii.Error is one
            return None, taint

    return output


def rev(walker: Walker, invocation: Invocation, args: Args) -> Output:
    text, taint = invocation.stdin or (None, "")
    if text is None or args.operands:
        return None, join_taint("opaque", taint)
    return "\n".join(line[::-1] for line in text.split("\n")), join_taint("opaque", taint)


def tr(walker: Walker, invocation: Invocation, args: Args) -> Output:
    text, taint = invocation.stdin or (None, "")
    if text is None or UNKNOWN in text or not args.operands:
        return None, taint
    first = _set(args.operands[0].text)
    if first is None:
        return None, join_taint("opaque", taint)
    if args.has("-d", "--delete"):
        return "".join(char for char in text if char not in first), taint
    second = _set(args.operands[1].text) if len(args.operands) > 1 else None
    if not second:
        return None, taint
    second = second + second[-1] * max(0, len(first) - len(second))
    changed = text.translate({ord(a): b for a, b in zip(first, second, strict=False)})
    return changed.replace("\0", NUL), join_taint("opaque", taint)


def _set(text: str) -> str | None:
    if "[:" in text:
        names = {"[:lower:]": "a-z", "[:upper:]": "A-Z", "[:digit:]": "0-9", "[:space:]": " \t\n", "[:blank:]": " \t"}
        for name, value in names.items():
            text = text.replace(name, value)
        if "[:" in text:
            return None
    text = decode_printf(text)
    return re.sub(
        r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), min(ord(m[2]), ord(m[1]) + 300) + 1))), text, flags=re.S
    )


def decoder(walker: Walker, invocation: Invocation, args: Args) -> Output:
    """gunzip and the like: text cannot be followed, but where it came from can."""
    _, taint = invocation.stdin or (None, "")
    for word in args.operands:
        taint = join_taint(taint, word.taint)
    return None, join_taint("opaque", taint)


def gzip(walker: Walker, invocation: Invocation, args: Args) -> Output:
    if args.has("-d", "--decompress", "--uncompress"):
        return decoder(walker, invocation, args)
    return None, (invocation.stdin or (None, ""))[1]

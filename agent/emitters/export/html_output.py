"""Render the output of a command as one folded HTML block: pieces in the order they came, bounded in size."""

from __future__ import annotations

from itertools import groupby

from agent.audit.story.model import CommandStory, gap_words
from agent.emitters.export.html_ansi import AnsiHtml, settled
from agent.text.sizes import counted, size_words

HEAD, TAIL = 64 * 1024, 32 * 1024
"""Characters of one command's output that are on the page."""

_OPEN_LINES = 24  # what is longer is folded
_SEEN_LINES = 22  # what is longer scrolls in its box, and must be reached by keys
_WIDTH = 120  # characters that a line takes, roughly, for the measure of long ones


def output_block(command: CommandStory, *, full: bool) -> str:
    """The output, "" where there was none. Not `full`: the page has no room, and says so."""
    pieces = _pieces(command)
    if not pieces:
        return ""
    characters = sum(len(text) for _, text in pieces)
    lines = sum(text.count("\n") for _, text in pieces)
    size = f"{counted(max(lines, 1), 'line')} · {size_words(characters)}"
    if not full:
        return f'<p class="note">output ({size}) is left out here: the page would be too large</p>'
    failed = command.exit_code not in (0, None)
    rows = lines + characters // _WIDTH
    is_open = " open" if rows <= _OPEN_LINES or (failed and rows <= 4 * _OPEN_LINES) else ""
    reach = ' tabindex="0" role="group" aria-label="Output of the command"' if rows > _SEEN_LINES else ""
    errors = ' <span class="has-err">stderr</span>' if any(stream == "stderr" for stream, _ in pieces) else ""
    return (
        f'<details class="out"{is_open}><summary>Output <span class="dim">{size}</span>{errors}</summary>'
        f'<pre class="term"{reach}>{_body(_bounded(pieces))}</pre>'
        "</details>"
    )


def _pieces(command: CommandStory) -> list[tuple[str, str]]:
    """(stream, text) in order, neighbours of one stream joined; "gap" for what is missing."""
    told = [(piece.stream, piece.data) for piece in command.outputs]
    if command.left_out:
        told.append(("gap", f"[… {command.left_out:,} characters left out …]"))
    for stream, dropped, tail in (
        ("stdout", command.stdout_dropped, command.stdout_tail),
        ("stderr", command.stderr_dropped, command.stderr_tail),
    ):
        if dropped:
            told.append(("gap", f"{stream}: {gap_words(dropped)}"))
        if tail:
            told.append((stream, tail))
    return [
        (stream, settled("".join(text for _, text in group))) for stream, group in groupby(told, lambda piece: piece[0])
    ]


def _bounded(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first and the last of all pieces together."""
    total = sum(len(text) for _, text in pieces)
    if total <= HEAD + TAIL:
        return pieces
    head: list[tuple[str, str]] = []
    tail: list[tuple[str, str]] = []
    room = HEAD
    for stream, text in pieces:
        if room <= 0:
            break
        head.append((stream, text[:room]))
        room -= len(text)
    room = TAIL
    for stream, text in reversed(pieces):
        if room <= 0:
            break
        tail.insert(0, (stream, text[-room:]))
        room -= len(text)
    gap = ("gap", f"[… {total - HEAD - TAIL:,} characters are not on this page; the log has them …]")
    return [*head, gap, *tail]


def _body(pieces: list[tuple[str, str]]) -> str:
    streams = {"stdout": AnsiHtml(), "stderr": AnsiHtml()}
    out = []
    fresh = True
    for stream, text in pieces:
        if stream == "gap":
            out.append(("" if fresh else "\n") + f'<span class="gap">{text}</span>\n')
            fresh = True
            continue
        html = streams[stream if stream in streams else "stdout"].feed(text)
        out.append(f'<span class="err">{html}</span>' if stream == "stderr" else html)
        fresh = text.endswith("\n")
    return "".join([*out, *(stream.close() for stream in streams.values())])

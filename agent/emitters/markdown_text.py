"""Draw growing Markdown on a terminal: finished blocks are printed once, only the block that grows is drawn again."""

from __future__ import annotations

from agent.emitters.display import Display
from agent.emitters.rich_markdown import RichRenderer, plain_lines


class MarkdownText:
    """A growing message on stdout. `feed`, then `draw` for each frame, then `finish`."""

    def __init__(self, display: Display, renderer: RichRenderer) -> None:
        self._display = display
        self._renderer = renderer
        self._growing = ""
        self._shown: list[str] = []  # the growing block's lines on the screen; the cursor stands below them
        self._columns = self._rows = (
            0  # rows: the fewest that the terminal had; what is further up may have scrolled away
        )
        self._anew = False  # the shown lines are those of another width
        self._separate = False

    def feed(self, text: str) -> None:
        self._growing += text

    def draw(self) -> None:
        """Bring the screen up to date."""
        if not self._growing:
            return
        self._resized()
        if self._renderer.ready:
            done = split_finished(self._growing)
            if done:
                self._replace(self._lines(self._growing[:done]))
                self._shown = []
                self._separate = True
                self._growing = self._growing[done:]
            self._replace(self._lines(self._growing))
        else:
            self._replace(self._separated(plain_lines(self._growing, self._columns)))

    def finish(self) -> str:
        """Draw the end, loading the renderer if that has not happened yet. The block that was still growing."""
        if self._growing:
            self._resized()
            plain = not self._renderer.ready and not has_markup(self._growing)
            lines = self._separated(plain_lines(self._growing, self._columns)) if plain else self._lines(self._growing)
            self._replace(lines)
        growing, self._growing, self._shown = self._growing[split_finished(self._growing) :], "", []
        return growing

    def _lines(self, text: str) -> list[str]:
        lines: list[str] = []
        for block in blocks(text):
            rendered = self._renderer.render(block, self._columns)
            lines += ["", *rendered] if lines and rendered else rendered
        return self._separated(lines)

    def _separated(self, lines: list[str]) -> list[str]:
        return ["", *lines] if self._separate and lines else lines

    def _resized(self) -> None:
        """Find out where the shown lines are after the terminal was made wider or narrower.

        Some terminals wrap what stands there anew, others cut it. A line that fits is one row in both. Where one does not, the rows are
        at least as many as the lines: moving up by those leaves at most a piece of this block above, and never touches what is before.
        """
        columns, rows = self._display.out.size()
        self._rows = min(rows, self._rows or rows)
        if columns != self._columns:
            self._columns = columns
            self._anew = True
            if len(self._shown) >= self._rows:
                self._shown = []  # it begins above the screen, and other lines than those there would be missing: all of it is drawn below

    def _replace(self, lines: list[str]) -> None:
        """Turn the shown lines into `lines`, touching as few as possible and none that has scrolled away."""
        same = 0
        while not self._anew and same < min(len(lines), len(self._shown)) and lines[same] == self._shown[same]:
            same += 1
        self._anew = False
        keep = max(same, len(self._shown) - (self._rows - 1))
        back = len(self._shown) - keep
        if back == 0 and keep >= len(lines):
            return
        up = f"\x1b[{back}A\r\x1b[J" if back else ""
        if not self._shown:
            self._display.fresh_line("stdout")
        self._display.write("stdout", up + "".join(f"{line}\n" for line in lines[keep:]))
        self._shown = lines


def _first_end(text: str) -> int:
    """Find the end of the first block, 0 if it may still grow.

    A block is finished by a blank line outside of a code fence, once the next line has begun and is not indented (an indented
    one may belong to a list item above).
    """
    fence = ""
    content = blank_before = False
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        if not fence and content and blank_before and line and not line[0].isspace():
            return at
        fence = _fence_after(line, fence)
        content = content or bool(line.strip())
        blank_before = not fence and not line.strip()
        if end < 0:
            break
        at = end + 1
    return 0


def blocks(text: str) -> list[str]:
    """The text cut into its blocks; joined they are the text again."""
    cut = []
    while at := _first_end(text):
        cut.append(text[:at])
        text = text[at:]
    return [*cut, text] if text else cut


def split_finished(text: str) -> int:
    """Count the characters of `text` in blocks that nothing to come can change."""
    return sum(len(block) for block in blocks(text)[:-1])


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after `line`, "" for none."""
    stripped = line.lstrip(" ")
    if len(line) - len(stripped) > 3 and not fence:
        return fence
    mark = stripped[:1]
    if mark not in ("`", "~"):
        return fence
    run = stripped[: len(stripped) - len(stripped.lstrip(mark))]
    if len(run) < 3:
        return fence
    if not fence:
        return "" if mark == "`" and "`" in stripped[len(run) :] else run
    closes = mark == fence[0] and len(run) >= len(fence) and not stripped[len(run) :].strip()
    return "" if closes else fence


def has_markup(text: str) -> bool:
    """Tell whether Markdown would change how `text` looks; plain sentences need no renderer."""
    if any(mark in text for mark in "`*_#|~[<>\\"):
        return True
    return any(line.lstrip()[:2] in ("- ", "+ ", "--", "==") or _numbered(line) for line in text.split("\n"))


def _numbered(line: str) -> bool:
    head = line.lstrip()[:4]
    return head[:1].isdigit() and ("." in head or ")" in head)

"""Growing Markdown on a terminal: finished blocks are printed once, only the block that grows is drawn again."""

from __future__ import annotations

from agent.emitters.assistant.markdown_blocks import blocks, has_markup, split_finished
from agent.emitters.assistant.rich_markdown import RichRenderer, plain_lines
from agent.emitters.display import Display


class MarkdownText:
    """A growing message on stdout. `feed`, then `draw` for each frame, then `finish`."""

    def __init__(self, display: Display, renderer: RichRenderer) -> None:
        self._display = display
        self._renderer = renderer
        self._growing = ""
        self._shown: list[str] = []  # the growing block's lines on the screen; the cursor stands below them
        self._columns = 0
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

    def finish(self) -> None:
        """Draw the end, loading the renderer if that has not happened yet."""
        if self._growing:
            self._resized()
            plain = not self._renderer.ready and not has_markup(self._growing)
            lines = self._separated(plain_lines(self._growing, self._columns)) if plain else self._lines(self._growing)
            self._replace(lines)
        self._growing = ""
        self._shown = []

    def _lines(self, text: str) -> list[str]:
        lines: list[str] = []
        for block in blocks(text):
            rendered = self._renderer.render(block, self._columns)
            lines += ["", *rendered] if lines and rendered else rendered
        return self._separated(lines)

    def _separated(self, lines: list[str]) -> list[str]:
        return ["", *lines] if self._separate and lines else lines

    def _resized(self) -> None:
        columns = self._display.out.size()[0]
        if columns != self._columns:
            # The terminal has wrapped the old lines anew: nobody knows where they are, so they stay.
            self._columns = columns
            self._shown = []

    def _replace(self, lines: list[str]) -> None:
        """Turn the shown lines into `lines`, touching as few as possible and none that has scrolled away."""
        rows = self._display.out.size()[1]
        same = 0
        while same < min(len(lines), len(self._shown)) and lines[same] == self._shown[same]:
            same += 1
        keep = max(same, len(self._shown) - (rows - 1))
        back = len(self._shown) - keep
        if back == 0 and keep >= len(lines):
            return
        up = f"\x1b[{back}A\r\x1b[J" if back else ""
        if not self._shown:
            self._display.fresh_line("stdout")
        self._display.write("stdout", up + "".join(f"{line}\n" for line in lines[keep:]))
        self._shown = lines

"""The assistant's words on stdout: streamed by frames, then finished by the message itself, shown once."""

from __future__ import annotations

from collections.abc import Callable

from agent.emitters.assistant.markdown_text import MarkdownText
from agent.emitters.assistant.pacing import FramePacer
from agent.emitters.assistant.raw_text import RawText
from agent.emitters.assistant.rich_markdown import RichRenderer
from agent.emitters.assistant.same_text import unseen_part
from agent.emitters.display import Display


class AssistantText:
    """One message at a time. `renderer` None: raw text. `locked` runs what a timer wants to draw under the caller's lock."""

    def __init__(
        self, display: Display, renderer: RichRenderer | None, locked: Callable[[Callable[[], None]], None]
    ) -> None:
        self.renderer = renderer
        self._display = display
        self.pacer = FramePacer(lambda: locked(self._draw))
        self._text: RawText | MarkdownText | None = None
        self._streamed = ""

    @property
    def wants_preparation(self) -> bool:
        """Whether time before the first words is well spent on loading."""
        return self.renderer is not None and not self.renderer.ready

    def prepare(self) -> None:
        """Load what renders, in the background."""
        if self.renderer is not None:
            self.renderer.preload()

    def delta(self, text: str) -> None:
        """A piece of a message; it is drawn with the next frame."""
        if self._text is None:
            self.prepare()
        self._streamed += text
        self._open().feed(text)
        self.pacer.request()

    def message(self, text: str) -> None:
        """A finished message: only what was not streamed before is still to be shown."""
        rest = unseen_part(self._streamed, text) if self._text is not None else text
        if rest is None:  # another message than the one that was streamed
            self.end()
            rest = text
        self._open().feed(rest)
        self.end()

    def end(self) -> None:
        """End what is on the screen, whether it is complete or not."""
        self.pacer.cancel()
        text, self._text, self._streamed = self._text, None, ""
        if text is not None:
            text.finish()

    def _open(self) -> RawText | MarkdownText:
        if self._text is None:
            self._display.fresh_line("stdout")
            self._text = MarkdownText(self._display, self.renderer) if self.renderer else RawText(self._display)
        return self._text

    def _draw(self) -> None:
        if self._text is not None:
            self._text.draw()

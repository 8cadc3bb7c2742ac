"""Build every prompt: an editable buffer with a prefix, a line of hints, and where wanted search and menus."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from prompt_toolkit.application import Application, application, get_app
from prompt_toolkit.application.run_in_terminal import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, has_focus, is_done
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import DynamicKeyBindings, KeyBindings, defaults, merge_key_bindings
from prompt_toolkit.key_binding.bindings.auto_suggest import load_auto_suggest_bindings
from prompt_toolkit.key_binding.key_bindings import KeyBindingsBase
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.containers import (
    ConditionalContainer,
    Container,
    Float,
    FloatContainer,
    HSplit,
    VSplit,
    Window,
)
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import (
    AppendAutoSuggestion,
    ConditionalProcessor,
    HighlightIncrementalSearchProcessor,
    HighlightSelectionProcessor,
    Processor,
    Transformation,
    TransformationInput,
)
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import DynamicStyle
from prompt_toolkit.widgets.toolbars import SearchToolbar

from agent.frontends.invisible_characters import InvisibleCharacters
from agent.frontends.screen import Fragments, Screen
from agent.frontends.signals import stop_job
from agent.frontends.themes import style_of
from agent.frontends.wrapping import cells, wrapped

Prefix = Callable[[int, int], StyleAndTextTuples]
Panel = Callable[[], list[Fragments]]
MENU_ROWS = 8


def _for_vi(load: Callable[[], KeyBindingsBase]) -> Callable[[], KeyBindingsBase]:
    """The same bindings, made when somebody edits as in vi."""
    made = cache(load)
    return lambda: DynamicKeyBindings(lambda: made() if get_app().editing_mode is EditingMode.VI else None)


# Each application would make all of them anew, which takes as long as drawing its first frame; most are of vi.
defaults.load_vi_bindings = _for_vi(defaults.load_vi_bindings)  # type: ignore[attr-defined]
defaults.load_vi_search_bindings = _for_vi(defaults.load_vi_search_bindings)  # type: ignore[attr-defined]
application.load_key_bindings = cache(defaults.load_key_bindings)  # type: ignore[attr-defined]


def build_app(
    screen: Screen,
    buffer: Buffer,
    *,
    prefix: Prefix,
    bindings: KeyBindings,
    toolbar: Callable[[], StyleAndTextTuples] | None = None,
    above: Callable[[], StyleAndTextTuples] | None = None,
    panel: Panel | None = None,
    lexer: Lexer | None = None,
    edit_mode: str = "emacs",
    for_goals: bool = False,
    hidden: bool = False,
    on_paste: Callable[[str], None] | None = None,
    too_early: Callable[[str], bool] = lambda text: False,
) -> Application[Any]:
    """An application that edits `buffer`. `prefix(line, wrap)` stands before each row; `for_goals` adds search and menus.
    `hidden`: nothing of what is typed is shown, not even how much.

    `on_paste` takes a pasted text in place of the buffer; `too_early` tells whether it took one that came before anybody had looked.

    `above`: what stands over it while it is edited, up to three rows; nothing where it is empty. `panel`: likewise rows at its right side,
    all of one width.

    The result of `run_async` is what a binding passes to `exit`. Enter must be bound by the caller.
    """
    processors: list[Processor] = [HighlightSelectionProcessor(), InvisibleCharacters()]
    search_bar = None
    if hidden:
        processors = [Nothing()]
    if for_goals:
        processors.insert(0, HighlightIncrementalSearchProcessor())
        # Before hidden characters are written out: what is suggested may hold some, too.
        processors.insert(-1, ConditionalProcessor(AppendAutoSuggestion(), has_focus(buffer) & ~is_done))
        search_bar = SearchToolbar(ignore_case=True)
    control = BufferControl(
        buffer,
        lexer=lexer,
        input_processors=processors,
        include_default_input_processors=False,
        search_buffer_control=search_bar.control if search_bar else None,
        preview_search=for_goals,
    )

    def height() -> Dimension:
        # A menu needs room below the line; a long text must leave room for what stands above it.
        least = MENU_ROWS if buffer.complete_state is not None and not is_done() else 1
        return Dimension(min=least, max=max(least, editor_rows(screen)))

    body: Container = Window(control, height=height, get_line_prefix=prefix, wrap_lines=True, dont_extend_height=True)
    if for_goals:
        menu = Float(CompletionsMenu(max_height=MENU_ROWS, extra_filter=has_focus(buffer)), xcursor=True, ycursor=True)
        body = FloatContainer(body, [menu])
    rows: list[Container] = [body]
    if above is not None:
        over = Window(
            FormattedTextControl(lambda: in_rows(above(), screen.columns)),
            height=Dimension(min=1, max=3),
            wrap_lines=True,
            dont_extend_height=True,
        )
        rows.insert(0, ConditionalContainer(over, Condition(lambda: bool(above())) & ~is_done))
    if search_bar is not None:
        rows.append(ConditionalContainer(search_bar, ~is_done))
    if panel is not None:
        rows = [VSplit([HSplit(rows), _at_the_side(panel)])]
    if toolbar is not None:
        hints = toolbar

        bar = Window(
            FormattedTextControl(lambda: in_rows(hints(), screen.columns)),
            height=lambda: Dimension.exact(len(_rows(hints(), screen.columns))),
            style="class:bottom-toolbar",
            wrap_lines=False,
            dont_extend_height=True,
        )
        rows.append(ConditionalContainer(bar, ~is_done))
    return Application(
        layout=Layout(HSplit(rows), focused_element=control),
        key_bindings=_bindings(
            bindings, _of_paste(screen, buffer, on_paste or buffer.insert_text, too_early), for_goals=for_goals
        ),
        style=DynamicStyle(lambda: style_of(screen.theme)),
        include_default_pygments_style=False,
        editing_mode=EditingMode.VI if edit_mode == "vi" else EditingMode.EMACS,
        input=screen.input,
        output=screen.output,
        mouse_support=False,
        enable_page_navigation_bindings=True,
    )


def _at_the_side(panel: Panel) -> Container:
    """Draw it while the line is edited; what stays on the screen then is the line alone."""

    def size(of: Callable[[list[Fragments]], int]) -> Callable[[], Dimension]:
        return lambda: Dimension.exact(of(panel()))

    window = Window(
        FormattedTextControl(lambda: cast("StyleAndTextTuples", _joined(panel()))),
        width=size(lambda rows: max((cells("".join(text for _, text in row)) for row in rows), default=0)),
        height=size(len),
        wrap_lines=False,
    )
    return ConditionalContainer(window, Condition(lambda: bool(panel())) & ~is_done)


def _joined(rows: list[Fragments]) -> Fragments:
    return [fragment for row in rows for fragment in (*row, ("", "\n"))][:-1]


def _rows(text: StyleAndTextTuples, columns: int) -> list[Fragments]:
    return wrapped([[(fragment[0], fragment[1]) for fragment in text]], columns)


def in_rows(text: StyleAndTextTuples, columns: int) -> StyleAndTextTuples:
    """The text with line ends between words, so that the terminal breaks none."""
    return cast("StyleAndTextTuples", _joined(_rows(text, columns)))


def editor_rows(screen: Screen) -> int:
    """Rows that a text may take: what stands above it must stay on the screen."""
    return max(3, screen.rows // 2)


def _of_paste(
    screen: Screen, buffer: Buffer, on_paste: Callable[[str], None], too_early: Callable[[str], bool]
) -> KeyBindings:
    """Keys of a paste: what comes on its heels is text of it, and no key does anything, nor does Enter send it."""
    keys = KeyBindings()
    line_ended = False

    @keys.add(Keys.BracketedPaste, eager=True)
    def _paste(event: KeyPressEvent) -> None:
        nonlocal line_ended
        line_ended = False
        screen.pasted()
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        if too_early(text):
            return
        if event.current_buffer is buffer:
            on_paste(text)
        else:
            event.current_buffer.insert_text(text)

    @keys.add(Keys.Any, eager=True, filter=Condition(lambda: screen.in_paste))
    def _tail(event: KeyPressEvent) -> None:
        nonlocal line_ended
        press = event.key_sequence[0]
        if press.key == Keys.SIGINT:  # a signal, and no key
            screen.end_paste()
            event.app.key_processor.feed(press, first=True)
            return
        screen.pasted()
        if press.key in (Keys.ControlM, Keys.ControlJ):
            line_ended = event.current_buffer.multiline()
        elif len(press.key) == 1 and press.data.isprintable():
            text, line_ended = ("\n" if line_ended else "") + press.data, False
            if not too_early(text):
                event.current_buffer.insert_text(text)

    return keys


def _bindings(own: KeyBindings, of_paste: KeyBindings, *, for_goals: bool) -> KeyBindingsBase:
    common = KeyBindings()

    @common.add("c-z")
    def _suspend(event: KeyPressEvent) -> None:
        run_in_terminal(stop_job)

    parts: list[KeyBindingsBase] = [common]
    if for_goals:
        parts.append(load_auto_suggest_bindings())
    return merge_key_bindings([*parts, own, of_paste])


def vi_letter(app: Application[Any]) -> str:
    """` vi:insert ` or ` vi:normal `, "" in emacs mode."""
    if app.editing_mode is not EditingMode.VI:
        return ""
    return " vi:insert" if app.vi_state.input_mode is InputMode.INSERT else " vi:normal"


def when(test: Callable[[], bool]) -> Condition:
    """A key binding's filter from a plain function."""
    return Condition(test)


class Nothing(Processor):
    """Shows nothing of a line."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        return Transformation([], source_to_display=lambda at: 0, display_to_source=lambda at: 0)

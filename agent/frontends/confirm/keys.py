"""Bind the keys of the confirmation prompt. Each ends the prompt with an `Action`; the confirmer does the rest."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from prompt_toolkit.application.current import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, emacs_mode
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

from agent.frontends.confirm.enter_guard import EnterGuard


class Action(StrEnum):
    """Actions that the person can choose for the text in the prompt."""

    ACCEPT = "accept"
    CANCEL = "cancel"
    HELP = "help"
    EXPLAIN = "explain"
    EDITOR = "editor"
    COPY = "copy"
    REMARK = "remark"
    REGENERATE = "regenerate"
    ALLOW = "allow"
    REHEARSE = "rehearse"
    SWITCH = "switch"


_KEYS: dict[Action, tuple[tuple[str, ...], ...]] = {
    Action.HELP: (("f1",), ("escape", "h")),
    Action.EXPLAIN: (("f2",), ("escape", "e")),
    Action.REMARK: (("f4",), ("escape", "m")),
    Action.REGENERATE: (("f5",), ("escape", "g")),
    Action.COPY: (("f10",), ("escape", "k")),
    Action.EDITOR: (("c-x", "c-e"), ("f7",)),
    Action.ALLOW: (("f8",), ("escape", "a")),
    Action.REHEARSE: (("f9",), ("escape", "r")),
    Action.SWITCH: (("f6",), ("escape", "n")),
}
_OF_PLANNER = (Action.REMARK, Action.REGENERATE)

HELP = """\
Enter             run what stands in the prompt (empty: skip it, and tell the planner)
Ctrl-C            cancel the goal; so does Ctrl-D on an empty line
Alt-Enter         a new line; pasted lines never run by themselves
F1  Alt-h         these keys
F2  Alt-e         explain this command and its risk
F3  Alt-o         back to the original text
F4  Alt-m         tell the planner what to change ("no, only in src")
F5  Alt-g         ask the planner for another command
F6  Alt-n         another reading of the goal: its command takes the place of this one;
                  where there is none: take the line for a goal, or for a command
F7  Ctrl-X Ctrl-E open it in your editor
F8  Alt-a         always allow commands like this: proposes a rule, runs nothing
F9  Alt-r         see all that it would change, with diffs; nothing is changed
F10 Alt-k         copy the text
Ctrl-U            clear the line    Ctrl-_ undo    Ctrl-Z suspend
In vi mode the Alt keys belong to vi; use the F keys."""


def confirm_bindings(
    original: str,
    *,
    from_planner: bool,
    rehearses: bool = False,
    switches: bool = False,
    next_text: Callable[[str], str] | None = None,
    slots: tuple[str, ...] = (),
    guard: EnterGuard,
    on_enter: Callable[[], bool],
    set_aside: Callable[[str], None],
) -> KeyBindings:
    """Bindings for a prompt that started with `original`; remarks and regeneration only where a planner listens.

    `switches`: the line it came from can be taken for the other thing. `next_text`: which command comes after the one that stands
    there, where there are several. `slots`: what Tab goes to.
    `guard` tells which Enter is an answer, `on_enter` hears of each as it is pressed and says if it may be one; `set_aside` takes what
    was typed before the question stood there.
    """
    keys = KeyBindings()
    alt = emacs_mode

    def leave(event: KeyPressEvent, action: Action) -> None:
        # What follows an action is printed where the prompt stood, so the prompt is wiped; an answer stays to be read.
        event.app.erase_when_done = action not in (Action.ACCEPT, Action.CANCEL)
        event.app.exit(result=action)

    def bind(sequence: tuple[str, ...], action: Action) -> None:
        is_alt = sequence[0] == "escape"

        @keys.add(*sequence, filter=alt if is_alt else Condition(lambda: True))
        def _act(event: KeyPressEvent) -> None:
            leave(event, action)

    has = {
        Action.REHEARSE: rehearses,
        Action.SWITCH: switches and next_text is None,
        **dict.fromkeys(_OF_PLANNER, from_planner),
    }
    for action, sequences in _KEYS.items():
        for sequence in sequences if has.get(action, True) else ():
            bind(sequence, action)

    bind_enter(keys, guard, set_aside, lambda event: leave(event, Action.ACCEPT), on_enter)

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _cancel(event: KeyPressEvent) -> None:
        leave(event, Action.CANCEL)

    @keys.add("c-d", filter=Condition(_is_empty))
    def _end(event: KeyPressEvent) -> None:
        leave(event, Action.CANCEL)

    @keys.add("escape", "enter", filter=alt)
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("f3")
    @keys.add("escape", "o", filter=alt)
    def _restore(event: KeyPressEvent) -> None:
        restore(event.current_buffer, original)

    if next_text is not None:
        _bind_others(keys, next_text, slots)
    if slots:
        _bind_slots(keys, slots)

    return keys


def _bind_others(keys: KeyBindings, next_text: Callable[[str], str], slots: tuple[str, ...]) -> None:
    @keys.add("f6")
    @keys.add("escape", "n", filter=emacs_mode)
    def _other(event: KeyPressEvent) -> None:
        restore(event.current_buffer, next_text(event.current_buffer.text))
        select_slot(event.current_buffer, slots, text_from=0, select=emacs_mode())


def _bind_slots(keys: KeyBindings, slots: tuple[str, ...]) -> None:
    @keys.add("tab")
    def _slot(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        select_slot(buffer, slots, text_from=buffer.cursor_position, select=emacs_mode())


def bind_enter(
    keys: KeyBindings,
    guard: EnterGuard,
    set_aside: Callable[[str], None],
    accepted: Callable[[KeyPressEvent], None],
    on_enter: Callable[[], bool] = lambda: True,
) -> None:
    """Bind Enter, which `guard` and `on_enter` let be an answer, and take away what is typed before anybody has read the question."""

    @keys.add("enter")
    def _accept(event: KeyPressEvent) -> None:
        def accept() -> None:
            if not event.app.is_done:
                accepted(event)

        if guard.goes_on:
            guard.early_key()
            set_aside("\n")
        elif on_enter():
            guard.pressed(accept)

    @keys.add(Keys.Ignore, eager=True)
    def _answered(event: KeyPressEvent) -> None:
        guard.answered(event.data)

    early = Condition(lambda: guard.is_early)

    @keys.add(Keys.Any, filter=early)
    @keys.add("backspace", filter=early)
    @keys.add("c-w", filter=early)
    @keys.add("c-u", filter=early)
    def _too_early(event: KeyPressEvent) -> None:
        took_early(guard, set_aside, event.data)


def took_early(guard: EnterGuard, set_aside: Callable[[str], None], text: str) -> bool:
    """Set `text` aside where it came before anybody has read the question; whether it did."""
    early = guard.is_early
    if early:
        guard.early_key()
        set_aside(text)
    return early


def _is_empty() -> bool:
    return not get_app().current_buffer.text


def restore(buffer: Buffer, original: str) -> None:
    """Put the original text, or another one, in place of what stands there; undo brings that back."""
    if buffer.text != original:
        buffer.save_to_undo_stack()
        buffer.text = original
        buffer.cursor_position = len(original)


def select_slot(buffer: Buffer, slots: tuple[str, ...], *, text_from: int, select: bool) -> None:
    """Select the first slot behind a place of the text, or before it where none is behind, so that typing takes its place.

    Without `select` the cursor goes there: keys of vi mean something else in a selection.
    """
    text = buffer.text
    found = [
        (text.find(slot, start), slot) for start in (text_from, 0) for slot in slots if text.find(slot, start) >= 0
    ]
    if not found:
        return
    behind = [each for each in found if each[0] >= text_from] or found
    start, slot = min(behind)
    buffer.cursor_position = start
    if not select:
        return
    buffer.start_selection()
    assert buffer.selection_state is not None
    buffer.selection_state.enter_shift_mode()
    buffer.cursor_position = start + len(slot)

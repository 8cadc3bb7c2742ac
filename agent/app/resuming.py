"""Decide what of a session is as it was left when it is resumed, and say it in a line.

What loosens counts only where somebody sees that it does. What was allowed for a process ends with it. A choice on the command line wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from agent.config.settings import Settings
from agent.config.table import BY_NAME
from agent.protocol.confinement import is_as_strict

if TYPE_CHECKING:
    from agent.protocol.confinement import Confinement
    from agent.recording.past import Past

_FROM_STRICT = {"approve": ("ask", "low", "medium"), "rehearse": ("auto", "preview", "ask", "off")}
_OF_PROCESS = "it counted only until that process ended"


class Resumed:
    """`settings` with what is restored; `planner` and `model` are to be made anew, None where they stay as configured.

    `attended`: somebody sees it. `is_sound`: nothing but this program wrote the log; asked where that decides, since all of it is read.
    """

    def __init__(
        self,
        settings: Settings,
        origins: Mapping[str, str],
        past: Past | None,
        *,
        attended: bool,
        is_sound: Callable[[], bool],
    ) -> None:
        self.settings = settings
        self.planner: tuple[str, str] | None = None
        self._kept: list[str] = []
        self._dropped: list[str] = []
        self._attended, self._is_sound = attended, is_sound
        if past is None:
            return
        left = past.settings
        for key in ("approve", "confine", "rehearse", "tty", "role", "rag", "agent"):
            value = left.get(key)
            if value is not None and value != (getattr(settings, key) or ""):
                self._take(key, value, given=origins.get(key) == "command line")
        if "command line" not in (origins.get("planner"), origins.get("model")) and left.get("planner"):
            self.planner = (left["planner"], left.get("model", ""))
        if left.get("safety") == "off" and not settings.safety_off:
            self._dropped.append(f"safety off ({_OF_PROCESS})")
        if past.rules:
            many = "1 rule" if len(past.rules) == 1 else f"{len(past.rules):,} rules"
            self._dropped.append(f"{many} made for the session alone")

    def keep(self, words: str) -> None:
        """Say that this is as it was."""
        self._kept.append(words)

    def drop(self, words: str) -> None:
        """Say that this is not."""
        self._dropped.append(words)

    @property
    def words(self) -> str:
        """Say what is as it was left, and what is not; "" where there is nothing to say."""
        kept = f"as it was left: {', '.join(self._kept)}" if self._kept else ""
        dropped = f"not as it was left: {', '.join(self._dropped)}" if self._dropped else ""
        return "; ".join(filter(None, (kept, dropped)))

    def doubt(self) -> str:
        """Say why what loosens is not restored, "" where it may be."""
        if not self._attended:
            return "nobody is there to see it"
        return "" if self._is_sound() else "the log was changed by something else"

    def _take(self, key: str, value: str, *, given: bool) -> None:
        now = getattr(self.settings, key)
        choices = BY_NAME[key].choices
        said = f"{key} {value}" if value else f"no {key}"
        if given:
            return
        if choices and value not in choices:
            self.drop(f"{said} (no such choice)")
        elif _is_looser(key, value, now) and (doubt := self.doubt()):
            self.drop(f"{said} (it is looser than {now}, and {doubt})")
        else:
            changed: dict[str, Any] = {key: value or None}
            self.settings = structs.replace(self.settings, **changed)
            if key not in ("role", "rag", "agent"):  # these have to be found first
                self.keep(said)


def _is_looser(key: str, value: str, now: str) -> bool:
    """Tell whether `value` asks or holds back less than what counts now."""
    if key == "confine":
        return not is_as_strict(cast("Confinement", value), cast("Confinement", now))
    order = _FROM_STRICT.get(key, ())
    return value in order and order.index(value) > order.index(now)

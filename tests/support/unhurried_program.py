"""Run the program with more time before a question takes keys: on a busy machine a test types more slowly than a person.

The first argument: seconds in which a question takes no Enter, and in which what was begun before it is still being typed.
"""

from __future__ import annotations

import sys

from agent.frontends import screen
from agent.frontends.confirm import enter_guard

_open = screen.open_screen


def open_unhurried(*given: object, **more: object) -> screen.Screen:
    opened = _open(*given, **more)  # type: ignore[arg-type]
    opened.dead_time = enter_guard._BREATH
    return opened


if __name__ == "__main__":
    enter_guard._BREATH = float(sys.argv.pop(1))
    screen._SURE = 600.0
    screen.open_screen = open_unhurried

    from agent.cli.entry import main

    sys.exit(main())

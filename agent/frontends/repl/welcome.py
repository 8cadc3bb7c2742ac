"""The first lines a person sees."""

from __future__ import annotations

from agent.frontends.screen import Fragments
from agent.frontends.wrapping import wrapped

FIRST_RUN = (
    "Type what you want in plain words; see each command with its risk; edit it; run it.",
    'No key is needed: try "find the 5 largest files here" (offline: no model, no network).',
    "For more, set OPENROUTER_API_KEY (or another provider's key); :models lists what runs here.",
    "!cmd runs your own command through the same checks; :session names the log.",
    ":help lists the rest; `agent-shell doctor` says what works here. Ctrl-D leaves.",
)


def welcome(*, first_run: bool, is_root: bool, safety_off: bool, columns: int = 0) -> list[Fragments]:
    """Styled lines before the first prompt, broken between words to `columns`; none for an ordinary start."""
    lines: list[Fragments] = [[("class:hint", line)] for line in FIRST_RUN] if first_run else []
    if is_root:
        lines.append(
            [
                ("class:alert", "you are root: "),
                ("", "commands can change the whole system; risk is rated more strictly"),
            ]
        )
    if safety_off:
        lines.append([("class:alert", "safety is off: "), ("", "high-risk commands will not ask for the typed word")])
    return wrapped(lines, columns)

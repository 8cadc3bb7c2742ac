"""The first lines a person sees."""

from __future__ import annotations

from agent.frontends.screen import Fragments

FIRST_RUN = (
    "Type what you want in plain words. You see each command with its risk and can edit it before it runs.",
    'It works without a key: an offline planner knows common tasks, e.g. "find the 5 largest files here".',
    "For anything else, put OPENROUTER_API_KEY (or another provider's key) into your environment, or run Ollama.",
    "`!cmd` runs your own command through the same checks; everything is kept in a session log (:session).",
    ":help lists what can be typed; `agent-shell doctor` says what works here. Ctrl-D leaves.",
)


def welcome(*, first_run: bool, is_root: bool, safety_off: bool) -> list[Fragments]:
    """Styled lines before the first prompt; none for an ordinary start."""
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
    return lines

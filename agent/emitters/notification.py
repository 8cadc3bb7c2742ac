"""Tell a terminal to notify: OSC 9 (iTerm2) or OSC 777 (rxvt-unicode), which others took over and show while they are not in front."""

from __future__ import annotations

from collections.abc import Mapping

from agent.protocol.events.command import CommandFinished
from agent.text.shown import shown_line

LONG = 10.0  # seconds after which people look elsewhere
_OSC_9 = {"iTerm.app", "WezTerm", "ghostty"}


def notification(event: CommandFinished, command: str, way: str, environ: Mapping[str, str]) -> bytes:
    """The sequence that says how a long `command` ended; empty for a short one, and where the terminal is not known to take one."""
    chosen = _known_way(environ) if way == "auto" else way
    if chosen not in ("osc9", "osc777") or event.result.duration < LONG or event.result.job or event.result.interrupted:
        return b""
    ending = "done" if event.exit_code == 0 else f"failed, exit {event.exit_code}"
    text = f"{ending}: {shown_line(command, 60)}".replace(";", ",")
    return (
        f"\x1b]9;agent-shell, {text}\x07".encode()
        if chosen == "osc9"
        else f"\x1b]777;notify;agent-shell;{text}\x07".encode()
    )


def _known_way(environ: Mapping[str, str]) -> str:
    """What this terminal takes, by what it says of itself. Through tmux and screen neither arrives."""
    if environ.get("TMUX") or environ.get("STY"):
        return "off"
    if environ.get("TERM_PROGRAM") in _OSC_9 or environ.get("WT_SESSION") or environ.get("KITTY_WINDOW_ID"):
        return "osc9"
    if environ.get("TERM", "").startswith(("rxvt-unicode", "foot")) or environ.get("VTE_VERSION"):
        return "osc777"
    return "off"

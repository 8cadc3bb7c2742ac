"""Write the line under the goal prompt: who plans, what may run, where, and what it cost. Pure."""

from __future__ import annotations

import os

from agent.engine.context import RequestContext
from agent.protocol.replies import usage_text
from agent.text.shown import shown_line


def toolbar_text(ctx: RequestContext, home: str) -> str:
    """`offline · approve ask · safety on · ~/src · 1,204 tokens $0.0021`."""
    planner = ctx.planner
    parts = [
        planner.name + (f" {shown_line(planner.model, 40)}" if planner.model and planner.model != planner.name else "")
    ]
    parts.append(f"approve {ctx.approve}")
    parts.append("SAFETY OFF" if ctx.safety_off else "safety on")
    if ctx.confine != "off":
        parts.append(f"confine {ctx.confine}")
    if ctx.rehearse == "auto":
        parts.append("rehearse auto")
    parts.append(short_path(ctx.cwd, home))
    spent = usage_text(ctx.usage)
    if spent:
        parts.append(spent)
    return " · ".join(parts)


def short_path(path: str, home: str) -> str:
    """`path` with `~` for the home folder, its middle left out where it is long."""
    path = shown_line(path, 400)
    if home and home != "/" and (path == home or path.startswith(home + os.sep)):
        path = "~" + path[len(home) :]
    return path if len(path) <= 40 else f"{path[:12]}…{path[-27:]}"

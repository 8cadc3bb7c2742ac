#!/usr/bin/env python3
"""Do the tasks of a repository with a model, one cycle, or with --continuous one after the other: `agent-shell work` as a program.

The model plans; each of its tool calls is checked, put to the gate and carried out here. What can be called is in `AgentTools`.
Every option of `agent-shell work` is one of this program, too.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent.cli.entry import main as agent_shell
from agent.repo_agent.tools.registry import AgentTools

__all__ = ["AgentTools", "main"]


def main(argv: list[str] | None = None) -> int:
    """Run with `argv` (without the program's name); the exit code of `agent-shell work`."""
    words = sys.argv[1:] if argv is None else argv
    given = [word for each in words for word in (("--mode", "continuous") if each == "--continuous" else (each,))]
    return agent_shell(["work", *given])


if __name__ == "__main__":
    sys.exit(main())

"""Compile the tables when the package is built or installed: they are data, and not kept in git."""

from __future__ import annotations

import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileTables(BuildHookInterface):
    """Put the compiled tables beside their readers before files are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        from agent.planner.offline import book_build
        from agent.risk.tables import build

        book_build.main()
        build.main()

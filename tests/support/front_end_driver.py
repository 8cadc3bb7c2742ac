"""Run `examples/front_end.py` with a tool for the planner beside, and with previews however long they take."""

from __future__ import annotations

import asyncio
import os
import sys

from msgspec.structs import replace

from agent.app.composition import build_services, load
from agent.engine.engine import Engine
from agent.frontends.services import Services
from agent.gate import previews
from agent.tools.own_tools import WriteFile
from examples.front_end import pursue


def with_tools(services: Services, base: str) -> Services:
    """The same, with `write_file` below `base` for the planner."""
    app = replace(services.make_engine().app, tools={"write_file": WriteFile(base)})
    return replace(services, make_engine=lambda: Engine(app))


if __name__ == "__main__":
    previews.SECONDS = 30.0
    sys.exit(asyncio.run(pursue(with_tools(build_services(load({})), os.getcwd()), sys.argv[1:])))

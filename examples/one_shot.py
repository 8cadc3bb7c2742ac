"""Pursue a goal as `agent-shell GOAL` does, with settings of your own: `python examples/one_shot.py GOAL`."""

import asyncio
import sys

from agent.app.composition import build_services, load
from agent.frontends.one_shot import run_goal

if __name__ == "__main__":
    services = build_services(load({"approve": "low"}))
    sys.exit(asyncio.run(run_goal(services, " ".join(sys.argv[1:]))))

"""Open the prompt of the program inside of another one, with settings of your own: `python examples/repl.py`."""

import asyncio
import sys

from agent.app.composition import build_services, load
from agent.frontends.repl.repl import run_repl

if __name__ == "__main__":
    sys.exit(asyncio.run(run_repl(build_services(load({"approve": "low", "spinner": False})))))

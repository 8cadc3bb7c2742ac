"""Run the program, whose prompts wait for their preview as long as it takes: on a busy machine that is longer than a person would wait."""

from __future__ import annotations

import sys

from agent.cli.entry import main
from agent.gate import previews

if __name__ == "__main__":
    previews.SECONDS = 30.0
    sys.exit(main())

"""Runs inside a peer's own interpreter: `python serve.py ADAPTER.py` reads commands and writes the peer's levels.

One JSON string a line on standard input; one JSON object a line on standard output: `level` (low, medium, high, or null
where the peer failed, with `error`) and `us`, the microseconds of the quicker of two calls. The adapter defines `rate(command)`.
Nothing here imports the project: the interpreter is the peer's.
"""

import json
import os
import runpy
import sys
import time

_WARM_UP = ("ls -la", "rm -rf /", "cat a | grep b > c")


def main(adapter):
    """Answer each line; a peer that prints must not get between the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    rate = runpy.run_path(adapter)["rate"]
    for command in _WARM_UP:
        _timed(rate, command)
    for line in sys.stdin:
        command = json.loads(line)
        once, again = _timed(rate, command), _timed(rate, command)
        answers.write(json.dumps({**once, "us": min(once["us"], again["us"])}) + "\n")
    answers.flush()


def _timed(rate, command):
    start = time.perf_counter_ns()
    try:
        level = rate(command)
        error = ""
    except Exception as problem:
        level, error = None, f"{type(problem).__name__}: {problem}"[:200]
    return {"level": level, "us": (time.perf_counter_ns() - start) / 1000, "error": error}


if __name__ == "__main__":
    main(sys.argv[1])

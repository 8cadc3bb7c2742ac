"""What the recipes as examples do for a small model: right commands with and without them, judged by running.

`python -m benchmarks.local_models FILE.gguf [--every N] [--only AREA] [--failures]`. The model is held as `--planner local` holds it, with
the constrained form of a reply; every N-th of the project's tasks is asked twice, and what comes is run as `benchmarks.nl2sh` runs it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence

from agent.protocol.errors import CoreError
from benchmarks.nl2sh import answers, judged
from benchmarks.nl2sh_judge import judging
from benchmarks.nl2sh_planners import Asked
from benchmarks.nl2sh_sandbox import SandboxMissing, SetupBroken, why_missing
from benchmarks.nl2sh_scores import Result
from benchmarks.nl2sh_tasks import Task, own_tasks


def measure(tasks: Sequence[Task], file: str, examples: str) -> list[Result]:
    """All results of one way to ask. Raises CoreError, SandboxMissing, SetupBroken."""
    os.environ["AGENT_EXAMPLES"] = examples
    with judging() as judge, tempfile.TemporaryDirectory(prefix="local-models-") as private:
        asked = Asked("local", file, "", private)
        try:
            found = answers(tasks, judge, asked)
        finally:
            asked.close()
        return list(judged(found, judge, 1))


def line(name: str, results: Sequence[Result]) -> str:
    """One row: shares in percent of all tasks, seconds in the middle."""
    count = len(results)
    commands = sum(bool(one.answer.command) for one in results)
    unread = sum(bool(one.answer.trouble) for one in results)
    refused = sum(bool(one.judgement and one.judgement.why) for one in results)
    seconds = sorted(one.answer.seconds for one in results)[count // 2]
    right, lenient = sum(one.right for one in results), sum(one.lenient for one in results)
    return (
        f"{name:<18} {count:>5} {commands:>9} {unread:>9} {refused:>8} {right:>5} ({100 * right / count:4.1f} %)"
        f" {lenient:>7} ({100 * lenient / count:4.1f} %) {seconds:>8.1f}"
    )


def main(argv: Sequence[str]) -> int:
    """0, or 2 where nothing can be measured here."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.local_models", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("file", help="a GGUF file")
    parser.add_argument("--every", type=int, default=6, help="every N-th task")
    parser.add_argument("--only", default="", metavar="AREA")
    parser.add_argument("--failures", action="store_true", help="print each goal with what came")
    options = parser.parse_args(argv)
    tasks = [task for task in own_tasks() if not task.missing() and (not options.only or task.area == options.only)]
    tasks = tasks[:: max(1, options.every)]
    missing = why_missing()
    if missing or not tasks:
        print(f"nothing is measured: {missing or 'no such tasks'}", file=sys.stderr)
        return 2
    print(f"{'':<18} tasks  commands  unusable  not run   right          lenient          seconds")
    for name, examples in (("without examples", "off"), ("with examples", "on")):
        try:
            results = measure(tasks, os.path.abspath(options.file), examples)
        except (CoreError, SandboxMissing, SetupBroken) as problem:
            print(f"nothing is measured: {problem}", file=sys.stderr)
            return 2
        print(line(name, results), flush=True)
        if options.failures:
            for one in results:
                mark = "right" if one.right else "wrong"
                shown = one.answer.command or one.answer.trouble or one.answer.message
                print(f"    {mark}  {one.task.goal}\n           {shown[:160]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

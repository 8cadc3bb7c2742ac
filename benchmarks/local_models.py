"""What the recipes as examples do for a small model: right commands with and without them, judged by running.

`python -m benchmarks.local_models FILE.gguf [--every N] [--offset K] [--codec NAME] [--only AREA] [--failures]`. The model is held as
`--planner local` holds it; every N-th of the project's tasks for development is asked twice, and what comes is run as `benchmarks.nl2sh`
runs it. "unknown": of those that the recipes do not do, how many it does.
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


def measure(tasks: Sequence[Task], planner: str, file: str = "") -> list[Result]:
    """All results of one way to ask. Raises CoreError, SandboxMissing, SetupBroken."""
    with judging() as judge, tempfile.TemporaryDirectory(prefix="local-models-") as private:
        asked = Asked(planner, file, "", private)
        try:
            found = answers(tasks, judge, asked)
        finally:
            asked.close()
        return list(judged(found, judge, 1))


def line(name: str, results: Sequence[Result], known: set[str]) -> str:
    """One row: shares in percent of all tasks, seconds in the middle. `known` are the goals that the recipes do."""
    count = len(results)
    others = [one for one in results if one.task.goal not in known]
    beyond = f"{sum(one.right for one in others)} of {len(others)}"
    commands = sum(bool(one.answer.command) for one in results)
    unread = sum(bool(one.answer.trouble) for one in results)
    refused = sum(bool(one.judgement and one.judgement.why) for one in results)
    seconds = sorted(one.answer.seconds for one in results)[count // 2]
    right, lenient = sum(one.right for one in results), sum(one.lenient for one in results)
    return (
        f"{name:<18} {count:>5} {commands:>9} {unread:>9} {refused:>8} {right:>5} ({100 * right / count:4.1f} %)"
        f" {lenient:>7} ({100 * lenient / count:4.1f} %) {seconds:>8.1f} {beyond:>10}"
    )


def main(argv: Sequence[str]) -> int:
    """0, or 2 where nothing can be measured here."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.local_models", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("file", help="a GGUF file")
    parser.add_argument("--every", type=int, default=6, help="every N-th task")
    parser.add_argument("--offset", type=int, default=0, help="which one is the first")
    parser.add_argument("--codec", default="auto", help="the form of a reply (small-text, small-json, mode-json)")
    parser.add_argument("--only", default="", metavar="AREA")
    parser.add_argument("--failures", action="store_true", help="print each goal with what came")
    options = parser.parse_args(argv)
    tasks = [task for task in own_tasks() if not task.missing() and (not options.only or task.area == options.only)]
    tasks = tasks[max(0, options.offset) :: max(1, options.every)]
    missing = why_missing()
    if missing or not tasks:
        print(f"nothing is measured: {missing or 'no such tasks'}", file=sys.stderr)
        return 2
    os.environ["AGENT_CODEC"] = options.codec
    try:
        known = {one.task.goal for one in measure(tasks, "offline") if one.right}
        print(f"{'':<18} tasks  commands  unusable  not run   right          lenient          seconds    unknown")
        for name, examples in (("without examples", "off"), ("with examples", "on")):
            os.environ["AGENT_EXAMPLES"] = examples
            results = measure(tasks, "local", os.path.abspath(options.file))
            print(line(name, results, known), flush=True)
            _tell(results, every=options.failures)
    except (CoreError, SandboxMissing, SetupBroken) as problem:
        print(f"nothing is measured: {problem}", file=sys.stderr)
        return 2
    return 0


def _tell(results: Sequence[Result], *, every: bool) -> None:
    """Each goal with what came, where that is wanted."""
    for one in results if every else ():
        mark = "right" if one.right else "wrong"
        shown = one.answer.command or one.answer.trouble or one.answer.message
        print(f"    {mark}  {one.task.goal}\n           {shown[:160]!r}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

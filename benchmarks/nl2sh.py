"""Goals in plain words, judged by running: does a planner's command do in a throw-away world what the right command does there?

`python -m benchmarks.nl2sh [--planner NAME [--model M] [--base-url URL]] [--only AREA] [--tasks FILE] [--set SET] [--failures]
[--json | --write] [--check]`. Commands run only in a sandbox without network, with a copy of a fixture as home; where it cannot be
built, nothing runs (exit 2). A command that the classifier rates high, or that asks for more rights, is not run and counts as wrong.
`--check` runs the accepted commands of the tasks instead, and complains about those that do nothing or differ from themselves.
The tasks are those of `kept2`, written by somebody who had not seen the planner and kept apart: their figures are told, their failures
never, so that nobody works towards them. `--set development` asks for tasks of the developers, which say little of the offline planner.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from agent.protocol.errors import CoreError
from benchmarks.figures import Figure
from benchmarks.figures_page import PAGE, merged
from benchmarks.nl2sh_check import complaints
from benchmarks.nl2sh_judge import Judge, judging
from benchmarks.nl2sh_planners import Asked
from benchmarks.nl2sh_report import as_text, failures, total_row
from benchmarks.nl2sh_sandbox import SandboxMissing, SetupBroken, why_missing
from benchmarks.nl2sh_scores import Result, Summary, summary
from benchmarks.nl2sh_tasks import KEPT2, PARTS, Task, TaskError, own_tasks, tasks_of

ENOUGH_TROUBLE = 3  # answers that fail alike before anything is measured
SETS = {**{part: (part,) for part in PARTS}, "all": PARTS}


class PlannerFails(Exception):
    """The planner cannot be asked here."""


def answers(tasks: Sequence[Task], judge: Judge, asked: Asked) -> list[Result]:
    """Ask for every task, one after the other, so that nothing disturbs the times.

    Raises PlannerFails where the first answers are all the same trouble: a missing key is no score of 0.
    """
    results: list[Result] = []
    for task in tasks:
        results.append(Result(task, asked.ask(task.goal, judge.home(task), task.fixture)))
        troubles = {one.answer.trouble for one in results}
        if len(results) == min(len(tasks), ENOUGH_TROUBLE) and len(troubles) == 1 and "" not in troubles:
            raise PlannerFails(troubles.pop())
    return results


def judged(results: Sequence[Result], judge: Judge, jobs: int) -> Iterator[Result]:
    """Run and compare what was offered, in order. Raises SandboxMissing, SetupBroken."""

    def one(result: Result) -> Result:
        if not result.answer.command:
            return result
        return replace(result, judgement=judge.judge(result.task, result.answer.command))

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, results)


def measure(tasks: Sequence[Task], options: argparse.Namespace) -> tuple[list[Result], float]:
    """All results, and the CPU seconds that loading the planner took."""
    with judging() as judge, tempfile.TemporaryDirectory(prefix="nl2sh-state-") as private:
        asked = Asked(options.planner, options.model, options.base_url, private)
        try:
            found = answers(tasks, judge, asked)
        finally:
            asked.close()
        return list(judged(found, judge, options.jobs)), asked.load_seconds


def chosen_tasks(options: argparse.Namespace) -> list[Task]:
    """The tasks to use, without those whose programs are missing here. Raises TaskError."""
    tasks = tasks_of(options.tasks) if options.tasks else own_tasks(SETS[options.set])
    if options.only:
        areas = sorted({task.area for task in tasks})
        tasks = [task for task in tasks if task.area == options.only]
        if not tasks:
            raise TaskError(f"no area {options.only!r}; there are {', '.join(areas)}")
    usable = [task for task in tasks if not task.missing()]
    if len(usable) < len(tasks):
        names = sorted({name for task in tasks for name in task.missing()})
        print(f"{len(tasks) - len(usable)} tasks are left out: {', '.join(names)} not installed", file=sys.stderr)
    return usable


def summaries_of(results: list[Result], *, own: bool) -> list[Summary]:
    """One for each set that was asked for; of somebody's tasks there is one only."""
    if not own:
        return [summary("all", results)]
    found = [summary(part, [one for one in results if one.task.part == part]) for part in PARTS]
    return [one for one in found if one.total.tasks]


def parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nl2sh", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--planner", default="offline", help="offline, or an entry of the provider catalogue")
    parser.add_argument("--model", default="")
    parser.add_argument("--base-url", default="")
    parser.add_argument("--only", metavar="AREA", default="")
    parser.add_argument(
        "--tasks", metavar="FILE", default="", help='JSON lines: {"goal", "reference", "fixture" or "setup"}'
    )
    parser.add_argument(
        "--set",
        choices=tuple(SETS),
        default=KEPT2,
        help="which of our tasks: those kept apart (kept2), those of the developers, or all",
    )
    parser.add_argument(
        "--failures", action="store_true", help="list what was not solved, but for the sets that are kept apart"
    )
    parser.add_argument("--check", action="store_true", help="run the accepted commands of the tasks, and complain")
    parser.add_argument("--jobs", type=int, default=2, help="sandboxes at a time")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--write", action="store_true", help="put the totals into docs/figures.md")
    options = parser.parse_args(argv)
    if options.failures and not options.tasks and SETS[options.set] == (KEPT2,):
        parser.error("failures of a set that is kept apart are not shown: nobody is to work towards them")
    if options.jobs < 1:
        parser.error("--jobs: at least 1")
    return options


def run(argv: Sequence[str]) -> int:
    """The command line: 0, 1 where the check complains, 2 where nothing could be run."""
    options = parse(argv)
    try:
        tasks = chosen_tasks(options)
        missing = why_missing()
        if missing:
            print(f"no sandbox here, so nothing is run: {missing}", file=sys.stderr)
            return 2
        if options.check:
            return check(tasks, options.jobs)
        results, load = measure(tasks, options)
    except (TaskError, SandboxMissing, SetupBroken, PlannerFails, CoreError) as problem:
        print(f"nothing is measured: {problem}", file=sys.stderr)
        return 2
    summaries = summaries_of(results, own=not options.tasks)
    if options.json:
        print(json.dumps(as_json(summaries, results, load, options), indent=1))
        return 0
    print(as_text(summaries))
    if options.write:
        rows = [total_row(one, options.planner, options.model) for one in summaries]
        PAGE.write_text(merged(PAGE.read_text(), "nl2sh", rows))
    print(f"\nload of the planner: {load * 1000:.1f} ms CPU")
    if options.failures:
        print("\n" + failures([one for one in results if options.tasks or not one.task.held_out]))
    return 0


def check(tasks: Sequence[Task], jobs: int) -> int:
    """Say what is wrong with the tasks themselves."""
    with judging() as judge:
        found = complaints(tasks, judge, jobs)
    print(
        "\n".join(found) if found else f"{len(tasks)} tasks: every accepted command does something, and the same again"
    )
    return 1 if found else 0


def as_json(
    summaries: list[Summary], results: list[Result], load: float, options: argparse.Namespace
) -> dict[str, object]:
    """Everything but the single results of the sets that are kept apart."""
    single = [
        {
            "goal": one.task.goal,
            "area": one.task.area,
            "reference": one.task.reference,
            "command": one.answer.command,
            "confidence": one.answer.confidence,
            "right": one.right,
            "lenient": one.lenient,
            "not_run": one.judgement.why if one.judgement else "",
            "trouble": one.answer.trouble,
        }
        for one in results
        if options.tasks or not one.task.held_out
    ]
    return {
        "planner": options.planner,
        "model": options.model,
        "load_cpu_ms": round(load * 1000, 1),
        "sets": [one.as_json() for one in summaries],
        "results": single,
    }


def main() -> list[Figure]:
    """Figures for the table of all benchmarks: the offline planner on the tasks that are kept apart."""
    missing = why_missing()
    if missing:
        print(f"left out, because there is no sandbox here: {missing}")
        return []
    results, _ = measure(chosen_tasks(parse([])), parse([]))
    figures = []
    for one in summaries_of(results, own=True):
        right, wrong = one.total.share(one.total.right), one.total.share(one.total.wrong)
        figures.append(Figure(f"goals to commands, {one.total.name}: right", right, 0, "%", "-", True))
        figures.append(Figure(f"goals to commands, {one.total.name}: wrong", wrong, 0, "%", "-", True))
    return figures


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folders go, too
    sys.exit(run(sys.argv[1:]))

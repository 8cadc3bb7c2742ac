"""What an auditor does with the logs of many goals, against sha256sum, jq and DuckDB on the same files.

    python -m benchmarks.audit [--goals 1000000] [--folder DIR] [--keep FILE] [--only WORDS] [--by PROGRAM] [--write]

Seconds of CPU (user and system) and the largest memory of each whole process, start-up included. `list` and `search` answer from the
index, the building of which stands in a line of its own. A peer that is not here leaves its column empty. With `--keep` what was measured
is kept, and not measured again unless `--only` or `--by` name it: a run that was ended goes on, and what was disturbed is repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.recording.index.database import NAME as INDEX
from agent.recording.index.database import discard
from benchmarks.audit_logs import write_sessions
from benchmarks.figures import PYTHON, Figure
from benchmarks.figures_page import PAGE, replaced

_MAIN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "agent_shell.py")
_MEMORY = 300.0  # MB, for a question in SQL
_FLOOR = 40.0  # MB: a process begins with the peak of the one that started it, this one, so that less cannot be told
_WORD = "docker"
_VOUCH = "import sys; from benchmarks.audit_verify import vouch_for; vouch_for(*sys.argv[1:])"
_OURS = "agent-shell"
_DUCKDB = "DuckDB"
_AUTO = "read_json_auto('{folder}/*.jsonl', format = 'newline_delimited', ignore_errors = true)"


@dataclass(frozen=True)
class Cost:
    """One run: seconds of CPU and MB at the most, of the process and all it started."""

    seconds: float
    memory: float

    def __str__(self) -> str:
        memory = f"{self.memory:,.0f}" if self.memory > _FLOOR else f"< {_FLOOR:g}"
        return f"{self.seconds:,.1f} s, {memory} MB"


@dataclass(frozen=True)
class Task:
    """One thing to do: our arguments, and what to write for the peers. A peer's program is the first word of its name."""

    name: str
    ours: tuple[str, ...]
    shell: str = ""
    shell_name: str = "jq"
    sql: str = ""
    bound: float = 0.0
    times_peer: float = 4.0
    """How many times the cheapest peer's seconds are enough. A query of ours also counts the lines that are no events."""
    indexed: bool = False
    """Whether it answers from the index."""


_BUILD = "the index, from nothing"
TASKS = (
    Task("verify", ("verify",), "xargs -0 sha256sum", "sha256sum", times_peer=8),
    Task(
        "events by type",
        ("sql", "SELECT type, count(*) FROM events GROUP BY 1"),
        "xargs -0 jq -r .type | sort | uniq -c",
        sql="SELECT type, count(*) FROM {auto} GROUP BY 1",
        bound=_MEMORY,
        times_peer=2,
    ),
    Task(
        "count by status",
        ("sql", "SELECT status, count(*) FROM goals GROUP BY 1"),
        """xargs -0 jq -r 'select(.type == "goal.finished") | .status' | sort | uniq -c""",
        sql="SELECT status, count(*) FROM {auto} WHERE type = 'goal.finished' GROUP BY 1",
        bound=_MEMORY,
        times_peer=2,
    ),
    Task(
        "commands by risk and who decided",
        ("sql", "SELECT risk, decided_by, count(*) FROM commands GROUP BY ALL"),
        """xargs -0 jq -r 'select(.type == "command.rated" or .type == "command.confirmed") | [.command_id, .report.level, .by] | @tsv' """
        "| sort | wc -l",
        sql="SELECT r.report.level, c.\"by\", count(*) FROM {auto} r JOIN {auto} c USING (session, command_id) "
        "WHERE r.type = 'command.rated' AND c.type = 'command.confirmed' GROUP BY ALL",
        bound=_MEMORY,
        times_peer=2,
    ),
    Task(_BUILD, ("list", "--json", "--limit", "1"), indexed=True),
    Task(
        "find a word",
        ("search", "--json", _WORD),
        f"""xargs -0 jq -c 'select(.type == "command.output" or .type == "command.proposed")
            | select((.data // .command) | contains("{_WORD}"))'""",
        sql="SELECT session, seq, time::VARCHAR, data::VARCHAR, command FROM {auto} "
        f"WHERE contains(coalesce(data::VARCHAR, command), '{_WORD}')",
        indexed=True,
    ),
    Task(
        "list the sessions",
        ("list", "--json"),
        """xargs -0 jq -c 'select(.type == "session.started" or .type == "goal.finished")'""",
        sql="SELECT session, min(time)::VARCHAR, max(time)::VARCHAR, count(*) FROM {auto} GROUP BY 1 ORDER BY 2 DESC LIMIT 20",
        indexed=True,
    ),
)  # fmt: skip


class Measuring:
    """Measures what is not kept yet. `folder` holds the logs; `only` and `by`: what to measure, anew (nothing: whatever is missing)."""

    def __init__(self, folder: str, root: str, keep: str | None, only: Sequence[str], by: Sequence[str]) -> None:
        self.size = sum(path.stat().st_size for path in Path(folder).glob("*.jsonl"))
        self._folder = folder
        self._keep = Path(keep) if keep else None
        self._only, self._by = only, by
        state = os.path.join(root, "state")
        self._environ = {**os.environ, "HOME": root, "XDG_STATE_HOME": state, "AGENT_SESSION_DIR": folder}
        heads = os.path.join(state, "agent-shell", "heads")
        if not os.path.isdir(heads):  # in a process of its own: it holds whole logs
            subprocess.run([PYTHON, "-c", _VOUCH, folder, heads], cwd=os.path.dirname(_MAIN), check=True)
        self._costs: dict[str, list[float]] = {}
        if self._keep and self._keep.exists():
            kept = json.loads(self._keep.read_text(encoding="utf-8"))
            if kept["bytes"] != self.size:
                raise SystemExit(
                    f"{self._keep} is of other logs ({kept['bytes']:,} bytes, and these are {self.size:,})"
                )
            self._costs = kept["costs"]

    def cost(self, task: Task, program: str) -> Cost | None:
        """What it takes `program`; None where it cannot do it, failed, or was not to be measured."""
        argv = self._arguments(task, program)
        if argv is None:
            return None
        place = f"{task.name}: {program}"
        named = any(word in task.name for word in self._only or ("",)) and program in (self._by or (program,))
        wanted = named and (place not in self._costs or bool(self._only or self._by))
        if wanted:
            print(f"... {place}", file=sys.stderr, flush=True)
            if task.indexed and program == _OURS:
                self._index(anew=task.name == _BUILD)
            measured = _cost(argv, self._environ)
            assert measured is not None or program != _OURS, f"{task.name}: agent-shell failed"
            if measured:
                self._costs[place] = [measured.seconds, measured.memory]
            if self._keep:
                self._keep.write_text(
                    json.dumps({"bytes": self.size, "costs": self._costs}, indent=1), encoding="utf-8"
                )
        return Cost(*self._costs[place]) if place in self._costs else None

    def _index(self, *, anew: bool) -> None:
        """Make sure that there is an index, or that there is none."""
        place = os.path.join(self._folder, INDEX)
        if anew:
            discard(place)
        elif not os.path.exists(place):
            build = next(task for task in TASKS if task.name == _BUILD)
            _cost([PYTHON, _MAIN, "sessions", *build.ours], self._environ)

    def _arguments(self, task: Task, program: str) -> list[str] | None:
        if program == _OURS:
            return [PYTHON, _MAIN, "sessions", *task.ours]
        if program == _DUCKDB and task.sql:
            # What one would type into DuckDB without knowing the format: its types are found by looking.
            query = task.sql.format(auto=_AUTO.format(folder=self._folder))
            return [PYTHON, "-c", f"import duckdb; duckdb.sql({query!r}).fetchall()"]
        if program == task.shell_name and task.shell and shutil.which(program):
            find = f"find {self._folder} -name '*.jsonl' -print0"
            return ["bash", "-c", f"set -o pipefail; {find} | {task.shell} | cat >/dev/null"]
        return None


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """Measure; one figure a line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--goals", type=int, default=20_000)
    parser.add_argument("--folder", help="logs that are there already, or where to write and keep them")
    parser.add_argument(
        "--keep", metavar="FILE", help="keep here what was measured, and measure only what is not here yet"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORDS", help="measure only rows with these words, anew"
    )
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="PROGRAM",
        help="measure only agent-shell, jq, sha256sum or DuckDB, anew",
    )
    parser.add_argument("--write", action="store_true", help="put the table into docs/figures.md")
    options = parser.parse_args(list(arguments))
    root = tempfile.mkdtemp(prefix="audit-")
    try:
        folder = os.path.abspath(options.folder) if options.folder else os.path.join(root, "logs")
        if not os.path.isdir(folder):
            write_sessions(folder, goals=options.goals)
        # Heads are made only once for logs that stay.
        beside = folder + ".state" if options.folder else root
        os.makedirs(beside, mode=0o700, exist_ok=True)
        measuring = Measuring(folder, beside, options.keep, options.only, options.by)
        return _measured(measuring, options)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _measured(measuring: Measuring, options: argparse.Namespace) -> list[Figure]:
    figures = []
    rows = ["| what | agent-shell | sha256sum / jq | DuckDB | cheapest peer |", "|---|---|---|---|---|"]
    for task in TASKS:
        costs = {program: measuring.cost(task, program) for program in (_OURS, task.shell_name, _DUCKDB)}
        ours = costs.pop(_OURS)
        peers = {name: cost for name, cost in costs.items() if cost}
        if ours is None:
            continue
        name, peer = min(peers.items(), key=lambda each: each[1].seconds, default=("", None))
        seconds = peer.seconds if peer else 0.0
        figures.append(
            Figure(
                f"audit {measuring.size / 1e6:,.0f} MB: {task.name}",
                ours.seconds,
                seconds,
                "s",
                f"<= {task.times_peer:g}x of {name}" if peer else "-",
                peer is None or ours.seconds <= seconds * task.times_peer,
                name,
            )
        )
        if task.bound:
            holds = ours.memory < task.bound
            figures.append(Figure(f"audit: {task.name}: memory", ours.memory, 0, "MB", f"< {task.bound:g} MB", holds))
        ratio = f"{ours.seconds / seconds:.2g}x {name}" if peer else ""
        rows.append(f"| {task.name} | {ours} | {costs[task.shell_name] or ''} | {costs[_DUCKDB] or ''} | {ratio} |")
    if options.write:
        print(f"{options.goals:,} goals, {measuring.size / 1e9:.1f} GB")
        PAGE.write_text(replaced(PAGE.read_text(), "audit", rows))
    return figures


def _cost(argv: Sequence[str], environ: dict[str, str]) -> Cost | None:
    """What it took; None where it failed."""
    process = subprocess.Popen(
        argv, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        return None
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


if __name__ == "__main__":
    missed = 0
    for figure in main(sys.argv[1:]):
        print(figure)
        missed += not figure.holds
    sys.exit(1 if missed else 0)

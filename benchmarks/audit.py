"""What an auditor does with the logs of many goals, against sha256sum, jq and DuckDB on the same files.

    python -m benchmarks.audit [--goals 1000000] [--folder DIR] [--markdown]

Seconds of CPU and the largest memory of each whole process, start-up included. `list` and `search` answer from the index, the building of
which stands in a line of its own. A peer that is not here leaves its column empty.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.audit_logs import write_sessions
from benchmarks.audit_verify import vouch_for
from benchmarks.figures import PYTHON, Figure

_MAIN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "agent_shell.py")
_MEMORY = 300.0  # MB, for a question in SQL
_WORD = "docker"
_AUTO = "read_json_auto('{folder}/*.jsonl', format = 'newline_delimited', ignore_errors = true)"


@dataclass(frozen=True)
class Cost:
    """One run: seconds of CPU and MB at the most, of the process and all it started."""

    seconds: float
    memory: float

    def __str__(self) -> str:
        return f"{self.seconds:,.1f} s, {self.memory:,.0f} MB"


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


TASKS = (
    Task("verify", ("verify",), "xargs -0 sha256sum", "sha256sum", times_peer=8),
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
    Task("the index, from nothing", ("list", "--json", "--limit", "1")),
    Task(
        "find a word",
        ("search", "--json", _WORD),
        f"""xargs -0 jq -c 'select(.type == "command.output" or .type == "command.proposed")
            | select((.data // .command) | contains("{_WORD}"))'""",
        sql=f"SELECT * FROM {{auto}} WHERE contains(coalesce(data::VARCHAR, command), '{_WORD}')",
    ),
    Task(
        "list the sessions",
        ("list", "--json"),
        """xargs -0 jq -c 'select(.type == "session.started" or .type == "goal.finished")'""",
        sql="SELECT session, min(time), max(time), count(*) FROM {auto} GROUP BY 1 ORDER BY 2 DESC LIMIT 20",
    ),
)  # fmt: skip


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    """Measure; one figure a line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--goals", type=int, default=20_000)
    parser.add_argument("--folder", help="logs that are there already, or where to write and keep them")
    parser.add_argument("--markdown", action="store_true", help="print the table of the README")
    options = parser.parse_args(list(arguments))
    root = tempfile.mkdtemp(prefix="audit-")
    try:
        return _measured(options, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _measured(options: argparse.Namespace, root: str) -> list[Figure]:
    folder = options.folder or os.path.join(root, "logs")
    if not os.path.isdir(folder):
        write_sessions(folder, goals=options.goals)
    vouch_for(folder, os.path.join(root, "state", "agent-shell", "heads"))
    size = sum(entry.stat().st_size for entry in os.scandir(folder))
    environ = {**os.environ, "HOME": root, "XDG_STATE_HOME": os.path.join(root, "state"), "AGENT_SESSION_DIR": folder}
    figures = []
    rows = ["| what | agent-shell | sha256sum / jq | DuckDB |", "|---|---|---|---|"]
    for task in TASKS:
        ours = _cost([PYTHON, _MAIN, "sessions", *task.ours], environ)
        assert ours is not None, f"{task.name}: agent-shell failed"
        shell, duckdb = _of_shell(task, folder, environ), _of_duckdb(task, folder, environ)
        peers = {name: cost for name, cost in ((task.shell_name, shell), ("DuckDB", duckdb)) if cost}
        name, peer = min(peers.items(), key=lambda each: each[1].seconds, default=("", None))
        enough = peer is None or ours.seconds <= peer.seconds * task.times_peer
        wanted = f"<= {task.times_peer:g}x of {name}" if peer else "-"
        seconds = peer.seconds if peer else 0.0
        figures.append(
            Figure(f"audit {size / 1e6:,.0f} MB: {task.name}", ours.seconds, seconds, "s", wanted, enough, name)
        )
        if task.bound:
            figures.append(
                Figure(
                    f"audit: {task.name}: memory",
                    ours.memory,
                    0,
                    "MB",
                    f"< {task.bound:g} MB",
                    ours.memory < task.bound,
                )
            )
        rows.append(f"| {task.name} | {ours} | {shell or ''} | {duckdb or ''} |")
    if options.markdown:
        print(f"{options.goals:,} goals, {size / 1e9:.1f} GB\n\n" + "\n".join(rows))
    return figures


def _of_shell(task: Task, folder: str, environ: dict[str, str]) -> Cost | None:
    if not task.shell or not shutil.which(task.shell_name):
        return None
    return _cost(["bash", "-c", f"find {folder} -name '*.jsonl' -print0 | {task.shell} | cat >/dev/null"], environ)


def _of_duckdb(task: Task, folder: str, environ: dict[str, str]) -> Cost | None:
    """What one would type into DuckDB without knowing the format: its types are found by looking."""
    if not task.sql:
        return None
    query = task.sql.format(auto=_AUTO.format(folder=folder))
    return _cost([PYTHON, "-c", f"import duckdb; duckdb.sql({query!r}).fetchall()"], environ)


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

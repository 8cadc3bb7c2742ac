"""Table of the actions of `agent-shell sessions`, for the parser, the help and the completion scripts. Imports nothing.

Each action is a module of `agent.frontends.sessions` under the same name, with `add_arguments(parser)` and
`run(services, options) -> exit code` (a coroutine).
"""

# name -> (usage after the name, one line of help)
ACTIONS: dict[str, tuple[str, str]] = {
    "list": (
        "[--goals] [--since WHEN] [--cwd DIR] [--status S] [--limit N] [--json]",
        "what was recorded: when, where, which goal, how it ended",
    ),
    "search": (
        "[--regex RE] [--status S] [--risk L] [--exit N|nonzero] [--edited] [--by WHO] [--cwd DIR] [--since WHEN] [--json] [WORDS...]",
        "find goals, messages, commands and outputs in all sessions",
    ),
    "show": (
        "[--full] [--goal N] [--own] [--json] [--no-pager] [ID]",
        "the story of a session: goals, commands, decisions, outputs, changes",
    ),
    "replay": (
        "[--speed X] [--idle SECONDS] [--step] [--goal N] [--own] [--run | --check [--update]] [--json] [ID...]",
        "watch a session again with its timing, run it again, or check that today's engine does the same",
    ),
    "export": (
        "--format asciicast|html|markdown|json|sh [-o FILE] [--force] [--own] [ID]",
        "a session as a recording, report, document or script",
    ),
    "stats": (
        "[--since WHEN] [--cwd DIR] [--ascii] [--json]",
        "goals a day, failures, changed proposals, time, cost and risk, as plots",
    ),
    "verify": (
        "[--public-key PATH] [--heads DIR] [--make-key PATH] [--json] [ID...]",
        "whether the logs are what was written: edits, lines that are missing, a cut end",
    ),
    "judge": (
        "[--policy FILE] [--only changed|stricter|looser] [--approve MODE] [--facts] [--json] [ID...]",
        "what today's rules say of every command that was proposed or run",
    ),
    "sql": (
        "[--format table|csv|json|parquet] [-x] [-o FILE] [--memory-limit SIZE] [--schema] [--json] QUERY [PATH...]",
        "ask the logs, of one machine or of many, with a SELECT",
    ),
    "import": (
        "[--to URL | --to-env NAME] [--rebuild] [--json] [PATH...]",
        "make a database of the logs, or bring it up to date: SQLite or PostgreSQL",
    ),
    "scrub": (
        "[--dry-run] [--redact pii] [--value-from-env NAME] [--stdin] [--yes] [--force] [--json] [ID...]",
        "secrets in logs that are already written: show what kinds are where, and replace them",
    ),
    "prune": (
        "[--older-than AGE] [--keep-size SIZE] [--status S] [--tombstones-older-than AGE] [--dry-run] [--yes] [--force] [--json]",
        "old sessions make room; a tombstone stays in the place of each",
    ),
    "permissions": ("[--repair] [--json]", "who else can read logs, heads, index and keys"),
}

"""Table of the actions of `agent-shell sessions`, for the parser, the help and the completion scripts. Imports nothing.

Each action is a module of `agent.frontends.sessions` under the same name, with `add_arguments(parser)` and
`run(services, options) -> exit code` (a coroutine).
"""

# name -> (usage after the name, one line of help, examples)
ACTIONS: dict[str, tuple[str, str, str]] = {
    "list": (
        "[--goals] [--since WHEN] [--cwd DIR] [--status S] [--limit N] [--json]",
        "what was recorded: when, where, which goal, how it ended",
        """\
  agent-shell sessions list                       the newest 20: when, where, first goal, how it ended
  agent-shell sessions list --goals --since 2d    every goal of the last two days
  agent-shell sessions list --status failed --cwd .
""",
    ),
    "search": (
        "[--regex RE] [--status S] [--risk L] [--exit N|nonzero] [--edited] [--by WHO] [--cwd DIR] [--since WHEN] [--json] [WORDS...]",
        "find goals, messages, commands and outputs in all sessions",
        """\
  agent-shell sessions search permission denied   both words, in goals, commands, outputs and messages
  agent-shell sessions search --exit nonzero --since yesterday
  agent-shell sessions search --risk high --by person --json
  agent-shell sessions search --regex 'error\\[E\\d+\\]' --cwd ~/src
""",
    ),
    "show": (
        "[--full] [--goal N] [--own] [--json] [--no-pager] [ID]",
        "the story of a session: goals, commands, decisions, outputs, changes",
        """\
  agent-shell sessions show                       what the newest session did, through your pager
  agent-shell sessions show --full --goal 3 0722  all of the third goal; 0722 begins the session's id
  agent-shell sessions show --json -2 | jq .status
""",
    ),
    "replay": (
        "[--speed X] [--idle SECONDS] [--step] [--goal N] [--own] [--run | --check [--update]] [--json] [ID...]",
        "watch a session again with its timing, run it again, or check that today's engine does the same",
        """\
  agent-shell sessions replay                     watch the newest session: space pauses, . goes on, q leaves
  agent-shell sessions replay --speed 4 --goal 3 0722
  agent-shell sessions replay --run --goal 2 0722 its commands again, through the gate; stops at another exit code
  agent-shell sessions replay --check tests/replays
""",
    ),
    "export": (
        "--format asciicast|html|markdown|json|sh [-o FILE] [--force] [--own] [--since WHEN] [--until WHEN] [ID...]",
        "sessions as a recording, report, document or script",
        """\
  agent-shell sessions export --format markdown   the newest session as a report, on standard output
  agent-shell sessions export --format sh -o again.sh 0722
  agent-shell sessions export --format html -o day.html --since yesterday --until yesterday
  agent-shell sessions export --format json last | jq '.goals[].commands[].run'
""",
    ),
    "stats": (
        "[--since WHEN] [--cwd DIR] [--ascii] [--json]",
        "goals a day, failures, changed proposals, time, cost and risk, as plots",
        """\
  agent-shell sessions stats                      all that is recorded
  agent-shell sessions stats --since '4 weeks' --cwd .
""",
    ),
    "verify": (
        "[--public-key PATH] [--heads DIR] [--make-key PATH] [--json] [ID...]",
        "check the logs for edits, missing lines and cut ends",
        """\
  agent-shell sessions verify                     was anything changed, removed, added or cut off
  agent-shell sessions verify --json last         one JSON object per session; exit code 1 if one was touched
  agent-shell sessions verify --make-key ~/.config/agent-shell/sign.pem
  agent-shell sessions verify --public-key ~/.config/agent-shell/sign.pem.pub
""",
    ),
    "judge": (
        "[--policy FILE] [--only changed|stricter|looser] [--approve MODE] [--facts] [--json] [ID...]",
        "what today's rules say of every command that was proposed or run",
        """\
  agent-shell sessions judge                      what the rules of today would ask, refuse or let through
  agent-shell sessions judge --policy new.toml    before you put a policy file in force
  agent-shell sessions judge --only looser --json last
""",
    ),
    "sql": (
        "[--format table|csv|json|parquet] [-x] [-o FILE] [--memory-limit SIZE] [--schema] [--json] QUERY [PATH...]",
        "ask the logs, of one machine or of many, with a SELECT",
        """\
  agent-shell sessions sql 'SELECT status, count(*) FROM goals GROUP BY 1'
  agent-shell sessions sql "FROM commands SELECT time, run WHERE risk = 'high'" --format csv -o high.csv
  agent-shell sessions sql 'SELECT machine, count(*) FROM goals GROUP BY 1' '/srv/logs/*/sessions'
  agent-shell sessions sql --schema               the views and their columns
""",
    ),
    "import": (
        "[--to URL | --to-env NAME] [--rebuild] [--json] [PATH...]",
        "make a database of the logs, or bring it up to date: SQLite or PostgreSQL",
        """\
  agent-shell sessions import                     into audit.sqlite3 in the state folder; again: what is new
  agent-shell sessions import --to audit.db '/srv/logs/*/sessions'
  AUDIT_DB=postgresql://db/audit agent-shell sessions import --to-env AUDIT_DB --rebuild
""",
    ),
    "scrub": (
        "[--dry-run] [--redact pii] [--value-from-env NAME] [--stdin] [--yes] [--force] [--json] [ID...]",
        "find secrets in existing logs, and replace them",
        """\
  agent-shell sessions scrub --dry-run            what kinds of secrets are where; never the values
  agent-shell sessions scrub 0722                 replace them in one session, after asking
  agent-shell sessions scrub --redact pii --yes   personal data, too
  pass show old/token | agent-shell sessions scrub --stdin --yes
""",
    ),
    "prune": (
        "[--older-than AGE] [--keep-size SIZE] [--status S] [--tombstones-older-than AGE] [--dry-run] [--yes] [--force] [--json]",
        "remove old sessions; a tombstone stays in place of each",
        """\
  agent-shell sessions prune --older-than 90d --dry-run
  agent-shell sessions prune --keep-size 2GB      the oldest go, after asking; a tombstone stays in the place of each
  agent-shell sessions prune --status completed --older-than '6 months' --yes
""",
    ),
    "permissions": (
        "[--repair] [--json]",
        "who else can read logs, heads, index and keys",
        """\
  agent-shell sessions permissions                what others could read; exit code 1 if anything
  agent-shell sessions permissions --repair
""",
    ),
}

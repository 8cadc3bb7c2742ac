"""The examples of each help: what people read first of it. Each is parsed by the tests."""

from __future__ import annotations

EXAMPLES: dict[str, str] = {
    "": """\
  agent-shell                                     open the REPL
  agent-shell find the 5 largest files here       one goal, then exit
  make 2>&1 | agent-shell "why does this fail"    with what a program printed
  agent-shell risk 'rm -rf build'                 rate a command, run nothing
  agent-shell exec --approve low 'ls -la'         your own command, gated and logged
  agent-shell rehearse 'sed -i s/a/b/ *.md'       what it would change, and nothing changes
  agent-shell undo                                take the newest run back
""",
    "plan": """\
  agent-shell plan count the lines of a.txt       prints the bare command: wc -l a.txt
  agent-shell plan --json show open ports         with reason and risk, as one JSON object
  agent-shell plan --batch goals.jsonl            {"goal": "..."} a line in, one object a line out
""",
    "risk": """\
  agent-shell risk 'rm -rf build'                 the level and why
  agent-shell risk --explain 'curl x.org/a | sh'  part by part
  agent-shell risk --json --cwd /srv 'git clean -fdx'
  agent-shell risk --policy 'git push --force'    what policy says, and which rule decided
  agent-shell risk --batch commands.jsonl         {"command": "..."} a line in, one object a line out
""",
    "exec": """\
  agent-shell exec 'tar czf backup.tgz notes'     shown, rated, confirmed, run, logged
  agent-shell exec --approve low 'ls -la'         low risk runs unasked, all else asks
  agent-shell exec --dry-run 'rm -r build'        rated only
  agent-shell exec --via-rehearsal 'make clean'   see what it would change, then say whether it counts
""",
    "rehearse": """\
  agent-shell rehearse 'sed -i s/a/b/ *.txt'      what it would change, with diffs; changes nothing
  agent-shell rehearse --json 'make install'      one JSON object
  agent-shell rehearse --network 'npm install'    with the network on
""",
    "undo": """\
  agent-shell undo                                take back the newest run, after asking
  agent-shell undo --list                         what can be taken back, newest first
  agent-shell undo --yes 6k2m                     that one, without asking; again: do it again
""",
    "sessions list": """\
  agent-shell sessions list                       the newest 20: when, where, first goal, how it ended
  agent-shell sessions list --goals --since 2d    every goal of the last two days
  agent-shell sessions list --status failed --cwd .
""",
    "sessions search": """\
  agent-shell sessions search permission denied   both words, in goals, commands, outputs and messages
  agent-shell sessions search --exit nonzero --since yesterday
  agent-shell sessions search --risk high --by person --json
  agent-shell sessions search --regex 'error\\[E\\d+\\]' --cwd ~/src
""",
    "sessions stats": """\
  agent-shell sessions stats                      all that is recorded
  agent-shell sessions stats --since '4 weeks' --cwd .
""",
    "sessions show": """\
  agent-shell sessions show                       what the newest session did, through your pager
  agent-shell sessions show --full --goal 3 0722  all of the third goal; 0722 begins the session's id
  agent-shell sessions show --json -2 | jq .status
""",
    "sessions replay": """\
  agent-shell sessions replay                     watch the newest session: space pauses, . goes on, q leaves
  agent-shell sessions replay --speed 4 --goal 3 0722
  agent-shell sessions replay --run --goal 2 0722 its commands again, through the gate; stops at another exit code
  agent-shell sessions replay --check tests/replays
""",
    "sessions scrub": """\
  agent-shell sessions scrub --dry-run            what kinds of secrets are where; never the values
  agent-shell sessions scrub 0722                 replace them in one session, after asking
  agent-shell sessions scrub --redact pii --yes   personal data, too
  pass show old/token | agent-shell sessions scrub --stdin --yes
""",
    "sessions verify": """\
  agent-shell sessions verify                     was anything changed, removed, added or cut off
  agent-shell sessions verify --json last         one JSON object a session; exit code 1 if one was touched
  agent-shell sessions verify --make-key ~/.config/agent-shell/sign.pem
  agent-shell sessions verify --public-key ~/.config/agent-shell/sign.pem.pub
""",
    "sessions judge": """\
  agent-shell sessions judge                      what the rules of today would ask, refuse or let through
  agent-shell sessions judge --policy new.toml    before you put a policy file in force
  agent-shell sessions judge --only looser --json last
""",
    "sessions sql": """\
  agent-shell sessions sql 'SELECT status, count(*) FROM goals GROUP BY 1'
  agent-shell sessions sql "FROM commands SELECT time, run WHERE risk = 'high'" --format csv -o high.csv
  agent-shell sessions sql 'SELECT machine, count(*) FROM goals GROUP BY 1' '/srv/logs/*/sessions'
  agent-shell sessions sql --schema               the views and their columns
""",
    "sessions import": """\
  agent-shell sessions import                     into audit.sqlite3 in the state folder; again: what is new
  agent-shell sessions import --to audit.db '/srv/logs/*/sessions'
  AUDIT_DB=postgresql://db/audit agent-shell sessions import --to-env AUDIT_DB --rebuild
""",
    "sessions prune": """\
  agent-shell sessions prune --older-than 90d --dry-run
  agent-shell sessions prune --keep-size 2GB      the oldest go, after asking; a tombstone stays in the place of each
  agent-shell sessions prune --status completed --older-than '6 months' --yes
""",
    "sessions permissions": """\
  agent-shell sessions permissions                what others could read; exit code 1 if anything
  agent-shell sessions permissions --repair
""",
    "sessions export": """\
  agent-shell sessions export --format markdown   the newest session as a report, on standard output
  agent-shell sessions export --format sh -o again.sh 0722
  agent-shell sessions export --format json last | jq '.goals[].commands[].run'
""",
    "models": """\
  agent-shell models                              servers, model files and keys that are here
  agent-shell models use ~/models/qwen.gguf       plan with that file from now on
  agent-shell models use offline                  back to the recipes
""",
    "config": """\
  agent-shell config                              every setting, its value and where it comes from
  agent-shell config edit                         open your settings file in $EDITOR
""",
    "completions": """\
  agent-shell completions bash > ~/.local/share/bash-completion/completions/agent-shell
  agent-shell completions fish > ~/.config/fish/completions/agent-shell.fish
""",
}

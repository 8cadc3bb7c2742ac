"""What the synthetic logs are about: goals with their commands, risks and outputs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A kind of goal. `{name}` and `{number}` vary. Without a command it is answered in words; `exit_code` is that of its failures."""

    goal: str
    command: str = ""
    level: str = "low"
    output: str = ""
    error: str = ""
    exit_code: int = 0
    rule: str = ""
    reason: str = ""
    answer: str = "done"


NAMES = (
    "alpha", "billing", "cache", "docs", "export", "frontend", "gateway", "häfen", "index", "jobs", "kernel", "ledger",
    "mailer", "notes", "orders", "parser", "queue", "report", "search", "tests", "users", "vault", "worker", "日本語",
)  # fmt: skip

FOLDERS = (
    "/home/user/src/shop", "/home/user/src/shop/backend", "/home/user/src/website", "/home/user/notes", "/srv/data",
    "/home/user", "/var/log", "/home/user/src/compiler", "/tmp/try", "/home/user/ドキュメント",
)  # fmt: skip

# planner, model, dollars a token (None: costs nothing and nobody says)
MODELS: tuple[tuple[str, str, float | None], ...] = (
    ("offline", "", None),
    ("openrouter", "small-model", 1.5e-7),
    ("anthropic", "large-model", 3e-6),
    ("ollama", "local-8b", 0.0),
)

CASES = (
    Case(
        "show the largest files in {name}",
        "du -ah {name} | sort -rh | head -n 10",
        output="4.0K\t{name}/a.txt\n{number}M\t{name}/dump.sql\n",
        error="du: cannot access '{name}': No such file or directory\n",
        exit_code=1,
        answer="the dump is the largest one",
    ),
    Case(
        "count the lines of {name}.py",
        "wc -l {name}.py",
        output="{number} {name}.py\n",
        error="wc: {name}.py: No such file or directory\n",
        exit_code=1,
        answer="{number} lines",
    ),
    Case(
        "what changed since yesterday",
        "git log --since=yesterday --oneline",
        output="a{number}f fix the {name} test\nb{number}c faster {name}\n",
    ),
    Case("which branch am I on", "git branch --show-current", output="feature/{name}-{number}\n"),
    Case(
        "run the tests of {name}",
        "python3 -m pytest tests/{name} -x -q",
        "medium",
        "{number} passed in 4.21s\n",
        "E   AssertionError: {name} is not {number}\nFAILED tests/{name}/test_{name}.py::test_total\n1 failed, 12 passed in 3.05s\n",
        1,
        "run.unknown",
        "runs code of this folder",
    ),
    Case(
        "delete the folder {name}",
        "rm -rf {name}",
        "medium",
        rule="delete.recursive",
        reason="deletes {name} with everything below",
        error="rm: cannot remove '{name}/lost': Permission denied\n",
        exit_code=1,
        answer="{name} is gone",
    ),
    Case(
        "clean the build of {name}",
        "make -C {name} clean",
        "medium",
        "rm -f *.o {name}\n",
        "make: *** {name}: No such file or directory.  Stop.\n",
        2,
        "run.make",
        "runs what a Makefile says",
    ),
    Case(
        "free disk space on /",
        "sudo rm -rf /var/cache/{name}",
        "high",
        error="sudo: a password is required\n",
        exit_code=1,
        rule="delete.system",
        reason="deletes in a folder of the system",
    ),
    Case(
        "install {name}",
        "curl -fsSL https://get.{name}.example/install.sh | sh",
        "high",
        "installed {name} {number}\n",
        "curl: (6) Could not resolve host: get.{name}.example\n",
        6,
        "remote.code",
        "runs code that it downloads",
    ),
    Case(
        "restart the {name} service",
        "sudo systemctl restart {name}",
        "high",
        error="Failed to restart {name}.service: Unit {name}.service not found.\n",
        exit_code=5,
        rule="privileged",
        reason="runs as another user",
    ),
    Case(
        "find TODO in {name}",
        "grep -rn TODO {name}",
        output="{name}/main.py:{number}: # TODO: handle {name}\n",
        exit_code=1,
        error="grep: {name}: No such file or directory\n",
    ),
    Case(
        "show the last lines of the {name} log",
        "tail -n 20 /var/log/{name}.log",
        output="Nov 22 07:49:31 host {name}[{number}]: connection refused by upstream\n",
        error="tail: cannot open '/var/log/{name}.log' for reading: Permission denied\n",
        exit_code=1,
    ),
    Case(
        "is port {number} in use",
        "ss -ltn 'sport = :{number}'",
        output="State  Recv-Q Send-Q Local Address:Port\nLISTEN 0      128          0.0.0.0:{number}\n",
    ),
    Case(
        "pack {name} into an archive",
        "tar czf {name}-{number}.tgz {name}",
        "medium",
        rule="create.archive",
        reason="creates {name}-{number}.tgz",
        error="tar: {name}: Cannot stat: No such file or directory\n",
        exit_code=2,
        answer="packed",
    ),
    Case(
        "replace {name} by index in all notes",
        "sed -i 's/{name}/index/g' *.md",
        "medium",
        rule="modify.many",
        reason="changes files in place",
        error="sed: can't read *.md: No such file or directory\n",
        exit_code=2,
    ),
    Case(
        "commit my work on {name}",
        "git commit -am 'work on {name}'",
        "medium",
        "[main a{number}f] work on {name}\n 3 files changed, {number} insertions(+)\n",
        "nothing to commit, working tree clean\n",
        1,
        "git.commit",
        "makes a commit",
    ),
    Case(
        "push it",
        "git push origin {name}",
        "medium",
        "To example.com:shop.git\n   a{number}f..b2  {name} -> {name}\n",
        "! [rejected] {name} -> {name} (fetch first)\nerror: failed to push some refs\n",
        1,
        "network.send",
        "sends to a remote",
    ),
    Case(
        "which containers run",
        "docker ps",
        output="CONTAINER ID   IMAGE     STATUS\n{number}ab  {name}:latest  Up 3 hours\n",
        error="Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n",
        exit_code=1,
    ),
    Case(
        "build {name}",
        "cargo build --release -p {name}",
        "medium",
        "   Compiling {name} v0.{number}\n    Finished release [optimized] target(s) in 12.31s\n",
        "error[E0432]: unresolved import `{name}`\n",
        101,
        "run.build",
        "runs build scripts",
    ),
    Case(
        "show me the environment of {name}",
        "cat {name}.env",
        "high",
        "API_KEY=[secret:api-key:{number}]\nPORT={number}\n",
        "cat: {name}.env: No such file or directory\n",
        1,
        "secret.read",
        "shows secrets",
    ),
    Case("what does {name} do", answer="{name} collects orders and writes one file every {number} seconds"),
    Case("explain the last failure", answer="the test compares {number} with a text; convert one of them first"),
    Case("how do I undo a commit", answer="`git reset --soft HEAD~1` keeps your files as they are"),
    Case(
        "copy {name} to the backup",
        "rsync -a {name}/ /srv/backup/{name}/",
        "medium",
        rule="copy.overwrite",
        reason="may overwrite files",
        output="sent {number} bytes  received 35 bytes\n",
        error='rsync: [sender] change_dir "{name}" failed: No such file or directory (2)\n',
        exit_code=23,
    ),
    Case(
        "list the files here",
        "ls -la",
        output="total {number}\ndrwxr-xr-x 4 user user 4096 Nov  1 10:00 {name}\n-rw-r--r-- 1 user user {number} Nov  1 10:00 README.md\n",
    ),
)

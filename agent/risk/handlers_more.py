"""git, processes, databases, containers: what a table cannot say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.invocation import Invocation, Output
from agent.risk.knowledge_store import Program
from agent.risk.options import Args
from agent.risk.words import UNKNOWN, Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_GIT_RUNS = (
    "alias.", "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.hookspath", "diff.external", "sequence.editor",
    "credential.helper", "filter.", "uploadpack.", "receivepack.", "gpg.program", "pager.", "protocol.ext", "core.gitproxy", "core.askpass",
)  # fmt: skip
_SAFE_PAGERS = ("cat", "less", "more", "delta", "", "false", "true", "store", "cache", "osxkeychain", "manager")


def git(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """git: settings that run programs, commands handed on, and what is thrown away."""
    place = invocation.place
    for word in args.values("-c", "--config-env"):
        name, _, value = word.text.partition("=")
        if name.lower().startswith(_GIT_RUNS) and value.split(" ")[0].rpartition("/")[2] not in _SAFE_PAGERS:
            walker.add("environment", [word], place, reason="has git run {targets}", rule="git.config-run")
            walker.script(value.removeprefix("!"), place, invocation)
    verbs = [word.text for word in args.operands]
    if not verbs:
        return None
    verb = verbs[0]
    for option in args.values(
        "--upload-pack", "--receive-pack", "--exec", "--tree-filter", "--index-filter", "--msg-filter", "-x"
    ):
        if verb not in ("grep", "rm", "clean"):
            walker.script(option.text, place, invocation)
    if verb == "bisect" and "run" in verbs[:2]:
        walker.dispatch(invocation.inner(args.operands[2:], "git bisect")) if len(args.operands) > 2 else None
        return None, ""
    if verb == "submodule" and "foreach" in verbs:
        text = " ".join(word.text for word in args.operands[verbs.index("foreach") + 1 :])
        walker.script(text, place, invocation)
        return None, ""
    if verb == "config" and len(verbs) > 2 and verbs[1].lower().startswith(_GIT_RUNS) and verbs[2] not in _SAFE_PAGERS:
        walker.add(
            "environment", args.operands[1:3], place, reason="has git run {targets} later", rule="git.config-run"
        )
        walker.script(verbs[2].removeprefix("!"), place, invocation)
    if any(v.startswith(("ext::", "fd::")) for v in verbs):
        walker.add(
            "run-opaque", args.operands, place, reason="the address makes git run a command", rule="git.transport"
        )
    if verb == "push" and any(v.startswith("+") for v in verbs[1:]):
        walker.add("force-push", args.operands[1:], place, rule="force-push.refspec")
    if verb == "push" and any(re.match(r":[^:/]", v) for v in verbs[1:]):
        walker.add("force-push", args.operands[1:], place, rule="force-push.delete")
    if verb in ("checkout", "restore"):
        return _git_discard(walker, invocation, args, verb)
    return None


def _git_discard(walker: Walker, invocation: Invocation, args: Args, verb: str) -> Output | None:
    place = invocation.place
    texts = [word.text for word in invocation.words]
    if verb == "checkout":
        if args.has("-b", "-B", "--orphan"):
            walker.add(
                "vcs-change" if args.has("-B") else "vcs-safe",
                [],
                place,
                level=Level.MEDIUM if args.has("-B") else None,
            )
            return None, ""
        if args.has("-f", "--force"):
            walker.add("discard", args.operands[1:], place)
            return None, ""
        paths = args.operands[1:]
        if "--" in texts:
            paths = [word for word in invocation.words[texts.index("--") + 1 :]]
            from_commit = len(args.operands) - 1 > len(paths)
        else:
            from_commit = False
            if not any(word.text in (".", "*", "./", ":/") or word.glob for word in paths):
                walker.add("vcs-change", paths, place, reason="switches to {targets}", rule="vcs.checkout")
                return None, ""
    else:
        paths, from_commit = args.operands[1:], False
        if args.has("--staged", "-S") and not args.has("--worktree", "-W"):
            walker.add("vcs-change", paths, place, reason="unstages {targets}", rule="vcs.unstage")
            return None, ""
        if args.has("--worktree", "-W"):
            from_commit = True
    whole = any(
        word.text in (".", "*", "./", ":/", "..") or word.glob or word.text.endswith("/") or not word.known
        for word in paths
    )
    if whole or len(paths) > 3 or args.has("--pathspec-from-file") or (from_commit and paths):
        walker.add("discard", paths, place)
    else:
        walker.add("discard-one", paths, place)
    return None, ""


def kill(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """kill: one process, or everything."""
    words = [word for word in invocation.words[1:]]
    texts = [word.text for word in words]
    if texts and texts[0] in ("-l", "-L", "--list", "--table"):
        return None, ""
    if "-0" in texts or (args.has("-s", "--signal") and any(w.text == "0" for w in args.values("-s", "--signal"))):
        return None, ""
    targets = [
        w for i, w in enumerate(words) if not w.text.startswith("-") or (i > 0 and re.fullmatch(r"-\d+", w.text))
    ]
    if any(text == "-1" for text in texts[1:]) or texts == ["-1"] or "1" in [w.text for w in targets]:
        walker.add("kill-wide", targets, invocation.place)
    else:
        walker.add("kill", targets, invocation.place)
    return None, ""


def pkill(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """pkill, killall: by name; without a name that bounds it, everything."""
    if args.has("-l", "--list") and not args.operands:
        return None, ""
    patterns = [word.text for word in args.operands]
    users = args.has("-u", "--user", "-U", "--euid", "-g", "-t")
    if not patterns or any(
        p in (".", ".*", "", "*", "^", "$") or len(p) < 2 or UNKNOWN in p and len(p) == 1 for p in patterns
    ):
        walker.add("kill-wide", args.operands, invocation.place)
    else:
        walker.add("kill", args.operands, invocation.place)
    if users and not patterns:
        walker.add("kill-wide", [], invocation.place)
    return None, ""


_SQL_DESTROY = re.compile(
    r"\b(?:DROP\s+(?:TABLE|DATABASE|SCHEMA|USER|ROLE|INDEX|VIEW|COLLECTION|KEYSPACE|EXTENSION|OWNED|COLUMN|PARTITION|TABLESPACE|TRIGGER|FUNCTION|SEQUENCE|TYPE|POLICY|PUBLICATION|SUBSCRIPTION)"
    r"|TRUNCATE\b|ALTER\s+TABLE\s+.*\bDROP\b|VACUUM\s+FULL|RESET\s+MASTER|PURGE\s+BINARY)", re.I | re.S
)  # fmt: skip
_SQL_DELETE = re.compile(r"\b(?:DELETE\s+FROM|UPDATE\s+\S+\s+SET)\b(?P<rest>[^;]*)", re.I | re.S)
_SQL_CHANGE = re.compile(
    r"\b(?:INSERT|UPDATE|DELETE|CREATE|ALTER|GRANT|REVOKE|MERGE|REPLACE|COPY|LOAD|CALL|EXEC|REINDEX|VACUUM|ATTACH|DETACH|IMPORT)\b",
    re.I,
)
_SQL_SHELL = re.compile(
    r"(?:^|[\n;])\s*\\!\s*(.+)|(?:^|[\n;])\s*\.(?:shell|system)\s+(.+)|(?:^|[\n;])\s*(?:system|\\system)\s+(.+)", re.I
)
_SQL_PROGRAM = re.compile(
    r"\bCOPY\b.*\b(?:FROM|TO)\s+PROGRAM\s+'([^']*)'|into\s+(?:outfile|dumpfile)|xp_cmdshell|load_extension|sys_exec",
    re.I | re.S,
)
_MONGO_DESTROY = re.compile(r"\.(?:drop|dropDatabase|dropIndexes|deleteMany|remove)\s*\(|dropDatabase|dropAllUsers")
_MONGO_CHANGE = re.compile(r"\.(?:insert\w*|update\w*|delete\w*|replace\w*|create\w*|save|rename\w*)\s*\(")


def database(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """SQL and other clients: statements on the line or on stdin."""
    texts = [word.text for word in args.values(*table.script)]
    if table.name in ("sqlite3", "duckdb", "bq", "clickhouse-client"):
        texts += [word.text for word in args.operands[1:]]
    if invocation.stdin is not None and invocation.stdin[0] is not None:
        texts.append(invocation.stdin[0])
    for text in texts:
        judge_sql(walker, invocation, text)
    if not texts and invocation.stdin is not None:
        walker.add("db-change", [], invocation.place, reason="runs statements that cannot be seen", rule="db.stdin")
    elif args.has("-f", "--file", "--init", "-i") and table.name in ("psql", "sqlcmd", "mysql"):
        walker.add(
            "db-change",
            args.values("-f", "--file", "-i"),
            invocation.place,
            reason="runs the statements in {targets}",
            rule="db.file",
        )
    elif not texts and not (table.dry & args.names):
        walker.add("db-change", [], invocation.place, reason="opens a database session", rule="db.session")
    for word in args.values("-o", "--output", "--tee"):
        walker.add("write", [word], invocation.place, invocation=invocation)
    return None, ""


def judge_sql(walker: Walker, invocation: Invocation, text: str) -> None:
    """Findings for one or more statements."""
    place = invocation.place
    bare = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    bare = re.sub(r"'(?:[^']|'')*'", "''", bare) if "PROGRAM" not in bare.upper() else bare
    for match in _SQL_SHELL.finditer(text):
        walker.script(next(g for g in match.groups() if g), place, invocation)
        walker.add("run", [], place, reason="has the client run a shell command", rule="db.shell")
    for match in _SQL_PROGRAM.finditer(text):
        if match.group(1):
            walker.script(match.group(1), place, invocation)
        walker.add(
            "run-opaque", [], place, reason="has the database server run programs or write files", rule="db.program"
        )
    if _SQL_DESTROY.search(bare) or _MONGO_DESTROY.search(text):
        walker.add("db-destroy", [], place)
        return
    for match in _SQL_DELETE.finditer(bare):
        where = re.search(r"\bWHERE\b(.*)", match.group("rest"), re.I | re.S)
        if where is None or re.fullmatch(r"\s*(?:1\s*=\s*1|true|1)\s*", where.group(1), re.I):
            walker.add("db-destroy", [], place, reason="changes or deletes every row", rule="db-destroy.all-rows")
            return
    if _SQL_CHANGE.search(bare) and not re.match(r"\s*(?:EXPLAIN|SHOW|DESCRIBE)\b(?!\s+ANALYZE)", bare, re.I):
        walker.add("db-change", [], place)
    elif _MONGO_CHANGE.search(text):
        walker.add("db-change", [], place)


_HOST_PATHS = re.compile(
    r"^(?:/|/etc|/var/run/docker\.sock|/root|/home|/proc|/sys|/dev|/boot|/usr|/var|/bin|/lib|/run)(?:/|$|:)|docker\.sock"
)


def container(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """docker/podman run and exec: host mounts and rights, then the command inside."""
    verbs = [word.text for word in args.operands]
    if not verbs:
        return None
    offset = 1 if verbs[0] in ("container", "compose") and len(verbs) > 1 else 0
    verb = verbs[offset]
    if verb not in ("run", "exec", "create"):
        return None
    place = invocation.place
    text_words = [word.text for word in invocation.words]
    wide = args.has("--privileged", "--cap-add") or any(
        w.text in ("host",) for w in args.values("--pid", "--ipc", "--userns", "--uts", "--cgroupns")
    )
    for word in args.values("-v", "--volume", "--mount", "--device"):
        source = re.sub(r"^.*(?:source|src)=", "", word.text).split(",")[0] if "=" in word.text else word.text
        wide = wide or bool(_HOST_PATHS.match(source)) or source.split(":")[0] in (walker.state.home, "~")
    if wide:
        walker.add("container-host", [], place)
    position = text_words.index(verb)
    words = invocation.words[position + 1 :]
    index = 0
    while index < len(words) and words[index].text.startswith("-"):
        name = words[index].text
        takes = name in table.value or (
            re.fullmatch(r"-[a-zA-Z]{2,}", name) is not None and "-" + name[-1] in table.value
        )
        index += 2 if takes and "=" not in name else 1
    walker.add("container-run", words[index : index + 1], place, rule=f"container.{verb}")
    command = words[index + 1 :]
    if command and not command[0].text.startswith("-"):
        inner = invocation.inner(command, table.name)
        inner.remote = True
        walker.dispatch(inner)
    return None, ""


def kube_exec(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """kubectl exec POD -- command."""
    verbs = [word.text for word in args.operands]
    texts = [word.text for word in invocation.words]
    if "exec" in verbs[:3] or (verbs[:1] == ["run"] and "--" in texts) or verbs[:1] == ["debug"]:
        walker.add("container-run", args.operands[1:2], invocation.place, rule="cluster.exec")
        if "--" in texts:
            command = invocation.words[texts.index("--") + 1 :]
        else:
            command = args.operands[2:] if verbs[0] == "exec" else []
        if command:
            inner = invocation.inner(command, table.name)
            inner.remote = True
            walker.dispatch(inner)
        return None, ""
    return None


def systemctl(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """systemctl --user touches one person's services only."""
    if args.has("--user"):
        verb = args.operands[0].text if args.operands else ""
        rules = table.cases.get(verb, ())
        if verb and not any(rule.effect == "read" for rule in rules):
            walker.add("service-user", args.operands[1:], invocation.place)
        return None, ""
    return None


def history(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """history: -c and -d erase."""
    if args.has("-c", "-d", "-w"):
        walker.add("erase-log", args.operands, invocation.place, rule="history.erase")
    return None, "secret" if not args.options else ""


def make(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """make: runs the project's recipes; -n only shows them; SHELL= and --eval are code."""
    for word in invocation.words[1:]:
        if word.text.startswith(("SHELL=", ".SHELLFLAGS=")):
            walker.add("environment", [word], invocation.place, rule="make.shell")
    for word in args.values("--eval", "-E"):
        walker.script(re.sub(r"\$\(shell ([^)]*)\)", r"\1", word.text), invocation.place, invocation)
        walker.add("run", [word], invocation.place, rule="make.eval")
    return None


def npx(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """npx -c text and the like."""
    for word in args.values("-c", "--call"):
        walker.script(word.text, invocation.place, invocation)
    return None

"""Database clients: statements on the line or on standard input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.invocation import Invocation, Output
from agent.risk.knowledge_store import Program
from agent.risk.options import Args
from agent.risk.words import Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_SQL_DESTROY = re.compile(
    r"\b(?:DROP\s+(?:TABLE|DATABASE|SCHEMA|USER|ROLE|INDEX|VIEW|COLLECTION|KEYSPACE|EXTENSION|OWNED|COLUMN|PARTITION|TABLESPACE|TRIGGER|FUNCTION|SEQUENCE|TYPE|POLICY|PUBLICATION|SUBSCRIPTION|"
    r"MEASUREMENT|SERIES|RETENTION\s+POLICY|SHARD|MATERIALIZED|CONSTRAINT|GRAPH|WAREHOUSE|STAGE|STREAM|TASK|DICTIONARY|NODE|CATALOG|SERVER)"
    r"|TRUNCATE\b|ALTER\s+TABLE\s+.*\bDROP\b|VACUUM\s+FULL|RESET\s+MASTER|PURGE\s+BINARY|DETACH\s+DELETE)", re.I | re.S
)  # fmt: skip
_SQL_EXPLAINED = re.compile(r"(?:(?<=;)|\A)\s*EXPLAIN\b[^;\\]*", re.I)  # the plan of a statement, which is not run
_SQL_DELETE = re.compile(r"\b(?:DELETE\s+FROM|UPDATE\s+\S+\s+SET)\b(?P<rest>[^;]*)", re.I | re.S)
_SQL_CHANGE = re.compile(
    r"\b(?:INSERT|UPDATE|DELETE|CREATE|ALTER|GRANT|REVOKE|MERGE|REPLACE\s+INTO|COPY|LOAD|CALL|EXEC|REINDEX|VACUUM|ATTACH|DETACH|IMPORT)\b",
    re.I,
)
_SQL_SHELL = re.compile(
    r"(?:^|[\n;])\s*\\!\s*(.+)|(?:^|[\n;])\s*\.(?:shell|system)\s+(.+)|(?:^|[\n;])\s*(?:system|\\system)\s+(.+)", re.I
)
_SQL_PROGRAM = re.compile(
    r"\bCOPY\b.*\b(?:FROM|TO)\s+PROGRAM\s+'([^']*)'|into\s+(?:outfile|dumpfile)|xp_cmdshell|load_extension|sys_exec",
    re.I | re.S,
)
_SQL_FILE = re.compile(r"(?:^|[\n;])\s*(?:source|\\ir?|\.read|\.restore|\.import|@@?)\s+(\S+)", re.I)
_SQL_OUTPUT = re.compile(r"(?:^|[\n;])\s*(?:\\o|\\g|\.output|\.once|\.backup|\.save|tee|spool)\s+([^\s;|]+)", re.I)
_MONGO_DESTROY = re.compile(
    r"\.(?:drop|dropDatabase|dropIndexes|dropUser|shutdownServer)\s*\(|\.(?:deleteMany|remove)\s*\(\s*(?:\{\s*\})?\s*[,)]|"
    r"dropDatabase|dropAllUsers|rs\.(?:remove|stepDown|reconfig)\s*\("
)
_MONGO_CHANGE = re.compile(
    r"\.(?:remove|findOneAnd\w+|bulkWrite|insert\w*|update\w*|delete\w*|replace\w*|create\w*|save|rename\w*)\s*\("
)


_KEPT_STATEMENTS = frozenset(("file", "dump", "opaque"))  # what a file or a dump holds, packed or not


def database(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """SQL and other clients: statements on the line or on stdin."""
    texts = [word.text for word in args.values(*table.script)]
    if table.operands:  # statements as operands, behind the database or alone
        texts += [word.text for word in args.operands[len(table.operands) - 1 :]]
    if invocation.stdin is not None and invocation.stdin[0] is not None:
        texts.append(invocation.stdin[0])
    for text in texts:
        judge_sql(walker, invocation, text)
    if not texts and invocation.stdin is not None:
        made = not _KEPT_STATEMENTS.intersection(invocation.stdin[1].split())
        reason = "runs statements that cannot be seen" + (" before another command has made them" if made else "")
        walker.add("db-destroy" if made else "db-change", [], invocation.place, reason=reason, rule="db.stdin")
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
    if "delimiter" not in bare.lower():
        bare = _SQL_EXPLAINED.sub(lambda match: match[0] if "ANALY" in match[0].upper() else " ", bare)
    for match in _SQL_SHELL.finditer(text):
        walker.script(next(g for g in match.groups() if g), place, invocation)
        walker.add("run", [], place, reason="has the client run a shell command", rule="db.shell")
    for match in _SQL_PROGRAM.finditer(text):
        if match.group(1):
            walker.script(match.group(1), place, invocation)
        walker.add(
            "run-opaque", [], place, reason="has the database server run programs or write files", rule="db.program"
        )
    for match in _SQL_FILE.finditer(text):
        walker.add("db-change", [], place, reason=f"runs the statements in {match.group(1)[:60]!r}", rule="db.file")
    for match in _SQL_OUTPUT.finditer(text):
        walker.add("write", [Word(match.group(1).strip("'\""), *place)], place, invocation=invocation)
    if _SQL_DESTROY.search(bare) or _MONGO_DESTROY.search(text):
        walker.add("db-destroy", [], place)
        return
    for match in _SQL_DELETE.finditer(bare):
        where = re.search(r"\bWHERE\b(.*)", match.group("rest"), re.I | re.S)
        if where is None or re.fullmatch(r"\s*(?:1\s*=\s*1|true|1)\s*", where.group(1), re.I):
            walker.add("db-destroy", [], place, reason="changes or deletes every row", rule="db-destroy.all-rows")
            return
    only_shows = re.match(r"\s*(?:EXPLAIN|SHOW|DESCRIBE)\b(?!\s+ANALYZE)", bare, re.I)
    if (_SQL_CHANGE.search(bare) and not only_shows) or _MONGO_CHANGE.search(text):
        walker.add("db-change", [], place)


def versioned(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`dolt sql -q STATEMENTS`; everything else is as the table says."""
    if args.has(*table.script) or (args.operands and args.operands[0].text == "sql"):
        for word in args.values(*table.script):
            judge_sql(walker, invocation, word.text)
        if not args.has(*table.script):
            walker.add("db-change", [], invocation.place, reason="opens a database session", rule="db.session")
        return None, ""
    return None


def wrangler(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`wrangler d1 execute NAME --command SQL`; everything else is as the table says."""
    texts = [word.text for word in args.operands[:2]]
    if texts != ["d1", "execute"]:
        return None
    statements = args.values("--command")
    for word in statements:
        judge_sql(walker, invocation, word.text)
    if not statements:
        walker.add("db-change", args.values("--file"), invocation.place, rule="db.file")
    return None, ""


_SITE_QUERIES = frozenset(("sql:query", "sql-query", "sqlq"))


def wordpress(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`wp db query SQL`, `drush sql:query SQL`; everything else is as the table says."""
    texts = [word.text for word in args.operands]
    used = 2 if texts[:2] == ["db", "query"] else 1 if texts and texts[0] in _SITE_QUERIES else 0
    if not used or not args.names.isdisjoint(table.dry):
        return None
    for text in texts[used:]:
        judge_sql(walker, invocation, text)
    if len(texts) == used:
        walker.add("db-change", [], invocation.place, reason="runs statements that cannot be seen", rule="db.stdin")
    return None, ""


def redis(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """Names of commands in any case; `--pipe` and standard input hold commands that cannot be seen."""
    args.operands = [word.part(word.text.lower()) if index < 3 else word for index, word in enumerate(args.operands)]
    if args.has("--pipe") or (not args.operands and invocation.stdin is not None):
        walker.add("db-change", [], invocation.place, reason="runs commands that cannot be seen", rule="db.stdin")
    return None


def influx(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """influx of both generations: `-execute STATEMENTS`, or sub-commands as the table says."""
    statements = args.values(*table.script)
    for word in statements:
        judge_sql(walker, invocation, word.text)
    return (None, "") if statements else None


def sqlite_utils(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`sqlite-utils [query] DATABASE SQL`, `csvsql --query SQL`; everything else is as the table says."""
    texts = [word.text for word in args.operands]
    statements = [word.text for word in args.values(*table.script)]
    if texts and texts[0] not in table.cases and " " in texts[-1]:
        statements.append(texts[-1])
    for text in statements:
        judge_sql(walker, invocation, text)
    return (None, "") if statements else None

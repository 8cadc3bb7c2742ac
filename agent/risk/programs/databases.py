"""Judge database clients: statements on the line or on standard input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.invocations.option_names import judge_evaluation
from agent.risk.invocations.written_code import judge_text
from agent.risk.paths.secret_paths import is_secret
from agent.risk.programs.sql_reading import bare_statements, mongo_not_understood, not_understood
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word, fewer_empty_lines, unseen
from agent.risk.tables.names import pattern
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_SQL_DESTROY = pattern("sql.destroy", re.I | re.S)
_SQL_EXPLAINED = pattern("sql.explained", re.I)
_SQL_DELETE = pattern("sql.delete", re.I | re.S)
_SQL_CHANGE = pattern("sql.change", re.I)
_SQL_SHELL = pattern("sql.shell", re.I)
_SQL_PROGRAM = pattern("sql.program", re.I | re.S)
_SQL_FETCHES = pattern("sql.fetches", re.I)
_SQL_EDIT = pattern("sql.edit", re.I)
_SQL_WRITES = pattern("sql.writes", re.I)
_SQL_FILE = pattern("sql.file", re.I)
_SQL_OUTPUT = pattern("sql.output", re.I)
_MONGO_DESTROY = pattern("mongo.destroy")
_MONGO_CHANGE = pattern("mongo.change")


KEPT_STATEMENTS = frozenset(("file", "dump", "opaque"))  # what a file or a dump holds, packed or not


def database(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """SQL and other clients: statements on the line or on stdin."""
    texts = [(word.text, word.taint) for word in args.values(*table.script)]
    if table.operands:  # statements as operands, behind the database or alone
        behind = (
            1 if invocation.words[0].text.endswith("clickhouse") else len(table.operands) - 1
        )  # `clickhouse client`
        texts += [(word.text, word.taint) for word in args.operands[behind:]]
    if invocation.stdin is not None and invocation.stdin[0] is not None:
        texts.append((invocation.stdin[0], invocation.stdin[1]))
    for text, taint in texts:
        judge_sql(walker, invocation, text, taint)
    if table.name == "mongosh":
        _judge_javascript(walker, invocation, texts)
    if not texts and invocation.stdin is not None:
        made = not KEPT_STATEMENTS.intersection(invocation.stdin[1].split())
        reason = "runs statements that cannot be seen" + (" before another command has made them" if made else "")
        walker.add("db-destroy" if made else "db-change", [], invocation.place, reason=reason, rule="db.stdin")
    elif args.has("-f", "--file", "--init", "-i") and table.name in ("psql", "sqlcmd", "mysql"):
        reason = "runs the statements in {targets}"
        files = args.values("-f", "--file", "-i")
        walker.add("db-change", files, invocation.place, reason=reason, rule="db.file")
        for word in files:
            written = walker.files.read(word, invocation.cwd)
            if written is not None:
                judge_sql(walker, invocation, written[0] or "", written[1])
    elif not texts and not (table.dry & args.names):
        walker.add("db-change", [], invocation.place, reason="opens a database session", rule="db.session")
    for word in args.values("-o", "--output", "--tee"):
        walker.add("write", [word], invocation.place, invocation=invocation)
    for name, given in args.options:
        if given is not None and name in table.roles:
            walker.add(table.roles[name], [given], invocation.place, invocation=invocation)
    walker.reads = True  # as far as nothing of it is told
    return None, ""


def _judge_javascript(walker: Walker, invocation: Invocation, texts: list[tuple[str, str]]) -> None:
    """Its statements are JavaScript, with all that Node.js has."""
    for text, taint in texts:
        judge_text(walker, invocation, text, taint, "node")
    if "net" in (invocation.stdin or ("", ""))[1]:
        walker.add("run-remote", [], invocation.place)


def _judge_words(walker: Walker, invocation: Invocation, words: list[Word]) -> None:
    for word in words:
        judge_sql(walker, invocation, word.text, word.taint)


def judge_sql(walker: Walker, invocation: Invocation, text: str, taint: str) -> None:
    """Findings for one or more statements."""
    place = invocation.place
    text = fewer_empty_lines(text)
    before = len(walker.findings)
    bare = " ; ".join(bare_statements(text))
    if "delimiter" not in bare.lower():
        bare = _SQL_EXPLAINED.sub(lambda match: match[0] if "ANALY" in match[0].upper() else " ", bare)
    _client_commands(walker, invocation, text)
    _named_secrets(walker, invocation, text)
    if (
        _SQL_DESTROY.search(bare)
        or _MONGO_DESTROY.search(text)
        or _MONGO_REPLACES.search(text)
        or _hands_on(bare, text)
        or ("\\gexec" in text and _runs_what_it_finds(text))
    ):
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
    if len(walker.findings) == before:
        client = invocation.words[0].text.rpartition("/")[2]
        unread = mongo_not_understood(text) if client in ("mongosh", "mongo") else not_understood(text)
        if unread:
            reason = f"runs {unread!r} in a database, and what that changes is unknown".replace(UNKNOWN, "…")
            walker.add("db-change", [], place, reason=reason, rule="db.unread")
        elif unseen(text, taint):
            walker.add("db-change", [], place, reason="runs statements with unknown parts", rule="db.unknown")


_SQL_RUNS = LazyPattern(
    r"(?:^|;)\s*(?:CALL|DO|EXEC(?:UTE)?|PREPARE|SET\s+@)\b|\b(?:dblink|query_to_xml|sp_executesql)\w*\s*\(", re.I
)
_SQL_TEXT = LazyPattern(r"'((?:[^']|'')*)'")


def _hands_on(bare: str, text: str) -> bool:
    """Tell whether a statement that runs texts, or may, has one that destroys: `execute 'drop table x'`."""
    texts = _SQL_TEXT.finditer(text) if "'" in text and _SQL_RUNS.search(bare) else ()
    return any(_SQL_DESTROY.match(found[1].strip()) for found in texts)


_MADE = LazyPattern(
    r"\s*(?:SELECT|SHOW|EXPLAIN|CREATE|ALTER|GRANT|REVOKE|ANALYZE|VACUUM|REINDEX|REFRESH|COMMENT|SET|INSERT|UPDATE)\s",
    re.I,
)


_BEGINS = LazyPattern(r"\s*SELECT\s+(?:(?:format|concat)\s*\(\s*)?'", re.I)


def _runs_what_it_finds(text: str) -> bool:
    """Tell whether what a query makes for `\\gexec` destroys, or is not seen: its one column begins with a text that says it."""
    for part in text.split("\\gexec")[:-1]:
        query = part.rpartition(";")[2]
        bare = _SQL_TEXT.sub(lambda found: f"'{'_' * len(found[1])}'", query)
        end = re.search(r"\bFROM\b", bare, re.I)
        column = query[: end.start()] if end else query
        texts = [found[1] for found in _SQL_TEXT.finditer(column)]
        made = " ".join(texts)
        columns = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", bare[: len(column)]))
        seen = _BEGINS.match(column) is not None and _MADE.match(texts[0] if texts else "") and "," not in columns
        whole = _SQL_DELETE.search(made) is not None and re.search(r"\bWHERE\b", made, re.I) is None
        if not seen or whole or _SQL_DESTROY.search(made):
            return True
    return False


_MONGO_REPLACES = LazyPattern(r"\$(?:out|merge)['\"]?\s*:")  # a stage that writes its result over a collection


def _named_secrets(walker: Walker, invocation: Invocation, text: str) -> None:
    """Judge secret files that a statement names, and their way to another machine: `copy (… read_text('~/.ssh/id_rsa')) to 's3://…'`."""
    named = [found[1] for found in _SQL_TEXT.finditer(text)] if "'" in text and "/" in text else []
    secrets = [Word(path, *invocation.place) for path in named if "://" not in path and is_secret(path)]
    if secrets:
        away = any(path.partition("://")[1] for path in named)
        walker.add("send-secret" if away else "secret", secrets, invocation.place, rule="db.secret")


def _client_commands(walker: Walker, invocation: Invocation, text: str) -> None:
    """Judge what a client does by itself: commands of the shell, other files of statements, files that it writes."""
    place = invocation.place
    for match in _SQL_SHELL.finditer(text):
        walker.script(next(g for g in match.groups() if g).replace('\\"', '"'), place, invocation)
        walker.add("run", [], place, reason="has the client run a shell command", rule="db.shell")
    if "://" in text and _SQL_FETCHES.search(text):
        walker.add("run-remote", [], place, rule="db.fetched")
    for match in _SQL_EDIT.finditer(text):  # sqlite gives the command a file with the text
        walker.script(f"{match.group(1)} edited.txt", place, invocation)
        walker.add("run", [], place, reason="has the client run a shell command", rule="db.shell")
    for match in _SQL_PROGRAM.finditer(text):
        if match.group(1):
            walker.script(match.group(1), place, invocation)
        walker.add(
            "run-opaque", [], place, reason="has the database server run programs or write files", rule="db.program"
        )
    for match in _SQL_WRITES.finditer(text):
        walker.add("write", [Word(match.group(1), *place)], place, invocation=invocation, rule="db.writefile")
    for match in _SQL_FILE.finditer(text):
        walker.add("db-change", [], place, reason=f"runs the statements in {match.group(1)[:60]!r}", rule="db.file")
    for match in _SQL_OUTPUT.finditer(text):
        walker.add("write", [Word(match.group(1).strip("'\""), *place)], place, invocation=invocation)


def versioned(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`dolt sql -q STATEMENTS`; everything else is as the table says."""
    if args.has(*table.script) or (args.operands and args.operands[0].text == "sql"):
        _judge_words(walker, invocation, args.values(*table.script))
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
    _judge_words(walker, invocation, statements)
    if not statements:
        walker.add("db-change", args.values("--file"), invocation.place, rule="db.file")
    return None, ""


_SITE_QUERIES = frozenset(("sql:query", "sql-query", "sqlq"))


def wordpress(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`wp db query SQL`, `drush sql:query SQL`; everything else is as the table says."""
    texts = [word.text for word in args.operands]
    if not texts and not args.names:
        name = invocation.words[0].text.rpartition("/")[2]
        if name in table.evaluates:  # what it offers, the site's own code says
            judge_evaluation(walker, invocation)
    used = 2 if texts[:2] == ["db", "query"] else 1 if texts and texts[0] in _SITE_QUERIES else 0
    if not used or not args.names.isdisjoint(table.dry):
        return None
    _judge_words(walker, invocation, args.operands[used:])
    if len(texts) == used:
        walker.add("db-change", [], invocation.place, reason="runs statements that cannot be seen", rule="db.stdin")
    return None, ""


def influx(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """influx of both generations: `-execute STATEMENTS`, or sub-commands as the table says."""
    statements = args.values(*table.script)
    if invocation.stdin is not None and invocation.stdin[0] and not args.operands:
        statements.append(Word(invocation.stdin[0], *invocation.place, taint=invocation.stdin[1]))
    _judge_words(walker, invocation, statements)
    return (None, "") if statements else None


def sqlite_utils(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """`sqlite-utils [query] DATABASE SQL`, `csvsql --query SQL`; everything else is as the table says."""
    texts = [word.text for word in args.operands]
    statements = args.values(*table.script)
    if texts and texts[0] not in table.cases and (" " in texts[-1] or UNKNOWN in texts[-1]):
        statements.append(args.operands[-1])
    _judge_words(walker, invocation, statements)
    return (None, "") if statements else None

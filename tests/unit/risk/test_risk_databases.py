"""Clients of databases: only what is known to read is low, however it gets to the client."""

from __future__ import annotations

import shlex

from agent.protocol.decisions import Level
from agent.risk.classifier import classify
from tests.support.each import each

WAYS = {
    "sqlite": (
        "sqlite3 x.db {0}", "sqlite3 -cmd {0} x.db 'select 1'", "echo {0} | sqlite3 x.db", "sqlite3 x.db <<< {0}", "duckdb -c {0}",
    ),
    "psql": (
        "psql -c {0}", "psql -c{0}", "psql --command={0}", "psql -Atc {0}", "echo {0} | psql", "psql x <<< {0}",
    ),
    "mysql": (
        "mysql -e {0}", "mysql -e{0}", "mariadb --execute={0}", "echo {0} | mysql x",
    ),
    "mongo": (
        "mongosh --eval {0}", "mongosh --eval={0}", "echo {0} | mongosh",
    ),
    "redis": (
        "redis-cli {0}", "echo {0} | redis-cli", "redis-cli -h h <<< {0}", "printf '%s\\n' {0} | redis-cli --pipe",
    ),
}  # fmt: skip
CHANGES = {
    "sqlite": (
        ".shell id", ".sh id", ".system id", ".once |id", ".output |id", ".import |id t", ".read |id", ".read x", ".load ./x", ".excel",
        ".log f", ".open f", ".backup f", ".save f", ".clone f", ".trace f", ".ar -xf a", ".testcase x", ".unheard",
        "select edit('a', 'sh')", "select writefile('f', 'x')", "select load_extension('./x')", "select unheard(1)",
        "pragma writable_schema=1", "vacuum into 'f'", "attach 'f' as y", "select 1; .shell id", "insert into t values (1)", "unheard",
    ),
    "psql": (
        "\\! id", "\\o |id", "\\o f", "select 1 \\g |id", "select 1 \\g f", "\\copy t to program 'id'", "\\copy t to 'f'",
        "copy t to 'f'", "\\i x", "\\ir x", "\\e", "\\set x `id`", "select 'x' \\gexec", "\\w f", "\\s f", "\\setenv PAGER x", "\\cd /",
        "select pg_read_file('f')", "select lo_export(1, 'f')", "select pg_terminate_backend(1)", "select my_func()",
        "do $$ begin end $$", "select * into x from t", "unheard",
    ),
    "mysql": (
        "system id", "\\! id", "source x", "\\. x", "tee f", "\\T f", "pager id", "\\P id", "select 1 into outfile 'f'",
        "select sys_exec('id')", "select '\\'' ; delete from t where a=1; -- '", "/*!50000 delete from t where a=1 */",
        "set global x=1", "call x()", "do sleep(9)", "unheard",
    ),
    "mongo": (
        "load('x.js')", "run('id')", "runProgram('id')", "require('child_process').execSync('id')", "db.x.aggregate([{$out: 'y'}])",
        "db['x']['drop']()", "db.adminCommand({shutdown: 1})", "db.x.insertOne({})", "eval(x)", "new Function('x')()", "unheard(1)",
    ),
    "redis": (
        "SET a 1", "EVAL x 0", "CONFIG SET save x", "FUNCTION LOAD x", "UNHEARD a",
    ),
}  # fmt: skip
READS = {
    "sqlite": (
        "select * from t", ".tables", ".mode csv", "select count(*), max(a) from t where b in (1, 2)", "pragma table_info(t)",
        "with a(x) as (select 1) select * from a", "select 'drop table x'", "explain query plan select 1",
    ),
    "psql": (
        "select now()", "\\dt+", "\\d t", "select 'x''; drop table t' as y", "show all",
        "select pg_size_pretty(pg_total_relation_size('t'))",
    ),
    "mysql": (
        "show processlist\\G", "select concat(a, '; drop table x') from t", "describe t", "use x; show tables",
    ),
    "mongo": (
        "db.x.find({a: 1}).sort({b: -1}).limit(5)", "show dbs", "db.stats()", "db.x.countDocuments({})", "rs.status()",
    ),
    "redis": (
        "GET a", "INFO", "config get dir", "hgetall x",
    ),
}  # fmt: skip


def pairs(texts: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(client, way) for client in texts for way in WAYS[client]]


@each(("client", "way"), pairs(CHANGES))
def test_what_is_not_known_to_read_is_never_low(client: str, way: str) -> None:
    quote = str if client == "redis" and way.endswith("cli {0}") else shlex.quote
    low = [text for text in CHANGES[client] if classify(way.format(quote(text))).level is Level.LOW]
    assert low == []


@each(("client", "way"), pairs(READS))
def test_reading_is_low(client: str, way: str) -> None:
    quote = str if client == "redis" and way.endswith("cli {0}") else shlex.quote
    raised = [text for text in READS[client] if classify(way.format(quote(text))).level is not Level.LOW]
    assert raised == [] or "duckdb" in way


def test_files_of_statements_are_code() -> None:
    for command in (
        "sqlite3 -init x.sql x.db 'select 1'",
        "duckdb -f x.sql",
        "psql -f x.sql",
        "psql x < x.sql",
        "redis-cli --pipe < x",
    ):
        assert classify(command).level is Level.MEDIUM


@each("place", ["/dev/stdin", "-", "/proc/self/fd/0"])
def test_a_script_of_redis_on_standard_input(place: str) -> None:
    assert classify(f"redis-cli --eval {place} <<< 'return redis.call(\"flushall\")'").level is Level.HIGH
    assert classify(f"redis-cli --eval {place} < x.lua").level is not Level.LOW

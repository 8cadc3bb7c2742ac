"""Statements that a query makes and psql runs: what kind they are has to be seen."""

from __future__ import annotations

from agent.risk.classifier import classify
from tests.support.each import each

DESTROYING = ("drop table %I cascade", "truncate %I", "delete from %I", "alter table %I drop column x")
BOUNDED = ("analyze %I", "grant select on %I to me", "select count(*) from %I", "comment on table %I is null")


def rated(statement: str, client: str = "psql app") -> str:
    return classify(f"{client} <<'EOF'\n{statement} \\gexec\nEOF").level.value


@each("client", ["psql app", "psql -q -d app", "sudo -u postgres psql"])
def test_what_is_made_is_rated_as_if_it_stood_there(client: str) -> None:
    for made in DESTROYING:
        assert rated(f"select format('{made}', t) from pg_tables", client) == "high", made
        before, _, behind = made.partition("%I")
        assert rated(f"select '{before}' || t || '{behind}' from pg_tables", client) == "high", made
    for made in BOUNDED:
        assert rated(f"select format('{made}', t) from pg_tables", client) == "medium", made


@each(
    "query",
    [
        "select stmt from todo",
        "select 'dr' || 'op table x'",
        "select chr(100) || 'rop table x'",
        "table todo",
        "select stmt from todo where kind = 'select '",
        "select 'analyze x', stmt from todo",
        "select stmt || 'analyze x'",
    ],
)
def test_what_is_not_seen_is_high(query: str) -> None:
    assert rated(query) == "high"
    assert classify(f"psql app <<'EOF'\n{query};\nEOF").level.value != "high"

"""Every expression of the table of evidence can be compiled; the program compiles one when it needs it."""

from __future__ import annotations

import re

from agent.planner.offline import evidence


def test_every_expression_of_the_table_can_be_read() -> None:
    table = evidence._evidence()
    bad = []
    for row in (*table.wishes, *table.unasked):
        for pattern in (row.said, row.sign):
            try:
                re.compile(pattern.pattern)
            except re.error as error:
                bad.append(f"{row.what}: {error}")
    assert not bad, "\n".join(bad)
    assert len(table.wishes) > 30

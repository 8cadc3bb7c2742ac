"""Read the tables of programs and levels as they are written, once in a process."""

from agent.risk.tables.build import load_tables
from agent.risk.tables.store import groups

TABLES, LEVELS = load_tables()


def programs_with_ways() -> list[str]:
    """Names of the programs that have options which run, load or write something."""
    return [line.partition("\t")[0] for group in groups() for line in group.ways.split("\n")[1:-1]]

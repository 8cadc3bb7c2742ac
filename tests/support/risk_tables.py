"""Read the tables of programs and levels as they are written, once in a process."""

from agent.risk.tables.build import load_tables

TABLES, LEVELS = load_tables()
